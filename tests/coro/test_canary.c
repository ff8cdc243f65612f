/* SPDX-License-Identifier: BSD-3-Clause */
/* Canaries: who wrote over one is told, and nobody else. */
#include "coro_test.h"

static char last[512];

static void
keep_last(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
	snprintf(last, sizeof(last), "%s", message);
}

/* One coroutine, of class 1: the next one has the same stack. */
static int
begin(void **state)
{
	const struct weir_coro_class_param param = {.stack_size = STACK,
		.max_coroutines = 1,
		.socket_id = -1,
		.guard = WEIR_CORO_GUARD_CANARY};

	start(1, 0, 0);
	assert_int_equal(weir_coro_class_add(&param), 1);
	weir_base_log_set_sink(keep_last, NULL);
	return 0;
}

static int
end(void **state)
{
	weir_base_log_set_sink(NULL, NULL);
	return finish(state);
}

static uint64_t
overflows(void)
{
	return weir_coro_misuse(WEIR_CORO_MISUSE_OVERFLOW);
}

static void __attribute__((no_sanitize("address", "thread"))) scribble(void)
{
	volatile char *below = weir_coro_block_of(weir_coro_self())->stack - 8;

	for (int i = 0; i < 8; i++)
		below[i] = 0x55;
}

static void
scribbles(void)
{
	scribble();
}

static void
scribbles_and_yields(void)
{
	scribble();
	weir_coro_yield();
}

static void
is_innocent(void)
{
	weir_coro_yield();
}

static void
an_innocent_one_lives(void)
{
	struct weir_coro *coro = weir_coro_create_in(1, is_innocent);

	assert_int_equal(run_to_end(coro), 2);
	assert_int_equal(weir_coro_destroy(coro), 0);
}

/* Any build sees it when the coroutine ends. */
static void
seen_at_the_end(void **state)
{
	struct weir_coro *coro = weir_coro_create_in(1, scribbles);

	assert_int_equal(run_to_end(coro), 1);
	assert_int_equal(overflows(), 1);
	assert_int_equal(weir_coro_destroy(coro), 0);
	an_innocent_one_lives();
	assert_int_equal(overflows(), 1);
}

/* Builds with checks, when it yields. */
static void
seen_at_a_yield(void **state)
{
	struct weir_coro *coro = weir_coro_create_in(1, scribbles_and_yields);

	weir_coro_resume_checked(coro);
	assert_false(weir_coro_has_exited(coro));
	assert_int_equal(overflows(), 1);
	assert_non_null(strstr(last, "overflow"));
	run_to_end(coro);
	assert_int_equal(weir_coro_destroy(coro), 0);
	assert_int_equal(overflows(), 1);
}

/* One that does not come to its end is blamed when it is destroyed, by its number. */
static void
seen_when_destroyed(void **state)
{
	struct weir_coro *coro = weir_coro_create_in(1, scribbles_and_yields);
	char expected[80];

	weir_coro_resume(coro);
	snprintf(expected, sizeof(expected), "coroutine %u (handle %p): its stack has overflowed",
		weir_coro_id(coro), (void *)coro);
	assert_int_equal(weir_coro_destroy(coro), 0);
	assert_int_equal(overflows(), 1);
	assert_memory_equal(last, expected, strlen(expected));
	an_innocent_one_lives();
	assert_int_equal(overflows(), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(seen_at_the_end, begin, end),
		cmocka_unit_test_setup_teardown(seen_at_a_yield, begin, end),
		cmocka_unit_test_setup_teardown(seen_when_destroyed, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
