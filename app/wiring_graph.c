/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graph as it will be, before there is one: is each edge changed once, does every circle of edges
 * end, and does every node that the description declares get packets?
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir_graph.h>

#include "config.h"
#include "wiring.h"
#include "wiring_flow.h"

/* An edge. */
struct link {
	unsigned int from;
	unsigned int to;
	bool ages;                               /* takes one off the time to live */
	const struct weir_base_doc_value *value; /* where the description changes it, or NULL */
};

/*
 * Nodes by number: ports as they receive, ports as they transmit, registered ones, own ones, and queues of events. A queue's link is
 * the edge of the sched_rx node that it is for, or where its object sends to; sched_tx and job nodes have one more link, to their queue.
 */
struct plan {
	struct config *config;
	const struct weir_base_doc_value *own;
	unsigned int nb_ports;
	unsigned int nb_registered;
	unsigned int first_own;
	unsigned int first_queue;
	unsigned int nb_nodes;
	unsigned int *first; /* link of each node, and one more */
	struct link *links;
	unsigned int *before; /* per node: link that a search came by, plus one; 0: not reached */
	unsigned int *queue;
};

static uint32_t
node_id(const struct plan *plan, unsigned int node)
{
	const char *name;

	if (node < plan->nb_ports)
		return weir_graph_node_from_name(
			plan->config->ports[node].device != NULL ? "ethdev_rx" : "pcap_rx");
	if (node < 2 * plan->nb_ports)
		return WEIR_GRAPH_NODE_INVALID;
	if (node < plan->first_own)
		return node - 2 * plan->nb_ports;
	if (node >= plan->first_queue)
		return WEIR_GRAPH_NODE_INVALID;
	name = weir_base_doc_str(
		weir_base_doc_get(weir_base_doc_at(plan->own, node - plan->first_own), "type"));
	return weir_graph_node_from_name(name);
}

static const char *
node_name(const struct plan *plan, unsigned int node)
{
	if (node < 2 * plan->nb_ports)
		return plan->config->ports[node % plan->nb_ports].name;
	if (node < plan->first_own)
		return weir_graph_node_name(node - 2 * plan->nb_ports);
	if (node >= plan->first_queue)
		return plan->config->em.queues[node - plan->first_queue].name;
	return weir_base_doc_name(weir_base_doc_at(plan->own, node - plan->first_own));
}

static unsigned int
find_node(const struct plan *plan, const char *name, int port, bool left)
{
	unsigned int i;

	if (port >= 0)
		return (unsigned int)port + (left ? 0 : plan->nb_ports);
	for (i = 0; i < weir_base_doc_count(plan->own); i++)
		if (strcmp(weir_base_doc_name(weir_base_doc_at(plan->own, i)), name) == 0)
			return plan->first_own + i;
	return 2 * plan->nb_ports + weir_graph_node_from_name(name);
}

/* The queue that an own node sends to, as a node, or 0. */
static unsigned int
queue_of_node(const struct plan *plan, unsigned int node)
{
	const struct config_sched_node *sched = NULL;

	if (node >= plan->first_own && node < plan->first_queue)
		sched = config_sched_node_find(plan->config, node_name(plan, node));
	return sched != NULL && sched->queue != CONFIG_NONE
		       ? plan->first_queue + (unsigned int)sched->queue
		       : 0;
}

/* Where the packets of a queue go to at first, as a node; 0: nobody knows. */
static unsigned int
target_of_queue(const struct plan *plan, unsigned int node)
{
	const struct config_em *em = &plan->config->em;
	const struct config_queue *queue = &em->queues[node - plan->first_queue];

	if (queue->node != CONFIG_NONE)
		return find_node(plan, "drop", -1, false);
	if (queue->object != CONFIG_NONE && em->objects[queue->object].to != CONFIG_NONE)
		return plan->first_queue + (unsigned int)em->objects[queue->object].to;
	return 0;
}

/* Where the description says so. */
static const struct weir_base_doc_value *
value_of_queue(const struct plan *plan, unsigned int node)
{
	const struct config_em *em = &plan->config->em;
	int object = em->queues[node - plan->first_queue].object;

	return object != CONFIG_NONE ? weir_base_doc_get(em->objects[object].value, "to") : NULL;
}

