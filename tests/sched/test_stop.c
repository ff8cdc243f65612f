/* SPDX-License-Identifier: BSD-3-Clause */

/* One thread: stop and start, and that the counters add up. */

#include "sched_test.h"

static void
drained_order(const struct st_drained *drained, unsigned int nb, unsigned int nb_flows)
{
	uint64_t next[64];

	assert_int_equal(drained->nb, nb);
	memset(next, 0, sizeof(next));
	for (unsigned int i = 0; i < nb; i++) {
		const struct rte_event *event = &drained->events[i];

		assert_true(event->flow_id < nb_flows);
		if (event->u64 < next[event->flow_id])
			fail_msg("drained event %u: flow %u, %u after %u", i, event->flow_id,
				(unsigned int)event->u64, (unsigned int)next[event->flow_id] - 1);
		next[event->flow_id] = event->u64 + 1;
	}
}

/* In rings, in flows that wait, in flows that were held before. */
static void
stop_atomic(void **state)
{
	struct rte_event events[512], held[8];
	struct st_drained drained = {.max = 512, .events = events};

	for (unsigned int round = 0; round < 4; round++) {
		drained.nb = 0;
		st_make_credits(st_is_builtin() ? 2 : 1, 1, 512, 0, 0);
		st_start();
		for (unsigned int i = 0; i < 100; i++)
			st_new(0, 0, i % 5, i);
		for (unsigned int i = 0; i < round; i++) {
			held[i] = st_get_one(0);
			st_release(0, held[i]);
		}
		st_new(0, 0, 6, 1);
		for (unsigned int i = 100; i < 200; i++)
			st_new(0, 0, i % 5, i);
		assert_int_equal(weir_sched_stop(st_sched, st_drain, &drained), 0);
		drained_order(&drained, 201 - round, 7);
		assert_int_equal(st_stats().nb_drained, drained.nb);
		assert_int_equal(st_stats().nb_new, st_stats().nb_drained + st_stats().nb_released);
		st_teardown(NULL);
	}
}

/* Whatever their sender wrote into them is drained, one by one or in bursts; also what the queue says, not they. */
static void
stop_as_sent(void **state)
{
	enum { NB = 16 };
	struct rte_event events[NB + 1], sent[NB];
	struct st_drained drained = {.max = NB + 1, .events = events};

	st_builtin_only();
	st_make_credits(1, 1, 64, 0, 0);
	st_start();
	st_new(0, 0, 0, 0); /* from now on the queue is known */
	for (unsigned int i = 0; i < NB; i++) {
		sent[i] = (struct rte_event){.op = RTE_EVENT_OP_NEW,
			.flow_id = 7, /* all are of one ring */
			.sub_event_type = i,
			.event_type = i,
			.sched_type = i % 3,
			.priority = (uint8_t)(16 * i),
			.u64 = i};
		if (i < NB / 2)
			assert_int_equal(weir_sched_enqueue(st_port(0), &sent[i], 1), 1);
	}
	assert_int_equal(weir_sched_enqueue(st_port(0), &sent[NB / 2], NB / 2), NB / 2);
	assert_int_equal(weir_sched_stop(st_sched, st_drain, &drained), 0);
	assert_int_equal(drained.nb, NB + 1);
	for (unsigned int i = 0; i < NB; i++) {
		const struct rte_event *event = &events[1 + i];

		assert_int_equal(event->u64, i);
		assert_int_equal(event->flow_id, 7);
		assert_int_equal(event->sub_event_type, sent[i].sub_event_type);
		assert_int_equal(event->event_type, sent[i].event_type);
		assert_int_equal(event->sched_type, sent[i].sched_type);
		assert_int_equal(event->priority, sent[i].priority);
	}
}

