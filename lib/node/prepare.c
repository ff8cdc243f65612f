/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The nodes of ports: a clone per receive queue, a clone per transmitting
 * port, and edges to all of these from the nodes that choose among them.
 */

#include <stdlib.h>

#include <rte_errno.h>

#include "node_private.h"

/* The nodes that lead to all transmit nodes, and how many edges they have of their own. */
static const struct {
	const char *name;
	uint16_t nb_own_edges;
} choosers[] = {
	{"ip4_rewrite", NODE_IP4_REWRITE_NB_EDGES},
	{"ip6_rewrite", NODE_IP6_REWRITE_NB_EDGES},
	{"ip4_frag", NODE_IP4_FRAG_NB_EDGES},
};

/*
 * Which of the edges to transmit nodes is which port's, counted from the first of them, and how often that was
 * decided anew. The number counts rather than where the edge leads: that may have been changed since.
 */
static uint16_t tx_edges[WEIR_NODE_PORT_MAX];
static uint32_t tx_edges_version;

/* In the context memory of choosers, so that clones remember which version their edges are of. */
struct chooser_ctx {
	uint32_t tx_edges_version;
};

/* Register node PARENT-SUFFIX unless it is, and say which port it is for. */
static int
ensure_clone(const char *name, const void *ctx, size_t size)
{
	char parent[WEIR_GRAPH_NAME_SIZE];
	char *suffix;
	uint32_t id = weir_graph_node_from_name(name);

	if (id == WEIR_GRAPH_NODE_INVALID) {
		strcpy(parent, name);
		suffix = strchr(parent, '-');
		*suffix++ = '\0';
		id = weir_graph_node_clone(weir_graph_node_from_name(parent), suffix);
		if (id == WEIR_GRAPH_NODE_INVALID) {
			NODE_LOG(ERROR, "node '%s' is not registered: %s", name,
				rte_strerror(rte_errno));
			return -rte_errno;
		}
	}
	return weir_graph_node_ctx_set(id, ctx, size);
}

static int
ensure_nodes(uint16_t id)
{
	const struct node_tx_ctx tx = {.port = id};
	char name[WEIR_GRAPH_NAME_SIZE];
	int rc = 0;

	for (uint16_t queue = 0; rc == 0 && weir_node_rx_name(id, queue, name) == 0; queue++) {
		const struct node_rx_ctx rx = {.port = id, .queue = queue};

		rc = ensure_clone(name, &rx, sizeof(rx));
	}
	if (rc == 0 && weir_node_tx_name(id, name) == 0)
		rc = ensure_clone(name, &tx, sizeof(tx));
	return rc;
}

/* Let the choosers lead to the transmit nodes @p names, and no longer to those of ports that are gone. */
static int
connect_choosers(const char *const *names, uint16_t nb)
{
	for (size_t i = 0; i < RTE_DIM(choosers); i++) {
		uint32_t id = weir_graph_node_from_name(choosers[i].name);
		int rc = weir_graph_node_edge_shrink(id, choosers[i].nb_own_edges);

		if (rc == 0 && nb > 0)
			rc = weir_graph_node_edge_update(id, choosers[i].nb_own_edges, names, nb);
		if (rc == 0) {
			const struct chooser_ctx ctx = {tx_edges_version};

			rc = weir_graph_node_ctx_set(id, &ctx, sizeof(ctx));
		}
		if (rc < 0) {
			NODE_LOG(ERROR, "node '%s' cannot lead to %u ports: %s", choosers[i].name,
				nb, strerror(-rc));
			return rc;
		}
	}
	return 0;
}

int
weir_node_prepare(void)
{
	char(*names)[WEIR_GRAPH_NAME_SIZE] = calloc(WEIR_NODE_PORT_MAX, sizeof(*names));
	const char *next_nodes[WEIR_NODE_PORT_MAX];
	uint16_t nb = 0;
	int rc = names == NULL ? -ENOMEM : 0;

	node_port_lock();
	memset(tx_edges, 0xff, sizeof(tx_edges)); /* WEIR_GRAPH_EDGE_INVALID */
	tx_edges_version++;
	for (uint16_t id = 0; rc == 0 && id < weir_node_port_max_count(); id++) {
		rc = ensure_nodes(id);
		if (rc == 0 && weir_node_tx_name(id, names[nb]) == 0) {
			next_nodes[nb] = names[nb];
			tx_edges[id] = nb++;
		}
	}
	if (rc == 0)
		rc = connect_choosers(next_nodes, nb);
	node_port_unlock();
	free(names);
	return rc;
}

/*
 * The port of a receive node (of @p queue) or a transmit node (@p queue -1), in its init().
 * NULL, and said so, for the nodes that these are clones of: they belong to no port.
 */
struct node_port *
node_port_of_node(
	const struct weir_graph *graph, struct weir_graph_node *node, uint16_t id, int queue)
{
	const char *own = weir_graph_node_name_of(graph, node);
	char name[WEIR_GRAPH_NAME_SIZE];
	int rc = queue < 0 ? weir_node_tx_name(id, name)
			   : weir_node_rx_name(id, (uint16_t)queue, name);

	if (rc == 0 && strcmp(own, name) == 0)
		return node_port_get(id);
	NODE_LOG(ERROR,
		"node '%s' belongs to no port; that of a port is named like ethdev_rx-0-0 or "
		"pcap_tx-0",
		own);
	return NULL;
}

/* Note each port's edge, in init() of a chooser. A clone older than the ports still has the edges of then: by name. */
int
node_tx_edges_init(
	const struct weir_graph *graph, struct weir_graph_node *node, uint16_t nb_own_edges)
{
	struct node_tx_edges *edges = node->state;
	const struct chooser_ctx *ctx = (const void *)node->ctx;
	uint32_t id = weir_graph_node_from_name(weir_graph_node_name_of(graph, node));
	uint16_t nb_edges = weir_graph_node_edge_count(id);
	char name[WEIR_GRAPH_NAME_SIZE];

	for (uint16_t port = 0; port < WEIR_NODE_PORT_MAX; port++) {
		uint32_t edge;

		if (weir_node_tx_name(port, name) < 0)
			edge = WEIR_GRAPH_EDGE_INVALID;
		else if (ctx->tx_edges_version == tx_edges_version)
			edge = (uint32_t)nb_own_edges + tx_edges[port];
		else
			edge = weir_graph_node_edge_find(id, name);
		edges->edge[port] = edge < nb_edges ? (uint16_t)edge : NODE_EDGE_DROP;
	}
	return 0;
}
