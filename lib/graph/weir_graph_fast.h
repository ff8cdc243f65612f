/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_GRAPH_FAST_H
#define WEIR_GRAPH_FAST_H

/**
 * @file
 * What runs per vector: the walk, and what a node's process() calls to pass
 * objects on. Only the thread that walks the graph may call any of this.
 *
 *      sources          pending bits, in topological order
 *     +--------+      +---+---+---+---+---+---+---+---+
 *     | rx-0-0 |--+   | 0 | 1 | 0 | 1 | 0 | 0 | 0 | 0 |   lowest first
 *     | rx-1-0 |  |   +---+---+---+---+---+---+---+---+
 *     +--------+  |         |       |
 *      until one  |         v       v
 *      burst is   +---->  stream  stream       each a vector of objects
 *      pending            of node of node
 *
 * A round runs sources until about one burst is pending, then visits pending
 * nodes lowest first. An edge leads to a higher node unless it closes a cycle,
 * so each node is visited once with everything that reached it.
 *
 * A node passes its vector on in one of four ways, the cheapest first:
 *  - weir_graph_stream_move(): all of it to one edge, by swapping pointers (the home run);
 *  - weir_graph_enqueue_nexts(): each object to an edge of its own, nexts[i];
 *  - weir_graph_stream_get() and _put(): fill the next node's stream in place (sources);
 *  - weir_graph_enqueue(), _x1, _x2, _x4: runs of objects, also more or fewer than came in.
 */

#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_prefetch.h>

#include "weir_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How far ahead of its decision the library prefetches an object. */
#define WEIR_GRAPH_PREFETCH_AHEAD 8

/** An edge as a walking node sees it. */
struct weir_graph_edge {
	struct weir_graph_node *node; /**< where it leads */
	uint64_t nb_objs;             /**< objects that took it */
};

/**
 * A node in a graph. The first line is what a visit and an enqueue to the node
 * touch; the second what its own process() needs.
 */
struct weir_graph_node {
	void **objs;                  /**< its stream: objects that wait for the next visit */
	uint32_t idx;                 /**< how many wait */
	uint32_t size;                /**< how many the stream has room for */
	weir_graph_process_t process; /**< what a visit calls */
	uint32_t pos;                 /**< place in walking order: its bit in weir_graph::pending */
	uint16_t nb_edges;            /**< entries in edges */
	uint16_t flags;               /**< WEIR_GRAPH_NODE_*, and the library's own */
	uint64_t nb_calls;            /**< vectors processed */
	uint64_t nb_objs;             /**< objects processed */
	struct weir_graph_node
		*after; /**< the node that was visited after this one the last time */
	struct weir_graph_edge *edges; /**< next nodes, on cache lines of their own */

	uint8_t ctx
		[WEIR_GRAPH_CTX_SIZE] __rte_cache_aligned; /**< context memory: the node author's */
	void *state;            /**< state_size bytes as registered, or NULL */
	uint64_t *xstats;       /**< the node's named counters */
	uint64_t cycles;        /**< of timed walks, scaled */
	uint64_t realloc_count; /**< times the stream grew */
	uint64_t overflow;      /**< objects discarded because it could not */
	uint64_t strays;        /**< objects discarded because their decision named no edge */
} __rte_cache_aligned;

/** A graph. One worker's: nothing here is shared but the line that readers write. */
struct weir_graph {
	uint64_t *pending;              /**< a bit per node, by its pos */
	struct weir_graph_node **nodes; /**< by pos; sources first */
	uint32_t nb_sources;            /**< nodes[0 .. nb_sources-1] run in every walk */
	uint32_t nb_words;              /**< words in pending */
	uint32_t burst;                 /**< largest vector handed to process() */
	uint32_t clock_countdown;       /**< walks until the next timed one */
	uint64_t seq;                   /**< odd during a walk; two steps a walk */
	uint64_t nb_idle_walks;         /**< walks in which no source brought anything */
	void (*scatter)(struct weir_graph *graph, struct weir_graph_node *node, void **objs,
		const uint16_t *nexts,
		uint32_t nb_objs); /**< weir_graph_enqueue_nexts() for this CPU */

	uint16_t *nexts __rte_cache_aligned; /**< room for one burst of decisions */
	void **vector; /**< the vector in process() when it is not the node's whole stream, else NULL */
	uint32_t vector_objs; /**< and its length */
	uint16_t has_cycle;   /**< some edge leads to a lower or the same node */
	uint16_t full_fence;  /**< walks must fence, because the kernel lacks membarrier(2) */
	struct weir_graph_slow *slow; /**< what the walk rarely needs */
	uint64_t published;           /**< last request answered */

	uint64_t requested
		__rte_cache_aligned; /**< readers ask for a snapshot by counting this up */
} __rte_cache_aligned;

/**
 * Walk once: every source, and everything that it set in motion. A few ns when idle.
 */
