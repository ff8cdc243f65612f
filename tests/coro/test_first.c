/* SPDX-License-Identifier: BSD-3-Clause */
/* How does a coroutine begin, and what does it know then of the checks of its function? */
#include "pace_test.h"

/* Of a function of which nothing is known. */
static void
begin_unseen(void)
{
	memset(paces, 0, sizeof(paces));
	begin_block(another_function);
}

static double
longest_slice(double (*spacing)(void), unsigned int nb)
{
	double longest = 0;

	for (unsigned int n = 0; n < nb; n++)
		longest = fmax(longest, run_slices(spacing, 1).length);
	return longest;
}

/* What one learned the next one knows that runs the same; nobody else. */
static void
learned_from_another(void **state)
{
	struct slices first, second, other;

	regular_ns = 100;
	first = run_slices(regular, 3);
	run_slices(regular, 1000);
	coro_pace_remember(&block);
	begin_block(one_function);
	assert_true(block.spacing > 199 && block.spacing < 201);
	second = run_slices(regular, 3);
	assert_true(first.looks > 2 * second.looks);
	/* Never seen: its slice begins with a look. */
	begin_block(another_function);
	assert_true(block.spacing == 0 && block.checks_left == WEIR_CORO_LOOK);
	other = run_slices(regular, 3);
	assert_true(other.looks == first.looks);
}

/* How many checks end the first slice of a function that nobody has seen, with so many ns before each? */
static unsigned int
checks_of_first_slice(uint64_t ns)
{
	unsigned int nb = 1;

	begin_block(another_function);
	resume();
	for (time_now += ns; !check(); time_now += ns)
		nb++;
	return nb;
}

/* Of what is not known the clock tells when the slice began: it is one spacing too long at most. */
static void
first_slices(void **state)
{
	memset(paces, 0, sizeof(paces));
	for (uint64_t ns = SLICE / 4; ns <= 4 * SLICE; ns += SLICE / 8)
		assert_true(checks_of_first_slice(ns) * ns <= SLICE + ns);
}

/* However irregular the checks are of a function that nobody has seen, its first slices are no longer than any: all checks of the first one tell. */
static void
first_irregular_slices(void **state)
{
	static double (*const spacings[])(void) = {exponential_200, exponential_1000, one_or_other};
	static const uint64_t longest[] = {4000, 20000, 2000};

	for (unsigned int i = 0; i < 3 * 1000; i++) {
		double length;

		begin_unseen();
		for (unsigned int n = 0; n < 6; n++) {
			length = run_slices(spacings[i % 3], 1).length;
			if (length > SLICE + SLICE / 4 + (double)longest[i % 3])
				fail_msg("slice %u of %u: %.0f ns", n, i, length);
		}
		assert_true(block.learned > 0);
	}
}

/* Not for as long as a slice lasts: that may be a second. */
static void
first_checks(void **state)
{
	/* It yields by itself after the first one, or not. */
	for (unsigned int yields = 0; yields < 2; yields++) {
		begin_unseen();
		coro_slice_reset(&block, UINT64_C(1000000000));
		resume();
		nb_looks = nb_checks = 0;
		for (unsigned int i = 0; i < 10 * FIRST; i++) {
			if (i == 1 && yields)
				resume();
			time_now += 50;
			assert_false(check());
		}
		assert_in_range(nb_looks, yields ? 5 : FIRST, yields ? 15 : FIRST + 10);
		all_are_counted();
	}
}

/* Nor in each of many that are over sooner than a slice is, whether they yield by themselves or not. */
static void
short_ones(void **state)
{
	for (unsigned int n = 0; n < 20; n++) {
		if (n % 10 == 0)
			memset(paces, 0, sizeof(paces));
		begin_block(another_function);
		resume();
		nb_looks = 0;
		for (unsigned int i = 0; i < 100; i++) {
			time_now += 50;
			assert_false(check());
		}
		if (n >= 10)
			resume();
		assert_in_range(nb_looks, n % 10 == 0 ? FIRST : 0, n % 10 == 0 ? FIRST + 2 : 2);
		coro_pace_remember(&block);
	}
}

