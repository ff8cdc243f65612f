/* SPDX-License-Identifier: BSD-3-Clause */
/* A planted bug: a signed sum that does not fit. */
#include <limits.h>

int
main(int argc, char **argv)
{
	volatile int sum = INT_MAX;

	sum += argc;
	return sum == 0;
}
