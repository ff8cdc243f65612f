/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From registered nodes to one worker's graph: select by pattern, follow
 * edges, put nodes in walking order, lay them out in memory.
 */

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "graph_private.h"

/* Nodes being selected, and their order. */
struct build {
	const char *name;    /* of the graph */
	uint32_t nb_ids;     /* bound of node ids */
	bool *selected;      /* by id */
	uint32_t *pos;       /* by id: place in walking order */
	uint32_t *order;     /* by place: id */
	uint32_t nb_nodes;   /* selected */
	uint32_t nb_sources; /* of these, sources; they stand first */
};

static void
build_free(struct build *build)
{
	free(build->selected);
	free(build->pos);
	free(build->order);
}

static int
build_init(struct build *build, const char *name)
{
	build->name = name;
	build->nb_ids = weir_graph_node_max_count();
	build->selected = calloc(build->nb_ids + 1, sizeof(*build->selected));
	build->pos = calloc(build->nb_ids + 1, sizeof(*build->pos));
	build->order = calloc(build->nb_ids + 1, sizeof(*build->order));
	return build->selected == NULL || build->pos == NULL || build->order == NULL ? -ENOMEM : 0;
}

static void
select_node(struct build *build, uint32_t id)
{
	if (!build->selected[id]) {
		build->selected[id] = true;
		build->order[build->nb_nodes++] = id;
	}
}

static int
select_by_pattern(struct build *build, const char *pattern)
{
	bool matched = false;

	for (uint32_t id = 0; id < build->nb_ids; id++) {
		const struct node_reg *node = node_reg_get(id);

		if (node != NULL && fnmatch(pattern, node->name, 0) == 0) {
			select_node(build, id);
			matched = true;
		}
	}
	if (!matched) {
		GRAPH_LOG(ERROR, "graph '%s' is not created: no node matches '%s'", build->name,
			pattern);
		return -EINVAL;
	}
	return 0;
}

/* Bring along what edges reach; the list grows while it is gone through. */
static int
select_by_edges(struct build *build)
{
	for (uint32_t i = 0; i < build->nb_nodes; i++) {
		const struct node_reg *node = node_reg_get(build->order[i]);

		for (uint16_t e = 0; e < node->nb_edges; e++) {
			const struct node_reg *next = node_reg_find(node->edges[e]);

			if (next == NULL) {
				GRAPH_LOG(ERROR,
					"graph '%s' is not created: edge %u of node '%s' leads to "
					"'%s', which is not "
					"registered",
					build->name, e, node->name, node->edges[e]);
				return -EINVAL;
			}
			if (next->flags & WEIR_GRAPH_NODE_SOURCE) {
				GRAPH_LOG(ERROR,
					"graph '%s' is not created: node '%s' has an edge to '%s', "
					"which is a source",
					build->name, node->name, next->name);
				return -EINVAL;
			}
			select_node(build, next->id);
		}
	}
	return 0;
}

/*
 * Depth-first search that notes nodes as it leaves them: backwards, that is a
 * topological order, where edges that close a cycle are the only ones to lead back.
 */
struct search {
	struct build *build;
	bool *seen;
	uint32_t *stack;      /* ids on the path */
	uint16_t *stack_edge; /* per id on it: next edge to follow */
	uint32_t *left;       /* ids in the order of leaving */
	uint32_t nb_left;
};

static void
search_from(struct search *search, uint32_t id)
{
	uint32_t depth = 0;

	if (search->seen[id])
		return;
	search->seen[id] = true;
	search->stack[0] = id;
	search->stack_edge[0] = 0;
	for (;;) {
		const struct node_reg *node = node_reg_get(search->stack[depth]);
		const struct node_reg *next;

		if (search->stack_edge[depth] == node->nb_edges) {
			search->left[search->nb_left++] = node->id;
			if (depth-- == 0)
				return;
			continue;
		}
		/* Last edge first, so that the order reads as edges are written. */
		next = node_reg_find(node->edges[node->nb_edges - 1 - search->stack_edge[depth]++]);
		if (search->seen[next->id])
			continue;
		search->seen[next->id] = true;
		depth++;
		search->stack[depth] = next->id;
		search->stack_edge[depth] = 0;
	}
}

static void
search_all(struct search *search)
{
	struct build *build = search->build;

	for (uint32_t i = build->nb_nodes; i-- > 0;)
		if (node_reg_get(build->order[i])->flags & WEIR_GRAPH_NODE_SOURCE)
			search_from(search, build->order[i]);
}

