/* SPDX-License-Identifier: BSD-3-Clause */

/* Timers, by one thread: what fires when, what is cancelled, refused, handed back. */

#include "em_test.h"

#include "weir_em_timer.h"

#define MS          UINT64_C(1000000)
#define NB_RESERVED 32

static struct et_sink fired;
static weir_em_timer timer;

/* When the events that the sink received were received. */
static uint64_t last_ns;

static void
stamp(struct weir_em_core *core, weir_em_object object, weir_em_queue queue,
	struct rte_event *events, uint16_t nb, void *arg)
{
	last_ns = weir_em_timer_now_ns();
}

static void
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

static void
make(void)
{
	make_with(NB_RESERVED, 0);
}

static weir_em_timeout
timeout_make(void)
{
	weir_em_timeout timeout = weir_em_timeout_create(et_em, timer, fired.queue);

	assert_int_not_equal(timeout, WEIR_EM_NONE);
	return timeout;
}

static void
arm(weir_em_timeout timeout, uint64_t delay_ns, uint64_t value)
{
	struct rte_event event = weir_em_event_u64(value);

	assert_int_equal(weir_em_timeout_arm_in(et_em, et_core, timeout, delay_ns, &event), 0);
}

/* Dispatch until so many have been received in all. */
static void
until(unsigned int nb)
{
	const struct weir_em_dispatch_options once = {.nb_rounds = 1};
	uint64_t begun = weir_base_time_ns();

	while (fired.nb < nb && weir_base_time_ns() - begun < 20000 * MS)
		weir_em_dispatch(et_core, &once);
	assert_int_equal(fired.nb, nb);
}

static struct weir_em_timer_stats
stats_now(void)
{
	struct weir_em_timer_stats stats;

	assert_int_equal(weir_em_timer_stats(et_em, timer, &stats), 0);
	return stats;
}

/* All is accounted for, and so are the credits. */
static void
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

static void
fires_once(void **state)
{
	weir_em_timeout timeout;

	make();
	timeout = timeout_make();
	for (unsigned int i = 0; i < 20; i++) {
		uint64_t delay = i * 50000, begun = weir_em_timer_now_ns();

		arm(timeout, delay, i);
		until(i + 1);
		assert_int_equal(fired.values[i], i);
		assert_true(last_ns - begun >= delay);
	}
	et_run();
	assert_int_equal(fired.nb, 20);
	all_quiet(0);
	assert_int_equal(stats_now().nb_fired, 20);
	et_check_sums();
}

static void
absolute_times(void **state)
{
	weir_em_timeout timeouts[8];
	uint64_t now;

	make();
	now = weir_em_timer_now_ns();
	/* the last to be armed is the first to fire; what is over fires at once */
	for (unsigned int i = 0; i < 8; i++) {
		struct rte_event event = weir_em_event_u64(i);

		timeouts[i] = timeout_make();
		assert_int_equal(weir_em_timeout_arm_at(et_em, NULL, timeouts[i],
					 i == 7 ? 1 : now + (20 - 2 * i) * MS, &event),
			0);
	}
	until(8);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(fired.values[i], 7 - i);
	assert_true(last_ns >= now + 20 * MS);
	all_quiet(0);
}

