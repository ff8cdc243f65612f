/* SPDX-License-Identifier: BSD-3-Clause */

/* One thread: the switch of a held event to another flow and type. */

#include "sched_test.h"

static void
make_switch(unsigned int nb_ports)
{
	st_make(st_config(nb_ports, 2));
	st_queue(0, ATOMIC, 0, 0);
	st_queue(1, WEIR_SCHED_TYPE_BY_EVENT, 0, 0);
	st_keep_all();
	st_start();
}

/* Nobody has the new flow: it is held there, and the old one is free. */
static void
switch_in_place(void **state)
{
	struct rte_event held, event;

	st_builtin_only();
	make_switch(2);
	for (uint32_t flow = 0; flow < 4; flow++) {
		for (uint32_t to = flow + 1; to < flow + 3; to++) {
			st_new(0, 0, flow, 1);
			st_new(0, 0, flow, 2);
			held = st_get_one(0);
			assert_int_equal(weir_sched_switch(st_port(0), &held, to, ATOMIC), 0);
			assert_int_equal(held.flow_id, to);
			assert_int_equal(held.u64, 1);
			/* The old flow's next one. */
			event = st_get_one(1);
			assert_int_equal(event.u64, 2);
			st_release(1, event);
			/* The new flow's waits. */
			st_new(1, 0, to, 3);
			st_get_none(1);
			st_release(0, held);
			event = st_get_one(1);
			assert_int_equal(event.u64, 3);
			st_release(1, event);
		}
	}
	st_get_none(0);
	st_get_none(1);
	assert_int_equal(st_stats().nb_invalid, 0);
}

/* Somebody holds the new flow, and more wait: it comes again, after these. */
static void
switch_waits(void **state)
{
	struct rte_event other, held, event;

	st_builtin_only();
	make_switch(2);
	for (uint32_t flow = 0; flow < 4; flow++) {
		st_new(0, 0, flow + 1, 1);
		st_new(0, 0, flow + 1, 2);
		other = st_get_one(1);
		st_new(0, 0, flow, 3);
		held = st_get_one(0);
		assert_int_equal(held.u64, 3);
		assert_int_equal(
			weir_sched_switch(st_port(0), &held, flow + 1, ATOMIC), -EINPROGRESS);
		/* It is not held any more. */
		held.op = RTE_EVENT_OP_RELEASE;
		assert_int_equal(weir_sched_enqueue(st_port(0), &held, 1), 0);
		assert_int_equal(rte_errno, EINVAL);
		/* Its old flow is free. */
		st_new(1, 0, flow, 4);
		event = st_get_one(0);
		assert_int_equal(event.u64, 4);
		st_release(0, event);
		st_get_none(0);
		st_release(1, other);
		event = st_get_one(0);
		assert_int_equal(event.u64, 2);
		st_release(0, event);
		event = st_get_one(0);
		assert_int_equal(event.u64, 3);
		assert_int_equal(event.flow_id, flow + 1);
		st_release(0, event);
		st_get_none(0);
		st_get_none(1);
	}
}

/* Others wait in the new flow, though nobody holds it. */
static void
switch_behind_waiting(void **state)
{
	struct rte_event held, event;

	st_builtin_only();
	make_switch(2);
	for (uint32_t flow = 0; flow < 4; flow++) {
		st_new(0, 0, flow, 3);
		held = st_get_one(0);
		st_new(0, 0, flow + 1, 1);
		assert_int_equal(
			weir_sched_switch(st_port(0), &held, flow + 1, ATOMIC), -EINPROGRESS);
		for (unsigned int i = 0; i < 2; i++) {
			event = st_get_one(1);
			assert_int_equal(event.u64, i == 0 ? 1 : 3);
			st_release(1, event);
		}
	}
}

/* To the flow that it has: nobody is before it. */
static void
switch_to_same(void **state)
{
	struct rte_event held, event;

	st_builtin_only();
	make_switch(2);
	st_new(0, 0, 3, 1);
	held = st_get_one(0);
	assert_int_equal(weir_sched_switch(st_port(0), &held, 3, ATOMIC), 0);
	st_new(0, 0, 3, 2);
	st_get_none(1);
	st_release(0, held);
	event = st_get_one(1);
	assert_int_equal(event.u64, 2);
	st_release(1, event);
}

/* Which queue it came from is known, whatever is written into it: also of those that came straight, as no others were there. */
static void
switch_parallel(void **state)
{
	const struct weir_sched_port_config producer = {.producer = true};
	struct rte_event events[8];

	st_builtin_only();
	st_make(st_config(2, 3));
	st_queue(2, PARALLEL, 0, 0);
	assert_int_equal(weir_sched_port_setup(st_sched, 1, &producer), 0);
	st_start();
	st_new(1, 2, 3, 0);
	st_release(0, st_get_one(0)); /* the port's groups are known then */
	for (unsigned int i = 0; i < RTE_DIM(events); i++)
		st_new(1, 2, 3, i);
	assert_int_equal(weir_sched_dequeue(st_port(0), events, RTE_DIM(events)), RTE_DIM(events));
	for (unsigned int i = 0; i < RTE_DIM(events); i++) {
		events[i].queue_id = 1;
		assert_int_equal(weir_sched_switch(st_port(0), &events[i], 4, PARALLEL), 0);
		assert_int_equal(events[i].queue_id, 2);
		assert_int_equal(events[i].flow_id, 4);
	}
}

