/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a document to a model: nodes and edges. First all that there could be, by number: what ports receive with, what
 * they transmit with, nodes by their types, own nodes. Then those that packets come to from a port that a worker polls.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"

struct plan_edge {
	const char *name; /* node that it leads to at first, or port */
	bool is_ports;    /* it is called by a port */
	uint32_t to;      /* node, or SIM_NONE until it is known */
	double weight;
	const struct weir_base_doc_value *changed;
};

struct plan_node {
	char name[2 * WEIR_BASE_NODE_NAME_SIZE]; /* as in statistics */
	const struct weir_base_node_type *type;
	uint32_t port;
	const struct weir_base_doc_value *own;
	struct plan_edge *edges;
	uint32_t nb_edges;
	bool is_seen;
	uint32_t place; /* in the model */
};

struct plan {
	struct weir_sim_model *model;
	const struct weir_base_doc_value *costs, *own;
	struct plan_node *nodes;
	uint32_t nb_nodes, first_type, first_own;
	uint32_t *order; /* nodes that packets come to, each behind all that it leads to */
	uint32_t nb_order;
	bool has_refused_edges; /* packets come to other nodes than they were to */
};

/* A name on either side of an edge; SIM_NONE: there is none such. */
static uint32_t
find_node(const struct plan *plan, const char *name, bool is_left)
{
	const uint32_t port = sim_doc_port(plan->model, name);
	uint32_t i;

	for (i = plan->first_own; i < plan->nb_nodes; i++)
		if (strcmp(weir_base_doc_name(plan->nodes[i].own), name) == 0)
			return i;
	if (port != SIM_NONE)
		return is_left ? port : port + plan->model->graph.nb_ports;
	for (i = plan->first_type; i < plan->first_own; i++)
		if (strcmp(plan->nodes[i].type->name, name) == 0)
			return plan->nodes[i].type->role == WEIR_BASE_NODE_PASSES ||
					       plan->nodes[i].type->role == WEIR_BASE_NODE_FREES
				       ? i
				       : SIM_NONE;
	return SIM_NONE;
}

/* The edge that `name` stands for: the whole of its name, else a beginning that only one has, ports aside. */
static struct plan_edge *
find_edge(struct plan_node *node, const char *name)
{
	struct plan_edge *found = NULL;
	unsigned int nb = 0;
	uint32_t i;

	for (i = 0; i < node->nb_edges; i++) {
		if (strcmp(node->edges[i].name, name) == 0)
			return &node->edges[i];
		if (node->edges[i].is_ports ||
			strncmp(node->edges[i].name, name, strlen(name)) != 0)
			continue;
		found = &node->edges[i];
		nb++;
	}
	return nb == 1 ? found : NULL;
}

/* "a, b, c" */
static const char *
edge_names(const struct plan_node *node, char *text, size_t size)
{
	size_t used = 0;
	uint32_t i;

	snprintf(text, size, "nothing: it has no edges");
	for (i = 0; i < node->nb_edges && used < size; i++)
		used += (size_t)snprintf(
			text + used, size - used, "%s%s", i > 0 ? ", " : "", node->edges[i].name);
	return text;
}

static void
refuse_edge(struct plan *plan, const struct weir_base_doc_value *value,
	const struct plan_node *node, const char *name)
{
	char names[512];

	if (sim_doc_is_refused(plan->model, node->own))
		return;
	weir_base_doc_error_add(plan->model->doc, value,
		"unknown edge '%s' of node '%s'; expected one of: %s", name, node->name,
		edge_names(node, names, sizeof(names)));
}

static inline bool
is_receivers(const struct plan *plan, const struct plan_node *node)
{
	return node < plan->nodes + plan->first_type && node->type->role == WEIR_BASE_NODE_LINKS;
}

/* Does it receive in place of a port's own node? */
static inline bool
is_shared(const struct plan_node *node)
{
	return node->own != NULL && node->type->role == WEIR_BASE_NODE_LINKS;
}

