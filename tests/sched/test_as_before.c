/* SPDX-License-Identifier: BSD-3-Clause */

/* What comes next is of the kind of what came before, and is had, or goes on, by bias: until something speaks against it. One thread. */

#include "sched_test.h"

#include "../../lib/sched/short_way.c"

#include "one_by_one_stand.h"

static struct held *
last_held(void)
{
	return &port->held[handed_last(port)];
}

static bool
is_by_word(void)
{
	return (last_held()->flags & HELD_BY_WORD) != 0;
}

static uint8_t
type_of(uint8_t queue)
{
	return queue == OF_PARALLEL ? PARALLEL : queue == OF_ORDERED ? ORDERED : ATOMIC;
}

/* It has the third one, by bias, and the next ones may be had as that. */
static void
begin(uint8_t queue)
{
	send(queue);
	for (unsigned int i = 0; i < 3; i++)
		take(i);
	if (!port->builtin->may_fence)
		st_skip("the kernel has no fence for all threads");
	assert_ptr_equal(port->bias.mine, &shard->bias);
	assert_int_equal(port->before.type, type_of(queue));
	assert_int_equal(last_held()->how, port->before.how);
	assert_int_equal(shard->nb_unmarked, queue != OF_PARALLEL);
	assert_int_equal(shard->nb_placed, 0);
}

/* All is counted as it is otherwise. */
static void
is_counted(void **state)
{
	const uint8_t queues[] = {OF_ALL, OF_PARALLEL, OF_ORDERED};

	for (unsigned int i = 0; i < RTE_DIM(queues); i++) {
		const struct weir_sched_stats before = st_stats();
		const uint32_t nb_polls = shard->nb_polls, nb_taken = shard->nb_taken;

		begin(queues[i]);
		for (unsigned int nb = 3; nb < NB_EVENTS; nb++) {
			take(nb);
			assert_int_equal(port->nb_held, 1);
			assert_int_equal(shard->nb_polls - nb_polls, nb + 1);
			assert_int_equal(shard->nb_taken - nb_taken, nb + 1);
			assert_int_equal(shard->in_rings[0], NB_EVENTS - 1 - nb);
			assert_int_equal(st_stats().nb_dequeued - before.nb_dequeued, nb + 1);
			assert_int_equal(st_stats().nb_released - before.nb_released, nb);
		}
		st_idle(WORKER);
		assert_int_equal(port->credits, port->builtin->inside);
		assert_int_equal(shard->nb_marked + shard->nb_unmarked + shard->nb_placed, 0);
	}
}

/* What was given up so is not held any more. */
static void
not_given_up_twice(void **state)
{
	struct rte_event first, second;

	begin(OF_ALL);
	first = take(3);
	second = take(4);
	first.op = RTE_EVENT_OP_RELEASE;
	assert_int_equal(weir_sched_enqueue(st_port(WORKER), &first, 1), 0);
	st_release(WORKER, second);
}

/* Others see that it has the last one's flow, and that alone. */
static void
others_see_the_last_one(void **state)
{
	begin(OF_ALL);
	take(3);
	others_come();
	for (unsigned int i = 0; i < NB_EVENTS; i++)
		assert_int_equal(
			lane_at(i)->state, i == 3 ? lane_held_by(WORKER) : (uint32_t)LANE_IDLE);
	assert_int_equal(shard->nb_marked, 1);
	take(4);
	assert_int_equal(lane_at(3)->state, LANE_IDLE);
}

/* It holds what it had, until it says otherwise. */
static void
keeps(void **state)
{
	struct rte_event first, second;

	send(OF_PARALLEL);
	st_forward(WORKER, take(0), OF_PARALLEL);
	st_forward(WORKER, take(1), OF_PARALLEL);
	first = take(2);
	if (port->builtin->may_fence)
		assert_int_equal(port->before.type, PARALLEL);
	second = take(3);
	assert_int_equal(port->nb_held, 2);
	assert_int_equal(st_stats().nb_released, 0);
	st_release(WORKER, first);
	st_release(WORKER, second);
}

