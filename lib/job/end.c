/* SPDX-License-Identifier: BSD-3-Clause */

/* A job ends: who wanted to know is told, and its memory goes back. */

#include <inttypes.h>

#include "weir_em_pool.h"

#include "job_private.h"

/* Who waits for the group finds the job counted as ended already. Who stops the service waits until it is out of the group, too. */
static void
leave_group(struct job_worker *worker, struct weir_job_group *group)
{
	JOB_STALL("leaving");
	job_group_leave(group);
	__atomic_store_n(&worker->leaving, false, __ATOMIC_RELEASE);
}

/* Nothing is left of it but its place, which may be another one's when this returns. */
static void
over(struct job_worker *worker, struct job *job, uint64_t now)
{
	struct weir_job_service *service = job->service;
	struct weir_job_group *group = job->group;
	struct weir_job_waiter *joiners;
	bool cancelled;

	job_hist_add(&worker->hists[WEIR_JOB_HIST_RAN], job->ran);
	job_hist_add(&worker->hists[WEIR_JOB_HIST_LIFE], now - job->begun);
	JOB_STALL("over");
	if (unlikely(job->deadline != 0))
		job_deadline_end(worker, job, now);
	job_waiters_lock(&job->joiners);
	/* others cancel under the lock, too */
	cancelled = job->cancelled || (job->word & (JOB_STATE | JOB_CANCELLED)) ==
					      ((uint32_t)JOB_RUNNING | JOB_CANCELLED);
	job_put(job->handle, WEIR_JOB_NONE);
	job_put(job->generation, job->generation + 1);
	joiners = job_waiters_take(&job->joiners);
	job_put(job->word, JOB_FREE);
	job_waiters_unlock(&job->joiners);
	if (unlikely(group != NULL))
		job_put(worker->leaving, true);
	job_count(cancelled ? &worker->stats.nb_cancelled : &worker->stats.nb_finished, 1);
	job_slot_put(service, worker, job);
	if (unlikely(group != NULL))
		leave_group(worker, group);
	if (unlikely(joiners != NULL))
		job_waiters_wake(joiners);
}

static void
undeliverable(struct job_worker *worker, struct job *job)
{
	uint64_t nb_untold;

	job_count(&worker->stats.nb_undeliverable, 1);
	if (job_may_tell(&job->service->undeliverable, weir_base_cycles(), &nb_untold))
		JOB_LOG(WARNING,
			"%s: job '%s' has ended, but the queue that was to be told is not there; "
			"%" PRIu64 " more since this was told last",
			job->service->name, job->name, nb_untold);
	if (job->buffer != NULL)
		weir_em_free(job->service->em, worker->core, job->buffer);
}

bool
job_deliver(struct job_worker *worker, struct job *job, struct rte_event *event)
{
	struct rte_event done = job->buffer != NULL ? weir_em_event_buffer(job->buffer)
						    : weir_em_event_u64((uintptr_t)job->done_arg);
	int rc = 0;

	if (event != NULL) {
		/* by its own, which has a credit */
		event->event_type = done.event_type;
		event->u64 = done.u64;
		rc = weir_em_forward(worker->core, job->done_queue, event);
	}
	if (event == NULL || rc == -ENOSPC)
		rc = weir_em_send(worker->core, job->done_queue, &done, 1) == 1 ? 0 : -rte_errno;
	if (rc == -ENOSPC)
		return false;
	if (rc != 0)
		undeliverable(worker, job);
	over(worker, job, weir_base_cycles());
	return true;
}

/* From here on it is too late to cancel it. */
static void
tell(struct job *job, uint64_t now)
{
	enum weir_job_end end = WEIR_JOB_FINISHED;

	job_waiters_lock(&job->joiners);
	job->cancelled = (job->word & JOB_CANCELLED) != 0;
	job_put(job->word, JOB_DELIVERING);
	job_waiters_unlock(&job->joiners);
	job_put(job->since, now);
	if (job->cancelled)
		end = WEIR_JOB_CANCELLED;
	if (job->done != NULL)
		job->done(job->done_arg, job->handle, end, job->out);
	if (job->buffer != NULL)
		rte_pktmbuf_mtod(job->buffer, struct weir_job_result *)->end = end;
}

void
job_ended(struct job_worker *worker, struct job *job, struct rte_event *event, uint64_t now)
{
	struct job *next = job->holds_key ? job_key_give(job) : NULL;

	JOB_STALL("ended");
	if (unlikely(job->done != NULL || job->done_queue != WEIR_EM_NONE))
		tell(job, now);
	weir_coro_destroy(job->coro);
	job->coro = NULL;
	if (likely(job->done_queue == WEIR_EM_NONE))
		over(worker, job, now);
	else if (!job_deliver(worker, job, event))
		job_list_ready(job->service, job);
	if (unlikely(next != NULL))
		job_make_ready(worker, next);
}
