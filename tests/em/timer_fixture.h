/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TIMER_FIXTURE_H
#define TIMER_FIXTURE_H

/* A timer, and an object that gets what it sends. */

#include "em_test.h"

#include "weir_em_timer.h"

#define MS          UINT64_C(1000000)
#define NB_RESERVED 32

static struct et_sink fired;
static weir_em_timer timer;

/* When the events that the sink received were received. */
static uint64_t last_ns;

static inline void
stamp(struct weir_em_core *core, weir_em_object object, weir_em_queue queue,
	struct rte_event *events, uint16_t nb, void *arg)
{
	last_ns = weir_em_timer_now_ns();
}

static inline void
make_with(uint32_t nb_reserved, uint64_t resolution_ns)
{
	et_make((struct weir_em_config){.nb_queues = 64,
		.nb_events = 1024,
		.nb_reserved = nb_reserved,
		.nb_timers = 4,
		.nb_timeouts = 64});
	et_sink_make(&fired, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	assert_int_equal(weir_em_dispatch_enter_add(et_em, stamp, NULL), 0);
	timer = weir_em_timer_create(et_em,
		&(struct weir_em_timer_config){.name = "test", .resolution_ns = resolution_ns});
	assert_int_not_equal(timer, WEIR_EM_NONE);
}

static inline void
make(void)
{
	make_with(NB_RESERVED, 0);
}

static inline weir_em_timeout
timeout_make(void)
{
	weir_em_timeout timeout = weir_em_timeout_create(et_em, timer, fired.queue);

	assert_int_not_equal(timeout, WEIR_EM_NONE);
	return timeout;
}

static inline void
arm(weir_em_timeout timeout, uint64_t delay_ns, uint64_t value)
{
	struct rte_event event = weir_em_event_u64(value);

	assert_int_equal(weir_em_timeout_arm_in(et_em, et_core, timeout, delay_ns, &event), 0);
}

/* Dispatch until so many have been received in all. */
static inline void
until(unsigned int nb)
{
	const struct weir_em_dispatch_options once = {.nb_rounds = 1};
	uint64_t begun = weir_base_time_ns();

	while (fired.nb < nb && weir_base_time_ns() - begun < 60000 * MS)
		weir_em_dispatch(et_core, &once);
	assert_int_equal(fired.nb, nb);
}

static inline struct weir_em_timer_stats
stats_now(void)
{
	struct weir_em_timer_stats stats;

	assert_int_equal(weir_em_timer_stats(et_em, timer, &stats), 0);
	return stats;
}

/* All is accounted for, and so are the credits. */
static inline void
all_quiet(unsigned int nb_armed)
{
	struct weir_em_timer_stats stats = stats_now();
	struct weir_em_timer_info info;

	assert_int_equal(weir_em_timer_info(et_em, timer, &info), 0);
	assert_int_equal(info.nb_armed, nb_armed);
	assert_int_equal(stats.nb_armed, stats.nb_fired + stats.nb_cancelled + nb_armed);
	assert_int_equal(stats.late_ns.count, stats.nb_fired);
	et_run();
	assert_int_equal(weir_sched_reserve(weir_em_sched(et_em), 1000), NB_RESERVED - nb_armed);
	weir_sched_unreserve(weir_em_sched(et_em), NB_RESERVED - nb_armed);
}

#endif
