/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Random graphs with random decisions deliver exactly what a naive model says: the same
 * objects at each sink, as many along each edge, and in the order in which they
 * took it.
 *
 * The model keeps each node's waiting objects in a plain list; per round it visits the lowest
 * waiting node, one object after the other. Both sides share one function of object and
 * node: where to, and in how many copies. Where two edges of a node lead to one next
 * node, objects of both may arrive in another order than they took them: in
 * such graphs what arrived is compared as a set.
 *
 * WEIR_TEST_SEED=N runs graph N alone; WEIR_TEST_LONG=1 runs many more.
 */

#include <stdio.h>

#include "graph_test.h"

#define MAX_NODES 90
#define MAX_EDGES 300
#define HOPS      12 /* an object goes along so many edges at most: cycles end */

/* What an object is: who it is, and the hops it has left. Bits of a pointer. */
static uint64_t
obj_make(uint64_t serial, uint32_t hops)
{
	return serial << 8 | hops;
}

static uint32_t
obj_hops(uint64_t obj)
{
	return obj & 0xff;
}

/* A well-mixed number of what a decision depends on. */
static uint64_t
mix(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0x9e3779b97f4a7c15u ^ b * 0xbf58476d1ce4e5b9u;

	x ^= x >> 31;
	x *= 0x94d049bb133111ebu;
	return x ^ x >> 29;
}

/* Objects along an edge, or waiting for a node: a list that grows. */
struct list {
	uint64_t *objs;
	size_t nb, room;
};

static void
list_add(struct list *list, uint64_t obj)
{
	if (list->nb == list->room) {
		list->room = list->room * 2 + 16;
		list->objs = realloc(list->objs, list->room * sizeof(*list->objs));
		if (list->objs == NULL)
			abort();
	}
	list->objs[list->nb++] = obj;
}

/* How a node passes objects on. */
enum manner { BY_NEXTS, BY_X1, BY_RUNS, BY_STREAM, BY_MOVE, NB_MANNERS };

struct model_node {
	char name[16];
	bool source;
	enum manner manner;
	uint16_t nb_edges;
	uint16_t edges[MAX_EDGES]; /* numbers of next nodes */
	uint32_t skew;             /* of 100 objects so many take edge 0 */
	uint32_t fan_out;          /* one of 8 objects leaves in so many copies; 0: is swallowed */
	struct list waiting;       /* model: stream */
	uint64_t nb_objs;          /* model: objects seen */
	uint64_t edge_objs[MAX_EDGES];
	struct list arrived; /* model: at a sink */
	struct list seen;    /* walk: at a sink */
	uint32_t per_walk;   /* of a source */
};

static struct model {
	uint64_t seed;
	uint64_t serial; /* of the next object from a source */
	uint32_t nb_nodes, nb_sources;
	uint16_t burst;
	bool parallel; /* two edges of a node may lead to one next node */
	struct model_node nodes[MAX_NODES];
} model;

static uint64_t random_state;

static uint32_t
random_below(uint32_t bound)
{
	random_state = mix(random_state, 0x1234567);
	return (uint32_t)(random_state >> 20) % bound;
}

/* Where an object goes at a node; the object as it leaves goes into *out. */
static uint16_t
decide(const struct model_node *node, uint64_t obj, uint64_t *out)
{
	uint64_t h = mix(obj ^ model.seed, (uint64_t)(node - model.nodes));

	*out = obj - 1; /* one hop fewer */
	if (node->manner == BY_MOVE)
		return 0;
	return (uint16_t)(h % 100 < node->skew ? 0 : (h >> 8) % node->nb_edges);
}

static uint32_t
copies(const struct model_node *node, uint64_t obj)
{
	if (node->manner != BY_X1 && node->manner != BY_RUNS)
		return 1;
	return mix(obj, model.seed + 7) % 8 == 0 ? node->fan_out : 1;
}

/* Out of hops, or at a node without edges: the object ends here. */
static bool
ends(const struct model_node *node, uint64_t obj)
{
	return node->nb_edges == 0 || obj_hops(obj) == 0;
}

/* --- the graph's side --- */

