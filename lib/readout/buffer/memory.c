/* SPDX-License-Identifier: BSD-3-Clause */
/* Large memory for frames: hugepages where there are any, on a NUMA node, touched before the first frame comes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "weir_base.h"
#include "weir_base_sanitizer.h"

#include "memory.h"

#define HUGEPAGE_BYTES ((size_t)2 << 20)
#define CACHE_LINE     64u
#define SIZE_SHIFT     26 /* MAP_HUGE_SHIFT of linux/mman.h: a flag says the logarithm of the size */
#define NB_SIZES       2
#define WASTE_PART     8 /* of a buffer, that large pages may have unused */

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

static size_t
round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

/* Preferred, not bound: memory on another node is slower, none is the end. */
static void
prefer_node(void *start, size_t bytes, int socket_id)
{
	int rc = weir_base_prefer_node(start, bytes, socket_id);

	if (rc != 0)
		weir_base_log(WEIR_BASE_LOG_WARNING, "readout",
			"frames on NUMA node %d: %s; they come from any node", socket_id,
			strerror(-rc));
}

/* Older kernels are asked page by page, by a touch. */
static bool
populate(void *start, size_t bytes, bool hugepages)
{
	volatile char *at = start;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (madvise(start, bytes, MADV_POPULATE_WRITE) == 0)
		return true;
	/* A touch that fails is a signal: not for hugepages, which may run out. */
	if (errno != EINVAL || hugepages)
		return false;
	for (size_t i = 0; i < bytes; i += page)
		at[i] = 0;
	return true;
}

/* Of the size that the system was started with: 1 GB, where that was for DPDK. */
static size_t
default_hugepage(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	size_t kilobytes = 0;
	char line[128];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "Hugepagesize: %zu kB", &kilobytes) == 1)
			break;
	if (file != NULL)
		fclose(file);
	return kilobytes == 0 ? HUGEPAGE_BYTES : kilobytes << 10;
}

/* In hugepages of that size; 0: others. */
static bool
try_map(struct memory *memory, size_t bytes, int socket_id, size_t hugepage)
{
	bool hugepages = hugepage != 0;
	unsigned int size = hugepages ? (unsigned int)__builtin_ctzl(hugepage) << SIZE_SHIFT : 0;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (hugepages ? MAP_HUGETLB : 0) | (int)size;

	memory->hugepages = hugepages;
	/* Rounded up in any case: the kernel may join pages to huge ones by itself. It does not unmap a part of one. */
	memory->bytes = round_up(bytes, hugepages ? hugepage : HUGEPAGE_BYTES);
	memory->start = mmap(NULL, memory->bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (memory->start == MAP_FAILED) {
		memory->start = NULL;
		return false;
	}
	if (!hugepages)
		(void)madvise(memory->start, memory->bytes, MADV_HUGEPAGE); /* a wish */
	prefer_node(memory->start, memory->bytes, socket_id);
	if (populate(memory->start, memory->bytes, hugepages))
		return true;
	memory_unmap(memory);
	return false;
}

/*
 * Sizes of hugepages to be tried for so many bytes, in order; 0: none. Large ones only if they are nearly filled:
 * others may need what would be unused. Smaller ones than 2 MB where the system has no others (1 MB: s390x).
 */
static void
choose_sizes(size_t bytes, size_t standard, size_t sizes[NB_SIZES])
{
	bool large = standard > HUGEPAGE_BYTES;
	bool filled = round_up(bytes, standard) - bytes <= bytes / WASTE_PART;

	sizes[0] = large && filled ? standard : HUGEPAGE_BYTES;
	sizes[1] = large ? HUGEPAGE_BYTES : standard;
	if (sizes[1] == sizes[0])
		sizes[1] = 0;
}

int
memory_map(struct memory *memory, size_t bytes, int socket_id, bool hugepages)
{
	size_t sizes[NB_SIZES] = {0};

	if (hugepages)
		choose_sizes(bytes, default_hugepage(), sizes);
	for (unsigned int i = 0; i < NB_SIZES && sizes[i] != 0; i++)
		if (try_map(memory, bytes, socket_id, sizes[i]))
			return 0;
	if (try_map(memory, bytes, socket_id, 0))
		return 0;
	weir_base_log(WEIR_BASE_LOG_ERROR, "readout", "%zu bytes of memory for frames: %s", bytes,
		strerror(errno));
	return -ENOMEM;
}

void
memory_unmap(struct memory *memory)
{
	int why = errno;

	if (memory->start == NULL)
		return;
	weir_base_asan_unpoison(memory->start, memory->bytes);
	munmap(memory->start, memory->bytes);
	memory->start = NULL;
	errno = why;
}

void *
memory_zeroed(size_t nb, size_t bytes)
{
	void *array = aligned_alloc(CACHE_LINE, nb * bytes);

	return array == NULL ? NULL : memset(array, 0, nb * bytes);
}
