/* SPDX-License-Identifier: BSD-3-Clause */

/* The code in doc/graph.md does what the document says. */

#include "graph_test.h"

static void prepare(struct weir_graph *graph);

#include "document.h"

#define NB 1000

static struct rte_mbuf mbufs[NB];
static struct rte_mbuf *pointers[NB];
static uint64_t nb_short, nb_long;

/* What the document leaves to the reader: input, and two ends that look at what they get. */
static void
prepare(struct weir_graph *graph)
{
	struct feed *feed = gt_state(graph, "feed");

	for (uint32_t i = 0; i < NB; i++) {
		mbufs[i].pkt_len = i % 10 == 0 ? 1001 + i : 60 + i % 900;
		pointers[i] = &mbufs[i];
	}
	*feed = (struct feed){.mbufs = pointers, .nb = NB, .burst = 32};
}

static uint16_t
end_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	bool is_long = strcmp(weir_graph_node_name_of(graph, node), "long") == 0;

	for (uint16_t i = 0; i < nb; i++)
		assert_true((((struct rte_mbuf *)objs[i])->pkt_len > 1000) == is_long);
	*(is_long ? &nb_long : &nb_short) += nb;
	return nb;
}

static void
test_document(void **state)
{
	struct weir_graph_node_register end = {WEIR_GRAPH_NODE_HEADER, .process = end_process};
	const struct weir_graph_param other = {
		.nb_node_patterns = 1, .node_patterns = GT_NEXT("feed")};
	struct weir_graph *graph;

	(void)state;
	assert_int_equal(run("worker-0", 1), -EINVAL); /* "short" and "long" are not there yet */
	assert_log_has("'short'");
	end.name = "short";
	assert_int_not_equal(weir_graph_node_register(&end), WEIR_GRAPH_NODE_INVALID);
	end.name = "long";
	assert_int_not_equal(weir_graph_node_register(&end), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(run("worker-0", 1 + NB / 32), 0);
	assert_int_equal(nb_long, NB / 10);
	assert_int_equal(nb_short, NB - NB / 10);

	graph = weir_graph_get(weir_graph_create("worker-1", &other));
	assert_non_null(graph);
	prepare(graph);
	for (uint32_t i = 0; i < 5; i++)
		weir_graph_walk(graph);
	assert_int_equal(long_packets(), 5 * 32 / 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_document, gt_clear),
	};

	return cmocka_run_group_tests(tests, gt_setup_loaded, gt_teardown);
}
