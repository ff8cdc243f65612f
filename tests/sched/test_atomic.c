/* SPDX-License-Identifier: BSD-3-Clause */

/* One thread: events come and go, flows are held by one port. */

#include "sched_test.h"

/* What is enqueued comes, as it was, once. */
static void
new_comes(void **state)
{
	struct rte_event event = {.op = RTE_EVENT_OP_NEW,
		.queue_id = 1,
		.flow_id = 13,
		.sub_event_type = 0xa5,
		.event_type = RTE_EVENT_TYPE_CPU,
		.u64 = 0x123456789abcdef0};

	st_make_two(1, ATOMIC, PARALLEL);
	assert_int_equal(weir_sched_enqueue(st_port(0), &event, 1), 1);
	event = st_get_one(0);
	assert_int_equal(event.queue_id, 1);
	if (!st_is_driver("event_dsw")) /* puts its own there, where the type is parallel */
		assert_int_equal(event.flow_id, 13);
	assert_int_equal(event.sub_event_type, 0xa5);
	assert_int_equal(event.event_type, RTE_EVENT_TYPE_CPU);
	assert_int_equal(event.sched_type, PARALLEL);
	assert_true(event.u64 == 0x123456789abcdef0);
	if (!st_is_driver("event_dsw")) /* releases it at a dequeue */
		st_get_none(0);
	st_release(0, event);
	st_get_none(0);
	assert_int_equal(st_stats().nb_new, 1);
	assert_int_equal(st_stats().nb_dequeued, 1);
	assert_int_equal(st_stats().nb_released, 1);
}

static void
empty_calls(void **state)
{
	struct rte_event event;

	st_make_two(1, ATOMIC, ATOMIC);
	assert_int_equal(weir_sched_enqueue(st_port(0), &event, 0), 0);
	assert_int_equal(weir_sched_dequeue(st_port(0), &event, 0), 0);
	st_new(0, 0, 1, 1);
	assert_int_equal(weir_sched_dequeue(st_port(0), &event, 0), 0);
	assert_int_equal(st_get_one(0).u64, 1);
}

/* The most that a call can have. */
static void
long_bursts(void **state)
{
	enum { MOST = 65535, HELD = 255 };
	static struct rte_event events[MOST];
	unsigned int got = 0, idle = 0, nb_in;

	st_make((struct weir_sched_config){.nb_ports = 1, .nb_queues = 1, .nb_events = 1 << 16});
	st_queue(0, PARALLEL, 0, 0);
	assert_int_equal(weir_sched_port_setup(
				 st_sched, 0, &(struct weir_sched_port_config){.nb_held = HELD}),
		0);
	st_start();
	nb_in = RTE_MIN(st_threshold(), (unsigned int)MOST);
	for (unsigned int i = 0; i < MOST; i++)
		events[i] = st_event(RTE_EVENT_OP_NEW, 0, i, i);
	assert_int_equal(weir_sched_enqueue(st_port(0), events, MOST), nb_in);
	while (got < nb_in && idle < 100000) {
		uint16_t nb = weir_sched_dequeue(st_port(0), events, MOST);

		got += nb;
		idle = nb > 0 ? 0 : idle + 1;
	}
	assert_int_equal(got, nb_in);
}

static void
forward_goes_on(void **state)
{
	struct rte_event event;

	st_make_two(1, ATOMIC, ATOMIC);
	st_new(0, 0, 5, 7);
	event = st_get_one(0);
	event.flow_id = 6;
	event.u64 = 8;
	event.event_type = 3;
	st_forward(0, event, 1);
	event = st_get_one(0);
	assert_int_equal(event.queue_id, 1);
	assert_int_equal(event.flow_id, 6);
	assert_int_equal(event.u64, 8);
	assert_int_equal(event.event_type, 3);
	st_release(0, event);
	st_get_none(0);
	assert_int_equal(st_stats().nb_forwarded, 1);
	assert_int_equal(st_stats().nb_dequeued, 2);
}

