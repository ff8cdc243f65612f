/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One vector to many next nodes. Short vectors go object by object; longer ones are
 * grouped by decision with a kernel for this CPU, and each group is appended to its
 * next node's stream in one go. Nothing here branches on a single decision, so
 * the cost does not depend on how predictable they are.
 */

#include <stdlib.h>
#include <string.h>

#include "graph_private.h"
#include "scatter_kernel.h"

/* Below this many objects grouping costs more than it saves. */
#define SCATTER_SHORT 12

/* Objects per step of a copy: a cache line. */
#define COPY_STEP 8

_Static_assert(SCATTER_SLACK <= STREAM_SLACK, "copies stay within the slack");

/* Decisions that name no edge are a node's fault: count and discard rather than lose or crash; say so once. */
static __rte_noinline void
discard_stray(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint32_t nb_objs,
	uint16_t next)
{
	const struct weir_graph_slow *slow = graph->slow;

	if (node->strays == 0)
		GRAPH_LOG(ERROR,
			"node '%s' sends objects to edge %u or above, but has %u edges: they are "
			"discarded, and counted as strays",
			slow->info[node->pos].name, next, node->nb_edges);
	node->strays += nb_objs;
	if (slow->discard != NULL)
		slow->discard(slow->discard_arg, objs, nb_objs);
}

static __rte_always_inline void
scatter_one_by_one(struct weir_graph *graph, struct weir_graph_node *node, void **objs,
	const uint16_t *nexts, uint32_t nb_objs)
{
	for (uint32_t i = 0; i < nb_objs; i++) {
		if (unlikely(nexts[i] >= node->nb_edges))
			discard_stray(graph, node, &objs[i], 1, nexts[i]);
		else
			weir_graph_enqueue_x1(graph, node, nexts[i], objs[i]);
	}
}

/* All the same decision: the vector moves as a whole. */
static __rte_always_inline void
scatter_to_one(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t next,
	uint32_t nb_objs)
{
	if (unlikely(next >= node->nb_edges))
		discard_stray(graph, node, objs, nb_objs, next);
	else if (likely(objs == node->objs && nb_objs == node->idx && graph->vector == NULL))
		weir_graph_stream_move(graph, node, next);
	else
		weir_graph_enqueue(graph, node, next, objs, nb_objs);
}

/*
 * How many objects to copy for each of @nb_groups groups of @nb_objs objects in all,
 * needed or not, so that no branch depends on the sizes of groups: enough
 * for almost all of them when decisions are evenly spread.
 */
static __rte_always_inline uint32_t
copy_length(uint32_t nb_objs, uint32_t nb_groups)
{
	uint32_t mean = nb_objs / nb_groups;

	return RTE_MIN(RTE_ALIGN_CEIL(mean + mean / 4 + 3, COPY_STEP), (uint32_t)SCATTER_SLACK);
}

/*
 * Nodes marked for a visit, kept back until one belongs to another word: marked in memory one by one, each would
 * wait for the one before.
 */
struct scatter_marks {
	uint64_t *word; /* in weir_graph::pending */
	uint64_t bits;
};

static __rte_always_inline void
scatter_mark(
	struct weir_graph *graph, struct scatter_marks *marks, const struct weir_graph_node *node)
{
	uint64_t *word = &graph->pending[node->pos >> 6];

	if (unlikely(word != marks->word)) {
		*marks->word |= marks->bits;
		*marks = (struct scatter_marks){.word = word};
	}
	marks->bits |= UINT64_C(1) << (node->pos & 63);
}

/* Append a group to the stream of edge @next; both sides have room for @copy objects. */
static __rte_always_inline void
scatter_append(struct weir_graph *graph, struct weir_graph_node *node, struct scatter_marks *marks,
	uint16_t next, void **objs, uint32_t nb, uint32_t copy)
{
	struct weir_graph_edge *edge = &node->edges[next];
	struct weir_graph_node *to = edge->node;
	void **end;

	edge->nb_objs += nb;
	if (unlikely(to->size - to->idx < nb) && weir_graph_stream_grow(graph, to, nb) < 0) {
		weir_graph_discard(graph, to, objs, nb);
		return;
	}
	scatter_mark(graph, marks, to);
	end = &to->objs[to->idx];
	to->idx += nb;
	for (uint32_t i = 0; i < copy; i += COPY_STEP)
		memcpy(end + i, objs + i, COPY_STEP * sizeof(*objs));
	if (nb > copy)
		memcpy(end + copy, objs + copy, (nb - copy) * sizeof(*objs));
}

