/* SPDX-License-Identifier: BSD-3-Clause */

/* One thread: ordered and parallel queues, and queues of all types. */

#include "sched_test.h"

/* Two ports have events of a flow in turns, and forward them in reverse. */
static void
ordered_restored(void **state)
{
	struct rte_event events[16];

	st_builtin_only();
	st_make_two(3, ORDERED, ATOMIC);
	for (uint32_t flow = 0; flow < 8; flow++) {
		for (unsigned int i = 0; i < 16; i++)
			st_new(2, 0, flow, i);
		for (unsigned int i = 0; i < 16; i++) {
			events[i] = st_get_one(i % 2);
			assert_int_equal(events[i].u64, i);
		}
		for (unsigned int i = 15; i > 0; i--) {
			st_forward(i % 2, events[i], 1);
			st_get_none(2);
		}
		st_forward(0, events[0], 1);
		for (unsigned int i = 0; i < 16; i++) {
			struct rte_event event = st_get_one(2);

			assert_int_equal(event.u64, i);
			st_release(2, event);
		}
		st_get_none(2);
	}
}

/* From one ordered queue to the next: the order is that of dispatch, at each. */
static void
ordered_twice(void **state)
{
	struct rte_event events[8];
	static const unsigned int shuffled[8] = {3, 1, 7, 0, 5, 2, 6, 4};

	st_builtin_only();
	st_make((struct weir_sched_config){.nb_ports = 2, .nb_queues = 3, .nb_events = 64});
	st_queue(0, ORDERED, 0, 0);
	st_queue(1, ORDERED, 0, 0);
	st_queue(2, ATOMIC, 0, 0);
	st_keep_all();
	st_start();
	for (uint32_t flow = 0; flow < 4; flow++) {
		for (unsigned int i = 0; i < 8; i++)
			st_new(0, 0, flow, i);
		for (unsigned int queue = 0; queue < 2; queue++) {
			for (unsigned int i = 0; i < 8; i++) {
				events[i] = st_get_one(i % 2);
				assert_int_equal(events[i].u64, i);
				assert_int_equal(events[i].queue_id, queue);
			}
			for (unsigned int i = 0; i < 8; i++) {
				struct rte_event event = events[shuffled[i]];

				event.flow_id += 1; /* it may become another flow's */
				st_forward(shuffled[i] % 2, event, (uint8_t)(queue + 1));
			}
		}
		for (unsigned int i = 0; i < 8; i++) {
			struct rte_event event = st_get_one(1);

			assert_int_equal(event.u64, i);
			assert_int_equal(event.flow_id, flow + 2);
			st_release(1, event);
		}
	}
}

/* Dequeues after which what came has been taken: ten are enough, but rings are looked at by the clock. */
#define DEQUEUES_MAX 100

/*
 * A port sends 16 events to itself again and again, and takes them by 8: those of another port come out soon, too. @type: its own go by the
 * ring of the port, or, ordered, by that of its shard. @phase: which turns are whose.
 */
static void
ring_of_other_has_turns(
	unsigned int worker, uint8_t type, unsigned int phase, unsigned int nb_others)
{
	const unsigned int other = 1 - worker;
	struct rte_event events[8];
	unsigned int nb_seen = 0;

	st_make(st_config(2, 2));
	st_queue(0, ORDERED, 0, 1);
	st_queue(1, ATOMIC, 0, 1);
	st_group(1, UINT64_C(1) << worker);
	st_start();
	/* Both rings have been used. */
	for (unsigned int queue = 0; queue < 2; queue++) {
		st_new(worker, (uint8_t)queue, 0, 0);
		st_forward(worker, st_get_one(worker), (uint8_t)queue);
		st_release(worker, st_get_one(worker));
	}
	for (uint32_t i = 0; i < 16; i++)
		st_new(worker, type == ORDERED ? 0 : 1, i, 0);
	for (unsigned int i = 0; i < 100 + phase + DEQUEUES_MAX && nb_seen < nb_others; i++) {
		uint16_t nb;

		for (unsigned int o = 0; i == 100 + phase && o < nb_others; o++)
			st_new(other, 0, o, 1);
		nb = weir_sched_dequeue(st_port(worker), events, i >= 50 && i < 50 + phase ? 1 : 8);
		for (uint16_t e = 0; e < nb; e++) {
			nb_seen += events[e].u64;
			events[e].u64 = 0;
			events[e].op = RTE_EVENT_OP_FORWARD;
		}
		assert_int_equal(weir_sched_enqueue(st_port(worker), events, nb), nb);
	}
	assert_int_equal(nb_seen, nb_others);
	st_teardown(NULL);
}

