/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The sampled clock, with a clock that stands still but for what a test spends: the walk is
 * built into this test once more, under names of its own, so that every total is known to the
 * cycle.
 */

#include <weir_base.h>

#define READ_COST 20

static uint64_t clock_now;
static uint64_t nb_reads;

/* Reading costs as much as it is said to. */
static uint64_t
fake_cycles(void)
{
	nb_reads++;
	clock_now += READ_COST;
	return clock_now;
}

static uint64_t
fake_read_cost(void)
{
	return READ_COST;
}

#define weir_base_cycles           fake_cycles
#define weir_base_cycles_read_cost fake_read_cost
#define graph_clock_init           clock_test_init
#define weir_graph_walk            clock_test_walk
#define weir_graph_stream_grow     clock_test_stream_grow
#define weir_graph_discard         clock_test_discard
#define weir_graph_move_piece      clock_test_move_piece

#include "walk.c"

#include "graph_test.h"

#define WARM_UP CLOCK_WARM_UP

/* What the next visit of the source and of the sink take, and how much the source brings in. */
static struct {
	uint64_t source_cycles, sink_cycles;
	uint32_t nb;
} spend;

static uint16_t
spending_source(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	(void)objs;
	(void)nb;
	clock_now += spend.source_cycles;
	for (uint32_t i = 0; i < spend.nb; i++)
		weir_graph_enqueue_x1(graph, node, 0, gt_obj(1));
	return (uint16_t)spend.nb;
}

static uint16_t
spending_sink(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	(void)graph;
	(void)node;
	(void)objs;
	clock_now += spend.sink_cycles;
	return nb;
}

static struct weir_graph *
make(uint16_t period)
{
	struct weir_graph_node_register reg = {
		WEIR_GRAPH_NODE_HEADER, .name = "sink", .process = spending_sink};
	struct weir_graph *graph;

	weir_graph_node_register(&reg);
	reg.name = "source";
	reg.flags = WEIR_GRAPH_NODE_SOURCE;
	reg.process = spending_source;
	reg.nb_edges = 1;
	reg.next_nodes = GT_NEXT("sink");
	weir_graph_node_register(&reg);
	graph = gt_graph("g", "source", 0);
	clock_now = 12345;
	clock_test_init(graph, period);
	nb_reads = 0;
	return graph;
}

/* Walk once. @return whether it was timed */
static bool
walk(struct weir_graph *graph, uint64_t source_cycles, uint64_t sink_cycles, uint32_t nb)
{
	uint64_t before = nb_reads;

	spend.source_cycles = source_cycles;
	spend.sink_cycles = sink_cycles;
	spend.nb = nb;
	clock_test_walk(graph);
	/* One read for each visit, and one to begin with. */
	if (nb_reads != before)
		assert_int_equal(nb_reads - before, nb > 0 ? 3 : 2);
	return nb_reads != before;
}

static uint64_t
cycles_of(const struct weir_graph *graph, const char *node)
{
	return weir_graph_node_get_by_name(graph, node)->cycles;
}

/* Every walk timed: exact to the cycle, reads not counted, idle and busy apart. */
static void
test_every_walk(void **state)
{
	uint64_t source = 0, sink = 0, busy = 0, idle = 0;
	struct weir_graph *graph = make(1);

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t a = 100 + i % 17, b = 1000 + i % 23;
		uint32_t nb = i % 3;

		assert_true(walk(graph, a, b, nb));
		source += a;
		sink += nb > 0 ? b : 0;
		if (nb > 0)
			busy += a + b;
		else
			idle += a;
	}
	assert_int_equal(cycles_of(graph, "source"), source);
	assert_int_equal(cycles_of(graph, "sink"), sink);
	assert_int_equal(graph->slow->busy_cycles, busy);
	assert_int_equal(graph->slow->idle_cycles, idle);
}

