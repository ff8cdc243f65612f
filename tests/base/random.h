/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_BASE_RANDOM_H
#define WEIR_TESTS_BASE_RANDOM_H

/* Numbers that come again: xorshift (Marsaglia, 2003). The state begins as anything but 0. */

#include <stdint.h>

static inline uint64_t
random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static inline uint64_t
random_below(uint64_t *state, uint64_t limit)
{
	return random_next(state) % limit;
}

#endif
