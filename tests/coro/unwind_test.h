/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNWIND_TEST_H
#define UNWIND_TEST_H

/* Traces, as libc's backtrace_symbols_fd() writes them: what is in them, and what can be. */

#include <execinfo.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Does the trace go through a function? It is near its beginning. */
static inline bool
is_in_trace(const char *text, void (*function)(void))
{
	while ((text = strstr(text, "[0x")) != NULL) {
		uintptr_t address = strtoull(++text, NULL, 16);

		if (address - (uintptr_t)function < 400)
			return true;
	}
	return false;
}

/* Not a leaf, and interrupted by what it does itself. */
static __attribute__((noinline, unused, no_sanitize("address", "undefined"))) void
unwind_is_interrupted(volatile char *guarded)
{
	*guarded = 1;
	_exit(3);
}

static inline void
unwind_on_signal(int number)
{
	void *frames[32];
	int nb = backtrace(frames, 32);

	for (int i = 0; i < nb; i++)
		if ((uintptr_t)frames[i] - (uintptr_t)unwind_is_interrupted < 200)
			_exit(42);
	_exit(1);
}

/* Can this machine's C library look behind a signal's handler? In some emulators it finds nothing there, or crashes. */
static inline bool
unwinds_signals(void)
{
	const struct rlimit no_core = {0};
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGSEGV, unwind_on_signal);
		unwind_is_interrupted(mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 42;
}

#endif
