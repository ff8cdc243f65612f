/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_LOOK_H
#define SCHED_LOOK_H

/* What looks at one's own shard and at others share, and where both are looked at. */

#include "shard.h"

/* What a port may take over from another one: what it does not get to soon, likewise at once, or everything. */
enum help { HELP_NOT, HELP_SOME, HELP_URGENT, HELP_ALL };

/*
 * dequeue.c: the long way.
 *
 * @locked  its own shard, if it is locked
 */
uint16_t dequeue_anywhere(
	struct builtin_port *port, struct shard *locked, struct rte_event *events, uint16_t nb);

/* steal.c: from another one's shard, of these priorities. @return events taken */
uint16_t steal(struct builtin_port *port, struct shard *shard, struct rte_event *events,
	uint16_t nb, uint32_t priorities, enum help help);

static inline bool
rings_seem_empty(const struct shard *shard)
{
	if (!returned_seems_empty(&shard->returned))
		return false;
	for (unsigned int i = shard_ring_from(shard, 0); i < shard->nb_rings;
		i = shard_ring_from(shard, i + 1))
		if (!ring_seems_empty(&shard->rings[i]))
			return false;
	return true;
}

/* Neither ready nor on its way there, about so. */
static inline bool
shard_seems_empty(const struct shard *shard)
{
	return __atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED) == 0 && rings_seem_empty(shard);
}

/* The highest one that is ready in a shard, or on its way there, as a bit; beyond all: none. In this order: it comes from one word to the next. */
static inline uint32_t
highest(const struct shard *shard, uint64_t groups)
{
	uint32_t there = __atomic_load_n(&shard->arrived, __ATOMIC_ACQUIRE);

	there |= __atomic_load_n(&shard->being_taken, __ATOMIC_ACQUIRE);
	there |= seem_ready(shard, groups);
	return there != 0 ? there & -there : 1u << WEIR_SCHED_PRIORITIES;
}

/* The clock was just read: while all calls since it looked elsewhere have taken less than a gap, it does not do that again. */
static inline void
note_quick_calls(struct builtin_port *port)
{
	const uint64_t now = __atomic_load_n(&port->own->now, __ATOMIC_RELAXED);

	if (now - port->calls_since < port->builtin->gap)
		port->nb_calls = 0;
}

/* Before a port looks for what is of higher priority, in one shard after the other. */
static inline void
begin_to_look(struct builtin_port *port)
{
	port->moves_seen = __atomic_load_n(&port->builtin->nb_moves, __ATOMIC_ACQUIRE);
}

/* Under a lock: has what it looked for then gone from one shard to another since (move_flows.c), so that it may have missed that? */
static inline bool
may_have_missed(const struct builtin_port *port)
{
	return tells_priorities(port->builtin) &&
	       __atomic_load_n(&port->builtin->nb_moves, __ATOMIC_RELAXED) != port->moves_seen;
}

#endif
