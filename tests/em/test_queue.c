/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues of all kinds, by one thread: what is sent is received, forwarded, refused. */
#include "em_test.h"

static struct et_sink sink, other;

static void
receives(enum weir_em_queue_type type, uint16_t burst)
{
	et_make_small();
	et_sink_make(&sink, type, 0, burst);
	for (uint64_t i = 0; i < 100; i++)
		et_send(sink.queue, i);
	et_run();
	assert_int_equal(sink.nb, 100);
	for (uint64_t i = 0; i < 100; i++) {
		assert_int_equal(sink.queues[i], sink.queue);
		if (type != WEIR_EM_QUEUE_PARALLEL)
			assert_int_equal(sink.values[i], i);
	}
	for (unsigned int i = 0; i < sink.nb_calls; i++)
		assert_in_range(sink.sizes[i], 1, burst);
	if (burst == 1)
		assert_int_equal(sink.nb_calls, 100);
	else
		assert_in_range(sink.nb_calls, 1, 99);
	et_check_sums();
}

static void
atomic_receives(void **state)
{
	receives(WEIR_EM_QUEUE_ATOMIC, 1);
}

static void
atomic_receives_batches(void **state)
{
	receives(WEIR_EM_QUEUE_ATOMIC, 8);
}

static void
ordered_receives_batches(void **state)
{
	receives(WEIR_EM_QUEUE_ORDERED, 8);
}

static void
parallel_receives_batches(void **state)
{
	receives(WEIR_EM_QUEUE_PARALLEL, 8);
}

static void
local_receives(void **state)
{
	receives(WEIR_EM_QUEUE_LOCAL, 1);
}

static void
local_receives_batches(void **state)
{
	receives(WEIR_EM_QUEUE_LOCAL, 8);
}

static void
unscheduled_is_a_ring(void **state)
{
	struct rte_event events[16];
	weir_em_queue queue;

	et_make_small();
	queue = weir_em_queue_create(et_em,
		&(struct weir_em_queue_config){.type = WEIR_EM_QUEUE_UNSCHEDULED, .size = 10});
	assert_int_not_equal(queue, WEIR_EM_NONE);
	for (unsigned int i = 0; i < 16; i++)
		events[i] = weir_em_event_u64(i);
	assert_int_equal(weir_em_send(et_core, queue, events, 16), 10);
	assert_int_equal(rte_errno, ENOSPC);
	et_run();
	assert_int_equal(weir_em_queue_dequeue(et_em, queue, events, 4), 4);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(events[i].u64, i);
	assert_int_equal(weir_em_queue_dequeue(et_em, queue, events, 16), 6);
	assert_int_equal(events[5].u64, 9);
	assert_int_equal(weir_em_queue_dequeue(et_em, queue, events, 16), 0);
	assert_int_equal(et_stats().nb_refused, 6);
	et_check_sums();
}

static uint16_t
take(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue)
{
	uint16_t *most = context;

	nb = RTE_MIN(nb, *most);
	for (uint16_t i = 0; i < nb; i++)
		other.values[other.nb++] = events[i].u64;
	return nb;
}

static void
output_calls_a_function(void **state)
{
	struct rte_event events[4] = {weir_em_event_u64(5), weir_em_event_u64(6),
		weir_em_event_u64(7), weir_em_event_u64(8)};
	uint16_t most = 3;
	weir_em_queue queue;

	et_make_small();
	other.nb = 0;
	queue = weir_em_queue_create(
		et_em, &(struct weir_em_queue_config){
			       .type = WEIR_EM_QUEUE_OUTPUT, .output = take, .context = &most});
	assert_int_not_equal(queue, WEIR_EM_NONE);
	assert_int_equal(weir_em_send(et_core, queue, events, 4), 3);
	assert_int_equal(rte_errno, ENOSPC);
	assert_int_equal(other.nb, 3);
	assert_int_equal(other.values[2], 7);
	et_check_sums();
}

/* Forward what comes to the queue that is the queue's context; each twice, the second time is refused. */
static int second;

