/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the links of a description file, and checks what can be known of them before they are made. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include <weir_base_rules.h>

#include "config.h"
#include "reason_log.h"

bool
config_has_no_graph(const struct config *config)
{
	return weir_base_doc_count(weir_base_doc_get(config->application, "links")) > 0 &&
	       config->nb_ports == 0 && config->em.nb_queues == 0;
}

bool
config_has_links_only(const struct config *config)
{
	return config_has_no_graph(config) && !config_has_em(config);
}

bool
config_links_end(const struct config *config)
{
	unsigned int i;

	if (config->receivers.nb > 0)
		return false;
	for (i = 0; i < config->links.nb_emulated; i++)
		if (config->links.emulated[i].nb_frames == 0)
			return false;
	return true;
}

int
config_link_find(const struct config *config, const char *name)
{
	unsigned int i;

	for (i = 0; i < config->links.nb; i++)
		if (strcmp(config->links.list[i].name, name) == 0)
			return (int)i;
	return CONFIG_NONE;
}

void
config_link_name(
	const struct config_link *link, unsigned int number, char name[WEIR_BASE_LINK_NAME_SIZE])
{
	if (link->counted)
		snprintf(name, WEIR_BASE_LINK_NAME_SIZE, "%s-%u", link->name, (uint16_t)number);
	else
		snprintf(name, WEIR_BASE_LINK_NAME_SIZE, "%s", link->name);
}

unsigned int
config_links_named(const struct config *config, const struct weir_base_doc_value *value,
	unsigned int *link, unsigned int *first)
{
	const struct weir_base_links found = weir_base_links_find(
		weir_base_doc_get(config->application, "links"), weir_base_doc_str(value));

	if (found.link == NULL)
		return 0;
	*link = (unsigned int)config_link_find(config, weir_base_doc_name(found.link));
	*first = config->links.list[*link].first + found.first;
	return found.nb;
}

/* It is in order. */
static bool
read_format(const struct config *config, struct config_link *link)
{
	struct weir_base_format format;
	const int error = weir_base_format_find(weir_base_doc_get(config->application, "formats"),
		weir_base_doc_str(weir_base_doc_get(link->value, "format")), &format);

	return error == 0 &&
	       weir_readout_format_compile(&format, &link->format, NULL, NULL, 0) == 0;
}

static void
read_buffer(struct config_link *link)
{
	const struct weir_base_doc_value *value = weir_base_doc_get(link->value, "buffer");

	link->buffer = (struct weir_readout_buffer_config){
		.name = link->name,
		.format = &link->format,
		.history_s = weir_base_doc_f64(weir_base_doc_get(value, "history")),
		.rate_hz = weir_base_doc_f64(weir_base_doc_get(value, "rate")),
		.jump_s = weir_base_doc_f64(weir_base_doc_get(value, "jump")),
		.confirm_frames = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "confirm")),
		.spare_frames = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "spare")),
		.frame_bytes = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "frame_size")),
		.reorder_frames = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "reorder")),
		.when_full = (enum weir_readout_full)weir_base_doc_u64(
			weir_base_doc_get(value, "when_full")),
		.socket_id = -1,
		.no_hugepages = !weir_base_doc_bool(weir_base_doc_get(value, "hugepages")),
	};
}

/* @return bytes of memory that all of them take */
static uint64_t
memory_of(const struct config_link *link)
{
	struct weir_readout_buffer_info info;

	return weir_readout_buffer_plan(&link->buffer, &info) == 0 ? info.memory_bytes * link->nb
								   : 0;
}

/* Is there a machine's worth of memory? */
static void
check_memory(struct config *config, const uint64_t *bytes)
{
	const uint64_t here = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	const struct config_links *links = &config->links;
	unsigned int i, most = 0;
	uint64_t sum = 0;

	for (i = 0; i < links->nb; i++) {
		sum += bytes[i];
		if (bytes[i] > bytes[most])
			most = i;
	}
	if (sum > here)
		weir_base_doc_error_add(config->doc,
			weir_base_doc_get(
				weir_base_doc_get(links->list[most].value, "buffer"), "history"),
			"the links need %" PRIu64 " MiB of memory, %" PRIu64
			" of these '%s', and this machine has %" PRIu64
			"; expected a shorter history, or fewer links",
			sum >> 20, bytes[most] >> 20, links->list[most].name, here >> 20);
}

