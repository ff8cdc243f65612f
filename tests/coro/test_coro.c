/* SPDX-License-Identifier: BSD-3-Clause */
/* A coroutine's life: created, resumed, left, exited, destroyed; its parameters, numbers, locals. */
#include "coro_test.h"

#include <execinfo.h>
#include <fenv.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(WITH_VALGRIND)
#include <valgrind/valgrind.h>
#endif

static unsigned int steps;

static void
two_yields(void)
{
	steps = 1;
	CHECK(!weir_coro_yield());
	steps = 2;
	CHECK(!weir_coro_yield());
	steps = 3;
}

static void
nothing(void)
{
}

static void
a_life(void **state)
{
	struct weir_coro *coro;

	start(4, 0, 0);
	steps = 0;
	coro = made(two_yields);
	assert_int_equal(weir_coro_resume_count(coro), 0);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(steps, i);
		assert_false(weir_coro_has_exited(coro));
		assert_null(weir_coro_self());
		weir_coro_resume(coro);
		assert_int_equal(weir_coro_resume_count(coro), i + 1);
	}
	assert_int_equal(steps, 3);
	assert_true(weir_coro_has_exited(coro));
	assert_int_equal(weir_coro_destroy(coro), 0);
}

static void
handles_go_stale(void **state)
{
	struct weir_coro *old, *new = NULL;

	start(1, 0, 0);
	old = made(nothing);
	assert_int_equal(weir_coro_destroy(old), 0);
	for (int round = 0; round < 2; round++) {
		struct weir_coro_class_stats stats;

		assert_true(weir_coro_has_exited(old));
		assert_int_equal(weir_coro_id(old), UINT32_MAX);
		errno = 0;
		assert_null(weir_coro_in_param(old, 0));
		assert_int_equal(errno, EINVAL);
		errno = 0;
		assert_null(weir_coro_out_param(old, 0));
		assert_int_equal(errno, EINVAL);
		assert_int_equal(weir_coro_resume_count(old), 0);
		assert_int_equal(weir_coro_maybe_yield_count(old), 0);
		assert_int_equal(weir_coro_high_water(old), 0);
		assert_int_equal(weir_coro_cancel(old), -EINVAL);
		weir_coro_set_time_slice(old, 7);
		assert_int_equal(weir_coro_destroy(old), -EINVAL);
		weir_coro_resume(old);
		assert_int_equal(weir_coro_misuse(WEIR_CORO_MISUSE_STALE), 2 * (round + 1));
		assert_int_equal(weir_coro_class_look(0, &stats), 0);
		assert_int_equal(stats.live, round);
		/* Once more when another one has its place. */
		if (round == 0)
			new = made(nothing);
	}
	assert_ptr_not_equal(old, new);
	assert_int_equal(weir_coro_id(new), 0);
	assert_int_equal(run_to_end(new), 1);
}

/* A place's generation is 16 bits. */
static void
handles_stay_stale(void **state)
{
	struct weir_coro *old;

	start(1, 0, 0);
	old = made(nothing);
	weir_coro_destroy(old);
	for (unsigned int i = 1; i < 65535; i++) {
		struct weir_coro *coro = made(nothing);

		CHECK(coro != old && weir_coro_id(old) == UINT32_MAX && weir_coro_id(coro) == 0);
		weir_coro_destroy(coro);
	}
}

static void
stack_is_aligned(void)
{
	_Alignas(64) volatile char aligned[64];
	char text[64];

	CHECK((uintptr_t)__builtin_frame_address(0) % 16 == 0);
	CHECK((uintptr_t)aligned % 64 == 0);
	/* Vector registers are saved by it at what it takes for aligned. */
	snprintf(text, sizeof(text), "%.3f %Lf", 1.5, (long double)2.5);
	CHECK(strcmp(text, "1.500 2.500000") == 0);
	steps = 1;
}

static void
stacks_are_aligned(void **state)
{
	start(1, 0, 0);
	steps = 0;
	run_to_end(made(stack_is_aligned));
	assert_int_equal(steps, 1);
}

