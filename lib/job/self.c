/* SPDX-License-Identifier: BSD-3-Clause */

/* Of the calling job. */

#include "job_private.h"

static int slot = -1; /* of coroutines' local storage: the job */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
alloc_slot(void)
{
	slot = weir_coro_local_alloc();
}

int
job_self_init(void)
{
	pthread_once(&once, alloc_slot);
	return slot < 0 ? slot : 0;
}

int
job_self_set(struct job *job)
{
	return weir_coro_local_set((unsigned int)slot, job);
}

struct job *
job_self(void)
{
	return slot < 0 ? NULL : weir_coro_local_get((unsigned int)slot);
}

weir_job
weir_job_self(void)
{
	const struct job *job = job_self();

	return job != NULL ? job_handle(job) : WEIR_JOB_NONE;
}

struct weir_job_service *
weir_job_self_service(void)
{
	const struct job *job = job_self();

	return job != NULL ? job->service : NULL;
}

struct weir_em_core *
weir_job_core(void)
{
	const struct job *job = job_self();

	return job != NULL ? job->worker->core : NULL;
}

/* By the job's own event, which has a credit. */
static int
send_in_place(struct job *job, weir_em_queue queue, const struct rte_event *event)
{
	struct rte_event own = *job->event;
	int rc;

	own.event_type = event->event_type;
	own.sub_event_type = event->sub_event_type;
	own.u64 = event->u64;
	rc = weir_em_forward(job->worker->core, queue, &own);
	if (rc == 0)
		job->event = NULL;
	return rc;
}

/* What belongs to a thread is looked at where nothing can have moved to another one since. */
__attribute__((noinline)) int
weir_job_send(weir_em_queue queue, const struct rte_event *event)
{
	struct job *job = job_self();
	struct rte_event copy;
	int rc = 0;

	if (job == NULL)
		return -EPERM;
	copy = *event;
	if (unlikely(weir_em_send(job->worker->core, queue, &copy, 1) != 1))
		rc = -rte_errno;
	if (rc == -ENOSPC && job->event != NULL)
		rc = send_in_place(job, queue, event);
	return rc;
}

bool
weir_job_self_cancelled(void)
{
	const struct job *job = job_self();

	return job != NULL && (job_word(&job->word) & JOB_CANCELLED) != 0;
}
