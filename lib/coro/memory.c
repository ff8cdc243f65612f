/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Memory of a class of coroutines: one anonymous mapping of equal slots, whose pages come as they are touched.
 *
 *     slot i                                                   slot i + 1
 *     +-------+----------------------------------+------------+-------+---
 *     | guard | stack                        top | parameters | guard |
 *     +-------+----------------------------------+------------+-------+---
 *     pages   |         |         |         |         |       pages
 *
 * The parameters need not begin a page: what is left of their page is the top of the stack, so that a
 * coroutine with few parameters that goes no deeper than that has one page, not two.
 *
 * What a million slots of 12 KiB cost (4 KiB of stack, Linux 6.18): 0.33 s to put their guards up, one by one, which is a quarter of
 * what the first touch of a page takes; doing 64 with one call (process_madvise()) would halve that and is not worth a
 * state of its own. The guards are entries of page tables: 24 MB of those, which the stacks need anyway
 * once they are touched. And no mapping more than the one.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "coro_private.h"
#include "weir_base_sanitizer.h"

/* Linux 6.13; headers of today may not know it. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* From linux/mempolicy.h, which comes with another library's headers only. */
#define NODE_PREFERRED 1
#define NODES_MAX      1024

#define CANARY_BYTES 64
#define CANARY_WORD  0xc0de57ac4b07703dull

/* Largest guard. Larger frames than a guard jump over it, so it grows with the stack; address space is all it costs. */
#define GUARD_MAX 65536

/* Mappings that are left to the rest of the program. */
#define SPARE_MAPPINGS    1024
#define DEFAULT_MAP_COUNT 65530

/* Bytes that addresses of a process reach. */
#define ADDRESSES ((size_t)1 << 47)

#define SCAN_PAGES 64
#define UNKNOWN    SIZE_MAX

/* The stack of a coroutine may be marked by the address sanitizer, or in use by another thread just now. */
#define LOOK_ANYWAY __attribute__((no_sanitize("address", "thread", "undefined")))

struct guard_choice {
	enum weir_coro_guard guard;
	char why[256]; /* it is none of the better ones */
};

static size_t
page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static uintptr_t
round_up(uintptr_t value, size_t multiple)
{
	return (value + multiple - 1) / multiple * multiple;
}

static const char *
guard_name(enum weir_coro_guard guard)
{
	return guard == WEIR_CORO_GUARD_REGION ? "a guard region"
	       : guard == WEIR_CORO_GUARD_PAGE ? "protected pages"
					       : "a canary";
}

/* 0, or what the kernel has against guard regions in memory that is mapped now. */
static int
region_refused(void)
{
	size_t page = page_bytes();
	int rc = 0;
	char *trial = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (trial == MAP_FAILED)
		return errno;
	if (madvise(trial, page, MADV_GUARD_INSTALL) < 0)
		rc = errno;
	/* Emulators say yes to advice that they do not know. Of a guard it must fail to make the page present. */
	else if (madvise(trial, page, MADV_POPULATE_READ) == 0 || errno != EFAULT)
		rc = ENOSYS;
	munmap(trial, page);
	return rc;
}

/* Mappings that the process has, or will have when the protected pages of other classes are all in use. */
static size_t
mappings_used(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	size_t used = 0, capacity = 0;
	char *line = NULL;

	for (unsigned int c = 0; c < coro_nb_classes; c++) {
		if (coro_classes[c].memory.guard == WEIR_CORO_GUARD_PAGE)
			used += 2 * coro_classes[c].memory.nb;
	}
	if (maps == NULL)
		return used;
	while (getline(&line, &capacity, maps) > 0) {
		uintptr_t start = strtoull(line, NULL, 16);
		bool counted = false;

		for (unsigned int c = 0; c < coro_nb_classes; c++) {
			const struct coro_memory *memory = &coro_classes[c].memory;

			counted |= memory->guard == WEIR_CORO_GUARD_PAGE &&
				   start - (uintptr_t)memory->slots < memory->bytes;
		}
		used += !counted;
	}
	free(line);
	fclose(maps);
	return used;
}