void weir_graph_walk(struct weir_graph *graph);

/** Make room for @p nb_objs more objects in a stream. @return 0, or -ENOMEM. Library internal. */
int weir_graph_stream_grow(
	struct weir_graph *graph, struct weir_graph_node *node, uint32_t nb_objs);

/** Count and discard objects that found no room. Library internal. */
void weir_graph_discard(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint32_t nb_objs);

/** weir_graph_stream_move() where streams cannot be swapped. Library internal. */
void weir_graph_move_piece(struct weir_graph *graph, struct weir_graph_node *node, uint16_t edge);

/** Mark a node for a visit in this round. Library internal. */
static __rte_always_inline void
weir_graph_pend(struct weir_graph *graph, const struct weir_graph_node *node)
{
	graph->pending[node->pos >> 6] |= UINT64_C(1) << (node->pos & 63);
}

/** The calling node's own counter number @p xstat, as registered, grows by @p n. */
static __rte_always_inline void
weir_graph_count(struct weir_graph_node *node, uint16_t xstat, uint64_t n)
{
	node->xstats[xstat] += n;
}

/** Node on edge @p edge: for init() and tests. */
static inline struct weir_graph_node *
weir_graph_next(const struct weir_graph_node *node, uint16_t edge)
{
	return node->edges[edge].node;
}

/**
 * Copy pointers to objects: a cache line at a time, the last one up to the end. Runs are short, so that finding
 * out how to copy them best, as memcpy() does, takes longer than copying them. Library internal.
 */
static __rte_always_inline void
weir_graph_copy(void **to, void *const *from, uint32_t nb_objs)
{
	const uint32_t step = RTE_CACHE_LINE_MIN_SIZE / sizeof(*to);
	uint32_t i;

	/* Else gcc warns of whole lines read from arrays that are shorter, though it cannot come to that. */
	__asm__("" : "+r"(from));
	if (likely(nb_objs >= step)) {
		for (i = 0; i < nb_objs - step; i += step)
			memcpy(&to[i], &from[i], step * sizeof(*to));
		memcpy(&to[nb_objs - step], &from[nb_objs - step], step * sizeof(*to));
		return;
	}
	for (i = 0; i < nb_objs; i++)
		to[i] = from[i];
}

/** Pass a run of objects on along @p edge. They are copied: @p objs may be anywhere. */
static inline void
weir_graph_enqueue(struct weir_graph *graph, struct weir_graph_node *node, uint16_t edge,
	void *const *objs, uint32_t nb_objs)
{
	struct weir_graph_edge *e = &node->edges[edge];
	struct weir_graph_node *next = e->node;

	if (unlikely(nb_objs == 0))
		return;
	e->nb_objs += nb_objs;
	if (unlikely(next->size - next->idx < nb_objs) &&
		weir_graph_stream_grow(graph, next, nb_objs) < 0) {
		weir_graph_discard(graph, next, (void **)(uintptr_t)objs, nb_objs);
		return;
	}
	if (next->idx == 0)
		weir_graph_pend(graph, next);
	weir_graph_copy(&next->objs[next->idx], objs, nb_objs);
	next->idx += nb_objs;
}

/** Pass one object on along @p edge. */
static __rte_always_inline void
weir_graph_enqueue_x1(
	struct weir_graph *graph, struct weir_graph_node *node, uint16_t edge, void *obj)
{
	struct weir_graph_edge *e = &node->edges[edge];
	struct weir_graph_node *next = e->node;
	uint32_t idx = next->idx;

	if (idx == 0)
		weir_graph_pend(graph, next);
	if (unlikely(idx == next->size)) {
		weir_graph_enqueue(graph, node, edge, &obj, 1);
		return;
	}
	e->nb_objs++;
	next->objs[idx] = obj;
	next->idx = idx + 1;
}

/** Pass two objects on along @p edge. */
static __rte_always_inline void
weir_graph_enqueue_x2(struct weir_graph *graph, struct weir_graph_node *node, uint16_t edge,
	void *obj0, void *obj1)
{
	void *objs[2] = {obj0, obj1};

	weir_graph_enqueue(graph, node, edge, objs, 2);
}

/** Pass four objects on along @p edge. */
static __rte_always_inline void
weir_graph_enqueue_x4(struct weir_graph *graph, struct weir_graph_node *node, uint16_t edge,
	void *obj0, void *obj1, void *obj2, void *obj3)
{
	void *objs[4] = {obj0, obj1, obj2, obj3};

	weir_graph_enqueue(graph, node, edge, objs, 4);
}

/**
 * Room in the next node's stream, to be filled in place.
 *
 * @return where @p nb_objs objects may be written, valid until the next call that takes @p node;
 *   NULL when there is no memory for them (then bring in fewer)
 */
