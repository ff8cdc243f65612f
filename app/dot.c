/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs call ports by number; users call them by name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weir_graph.h>

#include "dot.h"
#include "instance.h"

const char *
dot_port_of_node(const struct instance *instance, const char *node)
{
	static const char *const kinds[] = {"ethdev_rx-", "ethdev_tx-", "pcap_rx-", "pcap_tx-"};
	char *end;
	unsigned long id;
	size_t i, length;
	unsigned int port;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		length = strlen(kinds[i]);
		if (strncmp(node, kinds[i], length) != 0)
			continue;
		id = strtoul(node + length, &end, 10);
		for (port = 0; end != node + length && port < instance->config->nb_ports; port++)
			if (instance->port_ids[port] == id)
				return instance->config->ports[port].name;
	}
	return NULL;
}

/* A line that begins a node's label gets the port's name into it. */
static void
write_line(const struct instance *instance, const char *line, size_t length, FILE *out)
{
	static const char mark[] = "label=\"";
	const char *label = memmem(line, length, mark, sizeof(mark) - 1), *port;
	char node[WEIR_GRAPH_NAME_SIZE];
	size_t used;

	if (label != NULL) {
		label += sizeof(mark) - 1;
		used = strcspn(label, "\"\\");
		snprintf(node, sizeof(node), "%.*s", (int)used, label);
		port = dot_port_of_node(instance, node);
		if (port != NULL) {
			used += (size_t)(label - line);
			fprintf(out, "%.*s\\n%s%.*s", (int)used, line, port, (int)(length - used),
				line + used);
			return;
		}
	}
	fwrite(line, 1, length, out);
}

/* What the graph library wrote, with the names of ports; frees it. */
static int
write_lines(const struct instance *instance, char *text, size_t size, FILE *out)
{
	const char *line, *end;

	for (line = text; line < text + size; line = end) {
		end = memchr(line, '\n', (size_t)(text + size - line));
		end = end != NULL ? end + 1 : text + size;
		write_line(instance, line, (size_t)(end - line), out);
	}
	free(text);
	return ferror(out) ? -EIO : 0;
}

/* A worker has a graph for its ports, one for its events, or both: these are one picture. */
static int
export_worker(const struct instance *instance, unsigned int worker, FILE *out, uint32_t flags)
{
	const uint32_t graph = instance->graph_ids[worker];
	const uint32_t events = instance->event_graph_ids[worker];
	char names[2][WEIR_GRAPH_NAME_SIZE];
	const char *const patterns[2] = {names[0], names[1]};
	struct weir_graph_cluster *cluster;
	int error;

	snprintf(names[0], sizeof(names[0]), "worker-%u", worker);
	snprintf(names[1], sizeof(names[1]), "worker-%u-events", worker);
	if (graph == WEIR_GRAPH_ID_INVALID && events == WEIR_GRAPH_ID_INVALID)
		return fprintf(out, "digraph \"%s\" {\n}\n", names[0]) < 0 ? -EIO : 0;
	if (graph == WEIR_GRAPH_ID_INVALID || events == WEIR_GRAPH_ID_INVALID)
		return weir_graph_export(
			graph == WEIR_GRAPH_ID_INVALID ? events : graph, out, flags);
	cluster = weir_graph_cluster_create(patterns, 2);
	if (cluster == NULL)
		return -ENOMEM;
	error = weir_graph_cluster_export(cluster, names[0], out, flags);
	weir_graph_cluster_destroy(cluster);
	return error;
}

int
dot_write_worker(const struct instance *instance, unsigned int worker, FILE *out, uint32_t flags)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	int error;

	if (stream == NULL)
		return -ENOMEM;
	error = export_worker(instance, worker, stream, flags);
	fclose(stream);
	if (error == 0)
		return write_lines(instance, text, size, out);
	free(text);
	return error;
}

int
dot_write_all(struct instance *instance, FILE *out, uint32_t flags)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	int error;

	if (stream == NULL)
		return -ENOMEM;
	pthread_mutex_lock(&instance->look_lock);
	error = weir_graph_cluster_export(instance->cluster, instance->config->name, stream, flags);
	pthread_mutex_unlock(&instance->look_lock);
	fclose(stream);
	if (error == 0)
		return write_lines(instance, text, size, out);
	free(text);
	return error;
}
