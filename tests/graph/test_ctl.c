/* SPDX-License-Identifier: BSD-3-Clause */

/* The library's commands on the control socket. */

#include "graph_test.h"

#include "../base/ctl_ask.h"

static void
add_some(void)
{
	gt_add_sink("t");
	gt_add_forward("f", GT_NEXT("t"));
	gt_add_source("s", GT_NEXT("f"));
	gt_graph("g", "s", 32);
	gt_graph("h", "s", 0);
	gt_feed(weir_graph_lookup("g"), "s", 1, 40, 20);
	weir_graph_walk(weir_graph_lookup("g"));
	weir_graph_walk(weir_graph_lookup("g"));
}

static void
test_list(void **state)
{
	json_t *list = ask("graph/list", NULL, 0);

	(void)state;
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
	add_some();
	json_decref(ask("graph/list", "{'name': 'whatever'}", -EINVAL)); /* it has no argument */
	list = ask("graph/list", NULL, 0);
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(text(json_array_get(list, 0), "name"), "g");
	assert_int_equal(number(json_array_get(list, 0), "nodes"), 3);
	assert_int_equal(number(json_array_get(list, 0), "sources"), 1);
	assert_int_equal(number(json_array_get(list, 0), "burst"), 32);
	assert_int_equal(number(json_array_get(list, 1), "burst"), 256);
	json_decref(list);
}

static void
test_nodes(void **state)
{
	json_t *list;

	(void)state;
	add_some();
	list = ask("graph/nodes", NULL, 0);
	assert_int_equal(json_array_size(list), 3);
	for (size_t i = 0; i < 3; i++) {
		const json_t *node = json_array_get(list, i);
		const json_t *edges = json_object_get(node, "edges");

		assert_int_equal(number(node, "graphs"), 2);
		assert_int_equal(json_is_true(json_object_get(node, "source")),
			strcmp(text(node, "name"), "s") == 0);
		assert_int_equal(json_array_size(edges), strcmp(text(node, "name"), "t") != 0);
	}
	json_decref(list);
}

static void
test_stats(void **state)
{
	json_t *stats;

	(void)state;
	add_some();
	stats = ask("graph/stats", NULL, 0);
	assert_int_equal(number(stats, "graphs"), 2);
	assert_int_equal(number(stats, "walks"), 2);
	json_decref(stats);
	stats = ask("graph/stats", "{'name': 'h'}", 0);
	assert_int_equal(number(stats, "graphs"), 1);
	assert_int_equal(number(stats, "walks"), 0);
	json_decref(stats);

	/* The next look has rates over the interval between the two, per question. */
	gt_feed(weir_graph_lookup("h"), "s", 1, 20, 20);
	weir_graph_walk(weir_graph_lookup("h"));
	usleep(20000);
	stats = ask("graph/stats", "{'name': 'h'}", 0);
	assert_true(
		json_number_value(json_object_get(
			json_array_get(json_object_get(stats, "nodes"), 0), "objs_per_sec")) > 0);
	json_decref(stats);
	stats = ask("graph/stats", "{'name': 7}", -EINVAL);
	assert_non_null(strstr(json_string_value(stats), "string"));
	json_decref(stats);
	stats = ask("graph/stats", "{'name': 'nobody'}", -ENOENT);
	assert_non_null(strstr(json_string_value(stats), "'nobody'"));
	json_decref(stats);

	/* A pattern may match nothing yet, and what a graph had counted stays when it is gone. */
	stats = ask("graph/stats", "{'name': 'nobody*'}", 0);
	assert_int_equal(number(stats, "graphs"), 0);
	json_decref(stats);
	assert_int_equal(weir_graph_destroy(weir_graph_from_name("h")), 0);
	stats = ask("graph/stats", "{'name': 'h'}", 0);
	assert_int_equal(number(stats, "walks"), 1);
	json_decref(stats);
}

static void
test_dot(void **state)
{
	json_t *dot;

	(void)state;
	add_some();
	dot = ask("graph/dot", "{'name': 'g'}", 0);
	assert_non_null(strstr(json_string_value(dot), "\"s\" -> \"f\" [label=\"40\""));
	json_decref(dot);
	dot = ask("graph/dot", "{'name': 'nobody'}", -ENOENT);
	assert_non_null(strstr(json_string_value(dot), "'nobody'"));
	json_decref(dot);
	dot = ask("graph/dot", NULL, -EINVAL);
	assert_non_null(strstr(json_string_value(dot), "name"));
	json_decref(dot);
	dot = ask("graph/dot", "{'name': []}", -EINVAL);
	assert_non_null(strstr(json_string_value(dot), "string"));
	json_decref(dot);
}

/* Telemetry shows '-' and '.' as '_': what it shows can be asked for, but a graph's own name comes first. */
static void
test_shown_names(void **state)
{
	json_t *answer;

	(void)state;
	gt_add_sink("t");
	gt_add_source("s", GT_NEXT("t"));
	gt_graph("worker-0", "s", 0);
	gt_graph("other", "s", 0);
	for (int i = 0; i < 2; i++) {
		answer = ask(
			"graph/stats", i == 0 ? "{'name': 'worker_0'}" : "{'name': 'worker-0'}", 0);
		assert_int_equal(number(answer, "graphs"), 1);
		json_decref(answer);
	}
	answer = ask("graph/dot", "{'name': 'worker_0'}", 0);
	assert_non_null(strstr(json_string_value(answer), "worker-0"));
	json_decref(answer);
	/* A pattern stays one, and what nothing is shown as is not found. */
	answer = ask("graph/stats", "{'name': '*'}", 0);
	assert_int_equal(number(answer, "graphs"), 2);
	json_decref(answer);
	json_decref(ask("graph/dot", "{'name': 'worker_1'}", -ENOENT));
	json_decref(ask("graph/dot", "{'name': 'worker.0'}", -ENOENT));

	gt_graph("worker.0", "s", 0);
	for (int i = 0; i < 2; i++) {
		answer = ask(i == 0 ? "graph/stats" : "graph/dot", "{'name': 'worker_0'}", -EINVAL);
		assert_non_null(strstr(json_string_value(answer), "'worker_0'"));
		assert_non_null(strstr(json_string_value(answer), "worker-0, worker.0;"));
		json_decref(answer);
	}
	gt_graph("worker_0", "s", 32);
	answer = ask("graph/dot", "{'name': 'worker_0'}", 0);
	assert_non_null(strstr(json_string_value(answer), "\"worker_0\""));
	json_decref(answer);
}

static int
setup(void **state)
{
	gt_setup(state);
	return ctl_up("graph") ? weir_graph_ctl_register(ctl) : -1;
}

static int
teardown(void **state)
{
	ctl_down();
	return gt_teardown(state);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_list, gt_clear),
		cmocka_unit_test_teardown(test_nodes, gt_clear),
		cmocka_unit_test_teardown(test_stats, gt_clear),
		cmocka_unit_test_teardown(test_dot, gt_clear),
		cmocka_unit_test_teardown(test_shown_names, gt_clear),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