static size_t
mappings_limit(void)
{
	FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
	size_t limit = DEFAULT_MAP_COUNT;
	char text[32];

	if (file == NULL)
		return limit;
	if (fgets(text, sizeof(text), file) != NULL && strtoull(text, NULL, 10) > 0)
		limit = strtoull(text, NULL, 10);
	fclose(file);
	return limit;
}

/* Protected pages part a mapping in two. @return is that within what a process may have? If not: why */
static bool
pages_fit(size_t nb, char *why, size_t why_bytes)
{
	size_t limit = mappings_limit(), need = 2 * nb + mappings_used() + SPARE_MAPPINGS;

	if (need <= limit)
		return true;
	snprintf(why, why_bytes,
		"protected pages need vm.max_map_count to be %zu at least, and it is %zu", need,
		limit);
	return false;
}

static int
choose_region(struct guard_choice *choice, enum weir_coro_guard asked)
{
	int refused = region_refused();

	if (refused == 0) {
		choice->guard = WEIR_CORO_GUARD_REGION;
		return 0;
	}
	snprintf(choice->why, sizeof(choice->why), "no guard regions: %s, %s", strerror(refused),
		refused == EINVAL ? "either Linux is older than 6.13 or memory is locked"
				  : "the system is in the way");
	if (asked != WEIR_CORO_GUARD_REGION)
		return -EAGAIN;
	CORO_LOG(ERROR, "%s; ask for the best guard there is, or unlock memory", choice->why);
	return -ENOTSUP;
}

static int
choose_page(struct guard_choice *choice, enum weir_coro_guard asked, size_t nb)
{
	size_t length = strlen(choice->why);
	char why[128];

	if (pages_fit(nb, why, sizeof(why))) {
		choice->guard = WEIR_CORO_GUARD_PAGE;
		return 0;
	}
	if (asked == WEIR_CORO_GUARD_PAGE) {
		CORO_LOG(ERROR,
			"%s: raise it (sysctl), take fewer coroutines, or ask for the best guard "
			"there is",
			why);
		return -ENOMEM;
	}
	snprintf(choice->why + length, sizeof(choice->why) - length, "; %s", why);
	return -EAGAIN;
}

/* @return 0; -EAGAIN: none that catches, negative errno of one that was asked for by name */
static int
choose_guard(struct guard_choice *choice, enum weir_coro_guard asked, size_t nb)
{
	int rc = -EAGAIN;

	choice->why[0] = '\0';
	if (asked == WEIR_CORO_GUARD_BEST || asked == WEIR_CORO_GUARD_REGION)
		rc = choose_region(choice, asked);
	if (rc == -EAGAIN && (asked == WEIR_CORO_GUARD_BEST || asked == WEIR_CORO_GUARD_PAGE))
		rc = choose_page(choice, asked, nb);
	if (rc != -EAGAIN)
		return rc;
	choice->guard = WEIR_CORO_GUARD_CANARY;
	return 0;
}

/* Sizes of everything, their guards chosen. @return 0, -EINVAL when no address space holds it */
static int
lay_out(struct coro_memory *memory, size_t stack_size, size_t param_bytes, size_t nb)
{
	const size_t page = page_bytes();
	size_t guard = stack_size / 8 < GUARD_MAX ? stack_size / 8 : GUARD_MAX;

	stack_size = round_up(stack_size, page);
	memory->nb = nb;
	memory->param_bytes = round_up(param_bytes, 64);
	memory->guard_bytes =
		memory->guard == WEIR_CORO_GUARD_CANARY ? CANARY_BYTES : round_up(guard, page);
	memory->slot_bytes = round_up(memory->guard_bytes + stack_size + memory->param_bytes, page);
	memory->stack_bytes = memory->slot_bytes - memory->guard_bytes - memory->param_bytes;
	if (!__builtin_mul_overflow(memory->slot_bytes, nb, &memory->bytes) &&
		memory->bytes <= ADDRESSES)
		return 0;
	CORO_LOG(ERROR, "%zu stacks of %zu bytes: more than the address space", nb, stack_size);
	return -EINVAL;
}

