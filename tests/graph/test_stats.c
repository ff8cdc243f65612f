/* SPDX-License-Identifier: BSD-3-Clause */

/* Counters and clusters: exactness, sums, views, the table, JSON, DOT. */

#include <unistd.h>

#include "graph_test.h"

static uint16_t
decide_mod3(const struct gt_forward *forward, void *obj)
{
	(void)forward;
	return (uint16_t)(gt_num(obj) % 3);
}

/* s -> f -> t0, t1, t0 again; 100 objects a walk. */
static void
add_some(void)
{
	gt_add_sink("t0");
	gt_add_sink("t1");
	gt_add_forward("f", GT_NEXT("t0", "t1", "t0"));
	gt_add_source("s", GT_NEXT("f"));
}

static struct weir_graph *
make(const char *name, uint64_t objs)
{
	struct weir_graph *graph = gt_graph(name, "s", 64);
	struct gt_forward *f = gt_state(graph, "f");

	f->pass = gt_pass_nexts;
	f->decide = decide_mod3;
	gt_feed(graph, "s", 0, objs, 64);
	for (uint64_t i = 0; i * 64 < objs; i++)
		weir_graph_walk(graph);
	return graph;
}

static struct weir_graph_cluster *
cluster_of(const char *pattern)
{
	struct weir_graph_cluster *cluster = weir_graph_cluster_create(&pattern, 1);

	assert_non_null(cluster);
	return cluster;
}

static const struct weir_graph_cluster_stats *
look(struct weir_graph_cluster *cluster)
{
	const struct weir_graph_cluster_stats *stats;

	assert_int_equal(weir_graph_cluster_get(cluster, &stats), 0);
	return stats;
}

static void
test_exact(void **state)
{
	struct weir_graph_cluster *cluster = cluster_of("g*");
	const struct weir_graph_cluster_stats *stats;
	const struct weir_graph_node_stats *f;

	(void)state;
	add_some();
	stats = look(cluster);
	assert_int_equal(stats->nb_graphs, 0);
	assert_int_equal(stats->nb_nodes, 0);
	make("g", 300);
	stats = look(cluster);
	assert_int_equal(stats->nb_graphs, 1);
	assert_int_equal(stats->nb_nodes, 4);
	assert_int_equal(stats->walks, 5);
	assert_int_equal(stats->idle_walks, 0);
	assert_int_equal(stats->clock_period, 64);
	assert_string_equal(stats->nodes[0].name, "s");
	f = gt_stats_find(stats, "f");
	assert_int_equal(f->nb_graphs, 1);
	assert_int_equal(f->calls, 5);
	assert_int_equal(f->objs, 300);
	assert_int_equal(f->nb_edges, 3);
	assert_string_equal(f->edge_names[1], "t1");
	assert_string_equal(f->edge_names[2], "t0");
	for (uint16_t e = 0; e < 3; e++)
		assert_int_equal(f->edge_objs[e], 100);
	assert_true(f->cycles > 0);
	assert_int_equal(gt_stats_find(stats, "t0")->objs, 200);
	assert_int_equal(gt_stats_find(stats, "t0")->nb_edges, 0);
	assert_int_equal(gt_stats_find(stats, "t1")->objs, 100);
	weir_graph_cluster_destroy(cluster);
}

static void
test_sum_over_graphs(void **state)
{
	struct weir_graph_cluster *all = cluster_of("*"), *some = cluster_of("g-[12]");
	struct weir_graph_cluster *two = weir_graph_cluster_create(GT_NEXT("g-1", "g-*"), 2);

	(void)state;
	add_some();
	make("g-1", 64);
	make("g-2", 128);
	make("g-3", 256);
	make("other", 512);
	assert_int_equal(gt_stats_find(look(all), "f")->objs, 960);
	assert_int_equal(gt_stats_find(look(all), "f")->nb_graphs, 4);
	assert_int_equal(look(all)->nb_graphs, 4);
	assert_int_equal(look(all)->walks, 15);
	assert_int_equal(gt_stats_find(look(some), "f")->objs, 192);
	/* A graph that two patterns match counts once. */
	assert_int_equal(gt_stats_find(look(two), "f")->objs, 448);
	weir_graph_cluster_destroy(all);
	weir_graph_cluster_destroy(some);
	weir_graph_cluster_destroy(two);
	weir_graph_cluster_destroy(NULL);
	assert_null(weir_graph_cluster_create(NULL, 1));
	assert_int_equal(rte_errno, EINVAL);
	assert_null(weir_graph_cluster_create((const char *const[]){NULL}, 1));
}

