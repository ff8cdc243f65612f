/* SPDX-License-Identifier: BSD-3-Clause */

/* Timeouts: created, armed, cancelled. */

#include "timer_private.h"

/* What who has an old handle, or looks, may read meanwhile. */
static void
set(uint64_t *member, uint64_t value)
{
	__atomic_store_n(member, value, __ATOMIC_RELAXED);
}

weir_em_timeout
weir_em_timeout_create(struct weir_em *em, weir_em_timer timer, weir_em_queue queue)
{
	struct timers *timers = timers_of(em);
	struct weir_em_queue_info info;
	struct timeout *timeout;
	uint64_t handle = 0;
	int rc;

	if (timers == NULL)
		return em_fail(EINVAL);
	rc = weir_em_queue_info(em, queue, &info);
	if (rc < 0)
		return em_fail(-rc);
	if (info.type > WEIR_EM_QUEUE_ORDERED)
		return em_fail(ENOTSUP);
	em_lock(em);
	rc = em_handle_errno(timer, EM_KIND_TIMER, timers->nb);
	if (rc == -ESTALE && timers->timers[em_handle_number(timer)].handle == timer) {
		rc = -ENOSPC;
		handle = em_numbers_get(&timers->timeout_numbers);
	}
	if (handle != 0) {
		timers->timers[em_handle_number(timer)].nb_timeouts++;
		timeout = &timers->timeouts[em_handle_number(handle)];
		timeout->handle = handle;
		set(&timeout->queue, queue);
		set(&timeout->timer, em_handle_number(timer));
		set(&timeout->due_ns, 0);
		set(&timeout->period_ns, 0);
		timeout_store(timeout, timeout_generation(handle), TIMEOUT_IDLE);
	}
	em_unlock(em);
	return handle != 0 ? handle : em_fail(-rc);
}

int
weir_em_timeout_delete(struct weir_em *em, weir_em_timeout handle)
{
	struct timers *timers = timers_of(em);
	struct timeout *timeout;
	enum timeout_state had;
	int rc;

	timeout = timeout_of(timers, handle, &rc);
	if (timeout == NULL)
		return rc;
	rc = timeout_claim(timeout, timeout_generation(handle), TIMEOUT_BITS_AT_REST, &had);
	if (rc < 0)
		return rc;
	em_lock(em);
	timeout_store(timeout, timeout_generation(handle), TIMEOUT_FREE);
	timers->timers[timeout->timer].nb_timeouts--;
	em_numbers_put(&timers->timeout_numbers, em_handle_number(handle));
	em_unlock(em);
	return 0;
}

/* Cycles at which it is @ns or later, for the first time. */
static uint64_t
cycles_at(uint64_t ns)
{
	uint64_t cycles = weir_base_ns_to_cycles(ns);

	while (weir_base_cycles_to_ns(cycles) < ns)
		cycles++;
	return cycles;
}

/* Where the timeouts of the caller go: its own lane, or that of one of the cores that are there. */
static struct timer_lane *
lane_for(const struct weir_em *em, const struct weir_em_core *core, struct timers *timers,
	const struct timer *timer)
{
	uint64_t cores = weir_em_core_mask(em);
	unsigned int nb = (unsigned int)__builtin_popcountll(cores), skip;

	if (core != NULL && core->id < timers->nb_lanes)
		return &timer->lanes[core->id];
	if (nb == 0)
		return &timer->lanes[0];
	skip = __atomic_fetch_add(&timers->next_lane, 1, __ATOMIC_RELAXED) % nb;
	while (skip-- > 0)
		cores &= cores - 1;
	return &timer->lanes[__builtin_ctzll(cores)];
}

/* It has been claimed, and there is a credit for it. */
static void
launch(struct weir_em *em, struct weir_em_core *core, struct timeout *timeout, uint64_t due_ns,
	const struct rte_event *event, uint64_t overruns)
{
	struct timers *timers = timers_of(em);
	const struct timer *timer = &timers->timers[timeout->timer];
	uint64_t tick_mask = (UINT64_C(1) << timer->shift) - 1;

	set(&timeout->due_ns, due_ns);
	timeout->due_cycles = cycles_at(due_ns);
	timeout->event = *event;
	timeout_launch(timeout, timeout_generation(timeout->handle),
		lane_for(em, core, timers, timer),
		(timeout->due_cycles + tick_mask) >> timer->shift,
		weir_base_cycles() >> timer->shift, overruns);
}

/*
 * It is the caller's to launch, if it is in @state: with a credit, and with the event. What may fail and ask error handlers is done before,
 * as others wait for who has it.
 */
static int
claim_with_event(struct weir_em *em, struct weir_em_core *core, struct timeout *timeout,
	weir_em_timeout handle, enum timeout_state state, enum timeout_state *had,
	const struct rte_event *event, const char *where)
{
	uint64_t generation = timeout_generation(handle), word = timeout_load(timeout);
	int rc;

	*had = timeout_state(word);
	if (timeout_is_stale(word, generation))
		return -ESTALE;
	if (*had != state)
		return -EBUSY;
	if (weir_sched_reserve(em->sched, 1) == 0)
		return -ENOSPC;
	rc = em_keep(em, core, em_read(&timeout->queue), event, where);
	if (rc == 0) {
		rc = timeout_claim(timeout, generation, 1u << state, had);
		if (rc < 0)
			em_check_own_events(em, event, 1);
	}
	if (rc < 0)
		weir_sched_unreserve(em->sched, 1);
	return rc;
}

