/* SPDX-License-Identifier: BSD-3-Clause */

/* weir_em_atomic_end() and weir_em_order_end() after events were forwarded to where the scheduler has nothing to do with them. */

#include <sched.h>

#include "em_test.h"

#define PATIENCE_NS UINT64_C(10000000000)

static const enum weir_em_queue_type elsewhere[] = {
	WEIR_EM_QUEUE_UNSCHEDULED, WEIR_EM_QUEUE_LOCAL, WEIR_EM_QUEUE_OUTPUT};

static struct et_sink sink; /* what is forwarded by the scheduler */
static struct et_sink local;
static weir_em_queue away;
static bool ends_in_output;

static void
end_early(struct weir_em_core *core)
{
	weir_em_atomic_end(core);
	weir_em_order_end(core);
}

static uint16_t
put_out(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue)
{
	if (ends_in_output)
		end_early(core);
	return nb;
}

/* From an ordered queue, events go to an output queue in their places, by the scheduler. */
static bool
make(enum weir_em_queue_type from, enum weir_em_queue_type to, unsigned int nb_cores)
{
	if (from == WEIR_EM_QUEUE_ORDERED &&
		(to == WEIR_EM_QUEUE_OUTPUT || st_is_driver("event_dsw")))
		return false;
	et_make((struct weir_em_config){.nb_queues = 64, .nb_cores = nb_cores});
	et_sink_make(&sink, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	if (to == WEIR_EM_QUEUE_LOCAL)
		away = et_serve("away", to, et_sink_receive, &local);
	else
		away = weir_em_queue_create(
			et_em, &(struct weir_em_queue_config){.type = to, .output = put_out});
	assert_int_not_equal(away, WEIR_EM_NONE);
	local.nb = local.nb_calls = 0;
	ends_in_output = false;
	return true;
}

static void
with_each(void (*test)(enum weir_em_queue_type from, enum weir_em_queue_type to))
{
	for (unsigned int i = 0; i < RTE_DIM(elsewhere); i++) {
		test(WEIR_EM_QUEUE_ATOMIC, elsewhere[i]);
		test(WEIR_EM_QUEUE_ORDERED, elsewhere[i]);
	}
}

/* ---- what is released, and when ---- */

static uint64_t nb_released;

static uint64_t
released(void)
{
	struct weir_sched_stats stats;

	weir_sched_stats(weir_em_sched(et_em), &stats);
	return stats.nb_released;
}

static void
forward_and_end(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	const uint64_t before = released();

	CHECK(nb == 1);
	CHECK(weir_em_forward(core, away, &events[0]) == 0);
	end_early(core);
	nb_released = released() - before;
	end_early(core); /* of no effect */
	CHECK(weir_em_forward(core, away, &events[0]) == -EINVAL);
}

static void
gone_is_released(enum weir_em_queue_type from, enum weir_em_queue_type to)
{
	struct weir_sched_stats stats;
	weir_em_queue queue;

	if (!make(from, to, 1))
		return;
	queue = et_serve("from", from, forward_and_end, NULL);
	for (unsigned int i = 0; i < 3; i++) {
		nb_released = 0;
		et_send(queue, i);
		et_run();
		assert_int_equal(nb_released, 1);
		assert_int_equal(et_stats().nb_ended, i + 1);
	}
	weir_sched_stats(weir_em_sched(et_em), &stats);
	assert_int_equal(stats.nb_released, 3);
	assert_int_equal(stats.nb_invalid, 0);
	et_teardown(NULL);
}

static void
what_is_gone_is_released(void **state)
{
	with_each(gone_is_released);
}

/* An output function that ends early itself: the events that it has just got are in nobody's way. */
static void
end_in_output(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	const uint64_t before = released();

	CHECK(weir_em_forward(core, away, &events[0]) == 0);
	nb_released = released() - before;
}

static void
output_ends_early(void **state)
{
	weir_em_queue queue;

	assert_true(make(WEIR_EM_QUEUE_ATOMIC, WEIR_EM_QUEUE_OUTPUT, 1));
	ends_in_output = true;
	queue = et_serve("from", WEIR_EM_QUEUE_ATOMIC, end_in_output, NULL);
	et_send(queue, 1);
	et_run();
	assert_int_equal(nb_released, 1);
	assert_int_equal(et_stats().nb_ended, 1);
	et_check_sums();
}

/* Of a batch some go elsewhere, some go on, some do not go: all but those that went on are released, each once. */
static void
forward_some(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	const uint64_t before = released();

	CHECK(nb == 5);
	CHECK(weir_em_forward(core, sink.queue, &events[1]) == 0);
	/* the ring has room for one: the second one stays */
	CHECK(weir_em_forward_burst(core, away, &events[2], 2) == 1);
	CHECK(weir_em_forward(core, sink.queue, &events[2]) == -EINVAL);
	CHECK(weir_em_forward(core, sink.queue, &events[3]) == 0);
	end_early(core);
	nb_released = released() - before;
	/* as a new one */
	CHECK(weir_em_forward(core, sink.queue, &events[4]) == 0);
}

static void
batch(enum weir_em_queue_type from)
{
	struct weir_sched_stats stats;
	weir_em_object object;
	weir_em_queue queue;
	struct rte_event events[5];

	if (!make(from, WEIR_EM_QUEUE_UNSCHEDULED, 1))
		return;
	away = weir_em_queue_create(et_em,
		&(struct weir_em_queue_config){.type = WEIR_EM_QUEUE_UNSCHEDULED, .size = 1});
	assert_int_not_equal(away, WEIR_EM_NONE);
	queue = et_queue("from", from, 0);
	object = weir_em_object_create(
		et_em, &(struct weir_em_object_config){.receive = forward_some, .burst = 5});
	assert_int_equal(weir_em_object_add_queue(et_em, object, queue), 0);
	assert_int_equal(weir_em_object_start(et_em, et_core, object, NULL), 0);
	for (uint64_t i = 0; i < 5; i++)
		events[i] = weir_em_event_u64(i);
	assert_int_equal(weir_em_send(et_core, queue, events, 5), 5);
	et_run();
	assert_int_equal(nb_released, 3);
	assert_int_equal(et_stats().nb_ended, 3);
	assert_int_equal(sink.nb, 3);
	assert_int_equal(weir_em_queue_dequeue(et_em, away, events, 5), 1);
	assert_int_equal(events[0].u64, 2);
	weir_sched_stats(weir_em_sched(et_em), &stats);
	assert_int_equal(stats.nb_invalid, 0);
	et_check_sums();
	et_teardown(NULL);
}

static void
some_of_a_batch(void **state)
{
	/* whole batches are no promise of devices' */
	st_builtin_only();
	batch(WEIR_EM_QUEUE_ATOMIC);
	batch(WEIR_EM_QUEUE_ORDERED);
}

/* ---- nobody waits ---- */

static unsigned int nb_first; /* the first event was forwarded, and ended */
static bool in_vain;

static void
work_on(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	const uint64_t begun = weir_base_time_ns();

	if (events[0].u64 == 2) {
		CHECK(weir_em_forward(core, sink.queue, &events[0]) == 0);
		return;
	}
	CHECK(weir_em_forward(core, away, &events[0]) == 0);
	end_early(core);
	__atomic_store_n(&nb_first, 1, __ATOMIC_RELEASE);
	/* another core gets the next event, and what it forwards */
	while (__atomic_load_n(&sink.nb, __ATOMIC_ACQUIRE) == 0 && !in_vain) {
		sched_yield();
		in_vain = weir_base_time_ns() - begun > PATIENCE_NS;
	}
}

/* The first one is received by a worker: this core has not dispatched yet. */
static void
others_go_on(enum weir_em_queue_type from, enum weir_em_queue_type to)
{
	uint64_t begun;
	weir_em_queue queue;

	if (!make(from, to, 2))
		return;
	queue = et_serve("from", from, work_on, NULL);
	nb_first = 0;
	in_vain = false;
	et_workers_begin(1);
	et_send(queue, 1);
	begun = weir_base_time_ns();
	while (__atomic_load_n(&nb_first, __ATOMIC_ACQUIRE) == 0 &&
		weir_base_time_ns() - begun < PATIENCE_NS)
		sched_yield();
	et_send(queue, 2);
	while (__atomic_load_n(&sink.nb, __ATOMIC_ACQUIRE) == 0 &&
		weir_base_time_ns() - begun < 2 * PATIENCE_NS) {
		weir_em_dispatch(et_core, &(struct weir_em_dispatch_options){.nb_rounds = 1});
		sched_yield();
	}
	et_workers_end();
	assert_int_equal(sink.nb, 1);
	assert_false(in_vain);
	et_teardown(NULL);
}

static void
others_need_not_wait(void **state)
{
	st_builtin_only();
	with_each(others_go_on);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(what_is_gone_is_released),
		ET_TEST(output_ends_early),
		ET_TEST(some_of_a_batch),
		ET_TEST(others_need_not_wait),
	};

	return ST_RUN("em-end", tests);
}
