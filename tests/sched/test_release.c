/* SPDX-License-Identifier: BSD-3-Clause */

/* What is held is given up in bursts, of one kind or of several, and with a dequeue: nothing of it is lost, nor there twice. One thread. */

#include "sched_test.h"

#include "../../lib/sched/short_way.c"

#define WORKER      0
#define OTHER       1
#define NB_QUEUES   3 /* atomic, parallel, ordered */
#define OF_ATOMIC   0
#define OF_PARALLEL 1
#define OF_ORDERED  2
#define MOST        60

static struct builtin *builtin;
static struct builtin_port *port;
static struct rte_event events[MOST];

static void
make(void)
{
	const uint8_t types[NB_QUEUES] = {ATOMIC, PARALLEL, ORDERED};
	struct weir_sched_config config = st_config(2, NB_QUEUES);

	config.nb_reserved = 4;
	st_make(config);
	for (unsigned int i = 0; i < NB_QUEUES; i++)
		st_queue(i, types[i], 0, 0);
}

static void
start(void)
{
	st_start();
	builtin = st_sched->own;
	port = &builtin->ports[WORKER];
}

static int
setup(void **state)
{
	make();
	start();
	return 0;
}

static int
setup_keep(void **state)
{
	make();
	st_keep(WORKER);
	start();
	return 0;
}

/* To itself, of the nth one of its flows, or of a later one. */
static void
send(uint8_t queue, uint32_t nth)
{
	uint32_t flow = nth;

	while (event_shard(builtin, flow % 64) != port->home->id)
		flow++;
	st_new(WORKER, queue, flow % 64, nth);
}

/* So many, of runs of so many of each queue. */
static void
send_runs(unsigned int nb, unsigned int run)
{
	for (unsigned int i = 0; i < nb; i++)
		send((uint8_t)(i / run % NB_QUEUES), i);
}

static unsigned int
take(unsigned int nb)
{
	unsigned int got = 0;

	while (got < nb) {
		const uint16_t more =
			weir_sched_dequeue(st_port(WORKER), &events[got], (uint16_t)(nb - got));

		assert_true(more > 0);
		got += more;
	}
	assert_int_equal(port->nb_held, nb);
	return got;
}

/* All numbers are free, once each; no credit is missing; and no flow is held. */
static void
check_all_is_back(void)
{
	const struct weir_sched_stats stats = st_stats();
	bool seen[RTE_DIM(port->free)] = {false};

	st_idle(WORKER);
	assert_int_equal(port->nb_held, 0);
	assert_int_equal(port->ending.nb, 0);
	for (unsigned int i = 0; i < RTE_DIM(port->free); i++) {
		assert_false(seen[port->free[i]]);
		seen[port->free[i]] = true;
		assert_int_equal(port->held[i].kind, HELD_NOT);
	}
	assert_int_equal(builtin->inside, port->credits + builtin->ports[OTHER].credits);
	assert_int_equal(credits_left(builtin), 4);
	assert_int_equal(stats.nb_released + stats.nb_forwarded, stats.nb_dequeued);
	for (unsigned int flow = 0; flow < 64; flow++)
		for (unsigned int type = 0; type < 2; type++) {
			const struct lane *lane = event_lane(builtin,
				st_event(0, type == 0 ? OF_ATOMIC : OF_ORDERED, flow, 0).event,
				type == 0 ? ATOMIC : ORDERED);

			assert_int_equal(lane->first, NONE);
			assert_int_equal(lane->nb_held, 0);
		}
	st_get_none(WORKER);
}

static void
enqueue(const struct rte_event *burst, unsigned int nb)
{
	assert_int_equal(weir_sched_enqueue(st_port(WORKER), burst, (uint16_t)nb), nb);
}

/* The first ones of those that were taken. */
static void
release_first(unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++)
		events[i].op = RTE_EVENT_OP_RELEASE;
	enqueue(events, nb);
}

/* Bursts of all sizes, so that they begin everywhere in the circle of numbers; some of what is released was made anew. */
static void
in_bursts(void **state)
{
	for (unsigned int round = 0; round < 4 * MOST; round++) {
		const unsigned int nb = 1 + round % MOST;

		send_runs(nb, 1 + round % 7);
		take(nb);
		for (unsigned int i = 0; i < nb; i++) {
			events[i].op = RTE_EVENT_OP_RELEASE;
			if (i % 3 == 0)
				events[i].rsvd = 0;
		}
		enqueue(events, nb);
		check_all_is_back();
	}
}

/* Others go on between them, which are all of one queue. */
static void
between_others(void **state)
{
	for (unsigned int round = 0; round < 4 * MOST; round++) {
		const unsigned int nb = 1 + round % MOST;
		unsigned int nb_on = 0;

		send_runs(nb, 1 + round % 7);
		take(nb);
		for (unsigned int i = 0; i < nb; i++) {
			const bool goes_on = (i + round) % 4 == 0;

			events[i].op = goes_on ? RTE_EVENT_OP_FORWARD : RTE_EVENT_OP_RELEASE;
			if (goes_on)
				events[i].queue_id = OF_ATOMIC;
			nb_on += goes_on;
		}
		enqueue(events, nb);
		take(nb_on);
		release_first(nb_on);
		check_all_is_back();
	}
}

