/* SPDX-License-Identifier: BSD-3-Clause */
/* The histogram: its buckets, and percentiles against a sorted list. */
#include "cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "weir_base_hist.h"

#define NB 5000

static uint64_t
next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed ^ (*seed >> 29);
}

static void
buckets_are_without_gap(void **state)
{
	unsigned int i;

	assert_int_equal(weir_base_hist_bucket_low(0), 0);
	for (i = 0; i < WEIR_BASE_HIST_BUCKETS; i++) {
		uint64_t low = weir_base_hist_bucket_low(i), high = weir_base_hist_bucket_high(i);

		assert_true(low <= high);
		assert_int_equal(weir_base_hist_index(low), i);
		assert_int_equal(weir_base_hist_index(high), i);
		if (i + 1 < WEIR_BASE_HIST_BUCKETS)
			assert_true(weir_base_hist_bucket_low(i + 1) == high + 1);
		/* The promise: 1/32 of the value. */
		assert_true(high - low <= low / 32);
	}
	assert_true(weir_base_hist_bucket_high(WEIR_BASE_HIST_BUCKETS - 1) == UINT64_MAX);
}

static void
small_values_are_exact(void **state)
{
	unsigned int i;

	for (i = 0; i < 64; i++) {
		assert_int_equal(weir_base_hist_bucket_low(i), i);
		assert_int_equal(weir_base_hist_bucket_high(i), i);
	}
	assert_int_equal(weir_base_hist_bucket_high(64), 65);
}

static void
beyond_the_last_bucket(void **state)
{
	assert_true(weir_base_hist_bucket_low(WEIR_BASE_HIST_BUCKETS) == UINT64_MAX);
	assert_true(weir_base_hist_bucket_high(WEIR_BASE_HIST_BUCKETS + 7) == UINT64_MAX);
}

static void
empty_is_zero(void **state)
{
	struct weir_base_hist *hist = calloc(1, sizeof(*hist));

	assert_int_equal(weir_base_hist_percentile(hist, 50), 0);
	assert_int_equal(weir_base_hist_percentile(hist, 100), 0);
	assert_true(weir_base_hist_mean(hist) == 0);
	free(hist);
}

static void
one_value(void **state)
{
	struct weir_base_hist *hist = calloc(1, sizeof(*hist));
	double percents[] = {-1, 0, 0.001, 50, 99.9, 100, 200, NAN};
	unsigned int i;

	weir_base_hist_add(hist, 1000003);
	/* Never above max, although the bucket ends later. */
	for (i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		assert_int_equal(weir_base_hist_percentile(hist, percents[i]), 1000003);
	assert_true(weir_base_hist_mean(hist) == 1000003);
	free(hist);
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void
percentiles_of_random_values(void **state)
{
	struct weir_base_hist *hist = calloc(1, sizeof(*hist));
	double percents[] = {0, 0.1, 1, 10, 25, 50, 75, 90, 99, 99.9, 100};
	uint64_t values[NB], seed = 7, sum = 0;
	unsigned int i;

	for (i = 0; i < NB; i++) {
		/* Of all magnitudes. */
		values[i] = next_random(&seed) >> (next_random(&seed) % 64);
		sum += values[i];
		weir_base_hist_add(hist, values[i]);
	}
	qsort(values, NB, sizeof(values[0]), compare);
	assert_int_equal(hist->count, NB);
	assert_true(hist->min == values[0] && hist->max == values[NB - 1] && hist->sum == sum);
	for (i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
		uint64_t got = weir_base_hist_percentile(hist, percents[i]);
		unsigned int rank = (unsigned int)ceil(percents[i] / 100 * NB);
		uint64_t exact = values[rank > 0 ? rank - 1 : 0];

		assert_true(got >= exact && got - exact <= exact / 32);
	}
	free(hist);
}

static void
percentile_counts_values_not_buckets(void **state)
{
	struct weir_base_hist *hist = calloc(1, sizeof(*hist));
	int i;

	for (i = 0; i < 99; i++)
		weir_base_hist_add(hist, 10);
	weir_base_hist_add(hist, 60);
	assert_int_equal(weir_base_hist_percentile(hist, 99), 10);
	assert_int_equal(weir_base_hist_percentile(hist, 99.1), 60);
	free(hist);
}

static void
merging_is_adding_all(void **state)
{
	struct weir_base_hist *all = calloc(1, sizeof(*all)), *a = calloc(1, sizeof(*a));
	struct weir_base_hist *b = calloc(1, sizeof(*b));
	uint64_t seed = 99;
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		uint64_t value = next_random(&seed) >> (i % 60);

		weir_base_hist_add(all, value);
		weir_base_hist_add(i % 3 != 0 ? a : b, value);
	}
	weir_base_hist_merge(a, b);
	assert_memory_equal(a, all, sizeof(*a));
	free(all);
	free(a);
	free(b);
}

static void
merging_with_empty_ones(void **state)
{
	struct weir_base_hist *empty = calloc(1, sizeof(*empty)), *a = calloc(1, sizeof(*a));
	struct weir_base_hist *b = calloc(1, sizeof(*b));

	weir_base_hist_add(a, 5);
	memcpy(b, a, sizeof(*a));
	weir_base_hist_merge(a, empty);
	assert_memory_equal(a, b, sizeof(*a));
	/* The least of nothing must not win. */
	weir_base_hist_merge(empty, a);
	assert_memory_equal(empty, b, sizeof(*a));
	free(empty);
	free(a);
	free(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_are_without_gap),
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(beyond_the_last_bucket),
		cmocka_unit_test(empty_is_zero),
		cmocka_unit_test(one_value),
		cmocka_unit_test(percentiles_of_random_values),
		cmocka_unit_test(percentile_counts_values_not_buckets),
		cmocka_unit_test(merging_is_adding_all),
		cmocka_unit_test(merging_with_empty_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
