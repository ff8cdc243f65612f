/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what is done with the frames of links, before their buffers and after these. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include <weir_readout_process.h>

#include "config.h"

/* Keys that mean something in one place, or with one kind of function, only. */
static const char *const hits_keys[] = {"threshold", "max_samples", NULL};
static const char *const plugin_keys[] = {"argument", NULL};
static const char *const thread_keys[] = {"cpu", NULL};
static const char *const jobs_keys[] = {
	"jobs", "frames", "on_full", "priority", "slice", "group", NULL};

static void
refuse_keys(struct config *config, const struct config_process *process, const char *const *keys,
	const char *expected)
{
	for (; *keys != NULL; keys++)
		if (weir_base_doc_given(process->value, *keys))
			weir_base_doc_error_add(config->doc,
				weir_base_doc_get(process->value, *keys),
				"'%s' means nothing for process '%s'; expected it with '%s' only",
				*keys, process->name, expected);
}

/* Has it any of these? */
static bool
has_some(const struct config_process *process, const struct config_link *link)
{
	unsigned int i;

	for (i = 0; i < process->nb_links; i++)
		if (process->links[i] - link->first < link->nb)
			return true;
	return false;
}

/* ---- which links ---- */

static void
check_format(struct config *config, const struct config_process *process,
	const struct config_link *link, const struct weir_base_doc_value *at)
{
	if (process->plugin == NULL && strcmp(link->format.name, "wibeth") != 0)
		weir_base_doc_error_add(config->doc, at,
			"no hits are found in frames of format '%s'; expected it with 'wibeth'",
			link->format.name);
}

static void
take_links(struct config *config, struct config_process *process,
	const struct weir_base_doc_value *value)
{
	unsigned int link, first, nb = config_links_named(config, value, &link, &first), i;

	if (nb == 0)
		return;
	check_format(config, process, &config->links.list[link], value);
	for (i = 0; i < nb; i++)
		if (!config_lists(process->links, process->nb_links, first + i)) {
			process->links[process->nb_links++] = first + i;
		} else {
			weir_base_doc_error_add(config->doc, value,
				"process '%s' has link '%s' already; expected each once",
				process->name, weir_base_doc_str(value));
			return;
		}
}

static void
read_links(struct config *config, struct config_process *process)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(process->value, "links");
	unsigned int i;

	if (weir_base_doc_count(list) == 0)
		weir_base_doc_error_add(config->doc, list,
			"no links whose frames process '%s' gets; expected %s", process->name,
			config_link_names(config));
	for (i = 0; i < weir_base_doc_count(list); i++)
		take_links(config, process, weir_base_doc_at(list, i));
}

/* ---- where what they make goes ---- */

/* @return NULL: there is an error */
static struct config_link *
find_target(struct config *config, const struct config_process *process,
	const struct weir_base_doc_value *to)
{
	const char *name = weir_base_doc_str(to);
	int index = config_link_find(config, name);
	struct config_link *target;

	if (index == CONFIG_NONE) {
		weir_base_doc_error_add(config->doc, to, "unknown link '%s'; expected %s", name,
			config_link_names(config));
		return NULL;
	}
	target = &config->links.list[index];
	if (target->nb == 1 && (process->plugin != NULL || strcmp(target->format.name, "hit") == 0))
		return target;
	weir_base_doc_error_add(config->doc, to,
		"'%s' is %u links of format '%s'; expected one link%s", name, target->nb,
		target->format.name, process->plugin != NULL ? "" : " of format 'hit'");
	return NULL;
}

/* Do frames of a link become, by way of any number of processes, frames of another? Those that do so far come to an end. */
static bool
leads_to(const struct config_links *links, const struct config_link *from,
	const struct config_link *target)
{
	unsigned int i;

	if (from == target)
		return true;
	for (i = 0; i < links->nb_processes; i++)
		if (links->processes[i].to != NULL && has_some(&links->processes[i], from) &&
			leads_to(links, links->processes[i].to, target))
			return true;
	return false;
}

static void
read_target(
	struct config *config, struct config_process *process, const struct weir_base_doc_value *to)
{
	struct config_link *target = find_target(config, process, to);
	unsigned int i;

	if (target == NULL)
		return;
	for (i = 0; i < config->links.nb; i++) {
		const struct config_link *link = &config->links.list[i];

		if (!has_some(process, link) || !leads_to(&config->links, target, link))
			continue;
		weir_base_doc_error_add(config->doc, to,
			"what becomes of frames of link '%s' would come back to it; expected "
			"another link",
			link->name);
		return;
	}
	process->to = target;
	/* What several processes make may go there, but nothing else. */
	if (!target->collects)
		config_link_feed(config, target, process->value);
	target->collects = true;
}

/* ---- where they run ---- */

