/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a document to a model: edges that probes look at. They begin at an object, a stream or a node, and are called by
 * what stands at their ends; of the graph there are those that packets take.
 */
#include <string.h>

#include "doc_read.h"

/* A port stands for its receive node where an edge begins, and for its transmit node where one ends. */
static bool
is_called(const struct model_node *node, bool is_left)
{
	return node->role != (is_left ? WEIR_BASE_NODE_TRANSMITS : WEIR_BASE_NODE_RECEIVES);
}

/* A node's name on that side of an edge. */
static const char *
name_of(const struct model_node *node, bool is_left)
{
	return is_called(node, is_left) ? node->called : node->name;
}

/* The node that `name` stands for on that side of an edge: one's own before others, as in application.edges. */
static uint32_t
find_node(const struct weir_sim_model *model, const char *name, bool is_left)
{
	const struct model_graph *graph = &model->graph;
	uint32_t found = SIM_NONE, i;

	for (i = 0; i < graph->nb_nodes; i++) {
		const struct model_node *node = &graph->nodes[i];

		if (is_called(node, is_left) && strcmp(node->called, name) == 0 &&
			(node->is_own || found == SIM_NONE))
			found = i;
	}
	for (i = 0; found == SIM_NONE && i < graph->nb_nodes; i++)
		if (strcmp(graph->nodes[i].name, name) == 0)
			found = i;
	return found;
}

/* The queue that a node, or its jobs, send packets to; SIM_NONE: there is none. */
static uint32_t
queue_of(const struct weir_sim_model *model, const struct model_node *node)
{
	if (node->role == WEIR_BASE_NODE_WORKS)
		return model->graph.jobs[node->job].to;
	return node->role == WEIR_BASE_NODE_SENDS ? node->queue : SIM_NONE;
}

/* What an edge begins at, for errors, and where it may end. */
struct ends {
	const char *kind, *name;
	struct sim_doc_names names;
	bool is_end; /* packets leave here */
};

static void
refuse_end(struct weir_sim_model *model, const struct weir_base_doc_value *from,
	const struct weir_base_doc_value *to, const struct ends *ends)
{
	if (to == NULL)
		weir_base_doc_error_add(model->doc, from,
			"packets do not leave at %s '%s'; expected a key 'to' with one of: %s",
			ends->kind, ends->name, ends->names.text);
	else
		weir_base_doc_error_add(model->doc, to,
			"no packets go from %s '%s' to '%s'; expected %s%s%s", ends->kind,
			ends->name, weir_base_doc_str(to),
			ends->names.used > 0 ? "one of: " : "no 'to', as they leave there",
			ends->names.text,
			ends->names.used > 0 && ends->is_end ? ", or no 'to', for those that leave"
							     : "");
}

static void
refuse_node(struct weir_sim_model *model, const struct weir_base_doc_value *from,
	const struct weir_base_doc_value *to, const struct model_node *node, bool is_end)
{
	const uint32_t queue = queue_of(model, node);
	struct ends ends = {.kind = "node", .name = node->name, .is_end = is_end};
	uint32_t i;

	for (i = 0; i < node->nb_next; i++)
		sim_doc_add_name(&ends.names,
			name_of(&model->graph.nodes[model->graph.nexts[node->first_next + i].node],
				false));
	if (queue != SIM_NONE)
		sim_doc_add_name(&ends.names, model->queues[queue].name);
	if (ends.names.used == 0 && !is_end)
		weir_base_doc_error_add(model->doc, from,
			"packets of node '%s' go to buffers of links, not along an edge; expected "
			"another node",
			node->name);
	else
		refuse_end(model, from, to, &ends);
}

/* Where an edge of the graph ends. */
static void
read_end(struct weir_sim_model *model, const struct weir_base_doc_value *from,
	const struct weir_base_doc_value *to, const struct model_node *node,
	struct model_probe *probe)
{
	const bool is_end =
		node->role == WEIR_BASE_NODE_FREES || node->role == WEIR_BASE_NODE_TRANSMITS;
	const uint32_t found =
		to != NULL ? find_node(model, weir_base_doc_str(to), false) : SIM_NONE;
	uint32_t i;

	for (i = 0; found != SIM_NONE && i < node->nb_next; i++)
		if (model->graph.nexts[node->first_next + i].node == found) {
			probe->to = SIM_TO_NODE | found;
			return;
		}
	probe->to = to != NULL ? sim_doc_meant_queue(model, to) : SIM_TO_OUTPUT;
	if (to != NULL ? probe->to == SIM_NONE || probe->to != queue_of(model, node) : !is_end)
		refuse_node(model, from, to, node, is_end);
}

static void
refuse_beginning(struct weir_sim_model *model, const struct weir_base_doc_value *from)
{
	struct sim_doc_names objects = {.used = 0}, streams = {.used = 0}, nodes = {.used = 0};
	uint32_t i;

	for (i = 0; i < model->nb_objects; i++)
		sim_doc_add_name(&objects, model->objects[i].name);
	for (i = 0; i < model->nb_streams; i++)
		sim_doc_add_name(&streams, model->streams[i].name);
	for (i = 0; i < model->graph.nb_nodes; i++)
		sim_doc_add_name(&nodes, name_of(&model->graph.nodes[i], true));
	weir_base_doc_error_add(model->doc, from,
		"unknown beginning of an edge '%s'; expected an object (%s) or a stream (%s)%s%s",
		weir_base_doc_str(from), objects.used > 0 ? objects.text : "there are none",
		streams.used > 0 ? streams.text : "there are none",
		nodes.used > 0 ? ", or a node that packets come to, one of: " : "", nodes.text);
}

