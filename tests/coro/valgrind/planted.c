/* SPDX-License-Identifier: BSD-3-Clause */
/* Bugs in a coroutine, each of which valgrind is there to find. */
#include <stdlib.h>
#include <string.h>

#include "weir_coro.h"

static volatile int nb_seen;

#if defined(PLANTED_LEAK)
static void *volatile kept;
#endif

static __attribute__((noinline)) void
leaves_its_mark(void)
{
	char marks[1000];

	memset(marks, 1, sizeof(marks));
	__asm__ volatile("" : : "m"(marks));
}

static void
buggy(void)
{
#if defined(PLANTED_UNINITIALISED)
	int never_set[100];

	__asm__ volatile("" : "=m"(never_set)); /* compilers would find it as well */
	leaves_its_mark();
	weir_coro_yield();
	if (never_set[50] == 1)
		nb_seen++;
#elif defined(PLANTED_LEAK)
	kept = malloc(1000);
	leaves_its_mark();
	weir_coro_yield();
	nb_seen += kept != NULL;
	kept = NULL;
#endif
}

int
main(void)
{
	struct weir_coro *coro;

	if (weir_coro_init(65536, 0, 0, 1, 0, 0, -1) != 0)
		return 0;
	coro = weir_coro_create(buggy);
	while (!weir_coro_has_exited(coro))
		weir_coro_resume(coro);
	weir_coro_destroy(coro);
	weir_coro_cleanup();
	return 0;
}