/* Kinds follow each other, one in a row or two: each is held as it is otherwise, and nobody else may have its flow meanwhile. */
static void
kinds_in_turns(void **state)
{
	const uint8_t queues[] = {OF_ALL, OF_PARALLEL, OF_ALL, OF_ALL, OF_PARALLEL, OF_PARALLEL,
		OF_ORDERED, OF_ALL, OF_ORDERED, OF_PARALLEL};
	const unsigned int nb = 4 * RTE_DIM(queues);

	for (unsigned int i = 0; i < nb; i++)
		st_new(WORKER, queues[i % RTE_DIM(queues)], own_flow(i % NB_EVENTS), i);
	for (unsigned int i = 0; i < nb; i++) {
		const uint8_t queue = queues[i % RTE_DIM(queues)];

		assert_int_equal(take(i).queue_id, queue);
		assert_int_equal(last_held()->kind, queue == OF_ALL       ? HELD_ATOMIC
						    : queue == OF_ORDERED ? HELD_ORDERED
									  : HELD_PARALLEL);
		assert_int_equal(shard->nb_marked + shard->nb_unmarked + shard->nb_placed,
			queue != OF_PARALLEL);
		if (i % 7 != 0)
			continue;
		others_come();
		assert_int_equal(shard->nb_placed, queue == OF_ORDERED);
		assert_int_equal(lane_at(i % NB_EVENTS)->state,
			queue == OF_ALL ? lane_held_by(WORKER) : (uint32_t)LANE_IDLE);
	}
}

/* Its credit is not its port's to keep. */
static void
reserved(void **state)
{
	const struct rte_event new = st_event(RTE_EVENT_OP_NEW, OF_PARALLEL, own_flow(0), 1);
	struct rte_event event;

	st_new(WORKER, OF_ALL, own_flow(0), 0);
	st_release(WORKER, take(0));
	assert_int_equal(weir_sched_reserve(st_sched, 1), 1);
	assert_int_equal(weir_sched_enqueue_reserved(st_sched, &new), 0);
	event = take(1);
	for (unsigned int i = 0; i < 4; i++)
		st_new(WORKER, OF_ALL, own_flow(i), i);
	st_forward(WORKER, event, OF_ALL);
	send(OF_ALL);
	for (unsigned int i = 0; i < 4; i++)
		take(i);
	if (port->builtin->may_fence)
		assert_int_equal(port->before.type, ATOMIC);
	take(1);
	assert_int_not_equal(last_held()->flags & HELD_RESERVED, 0);
	take(0);
	assert_int_equal(weir_sched_reserve(st_sched, 1), 1);
}

/* There may be something more urgent. */
static void
several_priorities(void **state)
{
	begin(OF_ALL);
	priority_use(port->builtin, 3);
	take(3);
	assert_null(port->bias.mine);
	assert_int_equal(port->before.type, NO_TYPE);
}

/* A flow that is marked has to be seen to. */
static void
something_is_marked(void **state)
{
	begin(OF_PARALLEL);
	hold_lane(shard, lane_at(5), lane_held_by(WORKER));
	returned_put(&shard->returned, lane_at(5));
	take(3);
	assert_true(returned_seems_empty(&shard->returned));
	assert_int_equal(lane_at(5)->state, LANE_IDLE);
}

/* Which credits lie with it for nothing is others' to say. */
static void
credits_are_many(void **state)
{
	begin(OF_ALL);
	port->most_credits = port->credits + 1;
	take(3);
	assert_true(port->credits < port->most_credits);
}

/* What it has without a mark goes on without one: its flow is free for others, and nothing of it is left. */
static void
goes_on(void **state)
{
	struct rte_event event;

	send(OF_PARALLEL); /* by now that queue is in use */
	for (unsigned int i = 0; i < NB_EVENTS; i++)
		st_release(WORKER, take(i));
	begin(OF_ALL);
	event = take(3);
	assert_true(is_by_word());
	st_forward(WORKER, event, OF_PARALLEL);
	assert_int_equal(port->nb_held, 0);
	assert_int_equal(shard->nb_unmarked + shard->nb_marked, 0);
	assert_true(returned_seems_empty(&shard->returned));
	event.op = RTE_EVENT_OP_FORWARD;
	assert_int_equal(weir_sched_enqueue(st_port(WORKER), &event, 1), 0); /* it is not held */
	others_come();
	assert_int_equal(lane_at(3)->state, LANE_IDLE);
	for (unsigned int i = 4; i < NB_EVENTS; i++)
		take(i);
	assert_int_equal(take(3).queue_id, OF_PARALLEL);
}

