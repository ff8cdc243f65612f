/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How counters get from a worker to a reader: all of a graph at one walk
 * boundary, so that they agree with each other, and without the worker writing
 * anything shared unless asked.
 *
 * A reader counts `requested` up. A worker that finds it ahead of `published`
 * between two walks copies its counters out. Where nobody walks, the reader
 * copies them itself: `seq` even and unchanged tells that no walk interfered.
 */

#include <sched.h>
#include <stdlib.h>

#include "graph_private.h"

#define SNAPSHOT_TIMEOUT_NS UINT64_C(1000000000)

int
graph_snapshot_layout(struct weir_graph *graph)
{
	struct weir_graph_slow *slow = graph->slow;
	uint32_t words = SNAPSHOT_GRAPH_WORDS;

	for (uint32_t pos = 0; pos < slow->nb_nodes; pos++) {
		slow->info[pos].snapshot_offset = words;
		words += SNAPSHOT_NODE_WORDS + graph->nodes[pos]->nb_edges +
			 slow->info[pos].nb_xstats;
	}
	slow->snapshot_words = words;
	slow->snapshot = calloc(words, sizeof(*slow->snapshot));
	return slow->snapshot == NULL ? -ENOMEM : 0;
}

/*
 * Not seen by TSan: a reader's copy may run beside a walk, and is thrown away then.
 */
__attribute__((no_sanitize("thread"))) static void
copy_counters(const struct weir_graph *graph, uint64_t *words)
{
	const struct weir_graph_slow *slow = graph->slow;

	words[SNAPSHOT_WALKS] = graph->seq / 2;
	words[SNAPSHOT_IDLE_WALKS] = graph->nb_idle_walks;
	words[SNAPSHOT_BUSY_CYCLES] = slow->busy_cycles;
	words[SNAPSHOT_IDLE_CYCLES] = slow->idle_cycles;
	for (uint32_t pos = 0; pos < slow->nb_nodes; pos++) {
		const struct weir_graph_node *node = graph->nodes[pos];
		uint64_t *to = &words[slow->info[pos].snapshot_offset];

		to[SNAPSHOT_CALLS] = node->nb_calls;
		to[SNAPSHOT_OBJS] = node->nb_objs;
		to[SNAPSHOT_CYCLES] = node->cycles;
		to[SNAPSHOT_REALLOCS] = node->realloc_count;
		to[SNAPSHOT_OVERFLOW] = node->overflow;
		to[SNAPSHOT_STRAYS] = node->strays;
		to += SNAPSHOT_NODE_WORDS;
		for (uint16_t e = 0; e < node->nb_edges; e++)
			*to++ = node->edges[e].nb_objs;
		for (uint16_t x = 0; x < slow->info[pos].nb_xstats; x++)
			*to++ = node->xstats[x];
	}
}

void
graph_publish(struct weir_graph *graph)
{
	uint64_t requested = __atomic_load_n(&graph->requested, __ATOMIC_ACQUIRE);

	copy_counters(graph, graph->slow->snapshot);
	__atomic_store_n(&graph->published, requested, __ATOMIC_RELEASE);
}

/* Copy the counters of a graph that nobody walks. @return whether nobody did */
static bool
copy_at_rest(const struct weir_graph *graph, uint64_t *words)
{
	uint64_t seq = __atomic_load_n(&graph->seq, __ATOMIC_ACQUIRE);

	if (seq & 1)
		return false;
	copy_counters(graph, words);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&graph->seq, __ATOMIC_RELAXED) == seq;
}

/* Under the lock: one reader at a time. */
int
graph_snapshot_take(struct weir_graph *graph, uint64_t *words)
{
	uint64_t deadline_ns = weir_base_time_ns() + SNAPSHOT_TIMEOUT_NS;
	uint64_t request = __atomic_add_fetch(&graph->requested, 1, __ATOMIC_ACQ_REL);

	for (uint32_t spins = 0;; spins++) {
		/* Before the look: time that this thread did not run is not the worker's fault. */
		bool late = spins >= 100 && weir_base_time_ns() > deadline_ns;

		if (__atomic_load_n(&graph->published, __ATOMIC_ACQUIRE) == request) {
			memcpy(words, graph->slow->snapshot,
				graph->slow->snapshot_words * sizeof(*words));
			return 0;
		}
		if (copy_at_rest(graph, words))
			return 0;
		if (spins < 100)
			continue;
		if (late) {
			GRAPH_LOG(ERROR, "graph '%s' is stuck inside a walk: no counters",
				graph->slow->name);
			return -ETIMEDOUT;
		}
		sched_yield();
	}
}
