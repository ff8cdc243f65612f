/* SPDX-License-Identifier: BSD-3-Clause */
/* No bug: what a ring hands over is in order, and the thread sanitizer must see that it is. */
#include "ring_pair.h"

int
main(void)
{
	uint64_t sum = 0;

	if (run_pair(0, &sum) != 0)
		return 1;
	return sum == (uint64_t)NB_BLOCKS * (NB_BLOCKS + 1) / 2 ? 0 : 1;
}
