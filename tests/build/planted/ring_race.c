/* SPDX-License-Identifier: BSD-3-Clause */
/* A planted bug: the producer writes to a block that it has handed over. */
#include "ring_pair.h"

int
main(void)
{
	uint64_t sum = 0;

	run_pair(1, &sum);
	return 0;
}