/* Events whose turn has not come are inside, too; those that went on before them come first. */
static void
stop_ordered(void **state)
{
	struct rte_event events[64], held[10];
	struct st_drained drained = {.max = 64, .events = events};

	st_builtin_only();
	for (unsigned int flow = 0; flow < 8; flow++) {
		drained.nb = 0;
		st_make_credits(3, 4, 64, 0, 0);
		st_queue(0, ORDERED, 0, 0);
		st_start();
		for (unsigned int i = 0; i < 10; i++)
			st_new(0, 0, flow / 2, i);
		for (unsigned int i = 0; i < 10; i++) {
			held[i] = st_get_one(i % 3);
			held[i].flow_id = 1 + flow / 4;
		}
		for (unsigned int i = 10; i-- > 0;)
			if (i != 4)
				st_forward(i % 3, held[i], (uint8_t)(1 + flow % 3));
		assert_int_equal(weir_sched_stop(st_sched, st_drain, &drained), 0);
		/* 4 is held, and lost with that. */
		drained_order(&drained, 9, 8);
		assert_int_equal(st_stats().nb_drained, 9);
		st_teardown(NULL);
	}
}

/* Also of a group without ports, and of all priorities. */
static void
stop_groups(void **state)
{
	struct rte_event events[64];
	struct st_drained drained = {.max = 64, .events = events};

	st_builtin_only();
	st_make_credits(2, 3, 64, 8, 0);
	st_queue(0, ATOMIC, 3, 1);
	st_queue(1, PARALLEL, 7, 1);
	st_queue(2, ORDERED, 0, 2);
	st_start();
	for (unsigned int i = 0; i < 48; i++)
		st_new(i % 2, (uint8_t)(i % 3), i, i);
	assert_int_equal(weir_sched_reserve(st_sched, 8), 8);
	for (unsigned int i = 48; i < 54; i++)
		assert_int_equal(weir_sched_enqueue_reserved(
					 st_sched, &(struct rte_event){.op = RTE_EVENT_OP_NEW,
							   .queue_id = (uint8_t)(i % 3),
							   .flow_id = i,
							   .u64 = i}),
			0);
	st_get_none(0);
	assert_int_equal(weir_sched_stop(st_sched, st_drain, &drained), 0);
	drained_order(&drained, 54, 64);
	/* All credits are back; two that were not used are reserved still. */
	st_start();
	assert_int_equal(weir_sched_reserve(st_sched, 9), 6);
	assert_int_equal(st_fill(0, 0, 100), 56);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(weir_sched_enqueue_reserved(
					 st_sched, &(struct rte_event){.op = RTE_EVENT_OP_NEW}),
			0);
}

/* What ports held is theirs, contexts and credits are nobody's. */
static void
restart(void **state)
{
	static struct rte_event events[256];
	struct rte_event held[6];

	st_builtin_only();
	st_make_credits(2, 3, 128, 0, 0);
	st_queue(1, ORDERED, 0, 0);
	st_queue(2, PARALLEL, 0, 0);
	st_start();
	for (unsigned int round = 0; round < 5; round++) {
		struct st_drained drained = {.max = 256, .events = events};

		assert_int_equal(st_fill(0, (uint8_t)(round % 3), 1000), 128);
		for (unsigned int i = 0; i < 6; i++)
			held[i] = st_get_one(i % 2);
		assert_int_equal(weir_sched_stop(st_sched, st_drain, &drained), 0);
		assert_int_equal(drained.nb, 122);
		st_start();
		st_get_none(0);
		st_get_none(1);
		for (unsigned int i = 0; i < 6; i++) {
			held[i].op = i / 2 % 2 == 0 ? RTE_EVENT_OP_FORWARD : RTE_EVENT_OP_RELEASE;
			assert_int_equal(weir_sched_enqueue(st_port(i % 2), &held[i], 1), 0);
			assert_int_equal(rte_errno, EINVAL);
		}
		/* All flows are free. */
		for (unsigned int i = 0; i < 64; i++)
			st_new(0, (uint8_t)(round % 3), i, i);
		for (unsigned int i = 0; i < 64; i++) {
			struct rte_event event = st_get_one(1);

			st_forward(1, event, (uint8_t)((round + 1) % 3));
		}
		st_empty(2);
	}
	assert_int_equal(st_stats().nb_invalid, 30);
	assert_int_equal(st_stats().nb_drained, 5 * 122);
}

