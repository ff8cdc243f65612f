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

/* What one port holds is not given up by another, which holds something of the same number, too. */
static void
another_ports(void **state)
{
	static const uint8_t ops[2] = {RTE_EVENT_OP_FORWARD, RTE_EVENT_OP_RELEASE};
	struct rte_event held[2] = {0}, bad;
	unsigned int nb[2] = {0};

	st_make_credits(2, 2, 256, 0, 0);
	st_needs_keep();
	st_start();
	for (unsigned int flow = 0; flow < 64; flow++)
		st_new(0, 0, flow, flow);
	for (unsigned int i = 0; i < 10000 && (nb[0] == 0 || nb[1] == 0); i++)
		for (unsigned int port = 0; port < 2; port++)
			if (nb[port] == 0)
				nb[port] = weir_sched_dequeue(st_port(port), &held[port], 1);
	if (!st_is_builtin() && (nb[0] == 0 || nb[1] == 0))
		st_skip("one port got all events");
	assert_int_equal(nb[0] + nb[1], 2);
	for (unsigned int port = 0; port < 2; port++)
		for (unsigned int i = 0; i < 2; i++) {
			bad = held[1 - port];
			bad.op = ops[i] & 3;
			rte_errno = 0;
			assert_int_equal(weir_sched_enqueue(st_port(port), &bad, 1), 0);
			assert_int_equal(rte_errno, EINVAL);
			assert_int_equal(
				weir_sched_switch(st_port(port), &bad, 3, ATOMIC), -EINVAL);
		}
	assert_int_equal(st_stats().nb_invalid, 2 * 2 * 2);
	/* Who made it anew may not know its rsvd. */
	held[0].rsvd = 0;
	st_release(0, held[0]);
	st_forward(1, held[1], 1);
	st_empty(2);
	assert_int_equal(st_stats().nb_new, st_stats().nb_released);
}

/* Given up, and then again when others are held: none of these is. */
static void
given_up_long_ago(void **state)
{
	struct rte_event stale, held, after[2];

	st_make_credits(1, 2, 256, 0, 0);
	st_needs_keep();
	st_start();
	st_new(0, 0, 1, 1);
	stale = st_get_one(0);
	st_release(0, stale);
	for (unsigned int i = 0; i < 100; i++) {
		st_new(0, 0, 2, 2 * i);
		held = st_get_one(0);
		st_new(0, 0, 2, 2 * i + 1);
		for (uint8_t op = RTE_EVENT_OP_FORWARD; op <= RTE_EVENT_OP_RELEASE; op++) {
			stale.op = op & 3;
			assert_int_equal(weir_sched_enqueue(st_port(0), &stale, 1), 0);
		}
		assert_int_equal(weir_sched_switch(st_port(0), &stale, 3, ATOMIC), -EINVAL);
		assert_int_equal(st_stats().nb_invalid, 3 * (i + 1));
		st_release(0, held);
		assert_int_equal(st_get(0, after, 2), 1);
		assert_int_equal(after[0].u64, 2 * i + 1);
		st_release(0, after[0]);
	}
	st_empty(1);
}

/* So many others come before the number of one that was given up is used again as the port has beside those that it holds. */
static void
number_used_again(unsigned int nb_held)
{
	const struct weir_sched_port_config config = {
		.no_implicit_release = true, .nb_held = (uint16_t)(nb_held + 1)};
	static struct rte_event events[256];
	unsigned int nb_others = 0;
	struct rte_event stale;

	st_builtin_only();
	st_make((struct weir_sched_config){.nb_ports = 1, .nb_queues = 1, .nb_events = 512});
	st_queue(0, PARALLEL, 0, 0);
	assert_int_equal(weir_sched_port_setup(st_sched, 0, &config), 0);
	st_start();
	for (unsigned int i = 0; i < nb_held; i++)
		st_new(0, 0, i, i);
	assert_int_equal(st_get(0, events, nb_held), nb_held);
	st_new(0, 0, 0, 0);
	stale = st_get_one(0);
	st_release(0, stale);
	for (;; nb_others++) {
		struct rte_event other;

		st_new(0, 0, 0, 0);
		other = st_get_one(0);
		if (other.impl_opaque == stale.impl_opaque)
			break;
		st_release(0, other);
	}
	assert_true(nb_others + 1 >= 256 - nb_held - 1);
	st_teardown(NULL);
}

static void
numbers_used_again(void **state)
{
	number_used_again(1);
	number_used_again(100);
	number_used_again(127);
	number_used_again(200);
	number_used_again(254);
}

/* What the next dequeue released cannot be forwarded, but what that got can. */
static void
released_implicitly(void **state)
{
	struct rte_event first, second;

	st_make((struct weir_sched_config){.nb_ports = 1, .nb_queues = 2, .nb_events = 64});
	st_start();
	st_new(0, 0, 1, 1);
	first = st_get_one(0);
	st_new(0, 0, 2, 2);
	second = st_get_one(0);
	first.op = second.op = RTE_EVENT_OP_FORWARD;
	first.queue_id = second.queue_id = 1;
	assert_int_equal(weir_sched_enqueue(st_port(0), &first, 1), 0);
	assert_int_equal(st_stats().nb_invalid, 1);
	assert_int_equal(weir_sched_enqueue(st_port(0), &second, 1), 1);
	st_empty(1);
	assert_int_equal(st_stats().nb_released, 2);
}

