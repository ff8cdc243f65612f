/* SPDX-License-Identifier: BSD-3-Clause */
/* Stack overflow: caught on an alternate stack, told whose it is; the alternate stacks of threads. */
#include "cmocka_all.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "coro_private.h"
#include "unwind_test.h"

#define NB    4
#define SLOT  2
#define FRAME 256

static struct weir_coro_block blocks[NB];
static int report_fd;
static ucontext_t back, there;

static void
on_fault(int number, siginfo_t *info, void *context)
{
	char here;
	stack_t stack;

	sigaltstack(NULL, &stack);
	if ((size_t)(&here - (char *)stack.ss_sp) >= stack.ss_size)
		_exit(4);
	errno = 1234;
	if (!weir_coro_overflow_report(info->si_addr, report_fd))
		_exit(3);
	_exit(errno == 1234 ? 0 : 2);
}

/* No tail call, and no loop: each writes what the one above waits for. */
static __attribute__((noinline, no_sanitize("address", "undefined"))) unsigned int
deeper(volatile char *above, unsigned int depth)
{
	volatile char mine[FRAME];

	mine[0] = (char)depth;
	*above = (char)depth;
	return depth == 0 ? 0 : deeper(mine, depth + 1) + (unsigned int)mine[0];
}

static void
overflowing_entry(void)
{
	char first = 0;

	_exit(deeper(&first, 1) == 7 ? 8 : 9);
}

/* A class as class.c makes it, and a handler as the program has. */
static void
set_up(void)
{
	static const stack_t none = {.ss_flags = SS_DISABLE};
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	if (coro_memory_init(&coro_classes[1].memory, 65536, 64, NB, WEIR_CORO_GUARD_BEST, -1) < 0)
		_exit(10);
	for (size_t i = 0; i < NB; i++) {
		blocks[i].id = (uint32_t)(700 + i);
		blocks[i].run = overflowing_entry;
		if (coro_memory_prepare(&coro_classes[1].memory, i) < 0)
			_exit(11);
	}
	coro_classes[1].blocks = blocks;
	coro_classes[1].id = 1;
	coro_nb_classes = 2;
	sigaltstack(&none, NULL);
	if (weir_coro_signal_stack() < 0 || sigaction(SIGSEGV, &action, NULL) < 0)
		_exit(12);
}

static void
overflow(void)
{
	const struct coro_memory *memory = &coro_classes[1].memory;

	set_up();
	weir_coro_thread.current = &blocks[SLOT];
	getcontext(&there);
	there.uc_stack.ss_sp = coro_memory_stack(memory, SLOT);
	there.uc_stack.ss_size = memory->stack_bytes;
	there.uc_link = &back;
	makecontext(&there, overflowing_entry, 0);
	swapcontext(&back, &there);
}

static void *
overflow_in_thread(void *arg)
{
	overflow();
	return NULL;
}

static void
overflow_elsewhere(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, overflow_in_thread, NULL);
	pthread_join(thread, NULL);
}

static void
stray(void)
{
	set_up();
	weir_coro_thread.current = &blocks[0];
	*(volatile char *)(coro_memory_stack(&coro_classes[1].memory, SLOT) - 1) = 1;
}

static void
stray_outside(void)
{
	set_up();
	*(volatile char *)(coro_memory_stack(&coro_classes[1].memory, SLOT) - 1) = 1;
}

static void
not_a_stack(void)
{
	set_up();
	*(volatile char *)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
}

/* What a child reports, and how it ends. */
static int
reported(void (*run)(void), char *text, size_t size)
{
	size_t length = 0;
	int ends[2], status = -1;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		report_fd = ends[1];
		run();
		_exit(13);
	}
	close(ends[1]);
	while ((got = read(ends[0], text + length, size - 1 - length)) > 0)
		length += (size_t)got;
	text[length] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Where the trace goes through a function: it is near its beginning. */
static unsigned int
lines_within(const char *text, void (*function)(void))
{
	unsigned int lines = 0;

	while ((text = strstr(text, "[0x")) != NULL) {
		uintptr_t address = strtoull(++text, NULL, 16);

		lines += address - (uintptr_t)function < 200;
	}
	return lines;
}

static void
expect_overflow(void (*run)(void))
{
	char text[16384], expected[300];
	size_t bytes;
	Dl_info info;

	assert_int_equal(
		coro_memory_init(&coro_classes[1].memory, 65536, 64, NB, WEIR_CORO_GUARD_BEST, -1),
		0);
	bytes = coro_classes[1].memory.stack_bytes;
	coro_memory_fini(&coro_classes[1].memory);
	assert_int_equal(reported(run, text, sizeof(text)), 0);
	assert_int_not_equal(dladdr((void *)overflowing_entry, &info), 0);
	snprintf(expected, sizeof(expected),
		"weir: coro: stack overflow of coroutine 702 (class 1, %zu bytes): entry %s+0x%zx, "
		"at:\n",
		bytes, strrchr(info.dli_fname, '/') + 1,
		(uintptr_t)overflowing_entry - (uintptr_t)info.dli_fbase);
	if (info.dli_sname == NULL)
		assert_memory_equal(text, expected, strlen(expected));
	else
		assert_non_null(strstr(text, "overflowing_entry+0x0 ("));
	if (unwinds_signals())
		assert_in_range(lines_within(text, (void (*)(void))deeper), 10, 64);
}

static void
overflow_is_named(void **state)
{
	expect_overflow(overflow);
}

