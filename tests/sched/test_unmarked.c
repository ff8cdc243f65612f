/* SPDX-License-Identifier: BSD-3-Clause */

/* Flows that a shard's owner has without marks in their lanes: others see them when they come, and they are given back once. One thread. */

#include "sched_test.h"

#include "../../lib/sched/short_way.c"

#include "unmarked_stand.h"

static void
begin(void)
{
	begin_with(OF_ALL, NB_EVENTS);
	assert_int_equal(shard->nb_unmarked, BURST);
}

static void
check_lane(unsigned int nth, uint32_t nb_held)
{
	assert_int_equal(lane_at(nth)->nb_held, nb_held);
	assert_int_equal(
		lane_at(nth)->state, nb_held > 0 ? lane_held_by(port->base.id) : LANE_IDLE);
}

/* Nobody has any flow. */
static void
check_idle(void)
{
	assert_int_equal(port->nb_held, 0);
	assert_int_equal(shard->nb_marked, 0);
	assert_int_equal(shard->nb_unmarked, 0);
	for (unsigned int i = 0; i < NB_EVENTS; i++)
		check_lane(i, 0);
}

/* Nothing is written into lanes, burst after burst. */
static void
lanes_stay_idle(void **state)
{
	begin();
	for (unsigned int i = BURST; i < 2 * BURST; i++) {
		check_lane(i, 0);
		assert_int_equal(port->held[events[i - BURST].impl_opaque].flags, HELD_BY_WORD);
	}
	release_burst_of(BURST);
	assert_int_equal(shard->nb_unmarked, 0);
	burst(BURST);
	assert_int_equal(shard->nb_unmarked, BURST);
	release_burst_of(BURST);
	check_idle();
}

/* Also where numbers begin anew in the middle of what is given back. */
static void
numbers_begin_anew(void **state)
{
	for (unsigned int forwards = 0; forwards < 2; forwards++) {
		begin();
		release_burst_of(BURST);
		port->next_free = (uint8_t)(256 - BURST / 2);
		burst(BURST);
		assert_int_equal(shard->nb_unmarked, BURST);
		for (unsigned int i = 0; i < BURST; i++)
			events[i].op = forwards ? RTE_EVENT_OP_FORWARD : RTE_EVENT_OP_RELEASE;
		assert_int_equal(weir_sched_enqueue(st_port(WORKER), events, BURST), BURST);
		assert_int_equal(port->unmarked_after, 0);
		check_idle();
		while (weir_sched_dequeue(st_port(WORKER), events, BURST) > 0)
			release_burst_of(port->nb_held);
	}
}

/* What goes on one by one is marked, and is back with the next burst, which need not be. */
static void
bursts_go_on_one_by_one(void **state)
{
	next_number = 0;
	send_many(OF_ALL, MANY, NB_EVENTS);
	burst(BURST);
	for (unsigned int i = 0; i < BURST; i++)
		st_forward(WORKER, events[i], OF_ALL);
	burst(BURST);
	release_burst_of(BURST);
	burst(BURST);
	for (unsigned int round = 0; round < 4; round++) {
		for (unsigned int i = 0; i < BURST; i++)
			st_forward(WORKER, events[i], OF_ALL);
		burst(BURST);
		assert_int_equal(shard->nb_unmarked, BURST);
	}
	release_burst_of(BURST);
	check_idle();
}

/* Who comes sees who has them, */
static void
others_see(void **state)
{
	begin();
	others_come();
	for (unsigned int i = BURST; i < 2 * BURST; i++)
		check_lane(i, 1);
	assert_int_equal(shard->nb_marked, BURST);
	release_burst_of(BURST);
	check_idle();
}

/* and for a while they are marked at once then. */
static void
marked_for_a_while(void **state)
{
	begin();
	others_come();
	release_burst_of(BURST);
	for (unsigned int i = 0; i <= MARKED_FOR; i++) {
		for (unsigned int n = 0; n < BURST; n++)
			st_new(WORKER, OF_ALL, own_flow(n), MANY + i * BURST + n);
		burst(BURST);
		assert_int_equal(shard->nb_unmarked > 0, i > MARKED_FOR - 1);
		release_burst_of(BURST);
	}
	check_idle();
}

/* Several events of a flow are marked as often. */
static void
several_of_a_flow(void **state)
{
	begin_with(OF_ALL, 2);
	assert_int_equal(shard->nb_unmarked, BURST);
	others_come();
	check_lane(0, BURST / 2);
	check_lane(1, BURST / 2);
	release_burst_of(BURST);
	check_idle();
}

/* Some of a burst are given back, others not. */
static void
part_is_given_back(void **state)
{
	begin();
	release_from(1, 2);
	assert_int_equal(shard->nb_unmarked, BURST - 2);
	others_come();
	for (unsigned int i = 0; i < BURST; i++)
		check_lane(BURST + i, i != 1 && i != 2);
	release_from(3, 1);
	release_from(0, 1);
	check_idle();
}

