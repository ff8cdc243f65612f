/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of those that look at frames after buffers: each polls its process' links in turns. */
#include "config.h"
#include "links_run.h"

static bool
follows(const struct links_process *process)
{
	return process->config->where != WEIR_BASE_WHERE_INLINE;
}

/* Is there nobody to run its jobs any more? */
static bool
is_stuck(const struct links_process *process)
{
	return process->config->where == WEIR_BASE_WHERE_JOBS &&
	       __atomic_load_n(&process->run->processes.no_jobs, __ATOMIC_ACQUIRE);
}

static bool
is_over(const struct links_process *process)
{
	return __atomic_load_n(&process->run->processes.over, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&process->run->processes.abandoned, __ATOMIC_ACQUIRE);
}

/* A piece of each link. @return how many frames */
static uint32_t
poll_all(struct links_process *process)
{
	uint32_t nb = 0;
	unsigned int i;

	for (i = 0; i < process->config->nb_links && !is_over(process); i++)
		nb += process->list[i].jobs != NULL
			      ? weir_bridge_follower_poll(process->list[i].jobs)
			      : weir_readout_follower_poll(process->list[i].follower);
	return nb;
}

static void *
run_process(void *arg)
{
	struct links_process *process = arg;

	while (!is_over(process))
		if (is_stuck(process) || poll_all(process) == 0)
			links_thread_rest();
	return NULL;
}

int
links_processes_start(struct links_run *run, struct config *config)
{
	unsigned int i;
	int error = 0;

	for (i = 0; error == 0 && i < run->processes.nb; i++) {
		struct links_process *process = &run->processes.list[i];

		if (!follows(process))
			continue;
		error = links_thread_start(&process->thread, "weir-process", run_process, process);
		if (error == 0)
			error = links_thread_pin(&process->thread, config->doc,
				weir_base_doc_get(process->config->value, "cpu"), "process",
				process->config->name);
	}
	return error;
}

void
links_work_count(struct links_work *work, struct weir_bridge_follower_stats *counts)
{
	struct weir_readout_follower_stats stats;
	unsigned int i;

	if (work->jobs != NULL) {
		weir_bridge_follower_stats(work->jobs, counts);
		return;
	}
	weir_readout_follower_stats(work->follower, &stats);
	*counts = (struct weir_bridge_follower_stats){
		.received = stats.received,
		.missed = stats.missed,
		.waiting = stats.waiting,
		.taken = stats.passed,
		.passed = stats.passed,
	};
	for (i = 0; i < WEIR_READOUT_PROCESS_DROPS_MAX; i++) {
		counts->dropped[i] = stats.dropped[i];
		counts->taken += stats.dropped[i];
	}
}

static bool
is_idle(const struct links_process *process)
{
	struct weir_bridge_follower_stats counts;
	unsigned int i;

	if (!follows(process) || is_stuck(process))
		return true;
	for (i = 0; i < process->config->nb_links; i++) {
		links_work_count(&process->list[i], &counts);
		if (counts.waiting > 0 || counts.inside > 0)
			return false;
	}
	return true;
}

/* One that was idle stays so: it has no more frames. */
bool
links_processes_are_idle(const struct links_run *run)
{
	unsigned int i;

	for (i = 0; i < run->processes.nb; i++)
		if (!__atomic_load_n(&run->processes.abandoned, __ATOMIC_ACQUIRE) &&
			!is_idle(&run->processes.list[i]))
			return false;
	return true;
}

void
links_processes_end(struct links_run *run)
{
	unsigned int i;

	__atomic_store_n(&run->processes.over, true, __ATOMIC_RELEASE);
	for (i = 0; i < run->processes.nb; i++)
		links_thread_join(&run->processes.list[i].thread);
}

void
links_processes_abandon(struct links_run *run)
{
	__atomic_store_n(&run->processes.abandoned, true, __ATOMIC_RELEASE);
}

void
links_processes_look(struct links_run *run, unsigned int feeder)
{
	unsigned int i, j;

	for (i = 0; i < run->processes.nb; i++) {
		struct links_process *process = &run->processes.list[i];

		for (j = 0; follows(process) && j < process->config->nb_links; j++)
			if (run->feeder_of[process->list[j].link] == feeder)
				links_work_count(&process->list[j], &process->list[j].counts);
	}
}
