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

/* ---- what a file may say of them, as a program that runs would read it ---- */

static void
take_port(struct weir_sim_model *model, const struct weir_base_doc_value *node)
{
	const struct weir_base_doc_value *value = weir_base_doc_get(node, "port");
	const struct weir_base_doc_value *burst = weir_base_doc_get(node, "burst");
	const char *name = weir_base_doc_str(value);
	const uint32_t index = value != NULL ? sim_doc_port(model, name) : SIM_NONE;
	struct model_port *port = &model->graph.ports[index != SIM_NONE ? index : 0];

	if (value == NULL) {
		weir_base_doc_error_add(model->doc, node,
			"node '%s' has nothing to receive from; expected a key 'port'",
			weir_base_doc_name(node));
	} else if (index == SIM_NONE || port->is_receiver) {
		weir_base_doc_error_add(model->doc, value, "unknown port '%s'; expected %s", name,
			sim_doc_port_names(model));
	} else if (!port->is_device) {
		weir_base_doc_error_add(model->doc, value,
			"port '%s' is files, which links do not share; expected one with a "
			"'device', for example \"net_pcap0,rx_pcap=FILE\"",
			name);
	} else if (port->shared != NULL) {
		weir_base_doc_error_add(model->doc, value,
			"node '%s' receives from port '%s' already; expected one such node for "
			"each port",
			weir_base_doc_name(port->shared), name);
	} else {
		port->shared = node;
		port->rx_burst =
			burst != NULL ? (uint32_t)weir_base_doc_u64(burst) : WEIR_BASE_SHARED_BURST;
	}
}

static void
check_link(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	const struct weir_base_doc_value *node, uint32_t entry)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(node, "links");
	const struct weir_base_doc_value *value = weir_base_doc_at(list, entry);
	const struct weir_base_doc_value *links =
		weir_base_doc_get(weir_base_doc_get(root, "application"), "links");
	const struct weir_base_doc_value *first =
		weir_base_doc_get(links, weir_base_doc_str(weir_base_doc_at(list, 0)));
	const char *name = weir_base_doc_str(value), *format, *others;
	const struct weir_base_doc_value *link = weir_base_doc_get(links, name), *made;
	uint32_t i;

	if (link == NULL) {
		weir_base_doc_error_add(model->doc, value, "unknown link '%s'; expected %s", name,
			sim_doc_link_names(model));
		return;
	}
	for (i = 0; i < entry; i++)
		if (strcmp(weir_base_doc_str(weir_base_doc_at(list, i)), name) == 0)
			break;
	made = sim_doc_emulated(root, link) != NULL ? sim_doc_emulated(root, link)
						    : sim_doc_replayed(root, link);
	if (made != NULL)
		weir_base_doc_error_add(model->doc, made,
			"frames come to link '%s' already, from node '%s'; expected one that sends "
			"them",
			name, weir_base_doc_name(node));
	if (i < entry || sim_doc_shared(root, link) != node || weir_base_doc_given(link, "port"))
		weir_base_doc_error_add(model->doc, value,
			"frames come to link '%s' already; expected one that sends them", name);
	format = weir_base_doc_str(weir_base_doc_get(link, "format"));
	others = first != NULL ? weir_base_doc_str(weir_base_doc_get(first, "format")) : format;
	if (strcmp(format, others) != 0)
		weir_base_doc_error_add(model->doc, value,
			"frames of node '%s' are of format '%s', by link '%s', and those of '%s' "
			"of format '%s'; expected one format",
			weir_base_doc_name(node), others, weir_base_doc_name(first), name, format);
}

static void
read_node(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	const struct weir_base_doc_value *node)
{
	const struct weir_base_doc_value *links = weir_base_doc_get(node, "links");
	uint32_t i;

	take_port(model, node);
	if (weir_base_doc_count(links) == 0)
		weir_base_doc_error_add(model->doc, links != NULL ? links : node,
			"node '%s' has no links to hand frames to; expected a key 'links'",
			weir_base_doc_name(node));
	for (i = 0; i < weir_base_doc_count(links); i++)
		check_link(model, root, node, i);
}

void
sim_doc_read_shared(struct weir_sim_model *model, const struct weir_base_doc_value *root)
{
	const struct weir_base_doc_value *nodes =
		weir_base_doc_get(weir_base_doc_get(root, "application"), "nodes");
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(nodes); i++) {
		weir_base_node_check_keys(model->doc, weir_base_doc_at(nodes, i));
		if (is_link_rx(weir_base_doc_at(nodes, i)))
			read_node(model, root, weir_base_doc_at(nodes, i));
	}
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
		else if (!port->is_polled || graph->rings[port->first_rx].worker == SIM_NONE)
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
	struct sim_format format;
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
