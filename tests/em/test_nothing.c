/* SPDX-License-Identifier: BSD-3-Clause */
/* Nothing where something is expected: no instance, core, events, buffers, structs; cores that were detached. Each call is refused. */
#include <limits.h>

#include "em_test.h"

#include "weir_em_event_group.h"
#include "weir_em_timer.h"

static struct et_sink sink;
static struct rte_event event;

static void
make(void)
{
	et_make((struct weir_em_config){.nb_queues = 64, .nb_reserved = 8, .nb_producers = 1});
	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	event = weir_em_event_u64(1);
}

/* Calls that return a handle, a pointer or a number of events. */
#define NONE(call)                                                                                 \
	do {                                                                                       \
		rte_errno = 0;                                                                     \
		assert_true((uintptr_t)(call) == 0);                                               \
		assert_int_equal(rte_errno, EINVAL);                                               \
	} while (0)
#define REFUSED(call) assert_int_equal(call, -EINVAL)

static void
no_instance(void **state)
{
	struct weir_em_stats stats;
	struct weir_em_queue_stats sums;
	uint64_t mask;

	make();
	assert_string_equal(weir_em_name(NULL), "");
	assert_null(weir_em_sched(NULL));
	NONE(weir_em_core_attach(NULL, 0));
	NONE(weir_em_producer_attach(NULL));
	REFUSED(weir_em_producer_tend(NULL));
	REFUSED(weir_em_producer_tend(et_core)); /* it dispatches */
	assert_int_equal(weir_em_core_mask(NULL), 0);
	NONE(weir_em_object_create(NULL, NULL));
	REFUSED(weir_em_object_delete(NULL, NULL, sink.object, 0));
	REFUSED(weir_em_object_start(NULL, NULL, sink.object, NULL));
	REFUSED(weir_em_object_stop(NULL, NULL, sink.object, NULL));
	REFUSED(weir_em_object_start_async(NULL, NULL, sink.object, NULL, NULL));
	REFUSED(weir_em_object_stop_async(NULL, NULL, sink.object, NULL, NULL));
	REFUSED(weir_em_object_info(NULL, sink.object, NULL));
	assert_int_equal(weir_em_object_find(NULL, "sink"), WEIR_EM_NONE);
	NONE(weir_em_queue_create(NULL, NULL));
	REFUSED(weir_em_queue_delete(NULL, sink.queue));
	REFUSED(weir_em_object_add_queue(NULL, sink.object, sink.queue));
	REFUSED(weir_em_object_remove_queue(NULL, NULL, sink.queue));
	REFUSED(weir_em_queue_enable(NULL, sink.queue));
	REFUSED(weir_em_queue_disable(NULL, NULL, sink.queue));
	REFUSED(weir_em_queue_set_context(NULL, sink.queue, NULL));
	REFUSED(weir_em_queue_info(NULL, sink.queue, NULL));
	assert_int_equal(weir_em_queue_find(NULL, "sink"), WEIR_EM_NONE);
	NONE(weir_em_queue_dequeue(NULL, sink.queue, &event, 1));
	assert_int_equal(weir_em_queue_group_default(NULL), WEIR_EM_NONE);
	NONE(weir_em_queue_group_create(NULL, "group", 1));
	REFUSED(weir_em_queue_group_delete(NULL, 1));
	REFUSED(weir_em_queue_group_modify(NULL, NULL, 1, 1));
	REFUSED(weir_em_queue_group_modify_async(NULL, NULL, 1, 1, NULL));
	REFUSED(weir_em_queue_group_mask(NULL, 1, &mask));
	assert_int_equal(weir_em_queue_group_find(NULL, "default"), WEIR_EM_NONE);
	weir_em_error_handler_set(NULL, NULL, NULL);
	REFUSED(weir_em_object_error_handler_set(NULL, sink.object, NULL, NULL));
	REFUSED(weir_em_dispatch_enter_add(NULL, NULL, NULL));
	REFUSED(weir_em_dispatch_exit_add(NULL, NULL, NULL));
	REFUSED(weir_em_dispatch_enter_remove(NULL, NULL, NULL));
	REFUSED(weir_em_dispatch_exit_remove(NULL, NULL, NULL));
	REFUSED(weir_em_quiesce(NULL, NULL));
	weir_em_stop(NULL);
	weir_em_resume(NULL);
	weir_em_stats(NULL, NULL);
	weir_em_stats(NULL, &stats);
	assert_int_equal(stats.nb_sent, 0);
	REFUSED(weir_em_core_stats(NULL, 0, &stats));
	REFUSED(weir_em_type_stats(NULL, WEIR_EM_QUEUE_ATOMIC, &sums));
	weir_em_dump(NULL, stderr, 1);
}