static void
takes_its_parameters(void)
{
	unsigned char *in = weir_coro_self_in_param(100), *out = weir_coro_self_out_param(200);

	CHECK(in != NULL && out != NULL);
	errno = 0;
	CHECK(weir_coro_self_in_param(101) == NULL && errno == EINVAL);
	errno = 0;
	CHECK(weir_coro_self_out_param(201) == NULL && errno == EINVAL);
	for (int i = 0; i < 100; i++)
		CHECK(in[i] == (unsigned char)(weir_coro_self_id() + i));
	weir_coro_yield();
	for (int i = 0; i < 200; i++) {
		CHECK(out[i] == 0);
		out[i] = (unsigned char)(weir_coro_self_id() * 3 + i);
	}
}

static void
parameters(void **state)
{
	struct weir_coro *coros[5];

	assert_int_equal(weir_coro_init(STACK, 100, 200, LENGTH(coros), 0, 2, -1), 0);
	for (int round = 0; round < 2; round++) {
		for (size_t c = 0; c < LENGTH(coros); c++) {
			unsigned char *in, *out;

			coros[c] = made(takes_its_parameters);
			in = weir_coro_in_param(coros[c], 100);
			out = weir_coro_out_param(coros[c], 200);
			assert_ptr_equal(in, weir_coro_in_param(coros[c], 0));
			assert_int_equal((uintptr_t)in % 64, 0);
			assert_int_equal((uintptr_t)out % 64, 0);
			errno = 0;
			assert_null(weir_coro_in_param(coros[c], 101));
			assert_int_equal(errno, EINVAL);
			errno = 0;
			assert_null(weir_coro_out_param(coros[c], 201));
			assert_int_equal(errno, EINVAL);
			assert_null(weir_coro_out_param(coros[c], SIZE_MAX));
			/* Zeroed, the second time too. */
			for (int i = 0; i < 200; i++)
				assert_int_equal(out[i] | (i < 100 ? in[i] : 0), 0);
			for (int i = 0; i < 100; i++)
				in[i] = (unsigned char)(weir_coro_id(coros[c]) + i);
		}
		for (int turn = 0; turn < 2; turn++)
			for (size_t c = 0; c < LENGTH(coros); c++)
				weir_coro_resume(coros[c]);
		for (size_t c = 0; c < LENGTH(coros); c++) {
			unsigned char *out = weir_coro_out_param(coros[c], 200);

			assert_true(weir_coro_has_exited(coros[c]));
			for (int i = 0; i < 200; i++)
				assert_int_equal(
					out[i], (unsigned char)(weir_coro_id(coros[c]) * 3 + i));
			assert_int_equal(weir_coro_destroy(coros[c]), 0);
		}
	}
}

static void
no_parameters(void **state)
{
	struct weir_coro *coro;

	assert_int_equal(weir_coro_init(WEIR_CORO_STACK_MIN, 0, 0, 1, 0, 0, -1), 0);
	coro = made(nothing);
	assert_non_null(weir_coro_in_param(coro, 0));
	assert_null(weir_coro_in_param(coro, 1));
	assert_null(weir_coro_out_param(coro, 1));
	run_to_end(coro);
	errno = 0;
	assert_null(weir_coro_self_in_param(0));
	assert_int_equal(errno, EINVAL);
	assert_null(weir_coro_self_out_param(0));
}

static void
exit_3(void)
{
	steps++;
	weir_coro_exit();
}

static void
exit_2(void)
{
	exit_3();
	steps += 100;
}

static void
exit_1(void)
{
	exit_2();
	steps += 100;
}

