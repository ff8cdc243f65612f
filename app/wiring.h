/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_APP_WIRING_H
#define WEIR_APP_WIRING_H

/**
 * @file
 * application.nodes and application.edges: the graph as the user changed it.
 */

#include <stdbool.h>
#include <stdint.h>

#include <weir_base_nodes.h>
#include <weir_graph.h>

struct config;
struct weir_base_doc_value;

/** Check nodes and edges against what is registered, before there are ports. Errors go to the document. */
void wiring_check(struct config *config);

/**
 * Make the nodes and change the edges, after weir_node_prepare() and before graphs are created.
 *
 * @param port_ids  per port of the configuration
 * @return 0, or -EINVAL with errors in the document
 */
int wiring_apply(struct config *config, const uint16_t *port_ids);

/** Number of the edge of sched_rx node @p node that is for queue @p name; WEIR_GRAPH_EDGE_INVALID: it has no such queue. */
uint16_t wiring_find_queue_edge(
	const struct config *config, const char *node, const char *name, int *queue);

/** The type of an own node, or NULL. */
const char *wiring_own_node_type(const struct config *config, const char *name);

/**
 * The edge of a registered node that @p name stands for: the whole name of the next node, else a beginning
 * that only one has, ports aside.
 *
 * @param[out] nb_found  how many it could be
 * @return WEIR_GRAPH_EDGE_INVALID when none or several are
 */
uint16_t wiring_find_edge(uint32_t node, const char *name, unsigned int *nb_found);

/** "a, b, c": where the edges of a node lead, for error messages. Valid until the next call. */
const char *wiring_edge_names(uint32_t node);

/** "FROM.EDGE -> TO", resolved as far as one can before there are ports. */
struct wiring_arc {
	const char *from_type; /**< registered node that the left one is, or is a clone of */
	uint32_t node;         /**< its id */
	uint16_t edge;         /**< number, unless it is one to a port */
	const char
		*edge_name; /**< of the next node in the built-in graph; NULL: a port, or a queue */
	int from_port;      /**< index, or -1 */
	int edge_port;      /**< index of the port that the edge leads to at first, or -1 */
	int edge_queue;     /**< index of the queue whose packets take the edge, or -1 */
	const char *to_type;             /**< of the right one */
	int to_port;                     /**< index, or -1 */
	struct weir_base_node_edge text; /**< as written */
};

/** Look up what an edge names. @return whether all of it is there; else errors are in the document, where @p report */
bool wiring_resolve(struct config *config, const struct weir_base_doc_value *value,
	struct wiring_arc *arc, bool report);

/** Check the graph as a whole: edges changed twice, circles, and nodes that nothing leads to. For descriptions without other errors in it. */
int wiring_graph_check(struct config *config);

#endif
