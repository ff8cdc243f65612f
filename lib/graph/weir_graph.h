/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_GRAPH_H
#define WEIR_GRAPH_H

/**
 * @file
 * Graphs of nodes: registration, building, inspection. What runs per packet
 * is in weir_graph_fast.h.
 *
 * The model is that of DPDK's graph RFC (J. Jacob et al., 2020): a *node* is
 * registered once in the process and joined to others by named *edges*; a
 * *graph* is made from nodes for one worker, who moves whole vectors of
 * objects through it with weir_graph_walk(). Objects are pointers that the
 * library never looks into.
 *
 * Threads: everything in this header may be called by any thread at any time,
 * beside running walks, and is serialised by one lock; init() and fini() run in
 * the caller's thread under that lock, and may use all of it but creating and destroying graphs.
 * Never call it from process(). A graph is walked by one thread at a time.
 *
 * Errors: 0 or a negative errno; pointers NULL and ids WEIR_GRAPH_*_INVALID
 * with rte_errno; the reason goes to the log under "graph".
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_GRAPH_ABI_VERSION                                                                     \
	1 /**< layout of struct weir_graph_node_register and of the fast path */
#define WEIR_GRAPH_NAME_SIZE 64 /**< longest node or graph name, with its ending zero */

#define WEIR_GRAPH_NODE_INVALID UINT32_MAX /**< no such node */
#define WEIR_GRAPH_ID_INVALID   UINT32_MAX /**< no such graph */
#define WEIR_GRAPH_EDGE_INVALID UINT16_MAX /**< no such edge */

#define WEIR_GRAPH_BURST_DEFAULT 256  /**< largest vector handed to process() */
#define WEIR_GRAPH_BURST_MAX     4096 /**< largest burst that can be configured */
#define WEIR_GRAPH_CTX_SIZE      32   /**< bytes of per-node context memory */

struct weir_graph;      /* one worker's graph, see weir_graph_fast.h */
struct weir_graph_node; /* a node in it */

/**
 * Process one vector: called by the walk when objects are pending.
 *
 * Every object must go on to a next node, or out of the graph (transmitted,
 * freed, held) under a name that can be counted.
 *
 * @param objs     the vector; the node may reorder and overwrite it
 * @param nb_objs  1 to the graph's burst; 0 for a source
 * @return objects processed; for a source: objects produced (0: it was idle)
 */
typedef uint16_t (*weir_graph_process_t)(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs);

/** A node joins a graph: set up its context memory. A negative errno refuses the graph. */
typedef int (*weir_graph_init_t)(const struct weir_graph *graph, struct weir_graph_node *node);

/** A node leaves a graph that is being destroyed. */
typedef void (*weir_graph_fini_t)(const struct weir_graph *graph, struct weir_graph_node *node);

/** Carry what @p old_node knows over to @p new_node, its replacement in another graph; neither is being walked. */
typedef int (*weir_graph_adopt_t)(
	struct weir_graph_node *old_node, struct weir_graph_node *new_node);

/** Flags of a node. */
enum {
	WEIR_GRAPH_NODE_SOURCE = 1 << 0, /**< runs in every walk, to bring objects in */
};

/**
 * What a node is. Everything is copied at registration.
 * Fill abi_version and struct_size with WEIR_GRAPH_NODE_HEADER.
 */
struct weir_graph_node_register {
	uint32_t abi_version; /**< WEIR_GRAPH_ABI_VERSION of the plug-in's build */
	uint32_t struct_size; /**< sizeof(struct weir_graph_node_register) of the plug-in's build */
	const char *name;     /**< unique; letters, digits, '_', '-', '.' */
	uint32_t flags;       /**< WEIR_GRAPH_NODE_SOURCE or 0 */
	uint32_t
		state_size; /**< bytes of weir_graph_node::state, zeroed, cache aligned, one per graph; 0: none */
	weir_graph_process_t process; /**< required */
	weir_graph_init_t init;       /**< or NULL */
	weir_graph_fini_t fini;       /**< or NULL */
	weir_graph_adopt_t adopt;     /**< or NULL: nothing to carry over */
	uint16_t nb_edges;            /**< entries in next_nodes */
	uint16_t nb_xstats;           /**< entries in xstats */
	const char *const *
		next_nodes; /**< names of next nodes; they need to exist when a graph is created only */
	const char *const *xstats; /**< names of the node's own counters, see weir_graph_count() */
	uint32_t id;               /**< out: set by WEIR_GRAPH_NODE_REGISTER() */
};

