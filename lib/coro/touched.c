/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which pages of stacks were touched: how deep a stack was used, what memory stands behind it, and giving that back.
 *
 * The kernel tells in /proc/self/pagemap, also of pages that are swapped out; mincore() does not know of those: it stands in
 * where /proc is closed. The file is opened each time (1.4 us in all, 0.4 us without), because one that is
 * kept would be the parent's after a fork(), or some other file after a program has closed what it does not know.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "coro_private.h"
#include "weir_base_sanitizer.h"

/* At most so many pages at a time: who asks for one stack may be on a small one itself. */
#define PAGES_ONE 64
#define PAGES_ALL 16384

#define UNKNOWN SIZE_MAX

/* Of a page. */
#define PRESENT 1 /* memory stands behind it */
#define SWAPPED 2 /* was touched, and is swapped out */

/* What is known of some pages, to be filled. */
struct view {
	int fd; /* pagemap, or -1 */
	uint64_t *entries;
	size_t room; /* pages */
	unsigned char *pages;
};

/* Those pages of a slot whose being touched tells something: not that of the canary. */
static char *
pages_start(const struct coro_memory *memory, size_t index)
{
	return (char *)coro_round_up(
		(uintptr_t)coro_memory_stack(memory, index), coro_page_bytes());
}

/* Parameters may follow on the same page. */
static char *
pages_end(const struct coro_memory *memory, size_t index)
{
	return (char *)coro_round_up((uintptr_t)coro_memory_top(memory, index), coro_page_bytes());
}