/* From a second's part to a nanosecond: never early, and as late as it may be, once the machine is quiet. */
static void
resolutions(void **state)
{
	static const uint64_t wanted[] = {1, 100, 1000, 50000, MS, 10 * MS};
	struct weir_em_timer_info info;

	make();
	for (unsigned int i = 0; i < RTE_DIM(wanted); i++) {
		weir_em_timeout timeout;
		uint64_t best = UINT64_MAX;

		assert_int_equal(weir_em_timer_delete(et_em, timer, NULL, NULL), 0);
		timer = weir_em_timer_create(
			et_em, &(struct weir_em_timer_config){.resolution_ns = wanted[i]});
		assert_int_equal(weir_em_timer_info(et_em, timer, &info), 0);
		assert_true(info.resolution_ns <= wanted[i]);
		assert_true(2 * info.resolution_ns >= wanted[i] - 1);
		timeout = timeout_make();
		for (unsigned int tries = 0; tries < 2000; tries++) {
			uint64_t due = weir_em_timer_now_ns() + 100000;
			struct rte_event event = weir_em_event_u64(0);

			fired.nb = fired.nb_calls = 0;
			assert_int_equal(
				weir_em_timeout_arm_at(et_em, et_core, timeout, due, &event), 0);
			until(1);
			assert_true(last_ns >= due);
			best = RTE_MIN(best, last_ns - due);
			if (tries >= 5 && best <= wanted[i] + 5000)
				break;
		}
		/* rounds, and what it takes to send and to receive */
		assert_true(best <= wanted[i] + 20000);
		assert_int_equal(stats_now().late_ns.count, stats_now().nb_fired);
	}
}

static void
cancelling(void **state)
{
	struct rte_event event = {.event = 0};
	weir_em_timeout timeout;

	make();
	timeout = timeout_make();
	assert_int_equal(weir_em_timeout_cancel(et_em, timeout, &event), -EALREADY);
	arm(timeout, 3600 * 1000 * MS, 5);
	all_quiet(1);
	assert_int_equal(weir_em_timeout_cancel(et_em, timeout, &event), 0);
	assert_int_equal(event.u64, 5);
	assert_int_equal(weir_em_timeout_cancel(et_em, timeout, &event), -EALREADY);
	et_run();
	assert_int_equal(fired.nb, 0);
	/* it has fired, and the event waits in the queue */
	arm(timeout, 0, 6);
	until(1);
	assert_int_equal(weir_em_timeout_cancel(et_em, timeout, &event), -EALREADY);
	assert_int_equal(fired.values[0], 6);
	arm(timeout, MS, 7);
	assert_int_equal(weir_em_timeout_cancel(et_em, timeout, NULL), 0);
	assert_int_equal(stats_now().nb_cancelled, 2);
	all_quiet(0);
}

static void
armed_twice(void **state)
{
	struct rte_event event = weir_em_event_u64(0);
	weir_em_timeout timeout;
	struct weir_em_timeout_info info;

	make();
	timeout = timeout_make();
	arm(timeout, 1000 * MS, 1);
	assert_int_equal(weir_em_timeout_arm_in(et_em, et_core, timeout, 1, &event), -EBUSY);
	assert_int_equal(
		weir_em_timeout_arm_periodic(et_em, et_core, timeout, 0, MS, &event), -EBUSY);
	assert_int_equal(weir_em_timeout_ack(et_em, et_core, timeout, &event, NULL), -EBUSY);
	assert_int_equal(weir_em_timeout_delete(et_em, timeout), -EBUSY);
	assert_int_equal(weir_em_timeout_info(et_em, timeout, &info), 0);
	assert_int_equal(info.state, WEIR_EM_TIMEOUT_ARMED);
	assert_int_equal(info.queue, fired.queue);
	assert_int_equal(info.period_ns, 0);
	assert_true(info.due_ns > weir_em_timer_now_ns());
	all_quiet(1);
}

/* ---- periods ---- */