/** First two members of a struct weir_graph_node_register initialiser. */
#define WEIR_GRAPH_NODE_HEADER                                                                     \
	.abi_version = WEIR_GRAPH_ABI_VERSION,                                                     \
	.struct_size = sizeof(struct weir_graph_node_register)

/**
 * Register a node by call.
 *
 * @return its id; WEIR_GRAPH_NODE_INVALID with rte_errno EINVAL (version, size,
 *   name, missing process()), EEXIST, ENOMEM
 */
uint32_t weir_graph_node_register(const struct weir_graph_node_register *reg);

/** Register a node when the program or plug-in is loaded; aborts when the registration is refused. */
#define WEIR_GRAPH_NODE_REGISTER(reg)                                                              \
	__attribute__((constructor(65535))) static void reg##_register(void)                       \
	{                                                                                          \
		(reg).id = weir_graph_node_register(&(reg));                                       \
		if ((reg).id == WEIR_GRAPH_NODE_INVALID)                                           \
			__builtin_abort();                                                         \
	}                                                                                          \
	struct weir_graph_node_register_semicolon

/**
 * Clone a node under the name "PARENT-SUFFIX", with the same edges, template
 * and functions. A clone can be cloned.
 *
 * @return id of the clone; WEIR_GRAPH_NODE_INVALID with rte_errno ENOENT, EEXIST, ENAMETOOLONG, ENOMEM
 */
uint32_t weir_graph_node_clone(uint32_t id, const char *suffix);

/**
 * Forget a node; its id may be given to a later one. -EBUSY while a graph
 * holds it, -ENOENT. Nodes that name it as next keep the name.
 */
int weir_graph_node_free(uint32_t id);

/** Id of the node of that name, or WEIR_GRAPH_NODE_INVALID. */
uint32_t weir_graph_node_from_name(const char *name);

/** Name of a node, or NULL; valid until the node is freed. */
const char *weir_graph_node_name(uint32_t id);

/** Number of ids in use or free again: ids are below this. */
uint32_t weir_graph_node_max_count(void);

/**
 * Give the bytes that each graph's instance of the node finds in its context
 * memory when init() is called: what tells clones apart (port, queue).
 * At most WEIR_GRAPH_CTX_SIZE bytes, else -E2BIG; -ENOENT; -EINVAL.
 */
int weir_graph_node_ctx_set(uint32_t id, const void *ctx, size_t size);

/** Number of edges of a node; 0 for none or an unknown id. */
uint16_t weir_graph_node_edge_count(uint32_t id);

/** Name of the next node on edge @p edge; NULL when there is none; valid until the edge is changed. */
const char *weir_graph_node_edge_name(uint32_t id, uint16_t edge);

/** Names of all next nodes into @p next_nodes (room for weir_graph_node_edge_count()); returns their number. */
uint16_t weir_graph_node_edge_get(uint32_t id, const char *next_nodes[]);

/** First edge of @p id that leads to node @p next_node, or WEIR_GRAPH_EDGE_INVALID. */
uint16_t weir_graph_node_edge_find(uint32_t id, const char *next_node);

/**
 * Set edges from..from+nb_edges-1 to the named nodes; from WEIR_GRAPH_EDGE_INVALID: append.
 * Existing graphs keep the edges that they were made with.
 *
 * @return 0; -ENOENT, -EINVAL (a gap before @p from), -ENOSPC (more than 65,534 edges), -ENOMEM
 */
int weir_graph_node_edge_update(
	uint32_t id, uint16_t from, const char *const *next_nodes, uint16_t nb_edges);

/** Keep the first @p nb_edges edges only. -ENOENT, -EINVAL when it has fewer. */
int weir_graph_node_edge_shrink(uint32_t id, uint16_t nb_edges);

/** Print one registered node, or all of them. */
int weir_graph_node_dump(uint32_t id, FILE *out);
void weir_graph_node_list_dump(FILE *out); /**< All registered nodes. */

/** How to make a graph. Zero is the default of each. */
struct weir_graph_param {
	int socket_id;             /**< NUMA node of its memory, or SOCKET_ID_ANY (-1) */
	uint32_t nb_node_patterns; /**< entries in node_patterns */
	const char *const *
		node_patterns; /**< fnmatch(3) patterns; each must match; what edges reach comes along */
	uint16_t burst;        /**< largest vector, 1 to WEIR_GRAPH_BURST_MAX; 0: 256 */
	uint16_t
		clock_period; /**< time one walk in so many; 0: 64; 1: every walk; UINT16_MAX: none */
	void (*discard)(void *arg, void **objs,
		uint32_t nb_objs); /**< frees objects that no stream can take for
				 * want of memory (counted as "overflow"); NULL: they are counted and abandoned */
	void *discard_arg;         /**< passed to discard */
};

