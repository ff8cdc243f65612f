/* SPDX-License-Identifier: BSD-3-Clause */

/* Events that are wrong: an error, counted, and nothing else is changed. */

#include "sched_test.h"

/* After two good ones, in a burst with another good one: 2 are taken, the rest is as it was. */
static void
refused_in_burst(struct rte_event bad)
{
	struct weir_sched_stats before = st_stats(), after;
	struct rte_event burst[4];

	burst[0] = st_event(RTE_EVENT_OP_NEW, 0, 1, 1);
	burst[1] = st_event(RTE_EVENT_OP_NEW, 0, 2, 2);
	burst[2] = bad;
	burst[3] = st_event(RTE_EVENT_OP_NEW, 0, 3, 3);
	rte_errno = 0;
	assert_int_equal(weir_sched_enqueue(st_port(0), burst, 4), 2);
	assert_int_equal(rte_errno, EINVAL);
	rte_errno = 0;
	assert_int_equal(weir_sched_enqueue(st_port(0), &bad, 1), 0);
	assert_int_equal(rte_errno, EINVAL);
	after = st_stats();
	assert_int_equal(after.nb_new, before.nb_new + 2);
	assert_int_equal(after.nb_invalid, before.nb_invalid + 2);
	assert_int_equal(after.nb_forwarded, before.nb_forwarded);
	assert_int_equal(after.nb_released, before.nb_released);
	assert_int_equal(after.nb_refused, before.nb_refused);
}

static void
invalid_events(void **state)
{
	struct rte_event held, bad;

	st_make_credits(2, 3, 256, 0, 0);
	st_queue(2, WEIR_SCHED_TYPE_BY_EVENT, 0, 0);
	st_start();
	refused_in_burst(st_event(RTE_EVENT_OP_NEW, 3, 0, 0));
	refused_in_burst(st_event(RTE_EVENT_OP_NEW, 255, 0, 0));
	refused_in_burst(st_event(3, 0, 0, 0)); /* no such operation */
	bad = st_event(RTE_EVENT_OP_NEW, 2, 0, 0);
	bad.sched_type = 3;
	refused_in_burst(bad);
	for (unsigned int opaque = 0; opaque < 256; opaque++) {
		bad = st_event(opaque % 2 ? RTE_EVENT_OP_FORWARD : RTE_EVENT_OP_RELEASE, 0, 0, 0);
		bad.impl_opaque = (uint8_t)opaque;
		assert_int_equal(weir_sched_enqueue(st_port(0), &bad, 1), 0);
		assert_int_equal(rte_errno, EINVAL);
	}
	st_empty(2);
	/* With something held: only that is. */
	st_new(0, 0, 1, 42);
	held = st_get_one(0);
	for (unsigned int opaque = 0; opaque < 256; opaque++) {
		bad = held;
		bad.impl_opaque = (uint8_t)opaque;
		for (uint8_t op = 0; op < 2 && opaque != held.impl_opaque; op++) {
			bad.op = op == 0 ? RTE_EVENT_OP_FORWARD : RTE_EVENT_OP_RELEASE;
			assert_int_equal(weir_sched_enqueue(st_port(0), &bad, 1), 0);
			assert_int_equal(rte_errno, EINVAL);
		}
		/* Nor is it another port's. */
		bad.impl_opaque = (uint8_t)opaque;
		bad.op = RTE_EVENT_OP_RELEASE;
		assert_int_equal(weir_sched_enqueue(st_port(1), &bad, 1), 0);
	}
	bad = held;
	bad.op = RTE_EVENT_OP_FORWARD;
	bad.queue_id = 3;
	refused_in_burst(bad);
	bad.queue_id = 2;
	bad.sched_type = 3;
	refused_in_burst(bad);
	/* It is held through all that. RELEASE does not look at the queue. */
	held.queue_id = 200;
	held.sched_type = 3;
	st_release(0, held);
	st_empty(2);
	assert_int_equal(st_stats().nb_new, st_stats().nb_released);
}

/* Each way to give up twice, in one burst and in two, of each type. */
static void
given_up_twice(void **state)
{
	static const uint8_t ops[2] = {RTE_EVENT_OP_FORWARD, RTE_EVENT_OP_RELEASE};
	uint64_t invalid = 0;

	st_make_credits(1, 4, 256, 0, 0);
	st_queue(0, ATOMIC, 0, 0);
	st_queue(2, PARALLEL, 0, 0);
	if (st_is_builtin())
		st_queue(1, ORDERED, 0, 0);
	st_start();
	for (unsigned int i = 0; i < 3 * 2 * 2 * 2; i++) {
		struct rte_event burst[3];

		st_new(0, (uint8_t)(i % 3), i, i);
		burst[0] = burst[1] = st_get_one(0);
		burst[0].op = ops[i / 3 % 2];
		burst[1].op = ops[i / 6 % 2];
		burst[0].queue_id = burst[1].queue_id = 3;
		burst[2] = st_event(RTE_EVENT_OP_NEW, 0, i, i);
		rte_errno = 0;
		if (i / 12 == 0) {
			assert_int_equal(weir_sched_enqueue(st_port(0), burst, 3), 1);
		} else {
			assert_int_equal(weir_sched_enqueue(st_port(0), &burst[0], 1), 1);
			assert_int_equal(weir_sched_enqueue(st_port(0), &burst[1], 2), 0);
		}
		assert_int_equal(rte_errno, EINVAL);
		assert_int_equal(st_stats().nb_invalid, ++invalid);
		st_empty(1);
		assert_int_equal(st_stats().nb_new, st_stats().nb_released);
		assert_int_equal(st_stats().nb_new, i + 1);
	}
	assert_int_equal(st_fill(0, 0, 1000), 256);
}

/* A burst that holds an event of another call after a wrong one: it is held still. */
static void
rest_is_held(void **state)
{
	struct rte_event events[2], burst[3];

	st_make_credits(1, 2, 64, 0, 0);
	st_start();
	st_new(0, 0, 1, 1);
	st_new(0, 0, 2, 2);
	assert_int_equal(st_get(0, events, 2), 2);
	burst[0] = events[0];
	burst[0].op = RTE_EVENT_OP_FORWARD;
	burst[0].queue_id = 1;
	burst[1] = burst[0];
	burst[2] = events[1];
	burst[2].op = RTE_EVENT_OP_FORWARD;
	burst[2].queue_id = 1;
	assert_int_equal(weir_sched_enqueue(st_port(0), burst, 3), 1);
	assert_int_equal(weir_sched_enqueue(st_port(0), &burst[2], 1), 1);
	assert_int_equal(st_get(0, events, 2), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(invalid_events),
		TEST(given_up_twice),
		TEST(rest_is_held),
	};

	return ST_RUN("sched-invalid", tests);
}
