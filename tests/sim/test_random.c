/* SPDX-License-Identifier: BSD-3-Clause */
/* Random streams, elementary functions, distributions. */
#include "sim_util.h"

#include <math.h>

#include "weir_sim_random.h"

#define NB 200000

/* What the generator's authors' own program prints for this state. */
static void
the_generator_is_the_known_one(void **state)
{
	struct weir_sim_random random = {{1, 2, 3, 4}};
	const uint64_t known[] = {11520, 0, 1509978240, 1215971899390074240};
	unsigned int i;

	for (i = 0; i < 4; i++)
		assert_int_equal(weir_sim_random_u64(&random), known[i]);
}

static uint64_t
first_of(uint64_t seed, uint64_t replication, const char *name)
{
	struct weir_sim_random random;

	weir_sim_random_init(&random, seed, replication, name);
	return weir_sim_random_u64(&random);
}

static void
streams_differ_by_seed_replication_and_name(void **state)
{
	const uint64_t first = first_of(1, 0, "a");

	assert_int_equal(first_of(1, 0, "a"), first);
	assert_true(first_of(2, 0, "a") != first);
	assert_true(first_of(1, 1, "a") != first);
	assert_true(first_of(1, 0, "b") != first);
	assert_true(first_of(0, 1, "a") != first_of(1, 0, "a"));
	assert_true(first_of(1, 0, "") != first_of(1, 0, "a"));
}

static double
ulp(double x)
{
	x = fabs(x);
	return nextafter(x, INFINITY) - x;
}

/* Against libm, which is right within 1 unit in the last place. */
static void
logarithm_and_exponential_are_exact_enough(void **state)
{
	struct weir_sim_random random;
	unsigned int i;

	weir_sim_random_init(&random, 1, 0, "functions");
	for (i = 0; i < NB; i++) {
		const double u = weir_sim_random_open(&random);
		const double near_one = 1 + (u - 0.5) / 1000,
			     wide = ldexp(u, (int)(i % 2000) - 1000);
		const double power = (u - 0.5) * 1400;

		assert_true(fabs(weir_sim_log(u) - log(u)) <= 2 * ulp(log(u)));
		assert_true(fabs(weir_sim_log(near_one) - log(near_one)) <= 2 * ulp(log(near_one)));
		assert_true(fabs(weir_sim_log(wide) - log(wide)) <= 2 * ulp(log(wide)));
		assert_true(fabs(weir_sim_exp(power) - exp(power)) <= 2 * ulp(exp(power)));
	}
	/* Where the pieces of the logarithm's table meet, and their middles. */
	for (i = 11 * 32; i <= 22 * 32; i++) {
		const double at = i / 512.0, around[] = {nextafter(at, 0), at, nextafter(at, 2)};

		for (unsigned int k = 0; k < 3; k++)
			assert_true(fabs(weir_sim_log(around[k]) - log(around[k])) <=
				    2 * ulp(log(around[k])));
	}
}

static void
functions_at_their_ends(void **state)
{
	assert_true(weir_sim_log(1) == 0);
	assert_true(weir_sim_log(0) == -INFINITY);
	assert_true(isnan(weir_sim_log(-1)) && isnan(weir_sim_log(NAN)));
	assert_true(weir_sim_log(INFINITY) == INFINITY);
	assert_true(fabs(weir_sim_log(5e-324) - log(5e-324)) < 1e-12);
	assert_true(weir_sim_exp(0) == 1);
	assert_true(weir_sim_exp(1000) == INFINITY && weir_sim_exp(-1000) == 0);
	assert_true(isnan(weir_sim_exp(NAN)));
	assert_true(weir_sim_pow(2, 10) > 1024 - 1e-9 && weir_sim_pow(2, 10) < 1024 + 1e-9);
	assert_true(weir_sim_pow(0, 0) == 1 && weir_sim_pow(0, 2) == 0);
}

/* The bits of all of them together: the same on every machine, with every compiler and all of its flags. */
static void
functions_have_the_same_bits_everywhere(void **state)
{
	struct weir_sim_random random;
	uint64_t sum = 0, bits;
	unsigned int i;
	double x;

	weir_sim_random_init(&random, 7, 3, "bits");
	for (i = 0; i < NB; i++) {
		x = weir_sim_random_open(&random);
		x = weir_sim_pow(x * 10, 3 * x) + weir_sim_log(x) + weir_sim_exp(-x);
		memcpy(&bits, &x, sizeof(bits));
		sum = (sum ^ bits) * 0x100000001b3ull;
	}
	assert_int_equal(sum, 0x79ae65ad7958e6b3ull);
}

static void
below_is_below_and_reaches_all(void **state)
{
	struct weir_sim_random random;
	unsigned int counts[7] = {0}, i;

	weir_sim_random_init(&random, 1, 0, "below");
	for (i = 0; i < 7 * 10000; i++) {
		const uint64_t value = weir_sim_random_below(&random, 7);

		assert_true(value < 7);
		counts[value]++;
	}
	for (i = 0; i < 7; i++) /* five standard deviations */
		assert_true(counts[i] > 10000 - 470 && counts[i] < 10000 + 470);
	assert_int_equal(weir_sim_random_below(&random, 1), 0);
}

