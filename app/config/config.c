/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a struct config: the order of things, and what several parts share. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weir_base_rules.h>

#include "app.h"
#include "config.h"

unsigned int
config_nb_errors(const struct config *config)
{
	unsigned int nb_errors;

	weir_base_doc_errors(config->doc, &nb_errors);
	return nb_errors;
}

bool
config_print_errors(const struct config *config, bool json)
{
	if (config_nb_errors(config) == 0)
		return false;
	if (json)
		app_print_json(json_pack(
			"{s:b, s:o}", "ok", 0, "errors", weir_base_doc_errors_json(config->doc)));
	else
		weir_base_doc_errors_print(config->doc, stderr);
	return true;
}

int
config_port_find(const struct config *config, const char *name)
{
	unsigned int i;

	for (i = 0; i < config->nb_ports; i++)
		if (strcmp(config->ports[i].name, name) == 0)
			return (int)i;
	return -1;
}

int
config_hop_find(const struct config *config, uint32_t id)
{
	unsigned int i;

	for (i = 0; i < config->nb_hops; i++)
		if (config->hops[i].first <= id && id <= config->hops[i].last)
			return (int)i;
	return -1;
}

const char *
config_port_names(const struct config *config)
{
	return weir_base_doc_names(config->doc, weir_base_doc_get(config->platform, "ports"),
		"a port of platform.ports, which has none");
}

/* The instance is called after the file, in the letters that an instance name may have. */
static void
name_after_file(struct config *config)
{
	const char *base = strrchr(config->path, '/');
	size_t i;

	base = base != NULL ? base + 1 : config->path;
	while (*base == '.' || *base == '-')
		base++;
	for (i = 0; i < 40 && base[i] != '\0' && base[i] != '.'; i++)
		config->name[i] = isalnum((unsigned char)base[i]) || base[i] == '-' ? base[i] : '_';
	config->name[i] = '\0';
	if (i == 0)
		memcpy(config->name, "weir", 5);
}

bool
config_input_is_files(const struct config *config)
{
	unsigned int i, j;

	for (i = 0; i < config->nb_workers; i++)
		for (j = 0; j < config->workers[i].nb_rx; j++)
			if (config->ports[config->workers[i].rx[j].port].device != NULL)
				return false;
	return true;
}

bool
config_input_ends(const struct config *config)
{
	return config_input_is_files(config) && config_links_end(config);
}

void
config_read_run(struct config *config, const struct weir_base_doc_value *run)
{
	const struct weir_base_doc_value *until = weir_base_doc_get(run, "until");
	const char *name = weir_base_doc_str(weir_base_doc_get(run, "name"));
	bool files = config_input_is_files(config), ends = config_input_ends(config);

	config->duration_ns = weir_base_doc_u64(weir_base_doc_get(run, "duration"));
	if (until != NULL)
		config->until = (enum schema_until)weir_base_doc_u64(until);
	else if (config->duration_ns != 0)
		config->until = SCHEMA_UNTIL_DURATION;
	else
		config->until = ends ? SCHEMA_UNTIL_INPUT_END : SCHEMA_UNTIL_SIGNAL;
	if (until != NULL && config->until == SCHEMA_UNTIL_INPUT_END && !ends)
		weir_base_doc_error_add(config->doc, until,
			"'input_end' would never come: %s; expected 'signal' or 'duration'",
			files && config->receivers.nb == 0
				? "links are emulated without an end"
				: "a port with a device is received from");
	if (until != NULL && config->until == SCHEMA_UNTIL_DURATION && config->duration_ns == 0)
		weir_base_doc_error_add(config->doc, until,
			"'duration' needs to be told how long; expected a key 'duration'");
	if (name != NULL) {
		snprintf(config->name, sizeof(config->name), "%s", name);
		config->name_given = true;
	} else {
		name_after_file(config);
	}
	config->outputs.graph_svg = weir_base_doc_str(weir_base_doc_get(run, "graph_svg"));
	config->outputs.graph_dot = weir_base_doc_str(weir_base_doc_get(run, "graph_dot"));
	config->outputs.punt_pcap = weir_base_doc_str(weir_base_doc_get(run, "punt_pcap"));
	config->outputs.stats_json = weir_base_doc_str(weir_base_doc_get(run, "stats_json"));
	if (weir_base_doc_given(config->platform, "clock_period")) {
		config->clock_period = (uint16_t)weir_base_doc_u64(
			weir_base_doc_get(config->platform, "clock_period"));
		if (config->clock_period == 0)
			config->clock_period = UINT16_MAX;
	} else {
		config->clock_period = files ? 1 : 64;
	}
}

