/* SPDX-License-Identifier: BSD-3-Clause */
/* What a ticker ends, and what ends where it comes late, or is gone. */
#include "standing_clock.h"

#define LEAD 400
#define LATE UINT64_MAX /* it tells nothing */

/* What became of some slices. */
struct slices {
	double looks; /* per slice */
	uint64_t longest;
	uint64_t longest_spacing;
	unsigned int most; /* checks */
};

/* Slices whose end a ticker tells when so long has passed. */
static struct slices
run_slices(double (*spacing)(void), unsigned int nb, uint64_t told)
{
	struct slices slices = {0};

	nb_looks = 0;
	for (unsigned int i = 0; i < nb; i++) {
		const uint64_t begin = time_now, before = nb_checks;
		bool tells = told != LATE;
		uint64_t cost;

		resume();
		do {
			cost = (uint64_t)(spacing() + 0.5);
			time_now += cost;
			slices.longest_spacing =
				cost > slices.longest_spacing ? cost : slices.longest_spacing;
			if (tells && time_now - begin >= told) {
				block.attention = coro_slice_mark(block.word, block.resumes);
				tells = false;
			}
		} while (!check());
		if (time_now - begin > slices.longest)
			slices.longest = time_now - begin;
		if (nb_checks - before > slices.most)
			slices.most = (unsigned int)(nb_checks - before);
	}
	slices.looks = (double)nb_looks / nb;
	return slices;
}

static int
start_ticking(void **state)
{
	reset(state);
	weir_coro_thread.ticked = true;
	return 0;
}

/* However checks are spaced: a slice ends with the first one after it was told, and hardly one looks. */
static void
who_is_told_does_not_look(void **state)
{
	double (*const spacings[])(void) = {regular, exponential_200, phases};

	regular_ns = 100;
	for (unsigned int i = 0; i < LENGTH(spacings); i++) {
		struct slices slices;

		start_ticking(NULL);
		run_slices(spacings[i], 1000, SLICE - LEAD);
		slices = run_slices(spacings[i], 10000, SLICE - LEAD);
		print_message("%.3f looks in a slice\n", slices.looks);
		assert_true(slices.looks < 0.4);
		assert_true(slices.longest <= SLICE - LEAD + slices.longest_spacing);
	}
}

/* One slice is longer for that, but none the longer for the one before it, however often and however late. */
static void
late_ones_are_bounded(void **state)
{
	struct slices slices;

	regular_ns = 100;
	run_slices(regular, 100, SLICE - LEAD);
	for (unsigned int i = 0; i < 200; i++) {
		slices = run_slices(regular, 1 + i % 3, (2 + i % 40) * SLICE);
		assert_true(slices.most <= 3.3 * SLICE / regular_ns);
		if (i % 5 == 0)
			run_slices(regular, i % 20, SLICE - LEAD);
	}
}

/* Once it is known that it is late, slices are what they are without one. */
static void
late_for_long(void **state)
{
	struct slices slices;

	regular_ns = 100;
	run_slices(regular, 100, SLICE - LEAD);
	run_slices(regular, 1, LATE);
	slices = run_slices(regular, 100, LATE);
	assert_true(slices.longest <= SLICE + 100);
	start_ticking(NULL);
	run_slices(exponential_200, 100, SLICE - LEAD);
	run_slices(exponential_200, 1, LATE);
	slices = run_slices(exponential_200, 100, LATE);
	/* The longest spacing is not what was learned before. */
	assert_true(slices.longest <= 1.5 * SLICE);
}

/* When it is in time again nobody looks any more; also of few checks, which end near their time by themselves. */
static void
in_time_again(void **state)
{
	static const double spacings[] = {10, 100, 1000, 3000};

	for (unsigned int i = 0; i < LENGTH(spacings); i++) {
		struct slices slices;

		start_ticking(NULL);
		regular_ns = spacings[i];
		run_slices(regular, 100, SLICE - LEAD);
		run_slices(regular, 30, LATE);
		run_slices(regular, 30, SLICE - LEAD);
		slices = run_slices(regular, 1000, SLICE - LEAD);
		assert_true(slices.looks < 0.4);
	}
}

/* Whoever ends slices, and however late: what weir_coro_maybe_yield_count() tells is how many checks there were. */
static void
every_check_is_counted(void **state)
{
	static const uint64_t told[] = {SLICE - LEAD, SLICE + LEAD, 2 * SLICE, LATE};
	double (*const spacings[])(void) = {regular, exponential_200, phases};

	regular_ns = 100;
	for (unsigned int s = 0; s < LENGTH(spacings); s++) {
		start_ticking(NULL);
		for (unsigned int i = 0; i < 5000; i++) {
			run_slices(spacings[s], 1, told[random_next(&random_state) % LENGTH(told)]);
			assert_int_equal(
				block.checks + block.checks_given - block.checks_left, nb_checks);
		}
	}
}

