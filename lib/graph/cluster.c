/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Several graphs looked at as one. Rows are nodes by name; a node's edges and
 * counters are matched by name too. What destroyed graphs had counted is kept in the
 * rows' `retired` words, so that totals never shrink.
 */

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_private.h"

static struct weir_graph_cluster *clusters; /* all of them, for retiring */

static bool
cluster_matches(const struct weir_graph_cluster *cluster, const struct weir_graph *graph)
{
	for (uint32_t i = 0; i < cluster->nb_patterns; i++)
		if (fnmatch(cluster->patterns[i], graph->slow->name, 0) == 0)
			return true;
	return false;
}

static void
row_free(struct cluster_row *row)
{
	graph_names_free(row->edge_names, row->nb_edges);
	graph_names_free(row->xstat_names, row->nb_xstats);
	free(row->now.edges);
	free(row->now.xstats);
	free(row->retired.edges);
	free(row->retired.xstats);
	free(row->reset.edges);
	free(row->reset.xstats);
	free(row);
}

void
weir_graph_cluster_destroy(struct weir_graph_cluster *cluster)
{
	struct weir_graph_cluster **link = &clusters;

	if (cluster == NULL)
		return;
	graph_lock();
	while (*link != cluster)
		link = &(*link)->next;
	*link = cluster->next;
	graph_unlock();
	for (uint32_t i = 0; i < cluster->nb_rows; i++)
		row_free(cluster->rows[i]);
	free(cluster->rows);
	free(cluster->shown);
	free(cluster->words);
	graph_names_free(cluster->patterns, cluster->nb_patterns);
	free(cluster);
}

static int
grow_words(uint64_t **words, uint32_t nb)
{
	uint64_t *grown = realloc(*words, nb * sizeof(*grown));

	if (grown == NULL)
		return -ENOMEM;
	grown[nb - 1] = 0;
	*words = grown;
	return 0;
}

/* A new column for edges or xstats in a row's three sets of counters. */
static int
add_column(char ***names, uint16_t *nb, const char *name, uint64_t **now, uint64_t **retired,
	uint64_t **reset)
{
	uint32_t wider = *nb + 1u;
	char **grown = realloc(*names, (wider + 1) * sizeof(*grown));

	if (grown == NULL)
		return -ENOMEM;
	*names = grown;
	if (grow_words(now, wider) < 0 || grow_words(retired, wider) < 0 ||
		grow_words(reset, wider) < 0)
		return -ENOMEM;
	grown[*nb] = strdup(name);
	if (grown[*nb] == NULL)
		return -ENOMEM;
	(*nb)++;
	return 0;
}

/*
 * Column for a graph's names[index]: of those of that name, as many-th as it is among the graph's, because
 * two edges may lead to one node. -1: there is none. @in_step: so far each
 * column has been at its index, which saves the search.
 */
static int
find_column(char *const *columns, uint16_t nb, char *const *names, uint16_t index, bool *in_step)
{
	uint16_t nth = 0;

	*in_step = *in_step && index < nb && strcmp(columns[index], names[index]) == 0;
	if (*in_step)
		return index;
	for (uint16_t i = 0; i < index; i++)
		nth += strcmp(names[i], names[index]) == 0;
	for (uint16_t i = 0; i < nb; i++)
		if (strcmp(columns[i], names[index]) == 0 && nth-- == 0)
			return i;
	return -1;
}

/* A node's row; @place is where it is likely to be. */
static struct cluster_row *
row_find_or_add(struct weir_graph_cluster *cluster, const char *name, uint32_t place)
{
	struct cluster_row **grown;
	struct cluster_row *row;

	if (place < cluster->nb_rows && strcmp(cluster->rows[place]->name, name) == 0)
		return cluster->rows[place];
	for (uint32_t i = 0; i < cluster->nb_rows; i++)
		if (strcmp(cluster->rows[i]->name, name) == 0)
			return cluster->rows[i];
	grown = realloc(cluster->rows, (cluster->nb_rows + 1) * sizeof(*grown));
	row = calloc(1, sizeof(*row));
	if (grown != NULL)
		cluster->rows = grown;
	if (grown == NULL || row == NULL) {
		free(row);
		return NULL;
	}
	memcpy(row->name, name, sizeof(row->name));
	cluster->rows[cluster->nb_rows++] = row;
	return row;
}

