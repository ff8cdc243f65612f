/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_JOB_OFFLOAD_H
#define WEIR_JOB_OFFLOAD_H

/**
 * @file
 * Blocking calls: file I/O, name look-ups, clients of databases. A job hands one to a pool of helper threads, and waits without its core.
 *
 *     job    offload ---- waits ------------------------> goes on with what the call left
 *     helper            '--> fn(argument) ... blocks ... -'
 *
 * A call that hangs keeps its helper, nothing else: the job's timeout and cancellation work all the same. The call is abandoned then: the pool
 * keeps its argument until it returns, whenever that may be.
 *
 * Whose the argument is. With a size, the call works on a copy in the pool, which is copied back when it has returned in time: the
 * caller's stays the caller's throughout, on its stack as a rule. Without a size, the call gets the caller's pointer: what it
 * points to is the call's from the moment it is accepted. After 0, and after any error but -ETIMEDOUT and -ECANCELED, it is the caller's
 * again. After these two weir_job_offload_options::abandoned is called with it (or with the copy), once, when nobody uses it any more: that frees it, or
 * what the copy refers to. It is called even if the call had not begun.
 *
 * Threads: any, at any time, between weir_job_offload_create() and weir_job_offload_destroy(). A core must not call weir_job_offload() but in a job:
 * -EDEADLK.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir_job_wait.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A pool of helper threads. */
struct weir_job_offload_pool;

/** Most helper threads of a pool. */
#define WEIR_JOB_OFFLOAD_THREADS_MAX 1024

/** What a pool is to be. Numbers that are 0 have the default. */
struct weir_job_offload_config {
	const char *
		name; /**< for logs and threads, of which the first 11 characters are seen; copied; NULL: "offload" */
	unsigned int nb_threads; /**< 4 */
	unsigned int nb_queued;  /**< calls that wait for a helper, at most: 64 */
	size_t max_size;         /**< bytes of an argument that is copied, at most: 256 */
	/**
	 * CPUs that helpers may run on, by number; NULL: all that the kernel allows but those of EAL's lcores; if there are no others, these, too.
	 */
	const unsigned int *cpus;
	unsigned int nb_cpus; /**< how many these are */
};

/** A call: runs in a helper thread, and may block. No coroutine: it must not wait as jobs do. */
typedef void (*weir_job_offload_fn_t)(void *arg);

/** What is special about a call. All zero, or NULL for a pointer to it: nothing. */
struct weir_job_offload_options {
	struct weir_job_wait wait; /**< how its end is waited for */
	/**
	 * Called, once, with the argument of a call that was not waited for to the end: in the helper thread when it has returned, or in
	 * weir_job_offload() if it had not begun.
	 */
	weir_job_offload_fn_t abandoned;
};

/** Counters of a pool. accepted = done + abandoned + withdrawn + returned + nb_queued + nb_running, whenever they are read. */
struct weir_job_offload_stats {
	uint64_t nb_accepted;    /**< calls taken */
	uint64_t nb_refused;     /**< calls not taken: too many queued; stopped */
	uint64_t nb_done;        /**< have returned in time */
	uint64_t nb_abandoned;   /**< not waited for any longer while they ran */
	uint64_t nb_ended;       /**< of these, have returned since */
	uint64_t nb_withdrawn;   /**< not waited for any longer before they had begun: never run */
	uint64_t nb_returned;    /**< not begun when the pool was stopped: never run */
	unsigned int nb_queued;  /**< wait for a helper */
	unsigned int nb_running; /**< run, and are waited for */
	unsigned int nb_hanging; /**< run, and are abandoned */
	unsigned int nb_threads; /**< helpers that live */
	uint64_t longest_ns;     /**< that a call took, or has taken so far */
	uint64_t longest_queued_ns; /**< that a call waited for a helper */
};

/**
 * Make a pool, whose threads run when this returns. Signals are blocked in them.
 *
 * @return NULL with rte_errno: EINVAL, ENOMEM, EAGAIN (threads)
 */
struct weir_job_offload_pool *weir_job_offload_create(const struct weir_job_offload_config *config);

/**
 * Have a helper thread call @p fn, and wait until it has returned.
 *
 * @param arg      see above whose it is
 * @param size     bytes of it to be copied, to and fro, up to weir_job_offload_config::max_size; 0: it is given as it is
 * @param options  NULL: wait as long as it takes, or until cancelled
 * @return 0: it has returned; not accepted: -EAGAIN: too many calls are queued; -ESHUTDOWN: the pool was stopped (or before a helper began with it);
 *   -EINVAL, -EDEADLK, -EPERM as weir_job_completion_wait(); given up: -ETIMEDOUT (also: the pool was stopped, and it hung); -ECANCELED
 */
int weir_job_offload(struct weir_job_offload_pool *pool, weir_job_offload_fn_t fn, void *arg,
	size_t size, const struct weir_job_offload_options *options);

/**
 * No more calls: those that have not begun are given back, those that run are waited for until the deadline, and then abandoned: who waits for
 * them goes on. Blocks, so not for a core nor a job, nor for a call of the pool's, which would wait for itself. It can be called again.
 *
 * @param timeout_ns  how long to wait for calls that run; WEIR_JOB_FOREVER
 * @return 0: all helper threads have ended; -ETIMEDOUT: the log says how many calls hang; -EDEADLK: a core, a job, or a call of the pool's; -EINVAL
 */
int weir_job_offload_stop(struct weir_job_offload_pool *pool, uint64_t timeout_ns);

/**
 * Give everything back; when calls hang, what these use, once the last of them has returned. Nobody may be in weir_job_offload() any more.
 *
 * @return 0; -EBUSY: it was not stopped, or somebody still waits; NULL is allowed
 */
int weir_job_offload_destroy(struct weir_job_offload_pool *pool);

/** Counters. NULL of either is allowed: nothing is done. */
void weir_job_offload_stats(
	struct weir_job_offload_pool *pool, struct weir_job_offload_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
