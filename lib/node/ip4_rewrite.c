/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * ip4_rewrite: make the packet what goes out.
 *
 * Uses:  weir_node_l3(), weir_node_hop_id(), next hops
 * Sets:  TTL, checksum, Ethernet header, weir_node_l3(); for ip4_frag what node_frag_note() says
 * Next:  transmit nodes  ip4_frag  punt  drop
 */

#include "node_frag.h"
#include "node_ip4.h"
#include "node_rewrite.h"

enum {
	EDGE_FRAG = NODE_EDGE_FIRST,
};

/* Every packet but the plainest: in the order that doc/forwarding.md tells. */
static __rte_noinline uint16_t
rewrite_any(void **obj, const struct weir_node_hop_fast *hop, uint16_t edge)
{
	struct rte_mbuf *m = *obj;
	const uint8_t *ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, weir_node_l3(m));
	uint16_t total = node_load_be16(ip + IP4_TOTAL_LENGTH);
	int32_t growth = node_growth(m, hop);

	if (hop->kind == WEIR_NODE_HOP_NONE)
		return node_refuse(m, WEIR_NODE_REASON_NONE);
	if (hop->kind == WEIR_NODE_HOP_BLACKHOLE)
		return node_refuse(m, WEIR_NODE_REASON_IP4_BLACKHOLE);
	if (hop->kind == WEIR_NODE_HOP_LOCAL)
		return node_refuse(m, WEIR_NODE_REASON_IP4_OWN);
	if (ip[IP4_TTL] <= 1)
		return node_refuse(m, WEIR_NODE_REASON_IP4_TTL);
	if (hop->kind != WEIR_NODE_HOP_FORWARD)
		return node_refuse(m, WEIR_NODE_REASON_IP4_NO_NEIGHBOUR);
	if (edge == NODE_EDGE_DROP)
		return node_refuse(m, WEIR_NODE_REASON_TX_CLOSED);
	if (total > hop->mtu && (node_load16(ip + IP4_FRAGMENT) & RTE_BE16(IP4_DONT_FRAGMENT)))
		return node_refuse(m, WEIR_NODE_REASON_IP4_TOO_BIG_DF);
	m = node_mbuf_own(m, growth);
	if (m == NULL)
		return node_refuse(*obj, WEIR_NODE_REASON_NO_MEMORY);
	*obj = m;
	node_ip4_decrement_ttl(rte_pktmbuf_mtod_offset(m, uint8_t *, weir_node_l3(m)));
	node_grow(m, hop, growth);
	node_write_header(rte_pktmbuf_mtod(m, uint8_t *), hop);
	if (total <= hop->mtu)
		return edge;
	node_frag_note(m, hop->port, hop->mtu);
	return EDGE_FRAG;
}

static __rte_always_inline uint16_t
ip4_rewrite_decide(void **obj, const struct weir_node_hop_fast *hops, uint32_t nb_hops,
	const struct node_tx_edges *edges)
{
	struct rte_mbuf *m = *obj;
	const struct weir_node_hop_fast *hop = weir_node_hop_at(hops, nb_hops, weir_node_hop_id(m));
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	uint8_t *ip = frame + weir_node_l3(m);
	uint16_t edge = edges->edge[hop->port % WEIR_NODE_PORT_MAX];

	/* The MTU of next hops that are not forwarded to is 0. */
	if (unlikely((ip[IP4_TTL] <= 1) | (node_load_be16(ip + IP4_TOTAL_LENGTH) > hop->mtu) |
		     (edge == NODE_EDGE_DROP) | node_is_shared(m)))
		return rewrite_any(obj, hop, edge);
	if (unlikely(weir_node_l3(m) != hop->header_length)) {
		int32_t growth = node_growth(m, hop);

		if (unlikely((int32_t)m->data_off < growth))
			return rewrite_any(obj, hop, edge);
		node_grow(m, hop, growth);
		frame -= growth;
	}
	node_ip4_decrement_ttl(ip);
	node_write_header(frame, hop);
	return edge;
}

static uint16_t
ip4_rewrite_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	const struct weir_node_hop_fast *hops = weir_node_hops();
	const uint32_t nb_hops = weir_node_hop_count();
	const struct node_tx_edges *edges = node->state;
	uint16_t *nexts = weir_graph_nexts(graph);

	for (uint32_t i = 0; i < nb_objs; i++)
		nexts[i] = ip4_rewrite_decide(&objs[i], hops, nb_hops, edges);
	weir_graph_enqueue_nexts(graph, node, objs, nexts, nb_objs);
	return nb_objs;
}

static int
ip4_rewrite_init(const struct weir_graph *graph, struct weir_graph_node *node)
{
	return node_tx_edges_init(graph, node, NODE_IP4_REWRITE_NB_EDGES);
}

static struct weir_graph_node_register ip4_rewrite = {
	WEIR_GRAPH_NODE_HEADER,
	.name = "ip4_rewrite",
	.state_size = sizeof(struct node_tx_edges),
	.process = ip4_rewrite_process,
	.init = ip4_rewrite_init,
	.nb_edges = NODE_IP4_REWRITE_NB_EDGES, /* and those to transmit nodes */
	.next_nodes =
		(const char *const[]){
			[NODE_EDGE_DROP] = "drop",
			[NODE_EDGE_PUNT] = "punt",
			[EDGE_FRAG] = "ip4_frag",
		},
};
WEIR_GRAPH_NODE_REGISTER(ip4_rewrite);
