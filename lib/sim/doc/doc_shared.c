/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: ports that a graph shares with links, nodes of type link_rx. */
#include <errno.h>
#include <string.h>

#include "doc_read.h"

static bool
is_link_rx(const struct weir_base_doc_value *node)
{
	return strcmp(weir_base_doc_str(weir_base_doc_get(node, "type")), WEIR_BASE_NODE_LINK_RX) ==
	       0;
}

static bool
lists(const struct weir_base_doc_value *node, const char *link)
{
	const struct weir_base_doc_value *links = weir_base_doc_get(node, "links");
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(links); i++)
		if (strcmp(weir_base_doc_str(weir_base_doc_at(links, i)), link) == 0)
			return true;
	return false;
}

const struct weir_base_doc_value *
sim_doc_shared(const struct weir_base_doc_value *root, const struct weir_base_doc_value *link)
{
	const struct weir_base_doc_value *nodes =
		weir_base_doc_get(weir_base_doc_get(root, "application"), "nodes");
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(nodes); i++)
		if (is_link_rx(weir_base_doc_at(nodes, i)) &&
			lists(weir_base_doc_at(nodes, i), weir_base_doc_name(link)))
			return weir_base_doc_at(nodes, i);
	return NULL;
}

uint32_t
sim_doc_shared_port(const struct weir_sim_model *model, const struct weir_base_doc_value *node)
{
	uint32_t i;

	for (i = 0; node != NULL && i < model->graph.nb_ports; i++)
		if (model->graph.ports[i].shared == node)
			return i;
	return SIM_NONE;
}

static void
take_port(struct weir_sim_model *model, const struct weir_base_doc_value *node)
{
	const struct weir_base_doc_value *burst = weir_base_doc_get(node, "burst");
	const uint32_t index =
		sim_doc_port(model, weir_base_doc_str(weir_base_doc_get(node, "port")));

	model->graph.ports[index].shared = node;
	model->graph.ports[index].rx_burst =
		burst != NULL ? (uint32_t)weir_base_doc_u64(burst) : WEIR_BASE_SHARED_BURST;
}

void
sim_doc_read_shared(struct weir_sim_model *model, const struct weir_base_doc_value *root)
{
	const struct weir_base_doc_value *nodes =
		weir_base_doc_get(weir_base_doc_get(root, "application"), "nodes");
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(nodes); i++)
		if (is_link_rx(weir_base_doc_at(nodes, i)))
			take_port(model, weir_base_doc_at(nodes, i));
}

void
sim_doc_check_shared(struct weir_sim_model *model)
{
	const struct model_graph *graph = &model->graph;
	uint32_t i;

	for (i = 0; i < graph->nb_ports; i++) {
		const struct model_port *port = &graph->ports[i];

		if (port->shared == NULL)
			continue;
		if (port->nb_rx != 1)
			weir_base_doc_error_add(model->doc, weir_base_doc_get(port->shared, "port"),
				"port '%s' has %u receive queues; expected 1, as links share it",
				port->name, port->nb_rx);
		else if (!model->has_refused_graph && /* else a name of a port may be why */
			 (!port->is_polled || graph->rings[port->first_rx].worker == SIM_NONE))
			weir_base_doc_error_add(model->doc, weir_base_doc_get(port->shared, "port"),
				"no worker receives from port '%s'; expected it in 'receive' of "
				"one",
				port->name);
	}
}

/* ---- captures of what comes by them ---- */

static bool
is_captured(const struct weir_sim_model *model, uint32_t stream)
{
	const struct model_stream *of = &model->streams[stream];
	const uint32_t port = of->queue & ~SIM_TO_PORT;

	return of->source == SIM_SOURCE_REPLAY && of->link == SIM_NONE && of->queue != SIM_NONE &&
	       (of->queue & SIM_TO_PORT) != 0 && port < model->graph.nb_ports &&
	       model->graph.ports[port].shared != NULL;
}

uint32_t
sim_doc_shared_capture(const struct weir_sim_model *model, uint32_t port)
{
	uint32_t i;

	for (i = 0; i < model->nb_streams; i++)
		if (is_captured(model, i) && model->streams[i].queue == (SIM_TO_PORT | port))
			return i;
	return SIM_NONE;
}

int
sim_doc_split_captures(struct weir_sim_model *model, const struct weir_base_doc_value *application)
{
	const struct weir_base_doc_value *links = weir_base_doc_get(application, "links"), *link;
	struct weir_base_format format;
	uint32_t i, port;

	for (i = 0; i < model->nb_streams; i++) {
		const struct weir_base_doc_value *value = model->streams[i].value;

		if (!is_captured(model, i))
			continue;
		port = model->streams[i].queue & ~SIM_TO_PORT;
		link = weir_base_doc_at(
			weir_base_doc_get(model->graph.ports[port].shared, "links"), 0);
		link = link != NULL ? weir_base_doc_get(links, weir_base_doc_str(link)) : NULL;
		if (link == NULL)
			continue; /* it was refused */
		if (sim_doc_shared_capture(model, port) != i)
			weir_base_doc_error_add(model->doc, weir_base_doc_get(value, "capture"),
				"a capture of what comes by port '%s' is replayed already; "
				"expected one, as links share the port",
				model->graph.ports[port].name);
		else if (model->streams[i].count != 0)
			weir_base_doc_error_add(model->doc, weir_base_doc_get(value, "count"),
				"which of the packets are links' is in the capture; expected "
				"'stop' in place of 'count'");
		format = sim_format_read(application, link);
		if (sim_doc_split_capture(model, i, &format) < 0)
			return -ENOMEM;
	}
	return 0;
}