static void
on_the_grid(void **state)
{
	struct rte_event event = weir_em_event_u64(1);
	struct weir_em_timeout_info info;
	uint64_t start, overruns = 0, total = 0;
	weir_em_timeout timeout;

	make();
	timeout = timeout_make();
	start = weir_em_timer_now_ns() + MS;
	assert_int_equal(
		weir_em_timeout_arm_periodic(et_em, et_core, timeout, start, 333333, &event), 0);
	for (unsigned int i = 1; i <= 30; i++) {
		until(i);
		assert_int_equal(weir_em_timeout_info(et_em, timeout, &info), 0);
		assert_int_equal(info.state, WEIR_EM_TIMEOUT_ACK);
		/* these times do not depend on how late it was */
		assert_int_equal(info.due_ns, start + (i - 1 + total) * 333333);
		assert_true(last_ns >= info.due_ns);
		/* not again before it was given back */
		if (i % 10 == 0) {
			uint64_t begun = weir_em_timer_now_ns();

			while (weir_em_timer_now_ns() - begun < 2 * MS)
				et_run();
			assert_int_equal(fired.nb, i);
		}
		assert_int_equal(
			weir_em_timeout_ack(et_em, et_core, timeout, &event, &overruns), 0);
		if (i % 10 == 0)
			assert_true(overruns >= 5);
		total += overruns;
		assert_int_equal(weir_em_timeout_info(et_em, timeout, &info), 0);
		assert_int_equal(info.state, WEIR_EM_TIMEOUT_ARMED);
		assert_int_equal(
			weir_em_timeout_ack(et_em, et_core, timeout, &event, &overruns), -EBUSY);
	}
	assert_int_equal(stats_now().nb_overruns, total);
	assert_int_equal(weir_em_timeout_cancel(et_em, timeout, &event), 0);
	assert_int_equal(weir_em_timeout_ack(et_em, et_core, timeout, &event, NULL), -ECANCELED);
	all_quiet(0);
}

static void
cancelled_after_it_fired(void **state)
{
	struct rte_event event = weir_em_event_u64(1);
	weir_em_timeout timeout;

	make();
	timeout = timeout_make();
	assert_int_equal(weir_em_timeout_arm_periodic(et_em, et_core, timeout, 0, 1000, &event), 0);
	until(1);
	assert_int_equal(weir_em_timeout_arm_in(et_em, et_core, timeout, 1, &event), -EBUSY);
	assert_int_equal(weir_em_timeout_cancel(et_em, timeout, &event), -EALREADY);
	assert_int_equal(weir_em_timeout_ack(et_em, et_core, timeout, &event, NULL), -ECANCELED);
	arm(timeout, 0, 2);
	until(2);
	/* one that waits for its acknowledgement may be deleted */
	assert_int_equal(weir_em_timeout_arm_periodic(et_em, et_core, timeout, 0, 1000, &event), 0);
	until(3);
	assert_int_equal(weir_em_timeout_delete(et_em, timeout), 0);
	assert_int_equal(weir_em_timeout_ack(et_em, et_core, timeout, &event, NULL), -ESTALE);
	all_quiet(0);
}

/* ---- credits ---- */

static void
credits(void **state)
{
	struct rte_event event = weir_em_event_u64(9);
	weir_em_timeout timeouts[NB_RESERVED + 1];
	unsigned int nb_sent = 0;

	make();
	for (unsigned int i = 0; i <= NB_RESERVED; i++)
		timeouts[i] = timeout_make();
	for (unsigned int i = 0; i < NB_RESERVED; i++)
		arm(timeouts[i], MS, 1000 + i);
	assert_int_equal(
		weir_em_timeout_arm_in(et_em, et_core, timeouts[NB_RESERVED], MS, &event), -ENOSPC);
	assert_int_equal(
		weir_em_timeout_arm_periodic(et_em, et_core, timeouts[NB_RESERVED], 0, MS, &event),
		-ENOSPC);
	/* it is full; they fire all the same */
	while (weir_em_send(et_core, fired.queue, &event, 1) == 1)
		nb_sent++;
	assert_true(nb_sent >= 256);
	until(nb_sent + NB_RESERVED);
	et_run();
	all_quiet(0);
	arm(timeouts[NB_RESERVED], 0, 0);
	until(nb_sent + NB_RESERVED + 1);
	all_quiet(0);
}

