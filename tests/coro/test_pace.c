/* SPDX-License-Identifier: BSD-3-Clause */
/* When is the clock looked at, and when is a slice over? */
#include "pace_test.h"

static double
exponential_8000(void)
{
	return -8000 * log(uniform());
}

static double
exponential_1e9(void)
{
	return -1e9 * log(uniform());
}

static double
uniform_100(void)
{
	return 200 * uniform();
}

/* Long ones between short ones. */
static double
bursts(void)
{
	return uniform() < 0.05 ? 2000 : 100;
}

/* Not in step with slices. */
static double
other_phases(void)
{
	return nb_checks % 837 < 800 ? 53 : 1900;
}

/* Two much longer ones now and then: rarely in a slice in which each check is looked at, so how long they are is never quite known. */
static double
rare_pairs(void)
{
	static uint64_t last;
	static unsigned int left;

	if (nb_checks / 1000 != last) {
		last = nb_checks / 1000;
		left = 2;
	}
	if (left == 0)
		return phases();
	left--;
	return 8000;
}

static void
irregular(double (*spacing)(void), double within, double price)
{
	struct slices slices;

	reset(NULL);
	run_slices(spacing, 1000);
	slices = run_slices(spacing, 100000);
	print_message(
		"%.3f %% overshoot by a spacing at most, %.2f %% end with the first check; %.2f "
		"looks for the price of %.2f, %.0f ns; longest %.0f, taken for %.0f\n",
		slices.within * 100, slices.first * 100, slices.looks, slices.price, slices.length,
		slices.longest, block.longest / 2);
	assert_true(slices.within > within);
	assert_true(block.longest / 2 < slices.longest + 1);
	assert_true(slices.price < price);
	assert_true(slices.length > 0.9 * SLICE && slices.length < 1.04 * SLICE);
}

/* What slice.c can do, and at what price. */
static void
irregular_checks(void **state)
{
	irregular(exponential_200, 0.999, 4.6);
	irregular(exponential_1000, 0.999, 5.1);
	irregular(one_or_other, 0.999, 4.7);
	irregular(uniform_100, 0.998, 3.4);
	irregular(bursts, 0.98, 7.5);
	irregular(phases, 0.999, 45);
	irregular(other_phases, 0.999, 35);
	/* Where the clock is a function these are counted to the next look, and some come one too late. */
	irregular(rare_pairs, SPARSE < 19 ? 0.98 : 0.999, SPARSE < 19 ? 70 : 14);
}

/* It yields by itself after one of ten checks. @return the share of slices that were too long by the longest spacing at most */
static double
run_yielding(double (*spacing)(void), unsigned int nb, uint64_t longest)
{
	unsigned int within = 0;

	for (unsigned int i = 0; i < nb; i++) {
		const uint64_t begin = time_now;

		resume();
		do
			time_now += (uint64_t)(spacing() + 0.5);
		while (uniform() > 0.1 && !check());
		within += time_now - begin <= SLICE + longest;
	}
	return (double)within / nb;
}

/* So few in a slice that each looks, whatever a look costs there. */
#define FEWER (19 / SPARSE)

static double
one_or_other_of_few(void)
{
	return FEWER * one_or_other();
}

/* Where each check looks it is known when a slice began, whatever ended the one before. */
static void
yields_by_itself(void **state)
{
	const uint64_t longest = (uint64_t)(FEWER * 2000 + 0.5);

	run_yielding(one_or_other_of_few, 1000, longest);
	assert_true(block.sparse);
	assert_true(run_yielding(one_or_other_of_few, 100000, longest) > 0.999);
	all_are_counted();
}

/* The check next to the deadline is the last one, before it or after it; fifteen of sixteen slices need no look, in the mean. */
static void
regular_checks(void **state)
{
	static const struct {
		double spacing, length;
	} cases[] = {{10, 10000}, {100, 10000}, {1000, 10000}, {3000, 9000}, {2800, 11200},
		{2900, 8700}, {1600, 9600}, {1750, 10500}};

	for (unsigned int i = 0; i < LENGTH(cases); i++) {
		struct slices slices;

		reset(NULL);
		regular_ns = cases[i].spacing;
		run_slices(regular, 1000);
		slices = run_slices(regular, 1600);
		assert_true(fabs(slices.length - cases[i].length) < 0.001 * SLICE);
		assert_true(slices.looks < 0.13);
	}
}

/* Checks far apart in every tenth slice of those that end by count, and in no other one. */
static double
in_step(void)
{
	return nb_checks % 2000 < 1952 ? 50 : 2000;
}

