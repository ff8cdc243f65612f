/* SPDX-License-Identifier: BSD-3-Clause */

/* The topologies on lib/graph. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_memcpy.h>

#include <weir_graph_fast.h>

#include "graph_bench.h"

static __rte_always_inline struct node_ctx *
ctx_of(struct weir_graph_node *node)
{
	return (struct node_ctx *)node->ctx;
}

static uint16_t
source_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	const struct node_plan *plan = ctx_of(node)->plan;
	uint16_t left = plan->burst, share;
	void **from = plan->objs, **to;

	for (uint16_t e = 0; e < plan->nb_edges; e++, from += share, left -= share) {
		share = plan_share(plan, e, plan->burst, left);
		to = weir_graph_stream_get(graph, node, e, share);
		if (unlikely(to == NULL))
			return 0;
		rte_memcpy(to, from, share * sizeof(*to));
		weir_graph_stream_put(graph, node, e, share);
	}
	return plan->burst;
}

static uint16_t
mover_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	weir_graph_stream_move(graph, node, 0);
	return nb_objs;
}

static uint16_t
worker_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	const struct node_plan *plan = ctx_of(node)->plan;
	uint16_t left = nb_objs, share;

	for (uint16_t e = 0; e < plan->nb_edges; e++, objs += share, left -= share) {
		share = plan_share(plan, e, nb_objs, left);
		weir_graph_enqueue(graph, node, e, objs, share);
	}
	return nb_objs;
}

static uint16_t
scatter_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	const uint8_t *decisions = plan_decisions(ctx_of(node)->plan, nb_objs);
	uint16_t *nexts = weir_graph_nexts(graph);

	for (uint16_t i = 0; i < nb_objs; i++)
		nexts[i] = decisions[i];
	weir_graph_enqueue_nexts(graph, node, objs, nexts, nb_objs);
	return nb_objs;
}

static uint16_t
sink_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	return nb_objs;
}

static uint16_t
checking_sink_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	for (uint16_t i = 0; i < nb_objs; i++)
		plan_see(ctx_of(node)->plan, objs[i]);
	return nb_objs;
}

static const weir_graph_process_t processes[] = {
	[TOPOLOGY_SOURCE] = source_process,
	[TOPOLOGY_MOVER] = mover_process,
	[TOPOLOGY_WORKER] = worker_process,
	[TOPOLOGY_SCATTER] = scatter_process,
	[TOPOLOGY_SINK] = sink_process,
};

static void
node_name(char *text, size_t size, const char *graph, const struct topology_node *node)
{
	snprintf(text, size, "bench.%s.%s", graph, node->name);
}

static int
register_node(struct side_graph *side, const char *name, unsigned int index)
{
	const struct topology_node *node = &side->topology->nodes[index];
	struct node_plan *plan = &side->plans[index];
	struct node_ctx ctx = {.plan = plan};
	char text[WEIR_GRAPH_NAME_SIZE], nexts[TOPOLOGY_EDGES][WEIR_GRAPH_NAME_SIZE];
	const char *next_nodes[TOPOLOGY_EDGES];
	struct weir_graph_node_register reg = {
		WEIR_GRAPH_NODE_HEADER,
		.name = text,
		.flags = node->kind == TOPOLOGY_SOURCE ? WEIR_GRAPH_NODE_SOURCE : 0,
		.process = processes[node->kind],
		.nb_edges = node->nb_edges,
		.next_nodes = next_nodes,
	};

	node_name(text, sizeof(text), name, node);
	for (unsigned int e = 0; e < node->nb_edges; e++) {
		node_name(nexts[e], sizeof(nexts[e]), name, &side->topology->nodes[node->to[e]]);
		next_nodes[e] = nexts[e];
	}
	side->node_ids[index] = weir_graph_node_register(&reg);
	if (side->node_ids[index] == WEIR_GRAPH_NODE_INVALID)
		return -rte_errno;
	return weir_graph_node_ctx_set(side->node_ids[index], &ctx, sizeof(ctx));
}

int
graph_ours_create(struct side_graph *side, const char *name, uint16_t clock_period)
{
	char pattern[WEIR_GRAPH_NAME_SIZE];
	const char *patterns[] = {pattern};
	struct weir_graph_param param = {
		.socket_id = -1,
		.nb_node_patterns = 1,
		.node_patterns = patterns,
		.burst = BURST_MAX,
		.clock_period = clock_period,
	};
	int rc;

	for (unsigned int i = 0; i < side->topology->nb_nodes; i++) {
		rc = register_node(side, name, i);
		if (rc < 0)
			return rc;
	}
	snprintf(pattern, sizeof(pattern), "bench.%s.*", name);
	side->graph_id = weir_graph_create(name, &param);
	if (side->graph_id == WEIR_GRAPH_ID_INVALID)
		return -rte_errno;
	side->graph = weir_graph_get(side->graph_id);
	return 0;
}

void
graph_ours_destroy(struct side_graph *side)
{
	weir_graph_destroy(side->graph_id);
	for (unsigned int i = 0; i < side->topology->nb_nodes; i++)
		weir_graph_node_free(side->node_ids[i]);
}

void
graph_ours_walk(void *arg, uint64_t nb)
{
	struct weir_graph *graph = ((struct side_graph *)arg)->graph;

	while (nb-- > 0)
		weir_graph_walk(graph);
}

void
graph_ours_check(struct side_graph *side, bool on)
{
	for (unsigned int i = 0; i < side->topology->nb_nodes; i++)
		if (side->topology->nodes[i].kind == TOPOLOGY_SINK)
			weir_graph_node_get(side->graph, side->node_ids[i])->process =
				on ? checking_sink_process : sink_process;
}

uint64_t
graph_ours_objs(const struct side_graph *side, unsigned int node)
{
	return weir_graph_node_get(side->graph, side->node_ids[node])->nb_objs;
}
