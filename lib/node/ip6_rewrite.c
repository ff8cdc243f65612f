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

static inline uint32_t
total_length(const uint8_t *ip)
{
	return IP6_HEADER + (uint32_t)node_load_be16(ip + IP6_PAYLOAD_LENGTH);
}

/* Only who sends a packet may cut it (RFC 8200, 4.5). */
static inline bool
may_cut(const uint8_t *ip)
{
	return false;
}

static inline void
decrement_hop_limit(uint8_t *ip)
{
	ip[IP6_HOP_LIMIT]--;
}

static const struct node_rewrite_ip ip6 = {
	.type = RTE_ETHER_TYPE_IPV6,
	.ttl = IP6_HOP_LIMIT,
	.edge_frag = NODE_EDGE_DROP, /* never */
	.total_length = total_length,
	.may_cut = may_cut,
	.decrement_ttl = decrement_hop_limit,
	.blackhole = WEIR_NODE_REASON_IP6_BLACKHOLE,
	.own = WEIR_NODE_REASON_IP6_OWN,
	.expired = WEIR_NODE_REASON_IP6_HOP_LIMIT,
	.no_neighbour = WEIR_NODE_REASON_IP6_NO_NEIGHBOUR,
	.too_big = WEIR_NODE_REASON_IP6_TOO_BIG,
};

static __rte_noinline uint16_t
rewrite_other(void **obj, const struct weir_node_hop_fast *hop, uint16_t edge)
{
	return node_rewrite_other(&ip6, obj, hop, edge);
}

static uint16_t
ip6_rewrite_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	return node_rewrite_process(&ip6, graph, node, objs, nb_objs, rewrite_other);
}

static int
ip6_rewrite_init(const struct weir_graph *graph, struct weir_graph_node *node)
{
	return node_tx_edges_init(graph, node, NODE_IP6_REWRITE_NB_EDGES);
}

static struct weir_graph_node_register ip6_rewrite = {
	WEIR_GRAPH_NODE_HEADER,
	.name = WEIR_BASE_NODE_IP6_REWRITE,
	.state_size = sizeof(struct node_tx_edges),
	.process = ip6_rewrite_process,
	.init = ip6_rewrite_init,
	.nb_edges = NODE_IP6_REWRITE_NB_EDGES, /* and those to transmit nodes */
	.next_nodes = (const char *const[]){WEIR_BASE_NODE_IP6_REWRITE_EDGES},
};
WEIR_GRAPH_NODE_REGISTER(ip6_rewrite);
