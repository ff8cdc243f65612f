/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function with arguments that are out of range, just within it, or of no use, and at times when nothing is there. */
#include "coro_test.h"

#include <limits.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "weir_base_hist.h"

#ifdef WITH_VALGRIND
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#define PARAM_MAX      ((size_t)1 << 30)
#define COROUTINES_MAX ((size_t)UINT32_MAX / 2)
#define GUARDS_ALL     4
#define CLASSES_ALL    16

static const struct weir_coro_class_param good = {
	.stack_size = STACK, .max_coroutines = 2, .cache_size = 2, .socket_id = -1};

static void
silent(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
}

static int
quiet(void **state)
{
	weir_base_log_set_sink(silent, NULL);
	return 0;
}

static int
finish_quiet(void **state)
{
	weir_base_log_set_sink(NULL, NULL);
	return finish(state);
}

static void
nothing(void)
{
}

static void
yields_once(void)
{
	weir_coro_yield();
}

/* A handle that stands for nothing is refused by whatever takes one. */
static void
stands_for_nothing_at_rest(struct weir_coro *coro)
{
	errno = 0;
	CHECK(weir_coro_in_param(coro, 0) == NULL && errno == EINVAL);
	errno = 0;
	CHECK(weir_coro_out_param(coro, 0) == NULL && errno == EINVAL);
	CHECK(weir_coro_id(coro) == UINT32_MAX);
	CHECK(weir_coro_has_exited(coro));
	CHECK(weir_coro_resume_count(coro) == 0 && weir_coro_maybe_yield_count(coro) == 0);
	CHECK(weir_coro_high_water(coro) == 0);
	weir_coro_set_time_slice(coro, 1);
	CHECK(weir_coro_cancel(coro) == -EINVAL);
	CHECK(weir_coro_destroy(coro) == -EINVAL);
	CHECK(weir_coro_join(coro) == (weir_coro_self() != NULL ? -EINVAL : -EPERM));
}

static void
stands_for_nothing(struct weir_coro *coro)
{
	stands_for_nothing_at_rest(coro);
	weir_coro_resume(coro); /* which follows handles, so they must be of somebody once */
}

/* What is about the calling coroutine, where there is none. */
static void
outside_of_coroutines(void)
{
	struct weir_coro_cleanup_entry entry = {0};
	int slot = 0;

	CHECK(weir_coro_self() == NULL && weir_coro_self_id() == UINT32_MAX);
	CHECK(!weir_coro_self_cancelled());
	errno = 0;
	CHECK(weir_coro_self_in_param(0) == NULL && errno == EINVAL);
	errno = 0;
	CHECK(weir_coro_self_out_param(0) == NULL && errno == EINVAL);
	CHECK(!weir_coro_yield() && !weir_coro_maybe_yield());
	CHECK(weir_coro_join(NULL) == -EPERM);
	weir_coro_cleanup_push(&entry);
	weir_coro_cleanup_pop(true);
	CHECK(weir_coro_local_get(0) == NULL && weir_coro_local_get(UINT_MAX) == NULL);
	CHECK(weir_coro_local_set(0, &slot) == -EPERM);
	CHECK(weir_coro_local_set(UINT_MAX, &slot) == -EPERM);
	weir_coro_hold();
	weir_coro_release();
	weir_coro_release();
	CHECK(weir_coro_errno() == &errno);
}

static void
without_any_class(void)
{
	struct weir_coro_class_stats stats;
	struct weir_base_hist hist;

	stands_for_nothing(NULL);
	outside_of_coroutines();
	for (unsigned int c = 0; c <= CLASSES_ALL; c++) {
		errno = 0;
		CHECK(weir_coro_create_in(c, nothing) == NULL && errno == EINVAL);
		CHECK(weir_coro_class_look(c, &stats) == -EINVAL);
		CHECK(weir_coro_class_slices(c, &hist) == -EINVAL);
		CHECK(weir_coro_class_stacks(c, &hist) == -EINVAL);
		CHECK(weir_coro_trim(c) == 0);
	}
	errno = 0;
	CHECK(weir_coro_create(nothing) == NULL && errno == EINVAL);
	CHECK(weir_coro_class_add(&good) == -EINVAL);
	CHECK(!weir_coro_overflow_report(NULL, -1));
	CHECK(!weir_coro_overflow_report(&stats, -1));
}

