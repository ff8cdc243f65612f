/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of nodes and edges that a description adds to the graph, or changes, one by one. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "graph_private.h"
#include "weir_base_rules.h"

#define NAME_MAX_BYTES 31

uint32_t
graph_index(const struct weir_base_doc_value *map, const char *name)
{
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(map); i++)
		if (strcmp(weir_base_doc_name(weir_base_doc_at(map, i)), name) == 0)
			return i;
	return GRAPH_NONE;
}

const struct weir_base_node_type *
graph_type_of(const struct weir_base_doc_value *node)
{
	return weir_base_node_type_find(weir_base_doc_str(weir_base_doc_get(node, "type")));
}

static bool
lists(const struct weir_base_doc_value *list, const char *name, uint32_t *at)
{
	for (*at = 0; *at < weir_base_doc_count(list); (*at)++)
		if (strcmp(weir_base_doc_str(weir_base_doc_at(list, *at)), name) == 0)
			return true;
	return false;
}

const struct weir_base_doc_value *
graph_brings(const struct graph *graph, const char *queue, uint32_t *edge)
{
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(graph->nodes); i++) {
		const struct weir_base_doc_value *node = weir_base_doc_at(graph->nodes, i);
		const struct weir_base_node_type *type = graph_type_of(node);

		if (type != NULL && type->role == WEIR_BASE_NODE_BRINGS &&
			lists(weir_base_doc_get(node, "queues"), queue, edge))
			return node;
	}
	return NULL;
}

const struct weir_base_doc_value *
graph_serves(const struct graph *graph, const char *queue)
{
	uint32_t i, at;

	for (i = 0; i < weir_base_doc_count(graph->objects); i++) {
		const struct weir_base_doc_value *object = weir_base_doc_at(graph->objects, i);

		if (lists(weir_base_doc_get(object, "queues"), queue, &at))
			return object;
	}
	return NULL;
}

static bool
belongs_to_port(const struct weir_base_node_type *type)
{
	return type->role == WEIR_BASE_NODE_RECEIVES || type->role == WEIR_BASE_NODE_TRANSMITS;
}

/* Of others only own nodes are any use. */
static bool
stands_for_itself(const struct weir_base_node_type *type)
{
	return type->role == WEIR_BASE_NODE_PASSES || type->role == WEIR_BASE_NODE_FREES;
}

static bool
gets_no_edges(const struct weir_base_node_type *type)
{
	return type->role == WEIR_BASE_NODE_BRINGS || type->role == WEIR_BASE_NODE_LINKS;
}

/* "a, b, c": types that a description may name; of these, with an arc, such as its edge may lead to. */
static const char *
type_names(const struct graph_arc *arc, char *names, size_t size)
{
	const struct weir_base_node_type *type;
	const char *what, *from;
	size_t used = 0;

	names[0] = '\0';
	for (type = weir_base_node_types; type->name != NULL; type++) {
		if (belongs_to_port(type) || (arc != NULL && gets_no_edges(type)) ||
			used + strlen(type->name) + 3 > size ||
			(arc != NULL && graph_edge_lacks(arc->from->name, arc->edge_name,
						type->name, &what, &from)))
			continue;
		used += (size_t)snprintf(
			names + used, size - used, "%s%s", used > 0 ? ", " : "", type->name);
	}
	return names;
}

static void
check_node(const struct graph *graph, const struct weir_base_doc_value *node)
{
	const struct weir_base_doc_value *value = weir_base_doc_get(node, "type");
	const struct weir_base_node_type *type = graph_type_of(node);
	const char *name = weir_base_doc_name(node);
	char names[512];

	if (type == NULL)
		weir_base_doc_error_add(graph->doc, value,
			"unknown node type '%s'; expected one of: %s", weir_base_doc_str(value),
			type_names(NULL, names, sizeof(names)));
	else if (belongs_to_port(type))
		weir_base_doc_error_add(graph->doc, value,
			"nodes of type '%s' belong to a port; expected one of: %s", type->name,
			type_names(NULL, names, sizeof(names)));
	if (weir_base_doc_get(graph->ports, name) != NULL || weir_base_node_type_find(name) != NULL)
		weir_base_doc_error_add(graph->doc, node,
			"'%s' is the name of a port or a registered node; expected another one",
			name);
	if (!weir_base_is_name(name, NAME_MAX_BYTES))
		weir_base_doc_error_add(graph->doc, node,
			"node name '%s' cannot be used; expected 1 to %d letters, digits or '_'",
			name, NAME_MAX_BYTES);
}

/* ---- edges ---- */

