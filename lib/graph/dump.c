/* SPDX-License-Identifier: BSD-3-Clause */

/* What there is, for a person with a debugger open. */

#include "graph_private.h"

static void
node_dump(const struct node_reg *node, FILE *out)
{
	const struct node_reg *parent = node_reg_get(node->parent);

	fprintf(out, "node %u <%s>%s%s%s: in %u graphs, %u bytes of state, %u counters, %u edges\n",
		node->id, node->name, parent == NULL ? "" : ", clone of <",
		parent == NULL ? "" : parent->name, parent == NULL ? "" : ">", node->nb_graphs,
		node->state_size, node->nb_xstats, node->nb_edges);
	for (uint16_t e = 0; e < node->nb_edges; e++)
		fprintf(out, "    edge %u -> <%s>\n", e, node->edges[e]);
}

int
weir_graph_node_dump(uint32_t id, FILE *out)
{
	const struct node_reg *node;

	graph_lock();
	node = node_reg_get(id);
	if (node != NULL)
		node_dump(node, out);
	graph_unlock();
	return node == NULL ? -ENOENT : 0;
}

void
weir_graph_node_list_dump(FILE *out)
{
	uint32_t nb = weir_graph_node_max_count();

	for (uint32_t id = 0; id < nb; id++)
		(void)weir_graph_node_dump(id, out);
}

static void
graph_dump(const struct weir_graph *graph, FILE *out)
{
	const struct weir_graph_slow *slow = graph->slow;

	fprintf(out, "graph %u <%s>: %u nodes, %u sources, burst %u, socket %d, %s\n", slow->id,
		slow->name, slow->nb_nodes, graph->nb_sources, graph->burst, slow->socket_id,
		graph->has_cycle ? "with cycles" : "no cycle");
	for (uint32_t pos = 0; pos < slow->nb_nodes; pos++) {
		const struct weir_graph_node *node = graph->nodes[pos];

		fprintf(out, "  %u <%s>: stream %u of %u, grown %" PRIu64 " times\n", pos,
			slow->info[pos].name, node->idx, node->size, node->realloc_count);
		for (uint16_t e = 0; e < node->nb_edges; e++)
			fprintf(out, "      edge %u -> <%s>\n", e, slow->info[pos].edges[e]);
	}
}

int
weir_graph_dump(uint32_t id, FILE *out)
{
	const struct weir_graph *graph;

	graph_lock();
	graph = graph_at(id);
	if (graph != NULL)
		graph_dump(graph, out);
	graph_unlock();
	return graph == NULL ? -ENOENT : 0;
}

void
weir_graph_list_dump(FILE *out)
{
	uint32_t nb = weir_graph_max_count();

	graph_lock();
	for (uint32_t id = 0; id < nb; id++) {
		const struct weir_graph *graph = graph_at(id);

		if (graph != NULL)
			fprintf(out, "graph %u <%s>: %u nodes\n", id, graph->slow->name,
				graph->slow->nb_nodes);
	}
	graph_unlock();
}
