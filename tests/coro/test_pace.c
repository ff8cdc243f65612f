/* SPDX-License-Identifier: BSD-3-Clause */
/* When is the clock looked at, and when is a slice over? */
#include "standing_clock.h"

static double
exponential_1000(void)
{
	return -1000 * log(uniform());
}

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
one_or_other(void)
{
	return uniform() < 0.5 ? 50 : 2000;
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

/* What became of some slices: per slice. */
struct slices {
	double within;  /* share of those that were too long by the longest spacing at most */
	double first;   /* and of those that ended with the first check after their time */
	double longest; /* spacing */
	double looks, length;
	double price; /* looks, of which those by a check that does nothing else are taken to cost an eighth */
};

static void
all_are_counted(void)
{
	assert_int_equal(block.checks + block.checks_given - block.checks_left, nb_checks);
}

static struct slices
run_slices(double (*spacing)(void), unsigned int nb)
{
	struct slices slices = {0};
	uint64_t begin, before, spacing_now;
	uint64_t *lengths = calloc(nb, sizeof(*lengths));

	assert_non_null(lengths);
	nb_looks = nb_lean = 0;
	for (unsigned int i = 0; i < nb; i++) {
		begin = before = time_now;
		resume();
		for (;;) {
			spacing_now = (uint64_t)(spacing() + 0.5);
			slices.longest = fmax(slices.longest, (double)spacing_now);
			time_now += spacing_now;
			if (check())
				break;
			before = time_now;
		}
		slices.first += before <= begin + SLICE;
		lengths[i] = time_now - begin;
		slices.length += (double)lengths[i];
	}
	for (unsigned int i = 0; i < nb; i++)
		slices.within += (double)lengths[i] <= SLICE + slices.longest;
	free(lengths);
	slices.within /= nb;
	slices.first /= nb;
	slices.looks = (double)nb_looks / nb;
	slices.price = slices.looks - 7 / 8.0 * nb_lean / nb;
	slices.length /= nb;
	return slices;
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

/* Where each check looks it is known when a slice began, whatever ended the one before. */
static void
yields_by_itself(void **state)
{
	run_yielding(one_or_other, 1000, 2000);
	assert_true(run_yielding(one_or_other, 100000, 2000) > 0.999);
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
	always = true;
	assert_true(next_check_ends());
	always = false;
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
	always = true;
	assert_true(check());
	run_slices(regular, 1);
	for (int i = 0; i < 100; i++) {
		resume();
		assert_true(check());
	}
	always = false;
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

/* However irregular the checks are of a function that nobody has seen, its first slices are no longer than any: all checks of the first one tell. */
static void
first_irregular_slices(void **state)
{
	static double (*const spacings[])(void) = {exponential_200, exponential_1000, one_or_other};
	static const uint64_t longest[] = {4000, 20000, 2000};

	for (unsigned int i = 0; i < 3 * 1000; i++) {
		double length;

		memset(paces, 0, sizeof(paces));
		begin_block(another_function);
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
	memset(paces, 0, sizeof(paces));
	begin_block(another_function);
	coro_slice_reset(&block, UINT64_C(1000000000));
	resume();
	nb_looks = 0;
	for (unsigned int i = 0; i < 10 * FIRST; i++) {
		time_now += 50;
		assert_false(check());
	}
	assert_in_range(nb_looks, FIRST, FIRST + 10);
	assert_true(block.learned >= FIRST);
	all_are_counted();
}

/* One check may be much shorter than others: no more are counted after it than it has told of. */
static void
little_is_known(void **state)
{
	memset(paces, 0, sizeof(paces));
	begin_block(another_function);
	/* It yields by itself before its first slice is over, and comes to two checks in the next one. */
	resume();
	time_now += 50;
	assert_false(check());
	resume();
	for (unsigned int i = 0; i < 2; i++) {
		time_now += 50;
		assert_false(check());
	}
	assert_true(block.spacing > 0 && block.learned == 1);
	assert_int_equal(block.checks_left, 1);
	coro_pace_remember(&block);
	begin_block(another_function);
	assert_int_equal(block.learned, 1);
}

/* Of what is not known the clock tells when the slice began: it is one spacing too long at most. */
static void
first_slices(void **state)
{
	memset(paces, 0, sizeof(paces));
	for (uint64_t ns = SLICE / 4; ns <= 4 * SLICE; ns += SLICE / 8)
		assert_true(checks_of_first_slice(ns) * ns <= SLICE + ns);
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
		cmocka_unit_test_setup(learned_from_another, reset),
		cmocka_unit_test_setup(first_slices, reset),
		cmocka_unit_test_setup(first_irregular_slices, reset),
		cmocka_unit_test_setup(first_checks, reset),
		cmocka_unit_test_setup(little_is_known, reset),
		cmocka_unit_test_setup(those_that_never_check, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
