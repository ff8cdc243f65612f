/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_WIRING_FLOW_H
#define WEIR_APP_WIRING_FLOW_H

/**
 * @file
 * Which edges may lead to which node types, by what each needs to be told about a packet.
 * An edge is the name of the node that it leads to in the built-in graph; NULL: any to a port.
 */

#include <stdbool.h>

/** Does an edge not tell what type @p to needs? Then @p what that is, and @p from which edge it comes. */
bool wiring_flow_lacks(
	const char *type, const char *edge, const char *to, const char **what, const char **from);

/** Have nodes of the type an edge to each port? */
bool wiring_flow_has_port_edges(const char *type);

/** Have packets on that edge lost one of their time to live? What goes in a circle through such an edge ends. */
bool wiring_flow_ages(const char *type, const char *edge);

/** Nodes that belong to a port, and begin a graph. */
bool wiring_flow_is_receive(const char *type);

/** Nodes that bring in packets from queues of events, an edge for each queue, and begin a graph. */
bool wiring_flow_is_sched_rx(const char *type);

/** Nodes that receive from a port, hand links their frames, and begin a graph with the other packets. */
bool wiring_flow_is_link_rx(const char *type);

/** Nodes that send packets to a queue of events, at once or by jobs. */
bool wiring_flow_is_sched_tx(const char *type);

/** Nodes that belong to a port, and end a graph. */
bool wiring_flow_is_transmit(const char *type);

#endif
