/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Moving objects: every way to pass a vector on, at every length and burst; fewer and
 * more objects than came in; decisions that name no edge.
 */

#include "graph_test.h"

static void
pass_run(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	uint16_t half = nb / 2;

	weir_graph_enqueue(graph, node, 0, objs, half);
	weir_graph_enqueue(graph, node, 0, objs + half, (uint32_t)nb - half);
}

static void
pass_x1(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	for (uint16_t i = 0; i < nb; i++)
		weir_graph_enqueue_x1(graph, node, 0, objs[i]);
}

static void
pass_x2(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	uint16_t i;

	for (i = 0; i + 2 <= nb; i += 2)
		weir_graph_enqueue_x2(graph, node, 0, objs[i], objs[i + 1]);
	if (i < nb)
		weir_graph_enqueue_x1(graph, node, 0, objs[i]);
}

static void
pass_x4(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	uint16_t i;

	for (i = 0; i + 4 <= nb; i += 4)
		weir_graph_enqueue_x4(
			graph, node, 0, objs[i], objs[i + 1], objs[i + 2], objs[i + 3]);
	for (; i < nb; i++)
		weir_graph_enqueue_x1(graph, node, 0, objs[i]);
}

static void
pass_stream(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	void **to = weir_graph_stream_get(graph, node, 0, nb);

	assert_non_null(to);
	memcpy(to, objs, nb * sizeof(*objs));
	weir_graph_stream_put(graph, node, 0, nb);
}

static void
pass_nexts_same(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	memset(weir_graph_nexts(graph), 0, nb * sizeof(uint16_t));
	weir_graph_enqueue_nexts(graph, node, objs, weir_graph_nexts(graph), nb);
}

static const struct {
	const char *name;
	void (*pass)(
		struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb);
} ways[] = {
	{"move", NULL},
	{"run", pass_run},
	{"x1", pass_x1},
	{"x2", pass_x2},
	{"x4", pass_x4},
	{"stream", pass_stream},
	{"nexts", pass_nexts_same},
};

/* s -> f -> t; in one walk @nb objects, from the source's own pieces. */
static void
run_way(const char *name, uint32_t way, uint16_t burst, uint32_t nb)
{
	struct weir_graph *graph = gt_graph(name, "s", burst);
	struct gt_forward *forward = gt_state(graph, "f");
	const struct gt_sink *sink = gt_state(graph, "t");

	forward->pass = ways[way].pass;
	gt_feed(graph, "s", 1, nb, nb);
	weir_graph_walk(graph);
	gt_assert_sequence(graph, "t", 1, nb, 1);
	assert_true(forward->max_vector <= burst && sink->max_vector <= burst);
	assert_int_equal(forward->visits, (nb + burst - 1) / burst);
	assert_int_equal(weir_graph_node_get_by_name(graph, "f")->nb_calls, forward->visits);
	assert_int_equal(weir_graph_node_get_by_name(graph, "f")->nb_objs, nb);
	assert_int_equal(weir_graph_node_get_by_name(graph, "f")->edges[0].nb_objs, nb);
	assert_int_equal(weir_graph_destroy(weir_graph_id(graph)), 0);
}

static void
test_every_way(void **state)
{
	static const uint16_t bursts[] = {1, 2, 3, 63, 64, 256, 4096};
	static const uint32_t lengths[] = {
		1, 2, 3, 4, 5, 11, 12, 13, 63, 64, 65, 255, 256, 257, 1000, 5000};

	(void)state;
	gt_add_source("s", GT_NEXT("f"));
	gt_add_forward("f", GT_NEXT("t"));
	gt_add_sink("t");
	for (uint32_t way = 0; way < RTE_DIM(ways); way++)
		for (uint32_t b = 0; b < RTE_DIM(bursts); b++)
			for (uint32_t n = 0; n < RTE_DIM(lengths); n++)
				run_way(ways[way].name, way, bursts[b], lengths[n]);
}

