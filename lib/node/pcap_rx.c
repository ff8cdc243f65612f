/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * pcap_rx-PORT-0: frames from a capture file.
 *
 * Sets:  m->port, the time of capture, how many bytes the capture left out
 * Next:  classify
 */

#include "node_rx.h"

static __rte_always_inline uint16_t
pcap_burst(struct weir_graph_node *node, const struct node_rx_ctx *ctx, struct rte_mbuf **mbufs)
{
	return node_pcap_in_burst(ctx->p->in, mbufs, ctx->burst, &node->xstats[NODE_RX_TRUNCATED]);
}

static uint16_t
pcap_rx_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	return node_rx_process(graph, node, pcap_burst);
}

static struct weir_graph_node_register pcap_rx = {
	WEIR_GRAPH_NODE_HEADER,
	.name = WEIR_BASE_NODE_PCAP_RX,
	.flags = WEIR_GRAPH_NODE_SOURCE,
	.process = pcap_rx_process,
	.init = node_rx_init,
	.nb_edges = 1,
	.next_nodes = (const char *const[]){WEIR_BASE_NODE_RX_EDGES},
	.nb_xstats = NODE_RX_NB_XSTATS,
	.xstats = weir_node_rx_xstats,
};
WEIR_GRAPH_NODE_REGISTER(pcap_rx);