static void
keep_high(struct coro_memory *memory, size_t high)
{
	size_t most = __atomic_load_n(&memory->high_water, __ATOMIC_RELAXED);

	while (high > most && !__atomic_compare_exchange_n(&memory->high_water, &most, high, true,
				      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static int
pagemap_open(void)
{
	return open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
}

static void
pagemap_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

static bool
read_pagemap(const struct view *view, const char *start, size_t nb)
{
	size_t bytes = nb * sizeof(view->entries[0]);
	off_t at = (off_t)((uintptr_t)start / coro_page_bytes() * sizeof(view->entries[0]));

	if (view->fd < 0 || pread(view->fd, view->entries, bytes, at) != (ssize_t)bytes)
		return false;
	for (size_t i = 0; i < nb; i++) /* bits 63 and 62 */
		view->pages[i] = (unsigned char)(view->entries[i] >> 63 |
						 (view->entries[i] >> 61 & SWAPPED));
	return true;
}

static bool
read_mincore(const struct view *view, char *start, size_t nb)
{
	if (mincore(start, nb * coro_page_bytes(), view->pages) < 0)
		return false;
	for (size_t i = 0; i < nb; i++)
		view->pages[i] &= PRESENT;
	return true;
}

static bool
look_at(const struct view *view, char *start, size_t nb)
{
	return read_pagemap(view, start, nb) || read_mincore(view, start, nb);
}

/* How many pages were touched, and the lowest one. UNKNOWN and NULL when nobody tells. */
static size_t
touched_pages(int pagemap, char *start, const char *end, char **lowest)
{
	unsigned char pages[PAGES_ONE];
	uint64_t entries[PAGES_ONE];
	const struct view view = {
		.fd = pagemap, .entries = entries, .room = PAGES_ONE, .pages = pages};
	size_t page = coro_page_bytes(), count = 0, nb;

	*lowest = NULL;
	for (; start < end; start += nb * page) {
		nb = (size_t)(end - start) / page;
		nb = nb < view.room ? nb : view.room;
		if (!look_at(&view, start, nb)) {
			*lowest = NULL;
			count = UNKNOWN;
			break;
		}
		for (size_t i = 0; i < nb; i++) {
			if (pages[i] != 0 && *lowest == NULL)
				*lowest = start + i * page;
			count += pages[i] != 0;
		}
	}
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
coro_memory_high_water(struct coro_memory *memory, size_t index)
{
	size_t high;
	char *lowest;
	int pagemap;

	if (index >= memory->nb)
		return 0;
	if (memory->guard == WEIR_CORO_GUARD_CANARY && canary_page_used(memory, index)) {
		high = memory->stack_bytes;
	} else {
		pagemap = pagemap_open();
		touched_pages(
			pagemap, pages_start(memory, index), pages_end(memory, index), &lowest);
		pagemap_close(pagemap);
		high = lowest == NULL ? 0 : (size_t)(coro_memory_top(memory, index) - lowest);
	}
	keep_high(memory, high);
	return high;
}

/* A walk along the pages of all slots. */
struct walk {
	struct coro_memory *memory;
	struct weir_base_hist *stacks; /* to be filled */
	size_t page;
	size_t nb_pages; /* of a slot */
	size_t stack;    /* its first page that has a byte of the stack */
	size_t params;   /* its first above that has none */
	size_t slot, at; /* where the walk is: a slot, a page of it */
	bool touched;    /* a lower page of this stack was */
	size_t present_bytes;
};

static struct walk
walk_begin(struct coro_memory *memory, struct weir_base_hist *stacks)
{
	size_t page = coro_page_bytes();

	return (struct walk){
		.memory = memory,
		.stacks = stacks,
		.page = page,
		.nb_pages = memory->slot_bytes / page,
		.stack = memory->guard_bytes / page,
		.params = coro_round_up(memory->guard_bytes + memory->stack_bytes, page) / page,
	};
}

/* A page of a stack was touched, none below it was. */
static void
lowest_page(struct walk *walk)
{
	size_t top = walk->memory->guard_bytes + walk->memory->stack_bytes, high;

	if (walk->at * walk->page >= walk->memory->guard_bytes)
		high = top - walk->at * walk->page;
	else if (canary_page_used(walk->memory, walk->slot)) /* it is always present */
		high = walk->memory->stack_bytes;
	else
		return;
	walk->touched = true;
	weir_base_hist_add(walk->stacks, high);
}

static void
walk_on(struct walk *walk, const unsigned char *pages, size_t nb)
{
	for (size_t i = 0; i < nb; i++) {
		/* A guard region looks as if it was swapped out. */
		if (pages[i] != 0 && walk->at >= walk->stack) {
			walk->present_bytes += (pages[i] & PRESENT) ? walk->page : 0;
			if (!walk->touched && walk->at < walk->params)
				lowest_page(walk);
		}
		if (++walk->at == walk->nb_pages) {
			walk->at = 0;
			walk->touched = false;
			walk->slot++;
		}
	}
}

size_t
coro_memory_scan(struct coro_memory *memory, size_t nb, struct weir_base_hist *stacks)
{
	struct walk walk = walk_begin(memory, stacks);
	struct view view = {.room = PAGES_ALL};
	size_t all = nb * walk.nb_pages, chunk;

	memset(stacks, 0, sizeof(*stacks));
	view.entries = malloc(view.room * (sizeof(view.entries[0]) + sizeof(view.pages[0])));
	if (view.entries == NULL)
		return 0;
	view.pages = (unsigned char *)(view.entries + view.room);
	view.fd = pagemap_open();
	for (size_t at = 0; at < all; at += chunk) {
		chunk = all - at < view.room ? all - at : view.room;
		if (!look_at(&view, memory->slots + at * walk.page, chunk))
			break;
		walk_on(&walk, view.pages, chunk);
	}
	pagemap_close(view.fd);
	free(view.entries);
	keep_high(memory, stacks->max);
	return walk.present_bytes;
}

/*
 * Afterwards the stack reads as zeros, in any case. Parameters on the page of its top go too. Guard regions stay:
 * MADV_DONTNEED leaves them.
 * Locked memory is not given back, who locked it wants no page faults: it is overwritten.
 */
static size_t
trim(struct coro_memory *memory, size_t index, int pagemap)
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
		if (canary_page_used(memory, index))
			keep_high(memory, memory->stack_bytes);
		coro_memory_prepare(memory, index);
		memset(stack, 0, (size_t)(start - stack));
	}
	count = touched_pages(pagemap, start, end, &lowest);
	if (lowest != NULL)
		keep_high(memory, (size_t)(coro_memory_top(memory, index) - lowest));
	if (madvise(start, (size_t)(end - start), MADV_DONTNEED) == 0)
		return count == UNKNOWN ? 0 : count * coro_page_bytes();
	if (count == UNKNOWN)
		lowest = start;
	if (count != 0)
		memset(lowest, 0, (size_t)(end - lowest));
	return 0;
}

size_t
coro_memory_trim_some(struct coro_memory *memory, const size_t *indices, size_t nb)
{
	int pagemap = pagemap_open();
	size_t bytes = 0;

	for (size_t i = 0; i < nb; i++)
		bytes += trim(memory, indices[i], pagemap);
	pagemap_close(pagemap);
	return bytes;
}

size_t
coro_memory_trim(struct coro_memory *memory, size_t index)
{
	return coro_memory_trim_some(memory, &index, 1);
}
