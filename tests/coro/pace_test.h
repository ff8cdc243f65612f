/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PACE_TEST_H
#define PACE_TEST_H

/* Slices of work with spacings as wished, and what became of them. To be included before all else. */

#include "standing_clock.h"

static inline double
exponential_1000(void)
{
	return -1000 * log(uniform());
}

static inline double
one_or_other(void)
{
	return uniform() < 0.5 ? 50 : 2000;
}

/* What became of some slices: per slice. */
struct slices {
	double within;  /* share of those that were too long by the longest spacing at most */
	double first;   /* and of those that ended with the first check after their time */
	double longest; /* spacing */
	double looks, length;
	double price; /* looks, of which those by a check that does nothing else are taken to cost an eighth */
};

static inline void
all_are_counted(void)
{
	assert_int_equal(block.checks + block.checks_given - block.checks_left, nb_checks);
}

static inline struct slices
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

#endif