/* A node on either side of an edge; NULL: there is none. @param[out] port  its index, if it is one */
static const struct weir_base_node_type *
find_node(const struct graph *graph, const char *name, bool is_left, uint32_t *port)
{
	const struct weir_base_doc_value *own = weir_base_doc_get(graph->nodes, name);
	const struct weir_base_node_type *type;
	bool is_device;

	*port = own == NULL ? graph_index(graph->ports, name) : GRAPH_NONE;
	if (own != NULL)
		return graph_type_of(own);
	if (*port == GRAPH_NONE) {
		type = weir_base_node_type_find(name);
		return type != NULL && stands_for_itself(type) ? type : NULL;
	}
	is_device = weir_base_doc_given(weir_base_doc_at(graph->ports, *port), "device");
	if (is_left)
		return weir_base_node_type_find(
			is_device ? WEIR_BASE_NODE_ETHDEV_RX : WEIR_BASE_NODE_PCAP_RX);
	return weir_base_node_type_find(
		is_device ? WEIR_BASE_NODE_ETHDEV_TX : WEIR_BASE_NODE_PCAP_TX);
}

/* An edge by the whole of its name, else by a beginning that only one has. @return how many it could be */
static unsigned int
find_edge(const struct graph_arc *arc, uint32_t *found)
{
	const char *const *edges = arc->from->edges;
	unsigned int nb = 0;
	uint32_t i;

	for (i = 0; edges[i] != NULL; i++) {
		if (strncmp(edges[i], arc->text.edge, strlen(arc->text.edge)) != 0)
			continue;
		*found = i;
		if (strcmp(edges[i], arc->text.edge) == 0)
			return 1;
		nb++;
	}
	return nb;
}

/* @param[out] nb_found  how many it could be */
static bool
resolve_edge(const struct graph *graph, struct graph_arc *arc, unsigned int *nb_found)
{
	const struct weir_base_doc_value *node;

	*nb_found = 0;
	arc->edge_name = NULL;
	arc->edge_port = arc->edge_queue = GRAPH_NONE;
	if (arc->from->role == WEIR_BASE_NODE_BRINGS) {
		node = graph_brings(graph, arc->text.edge, &arc->edge);
		if (node == NULL || strcmp(weir_base_doc_name(node), arc->text.from) != 0)
			return false;
		arc->edge_queue = graph_index(graph->queues, arc->text.edge);
		return arc->edge_queue != GRAPH_NONE;
	}
	if (arc->from->leads_to_ports)
		arc->edge_port = graph_index(graph->ports, arc->text.edge);
	if (arc->edge_port != GRAPH_NONE)
		return true;
	*nb_found = find_edge(arc, &arc->edge);
	if (*nb_found != 1)
		return false;
	arc->edge_name = arc->from->edges[arc->edge];
	return true;
}

static const char *
edge_names(const struct weir_base_node_type *type, char *names, size_t size)
{
	size_t used = 0;
	uint32_t i;

	snprintf(names, size, "nothing: it has no edges");
	for (i = 0; type->edges[i] != NULL && used < size; i++)
		used += (size_t)snprintf(
			names + used, size - used, "%s%s", i > 0 ? ", " : "", type->edges[i]);
	return names;
}

static void
refuse_edge(const struct graph *graph, const struct weir_base_doc_value *value,
	const struct graph_arc *arc, unsigned int nb_found)
{
	char names[512];

	weir_base_doc_error_add(graph->doc, value, "%s '%s' of node '%s'; expected one of: %s%s",
		nb_found > 1 ? "several edges begin with" : "unknown edge", arc->text.edge,
		arc->text.from,
		arc->from->role == WEIR_BASE_NODE_BRINGS
			? "its queues"
			: edge_names(arc->from, names, sizeof(names)),
		arc->from->leads_to_ports ? ", or a port" : "");
}

bool
graph_resolve(const struct graph *graph, const struct weir_base_doc_value *value,
	struct graph_arc *arc, bool report)
{
	static const char unknown[] = "unknown node '%s'; expected a registered node, one of "
				      "application.nodes, or a port; registered are: %s";
	unsigned int nb_found;
	bool is_good = true;
	char names[512];