static void
no_credits_at_all(void **state)
{
	struct rte_event event = weir_em_event_u64(9);
	weir_em_timeout timeout;

	make_with(0, 0);
	timeout = timeout_make();
	assert_int_equal(weir_em_timeout_arm_in(et_em, et_core, timeout, 1, &event), -ENOSPC);
	assert_int_equal(weir_em_timeout_delete(et_em, timeout), 0);
	assert_int_equal(weir_em_timeout_arm_in(et_em, et_core, timeout, 1, &event), -ESTALE);
}

static void
queue_is_deleted(void **state)
{
	struct rte_event event = weir_em_event_u64(9);
	weir_em_queue queue;
	weir_em_timeout timeout;

	make();
	queue = et_queue("gone", WEIR_EM_QUEUE_PARALLEL, 0);
	timeout = weir_em_timeout_create(et_em, timer, queue);
	assert_int_not_equal(timeout, WEIR_EM_NONE);
	assert_int_equal(weir_em_timeout_arm_in(et_em, et_core, timeout, 1000, &event), 0);
	assert_int_equal(weir_em_queue_delete(et_em, queue), 0);
	while (stats_now().nb_fired == 0)
		et_run();
	assert_int_equal(stats_now().nb_undeliverable, 1);
	assert_int_equal(et_stats().nb_dropped[WEIR_EM_DROP_DELETED], 1);
	all_quiet(0);
}

/* ---- ends ---- */

static unsigned int nb_back;
static uint64_t back_sum;
static weir_em_timeout back_timeouts[64];

static void
take_back(void *arg, weir_em_timeout timeout, struct rte_event *event)
{
	assert_ptr_equal(arg, &nb_back);
	back_timeouts[nb_back++] = timeout;
	back_sum += event->u64;
}

static void
a_timer_ends(void **state)
{
	weir_em_timeout timeouts[30];
	weir_em_timer other;

	make();
	nb_back = 0;
	back_sum = 0;
	other = weir_em_timer_create(et_em, &(struct weir_em_timer_config){.name = "other"});
	for (unsigned int i = 0; i < 30; i++) {
		timeouts[i] = i == 29 ? weir_em_timeout_create(et_em, other, fired.queue)
				      : timeout_make();
		if (i % 3 == 0 || i == 29)
			arm(timeouts[i], (i == 29 ? 30 : 100000) * MS, i);
	}
	assert_int_equal(weir_em_timer_delete(et_em, timer, take_back, &nb_back), 0);
	assert_int_equal(nb_back, 10);
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(back_timeouts[i], timeouts[3 * i]);
	assert_int_equal(back_sum, 3 * 45);
	assert_int_equal(weir_em_timer_delete(et_em, timer, NULL, NULL), -ESTALE);
	for (unsigned int i = 0; i < 29; i++)
		assert_int_equal(weir_em_timeout_cancel(et_em, timeouts[i], NULL), -ESTALE);
	assert_int_equal(weir_em_timeout_create(et_em, timer, fired.queue), WEIR_EM_NONE);
	assert_int_equal(rte_errno, ESTALE);
	/* others go on */
	until(1);
	assert_int_equal(fired.values[0], 29);
	timer = other;
	all_quiet(0);
	assert_int_equal(weir_em_timer_next(et_em, WEIR_EM_NONE), other);
	assert_int_equal(weir_em_timer_next(et_em, other), WEIR_EM_NONE);
}

static void
drain(void *arg, weir_em_queue queue, struct rte_event *event)
{
	assert_int_equal(queue, fired.queue);
	nb_back++;
	back_sum += event->u64;
}

static void
the_machine_ends(void **state)
{
	make();
	nb_back = 0;
	back_sum = 0;
	for (unsigned int i = 0; i < 20; i++)
		arm(timeout_make(), 100000 * MS, i);
	assert_int_equal(weir_em_core_detach(et_core), 0);
	et_core = NULL;
	assert_int_equal(weir_em_destroy(et_em, drain, NULL), 0);
	et_em = NULL;
	assert_int_equal(nb_back, 20);
	assert_int_equal(back_sum, 190);
}

