/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done with the frames of a run's links: made, and freed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "config.h"
#include "em_run.h"
#include "links_run.h"
#include "reason_log.h"

/* ---- plug-ins ---- */

/* Messages of all that go to one link are alike. */
static int
check_output(struct links_run *run, struct config *config, const struct links_process *process)
{
	const struct weir_base_doc_value *to = weir_base_doc_get(process->config->value, "to");
	const struct weir_readout_type *type = links_process_output(process), *other;
	unsigned int i;

	if (process->config->to == NULL)
		return 0;
	if (type == NULL) {
		weir_base_doc_error_add(config->doc, to,
			"'%s' sends nothing that could go to a link; expected no 'to'",
			process->config->symbol);
		return -EINVAL;
	}
	for (i = 0; &run->processes.list[i] != process; i++) {
		if (run->processes.list[i].config->to != process->config->to)
			continue;
		other = links_process_output(&run->processes.list[i]);
		if (strcmp(other->name, type->name) == 0 && other->size_bytes == type->size_bytes &&
			other->version == type->version)
			continue;
		weir_base_doc_error_add(config->doc, to,
			"messages '%s' of process '%s' cannot go where those of '%s' do, which are "
			"'%s'; expected another link",
			type->name, process->config->name, run->processes.list[i].config->name,
			other->name);
		return -EPROTOTYPE;
	}
	return 0;
}

static int
load_type(struct config *config, struct links_process *process)
{
	const char *why;

	if (process->config->plugin == NULL)
		return 0;
	process->type =
		weir_bridge_process_load(process->config->plugin, process->config->symbol, &why);
	if (process->type != NULL)
		return 0;
	weir_base_doc_error_add(config->doc, weir_base_doc_get(process->config->value, "function"),
		"plug-in '%s' cannot be used: %s", process->config->plugin, why);
	return -rte_errno;
}

int
links_processes_open(struct links_run *run, struct config *config)
{
	const struct config_links *links = &config->links;
	unsigned int i, j;
	int error = 0;

	run->processes.list = calloc(links->nb_processes + 1, sizeof(*run->processes.list));
	if (run->processes.list == NULL)
		return -ENOMEM;
	for (i = 0; error == 0 && i < links->nb_processes; i++) {
		struct links_process *process = &run->processes.list[i];

		process->config = &links->processes[i];
		process->run = run;
		links_thread_init(&process->thread);
		process->list = calloc(process->config->nb_links + 1, sizeof(*process->list));
		run->processes.nb = i + 1;
		if (process->list == NULL)
			return -ENOMEM;
		error = load_type(config, process);
		for (j = 0; j < process->config->nb_links; j++) {
			process->list[j].config = process->config;
			process->list[j].link = process->config->links[j];
			process->list[j].type = process->type;
		}
		if (error == 0)
			error = check_output(run, config, process);
	}
	return error;
}

/* ---- on a link ---- */

static int
make_finder(struct links_run *run, struct links_work *work, const char *sink, uint64_t stream)
{
	work->finder = weir_readout_hit_finder_create(
		run->registry, &(struct weir_readout_hit_finder_config){.name = work->name,
				       .sink = sink,
				       .stream = (uint32_t)stream,
				       .threshold = work->config->threshold,
				       .max_samples = work->config->max_samples});
	if (work->finder == NULL)
		return -rte_errno;
	work->output = weir_readout_source_find(run->registry, work->name);
	work->process.run = weir_readout_hit_finder_run;
	work->process.arg = work->finder;
	return 0;
}

static int
make_context(struct links_run *run, struct links_work *work, const struct config_link *link,
	const char *sink)
{
	const struct weir_bridge_process_type *type = work->type;
	struct weir_bridge_process_env env = {
		.abi_version = WEIR_BRIDGE_PROCESS_ABI_VERSION,
		.struct_size = sizeof(env),
		.name = work->config->name,
		.argument = work->config->argument,
		.link = work->link_name,
		.stream = link->key + work->link - link->first,
		.format = &link->format,
	};
	int error = 0;

	if (sink != NULL) {
		work->output = weir_readout_source_create(run->registry,
			&(struct weir_readout_source_config){
				.name = work->name, .sink = sink, .type = type->output});
		if (work->output == NULL)
			return -rte_errno;
	}
	env.output = work->output;
	if (type->init != NULL)
		error = type->init(&env, &work->context);
	work->has_context = error == 0;
	work->process.run = type->run;
	work->process.arg = work->context;
	work->process.drops = type->drops;
	work->process.nb_drops = type->nb_drops;
	return error;
}

const char *
links_process_sink(const struct config_link *to, char name[LINKS_PROCESS_SINK_SIZE])
{
	snprintf(name, LINKS_PROCESS_SINK_SIZE, "%s messages", to->name);
	return name;
}

