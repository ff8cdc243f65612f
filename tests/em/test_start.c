/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects are started and stopped: on the core that asks and on all others, waiting or being told. */
#include <unistd.h>

#include "em_test.h"

#define WORKERS 3

static struct et_sink sink, told;

/* How often each function ran on each core; by which argument. */
static uint64_t nb_start, nb_stop, nb_core_start, nb_core_stop;
static uint32_t on_core[WORKERS + 1];
static void *last_arg;
static int fail_start, fail_core_start, fail_stop;
static weir_em_queue send_to;

static bool dispatches;

/* Nobody does in a start or stop function. */
static void
try_dispatch(struct weir_em_core *core)
{
	if (!dispatches)
		return;
	CHECK(weir_em_dispatch(core, &(struct weir_em_dispatch_options){.nb_rounds = 1}) == 0);
	CHECK(rte_errno == EINVAL);
}

static int
start(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	struct rte_event event = weir_em_event_u64(1);

	CHECK(nb_core_start == 0 && context == &sink);
	try_dispatch(core);
	last_arg = arg;
	nb_start++;
	if (send_to != WEIR_EM_NONE)
		CHECK(weir_em_send(core, send_to, &event, 1) == 1);
	return fail_start;
}

static int
core_start(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	struct rte_event event = weir_em_event_u64(2);

	CHECK(nb_start == 1 && weir_em_current_object(core) == object);
	__atomic_fetch_add(&on_core[weir_em_core_id(core)], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&nb_core_start, 1, __ATOMIC_RELAXED);
	if (send_to != WEIR_EM_NONE)
		CHECK(weir_em_send(core, send_to, &event, 1) == 1);
	return weir_em_core_id(core) == 0 ? fail_core_start : 0;
}

static int
core_stop(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	CHECK(nb_stop == 0);
	__atomic_fetch_sub(&on_core[weir_em_core_id(core)], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&nb_core_stop, 1, __ATOMIC_RELAXED);
	return 0;
}

static int
stop(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	CHECK(core != NULL);
	try_dispatch(core);
	last_arg = arg;
	nb_stop++;
	return fail_stop;
}

static void
make(struct weir_em_config config)
{
	nb_start = nb_stop = nb_core_start = nb_core_stop = 0;
	memset(on_core, 0, sizeof(on_core));
	fail_start = fail_core_start = fail_stop = 0;
	dispatches = false;
	send_to = WEIR_EM_NONE;
	memset(&sink, 0, sizeof(sink));
	et_make(config);
	sink.queue = et_queue("sink", WEIR_EM_QUEUE_ATOMIC, 0);
	sink.object = weir_em_object_create(et_em, &(struct weir_em_object_config){.name = "sink",
							   .receive = et_sink_receive,
							   .context = &sink,
							   .start = start,
							   .core_start = core_start,
							   .core_stop = core_stop,
							   .stop = stop});
	assert_int_not_equal(sink.object, WEIR_EM_NONE);
	assert_int_equal(weir_em_object_add_queue(et_em, sink.object, sink.queue), 0);
}

static enum weir_em_object_state
state_of(weir_em_object object)
{
	struct weir_em_object_info info;

	assert_int_equal(weir_em_object_info(et_em, object, &info), 0);
	return info.state;
}

/* As the caller is a core, or not. */
static void
starts_and_stops(bool is_core)
{
	make((struct weir_em_config){.nb_cores = WORKERS + 1});
	et_workers_begin(WORKERS);
	if (!is_core) {
		assert_int_equal(weir_em_core_detach(et_core), 0);
		et_core = NULL;
	}
	for (int i = 0; i < 20; i++) {
		dispatches = i == 10;
		nb_start = nb_stop = nb_core_start = nb_core_stop = 0;
		assert_int_equal(weir_em_object_stop(et_em, et_core, sink.object, NULL), -EBUSY);
		assert_int_equal(weir_em_object_start(et_em, et_core, sink.object, &sink), 0);
		assert_ptr_equal(last_arg, &sink);
		assert_int_equal(weir_em_object_start(et_em, et_core, sink.object, NULL), -EBUSY);
		assert_int_equal(state_of(sink.object), WEIR_EM_OBJECT_RUNNING);
		assert_int_equal(nb_core_start, WORKERS + is_core);
		for (int core = !is_core; core <= WORKERS; core++)
			assert_int_equal(on_core[core], 1);
		assert_int_equal(weir_em_object_delete(et_em, et_core, sink.object, 0), -EBUSY);
		assert_int_equal(weir_em_object_stop(et_em, et_core, sink.object, &told), 0);
		assert_ptr_equal(last_arg, &told);
		assert_int_equal(state_of(sink.object), WEIR_EM_OBJECT_CREATED);
		assert_int_equal(nb_core_stop, WORKERS + is_core);
		assert_int_equal(nb_stop, 1);
		for (int core = 0; core <= WORKERS; core++)
			assert_int_equal(on_core[core], 0);
	}
}