/* What receives from a port. */
static uint32_t
rx_node_of(const struct plan *plan, uint32_t port)
{
	const struct weir_base_doc_value *shared = plan->model->graph.ports[port].shared;
	uint32_t i;

	for (i = plan->first_own; shared != NULL && i < plan->nb_nodes; i++)
		if (plan->nodes[i].own == shared)
			return i;
	return port;
}

/* Of one that brings in packets: an edge for each of its queues, that leads to `drop` at first. */
static int
make_queue_edges(struct plan *plan, struct plan_node *node)
{
	const struct weir_base_doc_value *queues = weir_base_doc_get(node->own, "queues");
	uint32_t i;

	node->nb_edges = weir_base_doc_count(queues);
	node->edges = calloc(node->nb_edges + 1, sizeof(*node->edges));
	if (node->edges == NULL)
		return -ENOMEM;
	for (i = 0; i < node->nb_edges; i++)
		node->edges[i] = (struct plan_edge){
			.name = weir_base_doc_str(weir_base_doc_at(queues, i)),
			.is_ports = true, /* by its whole name */
			.to = find_node(plan, WEIR_BASE_NODE_DROP, false),
		};
	if (node->nb_edges == 0)
		weir_base_doc_error_add(plan->model->doc, node->own,
			"node '%s' brings in nothing; expected a key 'queues'",
			weir_base_doc_name(node->own));
	return 0;
}

/* Its edges as they are at first. */
static int
make_edges(struct plan *plan, struct plan_node *node)
{
	const struct model_graph *graph = &plan->model->graph;
	struct plan_edge *edge;
	uint32_t nb, i;

	if (node->type->role == WEIR_BASE_NODE_BRINGS && node->own != NULL)
		return make_queue_edges(plan, node);
	if (is_receivers(plan, node))
		return 0; /* frames stay with their links */
	for (nb = 0; node->type->edges[nb] != NULL; nb++)
		;
	node->edges = calloc(nb + graph->nb_ports + 1, sizeof(*node->edges));
	if (node->edges == NULL)
		return -ENOMEM;
	for (i = 0; i < nb; i++) {
		edge = &node->edges[node->nb_edges++];
		edge->name = node->type->edges[i];
		edge->to = find_node(plan, edge->name, false);
	}
	for (i = 0; node->type->leads_to_ports && i < graph->nb_ports; i++)
		if (graph->ports[i].transmits)
			node->edges[node->nb_edges++] = (struct plan_edge){
				.name = graph->ports[i].name,
				.is_ports = true,
				.to = graph->nb_ports + i,
			};
	return 0;
}

static void
init_port_node(struct plan *plan, uint32_t index, bool is_rx)
{
	const uint32_t nb_ports = plan->model->graph.nb_ports;
	const struct model_port *port = &plan->model->graph.ports[index % nb_ports];
	struct plan_node *node = &plan->nodes[index];
	const char *type = port->is_receiver ? WEIR_BASE_NODE_LINK_RX
			   : port->is_device
				   ? (is_rx ? WEIR_BASE_NODE_ETHDEV_RX : WEIR_BASE_NODE_ETHDEV_TX)
				   : (is_rx ? WEIR_BASE_NODE_PCAP_RX : WEIR_BASE_NODE_PCAP_TX);

	node->type = weir_base_node_type_find(type);
	node->port = index % nb_ports;
	snprintf(node->name, sizeof(node->name), "%s-%s", type, port->name);
}

static void
init_own_node(struct plan *plan, struct plan_node *node, const struct weir_base_doc_value *own)
{
	const struct weir_base_doc_value *value = weir_base_doc_get(own, "type");
	const char *type = weir_base_doc_str(value);

	node->own = own;
	node->type = weir_base_node_type_find(type);
	if (node->type == NULL || node->type->role == WEIR_BASE_NODE_RECEIVES ||
		node->type->role == WEIR_BASE_NODE_TRANSMITS) {
		weir_base_doc_error_add(plan->model->doc, value,
			"'%s' is no type of own nodes; expected one such as 'null' or 'classify'",
			type);
		node->type = weir_base_node_type_find(WEIR_BASE_NODE_NULL);
	}
	if (is_shared(node))
		node->port = sim_doc_shared_port(plan->model, own);
	snprintf(node->name, sizeof(node->name), "%.31s-%.31s", type, weir_base_doc_name(own));
}

