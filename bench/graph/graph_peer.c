/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The topologies on the installed librte_graph. Its nodes do what ours do, each in
 * the way that serves rte_graph best: runs of objects in one enqueue, single
 * decisions with the speculation of its in-tree nodes.
 */

/* librte_graph is experimental in DPDK's terms. */
#ifndef ALLOW_EXPERIMENTAL_API
#define ALLOW_EXPERIMENTAL_API
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_graph.h>
#include <rte_graph_worker.h>

#include "graph_bench.h"

_Static_assert(BURST_MAX == RTE_GRAPH_BURST_SIZE, "streams of both sides begin with the same size");
_Static_assert(sizeof(struct node_ctx) <= RTE_NODE_CTX_SZ, "context memory");

static __rte_always_inline struct node_ctx *
ctx_of(struct rte_node *node)
{
	return (struct node_ctx *)node->ctx;
}

static uint16_t
source_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	const struct node_plan *plan = ctx_of(node)->plan;
	uint16_t left = plan->burst, share;
	void **from = plan->objs, **to;

	for (uint16_t e = 0; e < plan->nb_edges; e++, from += share, left -= share) {
		share = plan_share(plan, e, plan->burst, left);
		to = rte_node_next_stream_get(graph, node, e, share);
		rte_memcpy(to, from, share * sizeof(*to));
		rte_node_next_stream_put(graph, node, e, share);
	}
	return plan->burst;
}

static uint16_t
mover_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	rte_node_next_stream_move(graph, node, 0);
	return nb_objs;
}

static uint16_t
worker_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	const struct node_plan *plan = ctx_of(node)->plan;
	uint16_t left = nb_objs, share;

	for (uint16_t e = 0; e < plan->nb_edges; e++, objs += share, left -= share) {
		share = plan_share(plan, e, nb_objs, left);
		if (likely(share != 0))
			rte_node_enqueue(graph, node, e, objs, share);
	}
	return nb_objs;
}

/*
 * Speculation, as rte_graph's ip4_lookup does it: all objects are taken for edge 0.
 * As long as that holds, four decisions cost one comparison, and nothing is
 * written until it fails; a vector that it held for moves as a whole. (To guess
 * again after each miss, as pkt_cls does, was measured too: slower on these mixes.)
 */
struct speculation {
	struct rte_graph *graph;
	struct rte_node *node;
	void **from;    /* first object not yet placed */
	void **to;      /* where the guessed edge's next object goes */
	uint16_t guess; /* edge */
	uint16_t run;   /* objects from `from` on for which the guess held */
	uint16_t held;  /* objects written to the guessed edge and not yet put */
};

static __rte_always_inline void
speculation_flush(struct speculation *spec)
{
	rte_memcpy(spec->to, spec->from, spec->run * sizeof(*spec->to));
	spec->from += spec->run;
	spec->to += spec->run;
	spec->held += spec->run;
	spec->run = 0;
}

static __rte_always_inline void
speculation_place(struct speculation *spec, void *obj, uint16_t next)
{
	if (next == spec->guess) {
		*spec->to++ = obj;
		spec->held++;
	} else {
		rte_node_enqueue_x1(spec->graph, spec->node, next, obj);
	}
}

static uint16_t
scatter_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	const uint8_t *d = plan_decisions(ctx_of(node)->plan, nb_objs);
	uint16_t left = nb_objs;
	struct speculation spec = {
		.graph = graph,
		.node = node,
		.from = objs,
		.guess = 0,
	};

	spec.to = rte_node_next_stream_get(graph, node, spec.guess, nb_objs);
	for (; left >= 4; left -= 4, d += 4) {
		const uint16_t g = spec.guess;

		if (((g ^ d[0]) | (g ^ d[1]) | (g ^ d[2]) | (g ^ d[3])) == 0) {
			spec.run += 4;
			continue;
		}
		speculation_flush(&spec);
		speculation_place(&spec, spec.from[0], d[0]);
		speculation_place(&spec, spec.from[1], d[1]);
		speculation_place(&spec, spec.from[2], d[2]);
		speculation_place(&spec, spec.from[3], d[3]);
		spec.from += 4;
	}
	for (; left > 0; left--, d++) {
		if (likely(d[0] == spec.guess)) {
			spec.run++;
			continue;
		}
		speculation_flush(&spec);
		rte_node_enqueue_x1(graph, node, d[0], spec.from[0]);
		spec.from++;
	}
	if (likely(spec.run == nb_objs)) {
		rte_node_next_stream_move(graph, node, spec.guess);
		return nb_objs;
	}
	speculation_flush(&spec);
	rte_node_next_stream_put(graph, node, spec.guess, spec.held);
	return nb_objs;
}