static void
exits_from_calls(void **state)
{
	static bool forked;
	struct weir_coro *coro;
	pid_t pid;
	int status;

	start(1, 0, 0);
	steps = 0;
	coro = made(exit_1);
	weir_coro_resume(coro);
	assert_true(weir_coro_has_exited(coro));
	assert_int_equal(steps, 1);
	/* Outside of a coroutine the process ends. */
	/* Or it goes on at an earlier resumption, and would come here again, with more and more children. */
	if (forked)
		_exit(1);
	forked = true;
	pid = fork();
	if (pid == 0) {
		signal(SIGABRT, SIG_DFL);
		signal(SIGSEGV, SIG_DFL);
		alarm(10);
		weir_coro_exit();
		_exit(1); /* should it return: no tests in the child */
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

#define DEPTH 20
static struct weir_coro *chain[DEPTH];

/* Resumes the next one, yields, resumes it once more. */
static void
nests(void)
{
	uint32_t depth = *(uint32_t *)weir_coro_self_in_param(4);

	for (int turn = 0; turn < 2; turn++) {
		CHECK(weir_coro_self() == chain[depth]);
		CHECK(weir_coro_self_id() == weir_coro_id(chain[depth]));
		steps++;
		if (depth + 1 < DEPTH)
			weir_coro_resume(chain[depth + 1]);
		CHECK(weir_coro_self() == chain[depth]);
		if (turn == 0)
			weir_coro_yield();
	}
}

static void
resumes_nest(void **state)
{
	start(DEPTH, 0, 0);
	for (uint32_t i = 0; i < DEPTH; i++) {
		chain[i] = made(nests);
		*(uint32_t *)weir_coro_in_param(chain[i], 4) = i;
	}
	steps = 0;
	weir_coro_resume(chain[0]);
	assert_int_equal(steps, DEPTH);
	assert_null(weir_coro_self());
	assert_int_equal(weir_coro_self_id(), UINT32_MAX);
	weir_coro_resume(chain[0]);
	assert_int_equal(steps, 2 * DEPTH);
	for (uint32_t i = 0; i < DEPTH; i++)
		assert_true(weir_coro_has_exited(chain[i]));
}

static int slot_a, slot_b;

static void
keeps_locals(void)
{
	int mine, other;

	CHECK(weir_coro_local_get((unsigned int)slot_a) == NULL);
	CHECK(weir_coro_local_get((unsigned int)slot_b) == NULL);
	CHECK(weir_coro_local_set((unsigned int)slot_a, &mine) == 0);
	CHECK(weir_coro_local_set((unsigned int)slot_b, &other) == 0);
	CHECK(weir_coro_local_set(WEIR_CORO_LOCALS, &mine) == -EINVAL);
	CHECK(weir_coro_local_get(WEIR_CORO_LOCALS) == NULL);
	weir_coro_yield();
	CHECK(weir_coro_local_get((unsigned int)slot_a) == &mine);
	CHECK(weir_coro_local_get((unsigned int)slot_b) == &other);
}

static void
locals(void **state)
{
	struct weir_coro *coros[3];
	int slot = 0, nb = 2;

	start(LENGTH(coros), 0, 0);
	slot_a = weir_coro_local_alloc();
	slot_b = weir_coro_local_alloc();
	assert_true(slot_a >= 0 && slot_b >= 0 && slot_a != slot_b);
	for (int round = 0; round < 2; round++) {
		for (size_t c = 0; c < LENGTH(coros); c++)
			coros[c] = made(keeps_locals);
		for (int turn = 0; turn < 2; turn++)
			for (size_t c = 0; c < LENGTH(coros); c++)
				weir_coro_resume(coros[c]);
		for (size_t c = 0; c < LENGTH(coros); c++)
			assert_int_equal(weir_coro_destroy(coros[c]), 0);
	}
	assert_null(weir_coro_local_get((unsigned int)slot_a));
	assert_int_equal(weir_coro_local_set((unsigned int)slot_a, &slot), -EPERM);
	for (; (slot = weir_coro_local_alloc()) >= 0; nb++)
		assert_true(slot < WEIR_CORO_LOCALS && slot != slot_a && slot != slot_b);
	assert_int_equal(slot, -ENOSPC);
	assert_int_equal(nb, WEIR_CORO_LOCALS);
	assert_int_equal(weir_coro_local_alloc(), -ENOSPC);
}

/* In a class of its own, which keeps FP control words. */
static struct weir_coro *
made_with_fp(weir_coro_run_t run)
{
	const struct weir_coro_class_param param = {
		.stack_size = STACK, .max_coroutines = 1, .socket_id = -1, .fp_control = true};

	assert_int_equal(weir_coro_class_add(&param), 1);
	return weir_coro_create_in(1, run);
}

static void
rounds_down(void)
{
	CHECK(fegetround() == FE_TOWARDZERO); /* the creator's */
	fesetround(FE_DOWNWARD);
	weir_coro_yield();
	CHECK(fegetround() == FE_DOWNWARD);
	weir_coro_yield();
	CHECK(fegetround() == FE_DOWNWARD);
}

static void
fp_control_is_its_own(void **state)
{
	const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_TONEAREST};
	struct weir_coro *coro;

	start(1, 0, 0);
	fesetround(FE_TOWARDZERO);
	coro = made_with_fp(rounds_down);
	for (size_t i = 0; i < LENGTH(modes); i++) {
		fesetround(modes[i]);
		weir_coro_resume(coro);
		assert_int_equal(fegetround(), modes[i]);
	}
	assert_true(weir_coro_has_exited(coro));
	assert_int_equal(weir_coro_misuse(WEIR_CORO_MISUSE_FP), 0);
}

#if defined(__x86_64__) && !defined(WEIR_CORO_FCONTEXT)
static void
divides_by_zero(void)
{
	CHECK(fetestexcept(FE_ALL_EXCEPT) == 0);
	feraiseexcept(FE_DIVBYZERO);
	weir_coro_yield();
	CHECK(fetestexcept(FE_ALL_EXCEPT) == FE_DIVBYZERO);
}

static void
fp_exceptions_are_its_own(void **state)
{
	struct weir_coro *coro;

#if defined(WITH_VALGRIND)
	if (RUNNING_ON_VALGRIND) /* nothing is ever raised there */
		skip();
#endif
	start(1, 0, 0);
	feclearexcept(FE_ALL_EXCEPT);
	coro = made_with_fp(divides_by_zero);
	for (int i = 0; i < 2; i++) {
		feraiseexcept(FE_INVALID);
		weir_coro_resume(coro);
		assert_int_equal(fetestexcept(FE_ALL_EXCEPT), FE_INVALID);
		feclearexcept(FE_ALL_EXCEPT);
	}
	assert_true(weir_coro_has_exited(coro));
}

/* Bits of one word that the other one does not have, as fesetround() has: flush to zero, and the precision of long double. */
#define MXCSR_FLUSH      0x8000u
#define X87_PRECISION    0x0300u /* 64 bits of mantissa, */
#define X87_PRECISION_24 0x0000u

static void
get_words(uint32_t *mxcsr, uint16_t *x87)
{
	__asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(*mxcsr), "=m"(*x87));
}

