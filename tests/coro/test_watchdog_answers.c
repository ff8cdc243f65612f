/* SPDX-License-Identifier: BSD-3-Clause */
/* The watchdog asks who it tells of for a backtrace, and is answered by who it meant or by nobody. */
#include <sys/syscall.h>

#include "unwind_test.h"
#include "watchdog_test.h"

static void
read_answers(char *text, size_t size)
{
	ssize_t got = pread(answers, text, size - 1, 0);

	assert_true(got >= 0);
	text[got] = '\0';
}

static void
signals(int how)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, SIGURG);
	CHECK(pthread_sigmask(how, &one, NULL) == 0);
}

/* Its slice may be over before it comes here, as when the CPU is taken away: it is to be asked here, and not before. */
static __attribute__((noinline)) void
is_asked_here(void)
{
	signals(SIG_UNBLOCK);
	loops_until_told();
	__asm__ volatile("" : : : "memory");
}

static void
overruns_there(void)
{
	is_asked_here();
	CHECK(!weir_coro_yield());
	__asm__ volatile("" : : : "memory");
}

static void
an_overrun_is_named(void **state)
{
	struct weir_coro *coro;
	char text[16384], expected[100];

	weir_coro_destroy(made(overruns_there));
	coro = made(overruns_there);
	assert_int_equal(weir_coro_signal_stack(), 0);
	expect_more(1, 1);
	watch(MS, HOUR);
	signals(SIG_BLOCK);
	weir_coro_resume(coro);
	await(&nb_told, 1);
	assert_int_equal(weir_coro_watchdog_overruns(), wanted_overruns);
	assert_int_equal(last.id, weir_coro_id(coro));
	assert_int_equal(last.class_id, 0);
	assert_ptr_equal(last.run, overruns_there);
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
		assert_true(is_in_trace(text, is_asked_here));
		assert_true(is_in_trace(text, overruns_there));
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_overrun_is_named),
		TEST(who_has_gone_on_is_told_so),
		TEST(another_resumption_is_told_apart),
		TEST(threads_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
