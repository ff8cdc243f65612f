/* SPDX-License-Identifier: BSD-3-Clause */
/* The watchdog: coroutines that do not yield are found, no others, and told of not too often. */
#include <math.h>
#include <sys/wait.h>

#include "watchdog_test.h"

#define TRIES 20 /* where the machine lets coroutines stand still */

static char logged[1024];

static void
to_memory(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
	size_t length = strlen(logged);

	snprintf(logged + length, sizeof(logged) - length, "%s\n", message);
}

static void
the_log_is_told(void **state)
{
	struct weir_coro_watchdog_param watched = param(MS, HOUR);
	struct weir_coro *coro = made(overruns);
	char expected[100];

	logged[0] = '\0';
	weir_base_log_set_sink(to_memory, NULL);
	watched.report = NULL;
	watched.signal = 0;
	assert_int_equal(weir_coro_watchdog_start(&watched), 0);
	for (unsigned int i = 0; i < 3; i++) {
		expect_more(1, 0);
		weir_coro_resume(coro);
		weir_coro_destroy(coro);
		coro = made(overruns);
	}
	assert_int_equal(weir_coro_watchdog_stop(), 0);
	weir_base_log_set_sink(NULL, NULL);
	snprintf(expected, sizeof(expected), "coroutine %u (class 0), entry ", weir_coro_id(coro));
	assert_memory_equal(logged, expected, strlen(expected));
	assert_non_null(strstr(logged, ", its slice is 50.0 us\n"));
	assert_non_null(strstr(logged, "2 overruns of slices were not told\n"));
	assert_int_equal(nb_answers, 0);
}

/* Others, for less than the limit: looks find it with one of them, without, and in between. */
static void
resumes_for_a_while(void)
{
	uint64_t since = weir_base_cycles();
	struct weir_coro *inner;

	while (weir_base_cycles_to_ns(weir_base_cycles() - since) < STALL_MS * MS / 4) {
		inner = made(is_short);
		weir_coro_resume(inner);
		weir_coro_destroy(inner);
	}
}

/* As others see it. @return ns */
static uint64_t
time_resumption(struct weir_coro *coro)
{
	uint64_t since = weir_base_cycles();

	weir_coro_resume(coro);
	return weir_base_cycles_to_ns(weir_base_cycles() - since);
}

static void
lives_for_a_moment(weir_coro_run_t run, uint64_t *longest)
{
	struct weir_coro *one = made(run);
	uint64_t took = time_resumption(one);

	*longest = took > *longest ? took : *longest;
	weir_coro_destroy(one);
}

/*
 * One that yields, others that live for a moment in the same place and are told apart by their generation only; all of
 * it takes longer than the limit. @return ns, the longest resumption
 */
static uint64_t
behave_for_a_while(struct weir_coro *coro)
{
	uint64_t since = weir_base_cycles(), longest = 0, took;

	while (weir_base_cycles_to_ns(weir_base_cycles() - since) < 3 * STALL_MS * MS) {
		took = time_resumption(coro);
		longest = took > longest ? took : longest;
		lives_for_a_moment(resumes_for_a_while, &longest);
		for (unsigned int i = 0; i < 1000; i++)
			lives_for_a_moment(is_short, &longest);
	}
	return longest;
}

/* Where a busy machine made one as long as the limit it may well be told: once more. */
static void
who_behaves_is_not_told(void **state)
{
	struct weir_coro_watchdog_param watched = param(STALL_MS * MS, 1);
	struct weir_coro *coro = made(behaves);
	uint64_t before, longest;
	unsigned int tries = 0;

	enough = false;
	watched.period_ns = 1; /* many looks, some right in the middle of a switch */
	do {
		before = weir_coro_watchdog_overruns();
		nb_told = 0;
		watch_as(watched);
		longest = behave_for_a_while(coro);
		assert_int_equal(weir_coro_watchdog_stop(), 0);
	} while (longest >= STALL_MS * MS && ++tries < TRIES);
	assert_true(longest < STALL_MS * MS);
	assert_int_equal(weir_coro_watchdog_overruns(), before);
	assert_int_equal(nb_told, 0);
	enough = true;
	run_to_end(coro);
	weir_coro_destroy(coro);
}

