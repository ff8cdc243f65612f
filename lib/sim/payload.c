/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet, VLAN tags, IP and UDP before a frame: taken off as those do who receive packets. */
#include "frame_format.h"

#define ETHER_BYTES    14u
#define TYPE_AT        12u
#define TAG_BYTES      4u
#define TAGS_MAX       2
#define TYPE_IP4       0x0800u
#define TYPE_IP6       0x86ddu
#define TYPE_VLAN      0x8100u
#define TYPE_QINQ      0x88a8u
#define PROTOCOL_UDP   17u
#define IP4_BYTES      20u
#define IP4_FRAGMENT   0x3fffu /* more of them, or not the first one */
#define IP6_BYTES      40u
#define IP6_PROTOCOL   6
#define IP4_PROTOCOL   9
#define UDP_BYTES      8u
#define UDP_LENGTH     4
#define IP4_LENGTH     2
#define IP4_FRAGMENTED 6
#define IP6_LENGTH     4

/* What is left of a packet from some byte on. */
struct rest {
	const uint8_t *at;
	uint32_t bytes;
};

static uint32_t
get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static bool
skip(struct rest *rest, uint32_t bytes)
{
	if (rest->bytes < bytes)
		return false;
	rest->at += bytes;
	rest->bytes -= bytes;
	return true;
}

/* Up to the IP header. */
static bool
skip_ethernet(struct rest *rest, uint32_t *type)
{
	unsigned int i;

	if (rest->bytes < ETHER_BYTES)
		return false;
	*type = get16(rest->at + TYPE_AT);
	skip(rest, ETHER_BYTES);
	for (i = 0; i < TAGS_MAX && (*type == TYPE_VLAN || *type == TYPE_QINQ); i++) {
		if (rest->bytes < TAG_BYTES)
			return false;
		*type = get16(rest->at + 2);
		skip(rest, TAG_BYTES);
	}
	return true;
}

static enum sim_payload
skip_ip4(struct rest *rest)
{
	uint32_t header, total;

	if (rest->bytes < IP4_BYTES)
		return SIM_PAYLOAD_TRUNCATED;
	if (rest->at[0] >> 4 != 4 || rest->at[IP4_PROTOCOL] != PROTOCOL_UDP ||
		(get16(rest->at + IP4_FRAGMENTED) & IP4_FRAGMENT) != 0)
		return SIM_PAYLOAD_NOT_UDP;
	header = (rest->at[0] & 15u) * 4;
	total = get16(rest->at + IP4_LENGTH);
	if (header < IP4_BYTES || total < header || total > rest->bytes)
		return SIM_PAYLOAD_TRUNCATED;
	rest->bytes = total;
	skip(rest, header);
	return SIM_PAYLOAD_FOUND;
}

static enum sim_payload
skip_ip6(struct rest *rest)
{
	const uint8_t *ip = rest->at;

	if (!skip(rest, IP6_BYTES))
		return SIM_PAYLOAD_TRUNCATED;
	if (ip[IP6_PROTOCOL] != PROTOCOL_UDP)
		return SIM_PAYLOAD_NOT_UDP;
	if (get16(ip + IP6_LENGTH) > rest->bytes)
		return SIM_PAYLOAD_TRUNCATED;
	rest->bytes = get16(ip + IP6_LENGTH);
	return SIM_PAYLOAD_FOUND;
}

static enum sim_payload
skip_udp(struct rest *rest)
{
	uint32_t length;

	if (rest->bytes < UDP_BYTES)
		return SIM_PAYLOAD_TRUNCATED;
	length = get16(rest->at + UDP_LENGTH);
	if (length < UDP_BYTES || length > rest->bytes)
		return SIM_PAYLOAD_TRUNCATED;
	rest->bytes = length;
	skip(rest, UDP_BYTES);
	return SIM_PAYLOAD_FOUND;
}

enum sim_payload
sim_payload_find(const struct sim_format *format, const uint8_t *packet, uint32_t packet_bytes,
	const uint8_t **frame, uint32_t *bytes)
{
	struct rest rest = {packet, packet_bytes};
	enum sim_payload found = SIM_PAYLOAD_FOUND;
	uint32_t type;

	if (!format->is_ethernet) {
		if (!skip_ethernet(&rest, &type))
			return SIM_PAYLOAD_TRUNCATED;
		if (type == TYPE_IP4)
			found = skip_ip4(&rest);
		else if (type == TYPE_IP6)
			found = skip_ip6(&rest);
		else
			found = SIM_PAYLOAD_NOT_UDP;
		if (found == SIM_PAYLOAD_FOUND)
			found = skip_udp(&rest);
	}
	*frame = rest.at;
	*bytes = rest.bytes;
	return found;
}
