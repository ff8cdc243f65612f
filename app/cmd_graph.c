/* SPDX-License-Identifier: BSD-3-Clause */
/* weir graph FILE: what the graph looks like, without devices and traffic. */
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "dot.h"
#include "instance.h"

static int
print_graphs(const struct instance *instance, int worker)
{
	unsigned int i;
	int error;

	for (i = 0; i < instance->config->nb_workers; i++) {
		if (worker >= 0 && i != (unsigned int)worker)
			continue;
		error = dot_write(instance, instance->graph_ids[i], stdout, 0);
		if (error < 0)
			return app_error(&cmd_graph, "graph of worker %u: %s", i, strerror(-error));
	}
	return app_finish(APP_OK);
}

static int
print_graphs_json(const struct instance *instance, int worker)
{
	json_t *list = json_array();
	unsigned int i;
	char *text;
	size_t size;
	FILE *stream;

	for (i = 0; i < instance->config->nb_workers; i++) {
		if (worker >= 0 && i != (unsigned int)worker)
			continue;
		stream = open_memstream(&text, &size);
		if (stream == NULL) {
			json_decref(list);
			return app_error(&cmd_graph, "out of memory");
		}
		dot_write(instance, instance->graph_ids[i], stream, 0);
		fclose(stream);
		json_array_append_new(
			list, json_pack("{s:s, s:s}", "name",
				      weir_graph_name(instance->graph_ids[i]), "dot", text));
		free(text);
	}
	return app_print_json(json_pack("{s:o}", "graphs", list));
}

static int
graph_config(struct config *config, bool json, int worker)
{
	const struct instance_options setup = {.stand_ins = true};
	struct instance instance;
	int code, error;

	error = instance_open(&instance, config, &setup);
	if (config_nb_errors(config) > 0) {
		weir_base_doc_errors_print(config->doc, stderr);
		code = APP_USAGE;
	} else if (error < 0) {
		code = app_error(&cmd_graph, "the graph could not be made: %s", strerror(-error));
	} else {
		code = json ? print_graphs_json(&instance, worker)
			    : print_graphs(&instance, worker);
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
	config = config_load(argv[1]);
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
	if (config_nb_errors(config) > 0) {
		weir_base_doc_errors_print(config->doc, stderr);
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
	.summary = "Print the graph of each worker in Graphviz DOT, without devices and traffic.",
	.help = "  weir graph examples/forward.yaml | dot -Tsvg > graph.svg\n"
		"\n"
		"Devices are stood in for by null devices, nothing is written and no route is "
		"loaded.\n",
	.run = graph_run,
};