static int
make_plan(struct plan *plan)
{
	const uint32_t nb_ports = plan->model->graph.nb_ports;
	uint32_t nb_types, i;

	for (nb_types = 0; weir_base_node_types[nb_types].name != NULL; nb_types++)
		;
	plan->first_type = 2 * nb_ports;
	plan->first_own = plan->first_type + nb_types;
	plan->nb_nodes = plan->first_own + weir_base_doc_count(plan->own);
	plan->nodes = calloc(plan->nb_nodes, sizeof(*plan->nodes));
	plan->order = calloc(plan->nb_nodes, sizeof(*plan->order));
	if (plan->nodes == NULL || plan->order == NULL)
		return -ENOMEM;
	for (i = 0; i < plan->first_type; i++)
		init_port_node(plan, i, i < nb_ports);
	for (i = 0; i < nb_types; i++) {
		struct plan_node *node = &plan->nodes[plan->first_type + i];

		node->type = &weir_base_node_types[i];
		snprintf(node->name, sizeof(node->name), "%s", node->type->name);
	}
	for (i = plan->first_own; i < plan->nb_nodes; i++)
		init_own_node(
			plan, &plan->nodes[i], weir_base_doc_at(plan->own, i - plan->first_own));
	for (i = 0; i < plan->nb_nodes; i++)
		if (make_edges(plan, &plan->nodes[i]) < 0)
			return -ENOMEM;
	return 0;
}

/* An edge of application.edges is led elsewhere. */
static void
change_edge(struct plan *plan, const struct weir_base_doc_value *value)
{
	const uint32_t nb_ports = plan->model->graph.nb_ports;
	struct weir_base_doc *doc = plan->model->doc;
	struct weir_base_node_edge text;
	struct plan_edge *edge;
	const char *shared;
	uint32_t from, to;

	if (weir_base_node_edge_parse(weir_base_doc_str(value), &text) < 0)
		return;
	from = find_node(plan, text.from, true);
	to = find_node(plan, text.to, false);
	if (from == SIM_NONE || to == SIM_NONE) {
		weir_base_doc_error_add(doc, value,
			"unknown node '%s'; expected a type of nodes, one of application.nodes, or "
			"a port",
			from == SIM_NONE ? text.from : text.to);
		return;
	}
	edge = find_edge(&plan->nodes[from], text.edge);
	if (from < nb_ports && rx_node_of(plan, from) != from) {
		shared = weir_base_doc_name(plan->nodes[rx_node_of(plan, from)].own);
		weir_base_doc_error_add(doc, value,
			"node '%s' receives from port '%s' in its place; expected '%s.%s'", shared,
			text.from, shared, text.edge);
	} else if (is_shared(&plan->nodes[to])) {
		weir_base_doc_error_add(doc, value,
			"'%s' gets its packets from a port; expected an edge to another node",
			text.to);
	} else if (edge == NULL) {
		refuse_edge(plan, value, &plan->nodes[from], text.edge);
	} else if (edge->changed != NULL) {
		weir_base_doc_error_add(doc, value,
			"edge '%s.%s' is changed already; expected each edge once", text.from,
			text.edge);
	} else if (plan->nodes[to].type->role == WEIR_BASE_NODE_TRANSMITS &&
		   !plan->model->graph.ports[plan->nodes[to].port].transmits) {
		weir_base_doc_error_add(doc, value,
			"port '%s' does not transmit; expected one with 'pcap_out' or 'device'",
			text.to);
	} else {
		edge->changed = value;
		edge->to = to;
	}
}