static int
config_read(struct config *config, const struct weir_base_doc_value *root)
{
	const struct weir_base_doc_value *run = weir_base_doc_get(root, "run");
	const struct weir_base_doc_value *instances = weir_base_doc_get(root, "instances");
	const struct weir_base_doc_value *limits;
	unsigned int nb_errors;

	if (weir_base_doc_count(instances) > 0) {
		weir_base_doc_error_add(config->doc, instances,
			"parts are for `weir sim` only; expected no 'instances' in what is run");
		return 0;
	}
	config->application = weir_base_doc_get(root, "application");
	config->platform = weir_base_doc_get(root, "platform");
	limits = weir_base_doc_get(config->platform, "limits");
	config->nb_next_hops = (uint32_t)weir_base_doc_u64(weir_base_doc_get(limits, "next_hops"));
	config->hop_local = config->nb_next_hops;
	config->idle =
		(enum schema_idle)weir_base_doc_u64(weir_base_doc_get(config->platform, "idle"));
	config->burst = (uint16_t)weir_base_doc_u64(weir_base_doc_get(config->platform, "burst"));
	if (config_read_ports(config, config->platform) < 0)
		return -ENOMEM;
	nb_errors = config_nb_errors(config);
	if (config_read_em(config, config->platform) < 0)
		return -ENOMEM;
	config->em.is_bad = config_nb_errors(config) > nb_errors;
	if (config_read_receivers(config, config->platform) < 0 || config_read_links(config) < 0)
		return -ENOMEM;
	if (config_read_workers(config, config->platform) < 0 ||
		config_read_hops(config, config->application) < 0)
		return -ENOMEM;
	config_check_shared(config);
	config_read_routes(config, config->application);
	config_check_em(config, config->platform);
	weir_base_rules_graph(config->doc, !config->em.is_bad, false);
	config_read_run(config, run);
	config_check_outputs(config, run);
	return 0;
}

struct config *
config_load(const char *path, bool writes)
{
	struct weir_base_doc *doc = weir_base_doc_load(path, &schema_root);

	return doc != NULL ? config_make(path, doc, writes) : NULL;
}

struct config *
config_make(const char *path, struct weir_base_doc *doc, bool writes)
{
	const struct weir_base_doc_value *root;
	struct config *config = calloc(1, sizeof(*config));

	if (config == NULL) {
		weir_base_doc_free(doc);
		return NULL;
	}
	config->path = path;
	config->doc = doc;
	config->writes = writes;
	/* Rules between sections only make sense once each is well formed. */
	root = weir_base_doc_root(config->doc);
	if (config_nb_errors(config) > 0 || root == NULL)
		return config;
	if (config_read(config, root) < 0) {
		config_free(config);
		return NULL;
	}
	return config;
}

void
config_free(struct config *config)
{
	unsigned int i;

	if (config == NULL)
		return;
	for (i = 0; i < config->nb_ports; i++)
		free(config->ports[i].polled);
	for (i = 0; i < config->nb_workers; i++)
		free(config->workers[i].rx);
	free(config->ports);
	free(config->workers);
	free(config->hops);
	config_free_em(&config->em);
	config_free_links(&config->links);
	config_free_receivers(&config->receivers);
	weir_base_doc_free(config->doc);
	free(config);
}
