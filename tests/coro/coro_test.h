/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CORO_TEST_H
#define CORO_TEST_H

/* What the tests of lib/coro share. */

#include "cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "weir_base.h"
#include "weir_coro.h"

/* In coroutines and threads: cmocka's own assertions jump to the test's stack, which is another one there. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Room for the frames of sanitizers, and of printf(). */
#define STACK 65536

#if defined(WEIR_BASE_ASAN) || defined(WEIR_BASE_TSAN)
#define WITH_SANITIZER 1
#else
#define WITH_SANITIZER 0
#endif

#if defined(WEIR_CORO_CHECKS)
#define WITH_CHECKS 1
#else
#define WITH_CHECKS 0
#endif

/* An emulator says yes to all advice on memory, whether it knows it or not. It keeps notes of each page that could be there. */
static inline bool
emulated(void)
{
	return madvise(NULL, 0, 9999) == 0;
}

/* One class for @nb coroutines, with 256 bytes of parameters each way. */
static inline void
start(size_t nb, uint64_t slice, unsigned int cache)
{
	assert_int_equal(weir_coro_init(STACK, 256, 256, nb, slice, cache, -1), 0);
}

static inline struct weir_coro *
made(weir_coro_run_t run)
{
	struct weir_coro *coro = weir_coro_create(run);

	CHECK(coro != NULL);
	return coro;
}

/* Resume it until it has exited. @return how often */
static inline unsigned int
run_to_end(struct weir_coro *coro)
{
	unsigned int nb = 0;

	for (; !weir_coro_has_exited(coro); nb++) {
		CHECK(nb < 10000000);
		weir_coro_resume(coro);
	}
	return nb;
}

static inline int
finish(void **state)
{
	weir_coro_cleanup();
	weir_coro_always_yield(false);
	return 0;
}

/* Work that takes about so long. */
static inline void
work_for(uint64_t cycles)
{
	uint64_t begin = weir_base_cycles();

	while (weir_base_cycles() - begin < cycles)
		;
}

#endif
