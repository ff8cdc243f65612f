/* SPDX-License-Identifier: BSD-3-Clause */

/* What comes next of what a worker sent to itself is had one by one with little asked, until something else is to be looked at. One thread. */

#include "sched_test.h"

#include "../../lib/sched/short_way.c"

#include "one_by_one_stand.h"

/* All of those that were sent; of all but the first one, which sees to it, it is known that they are next. */
static void
take_all(void)
{
	uint32_t nb_noted = 0;

	for (unsigned int i = 0; i < NB_EVENTS; i++) {
		take(i);
		assert_int_equal(shard->at_once, NB_EVENTS - 1 - i);
		if (i == 0)
			nb_noted = shard->nb_noted;
		assert_int_equal(shard->nb_noted, nb_noted); /* nor did it go another way */
	}
	st_idle(WORKER);
	assert_int_equal(port->nb_held, 0);
	assert_int_equal(st_stats().nb_released, st_stats().nb_dequeued);
	assert_int_equal(port->credits, port->builtin->inside);
}

static void
of_each_type(void **state)
{
	const uint8_t queues[] = {OF_ALL, OF_PARALLEL, OF_ORDERED, OF_GROUP, OF_ANY};

	for (unsigned int i = 0; i < RTE_DIM(queues); i++) {
		send(queues[i]);
		take_all();
	}
}

/* It looks at the rings when its turn ends, and not before. */
static void
until_look(void **state)
{
	const unsigned int nb = 3 * EVENTS_PER_LONG_TURN;

	for (unsigned int i = 0; i < nb; i++)
		st_new(WORKER, OF_ALL, own_flow(i % 4), i);
	for (unsigned int i = 0; i < nb; i++) {
		const unsigned int of_turn = (i + 1) % EVENTS_PER_LONG_TURN;

		port->nb_calls = 0; /* it looks elsewhere then */
		take(i);
		assert_int_equal(shard->nb_since_look, of_turn);
		assert_true(shard->at_once <= EVENTS_PER_LONG_TURN - of_turn);
		if (i + 1 < nb)
			assert_int_equal(shard->turn_left, EVENTS_PER_LONG_TURN - of_turn);
	}
}

/* What others sent meanwhile is seen then, */
static void
others_are_seen(void **state)
{
	for (unsigned int i = 0; i < 2 * EVENTS_PER_LONG_TURN; i++)
		st_new(WORKER, OF_ALL, own_flow(i % 4), i);
	take(0);
	st_new(OTHER, OF_ALL, own_flow(5), 1000);
	for (unsigned int i = 1; i < EVENTS_PER_LONG_TURN; i++)
		take(i);
	take(1000);
	take(EVENTS_PER_LONG_TURN);
}

/* and earlier where something waits in the lists, which others may have to be let in beside. */
static void
until_look_beside_lists(void **state)
{
	send(OF_ALL);
	for (unsigned int i = 0; i < EVENTS_PER_LOOK; i++)
		st_new(WORKER, OF_ALL, own_flow(i % 4), NB_EVENTS + i);
	take(0);
	assert_false(shard_look_is_due(shard, 1));
	shard->nb_since_look = EVENTS_PER_LOOK;
	assert_false(shard_look_is_due(shard, 1));
	assert_true(shard_look_is_due(shard, NB_EVENTS + EVENTS_PER_LOOK));
	shard_lock(shard);
	shard_drain(shard, 1);
	shard_unlock(shard);
	assert_true(shard_look_is_due(shard, 1));
}

/* Others look there now and then, in spite of work at hand. */
static void
until_others_are_looked_at(void **state)
{
	port->nb_calls = CALLS_PER_LOOK - 4;
	send(OF_ALL);
	take(0);
	assert_int_equal(shard->at_once, 2);
	take(1);
	take(2);
	assert_int_equal(port->nb_calls, CALLS_PER_LOOK - 1);
	take(3);
	assert_int_equal(port->nb_calls, 0);
}