/* The other way that rte_graph offers: object by object. */
static uint16_t
scatter_one_by_one_process(
	struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	const uint8_t *decisions = plan_decisions(ctx_of(node)->plan, nb_objs);

	for (uint16_t i = 0; i < nb_objs; i++)
		rte_node_enqueue_x1(graph, node, decisions[i], objs[i]);
	return nb_objs;
}

static uint16_t
sink_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	return nb_objs;
}

static uint16_t
checking_sink_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb_objs)
{
	for (uint16_t i = 0; i < nb_objs; i++)
		plan_see(ctx_of(node)->plan, objs[i]);
	return nb_objs;
}

static const rte_node_process_t processes[] = {
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
	struct rte_node_register *reg;
	char nexts[TOPOLOGY_EDGES][RTE_NODE_NAMESIZE];

	reg = calloc(1, sizeof(*reg) + TOPOLOGY_EDGES * sizeof(reg->next_nodes[0]));
	if (reg == NULL)
		return -ENOMEM;
	node_name(reg->name, sizeof(reg->name), name, node);
	reg->flags = node->kind == TOPOLOGY_SOURCE ? RTE_NODE_SOURCE_F : 0;
	reg->process = processes[node->kind];
	reg->parent_id = RTE_NODE_ID_INVALID;
	reg->nb_edges = node->nb_edges;
	for (unsigned int e = 0; e < node->nb_edges; e++) {
		node_name(nexts[e], sizeof(nexts[e]), name, &side->topology->nodes[node->to[e]]);
		reg->next_nodes[e] = nexts[e];
	}
	side->node_ids[index] = __rte_node_register(reg);
	free(reg);
	return side->node_ids[index] == RTE_NODE_ID_INVALID ? -rte_errno : 0;
}

static struct rte_node *
node_of(const struct side_graph *side, unsigned int index)
{
	return rte_graph_node_get((rte_graph_t)side->graph_id, side->node_ids[index]);
}

int
graph_peer_create(struct side_graph *side, const char *name, bool one_by_one)
{
	char pattern[RTE_NODE_NAMESIZE];
	const char *patterns[] = {pattern};
	struct rte_graph_param param = {
		.socket_id = SOCKET_ID_ANY, .nb_node_patterns = 1, .node_patterns = patterns};
	struct node_ctx *ctx;
	int rc;

	for (unsigned int i = 0; i < side->topology->nb_nodes; i++) {
		rc = register_node(side, name, i);
		if (rc < 0)
			return rc;
	}
	snprintf(pattern, sizeof(pattern), "bench.%s.*", name);
	side->graph_id = rte_graph_create(name, &param);
	if (side->graph_id == RTE_GRAPH_ID_INVALID)
		return -rte_errno;
	side->graph = rte_graph_lookup(name);
	for (unsigned int i = 0; i < side->topology->nb_nodes; i++) {
		ctx = ctx_of(node_of(side, i));
		ctx->plan = &side->plans[i];
		if (side->topology->nodes[i].kind == TOPOLOGY_SCATTER && one_by_one)
			node_of(side, i)->process = scatter_one_by_one_process;
	}
	return 0;
}

void
graph_peer_destroy(struct side_graph *side)
{
	rte_graph_destroy((rte_graph_t)side->graph_id);
}

void
graph_peer_walk(void *arg, uint64_t nb)
{
	struct rte_graph *graph = ((struct side_graph *)arg)->graph;

	while (nb-- > 0)
		rte_graph_walk(graph);
}

void
graph_peer_check(struct side_graph *side, bool on)
{
	for (unsigned int i = 0; i < side->topology->nb_nodes; i++)
		if (side->topology->nodes[i].kind == TOPOLOGY_SINK)
			node_of(side, i)->process = on ? checking_sink_process : sink_process;
}

uint64_t
graph_peer_objs(const struct side_graph *side, unsigned int node)
{
	return node_of(side, node)->total_objs;
}
