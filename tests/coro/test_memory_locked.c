/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks in locked memory, which has no guard regions: from the beginning, or later. */
#include "memory_test.h"

/* The system calls themselves: sanitizers turn the functions into nothing. */
static void
locked_memory_has_pages(void)
{
	struct coro_memory memory;
	char *stack;

	if (syscall(SYS_mlockall, MCL_FUTURE | MCL_ONFAULT) < 0)
		_exit(CANNOT);
	CHECK(coro_memory_init(&memory, STACK, 0, NB, WEIR_CORO_GUARD_BEST, -1) == 0);
	CHECK(memory.guard == WEIR_CORO_GUARD_PAGE);
	CHECK(strstr(logged, "memory is locked") != NULL || !advice_is_heard());
	CHECK(coro_memory_prepare(&memory, 1) == 0);
	stack = coro_memory_stack(&memory, 1);
	CHECK(faults(stack - 1, true));
	CHECK(coro_memory_trim(&memory, 1) == 0 && coro_memory_high_water(&memory, 1) == 0);
	memset(stack + 3 * page, 7, memory.stack_bytes - 3 * page);
	CHECK(coro_memory_high_water(&memory, 1) == memory.stack_bytes - 3 * page);
	CHECK(coro_memory_trim(&memory, 1) == 0);
	CHECK(all_zero(stack, memory.stack_bytes));
}

static void
memory_locked_later_has_pages(void)
{
	struct coro_memory memory;

	if (!region_here())
		_exit(CANNOT);
	CHECK(coro_memory_init(&memory, STACK, 0, NB, WEIR_CORO_GUARD_REGION, -1) == 0);
	CHECK(coro_memory_prepare(&memory, 0) == 0);
	if (syscall(SYS_mlock2, memory.slots, memory.bytes, MLOCK_ONFAULT) < 0)
		_exit(CANNOT);
	for (size_t slot = 0; slot < 3; slot++) {
		CHECK(slot == 0 || coro_memory_prepare(&memory, slot) == 0);
		CHECK(faults(coro_memory_stack(&memory, slot) - 1, true));
	}
	coro_memory_tell(memory.weaker);
	CHECK(strstr(logged, "1 coro: memory was locked") != NULL);
	CHECK(strstr(strstr(logged, "was locked") + 1, "was locked") == NULL);
}

#define LOCKED 200 /* stacks, for 50 of which there are mappings */
#define SPARE  1000

/* All that the process may have but so many. */
static void
use_up_mappings(size_t but)
{
	size_t nb = map_limit() - mappings() - but;
	char *all = mmap(
		NULL, nb * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(all != MAP_FAILED);
	for (size_t i = 1; i < nb; i += 2)
		if (mprotect(all + i * page, page, PROT_NONE) < 0)
			_exit(CANNOT);
}

static void
nothing(void)
{
}

static void
overflows(void)
{
	coro_memory_stack(&coro_classes[0].memory, weir_coro_self_id())[-1] ^= 1;
}

/* As a program has it that locks its memory when it has begun: who needs mappings after that finds some. */
static void
memory_locked_later_leaves_mappings(void)
{
	const struct coro_memory *memory = &coro_classes[0].memory;
	struct weir_coro_class_stats stats;
	struct weir_coro *coros[LOCKED];
	const char *told;

	if (!region_here() || map_limit() > 300000 || mappings() > map_limit() / 8)
		_exit(CANNOT);
	CHECK(weir_coro_init(4 * page, 0, 0, LOCKED, 0, 0, -1) == 0);
	if (syscall(SYS_mlock2, memory->slots, memory->bytes, MLOCK_ONFAULT) < 0)
		_exit(CANNOT);
	use_up_mappings(1024 + 2 * 50);
	for (size_t i = 0; i < LOCKED; i++)
		CHECK((coros[i] = weir_coro_create(nothing)) != NULL);
	CHECK(mappings() <= map_limit() - SPARE);
	CHECK(weir_coro_class_look(0, &stats) == 0 && stats.guard == WEIR_CORO_GUARD_CANARY);
	told = strstr(logged, "a canary only");
	CHECK(told != NULL && strstr(told + 1, "a canary only") == NULL);
	CHECK(faults(coro_memory_stack(memory, 0) - 1, true));
	CHECK(!faults(coro_memory_stack(memory, LOCKED - 1) - 1, true));
	for (size_t i = 0; i < LOCKED; i++) {
		CHECK(coro_memory_intact(memory, i));
		CHECK(weir_coro_destroy(coros[i]) == 0);
	}
	/* Those destroyed last come first. */
	for (uint64_t i = 1; i <= 2; i++) {
		CHECK((coros[0] = weir_coro_create(overflows)) != NULL);
		weir_coro_resume(coros[0]);
		CHECK(weir_coro_misuse(WEIR_CORO_MISUSE_OVERFLOW) == i);
		CHECK(weir_coro_destroy(coros[0]) == 0);
	}
	weir_coro_trim(0);
	CHECK(coro_memory_intact(memory, LOCKED - 1));
	CHECK(!weir_coro_overflow_report(coro_memory_stack(memory, LOCKED - 1) - 1, -1));
	weir_coro_cleanup();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD(locked_memory_has_pages),
		CHILD(memory_locked_later_has_pages),
		CHILD(memory_locked_later_leaves_mappings),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
