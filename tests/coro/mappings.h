/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MAPPINGS_H
#define MAPPINGS_H

#include <stddef.h>
#include <stdio.h>

/* Mappings that this process has. */
static inline size_t
mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	size_t lines = 0;
	int c;

	while ((c = fgetc(maps)) != EOF)
		lines += c == '\n';
	fclose(maps);
	return lines;
}

#endif