/* Mean and spread of a million numbers, within five standard errors. */
static void
distributions_have_their_parameters(void **state)
{
	const struct {
		struct weir_sim_dist dist;
		double mean, sd, kurtosis; /* of the fourth moment: how much the sd itself varies */
	} cases[] = {
		{{WEIR_SIM_DIST_CONSTANT, 3, 0}, 3, 0, 1},
		{{WEIR_SIM_DIST_UNIFORM, 2, 8}, 5, sqrt(3), 1.8},
		{{WEIR_SIM_DIST_EXPONENTIAL, 4, 0}, 4, 4, 9},
		{{WEIR_SIM_DIST_LOGNORMAL, 1, 0.25}, exp(1.03125),
			exp(1.03125) * sqrt(expm1(0.0625)), 6},
		{weir_sim_dist_lognormal(10, 0.5), 10, 10 * sqrt(expm1(0.25)), 9},
	};
	struct weir_sim_random random;
	unsigned int i, j;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double sum = 0, squares = 0, x, mean, sd;

		weir_sim_random_init(&random, 1, i, "distributions");
		for (j = 0; j < NB; j++) {
			x = weir_sim_dist_draw(&cases[i].dist, &random);
			assert_true(x >= 0);
			sum += x;
			squares += (x - cases[i].mean) * (x - cases[i].mean);
		}
		mean = sum / NB;
		sd = sqrt(squares / NB);
		assert_true(fabs(mean - cases[i].mean) <= 5 * cases[i].sd / sqrt(NB) + 1e-9);
		assert_true(fabs(sd - cases[i].sd) <=
			    5 * cases[i].sd * sqrt((cases[i].kurtosis - 1) / 4 / NB) + 1e-9);
		assert_true(fabs(weir_sim_dist_mean(&cases[i].dist) - cases[i].mean) < 1e-9);
	}
}

/* Each rank as often as it should be, within five standard deviations; also where exponent and number are at their ends. */
static void
zipf_has_its_probabilities(void **state)
{
	enum { DRAWS = 3 * NB };
	const struct {
		uint64_t nb;
		double skew;
	} cases[] = {{1, 1}, {2, 1}, {10, 0}, {10, 0.5}, {10, 1}, {10, 1.00001}, {1000, 0.8},
		{1000, 2}, {5, 2.5}, {UINT32_MAX, 1}, {UINT32_MAX, 1.5}, {3, 10}};
	struct weir_sim_random random;
	unsigned int i, j;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned int counts[10] = {0}, shown, rest = DRAWS;
		struct weir_sim_zipf zipf;
		double all = 0, p, left = 1;
		uint64_t rank;

		/* The sum of k^-skew; of its end, beyond a million, the integral. */
		for (rank = 1; rank <= cases[i].nb && rank <= 1000000; rank++)
			all += pow((double)rank, -cases[i].skew);
		if (cases[i].nb > 1000000)
			all += cases[i].skew == 1 ? log(((double)cases[i].nb + 0.5) / 1000000.5)
						  : (pow(1000000.5, 1 - cases[i].skew) -
							    pow((double)cases[i].nb + 0.5,
								    1 - cases[i].skew)) /
							    (cases[i].skew - 1);
		weir_sim_zipf_init(&zipf, cases[i].nb, cases[i].skew);
		weir_sim_random_init(&random, 1, i, "zipf");
		for (j = 0; j < DRAWS; j++) {
			rank = weir_sim_zipf_draw(&zipf, &random);
			assert_true(rank < cases[i].nb);
			if (rank < 10)
				counts[rank]++;
		}
		shown = cases[i].nb < 10 ? (unsigned int)cases[i].nb : 10;
		for (j = 0; j < shown; j++) {
			p = pow(j + 1, -cases[i].skew) / all;
			assert_true(
				fabs(counts[j] - p * DRAWS) <= 5 * sqrt(p * (1 - p) * DRAWS) + 0.5);
			rest -= counts[j];
			left -= p;
		}
		assert_true(fabs(rest - left * DRAWS) <= 5 * sqrt(fabs(left) * DRAWS) + 0.5);
	}
}

static void
tables_have_their_weights(void **state)
{
	const double values[] = {5, 1, 7, 3}, weights[] = {1, 0, 2, 0};
	struct weir_sim_random random;
	struct weir_sim_table table;
	unsigned int i, fives = 0, counts[8] = {0};

	assert_int_equal(weir_sim_table_init(&table, values, weights, 4), 0);
	assert_true(fabs(weir_sim_table_mean(&table) - 19.0 / 3) < 1e-12);
	weir_sim_random_init(&random, 1, 0, "table");
	for (i = 0; i < NB; i++) {
		const double value = weir_sim_table_draw(&table, &random);

		assert_true(value == 5 || value == 7);
		fives += value == 5;
	}
	assert_true(fabs(fives - NB / 3.0) < 5 * sqrt(NB * 2.0 / 9));
	weir_sim_table_free(&table);
	assert_int_equal(table.nb, 0);
	assert_int_equal(weir_sim_table_init(&table, values, NULL, 4), 0);
	for (i = 0; i < NB; i++)
		counts[(int)weir_sim_table_draw(&table, &random)]++;
	for (i = 1; i < 8; i += 2)
		assert_true(fabs(counts[i] - NB / 4.0) < 5 * sqrt(NB * 3.0 / 16));
	weir_sim_table_free(&table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_generator_is_the_known_one),
		cmocka_unit_test(streams_differ_by_seed_replication_and_name),
		cmocka_unit_test(logarithm_and_exponential_are_exact_enough),
		cmocka_unit_test(functions_at_their_ends),
		cmocka_unit_test(functions_have_the_same_bits_everywhere),
		cmocka_unit_test(below_is_below_and_reaches_all),
		cmocka_unit_test(distributions_have_their_parameters),
		cmocka_unit_test(zipf_has_its_probabilities),
		cmocka_unit_test(tables_have_their_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
