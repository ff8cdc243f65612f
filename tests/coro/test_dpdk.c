/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What belongs to a thread, as a coroutine sees it that goes on on another thread each time, in a shared object at -O3
 * (tls_probe.c). What compilers make of such code with weir.pc's flags is looked at in tests/build/test_tls.py.
 */
#include "coro_test.h"

#include <pthread.h>
#include <sched.h>

#include "eal.h"
#include "tls_probe.h"
#include "weir_coro_dpdk.h"

#define THREADS 3 /* with lcore ids; and one without */

static struct weir_coro *coro;
static unsigned int next;  /* whose turn */
static unsigned int ready; /* threads that have begun */
static bool over;

/* Resumes the coroutine each time its turn has come. */
static void *
take_turns(void *arg)
{
	const unsigned int number = (unsigned int)(uintptr_t)arg;
	struct probe_param *param = weir_coro_in_param(coro, sizeof(*param));
	struct probe_thread self;

	if (number > 0 && number < THREADS)
		CHECK(rte_thread_register() == 0);
	CHECK((rte_lcore_id() == LCORE_ID_ANY) == (number == THREADS));
	CHECK(weir_coro_lcore_id() == rte_lcore_id());
	CHECK(weir_coro_rte_errno() == &rte_errno && weir_coro_errno() == &errno);
	probe_begin(&self, number);
	/* None may end before all have begun, or one might have the variables of another. */
	__atomic_fetch_add(&ready, 1, __ATOMIC_ACQ_REL);
	while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
		if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) <= THREADS ||
			__atomic_load_n(&next, __ATOMIC_ACQUIRE) != number) {
			sched_yield();
			continue;
		}
		param->thread = &self;
		errno = self.error;
		rte_errno = self.rte_error;
		weir_coro_resume(coro);
		if (weir_coro_has_exited(coro))
			__atomic_store_n(&over, true, __ATOMIC_RELEASE);
		__atomic_store_n(&next, (number + 1) % (THREADS + 1), __ATOMIC_RELEASE);
	}
	if (number > 0)
		rte_thread_unregister();
	return NULL;
}

static void
moves(weir_coro_run_t run, unsigned int nb_moves)
{
	struct probe_param *param;
	pthread_t threads[THREADS];

	start(1, 0, 0);
	coro = made(run);
	param = weir_coro_in_param(coro, sizeof(*param));
	param->self = coro;
	next = ready = 0;
	over = false;
	for (uintptr_t t = 1; t <= THREADS; t++)
		assert_int_equal(pthread_create(&threads[t - 1], NULL, take_turns, (void *)t), 0);
	take_turns(NULL);
	for (unsigned int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	if (param->wrong != 0)
		fail_msg("tls_probe.c:%u: another thread's", param->wrong);
	assert_int_equal(param->moves, nb_moves);
	assert_int_equal(weir_coro_resume_count(coro), nb_moves + 1);
	assert_int_equal(weir_coro_destroy(coro), 0);
}

static void
in_place(void **state)
{
	moves(probe_in_place, 2 * PROBE_TURNS);
}

static void
asked(void **state)
{
	moves(probe_asked, 4 * PROBE_TURNS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(in_place, finish),
		cmocka_unit_test_teardown(asked, finish),
	};

	return run_on_eal(1, tests);
}
