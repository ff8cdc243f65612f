/* SPDX-License-Identifier: BSD-3-Clause */

/* A graph in Graphviz DOT: sources as ovals, other nodes as boxes; on request with live counts. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph_private.h"

/* 12,345,678: counts are for people here. */
static const char *
grouped(uint64_t value, char text[32])
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);
	int at = 0;

	for (int i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	return text;
}

static bool
is_source(const char *name)
{
	const struct node_reg *node = node_reg_find(name);

	return node != NULL && (node->flags & WEIR_GRAPH_NODE_SOURCE);
}

static void
dot_node(const struct weir_graph_node_stats *node, FILE *out, bool counts)
{
	char text[32];

	fprintf(out, "\t\"%s\" [%slabel=\"%s", node->name,
		is_source(node->name) ? "shape=oval, fillcolor=\"#dbe9f6\", " : "", node->name);
	if (counts && node->calls > 0)
		fprintf(out, "\\n%s objs\\n%.1f objs/call, %.1f cycles/obj",
			grouped(node->objs, text), (double)node->objs / (double)node->calls,
			node->objs == 0 ? 0 : (double)node->cycles / (double)node->objs);
	fprintf(out, "\"%s];\n",
		counts && node->objs == 0 ? ", fontcolor=\"#999999\", color=\"#bbbbbb\"" : "");
}

/* Edges that carried more are thicker; those that carried nothing are grey. */
static void
dot_edges(const struct weir_graph_node_stats *node, FILE *out, bool counts)
{
	char text[32];

	for (uint16_t e = 0; e < node->nb_edges; e++) {
		fprintf(out, "\t\"%s\" -> \"%s\"", node->name, node->edge_names[e]);
		if (counts && node->edge_objs[e] > 0)
			fprintf(out, " [label=\"%s\", penwidth=%.1f]",
				grouped(node->edge_objs[e], text),
				1 + log10((double)node->edge_objs[e]) / 2);
		else if (counts)
			fprintf(out, " [color=\"#cccccc\"]");
		fputs(";\n", out);
	}
}

/* The picture's name may hold any sign: quotes and backslashes mean something to DOT. */
static void
dot_begin(const char *name, FILE *out)
{
	fputs("digraph \"", out);
	for (const char *c = name == NULL ? "" : name; *c != '\0'; c++)
		fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
	fputs("\" {\n", out);
}

int
graph_dot(const char *name, const struct weir_graph_cluster_stats *stats, FILE *out, bool counts)
{
	dot_begin(name, out);
	fprintf(out, "\trankdir=LR;\n\tnode [shape=box, style=\"rounded,filled\", "
		     "fillcolor=\"#f7f7f7\", "
		     "fontname=\"Helvetica\", fontsize=11];\n\tedge [fontname=\"Helvetica\", "
		     "fontsize=10];\n");
	for (uint32_t i = 0; i < stats->nb_nodes; i++)
		dot_node(&stats->nodes[i], out, counts);
	for (uint32_t i = 0; i < stats->nb_nodes; i++)
		dot_edges(&stats->nodes[i], out, counts);
	fputs("}\n", out);
	return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}

int
weir_graph_cluster_export(
	struct weir_graph_cluster *cluster, const char *name, FILE *out, uint32_t flags)
{
	const struct weir_graph_cluster_stats *stats;
	int rc;

	graph_lock();
	rc = weir_graph_cluster_get(cluster, &stats);
	if (rc == 0)
		rc = graph_dot(name, stats, out, flags & WEIR_GRAPH_EXPORT_COUNTS);
	graph_unlock();
	return rc;
}

int
weir_graph_export(uint32_t id, FILE *out, uint32_t flags)
{
	struct weir_graph_cluster *cluster;
	const char *name;
	int rc;

	graph_lock();
	name = weir_graph_name(id);
	cluster = name == NULL ? NULL : weir_graph_cluster_create(&name, 1);
	if (name == NULL)
		rc = -ENOENT;
	else
		rc = cluster == NULL ? -ENOMEM
				     : weir_graph_cluster_export(cluster, name, out, flags);
	weir_graph_cluster_destroy(cluster);
	graph_unlock();
	return rc;
}
