/* SPDX-License-Identifier: BSD-3-Clause */

/* The walk: rounds, topological order, cycles, idleness. */

#include "graph_test.h"

static struct gt_forward *
forward(const struct weir_graph *graph, const char *node)
{
	return gt_state(graph, node);
}

/* 100 sources of 64 objects each, burst 256: nobody ever has more than about two bursts in front. */
static void
test_rounds(void **state)
{
	enum { SOURCES = 100, PER_WALK = 64, BURST = 256 };
	struct weir_graph *graph;
	struct gt_sink *sink;
	char name[16];

	(void)state;
	gt_add_sink("t");
	gt_add_forward("f", GT_NEXT("t"));
	for (uint32_t i = 0; i < SOURCES; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		gt_add_source(name, GT_NEXT("f"));
	}
	graph = gt_graph("g", "s*", BURST);
	for (uint32_t i = 0; i < SOURCES; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		gt_feed(graph, name, 1 + PER_WALK * i, PER_WALK, PER_WALK);
	}
	weir_graph_walk(graph);
	sink = gt_state(graph, "t");
	assert_int_equal(sink->nb, SOURCES * PER_WALK);
	assert_int_equal(forward(graph, "f")->visits, SOURCES * PER_WALK / BURST);
	assert_int_equal(forward(graph, "f")->max_stream, BURST);
	assert_int_equal(sink->max_vector, BURST);
	assert_int_equal(sink->min_vector, BURST);
	assert_int_equal(weir_graph_node_get_by_name(graph, "f")->realloc_count, 0);
}

/* Sources that bring nearly two bursts between them: still no more than that in a stream. */
static void
test_rounds_bound(void **state)
{
	enum { BURST = 64 };
	struct weir_graph *graph;
	struct gt_sink *sink;
	uint64_t total = 0;
	char name[16];

	(void)state;
	srand(3);
	gt_add_sink("t");
	for (uint32_t i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		gt_add_source(name, GT_NEXT("t"));
	}
	graph = gt_graph("g", "s*", BURST);
	for (uint32_t walk = 0; walk < 200; walk++) {
		for (uint32_t i = 0; i < 50; i++) {
			uint32_t n = (uint32_t)rand() % (BURST + 1);

			snprintf(name, sizeof(name), "s%u", i);
			gt_feed(graph, name, total + 1, n, BURST);
			total += n;
		}
		weir_graph_walk(graph);
	}
	sink = gt_state(graph, "t");
	assert_int_equal(sink->nb, total);
	assert_true(sink->max_vector <= BURST);
	/* Rounds end at the first source that fills the burst: a stream holds less than two. */
	assert_true(sink->max_stream < 2 * BURST);
	for (size_t i = 0; i < sink->nb; i++)
		assert_int_equal(gt_num(sink->objs[i]), i + 1);
}

static uint16_t
decide_by_edge(const struct gt_forward *f, void *obj)
{
	return (uint16_t)(gt_num(obj) % (uintptr_t)f->arg);
}

/*
 * A ladder with rungs both near and far: in one round every node is visited once, with
 * everything that reached it, before any node it leads to.
 */
static void
test_once_per_round(void **state)
{
	enum { NODES = 150 };
	const struct weir_graph_node *node;
	struct weir_graph *graph;
	char names[NODES][16];
	uint32_t pos;

	(void)state;
	for (uint32_t i = 0; i < NODES; i++)
		snprintf(names[i], sizeof(names[i]), "n%u", i);
	for (uint32_t i = 1; i < NODES - 7; i++)
		gt_add_forward(names[i], GT_NEXT(names[i + 1], names[i + 2], names[i + 7]));
	for (uint32_t i = NODES - 7; i < NODES; i++)
		gt_add_sink(names[i]);
	gt_add_source(names[0], GT_NEXT(names[1]));
	graph = gt_graph("g", "n*", 4096);
	for (uint32_t i = 1; i < NODES - 7; i++) {
		forward(graph, names[i])->pass = gt_pass_nexts;
		forward(graph, names[i])->decide = decide_by_edge;
		forward(graph, names[i])->arg = gt_obj(1 + i % 3);
	}
	gt_feed(graph, names[0], 1, 4000, 4000);
	weir_graph_walk(graph);
	weir_graph_foreach_node (pos, graph, node) {
		const struct gt_forward *here = node->state;

		assert_true(node->nb_calls <= 1);
		for (uint16_t e = 0; e < node->nb_edges && pos > 0; e++) {
			const struct weir_graph_node *next = weir_graph_next(node, e);

			if (next->nb_edges > 0 && node->edges[e].nb_objs > 0)
				assert_true(
					((struct gt_forward *)next->state)->order > here->order);
		}
	}
	weir_graph_walk(graph);
	weir_graph_foreach_node (pos, graph, node)
		assert_true(pos == 0 ? node->nb_calls == 2 : node->nb_calls <= 1);
}

