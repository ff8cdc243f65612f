/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BRIDGE_H
#define WEIR_BRIDGE_H

/**
 * @file
 * Where graphs meet the event machine: two kinds of nodes.
 *
 *     core 0                                    core 1, 2 ...
 *     port -> ... -> sched_tx-NAME              sched_rx-NAME -> ... -> port
 *                        |                          ^     '-> ... -> sched_tx-OTHER -> ...
 *                        v                          |
 *                   queue of the event machine: one core or several
 *
 * A *sched_tx* node makes an event of each packet and sends it to a queue, or to one of several alike by the packet's flow.
 * A *sched_rx* node is an execution object: its receive function walks the graph of the core that it runs on, with the events'
 * packets as what the node brings in. So for as long as the walk lasts, the core holds what the queue's type promises:
 * of an atomic queue no other core has packets, and what the graph does (transmit, write, count) is done in order.
 *
 * What becomes of a packet in that walk:
 *
 *  - a sched_tx node sends it on: it is forwarded, with its credit, never refused, and from an ordered queue in its place;
 *  - anything else: its event is released after the walk, at the core's next round.
 *
 * Packets that did not come by sched_rx in the same walk, from a port or copies made in the graph (fragments), are sent as new
 * events: these can be refused, see struct weir_bridge_tx_param::wait; and from an ordered queue they are outside of the order.
 *
 * So packets of one flow keep their order all the way from a port through any number of queues, as long as each of these is
 * atomic or ordered, and is used with the same or a coarser notion of a flow than the one before it.
 *
 * A core has one graph for its events: sched_rx nodes are its only sources; and one for its ports, if it polls any.
 *
 * Threads: nodes are made and deleted by one thread at a time, by none that walks a graph.
 * Errors: 0 or a negative errno with a reason in the log under "bridge".
 */

#include <stdbool.h>
#include <stdint.h>

#include "weir_base_nodes.h"
#include "weir_em.h"
#include "weir_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most queues that flows of one sched_tx node are spread over. */
#define WEIR_BRIDGE_FLOWS_MAX WEIR_BASE_FLOWS_MAX

/** What tells flows apart; names are weir_base_flow_names. What a packet does not have (it is no IP packet, no TCP, UDP or SCTP, a fragment) is left out. */
enum weir_bridge_flow {
	WEIR_BRIDGE_FLOW_RSS, /**< the device's RSS hash; where there is none, as the next */
	WEIR_BRIDGE_FLOW_FIVE_TUPLE, /**< addresses, protocol, ports; of other packets than IP: Ethernet addresses and type */
	WEIR_BRIDGE_FLOW_SOURCE,      /**< source address, of IP, else of Ethernet */
	WEIR_BRIDGE_FLOW_DESTINATION, /**< destination address, likewise */
	WEIR_BRIDGE_FLOWS
};

/** What a sched_tx node is to be. */
struct weir_bridge_tx_param {
	const char *name;            /**< the node is called "sched_tx-NAME" */
	struct weir_em *em;          /**< whose queues these are */
	const weir_em_queue *queues; /**< one, or several among which flows are spread; copied */
	unsigned int nb_queues;      /**< entries in queues, up to WEIR_BRIDGE_FLOWS_MAX */
	enum weir_bridge_flow flow;  /**< of several: what tells flows apart */
	/**
	 * New events that are refused, as there are too many inside: try again until they are taken or weir_node_stop_waiting(). The core
	 * serves events meanwhile, if it can. Without, or where waiting would be for itself, their packets are dropped as "sched_full".
	 */
	bool wait;
};

/** A queue that a sched_rx node serves. */
struct weir_bridge_rx_queue {
	const weir_em_queue
		*queues;        /**< one, or several with one edge; belonging to no object so far */
	unsigned int nb_queues; /**< entries in queues */
	const char *next;       /**< node that its edge leads to at first; NULL: "drop" */
};

/** What a sched_rx node is to be. */
struct weir_bridge_rx_param {
	const char *name;   /**< the node is called "sched_rx-NAME", its execution object NAME */
	struct weir_em *em; /**< whose queues these are */
	const struct weir_bridge_rx_queue *queues; /**< edge i of the node is that of entry i */
	unsigned int nb_queues;                    /**< entries in queues */
	uint16_t burst; /**< most packets of a walk, up to WEIR_EM_BURST_MAX: 0: that */
};

/** What sched_rx nodes could not hand to a graph. They are freed. */
struct weir_bridge_rx_stats {
	uint64_t nb_unbound; /**< the core that got them had no graph with this node bound to it */
	uint64_t nb_foreign; /**< events without a packet */
};

/**
 * Make a sched_tx node, to be led to by edges. In graphs, packets that cannot be sent go to its only edge, "drop", with the reason
 * "sched_full" or "sched_closed" (the queue is gone, or the graph is bound to no core).
 *
 * @return its id; WEIR_GRAPH_NODE_INVALID with rte_errno: EINVAL, EEXIST, ENAMETOOLONG, ENOMEM
 */
uint32_t weir_bridge_tx_create(const struct weir_bridge_tx_param *param);

/**
 * Make a sched_rx node, and its execution object, which has the queues and runs when this returns.
 *
 * @return its id; WEIR_GRAPH_NODE_INVALID with rte_errno: EINVAL, EEXIST, ENAMETOOLONG, ENOSPC, ENOMEM, EBUSY (a queue has an object)
 */
uint32_t weir_bridge_rx_create(const struct weir_bridge_rx_param *param);

/** Forget a node that no graph has; stops and deletes the execution object. @return 0; -EBUSY; -ENOENT: it is none of these */
int weir_bridge_node_delete(uint32_t node);

/** Look at a sched_rx node. Any thread. @return 0; -ENOENT */
int weir_bridge_rx_stats(uint32_t node, struct weir_bridge_rx_stats *stats);

/**
 * From now on the graph's sched_tx nodes send as @p core, and its sched_rx nodes get what comes to @p core; until then packets that
 * reach the ones are dropped, and events that are for the others are freed and counted. By the core's thread, before its first walk or
 * round. A graph that has sched_rx nodes is walked by the event machine alone: by nobody else.
 *
 * @return 0; -EINVAL: it has sched_rx nodes and other sources; -EBUSY: it is bound, or the core has a graph with one of these sched_rx
 *   nodes; -ENOMEM
 */
int weir_bridge_bind(struct weir_graph *graph, struct weir_em_core *core);

/** No longer. By the core's thread, or when it is gone. Nothing happens to a graph that is not bound. */
void weir_bridge_unbind(struct weir_graph *graph);

#ifdef __cplusplus
}
#endif

#endif
