/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of several queues come in any mixture: batches are as large as they can be, and nothing is out of order. */
#include "em_test.h"

#define NB_QUEUES 96 /* some have to share places where queues are looked up */
#define NB_EVENTS 8  /* of each */

static struct et_sink sink, out;
static weir_em_queue queues[NB_QUEUES];
static unsigned int calls_in_round[NB_QUEUES], nb_of_queue[NB_QUEUES];

static unsigned int
number_of(weir_em_queue queue)
{
	for (unsigned int i = 0; i < NB_QUEUES; i++)
		if (queues[i] == queue)
			return i;
	fail_msg("no queue of this test");
	return 0;
}

static void
note_call(struct weir_em_core *core, weir_em_object object, weir_em_queue queue,
	struct rte_event *events, uint16_t nb, void *arg)
{
	calls_in_round[number_of(queue)]++;
}

/* Each has its number for priority if @by_priority, modulo 2. */
static void
make(enum weir_em_queue_type type, unsigned int nb, weir_em_receive_t receive,
	unsigned int starvation_bound, bool by_priority)
{
	weir_em_object object;

	et_make((struct weir_em_config){.nb_queues = 128, .starvation_bound = starvation_bound});
	sink = (struct et_sink){.nb = 0};
	object = weir_em_object_create(et_em, &(struct weir_em_object_config){.name = "batches",
						      .receive = receive,
						      .context = &sink,
						      .burst = WEIR_EM_BURST_MAX});
	assert_int_not_equal(object, WEIR_EM_NONE);
	for (unsigned int i = 0; i < nb; i++) {
		queues[i] = et_queue("many", type, by_priority ? i % 2 : 0);
		assert_int_equal(weir_em_object_add_queue(et_em, object, queues[i]), 0);
		nb_of_queue[i] = 0;
	}
	assert_int_equal(weir_em_object_start(et_em, et_core, object, NULL), 0);
}

/* One of each queue, again and again. */
static void
send_mixed(unsigned int nb_queues)
{
	for (unsigned int i = 0; i < NB_EVENTS; i++)
		for (unsigned int q = 0; q < nb_queues; q++)
			et_send(queues[q], i);
}

/* In each round a queue's events are received at once. */
static void
mixed(enum weir_em_queue_type type, unsigned int nb_queues)
{
	const struct weir_em_dispatch_options round = {.nb_rounds = 1, .burst = WEIR_EM_BURST_MAX};
	unsigned int nb = nb_queues * NB_EVENTS;

	make(type, nb_queues, et_sink_receive, 0, false);
	assert_int_equal(weir_em_dispatch_enter_add(et_em, note_call, NULL), 0);
	send_mixed(nb_queues);
	for (unsigned int i = 0; i < 100000 && sink.nb < nb; i++) {
		memset(calls_in_round, 0, sizeof(calls_in_round));
		weir_em_dispatch(et_core, &round);
		/* two queues that share a place part each other's events */
		for (unsigned int q = 0; q < nb_queues && nb_queues < 64; q++)
			assert_in_range(calls_in_round[q], 0, 1);
	}
	assert_int_equal(sink.nb, nb);
	for (unsigned int i = 0; i < nb && type != WEIR_EM_QUEUE_PARALLEL; i++)
		assert_int_equal(sink.values[i], nb_of_queue[number_of(sink.queues[i])]++);
	if (st_is_builtin())
		assert_in_range(sink.nb_calls, 1, nb - 1);
	et_check_sums();
}

static void
atomic_queues_mixed(void **state)
{
	mixed(WEIR_EM_QUEUE_ATOMIC, 8);
}

static void
ordered_queues_mixed(void **state)
{
	mixed(WEIR_EM_QUEUE_ORDERED, 8);
}

static void
parallel_queues_mixed(void **state)
{
	mixed(WEIR_EM_QUEUE_PARALLEL, 8);
}

static void
many_queues_mixed(void **state)
{
	mixed(WEIR_EM_QUEUE_ATOMIC, NB_QUEUES);
}

/* Each batch is forwarded, from its last event to its first: each is where it belongs all the same. */
static void
forward_backwards(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	for (uint16_t i = nb; i-- > 0;) {
		events[i].u64 += 100 * number_of(queue);
		assert_int_equal(weir_em_forward(core, out.queue, &events[i]), 0);
	}
	assert_int_equal(weir_em_forward(core, out.queue, &events[0]), -EINVAL);
}

static void
mixed_batches_are_forwarded(void **state)
{
	make(WEIR_EM_QUEUE_ORDERED, 8, forward_backwards, 0, false);
	et_sink_make(&out, WEIR_EM_QUEUE_ATOMIC, 0, 1);
	send_mixed(8);
	et_run();
	assert_int_equal(out.nb, 8 * NB_EVENTS);
	for (unsigned int i = 0; i < out.nb; i++)
		assert_int_equal(out.values[i] % 100, nb_of_queue[out.values[i] / 100]++);
	et_check_sums();
}

/*
 * Two of high priority pass one of low priority at most, and none of low priority is put before them: the two queues' events
 * alternate in the burst, and stay so.
 */
static void
priorities_are_not_put_together(void **state)
{
	unsigned int nb[2] = {0, 0}, passed = 0;

	st_builtin_only();
	make(WEIR_EM_QUEUE_PARALLEL, 2, et_sink_receive, 2, true);
	for (unsigned int q = 2; q-- > 0;)
		for (unsigned int i = 0; i < 40; i++)
			et_send(queues[q], i);
	et_run();
	assert_int_equal(sink.nb, 80);
	for (unsigned int i = 0; i < 80; i++) {
		unsigned int low = number_of(sink.queues[i]);

		assert_true(!low || passed == 2 || nb[0] == 40);
		nb[low]++;
		passed = low ? 0 : passed + 1;
		assert_true(passed <= 2);
	}
}

/* What is disabled by one receive function is not received any more, though it had been dequeued by then. */
static void
disable_others(struct weir_em_core *core, void *context, struct rte_event *events, uint16_t nb,
	weir_em_queue queue, void *queue_context)
{
	struct et_sink *received = context;

	received->nb += nb;
	for (unsigned int i = 0; i < 4; i++)
		if (queues[i] != queue)
			assert_int_equal(weir_em_queue_disable(et_em, core, queues[i]), 0);
}

static void
disabled_meanwhile(void **state)
{
	make(WEIR_EM_QUEUE_ATOMIC, 4, disable_others, 0, false);
	send_mixed(4);
	et_run();
	assert_int_equal(sink.nb, NB_EVENTS);
	assert_int_equal(et_stats().nb_dropped[WEIR_EM_DROP_DISABLED], 3 * NB_EVENTS);
	et_check_sums();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ET_TEST(atomic_queues_mixed),
		ET_TEST(ordered_queues_mixed),
		ET_TEST(parallel_queues_mixed),
		ET_TEST(many_queues_mixed),
		ET_TEST(mixed_batches_are_forwarded),
		ET_TEST(priorities_are_not_put_together),
		ET_TEST(disabled_meanwhile),
	};

	return ST_RUN("em-batch", tests);
}
