/* SPDX-License-Identifier: BSD-3-Clause */

/* Which dequeues go the short way, and what they leave as the long one does. One thread; it depends on nothing that takes time. */

#include "sched_test.h"

#include "../../lib/sched/short_way.c"

#define WORKER   0
#define OTHER    1
#define PRODUCER 2
#define BURST    8

static struct builtin_port *port;
static struct shard *shard; /* its own */

/* Queue 0 is for all, queue 1 for a group, which is all at first. */
static int
setup(void **state)
{
	const struct weir_sched_port_config producer = {.producer = true};

	st_make(st_config(3, 2));
	st_queue(0, ATOMIC, 0, 0);
	st_queue(1, ATOMIC, 0, 1);
	assert_int_equal(weir_sched_port_setup(st_sched, PRODUCER, &producer), 0);
	st_group(1, 1 << WORKER | 1 << OTHER);
	st_start();
	port = &((struct builtin *)st_sched->own)->ports[WORKER];
	shard = port->home;
	return 0;
}

/* New events of one of its flows. */
static void
send_from(unsigned int from, uint8_t queue, unsigned int nb)
{
	struct rte_event event = {.queue_id = queue};

	while (event_shard(port->builtin, event.event) != shard->id)
		event.flow_id++;
	while (nb-- > 0)
		st_new(from, queue, event.flow_id, 0);
}

static void
send(uint8_t queue, unsigned int nb)
{
	send_from(PRODUCER, queue, nb);
}

static void
take(unsigned int nb)
{
	struct rte_event events[BURST];

	assert_int_equal(weir_sched_dequeue(st_port(WORKER), events, (uint16_t)nb), nb);
	for (unsigned int i = 0; i < nb; i++)
		st_release(WORKER, events[i]);
}

static bool
may_have(bool burst)
{
	return may_have_next(port, shard, burst);
}

/* What rings were seen to have is had in bursts, */
static void
what_is_in_rings(void **state)
{
	assert_false(may_have(true));
	send(0, 2 * BURST + 1);
	assert_false(may_have(true)); /* nobody has looked yet */
	take(BURST);
	assert_true(may_have(true));
	assert_false(may_have(false));
	take(BURST);
	take(1);
	assert_false(may_have(true));
}

/* but not what is ready for others only: no lock is taken for that. */
static void
what_is_for_others(void **state)
{
	send(1, 1);
	take(1);
	st_group(1, 1 << OTHER);
	send(1, BURST);
	st_idle(WORKER);
	assert_int_equal(shard->nb_ready, 1);
	assert_true(shard->nb_hint > 0);
	assert_false(may_have(true));
}

/* What was taken elsewhere before has passed nothing. */
static void
what_was_elsewhere(void **state)
{
	send(0, 3 * BURST);
	take(BURST);
	port->nb_elsewhere = 1;
	take(BURST);
	assert_int_equal(port->nb_elsewhere, 0);
	assert_int_equal(shard->nb_passed[0], 0);
}

/* It holds one event at a time, which it gives up with the next dequeue, until that one looks. */
static void
until_look(void)
{
	struct rte_event event;

	send_from(OTHER, 0, 1); /* there are several rings */
	take(1);
	send(0, 2 * EVENTS_PER_LOOK);
	do
		assert_int_equal(weir_sched_dequeue(st_port(WORKER), &event, 1), 1);
	while (shard->nb_since_look < EVENTS_PER_LOOK - 1);
}

/* Single events, too: one of so many dequeues looks, */
static void
single_ones_look(void **state)
{
	struct rte_event event;

	until_look();
	port->nb_elsewhere = 1;
	port->nb_calls = 0;
	assert_int_equal(weir_sched_dequeue(st_port(WORKER), &event, 1), 1);
	assert_int_equal(shard->nb_since_look, 0);
	assert_int_equal(port->nb_elsewhere, 0);
	assert_int_equal(shard->nb_passed[0], 0);
	assert_int_equal(
		port->nb_calls, 1); /* by the short way, which counts to the next long one */
}

/* and goes the long way where flows are to be moved, which takes a step there. */
static void
single_ones_move(void **state)
{
	struct rte_event event;

	until_look();
	port->move.own = 1;
	assert_int_equal(weir_sched_dequeue(st_port(WORKER), &event, 1), 1);
	assert_int_equal(shard->nb_since_look, EVENTS_PER_LOOK);
	assert_int_equal(shard->at_once, 0);
	assert_false(look_or_not(port, 1));
	shard->nb_since_look = EVENTS_PER_LOOK - 1;
	assert_true(look_or_not(port, 1));
	assert_int_equal(shard->nb_since_look, EVENTS_PER_LOOK - 1);
	port->move.own = 0;
	shard->nb_since_look = EVENTS_PER_LOOK;
	assert_true(look_or_not(port, 1));
	assert_int_equal(shard->nb_since_look, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_in_rings, setup, st_teardown),
		cmocka_unit_test_setup_teardown(what_is_for_others, setup, st_teardown),
		cmocka_unit_test_setup_teardown(what_was_elsewhere, setup, st_teardown),
		cmocka_unit_test_setup_teardown(single_ones_look, setup, st_teardown),
		cmocka_unit_test_setup_teardown(single_ones_move, setup, st_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
