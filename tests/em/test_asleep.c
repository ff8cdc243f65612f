/* SPDX-License-Identifier: BSD-3-Clause */

/* Cores that sleep in dequeue: who starts, stops and detaches does not wait until they wake by themselves. */

#include <unistd.h>

#include "em_test.h"

#define SLEEP_S 20
#define SLEEPER 1
#define SOON_NS UINT64_C(5000000000) /* well below that, for a machine that has much else to do */
#define BEDTIME 100000               /* us: it sleeps by then */

static struct et_sink sink;

static void
make(void)
{
	st_builtin_only();
	et_make((struct weir_em_config){.nb_cores = 2, .idle_sleep_us = SLEEP_S * 1000000});
}

static void *
dispatch(void *arg)
{
	struct weir_em_core *core = weir_em_core_attach(et_em, SLEEPER);

	CHECK(core != NULL);
	__atomic_store_n((struct weir_em_core **)arg, core, __ATOMIC_RELEASE);
	weir_em_dispatch(core, NULL);
	CHECK(weir_em_core_detach(core) == 0);
	return NULL;
}

static struct weir_em_core *
put_to_bed(pthread_t *thread)
{
	static struct weir_em_core *sleeper;
	struct weir_em_core *core;

	sleeper = NULL;
	assert_int_equal(pthread_create(thread, NULL, dispatch, &sleeper), 0);
	while ((core = __atomic_load_n(&sleeper, __ATOMIC_ACQUIRE)) == NULL)
		weir_em_dispatch(et_core, &(struct weir_em_dispatch_options){.nb_rounds = 1});
	usleep(BEDTIME);
	return core;
}

static void
stop_and_detach(void **state)
{
	pthread_t thread;
	uint64_t begin;

	make();
	put_to_bed(&thread);
	begin = weir_base_time_ns();
	weir_em_stop(et_em);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(weir_base_time_ns() - begin < SOON_NS);
	weir_em_resume(et_em);
}

static void
stop_of_one(void **state)
{
	struct weir_em_core *core;
	pthread_t thread;
	uint64_t begin;

	make();
	core = put_to_bed(&thread);
	begin = weir_base_time_ns();
	weir_em_core_stop(core);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(weir_base_time_ns() - begin < SOON_NS);
}

static void
objects_start_and_stop(void **state)
{
	pthread_t thread;
	uint64_t begin;

	make();
	put_to_bed(&thread);
	begin = weir_base_time_ns();
	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	usleep(BEDTIME);
	assert_int_equal(weir_em_object_stop(et_em, et_core, sink.object, NULL), 0);
	usleep(BEDTIME);
	assert_int_equal(weir_em_quiesce(et_em, et_core), 0);
	assert_true(weir_base_time_ns() - begin < SOON_NS);
	weir_em_stop(et_em);
	assert_int_equal(pthread_join(thread, NULL), 0);
	weir_em_resume(et_em);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(stop_and_detach),
		ET_TEST(stop_of_one),
		ET_TEST(objects_start_and_stop),
	};

	return ST_RUN("em-asleep", tests);
}
