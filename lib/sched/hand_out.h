/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_HAND_OUT_H
#define SCHED_HAND_OUT_H

/* An event goes to a port, with its context, under the shard's lock. */

#include "held.h"
#include "places.h"

static inline void
hold_lane(struct lane *lane, uint32_t held_by)
{
	lane->state = held_by;
	lane->nb_held++;
}

/* An event of this type is held, of a shard of whose atomic ones another port may send what follows. */
static inline uint32_t
how_of(const struct shard *shard, const struct builtin_port *port, uint8_t type)
{
	if (type == RTE_SCHED_TYPE_PARALLEL)
		return held_how(HELD_PARALLEL, shard->id, 0);
	if (type == RTE_SCHED_TYPE_ORDERED)
		return held_how(HELD_ORDERED, shard->id, 0);
	return held_how(HELD_ATOMIC, shard->id, shard->sender != port->base.id ? HELD_FOREIGN : 0);
}

static inline uint32_t
how_reserved(uint64_t word)
{
	return word_is_reserved(word) ? held_how(0, 0, HELD_RESERVED) : 0;
}

/* It goes to a port, with its context. */
static inline void
hand_out(struct shard *shard, struct builtin_port *port, struct lane *lane, uint8_t type,
	struct rte_event event, struct rte_event *to)
{
	uint8_t number = port_hold(port);
	struct held *held = &port->held[number];

	held->lane = lane;
	held->how = how_of(shard, port, type) | how_reserved(event.event);
	if (type == RTE_SCHED_TYPE_ATOMIC)
		hold_lane(lane, lane_held_by(port->base.id));
	else if (type == RTE_SCHED_TYPE_ORDERED)
		held->place = place_get(shard, lane);
	count(&port->nb_dequeued[word_queue(event.event)], 1);
	event.event = word_stamped(event.event, word_stamp(type, port->holder), number);
	event_write(to, event);
}

/* Nobody has the flow; or this port has, and nothing waits for it. */
static inline bool
can_have_flow(const struct lane *lane, uint32_t held_by)
{
	return lane->state == LANE_IDLE || (lane->state == held_by && lane->first == NONE);
}

/* Events left in rings that go to the lists at once. */
#define FEW 8

/* Events seen in its rings, but for those that its owner sent to itself, or it did. */
static inline uint32_t
nb_of_others(const struct shard *shard)
{
	return shard->nb_in_rings - ring_count(&shard->rings[shard_owner(shard)]) -
	       ring_count(shard->rings_out[shard->id]);
}

/* What is left of a line that its sender goes on writing to would have to be fetched once more. */
static inline void
drain_few(struct shard *shard)
{
	const uint32_t nb = nb_of_others(shard);

	if (nb > 0 && nb < FEW)
		shard_drain(shard, UINT32_MAX);
}

#endif
