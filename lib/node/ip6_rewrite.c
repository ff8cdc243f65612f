/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * ip6_rewrite: make the packet what goes out.
 *
 * Uses:  weir_node_l3(), weir_node_hop_id(), next hops
 * Sets:  hop limit, Ethernet header, weir_node_l3()
 * Next:  transmit nodes  punt  drop
 */

#include "node_ip6.h"
#include "node_rewrite.h"

/* Next hops are common to both versions, their headers are made for IPv4. */
static __rte_always_inline void
write_headers(uint8_t *frame, const struct weir_node_hop_fast *hop)
{
	node_write_header(frame, hop);
	node_store16(frame + hop->header_length - 2, RTE_BE16(RTE_ETHER_TYPE_IPV6));
	frame[hop->header_length + IP6_HOP_LIMIT]--;
}

static inline uint32_t
total_length(const uint8_t *ip)
{
	return IP6_HEADER + (uint32_t)node_load_be16(ip + IP6_PAYLOAD_LENGTH);
}

/* Every packet but the plainest: in the order that doc/forwarding.md tells. */
static __rte_noinline uint16_t
rewrite_any(void **obj, const struct weir_node_hop_fast *hop, uint16_t edge)
{
	struct rte_mbuf *m = *obj;
	const uint8_t *ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, weir_node_l3(m));
	int32_t growth = node_growth(m, hop);

	if (hop->kind == WEIR_NODE_HOP_NONE)
		return node_refuse(m, WEIR_NODE_REASON_NONE);
	if (hop->kind == WEIR_NODE_HOP_BLACKHOLE)
		return node_refuse(m, WEIR_NODE_REASON_IP6_BLACKHOLE);
	if (hop->kind == WEIR_NODE_HOP_LOCAL)
		return node_refuse(m, WEIR_NODE_REASON_IP6_OWN);
	if (ip[IP6_HOP_LIMIT] <= 1)
		return node_refuse(m, WEIR_NODE_REASON_IP6_HOP_LIMIT);
	if (hop->kind != WEIR_NODE_HOP_FORWARD)
		return node_refuse(m, WEIR_NODE_REASON_IP6_NO_NEIGHBOUR);
	if (edge == NODE_EDGE_DROP)
		return node_refuse(m, WEIR_NODE_REASON_TX_CLOSED);
	if (total_length(ip) > hop->mtu)
		return node_refuse(m, WEIR_NODE_REASON_IP6_TOO_BIG);
	m = node_mbuf_own(m, growth);
	if (m == NULL)
		return node_refuse(*obj, WEIR_NODE_REASON_NO_MEMORY);
	*obj = m;
	node_grow(m, hop, growth);
	write_headers(rte_pktmbuf_mtod(m, uint8_t *), hop);
	return edge;
}

static __rte_always_inline uint16_t
ip6_rewrite_decide(void **obj, const struct weir_node_hop_fast *hops, uint32_t nb_hops,
	const struct node_tx_edges *edges)
{
	struct rte_mbuf *m = *obj;
	const struct weir_node_hop_fast *hop = weir_node_hop_at(hops, nb_hops, weir_node_hop_id(m));
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	const uint8_t *ip = frame + weir_node_l3(m);
	uint16_t edge = edges->edge[hop->port % WEIR_NODE_PORT_MAX];

	/* The MTU of next hops that are not forwarded to is 0. */
	if (unlikely((ip[IP6_HOP_LIMIT] <= 1) | (total_length(ip) > hop->mtu) |
		     (edge == NODE_EDGE_DROP) | node_is_shared(m)))
		return rewrite_any(obj, hop, edge);
	if (unlikely(weir_node_l3(m) != hop->header_length)) {
		int32_t growth = node_growth(m, hop);

		if (unlikely((int32_t)m->data_off < growth))
			return rewrite_any(obj, hop, edge);
		node_grow(m, hop, growth);
		frame -= growth;
	}
	write_headers(frame, hop);
	return edge;
}

static uint16_t
ip6_rewrite_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	const struct weir_node_hop_fast *hops = weir_node_hops();
	const uint32_t nb_hops = weir_node_hop_count();
	const struct node_tx_edges *edges = node->state;
	uint16_t *nexts = weir_graph_nexts(graph);

	for (uint32_t i = 0; i < nb_objs; i++)
		nexts[i] = ip6_rewrite_decide(&objs[i], hops, nb_hops, edges);
	weir_graph_enqueue_nexts(graph, node, objs, nexts, nb_objs);
	return nb_objs;
}

static int
ip6_rewrite_init(const struct weir_graph *graph, struct weir_graph_node *node)
{
	return node_tx_edges_init(graph, node, NODE_IP6_REWRITE_NB_EDGES);
}

static struct weir_graph_node_register ip6_rewrite = {
	WEIR_GRAPH_NODE_HEADER,
	.name = "ip6_rewrite",
	.state_size = sizeof(struct node_tx_edges),
	.process = ip6_rewrite_process,
	.init = ip6_rewrite_init,
	.nb_edges = NODE_IP6_REWRITE_NB_EDGES, /* and those to transmit nodes */
	.next_nodes =
		(const char *const[]){
			[NODE_EDGE_DROP] = "drop",
			[NODE_EDGE_PUNT] = "punt",
		},
};
WEIR_GRAPH_NODE_REGISTER(ip6_rewrite);
