/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the links of a description file, and checks what can be known of them before they are made. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include "config.h"
#include "reason_log.h"

/* Room for a number and its dash. */
#define NAME_MAX_BYTES (CONFIG_LINK_NAME_SIZE - 8)

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

const char *
config_link_names(const struct config *config)
{
	return weir_base_doc_names(config->doc, weir_base_doc_get(config->application, "links"),
		"one of application.links, which has none");
}

void
config_link_name(
	const struct config_link *link, unsigned int number, char name[CONFIG_LINK_NAME_SIZE])
{
	if (link->counted)
		snprintf(name, CONFIG_LINK_NAME_SIZE, "%s-%u", link->name, (uint16_t)number);
	else
		snprintf(name, CONFIG_LINK_NAME_SIZE, "%s", link->name);
}

static unsigned int
find_links(const struct config *config, const char *name, unsigned int *link, unsigned int *first)
{
	char one[CONFIG_LINK_NAME_SIZE];
	int index = config_link_find(config, name);
	unsigned int i, j;

	if (index != CONFIG_NONE) {
		*link = (unsigned int)index;
		*first = config->links.list[index].first;
		return config->links.list[index].nb;
	}
	for (i = 0; i < config->links.nb; i++)
		for (j = 0; j < config->links.list[i].nb; j++) {
			config_link_name(&config->links.list[i], j, one);
			if (strcmp(one, name) != 0)
				continue;
			*link = i;
			*first = config->links.list[i].first + j;
			return 1;
		}
	return 0;
}

unsigned int
config_links_named(struct config *config, const struct weir_base_doc_value *value,
	unsigned int *link, unsigned int *first)
{
	const char *name = weir_base_doc_str(value);
	const unsigned int nb = find_links(config, name, link, first);

	if (nb == 0)
		weir_base_doc_error_add(config->doc, value, "unknown link '%s'; expected %s", name,
			config_link_names(config));
	return nb;
}

void
config_link_feed(
	struct config *config, struct config_link *link, const struct weir_base_doc_value *value)
{
	unsigned int line, column;
	const char *file;

	if (link->feed != NULL) {
		file = weir_base_doc_where(link->feed, &line, &column);
		weir_base_doc_error_add(config->doc, value,
			"frames come to link '%s' already, from %s:%u:%u; expected one that sends "
			"them",
			link->name, file, line, column);
		return;
	}
	link->feed = value;
}

static int
read_formats(struct config *config, const struct weir_base_doc_value *list)
{
	struct config_links *links = &config->links;
	unsigned int nb = weir_base_doc_count(list), i;

	links->formats = calloc(nb + 1, sizeof(*links->formats));
	if (links->formats == NULL)
		return -ENOMEM;
	for (i = 0; i < nb; i++) {
		const struct weir_base_doc_value *value = weir_base_doc_at(list, i);

		if (weir_readout_format_builtin(weir_base_doc_name(value)) != NULL)
			weir_base_doc_error_add(config->doc, value,
				"format '%s' is built in; expected another name",
				weir_base_doc_name(value));
		if (weir_readout_format_read(
			    config->doc, value, &links->formats[links->nb_formats]) == 0)
			links->nb_formats++;
	}
	return 0;
}

/* "a, b or one of application.formats" */
static const char *
format_names(const struct config *config)
{
	static char names[512];
	const char *name;
	size_t used = 0;
	unsigned int i;

	for (i = 0; (name = weir_readout_format_builtin_name(i)) != NULL; i++)
		used += (size_t)snprintf(
			names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "", name);
	for (i = 0; i < config->links.nb_formats &&
		    used + WEIR_READOUT_FORMAT_NAME_MAX + 32 < sizeof(names);
		i++)
		used += (size_t)snprintf(
			names + used, sizeof(names) - used, ", %s", config->links.formats[i].name);
	snprintf(names + used, sizeof(names) - used, ", or one of application.formats");
	return names;
}