static const struct model_node *
node_model(const struct weir_graph_node *node)
{
	const struct model_node *model_node;

	memcpy(&model_node, node->ctx, sizeof(model_node));
	return model_node;
}

/* Take out those that end here. @return how many are left, in order */
static uint16_t
keep_going(struct model_node *node, void **objs, uint16_t nb)
{
	uint16_t left = 0;

	for (uint16_t i = 0; i < nb; i++) {
		if (ends(node, gt_num(objs[i])))
			list_add(&node->seen, gt_num(objs[i]));
		else
			objs[left++] = objs[i];
	}
	return left;
}

static void
pass_runs(struct weir_graph *graph, struct weir_graph_node *node, uint16_t edge, void *obj,
	uint32_t n)
{
	void *run[4] = {obj, obj, obj, obj};

	if (n == 4)
		weir_graph_enqueue_x4(graph, node, edge, obj, obj, obj, obj);
	else if (n == 2)
		weir_graph_enqueue_x2(graph, node, edge, obj, obj);
	else
		weir_graph_enqueue(graph, node, edge, run, n);
}

static void
pass_one(struct weir_graph *graph, struct weir_graph_node *node, const struct model_node *m,
	void *obj)
{
	uint64_t out;
	uint16_t edge = decide(m, gt_num(obj), &out);
	uint32_t n = copies(m, gt_num(obj));
	void **to;

	if (m->manner == BY_RUNS) {
		pass_runs(graph, node, edge, gt_obj(out), n);
	} else if (m->manner == BY_X1) {
		while (n-- > 0)
			weir_graph_enqueue_x1(graph, node, edge, gt_obj(out));
	} else {
		to = weir_graph_stream_get(graph, node, edge, 1);
		assert_non_null(to);
		*to = gt_obj(out);
		weir_graph_stream_put(graph, node, edge, 1);
	}
}

static uint16_t
process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	struct model_node *m = (struct model_node *)(uintptr_t)node_model(node);
	uint16_t *nexts = weir_graph_nexts(graph);
	uint16_t left = keep_going(m, objs, nb);
	uint64_t out;

	assert_in_range(nb, 1, graph->burst);
	if (m->manner == BY_MOVE && left == nb) {
		for (uint16_t i = 0; i < nb; i++)
			objs[i] = gt_obj(gt_num(objs[i]) - 1);
		weir_graph_stream_move(graph, node, 0);
	} else if (m->manner == BY_NEXTS || m->manner == BY_MOVE) {
		for (uint16_t i = 0; i < left; i++) {
			nexts[i] = decide(m, gt_num(objs[i]), &out);
			objs[i] = gt_obj(out);
		}
		weir_graph_enqueue_nexts(graph, node, objs, nexts, left);
	} else {
		for (uint16_t i = 0; i < left; i++)
			pass_one(graph, node, m, objs[i]);
	}
	return nb;
}

static uint16_t
source_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	struct model_node *m = (struct model_node *)(uintptr_t)node_model(node);
	void *in[512];

	(void)objs;
	(void)nb;
	for (uint32_t i = 0; i < m->per_walk; i++)
		in[i] = gt_obj(obj_make(model.serial++, HOPS));
	for (uint32_t i = 0; i < m->per_walk; i++)
		if (m->manner != BY_NEXTS)
			pass_one(graph, node, m, in[i]);
	if (m->manner == BY_NEXTS && m->per_walk > 0) {
		uint16_t nexts[512 + 64];

		for (uint32_t i = 0; i < m->per_walk; i++) {
			uint64_t out;

			nexts[i] = decide(m, gt_num(in[i]), &out);
			in[i] = gt_obj(out);
		}
		weir_graph_enqueue_nexts(graph, node, in, nexts, m->per_walk);
	}
	return (uint16_t)m->per_walk;
}

/* --- the model's side --- */

static void
model_pass(struct model_node *node, uint64_t obj)
{
	uint64_t out;
	uint16_t edge = decide(node, obj, &out);

	for (uint32_t n = copies(node, obj); n > 0; n--) {
		node->edge_objs[edge]++;
		list_add(&model.nodes[node->edges[edge]].waiting, out);
	}
}

