/* SPDX-License-Identifier: BSD-3-Clause */

#include "pi.h"

double
bench_pi_piece(uint64_t from, uint64_t nb, double width)
{
	double sum = 0;

	for (uint64_t i = from; i < from + nb; i++) {
		double x = ((double)i + 0.5) * width;

		sum += 4 / (1 + x * x);
	}
	__asm__ volatile(""
			 : "+m"(sum)); /* or it would move out of between the looks at the clock */
	return sum;
}
