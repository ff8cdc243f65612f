/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks: their layout, guards that really fault, what they fall back to, high water, trimming. */
#include "memory_test.h"

static const enum weir_coro_guard kinds[] = {
	WEIR_CORO_GUARD_REGION, WEIR_CORO_GUARD_PAGE, WEIR_CORO_GUARD_CANARY};

static bool
have(enum weir_coro_guard kind)
{
	return kind != WEIR_CORO_GUARD_REGION || region_here();
}

static struct coro_memory
made(enum weir_coro_guard kind, size_t stack, size_t params, size_t nb)
{
	struct coro_memory memory;

	assert_int_equal(coro_memory_init(&memory, stack, params, nb, kind, -1), 0);
	if (kind != WEIR_CORO_GUARD_BEST)
		assert_int_equal(memory.guard, kind);
	for (size_t i = 0; i < nb; i++)
		assert_int_equal(coro_memory_prepare(&memory, i), 0);
	return memory;
}

static void
slots_are_laid_out(void **state)
{
	static const size_t params[] = {0, 1, 64, 4096, 10000}, stacks[] = {1, 4096, 10000, STACK};

	for (unsigned int i = 0; i < 3 * 5 * 4; i++) {
		const enum weir_coro_guard kind = kinds[i % 3];
		const size_t param = params[i / 3 % 5], stack = stacks[i / 15];
		struct coro_memory memory;
		unsigned char resident;
		char *end;

		if (!have(kind))
			continue;
		memory = made(kind, stack, param, NB);
		assert_int_equal(memory.slot_bytes % page, 0);
		assert_int_equal(memory.bytes, memory.slot_bytes * NB);
		assert_true(memory.stack_bytes >= (stack + page - 1) / page * page);
		assert_true(memory.param_bytes >= param && memory.param_bytes < param + 64);
		for (size_t slot = 0; slot < NB; slot++) {
			end = coro_memory_params(&memory, slot) + memory.param_bytes;
			assert_int_equal((uintptr_t)coro_memory_top(&memory, slot) % 64, 0);
			assert_ptr_equal(end, memory.slots + (slot + 1) * memory.slot_bytes);
			memset(coro_memory_stack(&memory, slot), 0xee,
				memory.stack_bytes + memory.param_bytes);
			assert_true(coro_memory_intact(&memory, slot));
		}
		coro_memory_fini(&memory);
		assert_int_equal(mincore(end - page, page, &resident), -1);
		assert_null(memory.slots);
	}
}

static void
pages_are_small(void **state)
{
	struct coro_memory memory = made(WEIR_CORO_GUARD_CANARY, 8 << 20, 0, 2);
	FILE *smaps = fopen("/proc/self/smaps", "re");
	char line[1024], start[32];
	bool found, here = false;

	snprintf(start, sizeof(start), "%zx-", (size_t)memory.slots);
	while (fgets(line, sizeof(line), smaps) != NULL) {
		here |= strncmp(line, start, strlen(start)) == 0;
		if (here && strncmp(line, "VmFlags:", 8) == 0)
			break;
	}
	found = strstr(line, " nh") != NULL;
	fclose(smaps);
	coro_memory_fini(&memory);
	assert_true(found || access("/sys/kernel/mm/transparent_hugepage", F_OK) != 0 ||
		    !advice_is_heard());
}

static void
bad_arguments_are_refused(void **state)
{
	struct coro_memory memory;

	assert_int_equal(coro_memory_init(&memory, 0, 0, 1, WEIR_CORO_GUARD_BEST, -1), -EINVAL);
	assert_int_equal(coro_memory_init(&memory, STACK, 0, 0, WEIR_CORO_GUARD_BEST, -1), -EINVAL);
	assert_int_equal(
		coro_memory_init(&memory, SIZE_MAX, 0, 1, WEIR_CORO_GUARD_BEST, -1), -EINVAL);
	assert_int_equal(
		coro_memory_init(&memory, STACK, SIZE_MAX, 1, WEIR_CORO_GUARD_BEST, -1), -EINVAL);
	assert_int_equal(
		coro_memory_init(&memory, STACK, 0, SIZE_MAX, WEIR_CORO_GUARD_BEST, -1), -EINVAL);
	assert_int_equal(
		coro_memory_init(&memory, (size_t)1 << 46, 0, 16, WEIR_CORO_GUARD_CANARY, -1),
		-EINVAL);
	assert_int_equal(
		coro_memory_init(&memory, STACK, 0, 1, (enum weir_coro_guard)99, -1), -EINVAL);
	assert_null(memory.slots);
	coro_memory_fini(&memory);
	memory = made(WEIR_CORO_GUARD_CANARY, STACK, 0, 1);
	assert_int_equal(coro_memory_prepare(&memory, 1), -EINVAL);
	assert_int_equal(coro_memory_high_water(&memory, 1), 0);
	assert_int_equal(coro_memory_trim(&memory, 1), 0);
	coro_memory_fini(&memory);
}