/* Every node must be a source or be reached from one. */
static int
check_reached(const struct build *build, const bool *seen)
{
	for (uint32_t i = 0; i < build->nb_nodes; i++)
		if (!seen[build->order[i]]) {
			GRAPH_LOG(ERROR,
				"graph '%s' is not created: node '%s' is isolated, no source leads "
				"to it",
				build->name, node_reg_get(build->order[i])->name);
			return -EINVAL;
		}
	return 0;
}

/* Sources first, in the order they were selected; then the others, backwards as they were left. */
static void
number_nodes(struct build *build, const struct search *search)
{
	uint32_t *order = search->stack; /* no longer needed as a stack */
	uint32_t nb = 0;

	for (uint32_t i = 0; i < build->nb_nodes; i++)
		if (node_reg_get(build->order[i])->flags & WEIR_GRAPH_NODE_SOURCE)
			order[nb++] = build->order[i];
	build->nb_sources = nb;
	for (uint32_t i = search->nb_left; i-- > 0;)
		if (!(node_reg_get(search->left[i])->flags & WEIR_GRAPH_NODE_SOURCE))
			order[nb++] = search->left[i];
	for (uint32_t i = 0; i < nb; i++) {
		build->order[i] = order[i];
		build->pos[order[i]] = i;
	}
}

static int
build_order(struct build *build)
{
	struct search search = {.build = build};
	int rc = -ENOMEM;

	search.seen = calloc(build->nb_ids + 1, sizeof(*search.seen));
	search.stack = calloc(build->nb_ids + 1, sizeof(*search.stack));
	search.stack_edge = calloc(build->nb_ids + 1, sizeof(*search.stack_edge));
	search.left = calloc(build->nb_ids + 1, sizeof(*search.left));
	if (search.seen != NULL && search.stack != NULL && search.stack_edge != NULL &&
		search.left != NULL) {
		search_all(&search);
		rc = check_reached(build, search.seen);
		if (rc == 0)
			number_nodes(build, &search);
	}
	free(search.seen);
	free(search.stack);
	free(search.stack_edge);
	free(search.left);
	return rc;
}

static int
build_select(struct build *build, const struct weir_graph_param *param)
{
	int rc = 0;

	for (uint32_t i = 0; i < param->nb_node_patterns && rc == 0; i++)
		rc = select_by_pattern(build, param->node_patterns[i]);
	if (rc == 0)
		rc = select_by_edges(build);
	if (rc == 0)
		rc = build_order(build);
	if (rc == 0 && build->nb_sources == 0) {
		GRAPH_LOG(
			ERROR, "graph '%s' is not created: no node in it is a source", build->name);
		rc = -EINVAL;
	}
	return rc;
}

static void *
zalloc(const struct weir_graph *graph, size_t size)
{
	return rte_zmalloc_socket("weir_graph", size, RTE_CACHE_LINE_SIZE, graph->slow->socket_id);
}

static int
node_layout(struct weir_graph *graph, struct weir_graph_node *node, const struct node_reg *reg)
{
	struct node_info *info = &graph->slow->info[node->pos];

	node->process = reg->process;
	node->nb_edges = reg->nb_edges;
	node->flags = (uint16_t)reg->flags;
	memcpy(node->ctx, reg->ctx, sizeof(node->ctx));
	node->size = RTE_MAX(2 * graph->burst, 64u);
	node->objs = zalloc(graph, (node->size + STREAM_SLACK) * sizeof(*node->objs));
	node->edges = zalloc(graph, RTE_MAX(reg->nb_edges, 1u) * sizeof(*node->edges));
	node->xstats = zalloc(graph, RTE_MAX(reg->nb_xstats, 1u) * sizeof(*node->xstats));
	node->state = reg->state_size == 0 ? NULL : zalloc(graph, reg->state_size);

	info->id = reg->id;
	memcpy(info->name, reg->name, sizeof(info->name));
	info->fini = reg->fini;
	info->adopt = reg->adopt;
	info->nb_xstats = reg->nb_xstats;
	info->edges = graph_names_copy((const char *const *)reg->edges, reg->nb_edges);
	info->xstats = graph_names_copy((const char *const *)reg->xstats, reg->nb_xstats);
	if (node->objs == NULL || node->edges == NULL || node->xstats == NULL ||
		info->edges == NULL || info->xstats == NULL ||
		(reg->state_size > 0 && node->state == NULL))
		return -ENOMEM;
	return 0;
}

