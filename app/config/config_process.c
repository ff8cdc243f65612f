/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what is done with the frames of links, before their buffers and after these. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include <weir_readout_process.h>

#include "config.h"

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
take_links(const struct config *config, struct config_process *process,
	const struct weir_base_doc_value *value)
{
	unsigned int link, first, nb = config_links_named(config, value, &link, &first), i;

	for (i = 0; i < nb && process->nb_links < config->links.nb_links; i++)
		process->links[process->nb_links++] = first + i;
}

static void
read_links(const struct config *config, struct config_process *process)
{
	const struct weir_base_doc_value *list = weir_base_doc_get(process->value, "links");
	unsigned int i;

	for (i = 0; i < weir_base_doc_count(list); i++)
		take_links(config, process, weir_base_doc_at(list, i));
}

/* ---- where what they make goes ---- */

static void
read_target(
	struct config *config, struct config_process *process, const struct weir_base_doc_value *to)
{
	const int index = config_link_find(config, weir_base_doc_str(to));
	struct config_link *target;

	if (index == CONFIG_NONE)
		return;
	target = &config->links.list[index];
	process->to = target;
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
	return config_take_group(&config->em,
		weir_base_doc_given(value, "group") ? weir_base_doc_str(group) : "default",
		&process->jobs.group);
}

static int
read_where(struct config *config, struct config_process *process)
{
	const struct weir_base_doc_value *cpu = weir_base_doc_get(process->value, "cpu");

	process->cpu = cpu != NULL ? (int)weir_base_doc_u64(cpu) : -1;
	return process->where == WEIR_BASE_WHERE_JOBS ? read_jobs(config, process) : 0;
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
	if (strcmp(text, WEIR_BASE_PROCESS_HITS) == 0)
		return 0;
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
