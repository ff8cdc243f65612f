/* SPDX-License-Identifier: BSD-3-Clause */
/* The time base against the kernel's clock. */
#include "cmocka_all.h"

#include <pthread.h>
#include <time.h>

#include "weir_base.h"

#define SECOND 1000000000ull

static void
rate_agrees_with_the_clock(void **state)
{
	struct timespec pause = {.tv_nsec = 20000000};
	int tries, agreed = 0;

	/* A try is lost when something comes between the reads of the two clocks. */
	for (tries = 0; tries < 20 && agreed == 0; tries++) {
		uint64_t start_ns = weir_base_time_ns(), start = weir_base_cycles();
		uint64_t passed_ns, passed;

		nanosleep(&pause, NULL);
		passed_ns = weir_base_time_ns() - start_ns;
		passed = weir_base_cycles_to_ns(weir_base_cycles() - start);
		assert_true(passed_ns >= 20000000);
		agreed += passed >= passed_ns - passed_ns / 100 &&
			  passed <= passed_ns + passed_ns / 100;
	}
	assert_int_equal(agreed, 1);
}

static void
time_does_not_go_back(void **state)
{
	uint64_t last_ns = 0, last = 0;
	int i;

	for (i = 0; i < 100000; i++) {
		uint64_t cycles = weir_base_cycles(), ns = weir_base_time_ns();

		assert_true(cycles >= last);
		assert_true(ns >= last_ns);
		last = cycles;
		last_ns = ns;
	}
}

static void
conversion_is_exact_at_whole_seconds(void **state)
{
	uint64_t hz = weir_base_cycles_hz();
	uint64_t years[] = {0, 1, 86400, 31557600ull, 100 * 31557600ull};
	unsigned int i;

	assert_true(hz > 1000000 && hz < 18 * SECOND);
	for (i = 0; i < sizeof(years) / sizeof(years[0]); i++) {
		if (years[i] > UINT64_MAX / hz)
			continue;
		assert_int_equal(weir_base_cycles_to_ns(years[i] * hz), years[i] * SECOND);
		assert_int_equal(weir_base_ns_to_cycles(years[i] * SECOND), years[i] * hz);
	}
}

static void
conversion_goes_there_and_back(void **state)
{
	uint64_t ns;

	/* Up to 500 years, unless the counter itself has wrapped by then. */
	for (ns = 1; ns < 500 * 31557600ull * SECOND / 3; ns = ns * 3 + 1) {
		uint64_t cycles = weir_base_ns_to_cycles(ns), back;

		if (cycles == UINT64_MAX)
			break;
		back = weir_base_cycles_to_ns(cycles);
		/* Rounding down twice loses less than a cycle and a nanosecond. */
		assert_true(back <= ns && ns - back <= 1 + SECOND / weir_base_cycles_hz() + 1);
	}
}

static void
conversion_never_wraps(void **state)
{
	uint64_t hz = weir_base_cycles_hz();

	if (hz >= SECOND)
		assert_int_equal(weir_base_ns_to_cycles(UINT64_MAX), UINT64_MAX);
	else
		assert_int_equal(weir_base_cycles_to_ns(UINT64_MAX), UINT64_MAX);
	assert_true(weir_base_cycles_to_ns(UINT64_MAX) >= weir_base_cycles_to_ns(UINT64_MAX / 2));
}

static void *
ask_rate(void *arg)
{
	*(uint64_t *)arg = weir_base_cycles_hz();
	return NULL;
}

static void
rate_is_the_same_for_all_threads(void **state)
{
	pthread_t threads[4];
	uint64_t hz[4];
	int i;

	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_rate, &hz[i]), 0);
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(hz[i], weir_base_cycles_hz());
	}
}

static void
read_cost_is_small(void **state)
{
	/* Trapped by an emulator it may take microseconds; a second would be nonsense. */
	assert_true(weir_base_cycles_read_cost() < weir_base_cycles_hz() / 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_is_the_same_for_all_threads),
		cmocka_unit_test(rate_agrees_with_the_clock),
		cmocka_unit_test(time_does_not_go_back),
		cmocka_unit_test(conversion_is_exact_at_whole_seconds),
		cmocka_unit_test(conversion_goes_there_and_back),
		cmocka_unit_test(conversion_never_wraps),
		cmocka_unit_test(read_cost_is_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
