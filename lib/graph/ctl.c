/* SPDX-License-Identifier: BSD-3-Clause */

/* This library's commands on the control socket. */

#include <stdlib.h>
#include <string.h>

#include <weir_base_ctl.h>

#include "graph_private.h"

/* The argument "name"; @otherwise where there is none. -EINVAL: it is no text. */
static int
name_arg(const json_t *args, const char *otherwise, const char **name, json_t **result)
{
	const json_t *arg = json_object_get(args, "name");

	*name = json_string_value(arg);
	if (arg != NULL && *name == NULL) {
		*result = json_string("\"name\" must be a string");
		return -EINVAL;
	}
	if (*name == NULL || **name == '\0')
		*name = otherwise;
	return 0;
}

/*
 * Graphs that telemetry shows as @name, which knows fewer signs than names may have.
 * Their number; @found: the first one's name, @all: all of them, "a, b, c", cut at its end.
 */
static uint32_t
shown_as(const char *name, char *found, char *all, size_t size)
{
	uint32_t nb = 0;
	size_t used = 0;

	graph_lock();
	for (uint32_t id = 0; id < weir_graph_max_count(); id++) {
		const struct weir_graph *graph = graph_at(id);

		if (graph == NULL || !weir_base_ctl_is_shown_as(graph->slow->name, name))
			continue;
		if (nb++ == 0)
			strcpy(found, graph->slow->name); /* of this size, too */
		if (used + WEIR_GRAPH_NAME_SIZE + 2 < size)
			used += (size_t)snprintf(all + used, size - used, "%s%s",
				used > 0 ? ", " : "", graph->slow->name);
	}
	graph_unlock();
	return nb;
}

/* The argument "name": of a graph as it is, or as telemetry shows it, which is then in @found; or a pattern. */
static int
graph_arg(const json_t *args, const char *otherwise, const char **name,
	char found[WEIR_GRAPH_NAME_SIZE], json_t **result)
{
	char all[1024];
	uint32_t nb;
	int rc = name_arg(args, otherwise, name, result);

	if (rc < 0 || *name == NULL || weir_graph_from_name(*name) != WEIR_GRAPH_ID_INVALID)
		return rc;
	nb = shown_as(*name, found, all, sizeof(all));
	if (nb > 1) {
		*result = json_sprintf("'%s' is how several graphs are shown: %s; expected the "
				       "name of one of them",
			*name, all);
		return -EINVAL;
	}
	if (nb == 1)
		*name = found;
	return 0;
}

static int
no_graph(const char *name, json_t **result)
{
	*result = json_sprintf("there is no graph '%s'", name);
	return -ENOENT;
}

static int
ctl_list(void *arg, const json_t *args, json_t **result)
{
	json_t *list = json_array();

	RTE_SET_USED(arg);
	RTE_SET_USED(args);
	graph_lock();
	for (uint32_t id = 0; id < weir_graph_max_count(); id++) {
		const struct weir_graph *graph = graph_at(id);

		if (graph != NULL)
			json_array_append_new(
				list, json_pack("{s:s, s:i, s:i, s:i, s:i}", "name",
					      graph->slow->name, "id", (int)id, "nodes",
					      (int)graph->slow->nb_nodes, "sources",
					      (int)graph->nb_sources, "burst", (int)graph->burst));
	}
	graph_unlock();
	*result = list;
	return 0;
}

/*
 * Clusters are kept from one question to the next, so that rates are over the
 * interval between two looks: those of the patterns asked about last.
 */
#define KEPT_MAX 32

struct kept {
	struct weir_graph_cluster *cluster;
	char *pattern;
};

static struct kept kept[KEPT_MAX]; /* the latest first */

static void
kept_to_front(uint32_t from)
{
	struct kept latest = kept[from];

	memmove(&kept[1], &kept[0], from * sizeof(kept[0]));
	kept[0] = latest;
}

static struct weir_graph_cluster *
kept_find(const char *pattern)
{
	for (uint32_t i = 0; i < KEPT_MAX && kept[i].cluster != NULL; i++)
		if (strcmp(kept[i].pattern, pattern) == 0) {
			kept_to_front(i);
			return kept[0].cluster;
		}
	return NULL;
}