static void
forward(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	weir_em_queue to = *(weir_em_queue *)queue_context;

	assert_int_equal(weir_em_current_queue(core), queue);
	assert_int_equal(weir_em_current_object(core), *(weir_em_object *)context);
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_event copy = events[i];

		assert_int_equal(weir_em_forward(core, to, &copy), 0);
		if (second == 0)
			second = weir_em_forward(core, to, &events[i]);
	}
}

static void
forwards(enum weir_em_queue_type from, enum weir_em_queue_type to)
{
	uint16_t most = UINT16_MAX;
	struct rte_event events[100];
	weir_em_object object;
	weir_em_queue queue, target;
	unsigned int nb = 0;

	et_make_small();
	memset(&sink, 0, sizeof(sink));
	other.nb = 0;
	if (to == WEIR_EM_QUEUE_UNSCHEDULED || to == WEIR_EM_QUEUE_OUTPUT) {
		target = weir_em_queue_create(
			et_em, &(struct weir_em_queue_config){
				       .type = to, .output = take, .context = &most});
		assert_int_not_equal(target, WEIR_EM_NONE);
	} else {
		et_sink_make(&sink, to, 0, 1);
		target = sink.queue;
	}
	queue = et_queue("from", from, 0);
	assert_int_equal(weir_em_queue_set_context(et_em, queue, &target), 0);
	object = et_object("from", forward, &object);
	assert_int_equal(weir_em_object_add_queue(et_em, object, queue), 0);
	assert_int_equal(weir_em_object_start(et_em, et_core, object, NULL), 0);
	second = from == WEIR_EM_QUEUE_LOCAL ? 1 : 0; /* these can be sent any number of times */
	for (uint64_t i = 0; i < 100; i++)
		et_send(queue, i);
	et_run();
	if (to == WEIR_EM_QUEUE_UNSCHEDULED)
		nb = weir_em_queue_dequeue(et_em, target, events, 100);
	else
		nb = to == WEIR_EM_QUEUE_OUTPUT ? other.nb : sink.nb;
	assert_int_equal(nb, 100);
	for (unsigned int i = 0;
		i < 100 && from != WEIR_EM_QUEUE_PARALLEL && to != WEIR_EM_QUEUE_PARALLEL; i++)
		assert_int_equal(to == WEIR_EM_QUEUE_UNSCHEDULED ? events[i].u64
				 : to == WEIR_EM_QUEUE_OUTPUT    ? other.values[i]
								 : sink.values[i],
			i);
	if (from != WEIR_EM_QUEUE_LOCAL)
		assert_int_equal(second, -EINVAL);
	assert_int_equal(et_stats().nb_forwarded, 100);
	et_check_sums();
}

static void
forwards_between_all_types(void **state)
{
	static const enum weir_em_queue_type from[] = {WEIR_EM_QUEUE_ATOMIC, WEIR_EM_QUEUE_PARALLEL,
		WEIR_EM_QUEUE_ORDERED, WEIR_EM_QUEUE_LOCAL};

	for (size_t i = 0; i < RTE_DIM(from); i++)
		for (int to = 0; to < WEIR_EM_QUEUE_TYPES; to++) {
			if (st_is_driver("event_dsw") &&
				(from[i] == WEIR_EM_QUEUE_ORDERED || to == WEIR_EM_QUEUE_ORDERED))
				continue;
			forwards(from[i], (enum weir_em_queue_type)to);
			assert_int_equal(et_teardown(NULL), 0);
		}
}

static void
new_is_refused_and_forward_is_not(void **state)
{
	weir_em_queue target, queue;
	weir_em_object object;
	struct rte_event event = weir_em_event_u64(0);
	unsigned int nb = 0;

	et_make((struct weir_em_config){.nb_events = 64, .priorities = 1});
	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	target = sink.queue;
	queue = et_queue("from", WEIR_EM_QUEUE_ATOMIC, 0);
	weir_em_queue_set_context(et_em, queue, &target);
	object = et_object("from", forward, &object);
	weir_em_object_add_queue(et_em, object, queue);
	assert_int_equal(weir_em_object_start(et_em, et_core, object, NULL), 0);
	second = 1;
	while (nb < 10000 && weir_em_send(et_core, queue, &event, 1) == 1)
		nb++;
	assert_in_range(nb, 1, 64);
	assert_int_equal(rte_errno, ENOSPC);
	assert_int_equal(et_stats().nb_refused, 1);
	et_run();
	assert_int_equal(sink.nb, nb);
	et_check_sums();
}

