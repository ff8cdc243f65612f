/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * pcap_rx-PORT-0: frames from a capture file.
 *
 * Sets:  m->port, the time of capture, how many bytes the capture left out
 * Next:  classify
 */

#include "node_private.h"

static uint16_t
pcap_rx_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	const struct node_rx_ctx *ctx = (const struct node_rx_ctx *)node->ctx;
	struct rte_mbuf **mbufs =
		(struct rte_mbuf **)weir_graph_stream_get(graph, node, 0, ctx->burst);
	uint16_t nb;

	if (unlikely(mbufs == NULL))
		return 0;
	nb = node_pcap_in_burst(ctx->p->in, mbufs, ctx->burst, &node->xstats[NODE_RX_TRUNCATED]);
	if (nb == 0)
		return 0;
	weir_graph_count(node, NODE_RX_BYTES, node_rx_stamp(mbufs, nb, ctx->port));
	weir_graph_stream_put(graph, node, 0, nb);
	return nb;
}

static int
pcap_rx_init(const struct weir_graph *graph, struct weir_graph_node *node)
{
	struct node_rx_ctx *ctx = (struct node_rx_ctx *)node->ctx;

	ctx->p = node_port_of_node(graph, node, ctx->port, ctx->queue);
	if (ctx->p == NULL)
		return -ENODEV;
	ctx->burst = ctx->p->rx_burst;
	return 0;
}

static struct weir_graph_node_register pcap_rx = {
	WEIR_GRAPH_NODE_HEADER,
	.name = "pcap_rx",
	.flags = WEIR_GRAPH_NODE_SOURCE,
	.process = pcap_rx_process,
	.init = pcap_rx_init,
	.nb_edges = 1,
	.next_nodes = (const char *const[]){"classify"},
	.nb_xstats = NODE_RX_NB_XSTATS,
	.xstats = weir_node_rx_xstats,
};
WEIR_GRAPH_NODE_REGISTER(pcap_rx);