/* It is had by bias again, when it holds nothing. */
static void
next_of_what_goes_on(void **state)
{
	begin(OF_ALL);
	for (unsigned int i = 3; i + 2 < NB_EVENTS; i++) {
		st_forward(WORKER, take(i), OF_ALL);
		assert_ptr_equal(port->bias.mine, &shard->bias);
	}
	take(NB_EVENTS - 2);
	assert_true(is_by_word());
	assert_int_equal(shard->nb_unmarked, 1);
	others_come();
	assert_int_equal(lane_at(NB_EVENTS - 2)->state, lane_held_by(WORKER));
}

/* Others have marked it: it goes back as such, and for a while others do, too. */
static void
goes_on_marked(void **state)
{
	struct rte_event event;

	begin(OF_ALL);
	event = take(3);
	others_come();
	assert_int_equal(lane_at(3)->state, lane_held_by(WORKER));
	st_forward(WORKER, event, OF_ALL);
	assert_int_equal(port->nb_held, 0);
	assert_true(port->unmarked_after > 0);
	others_come();
	take(4);
	assert_int_equal(lane_at(3)->state, LANE_IDLE);
	assert_int_equal(lane_at(4)->state, lane_held_by(WORKER));
}

/* Without the bias, too: by the lock. It is marked for a while if the bias is not to be had so soon. */
static void
goes_on_by_lock(void **state)
{
	for (unsigned int pauses = 0; pauses < 2; pauses++) {
		struct rte_event event;
		unsigned int i;

		begin(OF_ALL);
		event = take(3);
		port_unbias(port);
		port->bias.left = pauses;
		st_forward(WORKER, event, OF_ALL);
		assert_int_equal(port->nb_held, 0);
		assert_int_equal(shard->nb_unmarked + shard->nb_marked, 0);
		assert_int_equal(port->unmarked_after > 0, pauses);
		for (i = 4; i < NB_EVENTS; i++)
			take(i);
		take(3);
		st_idle(WORKER);
	}
}

