/* SPDX-License-Identifier: BSD-3-Clause */
/* A picture of a readout: what feeds links, and who asks them. */
#include <errno.h>

#include "config.h"
#include "links_dot.h"

static void
write_feed(const struct config_link *link, const char *what, FILE *out)
{
	fprintf(out, "  \"%s %s\" [label=\"%s\"];\n  \"%s %s\" -> \"link %s\";\n", what, link->name,
		what, what, link->name, link->name);
}

/* What links it looks at, and where what it makes of them goes. */
static void
write_process(const struct config_links *links, const struct config_process *process, FILE *out)
{
	unsigned int i, j;

	for (i = 0; i < links->nb; i++) {
		const struct config_link *link = &links->list[i];

		for (j = 0; j < process->nb_links; j++)
			if (process->links[j] - link->first < link->nb)
				break;
		if (j == process->nb_links)
			continue;
		if (process->to != NULL)
			fprintf(out, "  \"link %s\" -> \"link %s\" [label=\"%s\"];\n", link->name,
				process->to->name, process->name);
		else
			fprintf(out,
				"  \"process %s\" [label=\"%s\"];\n  \"link %s\" -> \"process "
				"%s\";\n",
				process->name, process->name, link->name, process->name);
	}
}

/* What becomes of a window, and which links are asked. */
static void
write_request(const struct config_links *links, const struct config_request *request, FILE *out)
{
	unsigned int i, j;

	fprintf(out, "  \"request %s\" [label=\"%s\\nevery %g ms: %g ms\"];\n", request->name,
		request->name, (double)request->every_ns / 1e6, (double)request->window_ns / 1e6);
	for (i = 0; i < links->nb; i++)
		for (j = 0; j < request->nb_links; j++) {
			if (request->links[j] < links->list[i].first ||
				request->links[j] >= links->list[i].first + links->list[i].nb)
				continue;
			fprintf(out, "  \"link %s\" -> \"request %s\";\n", links->list[i].name,
				request->name);
			break;
		}
	if (request->to != NULL)
		fprintf(out,
			"  \"to %s\" [shape=note, label=\"fragments\"];\n  \"request %s\" -> \"to "
			"%s\";\n",
			request->name, request->name, request->name);
}

int
links_dot_write(const struct config *config, FILE *out)
{
	const struct config_links *links = &config->links;
	unsigned int i;

	fprintf(out, "digraph \"%s\" {\n  rankdir=LR;\n  node [shape=box];\n", config->name);
	for (i = 0; i < links->nb; i++)
		fprintf(out, "  \"link %s\" [label=\"%s\\n%u x %s\\n%g s\"];\n",
			links->list[i].name, links->list[i].name, links->list[i].nb,
			links->list[i].format.name, links->list[i].buffer.history_s);
	for (i = 0; i < links->nb_emulated; i++)
		write_feed(&links->list[links->emulated[i].link], "emulated", out);
	for (i = 0; i < links->nb_replayed; i++)
		write_feed(&links->list[links->replayed[i].link], "replayed", out);
	for (i = 0; i < links->nb; i++) {
		const struct config_link *link = &links->list[i];

		if (link->shared != CONFIG_NONE)
			fprintf(out, "  \"node %s\" -> \"link %s\";\n",
				links->shared[link->shared].name, link->name);
		if (link->receiver != CONFIG_NONE)
			fprintf(out, "  \"port %s\" -> \"link %s\" [label=\"queue %u\"];\n",
				config->receivers.list[link->receiver].name, link->name,
				link->queue);
	}
	for (i = 0; i < links->nb_processes; i++)
		write_process(links, &links->processes[i], out);
	for (i = 0; i < links->nb_requests; i++)
		write_request(links, &links->requests[i], out);
	return fputs("}\n", out) < 0 ? -EIO : 0;
}
