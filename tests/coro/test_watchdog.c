/* SPDX-License-Identifier: BSD-3-Clause */
/* The watchdog: coroutines that do not yield are found, named, and told of not too often. */
#include "coro_test.h"

#include <math.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "coro_private.h"
#include "unwind_test.h"

#define MS       1000000ull
#define HOUR     (3600000 * MS)
#define STALL_MS 250   /* nobody is blamed that the CPU was taken away: never for so long */
#define PATIENT  20000 /* ms: not a measure, an end to a test that fails */

static uint64_t slice;

/* What was told. */
static struct weir_coro_overrun last;
static unsigned int nb_told, nb_answers;
static uint64_t sum_told;
static int answers = -1;
static void *handler_caller;

static void
on_signal(int number)
{
	CHECK(number == SIGURG);
	__atomic_store_n(&handler_caller, __builtin_return_address(0), __ATOMIC_RELAXED);
	if (weir_coro_watchdog_report(answers))
		__atomic_fetch_add(&nb_answers, 1, __ATOMIC_RELEASE);
}

static void
on_overrun(void *arg, const struct weir_coro_overrun *overrun)
{
	CHECK(arg == &nb_told);
	CHECK(weir_coro_watchdog_stop() == -EDEADLK);
	CHECK(overrun->ran_ns < 2 * PATIENT * MS);
	last = *overrun;
	sum_told += 1 + overrun->untold;
	__atomic_fetch_add(&nb_told, 1, __ATOMIC_RELEASE);
}

static void
handle_signal(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};

	assert_int_equal(sigaction(SIGURG, &action, NULL), 0);
}

static int
set_up(void **state)
{
	slice = weir_base_ns_to_cycles(50000);
	start(16, slice, 4);
	handle_signal();
	answers = memfd_create("answers", MFD_CLOEXEC);
	assert_true(answers >= 0);
	nb_told = nb_answers = 0;
	sum_told = 0;
	memset(&last, 0, sizeof(last));
	return 0;
}

static int
tear_down(void **state)
{
	close(answers);
	return finish(state);
}

static struct weir_coro_watchdog_param
param(uint64_t least_ns, uint64_t interval_ns)
{
	return (struct weir_coro_watchdog_param){
		.factor = 2,
		.least_ns = least_ns,
		.period_ns = MS / 5,
		.interval_ns = interval_ns,
		.signal = SIGURG,
		.report = on_overrun,
		.arg = &nb_told,
	};
}

static void
watch_as(struct weir_coro_watchdog_param watched)
{
	assert_int_equal(weir_coro_watchdog_start(&watched), 0);
}

static void
watch(uint64_t least_ns, uint64_t interval_ns)
{
	watch_as(param(least_ns, interval_ns));
}

static void
watch_without_signal(uint64_t least_ns, uint64_t interval_ns)
{
	struct weir_coro_watchdog_param watched = param(least_ns, interval_ns);

	watched.signal = 0;
	watch_as(watched);
}

/* TSan lets signals through in functions that it knows only. */
static void
breathe(void)
{
	if (WITH_SANITIZER)
		usleep(100);
	else
		__asm__ volatile("" : : : "memory");
}

static bool
is_late(uint64_t since)
{
	return weir_base_cycles_to_ns(weir_base_cycles() - since) > PATIENT * MS;
}

/* So long the coroutine does not yield. */
static unsigned int wanted_answers;
static uint64_t wanted_overruns;

static __attribute__((noinline)) void
loops_until_told(void)
{
	uint64_t since = weir_base_cycles();

	while ((weir_coro_watchdog_overruns() < wanted_overruns ||
		       __atomic_load_n(&nb_answers, __ATOMIC_ACQUIRE) < wanted_answers) &&
		!is_late(since))
		breathe();
	__asm__ volatile("" : : : "memory");
}

static void
overruns(void)
{
	loops_until_told();
	CHECK(!weir_coro_yield());
	__asm__ volatile("" : : : "memory");
}

static void
expect_more(unsigned int nb_overruns, unsigned int nb_more_answers)
{
	wanted_overruns = weir_coro_watchdog_overruns() + nb_overruns;
	wanted_answers = __atomic_load_n(&nb_answers, __ATOMIC_ACQUIRE) + nb_more_answers;
}