/* Preferred, not bound: memory on another node is slower, none at the first touch of a stack is the end. */
static void
bind_to_node(struct coro_memory *memory, int socket_id)
{
	unsigned long nodes[NODES_MAX / (8 * sizeof(unsigned long))] = {0};
	const size_t bits = 8 * sizeof(nodes[0]);
	long rc;

	memory->socket_id = -1;
	if (socket_id < 0)
		return;
	if (socket_id < NODES_MAX) {
		nodes[(size_t)socket_id / bits] = 1ul << ((size_t)socket_id % bits);
		rc = syscall(SYS_mbind, memory->slots, memory->bytes, NODE_PREFERRED, nodes,
			(unsigned long)NODES_MAX + 1, 0);
	} else {
		errno = EINVAL;
		rc = -1;
	}
	if (rc == 0)
		memory->socket_id = socket_id;
	else
		CORO_LOG(WARNING, "stacks on NUMA node %d: %s; they come from any node", socket_id,
			strerror(errno));
}

static void
tell(const struct coro_memory *memory, const struct guard_choice *choice,
	enum weir_coro_guard asked)
{
	if (memory->guard != WEIR_CORO_GUARD_CANARY)
		CORO_LOG(INFO, "%zu stacks of %zu bytes, below each %s of %zu bytes%s%s%s",
			memory->nb, memory->stack_bytes, guard_name(memory->guard),
			memory->guard_bytes, choice->why[0] ? " (" : "", choice->why,
			choice->why[0] ? ")" : "");
	else if (asked == WEIR_CORO_GUARD_CANARY)
		CORO_LOG(INFO, "%zu stacks of %zu bytes, below each a canary, as asked for",
			memory->nb, memory->stack_bytes);
	else
		CORO_LOG(WARNING,
			"%zu stacks of %zu bytes, below each a canary only, which tells of an "
			"overflow "
			"when its harm is done (%s)",
			memory->nb, memory->stack_bytes, choice->why);
}

int
coro_memory_init(struct coro_memory *memory, size_t stack_size, size_t param_bytes, size_t nb,
	enum weir_coro_guard guard, int socket_id)
{
	struct guard_choice choice;
	int rc;

	memset(memory, 0, sizeof(*memory));
	if ((unsigned int)guard > WEIR_CORO_GUARD_CANARY) {
		CORO_LOG(ERROR, "there is no guard %d", (int)guard);
		return -EINVAL;
	}
	if (stack_size == 0 || nb == 0 || stack_size > ADDRESSES || param_bytes > ADDRESSES ||
		nb > ADDRESSES) {
		CORO_LOG(ERROR,
			"%zu stacks of %zu bytes with %zu bytes of parameters: out of range", nb,
			stack_size, param_bytes);
		return -EINVAL;
	}
	rc = choose_guard(&choice, guard, nb);
	if (rc < 0)
		return rc;
	memory->guard = choice.guard;
	rc = lay_out(memory, stack_size, param_bytes, nb);
	if (rc < 0)
		goto fail;
	memory->slots = mmap(NULL, memory->bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory->slots == MAP_FAILED) {
		rc = -errno;
		CORO_LOG(ERROR,
			"%zu bytes of address space for stacks: %s (limits: ulimit -v, ulimit -l "
			"when "
			"memory is locked, vm.overcommit_memory)",
			memory->bytes, strerror(errno));
		rc = rc == -EAGAIN ? -ENOMEM : rc;
		goto fail;
	}
	/* A huge page would be a whole pool of stacks at the first touch. Kernels without them refuse: fine. */
	(void)madvise(memory->slots, memory->bytes, MADV_NOHUGEPAGE);
	bind_to_node(memory, socket_id);
	tell(memory, &choice, guard);
	return 0;

fail:
	memset(memory, 0, sizeof(*memory));
	return rc;
}

