/* SPDX-License-Identifier: BSD-3-Clause */

/* Timers, by one thread: what fires when, what is cancelled. */

#include "timer_fixture.h"

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

/* The last to be armed is the first to be due; the very last one is over. @return when all are */
static uint64_t
arm_in_turned_order(const weir_em_timeout *timeouts, uint64_t step_ns)
{
	uint64_t now = weir_em_timer_now_ns();

	for (unsigned int i = 0; i < 8; i++) {
		struct rte_event event = weir_em_event_u64(i);

		assert_int_equal(weir_em_timeout_arm_at(et_em, NULL, timeouts[i],
					 i == 7 ? 1 : now + (10 - i) * step_ns, &event),
			0);
	}
	return now + 10 * step_ns;
}

static void
absolute_times(void **state)
{
	weir_em_timeout timeouts[8];
	uint64_t step_ns, last;

	make();
	for (unsigned int i = 0; i < 8; i++)
		timeouts[i] = timeout_make();
	/* what is over fires at once: on a busy machine all may be over before they are armed, and are to have more time then */
	for (step_ns = 2 * MS;; step_ns *= 2) {
		last = arm_in_turned_order(timeouts, step_ns);
		if (weir_em_timer_now_ns() < last - 6 * step_ns)
			break;
		for (unsigned int i = 0; i < 8; i++)
			assert_int_equal(weir_em_timeout_cancel(et_em, timeouts[i], NULL), 0);
	}
	until(8);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(fired.values[i], 7 - i);
	assert_true(last_ns >= last);
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
	arm(timeout, 3600 * 1000 * MS, 1);
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
	uint64_t start, before, overruns = 0, total = 0;
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
		before = weir_em_timer_now_ns();
		assert_int_equal(
			weir_em_timeout_ack(et_em, et_core, timeout, &event, &overruns), 0);
		if (i % 10 == 0)
			assert_true(overruns >= 5);
		total += overruns;
		assert_int_equal(weir_em_timeout_info(et_em, timeout, &info), 0);
		assert_true(info.due_ns > before); /* what is over is not made up for */
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

/* Its event is out when it is cancelled, and is not taken for that of another arming when it comes back. */
static void
acknowledged_late(void **state)
{
	struct rte_event old = weir_em_event_u64(1), other = weir_em_event_u64(2);
	struct weir_em_timeout_info info;
	weir_em_timeout timeout;

	make();
	timeout = timeout_make();
	assert_int_equal(weir_em_timeout_arm_periodic(et_em, et_core, timeout, 0, 1000, &old), 0);
	until(1);
	assert_int_equal(weir_em_timeout_cancel(et_em, timeout, NULL), -EALREADY);
	/* nothing is armed before it comes back */
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(weir_em_timeout_info(et_em, timeout, &info), 0);
		assert_int_equal(info.state, WEIR_EM_TIMEOUT_ACK);
		assert_int_equal(
			weir_em_timeout_arm_periodic(et_em, et_core, timeout, 0, 1000, &other),
			-EBUSY);
		assert_int_equal(
			weir_em_timeout_arm_in(et_em, et_core, timeout, 1, &other), -EBUSY);
		assert_int_equal(weir_em_timeout_cancel(et_em, timeout, NULL), -EALREADY);
	}
	assert_int_equal(weir_em_timeout_ack(et_em, et_core, timeout, &old, NULL), -ECANCELED);
	assert_int_equal(weir_em_timeout_info(et_em, timeout, &info), 0);
	assert_int_equal(info.state, WEIR_EM_TIMEOUT_IDLE);
	assert_int_equal(weir_em_timeout_arm_periodic(et_em, et_core, timeout, 0, 1000, &other), 0);
	assert_int_equal(weir_em_timeout_ack(et_em, et_core, timeout, &old, NULL), -EBUSY);
	until(2);
	assert_int_equal(weir_em_timeout_ack(et_em, et_core, timeout, &other, NULL), 0);
	until(3);
	assert_int_equal(fired.values[1], 2);
	assert_int_equal(fired.values[2], 2);
	/* one whose event is out may be deleted */
	assert_int_equal(weir_em_timeout_cancel(et_em, timeout, NULL), -EALREADY);
	assert_int_equal(weir_em_timeout_delete(et_em, timeout), 0);
	assert_int_equal(weir_em_timeout_ack(et_em, et_core, timeout, &old, NULL), -ESTALE);
	/* and so may a timer */
	timeout = timeout_make();
	assert_int_equal(weir_em_timeout_arm_periodic(et_em, et_core, timeout, 0, 1000, &old), 0);
	until(4);
	assert_int_equal(weir_em_timeout_cancel(et_em, timeout, NULL), -EALREADY);
	all_quiet(0);
	assert_int_equal(weir_em_timer_delete(et_em, timer, NULL, NULL), 0);
	assert_int_equal(weir_em_timeout_ack(et_em, et_core, timeout, &old, NULL), -ESTALE);
}

/* Nothing was cancelled: there is nothing to acknowledge. */
static void
acknowledged_without_a_period(void **state)
{
	struct rte_event event = weir_em_event_u64(1);
	weir_em_timeout timeout;

	make();
	timeout = timeout_make();
	assert_int_equal(weir_em_timeout_ack(et_em, et_core, timeout, &event, NULL), -EINVAL);
	arm(timeout, 0, 1);
	until(1);
	assert_int_equal(weir_em_timeout_ack(et_em, et_core, timeout, &event, NULL), -EINVAL);
	/* cancelled in time, or not: with a period */
	assert_int_equal(
		weir_em_timeout_arm_periodic(et_em, et_core, timeout, 0, 3600 * 1000 * MS, &event),
		0);
	assert_int_equal(weir_em_timeout_cancel(et_em, timeout, &event), 0);
	assert_int_equal(weir_em_timeout_ack(et_em, et_core, timeout, &event, NULL), -ECANCELED);
	arm(timeout, 0, 2);
	until(2);
	assert_int_equal(weir_em_timeout_ack(et_em, et_core, timeout, &event, NULL), -EINVAL);
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
		ET_TEST(acknowledged_late),
		ET_TEST(acknowledged_without_a_period),
		ET_TEST(credits),
		ET_TEST(no_credits_at_all),
		ET_TEST(queue_is_deleted),
	};

	return ST_RUN("em-timer", tests);
}
