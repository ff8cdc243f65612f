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

#define KEEP(name) cmocka_unit_test_setup_teardown(name, setup_keep, st_teardown)

#endif
