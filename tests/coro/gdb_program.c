/* SPDX-License-Identifier: BSD-3-Clause */
/* For test_gdb.sh: coroutines in known states and functions, then a stop. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weir_coro.h"

#define CROWD 300

void stop_here(void);

static bool spinning, spun, aborts;
static unsigned int survivors;

/* The stop: whoever looks must leave all as it is. */
__attribute__((noinline)) void
stop_here(void)
{
	__asm__ volatile("" : : : "memory");
	if (aborts)
		abort();
}

static __attribute__((noinline)) unsigned int
parse_value(unsigned int depth)
{
	volatile unsigned int kept = depth + 40;

	weir_coro_yield();
	return kept;
}

static __attribute__((noinline)) unsigned int
parse_list(unsigned int depth)
{
	unsigned int sum = depth == 0 ? parse_value(depth) : parse_list(depth - 1);

	__asm__ volatile("" : "+r"(sum));
	return sum + 1;
}

static __attribute__((noinline)) void
parse_file(void)
{
	if (parse_list(2) == 43)
		survivors++;
}

static __attribute__((noinline)) void
rebuild_table(void)
{
	weir_coro_set_time_slice(weir_coro_self(), 0);
	while (!weir_coro_maybe_yield())
		;
	survivors++;
}

static void
ends_at_once(void)
{
}

static __attribute__((noinline)) void
one_of_many(void)
{
	weir_coro_yield();
	survivors++;
}

static __attribute__((noinline)) void
spin_until_told(void)
{
	__atomic_store_n(&spinning, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&spun, __ATOMIC_ACQUIRE))
		;
}

static void
spins(void)
{
	spin_until_told();
	__asm__ volatile("" : : : "memory");
}

static void *
other_thread(void *coro)
{
	weir_coro_resume(coro);
	return NULL;
}

static __attribute__((noinline)) void
innermost_run(void)
{
	stop_here();
	survivors++;
}

static __attribute__((noinline)) void
resumes_another(void)
{
	struct weir_coro *inner = weir_coro_create(innermost_run);

	weir_coro_resume(inner);
	weir_coro_destroy(inner);
	survivors++;
}

static struct weir_coro *
resumed(struct weir_coro *coro, unsigned int times)
{
	if (coro == NULL)
		exit(3);
	while (times-- > 0)
		weir_coro_resume(coro);
	return coro;
}

static void
run_to_end(struct weir_coro *coro)
{
	weir_coro_cancel(coro);
	while (!weir_coro_has_exited(coro))
		weir_coro_resume(coro);
	weir_coro_destroy(coro);
}

int
main(int argc, char **argv)
{
	const struct weir_coro_class_param crowded = {.stack_size = 16384,
		.max_coroutines = CROWD,
		.socket_id = -1,
		.guard = WEIR_CORO_GUARD_CANARY};
	struct weir_coro *parser, *table, *fresh, *ended, *spinner, *outer, *crowd[CROWD];
	pthread_t thread;

	if (weir_coro_init(65536, 0, 0, 16, 77000, 0, -1) != 0 ||
		weir_coro_class_add(&crowded) != 1)
		return 1;
	aborts = argc > 1 && strcmp(argv[1], "abort") == 0;
	parser = resumed(weir_coro_create(parse_file), 1);           /* 0 */
	table = resumed(weir_coro_create(rebuild_table), 5);         /* 1 */
	fresh = weir_coro_create(parse_file);                        /* 2 */
	ended = resumed(weir_coro_create(ends_at_once), 1);          /* 3 */
	weir_coro_destroy(resumed(weir_coro_create(parse_file), 1)); /* 4, and then: */
	spinner = weir_coro_create(spins);
	for (unsigned int i = 0; i < CROWD; i++)
		crowd[i] = resumed(weir_coro_create_in(1, one_of_many), 1);
	weir_coro_cancel(crowd[CROWD - 1]);
	if (pthread_create(&thread, NULL, other_thread, spinner) != 0)
		return 2;
	while (!__atomic_load_n(&spinning, __ATOMIC_ACQUIRE))
		;
	outer = resumed(weir_coro_create(resumes_another), 1); /* 5, within it 6 */
	__atomic_store_n(&spun, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	run_to_end(parser);
	run_to_end(table);
	weir_coro_destroy(fresh);
	weir_coro_destroy(ended);
	weir_coro_destroy(spinner);
	weir_coro_destroy(outer);
	for (unsigned int i = 0; i < CROWD; i++)
		run_to_end(crowd[i]);
	weir_coro_cleanup();
	printf("%u came to their end\n", survivors);
	return survivors == CROWD + 4 ? 0 : 4;
}
