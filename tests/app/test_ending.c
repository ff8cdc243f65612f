/* SPDX-License-Identifier: BSD-3-Clause */

/* Who may hold up the end of a run, and for how long: the clock is the test's. */

#include "../base/cmocka_all.h"

#include "ending.h"

#define START UINT64_C(7000000000)

static void
goes_on(void **state)
{
	struct ending ending = {0};

	assert_int_equal(ending_step(&ending, START, false, 0), 0);
	assert_int_equal(ending_step(&ending, START + 100 * ENDING_READER_NS, false, 0), 0);
}

/* A device may for a second. */
static void
full_device(void **state)
{
	struct ending ending = {0};

	assert_int_equal(ending_step(&ending, START, true, 0), ENDING_STOP);
	assert_int_equal(ending_step(&ending, START, true, 0), 0);
	assert_int_equal(ending_step(&ending, START + ENDING_DEVICE_NS, true, 0), 0);
	assert_int_equal(
		ending_step(&ending, START + ENDING_DEVICE_NS + 1, true, 0), ENDING_STOP_WAITING);
}

/* Who reads fragments may for 30 s, and is given up then; also when it was asked only once. */
static void
slow_reader(void **state)
{
	const uint64_t limit = START + UINT64_C(30000000000);
	struct ending ending = {0};

	assert_int_equal(ending_step(&ending, START, true, 0), ENDING_STOP);
	assert_int_equal(ending_step(&ending, limit, false, 0), ENDING_STOP_WAITING);
	assert_int_equal(
		ending_step(&ending, limit + 1, false, 0), ENDING_STOP_WAITING | ENDING_STOP_NOW);
	assert_int_equal(
		ending_step(&ending, 2 * limit, false, 0), ENDING_STOP_WAITING | ENDING_STOP_NOW);
}

/* A signal stops it, another one at once. */
static void
signals(void **state)
{
	struct ending ending = {0}, both = {0};

	assert_int_equal(ending_step(&ending, START, false, 1), ENDING_STOP);
	assert_int_equal(ending_step(&ending, START, false, 1), 0);
	assert_int_equal(
		ending_step(&ending, START, false, 2), ENDING_STOP_WAITING | ENDING_STOP_NOW);
	assert_int_equal(ending_step(&both, START, false, 2),
		ENDING_STOP | ENDING_STOP_WAITING | ENDING_STOP_NOW);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_on),
		cmocka_unit_test(full_device),
		cmocka_unit_test(slow_reader),
		cmocka_unit_test(signals),
	};

	return cmocka_run_group_tests_name("app-ending", tests, NULL, NULL);
}