/* The home run swaps streams; nothing is copied. */
static void
test_home_run(void **state)
{
	struct weir_graph_node *f, *t;
	struct weir_graph *graph;
	void **f_objs, **t_objs;

	(void)state;
	gt_add_source("s", GT_NEXT("f"));
	gt_add_forward("f", GT_NEXT("t"));
	gt_add_sink("t");
	graph = gt_graph("g", "s", 0);
	f = weir_graph_node_get_by_name(graph, "f");
	t = weir_graph_node_get_by_name(graph, "t");
	f_objs = f->objs;
	t_objs = t->objs;
	gt_feed(graph, "s", 1, 300, 200);
	weir_graph_walk(graph);
	assert_ptr_equal(f->objs, t_objs);
	assert_ptr_equal(t->objs, f_objs);
	((struct gt_forward *)f->state)->pass = pass_nexts_same;
	weir_graph_walk(graph);
	assert_ptr_equal(f->objs, f_objs);
	assert_ptr_equal(t->objs, t_objs);
	gt_assert_sequence(graph, "t", 1, 300, 1);
}

/* The first 40 straight to t, the others over `second`, which moves them as a whole. */
static void
pass_forked(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	weir_graph_enqueue(graph, node, 0, objs, 40);
	weir_graph_enqueue(graph, node, 1, objs + 40, nb - 40u);
}

/* A home run to a stream that holds something already goes behind it. */
static void
test_home_run_behind(void **state)
{
	struct weir_graph *graph;

	(void)state;
	gt_add_source("s", GT_NEXT("first"));
	gt_add_forward("first", GT_NEXT("t", "second"));
	gt_add_forward("second", GT_NEXT("t"));
	gt_add_sink("t");
	graph = gt_graph("g", "s", 0);
	((struct gt_forward *)gt_state(graph, "first"))->pass = pass_forked;
	gt_feed(graph, "s", 1, 100, 100);
	weir_graph_walk(graph);
	gt_assert_sequence(graph, "t", 1, 100, 1);
	assert_int_equal(((struct gt_sink *)gt_state(graph, "t"))->visits, 1);
}

/* Passing nothing on visits nobody. */
static void
pass_nothing(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	(void)nb;
	weir_graph_enqueue(graph, node, 0, objs, 0);
	weir_graph_enqueue(graph, node, 0, NULL, 0);
	weir_graph_stream_put(graph, node, 0, 0);
	weir_graph_enqueue_nexts(graph, node, objs, weir_graph_nexts(graph), 0);
}

static void
test_empty_vector(void **state)
{
	struct weir_graph *graph;

	(void)state;
	gt_add_source("s", GT_NEXT("f"));
	gt_add_forward("f", GT_NEXT("t"));
	gt_add_sink("t");
	graph = gt_graph("g", "s", 0);
	((struct gt_forward *)gt_state(graph, "f"))->pass = pass_nothing;
	gt_feed(graph, "s", 1, 10, 10);
	weir_graph_walk(graph);
	weir_graph_walk(graph);
	assert_int_equal(((struct gt_forward *)gt_state(graph, "f"))->visits, 1);
	assert_int_equal(((struct gt_sink *)gt_state(graph, "t"))->visits, 0);
	assert_int_equal(weir_graph_node_get_by_name(graph, "f")->edges[0].nb_objs, 0);
}

/* One in, four out, each way once; and each second object only. */
static void
pass_copies(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	for (uint16_t i = 0; i < nb; i++) {
		void *copies[4] = {objs[i], objs[i], objs[i], objs[i]};

		weir_graph_enqueue(graph, node, 0, copies, 4);
		weir_graph_enqueue_x4(graph, node, 0, copies[0], copies[1], copies[2], copies[3]);
		weir_graph_enqueue_x2(graph, node, 0, copies[0], copies[1]);
		weir_graph_enqueue_x1(graph, node, 0, copies[0]);
	}
	weir_graph_stream_move(graph, node, 1);
}

static void
pass_half(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	for (uint16_t i = 0; i < nb; i += 2)
		weir_graph_enqueue_x1(graph, node, 0, objs[i]);
}