/* Others' are taken to the end a burst at a time: what is left goes to the lists. */
static void
what_others_sent(void **state)
{
	for (unsigned int i = 0; i < NB_EVENTS + 3; i++)
		st_new(OTHER, OF_ALL, own_flow(i), i);
	take(0);
	for (unsigned int i = 1; i < NB_EVENTS + 3; i++) {
		const uint32_t before = shard->nb_ready + shard->in_rings[0];

		take(i);
		assert_int_equal(shard->nb_ready + shard->in_rings[0], before - 1);
		assert_true(shard->nb_ready == 0 || shard->at_once == 0);
		assert_true(shard->in_rings[0] == 0 || shard->in_rings[0] >= FEW);
	}
}

/* What it sent to itself, and what others sent, have their turns. */
static void
in_turns(void **state)
{
	const unsigned int nb_own = 4 * EVENTS_PER_LONG_TURN, nb = nb_own + 4 * EVENTS_PER_TURN;
	unsigned int nb_in_row = 0;
	bool was_own = false;

	for (unsigned int i = 0; i < nb; i++)
		st_new(i < nb_own ? WORKER : OTHER, OF_ALL, own_flow(i % NB_EVENTS), i < nb_own);
	for (unsigned int i = 0; i < nb; i++) {
		struct rte_event event;
		bool is_own;

		assert_int_equal(weir_sched_dequeue(st_port(WORKER), &event, 1), 1);
		is_own = event.u64 != 0;
		nb_in_row = is_own == was_own ? nb_in_row + 1 : 1;
		was_own = is_own;
		assert_true(nb_in_row <= (is_own ? EVENTS_PER_LONG_TURN : EVENTS_PER_TURN + FEW));
	}
}

/* Of another port, whose ring is the only one that was ever used, as of itself: no other one waits for its turn, until there is one. */
static void
who_is_alone(void **state)
{
	for (unsigned int i = 0; i < 2 * EVENTS_PER_LONG_TURN; i++)
		st_new(OTHER, OF_ALL, own_flow(i % 4), i);
	take(0);
	assert_true(shard->turn_is_long && !shard->turn_is_own);
	assert_true(shard->at_once > EVENTS_PER_TURN);
	st_new(WORKER, OF_ALL, own_flow(5), 1000);
	for (unsigned int i = 1; i < EVENTS_PER_LONG_TURN; i++)
		take(i);
	take(1000);
	take(EVENTS_PER_LONG_TURN);
	assert_false(shard->turn_is_long);
	assert_true(shard->at_once < EVENTS_PER_TURN);
}

/* Also who holds nothing when it asks. */
static void
what_others_sent_to_who_holds_nothing(void **state)
{
	send(OF_PARALLEL); /* by now that queue is in use */
	take_all();
	unmarked_later(port);
	for (unsigned int i = 0; i < FEW + 3; i++)
		st_new(OTHER, OF_ALL, own_flow(i), i);
	for (unsigned int i = 0; i < 3; i++) {
		st_forward(WORKER, take(i), OF_PARALLEL);
		assert_int_equal(port->nb_held, 0);
		assert_int_equal(shard->at_once, 3 - i);
	}
}

/* Who has had the lock may have changed all that was seen. */
static void
others_had_lock(void **state)
{
	send(OF_ALL);
	take(0);
	assert_true(shard->at_once > 0);
	shard_lock(shard);
	shard_drain(shard, 1);
	shard_unlock(shard);
	assert_int_equal(shard->at_once, 0);
	for (unsigned int i = 1; i < NB_EVENTS; i++)
		take(i);
}

/* Another port has the flow of the third one. */
static void
flow_of_another_one(void **state)
{
	struct lane *lane = event_lane(port->builtin, own_flow(2), ATOMIC);

	hold_lane(shard, lane, lane_held_by(OTHER));
	send(OF_ALL);
	take(0);
	take(1);
	take(3);
	shard_lock(shard);
	shard_release(shard, lane, false);
	shard_unlock(shard);
	take(2);
	take(4);
}

/* Something waits in the flow that it gives up: that is next, whatever was known. */
static void
what_waits_in_flow(void **state)
{
	const struct rte_event waits = st_event(RTE_EVENT_OP_NEW, OF_ALL, own_flow(1), 1000);

	send(OF_ALL);
	take(0);
	take(1);
	shard_lock_again(shard);
	shard_arrive(shard, &waits);
	shard_unlock(shard);
	assert_true(shard->at_once > 0);
	take(1000);
	take(2);
}