/* Does a step send packets, or parts of them, there? */
static bool
step_leads_to(const struct weir_sim_model *model, const struct model_step *step, uint32_t to)
{
	uint32_t i;

	switch (step->op) {
	case MODEL_OUTPUT:
		return to == SIM_TO_OUTPUT;
	case MODEL_SEND:
		return to == step->target;
	case MODEL_SPREAD:
	case MODEL_FORK:
		for (i = 0; i < step->nb_targets; i++)
			if (model->targets[step->first_target + i] == to)
				return true;
		return false;
	default:
		return false;
	}
}

static bool
object_leads_to(const struct weir_sim_model *model, const struct model_object *object, uint32_t to)
{
	const uint32_t nb = object->nb_steps - sim_doc_ends_elsewhere(model, object);
	uint32_t i;

	for (i = 0; i < nb; i++)
		if (step_leads_to(model, &model->steps[object->first_step + i], to))
			return true;
	return false;
}

/* Does what is sent by an object, or by a stream, go there? */
static bool
leads_to(const struct weir_sim_model *model, uint32_t from, uint32_t to)
{
	return (from & SIM_FROM_STREAM) != 0
		       ? (model->streams[from & ~SIM_FROM_STREAM].queue & ~SIM_TO_NEW) == to
		       : object_leads_to(model, &model->objects[from], to);
}

/* A queue, or a port, whether packets can come there or not. SIM_NONE: there is none, which was told */
static uint32_t
find_end(struct weir_sim_model *model, const struct weir_base_doc_value *to)
{
	const uint32_t queue = sim_doc_meant_queue(model, to);
	const uint32_t port = sim_doc_port(model, weir_base_doc_str(to));

	if (port != SIM_NONE && queue == SIM_NONE)
		return SIM_TO_PORT | port;
	return queue != SIM_NONE ? queue : sim_doc_find_destination(model, to);
}

/* A probe would see nothing there. */
static void
check_end(struct weir_sim_model *model, const struct weir_base_doc_value *from,
	const struct weir_base_doc_value *to, const struct model_probe *probe)
{
	struct ends ends = {.kind = probe->from & SIM_FROM_STREAM ? "stream" : "object",
		.name = weir_base_doc_str(from)};
	uint32_t i;

	if (leads_to(model, probe->from, probe->to))
		return;
	/* Where they go was refused. */
	if (model->has_unknown_queue ||
		((probe->from & SIM_FROM_STREAM) != 0 &&
			model->streams[probe->from & ~SIM_FROM_STREAM].queue == SIM_NONE))
		return;
	ends.is_end = leads_to(model, probe->from, SIM_TO_OUTPUT);
	for (i = 0; i < model->nb_queues; i++)
		if (leads_to(model, probe->from, i))
			sim_doc_add_name(&ends.names, model->queues[i].name);
	for (i = 0; i < model->graph.nb_ports; i++)
		if (leads_to(model, probe->from, SIM_TO_PORT | i))
			sim_doc_add_name(&ends.names, model->graph.ports[i].name);
	if (ends.names.used == 0 && !ends.is_end)
		weir_base_doc_error_add(model->doc, from,
			"packets of %s '%s' go %s, not along an edge; expected another beginning",
			ends.kind, ends.name,
			probe->from & SIM_FROM_STREAM ? "to buffers of links" : "nowhere");
	else
		refuse_end(model, from, to, &ends);
}

void
sim_doc_read_edge(struct weir_sim_model *model, const struct weir_base_doc_value *from,
	const struct weir_base_doc_value *to, struct model_probe *probe)
{
	const char *name = weir_base_doc_str(from);
	const uint32_t object = sim_doc_find_object(model, from);
	const uint32_t stream = sim_doc_find_stream(model, from);
	uint32_t node;

	probe->kind = MODEL_PROBE_EDGE;
	model->nb_edges++;
	if (object != SIM_NONE && stream != SIM_NONE) {
		weir_base_doc_error_add(model->doc, from,
			"an object and a stream are called '%s'; expected names that differ", name);
		return;
	}
	if (object != SIM_NONE || stream != SIM_NONE) {
		probe->from = stream != SIM_NONE ? SIM_FROM_STREAM | stream : object;
		probe->to = to != NULL ? find_end(model, to) : SIM_TO_OUTPUT;
		if (to == NULL || probe->to != SIM_NONE)
			check_end(model, from, to, probe);
		return;
	}
	node = find_node(model, name, true);
	if (node == SIM_NONE) {
		refuse_beginning(model, from);
		return;
	}
	model->graph.nodes[node].is_probed = true;
	probe->from = SIM_FROM_NODE | node;
	read_end(model, from, to, &model->graph.nodes[node], probe);
}
