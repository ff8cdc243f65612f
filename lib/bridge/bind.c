/* SPDX-License-Identifier: BSD-3-Clause */

/* Graphs and the cores that they are bound to. */

#include <stdlib.h>

#include "bridge_private.h"

static bool
is_rx(const struct weir_graph_node *node)
{
	return node->process == bridge_rx_process;
}

static bool
is_ours(const struct weir_graph_node *node)
{
	return is_rx(node) || node->process == bridge_tx_process ||
	       node->process == bridge_job_process;
}

static struct bridge_rx *
rx_of(const struct weir_graph_node *node)
{
	return ((const struct bridge_rx_ctx *)(const void *)node->ctx)->rx;
}

static struct bridge_state *
state_of(const struct weir_graph_node *node)
{
	return node->state;
}

/* What is in the way? */
static int
check(const struct weir_graph *graph, const struct weir_em_core *core, bool *serves)
{
	const struct weir_graph_node *node;
	bool others = false;
	uint32_t i;

	*serves = false;
	weir_graph_foreach_node (i, graph, node) {
		if (is_rx(node))
			*serves = true;
		else if ((node->flags & WEIR_GRAPH_NODE_SOURCE) != 0)
			others = true;
		if (is_ours(node) && state_of(node)->bound != NULL)
			return -EBUSY;
		if (is_rx(node) && rx_of(node)->bound[weir_em_core_id(core)] != NULL)
			return -EBUSY;
	}
	if (!*serves || !others)
		return 0;
	BRIDGE_LOG(ERROR,
		"graph '%s' has sched_rx nodes and other sources; expected a graph of its own for "
		"events",
		weir_graph_name(weir_graph_id(graph)));
	return -EINVAL;
}

int
weir_bridge_bind(struct weir_graph *graph, struct weir_em_core *core)
{
	struct weir_graph_node *node;
	struct bridge_graph *bound;
	bool serves, held = false;
	uint32_t i;
	int error;

	if (graph == NULL || core == NULL)
		return -EINVAL;
	error = check(graph, core, &serves);
	if (error < 0)
		return error;
	bound = calloc(1, sizeof(*bound));
	if (bound == NULL)
		return -ENOMEM;
	bound->graph = graph;
	bound->core = core;
	bound->em = weir_em_core_em(core);
	bound->serves = serves;
	bound->dispatches = weir_em_core_mask(bound->em) >> weir_em_core_id(core) & 1;
	weir_graph_foreach_node (i, graph, node) {
		if (is_ours(node)) {
			state_of(node)->bound = bound;
			held = true;
		}
		if (is_rx(node))
			rx_of(node)->bound[weir_em_core_id(core)] = bound;
	}
	/* A graph without such nodes has nothing to send, nor to receive. */
	if (!held)
		free(bound);
	return 0;
}

void
weir_bridge_unbind(struct weir_graph *graph)
{
	struct bridge_graph *bound = NULL;
	struct weir_graph_node *node;
	uint32_t i;

	if (graph == NULL)
		return;
	weir_graph_foreach_node (i, graph, node) {
		if (!is_ours(node) || state_of(node)->bound == NULL)
			continue;
		bound = state_of(node)->bound;
		state_of(node)->bound = NULL;
		if (is_rx(node))
			rx_of(node)->bound[weir_em_core_id(bound->core)] = NULL;
	}
	free(bound);
}
