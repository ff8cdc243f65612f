/* SPDX-License-Identifier: BSD-3-Clause */
/* What cores do in each round beside dispatching; moments when each has been outside of all; the configuration in force. */

#include <sched.h>

#include <unistd.h>

#include "em_test.h"

#define NB_WORKERS 2
#define NB_TIMES   200
#define POLLS      4 /* as the header says; there are no timers here */

/* What a poll was called for. */
struct looked {
	uint64_t nb[NB_WORKERS + 1]; /* by core; that core's */
	bool removed;                /* atomic */
};

static struct looked looked, others[POLLS + 1];

static void
look(struct weir_em_core *core, void *arg)
{
	struct looked *to = arg;

	CHECK(!__atomic_load_n(&to->removed, __ATOMIC_ACQUIRE));
	__atomic_fetch_add(&to->nb[weir_em_core_id(core)], 1, __ATOMIC_RELEASE);
}

/* Longer than others take to look whether it is over. */
static void
look_long(struct weir_em_core *core, void *arg)
{
	look(core, arg);
	for (unsigned int i = 0; i < 20; i++)
		sched_yield();
	CHECK(!__atomic_load_n(&((struct looked *)arg)->removed, __ATOMIC_ACQUIRE));
}

static void
look_other(struct weir_em_core *core, void *arg)
{
	look(core, arg);
}

/* Of core 0: it takes itself away. */
static void
look_once(struct weir_em_core *core, void *arg)
{
	look(core, arg);
	CHECK(weir_em_poll_remove(et_em, core, look_once, arg) == 0);
}

static void
rounds(uint32_t nb)
{
	weir_em_dispatch(et_core, &(struct weir_em_dispatch_options){.nb_rounds = nb});
}

static void
each_round(void **state)
{
	looked = (struct looked){.removed = false};
	et_make_small();
	assert_int_equal(weir_em_poll_add(et_em, look, &looked), 0);
	assert_int_equal(looked.nb[0], 0);
	rounds(10);
	assert_int_equal(looked.nb[0], 10);
	assert_int_equal(weir_em_poll_remove(et_em, et_core, look, &looked), 0);
	rounds(10);
	assert_int_equal(looked.nb[0], 10);
	/* and by itself */
	assert_int_equal(weir_em_poll_add(et_em, look_once, &looked), 0);
	rounds(10);
	assert_int_equal(looked.nb[0], 11);
	assert_int_equal(weir_em_poll_remove(et_em, et_core, look_once, &looked), -ENOENT);
}

static void
arguments(void **state)
{
	et_make_small();
	assert_int_equal(weir_em_poll_add(NULL, look, NULL), -EINVAL);
	assert_int_equal(weir_em_poll_add(et_em, NULL, NULL), -EINVAL);
	assert_int_equal(weir_em_poll_remove(NULL, et_core, look, NULL), -EINVAL);
	assert_int_equal(weir_em_poll_remove(et_em, et_core, NULL, NULL), -EINVAL);
	assert_int_equal(weir_em_poll_remove(et_em, et_core, look, &looked), -ENOENT);
	assert_int_equal(weir_em_quiesce(NULL, NULL), -EINVAL);
	/* the same once, but with another argument, or another function, as well */
	memset(others, 0, sizeof(others));
	assert_int_equal(weir_em_poll_add(et_em, look, &others[0]), 0);
	assert_int_equal(weir_em_poll_add(et_em, look, &others[0]), -EEXIST);
	assert_int_equal(weir_em_poll_add(et_em, look_other, &others[0]), 0);
	assert_int_equal(weir_em_poll_remove(et_em, et_core, look_other, &others[0]), 0);
	for (int i = 1; i < POLLS; i++)
		assert_int_equal(weir_em_poll_add(et_em, look, &others[i]), 0);
	st_log_clear();
	assert_int_equal(weir_em_poll_add(et_em, look, &others[POLLS]), -ENOSPC);
	assert_non_null(strstr(st_log_last(), "4 polls already"));
	rounds(3);
	for (int i = 0; i < POLLS; i++)
		assert_int_equal(others[i].nb[0], 3);
	/* what is taken away from the middle leaves the others, and room */
	assert_int_equal(weir_em_poll_remove(et_em, et_core, look, &others[1]), 0);
	rounds(1);
	assert_int_equal(others[0].nb[0], 4);
	assert_int_equal(others[1].nb[0], 3);
	assert_int_equal(others[2].nb[0], 4);
	assert_int_equal(weir_em_poll_add(et_em, look, &others[1]), 0);
	rounds(1);
	assert_int_equal(others[1].nb[0], 4);
	/* what is left goes with the instance */
}