/* Whose costs are those? Its own ones count more than those of its type. */
static const struct weir_base_doc_value *
costs_of(const struct plan *plan, const struct plan_node *node)
{
	const struct weir_base_doc_value *all = weir_base_doc_get(plan->costs, "nodes"), *value,
					 *found = NULL;
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(all); i++) {
		value = weir_base_doc_at(all, i);
		if (strcmp(weir_base_doc_name(value), node->name) == 0 ||
			(node->own != NULL && strcmp(weir_base_doc_name(value),
						      weir_base_doc_name(node->own)) == 0))
			return value;
		if (strcmp(weir_base_doc_name(value), node->type->name) == 0)
			found = value;
	}
	return found;
}

/* Costs of nodes that there cannot be would be overlooked. */
static void
check_costs(struct plan *plan)
{
	const struct weir_base_doc_value *all = weir_base_doc_get(plan->costs, "nodes"), *value;
	const char *name;
	uint32_t i, j;

	for (i = 0; i < weir_base_doc_count(all); i++) {
		value = weir_base_doc_at(all, i);
		name = weir_base_doc_name(value);
		for (j = 0; j < plan->nb_nodes; j++)
			if (strcmp(plan->nodes[j].name, name) == 0 ||
				(plan->nodes[j].own != NULL &&
					strcmp(weir_base_doc_name(plan->nodes[j].own), name) == 0))
				break;
		if (j == plan->nb_nodes)
			weir_base_doc_error_add(plan->model->doc, value,
				"unknown node '%s'; expected a type of nodes or one of "
				"application.nodes",
				name);
	}
}

/* The only way that a node has for packets that nothing is wrong with. */
static void
take_only_way(struct plan *plan, struct plan_node *node, const struct weir_base_doc_value *costs)
{
	static const char *const aside[] = {
		WEIR_BASE_NODE_DROP, WEIR_BASE_NODE_PUNT, WEIR_BASE_NODE_IP4_FRAG};
	struct plan_edge *found = NULL;
	unsigned int nb = 0, j;
	char names[512];
	uint32_t i;

	for (i = 0; i < node->nb_edges; i++) {
		for (j = 0; j < sizeof(aside) / sizeof(aside[0]); j++)
			if (!node->edges[i].is_ports && strcmp(node->edges[i].name, aside[j]) == 0)
				break;
		if (j < sizeof(aside) / sizeof(aside[0]))
			continue;
		found = &node->edges[i];
		nb++;
	}
	if (nb == 1)
		found->weight = 1;
	else if (nb == 0 && node->type->leads_to_ports)
		weir_base_doc_error_add(plan->model->doc, costs,
			"packets of node '%s' go to ports, none of which transmits; expected one "
			"with 'pcap_out' or 'device'",
			node->name);
	else
		weir_base_doc_error_add(plan->model->doc, costs,
			"packets of node '%s' could go several ways; expected 'next' with weights, "
			"of: %s",
			node->name, edge_names(node, names, sizeof(names)));
}

/* Do weights say where its packets go? */
static bool
is_drawn(const struct plan_node *node)
{
	return (node->type->role == WEIR_BASE_NODE_PASSES ||
		       node->type->role == WEIR_BASE_NODE_RECEIVES || is_shared(node)) &&
	       node->nb_edges > 0;
}

/* Does what the scheduler does not take go on from here? By a limit that the file does not say, only where that has costs. */
static bool
refuses(const struct plan *plan, const struct plan_node *node)
{
	return plan->model->is_limited && sim_doc_drops(plan->model, node->own) &&
	       (plan->model->limit_is_said ||
		       costs_of(plan, &plan->nodes[node->edges[0].to]) != NULL);
}

