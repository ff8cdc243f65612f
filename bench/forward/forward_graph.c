/* SPDX-License-Identifier: BSD-3-Clause */

/* Ours: ethdev_rx, classify, ip4_lookup, ip4_rewrite, ethdev_tx. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include <weir_graph_fast.h>
#include <weir_node.h>

#include "forward_bench.h"

static const uint16_t bursts[FORWARD_BURSTS] = {32, 64, 128, 256};

/* A device on the two rings, as a port with its own receive burst. */
static int
add_port(struct forward *forward, unsigned int burst)
{
	char ring_name[32], device[RTE_ETH_NAME_MAX_LEN], name[32];
	struct weir_node_port_param param = {
		.name = name,
		.device = device,
		.mac_given = true,
		.mac = forward->mac,
		.mtu = FORWARD_MTU,
		.rx_burst = bursts[burst],
		.pool = forward->pool,
	};
	int ethdev;

	snprintf(ring_name, sizeof(ring_name), "bench%u", bursts[burst]);
	snprintf(name, sizeof(name), "burst_%u", bursts[burst]);
	ethdev = rte_eth_from_rings(ring_name, &forward->rx, 1, &forward->tx, 1, 0);
	if (ethdev < 0)
		return -rte_errno;
	rte_eth_dev_get_name_by_port((uint16_t)ethdev, device);
	forward->ethdev[burst] = (uint16_t)ethdev;
	forward->port[burst] = weir_node_port_add(&param);
	return forward->port[burst] == WEIR_NODE_PORT_INVALID ? -rte_errno : 0;
}

int
forward_ports_add(struct forward *forward)
{
	int rc = 0;

	forward->burst_default = WEIR_NODE_RX_BURST_DEFAULT;
	for (unsigned int b = 0; b < FORWARD_BURSTS && rc == 0; b++)
		rc = add_port(forward, b);
	return rc < 0 ? rc : weir_node_prepare();
}

int
forward_graph_create(struct forward_graph *graph, struct forward *forward, unsigned int burst)
{
	char rx_name[WEIR_GRAPH_NAME_SIZE], name[32];
	const char *patterns[] = {rx_name}, *graphs[] = {name};
	const struct weir_graph_param param = {
		.socket_id = -1, .nb_node_patterns = 1, .node_patterns = patterns};

	memset(graph, 0, sizeof(*graph));
	graph->traffic.forward = forward;
	graph->burst = bursts[burst];
	weir_node_rx_name(forward->port[burst], 0, rx_name);
	snprintf(name, sizeof(name), "forward-%u", bursts[burst]);
	graph->id = weir_graph_create(name, &param);
	if (graph->id == WEIR_GRAPH_ID_INVALID)
		return -rte_errno;
	graph->graph = weir_graph_get(graph->id);
	graph->cluster = weir_graph_cluster_create(graphs, 1);
	return graph->cluster == NULL ? -ENOMEM : 0;
}

void
forward_graph_slice(void *arg, uint64_t nb)
{
	const struct forward_graph *side = arg;
	struct weir_graph *graph = side->graph;

	for (uint64_t walks = nb / side->burst; walks > 0; walks--)
		weir_graph_walk(graph);
}

void
forward_graph_destroy(struct forward_graph *graph)
{
	weir_graph_cluster_destroy(graph->cluster);
	weir_graph_destroy(graph->id);
}
