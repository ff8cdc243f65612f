/* SPDX-License-Identifier: BSD-3-Clause */

/* Graphs: what they are made of, what is refused, clones, init() and fini(), adoption. */

#include "graph_test.h"

static uint32_t
create(const char *name, const char *const *patterns)
{
	struct weir_graph_param param = {.node_patterns = patterns};

	while (patterns != NULL && patterns[param.nb_node_patterns] != NULL)
		param.nb_node_patterns++;
	gt_log_clear();
	rte_errno = 0;
	return weir_graph_create(name, &param);
}

static void
refused(const char *name, const char *const *patterns, int error, const char *why)
{
	assert_int_equal(create(name, patterns), WEIR_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, error);
	assert_log_has(why);
}

/*  s1 -> a -> b -> end    s2 -> b    alone */
static void
add_some(void)
{
	gt_add_sink("end");
	gt_add_forward("b", GT_NEXT("end"));
	gt_add_forward("a", GT_NEXT("b", "end"));
	gt_add_source("s1", GT_NEXT("a"));
	gt_add_source("s2", GT_NEXT("b"));
	gt_add_sink("alone");
}

static void
assert_topological(const struct weir_graph *graph)
{
	struct weir_graph_node *node;
	uint32_t i;

	weir_graph_foreach_node (i, graph, node) {
		assert_int_equal(node->pos, i);
		for (uint16_t e = 0; e < node->nb_edges; e++)
			assert_true(weir_graph_next(node, e)->pos > i);
	}
	assert_int_equal(i, weir_graph_node_count(graph));
}

static void
test_create_and_look_up(void **state)
{
	const struct weir_graph_node *a;
	struct weir_graph *graph;
	uint32_t id;

	(void)state;
	add_some();
	id = create("g", GT_NEXT("s1"));
	graph = weir_graph_get(id);
	assert_non_null(graph);
	assert_ptr_equal(weir_graph_lookup("g"), graph);
	assert_int_equal(weir_graph_from_name("g"), id);
	assert_int_equal(weir_graph_id(graph), id);
	assert_string_equal(weir_graph_name(id), "g");
	assert_true(id < weir_graph_max_count());
	assert_null(weir_graph_lookup("h"));
	assert_null(weir_graph_lookup(NULL));
	assert_null(weir_graph_get(id + 100));
	assert_null(weir_graph_name(id + 100));
	assert_int_equal(weir_graph_from_name("h"), WEIR_GRAPH_ID_INVALID);
	assert_int_equal(weir_graph_from_name(NULL), WEIR_GRAPH_ID_INVALID);

	/* What edges reach has come along, and nothing else. */
	assert_int_equal(weir_graph_node_count(graph), 4);
	assert_topological(graph);
	assert_string_equal(weir_graph_node_name_of(graph, weir_graph_node_at(graph, 0)), "s1");
	assert_null(weir_graph_node_at(graph, 4));
	a = weir_graph_node_get_by_name(graph, "a");
	assert_non_null(a);
	assert_ptr_equal(weir_graph_node_get(graph, weir_graph_node_from_name("a")), a);
	assert_string_equal(weir_graph_node_name_of(graph, a), "a");
	assert_ptr_equal(weir_graph_next(a, 0), weir_graph_node_get_by_name(graph, "b"));
	assert_null(weir_graph_node_get_by_name(graph, "s2"));
	assert_null(weir_graph_node_get(graph, weir_graph_node_from_name("s2")));
	assert_null(weir_graph_node_get(graph, WEIR_GRAPH_NODE_INVALID));
	assert_int_equal(graph->burst, WEIR_GRAPH_BURST_DEFAULT);
}

static void
test_patterns(void **state)
{
	struct weir_graph *graph;

	(void)state;
	add_some();
	graph = weir_graph_get(create("g", GT_NEXT("s[12]", "?", "s1", "s*")));
	assert_non_null(graph);
	assert_int_equal(weir_graph_node_count(graph), 5);
	assert_int_equal(graph->nb_sources, 2);
	assert_topological(graph);
	refused("h", GT_NEXT("s1", "alone"), EINVAL, "'alone'");
	assert_log_has("isolated");
	refused("h", GT_NEXT("*"), EINVAL, "'alone'");
	refused("h", GT_NEXT("s1", "zzz*"), EINVAL, "'zzz*'");
	refused("h", GT_NEXT("a"), EINVAL, "");
	assert_non_null(strstr(gt_log_last(), "source"));
}