static unsigned int place;
static unsigned int order_of[16];

static void
note_priority(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	order_of[place++] = (unsigned int)(uintptr_t)queue_context;
}

/* One event at a time, sent by one receive call: the others wait for it. */
static void
send_all(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	weir_em_queue *queues = context;

	for (int i = 7; i >= 0; i--) {
		struct rte_event event = weir_em_event_u64((uint64_t)i);

		assert_int_equal(weir_em_send(core, queues[i], &event, 1), 1);
	}
}

static void
priorities(enum weir_em_queue_type type)
{
	const struct weir_em_dispatch_options one = {.nb_rounds = 1, .burst = 1};
	weir_em_queue queues[8], first;
	weir_em_object object;

	et_make_small();
	object = et_object("object", note_priority, NULL);
	for (uint8_t i = 0; i < 8; i++) {
		queues[i] = et_queue("queue", type, i);
		weir_em_queue_set_context(et_em, queues[i], (void *)(uintptr_t)i);
		assert_int_equal(weir_em_object_add_queue(et_em, object, queues[i]), 0);
	}
	assert_int_equal(weir_em_object_start(et_em, et_core, object, NULL), 0);
	first = et_serve("first", WEIR_EM_QUEUE_ATOMIC, send_all, queues);
	et_send(first, 0);
	place = 0;
	for (int i = 0; i < 100000 && place < 8; i++)
		weir_em_dispatch(et_core, &one);
	assert_int_equal(place, 8);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(order_of[i], i);
}

static void
local_by_priority(void **state)
{
	priorities(WEIR_EM_QUEUE_LOCAL);
}

static void
scheduled_by_priority(void **state)
{
	st_builtin_only();
	priorities(WEIR_EM_QUEUE_ATOMIC);
}

static weir_em_queue ended;
static int as_new;

static void
end_early(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	weir_em_atomic_end(core);
	weir_em_order_end(core);
	/* without its credit: it may be sent anew */
	as_new = weir_em_forward(core, ended, &events[0]);
	assert_int_equal(weir_em_forward(core, ended, &events[0]), -EINVAL);
}

static void
ends_early(enum weir_em_queue_type type)
{
	struct weir_sched_stats stats;
	weir_em_queue queue;

	et_make_small();
	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	ended = sink.queue;
	queue = et_serve("early", type, end_early, NULL);
	et_send(queue, 7);
	et_run();
	assert_int_equal(as_new, 0);
	assert_int_equal(sink.nb, 1);
	assert_int_equal(et_stats().nb_ended, 1);
	weir_sched_stats(weir_em_sched(et_em), &stats);
	assert_int_equal(stats.nb_new, 2);
	assert_int_equal(stats.nb_released, 2);
	assert_int_equal(stats.nb_invalid, 0);
	et_check_sums();
}

static void
atomic_ends_early(void **state)
{
	ends_early(WEIR_EM_QUEUE_ATOMIC);
}

static void
order_ends_early(void **state)
{
	ends_early(WEIR_EM_QUEUE_ORDERED);
}

static void
nothing_is_held_outside_of_receive(void **state)
{
	struct rte_event event = weir_em_event_u64(0);

	et_make_small();
	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	assert_int_equal(weir_em_forward(et_core, sink.queue, &event), -EINVAL);
	assert_int_equal(et_stats().nb_errors, 1);
	weir_em_atomic_end(et_core);
	assert_int_equal(weir_em_current_queue(et_core), WEIR_EM_NONE);
	assert_int_equal(weir_em_current_object(et_core), WEIR_EM_NONE);
	et_check_sums();
}

