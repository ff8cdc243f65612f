/* SPDX-License-Identifier: BSD-3-Clause */

/* Semaphores. There are units only while nobody waits. */

#include "weir_job_sync.h"

#include "sync_private.h"

int
weir_job_sem_try(struct weir_job_sem *sem)
{
	bool taken;

	if (sem == NULL)
		return -EINVAL;
	job_waiters_lock(&sem->waiters);
	taken = sem->count > 0;
	sem->count -= taken;
	job_waiters_unlock(&sem->waiters);
	return taken ? 0 : -EAGAIN;
}

int
weir_job_sem_wait(struct weir_job_sem *sem, const struct weir_job_wait *how)
{
	const struct weir_job_wait as = job_wait_for(how, "semaphore", NULL, 0);
	struct weir_job_waiter waiter;

	if (sem == NULL)
		return -EINVAL;
	job_waiters_lock(&sem->waiters);
	if (sem->count == 0)
		return job_waiters_wait(&sem->waiters, &waiter, &as);
	sem->count--;
	job_waiters_unlock(&sem->waiters);
	return 0;
}

int
weir_job_sem_post(struct weir_job_sem *sem, uint64_t nb)
{
	struct weir_job_waiter *first = NULL, **end = &first, *waiter;

	if (sem == NULL)
		return -EINVAL;
	job_waiters_lock(&sem->waiters);
	if (nb > UINT64_MAX - sem->count) {
		job_waiters_unlock(&sem->waiters);
		return -EOVERFLOW;
	}
	for (; nb > 0 && (waiter = job_waiters_pop(&sem->waiters)) != NULL; nb--) {
		waiter->next = NULL;
		*end = waiter;
		end = &waiter->next;
	}
	sem->count += nb;
	job_waiters_unlock(&sem->waiters);
	JOB_STALL("handed");
	job_waiters_wake(first);
	return 0;
}

uint64_t
weir_job_sem_count(struct weir_job_sem *sem)
{
	uint64_t count;

	if (sem == NULL)
		return 0;
	job_waiters_lock(&sem->waiters);
	count = sem->count;
	job_waiters_unlock(&sem->waiters);
	return count;
}