static void
each_ring_has_turns(void **state)
{
	static const unsigned int others[] = {1, 16};

	st_builtin_only();
	for (unsigned int phase = 0; phase < 24; phase++)
		for (unsigned int i = 0; i < 4; i++) {
			ring_of_other_has_turns(i / 2, ORDERED, phase, others[i % 2]);
			ring_of_other_has_turns(i / 2, ATOMIC, phase, others[i % 2]);
		}
}

/* RELEASE, explicit or not, fills the place: those behind it need not wait. */
static void
ordered_release_fills(void **state)
{
	struct rte_event events[6], event;

	st_builtin_only();
	st_make_two(3, ORDERED, ATOMIC);
	for (uint32_t flow = 0; flow < 4; flow++) {
		for (unsigned int i = 0; i < 6; i++)
			st_new(2, 0, flow, i);
		for (unsigned int i = 0; i < 6; i++)
			events[i] = st_get_one(i % 2);
		st_forward(1, events[5], 1);
		st_release(0, events[2]);
		st_forward(1, events[1], 1);
		st_get_none(2);
		st_release(0, events[0]);
		event = st_get_one(2);
		assert_int_equal(event.u64, 1);
		st_release(2, event);
		st_get_none(2); /* 3 is out */
		st_release(1, events[3]);
		st_get_none(2); /* 4 is out */
		st_forward(0, events[4], 1);
		for (unsigned int i = 4; i < 6; i++) {
			event = st_get_one(2);
			assert_int_equal(event.u64, i);
			st_release(2, event);
		}
		st_get_none(2);
	}
}

static void
ordered_implicit_fills(void **state)
{
	struct rte_event event, first;

	st_builtin_only();
	st_make((struct weir_sched_config){.nb_ports = 2, .nb_queues = 2, .nb_events = 64});
	st_queue(0, ORDERED, 0, 0);
	st_keep(1);
	st_start();
	st_new(1, 0, 3, 1);
	st_new(1, 0, 3, 2);
	first = st_get_one(0);
	assert_int_equal(first.u64, 1);
	event = st_get_one(1);
	assert_int_equal(event.u64, 2);
	st_forward(1, event, 1);
	st_get_none(1);
	weir_sched_dequeue(st_port(0), &first, 0);
	assert_int_equal(st_get_one(1).u64, 2);
}

/* NEW, enqueued by who holds an ordered event, goes at once. */
static void
ordered_new_outside(void **state)
{
	struct rte_event events[2], event;

	st_builtin_only();
	st_make_two(3, ORDERED, ATOMIC);
	st_new(2, 0, 3, 1);
	st_new(2, 0, 3, 2);
	events[0] = st_get_one(0);
	events[1] = st_get_one(1);
	st_new(1, 1, 3, 10);
	event = st_get_one(2);
	assert_int_equal(event.u64, 10);
	st_release(2, event);
	st_new(0, 1, 3, 11);
	event = st_get_one(2);
	assert_int_equal(event.u64, 11);
	st_release(2, event);
	st_forward(1, events[1], 1);
	st_get_none(2);
	st_forward(0, events[0], 1);
	assert_int_equal(st_get_one(2).u64, 1);
}

/* Who is slow with an event blocks its flow, nothing else. */
static void
ordered_slow(void **state)
{
	struct rte_event slow, event;
	unsigned int behind = 0;

	st_builtin_only();
	st_make_two(3, ORDERED, ATOMIC);
	st_new(2, 0, 3, 1000);
	slow = st_get_one(0);
	for (unsigned int i = 0; i < 96; i++)
		st_new(2, 0, i % 8, i);
	for (unsigned int i = 0; i < 96; i++) {
		event = st_get_one(1);
		st_forward(1, event, 1);
		while (st_get(2, &event, 1) == 1) {
			if (event.queue_id == 0) {
				st_forward(2, event, 1);
				i++;
				continue;
			}
			assert_int_not_equal(event.flow_id, 3);
			st_release(2, event);
			behind++;
		}
	}
	assert_int_equal(behind, 84);
	st_forward(0, slow, 1);
	assert_int_equal(st_get_one(2).u64, 1000);
}

