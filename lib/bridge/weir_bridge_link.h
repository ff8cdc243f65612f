/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BRIDGE_LINK_H
#define WEIR_BRIDGE_LINK_H

/**
 * @file
 * Where graphs meet links: a port that both share.
 *
 *     port -> link_rx-NAME -> classify -> ... -> the same port
 *                  |
 *                  '-> links (weir_readout_dispatch.h), in vectors
 *
 * A *link_rx* node is a source. It receives large bursts from a queue of a port (weir_node.h), and hands links their frames, without a copy,
 * in the walk; consumers with a callback run there. What is no link's frame goes along the node's only edge, as from the port's own node, which is
 * not in the graph then.
 *
 * Its own counters: "packets", "bytes", and of these "link_frames". packets = link_frames + what went along the edge. The port's own
 * counts of received packets do not have them.
 *
 * Threads: nodes are made and deleted by one thread at a time, by none that walks a graph. A queue is in one graph that is walked at a time.
 */

#include <stdint.h>

#include "weir_base_nodes.h"
#include "weir_readout_dispatch.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Packets asked for at once, unless configured: as in weir_readout_receiver.h. */
#define WEIR_BRIDGE_LINK_BURST WEIR_BASE_SHARED_BURST

/** What a link_rx node is to be. */
struct weir_bridge_link_param {
	const char *name; /**< the node is called "link_rx-NAME" */
	uint16_t port;    /**< of weir_node_port_add(), a device; it outlives the node */
	uint16_t queue;   /**< to receive from, less than the port's nb_rx_queues */
	uint16_t burst;   /**< packets asked for at once; 0: WEIR_BRIDGE_LINK_BURST */
	struct weir_readout_dispatch *dispatch; /**< to links; it outlives the node */
	uint32_t dispatch_queue;                /**< its queue */
	const char *next; /**< node that the edge leads to at first; NULL: "classify" */
};

/**
 * Make a link_rx node; to be deleted with weir_bridge_node_delete().
 *
 * @return its id; WEIR_GRAPH_NODE_INVALID with rte_errno: EINVAL, ENODEV: no such port, or it is no device; EEXIST, ENAMETOOLONG, ENOMEM; the
 *         log says why
 */
uint32_t weir_bridge_link_create(const struct weir_bridge_link_param *param);

#ifdef __cplusplus
}
#endif

#endif