static void
no_instance_of_parts(void **state)
{
	struct weir_em_event_group_stats stats;

	make();
	NONE(weir_em_pool_create(NULL, NULL));
	NONE(weir_em_pool_adopt(NULL, NULL));
	NONE(weir_em_pool_adopt(et_em, NULL));
	REFUSED(weir_em_pool_delete(NULL, 1));
	REFUSED(weir_em_pool_info(NULL, 1, NULL));
	assert_int_equal(weir_em_pool_find(NULL, "pool"), WEIR_EM_NONE);
	weir_em_free(NULL, NULL, NULL);
	NONE(weir_em_event_group_create(NULL));
	REFUSED(weir_em_event_group_delete(NULL, 1));
	REFUSED(weir_em_event_group_apply(NULL, 1, 1, NULL, 0));
	REFUSED(weir_em_event_group_abort(NULL, 1, NULL, 0, NULL));
	REFUSED(weir_em_event_group_info(NULL, 1, NULL));
	assert_int_equal(weir_em_event_group_next(NULL, WEIR_EM_NONE), WEIR_EM_NONE);
	weir_em_event_group_stats(NULL, NULL);
	weir_em_event_group_stats(NULL, &stats);
	assert_int_equal(stats.nb_applied, 0);
	NONE(weir_em_timer_create(NULL, NULL));
	NONE(weir_em_timer_create(et_em, NULL));
	REFUSED(weir_em_timer_delete(NULL, 1, NULL, NULL));
	REFUSED(weir_em_timer_info(NULL, 1, NULL));
	REFUSED(weir_em_timer_stats(NULL, 1, NULL));
	assert_int_equal(weir_em_timer_next(NULL, WEIR_EM_NONE), WEIR_EM_NONE);
	NONE(weir_em_timeout_create(NULL, 1, sink.queue));
	REFUSED(weir_em_timeout_delete(NULL, 1));
	REFUSED(weir_em_timeout_arm_at(NULL, NULL, 1, 1, &event));
	REFUSED(weir_em_timeout_arm_in(NULL, NULL, 1, 1, &event));
	REFUSED(weir_em_timeout_arm_periodic(NULL, NULL, 1, 1, 1, &event));
	REFUSED(weir_em_timeout_ack(NULL, NULL, 1, &event, NULL));
	REFUSED(weir_em_timeout_cancel(NULL, 1, NULL));
	REFUSED(weir_em_timeout_info(NULL, 1, NULL));
}