/* What destroyed graphs counted stays; totals never shrink. */
static void
test_destroyed_graphs(void **state)
{
	struct weir_graph_cluster *cluster = cluster_of("g*"), *late;
	const struct weir_graph_cluster_stats *stats;

	(void)state;
	add_some();
	make("g-1", 300);
	make("g-2", 600);
	assert_int_equal(weir_graph_destroy(weir_graph_from_name("g-1")), 0);
	stats = look(cluster);
	assert_int_equal(stats->nb_graphs, 1);
	assert_int_equal(stats->walks, 15);
	assert_int_equal(gt_stats_find(stats, "f")->nb_graphs, 2);
	assert_int_equal(gt_stats_find(stats, "f")->objs, 900);
	assert_int_equal(gt_stats_find(stats, "f")->edge_objs[1], 300);
	assert_int_equal(weir_graph_destroy(weir_graph_from_name("g-2")), 0);
	assert_int_equal(gt_stats_find(look(cluster), "t0")->objs, 600);
	assert_int_equal(look(cluster)->nb_graphs, 0);
	/* One of the same name begins at zero and adds. */
	make("g-1", 3);
	assert_int_equal(gt_stats_find(look(cluster), "f")->objs, 903);
	assert_int_equal(look(cluster)->walks, 16);
	/* A cluster made later knows the living only. */
	late = cluster_of("g*");
	assert_int_equal(gt_stats_find(look(late), "f")->objs, 3);
	weir_graph_cluster_destroy(late);
	weir_graph_cluster_destroy(cluster);
}

static uint64_t
edge_total(const struct weir_graph_node_stats *node, const char *next, uint32_t *columns)
{
	uint64_t total = 0;

	*columns = 0;
	for (uint16_t e = 0; e < node->nb_edges; e++)
		if (strcmp(node->edge_names[e], next) == 0) {
			total += node->edge_objs[e];
			++*columns;
		}
	return total;
}

/* Graphs of one node whose edges were changed in between: columns are matched by name. */
static void
test_edges_changed(void **state)
{
	struct weir_graph_cluster *cluster = cluster_of("g*");
	const struct weir_graph_node_stats *f;
	uint32_t columns;

	(void)state;
	add_some();
	make("g-1", 300); /* t0 t1 t0 */
	assert_int_equal(weir_graph_node_edge_update(
				 weir_graph_node_from_name("f"), 0, GT_NEXT("t1", "t0", "t0"), 3),
		0);
	make("g-2", 300);
	assert_int_equal(weir_graph_node_edge_update(
				 weir_graph_node_from_name("f"), 0, GT_NEXT("t2", "t2", "t1"), 3),
		0);
	gt_add_sink("t2");
	make("g-3", 300);
	f = gt_stats_find(look(cluster), "f");
	assert_int_equal(edge_total(f, "t0", &columns), 400);
	assert_int_equal(columns, 2);
	assert_int_equal(edge_total(f, "t1", &columns), 300);
	assert_int_equal(columns, 1);
	assert_int_equal(edge_total(f, "t2", &columns), 200);
	assert_int_equal(columns, 2);
	assert_int_equal(f->nb_edges, 5);
	for (uint32_t id = 0; id < weir_graph_max_count(); id++)
		weir_graph_destroy(id);
	f = gt_stats_find(look(cluster), "f");
	assert_int_equal(edge_total(f, "t0", &columns), 400);
	assert_int_equal(edge_total(f, "t2", &columns), 200);
	weir_graph_cluster_destroy(cluster);
}

/* Reset is a view of one reader: nobody else sees it. */
static void
test_reset(void **state)
{
	struct weir_graph_cluster *cluster = cluster_of("g"), *other = cluster_of("g");
	const struct weir_graph_cluster_stats *stats;
	struct weir_graph *graph;

	(void)state;
	add_some();
	graph = make("g", 300);
	assert_int_equal(weir_graph_cluster_get_since_reset(cluster, &stats), 0);
	assert_int_equal(gt_stats_find(stats, "f")->objs, 300);
	assert_int_equal(weir_graph_cluster_reset(cluster), 0);
	assert_int_equal(weir_graph_cluster_get_since_reset(cluster, &stats), 0);
	assert_int_equal(stats->walks, 0);
	assert_int_equal(stats->busy_cycles, 0);
	assert_int_equal(gt_stats_find(stats, "f")->objs, 0);
	assert_int_equal(gt_stats_find(stats, "f")->calls, 0);
	assert_int_equal(gt_stats_find(stats, "f")->edge_objs[2], 0);
	gt_feed(graph, "s", 0, 9, 9);
	weir_graph_walk(graph);
	assert_int_equal(weir_graph_cluster_get_since_reset(cluster, &stats), 0);
	assert_int_equal(stats->walks, 1);
	assert_int_equal(gt_stats_find(stats, "f")->objs, 9);
	assert_int_equal(gt_stats_find(stats, "f")->edge_objs[2], 3);
	assert_int_equal(gt_stats_find(look(cluster), "f")->objs, 309);
	assert_int_equal(gt_stats_find(look(other), "f")->objs, 309);
	assert_int_equal(weir_graph_cluster_get_since_reset(other, &stats), 0);
	assert_int_equal(gt_stats_find(stats, "f")->objs, 309);
	/* What is destroyed stays in the view as well. */
	assert_int_equal(weir_graph_destroy(weir_graph_id(graph)), 0);
	assert_int_equal(weir_graph_cluster_get_since_reset(cluster, &stats), 0);
	assert_int_equal(gt_stats_find(stats, "f")->objs, 9);
	weir_graph_cluster_destroy(cluster);
	weir_graph_cluster_destroy(other);
}

