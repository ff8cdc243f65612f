/* SPDX-License-Identifier: BSD-3-Clause */

/* Timers are made and ended; what they have counted. */

#include <sched.h>
#include <stdlib.h>

#include "timer_private.h"

#define RESOLUTION_NS     1000
#define RESOLUTION_NS_MAX UINT64_C(1000000000)
#define HELP_NS           20000

uint64_t
weir_em_timer_now_ns(void)
{
	return weir_base_cycles_to_ns(weir_base_cycles());
}

static void
timers_free(struct timers *timers)
{
	if (timers == NULL)
		return;
	for (unsigned int i = 0; timers->timers != NULL && i < timers->nb; i++)
		free(timers->timers[i].lanes);
	em_numbers_fini(&timers->timer_numbers);
	em_numbers_fini(&timers->timeout_numbers);
	free(timers->timers);
	free(timers->timeouts);
	free(timers->cores);
	free(timers);
}

/* The instance ends: what has not fired is handed back. */
static void
timers_fini(struct weir_em *em)
{
	struct timers *timers = em->timers;

	for (uint32_t i = 0; i < timers->timeout_numbers.nb; i++) {
		struct timeout *timeout = &timers->timeouts[i];
		struct rte_event event;

		if (timeout->handle == 0 ||
			timeout_cancel(timeout, timeout_generation(timeout->handle), &event) < 0)
			continue;
		em_check_own_events(em, &event, 1);
		if (em->drain != NULL)
			em->drain(em->drain_arg, timeout->queue, &event);
		else
			em_event_free(em, NULL, &event);
	}
	timers_free(timers);
	em->timers = NULL;
}

/* Zeroed, by cache lines. */
static void *
lines(size_t nb, size_t size)
{
	void *memory;

	return posix_memalign(&memory, 64, nb * size) == 0 ? memset(memory, 0, nb * size) : NULL;
}

static struct timers *
timers_make(const struct weir_em *em)
{
	const struct weir_em_config *config = &em->config;
	struct timers *timers = calloc(1, sizeof(*timers));

	if (timers == NULL)
		return NULL;
	timers->nb = config->nb_timers;
	timers->nb_lanes = config->nb_cores;
	timers->help_cycles = weir_base_ns_to_cycles(HELP_NS);
	timers->timers = calloc(timers->nb, sizeof(*timers->timers));
	timers->timeouts = lines(config->nb_timeouts, sizeof(*timers->timeouts));
	timers->cores = lines(em->nb_ports, sizeof(*timers->cores));
	if (em_numbers_init(&timers->timer_numbers, EM_KIND_TIMER, timers->nb, em->instance) == 0 &&
		em_numbers_init(&timers->timeout_numbers, EM_KIND_TIMEOUT, config->nb_timeouts,
			em->instance) == 0 &&
		timers->timers != NULL && timers->timeouts != NULL && timers->cores != NULL)
		return timers;
	timers_free(timers);
	return NULL;
}