/**
 * Make a graph for one worker.
 *
 * @return its id; WEIR_GRAPH_ID_INVALID with rte_errno: EINVAL (pattern or
 *   edge names no node; a node is neither source nor reached by an edge; no source; bad burst: the log
 *   names the node), EEXIST, ENOMEM, or what an init() returned
 */
uint32_t weir_graph_create(const char *name, const struct weir_graph_param *param);

/**
 * Make graph "PARENT-SUFFIX" of the same nodes and parameters: one more worker. Nodes that
 * match the parent's patterns but came later do not join; edges are as they are now.
 *
 * @return its id; WEIR_GRAPH_ID_INVALID with rte_errno ENOENT, ENAMETOOLONG, or as weir_graph_create()
 */
uint32_t weir_graph_clone(uint32_t id, const char *suffix);

/**
 * Destroy a graph that no thread is walking: -EBUSY when one is, -ENOENT. Its counters stay
 * in the totals of the clusters it belongs to.
 */
int weir_graph_destroy(uint32_t id);

/**
 * Let every node of @p new_id whose registration has adopt() and which has a
 * namesake in @p old_id take over its state. Neither may be in a walk. Stops at the first error.
 *
 * @return 0; -ENOENT; -EINVAL when both are the same; -EBUSY; or what an adopt() returned
 */
int weir_graph_adopt(uint32_t old_id, uint32_t new_id);

/** Id of the graph of that name, or WEIR_GRAPH_ID_INVALID. */
uint32_t weir_graph_from_name(const char *name);

/** Name of a graph, or NULL; valid until it is destroyed. */
const char *weir_graph_name(uint32_t id);

/** Graph ids are below this. */
uint32_t weir_graph_max_count(void);

/** The graph to walk, by name; NULL when there is none. Valid until it is destroyed. */
struct weir_graph *weir_graph_lookup(const char *name);

/** The graph to walk, by id; NULL when there is none. */
struct weir_graph *weir_graph_get(uint32_t id);

/** Id of a graph. */
uint32_t weir_graph_id(const struct weir_graph *graph);

/** Number of nodes in a graph. */
uint32_t weir_graph_node_count(const struct weir_graph *graph);

/** Node number @p index of a graph, in walking order; NULL beyond the end. */
struct weir_graph_node *weir_graph_node_at(const struct weir_graph *graph, uint32_t index);

/** For each node of a graph, in walking order. */
#define weir_graph_foreach_node(index, graph, node)                                                \
	for ((index) = 0; ((node) = weir_graph_node_at((graph), (index))) != NULL; (index)++)

/** A graph's instance of registered node @p node_id, or NULL. */
struct weir_graph_node *weir_graph_node_get(const struct weir_graph *graph, uint32_t node_id);

/** A graph's node by name, or NULL. */
struct weir_graph_node *weir_graph_node_get_by_name(
	const struct weir_graph *graph, const char *name);

/** Name of a graph's node. */
const char *weir_graph_node_name_of(
	const struct weir_graph *graph, const struct weir_graph_node *node);

/** Print a graph with its nodes, edges and streams; for a person. */
int weir_graph_dump(uint32_t id, FILE *out);

/** Print every graph in a line. */
void weir_graph_list_dump(FILE *out);

/** Flags of weir_graph_export(). */
enum {
	WEIR_GRAPH_EXPORT_COUNTS =
		1 << 0, /**< objects on edges, calls and cycles in nodes, from a snapshot */
};

/** Write a graph in Graphviz DOT. @return 0, -ENOENT, -EIO, or as weir_graph_cluster_get() */
int weir_graph_export(uint32_t id, FILE *out, uint32_t flags);

/**
 * Wait until every walk that was under way when this was called has reached its end.
 * What a process() could have seen before the call, no process() still holds afterwards: the
 * grace period of lock-free updates. Walks never wait; graphs that nobody walks count as passed.
 * Not from process().
 *
 * @return 0; -ETIMEDOUT after @p timeout_ns (the log names the graph)
 */
int weir_graph_synchronize(uint64_t timeout_ns);

