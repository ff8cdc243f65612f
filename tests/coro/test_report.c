/* SPDX-License-Identifier: BSD-3-Clause */
/* Backtraces from signal handlers: wherever the signal came. */
#include "coro_test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
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

/* What it writes there when it is resumed. */
static void
told(struct weir_coro *coro, char *text, size_t size)
{
	int ends[2];
	ssize_t got;

	assert_int_equal(pipe(ends), 0);
	trace_fd = ends[1];
	weir_coro_resume(coro);
	close(ends[1]);
	got = read(ends[0], text, size - 1);
	close(ends[0]);
	assert_true(got > 0);
	text[got] = '\0';
	weir_coro_destroy(coro);
}

static void
a_coroutine_is_told_with_its_resumer(void **state)
{
	char text[16384];

	told(made(tells_where), text, sizeof(text));
	assert_true(is_in_trace(text, tells_where));
#ifndef WEIR_CORO_FCONTEXT /* which does not say who resumed it */
	assert_true(is_in_trace(text, (void (*)(void))a_coroutine_is_told_with_its_resumer));
#endif
}

#if defined(__aarch64__)
/* Of these instructions the unwinder knows as little as of what calls go through into other libraries (.plt). */
__asm__(".text\n"
	"without_information:\n"
	"	mov x8, x3\n"
	"	svc #0\n"
	"	ret\n");
void without_information(pid_t process, pid_t thread, int number, long system_call)
	__attribute__((visibility("hidden")));

static void
on_interruption(int number)
{
	coro_report_backtrace(trace_fd);
}

static __attribute__((noinline)) void
calls_it(void)
{
	without_information(getpid(), (pid_t)syscall(SYS_gettid), SIGUSR1, SYS_tgkill);
	__asm__ volatile("" : : : "memory");
}

static void
is_interrupted_there(void)
{
	calls_it();
	__asm__ volatile("" : : : "memory");
}

static void
callers_are_found_where_the_unwinder_knows_nothing(void **state)
{
	struct sigaction action = {.sa_handler = on_interruption, .sa_flags = SA_ONSTACK};
	struct weir_coro *coro = made(is_interrupted_there);
	char text[16384];

	if (!unwinds_signals())
		skip();
	assert_int_equal(weir_coro_signal_stack(), 0);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	told(coro, text, sizeof(text));
	assert_true(is_in_trace(text, (void (*)(void))without_information));
	assert_true(is_in_trace(text, calls_it));
	assert_true(is_in_trace(text, is_interrupted_there));
	signal(SIGUSR1, SIG_DFL);
}
#else
static void
callers_are_found_where_the_unwinder_knows_nothing(void **state)
{
	skip(); /* without frame records nobody knows */
}
#endif

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
		cmocka_unit_test_setup_teardown(
			callers_are_found_where_the_unwinder_knows_nothing, set_up, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