void
coro_memory_fini(struct coro_memory *memory)
{
	if (memory->slots != NULL) {
		weir_base_asan_unpoison(memory->slots, memory->bytes);
		munmap(memory->slots, memory->bytes);
	}
	memset(memory, 0, sizeof(*memory));
}

/* The canary of a slot: differs from place to place, so that a copied stack is none. */
static uint64_t
canary_word(const uint64_t *where)
{
	return CANARY_WORD ^ (uint64_t)(uintptr_t)where;
}

static uint64_t *
canary_of(const struct coro_memory *memory, size_t index)
{
	return (uint64_t *)(void *)(memory->slots + index * memory->slot_bytes);
}

static void
canary_write(uint64_t *canary)
{
	for (size_t i = 0; i < CANARY_BYTES / sizeof(*canary); i++)
		canary[i] = canary_word(&canary[i]);
}

/* As a page, which also locked memory takes, though it costs a mapping: it was locked after the class was made. */
static int
protect(char *guard, size_t bytes, bool instead)
{
	static uint32_t told;

	if (mprotect(guard, bytes, PROT_NONE) < 0)
		return -errno;
	if (instead && !__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED))
		CORO_LOG(WARNING, "memory was locked since the class was made: stacks that are new "
				  "get protected pages instead of guard regions");
	return 0;
}

int
coro_memory_prepare(struct coro_memory *memory, size_t index)
{
	char *guard = memory->slots + index * memory->slot_bytes;

	if (index >= memory->nb)
		return -EINVAL;
	switch (memory->guard) {
	case WEIR_CORO_GUARD_REGION:
		if (madvise(guard, memory->guard_bytes, MADV_GUARD_INSTALL) == 0)
			return 0;
		return errno == EINVAL ? protect(guard, memory->guard_bytes, true) : -errno;
	case WEIR_CORO_GUARD_PAGE:
		return protect(guard, memory->guard_bytes, false);
	default:
		canary_write(canary_of(memory, index));
		return 0;
	}
}

LOOK_ANYWAY bool
coro_memory_intact(const struct coro_memory *memory, size_t index)
{
	const volatile uint64_t *canary = canary_of(memory, index);
	uint64_t differs = 0;

	if (memory->guard != WEIR_CORO_GUARD_CANARY)
		return true;
	for (size_t i = 0; i < CANARY_BYTES / sizeof(*canary); i++)
		differs |= canary[i] ^ canary_word((const uint64_t *)&canary[i]);
	return differs == 0;
}

size_t
coro_memory_guard_of(const struct coro_memory *memory, const void *address)
{
	uintptr_t offset = (uintptr_t)address - (uintptr_t)memory->slots;

	if (offset >= memory->bytes || offset % memory->slot_bytes >= memory->guard_bytes)
		return SIZE_MAX;
	return offset / memory->slot_bytes;
}

/* Those pages of a slot whose being touched tells something: not that of the canary. */
static char *
pages_start(const struct coro_memory *memory, size_t index)
{
	return (char *)round_up((uintptr_t)coro_memory_stack(memory, index), page_bytes());
}

/* Parameters may follow on the same page. */
static char *
pages_end(const struct coro_memory *memory, size_t index)
{
	return (char *)round_up((uintptr_t)coro_memory_top(memory, index), page_bytes());
}

static bool
read_pagemap(int fd, const char *start, size_t nb, bool *touched)
{
	const uint64_t present_or_swapped = (uint64_t)3 << 62;
	uint64_t entries[SCAN_PAGES];
	size_t bytes = nb * sizeof(entries[0]);
	off_t at = (off_t)((uintptr_t)start / page_bytes() * sizeof(entries[0]));

	if (fd < 0 || pread(fd, entries, bytes, at) != (ssize_t)bytes)
		return false;
	for (size_t i = 0; i < nb; i++)
		touched[i] = (entries[i] & present_or_swapped) != 0;
	return true;
}

