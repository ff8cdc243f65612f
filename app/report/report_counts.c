/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the nodes of a snapshot. What a node does is known by its name; clones begin with their parent's. */
#include <stdlib.h>
#include <string.h>

#include "report_counts.h"

/* Is the node of that kind, or a clone of it? Its name after "kind-", or NULL when it is not. */
static const char *
suffix(const char *name, const char *kind)
{
	size_t length = strlen(kind);

	if (strncmp(name, kind, length) != 0)
		return NULL;
	return name[length] == '-'    ? name + length + 1
	       : name[length] == '\0' ? name + length
				      : NULL;
}

static uint64_t
xstat(const struct weir_graph_node_stats *node, const char *name)
{
	uint16_t i;

	for (i = 0; i < node->nb_xstats; i++)
		if (strcmp(node->xstat_names[i], name) == 0)
			return node->xstats[i];
	return 0;
}

static struct report_port_counts *
port_of(struct report_counts *counts, const char *id)
{
	unsigned long number = strtoul(id, NULL, 10);

	return &counts->ports[number < WEIR_NODE_PORT_MAX ? number : 0];
}

static void
add_receive(struct report_counts *counts, const struct weir_graph_node_stats *node, const char *id)
{
	struct report_port_counts *port = port_of(counts, id);

	counts->totals.received += node->objs;
	port->rx_packets += node->objs;
	port->rx_bytes += xstat(node, "bytes");
	port->rx_truncated += xstat(node, "truncated");
}

static void
add_transmit(struct report_counts *counts, const struct weir_graph_node_stats *node, const char *id)
{
	struct report_port_counts *port = port_of(counts, id);

	counts->totals.sent += xstat(node, "packets");
	port->tx_packets += xstat(node, "packets");
	port->tx_bytes += xstat(node, "bytes");
	port->tx_full += xstat(node, "full");
}

static void
add_reasons(uint64_t *reasons, const struct weir_graph_node_stats *node)
{
	unsigned int i;

	for (i = 0; i < WEIR_NODE_REASON_COUNT; i++)
		reasons[i] += xstat(node, weir_node_reason_name((enum weir_node_reason)i));
}

static void
add_node(struct report_counts *counts, const struct weir_graph_node_stats *node)
{
	const char *id;

	counts->totals.discarded += node->overflow + node->strays;
	if ((id = suffix(node->name, "ethdev_rx")) != NULL ||
		(id = suffix(node->name, "pcap_rx")) != NULL) {
		add_receive(counts, node, id);
	} else if ((id = suffix(node->name, "ethdev_tx")) != NULL ||
		   (id = suffix(node->name, "pcap_tx")) != NULL) {
		add_transmit(counts, node, id);
	} else if (suffix(node->name, "drop") != NULL) {
		counts->totals.dropped += node->objs;
		add_reasons(counts->dropped, node);
	} else if (suffix(node->name, "punt") != NULL) {
		counts->totals.punted += node->objs;
		add_reasons(counts->punted, node);
	} else if (suffix(node->name, "sched_rx") != NULL) {
		counts->from_queues += node->objs;
	} else if (suffix(node->name, "sched_tx") != NULL || suffix(node->name, "job") != NULL) {
		counts->to_queues += xstat(node, "packets");
	} else if (suffix(node->name, "null") != NULL) {
		counts->totals.discarded += node->objs;
	} else if (suffix(node->name, "ip4_frag") != NULL) {
		counts->totals.fragmented += xstat(node, "fragmented");
		counts->totals.fragments += xstat(node, "fragments");
	}
}

void
report_counts_sum(const struct weir_graph_cluster_stats *stats, struct report_counts *counts)
{
	uint32_t i;

	memset(counts, 0, sizeof(*counts));
	for (i = 0; i < stats->nb_nodes; i++)
		add_node(counts, &stats->nodes[i]);
}

void
report_counts_add_shared(const struct weir_graph_cluster_stats *stats, const char *name,
	uint16_t id, struct report_counts *counts)
{
	uint32_t i;

	for (i = 0; i < stats->nb_nodes; i++) {
		const struct weir_graph_node_stats *node = &stats->nodes[i];
		const char *shared = suffix(node->name, "link_rx");

		if (shared == NULL || strcmp(shared, name) != 0)
			continue;
		counts->totals.received += xstat(node, "packets");
		counts->to_links += xstat(node, "link_frames");
		counts->ports[id].rx_packets += xstat(node, "packets");
		counts->ports[id].rx_bytes += xstat(node, "bytes");
	}
}