/* Statistics. */

/** Counters of one node, summed over the graphs of a cluster, all taken at one walk boundary of each. */
struct weir_graph_node_stats {
	char name[WEIR_GRAPH_NAME_SIZE]; /**< the node's name */
	uint32_t nb_graphs;              /**< graphs that hold it (destroyed ones included) */
	uint64_t calls;                  /**< vectors processed, exact */
	uint64_t objs;                   /**< objects processed, exact */
	uint64_t realloc_count;          /**< times its stream grew */
	uint64_t overflow;               /**< objects discarded because its stream could not grow */
	uint64_t strays;               /**< objects discarded because its decisions named no edge */
	uint64_t cycles;               /**< cycles of the time base; sampled and scaled, unbiased */
	uint16_t nb_edges;             /**< entries in edge_objs */
	uint16_t nb_xstats;            /**< entries in xstat and xstat_names */
	const char *const *edge_names; /**< next nodes */
	const uint64_t *edge_objs;     /**< objects that took each edge, exact */
	const char *const *xstat_names; /**< names of the node's counters */
	const uint64_t *xstats;         /**< their values, exact */
};

/** What a look at a cluster found. Owned by the cluster, valid until the next look. */
struct weir_graph_cluster_stats {
	uint64_t time_ns;      /**< when, weir_base_time_ns() */
	uint32_t nb_graphs;    /**< live graphs in the cluster */
	uint32_t nb_nodes;     /**< entries in nodes */
	uint64_t walks;        /**< walks done, exact */
	uint64_t idle_walks;   /**< walks in which no source brought anything, exact */
	uint64_t busy_cycles;  /**< cycles in the other walks; sampled and scaled */
	uint64_t idle_cycles;  /**< cycles in idle walks; sampled and scaled */
	uint16_t clock_period; /**< one walk in so many is timed */
	const struct weir_graph_node_stats
		*nodes; /**< per node, in walking order of the first graph */
};

struct weir_graph_cluster; /* several graphs looked at as one */

/**
 * Make a cluster of the graphs whose names match any of the fnmatch(3) patterns,
 * now or later. NULL with rte_errno ENOMEM, EINVAL. Its first rates are since now.
 */
struct weir_graph_cluster *weir_graph_cluster_create(
	const char *const *graph_patterns, uint32_t nb_patterns);

/** Free a cluster. NULL is allowed. */
void weir_graph_cluster_destroy(struct weir_graph_cluster *cluster);

/**
 * Look: each graph's worker publishes its counters at its next walk boundary
 * (or they are read at once where nobody walks).
 *
 * @param[out] stats  the totals since the graphs were made; a pointer into the cluster
 * @return 0; -ETIMEDOUT when a worker is stuck inside a walk for 1 s (the log names the graph), -ENOMEM
 */
int weir_graph_cluster_get(
	struct weir_graph_cluster *cluster, const struct weir_graph_cluster_stats **stats);

/**
 * Look, but subtract what weir_graph_cluster_reset() remembered: a view of this reader only,
 * the workers' counters are never written.
 */
int weir_graph_cluster_get_since_reset(
	struct weir_graph_cluster *cluster, const struct weir_graph_cluster_stats **stats);

/** Count from now on, for weir_graph_cluster_get_since_reset() of this cluster. */
int weir_graph_cluster_reset(struct weir_graph_cluster *cluster);

/**
 * Print the RFC's table: node, calls, objs, realloc count, objs/call, objs/sec, cycles/call,
 * cycles/obj; with rates over the interval since the previous print or JSON of this cluster (the first: since it was made);
 * within 10 ms of that they are 0, and the interval goes on.
 */
int weir_graph_cluster_print(struct weir_graph_cluster *cluster, FILE *out);

/** The same as JSON, with everything of the structs above; the caller owns it. */
int weir_graph_cluster_json(struct weir_graph_cluster *cluster, json_t **json);

/** Write the graphs of a cluster as one picture called @p name, in Graphviz DOT. As weir_graph_export(). */
int weir_graph_cluster_export(
	struct weir_graph_cluster *cluster, const char *name, FILE *out, uint32_t flags);

struct weir_base_ctl;

/**
 * Offer this library's commands on a control socket: graph/list, graph/stats {"name": PATTERN},
 * graph/dot {"name": GRAPH}, graph/nodes.
 */
int weir_graph_ctl_register(struct weir_base_ctl *ctl);

#ifdef __cplusplus
}
#endif

#endif
