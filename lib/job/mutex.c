/* SPDX-License-Identifier: BSD-3-Clause */

/* Mutexes. Who unlocks one makes who waits longest its holder. */

#include "weir_job_sync.h"

#include "sync_private.h"

/* Who locks: a job of a service, or a thread. */
struct who {
	const void *service;
	uint64_t id;
};

struct mutex_waiter {
	struct weir_job_waiter waiter;
	struct who who;
};

/* @return 0; -EPERM: a coroutine that is no job is on no thread for long */
static int
find_self(struct who *who)
{
	/* its address is a number that no other living thread has */
	static __thread char self;
	const struct job *job = job_self();

	if (job != NULL) {
		*who = (struct who){job->service, weir_job_self()};
		return 0;
	}
	*who = (struct who){NULL, (uintptr_t)&self};
	return weir_coro_self() != NULL ? -EPERM : 0;
}

static bool
is_holder(const struct weir_job_mutex *mutex, const struct who *who)
{
	return mutex->holder == who->id && mutex->service == who->service;
}

static void
set_holder(struct weir_job_mutex *mutex, const struct who *who)
{
	mutex->service = who->service;
	mutex->holder = who->id;
}

/* Under the lock. @return 0: it has it now; -EBUSY, -EDEADLK */
static int
try_lock(struct weir_job_mutex *mutex, const struct who *who)
{
	if (mutex->holder != 0)
		return is_holder(mutex, who) ? -EDEADLK : -EBUSY;
	set_holder(mutex, who);
	return 0;
}

int
weir_job_mutex_try(struct weir_job_mutex *mutex)
{
	struct who who;
	int rc;

	if (mutex == NULL)
		return -EINVAL;
	rc = find_self(&who);
	if (rc < 0)
		return rc;
	job_waiters_lock(&mutex->waiters);
	rc = try_lock(mutex, &who);
	job_waiters_unlock(&mutex->waiters);
	return rc;
}

int
weir_job_mutex_lock(struct weir_job_mutex *mutex, const struct weir_job_wait *how)
{
	const struct weir_job_wait as = job_wait_for(how, "mutex", NULL, 0);
	struct mutex_waiter waiter;
	int rc;

	if (mutex == NULL)
		return -EINVAL;
	rc = find_self(&waiter.who);
	if (rc < 0)
		return rc;
	job_waiters_lock(&mutex->waiters);
	rc = try_lock(mutex, &waiter.who);
	if (rc == -EBUSY)
		return job_waiters_wait(&mutex->waiters, &waiter.waiter, &as);
	job_waiters_unlock(&mutex->waiters);
	return rc;
}

int
weir_job_mutex_unlock(struct weir_job_mutex *mutex)
{
	const struct who nobody = {NULL, 0};
	struct mutex_waiter *next;
	struct who who;
	int rc;

	if (mutex == NULL)
		return -EINVAL;
	rc = find_self(&who);
	if (rc < 0)
		return rc;
	job_waiters_lock(&mutex->waiters);
	if (!is_holder(mutex, &who)) {
		job_waiters_unlock(&mutex->waiters);
		return -EPERM;
	}
	next = (struct mutex_waiter *)job_waiters_pop(&mutex->waiters);
	set_holder(mutex, next != NULL ? &next->who : &nobody);
	job_waiters_unlock(&mutex->waiters);
	JOB_STALL("handed");
	if (next != NULL)
		job_waiter_wake(&next->waiter);
	return 0;
}

bool
weir_job_mutex_is_mine(struct weir_job_mutex *mutex)
{
	struct who who;
	bool mine;

	if (mutex == NULL || find_self(&who) < 0)
		return false;
	job_waiters_lock(&mutex->waiters);
	mine = is_holder(mutex, &who);
	job_waiters_unlock(&mutex->waiters);
	return mine;
}
