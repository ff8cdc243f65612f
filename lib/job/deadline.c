/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Deadlines, in a wheel of the core that spawned the job. Taking one out of the wheel is the right to count it, if it is over: done by a core when it is due,
 * wherever the job is then; or by the end of the job.
 */

#include <inttypes.h>

#include "job_private.h"

void
job_deadline_begin(struct job_worker *worker, struct job *job)
{
	struct weir_job_service *service = job->service;
	struct job_lane *lane;

	/* of a plain thread: any will do, others look after it */
	if (worker == NULL)
		worker = &service->workers[(size_t)(job - service->jobs) % service->nb_workers];
	lane = job->deadline_lane = &worker->lane;
	job_lock(&lane->lock);
	weir_base_wheel_skip(&lane->deadlines, weir_base_cycles() >> lane->shift);
	job->deadline_entry.tick = (job->deadline >> lane->shift) + 1; /* never early */
	weir_base_wheel_add(&lane->deadlines, &job->deadline_entry);
	job_lane_set_next(lane);
	job_unlock(&lane->lock);
}

/* It is out of the wheel. */
static void
count(struct job_worker *worker, struct job *job, uint64_t now, struct job_late *late)
{
	job_count(&worker->stats.nb_late, 1);
	if (!job_may_tell(&job->service->late, now, &late->nb_untold))
		return;
	late->job = job_handle(job);
	strcpy(late->name, job->name);
	late->age = now - job->begun;
	late->deadline_ns = job->deadline_ns;
}

void
job_deadline_tell(const struct weir_job_service *service, const struct job_late *late)
{
	JOB_LOG(WARNING,
		"%s: job '%s' (%#" PRIx64 ") missed its deadline: %" PRIu64 " ns after %" PRIu64
		" ns it goes on; %" PRIu64 " more since this was told last",
		service->name, late->name, late->job, weir_base_cycles_to_ns(late->age),
		late->deadline_ns, late->nb_untold);
}

void
job_deadline_end(struct job_worker *worker, struct job *job, uint64_t now)
{
	struct job_late late = {.job = WEIR_JOB_NONE};
	struct job_lane *lane = job->deadline_lane;
	bool counted;

	job_lock(&lane->lock);
	counted = job->deadline_entry.next == NULL;
	if (!counted) {
		weir_base_wheel_remove(&lane->deadlines, &job->deadline_entry);
		job_lane_set_next(lane);
	}
	job_unlock(&lane->lock);
	if (!counted && now > job->deadline)
		count(worker, job, now, &late);
	if (late.job != WEIR_JOB_NONE)
		job_deadline_tell(worker->service, &late);
}

void
job_deadlines_serve(struct job_worker *worker, struct job_lane *lane, uint64_t now,
	unsigned int *steps, struct job_late *late)
{
	struct weir_base_wheel_entry *entry;

	/* under the lock: the job cannot have ended */
	while ((entry = weir_base_wheel_advance(&lane->deadlines, now >> lane->shift, steps)) !=
		NULL) {
		struct job *job =
			(struct job *)((char *)entry - offsetof(struct job, deadline_entry));

		JOB_STALL("deadline");
		count(worker, job, now, late);
	}
}
