/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_NODE_H
#define WEIR_NODE_H

/**
 * @file
 * Ports of the packet nodes, and how their graph is put together.
 * Routes and neighbours are in weir_node_route.h.
 *
 * The nodes, and the edges of the default graph:
 *
 *     ethdev_rx-PORT-QUEUE  ethdev_tx-PORT      one RX clone per port and queue; one TX node per port, with a TX queue per graph
 *     pcap_rx-PORT-0        pcap_tx-PORT        the same for a port that is a pair of files
 *     classify      Ethernet type, VLAN, QinQ, destination MAC  -> ip4_lookup ip6_lookup punt drop
 *     ip4_lookup    RFC 1812 checks, longest prefix             -> ip4_rewrite punt drop
 *     ip6_lookup    RFC 8200 checks, longest prefix             -> ip6_rewrite punt drop
 *     ip4_rewrite   TTL, checksum, Ethernet header              -> tx nodes, ip4_frag punt drop
 *     ip6_rewrite   hop limit, Ethernet header                  -> tx nodes, punt drop
 *     ip4_frag      cuts to the egress MTU                      -> tx nodes drop
 *     punt          what the fast path leaves to others: counted by reason, freed, on request written to a pcap
 *     drop          frees, counted by reason
 *     null          sink that frees, for measurements
 *
 * Threads: control calls from any one thread at a time, ports before the graphs
 * that use them. The library never calls rte_eal_init().
 *
 * Errors: 0 or a negative errno with a reason in the log under "node".
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>
#include <rte_ether.h>
#include <rte_mempool.h>

#include "weir_base_nodes.h"
#include "weir_node_reason.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_NODE_PORT_MAX     256        /**< ports in a process */
#define WEIR_NODE_PORT_INVALID UINT16_MAX /**< no such port */
#define WEIR_NODE_NAME_SIZE    32         /**< longest port name, with its ending zero */
#define WEIR_NODE_MTU_MIN      68 /**< smallest MTU of a port: what every IPv4 link carries (RFC 791) */

#define WEIR_NODE_RX_BURST_DEFAULT                                                                 \
	WEIR_BASE_RX_BURST_DEFAULT /**< objects asked of a device at once */
#define WEIR_NODE_RX_BURST_MAX                                                                     \
	WEIR_BASE_RX_BURST_MAX /**< most objects that can be asked of a device at once */

/** What a TX node does when the device takes no more. */
enum weir_node_on_full {
	WEIR_NODE_ON_FULL_DROP, /**< count and free the rest */
	WEIR_NODE_ON_FULL_WAIT, /**< try again until it does (or weir_node_stop_waiting()): the walk waits */
};

/** A port. Zero means the default of each member. */
struct weir_node_port_param {
	const char *name; /**< unique; letters, digits, '_' */
	const char *
		device; /**< a DPDK port by name ("0000:01:00.0", "net_ring0"), already probed; NULL: pcap files */
	const char *pcap_in; /**< file to receive from, or NULL: receives nothing */
	const char *
		pcap_out; /**< file to transmit to, or NULL: packets are counted as sent and freed */
	uint32_t pcap_repeat; /**< read pcap_in so many times; 0: 1 */
	bool mac_given; /**< mac below counts; else the device's, for pcap 02:00:00:00:00:NN by port id */
	struct rte_ether_addr mac; /**< the port's own address */
	bool accept_any;           /**< take frames whatever their destination MAC */
	bool promiscuous;          /**< ask the device for all frames */
	uint16_t mtu;              /**< largest layer-3 packet sent, bytes; 0: 1500 */
	uint16_t vlan;             /**< tag sent packets with this VLAN, 1 to 4094; 0: untagged */
	uint16_t nb_rx_queues;     /**< 0: 1; more: RSS spreads flows over them */
	uint16_t nb_tx_queues;     /**< 0: 1; one for each graph that sends here */
	uint16_t rx_ring_size;     /**< descriptors; 0: 1024, adjusted to the device's limits */
	uint16_t tx_ring_size;     /**< descriptors; 0: 1024 */
	uint16_t
		rx_burst; /**< objects asked of the device at once; 0: WEIR_NODE_RX_BURST_DEFAULT */
	bool no_offloads; /**< do not use the device's checksum offloads and RSS hash */
	enum weir_node_on_full on_full; /**< when the device takes no more */
	struct rte_mempool *pool; /**< mbufs to receive into; required for ports that receive */
};

/** What a port is like, once added. */
struct weir_node_port_info {
	const char *name;          /**< as given */
	bool is_pcap;              /**< files rather than a device */
	uint16_t ethdev;           /**< DPDK port id; RTE_MAX_ETHPORTS for pcap */
	struct rte_ether_addr mac; /**< own address */
	uint16_t mtu;              /**< as used */
	uint16_t nb_rx_queues;     /**< as used; 0: receives nothing */
	uint16_t nb_tx_queues;     /**< as used */
	bool link_up;              /**< at the time of asking */
	uint16_t vlan;             /**< tag of sent packets; 0: untagged */
	bool accept_any;           /**< takes frames whatever their destination MAC */
};