static bool
read_mincore(char *start, size_t nb, bool *touched)
{
	unsigned char resident[SCAN_PAGES];

	if (mincore(start, nb * page_bytes(), resident) < 0)
		return false;
	for (size_t i = 0; i < nb; i++)
		touched[i] = resident[i] & 1;
	return true;
}

/*
 * How many pages were touched, and the lowest one. UNKNOWN and NULL when nobody tells.
 *
 * pagemap knows of pages that are swapped out, mincore() does not: it stands in where /proc is closed. The file is
 * opened each time (1.4 us in all, 0.4 us without), because one that is kept would be the parent's after
 * a fork(), or some other file after a program has closed what it does not know.
 * At most 64 pages at a time: who asks may be on a small stack itself.
 */
static size_t
touched_pages(char *start, const char *end, char **lowest)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	size_t page = page_bytes(), count = 0, nb;
	bool touched[SCAN_PAGES];

	*lowest = NULL;
	for (; start < end; start += nb * page) {
		nb = (size_t)(end - start) / page;
		nb = nb < SCAN_PAGES ? nb : SCAN_PAGES;
		if (!read_pagemap(fd, start, nb, touched) && !read_mincore(start, nb, touched)) {
			*lowest = NULL;
			count = UNKNOWN;
			break;
		}
		for (size_t i = 0; i < nb; i++) {
			if (touched[i] && *lowest == NULL)
				*lowest = start + i * page;
			count += touched[i];
		}
	}
	if (fd >= 0)
		close(fd);
	return count;
}

/* Anything in the rest of the canary's page, which is committed anyway? It is zeros as long as the stack did not come so far. */
LOOK_ANYWAY static bool
canary_page_used(const struct coro_memory *memory, size_t index)
{
	const volatile uint64_t *end = (void *)pages_start(memory, index);
	const volatile uint64_t *at = (void *)coro_memory_stack(memory, index);
	uint64_t any = 0;

	for (; at < end; at++)
		any |= *at;
	return any != 0;
}

/*
 * What it is not: exact to less than a page; of all time (trimming starts anew); or only the stack's own (a page that
 * parameters share with the top counts as used when they are). A page counts when it was read, too.
 */
size_t
coro_memory_high_water(const struct coro_memory *memory, size_t index)
{
	char *lowest;

	if (index >= memory->nb)
		return 0;
	if (memory->guard == WEIR_CORO_GUARD_CANARY && canary_page_used(memory, index))
		return memory->stack_bytes;
	touched_pages(pages_start(memory, index), pages_end(memory, index), &lowest);
	return lowest == NULL ? 0 : (size_t)(coro_memory_top(memory, index) - lowest);
}

/*
 * Afterwards the stack reads as zeros, in any case. Parameters on the page of its top go too. Guard regions stay:
 * MADV_DONTNEED leaves them.
 * Locked memory is not given back, who locked it wants no page faults: it is overwritten.
 */
size_t
coro_memory_trim(struct coro_memory *memory, size_t index)
{
	char *stack, *start, *end, *lowest;
	size_t count;

	if (index >= memory->nb)
		return 0;
	stack = coro_memory_stack(memory, index);
	start = pages_start(memory, index);
	end = pages_end(memory, index);
	/* Frames that were abandoned have left their marks. */
	weir_base_asan_unpoison(stack, memory->stack_bytes);
	if (memory->guard == WEIR_CORO_GUARD_CANARY) {
		canary_write(canary_of(memory, index));
		memset(stack, 0, (size_t)(start - stack));
	}
	count = touched_pages(start, end, &lowest);
	if (madvise(start, (size_t)(end - start), MADV_DONTNEED) == 0)
		return count == UNKNOWN ? 0 : count * page_bytes();
	if (count == UNKNOWN)
		lowest = start;
	if (count != 0)
		memset(lowest, 0, (size_t)(end - lowest));
	return 0;
}