/* As it would be noted now. */
static uint32_t
next_single(void)
{
	shard_note_next(port, shard, 1);
	assert_int_equal(port->knows_next, shard->at_once > 0 ? KNOWS_SINGLE : KNOWS_NOT);
	return shard->at_once;
}

/* It is known before that the next dequeue would have more to do. */
static void
what_would_be_refused(void **state)
{
	struct lane *lane = event_lane(port->builtin, own_flow(0), ATOMIC);
	const int32_t most = port->most_credits;

	send(OF_ALL);
	take(0);
	assert_int_equal(next_single(), NB_EVENTS - 1);
	lane->first = 1;
	assert_int_equal(next_single(), 0);
	lane->first = NONE;
	port->most_credits = port->credits + 1;
	assert_int_equal(next_single(), 0);
	port->most_credits = most;
}

/* What it held goes on, one by one: all flows are back with the next dequeue. */
static void
several_sent_on(void **state)
{
	struct rte_event first, second;

	st_new(WORKER, OF_PARALLEL, 0, 0); /* by now that queue is in use */
	st_release(WORKER, take(0));
	send(OF_ALL);
	first = take(0);
	second = take(1);
	st_forward(WORKER, first, OF_PARALLEL);
	st_forward(WORKER, second, OF_PARALLEL);
	assert_int_equal(port->nb_held, 0);
	assert_true(port->knows_next);
	assert_int_equal(returned_count(&shard->returned), 2);
	take(2);
	assert_true(returned_seems_empty(&shard->returned));
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(event_lane(port->builtin, own_flow(i), ATOMIC)->state, LANE_IDLE);
}

/* What follows from its atomic events is not its own to send: it has to be told apart. */
static void
another_sender(void **state)
{
	shard_lock(shard);
	shard->sender = OTHER;
	shard_unlock(shard);
	send(OF_ALL);
	for (unsigned int i = 0; i < NB_EVENTS; i++) {
		take(i);
		assert_int_equal(shard->at_once, 0);
		assert_int_equal(port->held[handed_last(port)].flags, HELD_FOREIGN);
	}
}

/* The shard has become another port's, for which something comes next there: not for this one. */
static void
another_owner(void **state)
{
	send(OF_ALL);
	take(0);
	shard_lock(shard);
	shard->owner = shard->sender = OTHER;
	shard->at_once = 4;
	shard_unlock(shard);
	take(1);
	assert_int_not_equal(shard->at_once, 3);
}

/* Who asks does not know yet that it has become another one's. */
static void
who_was_owner(void **state)
{
	send(OF_ALL);
	shard_look_at_own(shard, 0);
	assert_int_equal(come_next(port, shard), NB_EVENTS);
	shard->owner = OTHER;
	assert_int_equal(next_single(), 0);
}

/* One that it may not have is somewhere. */
static void
not_of_group(void **state)
{
	st_group(1, 1 << OTHER);
	send(OF_ALL);
	for (unsigned int i = 0; i < NB_EVENTS; i++) {
		take(i);
		assert_int_equal(shard->at_once, 0);
	}
}

/* Also of a parallel event it is known which queue it came from. */
static void
switched(void **state)
{
	struct rte_event event;

	send(OF_PARALLEL);
	take(0);
	assert_true(shard->at_once > 0);
	event = take(1);
	event.queue_id = OF_ALL;
	assert_int_equal(weir_sched_switch(st_port(WORKER), &event, own_flow(5), PARALLEL), 0);
	assert_int_equal(event.queue_id, OF_PARALLEL);
	assert_int_equal(event.flow_id, own_flow(5));
}

/* What goes on leaves nothing to be given up: its flow is back when the next one comes. */
static void
sent_on(void **state)
{
	const uint8_t queues[] = {OF_ALL, OF_ORDERED};

	send(OF_PARALLEL); /* by now that queue is in use */
	take_all();
	unmarked_later(port);
	for (unsigned int i = 0; i < RTE_DIM(queues); i++) {
		struct lane *lane =
			event_lane(port->builtin, st_event(0, queues[i], own_flow(1), 0).event,
				queues[i] == OF_ALL ? ATOMIC : ORDERED);

		send(queues[i]);
		take(0);
		st_forward(WORKER, take(1), OF_PARALLEL);
		assert_int_equal(port->nb_held, 0);
		assert_int_equal(shard->at_once, NB_EVENTS - 2);
		take(2);
		assert_int_equal(shard->at_once, NB_EVENTS - 3);
		assert_int_equal(lane->first, NONE);
		assert_int_equal(lane->nb_held, 0);
		assert_int_equal(lane->state, LANE_IDLE);
		for (unsigned int next = 3; next < NB_EVENTS; next++)
			take(next);
		take(1);
		st_idle(WORKER);
	}
}

