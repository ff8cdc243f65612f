/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What comes between checks in `weir bench coro`: work beside which a check cannot hide, and that takes as long on all sides.
 */

#include "coro_maybe.h"

/*
 * Four chains of three operations each, and as much besides that takes its place in the row and nothing else: a core that begins fewer than
 * eight instructions at a time is busy with bringing them in, so each one of a check takes time from the work, and always as much. Chains
 * alone, which keep the execution ports busy, go faster or slower by some percent for a whole piece, as it happens to begin: many times what
 * a check takes.
 */
static inline __attribute__((always_inline)) void
work_once(uint64_t chains[4], uint64_t nb)
{
	static const unsigned int turn[4] = {13, 17, 29, 37};

	for (unsigned int i = 0; i < 4; i++)
		chains[i] = ((chains[i] << turn[i] | chains[i] >> (64 - turn[i])) + nb) ^ nb;
	/* Nor are they turned into vectors so. */
	__asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop; nop"
			 : "+r"(chains[0]), "+r"(chains[1]), "+r"(chains[2]), "+r"(chains[3]));
}

#define WORK_MANY 64

#define WORK_CASE(n)                                                                               \
	case n:                                                                                    \
		work_once(chains, nb);                                                             \
		__attribute__((fallthrough))
#define WORK_CASES_4(n)                                                                            \
	WORK_CASE((n) + 3);                                                                        \
	WORK_CASE((n) + 2);                                                                        \
	WORK_CASE((n) + 1);                                                                        \
	WORK_CASE(n)
#define WORK_CASES_16(n)                                                                           \
	WORK_CASES_4((n) + 12);                                                                    \
	WORK_CASES_4((n) + 8);                                                                     \
	WORK_CASES_4((n) + 4);                                                                     \
	WORK_CASES_4(n)

/*
 * One jump to as many as there are besides whole rows of 64, and one loop of those. The ends of several loops, one of 64, one of 8 and one of 1,
 * are what a CPU may just foresee, or just not, by accident of addresses and of the branches before, on one side and not on the other: some
 * cycles to some tens of them, many times what a check takes.
 */
__attribute__((noinline, aligned(64))) void
coro_work(uint32_t nb)
{
	uint64_t chains[4] = {1, 2, 3, 4};

	switch (nb % WORK_MANY) {
		WORK_CASES_16(48);
		WORK_CASES_16(32);
		WORK_CASES_16(16);
		WORK_CASES_4(12);
		WORK_CASES_4(8);
		WORK_CASES_4(4);
		WORK_CASE(3);
		WORK_CASE(2);
		WORK_CASE(1);
	default:
		break;
	}
	for (; nb >= WORK_MANY; nb -= WORK_MANY) {
#pragma GCC unroll 64
		for (unsigned int i = 0; i < WORK_MANY; i++)
			work_once(chains, nb);
	}
	__asm__ volatile("" ::: "memory");
}
