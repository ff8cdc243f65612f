/* SPDX-License-Identifier: BSD-3-Clause */
/* A coroutine's life: created, resumed, left, exited, destroyed; its parameters, numbers, locals. */
#include "coro_test.h"

#include <execinfo.h>
#include <fenv.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

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
		assert_int_equal(weir_coro_class_stats(0, &stats), 0);
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
	pid = fork();
	if (pid == 0) {
		signal(SIGABRT, SIG_DFL);
		weir_coro_exit();
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

#define NB 100

static void
exhausted(unsigned int cache)
{
	struct weir_coro *coros[NB];
	bool seen[NB] = {false};
	struct weir_coro_class_stats stats;

	start(NB, 0, cache);
	for (int round = 0; round < 3; round++) {
		memset(seen, 0, sizeof(seen));
		for (int i = 0; i < NB; i++) {
			uint32_t id;

			coros[i] = made(nothing);
			id = weir_coro_id(coros[i]);
			assert_true(id < NB && !seen[id]);
			seen[id] = true;
		}
		for (int i = 0; i < 3; i++) {
			errno = 0;
			assert_null(weir_coro_create(nothing));
			assert_int_equal(errno, EAGAIN);
		}
		assert_int_equal(weir_coro_destroy(coros[round]), 0);
		coros[round] = made(nothing);
		assert_null(weir_coro_create(nothing));
		for (int i = 0; i < NB; i++) {
			weir_coro_resume(coros[i]);
			assert_int_equal(weir_coro_destroy(coros[i]), 0);
		}
	}
	assert_int_equal(weir_coro_class_stats(0, &stats), 0);
	assert_int_equal(stats.max, NB);
	assert_int_equal(stats.live, 0);
	assert_int_equal(stats.peak, NB);
	assert_int_equal(stats.created, 3 * (NB + 1));
	assert_int_equal(stats.exited, 3 * NB);
	assert_int_equal(stats.destroyed, 3 * (NB + 1));
	assert_int_equal(stats.switches, 3 * NB);
	weir_coro_cleanup();
}

static void
an_empty_pool_is_an_error(void **state)
{
	exhausted(0);
	exhausted(1);
	exhausted(7);
	exhausted(NB);
	start(1, 0, 0); /* for the teardown */
}

static void *
use_them_all(void *arg)
{
	struct weir_coro *coros[NB];

	for (int i = 0; i < NB; i++)
		coros[i] = made(nothing);
	for (int i = 0; i < NB; i++) {
		weir_coro_resume(coros[i]);
		weir_coro_destroy(coros[i]);
	}
	return NULL;
}

/* What a thread kept, and counted, is not lost when it ends. */
static void
threads_leave_all_behind(void **state)
{
	struct weir_coro_class_stats stats;
	pthread_t thread;

	start(NB, 0, NB);
	for (int round = 1; round <= 3; round++) {
		assert_int_equal(pthread_create(&thread, NULL, use_them_all, NULL), 0);
		pthread_join(thread, NULL);
		assert_int_equal(weir_coro_class_stats(0, &stats), 0);
		assert_int_equal(stats.live, 0);
		assert_int_equal(stats.created, round * NB);
		assert_int_equal(stats.exited, round * NB);
		assert_int_equal(stats.switches, round * NB);
	}
	use_them_all(NULL);
}

/* A thread that lived through a cleanup knows nothing of what was before. */
static void
begins_anew(void **state)
{
	struct weir_coro_class_stats stats;

	for (int round = 0; round < 3; round++) {
		start(NB, 0, NB);
		assert_int_equal(weir_coro_init(STACK, 0, 0, 1, 0, 0, -1), -EALREADY);
		weir_coro_resume(NULL);
		assert_int_equal(weir_coro_misuse(WEIR_CORO_MISUSE_STALE), 1);
		use_them_all(NULL);
		assert_int_equal(weir_coro_class_stats(0, &stats), 0);
		assert_int_equal(stats.created, NB);
		weir_coro_cleanup();
		assert_int_equal(weir_coro_class_stats(0, &stats), -EINVAL);
		errno = 0;
		assert_null(weir_coro_create(nothing));
		assert_int_equal(errno, EINVAL);
	}
	weir_coro_cleanup(); /* nothing to do */
}

static char logged[2048];

static void
keep_log(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
	snprintf(logged + strlen(logged), sizeof(logged) - strlen(logged), "%s: %s\n", module,
		message);
}

static void
cleanup_tells_who_is_left(void **state)
{
	start(4, 0, 0);
	made(two_yields);
	weir_coro_resume(made(two_yields));
	weir_coro_destroy(made(nothing));
	logged[0] = '\0';
	weir_base_log_set_sink(keep_log, NULL);
	weir_coro_cleanup();
	weir_base_log_set_sink(NULL, NULL);
	assert_non_null(strstr(logged, "2 coroutines were alive"));
}

static void
bad_classes_are_refused(void **state)
{
	const struct weir_coro_class_param good = {
		.stack_size = STACK, .max_coroutines = 10, .cache_size = 10, .socket_id = -1};
	struct weir_coro_class_param bad[8];
	struct weir_coro_class_stats stats;

	for (size_t i = 0; i < LENGTH(bad); i++)
		bad[i] = good;
	bad[0].stack_size = WEIR_CORO_STACK_MIN - 1;
	bad[1].stack_size = 0;
	bad[2].stack_size = SIZE_MAX;
	bad[3].max_coroutines = 0;
	bad[4].max_coroutines = SIZE_MAX;
	bad[5].cache_size = 11;
	bad[6].max_in_param_size = SIZE_MAX;
	bad[7].max_out_param_size = SIZE_MAX - 63;
	weir_base_log_set_sink(keep_log, NULL);
	/* The first class is weir_coro_init()'s. */
	assert_int_equal(weir_coro_class_add(&good), -EINVAL);
	for (size_t i = 0; i < LENGTH(bad); i++) {
		int rc = weir_coro_init(bad[i].stack_size, bad[i].max_in_param_size,
			bad[i].max_out_param_size, bad[i].max_coroutines, 0, bad[i].cache_size, -1);

		assert_true(rc == -EINVAL || rc == -ENOMEM);
	}
	start(1, 0, 0);
	for (size_t i = 0; i < LENGTH(bad); i++)
		assert_true(weir_coro_class_add(&bad[i]) < 0);
	for (int i = 1; i < 16; i++)
		assert_int_equal(weir_coro_class_add(&good), i);
	assert_int_equal(weir_coro_class_add(&good), -ENOSPC);
	weir_base_log_set_sink(NULL, NULL);
	errno = 0;
	assert_null(weir_coro_create_in(16, nothing));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(weir_coro_create(NULL));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(weir_coro_class_stats(16, &stats), -EINVAL);
	assert_int_equal(weir_coro_class_stats(UINT32_MAX, &stats), -EINVAL);
	assert_int_equal(weir_coro_trim(16), 0);
	assert_int_equal(run_to_end(weir_coro_create_in(15, nothing)), 1);
}

static void
classes_are_apart(void **state)
{
	const size_t sizes[] = {STACK, 5000, 200000};
	bool seen[30] = {false};
	struct weir_coro_class_stats stats;

	start(10, 0, 3);
	for (unsigned int c = 1; c < LENGTH(sizes); c++) {
		const struct weir_coro_class_param param = {.stack_size = sizes[c],
			.max_in_param_size = c,
			.max_coroutines = 10,
			.socket_id = -1};

		assert_int_equal(weir_coro_class_add(&param), c);
	}
	for (unsigned int c = 0; c < LENGTH(sizes); c++) {
		struct weir_coro *coro;

		for (unsigned int i = 0; i < 10; i++) {
			coro = weir_coro_create_in(c, nothing);
			assert_non_null(coro);
			assert_true(weir_coro_id(coro) < LENGTH(seen) && !seen[weir_coro_id(coro)]);
			seen[weir_coro_id(coro)] = true;
			for (unsigned int turn = 0; turn < i % 2; turn++)
				weir_coro_resume(coro);
		}
		assert_null(weir_coro_create_in(c, nothing));
		assert_int_equal(weir_coro_class_stats(c, &stats), 0);
		assert_true(stats.stack_size >= sizes[c] && stats.stack_size < sizes[c] + 65536);
		assert_true(stats.guard != WEIR_CORO_GUARD_BEST);
		assert_int_equal(stats.live, 10);
		assert_int_equal(stats.exited, 5);
		assert_int_equal(stats.switches, 5);
		assert_true(stats.high_water > 0 && stats.high_water <= stats.stack_size);
		assert_true(stats.resident >= stats.high_water);
		if (c > 0) {
			assert_non_null(weir_coro_in_param(coro, c));
			assert_null(weir_coro_in_param(coro, c + 1));
		}
	}
}

static __attribute__((noinline)) void
use_stack(size_t bytes)
{
	char *low = __builtin_alloca(bytes);

	__asm__ volatile("" : "+r"(low) : : "memory"); /* clang leaves out what is between else */
	for (size_t i = 0; i < bytes; i += 512)
		*(volatile char *)(low + i) = 1;
}

static void
uses_40000_bytes(void)
{
	use_stack(40000);
	weir_coro_yield();
}

static void
high_water_is_seen(void **state)
{
	struct weir_coro *coro;
	struct weir_coro_class_stats stats;

	start(1, 0, 0);
	coro = made(uses_40000_bytes);
	assert_true(weir_coro_high_water(coro) <= 16384);
	weir_coro_resume(coro);
	assert_int_equal(weir_coro_class_stats(0, &stats), 0);
	assert_in_range(weir_coro_high_water(coro), 40000, stats.stack_size);
	assert_in_range(stats.high_water, 40000, stats.stack_size);
	weir_coro_destroy(coro);
	assert_true(weir_coro_trim(0) >= 40000 - 8192);
	assert_int_equal(weir_coro_class_stats(0, &stats), 0);
	assert_true(stats.resident < 40000);
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
	const struct weir_coro_class_param param = {
		.stack_size = STACK, .max_coroutines = 2, .socket_id = -1, .fp_control = true};
	const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_TONEAREST};
	struct weir_coro *coro;

	start(1, 0, 0);
	assert_int_equal(weir_coro_class_add(&param), 1);
	fesetround(FE_TOWARDZERO);
	coro = weir_coro_create_in(1, rounds_down);
	for (size_t i = 0; i < LENGTH(modes); i++) {
		fesetround(modes[i]);
		weir_coro_resume(coro);
		assert_int_equal(fegetround(), modes[i]);
	}
	assert_true(weir_coro_has_exited(coro));
	assert_int_equal(weir_coro_misuse(WEIR_CORO_MISUSE_FP), 0);
}

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
		cmocka_unit_test_teardown(an_empty_pool_is_an_error, finish),
		cmocka_unit_test_teardown(threads_leave_all_behind, finish),
		cmocka_unit_test_teardown(begins_anew, finish),
		cmocka_unit_test_teardown(cleanup_tells_who_is_left, finish),
		cmocka_unit_test_teardown(bad_classes_are_refused, finish),
		cmocka_unit_test_teardown(classes_are_apart, finish),
		cmocka_unit_test_teardown(high_water_is_seen, finish),
		cmocka_unit_test_teardown(locals, finish),
		cmocka_unit_test_teardown(fp_control_is_its_own, finish),
		cmocka_unit_test_teardown(backtraces_go_on, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