/* Add a node's words of a snapshot to one set of counters of its row. */
static int
row_add(struct cluster_row *row, struct cluster_counters *counters, const struct node_info *info,
	uint16_t nb_edges, const uint64_t *words)
{
	const uint64_t *edges = words + SNAPSHOT_NODE_WORDS;
	const uint64_t *xstats = edges + nb_edges;
	bool edges_in_step = true, xstats_in_step = true;

	for (uint32_t i = 0; i < SNAPSHOT_NODE_WORDS; i++)
		counters->node[i] += words[i];
	for (uint16_t e = 0; e < nb_edges; e++) {
		int column =
			find_column(row->edge_names, row->nb_edges, info->edges, e, &edges_in_step);

		if (column < 0) {
			column = row->nb_edges;
			if (add_column(&row->edge_names, &row->nb_edges, info->edges[e],
				    &row->now.edges, &row->retired.edges, &row->reset.edges) < 0)
				return -ENOMEM;
		}
		counters->edges[column] += edges[e];
	}
	for (uint16_t x = 0; x < info->nb_xstats; x++) {
		int column = find_column(
			row->xstat_names, row->nb_xstats, info->xstats, x, &xstats_in_step);

		if (column < 0) {
			column = row->nb_xstats;
			if (add_column(&row->xstat_names, &row->nb_xstats, info->xstats[x],
				    &row->now.xstats, &row->retired.xstats, &row->reset.xstats) < 0)
				return -ENOMEM;
		}
		counters->xstats[column] += xstats[x];
	}
	return 0;
}

/* Take a graph's snapshot and add it, to `retired` or to `now`. */
static int
cluster_add_graph(struct weir_graph_cluster *cluster, struct weir_graph *graph, bool retire)
{
	const struct weir_graph_slow *slow = graph->slow;
	uint64_t *words = realloc(cluster->words, slow->snapshot_words * sizeof(*words));
	int rc;

	if (words == NULL)
		return -ENOMEM;
	cluster->words = words;
	rc = graph_snapshot_take(graph, words);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < SNAPSHOT_GRAPH_WORDS; i++)
		(retire ? cluster->retired : cluster->now)[i] += words[i];
	for (uint32_t pos = 0; pos < slow->nb_nodes; pos++) {
		const struct node_info *info = &slow->info[pos];
		struct cluster_row *row = row_find_or_add(cluster, info->name, pos);

		if (row == NULL)
			return -ENOMEM;
		if (retire)
			row->nb_retired++;
		else
			row->nb_graphs++;
		rc = row_add(row, retire ? &row->retired : &row->now, info,
			graph->nodes[pos]->nb_edges, words + info->snapshot_offset);
		if (rc < 0)
			return rc;
	}
	return 0;
}

void
graph_cluster_retire(struct weir_graph *graph)
{
	for (struct weir_graph_cluster *cluster = clusters; cluster != NULL;
		cluster = cluster->next)
		if (cluster_matches(cluster, graph) && cluster_add_graph(cluster, graph, true) < 0)
			GRAPH_LOG(ERROR,
				"counters of graph '%s' are missing in the totals from now on",
				graph->slow->name);
}

static void
copy_words(uint64_t *to, const uint64_t *from, uint32_t nb)
{
	if (nb > 0)
		memcpy(to, from, nb * sizeof(*to));
}