static bool
words_are(bool flush, unsigned int precision)
{
	uint32_t mxcsr;
	uint16_t x87;

	get_words(&mxcsr, &x87);
	return ((mxcsr & MXCSR_FLUSH) != 0) == flush && (x87 & X87_PRECISION) == precision;
}

static void
set_words(bool flush, unsigned int precision)
{
	uint32_t mxcsr;
	uint16_t x87;

	get_words(&mxcsr, &x87);
	mxcsr = (mxcsr & ~MXCSR_FLUSH) | (flush ? MXCSR_FLUSH : 0);
	x87 = (uint16_t)((x87 & ~X87_PRECISION) | precision);
	__asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(mxcsr), "m"(x87));
}

static void
changes_one_word(void)
{
	CHECK(words_are(false, X87_PRECISION));
	set_words(false, X87_PRECISION_24);
	weir_coro_yield();
	CHECK(words_are(false, X87_PRECISION_24));
	set_words(true, X87_PRECISION);
	weir_coro_yield();
	CHECK(words_are(true, X87_PRECISION));
}

/* Also where only one of the two words differs. */
static void
each_fp_word_is_its_own(void **state)
{
	struct weir_coro *coro;

#if defined(WITH_VALGRIND)
	if (RUNNING_ON_VALGRIND) /* it knows of rounding only */
		skip();
#endif
	start(1, 0, 0);
	coro = made_with_fp(changes_one_word);
	for (int i = 0; i < 3; i++) {
		weir_coro_resume(coro);
		assert_true(words_are(false, X87_PRECISION));
	}
	assert_true(weir_coro_has_exited(coro));
}
#endif

