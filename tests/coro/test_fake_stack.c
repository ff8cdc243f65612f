/* SPDX-License-Identifier: BSD-3-Clause */
/* ASan keeps variables of functions on a fake stack, of each coroutine: it goes when the coroutine is destroyed, however it ended. */
#include "coro_test.h"

#include <unistd.h>

#if defined(WEIR_BASE_ASAN)
#include <sanitizer/asan_interface.h>
#endif

static size_t
mapped_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	size_t pages = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%zu", &pages), 1);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static __attribute__((noinline)) void
use(volatile char *variable)
{
	__asm__ volatile("" : : "r"(variable) : "memory");
}

static bool faked;

static void
has_variables(void)
{
	char variable[100];

#if defined(WEIR_BASE_ASAN)
	void *fake = __asan_get_current_fake_stack();

	faked = fake != NULL && __asan_addr_is_in_fake_stack(fake, variable, NULL, NULL) != NULL;
#endif
	use(variable);
	weir_coro_yield();
	use(variable);
	weir_coro_yield();
	use(variable);
}

/* So many after one another, each of which is resumed so often. */
static void
live(unsigned int nb, int resumes)
{
	for (unsigned int i = 0; i < nb; i++) {
		struct weir_coro *coro = made(has_variables);
		char variable[100] = {1};

		use(variable);
		for (int j = 0; j < resumes; j++)
			weir_coro_resume(coro);
		assert_int_equal(weir_coro_destroy(coro), 0);
		use(variable);
		assert_int_equal(variable[0], 1);
	}
}

static void
goes_when_destroyed(void **state)
{
	size_t before;

	start(1, 0, 0);
	live(3, 3);
	if (!faked)
		skip(); /* no ASan, or it was told not to */
	for (int resumes = 0; resumes <= 3; resumes++) {
		live(3, resumes);
		before = mapped_bytes();
		live(50, resumes);
		/* A fake stack is some hundred kilobytes. */
		assert_in_range(mapped_bytes(), 0, before + (1 << 20));
	}
}

static void
resumes_others(void)
{
	char variable[100] = {2};

	use(variable);
	live(3, 1);
	use(variable);
	weir_coro_yield();
	CHECK(variable[0] == 2);
}

/* By a coroutine, which has a fake stack of its own. */
static void
goes_when_destroyed_by_another(void **state)
{
	start(2, 0, 0);
	run_to_end(made(resumes_others));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(goes_when_destroyed, finish),
		cmocka_unit_test_teardown(goes_when_destroyed_by_another, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