static void
before_and_after(void **state)
{
	without_any_class();
	for (int round = 0; round < 2; round++) {
		start(1, 0, 0);
		stands_for_nothing(NULL);
		outside_of_coroutines();
		assert_int_equal(run_to_end(made(nothing)), 1);
		weir_coro_cleanup();
		without_any_class();
		weir_coro_cleanup(); /* twice is nothing */
		without_any_class();
	}
}

static int rc_inside;

static void
begins_inside(void)
{
	rc_inside = weir_coro_init(STACK, 0, 0, 1, 0, 0, -1);
}

static void
begins_once(void **state)
{
	start(1, 0, 0);
	assert_int_equal(weir_coro_init(STACK, 0, 0, 1, 0, 0, -1), -EALREADY);
	/* Whatever else is wrong with it. */
	assert_int_equal(weir_coro_init(0, 0, 0, 0, 0, 1, -1), -EALREADY);
	rc_inside = 0;
	assert_int_equal(run_to_end(made(begins_inside)), 1);
	assert_int_equal(rc_inside, -EALREADY);
}

static int
begin_and_end(size_t stack, size_t in, size_t out, size_t nb, unsigned int cache, int socket)
{
	int rc = weir_coro_init(stack, in, out, nb, 0, cache, socket);

	if (rc == 0) {
		struct weir_coro *coro = weir_coro_create(yields_once);

		CHECK(coro != NULL && weir_coro_id(coro) < nb);
		CHECK((weir_coro_in_param(coro, in) != NULL) &&
			(weir_coro_out_param(coro, out) != NULL));
		CHECK(weir_coro_in_param(coro, in + 1) == NULL &&
			weir_coro_out_param(coro, out + 1) == NULL);
		CHECK(weir_coro_in_param(coro, SIZE_MAX) == NULL &&
			weir_coro_out_param(coro, SIZE_MAX) == NULL);
		CHECK(run_to_end(coro) == 2);
		CHECK(weir_coro_destroy(coro) == 0);
		weir_coro_cleanup();
	}
	return rc;
}

/* At a limit, and one beyond. Large ones take address space only. */
static void
limits_are_exact(void **state)
{
	/* Frames of sanitizers want more than the least. */
	const size_t least = WITH_SANITIZER ? STACK : WEIR_CORO_STACK_MIN;

	assert_int_equal(begin_and_end(0, 0, 0, 1, 0, -1), -EINVAL);
	assert_int_equal(begin_and_end(WEIR_CORO_STACK_MIN - 1, 0, 0, 1, 0, -1), -EINVAL);
	assert_int_equal(begin_and_end(least, 0, 0, 1, 0, -1), 0);
	assert_int_equal(begin_and_end(least + 1, 0, 0, 1, 0, -1), 0);
	assert_int_equal(begin_and_end(((size_t)1 << 47) + 1, 0, 0, 1, 0, -1), -EINVAL);
	assert_int_equal(begin_and_end(SIZE_MAX - 4095, 0, 0, 1, 0, -1), -EINVAL);
	assert_int_equal(begin_and_end(SIZE_MAX, 0, 0, 1, 0, -1), -EINVAL);
	assert_int_equal(begin_and_end(STACK, 1, 1, 1, 0, -1), 0);
	assert_int_equal(begin_and_end(STACK, PARAM_MAX + 1, 0, 1, 0, -1), -EINVAL);
	assert_int_equal(begin_and_end(STACK, 0, PARAM_MAX + 1, 1, 0, -1), -EINVAL);
	assert_int_equal(begin_and_end(STACK, SIZE_MAX, SIZE_MAX, 1, 0, -1), -EINVAL);
	assert_int_equal(begin_and_end(STACK, 0, 0, 0, 0, -1), -EINVAL);
	assert_int_equal(begin_and_end(STACK, 0, 0, COROUTINES_MAX + 1, 0, -1), -EINVAL);
	assert_int_equal(begin_and_end(STACK, 0, 0, SIZE_MAX, 0, -1), -EINVAL);
	assert_int_equal(begin_and_end(STACK, 0, 0, 3, 3, -1), 0);
	assert_int_equal(begin_and_end(STACK, 0, 0, 3, 4, -1), -EINVAL);
	assert_int_equal(begin_and_end(STACK, 0, 0, 3, UINT_MAX, -1), -EINVAL);
	/* All of them together fit into no address space. */
	assert_int_equal(begin_and_end((size_t)1 << 40, 0, 0, COROUTINES_MAX, 0, -1), -EINVAL);
	/* What was refused leaves nothing behind. */
	assert_int_equal(begin_and_end(STACK, 0, 0, 1, 0, -1), 0);
}

