/* SPDX-License-Identifier: BSD-3-Clause */

/* What a node may do that the fast path must survive, at the edges of its contract. */

#include <sys/mman.h>
#include <unistd.h>

#include "graph_test.h"

static uint16_t
decide_mod7(const struct gt_forward *forward, void *obj)
{
	(void)forward;
	return (uint16_t)(gt_num(obj) % 7);
}

/* A node without edges that decides nevertheless: all strays, of mixed decisions. */
static void
test_no_edges(void **state)
{
	struct weir_graph *graph;
	struct gt_forward *f;

	(void)state;
	gt_add_source("s", GT_NEXT("f"));
	gt_add_forward("f", NULL);
	graph = gt_graph("g", "s", 0);
	f = gt_state(graph, "f");
	f->pass = gt_pass_nexts;
	f->decide = decide_mod7;
	gt_feed(graph, "s", 1, 100, 100);
	weir_graph_walk(graph);
	assert_int_equal(weir_graph_node_get_by_name(graph, "f")->strays, 100);
}

/* Decisions in an array of the node's own, that ends where the header lets it end. */
#define NEXTS_SLACK_BYTES 128

static void
pass_at_page_end(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint16_t *nexts = (uint16_t *)(memory + page - NEXTS_SLACK_BYTES) - nb;

	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
	for (uint16_t i = 0; i < nb; i++)
		nexts[i] = i % 2;
	weir_graph_enqueue_nexts(graph, node, objs, nexts, nb);
	munmap(memory, 2 * page);
}

static void
test_nexts_slack(void **state)
{
	struct weir_graph *graph;

	(void)state;
	gt_add_sink("t0");
	gt_add_sink("t1");
	gt_add_source("s", GT_NEXT("f"));
	gt_add_forward("f", GT_NEXT("t0", "t1"));
	graph = gt_graph("g", "s", 0);
	((struct gt_forward *)gt_state(graph, "f"))->pass = pass_at_page_end;
	for (uint32_t nb = 1; nb <= 256; nb++) {
		gt_feed(graph, "s", 0, nb, nb);
		weir_graph_walk(graph);
	}
	assert_int_equal(weir_graph_node_get_by_name(graph, "t0")->nb_objs, 256 * 257 / 4 + 64);
}

/* A source has no vector: a home run of nothing visits nobody. */
static uint16_t
moving_source(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	(void)objs;
	(void)nb;
	weir_graph_stream_move(graph, node, 0);
	return 0;
}

static void
test_empty_home_run(void **state)
{
	const struct weir_graph_node_register reg = {
		WEIR_GRAPH_NODE_HEADER,
		.name = "s",
		.flags = WEIR_GRAPH_NODE_SOURCE,
		.process = moving_source,
		.nb_edges = 1,
		.next_nodes = GT_NEXT("f"),
	};
	struct weir_graph *graph;

	(void)state;
	weir_graph_node_register(&reg);
	gt_add_forward("f", GT_NEXT("t"));
	gt_add_sink("t");
	graph = gt_graph("g", "s", 0);
	weir_graph_walk(graph);
	assert_int_equal(((struct gt_forward *)gt_state(graph, "f"))->visits, 0);
}

/* No clock means none, also when the countdown of walks has run out. */
static void
test_clock_none_for_ever(void **state)
{
	const struct weir_graph_param param = {
		.nb_node_patterns = 1, .node_patterns = GT_NEXT("s"), .clock_period = UINT16_MAX};
	struct weir_graph *graph;

	(void)state;
	gt_add_source("s", NULL);
	graph = weir_graph_get(weir_graph_create("g", &param));
	assert_non_null(graph);
	graph->clock_countdown = 1; /* as it is after 2^32 - 2 walks */
	weir_graph_walk(graph);
	weir_graph_walk(graph);
	assert_int_equal(weir_graph_node_at(graph, 0)->cycles, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_clock_none_for_ever, gt_clear),
		cmocka_unit_test_teardown(test_empty_home_run, gt_clear),
		cmocka_unit_test_teardown(test_nexts_slack, gt_clear),
		cmocka_unit_test_teardown(test_no_edges, gt_clear),
	};

	return cmocka_run_group_tests(tests, gt_setup, gt_teardown);
}
