/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_SCHED_UNMARKED_STAND_H
#define TESTS_SCHED_UNMARKED_STAND_H

/* Bursts that a worker has of what it sent to itself, from the second one on without marks. */

#include "one_by_one_stand.h"

#define BURST 4
#define MANY  48

static struct rte_event events[MANY];
static uint64_t next_number;

/* To itself, of flows in turns. */
static inline void
send_many(uint8_t queue, unsigned int nb, unsigned int nb_flows)
{
	for (unsigned int i = 0; i < nb; i++)
		st_new(WORKER, queue, own_flow(i % nb_flows), i);
}

static inline void
burst(unsigned int nb)
{
	assert_int_equal(weir_sched_dequeue(st_port(WORKER), events, (uint16_t)nb), nb);
	for (unsigned int i = 0; i < nb; i++)
		assert_int_equal(events[i].u64, next_number++);
}

/* Of those that it has, from the first one on. */
static inline void
release_from(unsigned int first, unsigned int nb)
{
	for (unsigned int i = first; i < first + nb; i++)
		events[i].op = RTE_EVENT_OP_RELEASE;
	assert_int_equal(weir_sched_enqueue(st_port(WORKER), &events[first], (uint16_t)nb), nb);
}

static inline void
release_burst_of(unsigned int nb)
{
	release_from(0, nb);
}

/* What goes on to these goes the short way only when they are in use. */
static inline void
use_next_queues(void)
{
	const uint8_t queues[] = {OF_ALL, OF_GROUP};

	for (unsigned int i = 0; i < RTE_DIM(queues); i++) {
		st_new(WORKER, queues[i], own_flow(0), 0);
		st_release(WORKER, st_get_one(WORKER));
	}
}

/* All of a burst with one call: from the first one on by two bits each, which goes on, to OF_ALL or OF_GROUP, or is released. @return how many go on */
static inline unsigned int
end_mixed(unsigned int ways)
{
	unsigned int nb_forwarded = 0;

	for (unsigned int i = 0; i < BURST; i++, ways >>= 2) {
		events[i].op = ways & 1 ? RTE_EVENT_OP_RELEASE : RTE_EVENT_OP_FORWARD;
		events[i].queue_id = ways & 2 ? OF_GROUP : OF_ALL;
		nb_forwarded += events[i].op == RTE_EVENT_OP_FORWARD;
	}
	assert_int_equal(weir_sched_enqueue(st_port(WORKER), events, BURST), BURST);
	return nb_forwarded;
}

/* The first burst is marked, as it is not known yet what comes; the next one is not. */
static inline void
begin_with(uint8_t queue, unsigned int nb_flows)
{
	next_number = 0;
	send_many(queue, MANY, nb_flows);
	burst(BURST);
	assert_int_equal(shard->nb_unmarked, 0);
	release_burst_of(BURST);
	assert_int_equal(shard->nb_marked, 0);
	burst(BURST);
}

/* Nothing is held: each number is free once. */
static inline void
check_numbers(void)
{
	bool seen[RTE_DIM(port->free)] = {false};

	assert_int_equal(port->nb_held, 0);
	for (unsigned int i = 0; i < RTE_DIM(seen); i++) {
		assert_false(seen[port->free[i]]);
		seen[port->free[i]] = true;
	}
}

#define KEEP(name) cmocka_unit_test_setup_teardown(name, setup_keep, st_teardown)

#endif