/* The callback is called after the signal is sent. */
static void
await(const unsigned int *counter, unsigned int wanted)
{
	uint64_t since = weir_base_cycles();

	while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < wanted && !is_late(since))
		usleep(1000);
	assert_int_equal(__atomic_load_n(counter, __ATOMIC_ACQUIRE), wanted);
}

static void
read_answers(char *text, size_t size)
{
	ssize_t got = pread(answers, text, size - 1, 0);

	assert_true(got >= 0);
	text[got] = '\0';
}

static void
an_overrun_is_named(void **state)
{
	struct weir_coro *coro;
	char text[16384], expected[100];

	weir_coro_destroy(made(overruns));
	coro = made(overruns);
	assert_int_equal(weir_coro_signal_stack(), 0);
	expect_more(1, 1);
	watch(MS, HOUR);
	weir_coro_resume(coro);
	await(&nb_told, 1);
	assert_int_equal(weir_coro_watchdog_overruns(), wanted_overruns);
	assert_int_equal(last.id, weir_coro_id(coro));
	assert_int_equal(last.class_id, 0);
	assert_ptr_equal(last.run, overruns);
	assert_int_equal(last.slice_ns, weir_base_cycles_to_ns(slice));
	assert_true(last.ran_ns >= MS - 1000);
	assert_int_equal(last.resumes, 1);
	assert_int_equal(last.thread, syscall(SYS_gettid));
	assert_int_equal(last.untold, 0);
	assert_int_equal(nb_answers, 1);
	read_answers(text, sizeof(text));
	snprintf(expected, sizeof(expected), "weir: coro: coroutine %u (class 0) has run for ",
		weir_coro_id(coro));
	assert_memory_equal(text, expected, strlen(expected));
	assert_non_null(strstr(text, ": entry "));
	if (unwinds_signals()) {
		assert_true(is_in_trace(text, loops_until_told));
		assert_true(is_in_trace(text, overruns));
#if !defined(WEIR_BASE_TSAN) /* whose runtime calls handlers itself, now and then */
		/* Not those of the handler. */
		snprintf(expected, sizeof(expected), "[%p]", handler_caller);
		assert_null(strstr(text, expected));
#endif
	}
	/* It goes on as if nothing had been. */
	assert_int_equal(run_to_end(coro), 1);
	weir_coro_destroy(coro);
	assert_int_equal(weir_coro_watchdog_stop(), 0);
	assert_int_equal(nb_told, 1);
}

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

static volatile bool enough;

static void
behaves(void)
{
	while (!enough)
		weir_coro_maybe_yield();
}

static void
is_short(void)
{
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

/*
 * One that yields, others that live for a moment in the same place and are told apart by their generation only; all of
 * it takes longer than the limit.
 */
static void
who_behaves_is_not_told(void **state)
{
	uint64_t before = weir_coro_watchdog_overruns(), since = weir_base_cycles();
	struct weir_coro_watchdog_param watched = param(STALL_MS * MS, 1);
	struct weir_coro *coro = made(behaves), *one;

	enough = false;
	watched.period_ns = 1; /* many looks, some right in the middle of a switch */
	watch_as(watched);
	while (weir_base_cycles_to_ns(weir_base_cycles() - since) < 3 * STALL_MS * MS) {
		weir_coro_resume(coro);
		one = made(resumes_for_a_while);
		weir_coro_resume(one);
		weir_coro_destroy(one);
		for (unsigned int i = 0; i < 1000; i++) {
			one = made(is_short);
			weir_coro_resume(one);
			weir_coro_destroy(one);
		}
	}
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

static void
resumes_one(void)
{
	struct weir_coro *inner = made(overruns);

	weir_coro_resume(inner);
	weir_coro_destroy(inner);
	/* It is over itself, and only by the other's fault. */
	usleep(5000);
}

static void
resumes_many(void)
{
	struct weir_coro *inner = made(behaves);
	uint64_t since = weir_base_cycles();

	while (weir_coro_watchdog_overruns() < wanted_overruns && !is_late(since))
		weir_coro_resume(inner);
	enough = true;
	weir_coro_resume(inner);
	weir_coro_destroy(inner);
}

static void
the_innermost_is_told(void **state)
{
	uint64_t before = weir_coro_watchdog_overruns();
	struct weir_coro *outer = made(resumes_one);

	expect_more(1, 1);
	watch(STALL_MS * MS, 1);
	weir_coro_resume(outer);
	await(&nb_told, 1);
	assert_int_equal(weir_coro_watchdog_overruns(), before + 1);
	assert_ptr_equal(last.run, overruns);
	weir_coro_destroy(outer);
}

/* Each of those that it resumes is short, and it does not yield between. */
static void
who_resumes_for_too_long_is_told(void **state)
{
	struct weir_coro *outer = made(resumes_many);

	enough = false;
	expect_more(1, 0);
	watch_without_signal(STALL_MS * MS, 1);
	weir_coro_resume(outer);
	await(&nb_told, 1);
	assert_ptr_equal(last.run, resumes_many);
	assert_true(weir_coro_has_exited(outer));
	weir_coro_destroy(outer);
}

static void
signals(int how)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, SIGURG);
	CHECK(pthread_sigmask(how, &one, NULL) == 0);
}

