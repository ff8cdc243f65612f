/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graph as it will be, before there is one: is each edge changed once, does every circle of edges
 * end, and does every node that the description declares get packets?
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_private.h"

/* An edge. */
struct link {
	uint32_t from, to;
	bool ages;                               /* takes one off the time to live */
	const struct weir_base_doc_value *value; /* where the description changes it, or NULL */
};

/*
 * Nodes by number: ports as they receive, ports as they transmit, types, own ones, and queues of events. A queue's link is
 * the edge of the sched_rx node that it is for, or where its object sends to; nodes that send to a queue have one more link, to that.
 */
struct plan {
	const struct graph *graph;
	uint32_t nb_ports, nb_types, nb_queues, first_own, first_queue, nb_nodes;
	uint32_t *first; /* link of each node, and one more */
	struct link *links;
	uint32_t *before; /* per node: link that a search came by, plus one; 0: not reached */
	uint32_t *queue;
};

static const struct weir_base_doc_value *
own_of(const struct plan *plan, uint32_t node)
{
	return weir_base_doc_at(plan->graph->nodes, node - plan->first_own);
}

static const struct weir_base_doc_value *
queue_of(const struct plan *plan, uint32_t node)
{
	return weir_base_doc_at(plan->graph->queues, node - plan->first_queue);
}

/* NULL: packets end there, or it is a queue. */
static const struct weir_base_node_type *
type_of(const struct plan *plan, uint32_t node)
{
	const struct weir_base_doc_value *port;

	if (node < plan->nb_ports) {
		port = weir_base_doc_at(plan->graph->ports, node);
		return weir_base_node_type_find(weir_base_doc_given(port, "device")
							? WEIR_BASE_NODE_ETHDEV_RX
							: WEIR_BASE_NODE_PCAP_RX);
	}
	if (node < 2 * plan->nb_ports || node >= plan->first_queue)
		return NULL;
	return node < plan->first_own ? &weir_base_node_types[node - 2 * plan->nb_ports]
				      : graph_type_of(own_of(plan, node));
}

static const char *
node_name(const struct plan *plan, uint32_t node)
{
	if (node < 2 * plan->nb_ports)
		return weir_base_doc_name(
			weir_base_doc_at(plan->graph->ports, node % plan->nb_ports));
	if (node < plan->first_own)
		return weir_base_node_types[node - 2 * plan->nb_ports].name;
	return weir_base_doc_name(
		node < plan->first_queue ? own_of(plan, node) : queue_of(plan, node));
}

/* The node of that name; without one, that of a port. */
static uint32_t
find_node(const struct plan *plan, const char *name, uint32_t port, bool is_left)
{
	uint32_t own;

	if (port != GRAPH_NONE)
		return port + (is_left ? 0 : plan->nb_ports);
	own = graph_index(plan->graph->nodes, name);
	return own != GRAPH_NONE ? plan->first_own + own
				 : 2 * plan->nb_ports + (uint32_t)(weir_base_node_type_find(name) -
								   weir_base_node_types);
}

/* The queue that an own node sends to, as a node; 0: none. */
static uint32_t
target_of_node(const struct plan *plan, uint32_t node)
{
	const struct weir_base_node_type *type = type_of(plan, node);
	const struct weir_base_doc_value *to;
	uint32_t index;

	if (node < plan->first_own || type == NULL ||
		(type->role != WEIR_BASE_NODE_SENDS && type->role != WEIR_BASE_NODE_WORKS))
		return 0;
	to = weir_base_doc_get(own_of(plan, node), "queue");
	index = to != NULL ? graph_index(plan->graph->queues, weir_base_doc_str(to)) : GRAPH_NONE;
	return index != GRAPH_NONE ? plan->first_queue + index : 0;
}