/* As many numbers as there are vector registers, so that the compiler keeps them there when the switch lets it. */
#if defined(__x86_64__)
#define IN_REGISTER "+x"
#elif defined(__aarch64__)
#define IN_REGISTER "+w"
#endif

#ifdef IN_REGISTER
#define IN_REGISTERS                                                                               \
	__asm__ volatile(""                                                                        \
			 : IN_REGISTER(a), IN_REGISTER(b), IN_REGISTER(c), IN_REGISTER(d),         \
			 IN_REGISTER(e), IN_REGISTER(f), IN_REGISTER(g), IN_REGISTER(h),           \
			 IN_REGISTER(i), IN_REGISTER(j), IN_REGISTER(k), IN_REGISTER(l),           \
			 IN_REGISTER(m), IN_REGISTER(n), IN_REGISTER(o))

static __attribute__((always_inline)) inline void
fill_and_leave(double a, bool yield)
{
	const double first = a;
	double b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;
	double i = a + 8, j = a + 9, k = a + 10, l = a + 11, m = a + 12, n = a + 13, o = a + 14;

	IN_REGISTERS;
	if (yield)
		weir_coro_yield();
	else
		weir_coro_resume(chain[0]);
	IN_REGISTERS;
	CHECK(a == first && b == first + 1 && c == first + 2 && d == first + 3 && e == first + 4);
	CHECK(f == first + 5 && g == first + 6 && h == first + 7 && i == first + 8);
	CHECK(j == first + 9 && k == first + 10 && l == first + 11 && m == first + 12);
	CHECK(n == first + 13 && o == first + 14);
}

static void
fills_registers(void)
{
	for (int i = 0; i < 10; i++)
		fill_and_leave(i * 100, true);
}

static void
vector_registers_are_kept(void **state)
{
	start(1, 0, 0);
	chain[0] = made(fills_registers);
	for (int i = 0; i < 10; i++)
		fill_and_leave(5000 + i * 100, false);
	assert_int_equal(run_to_end(chain[0]), 1);
}
#endif

#ifndef WEIR_CORO_FCONTEXT
static void *expected_frame;
static bool found_frame;

static void
looks_for_frame(void)
{
	void *frames[32];
	int nb = backtrace(frames, LENGTH(frames));

	for (int i = 0; i < nb; i++)
		found_frame |= frames[i] == expected_frame;
}

static __attribute__((noinline)) void
resume_from_here(struct weir_coro *coro)
{
	expected_frame = __builtin_extract_return_addr(__builtin_return_address(0));
	weir_coro_resume(coro);
	__asm__ volatile(""); /* not a jump */
}

/* The unwind information leads from a coroutine's stack on to that of who resumed it. */
static void
backtraces_go_on(void **state)
{
	start(1, 0, 0);
	found_frame = false;
	resume_from_here(made(looks_for_frame));
	assert_true(found_frame);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_life, finish),
		cmocka_unit_test_teardown(handles_go_stale, finish),
		cmocka_unit_test_teardown(handles_stay_stale, finish),
		cmocka_unit_test_teardown(stacks_are_aligned, finish),
		cmocka_unit_test_teardown(parameters, finish),
		cmocka_unit_test_teardown(no_parameters, finish),
		cmocka_unit_test_teardown(exits_from_calls, finish),
		cmocka_unit_test_teardown(resumes_nest, finish),
		cmocka_unit_test_teardown(locals, finish),
		cmocka_unit_test_teardown(fp_control_is_its_own, finish),
#if defined(__x86_64__) && !defined(WEIR_CORO_FCONTEXT)
		cmocka_unit_test_teardown(fp_exceptions_are_its_own, finish),
		cmocka_unit_test_teardown(each_fp_word_is_its_own, finish),
#endif
#ifdef IN_REGISTER
		cmocka_unit_test_teardown(vector_registers_are_kept, finish),
#endif
#ifndef WEIR_CORO_FCONTEXT
		cmocka_unit_test_teardown(backtraces_go_on, finish),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