/* However many slices end by count, one that is looked at is found to be longer, in the end. */
static void
longer_in_step(void **state)
{
	struct slices slices;

	run_slices(in_step, 1000);
	slices = run_slices(in_step, 100000);
	print_message("%.2f %% overshoot by a spacing at most, %.0f ns\n", slices.within * 100,
		slices.length);
	assert_true(slices.within > 0.99);
}

/* Whatever comes once in so many slices is in one that is looked at now and then, and one of sixteen is. */
static void
looks_out_of_step(void **state)
{
	enum { PERIODS = 100, LOOKS = 5000 };
	unsigned int seen[PERIODS + 1][PERIODS] = {0};

	block.trust = TRUST_MAX;
	for (unsigned int i = 0; i < LOOKS; i++) {
		block.resumes += coro_pace_blind(&block) + 1u;
		for (unsigned int period = 1; period <= PERIODS; period++)
			seen[period][block.resumes % period]++;
	}
	assert_true(block.resumes > LOOKS * 15.8 && block.resumes < LOOKS * 16.2);
	for (unsigned int period = 1; period <= PERIODS; period++)
		for (unsigned int i = 0; i < period; i++)
			assert_true(seen[period][i] > LOOKS / period / 8);
}

/* The kernel took the CPU for 10 ms, once: that is no spacing. */
static double
once_interrupted(void)
{
	static uint64_t last;
	bool now = nb_checks / 100000 != last;

	last = nb_checks / 100000;
	return now ? 10e6 : exponential_200();
}

static void
outliers(void **state)
{
	struct slices quiet, slices;
	double more = 0;

	run_slices(exponential_200, 1000);
	quiet = run_slices(exponential_200, 10000);
	for (unsigned int i = 0; i < 20; i++) {
		nb_checks = nb_checks / 100000 * 100000 + 99990;
		run_slices(once_interrupted, 1);
		slices = run_slices(exponential_200, 20);
		more += slices.looks - quiet.looks;
	}
	print_message("%.1f looks more in 20 slices after each\n", more);
	assert_true(more < 120);
}

/* The kernel takes the CPU for a while in one slice of twenty or so. */
static double
often_interrupted(void)
{
	return exponential_200() + (uniform() < 0.001 ? 10000 : 0);
}

static void
busy_machine(void **state)
{
	struct slices quiet, slices;

	run_slices(exponential_200, 1000);
	quiet = run_slices(exponential_200, 100000);
	slices = run_slices(often_interrupted, 100000);
	print_message("%.2f looks instead of %.2f\n", slices.looks, quiet.looks);
	assert_true(slices.looks < 1.35 * quiet.looks);
}

/* To the middle of a slice in which each check looks. */
static void
look_at_each(void)
{
	reset(NULL);
	run_slices(phases, 1000);
	while ((block.resumes + 1) % SURVEY != 0)
		run_slices(phases, 1);
	assert_int_equal(block.checks_left, WEIR_CORO_LOOK);
	resume();
	for (int i = 0; i < 20; i++) {
		time_now += 50;
		assert_false(check());
	}
	assert_int_equal(block.looks, LOOKS_ALL);
}

static bool
next_check_ends(void)
{
	time_now += 50;
	return check();
}

/* Such a check is short, but sees all that others do, costs one look, and is counted. */
static void
looks_at_each_check(void **state)
{
	look_at_each();
	nb_looks = 0;
	for (int i = 0; i < 20; i++)
		assert_false(next_check_ends());
	assert_int_equal(nb_looks, 20);
	all_are_counted();
	time_now = block.deadline / 2;
	assert_true(next_check_ends());
	assert_int_equal(nb_looks, 21);
	look_at_each();
	coro_always = true;
	assert_true(next_check_ends());
	coro_always = false;
	look_at_each();
	block.slice = 0;
	assert_true(next_check_ends());
	look_at_each();
	block.cancelled = true;
	block.attention = 1;
	assert_true(next_check_ends());
	look_at_each();
	block.attention = coro_slice_mark(block.word, block.resumes);
	assert_true(next_check_ends());
	/* A lock is held: it ends at the first check after. */
	look_at_each();
	time_now = block.deadline / 2;
	block.held = 1;
	assert_true(next_check_ends());
	assert_true(next_check_ends());
	/* Another resumption is another slice. */
	look_at_each();
	block.resumes++;
	time_now = block.deadline / 2;
	assert_false(next_check_ends());
}

/* To the last check of a slice that ends by number, and so many that do are left with it. */
static void
count_to_end(unsigned int nb_slices)
{
	reset(NULL);
	regular_ns = 100;
	run_slices(regular, 1000);
	while (block.blind != nb_slices)
		run_slices(regular, 1);
	resume();
	nb_looks = 0;
	while (block.checks_left > 1)
		assert_false(check());
}

