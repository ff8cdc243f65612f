/* SPDX-License-Identifier: BSD-3-Clause */

/* Limits: as configured, and by default. */

#include "sched_test.h"

/* nb_held is what a port holds at most, whatever it asks for. */
static void
held_limit(unsigned int nb_held, unsigned int limit)
{
	const struct weir_sched_port_config config = {
		.no_implicit_release = true, .nb_held = (uint16_t)nb_held};
	struct rte_event events[512];
	int rc;

	st_make((struct weir_sched_config){.nb_ports = 1, .nb_queues = 1, .nb_events = 512});
	st_queue(0, PARALLEL, 0, 0);
	rc = weir_sched_port_setup(st_sched, 0, &config);
	if (rc == -ENOTSUP)
		st_skip("%s", st_log_last());
	assert_int_equal(rc, 0);
	st_start();
	for (unsigned int i = 0; i < 300; i++)
		st_new(0, 0, i, i);
	assert_int_equal(st_get(0, events, 300), limit);
	/* So many as are released make room. */
	for (unsigned int i = 0; i < limit && i < 3; i++)
		st_release(0, events[i]);
	assert_int_equal(st_get(0, events, 300), RTE_MIN(limit, 3u));
	st_teardown(NULL);
}

static void
held_default(void **state)
{
	held_limit(0, 128);
}

static void
held_one(void **state)
{
	held_limit(1, 1);
}

static void
held_most(void **state)
{
	held_limit(255, 255);
}

/* With implicit release a dequeue gets as many, each time. */
static void
held_limit_implicit(void **state)
{
	const struct weir_sched_port_config config = {.nb_held = 5};
	struct rte_event events[64];
	unsigned int got = 0, idle = 0;

	st_make((struct weir_sched_config){.nb_ports = 1, .nb_queues = 1});
	st_queue(0, PARALLEL, 0, 0);
	assert_int_equal(weir_sched_port_setup(st_sched, 0, &config), 0);
	st_start();
	for (unsigned int i = 0; i < 50; i++)
		st_new(0, 0, i, i);
	while (got < 50 && idle < 1000000) {
		uint16_t nb = weir_sched_dequeue(st_port(0), events, RTE_DIM(events));

		assert_true(nb <= 5);
		got += nb;
		idle = nb > 0 ? 0 : idle + 1;
	}
	assert_int_equal(got, 50);
}

/* 4,096 events, of which all may be NEW ones, until something else is asked for; 1,024 flows. */
static void
default_numbers(void **state)
{
	struct rte_event event;

	st_make((struct weir_sched_config){.nb_ports = 2, .nb_queues = 1});
	st_keep_all();
	st_start();
	assert_int_equal(weir_sched_reserve(st_sched, 1), 0);
	assert_int_equal(st_fill(0, 0, 10000), st_threshold());
	assert_true(st_threshold() == 4096 || !st_is_builtin());
	st_builtin_only();
	/* Flows 0 and 1024 are one, 0 and 1023 are not. All are atomic. */
	event = st_get_one(0);
	assert_int_equal(event.sched_type, ATOMIC);
}

static void
default_flows(void **state)
{
	struct rte_event events[8];

	st_builtin_only();
	st_make((struct weir_sched_config){.nb_ports = 2, .nb_queues = 1});
	st_keep_all();
	st_start();
	st_new(0, 0, 5, 1);
	assert_int_equal(st_get_one(0).u64, 1);
	st_new(0, 0, 1024 + 5, 2);
	st_new(0, 0, 1023 * 1024 + 5, 3);
	st_get_none(1);
	st_new(0, 0, 512 + 5, 4);
	assert_int_equal(st_get(1, events, 8), 1);
	assert_int_equal(events[0].u64, 4);
	assert_int_equal(events[0].flow_id, 512 + 5);
}

static void
default_threshold(void **state)
{
	st_make((struct weir_sched_config){
		.nb_ports = 1, .nb_queues = 1, .nb_events = 256, .nb_reserved = 56});
	st_start();
	assert_int_equal(st_fill(0, 0, 1000), 200);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(held_default),
		TEST(held_one),
		TEST(held_most),
		TEST(held_limit_implicit),
		TEST(default_numbers),
		TEST(default_flows),
		TEST(default_threshold),
	};

	return ST_RUN("sched-limits", tests);
}
