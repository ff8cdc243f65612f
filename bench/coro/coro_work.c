/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What comes between checks in `weir bench coro`: work that takes always as long.
 */

#include "coro_maybe.h"

#define WORK_MANY 64

#define WORK_CASE(n)                                                                               \
	case n:                                                                                    \
		x = bench_step(x);                                                                 \
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
 * One jump to as many steps as there are besides whole rows of 64, and one loop of those. The ends of several loops, one of 64, one of 8 and one
 * of 1, are what a CPU may just foresee, or just not, by accident of addresses and of the branches before, on one side and not on the other:
 * some cycles to some tens of them, many times what a check takes.
 */
__attribute__((noinline, aligned(64))) void
coro_work(uint32_t nb_steps)
{
	uint64_t x = 1;

	switch (nb_steps % WORK_MANY) {
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
	for (uint32_t many = nb_steps / WORK_MANY; many > 0; many--) {
#pragma GCC unroll 64
		for (unsigned int i = 0; i < WORK_MANY; i++)
			x = bench_step(x);
	}
}