/* One goes on alone: the others are marked for that. */
static void
one_goes_on(void **state)
{
	begin();
	st_forward(WORKER, events[2], OF_PARALLEL);
	for (unsigned int i = 0; i < BURST; i++)
		check_lane(BURST + i, i != 2);
	assert_int_equal(port->unmarked_after, MARKED_FOR);
	release_from(0, 2);
	release_from(3, 1);
	check_idle();
}

/* All go on: nothing is left of them, and they are there. */
static void
all_go_on(void **state)
{
	begin();
	for (unsigned int i = 0; i < BURST; i++) {
		events[i].op = RTE_EVENT_OP_FORWARD;
		events[i].queue_id = OF_GROUP;
	}
	/* the first event of that queue, which is in use by then */
	assert_int_equal(weir_sched_enqueue(st_port(WORKER), events, BURST), BURST);
	check_idle();
	assert_int_equal(st_stats().nb_forwarded, BURST);
	burst(BURST);
	for (unsigned int i = 0; i < BURST; i++) {
		events[i].op = RTE_EVENT_OP_FORWARD;
		events[i].queue_id = OF_GROUP;
	}
	assert_int_equal(weir_sched_enqueue(st_port(WORKER), events, BURST), BURST);
	check_idle();
	assert_int_equal(st_stats().nb_forwarded, 2 * BURST);
}

/* Some go on, to one queue or the other, and some are released, with one call. */
static void
mixed(void **state)
{
	for (unsigned int ways = 0; ways < 256; ways++) {
		struct weir_sched_stats before;
		unsigned int nb_forwarded;

		weir_sched_stop(st_sched, NULL, NULL);
		start();
		use_next_queues();
		begin();
		before = st_stats();
		nb_forwarded = end_mixed(ways);
		check_idle();
		assert_int_equal(st_stats().nb_forwarded - before.nb_forwarded, nb_forwarded);
		assert_int_equal(st_stats().nb_released - before.nb_released, BURST - nb_forwarded);
		for (unsigned int nb = 0; nb < MANY - 2 * BURST + nb_forwarded; nb++)
			st_release(WORKER, st_get_one(WORKER));
		check_idle();
		check_numbers();
	}
}

/* What cannot be given back with the others ends the burst there, and the rest is given back as it was marked. */
static void
twice(void **state)
{
	begin();
	for (unsigned int i = 0; i < BURST; i++)
		events[i].op = RTE_EVENT_OP_RELEASE;
	events[2] = events[0];
	assert_int_equal(weir_sched_enqueue(st_port(WORKER), events, BURST), 2);
	assert_int_equal(st_stats().nb_invalid, 1);
	assert_int_equal(port->nb_held, 2);
	check_lane(BURST + 2, 1);
	check_lane(BURST + 3, 1);
	release_from(3, 1);
	events[2] = st_event(RTE_EVENT_OP_RELEASE, OF_ALL, own_flow(BURST + 2), 0);
	events[2].impl_opaque = port->handed_out[(uint8_t)(port->next_free - 2)];
	release_from(2, 1);
	check_idle();
}

/* A thief does not have what follows in a flow that the owner has, but in another one. */
static void
thief(void **state)
{
	struct builtin_port *other = &port->builtin->ports[OTHER];
	struct rte_event stolen;
	uint16_t got;

	begin();
	shard_lock(shard);
	shard_drain_all(shard);
	got = shard_take(shard, other, &stolen, 1, UINT32_MAX);
	shard_unlock(shard);
	assert_int_equal(got, 1);
	for (unsigned int i = 0; i < BURST; i++)
		assert_int_not_equal(stolen.flow_id, events[i].flow_id);
	release_burst_of(BURST);
	assert_int_equal(shard->nb_marked, 1);
	st_release(OTHER, stolen);
	assert_int_equal(shard->nb_marked, 0);
}

/* What comes to the lists waits behind what the owner has of its flow. */
static void
what_arrives_waits(void **state)
{
	struct rte_event waits = st_event(RTE_EVENT_OP_NEW, OF_ALL, own_flow(BURST), 1000), next;

	begin();
	shard_lock_again(shard);
	shard_arrive(shard, &waits);
	assert_int_equal(shard->nb_ready, 0);
	assert_int_not_equal(lane_at(BURST)->first, NONE);
	shard_unlock(shard);
	release_burst_of(BURST);
	assert_int_equal(shard->next_hint, 1);
	assert_int_equal(weir_sched_dequeue(st_port(WORKER), &next, 1), 1);
	assert_int_equal(next.u64, 1000);
}

/* Likewise behind a burst that is marked: who looks knows that there is something, also when there is nothing else. */
static void
what_waited_is_told(void **state)
{
	struct rte_event waits = st_event(RTE_EVENT_OP_NEW, OF_ALL, own_flow(0), 1000);

	next_number = 0;
	send_many(OF_ALL, BURST, BURST);
	burst(BURST);
	shard_lock(shard);
	shard_arrive(shard, &waits);
	shard_unlock(shard);
	assert_int_equal(shard->next_hint, 0);
	release_burst_of(BURST);
	assert_int_equal(shard->next_hint, 1);
	assert_false(look_is_vain(port));
}