/* Where the object of a queue sends to, where that is all that it does; NULL: nobody knows. */
static const struct weir_base_doc_value *
to_of(const struct plan *plan, uint32_t node)
{
	const struct weir_base_doc_value *object = graph_serves(plan->graph, node_name(plan, node));

	return weir_base_doc_get(object, "receive") != NULL ? weir_base_doc_get(object, "to")
							    : NULL;
}

/* Where the packets of a queue go to at first, as a node; 0: nobody knows. */
static uint32_t
target_of_queue(const struct plan *plan, uint32_t node)
{
	const struct weir_base_doc_value *to = to_of(plan, node);
	uint32_t index =
		to != NULL ? graph_index(plan->graph->queues, weir_base_doc_str(to)) : GRAPH_NONE;
	uint32_t edge;

	if (index != GRAPH_NONE)
		return plan->first_queue + index;
	return graph_brings(plan->graph, node_name(plan, node), &edge) != NULL
		       ? find_node(plan, WEIR_BASE_NODE_DROP, GRAPH_NONE, false)
		       : 0;
}

static uint32_t
nb_edges_of(const struct weir_base_node_type *type)
{
	uint32_t nb = 0;

	while (type->edges[nb] != NULL)
		nb++;
	return nb;
}

static uint32_t
count_links(const struct plan *plan, uint32_t node)
{
	const struct weir_base_node_type *type = type_of(plan, node);

	if (node >= plan->first_queue)
		return target_of_queue(plan, node) != 0;
	if (type == NULL)
		return 0;
	return nb_edges_of(type) + (type->leads_to_ports ? plan->nb_ports : 0) +
	       (target_of_node(plan, node) != 0);
}

/* The links of a node as they are in the graph to begin with. */
static void
make_links(struct plan *plan, uint32_t node)
{
	const struct weir_base_node_type *type = type_of(plan, node);
	struct link *link = &plan->links[plan->first[node]];
	uint32_t nb = plan->first[node + 1] - plan->first[node], nb_own, i;

	if (nb == 0)
		return;
	if (node >= plan->first_queue) {
		*link = (struct link){node, target_of_queue(plan, node), false, to_of(plan, node)};
		return;
	}
	if (target_of_node(plan, node) != 0)
		link[--nb] = (struct link){node, target_of_node(plan, node), false, NULL};
	nb_own = nb_edges_of(type);
	for (i = 0; i < nb; i++, link++) {
		const char *edge = i < nb_own ? type->edges[i] : NULL;

		*link = (struct link){node,
			find_node(plan, edge, edge == NULL ? i - nb_own : GRAPH_NONE, false),
			graph_edge_ages(type->name, edge), NULL};
	}
}

/* The link that an edge of the description changes. */
static struct link *
find_link(const struct plan *plan, const struct graph_arc *arc)
{
	const uint32_t from = find_node(plan, arc->text.from, arc->from_port, true);
	const uint32_t edge =
		arc->edge_port != GRAPH_NONE ? nb_edges_of(arc->from) + arc->edge_port : arc->edge;

	if (arc->edge_queue != GRAPH_NONE)
		return &plan->links[plan->first[plan->first_queue + arc->edge_queue]];
	return &plan->links[plan->first[from] + edge];
}

static void
refuse_second_change(const struct plan *plan, const struct graph_arc *arc,
	const struct weir_base_doc_value *first, const struct weir_base_doc_value *second)
{
	unsigned int line, column;
	const char *file = weir_base_doc_where(first, &line, &column);

	weir_base_doc_error_add(plan->graph->doc, second,
		"edge '%s.%s' is changed already, at %s:%u:%u; expected each edge once",
		arc->text.from, arc->edge_name != NULL ? arc->edge_name : arc->text.edge, file,
		line, column);
}

static void
change_links(struct plan *plan)
{
	const struct weir_base_doc_value *edges = plan->graph->edges, *value;
	struct graph_arc arc;
	struct link *link;
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(edges); i++) {
		value = weir_base_doc_at(edges, i);
		if (!graph_resolve(plan->graph, value, &arc, false))
			continue;
		link = find_link(plan, &arc);
		if (link->value != NULL) {
			refuse_second_change(plan, &arc, link->value, value);
			continue;
		}
		link->to = find_node(plan, arc.text.to, arc.to_port, false);
		link->value = value;
	}
}

