/* SPDX-License-Identifier: BSD-3-Clause */

/* A cluster as the RFC's table, and as JSON. Rates are over the time since the previous one. */

#include <string.h>

#include "cluster_private.h"

#define INTERVAL_MIN_NS UINT64_C(10000000) /* over less a rate says nothing */

static double
ratio(double a, double b)
{
	return b == 0 ? 0 : a / b;
}

/* Seconds since the previous print; 0: there was none, or it is too recent for rates. */
static double
interval_s(const struct weir_graph_cluster *cluster)
{
	uint64_t interval_ns = cluster->time_ns - cluster->printed_ns;

	return cluster->printed_ns == 0 || interval_ns < INTERVAL_MIN_NS
		       ? 0
		       : (double)interval_ns / 1e9;
}

/* The next rates are since now, unless these were left out. */
static void
begin_interval(struct weir_graph_cluster *cluster)
{
	if (cluster->printed_ns == 0 || interval_s(cluster) > 0)
		graph_cluster_remember(cluster);
}

/* Objects per second of a row in that interval. */
static double
row_rate(const struct weir_graph_cluster *cluster, uint32_t index)
{
	const struct cluster_row *row = cluster->rows[index];

	return ratio(
		(double)(row->now.node[SNAPSHOT_OBJS] - row->printed_objs), interval_s(cluster));
}

static uint32_t
name_width(const struct weir_graph_cluster_stats *stats)
{
	uint32_t width = 12;

	for (uint32_t i = 0; i < stats->nb_nodes; i++)
		width = RTE_MAX(width, (uint32_t)strlen(stats->nodes[i].name));
	return width;
}

static void
print_rule(FILE *out, uint32_t width)
{
	static const uint32_t columns[] = {14, 16, 10, 10, 14, 12, 10};

	fputc('+', out);
	for (uint32_t i = 0; i < width + 2; i++)
		fputc('-', out);
	for (uint32_t c = 0; c < RTE_DIM(columns); c++) {
		fputc('+', out);
		for (uint32_t i = 0; i < columns[c] + 2; i++)
			fputc('-', out);
	}
	fputs("+\n", out);
}

static void
print_table(const struct weir_graph_cluster *cluster, FILE *out)
{
	const struct weir_graph_cluster_stats *stats = &cluster->stats;
	uint32_t width = name_width(stats);

	print_rule(out, width);
	fprintf(out, "| %-*s | %14s | %16s | %10s | %10s | %14s | %12s | %10s |\n", (int)width,
		"Node", "calls", "objs", "reallocs", "objs/call", "objs/sec(10E6)", "cycles/call",
		"cycles/obj");
	print_rule(out, width);
	for (uint32_t i = 0; i < stats->nb_nodes; i++) {
		const struct weir_graph_node_stats *node = &stats->nodes[i];

		fprintf(out,
			"| %-*s | %14" PRIu64 " | %16" PRIu64 " | %10" PRIu64
			" | %10.3f | %14.6f | %12.1f | %10.2f |\n",
			(int)width, node->name, node->calls, node->objs, node->realloc_count,
			ratio((double)node->objs, (double)node->calls), row_rate(cluster, i) / 1e6,
			ratio((double)node->cycles, (double)node->calls),
			ratio((double)node->cycles, (double)node->objs));
	}
	print_rule(out, width);
	fprintf(out, "%u graphs, %" PRIu64 " walks, %" PRIu64 " of them idle; cycles: ",
		stats->nb_graphs, stats->walks, stats->idle_walks);
	if (stats->clock_period == UINT16_MAX)
		fprintf(out, "not taken\n");
	else
		fprintf(out, "%" PRIu64 " busy, %" PRIu64 " idle, from 1 walk in %u, scaled\n",
			stats->busy_cycles, stats->idle_cycles, stats->clock_period);
}

int
weir_graph_cluster_print(struct weir_graph_cluster *cluster, FILE *out)
{
	const struct weir_graph_cluster_stats *stats;
	int rc;

	graph_lock();
	rc = weir_graph_cluster_get(cluster, &stats);
	if (rc == 0) {
		print_table(cluster, out);
		begin_interval(cluster);
	}
	graph_unlock();
	return rc;
}

static json_t *
named_json(const char *const *names, const uint64_t *values, uint16_t nb)
{
	json_t *json = json_object();

	for (uint16_t i = 0; i < nb; i++) {
		/* Two edges may lead to one node: their counts go together. */
		json_int_t before = json_integer_value(json_object_get(json, names[i]));

		json_object_set_new(json, names[i], json_integer(before + (json_int_t)values[i]));
	}
	return json;
}

static json_t *
node_json(const struct weir_graph_cluster *cluster, uint32_t index)
{
	const struct weir_graph_node_stats *node = &cluster->stats.nodes[index];

	return json_pack("{s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:o, s:o}",
		"name", node->name, "graphs", (int)node->nb_graphs, "calls",
		(json_int_t)node->calls, "objs", (json_int_t)node->objs, "realloc_count",
		(json_int_t)node->realloc_count, "overflow", (json_int_t)node->overflow, "strays",
		(json_int_t)node->strays, "cycles", (json_int_t)node->cycles, "objs_per_call",
		ratio((double)node->objs, (double)node->calls), "objs_per_sec",
		row_rate(cluster, index), "cycles_per_call",
		ratio((double)node->cycles, (double)node->calls), "cycles_per_obj",
		ratio((double)node->cycles, (double)node->objs), "edges",
		named_json(node->edge_names, node->edge_objs, node->nb_edges), "xstats",
		named_json(node->xstat_names, node->xstats, node->nb_xstats));
}

static json_t *
cluster_json(const struct weir_graph_cluster *cluster)
{
	const struct weir_graph_cluster_stats *stats = &cluster->stats;
	json_t *nodes = json_array();

	for (uint32_t i = 0; i < stats->nb_nodes; i++)
		json_array_append_new(nodes, node_json(cluster, i));
	return json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:i, s:f, s:I, s:o}", "graphs",
		(int)stats->nb_graphs, "walks", (json_int_t)stats->walks, "idle_walks",
		(json_int_t)stats->idle_walks, "busy_cycles", (json_int_t)stats->busy_cycles,
		"idle_cycles", (json_int_t)stats->idle_cycles, "cycles_hz",
		(json_int_t)weir_base_cycles_hz(), "cycles_sampled_1_in", (int)stats->clock_period,
		"interval_s", interval_s(cluster), "time_ns", (json_int_t)stats->time_ns, "nodes",
		nodes);
}

int
weir_graph_cluster_json(struct weir_graph_cluster *cluster, json_t **json)
{
	const struct weir_graph_cluster_stats *stats;
	int rc;

	graph_lock();
	rc = weir_graph_cluster_get(cluster, &stats);
	if (rc == 0) {
		*json = cluster_json(cluster);
		if (*json == NULL)
			rc = -ENOMEM;
		begin_interval(cluster);
	}
	graph_unlock();
	return rc;
}