static int
read_jobs(struct config *config, struct config_process *process)
{
	const struct weir_base_doc_value *value = process->value;
	const struct weir_base_doc_value *group = weir_base_doc_get(value, "group");

	process->jobs.nb = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "jobs"));
	process->jobs.nb_frames = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "frames"));
	process->jobs.wait =
		weir_base_doc_u64(weir_base_doc_get(value, "on_full")) == SCHEMA_ON_FULL_WAIT;
	process->jobs.has_priority = weir_base_doc_given(value, "priority");
	process->jobs.priority = (uint8_t)weir_base_doc_u64(weir_base_doc_get(value, "priority"));
	process->jobs.slice_ns = weir_base_doc_given(value, "slice")
					 ? weir_base_doc_u64(weir_base_doc_get(value, "slice"))
					 : CONFIG_JOB_SLICE_NS;
	if (process->jobs.nb > 1 && (process->plugin == NULL || weir_base_doc_given(value, "to")))
		weir_base_doc_error_add(config->doc, weir_base_doc_get(value, "jobs"),
			"%u jobs at a time have no order; expected 1 for %s", process->jobs.nb,
			process->plugin == NULL ? "the hit finder"
						: "a function that sends something 'to' a link");
	return config_take_group(&config->em,
		weir_base_doc_given(value, "group") ? weir_base_doc_str(group) : "default",
		&process->jobs.group);
}

static int
read_where(struct config *config, struct config_process *process)
{
	const struct weir_base_doc_value *cpu = weir_base_doc_get(process->value, "cpu");

	process->cpu = cpu != NULL ? (int)weir_base_doc_u64(cpu) : -1;
	if (process->where != WEIR_BASE_WHERE_THREAD)
		refuse_keys(config, process, thread_keys, "where: thread");
	if (process->where == WEIR_BASE_WHERE_JOBS)
		return read_jobs(config, process);
	refuse_keys(config, process, jobs_keys, "where: jobs");
	return 0;
}

/* ---- what they are ---- */

static int
read_function(struct config *config, struct config_process *process)
{
	const struct weir_base_doc_value *function = weir_base_doc_get(process->value, "function");
	const char *text = weir_base_doc_str(function);

	process->threshold =
		(uint16_t)weir_base_doc_u64(weir_base_doc_get(process->value, "threshold"));
	process->max_samples =
		(uint16_t)weir_base_doc_u64(weir_base_doc_get(process->value, "max_samples"));
	process->argument = weir_base_doc_str(weir_base_doc_get(process->value, "argument"));
	if (text == NULL || strcmp(text, WEIR_BASE_PROCESS_HITS) == 0) {
		refuse_keys(config, process, plugin_keys, "function: PLUGIN.so:SYMBOL");
		if (process->threshold == 0)
			weir_base_doc_error_add(config->doc, process->value,
				"process '%s' finds no hits; expected a key 'threshold'",
				process->name);
		if (!weir_base_doc_given(process->value, "to"))
			weir_base_doc_error_add(config->doc, process->value,
				"the hits of process '%s' go nowhere; expected a key 'to'",
				process->name);
		return 0;
	}
	refuse_keys(config, process, hits_keys, "function: hits");
	if (config_read_plugin(process->value, text, &process->plugin, &process->symbol) < 0)
		return -ENOMEM;
	if (access(process->plugin, R_OK) != 0)
		weir_base_doc_error_add(config->doc, function,
			"cannot read '%s'; expected hits, or PLUGIN.so:SYMBOL", process->plugin);
	return 0;
}

static int
read_process(struct config *config, struct config_process *process)
{
	const struct weir_base_doc_value *to = weir_base_doc_get(process->value, "to");

	process->name = weir_base_doc_name(process->value);
	process->where =
		(enum weir_base_where)weir_base_doc_u64(weir_base_doc_get(process->value, "where"));
	if (!config_is_name(process->name, CONFIG_PROCESS_NAME_MAX) ||
		strcmp(process->name, WEIR_BASE_PROCESS_HITS) == 0)
		weir_base_doc_error_add(config->doc, process->value,
			"process name '%s' cannot be used; expected 1 to %d letters, digits or "
			"'_', and not 'hits', which is what a link's key of that name makes",
			process->name, CONFIG_PROCESS_NAME_MAX);
	if (read_function(config, process) < 0)
		return -ENOMEM;
	read_links(config, process);
	if (to != NULL)
		read_target(config, process, to);
	return read_where(config, process);
}

/* The short form, in a link: before its buffer. */
static void
read_hits(struct config *config, struct config_process *process, const struct config_link *link)
{
	const struct weir_base_doc_value *value = process->value;
	unsigned int i;

	process->name = WEIR_BASE_PROCESS_HITS;
	process->where = WEIR_BASE_WHERE_INLINE;
	process->cpu = -1;
	process->threshold = (uint16_t)weir_base_doc_u64(weir_base_doc_get(value, "threshold"));
	process->max_samples = (uint16_t)weir_base_doc_u64(weir_base_doc_get(value, "max_samples"));
	check_format(config, process, link, value);
	for (i = 0; i < link->nb; i++)
		process->links[process->nb_links++] = link->first + i;
	read_target(config, process, weir_base_doc_get(value, "to"));
}

