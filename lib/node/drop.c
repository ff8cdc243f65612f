/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * drop: free packets, and count them by the reason they came with.
 *
 * Uses:  weir_node_reason_get()
 */

#include "node_private.h"

static uint16_t
drop_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	for (uint16_t i = 0; i < nb_objs; i++)
		weir_graph_count(node, weir_node_reason_get(objs[i]), 1);
	rte_pktmbuf_free_bulk((struct rte_mbuf **)objs, nb_objs);
	return nb_objs;
}

static struct weir_graph_node_register drop = {
	WEIR_GRAPH_NODE_HEADER,
	.name = WEIR_BASE_NODE_DROP,
	.process = drop_process,
	.nb_xstats = WEIR_NODE_REASON_COUNT,
	.xstats = weir_node_reason_xstats,
};
WEIR_GRAPH_NODE_REGISTER(drop);
