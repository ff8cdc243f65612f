/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers. Events that are not delivered: each is counted by its reason, told with its code, and its buffer is freed. */
#include "em_test.h"

static struct et_sink sink;
static weir_em_pool pool;

/* By reason. */
static unsigned int nb_told[WEIR_EM_DROPS];
static int codes[WEIR_EM_DROPS];
static weir_em_queue told_queue;

static int
note(struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error, void *arg)
{
	assert_int_equal(error->kind, WEIR_EM_ERROR_DROP);
	assert_non_null(error->event);
	nb_told[error->drop]++;
	codes[error->drop] = error->code;
	told_queue = error->queue;
	return error->code;
}

static void
make(void)
{
	et_make((struct weir_em_config){.nb_queues = 64, .nb_reserved = 8});
	pool = weir_em_pool_create(et_em, &(struct weir_em_pool_config){.name = "drop", .nb = 63});
	assert_int_not_equal(pool, WEIR_EM_NONE);
	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	memset(nb_told, 0, sizeof(nb_told));
	memset(codes, 0, sizeof(codes));
	weir_em_error_handler_set(et_em, note, NULL);
}

static void
send_buffer(weir_em_queue queue)
{
	struct rte_event event = weir_em_event_buffer(weir_em_alloc(et_core, pool, 1));

	assert_non_null(event.mbuf);
	assert_int_equal(weir_em_send(et_core, queue, &event, 1), 1);
}

/* So many were told with this reason, and nothing else; nothing leaks. */
static void
dropped(enum weir_em_drop reason, unsigned int nb, int code, weir_em_queue queue)
{
	struct weir_em_pool_info info;

	et_run();
	for (int i = 0; i < WEIR_EM_DROPS; i++)
		assert_int_equal(nb_told[i], i == (int)reason ? nb : 0);
	assert_int_equal(et_stats().nb_dropped[reason], nb);
	assert_int_equal(codes[reason], code);
	assert_int_equal(told_queue, queue);
	assert_int_equal(weir_em_pool_info(et_em, pool, &info), 0);
	assert_int_equal(info.nb_free, info.nb);
}

static void
deleted(void **state)
{
	make();
	send_buffer(sink.queue);
	assert_int_equal(weir_em_object_remove_queue(et_em, et_core, sink.queue), 0);
	assert_int_equal(weir_em_queue_delete(et_em, sink.queue), 0);
	dropped(WEIR_EM_DROP_DELETED, 1, -ESTALE, sink.queue);
	et_check_sums();
}

static void
disabled(void **state)
{
	make();
	assert_int_equal(weir_em_queue_disable(et_em, et_core, sink.queue), 0);
	send_buffer(sink.queue);
	dropped(WEIR_EM_DROP_DISABLED, 1, -EPERM, sink.queue);
	/* likewise if it is the object that does not run */
	assert_int_equal(weir_em_queue_enable(et_em, sink.queue), 0);
	assert_int_equal(weir_em_object_stop(et_em, et_core, sink.object, NULL), 0);
	send_buffer(sink.queue);
	dropped(WEIR_EM_DROP_DISABLED, 2, -EPERM, sink.queue);
	et_check_sums();
}

static void
detached(void **state)
{
	make();
	assert_int_equal(weir_em_object_remove_queue(et_em, et_core, sink.queue), 0);
	send_buffer(sink.queue);
	dropped(WEIR_EM_DROP_DETACHED, 1, -ENOENT, sink.queue);
	et_check_sums();
}

/* Put into the scheduler by somebody else. */
static void
unknown(void **state)
{
	struct rte_event event = {.flow_id = 12345, .event_type = RTE_EVENT_TYPE_CPU};

	make();
	assert_int_equal(weir_sched_reserve(weir_em_sched(et_em), 2), 2);
	assert_int_equal(weir_sched_enqueue_reserved(weir_em_sched(et_em), &event), 0);
	event.flow_id = 33; /* a queue that never was there */
	assert_int_equal(weir_sched_enqueue_reserved(weir_em_sched(et_em), &event), 0);
	dropped(WEIR_EM_DROP_UNKNOWN, 2, -EINVAL, WEIR_EM_NONE);
}