static void
no_address_space_is_an_error(void)
{
	struct rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
	struct coro_memory memory;

	CHECK(setrlimit(RLIMIT_AS, &limit) == 0 && getrlimit(RLIMIT_AS, &limit) == 0);
	if (limit.rlim_cur > 1 << 20)
		_exit(CANNOT); /* an emulator, which keeps what it needs itself */
	CHECK(coro_memory_init(&memory, STACK, 0, 1000, WEIR_CORO_GUARD_CANARY, -1) == -ENOMEM);
	CHECK(memory.slots == NULL && strstr(logged, "ulimit -v") != NULL);
}

static void
guards_fault(void **state)
{
	for (unsigned int k = 0; k < 2; k++) {
		struct coro_memory memory;

		if (!have(kinds[k]))
			continue;
		memory = made(kinds[k], STACK, 100, NB);
		for (size_t i = 0; i < NB; i += NB - 1) {
			char *stack = coro_memory_stack(&memory, i);

			for (int write_it = 0; write_it < 2; write_it++) {
				assert_true(faults(stack - 1, write_it));
				assert_true(faults(stack - memory.guard_bytes, write_it));
				assert_false(faults(stack, write_it));
				assert_false(faults(coro_memory_top(&memory, i) - 1, write_it));
				assert_false(faults(coro_memory_params(&memory, i) + 99, write_it));
			}
		}
		coro_memory_fini(&memory);
	}
}

static void
best_is_the_region(void **state)
{
	struct coro_memory memory;

	if (!region_here())
		skip();
	logged[0] = '\0';
	memory = made(WEIR_CORO_GUARD_BEST, STACK, 0, 2);
	assert_int_equal(memory.guard, WEIR_CORO_GUARD_REGION);
	assert_non_null(strstr(logged,
		"2 coro: 2 stacks of 65536 bytes, below each a guard region of 8192 bytes\n"));
	coro_memory_fini(&memory);
}

static void
best_falls_back_and_says_so(void)
{
	struct coro_memory memory;

	refuse(SYS_madvise, 2, GUARD_INSTALL);
	CHECK(coro_memory_init(&memory, STACK, 0, 2, WEIR_CORO_GUARD_REGION, -1) == -ENOTSUP);
	CHECK(memory.slots == NULL && strstr(logged, "0 coro: no guard regions") != NULL);
	CHECK(coro_memory_init(&memory, STACK, 0, 2, WEIR_CORO_GUARD_BEST, -1) == 0);
	CHECK(memory.guard == WEIR_CORO_GUARD_PAGE);
	CHECK(strstr(logged, "protected pages of 8192 bytes (no guard regions: ") != NULL);
	CHECK(coro_memory_prepare(&memory, 1) == 0);
	CHECK(faults(coro_memory_stack(&memory, 1) - 1, true));

	/* More than mappings are allowed. */
	CHECK(coro_memory_init(&memory, 4096, 0, map_limit() / 2 + 1, WEIR_CORO_GUARD_PAGE, -1) ==
		-ENOMEM);
	CHECK(strstr(logged, "vm.max_map_count") != NULL && strstr(logged, "raise it") != NULL);
	logged[0] = '\0';
	CHECK(coro_memory_init(&memory, 4096, 0, map_limit() / 2 + 1, WEIR_CORO_GUARD_BEST, -1) ==
		0);
	CHECK(memory.guard == WEIR_CORO_GUARD_CANARY);
	CHECK(strstr(logged, "1 coro: ") == logged && strstr(logged, "vm.max_map_count") != NULL);
	CHECK(coro_memory_prepare(&memory, map_limit() / 2) == 0);
}