static void
test_more_and_fewer(void **state)
{
	const struct weir_graph_node_stats *stats;
	struct weir_graph_cluster *cluster;
	struct weir_graph *graph;
	const struct gt_sink *sink;

	(void)state;
	gt_add_source("s", GT_NEXT("more"));
	gt_add_forward("more", GT_NEXT("t", "fewer"));
	gt_add_forward("fewer", GT_NEXT("u"));
	gt_add_sink("t");
	gt_add_sink("u");
	graph = gt_graph("g", "s", 256);
	((struct gt_forward *)gt_state(graph, "more"))->pass = pass_copies;
	((struct gt_forward *)gt_state(graph, "fewer"))->pass = pass_half;
	gt_feed(graph, "s", 1, 256, 256);
	weir_graph_walk(graph);
	gt_assert_sequence(graph, "u", 1, 128, 2);
	sink = gt_state(graph, "t");
	assert_int_equal(sink->nb, 256 * 11);
	for (size_t i = 0; i < sink->nb; i++)
		assert_int_equal(gt_num(sink->objs[i]), 1 + i / 11);
	assert_int_equal(sink->visits, 11);
	assert_int_equal(sink->max_vector, 256);
	stats = gt_stats("g", "t", &cluster);
	assert_in_range(stats->realloc_count, 1, 4); /* 512 places to 2816, doubling */
	assert_int_equal(stats->overflow, 0);
	weir_graph_cluster_destroy(cluster);
	stats = gt_stats("g", "more", &cluster);
	assert_int_equal(stats->edge_objs[0], 256 * 11);
	assert_int_equal(stats->edge_objs[1], 256);
	weir_graph_cluster_destroy(cluster);
}

/* Room for more than a stream has: stream_get() grows it and keeps what is in it. */
static void
pass_stream_huge(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	void **to;

	weir_graph_enqueue(graph, node, 0, objs, nb);
	to = weir_graph_stream_get(graph, node, 0, 100000);
	assert_non_null(to);
	for (uint64_t i = 0; i < 100000; i++)
		to[i] = gt_obj(1 + nb + i);
	weir_graph_stream_put(graph, node, 0, 99999); /* may be fewer than got */
}

static void
test_stream_get_grows(void **state)
{
	struct weir_graph *graph;

	(void)state;
	gt_add_source("s", GT_NEXT("f"));
	gt_add_forward("f", GT_NEXT("t"));
	gt_add_sink("t");
	graph = gt_graph("g", "s", 0);
	((struct gt_forward *)gt_state(graph, "f"))->pass = pass_stream_huge;
	gt_feed(graph, "s", 1, 10, 10);
	weir_graph_walk(graph);
	gt_assert_sequence(graph, "t", 1, 100009, 1);
	assert_int_equal(weir_graph_node_get_by_name(graph, "t")->realloc_count, 1);
}

/* No stream can have four billion places: refused, not wrapped around. */
static void
pass_too_much(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	assert_null(weir_graph_stream_get(graph, node, 0, UINT32_MAX));
	assert_null(weir_graph_stream_get(graph, node, 0, UINT32_MAX / 2 + 1));
	weir_graph_enqueue(graph, node, 0, objs, nb);
}

static void
test_stream_get_too_much(void **state)
{
	struct weir_graph *graph;

	(void)state;
	gt_add_source("s", GT_NEXT("f"));
	gt_add_forward("f", GT_NEXT("t"));
	gt_add_sink("t");
	graph = gt_graph("g", "s", 0);
	((struct gt_forward *)gt_state(graph, "f"))->pass = pass_too_much;
	gt_feed(graph, "s", 1, 10, 10);
	weir_graph_walk(graph);
	gt_assert_sequence(graph, "t", 1, 10, 1);
}

/* Fan-outs: names t0 .. and what decides. */
static void
add_fan(uint16_t nb_edges)
{
	static char names[300][16];
	const char *next[301] = {NULL};

	for (uint16_t e = 0; e < nb_edges; e++) {
		snprintf(names[e], sizeof(names[e]), "t%u", e);
		next[e] = names[e];
		gt_add_sink(names[e]);
	}
	gt_add_source("s", GT_NEXT("fan"));
	gt_add_forward("fan", next);
}

