/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits for whom, and does meanwhile what. */
#include <sched.h>
#include <unistd.h>

#include <rte_lcore.h>

#include "em_test.h"

#define WAIT_NS 50000000 /* in which a core that may leave an object, would */

/* ---- a receive function starts an object, whose start function waits ---- */

enum way { QUIESCE, DISABLE, START, DEEPER, CORE_START };

static enum way way;
static weir_em_object outer, inner, innermost;
static weir_em_queue some_queue;
static struct weir_em_core *receiver;
static bool in_receive, in_start, stops; /* atomic */
static uint64_t nb_early, is_gone, has_left;

static bool
is_set(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void
set(bool *flag, bool value)
{
	__atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

/* It is in the receive function, and should not be. */
static void
note_early(void)
{
	if (is_set(&in_receive))
		__atomic_fetch_add(&nb_early, 1, __ATOMIC_RELAXED);
}

/* Once, as is done in a start function. */
static void
wait_for_others(struct weir_em_core *core)
{
	switch (way) {
	case DISABLE:
		CHECK(weir_em_queue_disable(et_em, core, some_queue) == 0);
		break;
	case START:
		CHECK(weir_em_object_start(et_em, core, innermost, NULL) == 0);
		CHECK(weir_em_object_stop(et_em, core, innermost, NULL) == 0);
		break;
	default:
		CHECK(weir_em_quiesce(et_em, core) == 0);
		break;
	}
}

/* Until the outer one has been stopped for a while; what others wait for is done meanwhile. */
static int
start_and_wait(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	uint64_t since = 0;

	set(&in_start, true);
	while (since == 0 || weir_base_time_ns() - since < WAIT_NS) {
		wait_for_others(core);
		if (since == 0 && is_set(&stops))
			since = weir_base_time_ns();
		usleep(1000);
	}
	CHECK(weir_em_current_object(core) == object);
	return 0;
}

static int
start_deeper(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	return weir_em_object_start(et_em, core, innermost, NULL);
}

/* It runs while the core waits for others. */
static int
core_start_and_wait(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	return core == __atomic_load_n(&receiver, __ATOMIC_RELAXED)
		       ? start_and_wait(core, context, object, arg)
		       : 0;
}

static void
receive_and_start(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	__atomic_store_n(&receiver, core, __ATOMIC_RELAXED);
	set(&in_receive, true);
	CHECK(weir_em_object_start(et_em, core, inner, NULL) == 0);
	CHECK(weir_em_current_object(core) == outer);
	set(&in_receive, false);
	__atomic_store_n(&has_left, 1, __ATOMIC_RELEASE);
}

static int
stop_outside(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	note_early();
	return 0;
}

/* A thread that is no core. */
static void *
stop_and_delete(void *arg)
{
	while (!is_set(&in_start))
		usleep(1000);
	set(&stops, true);
	CHECK(weir_em_object_stop(et_em, NULL, outer, NULL) == 0);
	note_early();
	CHECK(weir_em_object_delete(et_em, NULL, outer, WEIR_EM_REMOVE_QUEUES) == 0);
	note_early();
	__atomic_store_n(&is_gone, 1, __ATOMIC_RELEASE);
	return NULL;
}

static weir_em_object
make_object(const char *name, weir_em_start_t start, weir_em_start_t core_start)
{
	weir_em_object object =
		weir_em_object_create(et_em, &(struct weir_em_object_config){.name = name,
						     .receive = et_sink_receive,
						     .start = start,
						     .core_start = core_start});

	assert_int_not_equal(object, WEIR_EM_NONE);
	return object;
}

static void
stop_while_a_start_waits(enum way how)
{
	weir_em_queue queue;
	pthread_t thread;

	way = how;
	in_receive = in_start = stops = false;
	nb_early = is_gone = has_left = 0;
	et_make((struct weir_em_config){.nb_cores = 2});
	queue = et_queue("outer", WEIR_EM_QUEUE_ATOMIC, 0);
	some_queue = et_queue("some", WEIR_EM_QUEUE_ATOMIC, 0);
	outer = weir_em_object_create(et_em,
		&(struct weir_em_object_config){
			.name = "outer", .receive = receive_and_start, .stop = stop_outside});
	inner = make_object("inner",
		how == CORE_START ? NULL
		: how == DEEPER   ? start_deeper
				  : start_and_wait,
		how == CORE_START ? core_start_and_wait : NULL);
	innermost = make_object("innermost", how == DEEPER ? start_and_wait : NULL, NULL);
	assert_int_equal(weir_em_object_add_queue(et_em, outer, queue), 0);
	et_workers_begin(1);
	assert_int_equal(weir_em_object_start(et_em, et_core, outer, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, stop_and_delete, NULL), 0);
	et_send(queue, 1);
	et_wait(&is_gone, 1, "the object is gone");
	et_wait(&has_left, 1, "nobody is in it"); /* it may wait for this core */
	pthread_join(thread, NULL);
	et_workers_end();
	assert_int_equal(nb_early, 0);
	et_check_sums();
}

static void
stopped_while_a_start_quiesces(void **state)
{
	stop_while_a_start_waits(QUIESCE);
}

static void
stopped_while_a_start_disables(void **state)
{
	stop_while_a_start_waits(DISABLE);
}

static void
stopped_while_a_start_starts(void **state)
{
	stop_while_a_start_waits(START);
}

static void
stopped_while_a_start_of_a_start_waits(void **state)
{
	stop_while_a_start_waits(DEEPER);
}

static void
stopped_while_a_start_of_a_core_waits(void **state)
{
	stop_while_a_start_waits(CORE_START);
}

/* ---- a core comes, while a thread that is none starts an object, whose start function starts another one ---- */

static weir_em_object second;
static bool in_core_start;

static int
stay_until_start(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	set(&in_core_start, true);
	while (!is_set(&in_start))
		usleep(1000);
	return 0;
}

static int
start_second(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	set(&in_start, true);
	usleep(50000); /* in which the core comes to the end of what it has to start */
	return weir_em_object_start(et_em, core, second, NULL);
}

static void *
come_and_leave(void *arg)
{
	bool registered = rte_thread_register() == 0; /* a device's scheduler may want it */
	struct weir_em_core *core = weir_em_core_attach(et_em, 1);

	CHECK(core != NULL);
	CHECK(weir_em_core_detach(core) == 0);
	if (registered)
		rte_thread_unregister();
	return NULL;
}

static void
who_comes_is_not_waited_for(void **state)
{
	struct weir_em_object_info info;
	weir_em_object first, running;
	pthread_t thread;

	in_start = in_core_start = false;
	et_make((struct weir_em_config){.nb_cores = 2});
	assert_int_equal(weir_em_core_detach(et_core), 0);
	et_core = NULL;
	/* the core is done with these, when it comes to the one that runs */
	first = make_object("first", start_second, NULL);
	second = make_object("second", NULL, NULL);
	running = make_object("running", NULL, stay_until_start);
	assert_int_equal(weir_em_object_start(et_em, NULL, running, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, come_and_leave, NULL), 0);
	while (!is_set(&in_core_start))
		usleep(1000);
	alarm(20); /* or they would wait for one another for ever */
	assert_int_equal(weir_em_object_start(et_em, NULL, first, NULL), 0);
	pthread_join(thread, NULL);
	alarm(0);
	assert_int_equal(weir_em_object_info(et_em, second, &info), 0);
	assert_int_equal(info.state, WEIR_EM_OBJECT_RUNNING);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(stopped_while_a_start_quiesces),
		ET_TEST(stopped_while_a_start_disables),
		ET_TEST(stopped_while_a_start_starts),
		ET_TEST(stopped_while_a_start_of_a_start_waits),
		ET_TEST(stopped_while_a_start_of_a_core_waits),
		ET_TEST(who_comes_is_not_waited_for),
	};

	return ST_RUN("em-wait", tests);
}