static int
arm(struct weir_em *em, struct weir_em_core *core, weir_em_timeout handle, uint64_t due_ns,
	uint64_t period_ns, const struct rte_event *event)
{
	struct timeout *timeout;
	enum timeout_state had;
	uint64_t now = weir_em_timer_now_ns();
	int rc;

	timeout = timeout_of(timers_of(em), handle, &rc);
	if (timeout == NULL)
		return rc;
	if (event == NULL || (core != NULL && core->em != em) ||
		(due_ns > now && due_ns - now > WEIR_EM_TIMEOUT_NS_MAX))
		return -EINVAL;
	rc = claim_with_event(
		em, core, timeout, handle, TIMEOUT_IDLE, &had, event, "weir_em_timeout_arm");
	if (rc < 0)
		return rc;
	set(&timeout->period_ns, period_ns);
	launch(em, core, timeout, due_ns, event, 0);
	return 0;
}

int
weir_em_timeout_arm_at(struct weir_em *em, struct weir_em_core *core, weir_em_timeout timeout,
	uint64_t when_ns, const struct rte_event *event)
{
	return arm(em, core, timeout, when_ns, 0, event);
}

int
weir_em_timeout_arm_in(struct weir_em *em, struct weir_em_core *core, weir_em_timeout timeout,
	uint64_t delay_ns, const struct rte_event *event)
{
	if (delay_ns > WEIR_EM_TIMEOUT_NS_MAX)
		return -EINVAL;
	return arm(em, core, timeout, weir_em_timer_now_ns() + delay_ns, 0, event);
}

int
weir_em_timeout_arm_periodic(struct weir_em *em, struct weir_em_core *core, weir_em_timeout timeout,
	uint64_t start_ns, uint64_t period_ns, const struct rte_event *event)
{
	if (period_ns == 0 || period_ns > WEIR_EM_TIMEOUT_NS_MAX)
		return -EINVAL;
	if (start_ns == 0)
		start_ns = weir_em_timer_now_ns() + period_ns;
	return arm(em, core, timeout, start_ns, period_ns, event);
}

/* There is nothing to acknowledge. */
static int
not_awaited(struct timeout *timeout, weir_em_timeout handle, enum timeout_state state)
{
	if (state == TIMEOUT_IDLE)
		return em_read(&timeout->period_ns) > 0 ? -ECANCELED : -EINVAL;
	if (state != TIMEOUT_CANCELLED)
		return -EBUSY;
	timeout_came_back(timeout, timeout_generation(handle));
	return -ECANCELED;
}

int
weir_em_timeout_ack(struct weir_em *em, struct weir_em_core *core, weir_em_timeout handle,
	const struct rte_event *event, uint64_t *overruns)
{
	struct timeout *timeout;
	enum timeout_state had;
	uint64_t now, next, missed = 0;
	int rc;

	timeout = timeout_of(timers_of(em), handle, &rc);
	if (timeout == NULL)
		return rc;
	if (event == NULL || (core != NULL && core->em != em))
		return -EINVAL;
	rc = claim_with_event(
		em, core, timeout, handle, TIMEOUT_ACK, &had, event, "weir_em_timeout_ack");
	if (rc < 0)
		return rc == -EBUSY ? not_awaited(timeout, handle, had) : rc;
	now = weir_em_timer_now_ns();
	next = timeout->due_ns + timeout->period_ns;
	if (next <= now) {
		missed = (now - next) / timeout->period_ns + 1;
		next += missed * timeout->period_ns;
	}
	launch(em, core, timeout, next, event, missed);
	if (overruns != NULL)
		*overruns = missed;
	return 0;
}

int
weir_em_timeout_cancel(struct weir_em *em, weir_em_timeout handle, struct rte_event *event)
{
	struct timeout *timeout;
	struct rte_event taken;
	int rc;

	timeout = timeout_of(timers_of(em), handle, &rc);
	if (timeout == NULL)
		return rc;
	rc = timeout_cancel(timeout, timeout_generation(handle), &taken);
	if (rc < 0)
		return rc;
	weir_sched_unreserve(em->sched, 1);
	em_check_own_events(em, &taken, 1);
	if (event != NULL)
		*event = taken;
	else
		em_event_free(em, NULL, &taken);
	return 0;
}

static enum weir_em_timeout_state
state_for_users(enum timeout_state state)
{
	switch (state) {
	case TIMEOUT_ARMED:
		return WEIR_EM_TIMEOUT_ARMED;
	case TIMEOUT_ACK:
	case TIMEOUT_CANCELLED:
		return WEIR_EM_TIMEOUT_ACK;
	default:
		return WEIR_EM_TIMEOUT_IDLE;
	}
}

/* While it is being armed, this may be of one time and the other. */
int
weir_em_timeout_info(struct weir_em *em, weir_em_timeout handle, struct weir_em_timeout_info *info)
{
	const struct timeout *timeout;
	uint64_t word;
	int rc;

	if (info == NULL)
		return -EINVAL;
	timeout = timeout_of(timers_of(em), handle, &rc);
	if (timeout == NULL)
		return rc;
	*info = (struct weir_em_timeout_info){.queue = em_read(&timeout->queue),
		.due_ns = em_read(&timeout->due_ns),
		.period_ns = em_read(&timeout->period_ns)};
	word = timeout_load(timeout);
	if (timeout_is_stale(word, timeout_generation(handle)))
		return -ESTALE;
	info->state = state_for_users(timeout_state(word));
	return 0;
}
