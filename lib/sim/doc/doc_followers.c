/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: functions that look at frames after their buffers, and the threads that they have. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"

#define SPARE_PART 8  /* of its frames that a buffer has beside them, for those that are kept */
#define LOG_MORE   16 /* likewise */
#define PS_PER_NS  UINT64_C(1000)

static enum weir_base_where
where_of(const struct weir_base_doc_value *process)
{
	return (enum weir_base_where)weir_base_doc_u64(weir_base_doc_get(process, "where"));
}

static const struct weir_base_doc_value *
processes_of(const struct weir_base_doc_value *root)
{
	return weir_base_doc_get(weir_base_doc_get(root, "application"), "processes");
}

uint32_t
sim_doc_count_followers(const struct weir_base_doc_value *root)
{
	const struct weir_base_doc_value *processes = processes_of(root);
	uint32_t nb = 0, i;

	for (i = 0; i < weir_base_doc_count(processes); i++)
		nb += where_of(weir_base_doc_at(processes, i)) != WEIR_BASE_WHERE_INLINE;
	return nb;
}

/* How many links an entry stands for, as far as can be said before links are read: those of a name, or one that has a number in it. */
static uint32_t
count_links(const struct weir_base_doc_value *links, const struct weir_base_doc_value *list)
{
	uint32_t nb = 0, i;

	for (i = 0; i < weir_base_doc_count(list); i++) {
		const struct weir_base_doc_value *count = weir_base_doc_get(
			weir_base_doc_get(links, weir_base_doc_str(weir_base_doc_at(list, i))),
			"count");

		nb += count != NULL ? (uint32_t)weir_base_doc_u64(count) : 1;
	}
	return nb;
}

/* The group whose workers do a process' jobs. */
static const char *
group_of(const struct weir_base_doc_value *process)
{
	const struct weir_base_doc_value *group = weir_base_doc_get(process, "group");

	return group != NULL ? weir_base_doc_str(group) : "default";
}

bool
sim_doc_has_jobs(const struct weir_base_doc_value *application, const char *group)
{
	const struct weir_base_doc_value *processes = weir_base_doc_get(application, "processes");
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(processes); i++)
		if (where_of(weir_base_doc_at(processes, i)) == WEIR_BASE_WHERE_JOBS &&
			strcmp(group_of(weir_base_doc_at(processes, i)), group) == 0)
			return true;
	return false;
}

int
sim_doc_take_followers(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	struct model_worker *worker)
{
	const struct weir_base_doc_value *processes = processes_of(root);
	const struct weir_base_doc_value *links =
		weir_base_doc_get(weir_base_doc_get(root, "application"), "links");
	uint32_t nb = 0, i;

	for (i = 0; i < weir_base_doc_count(processes); i++) {
		const struct weir_base_doc_value *process = weir_base_doc_at(processes, i);

		if (where_of(process) == WEIR_BASE_WHERE_INLINE)
			continue;
		free(worker->name);
		if (asprintf(&worker->name, "process.%s", weir_base_doc_name(process)) < 0) {
			worker->name = NULL;
			return -ENOMEM;
		}
		worker->process = nb++;
		worker->nb_polled = count_links(links, weir_base_doc_get(process, "links"));
		worker->sleep_min_ps = worker->sleep_max_ps = WEIR_BASE_LINKS_REST_NS * PS_PER_NS;
		worker++;
	}
	return 0;
}

/* The thread of the next process after buffers; SIM_NONE: nothing has costs. */
static uint32_t
thread_of(const struct weir_sim_model *model, uint32_t process)
{
	uint32_t i;

	for (i = 0; i < model->graph.nb_workers; i++)
		if (model->graph.workers[i].process == process)
			return i;
	return SIM_NONE;
}

static void
read_jobs(struct model_process *process)
{
	const struct weir_base_doc_value *value = process->value;

	process->nb_jobs = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "jobs"));
	process->nb_frames = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "frames"));
	process->waits = weir_base_doc_u64(weir_base_doc_get(value, "on_full")) != 0;
	process->slice_ps = weir_base_doc_given(value, "slice")
				    ? sim_doc_ps(weir_base_doc_get(value, "slice"))
				    : SIM_JOB_SLICE_PS;
}

int
sim_doc_add_follower(struct weir_sim_model *model, const struct weir_base_doc_value *process)
{
	struct model_process *processes =
		realloc(model->processes, (model->nb_processes + 1) * sizeof(*processes));

	if (processes == NULL)
		return -ENOMEM;
	model->processes = processes;
	processes[model->nb_processes] = (struct model_process){
		.value = process,
		.first_follower = model->nb_followers,
	};
	if (where_of(process) == WEIR_BASE_WHERE_JOBS)
		read_jobs(&processes[model->nb_processes]);
	model->nb_processes++;
	return 0;
}