/* Start a look: everything at what destroyed graphs have left. */
static void
cluster_begin(struct weir_graph_cluster *cluster)
{
	memcpy(cluster->now, cluster->retired, sizeof(cluster->now));
	for (uint32_t i = 0; i < cluster->nb_rows; i++) {
		struct cluster_row *row = cluster->rows[i];

		row->nb_graphs = row->nb_retired;
		memcpy(row->now.node, row->retired.node, sizeof(row->now.node));
		copy_words(row->now.edges, row->retired.edges, row->nb_edges);
		copy_words(row->now.xstats, row->retired.xstats, row->nb_xstats);
	}
}

static int
cluster_collect(struct weir_graph_cluster *cluster)
{
	uint32_t nb_ids = weir_graph_max_count();
	int rc = 0;

	cluster_begin(cluster);
	cluster->nb_graphs = 0;
	cluster->clock_period = 0;
	for (uint32_t id = 0; id < nb_ids && rc == 0; id++) {
		struct weir_graph *graph = graph_at(id);

		if (graph == NULL || !cluster_matches(cluster, graph))
			continue;
		cluster->nb_graphs++;
		/* Of several the coarsest: what is shown is no better than that. */
		cluster->clock_period =
			RTE_MAX(cluster->clock_period, (uint16_t)graph->slow->clock_period);
		rc = cluster_add_graph(cluster, graph, false);
	}
	cluster->time_ns = weir_base_time_ns();
	return rc;
}

void
graph_cluster_remember(struct weir_graph_cluster *cluster)
{
	cluster->printed_ns = cluster->time_ns;
	for (uint32_t i = 0; i < cluster->nb_rows; i++)
		cluster->rows[i]->printed_objs = cluster->rows[i]->now.node[SNAPSHOT_OBJS];
}

static const char *
patterns_fault(const char *const *patterns, uint32_t nb)
{
	if (nb > 0 && patterns == NULL)
		return "no patterns are given";
	for (uint32_t i = 0; i < nb; i++)
		if (patterns[i] == NULL)
			return "one of its patterns is NULL";
	return NULL;
}

static struct weir_graph_cluster *
cluster_new(const char *const *graph_patterns, uint32_t nb_patterns)
{
	struct weir_graph_cluster *cluster = calloc(1, sizeof(*cluster));

	if (cluster != NULL)
		cluster->patterns = graph_names_copy(graph_patterns, nb_patterns);
	if (cluster == NULL || cluster->patterns == NULL) {
		free(cluster);
		rte_errno = ENOMEM;
		return NULL;
	}
	cluster->nb_patterns = nb_patterns;
	return cluster;
}

struct weir_graph_cluster *
weir_graph_cluster_create(const char *const *graph_patterns, uint32_t nb_patterns)
{
	const char *fault = patterns_fault(graph_patterns, nb_patterns);
	struct weir_graph_cluster *cluster;

	if (fault != NULL) {
		GRAPH_LOG(ERROR, "a cluster is not created: %s", fault);
		rte_errno = EINVAL;
		return NULL;
	}
	cluster = cluster_new(graph_patterns, nb_patterns);
	if (cluster == NULL)
		return NULL;
	graph_lock();
	cluster->next = clusters;
	clusters = cluster;
	/* The first rates are since now: what was counted before is not part of them. */
	if (cluster_collect(cluster) == 0)
		graph_cluster_remember(cluster);
	graph_unlock();
	return cluster;
}

static void
words_subtract(uint64_t *words, const uint64_t *less, uint32_t nb)
{
	for (uint32_t i = 0; i < nb; i++)
		words[i] -= less[i];
}

static void
cluster_subtract_reset(struct weir_graph_cluster *cluster)
{
	words_subtract(cluster->now, cluster->reset, SNAPSHOT_GRAPH_WORDS);
	for (uint32_t i = 0; i < cluster->nb_rows; i++) {
		struct cluster_row *row = cluster->rows[i];

		words_subtract(row->now.node, row->reset.node, SNAPSHOT_NODE_WORDS);
		words_subtract(row->now.edges, row->reset.edges, row->nb_edges);
		words_subtract(row->now.xstats, row->reset.xstats, row->nb_xstats);
	}
}