/* As many, and as much, as there may be. Tools have less of address space to give, or keep shadows of all that is unmapped. */
static void
most_of_all(void **state)
{
	struct weir_coro *coro;
	char *in, *out;
	int rc;

	if (WITH_SANITIZER || RUNNING_ON_VALGRIND || emulated())
		skip();
	assert_int_equal(begin_and_end(STACK, PARAM_MAX, PARAM_MAX, 1, 0, -1), 0);
	rc = begin_and_end(WEIR_CORO_STACK_MIN, 0, 0, COROUTINES_MAX, 0, -1);
	assert_true(rc == 0 || rc == -ENOMEM); /* where address space is accounted for */
	/* All of it is there. */
	assert_int_equal(weir_coro_init(STACK, 100 * 4096 + 1, 64, 1, 0, 0, -1), 0);
	coro = made(nothing);
	in = weir_coro_in_param(coro, 100 * 4096 + 1);
	out = weir_coro_out_param(coro, 64);
	memset(in, 1, 100 * 4096 + 1);
	memset(out, 2, 64);
	for (size_t i = 0; i <= 100 * 4096; i++)
		assert_int_equal(in[i], 1);
	assert_int_equal(run_to_end(coro), 1);
}

static void
any_node_will_do(void **state)
{
	const int nodes[] = {0, -1, -2, INT_MIN, INT_MAX, 63, 64, 1023, 1024};

	for (size_t i = 0; i < LENGTH(nodes); i++)
		assert_int_equal(begin_and_end(STACK, 8, 8, 2, 0, nodes[i]), 0);
}

static void
guards_have_names(void **state)
{
	struct weir_coro_class_param param = good;
	struct weir_coro_class_stats stats;

	start(1, 0, 0);
	for (int guard = -1; guard <= GUARDS_ALL; guard++) {
		int rc;

		param.guard = (enum weir_coro_guard)guard;
		rc = weir_coro_class_add(&param);
		if (guard < 0 || guard == GUARDS_ALL) {
			assert_int_equal(rc, -EINVAL);
			continue;
		}
		/* A region is refused by name where the kernel has none. */
		if (rc < 0) {
			assert_int_equal(guard, WEIR_CORO_GUARD_REGION);
			continue;
		}
		assert_int_equal(weir_coro_class_look((unsigned int)rc, &stats), 0);
		assert_true(guard == WEIR_CORO_GUARD_BEST || stats.guard == param.guard);
		assert_true(stats.guard != WEIR_CORO_GUARD_BEST);
	}
	param.guard = (enum weir_coro_guard)INT_MIN;
	assert_int_equal(weir_coro_class_add(&param), -EINVAL);
}