/* Objects go round until their hops are used up; obj = serial * 256 + hops left. */
static void
pass_hops(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	uint16_t *nexts = weir_graph_nexts(graph);

	for (uint16_t i = 0; i < nb; i++) {
		bool done = gt_num(objs[i]) % 256 == 0;

		nexts[i] = done; /* edge 0 leads round, edge 1 out */
		if (!done)
			objs[i] = gt_obj(gt_num(objs[i]) - 1);
	}
	weir_graph_enqueue_nexts(graph, node, objs, nexts, nb);
}

static void
feed_hops(struct weir_graph *graph, uint32_t hops, uint32_t nb)
{
	struct gt_source *source = gt_state(graph, "s");

	for (uint32_t i = 0; i < nb; i++) {
		source->next = i * 256 + hops;
		source->left = 1;
		source->per_walk = 1;
		weir_graph_walk(graph);
	}
}

static void
test_self_edge(void **state)
{
	struct weir_graph *graph;

	(void)state;
	gt_add_source("s", GT_NEXT("f"));
	gt_add_forward("f", GT_NEXT("f", "t"));
	gt_add_sink("t");
	graph = gt_graph("g", "s", 16);
	forward(graph, "f")->pass = pass_hops;
	feed_hops(graph, 100, 20);
	gt_assert_sequence(graph, "t", 0, 20, 256);
	assert_int_equal(forward(graph, "f")->visits, 20 * 101);
	assert_int_equal(weir_graph_node_get_by_name(graph, "f")->edges[0].nb_objs, 20 * 100);
	/* Many at once, in pieces; all the same decision, so a home run to itself each. */
	gt_feed(graph, "s", 0, 4096, 4096);
	weir_graph_walk(graph);
	assert_int_equal(((struct gt_sink *)gt_state(graph, "t"))->nb, 20 + 4096);
}

/* A cycle through more nodes than a word of the bitmap has bits, entered in its middle, too. */
static void
test_long_cycle(void **state)
{
	enum { NODES = 200 };
	struct weir_graph *graph;
	char names[NODES][16];

	(void)state;
	for (uint32_t i = 0; i < NODES; i++)
		snprintf(names[i], sizeof(names[i]), "n%u", i);
	for (uint32_t i = 0; i < NODES; i++)
		gt_add_forward(names[i], GT_NEXT(names[(i + 1) % NODES], "t"));
	gt_add_sink("t");
	gt_add_source("s", GT_NEXT(names[150], names[0]));
	graph = gt_graph("g", "s", 16);
	assert_int_equal(graph->has_cycle, 1);
	for (uint32_t i = 0; i < NODES; i++)
		forward(graph, names[i])->pass = pass_hops;
	feed_hops(graph, 255, 50);
	gt_assert_sequence(graph, "t", 0, 50, 256);
	assert_int_equal(forward(graph, names[150])->visits, 2 * 50);
	assert_int_equal(forward(graph, names[149])->visits, 50);
}