/* How many of a node's packets take which edge. */
static void
weigh_edges(struct plan *plan, struct plan_node *node, const struct weir_base_doc_value *costs)
{
	const struct weir_base_doc_value *next = weir_base_doc_get(costs, "next"), *value;
	const struct model_port *port = &plan->model->graph.ports[node->port];
	struct plan_edge *edge;
	bool is_known = true;
	double sum = 0;
	uint32_t i;

	if (next != NULL && !is_drawn(node))
		weir_base_doc_error_add(plan->model->doc, next,
			"where packets of node '%s' go is not drawn; expected no 'next'",
			node->name);
	if (node->type->role == WEIR_BASE_NODE_TRANSMITS) {
		/* For what finds no room. */
		node->edges[0].weight = port->nb_tx > 0 && !port->waits ? 1 : 0;
		return;
	}
	if (node->type->role == WEIR_BASE_NODE_WORKS)
		node->edges[0].weight = sim_doc_drops(plan->model, node->own) ? 1 : 0;
	if (node->type->role == WEIR_BASE_NODE_SENDS)
		node->edges[0].weight = refuses(plan, node) ? 1 : 0;
	for (i = 0; node->type->role == WEIR_BASE_NODE_BRINGS && i < node->nb_edges; i++)
		node->edges[i].weight = 1;
	if (!is_drawn(node))
		return;
	if (next == NULL && node->nb_edges > 1) {
		take_only_way(plan, node, costs);
		return;
	}
	if (next == NULL) {
		node->edges[0].weight = 1;
		return;
	}
	for (i = 0; i < weir_base_doc_count(next); i++) {
		value = weir_base_doc_at(next, i);
		edge = find_edge(node, weir_base_doc_name(value));
		is_known = is_known && edge != NULL;
		if (edge == NULL)
			refuse_edge(plan, value, node, weir_base_doc_name(value));
		else
			sum += edge->weight = sim_coarse(weir_base_doc_f64(value));
	}
	if (!(sum > 0) && is_known)
		weir_base_doc_error_add(plan->model->doc, next,
			"packets of node '%s' go nowhere; expected a weight above 0", node->name);
	for (i = 0; i < node->nb_edges; i++)
		node->edges[i].weight /= sum > 0 ? sum : 1;
}

/* Is it a port's own one, in whose place one may be meant that names a port wrongly, which was told? */
static bool
may_be_replaced(const struct plan *plan, uint32_t index)
{
	uint32_t i;

	for (i = plan->first_own; index < plan->model->graph.nb_ports && i < plan->nb_nodes; i++)
		if (is_shared(&plan->nodes[i]) && plan->nodes[i].port == SIM_NONE)
			return true;
	return false;
}

/* Packets come to a node: and to all that it leads to. */
static void
reach(struct plan *plan, uint32_t index)
{
	struct plan_node *node = &plan->nodes[index];
	const struct weir_base_doc_value *costs = costs_of(plan, node);
	const struct weir_base_doc_value *nodes = weir_base_doc_get(plan->costs, "nodes");
	uint32_t i;

	if (node->is_seen)
		return;
	node->is_seen = true;
	if (costs == NULL && (plan->has_refused_edges || may_be_replaced(plan, index) ||
				     sim_doc_is_refused(plan->model, node->own)))
		return;
	if (costs == NULL) {
		weir_base_doc_error_add(plan->model->doc, nodes != NULL ? nodes : plan->costs,
			"packets come to node '%s', which has no costs; expected a key '%s' in "
			"'nodes'",
			node->name, node->type->name);
		return;
	}
	weigh_edges(plan, node, costs);
	for (i = node->nb_edges; i-- > 0;)
		if (node->edges[i].weight > 0)
			reach(plan, node->edges[i].to);
	plan->order[plan->nb_order++] = index;
}

