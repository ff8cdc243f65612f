/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <unistd.h>

#include <rte_eal.h>

#include "graph_test.h"
#include "weir_base_eal.h"

#include "../base/eal_lcores.h"
#include "../base/log_last.h"

static uint32_t visit_clock;

const char *
gt_log_last(void)
{
	return log_message;
}

uint32_t
gt_log_count(void)
{
	return log_count();
}

void
gt_log_clear(void)
{
	log_forget();
}

void
gt_eal_init(uint32_t lcores, const char *memory_mb)
{
	char map[1024], prefix[64];
	const char *args[] = {"graph-test", "--no-huge", "--no-pci", "--no-shconf",
		"--no-telemetry", "--log-level=lib.eal:4", "-m", memory_mb, "--lcores", map,
		"--file-prefix", prefix};

	eal_lcores(map, sizeof(map), lcores);
	snprintf(prefix, sizeof(prefix), "graph-test-%ld", (long)getpid());
	weir_base_eal_clean_up_at_exit();
	if (rte_eal_init(RTE_DIM(args), (char **)(uintptr_t)args) < 0) {
		fprintf(stderr, "no EAL: %s\n", rte_strerror(rte_errno));
		exit(1);
	}
	log_listen();
}

int
gt_setup_loaded(void **state)
{
	(void)state;
	gt_eal_init(1, "256");
	return 0;
}

int
gt_setup(void **state)
{
	gt_setup_loaded(state);
	return gt_clear(state);
}

int
gt_teardown(void **state)
{
	(void)state;
	return rte_eal_cleanup();
}

uint32_t
gt_clock(void)
{
	return __atomic_add_fetch(&visit_clock, 1, __ATOMIC_RELAXED);
}

static uint16_t
source_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	struct gt_source *source = node->state;
	uint32_t n = (uint32_t)RTE_MIN(source->left, (uint64_t)source->per_walk);
	void **to;

	(void)objs;
	(void)nb;
	source->order = gt_clock();
	if (n == 0)
		return 0;
	to = weir_graph_stream_get(graph, node, source->edge, n);
	if (to == NULL)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		to[i] = gt_obj(source->next++);
	source->left -= n;
	weir_graph_stream_put(graph, node, source->edge, n);
	return (uint16_t)n;
}

static uint16_t
forward_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	struct gt_forward *forward = node->state;

	forward->order = gt_clock();
	forward->visits++;
	forward->max_vector = RTE_MAX(forward->max_vector, (uint32_t)nb);
	forward->max_stream = RTE_MAX(forward->max_stream, node->idx);
	if (forward->pass == NULL)
		weir_graph_stream_move(graph, node, 0);
	else
		forward->pass(graph, node, objs, nb);
	return nb;
}

void
gt_pass_nexts(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	const struct gt_forward *forward = node->state;
	uint16_t *nexts = weir_graph_nexts(graph);

	for (uint16_t i = 0; i < nb_objs; i++)
		nexts[i] = forward->decide(forward, objs[i]);
	weir_graph_enqueue_nexts(graph, node, objs, nexts, nb_objs);
}

static uint16_t
sink_process(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb)
{
	struct gt_sink *sink = node->state;

	(void)graph;
	sink->order = gt_clock();
	if (sink->nb + nb > sink->room) {
		sink->room = 2 * (sink->nb + nb);
		sink->objs = realloc(sink->objs, sink->room * sizeof(*sink->objs));
		if (sink->objs == NULL)
			abort();
	}
	memcpy(&sink->objs[sink->nb], objs, nb * sizeof(*objs));
	sink->nb += nb;
	sink->min_vector = sink->visits == 0 ? nb : RTE_MIN(sink->min_vector, (uint32_t)nb);
	sink->max_vector = RTE_MAX(sink->max_vector, (uint32_t)nb);
	sink->max_stream = RTE_MAX(sink->max_stream, node->idx);
	sink->visits++;
	return nb;
}

static void
sink_fini(const struct weir_graph *graph, struct weir_graph_node *node)
{
	struct gt_sink *sink = node->state;

	(void)graph;
	free(sink->objs);
}

