/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: packets of a graph that can only go round never leave. */
#include <errno.h>
#include <stdlib.h>

#include "doc_read.h"

/* Do packets that come to a queue leave, as far as is known? Those of objects are looked at elsewhere. */
static bool
queue_leads_out(const struct weir_sim_model *model, const bool *leads_out, uint32_t queue)
{
	const struct model_queue *of = queue != SIM_NONE ? &model->queues[queue] : NULL;

	return of == NULL || of->node == SIM_NONE || leads_out[model->graph.nexts[of->next].node];
}

static bool
node_leads_out(
	const struct weir_sim_model *model, const bool *leads_out, const struct model_node *node)
{
	uint32_t i;

	if (node->role == WEIR_BASE_NODE_FREES || node->role == WEIR_BASE_NODE_TRANSMITS ||
		(node->role == WEIR_BASE_NODE_RECEIVES && node->nb_next == 0))
		return true;
	if (node->role == WEIR_BASE_NODE_SENDS)
		return queue_leads_out(model, leads_out, node->queue);
	if (node->role == WEIR_BASE_NODE_WORKS)
		return queue_leads_out(model, leads_out, model->graph.jobs[node->job].to);
	for (i = 0; i < node->nb_next; i++)
		if (leads_out[model->graph.nexts[node->first_next + i].node])
			return true;
	return false;
}

int
sim_doc_check_circles(struct weir_sim_model *model, const struct weir_base_doc_value *costs)
{
	const struct model_graph *graph = &model->graph;
	bool *leads_out = calloc(graph->nb_nodes + 1, sizeof(*leads_out)), changed = true;
	unsigned int nb_errors;
	uint32_t i;

	if (leads_out == NULL)
		return -ENOMEM;
	weir_base_doc_errors(model->doc, &nb_errors);
	while (changed)
		for (changed = false, i = 0; i < graph->nb_nodes; i++)
			if (!leads_out[i] && node_leads_out(model, leads_out, &graph->nodes[i]))
				leads_out[i] = changed = true;
	for (i = 0; nb_errors == 0 && i < graph->nb_nodes; i++)
		if (!leads_out[i]) {
			weir_base_doc_error_add(model->doc, costs,
				"packets of node '%s' go in a circle and never leave; expected a "
				"way out",
				graph->nodes[i].name);
			break;
		}
	free(leads_out);
	return 0;
}