/* In the place of the one that was not asked about for the longest time. */
static struct weir_graph_cluster *
kept_add(const char *pattern)
{
	struct kept *last = &kept[KEPT_MAX - 1];

	weir_graph_cluster_destroy(last->cluster);
	free(last->pattern);
	last->pattern = strdup(pattern);
	last->cluster = last->pattern == NULL ? NULL : weir_graph_cluster_create(&pattern, 1);
	if (last->cluster == NULL) {
		free(last->pattern);
		last->pattern = NULL;
		return NULL;
	}
	kept_to_front(KEPT_MAX - 1);
	return kept[0].cluster;
}

static int
ctl_stats(void *arg, const json_t *args, json_t **result)
{
	struct weir_graph_cluster *cluster;
	char found[WEIR_GRAPH_NAME_SIZE];
	const char *pattern;
	int rc = graph_arg(args, "*", &pattern, found, result);

	RTE_SET_USED(arg);
	if (rc < 0)
		return rc;
	cluster = kept_find(pattern);
	/* A pattern may match nothing yet; a name of none is a mistake, unless it was a graph's that is gone. */
	if (cluster == NULL && graph_name_valid(pattern) &&
		weir_graph_from_name(pattern) == WEIR_GRAPH_ID_INVALID)
		return no_graph(pattern, result);
	if (cluster == NULL)
		cluster = kept_add(pattern);
	if (cluster == NULL)
		return -ENOMEM;
	return weir_graph_cluster_json(cluster, result);
}

static int
ctl_dot(void *arg, const json_t *args, json_t **result)
{
	char found[WEIR_GRAPH_NAME_SIZE];
	const char *name;
	char *text = NULL;
	size_t size = 0;
	FILE *out;
	int rc = graph_arg(args, NULL, &name, found, result);

	RTE_SET_USED(arg);
	if (rc < 0)
		return rc;
	if (name == NULL) {
		*result = json_string("which graph? give its name");
		return -EINVAL;
	}
	out = open_memstream(&text, &size);
	if (out == NULL)
		return -ENOMEM;
	rc = weir_graph_export(weir_graph_from_name(name), out, WEIR_GRAPH_EXPORT_COUNTS);
	fclose(out);
	if (rc == 0)
		*result = json_stringn(text, size);
	else if (rc == -ENOENT)
		rc = no_graph(name, result);
	free(text);
	return rc;
}

static int
ctl_nodes(void *arg, const json_t *args, json_t **result)
{
	json_t *list = json_array();

	RTE_SET_USED(arg);
	RTE_SET_USED(args);
	graph_lock();
	for (uint32_t id = 0; id < weir_graph_node_max_count(); id++) {
		const struct node_reg *node = node_reg_get(id);
		json_t *edges;

		if (node == NULL)
			continue;
		edges = json_array();
		for (uint16_t e = 0; e < node->nb_edges; e++)
			json_array_append_new(edges, json_string(node->edges[e]));
		json_array_append_new(list,
			json_pack("{s:s, s:i, s:b, s:i, s:o}", "name", node->name, "id", (int)id,
				"source", (int)(node->flags & WEIR_GRAPH_NODE_SOURCE), "graphs",
				(int)node->nb_graphs, "edges", edges));
	}
	graph_unlock();
	*result = list;
	return 0;
}

int
weir_graph_ctl_register(struct weir_base_ctl *ctl)
{
	static const struct weir_base_ctl_entry commands[] = {
		{"graph/list", "the graphs of this instance", NULL, WEIR_BASE_CTL_READ_ONLY,
			ctl_list},
		{"graph/stats",
			"counters per node, summed over the graphs whose names match the pattern "
			"\"name\"",
			"name", WEIR_BASE_CTL_READ_ONLY, ctl_stats},
		{"graph/dot", "graph \"name\" in Graphviz DOT, with counts", "name",
			WEIR_BASE_CTL_READ_ONLY, ctl_dot},
		{"graph/nodes", "all registered nodes and their edges", NULL,
			WEIR_BASE_CTL_READ_ONLY, ctl_nodes},
	};

	return weir_base_ctl_register_all(ctl, commands, RTE_DIM(commands), NULL);
}