static void
connect_edges(struct weir_graph *graph, const struct build *build)
{
	for (uint32_t pos = 0; pos < build->nb_nodes; pos++) {
		struct weir_graph_node *node = graph->nodes[pos];

		for (uint16_t e = 0; e < node->nb_edges; e++) {
			const struct node_reg *next =
				node_reg_find(graph->slow->info[pos].edges[e]);
			uint32_t next_pos = build->pos[next->id];

			node->edges[e].node = graph->nodes[next_pos];
			if (next_pos <= pos)
				graph->has_cycle = 1;
			if (next_pos == pos)
				node->flags |= NODE_SELF_EDGE;
		}
	}
}

static int
slow_layout(struct weir_graph *graph, const char *name, const struct weir_graph_param *param,
	uint32_t nb_nodes)
{
	struct weir_graph_slow *slow = calloc(1, sizeof(*slow));

	if (slow == NULL)
		return -ENOMEM;
	graph->slow = slow;
	strcpy(slow->name, name); /* its length was checked */
	slow->nb_nodes = nb_nodes;
	slow->socket_id = param->socket_id;
	slow->discard = param->discard;
	slow->discard_arg = param->discard_arg;
	slow->info = calloc(nb_nodes, sizeof(*slow->info));
	slow->spare_size = RTE_MAX(2 * graph->burst, 64u);
	slow->spare = zalloc(graph, (slow->spare_size + STREAM_SLACK) * sizeof(*slow->spare));
	return slow->info == NULL || slow->spare == NULL ? -ENOMEM : 0;
}

static int
graph_layout(struct weir_graph *graph, const struct build *build)
{
	graph->nb_sources = build->nb_sources;
	graph->nb_words = (build->nb_nodes + 63) / 64;
	graph->pending = zalloc(graph, graph->nb_words * sizeof(*graph->pending));
	graph->nodes = zalloc(graph, build->nb_nodes * sizeof(*graph->nodes));
	/* A kernel reads decisions in full vectors. */
	graph->nexts = zalloc(graph, (graph->burst + STREAM_SLACK) * sizeof(*graph->nexts));
	if (graph->pending == NULL || graph->nodes == NULL || graph->nexts == NULL)
		return -ENOMEM;
	for (uint32_t pos = 0; pos < build->nb_nodes; pos++) {
		struct weir_graph_node *node = zalloc(graph, sizeof(*node));

		graph->nodes[pos] = node;
		if (node == NULL)
			return -ENOMEM;
		node->pos = pos;
		if (node_layout(graph, node, node_reg_get(build->order[pos])) < 0)
			return -ENOMEM;
	}
	connect_edges(graph, build);
	graph_scatter_select(graph);
	return graph_snapshot_layout(graph);
}

static void
node_free(struct weir_graph_node *node, struct node_info *info)
{
	graph_names_free(info->edges, node->nb_edges);
	graph_names_free(info->xstats, info->nb_xstats);
	rte_free(node->objs);
	rte_free(node->edges);
	rte_free(node->xstats);
	rte_free(node->state);
	rte_free(node);
}

void
graph_free(struct weir_graph *graph)
{
	struct weir_graph_slow *slow = graph->slow;

	if (slow != NULL) {
		for (uint32_t pos = 0; pos < slow->nb_nodes && graph->nodes != NULL; pos++)
			if (graph->nodes[pos] != NULL)
				node_free(graph->nodes[pos], &slow->info[pos]);
		rte_free(slow->spare);
		free(slow->info);
		free(slow->snapshot);
		free(slow);
	}
	rte_free(graph->pending);
	rte_free(graph->nodes);
	rte_free(graph->nexts);
	rte_free(graph);
}

struct weir_graph *
graph_build(const char *name, const struct weir_graph_param *param)
{
	struct weir_graph *graph = NULL;
	struct build build = {0};
	int rc = build_init(&build, name);

	if (rc < 0)
		goto out;
	rc = build_select(&build, param);
	if (rc < 0)
		goto out;
	graph = rte_zmalloc_socket(
		"weir_graph", sizeof(*graph), RTE_CACHE_LINE_SIZE, param->socket_id);
	if (graph == NULL) {
		rc = -ENOMEM;
		goto out;
	}
	graph->burst = param->burst == 0 ? WEIR_GRAPH_BURST_DEFAULT : param->burst;
	rc = slow_layout(graph, name, param, build.nb_nodes);
	if (rc == 0)
		rc = graph_layout(graph, &build);
	if (rc == 0)
		graph_clock_init(graph, param->clock_period);
	if (rc < 0) {
		graph_free(graph);
		graph = NULL;
	}
out:
	build_free(&build);
	if (graph == NULL) {
		if (rc == -ENOMEM)
			GRAPH_LOG(ERROR, "graph '%s' is not created: out of memory", name);
		rte_errno = -rc;
	}
	return graph;
}
