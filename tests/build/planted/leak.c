/* SPDX-License-Identifier: BSD-3-Clause */
/* A planted bug: loses the only pointer to a block. */
#include <stdlib.h>

static void *volatile kept;

int
main(void)
{
	for (int i = 0; i < 100; i++)
		kept = malloc(100);
	kept = NULL;
	return 0;
}
