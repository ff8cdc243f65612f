/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_GRAPH_PRIVATE_H
#define WEIR_BASE_GRAPH_PRIVATE_H

/* What the rules of graphs have in common. */

#include <stdint.h>

#include "weir_base_doc.h"
#include "weir_base_nodes.h"

#pragma GCC visibility push(hidden)

#define GRAPH_NONE UINT32_MAX

/* A graph as a document describes it. */
struct graph {
	struct weir_base_doc *doc;
	const struct weir_base_doc_value *ports;                            /* of the platform */
	const struct weir_base_doc_value *nodes, *edges, *queues, *objects; /* of the application */
	const struct weir_base_doc_value *streams; /* that come to queues; NULL: none do */
	bool is_simulated;
	bool has_queues; /* those that nodes bring in are in order */
};

/* "FROM.EDGE -> TO", resolved. */
struct graph_arc {
	struct weir_base_node_edge text;             /* as written */
	const struct weir_base_node_type *from, *to; /* types of the nodes */
	const char *
		edge_name; /* of the next node in the graph to begin with; NULL: a port, or a queue */
	uint32_t edge;     /* its number, among those of the type */
	uint32_t from_port, to_port; /* indices, or GRAPH_NONE */
	uint32_t edge_port;  /* of the port that the edge leads to at first, or GRAPH_NONE */
	uint32_t edge_queue; /* of the queue whose packets take the edge, or GRAPH_NONE */
};

/* That of a document. @param is_simulated  streams come to queues */
struct graph graph_of(struct weir_base_doc *doc, bool is_simulated);

/* Does it bring in packets of queues, or send some there? */
bool graph_has_queues(const struct weir_base_node_type *type);

/* Index of an item of that name; GRAPH_NONE: there is none. */
uint32_t graph_index(const struct weir_base_doc_value *map, const char *name);

/* The type of an own node; NULL: it has none that is known. */
const struct weir_base_node_type *graph_type_of(const struct weir_base_doc_value *node);

/* The node of type sched_rx that brings in a queue's packets, or NULL. @param[out] edge  number of the queue among those that it has */
const struct weir_base_doc_value *graph_brings(
	const struct graph *graph, const char *queue, uint32_t *edge);

/* The object that gets them, or NULL. */
const struct weir_base_doc_value *graph_serves(const struct graph *graph, const char *queue);

/* What an edge names. @return whether all of it is there; else errors are in the document, where @p report */
bool graph_resolve(const struct graph *graph, const struct weir_base_doc_value *value,
	struct graph_arc *arc, bool report);

/* Is each edge changed once, does every circle come to an end, and does every node get packets? Where all else is in order. @return 0, -ENOMEM */
int graph_check_whole(const struct graph *graph);

/* Does an edge count down the time to live? @param edge  NULL: one to a port */
bool graph_edge_ages(const char *type, const char *edge);

/* Does a node need what an edge does not tell? @param[out] what, from  what, and which edges do */
bool graph_edge_lacks(
	const char *type, const char *edge, const char *to, const char **what, const char **from);

#pragma GCC visibility pop

#endif
