/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_REWRITE_H
#define NODE_REWRITE_H

/* What the rewrite nodes of both IP versions do alike. */

#include <stdbool.h>

#include <rte_byteorder.h>
#include <rte_ether.h>

#include "node_frag.h"
#include "node_private.h"
#include "weir_node_route_fast.h"

/* Headers of next hops that are written have one of two lengths. */
#define HEADER_UNTAGGED 14
#define HEADER_TAGGED   18

/* Bytes that the frame grows by when it gets the header of a next hop; may be negative. */
static __rte_always_inline int32_t
node_growth(const struct rte_mbuf *m, const struct weir_node_hop_fast *hop)
{
	return (int32_t)hop->header_length - (int32_t)weir_node_l3(m);
}

/*
 * Is there more to changing the packet than writing to its first segment: is somebody else holding it, has it more
 * segments, or did a capture leave some of it out?
 */
static __rte_always_inline bool
node_is_involved(const struct rte_mbuf *m, uint64_t missing_flag)
{
	const uint64_t elsewhere = RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
	const struct rte_mbuf plain = {.refcnt = 1, .nb_segs = 1};

	_Static_assert(offsetof(struct rte_mbuf, nb_segs) == offsetof(struct rte_mbuf, refcnt) + 2,
		"one comparison for both");
	return node_load32(&m->refcnt) != node_load32(&plain.refcnt) ||
	       (m->ol_flags & (elsewhere | missing_flag)) != 0;
}

/* Make room for a header of another length, or take some away. */
static __rte_always_inline void
node_grow(struct rte_mbuf *m, const struct weir_node_hop_fast *hop, int32_t growth)
{
	m->data_off = (uint16_t)(m->data_off - growth);
	m->data_len = (uint16_t)(m->data_len + growth);
	m->pkt_len = (uint32_t)((int32_t)m->pkt_len + growth);
	weir_node_l3_set(m, hop->header_length);
}

/*
 * Replace whatever is before the IP header, tags included, by the @length bytes of the next hop's
 * header: stores that overlap. @type is the version's, headers of next hops are made for IPv4.
 */
static __rte_always_inline void
node_write_header(
	uint8_t *frame, const struct weir_node_hop_fast *hop, uint16_t length, uint16_t type)
{
	node_store64(frame, node_load64(hop->header));
	if (likely(length == HEADER_UNTAGGED)) {
		node_store64(frame + 6, node_load64(hop->header + 6));
	} else {
		node_store64(frame + 8, node_load64(hop->header + 8));
		node_store16(frame + 16, node_load16(hop->header + 16));
	}
	if (type != RTE_ETHER_TYPE_IPV4)
		node_store16(frame + length - 2, rte_cpu_to_be_16(type));
}

/* What tells the IP versions apart; constants, so that each node's code is its own. */
struct node_rewrite_ip {
	uint16_t type;      /* Ethernet's */
	uint16_t ttl;       /* offset of TTL or hop limit */
	uint16_t edge_frag; /* where packets go that are to be cut */
	uint32_t (*total_length)(const uint8_t *ip);
	bool (*may_cut)(const uint8_t *ip);
	void (*decrement_ttl)(uint8_t *ip);
	enum weir_node_reason blackhole, own, expired, no_neighbour, too_big;
};

/* Every packet but the plainest: in the order that doc/forwarding.md tells. */
static __rte_always_inline uint16_t
node_rewrite_any(const struct node_rewrite_ip *version, void **obj,
	const struct weir_node_hop_fast *hop, uint16_t edge)
{
	struct rte_mbuf *m = *obj;
	const uint8_t *ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, weir_node_l3(m));
	uint32_t total = version->total_length(ip), length = weir_node_l3(m) + total;
	int32_t growth = node_growth(m, hop);

	if (hop->kind == WEIR_NODE_HOP_NONE)
		return node_refuse(m, WEIR_NODE_REASON_NONE);
	if (hop->kind == WEIR_NODE_HOP_BLACKHOLE)
		return node_refuse(m, version->blackhole);
	if (hop->kind == WEIR_NODE_HOP_LOCAL)
		return node_refuse(m, version->own);
	if (ip[version->ttl] <= 1)
		return node_refuse(m, version->expired);
	if (hop->kind != WEIR_NODE_HOP_FORWARD)
		return node_refuse(m, version->no_neighbour);
	if (edge == NODE_EDGE_DROP)
		return node_refuse(m, WEIR_NODE_REASON_TX_CLOSED);
	if (total > hop->mtu && !version->may_cut(ip))
		return node_refuse(m, version->too_big);
	m = node_mbuf_own(m, growth, length);
	if (m == NULL)
		return node_refuse(*obj, WEIR_NODE_REASON_NO_MEMORY);
	*obj = m;
	/* Padding goes; of a packet that claims more than there was on the wire, none is made up. */
	if (length <= m->pkt_len + node_missing(m))
		node_mbuf_set_wire_length(m, length);
	version->decrement_ttl(rte_pktmbuf_mtod_offset(m, uint8_t *, weir_node_l3(m)));
	node_grow(m, hop, growth);
	node_write_header(rte_pktmbuf_mtod(m, uint8_t *), hop, hop->header_length, version->type);
	if (total <= hop->mtu)
		return edge;
	node_frag_note(m, hop->port, hop->mtu);
	return version->edge_frag;
}