/* As soon as it is taken away, no core is in it: that is tried while they are all the time. */
static void
nobody_is_in_what_was_removed(void **state)
{
	et_make((struct weir_em_config){.nb_cores = NB_WORKERS + 1});
	et_workers_begin(NB_WORKERS);
	for (int i = 0; i < NB_TIMES; i++) {
		looked = (struct looked){.removed = false};
		assert_int_equal(weir_em_poll_add(et_em, look_long, &looked), 0);
		for (int core = 1; core <= NB_WORKERS; core++)
			while (__atomic_load_n(&looked.nb[core], __ATOMIC_ACQUIRE) == 0)
				sched_yield();
		assert_int_equal(weir_em_poll_remove(et_em, et_core, look_long, &looked), 0);
		__atomic_store_n(&looked.removed, true, __ATOMIC_RELEASE);
	}
	et_workers_end();
}

static bool in_receive, leave; /* atomic */
static uint64_t nb_outside;

static void
stays(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	__atomic_store_n(&in_receive, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&leave, __ATOMIC_ACQUIRE))
		sched_yield();
	__atomic_store_n(&in_receive, false, __ATOMIC_RELEASE);
}

static void *
waits_for_all(void *arg)
{
	CHECK(weir_em_quiesce(et_em, NULL) == 0);
	CHECK(!__atomic_load_n(&in_receive, __ATOMIC_ACQUIRE));
	__atomic_store_n(&nb_outside, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* A core that is in a receive function is waited for, by a thread that is no core. */
static void
receive_functions_are_waited_for(void **state)
{
	const struct weir_em_dispatch_options once = {.nb_rounds = 1};
	pthread_t thread;

	st_builtin_only(); /* devices may have chosen core 0 */
	in_receive = leave = false;
	nb_outside = 0;
	et_make((struct weir_em_config){.nb_cores = 2});
	assert_int_equal(weir_em_quiesce(et_em, et_core), 0);
	et_send(et_serve("stays", WEIR_EM_QUEUE_ATOMIC, stays, NULL), 1);
	/* nobody but the worker dispatches until it has it */
	et_workers_begin(1);
	while (!__atomic_load_n(&in_receive, __ATOMIC_ACQUIRE))
		sched_yield();
	assert_int_equal(pthread_create(&thread, NULL, waits_for_all, NULL), 0);
	for (int i = 0; i < 50; i++) {
		weir_em_dispatch(et_core, &once);
		usleep(1000);
		assert_int_equal(__atomic_load_n(&nb_outside, __ATOMIC_ACQUIRE), 0);
	}
	__atomic_store_n(&leave, true, __ATOMIC_RELEASE);
	et_wait(&nb_outside, 1, "a moment when all are outside");
	pthread_join(thread, NULL);
	et_workers_end();
}

static void
configuration_in_force(void **state)
{
	struct weir_em_config config = {.nb_cores = 99};

	et_make((struct weir_em_config){.nb_cores = 3, .nb_producers = 2, .nb_queues = 17});
	assert_int_equal(weir_em_config_get(NULL, &config), -EINVAL);
	assert_int_equal(weir_em_config_get(et_em, NULL), -EINVAL);
	assert_int_equal(weir_em_config_get(et_em, &config), 0);
	assert_int_equal(config.nb_cores, 3);
	assert_int_equal(config.nb_producers, 2);
	assert_int_equal(config.nb_queues, 17);
	/* what nobody said is what it is */
	assert_int_not_equal(config.nb_objects, 0);
	assert_int_not_equal(config.types, 0);
	assert_int_not_equal(config.priorities, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(each_round),
		ET_TEST(arguments),
		ET_TEST(nobody_is_in_what_was_removed),
		ET_TEST(receive_functions_are_waited_for),
		ET_TEST(configuration_in_force),
	};

	return ST_RUN("em-poll", tests);
}
