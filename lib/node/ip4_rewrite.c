/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * ip4_rewrite: make the packet what goes out.
 *
 * Uses:  weir_node_l3(), weir_node_hop_id(), next hops
 * Sets:  TTL, checksum, Ethernet header, weir_node_l3(); for ip4_frag what node_frag_note() says
 * Next:  transmit nodes  ip4_frag  punt  drop
 */

#include "node_ip4.h"
#include "node_rewrite.h"

enum {
	EDGE_FRAG = NODE_EDGE_FIRST,
};

static inline uint32_t
total_length(const uint8_t *ip)
{
	return node_load_be16(ip + IP4_TOTAL_LENGTH);
}

static inline bool
may_cut(const uint8_t *ip)
{
	return (node_load16(ip + IP4_FRAGMENT) & RTE_BE16(IP4_DONT_FRAGMENT)) == 0;
}

static const struct node_rewrite_ip ip4 = {
	.type = RTE_ETHER_TYPE_IPV4,
	.ttl = IP4_TTL,
	.edge_frag = EDGE_FRAG,
	.total_length = total_length,
	.may_cut = may_cut,
	.decrement_ttl = node_ip4_decrement_ttl,
	.blackhole = WEIR_NODE_REASON_IP4_BLACKHOLE,
	.own = WEIR_NODE_REASON_IP4_OWN,
	.expired = WEIR_NODE_REASON_IP4_TTL,
	.no_neighbour = WEIR_NODE_REASON_IP4_NO_NEIGHBOUR,
	.too_big = WEIR_NODE_REASON_IP4_TOO_BIG_DF,
};

static __rte_noinline uint16_t
rewrite_other(void **obj, const struct weir_node_hop_fast *hop, uint16_t edge)
{
	return node_rewrite_other(&ip4, obj, hop, edge);
}

static uint16_t
ip4_rewrite_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	return node_rewrite_process(&ip4, graph, node, objs, nb_objs, rewrite_other);
}

static int
ip4_rewrite_init(const struct weir_graph *graph, struct weir_graph_node *node)
{
	return node_tx_edges_init(graph, node, NODE_IP4_REWRITE_NB_EDGES);
}

static struct weir_graph_node_register ip4_rewrite = {
	WEIR_GRAPH_NODE_HEADER,
	.name = WEIR_BASE_NODE_IP4_REWRITE,
	.state_size = sizeof(struct node_tx_edges),
	.process = ip4_rewrite_process,
	.init = ip4_rewrite_init,
	.nb_edges = NODE_IP4_REWRITE_NB_EDGES, /* and those to transmit nodes */
	.next_nodes = (const char *const[]){WEIR_BASE_NODE_IP4_REWRITE_EDGES},
};
WEIR_GRAPH_NODE_REGISTER(ip4_rewrite);
