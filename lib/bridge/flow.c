/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What flow a packet is of. Each header is looked for in the packet's first segment, and where it ends before that, what was found so
 * far counts: packets of one flow have the same headers, so they get the same number.
 */

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_jhash.h>
#include <rte_tcp.h>

#include "bridge_private.h"

#define TAGS_MAX 2

/* What of a packet makes its flow. All zero to begin with: it is hashed as words. */
struct tuple {
	uint8_t source[16];
	uint8_t destination[16];
	uint32_t ports;
	uint16_t protocol; /* of IP, or the Ethernet type */
	uint16_t version;  /* of IP, 0: Ethernet */
};

static bool
has_ports(uint8_t protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_SCTP;
}

static void
read_ip4(struct tuple *tuple, const uint8_t *data, uint32_t offset, uint32_t length)
{
	const struct rte_ipv4_hdr *ip = (const void *)(data + offset);
	uint32_t header;

	if (offset + sizeof(*ip) > length)
		return;
	memset(tuple, 0, sizeof(*tuple));
	memcpy(tuple->source, &ip->src_addr, 4);
	memcpy(tuple->destination, &ip->dst_addr, 4);
	tuple->version = 4;
	tuple->protocol = ip->next_proto_id;
	header = (ip->version_ihl & 0xfu) * 4;
	/* fragments: only the first one has ports */
	if (has_ports(ip->next_proto_id) &&
		(ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)) ==
			0 &&
		header >= sizeof(*ip) && offset + header + 4 <= length)
		memcpy(&tuple->ports, data + offset + header, 4);
}

static void
read_ip6(struct tuple *tuple, const uint8_t *data, uint32_t offset, uint32_t length)
{
	const struct rte_ipv6_hdr *ip = (const void *)(data + offset);

	if (offset + sizeof(*ip) > length)
		return;
	memset(tuple, 0, sizeof(*tuple));
	memcpy(tuple->source, &ip->src_addr, 16);
	memcpy(tuple->destination, &ip->dst_addr, 16);
	tuple->version = 6;
	tuple->protocol = ip->proto;
	if (has_ports(ip->proto) && offset + sizeof(*ip) + 4 <= length)
		memcpy(&tuple->ports, data + offset + sizeof(*ip), 4);
}

static void
read_packet(struct tuple *tuple, const struct rte_mbuf *m)
{
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t length = m->data_len, offset = sizeof(struct rte_ether_hdr);
	uint16_t type;

	memset(tuple, 0, sizeof(*tuple));
	if (length < offset)
		return;
	memcpy(tuple->destination, data, RTE_ETHER_ADDR_LEN);
	memcpy(tuple->source, data + RTE_ETHER_ADDR_LEN, RTE_ETHER_ADDR_LEN);
	memcpy(&type, data + offset - 2, 2);
	for (int i = 0;
		i < TAGS_MAX && offset + 4 <= length &&
		(type == RTE_BE16(RTE_ETHER_TYPE_VLAN) || type == RTE_BE16(RTE_ETHER_TYPE_QINQ));
		i++) {
		memcpy(&type, data + offset + 2, 2);
		offset += 4;
	}
	tuple->protocol = type;
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4))
		read_ip4(tuple, data, offset, length);
	else if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		read_ip6(tuple, data, offset, length);
}

uint32_t
bridge_flow_hash(const struct rte_mbuf *m, enum weir_bridge_flow flow)
{
	struct tuple tuple;

	if (flow == WEIR_BRIDGE_FLOW_RSS && (m->ol_flags & RTE_MBUF_F_RX_RSS_HASH) != 0)
		return m->hash.rss;
	read_packet(&tuple, m);
	if (flow == WEIR_BRIDGE_FLOW_SOURCE)
		return rte_jhash(tuple.source, sizeof(tuple.source), tuple.version);
	if (flow == WEIR_BRIDGE_FLOW_DESTINATION)
		return rte_jhash(tuple.destination, sizeof(tuple.destination), tuple.version);
	return rte_jhash(&tuple, sizeof(tuple), 0);
}