/* It has become faster: more checks come, and a ticker is in time. */
static void
faster_is_not_late(void **state)
{
	struct slices slices;

	regular_ns = 1000;
	run_slices(regular, 100, SLICE - LEAD);
	regular_ns = 10;
	slices = run_slices(regular, 20, SLICE - LEAD);
	assert_true(slices.longest <= SLICE - LEAD + 10);
	slices = run_slices(regular, 1000, SLICE - LEAD);
	assert_true(slices.longest <= SLICE - LEAD + 10);
	assert_true(slices.looks < 0.4);
}

/* What nothing is known of is looked at, in the slice that it is learned in. */
static void
late_for_new_ones(void **state)
{
	struct slices slices;

	for (regular_ns = 10; regular_ns <= 1000; regular_ns *= 10) {
		start_ticking(NULL);
		slices = run_slices(regular, 1, LATE);
		assert_true(slices.longest <= 1.5 * SLICE);
		assert_true(slices.looks < 10);
	}
}

/* Checks of 100 ns each until one ends the slice, which a ticker tells of when @told have come. @return how many */
static unsigned int
checks_to_end(unsigned int told)
{
	unsigned int nb = 0;

	do {
		time_now += 100;
		if (++nb == told)
			block.attention = coro_slice_mark(block.word, block.resumes);
	} while (!check());
	return nb;
}

/* In the middle of a slice of 100 checks it becomes another one, and begins with the next check, whatever the ticker makes of it. */
static void
change_slice(bool itself, unsigned int nb, unsigned int told)
{
	start_ticking(NULL);
	regular_ns = 100;
	run_slices(regular, 100, SLICE - LEAD);
	resume();
	for (unsigned int i = 0; i < 30; i++) {
		time_now += 100;
		assert_false(check());
	}
	weir_coro_thread.current = itself ? &block : NULL;
	coro_slice_change(&block, nb * UINT64_C(200));
	weir_coro_thread.current = NULL;
	assert_in_range(checks_to_end(told), nb + 1, nb + 2);
	/* The ticker knows the next one. */
	resume();
	assert_int_equal(checks_to_end(nb - 3), nb - 3);
	resume();
	assert_int_equal(checks_to_end(nb - 3), nb - 3);
}

static void
changed_slices_begin_anew(void **state)
{
	for (unsigned int itself = 0; itself <= 1; itself++) {
		change_slice(itself, 400, 66);
		change_slice(itself, 20, 1000000);
		change_slice(itself, 20, 15);
	}
	/* The ticker knows the new one's end as well, and is a bit late, as checks are. */
	start_ticking(NULL);
	resume();
	assert_false(check());
	coro_slice_change(&block, 3 * SLICE * 2);
	time_now += 100;
	assert_false(check());
	time_now += 3 * SLICE;
	block.attention = coro_slice_mark(block.word, block.resumes);
	assert_true(check());
	/* It was told in just that moment. */
	change_slice(true, 400, 1);
}

/*
 * A ticker comes, or goes, while slices end by their number, with some between that it ends by itself. None is longer for that, and it comes to know.
 */
static void
who_was_there_comes_to_know(void **state)
{
	const unsigned int nb = SLICE / 100, told = (SLICE - LEAD) / 100;

	for (unsigned int comes = 0; comes <= 1; comes++) {
		reset(NULL);
		weir_coro_thread.ticked = comes == 0;
		for (unsigned int i = 0; i < 300; i++) {
			resume();
			checks_to_end(weir_coro_thread.ticked ? told : UINT32_MAX);
		}
		assert_true(comes == 0 || block.blind > 0);
		weir_coro_thread.ticked = comes != 0;
		for (unsigned int i = 0; i < 40; i++) {
			resume();
			for (unsigned int k = 0; k < nb / 2; k++) {
				time_now += 100;
				assert_false(check());
			}
			resume();
			/* The first one may wait for one that is gone. */
			assert_in_range(checks_to_end(weir_coro_is_shown(&block) && comes != 0
							      ? told
							      : UINT32_MAX),
				1, comes == 0 && i == 0 ? 3 * nb : nb + 2);
		}
		assert_int_equal(weir_coro_is_shown(&block), comes);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(who_was_there_comes_to_know, start_ticking),
		cmocka_unit_test_setup(who_is_told_does_not_look, start_ticking),
		cmocka_unit_test_setup(late_ones_are_bounded, start_ticking),
		cmocka_unit_test_setup(late_for_long, start_ticking),
		cmocka_unit_test_setup(late_for_new_ones, start_ticking),
		cmocka_unit_test_setup(in_time_again, start_ticking),
		cmocka_unit_test_setup(faster_is_not_late, start_ticking),
		cmocka_unit_test_setup(changed_slices_begin_anew, start_ticking),
		cmocka_unit_test_setup(every_check_is_counted, start_ticking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