static void
model_visit(struct model_node *node)
{
	struct list now = node->waiting;

	node->waiting = (struct list){0};
	for (size_t i = 0; i < now.nb; i++) {
		node->nb_objs++;
		if (ends(node, now.objs[i]))
			list_add(&node->arrived, now.objs[i]);
		else
			model_pass(node, now.objs[i]);
	}
	free(now.objs);
}

/* Visit the lowest waiting node until none is; @order: nodes by place in the graph's walking order. */
static void
model_drain(struct model_node *const *order)
{
	for (uint32_t i = 0; i < model.nb_nodes; i++)
		if (order[i]->waiting.nb > 0) {
			model_visit(order[i]);
			i = UINT32_MAX; /* from the lowest again */
		}
}

static void
model_walk(struct model_node *const *order)
{
	uint64_t waiting = 0;

	for (uint32_t s = 0; s < model.nb_sources; s++) {
		struct model_node *node = order[s];

		for (uint32_t i = 0; i < node->per_walk; i++)
			model_pass(node, obj_make(model.serial++, HOPS));
		node->nb_objs += node->per_walk;
		waiting += node->per_walk;
		if (waiting >= model.burst) {
			model_drain(order);
			waiting = 0;
		}
	}
	model_drain(order);
}

/* --- random graphs --- */

static void
drop_parallel_edges(struct model_node *node)
{
	bool seen[MAX_NODES] = {false};
	uint16_t nb = 0;

	for (uint16_t e = 0; e < node->nb_edges; e++) {
		if (!seen[node->edges[e]])
			node->edges[nb++] = node->edges[e];
		seen[node->edges[e]] = true;
	}
	node->nb_edges = nb;
}

static void
random_node(uint32_t i, bool cycles)
{
	struct model_node *node = &model.nodes[i];
	uint32_t inner = model.nb_nodes - model.nb_sources;

	snprintf(node->name, sizeof(node->name), "n%u", i);
	node->source = i < model.nb_sources;
	node->manner = (enum manner)random_below(NB_MANNERS);
	if (node->source && node->manner == BY_MOVE)
		node->manner = BY_STREAM;
	node->skew = random_below(4) == 0 ? 100 : random_below(100);
	node->fan_out = (uint32_t[]){0, 2, 3, 4}[random_below(4)];
	node->nb_edges = (uint16_t)(random_below(10) == 0 ? 1 + random_below(MAX_EDGES - 1)
							  : 1 + random_below(8));
	if (!node->source && random_below(5) == 0)
		node->nb_edges = 0;
	for (uint16_t e = 0; e < node->nb_edges; e++) {
		uint32_t first = cycles || node->source ? model.nb_sources : i + 1;

		if (first >= model.nb_nodes) {
			node->nb_edges = 0;
			break;
		}
		node->edges[e] = (uint16_t)(first + random_below(model.nb_nodes - first));
	}
	/* Each inner node is reached from the first source, or it would be isolated. */
	if (i == 0) {
		node->nb_edges = (uint16_t)inner;
		for (uint16_t e = 0; e < inner; e++)
			node->edges[e] = (uint16_t)(model.nb_sources + e);
	}
	if (!model.parallel)
		drop_parallel_edges(node);
}

static void
random_model(uint64_t seed)
{
	static const uint16_t bursts[] = {1, 2, 7, 32, 64, 256, 4096};
	bool cycles;

	memset(&model, 0, sizeof(model));
	model.seed = random_state = seed + 1;
	model.serial = 1;
	model.nb_sources = 1 + random_below(5);
	model.nb_nodes = model.nb_sources + 1 + random_below(MAX_NODES - 6);
	model.burst = bursts[random_below(RTE_DIM(bursts))];
	cycles = random_below(2) == 0;
	model.parallel = random_below(3) == 0;
	for (uint32_t i = 0; i < model.nb_nodes; i++)
		random_node(i, cycles);
}

