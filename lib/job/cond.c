/* SPDX-License-Identifier: BSD-3-Clause */

/* Conditions. Who waits is in the list before it unlocks the mutex: who changes something under that finds it there. */

#include "weir_job_sync.h"

#include "sync_private.h"

int
weir_job_cond_wait(
	struct weir_job_cond *cond, struct weir_job_mutex *mutex, const struct weir_job_wait *how)
{
	const struct weir_job_wait as = job_wait_for(how, "condition", NULL, 0);
	const struct weir_job_wait again = {
		.flags = WEIR_JOB_UNCANCELLABLE, .what = "mutex of a condition"};
	struct weir_job_waiter waiter;
	int rc;

	if (cond == NULL || mutex == NULL)
		return -EINVAL;
	if (!weir_job_mutex_is_mine(mutex))
		return -EPERM;
	/* Who may not wait could not lock it again, either. */
	rc = job_wait_check(&as);
	if (rc < 0)
		return rc;
	job_waiters_lock(&cond->waiters);
	JOB_STALL("listing");
	weir_job_mutex_unlock(mutex);
	rc = job_waiters_wait(&cond->waiters, &waiter, &as);
	JOB_STALL("relock");
	while (weir_job_mutex_lock(mutex, &again) < 0)
		rte_pause(); /* cannot be */
	return rc;
}

bool
weir_job_cond_signal(struct weir_job_cond *cond)
{
	struct weir_job_waiter *waiter;

	if (cond == NULL)
		return false;
	job_waiters_lock(&cond->waiters);
	waiter = job_waiters_pop(&cond->waiters);
	job_waiters_unlock(&cond->waiters);
	JOB_STALL("handed");
	if (waiter != NULL)
		job_waiter_wake(waiter);
	return waiter != NULL;
}

unsigned int
weir_job_cond_broadcast(struct weir_job_cond *cond)
{
	struct weir_job_waiter *all;
	unsigned int nb;

	if (cond == NULL)
		return 0;
	job_waiters_lock(&cond->waiters);
	nb = cond->waiters.nb;
	all = job_waiters_take(&cond->waiters);
	job_waiters_unlock(&cond->waiters);
	JOB_STALL("handed");
	job_waiters_wake(all);
	return nb;
}