static __rte_always_inline bool
all_equal(const uint16_t *nexts, uint32_t nb)
{
	uint16_t differ = 0;

	/* A look at both ends and the middle tells most mixed vectors apart at once. */
	if (((nexts[0] ^ nexts[nb - 1]) | (nexts[0] ^ nexts[nb / 2])) != 0)
		return false;
	for (uint32_t i = 1; i < nb; i++)
		differ |= nexts[i] ^ nexts[0];
	return differ == 0;
}

static __rte_noinline void
scatter_groups(struct weir_graph *graph, struct weir_graph_node *node, void **objs,
	const uint16_t *nexts, uint32_t nb_objs, scatter_kernel_t kernel)
{
	struct scatter_marks marks = {.word = graph->pending};
	struct scatter_groups groups;
	uint32_t chunk, copy;

	for (; nb_objs > 0; nb_objs -= chunk, objs += chunk, nexts += chunk) {
		void **group = groups.objs;

		chunk = RTE_MIN(nb_objs, (uint32_t)SCATTER_CHUNK);
		kernel(&groups, objs, nexts, chunk, node->nb_edges);
		copy = copy_length(chunk, groups.nb);
		for (uint32_t g = 0; g < groups.nb; g++) {
			if (unlikely(groups.next[g] >= node->nb_edges))
				discard_stray(graph, node, group, groups.count[g], groups.next[g]);
			else
				scatter_append(graph, node, &marks, groups.next[g], group,
					groups.count[g], copy);
			group += groups.count[g];
		}
	}
	*marks.word |= marks.bits;
}

static __rte_always_inline void
scatter(struct weir_graph *graph, struct weir_graph_node *node, void **objs, const uint16_t *nexts,
	uint32_t nb_objs, scatter_kernel_t kernel)
{
	if (unlikely(nb_objs == 0))
		return;
	if (all_equal(nexts, nb_objs))
		scatter_to_one(graph, node, objs, nexts[0], nb_objs);
	else if (nb_objs < SCATTER_SHORT || node->nb_edges == 0 || node->nb_edges > SCATTER_EDGES)
		scatter_one_by_one(graph, node, objs, nexts, nb_objs);
	else
		scatter_groups(graph, node, objs, nexts, nb_objs, kernel);
}

static void
scatter_with_plain(struct weir_graph *graph, struct weir_graph_node *node, void **objs,
	const uint16_t *nexts, uint32_t nb_objs)
{
	scatter(graph, node, objs, nexts, nb_objs, scatter_plain);
}

#ifdef SCATTER_HAS_AVX512
static void
scatter_with_avx512(struct weir_graph *graph, struct weir_graph_node *node, void **objs,
	const uint16_t *nexts, uint32_t nb_objs)
{
	scatter(graph, node, objs, nexts, nb_objs, scatter_avx512);
}

static void
scatter_with_avx512_loads(struct weir_graph *graph, struct weir_graph_node *node, void **objs,
	const uint16_t *nexts, uint32_t nb_objs)
{
	scatter(graph, node, objs, nexts, nb_objs, scatter_avx512_loads);
}
#endif

#ifdef SCATTER_HAS_NEON
static void
scatter_with_neon(struct weir_graph *graph, struct weir_graph_node *node, void **objs,
	const uint16_t *nexts, uint32_t nb_objs)
{
	scatter(graph, node, objs, nexts, nb_objs, scatter_neon);
}
#endif

/* WEIR_GRAPH_SCATTER=plain leaves vector instructions alone: for tests and comparisons. */
void
graph_scatter_select(struct weir_graph *graph)
{
	const char *wish = getenv("WEIR_GRAPH_SCATTER");

	graph->scatter = scatter_with_plain;
	if (wish != NULL && strcmp(wish, "plain") == 0)
		return;
#ifdef SCATTER_HAS_AVX512
	if (scatter_avx512_usable())
		graph->scatter = scatter_gathers_are_slow() ? scatter_with_avx512_loads
							    : scatter_with_avx512;
#endif
#ifdef SCATTER_HAS_NEON
	graph->scatter = scatter_with_neon;
#endif
}