static void
who_has_gone_on_is_told_so(void **state)
{
	struct weir_coro *coro = made(overruns), *other = made(overruns);
	char text[16384], expected[100];

	watch(MS, 1);
	signals(SIG_BLOCK);
	expect_more(1, 0);
	weir_coro_resume(coro);
	await(&nb_told, 1);
	/* Another one, which is not asked about: the first question is not answered yet. */
	expect_more(1, 0);
	weir_coro_resume(other);
	await(&nb_told, 2);
	signals(SIG_UNBLOCK);
	await(&nb_answers, 1);
	read_answers(text, sizeof(text));
	snprintf(expected, sizeof(expected),
		"weir: coro: coroutine %u (class 0), told to overrun its slice, has gone on "
		"meanwhile\n",
		weir_coro_id(coro));
	assert_string_equal(text, expected);
	/* And nobody asks a second time. */
	raise(SIGURG);
	assert_int_equal(nb_answers, 1);
	weir_coro_destroy(other);
	/* The next one is asked. */
	other = made(overruns);
	expect_more(1, 1);
	weir_coro_resume(other);
	await(&nb_answers, 2);
	weir_coro_destroy(other);
	weir_coro_destroy(coro);
}

/* Resumes it again, in the same place: another resumption is not what was asked about. */
static void
another_resumption_is_told_apart(void **state)
{
	struct weir_coro *coro = made(overruns);
	char text[16384];

	watch(MS, 1);
	signals(SIG_BLOCK);
	expect_more(1, 0);
	weir_coro_resume(coro);
	await(&nb_told, 1);
	weir_coro_destroy(coro);
	coro = made(behaves);
	enough = true;
	weir_coro_resume(coro);
	signals(SIG_UNBLOCK);
	await(&nb_answers, 1);
	read_answers(text, sizeof(text));
	assert_non_null(strstr(text, "has gone on meanwhile\n"));
	weir_coro_destroy(coro);
}

static void *
only_resumes(void *coro)
{
	CHECK(weir_coro_attach() == 0);
	CHECK(weir_coro_attach() == 0);
	weir_coro_resume(coro);
	return NULL;
}

static void *
ends_with_a_question(void *coro)
{
	signals(SIG_BLOCK);
	return only_resumes(coro);
}

static void
in_thread(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run, arg), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void
threads_end(void **state)
{
	struct weir_coro *coro;

	watch(MS, 1);
	for (unsigned int i = 0; i < 10; i++) {
		coro = made(overruns);
		expect_more(1, 0);
		in_thread(ends_with_a_question, coro);
		assert_int_equal(weir_coro_watchdog_overruns(), wanted_overruns);
		await(&nb_told, 2 * i + 1);
		assert_int_not_equal(last.thread, syscall(SYS_gettid));
		weir_coro_destroy(coro);
		coro = made(overruns);
		expect_more(1, 1);
		in_thread(only_resumes, coro);
		await(&nb_told, 2 * i + 2);
		weir_coro_destroy(coro);
	}
	assert_int_equal(nb_answers, 10);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_overrun_is_named),
		TEST(the_log_is_told),
		TEST(who_behaves_is_not_told),
		TEST(what_is_not_told_is_counted),
		TEST(the_innermost_is_told),
		TEST(who_resumes_for_too_long_is_told),
		TEST(who_has_gone_on_is_told_so),
		TEST(another_resumption_is_told_apart),
		TEST(threads_end),
		TEST(threads_come_and_go),
		TEST(what_is_wrong_is_refused),
		TEST(a_child_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
