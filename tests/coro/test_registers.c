/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every register that a switch changes is said to be lost by it. Coroutines that take turns have one value in
 * use at the switch, hidden from the compiler, which cannot be worked out again: should one register be missing in the list,
 * that is where compilers keep it as a rule, and it comes back as another coroutine's. One value and no loop: with
 * more of them compilers prefer memory to the single register that is left.
 */

#include "coro_test.h"

#define COROUTINES 3

#if defined(__x86_64__)
#define IN_REAL "+x"
#elif defined(__aarch64__)
#define IN_REAL "+w"
#else
#define IN_REAL "+m"
#endif

static volatile uint64_t one = 1;
static unsigned int nb_right;

/* As weir_coro_yield(), without the function that it calls where it may not: calls lose registers, too. */
static inline __attribute__((always_inline)) void
leave(void)
{
#if defined(WEIR_CORO_CHECKS) /* the switch is in a function of the library */
	weir_coro_yield();
#else
	struct weir_coro_block *block = weir_coro_thread_now()->current;

	weir_coro_switch_out(&block->contexts, weir_coro_thread_here());
#endif
}

/* Different in each coroutine. */
static uint64_t
number(void)
{
	return one * 1000 * (weir_coro_self_id() + 1);
}

static void
whole_number(void)
{
	uint64_t value = number();

	__asm__ volatile("" : "+r"(value));
	leave();
	__asm__ volatile("" : "+r"(value));
	nb_right += value == number();
}

static void
real_number(void)
{
	double value = (double)number();

	__asm__ volatile("" : IN_REAL(value));
	leave();
	__asm__ volatile("" : IN_REAL(value));
	nb_right += value == (double)number();
}

/* What is aligned more than the stack, beside what is of variable size, is found by a register of its own. */
static void
aligned_numbers(void)
{
	const size_t nb = 1 + one;
	volatile uint64_t aligned[4] __attribute__((aligned(128))) = {number()};
	volatile uint64_t *variable = __builtin_alloca(nb * sizeof(*variable));

	variable[nb - 1] = number();
	leave();
	nb_right += aligned[0] == number() && variable[nb - 1] == number() &&
		    (uintptr_t)aligned % 128 == 0;
}

static void
take_turns(weir_coro_run_t run)
{
	struct weir_coro *coros[COROUTINES];

	nb_right = 0;
	assert_int_equal(weir_coro_init(STACK, 0, 0, COROUTINES, 0, 0, -1), 0);
	for (unsigned int i = 0; i < COROUTINES; i++) {
		coros[i] = weir_coro_create(run);
		assert_non_null(coros[i]);
	}
	for (unsigned int turn = 0; turn < 2; turn++)
		for (unsigned int i = 0; i < COROUTINES; i++)
			weir_coro_resume(coros[i]);
	for (unsigned int i = 0; i < COROUTINES; i++)
		assert_true(weir_coro_has_exited(coros[i]));
	assert_int_equal(nb_right, COROUTINES);
	weir_coro_cleanup();
}

static void
test_whole_number(void **state)
{
	take_turns(whole_number);
}

static void
test_real_number(void **state)
{
	take_turns(real_number);
}

static void
test_aligned_numbers(void **state)
{
	take_turns(aligned_numbers);
}

static struct weir_coro *other; /* has its own number in use where it leaves */

static void
whole_number_of_resumer(void)
{
	uint64_t value = number();

	__asm__ volatile("" : "+r"(value));
	weir_coro_resume(other);
	__asm__ volatile("" : "+r"(value));
	nb_right += value == number();
}

static void
real_number_of_resumer(void)
{
	double value = (double)number();

	__asm__ volatile("" : IN_REAL(value));
	weir_coro_resume(other);
	__asm__ volatile("" : IN_REAL(value));
	nb_right += value == (double)number();
}

/* Likewise in who resumes, a coroutine here. */
static void
resume_another(weir_coro_run_t run, weir_coro_run_t run_other)
{
	struct weir_coro *coro;

	nb_right = 0;
	assert_int_equal(weir_coro_init(STACK, 0, 0, 2, 0, 0, -1), 0);
	coro = weir_coro_create(run);
	other = weir_coro_create(run_other);
	weir_coro_resume(coro);
	assert_true(weir_coro_has_exited(coro));
	weir_coro_resume(other);
	assert_true(weir_coro_has_exited(other));
	assert_int_equal(nb_right, 2);
	weir_coro_cleanup();
}

static void
test_numbers_of_resumer(void **state)
{
	resume_another(whole_number_of_resumer, whole_number);
	resume_another(real_number_of_resumer, real_number);
}

static void
test_aligned_numbers_of_resumer(void **state)
{
	const size_t nb = 1 + one;
	volatile uint64_t aligned[4] __attribute__((aligned(128))) = {1};
	volatile uint64_t *variable = __builtin_alloca(nb * sizeof(*variable));
	struct weir_coro *coro;

	assert_int_equal(weir_coro_init(STACK, 0, 0, 1, 0, 0, -1), 0);
	coro = weir_coro_create(aligned_numbers);
	variable[nb - 1] = 2;
	weir_coro_resume(coro);
	assert_int_equal(aligned[0], 1);
	assert_int_equal(variable[nb - 1], 2);
	weir_coro_resume(coro);
	assert_true(weir_coro_has_exited(coro));
	weir_coro_cleanup();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_number),
		cmocka_unit_test(test_real_number),
		cmocka_unit_test(test_aligned_numbers),
		cmocka_unit_test(test_numbers_of_resumer),
		cmocka_unit_test(test_aligned_numbers_of_resumer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
