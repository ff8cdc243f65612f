/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices that something else made longer: what is taken for that, and what is not. */
#include "pace_test.h"

/* Another machine has the CPU for 2 to 3 us in one slice of six or so. */
static double
regular_disturbed(void)
{
	return regular_ns + (uniform() < regular_ns / 60000 ? 2000 + 1000 * uniform() : 0);
}

/* Regular checks are mostly taken for it: slices end by count, at their time but for what was taken from them. */
static void
shared_machine(void **state)
{
	static const struct {
		double spacing, looks;
	} cases[] = {{10, 1.2}, {100, 1}, {1000, 2.5}, {3300, 0.9}};

	for (unsigned int i = 0; i < LENGTH(cases); i++) {
		enum { RUNS = 9 };
		double looks = 0;

		for (unsigned int run = 0; run < RUNS; run++) {
			struct slices slices;

			reset(NULL);
			random_state += run;
			regular_ns = cases[i].spacing;
			run_slices(regular_disturbed, 1000);
			slices = run_slices(regular_disturbed, 5000);
			looks += slices.looks / RUNS;
			assert_true(fabs(slices.length - SLICE) < 0.1 * SLICE);
		}
		print_message("every %.0f ns: %.2f looks\n", regular_ns, looks);
		assert_true(looks < cases[i].looks);
	}
}

/* So many checks of a kind, and so many that are slower, in turns. */
static unsigned int nb_quick, nb_slow;
static double slow_ns;

static double
in_turns(void)
{
	return nb_checks % (nb_quick + nb_slow) < nb_quick ? 100 : slow_ns;
}

/* One of four slices, at random. */
static double
at_random(void)
{
	static uint64_t last;
	static bool is_slow;

	if (block.resumes != last)
		is_slow = uniform() < 0.25;
	last = block.resumes;
	return is_slow ? 140 : 100;
}

static void
seldom_longer(double (*spacing)(void), double within)
{
	struct slices slices;

	/* It was regular before. */
	reset(NULL);
	regular_ns = 100;
	run_slices(regular, 300);
	run_slices(spacing, 1000);
	slices = run_slices(spacing, 10000);
	print_message("%.1f %% overshoot by a spacing at most, %.0f ns, %.2f looks\n",
		slices.within * 100, slices.length, slices.looks);
	assert_true(slices.within > within);
}

/* What comes too often to be a disturbance is of the checks: slices are no longer for it. What comes as seldom is not told apart: the last one. */
static void
slower_in_turns(void **state)
{
	static const struct {
		unsigned int nb_quick, nb_slow;
		double slow_ns, within;
	} cases[] = {{300, 100, 140, 0.98}, {500, 100, 130, 0.88}, {400, 30, 200, 0.88},
		{100, 100, 140, 0.98}, {84, 84, 140, 0.95}, {700, 100, 150, 0.7}};

	for (unsigned int i = 0; i < LENGTH(cases); i++) {
		nb_quick = cases[i].nb_quick;
		nb_slow = cases[i].nb_slow;
		slow_ns = cases[i].slow_ns;
		seldom_longer(in_turns, cases[i].within);
	}
	seldom_longer(at_random, 0.97);
}

/* What is as much slower for good is no disturbance: few slices are longer for it, and then checks are regular again. */
static void
slower_for_good(void **state)
{
	struct slices slices;
	unsigned int nb_long = 0;

	regular_ns = 100;
	run_slices(regular, 1000);
	regular_ns = 140;
	for (unsigned int i = 0; i < 200; i++)
		nb_long += run_slices(regular, 1).length > 1.1 * SLICE;
	print_message("%u slices were longer\n", nb_long);
	assert_true(nb_long <= CORO_PACE_BLIND + CORO_PACE_BLIND_SPREAD + 10);
	run_slices(regular, 800);
	slices = run_slices(regular, 1600);
	assert_true(fabs(slices.length - SLICE) < 0.01 * SLICE);
	assert_true(slices.looks < 0.13);
}

/* As long as an interrupt may take, whatever the slice; nothing that came sooner, and no more than half of a slice. */
static void
what_may_be_disturbed(void **state)
{
	static const struct {
		uint64_t slice_ns;
		int off_ns;
		bool may_be;
	} cases[] = {{10000, 100, true}, {10000, 4900, true}, {10000, 5100, false},
		{10000, -100, false}, {100000, 19900, true}, {100000, 20100, false},
		{UINT64_C(10000000000), 20100, false}};

	for (unsigned int i = 0; i < LENGTH(cases); i++) {
		coro_slice_change(&block, 2 * cases[i].slice_ns);
		block.spacing = 200;
		assert_int_equal(is_little_longer(&block, 100, 20000 + 2 * (float)cases[i].off_ns),
			cases[i].may_be);
	}
}

/* Each is told of for as many looks that fit as there have to be for it; more at once than that are none. */
static void
how_many_are_disturbed(void **state)
{
	regular_ns = 100;
	run_slices(regular, 1000);
	assert_int_equal(block.trust, TRUST_MAX);
	block.disturbances = DISTURBANCES_MAX - DISTURBANCE;
	assert_true(tells_nothing(&block, 100, 22000, false));
	assert_int_equal(block.trust, CORO_PACE_REGULAR);
	assert_int_equal(block.disturbances, DISTURBANCES_MAX);
	assert_false(tells_nothing(&block, 100, 22000, false));
	for (unsigned int left = DISTURBANCES_MAX; left > 0; left--) {
		assert_int_equal(block.disturbances, left);
		assert_false(tells_nothing(&block, 100, 20000, true));
	}
	assert_false(tells_nothing(&block, 100, 20000, true));
	assert_int_equal(block.disturbances, 0);
	/* Who was not regular for long is to be anew. */
	block.trust = CORO_PACE_REGULAR;
	assert_true(tells_nothing(&block, 100, 22000, false));
	assert_int_equal(block.trust, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(shared_machine, reset),
		cmocka_unit_test_setup(slower_in_turns, reset),
		cmocka_unit_test_setup(slower_for_good, reset),
		cmocka_unit_test_setup(what_may_be_disturbed, reset),
		cmocka_unit_test_setup(how_many_are_disturbed, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