/* One that is told is none of them: those before are gone, those behind are still held. */
static void
one_that_is_not_held(void **state)
{
	send_runs(8, 1);
	take(8);
	for (unsigned int i = 0; i < 8; i++)
		events[i].op = RTE_EVENT_OP_RELEASE;
	events[5].impl_opaque = events[2].impl_opaque;
	assert_int_equal(weir_sched_enqueue(st_port(WORKER), events, 8), 5);
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(port->nb_held, 3);
	events[5].impl_opaque = events[4].impl_opaque;
	assert_int_equal(weir_sched_enqueue(st_port(WORKER), &events[5], 1), 0);
	assert_int_equal(port->nb_held, 3);
	enqueue(&events[6], 2);
	assert_int_equal(port->nb_held, 1);
	for (unsigned int number = 0; number < RTE_DIM(port->held); number++)
		if (port->held[number].kind != HELD_NOT)
			events[5].impl_opaque = (uint8_t)number;
	enqueue(&events[5], 1);
	check_all_is_back();
}

/* Behind those that go on with a reserved credit, which end otherwise; and others that go on, too. */
static void
behind_reserved(void **state)
{
	const struct rte_event new = st_event(RTE_EVENT_OP_NEW, OF_PARALLEL, 0, 100);
	unsigned int nb_on = 0;

	assert_int_equal(weir_sched_reserve(st_sched, 2), 2);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(weir_sched_enqueue_reserved(st_sched, &new), 0);
	take(2);
	for (unsigned int i = 0; i < 2; i++)
		events[i].op = RTE_EVENT_OP_FORWARD;
	enqueue(events, 2);
	send_runs(12, 1);
	take(14);
	for (unsigned int i = 0; i < 14; i++) {
		const bool goes_on = events[i].u64 == 100 || events[i].u64 % 2 == 0;

		events[i].op = goes_on ? RTE_EVENT_OP_FORWARD : RTE_EVENT_OP_RELEASE;
		if (goes_on && events[i].u64 != 100)
			events[i].queue_id = OF_ATOMIC;
		nb_on += goes_on;
	}
	enqueue(events, 14);
	take(nb_on);
	release_first(nb_on);
	check_all_is_back();
}

static void
set_sender(uint32_t sender)
{
	shard_lock(port->home);
	port->home->sender = sender;
	shard_unlock(port->home);
}

/* What follows from atomic events is put in by another one's rings: those that are released come behind it. */
static void
behind_foreign(void **state)
{
	set_sender(OTHER);
	send_runs(24, 1);
	take(24);
	for (unsigned int i = 0; i < 24; i++) {
		const bool goes_on = events[i].queue_id == OF_ATOMIC && i % 2 == 0;

		events[i].op = goes_on ? RTE_EVENT_OP_FORWARD : RTE_EVENT_OP_RELEASE;
		if (goes_on)
			events[i].queue_id = OF_PARALLEL;
	}
	enqueue(events, 24);
	take(4);
	release_first(4);
	set_sender(WORKER);
	check_all_is_back();
}

/* Another one has become the sender since they were handed out. */
static void
after_sender_changed(void **state)
{
	send_runs(24, 2);
	take(24);
	set_sender(OTHER);
	release_first(24);
	set_sender(WORKER);
	check_all_is_back();
}

/* With the next dequeue, of whatever kind they are; some are gone already. */
static void
with_dequeue(void **state)
{
	for (unsigned int round = 0; round < 4 * MOST; round++) {
		const unsigned int nb = 1 + round % 30;
		uint16_t got;

		send_runs(nb, 1 + round % 7);
		got = weir_sched_dequeue(st_port(WORKER), events, (uint16_t)nb);
		assert_true(got > 0);
		for (unsigned int i = round % 3; i < got; i += 3) {
			events[i].op = RTE_EVENT_OP_RELEASE;
			enqueue(&events[i], 1);
		}
		for (unsigned int left = nb - got; left > 0; left -= got) {
			got = weir_sched_dequeue(st_port(WORKER), events, (uint16_t)left);
			assert_true(got > 0);
			assert_int_equal(port->nb_held, got);
		}
		st_idle(WORKER);
		check_all_is_back();
	}
}

#define CASE(name, setup) cmocka_unit_test_setup_teardown(name, setup, st_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(in_bursts, setup_keep),
		CASE(between_others, setup_keep),
		CASE(one_that_is_not_held, setup_keep),
		CASE(behind_reserved, setup_keep),
		CASE(behind_foreign, setup_keep),
		CASE(after_sender_changed, setup_keep),
		CASE(with_dequeue, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
