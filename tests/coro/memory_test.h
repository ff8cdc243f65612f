/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_CORO_MEMORY_TEST_H
#define TESTS_CORO_MEMORY_TEST_H

/* What tests of stacks share: what faults, what is logged, tests in processes of their own. Once in a program. */

#include "cmocka_all.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coro_private.h"
#include "refuse_test.h"
#include "mappings.h"

#define NB            5
#define STACK         65536
#define GUARD_INSTALL 102 /* MADV_GUARD_INSTALL, which headers may lack */

/* In children, where cmocka's own must not go on with the next test. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition);            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static size_t page;
static char logged[4096];

static inline void
keep_log(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
	size_t length = strlen(logged);

	snprintf(logged + length, sizeof(logged) - length, "%d %s: %s\n", level, module, message);
}

static inline void
no_handlers(void)
{
	struct rlimit no_core = {0};

	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGSEGV, SIG_DFL);
}

/* Does a child that writes there, or reads, die of it? */
static inline bool
faults(volatile char *address, bool write_it)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		no_handlers();
		if (write_it)
			*address = 1;
		else
			(void)*address;
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

/* An emulator says yes to all advice, whether it knows it or not. */
static inline bool
advice_is_heard(void)
{
	return madvise(NULL, 0, 9999) < 0;
}

/* Guards of a page: no byte of it can be had. */
static inline bool
region_here(void)
{
	char *trial = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool here = madvise(trial, page, GUARD_INSTALL) == 0 && faults(trial, true);

	munmap(trial, page);
	return here;
}

/* A test in a process of its own. */
#define CHILD(test)                                                                                \
	{                                                                                          \
		.name = #test, .test_func = in_child, .initial_state = (void *)(test)              \
	}
static inline void
in_child(void **state)
{
	void (*run)(void) = (void (*)(void)) * state;
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		logged[0] = '\0';
		run();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT)
		skip();
	assert_int_equal(status, 0);
}

static inline size_t
map_limit(void)
{
	FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
	size_t limit;

	if (file == NULL || fscanf(file, "%zu", &limit) != 1)
		abort();
	fclose(file);
	return limit;
}

static inline bool
all_zero(const char *at, size_t bytes)
{
	return at[0] == 0 && memcmp(at, at + 1, bytes - 1) == 0;
}

static inline int
begin(void **state)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	weir_base_log_set_sink(keep_log, NULL);
	return 0;
}

#endif