static int
make_plan(struct plan *plan, const struct graph *graph)
{
	uint32_t i;

	plan->graph = graph;
	plan->nb_ports = weir_base_doc_count(graph->ports);
	plan->nb_queues = weir_base_doc_count(graph->queues);
	while (weir_base_node_types[plan->nb_types].name != NULL)
		plan->nb_types++;
	plan->first_own = 2 * plan->nb_ports + plan->nb_types;
	plan->first_queue = plan->first_own + weir_base_doc_count(graph->nodes);
	plan->nb_nodes = plan->first_queue + plan->nb_queues;
	plan->first = calloc((size_t)plan->nb_nodes + 1, sizeof(*plan->first));
	plan->before = calloc((size_t)plan->nb_nodes + 1, sizeof(*plan->before));
	plan->queue = calloc((size_t)plan->nb_nodes + 1, sizeof(*plan->queue));
	if (plan->first == NULL || plan->before == NULL || plan->queue == NULL)
		return -ENOMEM;
	for (i = 0; i < plan->nb_nodes; i++)
		plan->first[i + 1] = plan->first[i] + count_links(plan, i);
	plan->links = calloc((size_t)plan->first[plan->nb_nodes] + 1, sizeof(*plan->links));
	if (plan->links == NULL)
		return -ENOMEM;
	for (i = 0; i < plan->nb_nodes; i++)
		make_links(plan, i);
	change_links(plan);
	return 0;
}

/* Note in plan->before what the first @p nb nodes in plan->queue lead to; @p ageing: through edges that age, too. */
static void
search(struct plan *plan, uint32_t nb, bool ageing)
{
	const struct link *link;
	uint32_t at, i;

	memset(plan->before, 0, plan->nb_nodes * sizeof(*plan->before));
	for (at = 0; at < nb; at++)
		for (i = plan->first[plan->queue[at]]; i < plan->first[plan->queue[at] + 1]; i++) {
			link = &plan->links[i];
			if (plan->before[link->to] != 0 || (link->ages && !ageing))
				continue;
			plan->before[link->to] = i + 1;
			if (nb <= plan->nb_nodes)
				plan->queue[nb++] = link->to;
		}
}

/* "a -> b -> a", as far as it fits. */
static void
circle_text(const struct plan *plan, const struct link *closing, char *text, size_t size)
{
	uint32_t nb = 0, node = closing->from;
	size_t used;

	do {
		plan->queue[nb++] = node;
		node = plan->links[plan->before[node] - 1].from;
	} while (node != closing->to && node != closing->from && nb < plan->nb_nodes);
	used = (size_t)snprintf(text, size, "%s", node_name(plan, closing->from));
	if (closing->to != closing->from)
		used += (size_t)snprintf(
			text + used, size - used, " -> %s", node_name(plan, closing->to));
	while (nb > 0 && used + WEIR_BASE_NODE_NAME_SIZE + 8 < size) {
		nb--;
		used += (size_t)snprintf(
			text + used, size - used, " -> %s", node_name(plan, plan->queue[nb]));
	}
}

static void
check_circle(struct plan *plan, struct link *link)
{
	char text[512];

	plan->queue[0] = link->to;
	search(plan, 1, false);
	if (link->to == link->from)
		plan->before[link->from] = (uint32_t)(link - plan->links) + 1;
	if (plan->before[link->from] == 0)
		return;
	circle_text(plan, link, text, sizeof(text));
	weir_base_doc_error_add(plan->graph->doc, link->value,
		"packets would go round for ever: %s; expected an edge from ip4_rewrite or "
		"ip6_rewrite to a port in every circle, for these count down the time to live",
		text);
	link->ages = true; /* said once, and not again of the circle's other edges */
}

