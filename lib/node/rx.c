/* SPDX-License-Identifier: BSD-3-Clause */

/* What receive nodes have in common, off the fast path. */

#include "node_rx.h"

const char *const weir_node_rx_xstats[NODE_RX_NB_XSTATS] = {
	[NODE_RX_BYTES] = "bytes",
	[NODE_RX_TRUNCATED] = "truncated",
};

int
node_rx_init(const struct weir_graph *graph, struct weir_graph_node *node)
{
	struct node_rx_ctx *ctx = (struct node_rx_ctx *)node->ctx;

	ctx->p = node_port_of_node(graph, node, ctx->port, ctx->queue);
	if (ctx->p == NULL)
		return -ENODEV;
	ctx->ethdev = ctx->p->info.ethdev;
	ctx->burst = ctx->p->rx_burst;
	return 0;
}