/** What went through a port. All from the device's or the reader's point of view; 64 bits, never reset. */
struct weir_node_port_stats {
	uint64_t rx_packets; /**< handed to the graph */
	uint64_t rx_bytes;   /**< their bytes */
	uint64_t rx_missed;  /**< device: lost for want of descriptors (imissed) */
	uint64_t rx_no_mbuf; /**< device: lost for want of mbufs */
	uint64_t rx_errors;  /**< device: damaged frames */
	uint64_t
		rx_truncated; /**< pcap: records that the capture had cut short (still forwarded as far as headers allow) */
	uint64_t tx_packets;      /**< accepted by the device */
	uint64_t tx_bytes;        /**< their bytes */
	uint64_t tx_errors;       /**< device: accepted but not sent (oerrors) */
	uint64_t tx_full_dropped; /**< dropped because the device took no more */
};

/**
 * Add a port: configure and start the device, or open the files.
 *
 * @return its id; WEIR_NODE_PORT_INVALID with rte_errno: EINVAL, EEXIST, EBUSY (the file is being written, maybe by another process), ENODEV, ENOENT, or what the device said
 */
uint16_t weir_node_port_add(const struct weir_node_port_param *param);

/** Stop and forget a port that no graph uses. -EBUSY, -ENOENT. Its files are complete afterwards. */
int weir_node_port_remove(uint16_t port);

/** Id of the port of that name, or WEIR_NODE_PORT_INVALID. */
uint16_t weir_node_port_from_name(const char *name);

/** Port ids are below this. */
uint16_t weir_node_port_max_count(void);

/** What a port is like. -ENOENT. */
int weir_node_port_info(uint16_t port, struct weir_node_port_info *info);

/** A port's counters: the nodes' own at their last snapshot, the device's now. -ENOENT. */
int weir_node_port_stats(uint16_t port, struct weir_node_port_stats *stats);

/** Has a pcap port's input ended (or failed: then -EBADMSG or -EIO, see the log)? 1 yes, 0 no or not a file. */
int weir_node_port_input_ended(uint16_t port);

/** Write out what a pcap port's file has buffered. 0 for others. */
int weir_node_port_flush(uint16_t port);

/** Transmit nodes that wait on a full device give up and drop from now on (true), or wait again (false). Any thread. */
void weir_node_stop_waiting(bool stop);

/** Do they? For nodes of others that wait. Any thread. */
bool weir_node_waiting_is_stopped(void);

/**
 * Make sure that the nodes of all ports added so far are registered, and that
 * the rewrite nodes lead to all transmit nodes. Called before graphs are created.
 */
int weir_node_prepare(void);

/** Name of the receive node of a queue ("ethdev_rx-0-0"), into a buffer of WEIR_GRAPH_NAME_SIZE. -ENOENT */
int weir_node_rx_name(uint16_t port, uint16_t queue, char *name);

/** Name of the transmit node of a port. -ENOENT */
int weir_node_tx_name(uint16_t port, char *name);

/**
 * Write punted packets to a pcap file, from now on; NULL: stop. Any thread but one at a time; the old file is complete on return.
 */
int weir_node_punt_capture(const char *path);

/** Counters of one reason to drop or punt, summed over all graphs (destroyed ones included), from a snapshot. */
struct weir_node_reason_count {
	enum weir_node_reason reason; /**< which */
	uint64_t packets;             /**< how many */
};

/** All reasons with their counts; @p counts has room for WEIR_NODE_REASON_COUNT. 0 or -ETIMEDOUT. */
int weir_node_reason_counts(struct weir_node_reason_count *counts);

/**
 * Where all packets went, over all graphs (destroyed ones included), from one snapshot:
 * `received + fragments - fragmented == sent + dropped + punted + discarded`, for nodes hold nothing between walks.
 */
struct weir_node_totals {
	uint64_t received;   /**< by receive nodes */
	uint64_t sent;       /**< accepted by devices or written to files */
	uint64_t dropped;    /**< by the drop node, for all reasons */
	uint64_t punted;     /**< by the punt node, for all reasons */
	uint64_t discarded;  /**< by the null node, or for want of room in a stream or an edge */
	uint64_t fragmented; /**< packets that were cut */
	uint64_t fragments;  /**< pieces they were cut into */
};

/** All totals at one snapshot. 0, -ETIMEDOUT or -ENOMEM. */
int weir_node_totals(struct weir_node_totals *totals);

struct weir_base_ctl;

/** Offer this library's commands: node/ports, node/reasons, node/routes, route/add, route/delete, neighbour/add, neighbour/delete ... */
int weir_node_ctl_register(struct weir_base_ctl *ctl);

#ifdef __cplusplus
}
#endif

#endif