/* To parallel: nobody can be before it. The flow is free. */
static void
switch_to_parallel(void **state)
{
	struct rte_event held, event = st_event(RTE_EVENT_OP_NEW, 1, 3, 1);

	st_builtin_only();
	make_switch(2);
	event.sched_type = ATOMIC;
	assert_int_equal(weir_sched_enqueue(st_port(0), &event, 1), 1);
	held = st_get_one(0);
	event.u64 = 2;
	assert_int_equal(weir_sched_enqueue(st_port(0), &event, 1), 1);
	st_get_none(1);
	assert_int_equal(weir_sched_switch(st_port(0), &held, 3, PARALLEL), 0);
	assert_int_equal(held.sched_type, PARALLEL);
	event = st_get_one(1);
	assert_int_equal(event.u64, 2);
	/* It goes into the flow again when that is free. */
	st_release(1, event);
	assert_int_equal(weir_sched_switch(st_port(0), &held, 3, ATOMIC), 0);
	event.op = RTE_EVENT_OP_NEW;
	event.u64 = 4;
	assert_int_equal(weir_sched_enqueue(st_port(0), &event, 1), 1);
	st_get_none(1);
	st_release(0, held);
	assert_int_equal(st_get_one(1).u64, 4);
}

/* From ordered: behind those of the old flow that are out. */
static void
switch_from_ordered(void **state)
{
	struct rte_event events[3], event = st_event(RTE_EVENT_OP_NEW, 1, 3, 0);

	st_builtin_only();
	make_switch(2);
	event.sched_type = ORDERED;
	for (unsigned int i = 0; i < 3; i++) {
		event.u64 = i;
		assert_int_equal(weir_sched_enqueue(st_port(0), &event, 1), 1);
	}
	for (unsigned int i = 0; i < 3; i++)
		events[i] = st_get_one(0);
	for (unsigned int i = 2; i > 0; i--)
		assert_int_equal(
			weir_sched_switch(st_port(0), &events[i], 4, ATOMIC), -EINPROGRESS);
	st_get_none(1);
	events[0].sched_type = ATOMIC;
	events[0].flow_id = 4;
	st_forward(0, events[0], 1);
	for (unsigned int i = 0; i < 3; i++) {
		event = st_get_one(1);
		assert_int_equal(event.u64, i);
		assert_int_equal(event.sched_type, ATOMIC);
		assert_int_equal(event.flow_id, 4);
		st_release(1, event);
	}
}

/* What was written into the event does not take it to another queue: there may be ports that it is not for. */
static void
switch_stays(void **state)
{
	struct rte_event held;

	if (st_is_driver("event_opdl"))
		st_skip("event_opdl: one way only through its queues");
	st_make(st_config(1, 2));
	st_keep_if_possible();
	st_start();
	for (unsigned int queue = 1; queue < 3; queue++) {
		int rc;

		st_new(0, 0, 3, 1);
		held = st_get_one(0);
		held.queue_id = (uint8_t)queue;
		rc = weir_sched_switch(st_port(0), &held, 4, ATOMIC);
		assert_true(rc == 0 || rc == -EINPROGRESS);
		if (rc == -EINPROGRESS)
			held = st_get_one(0);
		assert_int_equal(held.queue_id, 0);
		assert_int_equal(held.flow_id, 4);
		st_release(0, held);
	}
	assert_int_equal(st_xstat(WEIR_SCHED_PART_QUEUE, 1, "enqueued"), 0);
	assert_int_equal(st_stats().nb_invalid, 0);
}

static void
switch_arguments(void **state)
{
	struct rte_event held, forged;

	st_builtin_only();
	make_switch(2);
	st_new(0, 0, 3, 1);
	held = st_get_one(0);
	assert_int_equal(weir_sched_switch(st_port(0), &held, 4, 3), -EINVAL);
	assert_int_equal(weir_sched_switch(st_port(0), &held, 4, 0xff), -EINVAL);
	assert_int_equal(weir_sched_switch(st_port(1), &held, 4, ATOMIC), -EINVAL);
	forged = held;
	forged.impl_opaque ^= 0x55;
	assert_int_equal(weir_sched_switch(st_port(0), &forged, 4, ATOMIC), -EINVAL);
	assert_int_equal(st_stats().nb_invalid, 4);
	/* It is held still, as it was. */
	st_new(0, 0, 3, 2);
	st_get_none(1);
	st_release(0, held);
	assert_int_equal(weir_sched_switch(st_port(0), &held, 4, ATOMIC), -EINVAL);
	assert_int_equal(st_stats().nb_invalid, 5);
	assert_int_equal(st_get_one(1).u64, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(switch_in_place),
		TEST(switch_waits),
		TEST(switch_behind_waiting),
		TEST(switch_to_same),
		TEST(switch_parallel),
		TEST(switch_to_parallel),
		TEST(switch_from_ordered),
		TEST(switch_stays),
		TEST(switch_arguments),
	};

	return ST_RUN("sched-switch", tests);
}
