/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet, VLAN tags, IP and UDP before a frame. */
#include <netinet/in.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "payload.h"

#define TAGS_MAX 2

/* What is left of a packet from some byte on: in its first segment, and in all. */
struct rest {
	const uint8_t *at;
	uint32_t bytes, total;
};

static bool
skip(struct rest *rest, uint32_t bytes)
{
	if (rest->bytes < bytes)
		return false;
	rest->at += bytes;
	rest->bytes -= bytes;
	rest->total -= bytes;
	return true;
}

static enum payload
skip_ip4(struct rest *rest)
{
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)rest->at;
	const uint16_t fragment = RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK);
	uint32_t header, total;

	if (rest->bytes < sizeof(*ip))
		return PAYLOAD_TRUNCATED;
	if (ip->version_ihl >> 4 != 4 || ip->next_proto_id != IPPROTO_UDP ||
		(ip->fragment_offset & fragment) != 0)
		return PAYLOAD_NOT_UDP;
	header = (ip->version_ihl & 15u) * 4;
	total = rte_be_to_cpu_16(ip->total_length);
	if (header < sizeof(*ip) || total < header || total > rest->total)
		return PAYLOAD_TRUNCATED;
	rest->total = total;
	rest->bytes = RTE_MIN(rest->bytes, total);
	return skip(rest, header) ? PAYLOAD_FOUND : PAYLOAD_TRUNCATED;
}

static enum payload
skip_ip6(struct rest *rest)
{
	const struct rte_ipv6_hdr *ip = (const struct rte_ipv6_hdr *)rest->at;
	uint32_t length;

	if (!skip(rest, sizeof(*ip)))
		return PAYLOAD_TRUNCATED;
	if (ip->proto != IPPROTO_UDP)
		return PAYLOAD_NOT_UDP;
	length = rte_be_to_cpu_16(ip->payload_len);
	if (length > rest->total)
		return PAYLOAD_TRUNCATED;
	rest->total = length;
	rest->bytes = RTE_MIN(rest->bytes, length);
	return PAYLOAD_FOUND;
}

static bool
is_tag(uint16_t type)
{
	return type == RTE_BE16(RTE_ETHER_TYPE_VLAN) || type == RTE_BE16(RTE_ETHER_TYPE_QINQ);
}

/* Up to the IP header. */
static enum payload
skip_ethernet(struct rest *rest, uint16_t *type)
{
	const struct rte_ether_hdr *ether = (const struct rte_ether_hdr *)rest->at;

	if (!skip(rest, sizeof(*ether)))
		return PAYLOAD_TRUNCATED;
	*type = ether->ether_type;
	for (unsigned int i = 0; i < TAGS_MAX && is_tag(*type); i++) {
		const struct rte_vlan_hdr *tag = (const struct rte_vlan_hdr *)rest->at;

		if (!skip(rest, sizeof(*tag)))
			return PAYLOAD_TRUNCATED;
		*type = tag->eth_proto;
	}
	return PAYLOAD_FOUND;
}

static enum payload
skip_udp(struct rest *rest)
{
	const struct rte_udp_hdr *udp = (const struct rte_udp_hdr *)rest->at;
	uint32_t length;

	if (rest->bytes < sizeof(*udp))
		return PAYLOAD_TRUNCATED;
	length = rte_be_to_cpu_16(udp->dgram_len);
	if (length < sizeof(*udp) || length > rest->total)
		return PAYLOAD_TRUNCATED;
	rest->total = length;
	rest->bytes = RTE_MIN(rest->bytes, length);
	skip(rest, sizeof(*udp));
	return PAYLOAD_FOUND;
}

enum payload
payload_find(
	const struct rte_mbuf *m, enum weir_readout_layer layer, uint32_t *offset, uint32_t *bytes)
{
	struct rest rest = {rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, m->pkt_len};
	enum payload found = PAYLOAD_FOUND;
	uint16_t type;

	if (layer == WEIR_READOUT_LAYER_UDP) {
		found = skip_ethernet(&rest, &type);
		if (found == PAYLOAD_FOUND) {
			if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
				found = skip_ip4(&rest);
			else if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
				found = skip_ip6(&rest);
			else
				found = PAYLOAD_NOT_UDP;
		}
		if (found == PAYLOAD_FOUND)
			found = skip_udp(&rest);
	}
	*offset = (uint32_t)(rest.at - rte_pktmbuf_mtod(m, const uint8_t *));
	*bytes = rest.total;
	return found;
}