/* To the same queue and flow, behind those that wait there. */
static void
forward_to_itself(void **state)
{
	struct rte_event event;

	st_builtin_only();
	st_make_two(1, ATOMIC, ATOMIC);
	for (unsigned int i = 0; i < 3; i++)
		st_new(0, 0, 5, i);
	for (unsigned int i = 0; i < 30; i++) {
		event = st_get_one(0);
		assert_int_equal(event.u64, i % 3);
		st_forward(0, event, 0);
	}
}

static void
implicit_release(void **state)
{
	struct rte_event event;

	st_builtin_only();
	st_make((struct weir_sched_config){.nb_ports = 2, .nb_queues = 1, .nb_events = 64});
	st_keep(1);
	st_start();
	st_new(0, 0, 5, 1);
	st_new(0, 0, 5, 2);
	assert_int_equal(weir_sched_dequeue(st_port(0), &event, 0), 0);
	assert_int_equal(st_get_one(0).u64, 1);
	st_get_none(1);
	assert_int_equal(st_stats().nb_released, 0);
	/* A dequeue that asks for nothing releases also. */
	weir_sched_dequeue(st_port(0), &event, 0);
	assert_int_equal(st_stats().nb_released, 1);
	event = st_get_one(1);
	assert_int_equal(event.u64, 2);
	/* Port 1 does not. */
	st_get_none(1);
	assert_int_equal(st_stats().nb_released, 1);
	st_new(0, 0, 5, 3);
	st_get_none(0);
	st_release(1, event);
	assert_int_equal(st_get_one(0).u64, 3);
}

/* It was released implicitly: it cannot be released once more. */
static void
implicit_then_explicit(void **state)
{
	struct rte_event event;

	st_make((struct weir_sched_config){.nb_ports = 1, .nb_queues = 1, .nb_events = 64});
	st_start();
	st_new(0, 0, 5, 1);
	event = st_get_one(0);
	st_idle(0);
	event.op = RTE_EVENT_OP_RELEASE;
	assert_int_equal(weir_sched_enqueue(st_port(0), &event, 1), 0);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(st_stats().nb_released, 1);
	assert_int_equal(st_stats().nb_invalid, 1);
}

/* A flow is one port's. */
static void
atomic_flow(uint32_t flow, unsigned int holder)
{
	unsigned int other = 1 - holder;
	struct rte_event events[2], event;

	st_new(0, 0, flow, 1);
	events[0] = st_get_one(holder);
	st_new(0, 0, flow, 2);
	st_new(0, 0, flow, 3);
	st_new(other, 0, flow + 1, 9);
	/* Another flow comes to the other port, this one does not. */
	event = st_get_one(other);
	assert_int_equal(event.u64, 9);
	st_get_none(other);
	st_release(other, event);
	st_get_none(other);
	/* It is given up, and the other one has it. */
	st_release(holder, events[0]);
	events[0] = st_get_one(other);
	assert_int_equal(events[0].u64, 2);
	st_release(other, events[0]);
	events[0] = st_get_one(holder);
	assert_int_equal(events[0].u64, 3);
	st_release(holder, events[0]);
	st_get_none(0);
	st_get_none(1);
}

static void
atomic_exclusive(void **state)
{
	st_builtin_only();
	st_make_two(2, ATOMIC, ATOMIC);
	for (uint32_t flow = 0; flow < 8; flow++)
		for (unsigned int holder = 0; holder < 2; holder++)
			atomic_flow(flow, holder);
}

/* Several events of a flow are held: it is free when the last of them is given up. */
static void
atomic_several(void **state)
{
	struct rte_event events[8], event;
	unsigned int nb;

	st_builtin_only();
	st_make_two(2, ATOMIC, PARALLEL);
	for (uint32_t flow = 0; flow < 4; flow++) {
		for (unsigned int i = 0; i < 3; i++)
			st_new(0, 0, flow, i);
		nb = st_get(0, events, 3);
		assert_in_range(nb, 1, 3);
		for (unsigned int i = 0; i < nb; i++)
			assert_int_equal(events[i].u64, i);
		st_new(0, 0, flow, 3);
		st_get_none(1);
		for (unsigned int i = 0; i < nb; i++) {
			st_get_none(1);
			if (i % 2 == 0)
				st_release(0, events[i]);
			else
				st_forward(0, events[i], 1);
			if (i % 2 == 1) {
				event = st_get_one(1);
				assert_int_equal(event.queue_id, 1);
				st_release(1, event);
			}
		}
		for (unsigned int i = nb; i < 4; i++) {
			event = st_get_one(1);
			assert_int_equal(event.u64, i);
			st_release(1, event);
		}
	}
	st_get_none(0);
	st_get_none(1);
}