/* Which device its frames come from, if any. */
static void
read_port(struct config *config, struct config_link *link)
{
	const struct weir_base_doc_value *port = weir_base_doc_get(link->value, "port");

	link->receiver = link->shared = CONFIG_NONE;
	link->queue = (uint16_t)weir_base_doc_u64(weir_base_doc_get(link->value, "queue"));
	if (port == NULL)
		return;
	link->receiver = config_receiver_find(config, weir_base_doc_str(port));
}

static void
read_link(struct config *config, struct config_link *link)
{
	const struct weir_base_doc_value *value = link->value;

	link->name = weir_base_doc_name(value);
	link->counted = weir_base_doc_given(value, "count");
	link->nb = link->counted
			   ? (unsigned int)weir_base_doc_u64(weir_base_doc_get(value, "count"))
			   : 1;
	link->key = weir_base_doc_u64(weir_base_doc_get(value, "stream"));
	link->drop_duplicates = weir_base_doc_bool(weir_base_doc_get(value, "drop_duplicates"));
	link->jump_s = weir_base_doc_f64(weir_base_doc_get(value, "jump"));
	link->stall_ns = weir_base_doc_u64(weir_base_doc_get(value, "stall"));
	read_port(config, link);
	link->first = config->links.nb_links;
	config->links.nb_links += link->nb;
}

static int
read_list(struct config *config, const struct weir_base_doc_value *list)
{
	struct config_links *links = &config->links;
	unsigned int nb = weir_base_doc_count(list), i;
	uint64_t *bytes = calloc(nb + 1, sizeof(*bytes));

	links->list = calloc(nb + 1, sizeof(*links->list));
	if (links->list == NULL || bytes == NULL) {
		free(bytes);
		return -ENOMEM;
	}
	for (i = 0; i < nb; i++) {
		struct config_link *link = &links->list[i];

		link->value = weir_base_doc_at(list, i);
		links->nb = i + 1;
		read_link(config, link);
		if (!read_format(config, link))
			continue;
		read_buffer(link);
		bytes[i] = memory_of(link);
	}
	if (nb > 0)
		check_memory(config, bytes);
	free(bytes);
	return 0;
}

/* What is for packets of ports only. */
static void
refuse_graph_keys(struct config *config)
{
	static const char *const keys[] = {
		"graph", "nodes", "edges", "objects", "neighbours", "routes", "addresses"};
	static const char *const run_keys[] = {"graph_svg", "graph_dot", "punt_pcap"};
	const struct weir_base_doc_value *run =
		weir_base_doc_get(weir_base_doc_root(config->doc), "run");
	unsigned int i;

	for (i = 0; i < RTE_DIM(keys) + RTE_DIM(run_keys); i++) {
		const bool is_run = i >= RTE_DIM(keys);
		const char *key = is_run ? run_keys[i - RTE_DIM(keys)] : keys[i];
		const struct weir_base_doc_value *map = is_run ? run : config->application;

		if (weir_base_doc_given(map, key))
			weir_base_doc_error_add(config->doc, weir_base_doc_get(map, key),
				"'%s' means nothing for links alone; expected it with "
				"platform.ports",
				key);
	}
}

int
config_read_links(struct config *config)
{
	const struct weir_base_doc_value *application = config->application;
	const struct weir_base_doc_value *traffic =
		weir_base_doc_get(weir_base_doc_root(config->doc), "traffic");
	unsigned int before = config_nb_errors(config);

	/* What is said of something that is not as it should be itself, is not to be trusted. */
	weir_base_rules_links(config->doc, application);
	if (config_nb_errors(config) > before)
		return 0;
	if (read_list(config, weir_base_doc_get(application, "links")) < 0)
		return -ENOMEM;
	if (config_nb_errors(config) > before)
		return 0;
	weir_base_rules_frames(config->doc, application);
	if (config_read_processes(config) < 0 || config_read_shared(config) < 0)
		return -ENOMEM;
	config_read_delivery(config);
	if (config_read_traffic(config, traffic) < 0 ||
		config_read_requests(config, weir_base_doc_get(application, "requests")) < 0)
		return -ENOMEM;
	if (config_has_no_graph(config))
		refuse_graph_keys(config);
	return 0;
}

void
config_free_links(struct config_links *links)
{
	unsigned int i;

	for (i = 0; i < links->nb_emulated; i++)
		free(links->emulated[i].faults);
	for (i = 0; i < links->nb_requests; i++)
		free(links->requests[i].links);
	config_free_processes(links);
	free(links->list);
	free(links->emulated);
	free(links->replayed);
	free(links->shared);
	free(links->requests);
}