/* Events that are not atomic among them have no lanes. */
static void
beside_others(void **state)
{
	next_number = 0;
	for (unsigned int i = 0; i < MANY; i++)
		st_new(WORKER, i < 2 * BURST || i % 2 == 0 ? OF_ALL : OF_PARALLEL,
			own_flow(i % NB_EVENTS), i);
	for (unsigned int i = 0; i < 2; i++) {
		burst(BURST);
		release_burst_of(BURST);
	}
	burst(BURST);
	assert_int_equal(shard->nb_unmarked, BURST / 2);
	others_come();
	assert_int_equal(shard->nb_marked, BURST / 2);
	release_burst_of(BURST);
	check_idle();
}

/* It changes its flow, or its type, while it has it. */
static void
switched(void **state)
{
	begin();
	assert_int_equal(
		weir_sched_switch(st_port(WORKER), &events[0], own_flow(NB_EVENTS), ATOMIC), 0);
	assert_int_equal(lane_at(BURST)->nb_held, 0);
	check_lane(BURST + 1, 1);
	check_lane(NB_EVENTS, 1);
	for (unsigned int i = 0; i < BURST; i++)
		release_from(i, 1);
	assert_int_equal(shard->nb_marked, 0);
	check_lane(NB_EVENTS, 0);
}

/* A single event that is given up with the next dequeue. */
static void
one_by_one(void **state)
{
	send(OF_ALL);
	take(0);
	check_lane(0, 1);
	take(1);
	assert_int_equal(shard->nb_unmarked, 1);
	check_lane(0, 0);
	check_lane(1, 0);
	others_come();
	check_lane(1, 1);
	take(2);
	check_lane(1, 0);
	take(3);
	for (unsigned int i = 4; i < NB_EVENTS; i++)
		take(i);
	st_idle(WORKER);
	check_idle();
}

/* One that was given up long ago is not taken for one that it has, beside one that it has. */
static void
given_up_before(void **state)
{
	struct rte_event both[2];

	send(OF_ALL);
	take(0);
	both[0] = take(1);
	assert_int_equal(shard->nb_unmarked, 1);
	port->knows_next = KNOWS_NOT;
	take(2); /* given up by another way */
	take(3);
	both[1] = take(4);
	assert_int_equal(shard->nb_unmarked, 1);
	for (unsigned int op = RTE_EVENT_OP_FORWARD; op <= RTE_EVENT_OP_RELEASE; op++) {
		both[0].op = both[1].op = op & 3;
		assert_int_equal(weir_sched_enqueue(st_port(WORKER), both, 2), 0);
		assert_int_equal(port->nb_held, 1);
	}
	assert_int_equal(st_stats().nb_invalid, 2);
	st_release(WORKER, both[1]);
	check_idle();
}

/* It is sent on instead, which is told by then: what it has later is marked. */
static void
one_is_sent_on(void **state)
{
	send(OF_ALL);
	take(0);
	st_forward(WORKER, take(1), OF_PARALLEL);
	check_idle();
	take(2);
	assert_int_equal(shard->nb_unmarked, 0);
	check_lane(2, 1);
	take(3);
	assert_int_equal(shard->nb_unmarked, 0);
}

/* All over again, numbers included, with others in between now and then. */
static void
over_and_over(void **state)
{
	begin();
	for (unsigned int i = 0; i < 40 * MARKED_FOR; i++) {
		for (unsigned int n = 0; n < BURST; n++)
			events[n].op = RTE_EVENT_OP_FORWARD;
		if (i % 100 == 99)
			others_come();
		assert_int_equal(weir_sched_enqueue(st_port(WORKER), events, BURST), BURST);
		assert_int_equal(shard->nb_marked, 0);
		assert_int_equal(weir_sched_dequeue(st_port(WORKER), events, BURST), BURST);
		assert_int_equal(events[BURST - 1].u64 % BURST, BURST - 1);
	}
	release_burst_of(BURST);
	check_idle();
}

/* Nothing of it is left when it is stopped, and begins anew. */
static void
stopped(void **state)
{
	begin();
	weir_sched_stop(st_sched, NULL, NULL);
	assert_int_equal(shard->nb_unmarked, 0);
	st_start();
	check_idle();
	begin();
	release_burst_of(BURST);
	check_idle();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		KEEP(lanes_stay_idle),
		KEEP(numbers_begin_anew),
		KEEP(bursts_go_on_one_by_one),
		KEEP(others_see),
		KEEP(marked_for_a_while),
		KEEP(several_of_a_flow),
		KEEP(part_is_given_back),
		KEEP(one_goes_on),
		KEEP(all_go_on),
		KEEP(mixed),
		KEEP(twice),
		KEEP(thief),
		KEEP(what_arrives_waits),
		KEEP(what_waited_is_told),
		KEEP(beside_others),
		KEEP(switched),
		CASE(one_by_one),
		CASE(given_up_before),
		CASE(one_is_sent_on),
		KEEP(over_and_over),
		KEEP(stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
