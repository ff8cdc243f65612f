/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet, VLAN tags, IP and UDP before a payload. */
#include <stdbool.h>

#include "weir_base_datagram.h"

#define ETHER_BYTES    14u
#define ETHER_TYPE     12
#define TAG_BYTES      4u
#define TAG_TYPE       2
#define TAGS_MAX       2
#define TYPE_IP4       0x0800u
#define TYPE_IP6       0x86ddu
#define TYPE_VLAN      0x8100u
#define TYPE_QINQ      0x88a8u
#define PROTOCOL_UDP   17u
#define IP4_BYTES      20u
#define IP4_LENGTH     2
#define IP4_FRAGMENTED 6
#define IP4_FRAGMENT   0x3fffu /* more of them, or not the first one */
#define IP4_PROTOCOL   9
#define IP6_BYTES      40u
#define IP6_LENGTH     4
#define IP6_PROTOCOL   6
#define UDP_BYTES      8u
#define UDP_LENGTH     4

/* What is left of a packet from some byte on: there, and in all. */
struct rest {
	const uint8_t *at;
	uint32_t there, total;
};

static inline uint32_t
get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static inline bool
skip(struct rest *rest, uint32_t bytes)
{
	if (rest->there < bytes)
		return false;
	rest->at += bytes;
	rest->there -= bytes;
	rest->total -= bytes;
	return true;
}

/* What comes after so many bytes is not the packet's, or not the datagram's. @return false: there are not so many */
static inline bool
cut(struct rest *rest, uint32_t bytes)
{
	if (rest->total < bytes)
		return false;
	rest->total = bytes;
	if (rest->there > bytes)
		rest->there = bytes;
	return true;
}

/* Up to the IP header. */
static inline bool
skip_ethernet(struct rest *rest, uint32_t *type)
{
	const uint8_t *ether = rest->at;

	if (!skip(rest, ETHER_BYTES))
		return false;
	*type = get16(ether + ETHER_TYPE);
	for (int i = 0; i < TAGS_MAX && (*type == TYPE_VLAN || *type == TYPE_QINQ); i++) {
		const uint8_t *tag = rest->at;

		if (!skip(rest, TAG_BYTES))
			return false;
		*type = get16(tag + TAG_TYPE);
	}
	return true;
}

static inline enum weir_base_datagram
skip_ip4(struct rest *rest)
{
	const uint8_t *ip = rest->at;
	uint32_t header;

	if (rest->there < IP4_BYTES)
		return WEIR_BASE_DATAGRAM_TRUNCATED;
	if (ip[0] >> 4 != 4 || ip[IP4_PROTOCOL] != PROTOCOL_UDP ||
		(get16(ip + IP4_FRAGMENTED) & IP4_FRAGMENT) != 0)
		return WEIR_BASE_DATAGRAM_OTHER;
	header = (ip[0] & 15u) * 4;
	if (header < IP4_BYTES || !cut(rest, get16(ip + IP4_LENGTH)) || !skip(rest, header))
		return WEIR_BASE_DATAGRAM_TRUNCATED;
	return WEIR_BASE_DATAGRAM_FOUND;
}

static inline enum weir_base_datagram
skip_ip6(struct rest *rest)
{
	const uint8_t *ip = rest->at;

	if (!skip(rest, IP6_BYTES))
		return WEIR_BASE_DATAGRAM_TRUNCATED;
	if (ip[IP6_PROTOCOL] != PROTOCOL_UDP)
		return WEIR_BASE_DATAGRAM_OTHER;
	return cut(rest, get16(ip + IP6_LENGTH)) ? WEIR_BASE_DATAGRAM_FOUND
						 : WEIR_BASE_DATAGRAM_TRUNCATED;
}

static inline enum weir_base_datagram
skip_udp(struct rest *rest)
{
	uint32_t length;

	if (rest->there < UDP_BYTES)
		return WEIR_BASE_DATAGRAM_TRUNCATED;
	length = get16(rest->at + UDP_LENGTH);
	if (length < UDP_BYTES || !cut(rest, length))
		return WEIR_BASE_DATAGRAM_TRUNCATED;
	skip(rest, UDP_BYTES);
	return WEIR_BASE_DATAGRAM_FOUND;
}

enum weir_base_datagram
weir_base_datagram_find(const uint8_t *packet, uint32_t there_bytes, uint32_t total_bytes,
	uint32_t *offset, uint32_t *bytes)
{
	struct rest rest = {packet, there_bytes, total_bytes};
	enum weir_base_datagram found = WEIR_BASE_DATAGRAM_TRUNCATED;
	uint32_t type;

	if (skip_ethernet(&rest, &type)) {
		if (type == TYPE_IP4)
			found = skip_ip4(&rest);
		else if (type == TYPE_IP6)
			found = skip_ip6(&rest);
		else
			found = WEIR_BASE_DATAGRAM_OTHER;
	}
	if (found == WEIR_BASE_DATAGRAM_FOUND)
		found = skip_udp(&rest);
	*offset = (uint32_t)(rest.at - packet);
	*bytes = rest.total;
	return found;
}