static uint16_t
decide_modulo(const struct gt_forward *forward, void *obj)
{
	return (uint16_t)(gt_num(obj) % (uintptr_t)forward->arg);
}

static void
test_scatter(void **state)
{
	static const uint16_t fans[] = {
		1, 2, 3, 4, 5, 8, 16, 31, 32, 33, 64, 254, 255, 256, 257, 300};
	static const uint32_t lengths[] = {1, 2, 11, 12, 13, 64, 100, 255, 256, 257, 600, 4096};

	for (uint32_t f = 0; f < RTE_DIM(fans); f++) {
		add_fan(fans[f]);
		for (uint32_t n = 0; n < RTE_DIM(lengths); n++) {
			struct weir_graph *graph = gt_graph("g", "s", 4096);
			struct gt_forward *fan = gt_state(graph, "fan");

			fan->pass = gt_pass_nexts;
			fan->decide = decide_modulo;
			fan->arg = gt_obj(fans[f]);
			gt_feed(graph, "s", 300 * 256 * 257, lengths[n], lengths[n]);
			weir_graph_walk(graph);
			for (uint32_t e = 0; e < fans[f]; e++) {
				uint64_t first = 300 * 256 * 257;
				char sink[16];

				snprintf(sink, sizeof(sink), "t%u", e);
				first += (e + fans[f] - first % fans[f]) % fans[f];
				gt_assert_sequence(graph, sink, first,
					(300 * 256 * 257 + lengths[n] - first + fans[f] - 1) /
						fans[f],
					fans[f]);
			}
			assert_int_equal(weir_graph_destroy(weir_graph_id(graph)), 0);
		}
		gt_clear(state);
	}
}

/* What the graph discards, in order. */
static uint64_t discarded[8192];
static uint32_t nb_discarded;

static void
discard(void *arg, void **objs, uint32_t nb_objs)
{
	assert_ptr_equal(arg, discarded);
	for (uint32_t i = 0; i < nb_objs; i++)
		discarded[nb_discarded++] = gt_num(objs[i]);
}

static uint16_t
decide_stray(const struct gt_forward *forward, void *obj)
{
	uint16_t nb_edges = (uint16_t)(uintptr_t)forward->arg;
	uint64_t n = gt_num(obj);

	if (n % 5 == 0)
		return (uint16_t)(n % 2 == 0 ? nb_edges : UINT16_MAX);
	return nb_edges == 0 ? 7 : (uint16_t)(n % nb_edges);
}

static uint16_t
decide_all_stray(const struct gt_forward *forward, void *obj)
{
	(void)obj;
	return (uint16_t)(uintptr_t)forward->arg;
}

static void
run_stray(uint16_t nb_edges, uint32_t nb,
	uint16_t (*decide)(const struct gt_forward *forward, void *obj))
{
	const struct weir_graph_param param = {.nb_node_patterns = 1,
		.node_patterns = GT_NEXT("s"),
		.discard = discard,
		.discard_arg = discarded};
	struct weir_graph *graph = weir_graph_get(weir_graph_create("g", &param));
	struct gt_forward *fan;
	const struct weir_graph_node *node;
	uint64_t passed = 0, sum = 0;

	assert_non_null(graph);
	fan = gt_state(graph, "fan");
	fan->pass = gt_pass_nexts;
	fan->decide = decide;
	fan->arg = gt_obj(nb_edges);
	nb_discarded = 0;
	gt_log_clear();
	gt_feed(graph, "s", 1, nb, 256);
	for (uint32_t i = 0; i <= nb / 256; i++)
		weir_graph_walk(graph);
	node = weir_graph_node_get_by_name(graph, "fan");
	for (uint32_t e = 0; e < nb_edges; e++) {
		passed += node->edges[e].nb_objs;
		assert_int_equal(
			weir_graph_next(node, (uint16_t)e)->nb_objs, node->edges[e].nb_objs);
	}
	assert_int_equal(nb_discarded, decide == decide_stray && nb_edges > 0 ? nb / 5 : nb);
	assert_int_equal(passed + nb_discarded, nb);
	for (uint32_t i = 0; i < nb_discarded; i++) {
		sum += discarded[i];
		assert_true(decide != decide_stray || nb_edges == 0 || discarded[i] % 5 == 0);
	}
	if (nb_discarded == nb)
		assert_int_equal(sum, (uint64_t)nb * (nb + 1) / 2);
	assert_true(node->strays == nb_discarded);
	if (nb_discarded > 0)
		assert_log_has("'fan'");
	assert_int_equal(weir_graph_destroy(weir_graph_id(graph)), 0);
}

