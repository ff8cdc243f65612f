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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(goes_around),
		TEST(port_not_polled),
		TEST(port_never_polled),
		TEST(producer_port),
	};

	return ST_RUN("sched-ports", tests);
}
