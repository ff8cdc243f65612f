/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_STRAIGHT_H
#define SCHED_STRAIGHT_H

/* Straight from a shard's rings to a port, past the lists, under the shard's lock. */

#include <string.h>

#include "unmarked.h"

/*
 * As hand_out(), while they are of this queue, and type, and their credits are not reserved: all that is the same for them is read first. Bytes that
 * are written might be any of it, as far as the compiler knows.
 *
 * @return how many, of @nb in a row
 */
static __rte_always_inline uint16_t
hand_out_alike(struct shard *shard, struct builtin_port *port, uint8_t queue, uint8_t type,
	bool unmarked, const struct rte_event *slots, unsigned int nb, struct rte_event *events)
{
	const struct lanes lanes =
		queue_lanes(shard->builtin, &shard->builtin->queues[queue], type);
	const uint64_t stamp = word_stamp(type, port->holder), like = word_like(queue);
	const uint32_t held_by = lane_held_by(port->base.id),
		       how = unmarked ? how_by_word(shard, type) : how_of(shard, port, type);
	const uint8_t first = port->next_free, *numbers = &port->free[first];
	unsigned int got;

	nb = RTE_MIN(
		nb, RTE_DIM(port->free) - first); /* the circle begins anew with the next one */
	for (got = 0; got < nb; got++) {
		struct rte_event event = event_load(&slots[got]);
		const uint8_t number = numbers[got];
		struct held *held = &port->held[number];
		struct lane *lane = lanes.first;

		if (!word_is_alike(event.event, like))
			break;
		if (type != RTE_SCHED_TYPE_PARALLEL && !unmarked)
			lane = lane_of(&lanes, event.event);
		if (type == RTE_SCHED_TYPE_ATOMIC && !unmarked) {
			if (!can_have_flow(lane, held_by))
				break;
			hold_lane(shard, lane, held_by);
		} else if (type == RTE_SCHED_TYPE_ORDERED && !unmarked) {
			held->place = place_get(shard, lane);
		}
		if (type == RTE_SCHED_TYPE_PARALLEL || unmarked)
			held->word = event.event;
		else
			held->lane = lane;
		held->how = how;
		event.event = word_stamped(event.event, stamp, number);
		event_write(&events[got], event);
	}
	memcpy(&port->handed_out[first], numbers, got);
	port->next_free = (uint8_t)(first + got);
	port_set_held(port, port->nb_held + got);
	count(&port->nb_dequeued[queue], got);
	if (unmarked)
		unmarked_set(shard, shard->nb_unmarked + got);
	return (uint16_t)got;
}

/*
 * What most rings are full of: events, one after the other, of one queue whose events are all of one type.
 *
 * @unmarked: atomic and ordered ones are had without marks
 * @return how many of those from @from on, before @to
 */
static inline uint16_t
hand_out_run(struct shard *shard, struct builtin_port *port, const struct ring *ring, uint32_t from,
	uint32_t to, uint64_t groups, bool unmarked, struct rte_event *events)
{
	const struct rte_event *slots = ring_peek(ring, from);
	const unsigned int nb = RTE_MIN(to - from, ring_in_row(ring, from));
	const uint8_t id = word_queue(slots->event);
	const struct queue_info *queue = &shard->builtin->queues[id];

	if (!queue->is_fixed || (groups >> queue->group & 1) == 0)
		return 0;
	switch (queue->type) {
	case RTE_SCHED_TYPE_ATOMIC:
		return unmarked ? hand_out_alike(shard, port, id, RTE_SCHED_TYPE_ATOMIC, true,
					  slots, nb, events)
				: hand_out_alike(shard, port, id, RTE_SCHED_TYPE_ATOMIC, false,
					  slots, nb, events);
	case RTE_SCHED_TYPE_ORDERED:
		return unmarked ? hand_out_alike(shard, port, id, RTE_SCHED_TYPE_ORDERED, true,
					  slots, nb, events)
				: hand_out_alike(shard, port, id, RTE_SCHED_TYPE_ORDERED, false,
					  slots, nb, events);
	default:
		return hand_out_alike(
			shard, port, id, RTE_SCHED_TYPE_PARALLEL, false, slots, nb, events);
	}
}

/* @return 0: the port cannot have it, it went to the lists */
static inline uint16_t
hand_out_or_list(struct shard *shard, struct builtin_port *port, const struct rte_event *slot,
	uint64_t groups, struct rte_event *to)
{
	if (hand_out_if(shard, port, slot, groups, to))
		return 1;
	shard_arrive(shard, slot);
	return 0;
}

/* Of a level's rings that have something, of which there are some, whose turn it is. */
static inline struct ring *
ring_of_level(struct shard *shard, unsigned int level)
{
	const unsigned int first = level * shard->nb_senders, end = first + shard->nb_senders;
	unsigned int i = shard_ring_from(shard, RTE_MAX(first, shard->next_ring[level]));

	while (i >= end || ring_count(&shard->rings[i]) == 0)
		i = shard_ring_from(shard, i < end ? i + 1 : first);
	shard->next_ring[level] = (uint16_t)(i + 1);
	return &shard->rings[i];
}

/* Instead of a level: there is one. */
#define ONLY_LEVEL LEVELS_MAX

/* Straight from the rings of a level: what the port cannot have goes to the lists. */
static __rte_always_inline uint16_t
take_straight(struct shard *shard, struct builtin_port *port, unsigned int level, uint64_t groups,
	struct rte_event *events, uint16_t nb)
{
	uint16_t got = 0;

	while (got < nb && shard->in_rings[level % ONLY_LEVEL] > 0) {
		struct ring *ring = level == ONLY_LEVEL ? shard->turn : ring_of_level(shard, level);
		const uint32_t count = level == ONLY_LEVEL
					       ? shard_turn(shard)
					       : RTE_MIN(ring_count(ring), EVENTS_PER_TURN);
		uint32_t i;

		/* What another port's ring gives in its next turn comes meanwhile. */
		if (level == ONLY_LEVEL && !shard->turn_is_own)
			ring_prefetch_events(ring, EVENTS_PER_TURN, 2 * EVENTS_PER_TURN);
		for (i = 0; i < count && got < nb;) {
			const uint32_t to = RTE_MIN(count, i + nb - got);
			const uint16_t run =
				hand_out_run(shard, port, ring, i, to, groups, false, &events[got]);

			got += run;
			i += run;
			if (i < to)
				got += hand_out_or_list(
					shard, port, ring_peek(ring, i++), groups, &events[got]);
		}
		if (level == ONLY_LEVEL) {
			shard_took(shard, i);
		} else {
			ring_take(ring, i);
			shard_gone(shard, level, i);
		}
	}
	return got;
}

#endif
