/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pools on several NUMA nodes: the kernel is asked for memory of the class' own node, for all of its stacks and parameters and nothing
 * else, and what threads keep of a class stays that class'. On a machine of one node, too: what libweir asks the kernel for with
 * mbind(2) is answered here, as a machine of two nodes would. Whether pages come from there is the kernel's affair, and not seen.
 */
#include "coro_test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NB_NODES      2
#define NB_COROUTINES 32
#define PARAMS        256
#define PREFERRED     1

/* What was bound to a node. */
static struct bound {
	char *start;
	size_t bytes;
} bound[NB_NODES];
static unsigned int nb_asked;

static long
bind_memory(char *start, size_t bytes, int mode, const unsigned long *nodes)
{
	nb_asked++;
	CHECK(mode == PREFERRED);
	for (unsigned int node = 0; node < NB_NODES; node++) {
		if (nodes[0] != 1ul << node)
			continue;
		CHECK(bound[node].start == NULL); /* one pool each */
		bound[node] = (struct bound){start, bytes};
		return 0;
	}
	errno = EINVAL;
	return -1;
}

/* In place of the C library's, for libweir too. */
long
syscall(long number, ...)
{
	static long (*others)(long number, ...);
	long args[6];
	va_list list;

	va_start(list, number);
	for (unsigned int i = 0; i < LENGTH(args); i++)
		args[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_mbind)
		return bind_memory((char *)args[0], (size_t)args[1], (int)args[2],
			(const unsigned long *)args[3]);
	if (others == NULL)
		*(void **)&others = dlsym(RTLD_NEXT, "syscall");
	return others(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

static bool
is_within(const struct bound *pool, const void *address)
{
	return (const char *)address >= pool->start &&
	       (const char *)address < pool->start + pool->bytes;
}

/* Where are its stack and its parameters? It is told which node by the latter. */
static void
run_on_node(void)
{
	char here;
	int node = *(int *)weir_coro_self_in_param(PARAMS);

	for (int i = 0; i < NB_NODES; i++) {
		CHECK(is_within(&bound[i], weir_coro_self_in_param(PARAMS)) == (i == node));
		CHECK(is_within(&bound[i], (char *)weir_coro_self_out_param(PARAMS) + PARAMS - 1) ==
			(i == node));
#if !defined(WEIR_BASE_ASAN) /* with which it may be on a stack of its own */
		CHECK(is_within(&bound[i], &here) == (i == node));
#endif
	}
	*(char *)weir_coro_self_out_param(PARAMS) = here = 1;
	(void)here;
}

/* All of both pools at the same time, some given back and taken anew, by a thread that has a cache of each. */
static void *
use_pools(void *arg)
{
	const int *classes = arg;
	struct weir_coro *coros[NB_NODES][NB_COROUTINES / 2];

	for (unsigned int turn = 0; turn < 3; turn++) {
		for (unsigned int i = 0; i < NB_COROUTINES / 2; i++)
			for (int node = 0; node < NB_NODES; node++) {
				coros[node][i] = weir_coro_create_in(
					(unsigned int)classes[node], run_on_node);
				CHECK(coros[node][i] != NULL);
				*(int *)weir_coro_in_param(coros[node][i], PARAMS) = node;
			}
		for (unsigned int i = 0; i < NB_COROUTINES / 2; i++)
			for (int node = NB_NODES - 1; node >= 0; node--) {
				weir_coro_resume(coros[node][i]);
				CHECK(weir_coro_has_exited(coros[node][i]));
				CHECK(*(char *)weir_coro_out_param(coros[node][i], PARAMS) == 1);
				CHECK(weir_coro_destroy(coros[node][i]) == 0);
			}
	}
	return NULL;
}

static int
add_class(int node)
{
	const struct weir_coro_class_param param = {.stack_size = STACK,
		.max_in_param_size = PARAMS,
		.max_out_param_size = PARAMS,
		.max_coroutines = NB_COROUTINES,
		.cache_size = 8,
		.socket_id = node};

	return weir_coro_class_add(&param);
}

static void
pools_are_on_their_nodes(void **state)
{
	pthread_t threads[2];
	int classes[NB_NODES], nowhere;

	/* Class 0 is that of node 0. */
	assert_int_equal(weir_coro_init(STACK, PARAMS, PARAMS, NB_COROUTINES, 0, 8, 0), 0);
	classes[0] = 0;
	classes[1] = add_class(1);
	assert_true(classes[1] > 0);
	assert_int_equal(nb_asked, 2);
	assert_true(bound[0].bytes >= NB_COROUTINES * (size_t)(STACK + 2 * PARAMS));
	assert_true(bound[1].bytes == bound[0].bytes);
	assert_true(bound[0].start + bound[0].bytes <= bound[1].start ||
		    bound[1].start + bound[1].bytes <= bound[0].start);
	for (unsigned int i = 0; i < LENGTH(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_pools, classes), 0);
	for (unsigned int i = 0; i < LENGTH(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	/* A node that there is not: from any; and from any, of which nobody is asked. */
	nowhere = add_class(NB_NODES);
	assert_true(nowhere > 0);
	assert_int_equal(nb_asked, 3);
	assert_true(add_class(-1) > 0);
	assert_int_equal(nb_asked, 3);
	weir_coro_destroy(weir_coro_create_in((unsigned int)nowhere, run_on_node));
	weir_coro_cleanup();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(pools_are_on_their_nodes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