/* One that yields by itself before it knows anything; and one that ends soon does not make others forget. */
static void
left_soon(void **state)
{
	memset(paces, 0, sizeof(paces));
	for (unsigned int n = 0; n < 2; n++) {
		begin_block(another_function);
		resume();
		for (unsigned int i = 0; i < (n == 0 ? 20 : 1); i++) {
			time_now += 50;
			assert_false(check());
		}
		resume();
		time_now += 50;
		assert_false(check());
		coro_pace_remember(&block);
		begin_block(another_function);
		assert_true(block.spacing > 99 && block.spacing < 101);
		assert_in_range(block.learned, 20, 21);
	}
}

/* Nor does one that began before anything was known, and ends when more is. */
static void
knew_less(void **state)
{
	struct weir_coro_block early;

	begin_unseen();
	resume();
	for (unsigned int i = 0; i < 20; i++) {
		time_now += 2000;
		if (check())
			break;
	}
	early = block;
	begin_block(another_function);
	regular_ns = 50;
	run_slices(regular, 100);
	coro_pace_remember(&block);
	block = early;
	coro_pace_remember(&block);
	begin_block(another_function);
	assert_true(block.spacing > 99 && block.spacing < 101 && coro_pace_is_regular(&block));
}

#define INTERRUPTED 16 /* before any of the first checks */

/*
 * The kernel took the CPU within the first slice, for less than that lasts or more, as where memory is touched for the first time: that is
 * no spacing.
 */
static void
first_interrupted(void **state)
{
	static const uint64_t away[] = {1000, 5000, 100000, 10000000};

	for (unsigned int i = 0; i < 2 * LENGTH(away) * INTERRUPTED; i++) {
		double (*const spacing)(void) = i % 2 == 0 ? regular : exponential_200;
		const unsigned int in = i / 2 % INTERRUPTED;

		begin_unseen();
		regular_ns = 50;
		resume();
		for (unsigned int n = 0;; n++) {
			time_now += (uint64_t)spacing() + (n == in ? away[i / 2 / INTERRUPTED] : 0);
			if (check())
				break;
		}
		assert_true(longest_slice(spacing, 100) < 1.6 * SLICE);
		if (spacing == regular)
			assert_true(coro_pace_is_regular(&block));
	}
}

/* Where each slice is as short as that, or as long as its checks are apart, it is learned from nevertheless. */
static void
few_checks_are_learned(void **state)
{
	for (unsigned int ns = SLICE / 2; ns <= 4 * SLICE; ns += SLICE / 2) {
		begin_unseen();
		regular_ns = ns / 2;
		run_slices(regular, 20);
		assert_true(block.spacing > 0.99 * ns && block.spacing < 1.01 * ns);
		assert_true(coro_pace_is_regular(&block));
	}
}

static void
check_times(unsigned int nb, uint64_t ns)
{
	for (unsigned int i = 0; i < nb; i++) {
		time_now += ns;
		check();
	}
}

/* What may come in the second slice, where all checks are looked at as the first one told nothing of them. */
static void
others_run_to_its_end(void)
{
	check_times(50, 50);
	weir_coro_slice_waits(&block);
	time_now += 2 * SLICE;
	assert_true(check());
}

static void
others_run_in_the_next(void)
{
	check_times(60, 50);
	resume();
	weir_coro_slice_waits(&block);
	check_times(10, 50);
}

static void
each_check_yields_meanwhile(void)
{
	check_times(20, 50);
	coro_slice_change(&block, 0);
	for (unsigned int i = 0; i < 10000; i++) {
		time_now += 50;
		assert_true(check());
		resume();
	}
	coro_slice_change(&block, SLICE * 2);
	check_times(1, 50);
}

/* Then checks of one slice, or of none, are not taken for those of another one. */
static void
second_is_cut_short(void **state)
{
	static void (*const cases[])(void) = {
		others_run_to_its_end, others_run_in_the_next, each_check_yields_meanwhile};

	for (unsigned int i = 0; i < LENGTH(cases); i++) {
		double longest;

		begin_unseen();
		resume();
		check_times(2, SLICE / 2 + 50);
		assert_true(block.spacing == 0 && block.learned == 2);
		resume();
		cases[i]();
		regular_ns = 50;
		longest = longest_slice(regular, 20);
		print_message("case %u: %.0f ns at most\n", i, longest);
		assert_true(longest < 1.2 * SLICE);
		assert_true(block.spacing > 99 && block.spacing < 101);
	}
}