static weir_em_queue full;

static uint16_t
take_none(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue)
{
	return 0;
}

static void
forward(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	assert_int_equal(weir_em_forward(core, full, &events[0]), 0);
}

/* What came in order, cannot be given back to who sent it. */
static void
output(void **state)
{
	weir_em_queue queue;

	make();
	full = weir_em_queue_create(et_em,
		&(struct weir_em_queue_config){.type = WEIR_EM_QUEUE_OUTPUT, .output = take_none});
	queue = et_serve("ordered", WEIR_EM_QUEUE_ORDERED, forward, NULL);
	send_buffer(queue);
	dropped(WEIR_EM_DROP_OUTPUT, 1, -ENOSPC, full);
	et_check_sums();
}

/* Without a handler, the log tells the reason. */
static void
logged(void **state)
{
	make();
	weir_em_error_handler_set(et_em, NULL, NULL);
	assert_int_equal(weir_em_queue_disable(et_em, et_core, sink.queue), 0);
	st_log_clear();
	send_buffer(sink.queue);
	send_buffer(sink.queue);
	et_run();
	assert_int_equal(st_log_count(), 1); /* at most once a second */
	assert_non_null(strstr(st_log_last(), "dropped: disabled in weir_em_dispatch"));
	assert_non_null(strstr(st_log_last(), "object 'sink', queue 'sink'"));
}

/* ---- handlers ---- */

static int escalated[8], answers[2];
static unsigned int nb_codes;
static struct weir_em_error last;
static char last_object[32];

static int
handle(struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error, void *arg)
{
	assert_ptr_equal(em, et_em);
	escalated[nb_codes++] = error->code;
	last = *error;
	snprintf(last_object, sizeof(last_object), "%s", error->object_name);
	return *(int *)arg;
}

static int raised;

static void
raise_error(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	raised = weir_em_error_raise(core, -1234, "raise_error");
}

static void
errors_escalate(void **state)
{
	weir_em_queue queue;
	weir_em_object object;

	et_make_small();
	queue = et_serve("raiser", WEIR_EM_QUEUE_ATOMIC, raise_error, NULL);
	object = weir_em_object_find(et_em, "raiser");
	/* nobody */
	et_send(queue, 0);
	et_run();
	assert_int_equal(raised, -1234);
	/* the instance's */
	answers[1] = -5;
	nb_codes = 0;
	weir_em_error_handler_set(et_em, handle, &answers[1]);
	et_send(queue, 0);
	et_run();
	assert_int_equal(raised, -5);
	assert_int_equal(nb_codes, 1);
	assert_int_equal(last.kind, WEIR_EM_ERROR_APPLICATION);
	assert_int_equal(last.object, object);
	assert_int_equal(last.queue, queue);
	assert_string_equal(last_object, "raiser");
	/* the object's, then the instance's */
	answers[0] = -7;
	nb_codes = 0;
	assert_int_equal(weir_em_object_error_handler_set(et_em, object, handle, &answers[0]), 0);
	et_send(queue, 0);
	et_run();
	assert_int_equal(raised, -5);
	assert_int_equal(nb_codes, 2);
	assert_int_equal(escalated[0], -1234);
	assert_int_equal(escalated[1], -7);
	/* the object's says that nothing is wrong */
	answers[0] = 0;
	nb_codes = 0;
	et_send(queue, 0);
	et_run();
	assert_int_equal(raised, 0);
	assert_int_equal(nb_codes, 1);
	assert_int_equal(weir_em_error_raise(NULL, -1, NULL), -EINVAL);
	assert_int_equal(et_stats().nb_errors, 4);
}

/* A handler may take over the payload of what is dropped. */
static void *taken;

static int
take_over(
	struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error, void *arg)
{
	taken = error->event->mbuf;
	return WEIR_EM_TAKEN;
}

