/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Out of memory: EAL has a few megabytes only. Objects that no stream can take are
 * counted and discarded, graphs that cannot be made are refused, and all goes on
 * when there is memory again.
 */

#include <rte_malloc.h>

#include "graph_test.h"

#define RUN  64
#define RUNS (20 * 1024) /* of these, together 10 MB of pointers: more than EAL has */

static uint64_t sent;
static uint64_t sum_sent;
static uint64_t nb_discarded;
static uint64_t sum_discarded;

static void
discard(void *arg, void **objs, uint32_t nb_objs)
{
	assert_ptr_equal(arg, &nb_discarded);
	nb_discarded += nb_objs;
	for (uint32_t i = 0; i < nb_objs; i++)
		sum_discarded += gt_num(objs[i]);
}

static void
fill(void **objs)
{
	for (uint32_t i = 0; i < RUN; i++) {
		sum_sent += ++sent;
		objs[i] = gt_obj(sent);
	}
}

static void
flood_runs(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	void *run[RUN];

	(void)objs;
	(void)nb;
	for (uint32_t r = 0; r < RUNS; r++) {
		fill(run);
		weir_graph_enqueue(graph, node, 0, run, RUN);
	}
}

static void
flood_x1(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	void *run[RUN];

	(void)objs;
	(void)nb;
	for (uint32_t r = 0; r < RUNS; r++) {
		fill(run);
		for (uint32_t i = 0; i < RUN; i++)
			weir_graph_enqueue_x1(graph, node, 0, run[i]);
	}
}

static void
flood_x4(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	void *run[RUN];

	(void)objs;
	(void)nb;
	for (uint32_t r = 0; r < RUNS; r++) {
		fill(run);
		for (uint32_t i = 0; i < RUN; i += 4)
			weir_graph_enqueue_x4(
				graph, node, 0, run[i], run[i + 1], run[i + 2], run[i + 3]);
	}
}

static void
flood_nexts(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	uint16_t *nexts = weir_graph_nexts(graph);
	void *run[RUN];

	(void)objs;
	(void)nb;
	for (uint32_t i = 0; i < RUN; i++)
		nexts[i] = i % 2;
	for (uint32_t r = 0; r < RUNS; r++) {
		fill(run);
		weir_graph_enqueue_nexts(graph, node, run, nexts, RUN);
	}
}

static void
flood_streams(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	(void)objs;
	(void)nb;
	for (uint32_t r = 0; r < RUNS; r++) {
		void **to = weir_graph_stream_get(graph, node, 0, RUN);

		if (to == NULL) /* nothing is lost: the node knows */
			return;
		fill(to);
		weir_graph_stream_put(graph, node, 0, RUN);
	}
	fail_msg("EAL had memory for everything");
}

static uint64_t
sum_of(const struct gt_sink *sink)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < sink->nb; i++)
		sum += gt_num(sink->objs[i]);
	return sum;
}

static void
run_flood(void (*flood)(
		  struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb),
	bool with_discard, bool loses)
{
	const struct weir_graph_param param = {.nb_node_patterns = 1,
		.node_patterns = GT_NEXT("s"),
		.discard = with_discard ? discard : NULL,
		.discard_arg = &nb_discarded};
	struct weir_graph *graph = weir_graph_get(weir_graph_create("g", &param));
	const struct gt_sink *t0, *t1;
	struct gt_forward *f;
	uint64_t overflow, edges;

	assert_non_null(graph);
	sent = sum_sent = nb_discarded = sum_discarded = 0;
	t0 = gt_state(graph, "t0");
	t1 = gt_state(graph, "t1");
	f = gt_state(graph, "f");
	f->pass = flood;
	gt_feed(graph, "s", 1, 1, 1);
	weir_graph_walk(graph);
	overflow = weir_graph_node_get_by_name(graph, "t0")->overflow +
		   weir_graph_node_get_by_name(graph, "t1")->overflow;
	edges = weir_graph_node_get_by_name(graph, "f")->edges[0].nb_objs +
		weir_graph_node_get_by_name(graph, "f")->edges[1].nb_objs;
	assert_int_equal(edges, sent);
	assert_int_equal(t0->nb + t1->nb + overflow, sent);
	assert_true(loses ? overflow > 0 : overflow == 0);
	assert_true(t0->nb > 100000);
	if (with_discard) {
		assert_int_equal(nb_discarded, overflow);
		assert_int_equal(sum_of(t0) + sum_of(t1) + sum_discarded, sum_sent);
	}
	/* The graph goes on. */
	f->pass = NULL;
	gt_feed(graph, "s", 7, 100, 100);
	weir_graph_walk(graph);
	assert_int_equal(t0->nb + t1->nb + overflow, sent + 100);
	assert_int_equal(weir_graph_destroy(weir_graph_id(graph)), 0);
}

