/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GRAPH_TEST_H
#define GRAPH_TEST_H

/*
 * What the tests of lib/graph share: DPDK without hugepages or devices, the log's last
 * words, and three kinds of nodes: sources that bring in numbered objects,
 * forwarders that decide, sinks that remember. Objects are numbers in pointers' clothes.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_errno.h>

#include <weir_base.h>

#include "weir_graph.h"
#include "weir_graph_fast.h"

/** Start EAL with @p lcores lcores that share the CPUs there are; exits when it cannot. */
void gt_eal_init(uint32_t lcores, const char *memory_mb);

/** cmocka group fixtures: EAL with one lcore, the log in our hands, and no nodes. */
int gt_setup(void **state);
/** The same, with the nodes that registered themselves when the program was loaded. */
int gt_setup_loaded(void **state);
int gt_teardown(void **state);

/** The last message of the log at level error or warning, "" when none since gt_log_clear(). */
const char *gt_log_last(void);
/** Messages since gt_log_clear(), at level error or warning. */
uint32_t gt_log_count(void);
void gt_log_clear(void);

#define assert_log_has(text)                                                                       \
	do {                                                                                       \
		if (strstr(gt_log_last(), (text)) == NULL)                                         \
			fail_msg("the log's last words '%s' lack '%s'", gt_log_last(), (text));    \
	} while (0)

/** Object number @p n. */
static inline void *
gt_obj(uint64_t n)
{
	return (void *)(uintptr_t)n;
}

/** Number of an object. */
static inline uint64_t
gt_num(const void *obj)
{
	return (uintptr_t)obj;
}

/** State of a source: on each walk it brings in the next objects on one edge. */
struct gt_source {
	uint64_t next;     /**< number of the next object */
	uint64_t left;     /**< objects still to come */
	uint32_t per_walk; /**< at most so many at once */
	uint16_t edge;     /**< on this edge */
	uint32_t order;    /**< gt_clock() of its last visit */
};

/** State of a forwarder. */
struct gt_forward {
	/** Pass a vector on; NULL: stream_move() to edge 0 */
	void (*pass)(struct weir_graph *graph, struct weir_graph_node *node, void **objs,
		uint16_t nb_objs);
	/** for gt_pass_nexts() */
	uint16_t (*decide)(const struct gt_forward *forward, void *obj);
	void *arg;           /**< the test's */
	uint32_t max_vector; /**< longest vector seen */
	uint32_t max_stream; /**< longest stream seen at a visit */
	uint32_t visits;     /**< calls of process() */
	uint32_t order;      /**< gt_clock() of the last visit */
};

/** State of a sink: what arrived, in order. */
struct gt_sink {
	void **objs;
	size_t nb, room;
	uint32_t max_vector; /**< longest vector seen */
	uint32_t min_vector; /**< shortest */
	uint32_t max_stream; /**< longest stream seen at a visit */
	uint32_t visits;     /**< calls of process() */
	uint32_t order;      /**< gt_clock() of the last visit */
};

/** Counts up with every visit of any node. */
uint32_t gt_clock(void);

/** Register nodes; @p next is a list ending with NULL. Fail the test when refused. */
uint32_t gt_add_source(const char *name, const char *const *next);
uint32_t gt_add_forward(const char *name, const char *const *next);
uint32_t gt_add_sink(const char *name);

/** A list of names for the above. */
#define GT_NEXT(...) ((const char *const[]){__VA_ARGS__, NULL})

/** Free all nodes and graphs that tests left, so that each starts afresh. A cmocka teardown. */
int gt_clear(void **state);

/** Make a graph of all nodes that @p pattern matches, with @p burst. Fails the test when refused. */
struct weir_graph *gt_graph(const char *name, const char *pattern, uint16_t burst);

/** State of a graph's node, by name. */
void *gt_state(const struct weir_graph *graph, const char *node);

/** Let a source bring in @p nb objects from @p first on, at most @p per_walk at once, on edge 0. */
void gt_feed(const struct weir_graph *graph, const char *source, uint64_t first, uint64_t nb,
	uint32_t per_walk);

/** gt_forward::pass that asks gt_forward::decide() for each object. */
void gt_pass_nexts(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs);

/** A sink holds exactly objects first, first + step, ... (@p nb of them), in this order. */
void gt_assert_sequence(
	const struct weir_graph *graph, const char *sink, uint64_t first, size_t nb, uint64_t step);

/** Totals of a node over all graphs whose names match @p pattern. @p cluster receives their owner. */
const struct weir_graph_node_stats *gt_stats(
	const char *pattern, const char *node, struct weir_graph_cluster **cluster);

/** A node's stats in a look; fails the test when it is not there. */
const struct weir_graph_node_stats *gt_stats_find(
	const struct weir_graph_cluster_stats *stats, const char *node);

#endif
