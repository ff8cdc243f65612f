/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GRAPH_BENCH_H
#define GRAPH_BENCH_H

/*
 * What `weir bench graph` builds twice: a topology, once on lib/graph and once on
 * librte_graph. Nodes of both sides do the same work on the same objects.
 */

#include <stdbool.h>
#include <stdint.h>

#define TOPOLOGY_NODES 32
#define TOPOLOGY_EDGES 16
#define BURST_MAX      256
#define NB_DECISIONS   (1u << 20)

enum topology_kind {
	TOPOLOGY_SOURCE,  /* hands over a burst of objects, by percentages of its edges */
	TOPOLOGY_MOVER,   /* one edge: moves the vector */
	TOPOLOGY_WORKER,  /* several: runs of objects by percentages */
	TOPOLOGY_SCATTER, /* each object to an edge of its own, from a table of decisions */
	TOPOLOGY_SINK,    /* the end */
};

struct topology_node {
	char name[16];
	enum topology_kind kind;
	uint16_t nb_edges;
	uint16_t to[TOPOLOGY_EDGES]; /* index of node */
	uint8_t percent[TOPOLOGY_EDGES];
};

struct topology {
	unsigned int nb_nodes;
	struct topology_node nodes[TOPOLOGY_NODES];
};

/* What a node's process() works from: one per node and side. */
struct node_plan {
	uint16_t nb_edges;
	uint16_t burst; /* sources */
	uint8_t percent[TOPOLOGY_EDGES];
	uint32_t pos;               /* next decision */
	const uint8_t *decisions;   /* NB_DECISIONS of them */
	void **objs;                /* what sources hand over */
	uint64_t nb_seen, sum_seen; /* checking sinks */
};

/* A node's context memory, in the same form on both sides. */
struct node_ctx {
	struct node_plan *plan;
};

/* The next decisions of a vector. The table ends with a run that is never started in. */
static inline const uint8_t *
plan_decisions(struct node_plan *plan, uint16_t nb)
{
	const uint8_t *decisions = &plan->decisions[plan->pos];

	plan->pos += nb;
	if (plan->pos > NB_DECISIONS - BURST_MAX)
		plan->pos = 0;
	return decisions;
}

/* How many of nb objects go to edge e; the last edge takes what rounding leaves. */
static inline uint16_t
plan_share(const struct node_plan *plan, uint16_t e, uint16_t nb, uint16_t left)
{
	return e + 1u == plan->nb_edges ? left : (uint16_t)(plan->percent[e] * nb / 100);
}

/* Count an object and mix its identity in; the order does not matter. */
static inline void
plan_see(struct node_plan *plan, const void *obj)
{
	plan->nb_seen++;
	plan->sum_seen += ((uint64_t)(uintptr_t)obj + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/* One side's graph. */
struct side_graph {
	const struct topology *topology;
	struct node_plan plans[TOPOLOGY_NODES];
	uint32_t node_ids[TOPOLOGY_NODES];
	uint32_t graph_id;
	void *graph;
};

/* Make the graph; name is new in this process. 0 or negative errno, told on standard error. */
int graph_ours_create(struct side_graph *side, const char *name, uint16_t clock_period);
int graph_peer_create(struct side_graph *side, const char *name, bool one_by_one);
void graph_ours_destroy(struct side_graph *side);
void graph_peer_destroy(struct side_graph *side);

/* Walk nb times; arg is a struct side_graph. */
void graph_ours_walk(void *arg, uint64_t nb);
void graph_peer_walk(void *arg, uint64_t nb);

/* Let sinks look at each object (true), or only count vectors, as in the timed slices. */
void graph_ours_check(struct side_graph *side, bool on);
void graph_peer_check(struct side_graph *side, bool on);

/* Objects that the graph's own statistics say a node has processed. */
uint64_t graph_ours_objs(const struct side_graph *side, unsigned int node);
uint64_t graph_peer_objs(const struct side_graph *side, unsigned int node);

/* Fill in a topology by name: "home-run", "tree", "scatter-4" ... 0 or -ENOENT. */
int topology_make(struct topology *topology, const char *name);

#endif