/* Those of other classes count once, whether they are protected already or not. */
static void
classes_share_the_mappings(void)
{
	size_t limit = map_limit(), quarter = limit / 4;
	struct coro_memory *first = &coro_classes[0].memory, second;

	if (limit < 32768 || limit > 300000 || mappings() > limit / 8)
		_exit(CANNOT);
	CHECK(coro_memory_init(first, 4096, 0, quarter, WEIR_CORO_GUARD_PAGE, -1) == 0);
	coro_nb_classes = 1;
	for (int i = 0; i < 2; i++) {
		CHECK(coro_memory_init(&second, 4096, 0, quarter, WEIR_CORO_GUARD_PAGE, -1) ==
			-ENOMEM);
		CHECK(coro_memory_init(&second, 4096, 0, quarter - limit / 8, WEIR_CORO_GUARD_PAGE,
			      -1) == 0);
		coro_memory_fini(&second);
		for (size_t slot = 0; slot < quarter; slot++)
			CHECK(coro_memory_prepare(first, slot) == 0);
	}
	CHECK(mappings() >= 2 * quarter);
}

static void
a_million_stacks(void **state)
{
	static const size_t nb[] = {100000, 1000000}, stack[] = {65536, 4096};

	if (!region_here())
		skip();
	for (int i = 0; i < 2; i++) {
		size_t before = mappings();
		struct coro_memory memory = made(WEIR_CORO_GUARD_BEST, stack[i], 128, nb[i]);

		assert_int_equal(memory.guard, WEIR_CORO_GUARD_REGION);
		/* Sanitizers have some of their own. */
		assert_true(mappings() <= before + 1000);
		for (size_t slot = 0; slot < nb[i]; slot += nb[i] / 2 - 1) {
			*coro_memory_stack(&memory, slot) = 1;
			assert_true(faults(coro_memory_stack(&memory, slot) - 1, true));
		}
		coro_memory_fini(&memory);
	}
}

static void
canaries_tell(void **state)
{
	struct coro_memory memory = made(WEIR_CORO_GUARD_CANARY, STACK, 64, NB);

	for (size_t i = 0; i < memory.guard_bytes; i++) {
		char *canary = coro_memory_stack(&memory, 2) - 1 - i;

		assert_true(coro_memory_intact(&memory, 2));
		*canary ^= 1;
		assert_false(coro_memory_intact(&memory, 2));
		assert_true(coro_memory_intact(&memory, 1) && coro_memory_intact(&memory, 3));
		assert_int_equal(coro_memory_prepare(&memory, 2), 0);
	}
	assert_int_equal(memory.guard_bytes, 64);
	coro_memory_fini(&memory);
	memory = made(WEIR_CORO_GUARD_PAGE, STACK, 64, NB);
	assert_true(coro_memory_intact(&memory, 2));
	coro_memory_fini(&memory);
}

/* Pages touched one by one from the top down, in three kinds of slots. */
static void
high_water_is_exact(void)
{
	for (unsigned int i = 0; i < 6; i++) {
		size_t stack = i < 3 ? STACK : 100 * page;
		struct coro_memory memory;
		char *top, *low;

		if (!have(kinds[i % 3]))
			continue;
		CHECK(coro_memory_init(&memory, stack, 192, NB, kinds[i % 3], -1) == 0);
		for (size_t slot = 0; slot < NB; slot++)
			CHECK(coro_memory_prepare(&memory, slot) == 0);
		top = coro_memory_top(&memory, 3);
		low = coro_memory_stack(&memory, 3);
		CHECK(coro_memory_high_water(&memory, 3) == 0);
		top[-1] = 1;
		CHECK(coro_memory_high_water(&memory, 3) == (size_t)top % page);
		for (char *at = top - (size_t)top % page; at > low + page; at -= 2 * page) {
			at[-1] = 1;
			CHECK(coro_memory_high_water(&memory, 3) == (size_t)(top - at) + page);
		}
		CHECK(coro_memory_high_water(&memory, 3) < memory.stack_bytes);
		/* The canary shares this page. */
		low[8] = 1;
		CHECK(coro_memory_high_water(&memory, 3) == memory.stack_bytes);
		CHECK(coro_memory_high_water(&memory, 2) == 0);
		CHECK(coro_memory_high_water(&memory, 4) == 0);
		coro_memory_fini(&memory);
	}
}

static void
high_water_without_files_too(void)
{
	struct rlimit none = {0};

	CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
	high_water_is_exact();
}