/* Backward edges to every word of the bitmap; a thousand objects of different hops. */
static void
test_back_edges(void **state)
{
	enum { NODES = 300, OBJS = 1000 };
	struct weir_graph *graph;
	char names[NODES][16];
	const struct gt_sink *sink;
	uint64_t hops = 0, visits = 0;

	(void)state;
	for (uint32_t i = 0; i < NODES; i++)
		snprintf(names[i], sizeof(names[i]), "n%u", i);
	for (uint32_t i = 0; i < NODES; i++)
		gt_add_forward(names[i], GT_NEXT(names[i % 70 == 69 ? i / 2 : (i + 1) % NODES], "t",
						 names[(i + 1) % NODES]));
	gt_add_sink("t");
	gt_add_source("s", GT_NEXT("n0"));
	graph = gt_graph("g", "s", 32);
	for (uint32_t i = 0; i < NODES; i++)
		forward(graph, names[i])->pass = pass_hops;
	srand(5);
	for (uint32_t i = 0; i < OBJS; i++) {
		uint32_t h = (uint32_t)rand() % 256;

		gt_feed(graph, "s", i * 256 + h, 1, 1);
		weir_graph_walk(graph);
		hops += h;
	}
	sink = gt_state(graph, "t");
	assert_int_equal(sink->nb, OBJS);
	for (uint32_t i = 0; i < OBJS; i++)
		assert_int_equal(gt_num(sink->objs[i]), i * 256);
	for (uint32_t i = 0; i < NODES; i++)
		visits += weir_graph_node_get_by_name(graph, names[i])->nb_objs;
	assert_int_equal(visits, hops + OBJS);
}

static void
test_idle(void **state)
{
	const struct weir_graph_cluster_stats *stats;
	const char *pattern = "g";
	struct weir_graph_cluster *cluster = weir_graph_cluster_create(&pattern, 1);
	struct weir_graph *graph;

	(void)state;
	gt_add_source("s1", GT_NEXT("t"));
	gt_add_source("s2", GT_NEXT("t"));
	gt_add_sink("t");
	graph = gt_graph("g", "s?", 0);
	for (int i = 0; i < 10; i++)
		weir_graph_walk(graph);
	gt_feed(graph, "s2", 1, 3, 1);
	for (int i = 0; i < 5; i++)
		weir_graph_walk(graph);
	assert_int_equal(weir_graph_cluster_get(cluster, &stats), 0);
	assert_int_equal(stats->walks, 15);
	assert_int_equal(stats->idle_walks, 12);
	assert_int_equal(gt_stats_find(stats, "s1")->calls, 15);
	assert_int_equal(gt_stats_find(stats, "s1")->objs, 0);
	assert_int_equal(gt_stats_find(stats, "s2")->calls, 15);
	assert_int_equal(gt_stats_find(stats, "s2")->objs, 3);
	assert_int_equal(gt_stats_find(stats, "t")->calls, 3);
	assert_true(stats->busy_cycles > 0 && stats->idle_cycles > 0);
	weir_graph_cluster_destroy(cluster);
}

/* Two sources take turns within one walk, in the order of the patterns' matches. */
static void
test_sources_in_order(void **state)
{
	struct weir_graph *graph;
	const struct gt_source *a, *b;
	const struct gt_sink *t;

	(void)state;
	gt_add_source("a", GT_NEXT("t"));
	gt_add_source("b", GT_NEXT("t"));
	gt_add_sink("t");
	graph = gt_graph("g", "?", 8);
	a = gt_state(graph, "a");
	b = gt_state(graph, "b");
	t = gt_state(graph, "t");
	gt_feed(graph, "a", 1, 8, 8);
	gt_feed(graph, "b", 9, 4, 4);
	weir_graph_walk(graph);
	/* a fills a round, so that its burst is through before b runs. */
	assert_true(a->order < b->order);
	assert_int_equal(t->visits, 2);
	assert_int_equal(t->max_vector, 8);
	assert_int_equal(t->min_vector, 4);
	gt_assert_sequence(graph, "t", 1, 12, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_rounds, gt_clear),
		cmocka_unit_test_teardown(test_rounds_bound, gt_clear),
		cmocka_unit_test_teardown(test_once_per_round, gt_clear),
		cmocka_unit_test_teardown(test_self_edge, gt_clear),
		cmocka_unit_test_teardown(test_long_cycle, gt_clear),
		cmocka_unit_test_teardown(test_back_edges, gt_clear),
		cmocka_unit_test_teardown(test_idle, gt_clear),
		cmocka_unit_test_teardown(test_sources_in_order, gt_clear),
	};

	return cmocka_run_group_tests(tests, gt_setup, gt_teardown);
}
