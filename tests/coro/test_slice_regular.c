/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time slices of regular work: how near do they end? Whether work is regular is for the machine to say, too: a try in which it is not says
 * nothing of slices.
 */
#include "slice_test.h"

/* @p percent of the slice that was asked for, at the median. */
static void
near(uint64_t slice, unsigned int percent)
{
	uint64_t median = slices[SLICES / 2];

	assert_in_range(median, slice - slice * percent / 100,
		slice + slice * percent / 100 + switch_cycles);
}

/*
 * Were pieces of plain work, each as long as a slice, nine of ten as long as the one before, to a fortieth? As far off they may be to be
 * taken for regular.
 */
static bool
is_regular(const uint64_t *plain)
{
	unsigned int nb = 0;

	for (unsigned int i = 1; i < SLICES; i++) {
		uint64_t less = plain[i] < plain[i - 1] ? plain[i] : plain[i - 1];

		nb += plain[i] + plain[i - 1] - 2 * less <= less / 40;
	}
	print_message(
		"%u of %u pieces of plain work took as long as the one before\n", nb, SLICES - 1);
	return nb >= SLICES / 10 * 9;
}

/* Slices of regular work end near their time. Between two the same work is timed without checks: was it regular, here and now? */
static void
regular_near(uint64_t slice)
{
	static uint64_t plain[SLICES];
	struct weir_coro *coro;

	measure_switch();
	coro = made_to_go_on(works_regularly);
	weir_coro_set_time_slice(coro, slice);
	measure_slices(coro, slices, 300, 0);
	for (unsigned int i = 0; i < SLICES; i++) {
		uint64_t begin = weir_base_cycles(), end;

		weir_coro_resume(coro);
		end = weir_base_cycles();
		for (uint64_t n = slice / ns(50); n > 0; n--)
			work_regularly(regular_work);
		slices[i] = end - begin;
		plain[i] = weir_base_cycles() - end;
	}
	qsort(slices, SLICES, sizeof(slices[0]), compare_cycles);
	stop_and_destroy(coro);
	tell_slices(slice);
	says_nothing = !is_regular(plain);
	if (says_nothing)
		skip();
	near(slice, 10);
}

static void
slices_of_10_us(void **state)
{
	start(1, 0, 0);
	calibrate();
	regular_near(ns(10000));
}

/* Changed: it is created with another one. */
static void
slices_of_20_us(void **state)
{
	start(1, ns(1000000000), 0);
	calibrate();
	regular_near(ns(20000));
}

static void
slices_of_50_us(void **state)
{
	start(1, 0, 0);
	calibrate();
	regular_near(ns(50000));
}

static const struct CMUnitTest all[] = {
	cmocka_unit_test_teardown(slices_of_10_us, finish),
	cmocka_unit_test_teardown(slices_of_20_us, finish),
	cmocka_unit_test_teardown(slices_of_50_us, finish),
};

int
main(void)
{
	return try_each(all, LENGTH(all));
}