/* @return whether it was found */
static bool
find_format(struct config *config, const struct weir_base_doc_value *value,
	struct weir_readout_format *format)
{
	const char *name = weir_base_doc_str(value);
	const struct weir_readout_format *found = weir_readout_format_builtin(name);
	unsigned int i;

	for (i = 0; found == NULL && i < config->links.nb_formats; i++)
		if (strcmp(config->links.formats[i].name, name) == 0)
			found = &config->links.formats[i];
	if (found != NULL)
		*format = *found;
	else
		weir_base_doc_error_add(config->doc, value, "unknown format '%s'; expected %s",
			name, format_names(config));
	return found != NULL;
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

/* Those that are emulated have none. */
static bool
same_queue(const struct config_link *one, const struct config_link *other)
{
	return one->receiver == other->receiver && one->queue == other->queue;
}

/* Stream keys: can they be in frames, and does any other link have them? */
static void
check_keys(struct config *config, const struct config_link *link)
{
	const struct weir_base_doc_value *at = weir_base_doc_given(link->value, "stream")
						       ? weir_base_doc_get(link->value, "stream")
						       : link->value;
	const uint64_t mask = link->format.fields[WEIR_READOUT_FIELD_STREAM].mask;
	const struct config_link *other;

	if (mask == 0) {
		if (weir_base_doc_given(link->value, "stream"))
			weir_base_doc_error_add(config->doc, at,
				"'stream' means nothing: frames of format '%s' have no stream key; "
				"expected it with others",
				link->format.name);
		if (link->nb > 1)
			weir_base_doc_error_add(config->doc,
				weir_base_doc_get(link->value, "count"),
				"nothing tells %u links apart: frames of format '%s' have no "
				"stream key; expected 1",
				link->nb, link->format.name);
		return;
	}
	if (link->key > mask || link->nb - 1 > mask - link->key)
		weir_base_doc_error_add(config->doc, at,
			"stream key %" PRIu64 " does not fit in frames of format '%s'; expected up "
			"to %" PRIu64,
			link->key + link->nb - 1, link->format.name, mask);
	for (other = config->links.list; other < link; other++)
		if (same_queue(other, link) && strcmp(other->format.name, link->format.name) == 0 &&
			link->key < other->key + other->nb && other->key < link->key + link->nb)
			weir_base_doc_error_add(config->doc, at,
				"stream key %" PRIu64 " of format '%s' is link '%s' already; "
				"expected one of its own for each link",
				RTE_MAX(link->key, other->key), link->format.name, other->name);
}

/* A step says how many frames there are, and where each one's place is. @return whether there is an error */
static bool
has_key_without_step(struct config *config, const struct config_link *link,
	const struct weir_base_doc_value *buffer)
{
	static const char *const keys[] = {"rate", "reorder"};
	bool found = false;
	unsigned int i;

	for (i = 0; link->format.step_ticks > 0 && i < RTE_DIM(keys); i++) {
		if (!weir_base_doc_given(buffer, keys[i]))
			continue;
		weir_base_doc_error_add(config->doc, weir_base_doc_get(buffer, keys[i]),
			"'%s' means nothing for format '%s', whose step says it; expected it "
			"with formats without a step",
			keys[i], link->format.name);
		found = true;
	}
	return found;
}

/* @return bytes of memory that all of them take; 0: there is an error */
static uint64_t
check_buffer(struct config *config, const struct config_link *link)
{
	const struct weir_base_doc_value *value = weir_base_doc_get(link->value, "buffer");
	struct weir_readout_buffer_info info;
	const char *why;
	int error;

	if (has_key_without_step(config, link, value))
		return 0;
	if (link->format.step_ticks == 0 && !weir_base_doc_given(value, "rate")) {
		weir_base_doc_error_add(config->doc, value,
			"format '%s' has no step; expected a key 'rate', the frames a second",
			link->format.name);
		return 0;
	}
	if (link->format.size_max_bytes == UINT32_MAX &&
		!weir_base_doc_given(value, "frame_size")) {
		weir_base_doc_error_add(config->doc, value,
			"frames of format '%s' may have any size; expected a key 'frame_size', "
			"of the largest",
			link->format.name);
		return 0;
	}
	if (link->format.clock_hz == 0) {
		weir_base_doc_error_add(config->doc, weir_base_doc_get(link->value, "format"),
			"format '%s' does not say how long its ticks are, and a buffer is of "
			"seconds; expected a key 'clock' in it",
			link->format.name);
		return 0;
	}
	reason_log_begin();
	error = weir_readout_buffer_plan(&link->buffer, &info);
	why = reason_log_end(strerror(-error));
	if (error == 0)
		return info.memory_bytes * link->nb;
	weir_base_doc_error_add(
		config->doc, value, "this cannot be: %s; expected other values here", why);
	return 0;
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
	if (port == NULL) {
		if (weir_base_doc_given(link->value, "queue"))
			weir_base_doc_error_add(config->doc,
				weir_base_doc_get(link->value, "queue"),
				"'queue' means nothing without 'port'; expected both, or none");
		return;
	}
	link->receiver = config_receiver_find(config, weir_base_doc_str(port));
	if (link->receiver == CONFIG_NONE)
		weir_base_doc_error_add(config->doc, port,
			"unknown port '%s'; expected one of platform.receivers",
			weir_base_doc_str(port));
	else
		config_link_feed(config, link, port);
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
	if (!config_is_name(link->name, NAME_MAX_BYTES))
		weir_base_doc_error_add(config->doc, value,
			"link name '%s' cannot be used; expected 1 to %d letters, digits or '_'",
			link->name, NAME_MAX_BYTES);
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
		if (!find_format(config, weir_base_doc_get(link->value, "format"), &link->format))
			continue;
		read_buffer(link);
		check_keys(config, link);
		config_check_jumps(config, link);
		bytes[i] = check_buffer(config, link);
	}
	if (links->nb_links > CONFIG_LINKS_MAX)
		weir_base_doc_error_add(config->doc, list,
			"%u links are too many; expected at most %d", links->nb_links,
			CONFIG_LINKS_MAX);
	else if (nb > 0)
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

static void
check_feeds(struct config *config)
{
	const struct config_links *links = &config->links;
	unsigned int i;

	for (i = 0; i < links->nb; i++)
		if (links->list[i].feed == NULL)
			weir_base_doc_error_add(config->doc, links->list[i].value,
				"no frames come to link '%s'; expected it in traffic.emulated or "
				"traffic.replayed, in a node of type link_rx, or a key 'port'",
				links->list[i].name);
}

int
config_read_links(struct config *config)
{
	const struct weir_base_doc_value *application = config->application;
	const struct weir_base_doc_value *traffic =
		weir_base_doc_get(weir_base_doc_root(config->doc), "traffic");
	unsigned int before = config_nb_errors(config);

	/* What is said of something that is not as it should be itself, is not to be trusted. */
	if (read_formats(config, weir_base_doc_get(application, "formats")) < 0)
		return -ENOMEM;
	if (config_nb_errors(config) > before)
		return 0;
	if (read_list(config, weir_base_doc_get(application, "links")) < 0)
		return -ENOMEM;
	if (config_nb_errors(config) > before)
		return 0;
	if (config_read_processes(config) < 0 || config_read_shared(config) < 0)
		return -ENOMEM;
	config_read_delivery(config);
	if (config_read_traffic(config, traffic) < 0 ||
		config_read_requests(config, weir_base_doc_get(application, "requests")) < 0)
		return -ENOMEM;
	config_check_processes(config);
	check_feeds(config);
	config_check_receivers(config);
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
	free(links->formats);
	free(links->list);
	free(links->emulated);
	free(links->replayed);
	free(links->shared);
	free(links->requests);
}
