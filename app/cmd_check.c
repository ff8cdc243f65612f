/* SPDX-License-Identifier: BSD-3-Clause */
/* weir check FILE: is everything in order, as far as one can know without devices? */
#include <string.h>

#include <weir_node_route.h>

#include "app.h"
#include "check_model.h"
#include "config.h"
#include "eal_memory.h"
#include "preflight.h"
#include "routes.h"
#include "schema.h"

/* Routes are loaded for good: limits, bad lines and next hops that are missing show only then. */
static int
check_routes(struct config *config, struct routes_loaded *loaded)
{
	struct weir_node_route_limits limits;
	int error;

	eal_memory_route_limits(config, &limits);
	error = weir_node_route_init(&limits);
	if (error < 0)
		return app_error(&cmd_check, "no route tables: %s", strerror(-error));
	error = routes_load(config, NULL, false, loaded);
	weir_node_route_fini();
	if (error < 0 && config_nb_errors(config) == 0)
		return app_error(&cmd_check, "routes could not be checked: %s", strerror(-error));
	return APP_OK;
}

static void
print_counts(const char *path, const struct config *config, const struct routes_loaded *loaded)
{
	printf("%s: in order: ", path);
	if (!config_has_no_graph(config))
		printf("%u ports, %u workers, %u IPv4 and %u IPv6 routes%s", config->nb_ports,
			config->nb_workers, loaded->ip4_routes, loaded->ip6_routes,
			config->links.nb > 0 ? ", " : "");
	if (config->links.nb > 0)
		printf("%u links, %u requests", config->links.nb_links, config->links.nb_requests);
	printf("\n");
}

/* What was found, for programs. @return whether it could be printed */
static bool
print_json(const struct config *config, const struct routes_loaded *loaded, bool ok,
	const json_t *warnings)
{
	return app_print_json(json_pack("{s:b, s:o, s:O, s:i, s:i, s:i, s:i, s:i, s:i}", "ok", ok,
		       "errors", weir_base_doc_errors_json(config->doc), "warnings", warnings,
		       "ports", (int)config->nb_ports, "workers", (int)config->nb_workers,
		       "ip4_routes", (int)loaded->ip4_routes, "ip6_routes", (int)loaded->ip6_routes,
		       "links", (int)config->links.nb_links, "requests",
		       (int)config->links.nb_requests)) == APP_OK;
}

/* A file that is to be run, though it may be simulated besides. Its document is given away. */
static int
check_config(const char *path, struct weir_base_doc *doc, bool json)
{
	struct routes_loaded loaded = {0};
	struct config *config;
	unsigned int nb_errors;
	json_t *warnings;
	int code;

	config = config_make(path, doc, true);
	if (config == NULL)
		return app_error(&cmd_check, "out of memory");
	if (config_nb_errors(config) == 0 && check_model_too(config->doc) < 0) {
		config_free(config);
		return app_error(&cmd_check, "out of memory");
	}
	code = config_nb_errors(config) > 0  ? APP_USAGE
	       : config_has_no_graph(config) ? APP_OK
					     : check_routes(config, &loaded);
	nb_errors = config_nb_errors(config);
	if (nb_errors > 0)
		code = APP_USAGE;
	warnings = nb_errors == 0 ? preflight_warnings(config) : json_array();
	if (json) {
		if (!print_json(config, &loaded, code == APP_OK, warnings))
			code = APP_FAILED;
	} else if (nb_errors > 0) {
		weir_base_doc_errors_print(config->doc, stderr);
	} else if (code == APP_OK) {
		preflight_print(warnings);
		print_counts(path, config, &loaded);
		code = app_finish(code);
	}
	json_decref(warnings);
	config_free(config);
	return code;
}

static int
check_run(int argc, char **argv)
{
	bool json = false;
	const struct app_option options[] = {{"json", APP_OPTION_FLAG, &json}, {.name = NULL}};
	struct weir_base_doc *doc;
	int code = app_options(&cmd_check, &argc, argv, options, 1, 1);

	if (code >= 0)
		return code;
	doc = weir_base_doc_load(argv[1], &schema_root);
	if (doc == NULL)
		return app_error(&cmd_check, "out of memory");
	if (!check_model_only(doc))
		return check_config(argv[1], doc, json);
	code = check_model(argv[1], doc, json);
	weir_base_doc_free(doc);
	return code == -ENOMEM ? app_error(&cmd_check, "out of memory") : code;
}

const struct app_command cmd_check = {
	.name = "check",
	.arguments = "FILE [--json]",
	.summary = "Check a description file and the files that it names, without running it.",
	.help = "Errors are printed as file:line:column: what is wrong, what was expected. "
		"Warnings,\n"
		"of receivers that will not keep up on this machine, say what to change; with\n"
		"these a file is in order all the same.\n"
		"A file whose objects have steps, and receive nothing, is a model: it is checked\n"
		"as weir sim would. Any other is checked as weir run would, and where it has\n"
		"platform.costs, and traffic.streams or links, as weir sim would besides.\n"
		"Devices are not touched and nothing is written.\n",
	.run = check_run,
};