static void
a_core_starts_and_stops(void **state)
{
	starts_and_stops(true);
}

static void
another_thread_starts_and_stops(void **state)
{
	starts_and_stops(false);
}

static void
events_of_start_functions_wait(void **state)
{
	make((struct weir_em_config){.nb_cores = WORKERS + 1});
	et_workers_begin(WORKERS);
	send_to = sink.queue;
	assert_int_equal(weir_em_object_start(et_em, et_core, sink.object, NULL), 0);
	while (et_stats().nb_received < WORKERS + 2) {
		et_run();
		usleep(1000);
	}
	et_workers_end();
	et_run();
	assert_int_equal(sink.nb, WORKERS + 2);
	assert_int_equal(sink.values[0], 1);
	for (int i = 1; i < WORKERS + 2; i++)
		assert_int_equal(sink.values[i], 2);
	et_check_sums();
}

/* More than there is room for: none is lost. */
static int
start_many(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	for (uint64_t i = 0; i < 1000; i++) {
		struct rte_event event = weir_em_event_u64(i);

		CHECK(weir_em_send(core, sink.queue, &event, 1) == 1);
	}
	return 0;
}

static void
more_events_than_room(void **state)
{
	weir_em_object other;

	make((struct weir_em_config){.nb_events = 64});
	other = weir_em_object_create(et_em,
		&(struct weir_em_object_config){.receive = et_sink_receive, .start = start_many});
	assert_int_equal(weir_em_object_start(et_em, et_core, sink.object, NULL), 0);
	assert_int_equal(weir_em_object_start(et_em, et_core, other, NULL), 0);
	et_run();
	assert_int_equal(sink.nb, 1000);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(sink.values[i], i);
	et_check_sums();
}

/* Of an object that comes after the sink on each core. */
static int fail_next;

static int
start_next(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	CHECK(fail_next == 0 || weir_em_core_mask(et_em) == 0);
	return fail_next;
}

static int
stop_next(struct weir_em_core *core, void *context, weir_em_object object, void *arg)
{
	CHECK(fail_next == 0); /* who did not start does not stop */
	return 0;
}

/* A core on which an object cannot be started is none: nothing comes to it, and it can be attached anew. */
static void
core_start_fails_later(void **state)
{
	struct rte_event event = weir_em_event_u64(7);
	struct weir_em_core *producer;
	weir_em_object next;

	make((struct weir_em_config){.nb_cores = 1, .nb_producers = 1});
	next = weir_em_object_create(
		et_em, &(struct weir_em_object_config){.receive = et_sink_receive,
			       .core_start = start_next,
			       .core_stop = stop_next});
	assert_int_equal(weir_em_object_start(et_em, et_core, sink.object, NULL), 0);
	assert_int_equal(weir_em_object_start(et_em, et_core, next, NULL), 0);
	assert_int_equal(weir_em_core_detach(et_core), 0);
	producer = weir_em_producer_attach(et_em);
	assert_int_equal(weir_em_send(producer, sink.queue, &event, 1), 1);
	for (int i = 0; i < 3; i++) {
		nb_core_start = nb_core_stop = 0;
		fail_next = -EIO;
		rte_errno = 0;
		assert_null(weir_em_core_attach(et_em, 0));
		assert_int_equal(rte_errno, EIO);
		assert_int_equal(weir_em_core_mask(et_em), 0);
		assert_int_equal(nb_core_start, 1);
		assert_int_equal(nb_core_stop, 1);
		assert_int_equal(sink.nb, 0);
	}
	fail_next = 0;
	et_core = weir_em_core_attach(et_em, 0);
	assert_non_null(et_core);
	et_run();
	assert_int_equal(sink.nb, 1);
	assert_int_equal(weir_em_object_stop(et_em, et_core, sink.object, NULL), 0);
	assert_int_equal(weir_em_object_stop(et_em, et_core, next, NULL), 0);
	et_check_sums();
	assert_int_equal(weir_em_core_detach(producer), 0);
}