static void
print_to(char *text, size_t size, struct weir_graph_cluster *cluster)
{
	FILE *out = fmemopen(text, size, "w");

	assert_int_equal(weir_graph_cluster_print(cluster, out), 0);
	fclose(out);
}

static void
test_table(void **state)
{
	struct weir_graph_cluster *cluster;
	unsigned long calls, objs, reallocs;
	double per_call, rate, cycles_call, cycles_obj;
	char text[8192];
	const char *row;

	(void)state;
	add_some();
	make("g", 300);
	cluster = cluster_of("g");
	print_to(text, sizeof(text), cluster);
	for (const char *const *column = GT_NEXT("calls", "objs", "reallocs", "objs/call",
		     "objs/sec(10E6)", "cycles/call", "cycles/obj", "5 walks", "1 walk in 64");
		*column != NULL; column++)
		assert_non_null(strstr(text, *column));
	row = strstr(text, "| f ");
	assert_non_null(row);
	assert_int_equal(sscanf(row, "| f | %lu | %lu | %lu | %lf | %lf | %lf | %lf |", &calls,
				 &objs, &reallocs, &per_call, &rate, &cycles_call, &cycles_obj),
		7);
	assert_int_equal(calls, 5);
	assert_int_equal(objs, 300);
	assert_true(per_call == 60);
	/* All of it was counted before the cluster was there: no rate. */
	assert_true(rate == 0);
	assert_true(cycles_call > 0 && cycles_obj > 0);
	weir_graph_cluster_destroy(cluster);
}

static double
number(const json_t *json, const char *key)
{
	const json_t *value = json_object_get(json, key);

	if (!json_is_number(value))
		fail_msg("no number '%s'", key);
	return json_number_value(value);
}

static const json_t *
json_node(const json_t *json, const char *name)
{
	const json_t *nodes = json_object_get(json, "nodes");

	for (size_t i = 0; i < json_array_size(nodes); i++) {
		const json_t *node = json_array_get(nodes, i);

		if (strcmp(json_string_value(json_object_get(node, "name")), name) == 0)
			return node;
	}
	fail_msg("no node '%s' in the JSON", name);
	return NULL;
}

static void
test_json(void **state)
{
	bool soon;
	struct weir_graph_cluster *cluster;
	const struct weir_graph_cluster_stats *stats;
	struct weir_graph *graph;
	json_t *json;

	(void)state;
	add_some();
	graph = make("g", 300);
	cluster = cluster_of("g");
	assert_int_equal(weir_graph_cluster_json(cluster, &json), 0);
	assert_true(number(json_node(json, "f"), "objs_per_sec") == 0);
	json_decref(json);

	gt_feed(graph, "s", 0, 60, 60);
	weir_graph_walk(graph);
	/* Too soon for a rate; these objects count in the next one. */
	assert_int_equal(weir_graph_cluster_json(cluster, &json), 0);
	soon = number(json, "interval_s") == 0;
	if (soon)
		assert_true(number(json_node(json, "f"), "objs_per_sec") == 0);
	json_decref(json);
	usleep(20000);
	stats = look(cluster);
	assert_int_equal(weir_graph_cluster_json(cluster, &json), 0);
	assert_true(number(json, "graphs") == 1);
	assert_true(number(json, "walks") == 6);
	assert_true(number(json, "idle_walks") == 0);
	assert_true(number(json, "busy_cycles") == (double)stats->busy_cycles);
	assert_true(number(json, "idle_cycles") == (double)stats->idle_cycles);
	assert_true(number(json, "cycles_hz") == (double)weir_base_cycles_hz());
	assert_true(number(json, "cycles_sampled_1_in") == 64);
	assert_true(number(json, "interval_s") >= 0.02);
	assert_true(number(json, "time_ns") > 0);
	for (uint32_t i = 0; i < stats->nb_nodes; i++) {
		const json_t *node = json_node(json, stats->nodes[i].name);

		assert_true(number(node, "graphs") == 1);
		assert_true(number(node, "calls") == (double)stats->nodes[i].calls);
		assert_true(number(node, "objs") == (double)stats->nodes[i].objs);
		assert_true(number(node, "cycles") == (double)stats->nodes[i].cycles);
		assert_true(number(node, "realloc_count") == (double)stats->nodes[i].realloc_count);
		assert_true(number(node, "overflow") == 0);
		number(node, "objs_per_call");
		number(node, "cycles_per_call");
		number(node, "cycles_per_obj");
	}
	/* 60 objects in the interval between the two looks. */
	assert_in_range((uint64_t)(number(json_node(json, "f"), "objs_per_sec") *
					   number(json, "interval_s") +
				   0.5),
		soon ? 60 : 0, soon ? 60 : 0);
	/* Two edges lead to t0: together 2/3. */
	assert_true(number(json_object_get(json_node(json, "f"), "edges"), "t0") == 240);
	assert_true(number(json_object_get(json_node(json, "f"), "edges"), "t1") == 120);
	assert_true(json_is_object(json_object_get(json_node(json, "f"), "xstats")));
	json_decref(json);
	weir_graph_cluster_destroy(cluster);
}

