/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is waited for when an object is started or stopped: a core that dawdles, that waits itself, that leaves. */
#include <sched.h>
#include <unistd.h>

#include <rte_lcore.h>

#include "em_test.h"

static struct et_sink sink, told;
static uint64_t nb_core_start;

static int
core_start(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	__atomic_fetch_add(&nb_core_start, 1, __ATOMIC_RELAXED);
	return 0;
}

/* Of two cores, and an object that is not started yet. */
static void
make(void)
{
	nb_core_start = 0;
	memset(&sink, 0, sizeof(sink));
	et_make((struct weir_em_config){.nb_cores = 2});
	sink.object = weir_em_object_create(et_em, &(struct weir_em_object_config){.name = "sink",
							   .receive = et_sink_receive,
							   .context = &sink,
							   .core_start = core_start});
	assert_int_not_equal(sink.object, WEIR_EM_NONE);
}

/* Attached, and does not dispatch until somebody complains. */
static void *
dawdle(void *arg)
{
	const struct weir_em_dispatch_options options = {
		.idle = WEIR_EM_IDLE_YIELD, .duration_ns = 1000000};
	bool registered = rte_thread_register() == 0; /* a device's scheduler may want it */
	struct weir_em_core *core = weir_em_core_attach(et_em, 1);

	CHECK(core != NULL);
	__atomic_store_n((uint32_t *)arg, 1, __ATOMIC_RELEASE);
	while (st_log_count() == 0)
		usleep(1000);
	while (__atomic_load_n((uint32_t *)arg, __ATOMIC_ACQUIRE) == 1)
		weir_em_dispatch(core, &options);
	CHECK(weir_em_core_detach(core) == 0);
	if (registered)
		rte_thread_unregister();
	return NULL;
}

static weir_em_object late;
static uint32_t in_receive, nb_stopped_early, nb_stopped;

/* Waits for core 0, and does meanwhile what other cores wait for: but for this object's own stop. */
static void
receive_and_wait(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	__atomic_store_n(&in_receive, 1, __ATOMIC_RELEASE);
	CHECK(weir_em_object_start(et_em, core, late, NULL) == 0);
	__atomic_store_n(&in_receive, 0, __ATOMIC_RELEASE);
}

static int
stop_after_receive(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	if (weir_em_core_id(core) == 1 && __atomic_load_n(&in_receive, __ATOMIC_ACQUIRE) != 0)
		__atomic_fetch_add(&nb_stopped_early, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&nb_stopped, 1, __ATOMIC_RELEASE);
	return 0;
}

static void
who_waits_in_receive_is_not_stopped_there(void **state)
{
	struct weir_em_queue_config config = {.name = "waits"};
	struct weir_em_notification done = {.event = weir_em_event_u64(1)};
	weir_em_object object;
	weir_em_queue queue;

	st_builtin_only(); /* devices may choose core 0 */
	make();
	nb_stopped_early = nb_stopped = in_receive = 0;
	et_sink_make(&told, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	done.queue = told.queue;
	config.group = weir_em_queue_group_create(et_em, "one", 2);
	queue = weir_em_queue_create(et_em, &config);
	object = weir_em_object_create(
		et_em, &(struct weir_em_object_config){
			       .receive = receive_and_wait, .core_stop = stop_after_receive});
	late = et_object("late", et_sink_receive, &sink);
	assert_int_equal(weir_em_object_add_queue(et_em, object, queue), 0);
	et_workers_begin(1);
	assert_int_equal(weir_em_object_start(et_em, et_core, object, NULL), 0);
	et_send(queue, 1);
	while (__atomic_load_n(&in_receive, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	assert_int_equal(weir_em_object_stop_async(et_em, et_core, object, NULL, &done), 0);
	usleep(20000); /* in which the other core looks for what it can do */
	assert_int_equal(__atomic_load_n(&nb_stopped, __ATOMIC_ACQUIRE), 0);
	while (__atomic_load_n(&told.nb, __ATOMIC_ACQUIRE) == 0)
		et_run();
	assert_int_equal(nb_stopped, 2);
	assert_int_equal(nb_stopped_early, 0);
}

/* A start function in a thread that is no core starts another object, when a core is about to leave. */
static int
start_late(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	__atomic_store_n(&in_receive, 1, __ATOMIC_RELEASE);
	usleep(50000); /* in which the core comes to the end of what it has to do */
	return weir_em_object_start(et_em, core, late, NULL);
}

static void *
leave_meanwhile(void *arg)
{
	bool registered = rte_thread_register() == 0; /* a device's scheduler may want it */
	struct weir_em_core *core = weir_em_core_attach(et_em, 1);

	CHECK(core != NULL);
	__atomic_store_n((uint32_t *)arg, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&in_receive, __ATOMIC_ACQUIRE) == 0)
		weir_em_dispatch(core, &(struct weir_em_dispatch_options){.nb_rounds = 1});
	CHECK(weir_em_core_detach(core) == 0);
	if (registered)
		rte_thread_unregister();
	return NULL;
}

static void
who_leaves_is_not_waited_for(void **state)
{
	struct weir_em_object_info info;
	weir_em_object object;
	pthread_t thread;
	uint32_t there = 0;

	make();
	in_receive = 0;
	assert_int_equal(weir_em_core_detach(et_core), 0);
	et_core = NULL;
	late = et_object("late", et_sink_receive, &sink);
	object = weir_em_object_create(et_em,
		&(struct weir_em_object_config){.receive = et_sink_receive, .start = start_late});
	assert_int_equal(pthread_create(&thread, NULL, leave_meanwhile, &there), 0);
	while (__atomic_load_n(&there, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	assert_int_equal(weir_em_object_start(et_em, NULL, object, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(weir_em_object_info(et_em, late, &info), 0);
	assert_int_equal(info.state, WEIR_EM_OBJECT_RUNNING);
}

static void
who_is_waited_for_is_told(void **state)
{
	uint32_t there = 0;
	uint64_t begun;
	pthread_t thread;

	make();
	st_log_clear();
	assert_int_equal(pthread_create(&thread, NULL, dawdle, &there), 0);
	while (__atomic_load_n(&there, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	begun = weir_base_time_ns();
	assert_int_equal(weir_em_object_start(et_em, et_core, sink.object, NULL), 0);
	assert_true(weir_base_time_ns() - begun >= 900000000);
	assert_non_null(strstr(st_log_last(), "object 'sink' waits for cores 0x2"));
	assert_int_equal(nb_core_start, 2);
	__atomic_store_n(&there, 2, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(who_waits_in_receive_is_not_stopped_there),
		ET_TEST(who_leaves_is_not_waited_for),
		ET_TEST(who_is_waited_for_is_told),
	};

	return ST_RUN("em-start_wait", tests);
}
