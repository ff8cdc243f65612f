/* SPDX-License-Identifier: BSD-3-Clause */
/* No content of a stack leaks into its next user, where that is asked for. */
#include "coro_test.h"

#define MARK 0x5ec2e7u

/* Frames of this function, and what it calls, are left out: they are the new user's own. */
#define OWN 4096

static size_t found;

/* Below the stack pointer, where sanitizers let nobody look. */
static __attribute__((noinline, no_sanitize("address", "thread"))) size_t
count_words_not_zero(const volatile uint64_t *from, const volatile uint64_t *to)
{
	size_t nb = 0;

	for (; from < to; from++)
		nb += *from != 0;
	return nb;
}

static const char *
stack_end(void)
{
	return weir_coro_block_of(weir_coro_self())->stack;
}

static __attribute__((noinline, no_sanitize("address", "thread"))) void
mark(volatile uint64_t *from, volatile uint64_t *to)
{
	for (; from < to; from++)
		*from = MARK;
}

/* Secrets from the stack's end up to near where it is. */
static void
leaves_secrets(void)
{
	char here;

	mark((uint64_t *)stack_end(), (uint64_t *)(((uintptr_t)&here - OWN) & ~(uintptr_t)7));
}

static void
leaves_secrets_and_yields(void)
{
	leaves_secrets();
	weir_coro_yield();
}

static void
looks_for_secrets(void)
{
	char here;

	found = count_words_not_zero((const uint64_t *)stack_end(),
		(const uint64_t *)(((uintptr_t)&here - OWN) & ~(uintptr_t)7));
}

/* How many words a new coroutine finds after one that ran @run for @resumes, all in the same place. */
static size_t
found_after(bool zero, enum weir_coro_guard guard, weir_coro_run_t run, int resumes)
{
	const struct weir_coro_class_param param = {.stack_size = STACK,
		.max_coroutines = 1,
		.socket_id = -1,
		.zero = zero,
		.guard = guard};
	struct weir_coro *coro;

	start(1, 0, 0);
	assert_int_equal(weir_coro_class_add(&param), 1);
	coro = weir_coro_create_in(1, run);
	for (int i = 0; i < resumes; i++)
		weir_coro_resume(coro);
	assert_int_equal(weir_coro_destroy(coro), 0);
	coro = weir_coro_create_in(1, looks_for_secrets);
	found = SIZE_MAX;
	assert_int_equal(run_to_end(coro), 1);
	assert_int_equal(weir_coro_misuse(WEIR_CORO_MISUSE_OVERFLOW), 0);
	weir_coro_cleanup();
	return found;
}

/* Else the other tests would prove nothing. */
static void
leaks_unless_asked(void **state)
{
	assert_true(found_after(false, WEIR_CORO_GUARD_BEST, leaves_secrets, 1) > STACK / 16);
}

static void
leaks_nothing(void **state)
{
	const enum weir_coro_guard guards[] = {
		WEIR_CORO_GUARD_BEST, WEIR_CORO_GUARD_PAGE, WEIR_CORO_GUARD_CANARY};

	for (size_t i = 0; i < LENGTH(guards); i++) {
		assert_int_equal(found_after(true, guards[i], leaves_secrets, 1), 0);
		/* Of one that was abandoned, too. */
		assert_int_equal(found_after(true, guards[i], leaves_secrets_and_yields, 1), 0);
	}
}

static void
fills_parameters(void)
{
	memset(weir_coro_self_in_param(256), 0xaa, 256);
	memset(weir_coro_self_out_param(256), 0xaa, 256);
}

/* Always, also without being asked, and when they share a page with the stack that is zeroed. */
static void
parameters_are_zeroed(void **state)
{
	const struct weir_coro_class_param param = {.stack_size = STACK,
		.max_in_param_size = 256,
		.max_out_param_size = 256,
		.max_coroutines = 1,
		.socket_id = -1,
		.zero = true};

	start(1, 0, 0);
	assert_int_equal(weir_coro_class_add(&param), 1);
	for (unsigned int c = 0; c < 2; c++) {
		for (int round = 0; round < 3; round++) {
			struct weir_coro *coro = weir_coro_create_in(c, fills_parameters);
			const uint64_t *in = weir_coro_in_param(coro, 256),
				       *out = weir_coro_out_param(coro, 256);

			assert_int_equal(count_words_not_zero(in, in + 32), 0);
			assert_int_equal(count_words_not_zero(out, out + 32), 0);
			weir_coro_resume(coro);
			assert_int_equal(count_words_not_zero(in, in + 32), 32);
			assert_int_equal(weir_coro_destroy(coro), 0);
		}
	}
	weir_coro_cleanup();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaks_unless_asked),
		cmocka_unit_test(leaks_nothing),
		cmocka_unit_test(parameters_are_zeroed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