/* Of two ordered events of a flow the second one waits for the first one, whether that was let go by bias or not. */
static void
ordered_goes_on(void **state)
{
	struct rte_event first, second;

	for (unsigned int i = 0; i < 6; i++)
		st_new(WORKER, OF_ORDERED, own_flow(i / 2), i);
	first = take(0);
	st_forward(WORKER, first, OF_ORDERED);
	first = take(1);
	st_forward(WORKER, first, OF_ORDERED);
	first = take(2);
	second = take(3);
	st_forward(WORKER, second, OF_ORDERED);
	st_forward(WORKER, first, OF_ORDERED);
	first = take(4);
	second = take(5);
	st_release(WORKER, first);
	st_forward(WORKER, second, OF_ORDERED);
	for (unsigned int i = 0; i < 4; i++)
		st_release(WORKER, take(i));
	st_release(WORKER, take(5));
	assert_int_equal(shard->nb_marked, 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(event_lane(port->builtin,
					 st_event(0, OF_ORDERED, own_flow(i), 0).event, ORDERED)
					 ->first,
			NONE);
}

/* Ordered ones that have no places, nor need any: one after the other. */
static void
ordered_in_order(void **state)
{
	const uint64_t nb_forwarded = st_stats().nb_forwarded;

	begin(OF_ORDERED);
	for (unsigned int i = 3; i + 2 < NB_EVENTS; i++) {
		st_forward(WORKER, take(i), OF_ORDERED);
		assert_int_equal(port->nb_held, 0);
		assert_int_equal(shard->nb_placed + shard->nb_unmarked, 0);
		assert_ptr_equal(port->bias.mine, &shard->bias);
	}
	assert_int_equal(shard->nb_places, 1); /* the first one's */
	assert_int_equal(st_stats().nb_forwarded - nb_forwarded, NB_EVENTS - 5);
	take(NB_EVENTS - 2);
	take(NB_EVENTS - 1);
	for (unsigned int i = 3; i + 2 < NB_EVENTS; i++)
		take(i);
	st_idle(WORKER);
}

/* Others have come to the one that it has, which has its place then: it goes on from there, and for a while others have theirs, too. */
static void
ordered_goes_on_marked(void **state)
{
	struct rte_event event;

	begin(OF_ORDERED);
	event = take(3);
	others_come();
	assert_int_equal(shard->nb_placed, 1);
	st_forward(WORKER, event, OF_ORDERED);
	assert_int_equal(port->nb_held, 0);
	assert_int_equal(shard->nb_placed, 0);
	assert_int_equal(port->unmarked_after, MARKED_FOR);
	take(4);
	assert_false(is_by_word());
	assert_int_equal(shard->nb_placed, 1);
}

/* That while ends, whether they are given up or go on. */
static void
ordered_marked_for_a_while(void **state)
{
	struct rte_event last;

	for (unsigned int forwards = 0; forwards < 2; forwards++) {
		port->unmarked_after = 3;
		for (unsigned int i = 0; i < 2 * NB_EVENTS; i++)
			st_new(WORKER, OF_ORDERED, own_flow(0), i);
		for (unsigned int i = 0; i < NB_EVENTS; i++) {
			const struct rte_event event = take(i);

			if (i < 3)
				assert_false(is_by_word());
			if (forwards)
				st_forward(WORKER, event, OF_ORDERED);
		}
		if (port->builtin->may_fence)
			assert_int_equal(port->unmarked_after, 0);
		for (unsigned int i = NB_EVENTS; i < 2 * NB_EVENTS; i++)
			take(i);
		for (unsigned int i = 0; forwards && i < NB_EVENTS; i++)
			take(i);
		st_idle(WORKER);
		if (port->builtin->may_fence)
			begin(OF_ORDERED);
		while (weir_sched_dequeue(st_port(WORKER), &last, 1) == 1)
			;
	}
}

/* By the lock: it is still the first one. */
static void
ordered_goes_on_by_lock(void **state)
{
	struct rte_event event;

	begin(OF_ORDERED);
	event = take(3);
	port_unbias(port);
	st_forward(WORKER, event, OF_ORDERED);
	assert_int_equal(port->nb_held, 0);
	assert_int_equal(shard->nb_placed + shard->nb_unmarked, 0);
	for (unsigned int i = 4; i < NB_EVENTS; i++)
		take(i);
	take(3);
}

/* It keeps the first one: the second one has its place behind that, and waits for it. */
static void
ordered_is_kept(void **state)
{
	struct rte_event first, second;

	for (unsigned int i = 0; i < NB_EVENTS; i++)
		st_new(WORKER, OF_ORDERED, own_flow(0), i);
	for (unsigned int i = 0; i < 3; i++)
		st_forward(WORKER, take(i), OF_ORDERED);
	first = take(3);
	assert_true(is_by_word());
	second = take(4);
	assert_int_equal(shard->nb_placed, 2);
	st_forward(WORKER, second, OF_ORDERED);
	assert_int_equal(shard->nb_placed, 2);
	st_forward(WORKER, first, OF_ORDERED);
	assert_int_equal(shard->nb_placed, 0);
	for (unsigned int i = 5; i < NB_EVENTS; i++)
		st_release(WORKER, take(i));
	for (unsigned int i = 0; i < 5; i++)
		st_release(WORKER, take(i));
}

/* It changes, which it does by going on, or is released. */
static void
ordered_ends_otherwise(void **state)
{
	struct rte_event event;

	begin(OF_ORDERED);
	event = take(3);
	assert_int_equal(
		weir_sched_switch(st_port(WORKER), &event, own_flow(0), ORDERED), -EINPROGRESS);
	assert_int_equal(shard->nb_placed + shard->nb_unmarked, 0);
	st_release(WORKER, take(4));
	assert_int_equal(shard->nb_placed + shard->nb_unmarked, 0);
	for (unsigned int i = 5; i < NB_EVENTS; i++)
		take(i);
	take(3);
}

/* Another port has a place before it: it waits for that, and is not sent. */
static void
ordered_waits(void **state)
{
	const struct rte_event of_flow = st_event(RTE_EVENT_OP_NEW, OF_ORDERED, own_flow(2), 0);
	struct lane *lane = event_lane(port->builtin, of_flow.event, ORDERED);
	struct held before = {.lane = lane};

	send(OF_PARALLEL); /* by now that queue is in use */
	for (unsigned int i = 0; i < NB_EVENTS; i++)
		st_release(WORKER, take(i));
	shard_lock(shard);
	before.place = place_get(shard, lane);
	shard_unlock(shard);
	send(OF_ORDERED);
	st_forward(WORKER, take(0), OF_PARALLEL);
	st_forward(WORKER, take(1), OF_PARALLEL);
	st_forward(WORKER, take(2), OF_PARALLEL);
	if (port->builtin->may_fence)
		assert_ptr_equal(port->bias.mine, &shard->bias);
	assert_int_equal(lane->first, before.place);
	for (unsigned int i = 3; i < NB_EVENTS; i++)
		take(i);
	take(0);
	take(1);
	st_get_none(WORKER);
	shard_lock(shard);
	place_complete(shard, &before, false);
	shard_unlock(shard);
	take(2);
	assert_int_equal(lane->first, NONE);
}

/* A ring that nobody sends by any more does not send it the long way. */
static void
past_empty_rings(void **state)
{
	const unsigned int nb = 3 * EVENTS_PER_LONG_TURN;

	st_new(OTHER, OF_ALL, own_flow(0), 1000);
	take(1000);
	for (unsigned int i = 0; i < nb; i++)
		st_new(WORKER, OF_ALL, own_flow(i % NB_EVENTS), i);
	take(0);
	for (unsigned int i = 1; i < nb - 1; i++) {
		port->nb_calls = 0; /* it looks elsewhere then, */
		port->most_credits = INT32_MAX;
		take(i);
		assert_true(shard->turn_is_own && shard->at_once > 0);
	}
}

/* It looks elsewhere after so many calls; while they take no longer than a gap, later. */
static void
quick_calls(void **state)
{
	const unsigned int nb = 4 * CALLS_PER_LOOK;
	unsigned int most[2] = {0};

	for (unsigned int quick = 0; quick < 2; quick++) {
		port->builtin->gap = quick ? UINT32_MAX : 0;
		port->nb_calls = 0;
		for (unsigned int i = 0; i < nb; i++)
			st_new(WORKER, OF_ALL, own_flow(i % NB_EVENTS), i);
		for (unsigned int i = 0; i < nb; i++) {
			take(i);
			most[quick] = RTE_MAX(most[quick], port->nb_calls);
		}
		st_idle(WORKER);
	}
	assert_int_equal(most[0], CALLS_PER_LOOK - 1);
	assert_in_range(most[1], EVENTS_PER_LONG_TURN - 1, EVENTS_PER_LONG_TURN + 1);
}

/* Where looks are not a matter of time, how long calls take is not known by them: it looks elsewhere after so many, all the same. */
static void
calls_with_a_bound(void **state)
{
	unsigned int most = 0;

	st_sched->config.starvation_bound = 4;
	priority_use(port->builtin, 3);
	port->builtin->gap = UINT32_MAX;
	for (unsigned int i = 0; i < 4 * NB_EVENTS; i++)
		st_new(WORKER, OF_ALL, own_flow(i % NB_EVENTS), i);
	for (unsigned int i = 0; i < 4 * CALLS_PER_LOOK; i++) {
		struct rte_event event;

		assert_int_equal(weir_sched_dequeue(st_port(WORKER), &event, 1), 1);
		st_forward(WORKER, event, OF_ALL);
		most = RTE_MAX(most, port->nb_calls);
	}
	assert_int_equal(most, CALLS_PER_LOOK - 1);
}

/* Looks come where turns begin. */
static void
looks_with_turns(void **state)
{
	for (unsigned int i = 0; i < 4 * EVENTS_PER_LONG_TURN; i++)
		st_new(WORKER, OF_ALL, own_flow(i % NB_EVENTS), i);
	take(0);
	shard->turn_left -= 20;
	shard->at_once = 0;
	for (unsigned int i = 1; i < 4 * EVENTS_PER_LONG_TURN - 1; i++) {
		port->nb_calls = 0;
		port->most_credits = INT32_MAX;
		take(i);
		if (i > EVENTS_PER_LONG_TURN)
			assert_int_equal(
				shard->nb_since_look, EVENTS_PER_LONG_TURN - shard->turn_left);
	}
}

#define KEEPS(name) cmocka_unit_test_setup_teardown(name, setup_keep, st_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(is_counted),
		CASE(not_given_up_twice),
		CASE(others_see_the_last_one),
		KEEPS(keeps),
		CASE(kinds_in_turns),
		CASE(reserved),
		CASE(several_priorities),
		CASE(something_is_marked),
		CASE(credits_are_many),
		CASE(goes_on),
		CASE(next_of_what_goes_on),
		CASE(goes_on_marked),
		CASE(goes_on_by_lock),
		KEEPS(ordered_goes_on),
		CASE(ordered_in_order),
		CASE(ordered_goes_on_marked),
		CASE(ordered_marked_for_a_while),
		CASE(ordered_goes_on_by_lock),
		KEEPS(ordered_is_kept),
		CASE(ordered_ends_otherwise),
		CASE(ordered_waits),
		CASE(past_empty_rings),
		CASE(quick_calls),
		CASE(calls_with_a_bound),
		CASE(looks_with_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
