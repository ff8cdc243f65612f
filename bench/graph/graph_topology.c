/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The topologies. Those with stages are DPDK's graph performance test's; there a
 * stage is a column of workers, and a percentage says what part of its objects a
 * worker passes to each worker of the next stage.
 *
 *     home-run        S - o - o - o - o - K          two-sources  S, S - o - o - o - o - K
 *     two-sinks       S - o - o - o - o = K, K       tree         S - 1 = 2 = 3 = 4 - K each
 *     reverse-tree    S = 4 = 3 = 2 - K              parallel-tree  4 times S - o - o - o - o - o - K
 *     diamond         S - o = o, o - o - K           scatter-N    S - x = N K
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_bench.h"

static uint16_t
add_node(struct topology *topology, enum topology_kind kind)
{
	static const char *const kinds[] = {
		[TOPOLOGY_SOURCE] = "source",
		[TOPOLOGY_MOVER] = "worker",
		[TOPOLOGY_WORKER] = "worker",
		[TOPOLOGY_SCATTER] = "scatter",
		[TOPOLOGY_SINK] = "sink",
	};
	struct topology_node *node = &topology->nodes[topology->nb_nodes];

	snprintf(node->name, sizeof(node->name), "%s-%u", kinds[kind], topology->nb_nodes);
	node->kind = kind;
	return (uint16_t)topology->nb_nodes++;
}

static void
add_edge(struct topology *topology, uint16_t from, uint16_t to, uint8_t percent)
{
	struct topology_node *node = &topology->nodes[from];

	node->to[node->nb_edges] = to;
	node->percent[node->nb_edges++] = percent;
	if (node->kind == TOPOLOGY_MOVER && node->nb_edges > 1)
		node->kind = TOPOLOGY_WORKER;
}

/* Edges from each of one column to each of the next, in shares that are as equal as whole percents can be. */
static void
join_columns(struct topology *topology, uint16_t from, unsigned int nb_from, uint16_t to,
	unsigned int nb_to)
{
	for (unsigned int f = 0; f < nb_from; f++)
		for (unsigned int t = 0; t < nb_to; t++)
			add_edge(topology, (uint16_t)(from + f), (uint16_t)(to + t),
				(uint8_t)(nb_to == 3 ? (t == 1 ? 34 : 33) : 100 / nb_to));
}

static uint16_t
add_column(struct topology *topology, enum topology_kind kind, unsigned int nb)
{
	uint16_t first = add_node(topology, kind);

	while (--nb > 0)
		add_node(topology, kind);
	return first;
}

/* Columns of workers after a column of sources; each joined with all of the next. Returns the last. */
static uint16_t
make_columns(struct topology *topology, unsigned int nb_sources, const char *workers)
{
	unsigned int nb_last = nb_sources, nb;
	uint16_t last = add_column(topology, TOPOLOGY_SOURCE, nb_sources), column;

	for (; *workers != '\0'; workers++, last = column, nb_last = nb) {
		nb = (unsigned int)(*workers - '0');
		column = add_column(topology, TOPOLOGY_MOVER, nb);
		join_columns(topology, last, nb_last, column, nb);
	}
	return last;
}

/* Chains side by side. */
static void
make_chains(struct topology *topology, unsigned int nb_chains, unsigned int nb_workers)
{
	uint16_t last = add_column(topology, TOPOLOGY_SOURCE, nb_chains), column;

	for (unsigned int w = 0; w <= nb_workers; w++, last = column) {
		column = add_column(
			topology, w < nb_workers ? TOPOLOGY_MOVER : TOPOLOGY_SINK, nb_chains);
		for (unsigned int c = 0; c < nb_chains; c++)
			add_edge(topology, (uint16_t)(last + c), (uint16_t)(column + c), 100);
	}
}

static void
make_tree(struct topology *topology)
{
	uint16_t last = make_columns(topology, 1, "1234");
	uint16_t sinks = add_column(topology, TOPOLOGY_SINK, 4);

	for (unsigned int i = 0; i < 4; i++)
		add_edge(topology, (uint16_t)(last + i), (uint16_t)(sinks + i), 100);
}

static void
make_scatter(struct topology *topology, unsigned int nb_sinks)
{
	uint16_t source = add_node(topology, TOPOLOGY_SOURCE);
	uint16_t scatter = add_node(topology, TOPOLOGY_SCATTER);

	add_edge(topology, source, scatter, 100);
	join_columns(topology, scatter, 1, add_column(topology, TOPOLOGY_SINK, nb_sinks), nb_sinks);
}

int
topology_make(struct topology *topology, const char *name)
{
	static const struct {
		const char *name;
		unsigned int nb_sources;
		const char *workers; /* a digit per column */
		unsigned int nb_sinks;
	} columns[] = {
		{"home-run", 1, "1111", 1},
		{"two-sources", 2, "1111", 1},
		{"two-sinks", 1, "1111", 2},
		{"reverse-tree", 1, "432", 1},
		{"diamond", 1, "121", 1},
	};

	memset(topology, 0, sizeof(*topology));
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		if (strncmp(name, columns[i].name, strlen(columns[i].name)) == 0) {
			const char *workers = columns[i].workers;
			uint16_t last = make_columns(topology, columns[i].nb_sources, workers);
			unsigned int nb_last = (unsigned int)(workers[strlen(workers) - 1] - '0');
			unsigned int nb_sinks = columns[i].nb_sinks;

			join_columns(topology, last, nb_last,
				add_column(topology, TOPOLOGY_SINK, nb_sinks), nb_sinks);
			return 0;
		}
	}
	if (strcmp(name, "tree") == 0)
		make_tree(topology);
	else if (strcmp(name, "parallel-tree") == 0)
		make_chains(topology, 4, 5);
	else if (strncmp(name, "scatter-", 8) == 0)
		make_scatter(topology, (unsigned int)atoi(name + 8));
	else if (strncmp(name, "skewed-", 7) == 0)
		make_scatter(topology, 4);
	else
		return -ENOENT;
	return 0;
}