/* However many are released behind one that is out, what is known of them does not grow. */
static void
ordered_many_released(void **state)
{
	struct rte_event slow, event;

	st_builtin_only();
	st_make_two(2, ORDERED, ATOMIC);
	for (uint32_t flow = 0; flow < 2; flow++) {
		st_new(1, 0, flow, 1000000);
		slow = st_get_one(0);
		for (unsigned int i = 0; i < 20000; i++) {
			st_new(1, 0, flow, i);
			event = st_get_one(1);
			assert_int_equal(event.u64, i);
			st_release(1, event);
		}
		st_new(1, 0, flow, 7);
		event = st_get_one(1);
		st_forward(1, event, 1);
		st_get_none(1);
		st_forward(0, slow, 1);
		event = st_get_one(1);
		assert_int_equal(event.u64, 1000000);
		st_release(1, event);
		event = st_get_one(1);
		assert_int_equal(event.u64, 7);
		st_release(1, event);
	}
}

/* Nobody waits for anybody. */
static void
parallel_free(void **state)
{
	struct rte_event events[8];

	st_builtin_only();
	st_make_two(2, PARALLEL, PARALLEL);
	for (unsigned int i = 0; i < 8; i++)
		st_new(0, 0, 3, i);
	for (unsigned int i = 0; i < 8; i++)
		events[i] = st_get_one(i % 2);
	for (unsigned int i = 8; i-- > 0;) {
		struct rte_event event;

		st_forward(i % 2, events[i], 1);
		event = st_get_one(1);
		assert_int_equal(event.u64, i);
		st_release(1, event);
	}
}

static void
new_of_type(uint8_t type, uint64_t value)
{
	struct rte_event event = st_event(RTE_EVENT_OP_NEW, 0, 3, value);

	event.sched_type = type & 3;
	assert_int_equal(weir_sched_enqueue(st_port(0), &event, 1), 1);
}

/* A queue of all types: flow 3 is atomic, ordered and parallel at a time. */
static void
type_by_event(void **state)
{
	struct rte_event first, events[4], event;
	unsigned int nb_ordered = 0;

	st_builtin_only();
	st_make_two(2, WEIR_SCHED_TYPE_BY_EVENT, ATOMIC);
	new_of_type(ATOMIC, 10);
	first = st_get_one(0);
	assert_int_equal(first.sched_type, ATOMIC);
	new_of_type(ATOMIC, 11);
	for (uint8_t i = 0; i < 2; i++) {
		new_of_type(ORDERED, i);
		new_of_type(PARALLEL, 20 + i);
	}
	/* Atomic's second is not for port 1; all others are. */
	assert_int_equal(st_get(1, events, 4), 4);
	st_get_none(1);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(events[i].sched_type, events[i].u64 < 10 ? ORDERED : PARALLEL);
		if (events[i].sched_type == ORDERED)
			assert_int_equal(events[i].u64, nb_ordered++);
	}
	/* Ordered ones wait for each other, parallel ones do not. */
	for (unsigned int i = 4; i-- > 0;)
		if (events[i].u64 != 0)
			st_forward(1, events[i], 1);
	assert_int_equal(nb_ordered, 2);
	for (unsigned int i = 0; i < 2; i++) {
		event = st_get_one(1);
		assert_int_equal(event.u64 / 10, 2);
		st_release(1, event);
	}
	st_get_none(1);
	for (unsigned int i = 0; i < 4; i++)
		if (events[i].u64 == 0)
			st_forward(1, events[i], 1);
	for (unsigned int i = 0; i < 2; i++) {
		event = st_get_one(1);
		assert_int_equal(event.u64, i);
		st_release(1, event);
	}
	st_release(0, first);
	event = st_get_one(1);
	assert_int_equal(event.u64, 11);
	assert_int_equal(event.sched_type, ATOMIC);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ordered_restored),
		TEST(ordered_twice),
		TEST(each_ring_has_turns),
		TEST(ordered_release_fills),
		TEST(ordered_implicit_fills),
		TEST(ordered_new_outside),
		TEST(ordered_slow),
		TEST(ordered_many_released),
		TEST(parallel_free),
		TEST(type_by_event),
	};

	return ST_RUN("sched-ordered", tests);
}