/* Whatever the timing, each is told of or counted. */
static void
what_is_not_told_is_counted(void **state)
{
	uint64_t before = weir_coro_watchdog_overruns();
	struct weir_coro *coro;

	watch_without_signal(MS / 10, 30 * MS);
	for (unsigned int i = 0; i < 60; i++) {
		coro = made(overruns);
		expect_more(1, 0);
		weir_coro_resume(coro);
		weir_coro_destroy(coro);
	}
	usleep(50000);
	coro = made(overruns);
	expect_more(1, 0);
	weir_coro_resume(coro);
	assert_int_equal(weir_coro_watchdog_stop(), 0);
	assert_int_equal(weir_coro_watchdog_overruns(), before + 61);
	assert_true(nb_told >= 2);
	assert_int_equal(sum_told, 61);
	weir_coro_destroy(coro);
}

static uint64_t inner_began; /* cycles */

static void
begins_and_overruns(void)
{
	inner_began = weir_base_cycles();
	overruns();
}

static void
resumes_one(void)
{
	struct weir_coro *inner = made(begins_and_overruns);

	weir_coro_resume(inner);
	weir_coro_destroy(inner);
	/* It is over itself, and only by the other's fault. */
	usleep(5000);
}

static uint64_t longest_inner; /* ns */

static void
resumes_many(void)
{
	struct weir_coro *inner = made(behaves);
	uint64_t since = weir_base_cycles(), took;

	while (weir_coro_watchdog_overruns() < wanted_overruns && !is_late(since)) {
		took = time_resumption(inner);
		longest_inner = took > longest_inner ? took : longest_inner;
	}
	enough = true;
	weir_coro_resume(inner);
	weir_coro_destroy(inner);
}

/*
 * Who waits is told, and rightly so, where most of the time until then was its own: where a busy machine let it stand still before it
 * resumed the other one, once more.
 */
static void
the_innermost_is_told(void **state)
{
	struct weir_coro *outer;
	uint64_t before, since;
	unsigned int tries = 0;

	do {
		outer = made(resumes_one);
		before = weir_coro_watchdog_overruns();
		nb_told = 0;
		expect_more(1, 1);
		watch(STALL_MS * MS, 1);
		since = weir_base_cycles();
		weir_coro_resume(outer);
		await_some(&nb_told, 1);
		assert_int_equal(weir_coro_watchdog_stop(), 0);
		weir_coro_destroy(outer);
	} while (weir_base_cycles_to_ns(inner_began - since) >= STALL_MS * MS / 2 &&
		 ++tries < TRIES);
	assert_true(weir_base_cycles_to_ns(inner_began - since) < STALL_MS * MS / 2);
	assert_int_equal(nb_told, 1);
	assert_int_equal(weir_coro_watchdog_overruns(), before + 1);
	assert_ptr_equal(last.run, begins_and_overruns);
}

/* Each of those that it resumes is short, unless a busy machine makes one long: then once more. And it does not yield between. */
static void
who_resumes_for_too_long_is_told(void **state)
{
	struct weir_coro *outer;
	unsigned int tries = 0;

	do {
		outer = made(resumes_many);
		enough = false;
		longest_inner = 0;
		nb_told = 0;
		expect_more(1, 0);
		watch_without_signal(STALL_MS * MS, 1);
		weir_coro_resume(outer);
		await(&nb_told, 1);
		assert_true(weir_coro_has_exited(outer));
		weir_coro_destroy(outer);
		assert_int_equal(weir_coro_watchdog_stop(), 0);
	} while (longest_inner >= STALL_MS * MS && ++tries < TRIES);
	assert_true(longest_inner < STALL_MS * MS);
	assert_ptr_equal(last.run, resumes_many);
}

static void *
comes_and_goes(void *arg)
{
	for (unsigned int i = 0; i < 20; i++) {
		struct weir_coro *coro = made(overruns);

		weir_coro_resume(coro);
		weir_coro_destroy(coro);
	}
	return NULL;
}

