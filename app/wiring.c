/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A graph begins as the built-in one. Own nodes are clones of registered ones;
 * then edges are led elsewhere. All edges are resolved before the first is
 * changed, so that their names mean what `weir graph` of the built-in graph shows, in any order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weir_base_nodes.h>
#include <weir_graph.h>
#include <weir_node.h>

#include "config.h"
#include "wiring.h"

/* The type of an own node, or NULL. */
static const char *
own_node_type(const struct config *config, const char *name)
{
	const struct weir_base_doc_value *nodes = weir_base_doc_get(config->application, "nodes"),
					 *node;
	unsigned int i;

	for (i = 0; i < weir_base_doc_count(nodes); i++) {
		node = weir_base_doc_at(nodes, i);
		if (strcmp(weir_base_doc_name(node), name) == 0)
			return weir_base_doc_str(weir_base_doc_get(node, "type"));
	}
	return NULL;
}

/* Name in the graph of what a user calls `name`; queue counts for ports on the left. */
static void
graph_name(const struct config *config, const uint16_t *port_ids, const char *name, bool left,
	uint16_t queue, char *result)
{
	const char *type = own_node_type(config, name);
	int port = config_port_find(config, name);

	snprintf(result, WEIR_GRAPH_NAME_SIZE, "%s", name);
	if (type != NULL)
		snprintf(result, WEIR_GRAPH_NAME_SIZE, "%.31s-%.31s", type, name);
	else if (port >= 0 && left)
		weir_node_rx_name(port_ids[port], queue, result);
	else if (port >= 0)
		weir_node_tx_name(port_ids[port], result);
}

/* Does an edge lead to a port's transmit node? Those are called by the port's name, not by the node's. */
static bool
is_port_edge(const char *next)
{
	return strncmp(next, "pcap_tx-", 8) == 0 || strncmp(next, "ethdev_tx-", 10) == 0;
}

/*
 * The edge of a node that `name` stands for: the whole name of the next node, else a beginning that
 * only one has. WEIR_GRAPH_EDGE_INVALID when none or several do.
 */
static uint16_t
find_edge(uint32_t node, const char *name, unsigned int *nb_found)
{
	uint16_t nb_edges = weir_graph_node_edge_count(node), found = WEIR_GRAPH_EDGE_INVALID, i;
	const char *next;

	*nb_found = 0;
	for (i = 0; i < nb_edges; i++) {
		next = weir_graph_node_edge_name(node, i);
		if (next == NULL || strncmp(next, name, strlen(name)) != 0)
			continue;
		if (strcmp(next, name) == 0) {
			*nb_found = 1;
			return i;
		}
		if (is_port_edge(next))
			continue;
		found = i;
		(*nb_found)++;
	}
	return *nb_found == 1 ? found : WEIR_GRAPH_EDGE_INVALID;
}

/* "a, b, c": where the edges of a node lead. Valid until the next call. */
static const char *
edge_names(uint32_t node)
{
	static char names[512];
	uint16_t nb_edges = weir_graph_node_edge_count(node), i;
	size_t used = 0;

	snprintf(names, sizeof(names), "nothing: it has no edges");
	for (i = 0; i < nb_edges && used < sizeof(names) - WEIR_GRAPH_NAME_SIZE - 2; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
			i > 0 ? ", " : "", weir_graph_node_edge_name(node, i));
	return names;
}

/* Number of the edge of sched_rx node @node that is for queue @name; WEIR_GRAPH_EDGE_INVALID: it has no such queue. */
static uint16_t
find_queue_edge(const struct config *config, const char *node, const char *name)
{
	int index = config_queue_find(config, name);
	const struct config_sched_node *owner;

	if (index == CONFIG_NONE || config->em.queues[index].node == CONFIG_NONE)
		return WEIR_GRAPH_EDGE_INVALID;
	owner = &config->em.nodes[config->em.queues[index].node];
	if (strcmp(owner->name, node) != 0)
		return WEIR_GRAPH_EDGE_INVALID;
	return (uint16_t)config->em.queues[index].edge;
}

/* A change that waits until all are resolved. */
struct change {
	uint32_t node;
	uint16_t edge;
	char to[WEIR_GRAPH_NAME_SIZE];
};

struct changes {
	struct change *list;
	unsigned int nb;
};

static int
resolve_edge(struct config *config, const uint16_t *port_ids,
	const struct weir_base_doc_value *value, struct changes *changes)
{
	struct weir_base_node_edge edge;
	char from[WEIR_GRAPH_NAME_SIZE], name[WEIR_GRAPH_NAME_SIZE];
	int port;
	uint16_t nb_queues, queue;
	unsigned int nb_found;
	struct change *list, *change;

	weir_base_node_edge_parse(weir_base_doc_str(value), &edge);
	port = own_node_type(config, edge.from) == NULL ? config_port_find(config, edge.from) : -1;
	nb_queues = port >= 0 ? config->ports[port].nb_rx_queues : 1;
	for (queue = 0; queue < nb_queues; queue++) {
		list = realloc(changes->list, (changes->nb + 1) * sizeof(*list));
		if (list == NULL)
			return -ENOMEM;
		changes->list = list;
		change = &list[changes->nb];
		graph_name(config, port_ids, edge.from, true, queue, from);
		graph_name(config, port_ids, edge.edge, false, 0, name);
		graph_name(config, port_ids, edge.to, false, 0, change->to);
		change->node = weir_graph_node_from_name(from);
		change->edge = find_queue_edge(config, edge.from, edge.edge);
		if (change->edge == WEIR_GRAPH_EDGE_INVALID)
			change->edge = find_edge(change->node, name, &nb_found);
		if (change->edge == WEIR_GRAPH_EDGE_INVALID) {
			weir_base_doc_error_add(config->doc, value,
				"node '%s' has no edge to '%s'; expected one of: %s", from, name,
				edge_names(change->node));
			return -EINVAL;
		}
		changes->nb++;
	}
	return 0;
}

static int
make_nodes(struct config *config)
{
	const struct weir_base_doc_value *nodes = weir_base_doc_get(config->application, "nodes"),
					 *node;
	const char *type;
	unsigned int i;

	for (i = 0; i < weir_base_doc_count(nodes); i++) {
		node = weir_base_doc_at(nodes, i);
		type = weir_base_doc_str(weir_base_doc_get(node, "type"));
		if (config_sched_node_find(config, weir_base_doc_name(node)) != NULL)
			continue; /* made with its queues, see em_run.c */
		if (strcmp(type, WEIR_BASE_NODE_LINK_RX) == 0)
			continue; /* made with its port, see links_share.c */
		if (weir_graph_node_clone(weir_graph_node_from_name(type),
			    weir_base_doc_name(node)) == WEIR_GRAPH_NODE_INVALID) {
			weir_base_doc_error_add(config->doc, node,
				"node '%s' could not be made of '%s'", weir_base_doc_name(node),
				type);
			return -EINVAL;
		}
	}
	return 0;
}

int
wiring_apply(struct config *config, const uint16_t *port_ids)
{
	const struct weir_base_doc_value *edges = weir_base_doc_get(config->application, "edges");
	struct changes changes = {0};
	const char *to;
	unsigned int i;
	int error = make_nodes(config);

	for (i = 0; error == 0 && i < weir_base_doc_count(edges); i++)
		error = resolve_edge(config, port_ids, weir_base_doc_at(edges, i), &changes);
	for (i = 0; error == 0 && i < changes.nb; i++) {
		to = changes.list[i].to;
		error = weir_graph_node_edge_update(
			changes.list[i].node, changes.list[i].edge, &to, 1);
	}
	free(changes.list);
	return error;
}
