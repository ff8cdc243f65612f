/* SPDX-License-Identifier: BSD-3-Clause */

/* What comes next is had one by one also by a port that has another one's shard besides: in turns, and in order. One thread. */

#include "sched_test.h"

#include "../../lib/sched/short_way.c"

#include "one_by_one_stand.h"

/* Another port's shard is its own, too. */
static struct shard *
adopt(void)
{
	struct shard *adopted = port->builtin->ports[OTHER].home;

	shard_lock(adopted);
	__atomic_store_n(&adopted->owner, WORKER, __ATOMIC_RELAXED);
	adopted->sender = WORKER;
	shard_set_turn(adopted, adopted->turn);
	shard_unlock(adopted);
	port->served |= (uint64_t)1 << adopted->id;
	return adopted;
}

/* It has another shard besides, which has its turn, too: after some events, */
static void
with_several_shards(void **state)
{
	adopt();
	for (unsigned int i = 0; i < EVENTS_PER_SHARD; i++)
		st_new(WORKER, OF_ALL, own_flow(i % NB_EVENTS), i);
	take(0);
	assert_true(shard->at_once > 0);
	for (unsigned int i = 1; shard->at_once > 0; i++) {
		take(i);
		assert_true(shard->at_once <= EVENTS_PER_SHARD / (EVENTS_PER_CALL + 1));
		assert_true(port->nb_of_turn <= EVENTS_PER_SHARD + EVENTS_PER_CALL);
	}
	assert_true(port->nb_of_turn >= EVENTS_PER_SHARD - EVENTS_PER_CALL);
}

/* and not where events take long, as others have their turn with each call. */
static void
with_several_shards_slowly(void **state)
{
	adopt();
	port->nb_calls_max = CALLS_PER_LOOK / 2;
	send(OF_ALL);
	for (unsigned int i = 0; i < NB_EVENTS; i++) {
		take(i);
		assert_int_equal(port->home->at_once, 0);
	}
}

/* What followed from an event that a shard's home port had comes before what follows from the next one of that flow, which who adopted the shard has. */
static void
what_home_port_returned(void **state)
{
	struct shard *adopted = adopt();
	struct rte_event event;
	struct lane *lane;
	uint32_t flow = 0;
	bool has_come = false;

	while (event_shard(port->builtin, flow) != adopted->id)
		flow++;
	port->own = adopted;
	port->own_id = (uint8_t)adopted->id;
	st_new(WORKER, OF_PARALLEL, flow, 0);
	for (unsigned int i = 0; i < 3; i++)
		st_new(WORKER, OF_PARALLEL, flow, 100);
	st_new(WORKER, OF_ALL, flow, 1);
	take(0);
	assert_int_equal(adopted->at_once, 4);
	/* the home port had an event of that flow since before, which it sends on now */
	lane = event_lane(port->builtin, flow, ATOMIC);
	hold_lane(adopted, lane, lane_held_by(OTHER));
	st_new(OTHER, OF_GROUP, flow, 2);
	returned_put(&adopted->returned, lane);
	do {
		assert_int_equal(weir_sched_dequeue(st_port(WORKER), &event, 1), 1);
		if (event.u64 == 1) {
			event.u64 = 3;
			st_forward(WORKER, event, OF_GROUP);
		}
		has_come |= event.u64 == 2;
	} while (event.queue_id != OF_GROUP || event.u64 != 3);
	assert_true(has_come);
}

/* Something waits in the flow of what it sends on, which it gives back to another shard of its own: that is before what was known to come next. */
static void
what_waits_in_another_shard(void **state)
{
	struct shard *adopted = adopt();
	struct rte_event waits = st_event(RTE_EVENT_OP_NEW, OF_ALL, 0, 1000), event;

	while (event_shard(port->builtin, waits.event) != adopted->id)
		waits.flow_id++;
	port->own = adopted;
	port->own_id = (uint8_t)adopted->id;
	st_new(WORKER, OF_PARALLEL, 0, 0);
	st_release(WORKER, take(0));
	st_new(WORKER, OF_PARALLEL, 0, 0);
	st_new(WORKER, OF_ALL, waits.flow_id, 1);
	for (unsigned int i = 2; i < 5; i++)
		st_new(WORKER, OF_PARALLEL, 0, i);
	take(0);
	event = take(1);
	assert_true(adopted->at_once > 0);
	shard_lock_again(adopted);
	shard_arrive(adopted, &waits);
	shard_unlock(adopted);
	st_forward(WORKER, event, OF_PARALLEL);
	take(1000);
	take(2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(with_several_shards),
		CASE(with_several_shards_slowly),
		CASE(what_home_port_returned),
		CASE(what_waits_in_another_shard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