static void
resting(void)
{
	const uint64_t invalid = st_stats().nb_invalid;

	for (uint8_t op = RTE_EVENT_OP_NEW; op <= RTE_EVENT_OP_RELEASE; op++) {
		struct rte_event events[3] = {st_event(op, 0, 0, 0), st_event(op, 0, 1, 0)};

		rte_errno = 0;
		assert_int_equal(weir_sched_enqueue(st_port(0), events, 2), 0);
		assert_int_equal(rte_errno, EINVAL);
		assert_int_equal(weir_sched_switch(st_port(0), events, 1, ATOMIC), -EINVAL);
		assert_int_equal(weir_sched_dequeue(st_port(0), events, 3), 0);
	}
	assert_int_equal(st_stats().nb_invalid, invalid + 3 * (2 + 1));
}

/* Ports are called before the start and after the stop: nothing is taken, nothing comes out later. */
static void
not_running(void **state)
{
	struct rte_event event;

	st_make_credits(2, 2, 64, 0, 0);
	resting();
	st_start();
	st_new(0, 0, 1, 1);
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), 0);
	resting();
	st_start();
	st_get_none(0);
	st_get_none(1);
	st_new(0, 0, 1, 2);
	st_empty(2);
	assert_int_equal(st_stats().nb_new, 2);
	/* No such port. */
	event = st_event(RTE_EVENT_OP_NEW, 0, 0, 0);
	assert_null(st_port(2));
	assert_int_equal(weir_sched_enqueue(st_port(2), &event, 1), 0);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(weir_sched_dequeue(st_port(2), &event, 1), 0);
	assert_int_equal(weir_sched_switch(st_port(2), &event, 1, ATOMIC), -EINVAL);
}

/* No event at all: there is nothing to switch. No events are none to enqueue, and no room is none to dequeue to. */
static void
no_event(void **state)
{
	struct rte_event held;

	st_make_two(1, ATOMIC, ATOMIC);
	st_new(0, 0, 1, 42);
	held = st_get_one(0);
	for (uint8_t type = 0; type < 4; type++)
		assert_int_equal(weir_sched_switch(st_port(0), NULL, 2, type), -EINVAL);
	rte_errno = 0;
	assert_int_equal(weir_sched_enqueue(st_port(0), NULL, 0), 0);
	assert_int_equal(rte_errno, 0);
	assert_int_equal(weir_sched_enqueue(st_port(0), NULL, 3), 0);
	assert_int_equal(rte_errno, EINVAL);
	/* It is held through that. */
	st_release(0, held);
	st_new(0, 0, 1, 43);
	assert_int_equal(weir_sched_dequeue(st_port(0), NULL, 0), 0);
	assert_int_equal(weir_sched_dequeue(st_port(0), NULL, 32), 0);
	assert_int_equal(st_get_one(0).u64, 43);
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), 0);
	assert_int_equal(weir_sched_switch(st_port(0), NULL, 2, ATOMIC), -EINVAL);
	st_start();
}

/* Reserved credit is for NEW; whatever is refused is counted. */
static void
reserved_operations(void **state)
{
	struct rte_event event = st_event(RTE_EVENT_OP_NEW, 0, 0, 0);

	st_make_credits(1, 1, 64, 4, 0);
	st_start();
	assert_int_equal(weir_sched_enqueue_reserved(st_sched, &event), -EINVAL);
	assert_int_equal(weir_sched_reserve(st_sched, 4), 4);
	for (uint8_t op = RTE_EVENT_OP_FORWARD; op < 4; op++) {
		event.op = op & 3;
		assert_int_equal(weir_sched_enqueue_reserved(st_sched, &event), -EINVAL);
	}
	assert_int_equal(st_stats().nb_invalid, 4);
	/* Over a stop they stay with who has them. */
	assert_int_equal(weir_sched_stop(st_sched, NULL, NULL), 0);
	weir_sched_unreserve(st_sched, 1);
	st_start();
	event.op = RTE_EVENT_OP_NEW;
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(weir_sched_enqueue_reserved(st_sched, &event), 0);
	assert_int_equal(weir_sched_enqueue_reserved(st_sched, &event), -EINVAL);
	st_empty(1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(invalid_events),
		TEST(another_ports),
		TEST(given_up_long_ago),
		TEST(numbers_used_again),
		TEST(released_implicitly),
		TEST(not_running),
		TEST(no_event),
		TEST(reserved_operations),
		TEST(given_up_twice),
		TEST(rest_is_held),
	};

	return ST_RUN("sched-invalid", tests);
}