/* Many threads that come, overrun and go, with a look right after the other. */
static void
threads_come_and_go(void **state)
{
	struct weir_coro_watchdog_param watched = param(1, 1);
	pthread_t threads[4];

	watched.period_ns = 1;
	wanted_overruns = wanted_answers = 0;
	for (unsigned int round = 0; round < 20; round++) {
		assert_int_equal(weir_coro_watchdog_start(&watched), 0);
		for (size_t i = 0; i < LENGTH(threads); i++)
			assert_int_equal(
				pthread_create(&threads[i], NULL, comes_and_goes, NULL), 0);
		for (size_t i = 0; i < LENGTH(threads); i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(weir_coro_watchdog_stop(), 0);
	}
}

static void
what_is_wrong_is_refused(void **state)
{
	static const struct weir_coro_watchdog_param wrong[] = {{.factor = -1}, {.factor = NAN},
		{.factor = INFINITY}, {.period_ns = UINT64_MAX}, {.signal = -5}, {.signal = 1000},
		{.signal = SIGUSR2}};
	/* Emulators handle all signals themselves. */
	const size_t nb = LENGTH(wrong) - (emulated() ? 1 : 0);
	static const struct weir_coro_watchdog_param defaults;

	weir_base_log_set_sink(to_memory, NULL);
	assert_int_equal(weir_coro_watchdog_start(NULL), -EINVAL);
	for (size_t i = 0; i < nb; i++)
		assert_int_equal(weir_coro_watchdog_start(&wrong[i]), -EINVAL);
	weir_base_log_set_sink(NULL, NULL);
	assert_int_equal(weir_coro_watchdog_stop(), -EALREADY);
	assert_int_equal(weir_coro_watchdog_start(&defaults), 0);
	assert_int_equal(weir_coro_watchdog_start(&defaults), -EALREADY);
	weir_coro_cleanup();
	assert_int_equal(weir_coro_watchdog_stop(), -EALREADY);
	assert_false(weir_coro_watchdog_report(answers));
}

/* The child has no watchdog, and may have one of its own. */
static void
a_child_has_none(void **state)
{
	int status = 0;
	pid_t pid;

	weir_coro_destroy(made(is_short));
	watch(MS, 1);
	pid = fork();
	if (pid == 0) {
		if (weir_coro_watchdog_stop() != -EALREADY)
			_exit(1);
		weir_coro_cleanup();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(weir_coro_watchdog_stop(), 0);
}

/* So has a child that its own thread makes. */
static void
forks(void *arg, const struct weir_coro_overrun *overrun)
{
	const struct weir_coro_watchdog_param own = {0};
	int status = -1;
	pid_t pid = fork();

	(void)own;
	if (pid == 0) {
		alarm(10);
		if (weir_coro_watchdog_stop() != -EALREADY)
			_exit(1);
#if !defined(WEIR_BASE_TSAN) /* whose runtime has no new threads in such a child */
		if (weir_coro_watchdog_start(&own) != 0 || weir_coro_watchdog_stop() != 0)
			_exit(2);
#endif
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	__atomic_fetch_add(&nb_told, 1, __ATOMIC_RELEASE);
}

static void
a_child_of_its_own_has_none(void **state)
{
	struct weir_coro_watchdog_param watched = param(MS, HOUR);
	struct weir_coro *coro = made(overruns);

	watched.report = forks;
	watched.signal = 0;
	expect_more(1, 0);
	watch_as(watched);
	weir_coro_resume(coro);
	await(&nb_told, 1);
	assert_int_equal(weir_coro_watchdog_stop(), 0);
	weir_coro_destroy(coro);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_log_is_told),
		TEST(who_behaves_is_not_told),
		TEST(what_is_not_told_is_counted),
		TEST(the_innermost_is_told),
		TEST(who_resumes_for_too_long_is_told),
		TEST(threads_come_and_go),
		TEST(what_is_wrong_is_refused),
		TEST(a_child_has_none),
		TEST(a_child_of_its_own_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
