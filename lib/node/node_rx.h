/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_RX_H
#define NODE_RX_H

/*
 * What receive nodes have in common: all but the call that gets frames.
 */

#include "node_private.h"

/* Get up to ctx->burst frames; what the port knows of them besides is counted by the node. */
typedef uint16_t (*node_rx_burst_t)(
	struct weir_graph_node *node, const struct node_rx_ctx *ctx, struct rte_mbuf **mbufs);

/* rx.c: find the port, and what it is received with. */
int node_rx_init(const struct weir_graph *graph, struct weir_graph_node *node);

/* Frames go straight into the next node's stream. Inline, for @p burst to be so too. */
static __rte_always_inline uint16_t
node_rx_process(struct weir_graph *graph, struct weir_graph_node *node, node_rx_burst_t burst)
{
	const struct node_rx_ctx *ctx = (const struct node_rx_ctx *)node->ctx;
	struct rte_mbuf **mbufs =
		(struct rte_mbuf **)weir_graph_stream_get(graph, node, 0, ctx->burst);
	uint16_t nb;

	if (unlikely(mbufs == NULL))
		return 0;
	nb = burst(node, ctx, mbufs);
	if (nb == 0)
		return 0;
	weir_graph_count(node, NODE_RX_BYTES, node_rx_stamp(mbufs, nb, ctx->port));
	weir_graph_stream_put(graph, node, 0, nb);
	return nb;
}

#endif
