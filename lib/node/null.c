/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * null: free packets and count nothing but them. For measurements.
 */

#include "node_private.h"

static uint16_t
null_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	rte_pktmbuf_free_bulk((struct rte_mbuf **)objs, nb_objs);
	return nb_objs;
}

static struct weir_graph_node_register null = {
	WEIR_GRAPH_NODE_HEADER,
	.name = WEIR_BASE_NODE_NULL,
	.process = null_process,
};
WEIR_GRAPH_NODE_REGISTER(null);
