/* SPDX-License-Identifier: BSD-3-Clause */

/* Registered nodes: registration and its refusals, ids, clones, edges, dump. */

#include "graph_test.h"

static uint16_t
swallow(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	(void)graph;
	(void)node;
	(void)objs;
	return nb;
}

static struct weir_graph_node_register constructed = {
	WEIR_GRAPH_NODE_HEADER,
	.name = "constructed",
	.process = swallow,
	.nb_edges = 2,
	.next_nodes = (const char *const[]){"later", "even-later"},
};
WEIR_GRAPH_NODE_REGISTER(constructed);

/* Runs first: before main() the constructor has registered the node. */
static void
test_constructor(void **state)
{
	(void)state;
	assert_int_not_equal(constructed.id, WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(weir_graph_node_from_name("constructed"), constructed.id);
	assert_string_equal(weir_graph_node_name(constructed.id), "constructed");
	assert_int_equal(weir_graph_node_edge_count(constructed.id), 2);
	assert_int_equal(weir_graph_node_free(constructed.id), 0);
}

static struct weir_graph_node_register
plain(const char *name)
{
	return (struct weir_graph_node_register){
		WEIR_GRAPH_NODE_HEADER, .name = name, .process = swallow};
}

static void
refused(const struct weir_graph_node_register *reg, int error, const char *why)
{
	uint32_t before = weir_graph_node_max_count();

	gt_log_clear();
	rte_errno = 0;
	assert_int_equal(weir_graph_node_register(reg), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(rte_errno, error);
	assert_log_has(why);
	assert_int_equal(weir_graph_node_max_count(), before);
}

static void
test_register_refusals(void **state)
{
	struct weir_graph_node_register reg;

	(void)state;
	refused(NULL, EINVAL, "");
	reg = plain("n");
	reg.abi_version = WEIR_GRAPH_ABI_VERSION + 1;
	refused(&reg, EINVAL, "ABI version");
	reg = plain("n");
	reg.abi_version = 0;
	refused(&reg, EINVAL, "ABI version");
	reg = plain("n");
	reg.struct_size -= 8;
	refused(&reg, EINVAL, "struct_size");
	reg = plain("n");
	reg.process = NULL;
	refused(&reg, EINVAL, "process()");
	reg = plain("n");
	reg.flags = 1 << 7;
	refused(&reg, EINVAL, "flag");
	reg = plain("n");
	reg.nb_edges = 1;
	refused(&reg, EINVAL, "without its array");
	reg = plain("n");
	reg.nb_xstats = 1;
	refused(&reg, EINVAL, "without its array");
	reg.xstats = (const char *const[]){"a b"};
	refused(&reg, EINVAL, "'n'");
	reg = plain("n");
	reg.nb_edges = 2;
	reg.next_nodes = (const char *const[]){"fine", NULL};
	refused(&reg, EINVAL, "'n'");
	reg = plain("n");
	assert_int_not_equal(weir_graph_node_register(&reg), WEIR_GRAPH_NODE_INVALID);
	refused(&reg, EEXIST, "taken");
	assert_log_has("'n'");
}

static void
test_names(void **state)
{
	static const char *const bad[] = {
		"", " ", "a b", "a/b", "a\"b", "a\nb", "a*", "a[0]", "\xc3\xa9", "a\\"};
	char longest[WEIR_GRAPH_NAME_SIZE + 1];
	struct weir_graph_node_register reg = plain(NULL);

	(void)state;
	refused(&reg, EINVAL, "name");
	for (uint32_t i = 0; i < RTE_DIM(bad); i++) {
		reg = plain(bad[i]);
		refused(&reg, EINVAL, "name");
	}
	memset(longest, 'x', sizeof(longest));
	longest[WEIR_GRAPH_NAME_SIZE] = '\0';
	reg = plain(longest);
	refused(&reg, EINVAL, "too long");
	longest[WEIR_GRAPH_NAME_SIZE - 1] = '\0';
	reg = plain(longest);
	assert_string_equal(weir_graph_node_name(weir_graph_node_register(&reg)), longest);
	reg = plain("A_z-0.9");
	assert_int_not_equal(weir_graph_node_register(&reg), WEIR_GRAPH_NODE_INVALID);
}

/* Everything is copied: what was given may change afterwards. */
static void
test_register_copies(void **state)
{
	char name[] = "copied", next[] = "next", counter[] = "counter";
	const char *nexts[] = {next}, *counters[] = {counter};
	struct weir_graph_node_register reg = plain(name);
	uint32_t id;

	(void)state;
	reg.nb_edges = 1;
	reg.next_nodes = nexts;
	reg.nb_xstats = 1;
	reg.xstats = counters;
	id = weir_graph_node_register(&reg);
	name[0] = next[0] = counter[0] = 'X';
	assert_string_equal(weir_graph_node_name(id), "copied");
	assert_string_equal(weir_graph_node_edge_name(id, 0), "next");
}

static void
test_look_up(void **state)
{
	uint32_t a = gt_add_sink("a"), b = gt_add_sink("b");

	(void)state;
	assert_int_not_equal(a, b);
	assert_int_equal(weir_graph_node_from_name("a"), a);
	assert_int_equal(weir_graph_node_from_name("b"), b);
	assert_int_equal(weir_graph_node_from_name("c"), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(weir_graph_node_from_name(NULL), WEIR_GRAPH_NODE_INVALID);
	assert_null(weir_graph_node_name(weir_graph_node_max_count()));
	assert_null(weir_graph_node_name(WEIR_GRAPH_NODE_INVALID));
	assert_true(a < weir_graph_node_max_count() && b < weir_graph_node_max_count());
}

/* A freed id is given again, and nothing of its former node sticks to it. */
static void
test_id_reuse(void **state)
{
	uint32_t first = gt_add_forward("first", GT_NEXT("x", "y"));
	uint32_t child = weir_graph_node_clone(first, "child");
	uint32_t count = weir_graph_node_max_count();
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	assert_int_equal(weir_graph_node_ctx_set(first, "secret", 6), 0);
	assert_int_equal(weir_graph_node_free(first), 0);
	assert_null(weir_graph_node_name(first));
	assert_int_equal(weir_graph_node_from_name("first"), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(weir_graph_node_free(first), -ENOENT);
	assert_int_equal(weir_graph_node_edge_count(first), 0);

	assert_int_equal(gt_add_sink("second"), first);
	assert_int_equal(weir_graph_node_max_count(), count);
	assert_int_equal(weir_graph_node_edge_count(first), 0);
	assert_string_equal(weir_graph_node_name(first), "second");

	/* The clone's parent is gone; the new owner of its id is no parent. */
	out = open_memstream(&text, &size);
	assert_int_equal(weir_graph_node_dump(child, out), 0);
	fclose(out);
	assert_non_null(strstr(text, "first-child"));
	assert_null(strstr(text, "second"));
	free(text);
}

static int
init_checks_ctx(const struct weir_graph *graph, struct weir_graph_node *node)
{
	(void)graph;
	return node->ctx[0] == 'c' && node->ctx[1] == 't' && node->ctx[2] == 'x' ? 0 : -EBADF;
}

/* Clones have everything of their parent, and clones of clones. */
static void
test_clone(void **state)
{
	const char *const counters[] = {"hits"};
	struct weir_graph_node_register reg = plain("parent");
	const char *pattern = "parent-a-b";
	const struct weir_graph_param param = {.nb_node_patterns = 1, .node_patterns = &pattern};
	struct weir_graph_cluster *cluster;
	uint32_t parent, a, b;
	struct weir_graph *graph;

	(void)state;
	reg.flags = WEIR_GRAPH_NODE_SOURCE;
	reg.state_size = 100;
	reg.init = init_checks_ctx;
	reg.nb_edges = 1;
	reg.next_nodes = (const char *const[]){"end"};
	reg.nb_xstats = 1;
	reg.xstats = counters;
	parent = weir_graph_node_register(&reg);
	gt_add_sink("end");
	assert_int_equal(weir_graph_node_ctx_set(parent, "ctx", 3), 0);
	a = weir_graph_node_clone(parent, "a");
	b = weir_graph_node_clone(a, "b");
	assert_string_equal(weir_graph_node_name(a), "parent-a");
	assert_string_equal(weir_graph_node_name(b), "parent-a-b");
	assert_int_equal(weir_graph_node_edge_count(b), 1);
	assert_string_equal(weir_graph_node_edge_name(b, 0), "end");

	/* Each goes its own way: changes of one are not seen by the others. */
	assert_int_equal(weir_graph_node_edge_update(
				 a, WEIR_GRAPH_EDGE_INVALID, (const char *const[]){"end"}, 1),
		0);
	assert_int_equal(weir_graph_node_edge_count(a), 2);
	assert_int_equal(weir_graph_node_edge_count(b), 1);
	assert_int_equal(weir_graph_node_edge_count(parent), 1);
	assert_int_equal(weir_graph_node_free(parent), 0);
	assert_int_equal(weir_graph_node_free(a), 0);

	graph = weir_graph_get(weir_graph_create("g", &param));
	assert_non_null(graph);
	assert_int_equal(weir_graph_node_count(graph), 2);
	assert_non_null(weir_graph_node_at(graph, 0)->state);
	assert_true(weir_graph_node_at(graph, 0)->flags & WEIR_GRAPH_NODE_SOURCE);
	assert_int_equal(gt_stats("g", "parent-a-b", &cluster)->nb_xstats, 1);
	weir_graph_cluster_destroy(cluster);
}

static void
test_clone_refusals(void **state)
{
	uint32_t id = gt_add_sink("node");
	char suffix[WEIR_GRAPH_NAME_SIZE];

	(void)state;
	assert_int_not_equal(weir_graph_node_clone(id, "x"), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(weir_graph_node_clone(id, "x"), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(rte_errno, EEXIST);
	assert_log_has("node-x");
	assert_int_equal(weir_graph_node_clone(id + 100, "x"), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(rte_errno, ENOENT);
	assert_int_equal(weir_graph_node_clone(id, NULL), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(weir_graph_node_clone(id, "a b"), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(rte_errno, EINVAL);
	memset(suffix, 'y', sizeof(suffix));
	suffix[WEIR_GRAPH_NAME_SIZE - sizeof("node-") + 1] = '\0';
	assert_int_equal(weir_graph_node_clone(id, suffix), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(rte_errno, ENAMETOOLONG);
	suffix[WEIR_GRAPH_NAME_SIZE - sizeof("node-")] = '\0';
	assert_int_not_equal(weir_graph_node_clone(id, suffix), WEIR_GRAPH_NODE_INVALID);
}

static void
test_ctx(void **state)
{
	uint32_t id = gt_add_source("s", NULL);
	uint8_t template[WEIR_GRAPH_CTX_SIZE + 1];
	struct weir_graph *graph;

	(void)state;
	for (uint32_t i = 0; i < sizeof(template); i++)
		template[i] = (uint8_t)(i + 1);
	assert_int_equal(weir_graph_node_ctx_set(id, template, WEIR_GRAPH_CTX_SIZE + 1), -E2BIG);
	assert_int_equal(weir_graph_node_ctx_set(id + 100, template, 1), -ENOENT);
	assert_int_equal(weir_graph_node_ctx_set(id, NULL, 1), -EINVAL);
	assert_int_equal(weir_graph_node_ctx_set(id, template, WEIR_GRAPH_CTX_SIZE), 0);
	graph = gt_graph("g", "s", 0);
	assert_memory_equal(weir_graph_node_at(graph, 0)->ctx, template, WEIR_GRAPH_CTX_SIZE);
}

static void
assert_edges(uint32_t id, const char *const *names, uint16_t nb)
{
	const char *got[16] = {NULL};

	assert_int_equal(weir_graph_node_edge_count(id), nb);
	assert_int_equal(weir_graph_node_edge_get(id, got), nb);
	for (uint16_t i = 0; i < nb; i++) {
		assert_string_equal(got[i], names[i]);
		assert_string_equal(weir_graph_node_edge_name(id, i), names[i]);
	}
	assert_null(weir_graph_node_edge_name(id, nb));
}

static void
test_edges(void **state)
{
	uint32_t id = gt_add_forward("n", GT_NEXT("a", "b", "c"));
	const char *own[3];

	(void)state;
	assert_edges(id, GT_NEXT("a", "b", "c"), 3);
	assert_int_equal(weir_graph_node_edge_update(id, 1, GT_NEXT("B"), 1), 0);
	assert_edges(id, GT_NEXT("a", "B", "c"), 3);
	assert_int_equal(weir_graph_node_edge_update(id, 2, GT_NEXT("C", "D"), 2), 0);
	assert_edges(id, GT_NEXT("a", "B", "C", "D"), 4);
	assert_int_equal(
		weir_graph_node_edge_update(id, WEIR_GRAPH_EDGE_INVALID, GT_NEXT("e", "a"), 2), 0);
	assert_edges(id, GT_NEXT("a", "B", "C", "D", "e", "a"), 6);
	assert_int_equal(weir_graph_node_edge_update(id, 6, GT_NEXT("f"), 1), 0);
	assert_int_equal(weir_graph_node_edge_update(id, 7, NULL, 0), 0);
	assert_int_equal(weir_graph_node_edge_find(id, "a"), 0);
	assert_int_equal(weir_graph_node_edge_find(id, "f"), 6);
	assert_int_equal(weir_graph_node_edge_find(id, "nobody"), WEIR_GRAPH_EDGE_INVALID);
	assert_int_equal(weir_graph_node_edge_find(id, NULL), WEIR_GRAPH_EDGE_INVALID);
	assert_int_equal(weir_graph_node_edge_find(id + 100, "a"), WEIR_GRAPH_EDGE_INVALID);
	assert_int_equal(weir_graph_node_edge_shrink(id, 3), 0);
	assert_edges(id, GT_NEXT("a", "B", "C"), 3);

	/* A node's own names, as edge_get() hands them out, may be given back. */
	assert_int_equal(weir_graph_node_edge_get(id, own), 3);
	assert_int_equal(
		weir_graph_node_edge_update(id, 0, (const char *const[]){own[2], own[0]}, 2), 0);
	assert_edges(id, GT_NEXT("C", "a", "C"), 3);
	assert_int_equal(weir_graph_node_edge_shrink(id, 0), 0);
	assert_edges(id, NULL, 0);
	assert_int_equal(weir_graph_node_edge_update(id, 0, GT_NEXT("again"), 1), 0);
	assert_edges(id, GT_NEXT("again"), 1);
}

static void
test_edge_refusals(void **state)
{
	uint32_t id = gt_add_forward("n", GT_NEXT("a"));

	(void)state;
	assert_int_equal(weir_graph_node_edge_update(id + 100, 0, GT_NEXT("a"), 1), -ENOENT);
	assert_int_equal(weir_graph_node_edge_update(id, 2, GT_NEXT("a"), 1), -EINVAL);
	assert_int_equal(weir_graph_node_edge_update(id, 0, GT_NEXT("ok", "not ok"), 2), -EINVAL);
	assert_int_equal(weir_graph_node_edge_update(id, 0, NULL, 1), -EINVAL);
	assert_int_equal(weir_graph_node_edge_update(id, 0, GT_NEXT("a"), UINT16_MAX), -ENOSPC);
	assert_int_equal(weir_graph_node_edge_shrink(id + 100, 0), -ENOENT);
	assert_int_equal(weir_graph_node_edge_shrink(id, 2), -EINVAL);
	assert_edges(id, GT_NEXT("a"), 1); /* all or nothing */
}

/* As many edges as a decision can name, and not one more. */
static void
test_edges_most(void **state)
{
	static const char *names[UINT16_MAX];
	struct weir_graph_node_register reg = plain("too-many");
	uint32_t id = gt_add_forward("n", NULL);

	(void)state;
	for (uint32_t i = 0; i < RTE_DIM(names); i++)
		names[i] = "x";
	assert_int_equal(weir_graph_node_edge_update(id, 0, names, UINT16_MAX - 1), 0);
	assert_int_equal(weir_graph_node_edge_count(id), UINT16_MAX - 1);
	assert_int_equal(
		weir_graph_node_edge_update(id, WEIR_GRAPH_EDGE_INVALID, names, 1), -ENOSPC);
	assert_int_equal(weir_graph_node_edge_count(id), UINT16_MAX - 1);
	reg.nb_edges = UINT16_MAX;
	reg.next_nodes = names;
	refused(&reg, EINVAL, "edges");
}

static void
test_free_busy(void **state)
{
	uint32_t source = gt_add_source("s", GT_NEXT("t")), sink = gt_add_sink("t");
	uint32_t g = weir_graph_id(gt_graph("g", "s", 0));

	(void)state;
	assert_int_equal(weir_graph_node_free(sink), -EBUSY);
	assert_log_has("'t'");
	assert_int_equal(weir_graph_destroy(g), 0);
	assert_int_equal(weir_graph_node_free(sink), 0);
	/* The source still names it, so that another of that name may come. */
	assert_string_equal(weir_graph_node_edge_name(source, 0), "t");
	gt_add_sink("t");
	gt_graph("g", "s", 0);
}

static void
test_dump(void **state)
{
	uint32_t id = gt_add_forward("dumped", GT_NEXT("left", "right"));
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	weir_graph_node_clone(id, "two");
	assert_int_equal(weir_graph_node_dump(id, out), 0);
	fflush(out);
	assert_non_null(strstr(text, "dumped"));
	assert_non_null(strstr(text, "left"));
	assert_non_null(strstr(text, "right"));
	assert_null(strstr(text, "dumped-two"));
	assert_int_equal(weir_graph_node_dump(id + 100, out), -ENOENT);
	weir_graph_node_list_dump(out);
	fclose(out);
	assert_non_null(strstr(text, "dumped-two"));
	assert_non_null(strstr(text, "clone of <dumped>"));
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_constructor, gt_clear),
		cmocka_unit_test_teardown(test_register_refusals, gt_clear),
		cmocka_unit_test_teardown(test_names, gt_clear),
		cmocka_unit_test_teardown(test_register_copies, gt_clear),
		cmocka_unit_test_teardown(test_look_up, gt_clear),
		cmocka_unit_test_teardown(test_id_reuse, gt_clear),
		cmocka_unit_test_teardown(test_clone, gt_clear),
		cmocka_unit_test_teardown(test_clone_refusals, gt_clear),
		cmocka_unit_test_teardown(test_ctx, gt_clear),
		cmocka_unit_test_teardown(test_edges, gt_clear),
		cmocka_unit_test_teardown(test_edge_refusals, gt_clear),
		cmocka_unit_test_teardown(test_edges_most, gt_clear),
		cmocka_unit_test_teardown(test_free_busy, gt_clear),
		cmocka_unit_test_teardown(test_dump, gt_clear),
	};

	return cmocka_run_group_tests(tests, gt_setup_loaded, gt_teardown);
}
