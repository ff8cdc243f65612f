/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_HAND_OUT_H
#define SCHED_HAND_OUT_H

/* An event goes to a port, with its context, under the shard's lock. */

#include "held.h"
#include "places.h"

static inline void
hold_lane(struct shard *shard, struct lane *lane, uint32_t held_by)
{
	lane->state = held_by;
	lane->nb_held++;
	shard->nb_marked++;
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

/* Without a mark. */
static inline uint32_t
how_by_word(const struct shard *shard, uint8_t type)
{
	return held_how(type == RTE_SCHED_TYPE_ORDERED ? HELD_ORDERED : HELD_ATOMIC, shard->id,
		HELD_BY_WORD);
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

	if (type == RTE_SCHED_TYPE_PARALLEL)
		held->word = event.event;
	else
		held->lane = lane;
	held->how = how_of(shard, port, type) | how_reserved(event.event);
	if (type == RTE_SCHED_TYPE_ATOMIC)
		hold_lane(shard, lane, lane_held_by(port->base.id));
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

/* If it can have it. By type, as of each most of what is done is known then. */
static __rte_always_inline bool
hand_out_if(struct shard *shard, struct builtin_port *port, const struct rte_event *slot,
	uint64_t groups, struct rte_event *to)
{
	const struct builtin *builtin = shard->builtin;
	const struct rte_event event = event_load(slot);
	const struct queue_info *queue = &builtin->queues[word_queue(event.event)];
	const uint8_t type = event_type(builtin, event.event);
	struct lane *lane = event_lane(builtin, event.event, type);

	if ((groups >> queue->group & 1) == 0)
		return false;
	if (type == RTE_SCHED_TYPE_ATOMIC) {
		if (!can_have_flow(lane, lane_held_by(port->base.id)))
			return false;
		hand_out(shard, port, lane, RTE_SCHED_TYPE_ATOMIC, event, to);
	} else if (type == RTE_SCHED_TYPE_ORDERED) {
		hand_out(shard, port, lane, RTE_SCHED_TYPE_ORDERED, event, to);
	} else {
		hand_out(shard, port, lane, RTE_SCHED_TYPE_PARALLEL, event, to);
	}
	return true;
}

#endif
