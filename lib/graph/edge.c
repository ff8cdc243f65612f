/* SPDX-License-Identifier: BSD-3-Clause */

/* Edges of registered nodes: names that a graph looks up when it is made. */

#include <stdlib.h>
#include <string.h>

#include "graph_private.h"

uint16_t
weir_graph_node_edge_count(uint32_t id)
{
	const struct node_reg *node;
	uint16_t count;

	graph_lock();
	node = node_reg_get(id);
	count = node == NULL ? 0 : node->nb_edges;
	graph_unlock();
	return count;
}

const char *
weir_graph_node_edge_name(uint32_t id, uint16_t edge)
{
	const struct node_reg *node;
	const char *name;

	graph_lock();
	node = node_reg_get(id);
	name = node == NULL || edge >= node->nb_edges ? NULL : node->edges[edge];
	graph_unlock();
	return name;
}

uint16_t
weir_graph_node_edge_get(uint32_t id, const char *next_nodes[])
{
	const struct node_reg *node;
	uint16_t count = 0;

	graph_lock();
	node = node_reg_get(id);
	if (node != NULL)
		for (; count < node->nb_edges; count++)
			next_nodes[count] = node->edges[count];
	graph_unlock();
	return count;
}

uint16_t
weir_graph_node_edge_find(uint32_t id, const char *next_node)
{
	uint16_t found = WEIR_GRAPH_EDGE_INVALID;
	const struct node_reg *node;

	graph_lock();
	node = node_reg_get(id);
	for (uint16_t i = 0; node != NULL && next_node != NULL && i < node->nb_edges; i++)
		if (strcmp(node->edges[i], next_node) == 0) {
			found = i;
			break;
		}
	graph_unlock();
	return found;
}

/* Replace edges from..from+nb-1 by copies of the names; all or nothing. */
static int
edges_set(struct node_reg *node, uint16_t from, const char *const *next_nodes, uint16_t nb)
{
	uint32_t end = RTE_MAX((uint32_t)from + nb, (uint32_t)node->nb_edges);
	char **fresh = graph_names_copy(next_nodes, nb);
	char **edges = calloc(end + 1, sizeof(*edges));

	if (fresh == NULL || edges == NULL) {
		graph_names_free(fresh, nb);
		free(edges);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < node->nb_edges; i++) {
		if (i >= from && i < (uint32_t)from + nb)
			free(node->edges[i]);
		else
			edges[i] = node->edges[i];
	}
	for (uint32_t i = 0; i < nb; i++)
		edges[from + i] = fresh[i];
	free(fresh);
	free(node->edges);
	node->edges = edges;
	node->nb_edges = (uint16_t)end;
	return 0;
}

static int
edge_update(struct node_reg *node, uint16_t from, const char *const *next_nodes, uint16_t nb)
{
	if (node == NULL)
		return -ENOENT;
	if (from == WEIR_GRAPH_EDGE_INVALID)
		from = node->nb_edges;
	if (from > node->nb_edges || (next_nodes == NULL && nb > 0))
		return -EINVAL;
	if ((uint32_t)from + nb > WEIR_GRAPH_EDGE_INVALID - 1)
		return -ENOSPC;
	for (uint16_t i = 0; i < nb; i++)
		if (!graph_name_valid(next_nodes[i]))
			return -EINVAL;
	return edges_set(node, from, next_nodes, nb);
}

int
weir_graph_node_edge_update(
	uint32_t id, uint16_t from, const char *const *next_nodes, uint16_t nb_edges)
{
	int rc;

	graph_lock();
	rc = edge_update(node_reg_get(id), from, next_nodes, nb_edges);
	graph_unlock();
	if (rc < 0)
		GRAPH_LOG(ERROR, "edges of node %u are not changed: %s", id, strerror(-rc));
	return rc;
}

int
weir_graph_node_edge_shrink(uint32_t id, uint16_t nb_edges)
{
	struct node_reg *node;
	int rc = 0;

	graph_lock();
	node = node_reg_get(id);
	if (node == NULL) {
		rc = -ENOENT;
	} else if (nb_edges > node->nb_edges) {
		rc = -EINVAL;
	} else {
		for (uint16_t i = nb_edges; i < node->nb_edges; i++)
			free(node->edges[i]);
		node->nb_edges = nb_edges;
	}
	graph_unlock();
	return rc;
}
