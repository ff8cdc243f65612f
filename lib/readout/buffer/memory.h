/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_MEMORY_H
#define READOUT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Memory that is there: mapped, zero, on a node as far as it has room, touched. */
struct memory {
	void *start;
	size_t bytes; /* rounded up to pages */
	bool hugepages;
};

/*
 * In hugepages, if @p hugepages and the system has enough: of 2 MB, or of its default size: larger ones, if
 * not more than an eighth of what is asked for would be unused; smaller ones, if there are none of 2 MB.
 *
 * @param socket_id  node that is preferred; -1: any
 * @return 0, -ENOMEM; the log says why
 */
int memory_map(struct memory *memory, size_t bytes, int socket_id, bool hugepages);

/* An array whose elements may begin at cache lines, zero; to be freed with free(). NULL: no memory */
void *memory_zeroed(size_t nb, size_t bytes);

/* Nothing to do if it is not mapped. */
void memory_unmap(struct memory *memory);

#endif
