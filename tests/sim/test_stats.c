/* SPDX-License-Identifier: BSD-3-Clause */
/* Tallies, levels, estimates. */
#include "sim_util.h"

#include <math.h>

#include "weir_sim_stats.h"

static void
a_tally_of_few(void **state)
{
	struct weir_sim_tally tally = {0};
	const uint64_t values[] = {2, 4, 4, 4, 5, 5, 7, 9};
	unsigned int i;

	assert_true(weir_sim_tally_mean(&tally) == 0 && weir_sim_tally_sd(&tally) == 0);
	weir_sim_tally_add(&tally, 3);
	assert_true(weir_sim_tally_mean(&tally) == 3 && weir_sim_tally_sd(&tally) == 0);
	tally = (struct weir_sim_tally){0};
	for (i = 0; i < 8; i++)
		weir_sim_tally_add(&tally, values[i]);
	assert_true(weir_sim_tally_mean(&tally) == 5);
	assert_true(fabs(weir_sim_tally_sd(&tally) - sqrt(32.0 / 7)) < 1e-15);
	assert_true(tally.min == 2 && tally.max == 9 && tally.count == 8);
}

/* Doubles would have lost it: a spread of 1 about 2^50. */
static void
a_small_spread_about_a_large_mean(void **state)
{
	struct weir_sim_tally tally = {0};
	unsigned int i;

	for (i = 0; i < 1000; i++)
		weir_sim_tally_add(&tally, (UINT64_C(1) << 50) + i % 3);
	assert_true(fabs(weir_sim_tally_sd(&tally) - 0.8164965) < 1e-3);
}

/* 64 bits each, whose squares are more than 128 bits hold. */
static void
a_spread_beyond_128_bits(void **state)
{
	const uint64_t far = UINT64_C(1) << 62;
	struct weir_sim_tally wide = {0}, narrow = {0};
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		weir_sim_tally_add(&wide, i % 2 * far);
		weir_sim_tally_add(&narrow, far + i % 2 * 2);
	}
	assert_true(fabs(weir_sim_tally_sd(&wide) / (far / 2.0 * sqrt(1000 / 999.0)) - 1) < 1e-12);
	assert_true(fabs(weir_sim_tally_sd(&narrow) - sqrt(1000 / 999.0)) < 1e-12);
}

static void
a_level_over_time(void **state)
{
	struct weir_sim_level level = {0};

	weir_sim_level_set(&level, 10, 4);
	weir_sim_level_set(&level, 20, 1);
	weir_sim_level_advance(&level, 40);
	assert_true(weir_sim_level_mean(&level, 40) == (4 * 10 + 1 * 20) / 40.0);
	assert_int_equal(level.max, 4);
	weir_sim_level_restart(&level, 40);
	weir_sim_level_set(&level, 50, 0);
	assert_true(weir_sim_level_mean(&level, 10) == 1);
	assert_int_equal(level.max, 1);
	assert_true(weir_sim_level_mean(&level, 0) == 0);
}

/* From tables of Student's t, two-sided. */
static void
student_as_in_tables(void **state)
{
	assert_true(fabs(weir_sim_student(0.95, 1) - 12.7062) < 1e-4);
	assert_true(fabs(weir_sim_student(0.95, 2) - 4.30265) < 1e-5);
	assert_true(fabs(weir_sim_student(0.99, 19) - 2.86093) < 1e-5);
	assert_true(fabs(weir_sim_student(0.95, 30) - 2.04227) < 1e-5);
	assert_true(fabs(weir_sim_student(0.90, 9) - 1.83311) < 1e-5);
}

static void
an_estimate(void **state)
{
	const double values[] = {1, -1, 2, -1, 3, -1, 4, -1, 5};
	struct weir_sim_estimate estimate = weir_sim_estimate(values, 2, 5, 0.95);

	assert_true(fabs(estimate.mean - 3) < 1e-12);
	assert_true(fabs(estimate.sd - sqrt(2.5)) < 1e-12);
	assert_true(fabs(estimate.half_width - 2.776445 * sqrt(0.5)) < 1e-5);
	assert_true(isinf(weir_sim_estimate(values, 2, 1, 0.95).half_width));
	assert_true(isnan(weir_sim_estimate(values, 2, 0, 0.95).mean));
}

/* What is the same in all of 49 replications is known exactly, though a 49th is not. */
static void
an_estimate_of_what_is_the_same(void **state)
{
	const double values[] = {0.7};
	struct weir_sim_estimate estimate = weir_sim_estimate(values, 0, 49, 0.95);

	assert_true(estimate.mean == 0.7 && estimate.sd == 0 && estimate.half_width == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tally_of_few),
		cmocka_unit_test(a_small_spread_about_a_large_mean),
		cmocka_unit_test(a_spread_beyond_128_bits),
		cmocka_unit_test(a_level_over_time),
		cmocka_unit_test(student_as_in_tables),
		cmocka_unit_test(an_estimate),
		cmocka_unit_test(an_estimate_of_what_is_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
