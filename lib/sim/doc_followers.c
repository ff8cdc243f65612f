/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: functions that look at frames after their buffers, and the threads that they have. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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

int
sim_doc_add_follower(struct weir_sim_model *model, const struct weir_base_doc_value *process)
{
	struct model_process *processes =
		realloc(model->processes, (model->nb_processes + 1) * sizeof(*processes));

	if (processes == NULL)
		return -ENOMEM;
	model->processes = processes;
	processes[model->nb_processes++] = (struct model_process){
		.value = process,
		.first_follower = model->nb_followers,
	};
	return 0;
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
sim_doc_follow(struct weir_sim_model *model, uint32_t index, double packet, double per_byte)
{
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
	};
	if (asprintf(&follower->name, "%s %s", link->name, weir_base_doc_name(process->value)) < 0)
		return -ENOMEM;
	process->nb_followers++;
	link->followers = model->nb_followers++;
	keep_log(link);
	return 0;
}
