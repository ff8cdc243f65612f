/* SPDX-License-Identifier: BSD-3-Clause */

/* One thread: events that go around, ports that are not polled. */

#include "sched_test.h"

/* Events that go around in a queue of their own do not keep out others of the same priority. */
static void
around(uint8_t type, uint8_t other)
{
	struct rte_event event;
	unsigned int rounds = 0;

	st_make_two(1, type, other);
	for (uint32_t i = 0; i < 4; i++)
		st_new(0, 0, i, i);
	for (unsigned int i = 0; i < 50; i++) {
		event = st_get_one(0);
		st_forward(0, event, 0);
	}
	for (uint32_t i = 0; i < 8; i++)
		st_new(0, 1, i, 100 + i);
	for (unsigned int got = 0; got < 8; rounds++) {
		if (rounds > 1000)
			fail_msg("type %u: %u of 8 came", type, got);
		event = st_get_one(0);
		if (event.u64 < 100) {
			st_forward(0, event, 0);
			continue;
		}
		got++;
		st_release(0, event);
	}
	st_teardown(NULL);
}

static void
goes_around(void **state)
{
	for (uint8_t type = 0; type < 3; type++)
		for (uint8_t other = 0; other < 3; other++)
			around(type, other);
}

/* Started: queue 0 of a type, port 0 works, the last port only enqueues. */
static void
make_outside(unsigned int nb_ports, uint8_t type)
{
	const struct weir_sched_port_config producer = {.producer = true};

	st_builtin_only();
	st_make(st_config(nb_ports, 1));
	st_queue(0, type, 0, 0);
	assert_int_equal(weir_sched_port_setup(st_sched, nb_ports - 1, &producer), 0);
	st_start();
}

/* Port 0 forwards all that it gets, but what is wanted. @return how many it got before that */
static unsigned int
others_before(uint64_t wanted, unsigned int burst, unsigned int most)
{
	struct rte_event events[16];

	for (unsigned int others = 0; others < most;) {
		uint16_t nb = weir_sched_dequeue(st_port(0), events, (uint16_t)burst);

		for (uint16_t i = 0; i < nb; i++) {
			if (events[i].u64 == wanted)
				return others;
			events[i].op = RTE_EVENT_OP_FORWARD;
			others++;
		}
		assert_int_equal(weir_sched_enqueue(st_port(0), events, nb), nb);
	}
	return most;
}

/* However few or many events a port sends to itself, it sees those of others. */
static void
comes_from_outside(void **state)
{
	const unsigned int bursts[] = {1, 4, 16}, around[] = {1, 4, 16, 64};

	for (unsigned int i = 0; i < 3 * RTE_DIM(bursts) * RTE_DIM(around); i++) {
		unsigned int burst = bursts[i / 3 % RTE_DIM(bursts)];
		unsigned int nb = around[i / 3 / RTE_DIM(bursts)], others;

		make_outside(2, (uint8_t)(i % 3));
		for (uint32_t n = 0; n < nb; n++)
			st_new(1, 0, n, n + 1);
		others_before(1000, burst, 2000);
		for (uint32_t n = 0; n < 20; n++) {
			st_new(1, 0, 1000 + n, 1000 + n);
			others = others_before(1000 + n, burst, 4000);
			if (others == 4000)
				fail_msg("type %u, burst %u: not seen while %u events go around",
					i % 3, burst, nb);
		}
		st_teardown(NULL);
	}
}

/* A port nobody polls that always has something does not hide another one. */
static void
several_not_polled(void **state)
{
	struct rte_event event;

	for (unsigned int nb = 3; nb < 9; nb++) {
		make_outside(nb + 1, PARALLEL);
		/* Parallel events stay with the port that they were enqueued by. */
		for (unsigned int n = 0; n < 100; n++)
			st_new(1, 0, n, 0);
		for (unsigned int port = 2; port < nb; port++)
			st_new(port, 0, 1, port);
		for (unsigned int seen = 2, got = 0; seen < nb; got++) {
			if (got == 5000)
				fail_msg("%u ports: %u were seen", nb, seen);
			if (st_get(0, &event, 1) == 0)
				fail_msg("%u ports: nothing comes", nb);
			if (event.u64 == 0)
				st_new(1, 0, 1, 0);
			else
				seen++;
		}
		st_teardown(NULL);
	}
}

/* A port that does not come back delays what it holds, nothing else; whatever it enqueued itself, too. */
static void
port_not_polled(void **state)
{
	struct rte_event held[4], event;
	bool seen[200] = {false};
	unsigned int blocked = 0;

	st_builtin_only();
	st_make_two(3, ATOMIC, ATOMIC);
	for (uint32_t i = 0; i < 4; i++)
		st_new(0, 0, i, 1000 + i);
	for (unsigned int i = 0; i < 4; i++)
		held[i] = st_get_one(0);
	for (uint32_t i = 0; i < 200; i++)
		st_new(i % 3 == 2 ? 1 : 0, i % 2, i % 20, i);
	for (uint32_t i = 0; i < 200; i++)
		blocked += i % 2 == 0 && i % 20 < 4;
	for (unsigned int i = 0; i < 200 - blocked; i++) {
		if (st_get(1 + i % 2, &event, 1) == 0) {
			fail_msg("%u of %u came", i, 200 - blocked);
		}
		assert_true(event.queue_id == 1 || event.flow_id >= 4);
		assert_false(seen[event.u64]);
		seen[event.u64] = true;
		st_release(1 + i % 2, event);
	}
	st_get_none(1);
	st_get_none(2);
	for (unsigned int i = 0; i < 4; i++)
		st_release(0, held[i]);
	for (unsigned int i = 0; i < blocked; i++)
		st_release(1 + i % 2, st_get_one(1 + i % 2));
	st_get_none(0);
}