static void
buffers_are_freed(void **state)
{
	weir_em_pool pool;
	struct weir_em_pool_info info;
	weir_em_timeout timeouts[3];

	make();
	pool = weir_em_pool_create(
		et_em, &(struct weir_em_pool_config){
			       .name = "em-timers", .nb = 63, .data_room = 256, .socket_id = -1});
	for (unsigned int i = 0; i < 3; i++) {
		struct rte_event event = weir_em_event_buffer(weir_em_alloc(et_core, pool, 8));

		timeouts[i] = timeout_make();
		assert_int_equal(
			weir_em_timeout_arm_in(et_em, et_core, timeouts[i], 100000 * MS, &event),
			0);
	}
	assert_int_equal(weir_em_timeout_cancel(et_em, timeouts[0], NULL), 0);
	assert_int_equal(weir_em_timer_delete(et_em, timer, NULL, NULL), 0);
	assert_int_equal(weir_em_pool_info(et_em, pool, &info), 0);
	assert_int_equal(info.nb_free, 63);
}

/* ---- what is refused ---- */

static void
bad_handles(void **state)
{
	static const uint64_t bad[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, 0x123456789abcdef0};
	struct rte_event event = weir_em_event_u64(0);
	struct weir_em_timeout_info info;
	struct weir_em_timer_info timer_info;
	struct weir_em_timer_stats *stats = calloc(1, sizeof(*stats));
	weir_em_timeout stale;

	make();
	stale = timeout_make();
	assert_int_equal(weir_em_timeout_delete(et_em, stale), 0);
	for (unsigned int i = 0; i < RTE_DIM(bad) + 2; i++) {
		uint64_t none = i < RTE_DIM(bad) ? bad[i] : i == RTE_DIM(bad) ? timer : stale;
		int wanted = none == stale ? -ESTALE : -EINVAL;

		assert_int_equal(weir_em_timeout_arm_in(et_em, et_core, none, 1, &event), wanted);
		assert_int_equal(weir_em_timeout_arm_at(et_em, et_core, none, 1, &event), wanted);
		assert_int_equal(
			weir_em_timeout_arm_periodic(et_em, et_core, none, 1, 1, &event), wanted);
		assert_int_equal(weir_em_timeout_ack(et_em, et_core, none, &event, NULL), wanted);
		assert_int_equal(weir_em_timeout_cancel(et_em, none, &event), wanted);
		assert_int_equal(weir_em_timeout_delete(et_em, none), wanted);
		assert_int_equal(weir_em_timeout_info(et_em, none, &info), wanted);
		if (none == timer)
			continue;
		assert_int_equal(weir_em_timer_delete(et_em, none, NULL, NULL), -EINVAL);
		assert_int_equal(weir_em_timer_info(et_em, none, &timer_info), -EINVAL);
		assert_int_equal(weir_em_timer_stats(et_em, none, stats), -EINVAL);
		assert_int_equal(weir_em_timeout_create(et_em, none, fired.queue), WEIR_EM_NONE);
		assert_int_equal(rte_errno, EINVAL);
		assert_int_equal(weir_em_timeout_create(et_em, timer, none), WEIR_EM_NONE);
		assert_int_equal(rte_errno, EINVAL);
	}
	assert_int_equal(weir_em_timer_create(NULL, NULL), WEIR_EM_NONE);
	assert_int_equal(weir_em_timer_delete(NULL, timer, NULL, NULL), -EINVAL);
	assert_int_equal(weir_em_timeout_cancel(NULL, timer, NULL), -EINVAL);
	assert_int_equal(weir_em_timeout_create(NULL, timer, fired.queue), WEIR_EM_NONE);
	assert_int_equal(weir_em_timer_next(NULL, timer), WEIR_EM_NONE);
	all_quiet(0);
	free(stats);
}

