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

#define CANARY_BYTES 64
#define CANARY_WORD  0xc0de57ac4b07703dull

/* Largest guard. Larger frames than a guard jump over it, so it grows with the stack; address space is all it costs. */
#define GUARD_MAX 65536

/* Mappings are looked at once for so many protected pages: the kernel takes its time to tell of many. */
#define PAGES_AT_ONCE 4096

/* Mappings that are left to the rest of the program. */
#define SPARE_MAPPINGS    1024
#define DEFAULT_MAP_COUNT 65530

/* Bytes that addresses of a process reach. */
#define ADDRESSES ((size_t)1 << 47)

struct guard_choice {
	enum weir_coro_guard guard;
	char why[256]; /* it is none of the better ones */
};

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
	size_t page = coro_page_bytes();
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
		const struct coro_memory *memory = &coro_classes[c].memory;

		used += 2 * __atomic_load_n(&memory->pages_left, __ATOMIC_RELAXED);
		if (memory->guard == WEIR_CORO_GUARD_PAGE)
			used += 2 * memory->nb;
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
	const size_t page = coro_page_bytes();
	size_t guard;

	stack_size = coro_round_up(stack_size, page);
	guard = stack_size / 8 < GUARD_MAX ? stack_size / 8 : GUARD_MAX;
	memory->nb = nb;
	memory->param_bytes = coro_round_up(param_bytes, 64);
	memory->guard_bytes =
		memory->guard == WEIR_CORO_GUARD_CANARY ? CANARY_BYTES : coro_round_up(guard, page);
	memory->slot_bytes =
		coro_round_up(memory->guard_bytes + stack_size + memory->param_bytes, page);
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
	int rc = weir_base_prefer_node(memory->slots, memory->bytes, socket_id);

	memory->socket_id = rc == 0 && socket_id >= 0 ? socket_id : -1;
	if (rc != 0)
		CORO_LOG(WARNING, "stacks on NUMA node %d: %s; they come from any node", socket_id,
			strerror(-rc));
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
	memory->guard = memory->weakest = choice.guard;
	memory->canaries_from = choice.guard == WEIR_CORO_GUARD_CANARY ? 0 : nb;
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

/* A word of a canary: differs from place to place, so that a copied stack is none. */
static uint64_t
canary_word(const uint64_t *where)
{
	return CANARY_WORD ^ (uint64_t)(uintptr_t)where;
}

static uint64_t *
canary_of(const struct coro_memory *memory, size_t index)
{
	return (uint64_t *)(void *)(coro_memory_stack(memory, index) - CANARY_BYTES);
}

static void
canary_write(uint64_t *canary)
{
	for (size_t i = 0; i < CANARY_BYTES / sizeof(*canary); i++)
		canary[i] = canary_word(&canary[i]);
}

static int
protect(char *guard, size_t bytes)
{
	return mprotect(guard, bytes, PROT_NONE) < 0 ? -errno : 0;
}

/* Is there a mapping for one more protected page? */
static bool
page_fits(struct coro_memory *memory)
{
	/* Of all classes: they share the mappings. Who has it has the class' lock, too: nobody forks meanwhile. */
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	size_t used, limit, left;

	pthread_mutex_lock(&lock);
	left = memory->pages_left;
	if (left == 0) {
		used = mappings_used() + SPARE_MAPPINGS;
		limit = mappings_limit();
		left = used < limit ? (limit - used) / 2 : 0;
		left = left < PAGES_AT_ONCE ? left : PAGES_AT_ONCE;
	}
	__atomic_store_n(&memory->pages_left, left - (left > 0), __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	return left > 0;
}

/* Memory was locked after the class was made: it is told when the class' lock is not held any more. */
static void
weaken(struct coro_memory *memory, enum weir_coro_guard guard)
{
	if (memory->weakest == guard)
		return;
	__atomic_store_n(&memory->weakest, guard, __ATOMIC_RELAXED);
	memory->weaker |= 1u << guard;
}

void
coro_memory_tell(unsigned int weaker)
{
	for (enum weir_coro_guard guard = 0; guard <= WEIR_CORO_GUARD_CANARY; guard++)
		if ((weaker >> guard & 1) != 0)
			CORO_LOG(WARNING,
				"memory was locked since the class was made: instead of guard "
				"regions stacks that are new get %s%s",
				guard_name(guard),
				guard == WEIR_CORO_GUARD_CANARY
					? " only, which tells of an overflow when its harm is "
					  "done: vm.max_map_count allows no more protected pages"
					: "");
}

/* Locked memory takes protected pages, which cost mappings. When there are no more of those, the rest has canaries. */
static void
guard_locked(struct coro_memory *memory, size_t index)
{
	char *guard = memory->slots + index * memory->slot_bytes;

	if (page_fits(memory) && protect(guard, memory->guard_bytes) == 0) {
		weaken(memory, WEIR_CORO_GUARD_PAGE);
		return;
	}
	weaken(memory, WEIR_CORO_GUARD_CANARY);
	canary_write(canary_of(memory, index));
	__atomic_store_n(&memory->canaries_from, index, __ATOMIC_RELAXED);
	__atomic_store_n(&memory->pages_left, 0, __ATOMIC_RELAXED);
}

int
coro_memory_prepare(struct coro_memory *memory, size_t index)
{
	char *guard = memory->slots + index * memory->slot_bytes;

	if (index >= memory->nb)
		return -EINVAL;
	if (coro_memory_has_canary(memory, index)) {
		canary_write(canary_of(memory, index));
		return 0;
	}
	if (memory->guard == WEIR_CORO_GUARD_PAGE)
		return protect(guard, memory->guard_bytes);
	if (madvise(guard, memory->guard_bytes, MADV_GUARD_INSTALL) == 0)
		return 0;
	if (errno != EINVAL)
		return -errno;
	guard_locked(memory, index);
	return 0;
}

LOOK_ANYWAY bool
coro_memory_intact(const struct coro_memory *memory, size_t index)
{
	const volatile uint64_t *canary = canary_of(memory, index);
	uint64_t differs = 0;

	if (!coro_memory_has_canary(memory, index))
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
