/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLUSTER_PRIVATE_H
#define CLUSTER_PRIVATE_H

#include "graph_private.h"

/* One set of a row's counters. */
struct cluster_counters {
	uint64_t node[SNAPSHOT_NODE_WORDS];
	uint64_t *edges;
	uint64_t *xstats;
};

/* A node, summed over graphs. */
struct cluster_row {
	char name[WEIR_GRAPH_NAME_SIZE];
	uint32_t nb_graphs;  /* at this look, destroyed ones included */
	uint32_t nb_retired; /* destroyed ones */
	uint16_t nb_edges;
	uint16_t nb_xstats;
	char **edge_names;
	char **xstat_names;
	struct cluster_counters now;     /* at this look */
	struct cluster_counters retired; /* of destroyed graphs */
	struct cluster_counters reset;   /* at the reader's reset */
	uint64_t printed_objs;           /* at the previous print, for rates */
};

struct weir_graph_cluster {
	struct weir_graph_cluster *next;
	char **patterns;
	uint32_t nb_patterns;
	uint32_t nb_rows;
	struct cluster_row **rows;
	uint64_t now[SNAPSHOT_GRAPH_WORDS];
	uint64_t retired[SNAPSHOT_GRAPH_WORDS];
	uint64_t reset[SNAPSHOT_GRAPH_WORDS];
	uint32_t nb_graphs;
	uint16_t clock_period;
	uint64_t time_ns;    /* of this look */
	uint64_t printed_ns; /* of the previous print; 0: there is nothing to take rates from */
	uint64_t *words;     /* room for one graph's snapshot */
	struct weir_graph_node_stats *shown;
	struct weir_graph_cluster_stats stats;
};

/* cluster.c: rates are since this look from now on */
void graph_cluster_remember(struct weir_graph_cluster *cluster);

#endif