/* FORWARD gives the flow up. */
static void
atomic_forward_frees(void **state)
{
	struct rte_event event;

	st_builtin_only();
	st_make_two(2, ATOMIC, ATOMIC);
	for (uint32_t flow = 0; flow < 4; flow++) {
		st_new(0, 0, flow, 1);
		st_new(0, 0, flow, 2);
		event = st_get_one(0);
		st_get_none(1);
		st_forward(0, event, 1);
		/* The order of the two queues is nobody's business. */
		for (unsigned int i = 0; i < 2; i++) {
			event = st_get_one(1);
			assert_int_equal(event.u64, event.queue_id == 1 ? 1 : 2);
			st_release(1, event);
		}
	}
}

/* Equal flows of two queues have nothing to do with each other. */
static void
atomic_queues_apart(void **state)
{
	struct rte_event event;

	st_builtin_only();
	st_make_two(2, ATOMIC, ATOMIC);
	st_new(0, 0, 5, 1);
	event = st_get_one(0);
	st_new(0, 1, 5, 2);
	assert_int_equal(st_get_one(1).u64, 2);
	st_release(0, event);
}

/* Flows that are equal modulo their number are one. */
static void
flows_share(void **state)
{
	struct rte_event event;

	st_builtin_only();
	st_make_two(2, ATOMIC, ATOMIC);
	st_new(0, 0, 5, 1);
	event = st_get_one(0);
	st_new(0, 0, 64 + 5, 2);
	st_new(0, 0, 0xfffc0 + 5, 3);
	st_get_none(1);
	st_release(0, event);
	event = st_get_one(1);
	assert_int_equal(event.u64, 2);
	assert_int_equal(event.flow_id, 64 + 5);
	st_release(1, event);
	event = st_get_one(1);
	assert_int_equal(event.u64, 3);
	assert_int_equal(event.flow_id, 0xfffc0 + 5);
}

/* Whoever gets them, in whatever bursts: each flow's events come in order. */
static void
order_in_flow(void **state)
{
	struct rte_event burst[24], event;
	uint64_t next[5] = {0};
	unsigned int got = 0, sent = 0;

	st_make_two(3, ATOMIC, ATOMIC);
	for (unsigned int round = 0; got < 2000; round++) {
		assert_true(round < 1000000);
		for (unsigned int i = 0; i < RTE_DIM(burst); i++)
			burst[i] = st_event(RTE_EVENT_OP_NEW, 0, (sent + i) % 5, (sent + i) / 5);
		sent += weir_sched_enqueue(
			st_port(0), burst, (uint16_t)(1 + (sent * 7) % RTE_DIM(burst)));
		for (unsigned int port = 0; port < 3; port++) {
			unsigned int nb = weir_sched_dequeue(
				st_port(port), burst, (uint16_t)(1 + (got * 5) % 20));

			for (unsigned int i = 0; i < nb; i++) {
				event = burst[i];
				assert_int_equal(event.u64, next[event.flow_id]++);
				st_release(port, event);
			}
			got += nb;
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(new_comes),
		TEST(empty_calls),
		TEST(long_bursts),
		TEST(forward_goes_on),
		TEST(forward_to_itself),
		TEST(implicit_release),
		TEST(implicit_then_explicit),
		TEST(atomic_exclusive),
		TEST(atomic_several),
		TEST(atomic_forward_frees),
		TEST(atomic_queues_apart),
		TEST(flows_share),
		TEST(order_in_flow),
	};

	return ST_RUN("sched-atomic", tests);
}