static void
handlers_take_over(void **state)
{
	struct rte_event event;
	weir_em_queue queue;

	et_make_small();
	pool = weir_em_pool_create(et_em, &(struct weir_em_pool_config){.name = "taken", .nb = 31});
	weir_em_error_handler_set(et_em, take_over, NULL);
	queue = et_queue("nobody's", WEIR_EM_QUEUE_ATOMIC, 0);
	event = weir_em_event_buffer(weir_em_alloc(et_core, pool, 1));
	assert_int_equal(weir_em_send(et_core, queue, &event, 1), 1);
	et_run();
	assert_ptr_equal(taken, event.mbuf);
	assert_int_equal(weir_em_pool_delete(et_em, pool), -EBUSY);
	weir_em_free(et_em, et_core, taken);
	assert_int_equal(weir_em_pool_delete(et_em, pool), 0);
}

/* A handler that makes errors itself: of these none is told, but they count, and are logged. */
static weir_em_queue gone_queue;
static unsigned int nb_nested;

static int
err_again(
	struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error, void *arg)
{
	struct rte_event event = weir_em_event_u64(1);

	if (++nb_nested > 10)
		return 0; /* it would not end */
	assert_int_equal(weir_em_error_raise(core, -55, "handler"), core != NULL ? -55 : -EINVAL);
	if (core != NULL)
		assert_int_equal(weir_em_send(core, gone_queue, &event, 1), 0);
	assert_int_equal(
		weir_em_dispatch(et_core, &(struct weir_em_dispatch_options){.burst = 1000}), 0);
	return *(int *)arg;
}

static void
handlers_err(void **state)
{
	struct rte_event event = weir_em_event_u64(1);
	weir_em_queue queue, ring;

	et_make_small();
	queue = et_serve("raiser", WEIR_EM_QUEUE_ATOMIC, raise_error, NULL);
	ring = et_queue("ring", WEIR_EM_QUEUE_UNSCHEDULED, 0);
	gone_queue = et_queue("gone", WEIR_EM_QUEUE_ATOMIC, 0);
	assert_int_equal(weir_em_queue_delete(et_em, gone_queue), 0);
	answers[0] = -7;
	answers[1] = -5;
	nb_nested = 0;
	st_log_clear();
	weir_em_error_handler_set(et_em, err_again, &answers[1]);
	assert_int_equal(weir_em_object_error_handler_set(et_em,
				 weir_em_object_find(et_em, "raiser"), err_again, &answers[0]),
		0);
	et_send(queue, 0);
	et_run();
	assert_int_equal(raised, -5);
	assert_int_equal(nb_nested, 2);
	assert_int_equal(et_stats().nb_errors, 1 + 2 * 3);
	assert_true(st_log_count() >= 1);
	/* without a core */
	assert_int_equal(weir_em_send(et_core, ring, &event, 1), 1);
	nb_nested = 0;
	assert_int_equal(weir_em_queue_delete(et_em, ring), 0);
	assert_int_equal(nb_nested, 1);
	/* the next one is told again */
	et_send(queue, 0);
	et_run();
	assert_int_equal(nb_nested, 3);
}

/* What a handler leaves in rte_errno is not what the caller reads. */
static int
spoil(struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error, void *arg)
{
	rte_errno = ENOSPC;
	return error->code;
}

static void
rte_errno_after_handlers(void **state)
{
	et_make_small();
	weir_em_error_handler_set(et_em, spoil, NULL);
	assert_int_equal(
		weir_em_dispatch(et_core, &(struct weir_em_dispatch_options){.burst = 1000}), 0);
	assert_int_equal(rte_errno, EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(deleted),
		ET_TEST(disabled),
		ET_TEST(detached),
		ET_TEST(unknown),
		ET_TEST(output),
		ET_TEST(logged),
		ET_TEST(errors_escalate),
		ET_TEST(handlers_take_over),
		ET_TEST(handlers_err),
		ET_TEST(rte_errno_after_handlers),
	};

	return ST_RUN("em-error", tests);
}
