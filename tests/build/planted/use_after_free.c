/* SPDX-License-Identifier: BSD-3-Clause */
/* A planted bug: reads a block that was freed. */
#include <stdlib.h>

static int *volatile kept; /* hides from the compiler, which would refuse, what is read below */

int
main(void)
{
	kept = calloc(4, sizeof(*kept));
	if (kept == NULL)
		return 0;
	free(kept);
	return kept[1];
}
