/* SPDX-License-Identifier: BSD-3-Clause */
/* weir graph FILE: what the graph looks like, without devices and traffic. */
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "dot.h"
#include "instance.h"
#include "links_dot.h"

/* The picture of one worker, or with -1 of all; without graphs, of links. */
static int
write_graph(struct instance *instance, int worker, FILE *out)
{
	if (config_has_no_graph(instance->config))
		return links_dot_write(instance->config, out);
	return worker < 0 ? dot_write_all(instance, out, 0)
			  : dot_write_worker(instance, (unsigned int)worker, out, 0);
}

static int
print_graph_json(struct instance *instance, int worker)
{
	char name[CONFIG_NAME_SIZE], *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	json_t *json;
	int error;

	if (stream == NULL)
		return app_error(&cmd_graph, "out of memory");
	snprintf(name, sizeof(name), "%s", instance->config->name);
	if (worker >= 0)
		snprintf(name, sizeof(name), "worker-%d", worker);
	error = write_graph(instance, worker, stream);
	fclose(stream);
	json = error == 0 ? json_pack("{s:[{s:s, s:s}]}", "graphs", "name", name, "dot", text)
			  : NULL;
	free(text);
	return error == 0 ? app_print_json(json)
			  : app_error(&cmd_graph, "no graph: %s", strerror(-error));
}

static int
print_graph(struct instance *instance, int worker)
{
	int error = write_graph(instance, worker, stdout);

	return error == 0 ? app_finish(APP_OK)
			  : app_error(&cmd_graph, "no graph: %s", strerror(-error));
}

static int
graph_config(struct config *config, bool json, int worker)
{
	const struct instance_options setup = {.stand_ins = true};
	struct instance instance;
	int code, error;

	error = instance_open(&instance, config, &setup);
	if (config_print_errors(config, json)) {
		code = APP_USAGE;
	} else if (error < 0) {
		code = app_error(&cmd_graph, "the graph could not be made: %s", strerror(-error));
	} else {
		code = json ? print_graph_json(&instance, worker) : print_graph(&instance, worker);
	}
	instance_close(&instance);
	return code;
}

static int
graph_run(int argc, char **argv)
{
	bool json = false;
	const char *worker_text = NULL;
	const struct app_option options[] = {{"json", APP_OPTION_FLAG, &json},
		{"worker", APP_OPTION_TEXT, &worker_text}, {.name = NULL}};
	struct config *config;
	char *end;
	long worker = -1;
	int code = app_options(&cmd_graph, &argc, argv, options, 1, 1);

	if (code >= 0)
		return code;
	config = config_load(argv[1], false);
	if (config == NULL)
		return app_error(&cmd_graph, "out of memory");
	if (worker_text != NULL) {
		worker = strtol(worker_text, &end, 10);
		if (*end != '\0' || end == worker_text || worker < 0 ||
			(config_nb_errors(config) == 0 && worker >= (long)config->nb_workers)) {
			code = app_usage_error(&cmd_graph, "no worker '%s'; expected 0 to %u",
				worker_text, config->nb_workers > 0 ? config->nb_workers - 1 : 0);
			config_free(config);
			return code;
		}
	}
	if (config_print_errors(config, json)) {
		code = APP_USAGE;
	} else {
		code = graph_config(config, json, worker_text != NULL ? (int)worker : -1);
	}
	config_free(config);
	return code;
}

const struct app_command cmd_graph = {
	.name = "graph",
	.arguments = "FILE [--worker N] [--json]",
	.summary = "Print the graph in Graphviz DOT, without devices and traffic.",
	.help = "  weir graph examples/forward.yaml | dot -Tsvg > graph.svg\n"
		"\n"
		"  --worker N       that worker's graph only, not those of all in one picture\n"
		"\n"
		"Devices are stood in for by null devices, nothing is written, nor need it be "
		"possible "
		"to, and no\n"
		"route is loaded.\n",
	.run = graph_run,
};