/* Nobody looks at the clock there, and what others do is seen all the same. */
static void
ends_by_number(void **state)
{
	count_to_end(2);
	all_are_counted();
	assert_true(check());
	all_are_counted();
	assert_int_equal(nb_looks, 0);
	run_slices(regular, 1);
	assert_int_equal(nb_looks, 0);
	all_are_counted();
	assert_int_equal(block.checks_left, WEIR_CORO_LOOK);
	/* It has a lock: it ends at the first check after. */
	count_to_end(2);
	block.held = 1;
	assert_true(check());
	assert_true(check());
	block.held = 0;
	assert_true(check());
	/* Cancelled: from now on each check ends. */
	count_to_end(2);
	block.cancelled = true;
	block.attention = 1;
	for (int i = 0; i < 100; i++) {
		assert_true(check());
		resume();
	}
	all_are_counted();
	/* It yields by itself, and has a whole slice then. */
	count_to_end(2);
	resume();
	assert_false(check());
	all_are_counted();
	/* All are to yield: from the next look on. */
	count_to_end(2);
	coro_always = true;
	assert_true(check());
	run_slices(regular, 1);
	for (int i = 0; i < 100; i++) {
		resume();
		assert_true(check());
	}
	coro_always = false;
}

/* To the middle of a slice in which few checks come, each of which looks and does nothing else. */
static void
look_lean(void)
{
	reset(NULL);
	weir_coro_thread.ticked = false;
	run_slices(exponential_8000, 1000); /* few also where the clock is a function */
	assert_int_equal(block.checks_left, WEIR_CORO_LOOK);
	resume();
	nb_looks = nb_lean = 0;
	for (int i = 0; i < 20; i++)
		assert_false(next_check_ends());
	assert_int_equal(nb_looks, 20);
	assert_int_equal(nb_lean, 20);
}

static void
let_pass(uint64_t ns)
{
	time_now += ns;
}

/* Such a check sees what others do at once, too, and is counted; a slice that it ends is as long as others. */
static void
looks_and_does_nothing_else(void **state)
{
	uint64_t begin;

	look_lean();
	all_are_counted();
	let_pass(SLICE);
	assert_true(next_check_ends());
	all_are_counted();
	assert_int_equal(block.checks_left, WEIR_CORO_LOOK);
	/* Cancelled. */
	look_lean();
	block.cancelled = true;
	block.attention = 1;
	assert_true(next_check_ends());
	/* Time is up, and it has a lock: at the first check after. */
	look_lean();
	block.held = 1;
	let_pass(SLICE);
	assert_true(next_check_ends());
	assert_int_equal(block.checks_left, 1);
	assert_true(next_check_ends());
	block.held = 0;
	assert_true(next_check_ends());
	assert_int_equal(block.checks_left, WEIR_CORO_LOOK);
	/* It yields by itself, and has a whole slice then. */
	look_lean();
	begin = time_now;
	block.resumes++;
	block.checks_begin = block.checks_left;
	while (!next_check_ends())
		;
	assert_true(time_now - begin > 0.7 * SLICE && time_now - begin < 1.3 * SLICE);
	all_are_counted();
	/* Its slice becomes another one, which begins now. */
	look_lean();
	coro_slice_change(&block, SLICE * 2 * 3);
	assert_false(next_check_ends());
	let_pass(SLICE * 3);
	assert_true(next_check_ends());
	/* It is on a thread with a ticker now, and counts. */
	look_lean();
	weir_coro_thread.ticked = true;
	block.attention = coro_slice_mark(block.word, block.resumes);
	assert_true(next_check_ends());
	assert_true((int32_t)block.checks_left > 0 && block.checks_left < 1000);
	weir_coro_thread.ticked = false;
}

/* So long a slice that such checks could not be counted has none. */
static void
long_slices(void **state)
{
	reset(NULL);
	coro_slice_change(&block, UINT64_C(20) * 1000000000);
	for (unsigned int i = 0; i < 100; i++) {
		run_slices(exponential_1e9, 1);
		assert_false(block.sparse);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(irregular_checks, reset),
		cmocka_unit_test_setup(regular_checks, reset),
		cmocka_unit_test_setup(yields_by_itself, reset),
		cmocka_unit_test_setup(longer_in_step, reset),
		cmocka_unit_test_setup(looks_out_of_step, reset),
		cmocka_unit_test_setup(outliers, reset),
		cmocka_unit_test_setup(busy_machine, reset),
		cmocka_unit_test_setup(looks_at_each_check, reset),
		cmocka_unit_test_setup(ends_by_number, reset),
		cmocka_unit_test_setup(looks_and_does_nothing_else, reset),
		cmocka_unit_test_setup(long_slices, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