/* Is it one of Weir's own, of which it is known where it sends to? */
static bool
is_builtin(const struct weir_base_doc_value *object)
{
	const char *receive = weir_base_doc_str(weir_base_doc_get(object, "receive"));

	return receive != NULL && strchr(receive, ':') == NULL;
}

static bool
gets_stream(const struct graph *graph, const char *queue)
{
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(graph->streams); i++) {
		const char *to = weir_base_doc_str(
			weir_base_doc_get(weir_base_doc_at(graph->streams, i), "to"));

		if (to != NULL && strcmp(to, queue) == 0)
			return true;
	}
	return false;
}

/* Those that receive, one for each port, and then queues: an object that is not Weir's may send to any. */
static uint32_t
list_sources(struct plan *plan, bool *any_queue)
{
	const struct weir_base_doc_value *nodes = plan->graph->nodes, *objects;
	uint32_t nb = 0, i, j;

	for (i = 0; i < plan->nb_ports; i++)
		plan->queue[nb++] = i;
	/* A node that links share with the graph receives in place of a port's own one. */
	for (i = 0; i < weir_base_doc_count(nodes); i++) {
		const struct weir_base_doc_value *node = weir_base_doc_at(nodes, i);
		const struct weir_base_doc_value *port = weir_base_doc_get(node, "port");

		if (graph_type_of(node)->role != WEIR_BASE_NODE_LINKS || port == NULL)
			continue;
		j = graph_index(plan->graph->ports, weir_base_doc_str(port));
		if (j != GRAPH_NONE)
			plan->queue[j] = plan->first_own + i;
	}
	objects = plan->graph->objects;
	for (i = 0; i < weir_base_doc_count(objects); i++)
		if (!is_builtin(weir_base_doc_at(objects, i)))
			break;
	*any_queue = i < weir_base_doc_count(objects);
	for (j = plan->first_queue; j < plan->nb_nodes; j++)
		if (*any_queue || gets_stream(plan->graph, node_name(plan, j)))
			plan->queue[nb++] = j;
	return nb;
}

static void
check_reached(struct plan *plan)
{
	bool any_queue;
	const uint32_t nb = list_sources(plan, &any_queue);
	uint32_t i, j;

	search(plan, nb, true);
	for (j = plan->first_queue; j < plan->nb_nodes; j++)
		if (gets_stream(plan->graph, node_name(plan, j)))
			plan->before[j] = UINT32_MAX;
	for (i = plan->first_own; i < plan->first_queue; i++) {
		const enum weir_base_node_role role = type_of(plan, i)->role;

		if (plan->before[i] == 0 && role != WEIR_BASE_NODE_BRINGS &&
			role != WEIR_BASE_NODE_LINKS)
			weir_base_doc_error_add(plan->graph->doc, own_of(plan, i),
				"nothing leads to node '%s'; expected an edge to it in "
				"application.edges, that packets can come by",
				node_name(plan, i));
	}
	for (; !any_queue && i < plan->nb_nodes; i++)
		if (plan->before[i] == 0)
			weir_base_doc_error_add(plan->graph->doc, queue_of(plan, i),
				"no packet comes to queue '%s'; expected a node of type sched_tx "
				"that it can come by, or an object",
				node_name(plan, i));
}

int
graph_check_whole(const struct graph *graph)
{
	struct plan plan = {0};
	uint32_t i;
	int error = make_plan(&plan, graph);

	if (error == 0) {
		for (i = 0; i < plan.first[plan.nb_nodes]; i++)
			if (plan.links[i].value != NULL && !plan.links[i].ages)
				check_circle(&plan, &plan.links[i]);
		if (plan.nb_ports > 0 || plan.nb_queues > 0)
			check_reached(&plan);
	}
	free(plan.first);
	free(plan.links);
	free(plan.before);
	free(plan.queue);
	return error;
}
