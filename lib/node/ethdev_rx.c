/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * ethdev_rx-PORT-QUEUE: frames from one receive queue of a device.
 *
 * Sets:  m->port
 * Next:  classify
 */

#include "node_rx.h"

static __rte_always_inline uint16_t
ethdev_burst(struct weir_graph_node *node, const struct node_rx_ctx *ctx, struct rte_mbuf **mbufs)
{
	return rte_eth_rx_burst(ctx->ethdev, ctx->queue, mbufs, ctx->burst);
}

static uint16_t
ethdev_rx_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	return node_rx_process(graph, node, ethdev_burst);
}

static struct weir_graph_node_register ethdev_rx = {
	WEIR_GRAPH_NODE_HEADER,
	.name = WEIR_BASE_NODE_ETHDEV_RX,
	.flags = WEIR_GRAPH_NODE_SOURCE,
	.process = ethdev_rx_process,
	.init = node_rx_init,
	.nb_edges = 1,
	.next_nodes = (const char *const[]){WEIR_BASE_NODE_RX_EDGES},
	.nb_xstats = NODE_RX_NB_XSTATS,
	.xstats = weir_node_rx_xstats,
};
WEIR_GRAPH_NODE_REGISTER(ethdev_rx);