static uint32_t
add(struct weir_graph_node_register *reg, const char *name, const char *const *next)
{
	uint32_t id;

	reg->name = name;
	reg->next_nodes = next;
	while (next != NULL && next[reg->nb_edges] != NULL)
		reg->nb_edges++;
	id = weir_graph_node_register(reg);
	if (id == WEIR_GRAPH_NODE_INVALID)
		fail_msg("node '%s' is refused: %s", name, gt_log_last());
	return id;
}

uint32_t
gt_add_source(const char *name, const char *const *next)
{
	return add(&(struct weir_graph_node_register){WEIR_GRAPH_NODE_HEADER,
			   .process = source_process, .flags = WEIR_GRAPH_NODE_SOURCE,
			   .state_size = sizeof(struct gt_source)},
		name, next);
}

uint32_t
gt_add_forward(const char *name, const char *const *next)
{
	return add(&(struct weir_graph_node_register){WEIR_GRAPH_NODE_HEADER,
			   .process = forward_process, .state_size = sizeof(struct gt_forward)},
		name, next);
}

uint32_t
gt_add_sink(const char *name)
{
	return add(
		&(struct weir_graph_node_register){WEIR_GRAPH_NODE_HEADER, .process = sink_process,
			.fini = sink_fini, .state_size = sizeof(struct gt_sink)},
		name, NULL);
}

int
gt_clear(void **state)
{
	(void)state;
	for (uint32_t id = 0; id < weir_graph_max_count(); id++)
		if (weir_graph_get(id) != NULL && weir_graph_destroy(id) != 0)
			return -1;
	for (uint32_t id = 0; id < weir_graph_node_max_count(); id++)
		if (weir_graph_node_name(id) != NULL && weir_graph_node_free(id) != 0)
			return -1;
	gt_log_clear();
	return 0;
}

struct weir_graph *
gt_graph(const char *name, const char *pattern, uint16_t burst)
{
	const struct weir_graph_param param = {
		.nb_node_patterns = 1, .node_patterns = &pattern, .burst = burst, .socket_id = -1};
	uint32_t id = weir_graph_create(name, &param);

	if (id == WEIR_GRAPH_ID_INVALID)
		fail_msg("graph '%s' is refused: %s", name, gt_log_last());
	return weir_graph_get(id);
}

void *
gt_state(const struct weir_graph *graph, const char *node)
{
	const struct weir_graph_node *found = weir_graph_node_get_by_name(graph, node);

	if (found == NULL)
		fail_msg("the graph has no node '%s'", node);
	return found->state;
}

void
gt_feed(const struct weir_graph *graph, const char *source, uint64_t first, uint64_t nb,
	uint32_t per_walk)
{
	struct gt_source *state = gt_state(graph, source);

	state->next = first;
	state->left = nb;
	state->per_walk = per_walk;
}

void
gt_assert_sequence(
	const struct weir_graph *graph, const char *sink, uint64_t first, size_t nb, uint64_t step)
{
	const struct gt_sink *state = gt_state(graph, sink);

	assert_int_equal(state->nb, nb);
	for (size_t i = 0; i < nb; i++)
		if (gt_num(state->objs[i]) != first + i * step)
			fail_msg("'%s' holds %lu at place %zu, not %lu", sink,
				gt_num(state->objs[i]), i, first + i * step);
}

const struct weir_graph_node_stats *
gt_stats_find(const struct weir_graph_cluster_stats *stats, const char *node)
{
	for (uint32_t i = 0; i < stats->nb_nodes; i++)
		if (strcmp(stats->nodes[i].name, node) == 0)
			return &stats->nodes[i];
	fail_msg("no counters of node '%s'", node);
	return NULL;
}

const struct weir_graph_node_stats *
gt_stats(const char *pattern, const char *node, struct weir_graph_cluster **cluster)
{
	const struct weir_graph_cluster_stats *stats;

	*cluster = weir_graph_cluster_create(&pattern, 1);
	assert_non_null(*cluster);
	assert_int_equal(weir_graph_cluster_get(*cluster, &stats), 0);
	return gt_stats_find(stats, node);
}
