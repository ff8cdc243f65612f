/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLICES_H
#define SLICES_H

/* How long are a coroutine's time slices? */

#include "coro_test.h"

/* How much longer all of it takes than it says, where clocks show time in large steps or threads wait for each other. */
static unsigned int stretch = 1;

static inline uint64_t
ns(uint64_t nanoseconds)
{
	return weir_base_ns_to_cycles(nanoseconds * stretch);
}

static inline uint64_t
random_below(uint64_t *state, uint64_t limit)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state % limit;
}

static inline int
compare_cycles(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Shortest first, in cycles from a resumption to when it yields: all that it costs others, who take @pause between two. */
static inline void
measure_slices(struct weir_coro *coro, uint64_t *cycles, size_t nb, uint64_t pause)
{
	for (size_t i = 0; i < nb; i++) {
		uint64_t begin;

		work_for(pause);
		begin = weir_base_cycles();
		weir_coro_resume(coro);
		cycles[i] = weir_base_cycles() - begin;
	}
	qsort(cycles, nb, sizeof(cycles[0]), compare_cycles);
}

#endif
