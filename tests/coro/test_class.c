/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes of coroutines: how many there are, what threads keep of them, what is told of them. */
#include "coro_private.h"
#include "coro_test.h"
#include "weir_base_hist.h"

#include <unistd.h>

#include <sys/wait.h>

#include <pthread.h>
#include <sched.h>

static void
yields_once(void)
{
	weir_coro_yield();
}

static void
nothing(void)
{
}

static char logged[2048];

static void
keep_log(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
	snprintf(logged + strlen(logged), sizeof(logged) - strlen(logged), "%s: %s\n", module,
		message);
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
	assert_int_equal(weir_coro_class_look(0, &stats), 0);
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
		assert_int_equal(weir_coro_class_look(0, &stats), 0);
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
		logged[0] = '\0';
		weir_base_log_set_sink(keep_log, NULL);
		assert_int_equal(weir_coro_init(STACK, 0, 0, 1, 0, 0, -1), -EALREADY);
		weir_base_log_set_sink(NULL, NULL);
		assert_non_null(strstr(logged, "twice"));
		weir_coro_resume(NULL);
		assert_int_equal(weir_coro_misuse(WEIR_CORO_MISUSE_STALE), 1);
		use_them_all(NULL);
		assert_int_equal(weir_coro_class_look(0, &stats), 0);
		assert_int_equal(stats.created, NB);
		weir_coro_cleanup();
		assert_int_equal(weir_coro_class_look(0, &stats), -EINVAL);
		errno = 0;
		assert_null(weir_coro_create(nothing));
		assert_int_equal(errno, EINVAL);
	}
	weir_coro_cleanup(); /* nothing to do */
}

/* The same memory, as a rule, and the first one in it: not the one of before. */
static void
handles_do_not_come_back(void **state)
{
	struct weir_coro *coros[8];

	for (size_t i = 0; i < LENGTH(coros); i++) {
		start(NB, 0, 0);
		coros[i] = made(yields_once);
		for (size_t before = 0; before < i; before++)
			assert_ptr_not_equal(coros[i], coros[before]);
		weir_coro_cleanup();
	}
	start(1, 0, 0); /* for the teardown */
}

static bool used, gone;

static void *
ends_after_cleanup(void *arg)
{
	use_them_all(NULL);
	__atomic_store_n(&used, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&gone, __ATOMIC_ACQUIRE))
		sched_yield();
	return NULL;
}

