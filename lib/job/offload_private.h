/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JOB_OFFLOAD_PRIVATE_H
#define JOB_OFFLOAD_PRIVATE_H

/*
 * Blocking calls in helper threads. offload.c: calls, those who help, those who wait; offload_pool.c: pools
 *
 *                  accepted                      fn has returned
 *     caller ----> queued --- a helper takes it --> running -----------------> done: copied back, the caller woken
 *                    |                                |
 *                    | given up: withdrawn            | given up: abandoned
 *                    v                                v
 *               never run                          hanging ---- fn has returned ---> ended
 *
 * A call and who waits for it know each other by two pointers under the pool's lock. Who gives up first cuts them, or finds that
 * the helper has: then the call is over, and the caller waits for the moment that copying back takes. So the helper writes to the caller's
 * memory only while that one stays, and a call that was given up touches nothing but what the pool keeps.
 */

#include "weir_job_offload.h"

#include "listed.h"
#include "sync_private.h"

#define OFFLOAD_NAME_SIZE 12 /* "-999" is behind it, of the kernel's 16 */

struct offload_call {
	struct offload_call *next, *prev; /* queued; next also of free ones */
	struct offload_waiting *waiting;  /* NULL: given up */
	weir_job_offload_fn_t fn, abandoned;
	void *arg; /* what fn gets */
	size_t size;
	uint64_t since; /* cycles: when it was queued, when it began */
	bool queued;
};

/* On the stack of who waits. */
struct offload_waiting {
	struct weir_job_completion done;
	struct offload_call *call; /* NULL: it is over */
	void *arg;
	int result;
	struct offload_waiting *next; /* of those who are told at once */
};

struct offload_helper {
	struct weir_job_waiter waiter; /* it is idle */
	struct weir_job_offload_pool *pool;
	struct offload_call *call; /* that runs, or is about to */
};

struct weir_job_offload_pool {
	struct weir_job_waiters idle;      /* helpers; its lock is that of all here */
	struct offload_call *first, *last; /* queued */
	struct offload_call *free;
	bool stopped;
	unsigned int nb_queued_max;
	size_t size_max;
	struct weir_job_offload_stats stats;
	uint64_t longest, longest_queued; /* cycles */
	uint64_t told; /* cycles: when the log was told of one that was abandoned */

	struct weir_job_group threads;
	uint32_t nb_users; /* helpers, and who made it: the last one frees it */
	unsigned int nb_helpers;
	struct offload_helper *helpers;
	struct offload_call *calls;
	uint8_t *copies;
	struct job_listed listed;
	char name[OFFLOAD_NAME_SIZE];
};

static inline void
offload_lock(struct weir_job_offload_pool *pool)
{
	job_waiters_lock(&pool->idle);
}

static inline void
offload_unlock(struct weir_job_offload_pool *pool)
{
	job_waiters_unlock(&pool->idle);
}

/* A helper thread. */
void *offload_help(void *helper);
/* Is the calling thread one of the pool's? */
bool offload_is_helper(const struct weir_job_offload_pool *pool);
/* One user less. */
void offload_leave(struct weir_job_offload_pool *pool);

/* Under the lock. */
void offload_dequeue(struct weir_job_offload_pool *pool, struct offload_call *call);
void offload_put_back(struct weir_job_offload_pool *pool, struct offload_call *call);
/* Call and caller do not know each other any more. @return the caller, to be told its result; NULL: it has given up before */
struct offload_waiting *offload_part(struct offload_call *call, int result);
/* It runs, and is not waited for any more. @return is the log to be told? Once a second */
bool offload_abandon(struct weir_job_offload_pool *pool);

#endif