static void
no_core(void **state)
{
	struct rte_mbuf *buffer;

	make();
	assert_int_equal(weir_em_core_id(NULL), UINT_MAX);
	assert_null(weir_em_core_em(NULL));
	NONE(weir_em_send(NULL, sink.queue, &event, 1));
	REFUSED(weir_em_forward(NULL, sink.queue, &event));
	NONE(weir_em_forward_burst(NULL, sink.queue, &event, 1));
	NONE(weir_em_dispatch(NULL, NULL));
	weir_em_atomic_end(NULL);
	weir_em_order_end(NULL);
	weir_em_core_stop(NULL);
	assert_int_equal(weir_em_current_queue(NULL), WEIR_EM_NONE);
	assert_int_equal(weir_em_current_object(NULL), WEIR_EM_NONE);
	REFUSED(weir_em_error_raise(NULL, 1, NULL));
	NONE(weir_em_alloc(NULL, 1, 1));
	REFUSED(weir_em_alloc_burst(NULL, 1, 1, &buffer, 1));
	REFUSED(weir_em_alloc_burst(et_core, 1, 1, NULL, 1));
	NONE(weir_em_event_group_send(NULL, sink.queue, &event, 1, 1));
	NONE(weir_em_event_group_forward(NULL, sink.queue, &event, 1, 1));
	assert_int_equal(weir_em_event_group_current(NULL), WEIR_EM_NONE);
	REFUSED(weir_em_event_group_assign(NULL, 1));
	REFUSED(weir_em_event_group_increment(NULL, 1));
	weir_em_event_group_processing_end(NULL);
	et_run();
	assert_int_equal(sink.nb, 0);
}

/* No events; events that say that they have a buffer, and have none, are delivered as any. */
static void
no_events(void **state)
{
	weir_em_event_group group;
	struct rte_event empty;

	make();
	NONE(weir_em_send(et_core, sink.queue, NULL, 1));
	REFUSED(weir_em_forward(et_core, sink.queue, NULL));
	assert_int_equal(et_stats().nb_errors, 2);
	group = weir_em_event_group_create(et_em);
	assert_int_equal(weir_em_event_group_apply(et_em, group, 1, NULL, 0), 0);
	NONE(weir_em_event_group_send(et_core, sink.queue, NULL, 1, group));
	assert_int_equal(weir_em_event_from_mbuf(et_em, NULL).event_type, WEIR_EM_EVENT_BUFFER);
	weir_em_event_to_mbuf(et_em, NULL);
	empty = weir_em_event_buffer(NULL);
	/* which cannot be in a group */
	NONE(weir_em_event_group_send(et_core, sink.queue, &empty, 1, group));
	assert_int_equal(weir_em_send(et_core, sink.queue, &empty, 1), 1);
	et_run();
	assert_int_equal(sink.nb, 1);
	et_check_sums();
}

/* Who is no core any more can do nothing as one. */
static void
cores_that_were(void **state)
{
	const struct weir_em_dispatch_options once = {.nb_rounds = 1};
	struct weir_em_core *producer;
	uint64_t nb_errors;

	make();
	producer = weir_em_producer_attach(et_em);
	assert_non_null(producer);
	assert_int_equal(weir_em_send(producer, sink.queue, &event, 1), 1);
	assert_int_equal(weir_em_core_detach(producer), 0);
	nb_errors = et_stats().nb_errors;
	NONE(weir_em_send(producer, sink.queue, &event, 1));
	REFUSED(weir_em_forward(producer, sink.queue, &event));
	REFUSED(weir_em_producer_tend(producer));
	REFUSED(weir_em_core_detach(producer));
	assert_int_equal(et_stats().nb_errors, nb_errors + 2);
	et_run();
	assert_int_equal(sink.nb, 1);
	assert_int_equal(weir_em_core_detach(et_core), 0);
	nb_errors = et_stats().nb_errors;
	NONE(weir_em_send(et_core, sink.queue, &event, 1));
	NONE(weir_em_dispatch(et_core, &once));
	assert_int_equal(et_stats().nb_errors, nb_errors + 2);
	/* and again one */
	assert_ptr_equal(weir_em_core_attach(et_em, 0), et_core);
	assert_int_equal(weir_em_send(et_core, sink.queue, &event, 1), 1);
	et_run();
	assert_int_equal(sink.nb, 2);
	et_check_sums();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(no_instance),
		ET_TEST(no_instance_of_parts),
		ET_TEST(no_core),
		ET_TEST(no_events),
		ET_TEST(cores_that_were),
	};

	return ST_RUN("em-nothing", tests);
}