/* What looks at frames of the link. @return 0, or a negative errno, with the reason in the document */
static int
make_work(struct links_run *run, struct config *config, struct links_work *work)
{
	const struct config_link *link = config_link_of(&config->links, work->link);
	char sink[LINKS_PROCESS_SINK_SIZE];
	const char *to = NULL, *why;
	int error;

	config_link_name(link, work->link - link->first, work->link_name);
	snprintf(work->name, sizeof(work->name), "%s %.*s", work->link_name,
		WEIR_BASE_PROCESS_NAME_MAX, work->config->name);
	if (work->config->to != NULL)
		to = links_process_sink(work->config->to, sink);
	work->process.name = work->config->name;
	reason_log_begin();
	error = work->type == NULL
			? make_finder(run, work, to, link->key + work->link - link->first)
			: make_context(run, work, link, to);
	why = reason_log_end(rte_strerror(-error));
	if (error < 0)
		weir_base_doc_error_add(config->doc, work->config->value,
			"process '%s' could not be made for link '%s': %s", work->config->name,
			work->link_name, why);
	return error;
}

int
links_processes_inline(struct links_run *run, struct config *config, uint32_t number,
	struct weir_readout_process *processes, uint32_t *nb)
{
	unsigned int i, j;
	int error = 0;

	*nb = 0;
	for (i = 0; i < run->processes.nb; i++) {
		struct links_process *process = &run->processes.list[i];

		if (process->config->where != WEIR_BASE_WHERE_INLINE)
			continue;
		for (j = 0; error == 0 && j < process->config->nb_links; j++) {
			if (process->list[j].link != number)
				continue;
			error = make_work(run, config, &process->list[j]);
			processes[(*nb)++] = process->list[j].process;
		}
	}
	return error;
}

static int
follow(struct links_run *run, struct links_work *work, const struct em_run *em)
{
	const struct config_process *config = work->config;
	const struct weir_readout_buffer *buffer =
		weir_readout_handler_buffer(run->handlers[work->link]);

	if (config->where == WEIR_BASE_WHERE_THREAD) {
		work->follower = weir_readout_follower_create(
			&(struct weir_readout_follower_config){.name = config->name,
				.buffer = buffer,
				.link = run->links[work->link],
				.processes = &work->process,
				.nb_processes = 1});
		return work->follower != NULL ? 0 : -rte_errno;
	}
	work->jobs = weir_bridge_follower_create(
		&(struct weir_bridge_follower_config){.name = config->name,
			.buffer = buffer,
			.link = run->links[work->link],
			.process = work->process,
			.service = em->jobs.service,
			.nb_jobs = config->jobs.nb,
			.nb_frames = config->jobs.nb_frames,
			.wait = config->jobs.wait,
			.has_priority = config->jobs.has_priority,
			.priority = config->jobs.priority,
			.slice_ns = config->jobs.slice_ns,
			.core_group = em->groups[config->jobs.group]});
	return work->jobs != NULL ? 0 : -rte_errno;
}

int
links_processes_follow(struct links_run *run, struct config *config, const struct em_run *em)
{
	const char *why;
	unsigned int i, j;
	int error = 0;

	for (i = 0; i < run->processes.nb; i++) {
		struct links_process *process = &run->processes.list[i];

		if (process->config->where == WEIR_BASE_WHERE_INLINE)
			continue;
		for (j = 0; j < process->config->nb_links; j++) {
			error = make_work(run, config, &process->list[j]);
			if (error < 0)
				return error;
			reason_log_begin();
			error = follow(run, &process->list[j], em);
			why = reason_log_end(rte_strerror(-error));
			if (error == 0)
				continue;
			weir_base_doc_error_add(config->doc, process->config->value,
				"process '%s' could not be begun: %s", process->config->name, why);
			return error;
		}
	}
	return 0;
}

static void
close_work(struct links_work *work)
{
	weir_readout_follower_free(work->follower);
	/* A job that did not end is in run() still, if nobody resumes it: what it has is the process' until that ends. */
	if (weir_bridge_follower_free(work->jobs) < 0)
		return;
	if (work->has_context && work->type->fini != NULL)
		work->type->fini(work->context);
	if (work->finder != NULL)
		weir_readout_hit_finder_free(work->finder);
	else
		weir_readout_source_free(work->output);
}

void
links_processes_close(struct links_run *run)
{
	unsigned int i, j;

	for (i = 0; i < run->processes.nb; i++) {
		struct links_process *process = &run->processes.list[i];

		for (j = 0; process->list != NULL && j < process->config->nb_links; j++)
			close_work(&process->list[j]);
		free(process->list);
	}
	free(run->processes.list);
	memset(&run->processes, 0, sizeof(run->processes));
}
