/* SPDX-License-Identifier: BSD-3-Clause */
/* The code in doc/coro.md does what the document says. */
#include "coro_test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir_base_sanitizer.h>

/* The document's first program is a whole one. */
int primes(void);
#define main primes
#include "coro_document.h"
#undef main

static void
the_program_runs(void **state)
{
	assert_int_equal(primes(), 0);
}

static unsigned int depth;

static void
goes_deep(void)
{
	volatile char large[100000];

	for (size_t i = 0; i < sizeof(large); i += 1000)
		large[i] = 1;
	depth++;
}

static void
classes_have_sizes(void **state)
{
	struct weir_coro_class_stats stats;

	assert_int_equal(begin(), CLASS_DEEP);
	run_to_end(weir_coro_create_in(CLASS_DEEP, goes_deep));
	assert_int_equal(depth, 1);
	tell_stacks(CLASS_SHALLOW);
	tell_stacks(CLASS_DEEP);
	tell_stacks(7);
	assert_int_equal(weir_coro_class_look(CLASS_DEEP, &stats), 0);
	assert_in_range(stats.high_water, 100000, stats.stack_size);
}

static void
a_ticker_starts(void **state)
{
	start(1, 0, 0);
	assert_int_equal(start_ticker(-1), 0);
	assert_int_equal(weir_coro_ticker_stop(), 0);
	assert_int_equal(start_ticker(-2), -EINVAL);
}

static void
cancelled_ones_leave_nothing(void **state)
{
	struct weir_coro_class_stats stats;

	start(1, 0, 0);
	for (unsigned int resumes = 0; resumes < 3; resumes++) {
		struct weir_coro *coro = made(builds_a_table);

		for (unsigned int i = 0; i < resumes; i++)
			weir_coro_resume(coro);
		end(coro);
	}
	run_to_end(made(builds_a_table));
	assert_int_equal(weir_coro_class_look(0, &stats), 0);
	assert_int_equal(stats.exited, 4);
}

static void
yields_once(void)
{
	weir_coro_yield();
}

static void
both_are_waited_for(void **state)
{
	struct weir_coro *waiter;

	start(3, 0, 0);
	first_half = made(yields_once);
	second_half = made(yields_once);
	waiter = made(waits_for_both);
	weir_coro_resume(waiter);
	run_to_end(first_half);
	weir_coro_resume(waiter);
	assert_false(weir_coro_has_exited(waiter));
	run_to_end(second_half);
	assert_int_equal(run_to_end(waiter), 1);
	assert_true(*(bool *)weir_coro_out_param(waiter, sizeof(bool)));
}

static void
has_a_tenant(void)
{
	const char *mine = weir_coro_self_id() == 0 ? "zero" : "one";

	CHECK(tenant() == NULL);
	set_tenant(mine);
	weir_coro_yield();
	CHECK(tenant() == mine);
}

static void
tenants_stay_apart(void **state)
{
	struct weir_coro *coros[2];

	tenant_slot = weir_coro_local_alloc();
	assert_true(tenant_slot >= 0);
	start(2, 0, 0);
	for (int i = 0; i < 2; i++)
		coros[i] = made(has_a_tenant);
	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < 2; i++)
			weir_coro_resume(coros[i]);
	assert_true(weir_coro_has_exited(coros[0]) && weir_coro_has_exited(coros[1]));
}

static __attribute__((noinline)) void
overflows(void)
{
	char frame[512];

	__asm__ volatile("" : : "r"(frame) : "memory");
	if (++depth != 0)
		overflows();
	__asm__ volatile("" : : "r"(frame) : "memory"); /* not a loop */
}

/* What a child tells that runs one coroutine. @return how it ended */
static int
told_of(int (*prepare)(void), weir_coro_run_t run, char *text, size_t size)
{
	int ends[2], status;
	size_t length = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		alarm(30);
		dup2(ends[1], STDERR_FILENO);
		if (weir_coro_init(STACK, 0, 0, 1, 0, 0, -1) == 0 && prepare() == 0)
			weir_coro_resume(weir_coro_create(run));
		_exit(1);
	}
	close(ends[1]);
	while (length < size - 1 && (got = read(ends[0], text + length, size - 1 - length)) > 0)
		length += (size_t)got;
	text[length] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void
overflows_are_told(void **state)
{
	char text[4096];
	int status;

	if (WITH_SANITIZER) /* has a handler of its own, and larger frames */
		skip();
	status = told_of(catch_overflows, overflows, text, sizeof(text));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	/* Where the kernel has no guards that fault, it is a fault of anything. */
	if (strstr(text, "a canary only") == NULL)
		assert_non_null(strstr(text, "stack overflow of coroutine 0"));
}

/* Until it was told of, and a little longer: the log is told after the signal. */
static void
never_yields(void)
{
	while (weir_coro_watchdog_overruns() == 0)
		usleep(100);
	for (unsigned int i = 0; i < 1000; i++)
		usleep(100);
	_exit(0);
}

static void
overruns_are_told(void **state)
{
	char text[16384];

	if (WITH_SANITIZER) /* threads after a fork are too much for TSan */
		skip();
	assert_int_equal(told_of(watch_slices, never_yields, text, sizeof(text)), 0);
	assert_non_null(strstr(text, "warning: coroutine 0 (class 0), entry "));
	assert_non_null(strstr(text, "weir: coro: coroutine 0 (class 0) has run for "));
	assert_non_null(strstr(text, ", at:\n"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_program_runs, finish),
		cmocka_unit_test_teardown(classes_have_sizes, finish),
		cmocka_unit_test_teardown(a_ticker_starts, finish),
		cmocka_unit_test_teardown(cancelled_ones_leave_nothing, finish),
		cmocka_unit_test_teardown(both_are_waited_for, finish),
		cmocka_unit_test_teardown(tenants_stay_apart, finish),
		cmocka_unit_test_teardown(overflows_are_told, finish),
		cmocka_unit_test_teardown(overruns_are_told, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