/* What a thread kept is not given back twice. */
static void
threads_may_end_later(void **state)
{
	pthread_t thread;

	start(NB, 0, NB);
	used = gone = false;
	assert_int_equal(pthread_create(&thread, NULL, ends_after_cleanup, NULL), 0);
	while (!__atomic_load_n(&used, __ATOMIC_ACQUIRE))
		sched_yield();
	weir_coro_cleanup();
	__atomic_store_n(&gone, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	start(NB, 0, NB);
	use_them_all(NULL);
}

static void *
uses_and_ends(void *arg)
{
	use_them_all(NULL);
	__atomic_fetch_add((int *)arg, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Nor does it matter when just they do. */
static void
threads_may_end_meanwhile(void **state)
{
	pthread_t threads[4];

	for (int round = 0; round < 200; round++) {
		int nb_used = 0;

		assert_int_equal(weir_coro_init(STACK, 0, 0, LENGTH(threads) * NB, 0, NB, -1), 0);
		for (size_t i = 0; i < LENGTH(threads); i++)
			CHECK(pthread_create(&threads[i], NULL, uses_and_ends, &nb_used) == 0);
		while (__atomic_load_n(&nb_used, __ATOMIC_ACQUIRE) < (int)LENGTH(threads))
			sched_yield();
		weir_coro_cleanup();
		for (size_t i = 0; i < LENGTH(threads); i++)
			pthread_join(threads[i], NULL);
	}
	start(1, 0, 0); /* for the teardown */
}

static void
cleanup_tells_who_is_left(void **state)
{
	start(4, 0, 0);
	made(yields_once);
	weir_coro_resume(made(yields_once));
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
	logged[0] = '\0';
	assert_int_equal(weir_coro_class_add(&good), -ENOSPC);
	assert_non_null(strstr(logged, "16 classes"));
	weir_base_log_set_sink(NULL, NULL);
	errno = 0;
	assert_null(weir_coro_create_in(16, nothing));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(weir_coro_create(NULL));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(weir_coro_class_look(16, &stats), -EINVAL);
	assert_int_equal(weir_coro_class_look(UINT32_MAX, &stats), -EINVAL);
	assert_int_equal(weir_coro_trim(16), 0);
	assert_int_equal(run_to_end(weir_coro_create_in(15, nothing)), 1);
}

/* As many mappings as the process may have. To be given to munmap(). */
static char *
use_up_mappings(size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *all =
		mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_true(all != MAP_FAILED);
	for (size_t at = page; at < bytes; at += 2 * page)
		if (mprotect(all + at, page, PROT_NONE) < 0)
			return all;
	munmap(all, bytes);
	return NULL;
}

/* Which is not the same as a pool that is empty; and is told, but not in each turn of somebody's loop. */
static void
no_guard_is_an_error(void **state)
{
	const struct weir_coro_class_param guarded = {.stack_size = STACK,
		.max_coroutines = 10,
		.socket_id = -1,
		.guard = WEIR_CORO_GUARD_PAGE};
	const size_t bytes = (size_t)1 << 34;
	struct weir_coro *coros[10];
	char *all, *first;
	int errors = 0;

#if defined(WITH_VALGRIND)
	skip();
#endif
	if (WITH_SANITIZER || emulated()) /* they need mappings of their own */
		skip();
	start(1, 0, 0);
	assert_int_equal(weir_coro_class_add(&guarded), 1);
	all = use_up_mappings(bytes);
	if (all == NULL)
		skip(); /* vm.max_map_count is more than that */
	logged[0] = '\0';
	weir_base_log_set_sink(keep_log, NULL);
	for (size_t i = 0; i < LENGTH(coros); i++) {
		errno = 0;
		coros[i] = weir_coro_create_in(1, nothing);
		errors += coros[i] == NULL && errno == ENOMEM;
	}
	weir_base_log_set_sink(NULL, NULL);
	munmap(all, bytes);
	assert_int_equal(errors, LENGTH(coros));
	first = strstr(logged, "no guard below stack");
	assert_non_null(first);
	assert_null(strstr(first + 1, "no guard below stack"));
	for (size_t i = 0; i < LENGTH(coros); i++)
		assert_non_null(weir_coro_create_in(1, nothing));
	errno = 0;
	assert_null(weir_coro_create_in(1, nothing));
	assert_int_equal(errno, EAGAIN);
}

/* Whoever creates the first one does not wait for all that its thread may keep; nor does who creates all. */
static void
few_are_made_at_a_time(void **state)
{
	const size_t nb = 10000;
	size_t before, most = 0;

	start(nb, 0, (unsigned int)nb);
	for (size_t i = 0; i < nb; i++) {
		before = coro_classes[0].nb_fresh;
		made(nothing);
		if (coro_classes[0].nb_fresh - before > most)
			most = coro_classes[0].nb_fresh - before;
	}
	assert_in_range(most, 2, 64);
	assert_int_equal(coro_classes[0].nb_fresh, nb);
	assert_null(weir_coro_create(nothing));
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
		assert_int_equal(weir_coro_class_look(c, &stats), 0);
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
	assert_int_equal(weir_coro_class_look(0, &stats), 0);
	assert_in_range(weir_coro_high_water(coro), 40000, stats.stack_size);
	assert_in_range(stats.high_water, 40000, stats.stack_size);
	weir_coro_destroy(coro);
	assert_true(weir_coro_trim(0) >= 40000 - 8192);
	assert_int_equal(weir_coro_class_look(0, &stats), 0);
	assert_true(stats.resident < 40000);
}

/* A child has none of the threads that may just have had a lock. */
static bool forking;

static void
comes_and_goes(void)
{
}

static void *
creates_for_ever(void *arg)
{
	while (__atomic_load_n(&forking, __ATOMIC_RELAXED)) {
		struct weir_coro *coros[40];

		for (size_t i = 0; i < LENGTH(coros); i++)
			coros[i] = weir_coro_create(comes_and_goes);
		for (size_t i = 0; i < LENGTH(coros); i++)
			if (coros[i] != NULL)
				CHECK(weir_coro_destroy(coros[i]) == 0);
	}
	return NULL;
}

/* A child that comes to its end by itself: one that waits for a lock that nobody gives back is killed. */
static void
child_creates(int nb)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		alarm(60);
		while (nb-- > 0)
			run_to_end(made(comes_and_goes));
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void *
looks_for_ever(void *arg)
{
	static struct weir_base_hist slices;

	while (__atomic_load_n(&forking, __ATOMIC_RELAXED))
		CHECK(weir_coro_class_slices(0, &slices) == 0);
	return NULL;
}

/* Before any thread has created one, too: locks are taken by others as well. To be the first test. */
static void
children_create_first(void **state)
{
	pthread_t thread;

#if defined(WITH_VALGRIND)
	skip(); /* as below */
#endif
	start(10, 0, 4);
	__atomic_store_n(&forking, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_create(&thread, NULL, looks_for_ever, NULL), 0);
	for (int i = 0; i < 50; i++)
		child_creates(1);
	__atomic_store_n(&forking, false, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

static void
children_create(void **state)
{
	pthread_t threads[2];

#if defined(WITH_VALGRIND)
	skip(); /* each child would end with a search for leaks, in 1000 stacks with guards */
#endif
#if defined(__SANITIZE_ADDRESS__)
	skip(); /* a child may find a lock of ASan's own allocator (gcc 12) taken by a thread that it has not */
#endif
	start(1000, 0, 4);
	__atomic_store_n(&forking, true, __ATOMIC_RELAXED);
	for (size_t i = 0; i < LENGTH(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, creates_for_ever, NULL), 0);
	for (int i = 0; i < 100; i++)
		child_creates(100);
	__atomic_store_n(&forking, false, __ATOMIC_RELAXED);
	for (size_t i = 0; i < LENGTH(threads); i++)
		pthread_join(threads[i], NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(children_create_first, finish),
		cmocka_unit_test_teardown(children_create, finish),
		cmocka_unit_test_teardown(an_empty_pool_is_an_error, finish),
		cmocka_unit_test_teardown(threads_leave_all_behind, finish),
		cmocka_unit_test_teardown(begins_anew, finish),
		cmocka_unit_test_teardown(handles_do_not_come_back, finish),
		cmocka_unit_test_teardown(threads_may_end_later, finish),
		cmocka_unit_test_teardown(threads_may_end_meanwhile, finish),
		cmocka_unit_test_teardown(cleanup_tells_who_is_left, finish),
		cmocka_unit_test_teardown(bad_classes_are_refused, finish),
		cmocka_unit_test_teardown(no_guard_is_an_error, finish),
		cmocka_unit_test_teardown(few_are_made_at_a_time, finish),
		cmocka_unit_test_teardown(classes_are_apart, finish),
		cmocka_unit_test_teardown(high_water_is_seen, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