	weir_base_node_edge_parse(weir_base_doc_str(value), &arc->text);
	arc->from = find_node(graph, arc->text.from, true, &arc->from_port);
	arc->to = find_node(graph, arc->text.to, false, &arc->to_port);
	if (arc->from == NULL) {
		is_good = false;
		if (report && weir_base_doc_get(graph->nodes, arc->text.from) == NULL)
			weir_base_doc_error_add(graph->doc, value, unknown, arc->text.from,
				type_names(NULL, names, sizeof(names)));
	} else if (!resolve_edge(graph, arc, &nb_found)) {
		is_good = false;
		/* Which edges there are for queues is not known where these are wrong. */
		if (report && (graph->has_queues || arc->from->role != WEIR_BASE_NODE_BRINGS))
			refuse_edge(graph, value, arc, nb_found);
	}
	/* Of one of its own nodes the type is wrong, which is told. */
	if (arc->to == NULL && report && weir_base_doc_get(graph->nodes, arc->text.to) == NULL)
		weir_base_doc_error_add(graph->doc, value, unknown, arc->text.to,
			type_names(NULL, names, sizeof(names)));
	return is_good && arc->to != NULL;
}

/* The node that links share with the graph, which receives from a port in place of its own one; NULL: none does. */
static const struct weir_base_doc_value *
shares(const struct graph *graph, const char *port)
{
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(graph->nodes); i++) {
		const struct weir_base_doc_value *node = weir_base_doc_at(graph->nodes, i);
		const char *of = weir_base_doc_str(weir_base_doc_get(node, "port"));
		const struct weir_base_node_type *type = graph_type_of(node);

		if (type != NULL && type->role == WEIR_BASE_NODE_LINKS && of != NULL &&
			strcmp(of, port) == 0)
			return node;
	}
	return NULL;
}

static void
check_edge(const struct graph *graph, const struct weir_base_doc_value *value)
{
	const struct weir_base_doc_value *shared;
	const char *what, *from;
	struct graph_arc arc;
	char names[512];

	if (!graph_resolve(graph, value, &arc, true))
		return;
	shared = arc.from_port != GRAPH_NONE ? shares(graph, arc.text.from) : NULL;
	if (shared != NULL)
		weir_base_doc_error_add(graph->doc, value,
			"node '%s' receives from port '%s' in its place; expected '%s.%s'",
			weir_base_doc_name(shared), arc.text.from, weir_base_doc_name(shared),
			arc.text.edge);
	else if (arc.to->role == WEIR_BASE_NODE_LINKS)
		weir_base_doc_error_add(graph->doc, value,
			"'%s' gets its packets from a port; expected an edge to another node",
			arc.text.to);
	else if (arc.to->role == WEIR_BASE_NODE_BRINGS)
		weir_base_doc_error_add(graph->doc, value,
			"'%s' gets its packets from queues; expected an edge to a node of type "
			"sched_tx, or to another node",
			arc.text.to);
	else if (graph_edge_lacks(arc.from->name, arc.edge_name, arc.to->name, &what, &from))
		weir_base_doc_error_add(graph->doc, value,
			"'%s' needs %s, which only %s gives, not %s.%s; expected a port, or a node "
			"of type: %s",
			arc.text.to, what, from, arc.text.from,
			arc.edge_name != NULL ? arc.edge_name : arc.text.edge,
			type_names(&arc, names, sizeof(names)));
}

struct graph
graph_of(struct weir_base_doc *doc, bool is_simulated)
{
	const struct weir_base_doc_value *root = weir_base_doc_root(doc);
	const struct weir_base_doc_value *application = weir_base_doc_get(root, "application");
	const struct weir_base_doc_value *traffic = weir_base_doc_get(root, "traffic");

	return (struct graph){
		.doc = doc,
		.ports = weir_base_doc_get(weir_base_doc_get(root, "platform"), "ports"),
		.nodes = weir_base_doc_get(application, "nodes"),
		.edges = weir_base_doc_get(application, "edges"),
		.queues = weir_base_doc_get(application, "queues"),
		.objects = weir_base_doc_get(application, "objects"),
		.streams = is_simulated ? weir_base_doc_get(traffic, "streams") : NULL,
		.is_simulated = is_simulated,
	};
}

void
weir_base_rules_graph(struct weir_base_doc *doc, bool is_whole, bool is_simulated)
{
	struct graph graph = graph_of(doc, is_simulated);
	unsigned int before, nb_errors;
	uint32_t i;

	graph.has_queues = is_whole;

	weir_base_doc_errors(doc, &before);
	for (i = 0; i < weir_base_doc_count(graph.nodes); i++)
		check_node(&graph, weir_base_doc_at(graph.nodes, i));
	for (i = 0; i < weir_base_doc_count(graph.edges); i++)
		check_edge(&graph, weir_base_doc_at(graph.edges, i));
	weir_base_doc_errors(doc, &nb_errors);
	if (nb_errors == before && is_whole && graph_check_whole(&graph) < 0)
		weir_base_doc_error_add(doc, graph.edges, "out of memory");
}
