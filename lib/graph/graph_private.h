/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GRAPH_PRIVATE_H
#define GRAPH_PRIVATE_H

/*
 * What the files of this library share and nobody else sees.
 *
 *   node.c      registered nodes                build.c    nodes + edges -> struct weir_graph
 *   graph.c     the list of graphs              walk.c     moving vectors; the sampled clock
 *   scatter*.c  one vector to many next nodes   snapshot.c counters from worker to reader
 *   cluster.c   several graphs summed           print.c, json.c, dot.c, dump.c, ctl.c
 */

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>

#include <rte_errno.h>

#include <weir_base.h>

#include "weir_graph.h"
#include "weir_graph_fast.h"

#define GRAPH_LOG(level, ...) weir_base_log(WEIR_BASE_LOG_##level, "graph", __VA_ARGS__)

/* Entries that a kernel may write beyond a stream's end with a last full vector. */
#define STREAM_SLACK 128

/* Node flags of our own, above those of registration. */
#define NODE_SELF_EDGE (1 << 15) /* an edge leads back to the node itself */

/* A registered node. Ids index an array of these; a freed id is used again. */
struct node_reg {
	uint32_t id;
	uint32_t parent;    /* id it was cloned from, or WEIR_GRAPH_NODE_INVALID */
	uint32_t nb_graphs; /* graphs that hold it */
	uint32_t flags;
	uint32_t state_size;
	weir_graph_process_t process;
	weir_graph_init_t init;
	weir_graph_fini_t fini;
	weir_graph_adopt_t adopt;
	uint16_t nb_edges;
	uint16_t nb_xstats;
	char **edges;  /* names of next nodes */
	char **xstats; /* names of counters */
	uint8_t ctx[WEIR_GRAPH_CTX_SIZE];
	char name[WEIR_GRAPH_NAME_SIZE];
};

/* What a graph remembers of one of its nodes besides the fast part; the names outlive the registration's changes. */
struct node_info {
	uint32_t id;
	char name[WEIR_GRAPH_NAME_SIZE];
	weir_graph_fini_t fini;
	weir_graph_adopt_t adopt;
	uint16_t nb_xstats;
	char **edges;
	char **xstats;
	uint32_t snapshot_offset; /* of this node's counters, in words */
};

/* Counters of a graph in a snapshot, in words from its start ... */
enum {
	SNAPSHOT_WALKS,
	SNAPSHOT_IDLE_WALKS,
	SNAPSHOT_BUSY_CYCLES,
	SNAPSHOT_IDLE_CYCLES,
	SNAPSHOT_GRAPH_WORDS
};
/* ... and of a node, from its offset; then one per edge, then one per xstat. */
enum {
	SNAPSHOT_CALLS,
	SNAPSHOT_OBJS,
	SNAPSHOT_CYCLES,
	SNAPSHOT_REALLOCS,
	SNAPSHOT_OVERFLOW,
	SNAPSHOT_STRAYS,
	SNAPSHOT_NODE_WORDS
};

struct weir_graph_slow {
	uint32_t id;
	uint32_t nb_nodes;
	char name[WEIR_GRAPH_NAME_SIZE];
	struct node_info *info; /* by pos */

	/* as asked for */
	int socket_id;
	void (*discard)(void *arg, void **objs, uint32_t nb_objs);
	void *discard_arg;

	/* the sampled clock, see walk.c */
	uint32_t clock_period;
	uint32_t clock_offset;  /* where in its window the walk to be timed next stands */
	uint32_t clock_warm_up; /* walks still to be timed one by one */
	uint64_t clock_random;
	uint64_t clock_read_cost;
	uint64_t busy_cycles;
	uint64_t idle_cycles;

	void **spare; /* a stream for visits in pieces, see walk.c */
	uint32_t spare_size;

	uint64_t *snapshot; /* what the worker published last */
	uint32_t snapshot_words;
};

/* The lock of everything but walks; recursive, because init() and fini() may call us. */
void graph_lock(void);
void graph_unlock(void);

/* node.c; all under the lock */
struct node_reg *node_reg_get(uint32_t id);
struct node_reg *node_reg_find(const char *name);
bool graph_name_valid(const char *name);
char **graph_names_copy(const char *const *names, uint32_t nb);
void graph_names_free(char **names, uint32_t nb);

/* build.c */
struct weir_graph *graph_build(const char *name, const struct weir_graph_param *param);
void graph_free(struct weir_graph *graph);

/* walk.c */
void graph_clock_init(struct weir_graph *graph, uint32_t period);

/* scatter.c */
void graph_scatter_select(struct weir_graph *graph);

/* graph.c; under the lock */
struct weir_graph *graph_at(uint32_t id);

/* snapshot.c */
void graph_publish(struct weir_graph *graph);
int graph_snapshot_layout(struct weir_graph *graph);
int graph_snapshot_take(struct weir_graph *graph, uint64_t *words);

/* cluster.c; under the lock */
void graph_cluster_retire(struct weir_graph *graph);

/* dot.c */
int graph_dot(
	const char *name, const struct weir_graph_cluster_stats *stats, FILE *out, bool counts);

#endif