/* A port that never dequeues at all. */
static void
port_never_polled(void **state)
{
	struct rte_event event;

	st_builtin_only();
	for (unsigned int nb_ports = 2; nb_ports <= 9; nb_ports++) {
		for (unsigned int polled = 0; polled < nb_ports; polled++) {
			st_make_two(nb_ports, ATOMIC, PARALLEL);
			for (uint32_t i = 0; i < 64; i++)
				st_new(i % nb_ports, i / 32, i, i);
			for (uint32_t i = 0; i < 64; i++) {
				if (st_get(polled, &event, 1) == 0)
					fail_msg("%u ports, port %u got %u of 64", nb_ports, polled,
						i);
				st_release(polled, event);
			}
			st_teardown(NULL);
		}
	}
}

static void
producer_port(void **state)
{
	const struct weir_sched_port_config producer = {.producer = true};
	struct rte_event event;

	st_make((struct weir_sched_config){.nb_ports = 3, .nb_queues = 3, .nb_events = 256});
	st_queue(0, ATOMIC, 0, 0);
	st_queue(1, ATOMIC, 0, 0);
	st_queue(2, PARALLEL, 0, 0);
	st_keep_all();
	assert_int_equal(weir_sched_port_setup(st_sched, 0, &producer), 0);
	st_start();
	for (uint32_t i = 0; i < 96; i++)
		st_new(0, (uint8_t)(i % 3), i, i);
	assert_int_equal(weir_sched_dequeue(st_port(0), &event, 1), 0);
	for (uint32_t got = 0, idle = 0; got < 96; idle++) {
		assert_true(idle < 10000);
		if (st_get(1 + idle % 2, &event, 1) == 0)
			continue;
		got++;
		st_release(1 + idle % 2, event);
	}
	assert_int_equal(st_stats().nb_released, 96);
	/* It holds nothing. */
	event.op = RTE_EVENT_OP_RELEASE;
	assert_int_equal(weir_sched_enqueue(st_port(0), &event, 1), 0);
	assert_int_equal(rte_errno, EINVAL);
}

enum by_hand { NONE_BY_HAND, FIRST_BY_HAND, LAST_BY_HAND };

/* So many at a time, one of which is released at once: what is left is given up by the next dequeue, and only that. */
static void
by_dequeue(uint8_t type, unsigned int wanted, enum by_hand by_hand)
{
	const unsigned int nb_flows = 8, nb_all = 200;
	struct rte_event events[16], before[16];
	unsigned int next[8] = {0}, done = 0, nb_before = 0, nb_invalid = 0;

	make_outside(2, type);
	for (uint32_t i = 0; i < nb_all; i++)
		st_new(1, 0, i % nb_flows, i / nb_flows);
	for (unsigned int empty = 0; done < nb_all;) {
		uint16_t nb = weir_sched_dequeue(st_port(0), events, (uint16_t)wanted);

		assert_int_equal(st_stats().nb_released, done);
		for (unsigned int i = 0; i < nb_before; i++, nb_invalid++) {
			before[i].op = RTE_EVENT_OP_FORWARD;
			assert_int_equal(weir_sched_enqueue(st_port(0), &before[i], 1), 0);
			assert_int_equal(rte_errno, EINVAL);
		}
		for (unsigned int i = 0; i < nb; i++)
			assert_int_equal(events[i].u64, next[events[i].flow_id]++);
		if (nb == 0 && ++empty > 10000)
			fail_msg("type %u: %u of %u came", type, done, nb_all);
		if (nb > 0 && by_hand != NONE_BY_HAND)
			st_release(0, events[by_hand == FIRST_BY_HAND ? 0 : nb - 1]);
		memcpy(before, events, sizeof(before));
		nb_before = nb;
		done += nb;
	}
	st_get_none(0);
	assert_int_equal(st_stats().nb_released, nb_all);
	assert_int_equal(st_stats().nb_invalid, nb_invalid);
	st_teardown(NULL);
}

static void
dequeue_gives_up(void **state)
{
	for (uint8_t type = 0; type < 3; type++)
		for (unsigned int wanted = 1; wanted <= 16; wanted += wanted < 6 ? 1 : 10)
			for (enum by_hand by_hand = NONE_BY_HAND; by_hand <= LAST_BY_HAND;
				by_hand++)
				by_dequeue(type, wanted, by_hand);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(dequeue_gives_up),
		TEST(goes_around),
		TEST(comes_from_outside),
		TEST(several_not_polled),
		TEST(port_not_polled),
		TEST(port_never_polled),
		TEST(producer_port),
	};

	return ST_RUN("sched-ports", tests);
}