static void
overflow_in_a_thread_is_named(void **state)
{
	expect_overflow(overflow_elsewhere);
}

static void
others_are_told_apart(void **state)
{
	char text[16384];

	assert_int_equal(reported(stray, text, sizeof(text)), 0);
	assert_non_null(strstr(text, "of coroutine 702 (class 1"));
	assert_non_null(strstr(text, "or a stray pointer, for here runs coroutine 700: entry "));
	assert_int_equal(reported(stray_outside, text, sizeof(text)), 0);
	assert_non_null(strstr(text, "or a stray pointer, for here runs none: entry "));
	assert_int_equal(reported(not_a_stack, text, sizeof(text)), 3);
	assert_string_equal(text, "");
}

static void
names_are_of_the_entry(void **state)
{
	struct coro_memory *memory = &coro_classes[0].memory;
	char text[16384];
	int ends[2];
	ssize_t got;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(coro_memory_init(memory, 65536, 0, NB, WEIR_CORO_GUARD_PAGE, -1), 0);
	blocks[0].run = tzset; /* one that has a name in any case */
	coro_classes[0].blocks = blocks;
	coro_nb_classes = 1;
	assert_true(weir_coro_overflow_report(coro_memory_stack(memory, 0) - 1, ends[1]));
	assert_true(weir_coro_overflow_report(memory->slots, ends[1]));
	/* Nowhere to write to. */
	errno = 1234;
	assert_true(weir_coro_overflow_report(memory->slots, -1));
	assert_int_equal(errno, 1234);
	got = read(ends[0], text, sizeof(text) - 1);
	assert_true(got > 0);
	text[got] = '\0';
	assert_non_null(strstr(text, ": entry tzset+0x0 (libc.so"));
	assert_false(weir_coro_overflow_report(memory->slots - 1, ends[1]));
	assert_false(weir_coro_overflow_report(coro_memory_stack(memory, 0), ends[1]));
	assert_false(weir_coro_overflow_report(NULL, ends[1]));
	coro_memory_fini(memory);
	assert_int_equal(coro_memory_init(memory, 65536, 0, NB, WEIR_CORO_GUARD_CANARY, -1), 0);
	assert_false(weir_coro_overflow_report(memory->slots, ends[1]));
	coro_memory_fini(memory);
	coro_classes[0].blocks = NULL;
	coro_nb_classes = 0;
	close(ends[0]);
	close(ends[1]);
}

static void *
thread_gets_one(void *arg)
{
	static const stack_t none = {.ss_flags = SS_DISABLE};
	stack_t *stack = arg, again;

	sigaltstack(&none, NULL);
	if (weir_coro_signal_stack() != 0 || sigaltstack(NULL, stack) != 0)
		return "none made";
	if (stack->ss_flags != 0 || stack->ss_size < 65536)
		return "too small";
	if (weir_coro_signal_stack() != 0 || sigaltstack(NULL, &again) != 0 ||
		again.ss_sp != stack->ss_sp)
		return "not kept";
	memset(stack->ss_sp, 1, stack->ss_size);
	return NULL;
}

/* The program takes it away, and asks for one again: it is the one that was there. */
static void *
thread_gets_it_again(void *arg)
{
	static const stack_t none = {.ss_flags = SS_DISABLE};
	stack_t *stack = arg, again;

	for (int i = 0; i < 3; i++) {
		sigaltstack(&none, NULL);
		if (weir_coro_signal_stack() != 0 || sigaltstack(NULL, &again) != 0)
			return "none made";
		if (i > 0 && again.ss_sp != stack->ss_sp)
			return "another one";
		*stack = again;
	}
	return NULL;
}

static void *
thread_has_one(void *arg)
{
	static char own[131072];
	const stack_t mine = {.ss_sp = own, .ss_size = sizeof(own)};
	static const stack_t none = {.ss_flags = SS_DISABLE};
	stack_t now;

	sigaltstack(&mine, NULL);
	if (weir_coro_signal_stack() != 0 || sigaltstack(NULL, &now) != 0 || now.ss_sp != own)
		return "its own is lost";
	sigaltstack(&none, NULL);
	return NULL;
}

static void
threads_have_their_own(void **state)
{
	unsigned char resident;
	pthread_t thread;
	stack_t stack;
	void *fault;

	assert_int_equal(pthread_create(&thread, NULL, thread_gets_one, &stack), 0);
	assert_int_equal(pthread_join(thread, &fault), 0);
	if (fault != NULL)
		fail_msg("%s", (char *)fault);
	/* Nothing is mapped there any more. */
	assert_int_equal(mincore(stack.ss_sp, 4096, &resident), -1);
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(mincore((char *)stack.ss_sp - 4096, 4096, &resident), -1);
	assert_int_equal(pthread_create(&thread, NULL, thread_gets_it_again, &stack), 0);
	assert_int_equal(pthread_join(thread, &fault), 0);
	if (fault != NULL)
		fail_msg("%s", (char *)fault);
	assert_int_equal(mincore(stack.ss_sp, 4096, &resident), -1);
	assert_int_equal(pthread_create(&thread, NULL, thread_has_one, NULL), 0);
	assert_int_equal(pthread_join(thread, &fault), 0);
	assert_null(fault);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overflow_is_named),
		cmocka_unit_test(overflow_in_a_thread_is_named),
		cmocka_unit_test(others_are_told_apart),
		cmocka_unit_test(names_are_of_the_entry),
		cmocka_unit_test(threads_have_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