/* The first walks are all timed and count for themselves only. */
static void
test_warm_up(void **state)
{
	struct weir_graph *graph = make(64);

	(void)state;
	for (uint64_t i = 0; i < WARM_UP; i++)
		assert_true(walk(graph, 10, 100, 1));
	assert_int_equal(cycles_of(graph, "source"), 10 * WARM_UP);
	assert_int_equal(cycles_of(graph, "sink"), 100 * WARM_UP);
}

/* After that, exactly one walk in each window is timed, each place as often as any other. */
static void
test_windows(void **state)
{
	static const uint16_t periods[] = {2, 7, 64, 1000};

	for (uint32_t p = 0; p < RTE_DIM(periods); p++) {
		uint32_t period = periods[p], windows = 400 * period, *at;
		struct weir_graph *graph = make(periods[p]);

		at = calloc(period, sizeof(*at));
		assert_non_null(at);
		for (uint64_t i = 0; i < WARM_UP; i++)
			walk(graph, 1, 1, 1);
		for (uint32_t w = 0; w < windows; w++) {
			uint32_t timed = 0;

			for (uint32_t i = 0; i < period; i++)
				if (walk(graph, 1, 1, 1)) {
					at[i]++;
					timed++;
				}
			if (timed != 1)
				fail_msg("%u walks of a window of %u timed", timed, period);
			if (period == 1000 && w == 20000)
				break;
		}
		/* Places are drawn 400 times on average (20 for the last): 6 sigma. */
		for (uint32_t i = 0; i < period && period < 1000; i++)
			assert_in_range(at[i], 400 - 120, 400 + 120);
		free(at);
		gt_clear(state);
	}
}

/*
 * Costs that beat at the very period of the clock, at each phase: a clock that samples at
 * fixed places would see all or nothing of it. Expected within 5 sigma.
 */
static void
test_unbiased(void **state)
{
	enum { PERIOD = 64, WINDOWS = 30000 };

	for (uint32_t phase = 0; phase < PERIOD; phase += 21) {
		struct weir_graph *graph = make(PERIOD);
		uint64_t truth = 0, estimate;

		for (uint64_t i = 0; i < WARM_UP + PERIOD * WINDOWS; i++) {
			uint64_t cycles = i % PERIOD == phase ? 6400 : 10;

			walk(graph, 5, cycles, 1);
			truth += cycles;
		}
		estimate = cycles_of(graph, "sink");
		if (estimate < truth * 77 / 100 || estimate > truth * 123 / 100)
			fail_msg("phase %u: %lu cycles estimated as %lu", phase, truth, estimate);
		/* What always costs the same comes out exact. */
		assert_int_equal(cycles_of(graph, "source"), 5 * (WARM_UP + PERIOD * WINDOWS));
		assert_int_equal(graph->slow->busy_cycles, cycles_of(graph, "source") + estimate);
		gt_clear(state);
	}
}

static void
test_default_and_none(void **state)
{
	struct weir_graph *graph = make(0);
	uint32_t timed = 0;

	for (uint64_t i = 0; i < WARM_UP + 64 * 100; i++)
		timed += walk(graph, 1, 1, 1);
	assert_int_equal(timed, WARM_UP + 100);
	gt_clear(state);
	graph = make(UINT16_MAX);
	for (uint64_t i = 0; i < 1000; i++)
		assert_false(walk(graph, 1, 1, 1));
	assert_int_equal(cycles_of(graph, "sink"), 0);
	assert_int_equal(graph->slow->busy_cycles, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_every_walk, gt_clear),
		cmocka_unit_test_teardown(test_warm_up, gt_clear),
		cmocka_unit_test_teardown(test_windows, gt_clear),
		cmocka_unit_test_teardown(test_unbiased, gt_clear),
		cmocka_unit_test_teardown(test_default_and_none, gt_clear),
	};

	return cmocka_run_group_tests(tests, gt_setup, gt_teardown);
}
