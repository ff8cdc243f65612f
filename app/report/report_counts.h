/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_REPORT_COUNTS_H
#define WEIR_APP_REPORT_COUNTS_H

/**
 * @file
 * Where all packets went, from one snapshot: totals, ports and reasons agree with each other exactly.
 */

#include <weir_graph.h>
#include <weir_node.h>

/** What nodes of one port counted. */
struct report_port_counts {
	uint64_t rx_packets;   /**< handed to the graph */
	uint64_t rx_bytes;     /**< their bytes */
	uint64_t rx_truncated; /**< cut short in the capture */
	uint64_t tx_packets;   /**< accepted by the device */
	uint64_t tx_bytes;     /**< their bytes */
	uint64_t tx_full;      /**< dropped because it took no more */
};

/** All of it. `received + fragments - fragmented + from_queues == sent + dropped + punted + discarded + to_queues + to_links`. */
struct report_counts {
	struct weir_node_totals totals;                      /**< of all graphs */
	struct report_port_counts ports[WEIR_NODE_PORT_MAX]; /**< by port id */
	uint64_t to_queues;   /**< sent to queues of events, or handed to jobs */
	uint64_t from_queues; /**< brought in from there */
	uint64_t to_links;    /**< frames of links, that are in no graph */
	uint64_t dropped[WEIR_NODE_REASON_COUNT]; /**< by reason */
	uint64_t punted[WEIR_NODE_REASON_COUNT];  /**< by reason */
};

/** Sum up what a look at all graphs found. */
void report_counts_sum(const struct weir_graph_cluster_stats *stats, struct report_counts *counts);

/** Add what the node called @p name received from port @p id, and handed links; see links_share.h. */
void report_counts_add_shared(const struct weir_graph_cluster_stats *stats, const char *name,
	uint16_t id, struct report_counts *counts);

#endif