/* A clock that hardly moves: nothing is known of checks that took no time, however many. */
static void
coarse_clock(void **state)
{
	begin_unseen();
	resume();
	for (unsigned int i = 0; i < 1000; i++) {
		resume();
		check_times(1, i < 999 ? 50 : 0);
	}
	resume();
	check_times(2, 0);
	assert_true(block.spacing == 0 && block.learned == 0);
	regular_ns = 50;
	assert_true(longest_slice(regular, 20) < 1.2 * SLICE);
}

/* In its first slice it resumed another one, which ran for long: that is no spacing. */
static void
others_in_between(void **state)
{
	begin_unseen();
	resume();
	for (unsigned int i = 0; i < 10; i++) {
		time_now += 50;
		assert_false(check());
	}
	weir_coro_slice_waits(&block);
	time_now += SLICE / 2;
	do
		time_now += 50;
	while (!check());
	assert_true(block.spacing > 0 && block.spacing <= 2 * 50);
}

/* One check may be much shorter than others: no more are counted after it than it has told of. */
static void
little_is_known(void **state)
{
	begin_unseen();
	/* It yields by itself before its first slice is over, and comes to two checks in the next one. */
	resume();
	time_now += 50;
	assert_false(check());
	resume();
	for (unsigned int i = 0; i < 2; i++) {
		time_now += 50;
		assert_false(check());
	}
	assert_true(block.spacing > 0 && block.learned < LITTLE);
	assert_in_range(block.checks_left, 1, 4);
	coro_pace_remember(&block);
	begin_block(another_function);
	assert_int_equal(block.learned, 0);
}

/* Ends without a check: with a look where its slice began? */
static bool
looks_and_never_checks(void)
{
	nb_looks = 0;
	begin_block(another_function);
	resume();
	coro_pace_remember(&block);
	return nb_looks > 0;
}

static bool
first_slice_is_right(void)
{
	return checks_of_first_slice(4 * SLICE) == 1;
}

/* Who is known never to check has no look. One or two that return early do not tell that, nor any number of those that do not run. */
static void
those_that_never_check(void **state)
{
	memset(paces, 0, sizeof(paces));
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(looks_and_never_checks());
		assert_true(first_slice_is_right());
	}
	for (unsigned int i = 0; i < 100; i++) {
		begin_block(another_function);
		block.cancelled = true;
		resume();
		coro_pace_remember(&block);
	}
	assert_true(first_slice_is_right());
	for (unsigned int i = 0; i < 100; i++)
		looks_and_never_checks();
	assert_false(looks_and_never_checks());
	/* Now one does, once: whoever follows is taken for one that may, however it ends. */
	assert_false(first_slice_is_right());
	assert_true(first_slice_is_right());
	assert_true(looks_and_never_checks());
	/* Of one that does and comes to its end more is known, which those do not change that return early. */
	begin_block(another_function);
	regular_ns = 100;
	run_slices(regular, 100);
	coro_pace_remember(&block);
	for (unsigned int i = 0; i < 100; i++)
		assert_true(looks_and_never_checks());
	begin_block(another_function);
	assert_true(block.spacing > 199 && block.spacing < 201);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(learned_from_another, reset),
		cmocka_unit_test_setup(first_slices, reset),
		cmocka_unit_test_setup(first_irregular_slices, reset),
		cmocka_unit_test_setup(first_checks, reset),
		cmocka_unit_test_setup(short_ones, reset),
		cmocka_unit_test_setup(left_soon, reset),
		cmocka_unit_test_setup(knew_less, reset),
		cmocka_unit_test_setup(first_interrupted, reset),
		cmocka_unit_test_setup(few_checks_are_learned, reset),
		cmocka_unit_test_setup(second_is_cut_short, reset),
		cmocka_unit_test_setup(coarse_clock, reset),
		cmocka_unit_test_setup(others_in_between, reset),
		cmocka_unit_test_setup(little_is_known, reset),
		cmocka_unit_test_setup(those_that_never_check, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
