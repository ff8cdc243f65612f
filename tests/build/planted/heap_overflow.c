/* SPDX-License-Identifier: BSD-3-Clause */
/* A planted bug: reads one byte past an allocation. */
#include <stdlib.h>
#include <string.h>

int
main(int argc, char **argv)
{
	size_t size = strlen(argv[0]);
	volatile char *block = calloc(1, size);
	int last;

	if (block == NULL)
		return 0;
	last = block[size + (size_t)argc - 1];
	free((void *)(size_t)block);
	return last;
}
