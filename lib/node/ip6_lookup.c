/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * ip6_lookup: may the packet be forwarded (RFC 8200, RFC 4291), and to which next hop?
 *
 * Uses:  weir_node_l3(), the IPv6 header, routes
 * Sets:  weir_node_hop_id(), or the reason
 * Next:  ip6_rewrite  punt  drop
 */

#include "node_ip6.h"
#include "node_lookup.h"

#define CHUNK 256 /* addresses looked up at once */

static inline bool
is_link_local(const uint8_t *address)
{
	return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

static inline bool
is_multicast(const uint8_t *address)
{
	return address[0] == 0xff;
}

static inline bool
is_unspecified(const uint8_t *address)
{
	return (node_load64(address) | node_load64(address + 8)) == 0;
}

/* ::1, and IPv4 addresses in IPv6 clothes (::ffff:0:0/96), which are for sockets, not wires. */
static inline bool
is_loopback_or_mapped(const uint8_t *address)
{
	uint64_t low = rte_be_to_cpu_64(node_load64(address + 8));

	return node_load64(address) == 0 && (low == 1 || low >> 32 == 0xffff);
}

/* Fine as one end of a packet as far as one can tell from a few bits; if not, look closer. */
static inline bool
is_plain(const uint8_t *address)
{
	return (node_load64(address) != 0) & (address[0] < 0xfe);
}

/* Every packet but the plainest: in the order that doc/forwarding.md tells. */
static __rte_noinline uint16_t
check_any(struct rte_mbuf *m)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, weir_node_l3(m));
	const uint8_t *source = ip + IP6_SOURCE;
	const uint8_t *destination = ip + IP6_DESTINATION;
	uint32_t wire = m->pkt_len - weir_node_l3(m) + node_missing(m);
	uint32_t total;

	if (m->data_len < weir_node_l3(m) + IP6_HEADER)
		return node_refuse(m, WEIR_NODE_REASON_TRUNCATED);
	total = IP6_HEADER + node_load_be16(ip + IP6_PAYLOAD_LENGTH);
	if (ip[0] >> 4 != 6)
		return node_refuse(m, WEIR_NODE_REASON_IP6_VERSION);
	if (total > wire)
		return node_refuse(m, WEIR_NODE_REASON_IP6_LENGTH);
	/* A host without an address may ask a group whether one is taken. */
	if (is_multicast(source) || is_loopback_or_mapped(source) ||
		(is_unspecified(source) && !is_multicast(destination)))
		return node_refuse(m, WEIR_NODE_REASON_IP6_MARTIAN_SOURCE);
	if (is_unspecified(destination) || is_loopback_or_mapped(destination))
		return node_refuse(m, WEIR_NODE_REASON_IP6_MARTIAN_DESTINATION);
	if (is_multicast(destination))
		return node_refuse(m, WEIR_NODE_REASON_IP6_MULTICAST);
	if (is_link_local(source) || is_link_local(destination))
		return node_refuse(m, WEIR_NODE_REASON_IP6_LINK_LOCAL);
	if (weir_node_l3_is_group(m))
		return node_refuse(m, WEIR_NODE_REASON_NOT_FOR_US);
	if (ip[IP6_NEXT_HEADER] == IP6_HOP_BY_HOP)
		return node_refuse(m, WEIR_NODE_REASON_IP6_HOP_BY_HOP);
	return NODE_LOOKUP_EDGE_REWRITE;
}

/* May the packet be forwarded as far as its header tells? Where to look up: *address. */
static __rte_always_inline uint16_t
ip6_check(struct rte_mbuf *m, uint8_t *address, uint64_t missing_flag)
{
	uint32_t l3 = weir_node_l3_unchecked(m);
	const uint8_t *ip;
	uint32_t total, frame;

	if (unlikely(m->data_len < l3 + IP6_HEADER)) {
		memset(address, 0, 16); /* is refused */
		return check_any(m);
	}
	ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, l3);
	memcpy(address, ip + IP6_DESTINATION, 16);
	total = IP6_HEADER + node_load_be16(ip + IP6_PAYLOAD_LENGTH);
	frame = m->pkt_len - l3;
	if (unlikely((ip[0] >> 4 != 6) | (total > frame) | !is_plain(ip + IP6_SOURCE) |
		     !is_plain(ip + IP6_DESTINATION) | (ip[IP6_NEXT_HEADER] == IP6_HOP_BY_HOP) |
		     ((m->ol_flags & missing_flag) != 0)))
		return check_any(m);
	return NODE_LOOKUP_EDGE_REWRITE;
}

static __rte_noinline void
note_some(void **objs, uint16_t *nexts, const uint32_t *hops, uint32_t nb)
{
	node_lookup_note(objs, nexts, hops, nb, WEIR_NODE_REASON_IP6_NO_ROUTE);
}

static __rte_always_inline void
lookup_chunk(void **objs, uint16_t *nexts, uint32_t nb, uint64_t missing_flag)
{
	uint8_t addresses[CHUNK][16];
	uint32_t hops[CHUNK];
	uint32_t nb_refused = 0, worst = 0;

	for (uint32_t i = 0; i < nb; i++) {
		nexts[i] = ip6_check(objs[i], addresses[i], missing_flag);
		nb_refused += nexts[i] != NODE_LOOKUP_EDGE_REWRITE;
	}
	weir_node_route_lookup6((const uint8_t(*)[16])addresses, hops, nb);
	for (uint32_t i = 0; i < nb; i++)
		worst = RTE_MAX(worst, hops[i]);
	if (unlikely(nb_refused > 0 || worst == WEIR_NODE_NO_ROUTE)) {
		note_some(objs, nexts, hops, nb);
		return;
	}
	for (uint32_t i = 0; i < nb; i++)
		weir_node_hop_id_set(objs[i], hops[i]);
}

static uint16_t
ip6_lookup_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	const uint64_t missing_flag = weir_node_dyn.missing_flag;
	uint16_t *nexts = weir_graph_nexts(graph);

	for (uint32_t from = 0; from < nb_objs; from += CHUNK)
		lookup_chunk(&objs[from], &nexts[from], RTE_MIN(nb_objs - from, (uint32_t)CHUNK),
			missing_flag);
	weir_graph_enqueue_nexts(graph, node, objs, nexts, nb_objs);
	return nb_objs;
}

static struct weir_graph_node_register ip6_lookup = {
	WEIR_GRAPH_NODE_HEADER,
	.name = WEIR_BASE_NODE_IP6_LOOKUP,
	.process = ip6_lookup_process,
	.nb_edges = NODE_LOOKUP_NB_EDGES,
	.next_nodes = (const char *const[]){WEIR_BASE_NODE_IP6_LOOKUP_EDGES},
};
WEIR_GRAPH_NODE_REGISTER(ip6_lookup);
