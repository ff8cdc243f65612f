/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for frames where there are hugepages, as the kernel would give them: of 2 MB, of 1 GB, of both. */
#include "../base/cmocka_all.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define MB             ((size_t)1 << 20)
#define GB             ((size_t)1 << 30)
#define SIZE_OF(flags) ((size_t)1 << ((unsigned int)(flags) >> 26)) /* MAP_HUGE_SHIFT */

/* The machine: sizes of pages, free ones of each, and the default. What is mapped takes no memory but of pages that are not huge. */
static struct {
	size_t nb_small, nb_large;
	size_t small; /* bytes: 2 MB, or 1 */
	const char *meminfo;
	unsigned int nb_tried;
	size_t page, bytes; /* of what is mapped */
} machine;

static FILE *
machine_fopen(const char *path, const char *mode)
{
	if (strcmp(path, "/proc/meminfo") != 0)
		return fopen(path, mode);
	return machine.meminfo == NULL
		       ? NULL
		       : fmemopen((void *)(uintptr_t)machine.meminfo, strlen(machine.meminfo), "r");
}

static void *
machine_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
	size_t page = flags & MAP_HUGETLB ? SIZE_OF(flags) : 0;
	size_t *nb = page == GB ? &machine.nb_large : &machine.nb_small;
	bool known = page == machine.small || page == GB;

	if (page == 0 || file >= 0)
		return mmap(at, bytes, protection, flags, file, offset);
	machine.nb_tried++;
	assert_int_equal(bytes % page, 0);
	if (!known || bytes / page > *nb) {
		errno = known ? ENOMEM : EINVAL;
		return MAP_FAILED;
	}
	*nb -= bytes / page;
	machine.page = page;
	machine.bytes = bytes;
	return mmap(
		at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, file, offset);
}

/* The kernel's own rule. */
static int
machine_munmap(void *at, size_t bytes)
{
	if (machine.page != 0 && (bytes % machine.page != 0 || bytes != machine.bytes))
		fail_msg("%zu bytes of pages of %zu", bytes, machine.page);
	machine.page = 0;
	return munmap(at, bytes);
}

static int
machine_madvise(void *at, size_t bytes, int advice)
{
	return machine.page != 0 ? 0 : madvise(at, bytes, advice);
}

#define fopen   machine_fopen
#define mmap    machine_mmap
#define munmap  machine_munmap
#define madvise machine_madvise

#include "../../lib/readout/buffer/memory.c"

/* Maps so much. Returns the size of its pages: 0 for small ones. */
static size_t
page_of(size_t bytes, size_t nb_small, size_t nb_large, const char *meminfo, bool wanted)
{
	struct memory memory;
	size_t page;

	memset(&machine, 0, sizeof(machine));
	machine.nb_small = nb_small;
	machine.nb_large = nb_large;
	machine.meminfo = meminfo;
	machine.small = meminfo != NULL && strstr(meminfo, "1024 kB") != NULL ? MB : 2 * MB;
	assert_int_equal(memory_map(&memory, bytes, -1, wanted), 0);
	page = machine.page;
	assert_true(memory.hugepages == (page != 0));
	assert_true(memory.bytes >= bytes && memory.bytes - bytes < (page == 0 ? 2 * MB : page));
	memory_unmap(&memory);
	assert_null(memory.start);
	return page;
}

#define SMALL_FIRST "MemTotal:       24683660 kB\nHugepagesize:       2048 kB\nHugetlb:    0 kB\n"
#define LARGE_FIRST "MemTotal:       24683660 kB\nHugepagesize:    1048576 kB\nHugetlb:    0 kB\n"

#define TINY_FIRST "MemTotal:       24683660 kB\nHugepagesize:       1024 kB\nHugetlb:    0 kB\n"

static void
as_many_as_there_are(void **state)
{
	(void)state;
	assert_int_equal(page_of(3 * MB, 2, 0, SMALL_FIRST, true), 2 * MB);
	assert_int_equal(page_of(1, 1, 0, SMALL_FIRST, true), 2 * MB);
	assert_int_equal(page_of(3 * MB, 1, 0, SMALL_FIRST, true), 0);
	assert_int_equal(machine.nb_tried, 1);
	assert_int_equal(page_of(3 * MB, 2, 0, NULL, true), 2 * MB);
	assert_int_equal(page_of(3 * MB, 2, 0, "nothing of that\n", true), 2 * MB);
	assert_int_equal(page_of(3 * MB, 2, 9, LARGE_FIRST, false), 0);
	assert_int_equal(machine.nb_tried, 0);
}

static void
of_a_gigabyte(void **state)
{
	(void)state;
	assert_int_equal(page_of(GB, 0, 1, LARGE_FIRST, true), GB);
	assert_int_equal(page_of(2 * GB - 3 * MB, 0, 2, LARGE_FIRST, true), GB);
	/* Of the other size, if there are not as many; or none. */
	assert_int_equal(page_of(2 * GB - 3 * MB, 1023, 1, LARGE_FIRST, true), 2 * MB);
	assert_int_equal(page_of(3 * MB, 2, 9, LARGE_FIRST, true), 2 * MB);
	assert_int_equal(page_of(3 * MB, 1, 9, LARGE_FIRST, true), 0);
	/* And if more than an eighth would be unused. */
	assert_int_equal(page_of(GB + 100 * MB, 562, 9, LARGE_FIRST, true), 2 * MB);
	assert_int_equal(page_of(GB + 100 * MB, 0, 9, LARGE_FIRST, true), 0);
}

/* s390x has pages of 1 MB, and none of 2. */
static void
of_a_megabyte(void **state)
{
	(void)state;
	assert_int_equal(page_of(3 * MB, 3, 0, TINY_FIRST, true), MB);
	assert_int_equal(page_of(3 * MB, 2, 0, TINY_FIRST, true), 0);
}

/* So many bytes, where the default is that: these sizes. */
static void
assert_sizes(size_t bytes, size_t standard, size_t first, size_t second)
{
	size_t sizes[NB_SIZES];

	choose_sizes(bytes, standard, sizes);
	assert_int_equal(sizes[0], first);
	assert_int_equal(sizes[1], second);
}

static void
sizes_to_try(void **state)
{
	const size_t two = 2 * MB;

	(void)state;
	assert_sizes(1, two, two, 0);
	assert_sizes(100 * GB, two, two, 0);
	assert_sizes(1, MB, two, MB);
	assert_sizes(5 * GB, MB, two, MB);
	/* Exactly an eighth of 8/9 of a page; and a byte more. */
	assert_sizes(8 * 32 * MB, 9 * 32 * MB, 9 * 32 * MB, two);
	assert_sizes(8 * 32 * MB - 1, 9 * 32 * MB, two, 0);
	assert_sizes(1, GB, two, 0);
	assert_sizes(GB, GB, GB, two);
	assert_sizes(GB + 1, GB, two, 0);
	assert_sizes(GB + GB / 10, GB, two, 0);
	assert_sizes(7 * GB + 1, GB, two, 0);
	assert_sizes(8 * GB + 1, GB, GB, two);
	assert_sizes(20 * GB, 16 * GB, two, 0);
	assert_sizes(31 * GB, 16 * GB, 16 * GB, two);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_as_there_are),
		cmocka_unit_test(of_a_gigabyte),
		cmocka_unit_test(of_a_megabyte),
		cmocka_unit_test(sizes_to_try),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