static void
test_streams(void **state)
{
	(void)state;
	gt_add_source("s", GT_NEXT("f"));
	gt_add_forward("f", GT_NEXT("t0", "t1"));
	gt_add_sink("t0");
	gt_add_sink("t1");
	run_flood(flood_runs, true, true);
	run_flood(flood_runs, false, true);
	run_flood(flood_x1, true, true);
	run_flood(flood_x4, true, true);
	run_flood(flood_nexts, true, true);
	run_flood(flood_streams, true, false);
}

/* A node that floods itself: its own stream in pieces. */
static void
flood_self(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	if (sent == 0)
		flood_runs(graph, node, objs, nb); /* edge 0 leads here */
	else
		weir_graph_stream_move(graph, node, 1);
}

static void
test_self_edge(void **state)
{
	const struct weir_graph_param param = {.nb_node_patterns = 1,
		.node_patterns = GT_NEXT("s"),
		.discard = discard,
		.discard_arg = &nb_discarded};
	struct weir_graph *graph;
	const struct gt_sink *t;

	(void)state;
	gt_add_source("s", GT_NEXT("f"));
	gt_add_forward("f", GT_NEXT("f", "t"));
	gt_add_sink("t");
	graph = weir_graph_get(weir_graph_create("g", &param));
	assert_non_null(graph);
	sent = sum_sent = nb_discarded = sum_discarded = 0;
	((struct gt_forward *)gt_state(graph, "f"))->pass = flood_self;
	gt_feed(graph, "s", 1, 1, 1);
	weir_graph_walk(graph);
	t = gt_state(graph, "t");
	assert_true(nb_discarded > 0 && t->nb > 100000);
	assert_int_equal(t->nb + nb_discarded, sent);
	assert_int_equal(sum_of(t) + sum_discarded, sum_sent);
}

/* All memory that EAL has, in pieces of @size, as a list. */
static void **
take_all(void **list, size_t size)
{
	void **piece;

	while ((piece = rte_malloc(NULL, size, 0)) != NULL) {
		*piece = list;
		list = piece;
	}
	return list;
}

/* Making a graph fails at each allocation in turn: it is refused, and leaves nothing behind. */
static void
test_create(void **state)
{
	const struct weir_graph_param param = {
		.nb_node_patterns = 1, .node_patterns = GT_NEXT("s"), .burst = 64};
	uint32_t refusals = 0, id;
	void **list;

	(void)state;
	gt_add_source("s", GT_NEXT("f"));
	gt_add_forward("f", GT_NEXT("t0", "t1"));
	gt_add_sink("t0");
	gt_add_sink("t1");
	list = take_all(take_all(take_all(NULL, 65536), 1024), 64);
	assert_non_null(list);
	for (;;) {
		void **next = *list;

		gt_log_clear();
		id = weir_graph_create("g", &param);
		if (id != WEIR_GRAPH_ID_INVALID)
			break;
		assert_int_equal(rte_errno, ENOMEM);
		assert_log_has("memory");
		assert_log_has("'g'");
		assert_null(weir_graph_lookup("g"));
		refusals++;
		rte_free(list);
		list = next;
	}
	assert_true(refusals > 5);
	while (list != NULL) {
		void **next = *list;

		rte_free(list);
		list = next;
	}
	gt_feed(weir_graph_get(id), "s", 1, 64, 64);
	weir_graph_walk(weir_graph_get(id));
	gt_assert_sequence(weir_graph_get(id), "t0", 1, 64, 1);
}

static int
setup(void **state)
{
	gt_eal_init(1, "8");
	return gt_clear(state);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_streams, gt_clear),
		cmocka_unit_test_teardown(test_self_edge, gt_clear),
		cmocka_unit_test_teardown(test_create, gt_clear),
	};

	return cmocka_run_group_tests(tests, setup, gt_teardown);
}