static void
test_refusals(void **state)
{
	struct weir_graph_param param = {
		.nb_node_patterns = 1, .node_patterns = GT_NEXT("s1"), .burst = 4097};
	char name[WEIR_GRAPH_NAME_SIZE + 1];

	(void)state;
	add_some();
	refused(NULL, GT_NEXT("s1"), EINVAL, "name");
	refused("", GT_NEXT("s1"), EINVAL, "name");
	refused("a b", GT_NEXT("s1"), EINVAL, "a b");
	memset(name, 'g', sizeof(name));
	name[WEIR_GRAPH_NAME_SIZE] = '\0';
	refused(name, GT_NEXT("s1"), EINVAL, "too long");
	name[WEIR_GRAPH_NAME_SIZE - 1] = '\0';
	assert_int_not_equal(create(name, GT_NEXT("s1")), WEIR_GRAPH_ID_INVALID);
	refused("g", NULL, EINVAL, "pattern");
	assert_int_equal(weir_graph_create("g", &param), WEIR_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EINVAL);
	assert_log_has("burst");
	param.burst = 0;
	param.node_patterns = (const char *const[]){NULL};
	assert_int_equal(weir_graph_create("g", &param), WEIR_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(weir_graph_create("g", NULL), WEIR_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_not_equal(create("g", GT_NEXT("s1")), WEIR_GRAPH_ID_INVALID);
	refused("g", GT_NEXT("s1"), EEXIST, "'g'");
	assert_int_equal(weir_graph_destroy(1000), -ENOENT);
	assert_int_equal(weir_graph_dump(1000, stdout), -ENOENT);
	assert_int_equal(weir_graph_export(1000, stdout, 0), -ENOENT);
}

/* An edge that leads nowhere, or to a source, and a cycle that no source reaches. */
static void
test_refused_edges(void **state)
{
	(void)state;
	gt_add_source("s", GT_NEXT("a"));
	gt_add_forward("a", GT_NEXT("ghost"));
	refused("g", GT_NEXT("s"), EINVAL, "'ghost'");
	assert_log_has("'a'");
	gt_add_forward("ghost", GT_NEXT("s"));
	refused("g", GT_NEXT("s"), EINVAL, "'ghost'");
	assert_int_equal(weir_graph_node_edge_update(
				 weir_graph_node_from_name("ghost"), 0, GT_NEXT("ghost"), 1),
		0);
	gt_add_forward("loop1", GT_NEXT("loop2"));
	gt_add_forward("loop2", GT_NEXT("loop1"));
	refused("g", GT_NEXT("s", "loop1"), EINVAL, "isolated");
	/* Nothing of refused graphs holds a node. */
	for (uint32_t id = 0; id < weir_graph_node_max_count(); id++)
		assert_int_not_equal(weir_graph_node_free(id), -EBUSY);
}

/* Where there are no hugepages all memory is alike, otherwise no such socket is an error. */
static void
test_socket(void **state)
{
	struct weir_graph_param param = {
		.nb_node_patterns = 1, .node_patterns = GT_NEXT("s1"), .socket_id = 7777};

	(void)state;
	add_some();
	if (weir_graph_create("nowhere", &param) == WEIR_GRAPH_ID_INVALID)
		assert_log_has("'nowhere'");
	param.socket_id = -1;
	assert_int_not_equal(weir_graph_create("g", &param), WEIR_GRAPH_ID_INVALID);
}

static void
test_id_reuse(void **state)
{
	uint32_t first, second, count;

	(void)state;
	add_some();
	first = create("first", GT_NEXT("s1"));
	second = create("second", GT_NEXT("s1"));
	count = weir_graph_max_count();
	assert_int_not_equal(first, second);
	assert_int_equal(weir_graph_destroy(first), 0);
	assert_int_equal(weir_graph_destroy(first), -ENOENT);
	assert_null(weir_graph_get(first));
	assert_null(weir_graph_name(first));
	assert_int_equal(weir_graph_from_name("first"), WEIR_GRAPH_ID_INVALID);
	assert_int_equal(create("third", GT_NEXT("s2")), first);
	assert_int_equal(weir_graph_max_count(), count);
	assert_string_equal(weir_graph_name(first), "third");
	assert_int_equal(weir_graph_node_count(weir_graph_get(first)), 3);
}

static void
test_clone(void **state)
{
	const struct weir_graph_param param = {.nb_node_patterns = 1,
		.node_patterns = GT_NEXT("s*"),
		.burst = 32,
		.clock_period = 7,
		.socket_id = -1};
	struct weir_graph *clone;
	uint32_t parent, id;
	char suffix[WEIR_GRAPH_NAME_SIZE];

	(void)state;
	add_some();
	parent = weir_graph_create("g", &param);
	/* It matches the parent's pattern, but came later: a clone is made of the same nodes. */
	gt_add_source("s3", GT_NEXT("alone"));
	id = weir_graph_clone(weir_graph_clone(parent, "1"), "2");
	assert_string_equal(weir_graph_name(id), "g-1-2");
	clone = weir_graph_get(id);
	assert_int_equal(weir_graph_node_count(clone), 5);
	assert_null(weir_graph_node_get_by_name(clone, "s3"));
	assert_int_equal(clone->burst, 32);
	for (uint32_t i = 0; i < 5; i++) {
		struct weir_graph_node *ours = weir_graph_node_at(clone, i);
		struct weir_graph_node *theirs = weir_graph_node_at(weir_graph_get(parent), i);

		assert_ptr_not_equal(ours, theirs);
		assert_ptr_not_equal(ours->state, theirs->state);
		assert_string_equal(weir_graph_node_name_of(clone, ours),
			weir_graph_node_name_of(weir_graph_get(parent), theirs));
	}
	assert_int_equal(weir_graph_clone(parent, "1"), WEIR_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EEXIST);
	assert_int_equal(weir_graph_clone(1000, "1"), WEIR_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, ENOENT);
	assert_int_equal(weir_graph_clone(parent, NULL), WEIR_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EINVAL);
	memset(suffix, 'x', sizeof(suffix));
	suffix[WEIR_GRAPH_NAME_SIZE - 2] = '\0';
	assert_int_equal(weir_graph_clone(parent, suffix), WEIR_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, ENAMETOOLONG);
	/* A clone outlives its parent. */
	assert_int_equal(weir_graph_destroy(parent), 0);
	gt_feed(clone, "s1", 1, 10, 10);
	weir_graph_walk(clone);
	gt_assert_sequence(clone, "end", 1, 10, 1);
}

/* What init() and fini() were called for, as text. */
static char calls[256];
static char fails[8];

static void
note(char what, const struct weir_graph *graph, const struct weir_graph_node *node)
{
	size_t length = strlen(calls);

	snprintf(calls + length, sizeof(calls) - length, "%c%s ", what,
		weir_graph_node_name_of(graph, node));
}

static int
init_notes(const struct weir_graph *graph, struct weir_graph_node *node)
{
	note('+', graph, node);
	return strcmp(weir_graph_node_name_of(graph, node), fails) == 0 ? -EDOM : 0;
}

static void
fini_notes(const struct weir_graph *graph, struct weir_graph_node *node)
{
	note('-', graph, node);
}

static uint16_t
nothing(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	(void)graph;
	(void)node;
	(void)objs;
	return nb;
}

static void
add_noting(const char *name, uint32_t flags, const char *const *next)
{
	const struct weir_graph_node_register reg = {
		WEIR_GRAPH_NODE_HEADER,
		.name = name,
		.flags = flags,
		.process = nothing,
		.init = init_notes,
		.fini = fini_notes,
		.nb_edges = next == NULL ? 0 : 1,
		.next_nodes = next,
	};

	assert_int_not_equal(weir_graph_node_register(&reg), WEIR_GRAPH_NODE_INVALID);
}

static void
test_init_fini(void **state)
{
	uint32_t id;

	(void)state;
	add_noting("x", WEIR_GRAPH_NODE_SOURCE, GT_NEXT("y"));
	add_noting("y", 0, GT_NEXT("z"));
	add_noting("z", 0, NULL);
	calls[0] = '\0';
	strcpy(fails, "");
	id = create("g", GT_NEXT("x"));
	assert_string_equal(calls, "+x +y +z ");
	assert_int_equal(weir_graph_destroy(id), 0);
	assert_string_equal(calls, "+x +y +z -z -y -x ");

	/* An init() that fails midway: fini() of those that were done, in reverse. */
	calls[0] = '\0';
	strcpy(fails, "z");
	refused("g", GT_NEXT("x"), EDOM, "'z'");
	assert_string_equal(calls, "+x +y +z -y -x ");
	calls[0] = '\0';
	strcpy(fails, "x");
	refused("g", GT_NEXT("x"), EDOM, "'x'");
	assert_string_equal(calls, "+x ");
	assert_null(weir_graph_lookup("g"));
	assert_int_equal(weir_graph_node_free(weir_graph_node_from_name("y")), 0);
}

static uint32_t id_in_init;
static bool found_in_init;

static int
init_looks(const struct weir_graph *graph, struct weir_graph_node *node)
{
	(void)node;
	id_in_init = weir_graph_id(graph);
	found_in_init = weir_graph_get(id_in_init) == graph;
	return weir_graph_node_edge_count(weir_graph_node_from_name("looks")) == 0 ? 0 : -1;
}

/* init() may use all of the API but creating and destroying; it knows its graph's id. */
static void
test_init_uses_api(void **state)
{
	const struct weir_graph_node_register reg = {
		WEIR_GRAPH_NODE_HEADER,
		.name = "looks",
		.flags = WEIR_GRAPH_NODE_SOURCE,
		.process = nothing,
		.init = init_looks,
	};

	(void)state;
	weir_graph_node_register(&reg);
	for (int i = 0; i < 3; i++) {
		char name[] = {'g', (char)('0' + i), '\0'};
		uint32_t id = create(name, GT_NEXT("looks"));

		assert_int_not_equal(id, WEIR_GRAPH_ID_INVALID);
		assert_int_equal(id_in_init, id);
		assert_true(found_in_init);
	}
}

struct carried {
	uint64_t value;
	uint8_t rest[200];
};

static int
adopt(struct weir_graph_node *old_node, struct weir_graph_node *new_node)
{
	const struct carried *old = old_node->state;
	struct carried *new = new_node->state;

	if (old->value == 666)
		return -EDOM;
	new->value = old->value;
	return 0;
}

static struct carried *
carried(uint32_t graph, const char *node)
{
	return weir_graph_node_get_by_name(weir_graph_get(graph), node)->state;
}

static void
test_state_and_adopt(void **state)
{
	struct weir_graph_node_register reg = {
		WEIR_GRAPH_NODE_HEADER,
		.name = "s",
		.flags = WEIR_GRAPH_NODE_SOURCE,
		.process = nothing,
		.state_size = sizeof(struct carried),
		.adopt = adopt,
	};
	uint32_t old, new;

	(void)state;
	weir_graph_node_register(&reg);
	reg.name = "only-new";
	weir_graph_node_register(&reg);
	reg.name = "no-adopt";
	reg.adopt = NULL;
	weir_graph_node_register(&reg);
	old = create("old", GT_NEXT("s", "no-adopt"));
	new = create("new", GT_NEXT("s", "only-new", "no-adopt"));
	assert_int_equal((uintptr_t)carried(new, "s") % RTE_CACHE_LINE_SIZE, 0);
	assert_int_equal(carried(new, "s")->value, 0);
	assert_int_equal(carried(new, "s")->rest[199], 0);
	carried(old, "s")->value = 42;
	carried(old, "no-adopt")->value = 43;
	carried(new, "only-new")->value = 44;
	assert_int_equal(weir_graph_adopt(old, new), 0);
	assert_int_equal(carried(new, "s")->value, 42);
	assert_int_equal(carried(new, "no-adopt")->value, 0);
	assert_int_equal(carried(new, "only-new")->value, 44);
	carried(old, "s")->value = 666;
	assert_int_equal(weir_graph_adopt(old, new), -EDOM);
	assert_log_has("'s'");
	assert_int_equal(weir_graph_adopt(old, 1000), -ENOENT);
	assert_int_equal(weir_graph_adopt(1000, new), -ENOENT);
	assert_int_equal(weir_graph_adopt(old, old), -EINVAL);
}

/* A random graph without cycles, whatever the order of registration. */
static void
test_topological(void **state)
{
	enum { NODES = 200 };
	uint32_t place[NODES];
	char name[16], next[4][32];

	(void)state;
	srand(7);
	for (uint32_t i = 0; i < NODES; i++)
		place[i] = i;
	for (uint32_t i = NODES - 1; i > 0; i--) {
		uint32_t j = (uint32_t)rand() % (i + 1), swap = place[i];

		place[i] = place[j];
		place[j] = swap;
	}
	for (uint32_t i = 0; i < NODES; i++) {
		uint32_t above = NODES - 1 - place[i];
		const char *names[5] = {NULL};

		snprintf(name, sizeof(name), "n%u", place[i]);
		for (uint32_t e = 0; e < 4 && above > 0; e++) {
			uint32_t to = place[i] + 1 + (uint32_t)rand() % above;

			snprintf(next[e], sizeof(next[e]), "n%u", to < 10 ? 10 : to);
			names[e] = next[e];
		}
		if (place[i] < 10)
			gt_add_source(name, names);
		else
			gt_add_forward(name, names);
	}
	/* Some may be reached by no source: then they are sources' next nodes by one more edge each. */
	for (uint32_t i = 10; i < NODES; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		weir_graph_node_edge_update(weir_graph_node_from_name("n0"),
			WEIR_GRAPH_EDGE_INVALID, (const char *const[]){name}, 1);
	}
	assert_topological(gt_graph("g", "n*", 0));
	assert_int_equal(weir_graph_lookup("g")->has_cycle, 0);
}

static void
test_thousands_of_nodes(void **state)
{
	enum { NODES = 5000 };
	struct weir_graph *graph;
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
	graph = gt_graph("g", "n0", 64);
	assert_int_equal(weir_graph_node_count(graph), NODES);
	assert_topological(graph);
	gt_feed(graph, "n0", 1, 100, 50);
	weir_graph_walk(graph);
	weir_graph_walk(graph);
	snprintf(name, sizeof(name), "n%u", NODES - 1);
	gt_assert_sequence(graph, name, 1, 100, 1);
}

static uint16_t
decide_by_number(const struct gt_forward *forward, void *obj)
{
	(void)forward;
	return (uint16_t)(gt_num(obj) % 3000);
}

static void
test_thousands_of_edges(void **state)
{
	enum { EDGES = 3000, OBJS = 10000 };
	static char names[EDGES][16];
	const char *next[EDGES + 1];
	struct gt_forward *forward;
	struct weir_graph *graph;
	const struct weir_graph_node *hub;

	(void)state;
	for (uint32_t i = 0; i < EDGES; i++) {
		snprintf(names[i], sizeof(names[i]), "t%u", i);
		next[i] = names[i];
		gt_add_sink(names[i]);
	}
	next[EDGES] = NULL;
	gt_add_source("s", GT_NEXT("hub"));
	gt_add_forward("hub", next);
	graph = gt_graph("g", "s", 0);
	forward = gt_state(graph, "hub");
	forward->pass = gt_pass_nexts;
	forward->decide = decide_by_number;
	gt_feed(graph, "s", EDGES, OBJS, 256);
	for (uint32_t i = 0; i < OBJS / 256 + 1; i++)
		weir_graph_walk(graph);
	hub = weir_graph_node_get_by_name(graph, "hub");
	for (uint32_t i = 0; i < EDGES; i++) {
		size_t nb = OBJS / EDGES + (i < OBJS % EDGES);

		gt_assert_sequence(graph, names[i], EDGES + i, nb, EDGES);
		assert_int_equal(hub->edges[i].nb_objs, nb);
	}
}

static void
test_dump(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	uint32_t id;

	(void)state;
	add_some();
	id = create("first", GT_NEXT("s1"));
	create("second", GT_NEXT("s2"));
	assert_int_equal(weir_graph_dump(id, out), 0);
	fflush(out);
	assert_non_null(strstr(text, "<first>: 4 nodes"));
	assert_non_null(strstr(text, "<s1>"));
	assert_null(strstr(text, "<s2>"));
	weir_graph_list_dump(out);
	fclose(out);
	assert_non_null(strstr(text, "<second>: 3 nodes"));
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_create_and_look_up, gt_clear),
		cmocka_unit_test_teardown(test_patterns, gt_clear),
		cmocka_unit_test_teardown(test_refusals, gt_clear),
		cmocka_unit_test_teardown(test_refused_edges, gt_clear),
		cmocka_unit_test_teardown(test_socket, gt_clear),
		cmocka_unit_test_teardown(test_id_reuse, gt_clear),
		cmocka_unit_test_teardown(test_clone, gt_clear),
		cmocka_unit_test_teardown(test_init_fini, gt_clear),
		cmocka_unit_test_teardown(test_init_uses_api, gt_clear),
		cmocka_unit_test_teardown(test_state_and_adopt, gt_clear),
		cmocka_unit_test_teardown(test_topological, gt_clear),
		cmocka_unit_test_teardown(test_thousands_of_nodes, gt_clear),
		cmocka_unit_test_teardown(test_thousands_of_edges, gt_clear),
		cmocka_unit_test_teardown(test_dump, gt_clear),
	};

	return cmocka_run_group_tests(tests, gt_setup, gt_teardown);
}