/* At every moment: what came in is out, or inside. */
static void
adds_up(void **state)
{
	struct rte_event held[64], events[256];
	struct st_drained drained = {.max = 256, .events = events};
	unsigned int nb_held = 0, gone = 0;
	struct weir_sched_stats stats = {0};

	st_make_credits(1, 2, 256, 0, 0);
	st_needs_keep();
	st_start();
	srandom(1);
	for (unsigned int step = 0; step < 3000; step++) {
		unsigned int choice = (unsigned int)random() % 4;

		if (choice == 0) {
			st_try_new(0, (uint8_t)(step % 2), step, step);
		} else if (choice == 1 && nb_held < 64) {
			nb_held += weir_sched_dequeue(
				st_port(0), &held[nb_held], (uint16_t)(random() % (65 - nb_held)));
		} else if (choice == 2 && nb_held > 0) {
			st_forward(0, held[--nb_held], (uint8_t)(step % 2));
		} else if (choice == 3 && nb_held > 0) {
			st_release(0, held[--nb_held]);
			gone++;
		}
		stats = st_stats();
		assert_true(stats.nb_new - stats.nb_released <= 256);
		if (st_is_builtin())
			assert_int_equal(stats.nb_released, gone);
		assert_int_equal(stats.nb_dequeued, stats.nb_forwarded + gone + nb_held);
		assert_int_equal(stats.nb_drained, 0);
	}
	while (nb_held > 0)
		st_release(0, held[--nb_held]);
	assert_int_equal(weir_sched_stop(st_sched, st_drain, &drained), 0);
	stats = st_stats();
	assert_true(stats.nb_new > 300 && stats.nb_forwarded > 100);
	assert_int_equal(stats.nb_new, stats.nb_released + stats.nb_drained);
	assert_int_equal(drained.nb, stats.nb_drained);
}

/* Who takes what is drained can do nothing to the scheduler. */
static void
drain_and_try(void *arg, const struct rte_event *event)
{
	const struct rte_event new = st_event(RTE_EVENT_OP_NEW, 0, 1, 1);

	CHECK(!weir_sched_running(st_sched));
	CHECK(weir_sched_stop(st_sched, st_drain, arg) == -EALREADY);
	CHECK(weir_sched_start(st_sched) == -EBUSY);
	CHECK(weir_sched_reserve(st_sched, 1) == 0);
	CHECK(weir_sched_enqueue_reserved(st_sched, &new) == -EINVAL);
	CHECK(weir_sched_enqueue(st_port(0), &new, 1) == 0);
	st_drain(arg, event);
}

static void
stop_within_stop(void **state)
{
	struct rte_event events[8];
	struct st_drained drained = {.max = 8, .events = events};

	st_make_credits(st_is_builtin() ? 2 : 1, 1, 512, 4, 0);
	st_start();
	assert_int_equal(weir_sched_reserve(st_sched, 2), 2);
	for (unsigned int i = 0; i < 5; i++)
		st_new(0, 0, i, i);
	assert_int_equal(weir_sched_stop(st_sched, drain_and_try, &drained), 0);
	assert_int_equal(drained.nb, 5);
	assert_int_equal(st_stats().nb_drained, 5);
	weir_sched_unreserve(st_sched, 2);
	assert_int_equal(weir_sched_start(st_sched), 0);
	assert_int_equal(weir_sched_reserve(st_sched, 8), 4);
	weir_sched_unreserve(st_sched, 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stop_atomic),
		TEST(stop_as_sent),
		TEST(stop_ordered),
		TEST(stop_groups),
		TEST(restart),
		TEST(adds_up),
		TEST(stop_within_stop),
	};

	return ST_RUN("sched-stop", tests);
}