static void
producers_send(void **state)
{
	struct weir_em_core *producer;
	struct rte_event event = weir_em_event_u64(9);
	weir_em_queue local;

	et_make((struct weir_em_config){.nb_producers = 1});
	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	local = et_queue("local", WEIR_EM_QUEUE_LOCAL, 0);
	producer = weir_em_producer_attach(et_em);
	assert_non_null(producer);
	assert_null(weir_em_producer_attach(et_em));
	assert_int_equal(rte_errno, ENOSPC);
	assert_int_equal(weir_em_core_id(producer), 1);
	assert_int_equal(weir_em_send(producer, sink.queue, &event, 1), 1);
	assert_int_equal(weir_em_send(producer, local, &event, 1), 0);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(weir_em_dispatch(producer, NULL), 0);
	et_run();
	assert_int_equal(sink.nb, 1);
	assert_int_equal(sink.values[0], 9);
	assert_int_equal(weir_em_core_detach(producer), 0);
	et_check_sums();
}

/* Of all kinds: their events come to nobody when they are deleted, and are counted and told. */
static unsigned int nb_told[WEIR_EM_DROPS];

static int
note(struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error, void *arg)
{
	if (error->kind == WEIR_EM_ERROR_DROP) {
		nb_told[error->drop]++;
		assert_non_null(error->event);
		assert_string_equal(error->queue_name, "sink");
	}
	return error->code;
}

static void
deleted(enum weir_em_queue_type type)
{
	struct rte_event event = weir_em_event_u64(0);
	weir_em_queue queue, again;

	et_make((struct weir_em_config){.nb_queues = 2});
	memset(nb_told, 0, sizeof(nb_told));
	weir_em_error_handler_set(et_em, note, NULL);
	et_sink_make(&sink, type, 0, 1);
	queue = sink.queue;
	for (uint64_t i = 0; i < 10; i++)
		et_send(queue, i);
	assert_int_equal(weir_em_queue_delete(et_em, queue), -EBUSY);
	assert_int_equal(weir_em_object_remove_queue(et_em, et_core, queue), 0);
	assert_int_equal(weir_em_object_remove_queue(et_em, et_core, queue), -ENOENT);
	assert_int_equal(weir_em_queue_delete(et_em, queue), 0);
	assert_int_equal(weir_em_queue_delete(et_em, queue), -ESTALE);
	assert_int_equal(weir_em_send(et_core, queue, &event, 1), 0);
	assert_int_equal(rte_errno, ESTALE);
	/* one number is left; the other one is in use by what is inside */
	again = et_queue("again", type, 0);
	assert_int_equal(weir_em_queue_create(et_em, &(struct weir_em_queue_config){.type = type}),
		WEIR_EM_NONE);
	assert_int_equal(rte_errno, ENOSPC);
	et_run();
	assert_int_equal(sink.nb, 0);
	assert_int_equal(nb_told[WEIR_EM_DROP_DELETED], 10);
	assert_int_equal(et_stats().nb_dropped[WEIR_EM_DROP_DELETED], 10);
	et_check_sums();
	/* now it is free, with another handle */
	sink.queue = et_queue("third", type, 0);
	assert_int_not_equal(sink.queue, queue);
	assert_int_equal(sink.queue & 0xffffff, queue & 0xffffff);
	assert_int_equal(weir_em_queue_delete(et_em, queue), -ESTALE);
	assert_int_equal(weir_em_queue_delete(et_em, again), 0);
	et_check_sums();
}

static void
deleted_atomic(void **state)
{
	deleted(WEIR_EM_QUEUE_ATOMIC);
}

static void
deleted_parallel(void **state)
{
	deleted(WEIR_EM_QUEUE_PARALLEL);
}

static void
deleted_ordered(void **state)
{
	deleted(WEIR_EM_QUEUE_ORDERED);
}

static void
deleted_local(void **state)
{
	deleted(WEIR_EM_QUEUE_LOCAL);
}