static unsigned int
count_links(const struct plan *plan, unsigned int node)
{
	uint32_t id = node_id(plan, node);
	const char *type = weir_graph_node_name(id);

	if (node >= plan->first_queue)
		return target_of_queue(plan, node) != 0;
	if (type == NULL)
		return 0;
	return weir_graph_node_edge_count(id) +
	       (wiring_flow_has_port_edges(type) ? plan->nb_ports : 0) +
	       (queue_of_node(plan, node) != 0);
}

/* The links of a node as they are in the built-in graph. */
static void
make_links(struct plan *plan, unsigned int node)
{
	uint32_t id = node_id(plan, node);
	uint16_t nb_own = weir_graph_node_edge_count(id);
	unsigned int nb = plan->first[node + 1] - plan->first[node], i;
	const char *type = weir_graph_node_name(id), *edge;
	struct link *link = &plan->links[plan->first[node]];

	if (nb > 0 && node >= plan->first_queue) {
		*link = (struct link){.from = node,
			.to = target_of_queue(plan, node),
			.value = value_of_queue(plan, node)};
		return;
	}
	if (queue_of_node(plan, node) != 0) {
		nb--;
		link[nb] = (struct link){.from = node, .to = queue_of_node(plan, node)};
	}
	for (i = 0; i < nb; i++, link++) {
		edge = i < nb_own ? weir_graph_node_edge_name(id, (uint16_t)i) : NULL;
		link->from = node;
		link->to = find_node(plan, edge, edge == NULL ? (int)(i - nb_own) : -1, false);
		link->ages = wiring_flow_ages(type, edge);
	}
}

/* The link that an edge of the description changes. */
static struct link *
find_link(const struct plan *plan, const struct wiring_arc *arc)
{
	unsigned int from = find_node(plan, arc->text.from, arc->from_port, true);
	unsigned int edge = arc->edge_port >= 0 ? weir_graph_node_edge_count(arc->node) +
							  (unsigned int)arc->edge_port
						: arc->edge;

	if (arc->edge_queue >= 0)
		return &plan->links[plan->first[plan->first_queue + (unsigned int)arc->edge_queue]];
	return &plan->links[plan->first[from] + edge];
}

static void
refuse_second_change(const struct plan *plan, const struct wiring_arc *arc,
	const struct weir_base_doc_value *first, const struct weir_base_doc_value *second)
{
	unsigned int line, column;
	const char *file = weir_base_doc_where(first, &line, &column);

	weir_base_doc_error_add(plan->config->doc, second,
		"edge '%s.%s' is changed already, at %s:%u:%u; expected each edge once",
		arc->text.from, arc->edge_name != NULL ? arc->edge_name : arc->text.edge, file,
		line, column);
}