static void
start_functions_fail(void **state)
{
	make((struct weir_em_config){.nb_cores = WORKERS + 1});
	et_workers_begin(WORKERS);
	send_to = sink.queue;
	fail_start = -ENOENT;
	assert_int_equal(weir_em_object_start(et_em, et_core, sink.object, NULL), -ENOENT);
	assert_int_equal(nb_core_start, 0);
	assert_int_equal(state_of(sink.object), WEIR_EM_OBJECT_CREATED);
	nb_start = fail_start = 0;
	fail_core_start = -EIO;
	assert_int_equal(weir_em_object_start(et_em, et_core, sink.object, NULL), -EIO);
	assert_int_equal(state_of(sink.object), WEIR_EM_OBJECT_CREATED);
	assert_int_equal(nb_core_start, WORKERS + 1);
	assert_int_equal(nb_core_stop + nb_stop, 0);
	et_run();
	assert_int_equal(sink.nb, 0);
	assert_int_equal(et_stats().nb_dropped[WEIR_EM_DROP_DISABLED], WORKERS + 3);
	/* it is as new */
	nb_start = nb_core_start = 0;
	fail_core_start = 0;
	assert_int_equal(weir_em_object_start(et_em, et_core, sink.object, NULL), 0);
	assert_int_equal(nb_core_start, WORKERS + 1);
	fail_stop = -EPERM;
	assert_int_equal(weir_em_object_stop(et_em, et_core, sink.object, NULL), -EPERM);
	assert_int_equal(state_of(sink.object), WEIR_EM_OBJECT_CREATED);
	/* nor is anything sent to others that run */
	et_sink_make(&told, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	send_to = told.queue;
	nb_start = nb_core_start = 0;
	fail_core_start = -EIO;
	assert_int_equal(weir_em_object_start(et_em, et_core, sink.object, NULL), -EIO);
	et_run();
	assert_int_equal(told.nb, 0);
	fail_core_start = 0;
}

static void
told_when_it_is_done(void **state)
{
	struct weir_em_notification done = {.event = weir_em_event_u64(77)};

	make((struct weir_em_config){.nb_cores = WORKERS + 1, .nb_events = 64});
	et_sink_make(&told, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	et_workers_begin(WORKERS);
	assert_int_equal(
		weir_em_object_start_async(et_em, et_core, sink.object, NULL, &done), -EINVAL);
	assert_int_equal(
		weir_em_object_start_async(et_em, et_core, sink.object, NULL, NULL), -EINVAL);
	done.queue = told.queue;
	assert_int_equal(weir_em_object_start_async(et_em, et_core, sink.object, NULL, &done), 0);
	/* this core has not come to it yet */
	assert_int_equal(state_of(sink.object), WEIR_EM_OBJECT_STARTING);
	assert_int_equal(
		weir_em_object_stop_async(et_em, et_core, sink.object, NULL, &done), -EBUSY);
	for (int i = 0; i < 1000 && et_stats().nb_received < 1; i++)
		et_run();
	assert_int_equal(state_of(sink.object), WEIR_EM_OBJECT_RUNNING);
	assert_int_equal(nb_core_start, WORKERS + 1);
	done.event.u64 = 78;
	assert_int_equal(weir_em_object_stop_async(et_em, et_core, sink.object, NULL, &done), 0);
	for (int i = 0; i < 1000 && et_stats().nb_received < 2; i++)
		et_run();
	assert_int_equal(state_of(sink.object), WEIR_EM_OBJECT_CREATED);
	done.event.u64 = 79;
	assert_int_equal(weir_em_queue_group_modify_async(
				 et_em, et_core, weir_em_queue_group_default(et_em), 15, &done),
		0);
	for (int i = 0; i < 1000 && et_stats().nb_received < 3; i++)
		et_run();
	et_workers_end();
	et_run();
	assert_int_equal(told.nb, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(told.values[i], 77 + i);
	et_check_sums();
}

/* What cannot be told waits for room, and holds up only what is for the same queue. */
static void
a_full_ring_holds_up_nobody(void **state)
{
	struct weir_em_queue_config config = {.type = WEIR_EM_QUEUE_UNSCHEDULED, .size = 2};
	struct weir_em_notification done = {.event = weir_em_event_u64(1)};
	struct rte_event event = weir_em_event_u64(0);
	weir_em_object objects[3];
	weir_em_queue ring;

	make((struct weir_em_config){0});
	et_sink_make(&told, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	ring = weir_em_queue_create(et_em, &config);
	while (weir_em_send(et_core, ring, &event, 1) == 1)
		;
	for (int i = 0; i < 3; i++) {
		objects[i] = et_object("o", et_sink_receive, &sink);
		done.queue = i < 2 ? ring : told.queue;
		done.event.u64 = (uint64_t)i + 1;
		assert_int_equal(
			weir_em_object_start_async(et_em, et_core, objects[i], NULL, &done), 0);
		et_run();
	}
	assert_int_equal(told.nb, 1);
	assert_int_equal(told.values[0], 3);
	/* when there is room they come, in their order */
	for (uint64_t i = 0; i < 4; i++) {
		assert_int_equal(weir_em_queue_dequeue(et_em, ring, &event, 1), 1);
		assert_int_equal(event.u64, i < 2 ? 0 : i - 1);
		et_run();
	}
	assert_int_equal(weir_em_queue_dequeue(et_em, ring, &event, 1), 0);
	assert_int_equal(told.nb, 1);
	et_check_sums();
}

static void
nobody_is_there(void **state)
{
	/* devices want all their cores to be there */
	make((struct weir_em_config){.nb_cores = st_is_builtin() ? WORKERS + 1 : 1});
	assert_int_equal(weir_em_core_detach(et_core), 0);
	et_core = NULL;
	send_to = sink.queue;
	assert_int_equal(weir_em_object_start(et_em, NULL, sink.object, NULL), 0);
	assert_int_equal(nb_core_start, 0);
	et_core = weir_em_core_attach(et_em, 0);
	assert_non_null(et_core);
	assert_int_equal(on_core[0], 1);
	et_run();
	assert_int_equal(sink.nb, 2); /* of the start function, and of the core's */
	assert_int_equal(weir_em_core_detach(et_core), 0);
	assert_int_equal(on_core[0], 0);
	et_core = NULL;
	assert_int_equal(weir_em_object_stop(et_em, NULL, sink.object, NULL), 0);
	assert_int_equal(nb_stop, 1);
}

static void
cores_come_and_go(void **state)
{
	make((struct weir_em_config){.nb_cores = WORKERS + 1});
	assert_int_equal(weir_em_object_start(et_em, et_core, sink.object, NULL), 0);
	for (int i = 0; i < 10; i++) {
		et_workers_begin(WORKERS);
		for (int core = 0; core <= WORKERS; core++)
			assert_int_equal(on_core[core], 1);
		assert_int_equal(weir_em_core_mask(et_em), 15);
		et_workers_end();
		for (int core = 1; core <= WORKERS; core++)
			assert_int_equal(on_core[core], 0);
		assert_int_equal(weir_em_core_mask(et_em), 1);
	}
	assert_int_equal(weir_em_object_stop(et_em, et_core, sink.object, NULL), 0);
}

/* A receive function stops and starts another object, and waits; all cores do. */
static struct et_sink others[4];
static uint64_t nb_restarted;

static void
restart(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	weir_em_object object = others[events[0].u64 % 4].object;
	int rc = weir_em_object_stop(et_em, core, object, NULL);

	CHECK(rc == 0 || rc == -EBUSY);
	if (rc == 0)
		CHECK(weir_em_object_start(et_em, core, object, NULL) == 0);
	CHECK(weir_em_forward(core, send_to, &events[0]) == 0);
	__atomic_fetch_add(&nb_restarted, 1, __ATOMIC_RELEASE);
}

static void
receive_functions_wait(void **state)
{
	weir_em_queue queue;

	make((struct weir_em_config){.nb_cores = WORKERS + 1});
	for (int i = 0; i < 4; i++)
		et_sink_make(&others[i], WEIR_EM_QUEUE_ATOMIC, 0, 1);
	et_sink_make(&told, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	queue = et_serve("restart", WEIR_EM_QUEUE_PARALLEL, restart, NULL);
	et_workers_begin(WORKERS);
	nb_restarted = 0;
	send_to = told.queue;
	for (uint64_t i = 0; i < 400; i++)
		et_send(queue, i);
	et_wait(&nb_restarted, 400, "restarted");
	for (int i = 0; i < 1000 && et_stats().nb_received < 800; i++)
		et_run();
	et_workers_end();
	et_run();
	assert_int_equal(told.nb, 400);
	et_check_sums();
}

/* An object stops itself. */
static int stopped_itself;

static void
stop_itself(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	stopped_itself = weir_em_object_stop(et_em, core, weir_em_current_object(core), NULL);
}

static void
an_object_stops_itself(void **state)
{
	weir_em_queue queue;

	make((struct weir_em_config){.nb_cores = 1});
	queue = et_serve("self", WEIR_EM_QUEUE_ATOMIC, stop_itself, NULL);
	stopped_itself = -1;
	et_send(queue, 0);
	et_run();
	assert_int_equal(stopped_itself, 0);
	et_check_sums();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(a_core_starts_and_stops),
		ET_TEST(another_thread_starts_and_stops),
		ET_TEST(events_of_start_functions_wait),
		ET_TEST(more_events_than_room),
		ET_TEST(start_functions_fail),
		ET_TEST(core_start_fails_later),
		ET_TEST(told_when_it_is_done),
		ET_TEST(a_full_ring_holds_up_nobody),
		ET_TEST(nobody_is_there),
		ET_TEST(cores_come_and_go),
		ET_TEST(receive_functions_wait),
		ET_TEST(an_object_stops_itself),
	};

	return ST_RUN("em-start", tests);
}
