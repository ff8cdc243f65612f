/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_JOB_WAIT_H
#define WEIR_JOB_WAIT_H

/**
 * @file
 * Waiting: for a completion, and for a group of jobs. A job that waits leaves its core to others; a plain thread that waits is blocked.
 *
 * A completion is something that happens once, and is waited for by one job or thread. All other kinds of waiting are made of it.
 * It is the caller's memory, on the waiter's stack as a rule; who completes it must be let know when it is gone, where the waiter gave up:
 * by a list under a lock, as struct weir_job_waiters has it.
 *
 * Threads: any, unless stated otherwise. A core of an event machine must not wait but in a job: -EDEADLK.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_job_service;

/** As long as it takes. */
#define WEIR_JOB_FOREVER UINT64_MAX

/** Bits of weir_job_wait::flags. */
enum {
	WEIR_JOB_TIMEOUT = 1 << 0,       /**< weir_job_wait::timeout_ns is given */
	WEIR_JOB_UNCANCELLABLE = 1 << 1, /**< the wait goes on although the job was cancelled */
};

/** How to wait. All zero, or NULL for a pointer to it: as long as it takes, or until cancelled. */
struct weir_job_wait {
	unsigned int flags; /**< WEIR_JOB_TIMEOUT ... */
	uint64_t
		timeout_ns; /**< from now; 0: just look; WEIR_JOB_FOREVER; else up to WEIR_EM_TIMEOUT_NS_MAX */
	const char *
		what; /**< told as weir_job_info::waits_for; a string that stays; NULL: "completion" */
	const char *
		which; /**< told as weir_job_info::which; copied, cut where it is too long; NULL: the name of what is waited for, if it has one */
	uint64_t id;   /**< told as weir_job_info::which_id; 0: the address of what is waited for */
};

/** Something that happens once. All zero: it has not yet. */
struct weir_job_completion {
	uint64_t word; /**< the library's */
};

/** It has not happened. Before anybody else knows of it, or when nobody does any more. */
static inline void
weir_job_completion_init(struct weir_job_completion *completion)
{
	completion->word = 0;
}

/**
 * It has happened: who waits for it is woken, who comes later does not wait. Never refused, blocks nobody, takes no credit. What was written before
 * is seen by who waited. When this returns (0), the library does not look at @p completion any more; but who waits may go on, and
 * end its life, before that.
 *
 * @return 0; -EALREADY: it had happened before
 */
int weir_job_complete(struct weir_job_completion *completion);

/** Has it happened? What was written before that is seen, then. */
bool weir_job_completion_is_done(const struct weir_job_completion *completion);

/**
 * Wait until it has happened. Of completion, timeout and cancellation at one moment, completion goes first: after an error it
 * had not happened, but may have by now, and can be waited for anew.
 *
 * @param how  NULL: as long as it takes, or until cancelled
 * @return 0: it has; -ETIMEDOUT; -ECANCELED: the calling job was; -EBUSY: another one waits for it; -EDEADLK: a core outside of a job, or a
 *   job with a lock (weir_coro_hold()); -EPERM: on a coroutine that is no job; -EINVAL: the timeout
 */
int weir_job_completion_wait(
	struct weir_job_completion *completion, const struct weir_job_wait *how);

/** One who waits in a list. All of it is the library's. */
struct weir_job_waiter {
	struct weir_job_completion completion; /**< its turn has come */
	struct weir_job_waiter *next;          /**< behind it */
	struct weir_job_waiter *prev;          /**< before it */
	bool listed;                           /**< it is in the list */
	uint64_t value; /**< of who made the list, to be told by who takes it out */
};

/** A list of those who wait, first come, first served, and its lock. All zero: nobody waits. All of it is the library's. */
struct weir_job_waiters {
	uint32_t lock;                 /**< spinlock, held for some instructions */
	uint32_t nb;                   /**< how many wait */
	struct weir_job_waiter *first; /**< the one that came first */
	struct weir_job_waiter *last;  /**< the one that came last */
	const char *name;              /**< of what they wait for; NULL: none */
};

/**
 * What is waited for has a name from now on, for people: a semaphore, mutex, condition (their waiters), a group's. Before anybody waits.
 *
 * @param name  a string that stays
 */
static inline void
weir_job_waiters_set_name(struct weir_job_waiters *waiters, const char *name)
{
	waiters->name = name;
}

/** Jobs that are waited for together. All zero: none. In the caller's memory, until it is not given to jobs any more and none of them is alive. */
struct weir_job_group {
	struct weir_job_waiters waiters; /**< who waits for them; the lock is that of all here */
	uint64_t nb;                     /**< jobs alive */
};

/** No jobs. */
static inline void
weir_job_group_init(struct weir_job_group *group)
{
	memset(group, 0, sizeof(*group));
}

/** How many of its jobs are alive. */
uint64_t weir_job_group_nb(struct weir_job_group *group);

/**
 * Wait until none of its jobs is alive. Several may wait. Jobs that are spawned meanwhile are waited for, too; once it returns 0, the group
 * may be gone.
 *
 * @return 0; -EDEADLK, also: the calling job is one of them; errors as weir_job_completion_wait()
 */
int weir_job_group_wait(struct weir_job_group *group, const struct weir_job_wait *how);

/** Cancel those of its jobs that are alive, of one service. @return how many it were that had not been cancelled */
unsigned int weir_job_group_cancel(struct weir_job_service *service, struct weir_job_group *group);

#ifdef __cplusplus
}
#endif

#endif
