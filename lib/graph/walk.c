/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The walk, and the slow paths of moving objects.
 *
 * The clock is sampled: reading it around each node would cost more than a
 * home run does. Walks are cut into windows of clock_period; one walk in each, at a
 * random place, is timed with one read per visit, and what it shows counts clock_period
 * times. Each walk is as likely to be timed as any other, so the totals are unbiased;
 * the cost of the reads themselves is taken off.
 */

#include <string.h>

#include <rte_malloc.h>

#include "graph_private.h"

#define CLOCK_PERIOD_DEFAULT 64
/* First walks, all timed: so that a short run has cycles to show, and cold caches count for themselves only. */
#define CLOCK_WARM_UP 64

void
graph_clock_init(struct weir_graph *graph, uint32_t period)
{
	struct weir_graph_slow *slow = graph->slow;

	slow->clock_period = period == 0 ? CLOCK_PERIOD_DEFAULT : period;
	slow->clock_random = weir_base_cycles() | 1;
	slow->clock_read_cost = weir_base_cycles_read_cost();
	slow->clock_warm_up = CLOCK_WARM_UP;
	graph->clock_countdown = slow->clock_period == UINT16_MAX ? UINT32_MAX : 1;
}

/* Xorshift (Marsaglia, 2003): good enough to place a sample. */
static uint32_t
clock_random_below(struct weir_graph_slow *slow, uint32_t bound)
{
	slow->clock_random ^= slow->clock_random << 13;
	slow->clock_random ^= slow->clock_random >> 7;
	slow->clock_random ^= slow->clock_random << 17;
	return (uint32_t)(slow->clock_random >> 32) % bound;
}

/* When is the next walk to be timed? */
static void
clock_schedule(struct weir_graph *graph)
{
	struct weir_graph_slow *slow = graph->slow;
	uint32_t offset;

	if (slow->clock_warm_up > 1) {
		slow->clock_warm_up--;
		graph->clock_countdown = 1;
		return;
	}
	offset = clock_random_below(slow, slow->clock_period);
	if (slow->clock_warm_up == 1) { /* windows begin after this walk */
		slow->clock_warm_up = 0;
		graph->clock_countdown = offset + 1;
	} else {
		graph->clock_countdown = slow->clock_period - slow->clock_offset + offset;
	}
	slow->clock_offset = offset;
}

/* The clock of one timed walk. */
struct stopwatch {
	uint64_t last;   /* cycles at the previous read */
	uint64_t cost;   /* of a read */
	uint64_t weight; /* walks that this one stands for */
	uint64_t sum;    /* of all laps, weighted */
};

static __rte_always_inline void
stopwatch_lap(struct stopwatch *watch, struct weir_graph_node *node)
{
	uint64_t now = weir_base_cycles();
	uint64_t lap = now - watch->last;

	lap = (lap > watch->cost ? lap - watch->cost : 0) * watch->weight;
	node->cycles += lap;
	watch->sum += lap;
	watch->last = now;
}

/*
 * A visit whose stream is longer than a burst, or to which the node itself may
 * add: the stream is set aside and handed over piece by piece.
 */
static __rte_noinline void
visit_in_pieces(struct weir_graph *graph, struct weir_graph_node *node)
{
	struct weir_graph_slow *slow = graph->slow;
	void **objs = node->objs;
	uint32_t size = node->size;
	uint32_t nb_objs = node->idx;
	uint32_t done, n;

	node->objs = slow->spare;
	node->size = slow->spare_size;
	node->idx = 0;
	for (done = 0; done < nb_objs; done += n) {
		n = RTE_MIN(nb_objs - done, graph->burst);
		graph->vector = &objs[done];
		graph->vector_objs = n;
		node->nb_calls++;
		node->nb_objs += n;
		node->process(graph, node, &objs[done], (uint16_t)n);
	}
	graph->vector = NULL;
	slow->spare = objs;
	slow->spare_size = size;
}

static __rte_always_inline void
visit(struct weir_graph *graph, struct weir_graph_node *node)
{
	uint32_t nb_objs = node->idx;

	if (unlikely(nb_objs > graph->burst || (node->flags & NODE_SELF_EDGE))) {
		visit_in_pieces(graph, node);
		return;
	}
	node->nb_calls++;
	node->nb_objs += nb_objs;
	node->process(graph, node, node->objs, (uint16_t)nb_objs);
	node->idx = 0;
}

/* Take the bits of word @w that were set since the last look. */
static __rte_always_inline uint64_t
take_pending(struct weir_graph *graph, uint32_t w)
{
	uint64_t bits = graph->pending[w];

	if (bits != 0)
		graph->pending[w] = 0;
	return bits;
}

/*
 * The node of the lowest bit, guessed: a walk visits nodes in much the same
 * order as the one before. A guess that is right, as a branch predicts it to be, lets the CPU start
 * on the node while the bits that prove it are still being computed: without it
 * one long chain of loads runs through all visits of a walk.
 */