/* @return the next one, with room for all links; NULL: no memory */
static struct config_process *
add_process(struct config_links *links, const struct weir_base_doc_value *value)
{
	struct config_process *process = &links->processes[links->nb_processes];

	process->value = value;
	process->links = calloc(links->nb_links + 1, sizeof(*process->links));
	if (process->links == NULL)
		return NULL;
	links->nb_processes++;
	return process;
}

int
config_read_processes(struct config *config)
{
	const struct weir_base_doc_value *list =
		weir_base_doc_get(config->application, "processes");
	const unsigned int nb = weir_base_doc_count(list);
	struct config_links *links = &config->links;
	struct config_process *process;
	unsigned int i;

	links->processes = calloc(nb + links->nb + 1, sizeof(*links->processes));
	if (links->processes == NULL)
		return -ENOMEM;
	for (i = 0; i < links->nb; i++) {
		const struct weir_base_doc_value *value =
			weir_base_doc_get(links->list[i].value, WEIR_BASE_PROCESS_HITS);

		if (value == NULL)
			continue;
		process = add_process(links, value);
		if (process == NULL)
			return -ENOMEM;
		read_hits(config, process, &links->list[i]);
	}
	for (i = 0; i < nb; i++) {
		process = add_process(links, weir_base_doc_at(list, i));
		if (process == NULL || read_process(config, process) < 0)
			return -ENOMEM;
	}
	return 0;
}

void
config_free_processes(struct config_links *links)
{
	unsigned int i;

	for (i = 0; i < links->nb_processes; i++) {
		free(links->processes[i].plugin);
		free(links->processes[i].links);
	}
	free(links->processes);
}

/* ---- what follows from them ---- */

uint32_t
config_link_pinned(const struct config_links *links, const struct config_link *link)
{
	uint64_t nb = 0;
	unsigned int i;

	for (i = 0; i < links->nb_processes; i++) {
		const struct config_process *process = &links->processes[i];

		if (process->where != WEIR_BASE_WHERE_INLINE && has_some(process, link))
			nb += 1 + (uint64_t)process->jobs.nb * process->jobs.nb_frames;
	}
	return (uint32_t)RTE_MIN(nb, (uint64_t)UINT32_MAX);
}

bool
config_processes_need_jobs(const struct config_links *links)
{
	return config_processes_nb_jobs(links) > 0;
}

unsigned int
config_processes_nb_jobs(const struct config_links *links)
{
	unsigned int nb = 0, i;

	for (i = 0; i < links->nb_processes; i++)
		nb += links->processes[i].jobs.nb * links->processes[i].nb_links;
	return nb;
}

bool
config_processes_have_group(const struct config_links *links, unsigned int group)
{
	unsigned int i;

	for (i = 0; i < links->nb_processes; i++)
		if (links->processes[i].jobs.nb > 0 && links->processes[i].jobs.group == group)
			return true;
	return false;
}

static void
check_spare(struct config *config, const struct config_link *link)
{
	const uint32_t pinned = config_link_pinned(&config->links, link);
	const struct weir_base_doc_value *buffer = weir_base_doc_get(link->value, "buffer");
	struct weir_readout_buffer_info info;

	if (pinned == 0 || weir_readout_buffer_plan(&link->buffer, &info) < 0 ||
		pinned < info.nb_spare)
		return;
	weir_base_doc_error_add(config->doc,
		weir_base_doc_given(buffer, "spare") ? weir_base_doc_get(buffer, "spare") : buffer,
		"processes keep up to %u frames of link '%s' at a time, and its buffer has %u to "
		"spare; expected more 'spare', or fewer 'jobs' or 'frames' of the processes",
		pinned, link->name, info.nb_spare);
}

static void
check_row(struct config *config, const struct config_link *link)
{
	const struct config_links *links = &config->links;
	unsigned int nb = 0, i;

	for (i = 0; i < links->nb_processes; i++)
		if (links->processes[i].where == WEIR_BASE_WHERE_INLINE &&
			has_some(&links->processes[i], link) &&
			++nb == WEIR_READOUT_PROCESSES_MAX + 1)
			weir_base_doc_error_add(config->doc, links->processes[i].value,
				"more than %d processes look at frames of link '%s' before its "
				"buffer; expected fewer",
				WEIR_READOUT_PROCESSES_MAX, link->name);
}

void
config_check_processes(struct config *config)
{
	unsigned int i;

	for (i = 0; i < config->links.nb; i++) {
		check_spare(config, &config->links.list[i]);
		check_row(config, &config->links.list[i]);
	}
}

void
config_check_process_groups(struct config *config)
{
	unsigned int i;

	for (i = 0; i < config->links.nb_processes; i++) {
		const struct config_process *process = &config->links.processes[i];

		if (process->jobs.nb > 0)
			config_job_check_group(config, process->value, process->jobs.group);
	}
}