static void
deleted_unscheduled(void **state)
{
	struct rte_event event = weir_em_event_u64(0);
	weir_em_queue queue;

	et_make((struct weir_em_config){.nb_queues = 1});
	memset(nb_told, 0, sizeof(nb_told));
	weir_em_error_handler_set(et_em, note, NULL);
	queue = et_queue("sink", WEIR_EM_QUEUE_UNSCHEDULED, 0);
	for (uint64_t i = 0; i < 10; i++)
		et_send(queue, i);
	assert_int_equal(weir_em_queue_delete(et_em, queue), 0);
	assert_int_equal(nb_told[WEIR_EM_DROP_DELETED], 10);
	assert_int_equal(weir_em_queue_dequeue(et_em, queue, &event, 1), 0);
	assert_int_equal(rte_errno, ESTALE);
	assert_int_not_equal(et_queue("sink", WEIR_EM_QUEUE_UNSCHEDULED, 0), queue);
	et_check_sums();
}

static void
enabled_for_ever(void **state)
{
	weir_em_queue ring, out;

	et_make_small();
	ring = et_queue("ring", WEIR_EM_QUEUE_UNSCHEDULED, 0);
	out = weir_em_queue_create(et_em,
		&(struct weir_em_queue_config){.type = WEIR_EM_QUEUE_OUTPUT, .output = take});
	assert_int_equal(weir_em_queue_disable(et_em, et_core, ring), -ENOTSUP);
	assert_int_equal(weir_em_queue_disable(et_em, et_core, out), -ENOTSUP);
	assert_int_equal(weir_em_queue_enable(et_em, ring), -ENOTSUP);
	assert_int_equal(weir_em_queue_enable(et_em, out), -ENOTSUP);
}

static void
disabled_and_detached(void **state)
{
	et_make_small();
	memset(nb_told, 0, sizeof(nb_told));
	weir_em_error_handler_set(et_em, note, NULL);
	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	assert_int_equal(weir_em_queue_disable(et_em, et_core, sink.queue), 0);
	et_send(sink.queue, 1);
	et_run();
	assert_int_equal(nb_told[WEIR_EM_DROP_DISABLED], 1);
	assert_int_equal(weir_em_queue_enable(et_em, sink.queue), 0);
	et_send(sink.queue, 2);
	et_run();
	assert_int_equal(sink.nb, 1);
	assert_int_equal(weir_em_object_remove_queue(et_em, NULL, sink.queue), 0);
	et_send(sink.queue, 3);
	et_run();
	assert_int_equal(nb_told[WEIR_EM_DROP_DETACHED], 1);
	assert_int_equal(weir_em_object_add_queue(et_em, sink.object, sink.queue), 0);
	assert_int_equal(weir_em_object_add_queue(et_em, sink.object, sink.queue), -EBUSY);
	et_send(sink.queue, 4);
	et_run();
	assert_int_equal(sink.nb, 2);
	assert_int_equal(weir_em_object_stop(et_em, et_core, sink.object, NULL), 0);
	et_send(sink.queue, 5);
	et_run();
	assert_int_equal(nb_told[WEIR_EM_DROP_DISABLED], 2);
	assert_int_equal(sink.nb, 2);
	et_check_sums();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(atomic_receives),
		ET_TEST(atomic_receives_batches),
		ET_TEST(ordered_receives_batches),
		ET_TEST(parallel_receives_batches),
		ET_TEST(local_receives),
		ET_TEST(local_receives_batches),
		ET_TEST(unscheduled_is_a_ring),
		ET_TEST(output_calls_a_function),
		ET_TEST(forwards_between_all_types),
		ET_TEST(new_is_refused_and_forward_is_not),
		ET_TEST(local_by_priority),
		ET_TEST(scheduled_by_priority),
		ET_TEST(atomic_ends_early),
		ET_TEST(order_ends_early),
		ET_TEST(nothing_is_held_outside_of_receive),
		ET_TEST(producers_send),
		ET_TEST(deleted_atomic),
		ET_TEST(deleted_parallel),
		ET_TEST(deleted_ordered),
		ET_TEST(deleted_local),
		ET_TEST(deleted_unscheduled),
		ET_TEST(enabled_for_ever),
		ET_TEST(disabled_and_detached),
	};

	return ST_RUN("em-queue", tests);
}