static void
classes_have_numbers(void **state)
{
	const unsigned int bad[] = {1, CLASSES_ALL - 1, CLASSES_ALL, INT_MAX, UINT_MAX};
	struct weir_coro_class_stats stats;
	struct weir_base_hist hist;

	start(1, 0, 0);
	for (size_t i = 0; i < LENGTH(bad); i++) {
		errno = 0;
		assert_null(weir_coro_create_in(bad[i], nothing));
		assert_int_equal(errno, EINVAL);
		assert_int_equal(weir_coro_class_look(bad[i], &stats), -EINVAL);
		assert_int_equal(weir_coro_class_slices(bad[i], &hist), -EINVAL);
		assert_int_equal(weir_coro_class_stacks(bad[i], &hist), -EINVAL);
		assert_int_equal(weir_coro_trim(bad[i]), 0);
	}
	errno = 0;
	assert_null(weir_coro_create_in(0, NULL));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(weir_coro_create(NULL));
	assert_int_equal(errno, EINVAL);
	/* Nothing was taken for these. */
	assert_int_equal(weir_coro_class_look(0, &stats), 0);
	assert_int_equal(stats.created, 0);
	assert_int_equal(weir_coro_class_slices(0, &hist), 0);
	assert_int_equal(weir_coro_class_stacks(0, &hist), 0);
	assert_int_equal(run_to_end(made(nothing)), 1);
}

/* Within the library's own memory, but not what it gave out. */
static void
handles_are_whole(void **state)
{
	struct weir_coro *coro;
	char *handle;

	start(4, 0, 0);
	coro = made(yields_once);
	weir_coro_resume(coro);
	handle = (char *)coro;
	/* Of places that nobody had yet. */
	for (size_t i = 1; i < 4; i++)
		stands_for_nothing((void *)(handle + i * sizeof(struct weir_coro_block)));
	/* Of other generations. */
	for (unsigned int bit = 48; bit < 64; bit++)
		stands_for_nothing((void *)((uintptr_t)coro ^ (uintptr_t)1 << bit));
	assert_int_equal(weir_coro_resume_count(coro), 1);
	assert_int_equal(run_to_end(coro), 1);
	assert_int_equal(weir_coro_destroy(coro), 0);
}

static void
uses_itself(void)
{
	struct weir_coro *self = weir_coro_self();
	int mine = 0;

	CHECK(weir_coro_join(self) == -EDEADLK);
	CHECK(weir_coro_join(NULL) == -EINVAL);
	CHECK(weir_coro_destroy(self) == -EBUSY);
	weir_coro_resume(self);
	CHECK(weir_coro_resume_count(self) == 1);
	CHECK(!weir_coro_has_exited(self));
	CHECK(weir_coro_self_in_param(256) == weir_coro_in_param(self, 0));
	CHECK(weir_coro_self_out_param(256) == weir_coro_out_param(self, 0));
	CHECK(weir_coro_self_in_param(257) == NULL && weir_coro_self_in_param(SIZE_MAX) == NULL);
	CHECK(weir_coro_self_out_param(257) == NULL && weir_coro_self_out_param(SIZE_MAX) == NULL);
	CHECK(weir_coro_local_get(WEIR_CORO_LOCALS) == NULL);
	CHECK(weir_coro_local_get(UINT_MAX) == NULL);
	CHECK(weir_coro_local_set(WEIR_CORO_LOCALS, &mine) == -EINVAL);
	CHECK(weir_coro_local_set(UINT_MAX, &mine) == -EINVAL);
	CHECK(weir_coro_local_set(WEIR_CORO_LOCALS - 1, &mine) == 0);
	CHECK(weir_coro_local_get(WEIR_CORO_LOCALS - 1) == &mine);
	CHECK(weir_coro_high_water(self) > 0);
	/* Slices, the longest among them, of one that runs. */
	weir_coro_set_time_slice(self, UINT64_MAX);
	for (int i = 0; i < 1000; i++)
		CHECK(!weir_coro_maybe_yield());
	CHECK(weir_coro_resume_count(self) == 1);
	CHECK(weir_coro_maybe_yield_count(self) == 1000);
	CHECK(weir_coro_cancel(self) == 0 && weir_coro_cancel(self) == 0);
	CHECK(weir_coro_self_cancelled());
	CHECK(weir_coro_yield());
	CHECK(weir_coro_join(NULL) == -EINVAL);
}