/* Decisions that name no edge are counted and discarded; everything else arrives. */
static void
test_stray(void **state)
{
	static const uint16_t fans[] = {1, 2, 5, 16, 33, 254, 255, 256, 300};

	for (uint32_t f = 0; f < RTE_DIM(fans); f++) {
		add_fan(fans[f]);
		for (uint32_t nb = 1; nb < 700; nb += nb < 20 ? 1 : 97) {
			run_stray(fans[f], nb, decide_stray);
			run_stray(fans[f], nb, decide_all_stray);
		}
		gt_clear(state);
	}
}

static uint16_t
decide_odd(struct weir_graph_node *node, void *obj)
{
	weir_graph_count(node, (uint16_t)(gt_num(obj) & 1), 1);
	return gt_num(obj) & 1;
}

static uint32_t prefetched;

static void
prefetch_counts(const void *obj)
{
	weir_graph_prefetch_obj(obj);
	prefetched++;
}

static uint16_t
odd_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	return weir_graph_decide_each(graph, node, objs, nb, decide_odd, prefetch_counts);
}

static void
test_decide_each(void **state)
{
	static const uint32_t lengths[] = {1, 2, 7, 8, 9, 15, 16, 17, 255, 256};
	const struct weir_graph_node_register reg = {
		WEIR_GRAPH_NODE_HEADER,
		.name = "odd",
		.process = odd_process,
		.nb_edges = 2,
		.next_nodes = GT_NEXT("t0", "t1"),
		.nb_xstats = 2,
		.xstats = GT_NEXT("even", "odd"),
	};

	(void)state;
	weir_graph_node_register(&reg);
	gt_add_sink("t0");
	gt_add_sink("t1");
	gt_add_source("s", GT_NEXT("odd"));
	for (uint32_t n = 0; n < RTE_DIM(lengths); n++) {
		struct weir_graph *graph = gt_graph("g", "s", 0);
		const struct weir_graph_node_stats *stats;
		struct weir_graph_cluster *cluster;

		prefetched = 0;
		gt_feed(graph, "s", 2, lengths[n], 256);
		weir_graph_walk(graph);
		assert_int_equal(prefetched, lengths[n]);
		gt_assert_sequence(graph, "t0", 2, (lengths[n] + 1) / 2, 2);
		gt_assert_sequence(graph, "t1", 3, lengths[n] / 2, 2);
		stats = gt_stats("g", "odd", &cluster);
		assert_string_equal(stats->xstat_names[1], "odd");
		assert_int_equal(stats->xstats[0], (lengths[n] + 1) / 2);
		assert_int_equal(stats->xstats[1], lengths[n] / 2);
		weir_graph_cluster_destroy(cluster);
		assert_int_equal(weir_graph_destroy(weir_graph_id(graph)), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_every_way, gt_clear),
		cmocka_unit_test_teardown(test_home_run, gt_clear),
		cmocka_unit_test_teardown(test_home_run_behind, gt_clear),
		cmocka_unit_test_teardown(test_empty_vector, gt_clear),
		cmocka_unit_test_teardown(test_more_and_fewer, gt_clear),
		cmocka_unit_test_teardown(test_stream_get_grows, gt_clear),
		cmocka_unit_test_teardown(test_stream_get_too_much, gt_clear),
		cmocka_unit_test_teardown(test_scatter, gt_clear),
		cmocka_unit_test_teardown(test_stray, gt_clear),
		cmocka_unit_test_teardown(test_decide_each, gt_clear),
	};

	return cmocka_run_group_tests(tests, gt_setup, gt_teardown);
}
