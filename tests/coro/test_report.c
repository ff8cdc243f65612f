/* SPDX-License-Identifier: BSD-3-Clause */
/* Backtraces from signal handlers: wherever the signal came. */
#include "coro_test.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "coro_private.h"
#include "report.h"
#include "unwind_test.h"

#if defined(__x86_64__) && !WITH_SANITIZER
#define TRAP_FLAG 0x100

static int nowhere;
static volatile sig_atomic_t steps, stepping;

static void
on_step(int number, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	steps++;
	coro_report_backtrace(nowhere);
	*flags = stepping ? *flags | TRAP_FLAG : *flags & ~(greg_t)TRAP_FLAG;
}

static void
yields_twice(void)
{
	weir_coro_yield();
	weir_coro_yield();
}

/* A signal may come between any two instructions of a switch. Stacks are next to each other's guards. */
static void
every_instruction_may_be_interrupted(void **state)
{
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	struct weir_coro *coros[2] = {made(yields_twice), made(yields_twice)};

	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	assert_true(nowhere >= 0);
	assert_int_equal(weir_coro_signal_stack(), 0);
	coro_report_ready();
	assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
	stepping = 1;
	raise(SIGTRAP);
	for (unsigned int i = 0; i < 3; i++) {
		weir_coro_resume(coros[0]);
		weir_coro_resume(coros[1]);
	}
	stepping = 0;
	__asm__ volatile("nop\n\tnop" : : : "memory");
	assert_true(steps > 100);
	assert_true(weir_coro_has_exited(coros[0]) && weir_coro_has_exited(coros[1]));
	signal(SIGTRAP, SIG_DFL);
	weir_coro_destroy(coros[0]);
	weir_coro_destroy(coros[1]);
	close(nowhere);
}
#else
static void
every_instruction_may_be_interrupted(void **state)
{
	skip();
}
#endif

/* Outside of handlers: from the caller on, also in a coroutine, whose bottom is marked as a signal's. */
static int trace_fd;

static __attribute__((noinline)) void
tells_where(void)
{
	coro_report_backtrace(trace_fd);
	__asm__ volatile("" : : : "memory");
}

static void
a_coroutine_is_told_with_its_resumer(void **state)
{
	struct weir_coro *coro = made(tells_where);
	char text[16384];
	int ends[2];
	ssize_t got;

	assert_int_equal(pipe(ends), 0);
	trace_fd = ends[1];
	weir_coro_resume(coro);
	got = read(ends[0], text, sizeof(text) - 1);
	assert_true(got > 0);
	text[got] = '\0';
	assert_true(is_in_trace(text, tells_where));
#ifndef WEIR_CORO_FCONTEXT /* which does not say who resumed it */
	assert_true(is_in_trace(text, (void (*)(void))a_coroutine_is_told_with_its_resumer));
#endif
	weir_coro_destroy(coro);
	close(ends[0]);
	close(ends[1]);
}

static int
set_up(void **state)
{
	start(4, 0, 0);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			every_instruction_may_be_interrupted, set_up, finish),
		cmocka_unit_test_setup_teardown(
			a_coroutine_is_told_with_its_resumer, set_up, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