/* Whatever a caller has in its variable. */
static void
garbage_is_refused(void **state)
{
	struct weir_coro *coro, *after;
	int mine[64] = {0};

	start(4, 0, 0);
	coro = made(yields_once);
	stands_for_nothing_at_rest((struct weir_coro *)0x1234);
	stands_for_nothing_at_rest((struct weir_coro *)UINTPTR_MAX);
	stands_for_nothing_at_rest((struct weir_coro *)mine);
	stands_for_nothing_at_rest((struct weir_coro *)((char *)coro + 1));
	stands_for_nothing_at_rest(
		(struct weir_coro *)((char *)coro - sizeof(struct weir_coro_block)));
	stands_for_nothing_at_rest(
		(struct weir_coro *)((char *)coro + 4 * sizeof(struct weir_coro_block)));
	assert_int_equal(run_to_end(coro), 2);
	after = made(nothing);
	weir_coro_cleanup();
	stands_for_nothing_at_rest(coro);
	stands_for_nothing_at_rest(after);
}

static void
cleans_up_the_library(void)
{
	weir_coro_cleanup();
	CHECK(weir_coro_self() != NULL);
}

static void
not_in_a_coroutine(void **state)
{
	struct weir_coro *coro;

	start(1, 0, 0);
	coro = made(cleans_up_the_library);
	assert_int_equal(run_to_end(coro), 1);
	assert_int_equal(weir_coro_destroy(coro), 0);
}

static void
pushes_nothing(void)
{
	struct weir_coro_cleanup_entry entry = {0};

	weir_coro_cleanup_push(NULL);
	weir_coro_cleanup_push(&entry);
	weir_coro_cleanup_pop(true);
	weir_coro_cleanup_pop(true);
	weir_coro_cleanup_push(&entry);
	weir_coro_exit();
}

static void
null_is_refused(void **state)
{
	start(1, 0, 0);
	assert_int_equal(weir_coro_class_add(NULL), -EINVAL);
	assert_int_equal(weir_coro_class_look(0, NULL), -EINVAL);
	assert_int_equal(weir_coro_class_slices(0, NULL), -EINVAL);
	assert_int_equal(weir_coro_class_stacks(0, NULL), -EINVAL);
	assert_int_equal(run_to_end(made(pushes_nothing)), 1);
}

/* Numbers are unique, and UINT32_MAX is nobody's. */
static void
numbers_end(void **state)
{
	struct weir_coro_class_param param = {.stack_size = WEIR_CORO_STACK_MIN,
		.max_coroutines = COROUTINES_MAX,
		.socket_id = -1};

	if (WITH_SANITIZER || RUNNING_ON_VALGRIND || emulated())
		skip();
	start(1, 0, 0);
	for (int i = 0; i < 2; i++)
		if (weir_coro_class_add(&param) < 0)
			skip(); /* address space is accounted for */
	assert_int_equal(weir_coro_class_add(&param), -ENOSPC);
}

static void
holds_often(void)
{
	for (int i = 0; i < 70000; i++)
		weir_coro_hold();
	for (int i = 0; i < 70000; i++)
		weir_coro_release();
	CHECK(!weir_coro_yield());
	CHECK(weir_coro_misuse(WEIR_CORO_MISUSE_HOLDING) == 1);
}

static void
too_many_holds_stay(void **state)
{
	start(1, 0, 0);
	assert_int_equal(run_to_end(made(holds_often)), 1);
	assert_int_equal(weir_coro_misuse(WEIR_CORO_MISUSE_HOLDING), 2); /* and it left with them */
}

static void
of_itself(void **state)
{
	struct weir_coro *coro;

	start(2, 0, 0);
	coro = made(uses_itself);
	assert_int_equal(run_to_end(coro), 2);
	assert_int_equal(weir_coro_misuse(WEIR_CORO_MISUSE_RUNNING), 2);
	assert_int_equal(weir_coro_destroy(coro), 0);
}

