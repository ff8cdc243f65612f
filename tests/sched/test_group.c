/* SPDX-License-Identifier: BSD-3-Clause */

/* One thread: groups of ports. */

#include "sched_test.h"

/* Ports outside of a group get nothing of it. */
static void
groups_of_type(uint8_t type)
{
	struct rte_event event;

	st_make(st_config(3, 2));
	st_queue(0, type, 0, 1);
	st_queue(1, type, 0, 0);
	st_group(1, 1 << 1);
	st_keep_all();
	st_start();
	for (uint32_t i = 0; i < 24; i++)
		st_new(i % 3, 0, i, i);
	st_get_none(0);
	st_get_none(2);
	for (uint32_t i = 0; i < 8; i++)
		st_release(1, st_get_one(1));
	/* To port 2: port 1 gets none any more. */
	st_group(1, 1 << 2);
	st_get_none(1);
	st_get_none(0);
	for (uint32_t i = 0; i < 8; i++)
		st_release(2, st_get_one(2));
	/* To nobody: they wait; the other queue's do not. */
	st_group(1, 0);
	st_get_none(0);
	st_get_none(1);
	st_get_none(2);
	st_new(0, 0, 9, 100);
	st_new(0, 1, 9, 101);
	event = st_get_one(1);
	assert_int_equal(event.u64, 101);
	st_release(1, event);
	st_get_none(0);
	/* To all. */
	st_group(1, 7);
	for (uint32_t i = 0; i < 9; i++)
		st_release(i % 3, st_get_one(i % 3));
	st_get_none(0);
	st_get_none(1);
	st_get_none(2);
	st_teardown(NULL);
}

static void
groups(void **state)
{
	st_builtin_only();
	for (uint8_t type = 0; type < 3; type++)
		groups_of_type(type);
}

/* A group has no ports until it is told which. */
static void
group_without_ports(void **state)
{
	st_builtin_only();
	st_make(st_config(2, 2));
	st_queue(0, ATOMIC, 0, 5);
	st_start();
	for (uint32_t i = 0; i < 10; i++)
		st_new(0, 0, i, i);
	st_get_none(0);
	st_get_none(1);
	st_group(5, 2);
	for (uint32_t i = 0; i < 10; i++)
		st_get_one(1);
	st_get_none(1);
}

/* A port that is taken out keeps what it holds: flow and place. */
static void
group_keeps_held(void **state)
{
	struct rte_event held, event;

	st_builtin_only();
	st_make(st_config(2, 2));
	st_queue(0, ATOMIC, 0, 1);
	st_group(1, 1);
	st_keep_all();
	st_start();
	for (uint32_t flow = 0; flow < 4; flow++) {
		st_group(1, 1);
		for (uint32_t i = 0; i < 3; i++)
			st_new(1, 0, flow, i);
		held = st_get_one(0);
		assert_int_equal(held.u64, 0);
		st_group(1, 2);
		st_get_none(0);
		st_get_none(1); /* the flow is port 0's */
		st_forward(0, held, 1);
		for (uint32_t i = 1; i < 3; i++) {
			event = st_get_one(1);
			if (event.queue_id == 1) {
				st_release(1, event);
				event = st_get_one(1);
			}
			assert_int_equal(event.u64, i);
			st_release(1, event);
		}
		st_empty(2);
	}
}

/* Groups of one priority: none keeps others out. */
static void
groups_are_fair(void **state)
{
	st_builtin_only();
	for (unsigned int starved = 0; starved < 2; starved++) {
		unsigned int rounds = 0, got = 0;

		st_make(st_config(2, 3));
		for (uint8_t i = 0; i < 3; i++)
			st_queue(i, ATOMIC, 0, i);
		st_group(1, 3);
		st_group(2, 3);
		st_keep_all();
		st_start();
		for (unsigned int i = 0; i < 8; i++)
			st_new(0, (uint8_t)(1 + starved), i, 100);
		for (unsigned int i = 0; i < 32; i++)
			st_new(0, (uint8_t)(starved == 0 ? 0 : 1), i, 0);
		while (got < 8) {
			struct rte_event event = st_get_one(0);

			if (rounds++ > 2000)
				fail_msg("group %u: %u of 8 came", 1 + starved, got);
			if (event.u64 == 100) {
				got++;
				st_release(0, event);
			} else {
				st_forward(0, event, event.queue_id);
			}
		}
		st_teardown(NULL);
	}
}

/* event_sw: a port that was taken out gets flows that it holds events of, and what it was to get before; no others. */
static void
group_left_on_sw(void **state)
{
	struct rte_event held, next, event;
	unsigned int nb = 0;

	if (!st_is_driver("event_sw"))
		st_skip("what event_sw does");
	st_make(st_config(3, 1));
	st_queue(0, ATOMIC, 0, 1);
	st_group(1, 1);
	st_producer_on_device(2);
	st_keep_all();
	st_start();
	st_new(2, 0, 1, 0);
	held = st_get_one(0);
	st_group(1, 2);
	for (unsigned int flow = 1; flow < 20; flow++)
		st_new(2, 0, flow, flow);
	/* This one's flow is still where it was. */
	next = st_get_one(0);
	assert_int_equal(next.u64, 1);
	st_get_none(0);
	for (; nb < 18; nb++) {
		event = st_get_one(1);
		assert_int_not_equal(event.flow_id, 1);
		st_release(1, event);
	}
	st_release(0, held);
	st_release(0, next);
	st_empty(2);
	/* Now nobody holds it. */
	st_new(2, 0, 1, 2);
	st_get_none(0);
	assert_int_equal(st_get_one(1).u64, 2);
}

/* What a device cannot change is refused, and as it was. */
static void
group_refused(void **state)
{
	uint64_t ports;

	if (st_is_builtin())
		st_skip("builtin can");
	st_make(st_config(3, 1));
	st_queue(0, st_is_driver("event_dsw") ? ATOMIC : ORDERED, 0, 1);
	st_group(1, 1 << 1);
	if (st_is_driver("event_opdl"))
		assert_int_equal(weir_sched_port_setup(st_sched, 2,
					 &(struct weir_sched_port_config){.producer = true}),
			0);
	st_producer_on_device(0);
	st_start();
	st_log_clear();
	assert_int_equal(weir_sched_group_set(st_sched, 1, 1 << 1 | 1 << 2), -ENOTSUP);
	assert_non_null(strstr(st_log_last(), "while it runs"));
	assert_int_equal(weir_sched_group_get(st_sched, 1, &ports), 0);
	assert_int_equal(ports, 1 << 1);
	assert_int_equal(weir_sched_queue_ports(st_sched, 0), 1 << 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(groups),
		TEST(group_without_ports),
		TEST(group_keeps_held),
		TEST(groups_are_fair),
		TEST(group_left_on_sw),
		TEST(group_refused),
	};

	return ST_RUN("sched-group", tests);
}