/*
 * The plain ones: a header of @from bytes becomes one of @to bytes. Where both are
 * constants, so are all offsets. Each condition has a branch of its own: never taken, they cost less
 * than joining what they ask.
 *
 * @return false when there is more to it than that: node_rewrite_any()
 */
static __rte_always_inline bool
node_rewrite_plain(const struct node_rewrite_ip *version, struct rte_mbuf *m,
	const struct weir_node_hop_fast *hop, uint16_t edge, uint16_t from, uint16_t to,
	uint64_t missing_flag)
{
	uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, from);
	uint32_t total = version->total_length(ip);

	/* The MTU of next hops that are not forwarded to is 0. */
	if (unlikely(ip[version->ttl] <= 1 || total > hop->mtu || edge == NODE_EDGE_DROP ||
		     from + total > m->data_len || node_is_involved(m, missing_flag) ||
		     (int)m->data_off < to - from))
		return false;
	if (unlikely(m->data_len != from + total)) { /* padded */
		m->data_len = (uint16_t)(from + total);
		m->pkt_len = from + total;
	}
	version->decrement_ttl(ip);
	if (from != to)
		node_grow(m, hop, to - from);
	node_write_header(ip - to, hop, to, version->type);
	return true;
}

/* The process() of a rewrite node. @other is what packets go through that tags come from or go to. */
static __rte_always_inline uint16_t
node_rewrite_process(const struct node_rewrite_ip *version, struct weir_graph *graph,
	struct weir_graph_node *node, void **objs, uint16_t nb_objs,
	uint16_t (*other)(void **obj, const struct weir_node_hop_fast *hop, uint16_t edge))
{
	const struct weir_node_hop_fast *hops = weir_node_hops();
	const uint32_t nb_hops = weir_node_hop_count();
	const uint64_t missing_flag = weir_node_dyn.missing_flag;
	const struct node_tx_edges *edges = node->state;
	uint16_t *nexts = weir_graph_nexts(graph);

	for (uint32_t i = 0; i < nb_objs; i++) {
		struct rte_mbuf *m = objs[i];
		uint32_t id = weir_node_hop_id(m);
		const struct weir_node_hop_fast *hop = &hops[likely(id < nb_hops) ? id : nb_hops];
		uint16_t edge = edges->edge[hop->port % WEIR_NODE_PORT_MAX];

		if (unlikely(weir_node_l3(m) != HEADER_UNTAGGED ||
			     hop->header_length != HEADER_UNTAGGED ||
			     !node_rewrite_plain(version, m, hop, edge, HEADER_UNTAGGED,
				     HEADER_UNTAGGED, missing_flag)))
			edge = other(&objs[i], hop, edge);
		nexts[i] = edge;
	}
	weir_graph_enqueue_nexts(graph, node, objs, nexts, nb_objs);
	return nb_objs;
}

/* What @other is: the plain ones among them, and the rest. */
static __rte_always_inline uint16_t
node_rewrite_other(const struct node_rewrite_ip *version, void **obj,
	const struct weir_node_hop_fast *hop, uint16_t edge)
{
	struct rte_mbuf *m = *obj;

	if (likely(node_rewrite_plain(version, m, hop, edge, weir_node_l3(m), hop->header_length,
		    weir_node_dyn.missing_flag)))
		return edge;
	return node_rewrite_any(version, obj, hop, edge);
}

#endif
