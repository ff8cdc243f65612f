/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sums over all graphs, from one snapshot. The graph library keeps what
 * destroyed graphs had counted, per node name. A new port may get the id, and so
 * the names, of one that was removed: its counters begin where those ended.
 */

#include <pthread.h>
#include <stdlib.h>

#include "node_private.h"

/* Everything that is summed. */
struct sums {
	struct node_port_counts port[WEIR_NODE_PORT_MAX];
	uint64_t reason[WEIR_NODE_REASON_COUNT];
	struct weir_node_totals totals;
};

static pthread_mutex_t lock =
	PTHREAD_MUTEX_INITIALIZER;         /* may be held when the graph library's is taken */
static struct weir_graph_cluster *cluster; /* all graphs that ever were */

__attribute__((constructor)) static void
stats_init(void)
{
	cluster = weir_graph_cluster_create((const char *const[]){"*"}, 1);
}

/* Is @p name that of node @p parent or of a clone of it? Then *number is what follows the dash. */
static bool
is_of(const char *name, const char *parent, unsigned long *number)
{
	size_t length = strlen(parent);

	if (strncmp(name, parent, length) != 0 || (name[length] != '\0' && name[length] != '-'))
		return false;
	*number =
		name[length] == '-' ? strtoul(name + length + 1, NULL, 10) % WEIR_NODE_PORT_MAX : 0;
	return true;
}

static uint64_t
add_reasons(struct sums *sums, const struct weir_graph_node_stats *node)
{
	uint64_t sum = 0;

	for (int i = 0; i < WEIR_NODE_REASON_COUNT; i++) {
		sums->reason[i] += node->xstats[i];
		sum += node->xstats[i];
	}
	return sum;
}

static void
add_node(struct sums *sums, const struct weir_graph_node_stats *node)
{
	struct weir_node_totals *totals = &sums->totals;
	unsigned long id;

	totals->discarded += node->overflow + node->strays;
	if (is_of(node->name, "ethdev_rx", &id) || is_of(node->name, "pcap_rx", &id)) {
		totals->received += node->objs;
		sums->port[id].rx_packets += node->objs;
		sums->port[id].rx_bytes += node->xstats[NODE_RX_BYTES];
		sums->port[id].rx_truncated += node->xstats[NODE_RX_TRUNCATED];
	} else if (is_of(node->name, "ethdev_tx", &id) || is_of(node->name, "pcap_tx", &id)) {
		totals->sent += node->xstats[NODE_TX_PACKETS];
		sums->port[id].tx_packets += node->xstats[NODE_TX_PACKETS];
		sums->port[id].tx_bytes += node->xstats[NODE_TX_BYTES];
		sums->port[id].tx_full_dropped += node->xstats[NODE_TX_FULL];
	} else if (is_of(node->name, "drop", &id)) {
		totals->dropped += add_reasons(sums, node);
	} else if (is_of(node->name, "punt", &id)) {
		totals->punted += add_reasons(sums, node);
	} else if (is_of(node->name, "ip4_frag", &id)) {
		totals->fragmented += node->xstats[NODE_FRAG_PACKETS];
		totals->fragments += node->xstats[NODE_FRAG_FRAGMENTS];
	} else if (is_of(node->name, "null", &id)) {
		totals->discarded += node->objs;
	}
}

/* Sum up; the caller frees *to. */
static int
take_sums(struct sums **to)
{
	const struct weir_graph_cluster_stats *stats;
	struct sums *sums = calloc(1, sizeof(*sums));
	int rc;

	if (sums == NULL || cluster == NULL) {
		free(sums);
		return -ENOMEM;
	}
	pthread_mutex_lock(&lock);
	rc = weir_graph_cluster_get(cluster, &stats);
	for (uint32_t i = 0; rc == 0 && i < stats->nb_nodes; i++)
		add_node(sums, &stats->nodes[i]);
	pthread_mutex_unlock(&lock);
	if (rc < 0) {
		free(sums);
		return rc;
	}
	*to = sums;
	return 0;
}

/* What the nodes of a port id have counted since ever. */
int
node_port_counts(uint16_t id, struct node_port_counts *counts)
{
	struct sums *sums;
	int rc = take_sums(&sums);

	if (rc < 0)
		return rc;
	*counts = sums->port[id];
	free(sums);
	return 0;
}

int
weir_node_port_stats(uint16_t id, struct weir_node_port_stats *stats)
{
	const struct node_port *port = node_port_get(id);
	struct node_port_counts now;
	int rc;

	if (port == NULL)
		return -ENOENT;
	rc = node_port_counts(id, &now);
	if (rc < 0)
		return rc;
	*stats = (struct weir_node_port_stats){
		.rx_packets = now.rx_packets - port->base.rx_packets,
		.rx_bytes = now.rx_bytes - port->base.rx_bytes,
		.rx_truncated = now.rx_truncated - port->base.rx_truncated,
		.tx_packets = now.tx_packets - port->base.tx_packets,
		.tx_bytes = now.tx_bytes - port->base.tx_bytes,
		.tx_full_dropped = now.tx_full_dropped - port->base.tx_full_dropped,
	};
	if (!port->info.is_pcap)
		node_ethdev_stats(port, stats);
	else if (port->out != NULL)
		stats->tx_errors = node_pcap_out_lost(port->out);
	return 0;
}

int
weir_node_reason_counts(struct weir_node_reason_count *counts)
{
	struct sums *sums;
	int rc = take_sums(&sums);

	if (rc < 0)
		return rc;
	for (int i = 0; i < WEIR_NODE_REASON_COUNT; i++) {
		counts[i].reason = (enum weir_node_reason)i;
		counts[i].packets = sums->reason[i];
	}
	free(sums);
	return 0;
}

int
weir_node_totals(struct weir_node_totals *totals)
{
	struct sums *sums;
	int rc = take_sums(&sums);

	if (rc < 0)
		return rc;
	*totals = sums->totals;
	free(sums);
	return 0;
}