static __rte_always_inline void **
weir_graph_stream_get(
	struct weir_graph *graph, struct weir_graph_node *node, uint16_t edge, uint32_t nb_objs)
{
	struct weir_graph_node *next = node->edges[edge].node;

	if (unlikely(next->size - next->idx < nb_objs) &&
		weir_graph_stream_grow(graph, next, nb_objs) < 0)
		return NULL;
	return &next->objs[next->idx];
}

/** Pass on the first @p nb_objs objects written where weir_graph_stream_get() said. */
static __rte_always_inline void
weir_graph_stream_put(
	struct weir_graph *graph, struct weir_graph_node *node, uint16_t edge, uint32_t nb_objs)
{
	struct weir_graph_edge *e = &node->edges[edge];

	if (unlikely(nb_objs == 0))
		return;
	e->nb_objs += nb_objs;
	weir_graph_pend(graph, e->node);
	e->node->idx += nb_objs;
}

/**
 * The home run: pass the whole vector in process() on along one edge, by
 * swapping streams where the next one is empty. At most once per vector, as the last that is done with it.
 */
static __rte_always_inline void
weir_graph_stream_move(struct weir_graph *graph, struct weir_graph_node *node, uint16_t edge)
{
	struct weir_graph_edge *e = &node->edges[edge];
	struct weir_graph_node *next = e->node;
	void **objs;
	uint32_t size;

	if (unlikely(graph->vector != NULL || next->idx != 0 || node->idx == 0)) {
		weir_graph_move_piece(graph, node, edge);
		return;
	}
	e->nb_objs += node->idx;
	weir_graph_pend(graph, next);
	objs = next->objs;
	next->objs = node->objs;
	node->objs = objs;
	size = next->size;
	next->size = node->size;
	node->size = size;
	next->idx = node->idx;
}

/**
 * Pass each object of a vector on along an edge of its own: objs[i] goes to nexts[i].
 * Objects of one edge keep their order. What it costs does not depend on how
 * the decisions are mixed; when all are the same it is a home run, so the vector must not be
 * touched afterwards. Decisions that name no edge are a fault: their objects are discarded and counted as strays.
 *
 * @param objs   the vector in process(), or any other array
 * @param nexts  edges of @p node, nb_objs of them, with room to read 128 bytes beyond: weir_graph_nexts() has it
 */
static __rte_always_inline void
weir_graph_enqueue_nexts(struct weir_graph *graph, struct weir_graph_node *node, void **objs,
	const uint16_t *nexts, uint32_t nb_objs)
{
	graph->scatter(graph, node, objs, nexts, nb_objs);
}

/** Room for the decisions of one vector, to be filled and given to weir_graph_enqueue_nexts(). */
static __rte_always_inline uint16_t *
weir_graph_nexts(struct weir_graph *graph)
{
	return graph->nexts;
}

/**
 * A node whose author writes one decision per object: an edge, from a `static inline` function
 *
 *     uint16_t decide(struct weir_graph_node *node, void *obj);
 *
 * This is the body of its process(): prefetching, batching and the move are done here.
 *
 * @param prefetch  a `static inline` function that prefetches what decide() will read of an object, called
 *   WEIR_GRAPH_PREFETCH_AHEAD objects ahead
 */
static __rte_always_inline uint16_t
weir_graph_decide_each(struct weir_graph *graph, struct weir_graph_node *node, void **objs,
	uint16_t nb_objs, uint16_t (*decide)(struct weir_graph_node *node, void *obj),
	void (*prefetch)(const void *obj))
{
	uint16_t *nexts = weir_graph_nexts(graph);
	const uint32_t ahead = RTE_MIN((uint32_t)nb_objs, (uint32_t)WEIR_GRAPH_PREFETCH_AHEAD);
	uint32_t i;

	for (i = 0; i < ahead; i++)
		prefetch(objs[i]);
	for (i = 0; i + ahead < nb_objs; i++) {
		prefetch(objs[i + ahead]);
		nexts[i] = decide(node, objs[i]);
	}
	for (; i < nb_objs; i++)
		nexts[i] = decide(node, objs[i]);
	weir_graph_enqueue_nexts(graph, node, objs, nexts, nb_objs);
	return nb_objs;
}

/**
 * Define a process() called @p name that is weir_graph_decide_each() and nothing else.
 */
#define WEIR_GRAPH_PROCESS_EACH(name, decide, prefetch)                                            \
	static uint16_t name(struct weir_graph *graph, struct weir_graph_node *node, void **objs,  \
		uint16_t nb_objs)                                                                  \
	{                                                                                          \
		return weir_graph_decide_each(graph, node, objs, nb_objs, decide, prefetch);       \
	}                                                                                          \
	struct weir_graph_process_semicolon

/** The usual prefetch(): the object's first cache line. */
static __rte_always_inline void
weir_graph_prefetch_obj(const void *obj)
{
	rte_prefetch0(obj);
}

#ifdef __cplusplus
}
#endif

#endif
