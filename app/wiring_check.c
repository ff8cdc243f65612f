/* SPDX-License-Identifier: BSD-3-Clause */
/* application.nodes and application.edges against what is registered, before there are ports. */
#include <stdio.h>
#include <string.h>

#include <weir_base_rules.h>
#include <weir_graph.h>

#include "config.h"
#include "wiring.h"
#include "wiring_flow.h"

/* "a, b, c": node types that a description may name, and of these such as an edge may lead to. */
static const char *
type_names(const struct wiring_arc *arc)
{
	static char names[1024];
	const char *name, *what, *from;
	size_t used = 0;
	uint32_t id;

	names[0] = '\0';
	for (id = 0; id < weir_graph_node_max_count(); id++) {
		name = weir_graph_node_name(id);
		if (name == NULL || wiring_flow_is_receive(name) || wiring_flow_is_transmit(name) ||
			(arc != NULL &&
				(wiring_flow_is_sched_rx(name) || wiring_flow_is_link_rx(name))) ||
			used + strlen(name) + 3 > sizeof(names) ||
			(arc != NULL && wiring_flow_lacks(arc->from_type, arc->edge_name, name,
						&what, &from)))
			continue;
		used += (size_t)snprintf(
			names + used, sizeof(names) - used, "%s%s", used > 0 ? ", " : "", name);
	}
	return names;
}

static bool
belongs_to_port(const char *type)
{
	return wiring_flow_is_receive(type) || wiring_flow_is_transmit(type);
}

/* Of these only own nodes are any use. */
static bool
is_pattern(const char *type)
{
	return belongs_to_port(type) || wiring_flow_is_sched_rx(type) ||
	       wiring_flow_is_sched_tx(type) || wiring_flow_is_link_rx(type);
}

static void
check_node(struct config *config, const struct weir_base_doc_value *node)
{
	const char *name = weir_base_doc_name(node);
	const struct weir_base_doc_value *value = weir_base_doc_get(node, "type");
	const char *type = weir_base_doc_str(value);

	if (weir_graph_node_from_name(type) == WEIR_GRAPH_NODE_INVALID)
		weir_base_doc_error_add(config->doc, value,
			"unknown node type '%s'; expected one of: %s", type, type_names(NULL));
	else if (belongs_to_port(type))
		weir_base_doc_error_add(config->doc, value,
			"nodes of type '%s' belong to a port; expected one of: %s", type,
			type_names(NULL));
	if (config_port_find(config, name) >= 0 ||
		weir_graph_node_from_name(name) != WEIR_GRAPH_NODE_INVALID)
		weir_base_doc_error_add(config->doc, node,
			"'%s' is the name of a port or a registered node; expected another one",
			name);
	if (!weir_base_is_name(name, 31))
		weir_base_doc_error_add(config->doc, node,
			"node name '%s' cannot be used; expected 1 to 31 letters, digits or '_'",
			name);
}

static bool
resolve_from(struct config *config, struct wiring_arc *arc)
{
	const char *type = wiring_own_node_type(config, arc->text.from);

	arc->from_port = type == NULL ? config_port_find(config, arc->text.from) : -1;
	if (arc->from_port >= 0)
		type = config->ports[arc->from_port].device != NULL ? "ethdev_rx" : "pcap_rx";
	else if (type == NULL)
		type = is_pattern(arc->text.from) ? "" : arc->text.from;
	arc->node = weir_graph_node_from_name(type);
	if (arc->node == WEIR_GRAPH_NODE_INVALID)
		return false;
	arc->from_type = weir_graph_node_name(arc->node);
	return true;
}

static bool
resolve_edge(struct config *config, struct wiring_arc *arc, unsigned int *nb_found)
{
	*nb_found = 0;
	arc->edge_name = NULL;
	arc->edge_port = -1;
	arc->edge_queue = -1;
	if (wiring_flow_is_sched_rx(arc->from_type)) {
		arc->edge = wiring_find_queue_edge(
			config, arc->text.from, arc->text.edge, &arc->edge_queue);
		return arc->edge != WEIR_GRAPH_EDGE_INVALID;
	}
	if (wiring_flow_has_port_edges(arc->from_type))
		arc->edge_port = config_port_find(config, arc->text.edge);
	if (arc->edge_port >= 0)
		return true;
	arc->edge = wiring_find_edge(arc->node, arc->text.edge, nb_found);
	if (arc->edge == WEIR_GRAPH_EDGE_INVALID)
		return false;
	arc->edge_name = weir_graph_node_edge_name(arc->node, arc->edge);
	return true;
}

