/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How far apart checks are in `weir bench coro`: the kinds of it.
 */

#include <math.h>

#include <rte_common.h>

#include "coro_bench.h"

const struct coro_spacing coro_spacings[] = {
	{"regular 10 ns", CORO_PATTERN_REGULAR, 10, 0},
	{"regular 100 ns", CORO_PATTERN_REGULAR, 100, 0},
	{"regular 1 us", CORO_PATTERN_REGULAR, 1000, 0},
	/* Of 3 us, a slice of 10 us could end at 9 or 12 only: just where a slice is told to be too far off. */
	{"regular 3.2 us", CORO_PATTERN_REGULAR, 3200, 0},
	{"exponential 200 ns", CORO_PATTERN_EXPONENTIAL, 200, 0},
	{"exponential 1 us", CORO_PATTERN_EXPONENTIAL, 1000, 0},
	{"bimodal 50 ns, 2 us", CORO_PATTERN_BIMODAL, 50, 2000},
	{"phases 50 ns, 2 us", CORO_PATTERN_PHASES, 50, 2000},
};

const size_t coro_nb_spacings = RTE_DIM(coro_spacings);

double
coro_spacing_next(const struct coro_spacing *spacing, uint32_t i, uint64_t *state)
{
	double uniform = ((double)(bench_random(state) >> 11) + 0.5) / 0x1p53;

	switch (spacing->pattern) {
	case CORO_PATTERN_EXPONENTIAL:
		return -spacing->ns * log(uniform);
	case CORO_PATTERN_BIMODAL:
		return uniform < 0.5 ? spacing->ns : spacing->other_ns;
	case CORO_PATTERN_PHASES: /* of 40 us each */
		return i % 820 < 800 ? spacing->ns : spacing->other_ns;
	default:
		return spacing->ns;
	}
}
