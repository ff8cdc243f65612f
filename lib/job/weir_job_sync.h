/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_JOB_SYNC_H
#define WEIR_JOB_SYNC_H

/**
 * @file
 * Semaphore, mutex, condition: for jobs, and between jobs and plain threads. A job that waits leaves its core to others, a plain
 * thread that waits is blocked.
 *
 * First come, first served: what becomes free is handed to who has waited longest, nobody gets in between. So a wait that timed out or
 * was cancelled has not got it, and one that returned 0 has: who is handed something at the moment in which it gives up has it, and
 * returns 0. Nothing is handed to who has given up.
 *
 * They are the caller's memory; all zero is as initialised. Once nobody waits, or is about to, they may be gone: who was handed
 * something may end the life of what it waited for.
 *
 * Threads: any, at any time. Functions that do not wait (..._try(), ..._post(), ..._unlock(), ..._signal(), ..._broadcast()) are for
 * receive functions, too, and never block; those that wait return -EDEADLK on a core outside of a job if they had to wait.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "weir_job_wait.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A semaphore. All of it is the library's. */
struct weir_job_sem {
	struct weir_job_waiters waiters; /**< who waits; the lock is that of all here */
	uint64_t count;                  /**< units that nobody waits for */
};

/** So many units. */
static inline void
weir_job_sem_init(struct weir_job_sem *sem, uint64_t count)
{
	memset(sem, 0, sizeof(*sem));
	sem->count = count;
}

/**
 * Take a unit.
 *
 * @param how  NULL: as long as it takes, or until cancelled
 * @return 0; errors as weir_job_completion_wait(): none was taken
 */
int weir_job_sem_wait(struct weir_job_sem *sem, const struct weir_job_wait *how);

/** Take a unit if there is one. @return 0; -EAGAIN */
int weir_job_sem_try(struct weir_job_sem *sem);

/** Give @p nb units: to those who wait, in their order; what is left, to who comes. @return 0; -EOVERFLOW: nothing was given */
int weir_job_sem_post(struct weir_job_sem *sem, uint64_t nb);

/** Units that are there now. */
uint64_t weir_job_sem_count(struct weir_job_sem *sem);

/**
 * A mutex: may be held over waits and yields, and on whichever cores its job runs. It belongs to the job, or plain thread, that locked it. All of
 * it is the library's.
 *
 * Who holds it does not run faster for those who wait: keep jobs of very different priorities apart. A job that ends without unlocking it
 * has locked it for ever; where that may be, as weir_coro_exit() is called by others, unlock it in a clean-up (weir_coro_cleanup_push()).
 */
struct weir_job_mutex {
	struct weir_job_waiters waiters; /**< who waits; the lock is that of all here */
	const void *service;             /**< of the job that holds it; NULL: a thread does */
	uint64_t holder;                 /**< job or thread; 0: nobody */
};

/** Unlocked. */
static inline void
weir_job_mutex_init(struct weir_job_mutex *mutex)
{
	memset(mutex, 0, sizeof(*mutex));
}

/**
 * Lock.
 *
 * @param how  NULL: as long as it takes, or until cancelled
 * @return 0; -EDEADLK, also: the caller has it; errors as weir_job_completion_wait(): it has not
 */
int weir_job_mutex_lock(struct weir_job_mutex *mutex, const struct weir_job_wait *how);

/** Lock if nobody has. @return 0; -EBUSY; -EDEADLK: the caller has; -EPERM: on a coroutine that is no job */
int weir_job_mutex_try(struct weir_job_mutex *mutex);

/** Unlock: who waits longest has it then. @return 0; -EPERM: the caller has it not */
int weir_job_mutex_unlock(struct weir_job_mutex *mutex);

/** Does the calling job or thread have it? */
bool weir_job_mutex_is_mine(struct weir_job_mutex *mutex);

/** A condition: that something under a mutex has changed. All of it is the library's. */
struct weir_job_cond {
	struct weir_job_waiters waiters; /**< who waits */
};

/** Nobody waits. */
static inline void
weir_job_cond_init(struct weir_job_cond *cond)
{
	memset(cond, 0, sizeof(*cond));
}

/**
 * Unlock @p mutex, wait to be woken, and lock it again. Who changes something under the mutex and wakes then is not missed. There are no
 * wake-ups for nothing; but others may have had the mutex in between, so look at what was waited for again.
 *
 * The mutex is locked again whatever is returned, but for -EPERM; that is waited for as long as it takes, by a job that was cancelled, too.
 *
 * @param how  NULL: as long as it takes, or until cancelled
 * @return 0: woken by weir_job_cond_signal() or ..._broadcast(); -EPERM: the caller has not locked @p mutex; errors as
 *   weir_job_completion_wait(): not woken
 */
int weir_job_cond_wait(
	struct weir_job_cond *cond, struct weir_job_mutex *mutex, const struct weir_job_wait *how);

/** Wake who waits longest. With the mutex or without it. @return whether there was one */
bool weir_job_cond_signal(struct weir_job_cond *cond);

/** Wake all who wait. @return how many they were */
unsigned int weir_job_cond_broadcast(struct weir_job_cond *cond);

#ifdef __cplusplus
}
#endif

#endif
