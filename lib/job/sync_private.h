/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JOB_SYNC_PRIVATE_H
#define JOB_SYNC_PRIVATE_H

/*
 * What those who wait in lists share. sem.c, mutex.c, cond.c, channel.c, offload.c
 *
 * Each object is a list (waiters.c) and what is under its lock. What becomes free is handed over under the lock: who is first in the list is
 * taken out, told in its entry what it has, and woken when the lock is given back. It is in the list, or it has it; who gives up takes
 * itself out under the same lock, or finds that it has it. There is no third way, so nothing is lost and nothing is handed to somebody who
 * is gone. And nothing is there to be taken while somebody waits, so nobody gets in between.
 *
 * After the lock was given back, who was handed something may free the object: only entries are touched from then on.
 */

#include "weir_em_timer.h"

#include "job_private.h"

/* How to wait, told as what it is, and which, where the caller did not say. */
static inline struct weir_job_wait
job_wait_for(const struct weir_job_wait *how, const char *what, const char *which, uint64_t id)
{
	struct weir_job_wait as = {.flags = 0};

	if (how != NULL)
		as = *how;
	if (as.what == NULL)
		as.what = what;
	if (as.which == NULL)
		as.which = which;
	if (as.id == 0)
		as.id = id;
	return as;
}

/* May the caller wait at all? For what must not be begun otherwise. @return 0; -EDEADLK, -EPERM, -EINVAL */
static inline int
job_wait_check(const struct weir_job_wait *how)
{
	if ((how->flags & WEIR_JOB_TIMEOUT) != 0 && how->timeout_ns != WEIR_JOB_FOREVER &&
		how->timeout_ns > WEIR_EM_TIMEOUT_NS_MAX)
		return -EINVAL;
	if (job_self() != NULL)
		return job_may_wait();
	if (weir_coro_self() != NULL)
		return -EPERM;
	return job_thread()->workers != NULL ? -EDEADLK : 0;
}

#endif