static void
register_node(uint32_t i)
{
	const struct model_node *node = &model.nodes[i];
	const char *next[MAX_EDGES];
	struct weir_graph_node_register reg = {
		WEIR_GRAPH_NODE_HEADER,
		.name = node->name,
		.flags = node->source ? WEIR_GRAPH_NODE_SOURCE : 0,
		.process = node->source ? source_process : process,
		.nb_edges = node->nb_edges,
		.next_nodes = next,
	};
	uint32_t id;

	for (uint16_t e = 0; e < node->nb_edges; e++)
		next[e] = model.nodes[node->edges[e]].name;
	id = weir_graph_node_register(&reg);
	assert_int_not_equal(id, WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(weir_graph_node_ctx_set(id, &node, sizeof(node)), 0);
}

static int
by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void
list_sort(struct list *list)
{
	if (list->nb > 0)
		qsort(list->objs, list->nb, sizeof(*list->objs), by_number);
}

static void
compare(const struct weir_graph *graph, struct model_node *const *order)
{
	for (uint32_t i = 0; i < model.nb_nodes; i++) {
		const struct weir_graph_node *node = weir_graph_node_at(graph, i);
		struct model_node *m = order[i];

		if (node->nb_objs != m->nb_objs)
			fail_msg("seed %lu: node %s saw %lu objects, not %lu", model.seed - 1,
				m->name, node->nb_objs, m->nb_objs);
		assert_int_equal(node->overflow, 0);
		assert_int_equal(node->idx, 0);
		for (uint16_t e = 0; e < m->nb_edges; e++)
			if (node->edges[e].nb_objs != m->edge_objs[e])
				fail_msg("seed %lu: edge %u of %s carried %lu, not %lu",
					model.seed - 1, e, m->name, node->edges[e].nb_objs,
					m->edge_objs[e]);
		if (model.parallel) {
			list_sort(&m->seen);
			list_sort(&m->arrived);
		}
		if (m->seen.nb != m->arrived.nb ||
			(m->seen.nb > 0 && memcmp(m->seen.objs, m->arrived.objs,
						   m->seen.nb * sizeof(*m->seen.objs)) != 0))
			fail_msg("seed %lu: other objects, or in another order, ended at %s",
				model.seed - 1, m->name);
	}
}

static uint64_t
run_seed(uint64_t seed)
{
	struct model_node *order[MAX_NODES];
	struct weir_graph *graph;
	uint64_t first_serial;
	uint32_t walks;

	random_model(seed);
	for (uint32_t i = 0; i < model.nb_nodes; i++)
		register_node(i);
	graph = gt_graph("g", "n*", model.burst);
	assert_int_equal(weir_graph_node_count(graph), model.nb_nodes);
	for (uint32_t i = 0; i < model.nb_nodes; i++)
		order[i] = (struct model_node *)(uintptr_t)node_model(weir_graph_node_at(graph, i));
	walks = 1 + random_below(8);
	for (uint32_t walk = 0; walk < walks; walk++) {
		for (uint32_t s = 0; s < model.nb_sources; s++)
			order[s]->per_walk = random_below(4) == 0
						     ? 0
						     : random_below(RTE_MIN(model.burst, 300) + 1);
		first_serial = model.serial;
		weir_graph_walk(graph);
		model.serial = first_serial;
		model_walk(order);
		compare(graph, order);
	}
	for (uint32_t i = 0; i < model.nb_nodes; i++) {
		free(model.nodes[i].arrived.objs);
		free(model.nodes[i].seen.objs);
		free(model.nodes[i].waiting.objs);
	}
	first_serial = model.serial - 1;
	gt_clear(NULL);
	return first_serial;
}

static void
test_random_graphs(void **state)
{
	const char *seed = getenv("WEIR_TEST_SEED"), *wish = getenv("WEIR_TEST_LONG");
	uint64_t nb = wish != NULL && *wish != '\0' ? 30000 : 1000, objs = 0;

	(void)state;
	if (seed != NULL) {
		run_seed(strtoull(seed, NULL, 0));
		return;
	}
	for (uint64_t i = 0; i < nb; i++)
		objs += run_seed(i);
	assert_true(objs > 100 * nb); /* it was about something */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_graphs),
	};

	return cmocka_run_group_tests(tests, gt_setup, gt_teardown);
}
