/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_WIRING_H
#define WEIR_APP_WIRING_H

/**
 * @file
 * application.nodes and application.edges: the graph as the user changed it.
 */

#include <stdint.h>

#include <weir_graph.h>

struct config;

/** "FROM.EDGE -> TO", cut to its parts. */
struct wiring_edge {
	char from[WEIR_GRAPH_NAME_SIZE]; /**< node, own node or port */
	char edge
		[WEIR_GRAPH_NAME_SIZE]; /**< node that the edge leads to at first, or a beginning of its name */
	char to[WEIR_GRAPH_NAME_SIZE]; /**< node, own node or port */
};

/** Graphs that application.graph can name. */
extern const char *const wiring_bases[];

/** Cut an edge to its parts. @return 0 or -EINVAL */
int wiring_parse_edge(const char *text, struct wiring_edge *edge);

/** Check nodes and edges against what is registered, before there are ports. Errors go to the document. */
void wiring_check(struct config *config);

/**
 * Make the nodes and change the edges, after weir_node_prepare() and before graphs are created.
 *
 * @param port_ids  per port of the configuration
 * @return 0, or -EINVAL with errors in the document
 */
int wiring_apply(struct config *config, const uint16_t *port_ids);

#endif