/* An instance has no memory for timers before there is one. NULL: no memory. */
static struct timers *
timers_get(struct weir_em *em)
{
	struct timers *timers = timers_of(em);
	void *none = NULL;

	if (timers != NULL)
		return timers;
	timers = timers_make(em);
	if (timers == NULL)
		return NULL;
	if (!__atomic_compare_exchange_n(&em->timers, &none, (void *)timers, false,
		    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		/* another thread was here at the same time */
		timers_free(timers);
		return none;
	}
	em->timers_fini = timers_fini;
	return timers;
}

/* Cores look after timers from now on, if they do not already: there may have been no room for that before. */
static int
timers_begin(struct weir_em *em, struct timers *timers)
{
	int rc = weir_em_poll_add(em, timers_poll, timers);

	if (rc == 0 || rc == -EEXIST)
		return 0;
	EM_LOG(ERROR, "%s: nobody would look after timers", weir_em_name(em));
	return rc;
}

/* As many cycles as fit into the resolution, a power of two. */
static unsigned int
shift_of(uint64_t resolution_ns)
{
	uint64_t cycles = weir_base_ns_to_cycles(resolution_ns);

	return cycles > 1 ? 63u - (unsigned int)__builtin_clzll(cycles) : 0;
}

/* Under the lock. */
static int
timer_make(struct weir_em *em, struct timers *timers, const struct weir_em_timer_config *config,
	weir_em_timer *handle)
{
	struct timer *timer;

	*handle = em_numbers_get(&timers->timer_numbers);
	if (*handle == 0)
		return -ENOSPC;
	timer = &timers->timers[em_handle_number(*handle)];
	if (timer->lanes == NULL) {
		timer->lanes = lines(timers->nb_lanes, sizeof(*timer->lanes));
		if (timer->lanes == NULL) {
			em_numbers_put(&timers->timer_numbers, em_handle_number(*handle));
			return -ENOMEM;
		}
	}
	timer->shift = shift_of(config->resolution_ns > 0 ? config->resolution_ns : RESOLUTION_NS);
	timer->nb_timeouts = 0;
	/* a core that is late may still look into them */
	for (unsigned int i = 0; i < timers->nb_lanes; i++)
		timer_lane_reset(&timer->lanes[i], timer->shift, weir_base_cycles());
	timer->handle = *handle;
	em_copy_name(timer->name, config->name, "timer");
	__atomic_fetch_or(
		&timers->active, UINT64_C(1) << em_handle_number(*handle), __ATOMIC_RELEASE);
	return 0;
}

weir_em_timer
weir_em_timer_create(struct weir_em *em, const struct weir_em_timer_config *config)
{
	char name[WEIR_EM_NAME_SIZE];
	struct timers *timers;
	weir_em_timer handle = 0;
	int rc;

	if (em == NULL || config == NULL || em_copy_name(name, config->name, "timer") < 0)
		return em_fail(EINVAL);
	if (config->resolution_ns > RESOLUTION_NS_MAX) {
		EM_LOG(ERROR, "%s: timer %s: a resolution of %" PRIu64 " ns; up to 1 s is expected",
			weir_em_name(em), name, config->resolution_ns);
		return em_fail(EINVAL);
	}
	timers = timers_get(em);
	rc = timers != NULL ? timers_begin(em, timers) : -ENOMEM;
	if (rc == 0) {
		em_lock(em);
		rc = timer_make(em, timers, config, &handle);
		em_unlock(em);
	}
	return rc == 0 ? handle : em_fail(-rc);
}

/* Under the lock: the timer of a handle; NULL with *error. */
static struct timer *
timer_of(const struct timers *timers, weir_em_timer handle, int *error)
{
	*error = -EINVAL;
	if (timers != NULL)
		*error = em_handle_errno(handle, EM_KIND_TIMER, timers->nb);
	if (*error == -EINVAL || timers->timers[em_handle_number(handle)].handle != handle)
		return NULL;
	*error = 0;
	return &timers->timers[em_handle_number(handle)];
}

/* Whatever others do with it just now: it ends, and its events are given to @back. */
static void
timeout_end(struct weir_em *em, struct timer *timer, struct timeout *timeout,
	void (*back)(void *arg, weir_em_timeout timeout, struct rte_event *event), void *arg)
{
	weir_em_timeout handle = timeout->handle;
	uint64_t generation = timeout_generation(handle);
	struct rte_event event;
	enum timeout_state had;
	int rc;

	do {
		if (timeout_cancel(timeout, generation, &event) == 0) {
			weir_sched_unreserve(em->sched, 1);
			em_check_own_events(em, &event, 1);
			if (back != NULL)
				back(arg, handle, &event);
			else
				em_event_free(em, NULL, &event);
		}
		rc = timeout_claim(timeout, generation, TIMEOUT_BITS_AT_REST, &had);
	} while (rc == -EBUSY && sched_yield() == 0);
	if (rc < 0)
		return;
	em_lock(em);
	timeout_store(timeout, generation, TIMEOUT_FREE);
	timer->nb_timeouts--;
	em_numbers_put(&timers_of(em)->timeout_numbers, em_handle_number(handle));
	em_unlock(em);
}

int
weir_em_timer_delete(struct weir_em *em, weir_em_timer handle,
	void (*back)(void *arg, weir_em_timeout timeout, struct rte_event *event), void *arg)
{
	struct timers *timers = timers_of(em);
	struct timer *timer;
	int rc;

	if (timers == NULL)
		return -EINVAL;
	em_lock(em);
	timer = timer_of(timers, handle, &rc);
	if (timer != NULL)
		timer->handle = 0; /* no more timeouts */
	em_unlock(em);
	if (timer == NULL)
		return rc;
	for (uint32_t i = 0; i < timers->timeout_numbers.nb; i++) {
		struct timeout *timeout = &timers->timeouts[i];

		if (timeout_state(timeout_load(timeout)) != TIMEOUT_FREE &&
			em_read(&timeout->timer) == em_handle_number(handle))
			timeout_end(em, timer, timeout, back, arg);
	}
	__atomic_fetch_and(
		&timers->active, ~(UINT64_C(1) << em_handle_number(handle)), __ATOMIC_RELEASE);
	em_lock(em);
	em_numbers_put(&timers->timer_numbers, em_handle_number(handle));
	em_unlock(em);
	return 0;
}

static void
lane_add(struct timer_lane *lane, struct weir_em_timer_stats *stats)
{
	timer_lane_lock(lane);
	stats->nb_armed += lane->nb_armed;
	stats->nb_fired += lane->nb_fired;
	stats->nb_cancelled += lane->nb_cancelled;
	stats->nb_overruns += lane->nb_overruns;
	weir_base_hist_merge(&stats->late_ns, &lane->late_ns);
	timer_lane_unlock(lane);
	stats->nb_undeliverable += em_read(&lane->nb_undeliverable);
}

int
weir_em_timer_stats(struct weir_em *em, weir_em_timer handle, struct weir_em_timer_stats *stats)
{
	struct timers *timers = timers_of(em);
	const struct timer *timer;
	int rc = -EINVAL;

	if (timers == NULL || stats == NULL)
		return -EINVAL;
	memset(stats, 0, sizeof(*stats));
	em_lock(em);
	timer = timer_of(timers, handle, &rc);
	for (unsigned int i = 0; timer != NULL && i < timers->nb_lanes; i++)
		lane_add(&timer->lanes[i], stats);
	em_unlock(em);
	return rc;
}

int
weir_em_timer_info(struct weir_em *em, weir_em_timer handle, struct weir_em_timer_info *info)
{
	struct timers *timers = timers_of(em);
	const struct timer *timer;
	int rc = -EINVAL;

	if (timers == NULL || info == NULL)
		return -EINVAL;
	memset(info, 0, sizeof(*info));
	em_lock(em);
	timer = timer_of(timers, handle, &rc);
	if (timer != NULL) {
		memcpy(info->name, timer->name, sizeof(info->name));
		info->resolution_ns = weir_base_cycles_to_ns(UINT64_C(1) << timer->shift);
		info->nb_timeouts = timer->nb_timeouts;
		for (unsigned int i = 0; i < timers->nb_lanes; i++)
			info->nb_armed += timer_lane_nb(&timer->lanes[i]);
	}
	em_unlock(em);
	return rc;
}

weir_em_timer
weir_em_timer_next(struct weir_em *em, weir_em_timer after)
{
	const struct timers *timers = timers_of(em);
	uint32_t number = after != WEIR_EM_NONE ? em_handle_number(after) + 1 : 0;
	weir_em_timer handle = WEIR_EM_NONE;

	if (timers == NULL)
		return WEIR_EM_NONE;
	em_lock(em);
	for (; handle == WEIR_EM_NONE && number < timers->nb; number++)
		handle = timers->timers[number].handle;
	em_unlock(em);
	return handle;
}