/* One that has exited is still there to be asked. */
static void
of_one_that_has_exited(void **state)
{
	struct weir_coro *coro;

	start(1, 0, 0);
	coro = made(yields_once);
	assert_int_equal(run_to_end(coro), 2);
	assert_int_equal(weir_coro_id(coro), 0);
	assert_int_equal(weir_coro_resume_count(coro), 2);
	assert_int_equal(weir_coro_maybe_yield_count(coro), 0);
	assert_non_null(weir_coro_in_param(coro, 256));
	assert_non_null(weir_coro_out_param(coro, 256));
	assert_true(weir_coro_high_water(coro) > 0);
	assert_int_equal(weir_coro_cancel(coro), -EINVAL);
	weir_coro_set_time_slice(coro, 5);
	weir_coro_resume(coro);
	assert_int_equal(weir_coro_misuse(WEIR_CORO_MISUSE_EXITED), 1);
	assert_int_equal(weir_coro_destroy(coro), 0);
	assert_int_equal(weir_coro_destroy(coro), -EINVAL);
}

static void
signals_have_a_stack(void **state)
{
	const struct weir_coro_block *block;

	assert_int_equal(weir_coro_signal_stack(), 0);
	assert_int_equal(weir_coro_signal_stack(), 0);
	start(1, 0, 0);
	block = weir_coro_block_of(made(nothing));
	assert_false(weir_coro_overflow_report(NULL, -1));
	assert_false(weir_coro_overflow_report((const void *)UINTPTR_MAX, -1));
	assert_false(weir_coro_overflow_report(block->stack, -1));
	assert_false(weir_coro_overflow_report(block->top, -1));
	/* Told, though nobody hears it. */
	errno = 7;
	assert_true(weir_coro_overflow_report(block->stack - 1, -1));
	assert_int_equal(errno, 7);
}

/* All but so many of what the process may have. @return the exit code of a child that begins then */
static int
begins_with_keys(unsigned int nb_left)
{
	pthread_key_t keys[PTHREAD_KEYS_MAX];
	unsigned int nb = 0;
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		while (nb < PTHREAD_KEYS_MAX && pthread_key_create(&keys[nb], NULL) == 0)
			nb++;
		while (nb > 0 && nb_left-- > 0)
			pthread_key_delete(keys[--nb]);
		_exit(-weir_coro_init(STACK, 0, 0, 1, 0, 0, -1));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
keys_may_be_missing(void **state)
{
	assert_int_equal(begins_with_keys(0), EAGAIN);
	assert_int_equal(begins_with_keys(1), EAGAIN);
	assert_int_equal(begins_with_keys(2), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_may_be_missing), /* first: none has been made as yet */
		cmocka_unit_test_setup_teardown(before_and_after, quiet, finish_quiet),
		cmocka_unit_test_setup_teardown(begins_once, quiet, finish_quiet),
		cmocka_unit_test_setup_teardown(limits_are_exact, quiet, finish_quiet),
		cmocka_unit_test_setup_teardown(most_of_all, quiet, finish_quiet),
		cmocka_unit_test_setup_teardown(any_node_will_do, quiet, finish_quiet),
		cmocka_unit_test_setup_teardown(guards_have_names, quiet, finish_quiet),
		cmocka_unit_test_setup_teardown(classes_have_numbers, quiet, finish_quiet),
		cmocka_unit_test_setup_teardown(handles_are_whole, quiet, finish_quiet),
		cmocka_unit_test_setup_teardown(garbage_is_refused, quiet, finish_quiet),
		cmocka_unit_test_setup_teardown(not_in_a_coroutine, quiet, finish_quiet),
		cmocka_unit_test_setup_teardown(null_is_refused, quiet, finish_quiet),
		cmocka_unit_test_setup_teardown(numbers_end, quiet, finish_quiet),
		cmocka_unit_test_setup_teardown(too_many_holds_stay, quiet, finish_quiet),
		cmocka_unit_test_setup_teardown(of_itself, quiet, finish_quiet),
		cmocka_unit_test_setup_teardown(of_one_that_has_exited, quiet, finish_quiet),
		cmocka_unit_test_setup_teardown(signals_have_a_stack, quiet, finish_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