static void
trim_gives_back(void **state)
{
	for (unsigned int k = 0; k < 3; k++) {
		struct coro_memory memory;
		char *stack;
		size_t all;

		if (!have(kinds[k]))
			continue;
		memory = made(kinds[k], STACK, 128, NB);
		/* Of canaries the lowest page stays. */
		all = memory.slot_bytes - (memory.guard_bytes + page - 1) / page * page;
		stack = coro_memory_stack(&memory, 1);
		assert_int_equal(coro_memory_trim(&memory, 1), 0);
		coro_memory_top(&memory, 1)[-1] = 7;
		stack[5 * page] = 7;
		assert_int_equal(coro_memory_trim(&memory, 1), 2 * page);
		for (size_t slot = 0; slot < 3; slot++)
			memset(coro_memory_stack(&memory, slot), 7, memory.stack_bytes);
		assert_int_equal(coro_memory_trim(&memory, 1), all);
		assert_int_equal(coro_memory_high_water(&memory, 1), 0);
		assert_true(all_zero(stack, memory.stack_bytes));
		assert_true(coro_memory_intact(&memory, 1));
		for (size_t slot = 0; slot < 3; slot += 2) {
			assert_int_equal(coro_memory_stack(&memory, slot)[0], 7);
			assert_int_equal(coro_memory_top(&memory, slot)[-1], 7);
		}
		if (k < 2) {
			assert_true(faults(stack - 1, true));
			assert_true(faults(stack - memory.guard_bytes, true));
			assert_true(
				faults(coro_memory_stack(&memory, 2) - memory.guard_bytes, true));
		}
		coro_memory_fini(&memory);
	}
}

static void
nodes_are_preferred(void **state)
{
	unsigned long nodes[16] = {0};
	struct coro_memory memory;
	int mode = -1;

	assert_int_equal(coro_memory_init(&memory, STACK, 0, 2, WEIR_CORO_GUARD_BEST, 0), 0);
	if (syscall(SYS_get_mempolicy, &mode, nodes, 1025ul, memory.slots, 2ul) == 0) {
		assert_int_equal(memory.socket_id, 0);
		assert_int_equal(mode, 1);
		assert_int_equal(nodes[0], 1);
	}
	coro_memory_prepare(&memory, 0);
	memset(coro_memory_stack(&memory, 0), 1, STACK);
	coro_memory_fini(&memory);
	for (int node = 1000; node <= 1024; node += 24) {
		logged[0] = '\0';
		assert_int_equal(
			coro_memory_init(&memory, STACK, 0, 2, WEIR_CORO_GUARD_BEST, node), 0);
		assert_int_equal(memory.socket_id, -1);
		assert_non_null(strstr(logged, "1 coro: stacks on NUMA node "));
		coro_memory_fini(&memory);
	}
}

static void
guards_have_owners(void **state)
{
	struct coro_memory memory = made(WEIR_CORO_GUARD_PAGE, STACK, 64, NB), none = {0};

	for (size_t i = 0; i < NB; i++) {
		char *stack = coro_memory_stack(&memory, i);

		assert_int_equal(coro_memory_guard_of(&memory, stack - 1), i);
		assert_int_equal(coro_memory_guard_of(&memory, stack - memory.guard_bytes), i);
		assert_true(coro_memory_guard_of(&memory, stack) == SIZE_MAX);
		assert_true(
			coro_memory_guard_of(&memory, stack - memory.guard_bytes - 1) == SIZE_MAX);
	}
	assert_true(coro_memory_guard_of(&memory, memory.slots + memory.bytes) == SIZE_MAX);
	assert_true(coro_memory_guard_of(&none, NULL) == SIZE_MAX);
	assert_true(coro_memory_guard_of(&none, &none) == SIZE_MAX);
	coro_memory_fini(&memory);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_are_laid_out),
		cmocka_unit_test(pages_are_small),
		cmocka_unit_test(bad_arguments_are_refused),
		CHILD(no_address_space_is_an_error),
		cmocka_unit_test(guards_fault),
		cmocka_unit_test(best_is_the_region),
		CHILD(best_falls_back_and_says_so),
		CHILD(classes_share_the_mappings),
		cmocka_unit_test(a_million_stacks),
		cmocka_unit_test(canaries_tell),
		CHILD(high_water_is_exact),
		CHILD(high_water_without_files_too),
		cmocka_unit_test(trim_gives_back),
		cmocka_unit_test(nodes_are_preferred),
		cmocka_unit_test(guards_have_owners),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
