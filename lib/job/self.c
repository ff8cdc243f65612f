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

bool
weir_job_self_cancelled(void)
{
	const struct job *job = job_self();

	return job != NULL && (job_word(&job->word) & JOB_CANCELLED) != 0;
}