/* Another port has a place before its own one, which it gives up nevertheless. */
static void
place_before(void **state)
{
	struct lane *lane =
		event_lane(port->builtin, st_event(0, OF_ORDERED, own_flow(1), 0).event, ORDERED);
	uint32_t before;

	shard_lock(shard);
	before = place_get(shard, lane);
	shard_unlock(shard);
	send(OF_ORDERED);
	take(0);
	take(1);
	assert_true(shard->at_once > 0);
	take(2);
	assert_int_equal(lane->first, before);
	assert_int_equal(lane->last, before);
}

/* One behind it, which is there when it gives its own one up. */
static void
place_behind(void **state)
{
	struct lane *lane =
		event_lane(port->builtin, st_event(0, OF_ORDERED, own_flow(1), 0).event, ORDERED);
	uint32_t behind;

	send(OF_ORDERED);
	take(0);
	take(1);
	shard_lock_again(shard);
	behind = place_get(shard, lane);
	shard_unlock(shard);
	assert_true(shard->at_once > 0);
	take(2);
	assert_int_equal(lane->first, behind);
}

/* Credits that it has no use for go back: others may wait for them. How many may lie with it grows, up to some hundred. */
static void
credits_go_back(void **state)
{
	const unsigned int nb = 2000;

	for (unsigned int round = 0; round < 4; round++) {
		for (unsigned int i = 0; i < nb; i++)
			st_new(WORKER, OF_ALL, own_flow(i % NB_EVENTS), i);
		for (unsigned int i = 0; i < nb; i++) {
			take(i);
			assert_true(port->credits < port->most_credits);
		}
	}
}

/* One whose credit is a reserved one, between others. */
static void
reserved(void **state)
{
	const struct rte_event new = st_event(RTE_EVENT_OP_NEW, OF_PARALLEL, own_flow(0), 1);
	struct rte_event event;

	assert_int_equal(weir_sched_reserve(st_sched, 1), 1);
	assert_int_equal(weir_sched_enqueue_reserved(st_sched, &new), 0);
	event = take(1);
	st_new(WORKER, OF_ALL, own_flow(0), 0);
	st_forward(WORKER, event, OF_ALL);
	send(OF_ALL);
	take(0);
	assert_true(shard->at_once > 0);
	take(1);
	assert_int_equal(weir_sched_reserve(st_sched, 1), 0);
	take(0);
	assert_int_equal(weir_sched_reserve(st_sched, 1), 1);
}

/* After a stop nothing is known. */
static void
stopped(void **state)
{
	send(OF_ALL);
	take(0);
	assert_true(shard->at_once > 0);
	weir_sched_stop(st_sched, NULL, NULL);
	assert_int_equal(shard->at_once, 0);
	st_start();
	st_get_none(WORKER);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(of_each_type),
		CASE(until_look),
		CASE(others_are_seen),
		CASE(until_look_beside_lists),
		CASE(until_others_are_looked_at),
		CASE(what_others_sent),
		CASE(in_turns),
		CASE(who_is_alone),
		CASE(what_others_sent_to_who_holds_nothing),
		CASE(others_had_lock),
		CASE(flow_of_another_one),
		CASE(what_waits_in_flow),
		CASE(what_would_be_refused),
		cmocka_unit_test_setup_teardown(several_sent_on, setup_keep, st_teardown),
		CASE(another_sender),
		CASE(another_owner),
		CASE(who_was_owner),
		CASE(not_of_group),
		CASE(switched),
		CASE(sent_on),
		CASE(place_before),
		CASE(place_behind),
		CASE(credits_go_back),
		CASE(reserved),
		CASE(stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