static __rte_always_inline struct weir_graph_node *
next_pending(
	const struct weir_graph *graph, struct weir_graph_node *previous, uint32_t w, uint64_t bits)
{
	struct weir_graph_node *node = graph->nodes[w * 64 + (uint32_t)__builtin_ctzll(bits)];
	struct weir_graph_node *guess = previous->after;
	struct weir_graph_node *check = guess;

	__asm__("" : "+r"(check)); /* the compiler must not see that node would do for guess */
	if (likely(node == check))
		return guess;
	previous->after = node;
	return node;
}

static __rte_always_inline void
drain(struct weir_graph *graph, struct weir_graph_node *node, struct stopwatch *watch)
{
	uint32_t nb_words = graph->nb_words;
	uint64_t bits;

	for (uint32_t w = 0; w < nb_words; w++) {
		for (bits = take_pending(graph, w); bits != 0; bits |= take_pending(graph, w)) {
			node = next_pending(graph, node, w, bits);
			bits &= bits - 1;
			visit(graph, node);
			if (watch != NULL)
				stopwatch_lap(watch, node);
			if (unlikely(graph->has_cycle) && w > 0) {
				/* a node of a lower word may be pending again: put back and start over */
				graph->pending[w] |= bits;
				bits = 0;
				w = UINT32_MAX;
				break;
			}
		}
	}
}

/* All sources, in rounds of about one burst. @return what they brought in */
static __rte_always_inline uint64_t
rounds(struct weir_graph *graph, struct stopwatch *watch)
{
	uint64_t total = 0, waiting = 0;

	for (uint32_t i = 0; i < graph->nb_sources; i++) {
		struct weir_graph_node *node = graph->nodes[i];
		uint32_t n = node->process(graph, node, node->objs, 0);

		node->nb_calls++;
		node->nb_objs += n;
		total += n;
		waiting += n;
		if (watch != NULL)
			stopwatch_lap(watch, node);
		if (waiting >= graph->burst) {
			drain(graph, node, watch);
			waiting = 0;
		}
	}
	drain(graph, graph->nodes[0], watch);
	return total;
}

static __rte_noinline uint64_t
rounds_timed(struct weir_graph *graph)
{
	struct weir_graph_slow *slow = graph->slow;
	struct stopwatch watch = {
		.cost = slow->clock_read_cost,
		.weight = slow->clock_warm_up > 0 ? 1 : slow->clock_period,
	};
	uint64_t total;

	if (slow->clock_period == UINT16_MAX) { /* never, but the countdown is finite */
		graph->clock_countdown = UINT32_MAX;
		return rounds(graph, NULL);
	}
	clock_schedule(graph);
	watch.last = weir_base_cycles();
	total = rounds(graph, &watch);
	if (total == 0)
		slow->idle_cycles += watch.sum;
	else
		slow->busy_cycles += watch.sum;
	return total;
}

void
weir_graph_walk(struct weir_graph *graph)
{
	uint64_t seq = graph->seq;
	uint64_t total;

	/* Odd before anything of the walk is seen, even after: snapshot.c and weir_graph_synchronize() look at it. */
	__atomic_store_n(&graph->seq, seq + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (unlikely(graph->full_fence))
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (unlikely(--graph->clock_countdown == 0))
		total = rounds_timed(graph);
	else
		total = rounds(graph, NULL);
	graph->nb_idle_walks += total == 0;
	__atomic_store_n(&graph->seq, seq + 2, __ATOMIC_RELEASE);
	if (unlikely(__atomic_load_n(&graph->requested, __ATOMIC_RELAXED) != graph->published))
		graph_publish(graph);
}

static void **
stream_resize(const struct weir_graph *graph, struct weir_graph_node *node, uint64_t size)
{
	void **objs = rte_realloc_socket(node->objs, (size + STREAM_SLACK) * sizeof(*objs),
		RTE_CACHE_LINE_SIZE, graph->slow->socket_id);

	if (objs != NULL) {
		node->objs = objs;
		node->size = (uint32_t)size;
		node->realloc_count++;
	}
	return objs;
}

/* To twice the size, so that growing stays rare, or where memory is short, to what is needed. */
int
weir_graph_stream_grow(struct weir_graph *graph, struct weir_graph_node *node, uint32_t nb_objs)
{
	uint64_t need = (uint64_t)node->idx + nb_objs;
	uint64_t size = RTE_MAX(need, 2 * (uint64_t)node->size);

	if (need > UINT32_MAX / 2)
		return -ENOMEM;
	if (stream_resize(graph, node, size) != NULL || stream_resize(graph, node, need) != NULL)
		return 0;
	return -ENOMEM;
}

void
weir_graph_discard(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint32_t nb_objs)
{
	node->overflow += nb_objs;
	if (graph->slow->discard != NULL)
		graph->slow->discard(graph->slow->discard_arg, objs, nb_objs);
}

void
weir_graph_move_piece(struct weir_graph *graph, struct weir_graph_node *node, uint16_t edge)
{
	const bool whole = likely(graph->vector == NULL);

	weir_graph_enqueue(graph, node, edge, whole ? node->objs : graph->vector,
		whole ? node->idx : graph->vector_objs);
}