/* Graphviz itself reads it. @return nodes and edges that it found */
static void
dot_reads(const char *text, uint32_t nodes, uint32_t edges)
{
	char path[] = "/tmp/weir-graph-dot-XXXXXX", command[128], line[4096];
	int file = mkstemp(path);
	uint32_t found_nodes = 0, found_edges = 0;
	FILE *out;

	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
	snprintf(command, sizeof(command), "dot -Tplain %s", path);
	out = popen(command, "r");
	assert_non_null(out);
	while (fgets(line, sizeof(line), out) != NULL) {
		found_nodes += strncmp(line, "node ", 5) == 0;
		found_edges += strncmp(line, "edge ", 5) == 0;
	}
	assert_int_equal(pclose(out), 0);
	unlink(path);
	assert_int_equal(found_nodes, nodes);
	assert_int_equal(found_edges, edges);
}

static char *
exported(struct weir_graph_cluster *cluster, const char *name, uint32_t flags)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(cluster == NULL ? weir_graph_export(weir_graph_from_name(name), out, flags)
					 : weir_graph_cluster_export(cluster, name, out, flags),
		0);
	fclose(out);
	return text;
}

static void
test_dot(void **state)
{
	struct weir_graph_cluster *cluster = cluster_of("*");
	bool have_dot = system("dot -V >/dev/null 2>&1") == 0;
	char *plain, *counts, *both;
	FILE *full;

	(void)state;
	add_some();
	make("g", 3000);
	make("h", 3000);
	plain = exported(NULL, "g", 0);
	counts = exported(NULL, "g", WEIR_GRAPH_EXPORT_COUNTS);
	both = exported(cluster, "a \"name\" \\ with signs", WEIR_GRAPH_EXPORT_COUNTS);
	assert_non_null(strstr(plain, "\"f\" -> \"t1\""));
	assert_null(strstr(plain, "1,000"));
	assert_non_null(strstr(counts, "1,000"));
	assert_non_null(strstr(counts, "3,000 objs"));
	assert_non_null(strstr(both, "2,000"));
	if (have_dot) {
		dot_reads(plain, 4, 4);
		dot_reads(counts, 4, 4);
		dot_reads(both, 4, 4);
	}
	free(plain);
	free(counts);
	free(both);
	full = fopen("/dev/full", "w");
	assert_non_null(full);
	assert_int_equal(weir_graph_export(weir_graph_from_name("g"), full, 0), -EIO);
	fclose(full);
	weir_graph_cluster_destroy(cluster);
}

/* A cluster of thousands of nodes does not take quadratic time. */
static void
test_many_nodes(void **state)
{
	enum { NODES = 3000 };
	struct weir_graph_cluster *cluster = cluster_of("*");
	char name[16], next[16];

	(void)state;
	for (uint32_t i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		snprintf(next, sizeof(next), "n%u", i + 1);
		if (i == 0)
			gt_add_source(name, GT_NEXT(next));
		else if (i < NODES - 1)
			gt_add_forward(name, GT_NEXT(next));
		else
			gt_add_sink(name);
	}
	gt_graph("g", "n0", 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(look(cluster)->nb_nodes, NODES);
	weir_graph_cluster_destroy(cluster);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_exact, gt_clear),
		cmocka_unit_test_teardown(test_sum_over_graphs, gt_clear),
		cmocka_unit_test_teardown(test_destroyed_graphs, gt_clear),
		cmocka_unit_test_teardown(test_edges_changed, gt_clear),
		cmocka_unit_test_teardown(test_reset, gt_clear),
		cmocka_unit_test_teardown(test_table, gt_clear),
		cmocka_unit_test_teardown(test_json, gt_clear),
		cmocka_unit_test_teardown(test_dot, gt_clear),
		cmocka_unit_test_teardown(test_many_nodes, gt_clear),
	};

	return cmocka_run_group_tests(tests, gt_setup, gt_teardown);
}
