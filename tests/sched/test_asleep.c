/* SPDX-License-Identifier: BSD-3-Clause */

/* A port that sleeps within a dequeue: what has woken it is what that returns. It may not be called again for long. */

#include <pthread.h>
#include <unistd.h>

#include "sched_test.h"

#define ROUNDS   20
#define SLEEPER  1
#define SLEEP_US 10000000 /* longer than the test may take */

static uint64_t
nb_sleeps(void)
{
	uint64_t nb;

	CHECK(weir_sched_xstat_by_name(st_sched, WEIR_SCHED_PART_PORT, SLEEPER, "sleeps", &nb) ==
		0);
	return nb;
}

/* @return what the first dequeue that slept returned */
static void *
sleep_once(void *arg)
{
	struct rte_event event;
	uint64_t before;
	uint16_t got;

	do {
		before = nb_sleeps();
		got = weir_sched_dequeue(st_port(SLEEPER), &event, 1);
	} while (nb_sleeps() == before);
	return (void *)(uintptr_t)got;
}

/* A thread that calls SLEEPER, and sleeps or is just about to. */
static pthread_t
put_to_sleep(void)
{
	const uint64_t before = nb_sleeps();
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, sleep_once, NULL), 0);
	while (nb_sleeps() == before)
		usleep(100);
	return thread;
}

static void
who_is_woken_gets_it(void **state)
{
	struct weir_sched_config config = st_config(2, 1);
	pthread_t thread;
	void *got;

	config.idle_sleep_us = SLEEP_US;
	st_make(config);
	assert_int_equal(weir_sched_port_setup(
				 st_sched, 0, &(struct weir_sched_port_config){.producer = true}),
		0);
	st_start();
	for (uint64_t round = 0; round < ROUNDS; round++) {
		thread = put_to_sleep();
		usleep(1000); /* it is counted just before */
		st_new(0, 0, (uint32_t)round, round);
		assert_int_equal(pthread_join(thread, &got), 0);
		assert_int_equal((uintptr_t)got, 1);
	}
}

/* It has to sleep first: it comes back with nothing, long before the sleep would be over. */
static void
who_is_wanted_comes_back(void **state)
{
	struct weir_sched_config config = st_config(2, 1);
	pthread_t thread;
	void *got;

	config.idle_sleep_us = SLEEP_US;
	st_make(config);
	st_start();
	for (uint64_t round = 0; round < ROUNDS; round++) {
		thread = put_to_sleep();
		usleep(round % 2 * 1000); /* it is counted just before */
		weir_sched_wake(st_sched, (uint64_t)1 << SLEEPER);
		assert_int_equal(pthread_join(thread, &got), 0);
		assert_int_equal((uintptr_t)got, 0);
	}
}

/* It was not asleep then: it does not sleep when it would next; after that it does. */
static void
who_was_wanted_does_not_sleep(void **state)
{
	struct weir_sched_config config = st_config(2, 1);
	struct rte_event event;
	uint64_t end, before;

	config.idle_sleep_us = 1000;
	st_make(config);
	st_start();
	before = nb_sleeps();
	end = weir_base_time_ns() + 20000000;
	while (weir_base_time_ns() < end) {
		weir_sched_wake(st_sched, UINT64_MAX);
		assert_int_equal(weir_sched_dequeue(st_port(SLEEPER), &event, 1), 0);
	}
	assert_int_equal(nb_sleeps(), before);
	while (nb_sleeps() == before)
		assert_int_equal(weir_sched_dequeue(st_port(SLEEPER), &event, 1), 0);
	weir_sched_wake(NULL, UINT64_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_is_woken_gets_it),
		TEST(who_is_wanted_comes_back),
		TEST(who_was_wanted_does_not_sleep),
	};

	return ST_RUN("sched-asleep", tests);
}
