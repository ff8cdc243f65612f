/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * link_rx-NAME: frames of links to them, other packets of the same queue into the graph.
 *
 * Sets:  m->port
 * Next:  classify, or as configured
 */

#include "link_rx.h"

#include <stdlib.h>

#include <rte_ethdev.h>

#include "weir_base_pool.h"

enum {
	LINK_PACKETS,
	LINK_BYTES,
	LINK_FRAMES, /* of the packets: links' */
	LINK_NB_XSTATS,
};

/* A burst; links are given pointers into it, so it is no stream of the graph's. */
struct link_state {
	struct rte_mbuf **mbufs;
};

static const struct bridge_link *
link_of(const struct weir_graph_node *node)
{
	return *(const struct bridge_link *const *)(const void *)node->ctx;
}

static uint64_t
stamp(struct rte_mbuf **mbufs, uint16_t nb, uint16_t port)
{
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < nb; i++) {
		weir_base_mbuf_guard(mbufs[i]);
		mbufs[i]->port = port;
		bytes += mbufs[i]->pkt_len;
	}
	return bytes;
}

static uint16_t
link_rx_process(
	struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	struct rte_mbuf **mbufs = ((struct link_state *)node->state)->mbufs;
	const struct bridge_link *link = link_of(node);
	uint16_t nb = rte_eth_rx_burst(link->ethdev, link->queue, mbufs, link->burst);
	uint32_t nb_rest;

	if (nb == 0)
		return 0;
	weir_graph_count(node, LINK_PACKETS, nb);
	weir_graph_count(node, LINK_BYTES, stamp(mbufs, nb, link->port));
	nb_rest = weir_readout_dispatch_take(
		link->dispatch, link->dispatch_queue, mbufs, nb, weir_base_time_ns());
	weir_graph_count(node, LINK_FRAMES, nb - nb_rest);
	weir_graph_enqueue(graph, node, 0, (void **)mbufs, nb_rest);
	return nb;
}

static int
link_rx_init(const struct weir_graph *graph, struct weir_graph_node *node)
{
	struct link_state *state = node->state;

	if (link_of(node) == NULL) {
		BRIDGE_LOG(ERROR,
			"node '%s' belongs to no port; weir_bridge_link_create() makes those that "
			"do",
			weir_graph_node_name_of(graph, node));
		return -ENODEV;
	}
	state->mbufs = calloc(link_of(node)->burst, sizeof(struct rte_mbuf *));
	return state->mbufs != NULL ? 0 : -ENOMEM;
}

static void
link_rx_fini(const struct weir_graph *graph, struct weir_graph_node *node)
{
	struct link_state *state = node->state;

	free(state->mbufs);
	state->mbufs = NULL;
}

static struct weir_graph_node_register link_rx = {
	WEIR_GRAPH_NODE_HEADER,
	.name = WEIR_BASE_NODE_LINK_RX,
	.flags = WEIR_GRAPH_NODE_SOURCE,
	.process = link_rx_process,
	.init = link_rx_init,
	.fini = link_rx_fini,
	.state_size = sizeof(struct link_state),
	.nb_edges = 1,
	.next_nodes = (const char *const[]){WEIR_BASE_NODE_RX_EDGES},
	.nb_xstats = LINK_NB_XSTATS,
	.xstats =
		(const char *const[]){
			[LINK_PACKETS] = "packets",
			[LINK_BYTES] = "bytes",
			[LINK_FRAMES] = "link_frames",
		},
};
WEIR_GRAPH_NODE_REGISTER(link_rx);

static int
check(const struct weir_bridge_link_param *param, struct weir_node_port_info *port)
{
	struct weir_readout_dispatch_stats stats;

	if (param == NULL || param->name == NULL || param->dispatch == NULL ||
		weir_readout_dispatch_stats(param->dispatch, param->dispatch_queue, &stats) < 0) {
		BRIDGE_LOG(ERROR, "a link_rx node needs a name, and a queue of a dispatch");
		return -EINVAL;
	}
	if (weir_node_port_info(param->port, port) < 0 || port->is_pcap) {
		BRIDGE_LOG(
			ERROR, "node 'link_rx-%s': port %u is no device", param->name, param->port);
		return -ENODEV;
	}
	if (param->queue >= port->nb_rx_queues) {
		BRIDGE_LOG(ERROR, "node 'link_rx-%s': queue %u, but port '%s' has %u", param->name,
			param->queue, port->name, port->nb_rx_queues);
		return -EINVAL;
	}
	return 0;
}

uint32_t
weir_bridge_link_create(const struct weir_bridge_link_param *param)
{
	struct weir_node_port_info port;
	struct bridge_link *link;
	uint32_t id;
	int rc = check(param, &port);

	link = rc == 0 ? malloc(sizeof(*link)) : NULL;
	if (link == NULL) {
		rte_errno = rc < 0 ? -rc : ENOMEM;
		return WEIR_GRAPH_NODE_INVALID;
	}
	*link = (struct bridge_link){
		.port = param->port,
		.ethdev = port.ethdev,
		.queue = param->queue,
		.burst = param->burst != 0 ? param->burst : WEIR_BRIDGE_LINK_BURST,
		.dispatch = param->dispatch,
		.dispatch_queue = param->dispatch_queue,
	};
	id = bridge_make_link(param->name, link);
	if (id == WEIR_GRAPH_NODE_INVALID) {
		free(link);
		return id;
	}
	if (param->next == NULL)
		return id;
	rc = weir_graph_node_edge_update(id, 0, &param->next, 1);
	if (rc == 0)
		return id;
	weir_bridge_node_delete(id);
	rte_errno = -rc;
	return WEIR_GRAPH_NODE_INVALID;
}
