/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * ip4_lookup: may the packet be forwarded (RFC 1812, 5.2.2 and 5.3.7), and to which next hop?
 *
 * Uses:  weir_node_l3(), the IPv4 header, the port's checksum offload, routes
 * Sets:  weir_node_hop_id(), or the reason; cuts Ethernet padding off
 * Next:  ip4_rewrite  punt  drop
 *
 * The first pass checks every header and gathers destinations, then all are
 * looked up at once, refused ones too: leaving them out costs more.
 */

#include "node_ip4.h"
#include "weir_node_route_fast.h"

#define CHUNK 256 /* addresses looked up at once */

enum {
	EDGE_REWRITE = NODE_EDGE_FIRST,
	NB_EDGES,
};

/* 169.254/16 never leaves its link (RFC 3927, 7). */
static inline bool
is_link_local(uint32_t address)
{
	return address >> 16 == 0xa9fe;
}

/* First octets that want a closer look: 0, 127, and 224 to 255. */
static inline bool
is_special(uint32_t address)
{
	uint8_t octet = (uint8_t)(address >> 24);

	return ((uint8_t)(octet - 1) >= 223) | (octet == 127) | is_link_local(address);
}

static inline bool
is_multicast(uint32_t address)
{
	return address >> 28 == 0xe;
}

static inline bool
is_martian_source(uint32_t source, uint32_t destination)
{
	/* A host that has no address yet asks everybody for one, or joins a group. */
	if (source == 0)
		return destination != UINT32_MAX && !is_multicast(destination);
	return is_special(source);
}

static inline bool
is_martian_destination(uint32_t destination)
{
	return is_special(destination) && !is_multicast(destination) && destination != UINT32_MAX;
}

/* Every packet but the plainest: in the order that doc/forwarding.md tells. */
static __rte_noinline uint16_t
check_any(struct rte_mbuf *m, const uint8_t *ip)
{
	uint32_t source = rte_be_to_cpu_32(node_load32(ip + IP4_SOURCE));
	uint32_t destination = rte_be_to_cpu_32(node_load32(ip + IP4_DESTINATION));
	uint32_t total = rte_be_to_cpu_16(node_load16(ip + IP4_TOTAL_LENGTH));
	uint32_t here = m->data_len - weir_node_l3(m);
	uint32_t wire = m->pkt_len - weir_node_l3(m) + node_missing(m);
	uint32_t header = (ip[0] & 0xfu) * 4;

	if (ip[0] >> 4 != 4)
		return node_refuse(m, WEIR_NODE_REASON_IP4_VERSION);
	if (header < IP4_HEADER || header > wire)
		return node_refuse(m, WEIR_NODE_REASON_IP4_HEADER_LENGTH);
	if (header > here)
		return node_refuse(m, WEIR_NODE_REASON_TRUNCATED);
	if (total < header || total > wire)
		return node_refuse(m, WEIR_NODE_REASON_IP4_TOTAL_LENGTH);
	if (node_ip4_sum(ip, header) != 0xffff)
		return node_refuse(m, WEIR_NODE_REASON_IP4_CHECKSUM);
	if (is_martian_source(source, destination))
		return node_refuse(m, WEIR_NODE_REASON_IP4_MARTIAN_SOURCE);
	if (is_martian_destination(destination))
		return node_refuse(m, WEIR_NODE_REASON_IP4_MARTIAN_DESTINATION);
	if (is_multicast(destination))
		return node_refuse(m, WEIR_NODE_REASON_IP4_MULTICAST);
	if (destination == UINT32_MAX || weir_node_l3_is_group(m))
		return node_refuse(m, WEIR_NODE_REASON_IP4_BROADCAST);
	if (header > IP4_HEADER)
		return node_refuse(m, WEIR_NODE_REASON_IP4_OPTIONS);
	node_mbuf_set_wire_length(m, weir_node_l3(m) + total);
	return EDGE_REWRITE;
}

/* Does the device vouch for the checksum, or else, is it right? */
static inline bool
is_checksum_wrong(const struct rte_mbuf *m, const uint8_t *ip)
{
	if ((m->ol_flags & weir_node_port_of(m)->checksum_mask) == RTE_MBUF_F_RX_IP_CKSUM_GOOD)
		return false;
	return node_ip4_sum20(ip) != 0xffff;
}

static inline uint16_t
ip4_check(struct rte_mbuf *m, uint32_t *address)
{
	uint32_t l3 = weir_node_l3(m);
	const uint8_t *ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, l3);
	uint32_t source, destination, total, frame;

	if (unlikely(m->data_len < l3 + IP4_HEADER)) {
		*address = 0;
		return node_refuse(m, WEIR_NODE_REASON_TRUNCATED);
	}
	source = rte_be_to_cpu_32(node_load32(ip + IP4_SOURCE));
	destination = rte_be_to_cpu_32(node_load32(ip + IP4_DESTINATION));
	total = rte_be_to_cpu_16(node_load16(ip + IP4_TOTAL_LENGTH));
	frame = m->pkt_len - l3;
	*address = destination;
	if (unlikely((ip[0] != 0x45) | (total < IP4_HEADER) | (total > frame) | is_special(source) |
		     is_special(destination) | is_checksum_wrong(m, ip) | weir_node_l3_is_group(m) |
		     ((m->ol_flags & weir_node_dyn.missing_flag) != 0)))
		return check_any(m, ip);
	if (unlikely(total != frame))
		node_mbuf_trim(m, l3 + total);
	return EDGE_REWRITE;
}

static inline uint16_t
ip4_route(struct rte_mbuf *m, uint16_t next, uint32_t hop)
{
	if (unlikely(next != EDGE_REWRITE))
		return next;
	if (unlikely(hop == WEIR_NODE_NO_ROUTE))
		return node_refuse(m, WEIR_NODE_REASON_IP4_NO_ROUTE);
	weir_node_hop_id_set(m, hop);
	return EDGE_REWRITE;
}

static uint16_t
ip4_lookup_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	uint16_t *nexts = weir_graph_nexts(graph);
	uint32_t addresses[CHUNK], hops[CHUNK];

	for (uint32_t from = 0; from < nb_objs; from += CHUNK) {
		uint32_t nb = RTE_MIN(nb_objs - from, (uint32_t)CHUNK);

		for (uint32_t i = 0; i < nb; i++)
			nexts[from + i] = ip4_check(objs[from + i], &addresses[i]);
		weir_node_route_lookup4(addresses, hops, nb);
		for (uint32_t i = 0; i < nb; i++)
			nexts[from + i] = ip4_route(objs[from + i], nexts[from + i], hops[i]);
	}
	weir_graph_enqueue_nexts(graph, node, objs, nexts, nb_objs);
	return nb_objs;
}

static struct weir_graph_node_register ip4_lookup = {
	WEIR_GRAPH_NODE_HEADER,
	.name = "ip4_lookup",
	.process = ip4_lookup_process,
	.nb_edges = NB_EDGES,
	.next_nodes =
		(const char *const[]){
			[NODE_EDGE_DROP] = "drop",
			[NODE_EDGE_PUNT] = "punt",
			[EDGE_REWRITE] = "ip4_rewrite",
		},
};
WEIR_GRAPH_NODE_REGISTER(ip4_lookup);