/* Jobs are packets, which are made as frames come. */
static int
add_stream(struct weir_sim_model *model, struct model_follower *follower)
{
	struct model_stream *streams =
		realloc(model->streams, (model->nb_streams + 1) * sizeof(*streams));

	if (streams == NULL)
		return -ENOMEM;
	model->streams = streams;
	streams[model->nb_streams] = (struct model_stream){
		.value = model->processes[follower->process].value,
		.name = follower->name,
		.queue = follower->queue,
		.source = SIM_SOURCE_MADE,
		.link = SIM_NONE,
		.unit = SIM_NONE,
		.nb_flows = 1,
		.stop_ps = UINT64_MAX,
	};
	follower->stream = model->nb_streams++;
	return 0;
}

/* What its jobs are as packets: their stream, their queue, and how they are worked on. */
static int
add_jobs(struct weir_sim_model *model, struct model_follower *follower, uint32_t index)
{
	const struct model_process *process = &model->processes[follower->process];
	const struct weir_base_doc_value *value = process->value;
	const struct weir_base_doc_value *priority = weir_base_doc_get(value, "priority");
	struct model_job *jobs =
		realloc(model->graph.jobs, (model->graph.nb_jobs + 1) * sizeof(*model->graph.jobs));
	struct model_queue *queues;

	if (jobs == NULL)
		return -ENOMEM;
	model->graph.jobs = jobs;
	queues = realloc(model->queues, (model->nb_queues + 1) * sizeof(*queues));
	if (queues == NULL)
		return -ENOMEM;
	model->queues = queues;
	jobs[model->graph.nb_jobs] = (struct model_job){.name = follower->name,
		.node = SIM_NONE,
		.follower = index,
		.slice_ps = process->slice_ps};
	queues[model->nb_queues] = (struct model_queue){
		.value = value,
		.name = follower->name,
		.type = MODEL_PARALLEL,
		.priority = priority != NULL ? (uint32_t)weir_base_doc_u64(priority)
					     : SIM_PRIORITIES - 1,
		.group = sim_doc_group(model, value, group_of(value)),
		.capacity = SIM_NONE,
		.nb_flows = 1,
		.object = SIM_NONE,
		.node = SIM_NONE,
		.job = model->graph.nb_jobs++,
		.is_fed = true,
	};
	if (model->nb_lanes == SIM_LANES_MAX)
		weir_base_doc_error_add(model->doc, value,
			"more flows than can be told apart; expected at most %u in all",
			SIM_LANES_MAX);
	else
		model->nb_lanes++;
	follower->queue = model->nb_queues++;
	return add_stream(model, follower);
}

/* Of frames that nobody has looked at yet there are no more than those that the buffer has memory for. */
static void
keep_log(struct model_link *link)
{
	const uint64_t cells = link->held + link->held / SPARE_PART + LOG_MORE;

	for (link->log_mask = 1; link->log_mask < cells; link->log_mask *= 2)
		;
	link->log_mask--;
}

int
sim_doc_follow(struct weir_sim_model *model, uint32_t index,
	const struct weir_base_doc_value *costs, uint32_t finder)
{
	const double packet = sim_coarse(weir_base_doc_f64(weir_base_doc_get(costs, "packet")));
	const double per_byte = sim_coarse(weir_base_doc_f64(weir_base_doc_get(costs, "per_byte")));
	struct model_process *process = &model->processes[model->nb_processes - 1];
	struct model_link *link = &model->links[index];
	struct model_follower *followers =
		realloc(model->followers, (model->nb_followers + 1) * sizeof(*followers));
	struct model_follower *follower;

	if (followers == NULL)
		return -ENOMEM;
	model->followers = followers;
	follower = &followers[model->nb_followers];
	*follower = (struct model_follower){
		.process = model->nb_processes - 1,
		.link = index,
		.next = link->followers,
		.worker = thread_of(model, model->nb_processes - 1),
		.place = process->nb_followers,
		.cycles = packet + per_byte * model->streams[link->stream].size_min_bytes,
		.finder = finder,
		.drops = sim_coarse(weir_base_doc_f64(weir_base_doc_get(costs, "drops"))),
	};
	if (asprintf(&follower->name, "%s %s", link->name, weir_base_doc_name(process->value)) < 0)
		return -ENOMEM;
	process->nb_followers++;
	link->followers = model->nb_followers++;
	keep_log(link);
	return process->nb_jobs > 0 && follower->worker != SIM_NONE
		       ? add_jobs(model, follower, link->followers)
		       : 0;
}
