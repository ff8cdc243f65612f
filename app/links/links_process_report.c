/* SPDX-License-Identifier: BSD-3-Clause */
/* What became of frames that were looked at before buffers and after them. */
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "links_report.h"
#include "links_run.h"
#include "report_text.h"

static const char *const where_names[] = {
	[WEIR_BASE_WHERE_INLINE] = "inline",
	[WEIR_BASE_WHERE_THREAD] = "thread",
	[WEIR_BASE_WHERE_JOBS] = "jobs",
};

const char *
links_process_drop_name(const struct weir_readout_process *process, uint32_t number)
{
	static __thread char name[2 * WEIR_READOUT_NAME_MAX];

	if (process->nb_drops == 0)
		return number == 0 ? process->name : NULL;
	if (number >= process->nb_drops)
		return NULL;
	snprintf(name, sizeof(name), "%s.%s", process->name, process->drops[number]);
	return name;
}

/* @return their sum */
static uint64_t
set_dropped(json_t *object, const struct weir_readout_process *process, const uint64_t *counts)
{
	json_t *dropped = json_object();
	const char *name;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; (name = links_process_drop_name(process, i)) != NULL; i++)
		sum += report_count(dropped, name, counts[i]);
	json_object_set_new(object, "dropped", dropped);
	return sum;
}

/* @return its counters, with those of jobs where it has any: received = passed + missed + waiting + all others but jobs */
static json_t *
counts_json(const struct links_work *work, const struct weir_bridge_follower_stats *counts,
	bool *adds_up)
{
	json_t *refused = json_object(), *object;
	uint64_t out, not_taken;
	unsigned int i;

	object = json_pack("{s:s, s:I, s:I, s:I, s:I}", "where", where_names[work->config->where],
		"received", report_counter(counts->received), "passed",
		report_counter(counts->passed), "missed", report_counter(counts->missed), "waiting",
		report_counter(counts->waiting));
	out = counts->passed + set_dropped(object, &work->process, counts->dropped);
	not_taken = counts->missed + counts->waiting;
	for (i = 0; i < WEIR_BRIDGE_FOLLOWER_NB_REFUSALS; i++)
		not_taken += report_count(refused,
			weir_bridge_follower_refusal_name((enum weir_bridge_follower_refusal)i),
			counts->refused[i]);
	if (work->config->where == WEIR_BASE_WHERE_JOBS) {
		json_object_update_new(
			object, json_pack("{s:O, s:I, s:I, s:I, s:I}", "refused", refused,
					"cancelled", report_counter(counts->cancelled), "exited",
					report_counter(counts->exited), "inside",
					report_counter(counts->inside), "jobs",
					report_counter(counts->jobs)));
		out += counts->cancelled + counts->exited + counts->inside;
	}
	json_decref(refused);
	*adds_up = *adds_up && counts->taken == out && counts->received == not_taken + out;
	return object;
}

/* Before the buffer: the link counts what they drop, one after the other. */
static json_t *
inline_json(const struct links_run *run, const struct links_work *work)
{
	const struct weir_readout_link_stats *stats = &run->stats[work->link].link;
	json_t *object = json_pack("{s:s}", "where", where_names[WEIR_BASE_WHERE_INLINE]);
	const struct weir_readout_link *link = run->links[work->link];
	const char *first = links_process_drop_name(&work->process, 0), *name;
	uint32_t i;

	for (i = 0; (name = weir_readout_link_process_drop_name(link, i)) != NULL; i++)
		if (strcmp(name, first) == 0)
			break;
	set_dropped(object, &work->process, &stats->processed[i]);
	return object;
}

/*
 * A buffer's frames and what a process got of them: the same number, where the link's frames come by the thread that looks at both, or nothing
 * comes any more; else some came between, and one that the buffer has counted may be on its way there.
 */
static bool
agrees_with_link(const struct links_run *run, const struct config_link *link,
	const struct links_work *work, bool finished)
{
	const struct weir_readout_buffer_stats *buffer = &run->stats[work->link].buffer;
	uint64_t came = buffer->received - buffer->doubted;
	unsigned int i;

	for (i = 0; i < WEIR_READOUT_BUFFER_NB_REASONS; i++)
		came -= buffer->dropped[i];
	if (finished || (link->delivery.queue_size == 0 && link->shared == CONFIG_NONE))
		return work->counts.received == came;
	return work->counts.received + 1 >= came;
}

json_t *
links_processes_json(
	const struct links_run *run, const struct config *config, bool finished, bool *adds_up)
{
	json_t *list = json_array(), *object;
	unsigned int i, j;

	for (i = 0; i < run->processes.nb; i++) {
		const struct links_process *process = &run->processes.list[i];
		const struct config_process *param = process->config;

		for (j = 0; j < param->nb_links; j++) {
			const struct links_work *work = &process->list[j];
			const struct config_link *link = config_link_of(&config->links, work->link);
			bool agrees = true;

			if (param->where == WEIR_BASE_WHERE_INLINE) {
				object = inline_json(run, work);
			} else {
				object = counts_json(work, &work->counts, &agrees);
				agrees = agrees && agrees_with_link(run, link, work, finished);
			}
			json_object_update_new(object,
				json_pack("{s:s, s:s, s:s, s:b}", "process", param->name, "link",
					weir_readout_link_name(run->links[work->link]), "function",
					param->symbol != NULL ? param->symbol : "hits", "adds_up",
					agrees));
			json_array_append_new(list, object);
			*adds_up = *adds_up && agrees;
		}
	}
	return list;
}

/* ---- on the control socket ---- */

/* As they are now. */
static json_t *
tell(void *arg, bool *agree)
{
	struct links_work *work = arg;
	struct weir_bridge_follower_stats counts;

	links_work_count(work, &counts);
	return counts_json(work, &counts, agree);
}

unsigned int
links_processes_nb_parts(const struct links_run *run)
{
	unsigned int nb = 0, i;

	for (i = 0; i < run->processes.nb; i++)
		nb += 2 * run->processes.list[i].config->nb_links;
	return nb;
}

unsigned int
links_processes_parts(const struct links_run *run, struct weir_readout_ctl_part *parts)
{
	unsigned int nb = 0, i, j;

	for (i = 0; i < run->processes.nb; i++) {
		const struct links_process *process = &run->processes.list[i];

		for (j = 0; j < process->config->nb_links; j++) {
			struct links_work *work = &process->list[j];

			if (work->finder != NULL)
				parts[nb++] = (struct weir_readout_ctl_part){
					.name = work->name, .finder = work->finder};
			if (process->config->where != WEIR_BASE_WHERE_INLINE)
				parts[nb++] = (struct weir_readout_ctl_part){
					.name = work->name, .tell = tell, .arg = work};
		}
	}
	return nb;
}