static void
change_links(struct plan *plan)
{
	const struct weir_base_doc_value *edges = weir_base_doc_get(
						 plan->config->application, "edges"),
					 *value;
	struct wiring_arc arc;
	struct link *link;
	unsigned int i;

	for (i = 0; i < weir_base_doc_count(edges); i++) {
		value = weir_base_doc_at(edges, i);
		if (!wiring_resolve(plan->config, value, &arc, false))
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
plan_make(struct plan *plan, struct config *config)
{
	unsigned int i;

	plan->config = config;
	plan->own = weir_base_doc_get(config->application, "nodes");
	plan->nb_ports = config->nb_ports;
	plan->nb_registered = weir_graph_node_max_count();
	plan->first_own = 2 * plan->nb_ports + plan->nb_registered;
	plan->first_queue = plan->first_own + weir_base_doc_count(plan->own);
	plan->nb_nodes = plan->first_queue + config->em.nb_queues;
	plan->first = calloc(plan->nb_nodes + 1, sizeof(*plan->first));
	plan->before = calloc(plan->nb_nodes + 1, sizeof(*plan->before));
	plan->queue = calloc(plan->nb_nodes + 1, sizeof(*plan->queue));
	if (plan->first == NULL || plan->before == NULL || plan->queue == NULL)
		return -ENOMEM;
	for (i = 0; i < plan->nb_nodes; i++)
		plan->first[i + 1] = plan->first[i] + count_links(plan, i);
	plan->links = calloc(plan->first[plan->nb_nodes] + 1, sizeof(*plan->links));
	if (plan->links == NULL)
		return -ENOMEM;
	for (i = 0; i < plan->nb_nodes; i++)
		make_links(plan, i);
	change_links(plan);
	return 0;
}

/* Note in plan->before what the first @p nb nodes in plan->queue lead to; @p ageing: through edges that age, too. */
static void
search(struct plan *plan, unsigned int nb, bool ageing)
{
	unsigned int at, i;
	const struct link *link;

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
	unsigned int nb = 0, node = closing->from;
	size_t used;

	do {
		plan->queue[nb++] = node;
		node = plan->links[plan->before[node] - 1].from;
	} while (node != closing->to && node != closing->from && nb < plan->nb_nodes);
	used = (size_t)snprintf(text, size, "%s", node_name(plan, closing->from));
	if (closing->to != closing->from)
		used += (size_t)snprintf(
			text + used, size - used, " -> %s", node_name(plan, closing->to));
	while (nb > 0 && used + WEIR_GRAPH_NAME_SIZE + 8 < size) {
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
		plan->before[link->from] = (unsigned int)(link - plan->links) + 1;
	if (plan->before[link->from] == 0)
		return;
	circle_text(plan, link, text, sizeof(text));
	weir_base_doc_error_add(plan->config->doc, link->value,
		"packets would go round for ever: %s; expected an edge from ip4_rewrite or "
		"ip6_rewrite to a port in every circle, for these count down the time to live",
		text);
	link->ages = true; /* said once, and not again of the circle's other edges */
}

/* Does a node that links share with the graph receive in place of a port's own one? */
static bool
is_shared(const struct plan *plan, unsigned int node)
{
	return wiring_flow_is_link_rx(weir_base_doc_str(
		weir_base_doc_get(weir_base_doc_at(plan->own, node - plan->first_own), "type")));
}

/* Those that receive, one for each port, and then queues: a plug-in may send to any. */
static unsigned int
list_sources(struct plan *plan)
{
	const struct config_em *em = &plan->config->em;
	unsigned int nb = 0, i;

	for (i = 0; i < plan->nb_ports; i++) {
		const struct config_shared *shared = config_shared_of_port(plan->config, (int)i);

		plan->queue[nb++] = shared != NULL ? find_node(plan, shared->name, -1, true) : i;
	}
	for (i = 0; i < em->nb_objects; i++)
		if (em->objects[i].plugin != NULL)
			break;
	for (; i < em->nb_objects && nb < plan->nb_ports + em->nb_queues; nb++)
		plan->queue[nb] = plan->first_queue + nb - plan->nb_ports;
	return nb;
}

static void
check_reached(struct plan *plan)
{
	unsigned int nb = list_sources(plan), i;
	const bool any_queue = nb > plan->nb_ports;

	search(plan, nb, true);
	for (i = plan->first_own; i < plan->first_queue; i++) {
		const struct config_sched_node *node =
			config_sched_node_find(plan->config, node_name(plan, i));

		if (plan->before[i] == 0 && (node == NULL || !node->is_rx) && !is_shared(plan, i))
			weir_base_doc_error_add(plan->config->doc,
				weir_base_doc_at(plan->own, i - plan->first_own),
				"nothing leads to node '%s'; expected an edge to it in "
				"application.edges, that packets can come by",
				node_name(plan, i));
	}
	for (; !any_queue && i < plan->nb_nodes; i++)
		if (plan->before[i] == 0)
			weir_base_doc_error_add(plan->config->doc,
				plan->config->em.queues[i - plan->first_queue].value,
				"no packet comes to queue '%s'; expected a node of type sched_tx "
				"that it can come by, or an object",
				node_name(plan, i));
}

int
wiring_graph_check(struct config *config)
{
	struct plan plan = {0};
	unsigned int i;
	int error = plan_make(&plan, config);

	if (error == 0) {
		for (i = 0; i < plan.first[plan.nb_nodes]; i++)
			if (plan.links[i].value != NULL && !plan.links[i].ages)
				check_circle(&plan, &plan.links[i]);
		if (plan.nb_ports > 0 || config->em.nb_queues > 0)
			check_reached(&plan);
	}
	free(plan.first);
	free(plan.links);
	free(plan.before);
	free(plan.queue);
	return error;
}
