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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(groups),
		TEST(group_without_ports),
		TEST(group_keeps_held),
		TEST(groups_are_fair),
	};

	return ST_RUN("sched-group", tests);
}
