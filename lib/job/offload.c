/* SPDX-License-Identifier: BSD-3-Clause */

/* Blocking calls: in helpers, and who waits for them. */

#include <stdlib.h>

#include <rte_common.h>

#include "offload_private.h"

void
offload_leave(struct weir_job_offload_pool *pool)
{
	if (__atomic_sub_fetch(&pool->nb_users, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	free(pool->copies);
	free(pool->calls);
	free(pool->helpers);
	free(pool);
}

/* ---- calls, under the lock ---- */

static void
enqueue(struct weir_job_offload_pool *pool, struct offload_call *call)
{
	call->queued = true;
	call->next = NULL;
	call->prev = pool->last;
	if (pool->last != NULL)
		pool->last->next = call;
	else
		pool->first = call;
	pool->last = call;
	pool->stats.nb_queued++;
}

void
offload_dequeue(struct weir_job_offload_pool *pool, struct offload_call *call)
{
	if (call->prev != NULL)
		call->prev->next = call->next;
	else
		pool->first = call->next;
	if (call->next != NULL)
		call->next->prev = call->prev;
	else
		pool->last = call->prev;
	call->queued = false;
	pool->stats.nb_queued--;
}

void
offload_put_back(struct weir_job_offload_pool *pool, struct offload_call *call)
{
	call->next = pool->free;
	pool->free = call;
}

struct offload_waiting *
offload_part(struct offload_call *call, int result)
{
	struct offload_waiting *waiting = call->waiting;

	call->waiting = NULL;
	if (waiting == NULL)
		return NULL;
	waiting->call = NULL;
	waiting->result = result;
	waiting->next = NULL;
	return waiting;
}

bool
offload_abandon(struct weir_job_offload_pool *pool)
{
	uint64_t now = weir_base_cycles();

	pool->stats.nb_running--;
	pool->stats.nb_hanging++;
	pool->stats.nb_abandoned++;
	if (pool->told != 0 && now - pool->told < weir_base_cycles_hz())
		return false;
	pool->told = now;
	return true;
}

static void
tell_abandoned(const struct weir_job_offload_pool *pool, weir_job_offload_fn_t fn, uint64_t took,
	unsigned int nb_hanging)
{
	JOB_LOG(WARNING,
		"offload %s: the call of %p is abandoned after %.1f ms; %u hang of %u threads",
		pool->name, *(void **)&fn, (double)weir_base_cycles_to_ns(took) / 1e6, nb_hanging,
		pool->nb_helpers);
}

/* ---- helpers ---- */

/* Under the lock. */
static void
give(struct offload_helper *helper, struct offload_call *call)
{
	helper->call = call;
	helper->pool->stats.nb_running++;
}

/* @return false: nothing will come any more */
static bool
take_call(struct offload_helper *helper)
{
	static const struct weir_job_wait forever = {.what = "calls"};
	struct weir_job_offload_pool *pool = helper->pool;
	struct offload_call *call;

	offload_lock(pool);
	call = pool->first;
	if (call != NULL) {
		offload_dequeue(pool, call);
		give(helper, call);
	} else if (!pool->stopped) {
		/* who has a call for it takes it out of the list, and gives it to it */
		job_waiters_wait(&pool->idle, &helper->waiter, &forever);
		return helper->call != NULL;
	}
	offload_unlock(pool);
	return call != NULL;
}

static void
begin(struct weir_job_offload_pool *pool, struct offload_call *call)
{
	uint64_t now = weir_base_cycles();

	offload_lock(pool);
	pool->longest_queued = RTE_MAX(pool->longest_queued, now - call->since);
	call->since = now;
	offload_unlock(pool);
	JOB_STALL("calling");
}

/* It has returned. */
static void
end_call(struct weir_job_offload_pool *pool, struct offload_helper *helper)
{
	struct offload_call *call = helper->call;
	struct offload_waiting *waiting;
	uint64_t took = weir_base_cycles() - call->since;

	JOB_STALL("returned");
	offload_lock(pool);
	helper->call = NULL;
	pool->longest = RTE_MAX(pool->longest, took);
	waiting = offload_part(call, 0);
	if (waiting != NULL) {
		pool->stats.nb_running--;
		pool->stats.nb_done++;
	} else {
		pool->stats.nb_hanging--;
		pool->stats.nb_ended++;
	}
	offload_unlock(pool);
	JOB_STALL("parted");
	if (waiting == NULL && call->abandoned != NULL)
		call->abandoned(call->arg);
	if (waiting != NULL && call->size > 0)
		memcpy(waiting->arg, call->arg, call->size);
	offload_lock(pool);
	offload_put_back(pool, call);
	offload_unlock(pool);
	if (waiting != NULL)
		weir_job_complete(&waiting->done);
}

static __thread const struct weir_job_offload_pool *own_pool; /* of a helper */

bool
offload_is_helper(const struct weir_job_offload_pool *pool)
{
	return own_pool == pool;
}

void *
offload_help(void *arg)
{
	struct offload_helper *helper = arg;
	struct weir_job_offload_pool *pool = helper->pool;

	own_pool = pool;
	while (take_call(helper)) {
		struct offload_call *call = helper->call;

		begin(pool, call);
		call->fn(call->arg);
		end_call(pool, helper);
	}
	job_group_leave(&pool->threads);
	offload_leave(pool);
	return NULL;
}

/* ---- callers ---- */

/* Under the lock. @return 0; why it is refused */
static int
may_accept(struct weir_job_offload_pool *pool)
{
	if (pool->stopped)
		return -ESHUTDOWN;
	if (pool->idle.first == NULL && pool->stats.nb_queued >= pool->nb_queued_max)
		return -EAGAIN;
	return 0;
}

/* Room for a call; its argument is copied without the lock. */
static struct offload_call *
get_call(struct weir_job_offload_pool *pool, int *rc)
{
	struct offload_call *call = NULL;

	offload_lock(pool);
	*rc = may_accept(pool);
	if (*rc == 0) {
		call = pool->free;
		*rc = call != NULL ? 0 : -EAGAIN;
	}
	if (call != NULL)
		pool->free = call->next;
	else
		pool->stats.nb_refused++;
	offload_unlock(pool);
	return call;
}

/* Under the lock. @return a helper to be woken, or NULL */
static struct offload_helper *
hand_over(struct weir_job_offload_pool *pool, struct offload_call *call)
{
	struct offload_helper *idle = (struct offload_helper *)job_waiters_pop(&pool->idle);

	pool->stats.nb_accepted++;
	call->since = weir_base_cycles();
	if (idle != NULL)
		give(idle, call);
	else
		enqueue(pool, call);
	return idle;
}

/* @return 0; why it is refused */
static int
begin_call(struct weir_job_offload_pool *pool, const struct offload_call *what,
	struct offload_waiting *waiting)
{
	struct offload_helper *idle = NULL;
	struct offload_call *call;
	int rc;

	call = get_call(pool, &rc);
	if (call == NULL)
		return rc;
	*call = *what;
	if (call->size > 0)
		call->arg = memcpy(pool->copies + (size_t)(call - pool->calls) * pool->size_max,
			what->arg, call->size);
	call->waiting = waiting;
	waiting->call = call;
	JOB_STALL("copied");
	offload_lock(pool);
	rc = may_accept(pool); /* others were at it meanwhile */
	if (rc == 0) {
		idle = hand_over(pool, call);
	} else {
		offload_put_back(pool, call);
		pool->stats.nb_refused++;
	}
	offload_unlock(pool);
	JOB_STALL("handed");
	if (idle != NULL)
		job_waiter_wake(&idle->waiter);
	return rc;
}

/* It is not waited for any longer. @return false: it is over */
static bool
give_up(struct weir_job_offload_pool *pool, struct offload_waiting *waiting)
{
	weir_job_offload_fn_t abandoned = NULL, fn;
	unsigned int nb_hanging;
	bool told = false;
	struct offload_call *call;
	uint64_t took;

	JOB_STALL("giving up");
	offload_lock(pool);
	call = waiting->call;
	if (call == NULL) {
		offload_unlock(pool);
		return false;
	}
	offload_part(call, 0);
	fn = call->fn;
	took = weir_base_cycles() - call->since;
	if (call->queued) {
		offload_dequeue(pool, call);
		pool->stats.nb_withdrawn++;
		abandoned = call->abandoned;
		offload_put_back(pool, call);
	} else {
		told = offload_abandon(pool);
	}
	nb_hanging = pool->stats.nb_hanging;
	offload_unlock(pool);
	if (told)
		tell_abandoned(pool, fn, took, nb_hanging);
	if (abandoned != NULL)
		abandoned(waiting->arg);
	return true;
}

static bool
is_cancelled(const struct weir_job_wait *how)
{
	return (how->flags & WEIR_JOB_UNCANCELLABLE) == 0 && weir_job_self_cancelled();
}

int
weir_job_offload(struct weir_job_offload_pool *pool, weir_job_offload_fn_t fn, void *arg,
	size_t size, const struct weir_job_offload_options *options)
{
	const struct weir_job_offload_options none = {.abandoned = NULL};
	const struct weir_job_wait soon = {
		.flags = WEIR_JOB_UNCANCELLABLE, .what = "call that has ended"};
	struct offload_call call = {.fn = fn, .arg = arg, .size = size};
	struct offload_waiting waiting = {.arg = arg};
	struct weir_job_wait as;
	int rc;

	if (pool == NULL || fn == NULL || size > pool->size_max || (size > 0 && arg == NULL))
		return -EINVAL;
	options = options != NULL ? options : &none;
	call.abandoned = options->abandoned;
	as = job_wait_for(&options->wait, "offload", pool->name, (uintptr_t)pool);
	rc = job_wait_check(&as);
	if (rc < 0)
		return rc;
	if (is_cancelled(&as)) {
		if (call.abandoned != NULL)
			call.abandoned(arg);
		return -ECANCELED;
	}
	rc = begin_call(pool, &call, &waiting);
	if (rc < 0)
		return rc;
	rc = weir_job_completion_wait(&waiting.done, &as);
	if (rc == 0)
		return waiting.result;
	if (give_up(pool, &waiting))
		return rc;
	while (weir_job_completion_wait(&waiting.done, &soon) < 0)
		rte_pause();
	return waiting.result;
}