static void
bad_arguments(void **state)
{
	struct rte_event event = weir_em_event_u64(0);
	weir_em_timeout timeout;
	unsigned int nb;

	make();
	timeout = timeout_make();
	assert_int_equal(weir_em_timeout_arm_in(et_em, et_core, timeout, 1, NULL), -EINVAL);
	assert_int_equal(
		weir_em_timeout_arm_in(et_em, et_core, timeout, UINT64_MAX, &event), -EINVAL);
	assert_int_equal(
		weir_em_timeout_arm_at(et_em, et_core, timeout, UINT64_MAX, &event), -EINVAL);
	assert_int_equal(
		weir_em_timeout_arm_periodic(et_em, et_core, timeout, 1, 0, &event), -EINVAL);
	assert_int_equal(
		weir_em_timeout_arm_periodic(et_em, et_core, timeout, 1, UINT64_MAX, &event),
		-EINVAL);
	assert_int_equal(weir_em_timeout_ack(et_em, et_core, timeout, NULL, NULL), -EINVAL);
	assert_int_equal(weir_em_timeout_info(et_em, timeout, NULL), -EINVAL);
	assert_int_equal(weir_em_timer_info(et_em, timer, NULL), -EINVAL);
	assert_int_equal(weir_em_timer_stats(et_em, timer, NULL), -EINVAL);
	/* as far ahead as it can be */
	arm(timeout, WEIR_EM_TIMEOUT_NS_MAX, 0);
	et_run();
	assert_int_equal(weir_em_timeout_cancel(et_em, timeout, NULL), 0);
	assert_int_equal(weir_em_timeout_create(
				 et_em, timer, et_queue("ring", WEIR_EM_QUEUE_UNSCHEDULED, 0)),
		WEIR_EM_NONE);
	assert_int_equal(rte_errno, ENOTSUP);
	assert_int_equal(weir_em_timer_create(et_em,
				 &(struct weir_em_timer_config){.resolution_ns = 1000 * MS + 1}),
		WEIR_EM_NONE);
	assert_int_equal(weir_em_timer_create(et_em,
				 &(struct weir_em_timer_config){
					 .name = "a name that is longer than names are"}),
		WEIR_EM_NONE);
	for (nb = 1; weir_em_timer_create(et_em, &(struct weir_em_timer_config){0}) != 0; nb++)
		;
	assert_int_equal(rte_errno, ENOSPC);
	assert_int_equal(nb, 4);
	for (nb = 1; weir_em_timeout_create(et_em, timer, fired.queue) != 0; nb++)
		;
	assert_int_equal(rte_errno, ENOSPC);
	assert_int_equal(nb, 64);
	all_quiet(0);
}

static void
handles_are_not_used_again(void **state)
{
	weir_em_timeout timeout, old;

	make();
	timeout = timeout_make();
	for (unsigned int i = 0; i < 1000; i++) {
		old = timeout;
		assert_int_equal(weir_em_timeout_delete(et_em, old), 0);
		assert_int_equal(weir_em_timeout_delete(et_em, old), -ESTALE);
		timeout = timeout_make();
		assert_int_not_equal(timeout, old);
		arm(timeout, 100000 * MS, 0);
		assert_int_equal(weir_em_timeout_cancel(et_em, old, NULL), -ESTALE);
		assert_int_equal(weir_em_timeout_cancel(et_em, timeout, NULL), 0);
	}
	all_quiet(0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(fires_once),
		ET_TEST(absolute_times),
		ET_TEST(resolutions),
		ET_TEST(cancelling),
		ET_TEST(armed_twice),
		ET_TEST(on_the_grid),
		ET_TEST(cancelled_after_it_fired),
		ET_TEST(credits),
		ET_TEST(no_credits_at_all),
		ET_TEST(queue_is_deleted),
		ET_TEST(a_timer_ends),
		ET_TEST(the_machine_ends),
		ET_TEST(buffers_are_freed),
		ET_TEST(bad_handles),
		ET_TEST(bad_arguments),
		ET_TEST(handles_are_not_used_again),
	};

	return ST_RUN("em-timer", tests);
}