static int
make_node(struct plan *plan, const struct plan_node *from, struct model_node *node)
{
	const struct weir_base_doc_value *costs = costs_of(plan, from);
	struct model_graph *graph = &plan->model->graph;
	double sum = 0;
	uint32_t i;

	*node = (struct model_node){
		.name = strdup(from->name),
		.called = from->own != NULL                       ? weir_base_doc_name(from->own)
			  : from < plan->nodes + plan->first_type ? graph->ports[from->port].name
								  : from->type->name,
		.is_own = from->own != NULL,
		.role = is_receivers(plan, from) || is_shared(from) ? WEIR_BASE_NODE_RECEIVES
								    : from->type->role,
		.port = from->port,
		.vector = sim_coarse(weir_base_doc_f64(weir_base_doc_get(costs, "vector"))),
		.packet = sim_coarse(weir_base_doc_f64(weir_base_doc_get(costs, "packet"))),
		.per_byte = sim_coarse(weir_base_doc_f64(weir_base_doc_get(costs, "per_byte"))),
		.first_next = graph->nb_nexts,
	};
	for (i = 0; i < from->nb_edges; i++) {
		if (from->edges[i].weight <= 0)
			continue;
		sum += from->edges[i].weight;
		graph->nexts[graph->nb_nexts++] =
			(struct model_next){sum, plan->nodes[from->edges[i].to].place};
		node->nb_next++;
	}
	if (node->name == NULL ||
		(node->role == WEIR_BASE_NODE_FREES &&
			sim_doc_reason(plan->model, &node->reason, "node %s", node->name) < 0))
		return -ENOMEM;
	return 0;
}

/* Nodes that packets come to, each before those that it leads to. */
static int
make_nodes(struct plan *plan)
{
	struct model_graph *graph = &plan->model->graph;
	uint32_t nb_edges = 0, i;

	for (i = 0; i < plan->nb_order; i++) {
		plan->nodes[plan->order[i]].place = plan->nb_order - 1 - i;
		nb_edges += plan->nodes[plan->order[i]].nb_edges;
	}
	graph->nodes = calloc(plan->nb_order + 1, sizeof(*graph->nodes));
	graph->nexts = calloc(nb_edges + 1, sizeof(*graph->nexts));
	if (graph->nodes == NULL || graph->nexts == NULL)
		return -ENOMEM;
	for (i = plan->nb_order; i-- > 0;) {
		const struct plan_node *from = &plan->nodes[plan->order[i]];

		if (make_node(plan, from, &graph->nodes[graph->nb_nodes++]) < 0 ||
			sim_doc_read_events(plan->model, from->own, costs_of(plan, from),
				graph->nb_nodes - 1) < 0)
			return -ENOMEM;
	}
	graph->node_words = (graph->nb_nodes + 63) / 64;
	for (i = 0; i < graph->nb_ports; i++)
		if (plan->nodes[rx_node_of(plan, i)].is_seen)
			graph->rx_nodes[i] = plan->nodes[rx_node_of(plan, i)].place;
	return 0;
}

int
sim_doc_read_nodes(struct weir_sim_model *model, const struct weir_base_doc_value *application,
	const struct weir_base_doc_value *costs)
{
	struct plan plan = {
		.model = model, .costs = costs, .own = weir_base_doc_get(application, "nodes")};
	const struct weir_base_doc_value *edges = weir_base_doc_get(application, "edges");
	int error = make_plan(&plan);
	unsigned int nb_before, nb_after;
	uint32_t i;

	weir_base_doc_errors(model->doc, &nb_before);
	for (i = 0; error == 0 && i < weir_base_doc_count(edges); i++)
		change_edge(&plan, weir_base_doc_at(edges, i));
	weir_base_doc_errors(model->doc, &nb_after);
	plan.has_refused_edges = nb_after > nb_before;
	if (error == 0) {
		check_costs(&plan);
		for (i = 0; i < model->graph.nb_polled; i++)
			reach(&plan,
				rx_node_of(&plan, model->graph.rings[model->graph.polled[i]].port));
		for (i = plan.first_own; i < plan.nb_nodes; i++)
			if (plan.nodes[i].type->role == WEIR_BASE_NODE_BRINGS)
				reach(&plan, i);
		error = make_nodes(&plan);
		if (error == 0)
			error = sim_doc_check_circles(model, costs);
	}
	for (i = 0; plan.nodes != NULL && i < plan.nb_nodes; i++)
		free(plan.nodes[i].edges);
	free(plan.nodes);
	free(plan.order);
	return error;
}