static bool
resolve_to(struct config *config, struct wiring_arc *arc)
{
	const char *type = wiring_own_node_type(config, arc->text.to);

	arc->to_port = type == NULL ? config_port_find(config, arc->text.to) : -1;
	if (arc->to_port >= 0)
		type = config->ports[arc->to_port].device != NULL ? "ethdev_tx" : "pcap_tx";
	else if (type == NULL)
		type = is_pattern(arc->text.to) ? "" : arc->text.to;
	arc->to_type = type;
	return weir_graph_node_from_name(type) != WEIR_GRAPH_NODE_INVALID;
}

bool
wiring_resolve(struct config *config, const struct weir_base_doc_value *value,
	struct wiring_arc *arc, bool report)
{
	static const char unknown[] = "unknown node '%s'; expected a registered node, one of "
				      "application.nodes, or a port; registered are: %s";
	unsigned int nb_found;
	bool good = true;

	weir_base_node_edge_parse(weir_base_doc_str(value), &arc->text);
	if (!resolve_from(config, arc)) {
		good = false;
		if (report)
			weir_base_doc_error_add(
				config->doc, value, unknown, arc->text.from, type_names(NULL));
	} else if (!resolve_edge(config, arc, &nb_found)) {
		good = false;
		if (report)
			weir_base_doc_error_add(config->doc, value,
				"%s '%s' of node '%s'; expected one of: %s%s",
				nb_found > 1 ? "several edges begin with" : "unknown edge",
				arc->text.edge, arc->text.from,
				wiring_flow_is_sched_rx(arc->from_type)
					? "its queues"
					: wiring_edge_names(arc->node),
				wiring_flow_has_port_edges(arc->from_type) ? ", or a port" : "");
	}
	if (!resolve_to(config, arc)) {
		good = false;
		if (report)
			weir_base_doc_error_add(
				config->doc, value, unknown, arc->text.to, type_names(NULL));
	}
	return good;
}

static void
check_edge(struct config *config, const struct weir_base_doc_value *value)
{
	const struct config_shared *shared;
	struct wiring_arc arc;
	const char *what, *from;

	if (!wiring_resolve(config, value, &arc, true))
		return;
	shared = arc.from_port >= 0 ? config_shared_of_port(config, arc.from_port) : NULL;
	if (shared != NULL) {
		weir_base_doc_error_add(config->doc, value,
			"node '%s' receives from port '%s' in its place; expected '%s.%s'",
			shared->name, arc.text.from, shared->name, arc.text.edge);
		return;
	}
	if (wiring_flow_is_link_rx(arc.to_type)) {
		weir_base_doc_error_add(config->doc, value,
			"'%s' gets its packets from a port; expected an edge to another node",
			arc.text.to);
		return;
	}
	if (wiring_flow_is_sched_rx(arc.to_type)) {
		weir_base_doc_error_add(config->doc, value,
			"'%s' gets its packets from queues; expected an edge to a node of type "
			"sched_tx, or to another node",
			arc.text.to);
		return;
	}
	if (wiring_flow_lacks(arc.from_type, arc.edge_name, arc.to_type, &what, &from))
		weir_base_doc_error_add(config->doc, value,
			"'%s' needs %s, which only %s gives, not %s.%s; expected a port, or a node "
			"of type: %s",
			arc.text.to, what, from, arc.text.from,
			arc.edge_name != NULL ? arc.edge_name : arc.text.edge, type_names(&arc));
}

void
wiring_check(struct config *config)
{
	const struct weir_base_doc_value *nodes = weir_base_doc_get(config->application, "nodes");
	const struct weir_base_doc_value *edges = weir_base_doc_get(config->application, "edges");
	unsigned int nb_errors = config_nb_errors(config), i;

	for (i = 0; i < weir_base_doc_count(nodes); i++)
		check_node(config, weir_base_doc_at(nodes, i));
	for (i = 0; i < weir_base_doc_count(edges); i++)
		check_edge(config, weir_base_doc_at(edges, i));
	if (config_nb_errors(config) == nb_errors && !config->em.is_bad &&
		wiring_graph_check(config) < 0)
		weir_base_doc_error_add(config->doc, edges, "out of memory");
}