/* Fill what the caller sees from the rows. */
static int
cluster_show(struct weir_graph_cluster *cluster, const struct weir_graph_cluster_stats **stats)
{
	struct weir_graph_node_stats *shown =
		realloc(cluster->shown, (cluster->nb_rows + 1) * sizeof(*shown));

	if (shown == NULL)
		return -ENOMEM;
	cluster->shown = shown;
	for (uint32_t i = 0; i < cluster->nb_rows; i++) {
		const struct cluster_row *row = cluster->rows[i];

		memcpy(shown[i].name, row->name, sizeof(shown[i].name));
		shown[i].nb_graphs = row->nb_graphs;
		shown[i].calls = row->now.node[SNAPSHOT_CALLS];
		shown[i].objs = row->now.node[SNAPSHOT_OBJS];
		shown[i].cycles = row->now.node[SNAPSHOT_CYCLES];
		shown[i].realloc_count = row->now.node[SNAPSHOT_REALLOCS];
		shown[i].overflow = row->now.node[SNAPSHOT_OVERFLOW];
		shown[i].strays = row->now.node[SNAPSHOT_STRAYS];
		shown[i].nb_edges = row->nb_edges;
		shown[i].nb_xstats = row->nb_xstats;
		shown[i].edge_names = (const char *const *)row->edge_names;
		shown[i].edge_objs = row->now.edges;
		shown[i].xstat_names = (const char *const *)row->xstat_names;
		shown[i].xstats = row->now.xstats;
	}
	cluster->stats = (struct weir_graph_cluster_stats){
		.time_ns = cluster->time_ns,
		.nb_graphs = cluster->nb_graphs,
		.nb_nodes = cluster->nb_rows,
		.walks = cluster->now[SNAPSHOT_WALKS],
		.idle_walks = cluster->now[SNAPSHOT_IDLE_WALKS],
		.busy_cycles = cluster->now[SNAPSHOT_BUSY_CYCLES],
		.idle_cycles = cluster->now[SNAPSHOT_IDLE_CYCLES],
		.clock_period = cluster->clock_period,
		.nodes = shown,
	};
	*stats = &cluster->stats;
	return 0;
}

static int
cluster_look(struct weir_graph_cluster *cluster, const struct weir_graph_cluster_stats **stats,
	bool since_reset)
{
	int rc;

	graph_lock();
	rc = cluster_collect(cluster);
	if (rc == 0 && since_reset)
		cluster_subtract_reset(cluster);
	if (rc == 0)
		rc = cluster_show(cluster, stats);
	graph_unlock();
	return rc;
}

int
weir_graph_cluster_get(
	struct weir_graph_cluster *cluster, const struct weir_graph_cluster_stats **stats)
{
	return cluster_look(cluster, stats, false);
}

int
weir_graph_cluster_get_since_reset(
	struct weir_graph_cluster *cluster, const struct weir_graph_cluster_stats **stats)
{
	return cluster_look(cluster, stats, true);
}

int
weir_graph_cluster_reset(struct weir_graph_cluster *cluster)
{
	int rc;

	graph_lock();
	rc = cluster_collect(cluster);
	if (rc == 0) {
		memcpy(cluster->reset, cluster->now, sizeof(cluster->reset));
		for (uint32_t i = 0; i < cluster->nb_rows; i++) {
			struct cluster_row *row = cluster->rows[i];

			memcpy(row->reset.node, row->now.node, sizeof(row->reset.node));
			copy_words(row->reset.edges, row->now.edges, row->nb_edges);
			copy_words(row->reset.xstats, row->now.xstats, row->nb_xstats);
		}
	}
	graph_unlock();
	return rc;
}
