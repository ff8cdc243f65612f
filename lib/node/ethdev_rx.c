/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * ethdev_rx-PORT-QUEUE: frames from one receive queue of a device.
 *
 * Sets:  m->port
 * Next:  classify
 */

#include "node_private.h"

const char *const weir_node_rx_xstats[NODE_RX_NB_XSTATS] = {
	[NODE_RX_BYTES] = "bytes",
	[NODE_RX_TRUNCATED] = "truncated",
};

static uint16_t
ethdev_rx_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	const struct node_rx_ctx *ctx = (const struct node_rx_ctx *)node->ctx;
	struct rte_mbuf **mbufs =
		(struct rte_mbuf **)weir_graph_stream_get(graph, node, 0, ctx->burst);
	uint16_t nb;

	if (unlikely(mbufs == NULL))
		return 0;
	nb = rte_eth_rx_burst(ctx->ethdev, ctx->queue, mbufs, ctx->burst);
	if (nb == 0)
		return 0;
	weir_graph_count(node, NODE_RX_BYTES, node_rx_stamp(mbufs, nb, ctx->port));
	weir_graph_stream_put(graph, node, 0, nb);
	return nb;
}

static int
ethdev_rx_init(const struct weir_graph *graph, struct weir_graph_node *node)
{
	struct node_rx_ctx *ctx = (struct node_rx_ctx *)node->ctx;

	ctx->p = node_port_of_node(graph, node, ctx->port, ctx->queue);
	if (ctx->p == NULL)
		return -ENODEV;
	ctx->ethdev = ctx->p->info.ethdev;
	ctx->burst = ctx->p->rx_burst;
	return 0;
}

static struct weir_graph_node_register ethdev_rx = {
	WEIR_GRAPH_NODE_HEADER,
	.name = "ethdev_rx",
	.flags = WEIR_GRAPH_NODE_SOURCE,
	.process = ethdev_rx_process,
	.init = ethdev_rx_init,
	.nb_edges = 1,
	.next_nodes = (const char *const[]){"classify"},
	.nb_xstats = NODE_RX_NB_XSTATS,
	.xstats = weir_node_rx_xstats,
};
WEIR_GRAPH_NODE_REGISTER(ethdev_rx);
