/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_ONE_BY_ONE_H
#define SCHED_ONE_BY_ONE_H

/*
 * Dequeue, as it is most often where events are taken one by one: the event before is given up, the next one is that of the ring whose turn it is.
 * What the call before has seen to (short_way.c) is not asked again, as long as nobody else had the lock: shard::at_once. What is not as it is mostly
 * is left to the other ways; each step is complete in itself.
 */

#include "hand_out.h"
#include "owner.h"
#include "unmarked.h"

/* Of what others sent so many are left until those few that are left then go to the lists at once. */
static inline uint32_t
nb_until_few(const struct shard *shard)
{
	const uint32_t nb = shard_nb_of_others(shard);

	return nb - RTE_MIN(nb, FEW - 1);
}

/* Something waits in the flow of the event that it was handed last, or its credits are to go back: the next dequeue has more to do. */
static inline bool
would_be_refused(const struct builtin_port *port)
{
	const struct held *last = &port->held[handed_last(port)];

	return (last->kind == HELD_ATOMIC && held_lane(port->builtin, last)->first != NONE) ||
	       port->credits + 1 >= port->most_credits;
}

/*
 * So many events of the ring whose turn it is come next, whatever else comes: until the rings are to be looked at, or other shards. Of bursts it is not
 * asked here whether they are many enough, nor how often it may still call.
 */
static inline uint32_t
come_next(const struct builtin_port *port, const struct shard *shard)
{
	const uint64_t groups =
		__atomic_load_n(&shard->builtin->port_groups[port->base.id], __ATOMIC_RELAXED);
	const uint32_t until_look = shard_events_per_look(shard);
	uint32_t nb = shard_turn(shard);

	if ((shard->nb_ready | shard->next_of_owner | shard->turn->level) != 0 ||
		shard_owner(shard) != port->base.id || shard->sender != port->base.id ||
		(shard->all_groups & ~groups) != 0)
		return 0;
	if (!shard->turn_is_own)
		nb = RTE_MIN(nb, nb_until_few(shard));
	nb = RTE_MIN(nb, until_look - RTE_MIN(shard->nb_since_look, until_look));
	return RTE_MIN(nb, owner_events_left(port));
}

static inline uint32_t
calls_left(const struct builtin_port *port)
{
	return port->nb_calls_max - RTE_MIN(port->nb_calls + 1, port->nb_calls_max);
}

/* Where something is in the rings: those that have nothing, as far as they were looked at, give their turns to the next ones. */
static inline void
pass_empty_rings(struct shard *shard)
{
	while (ring_count(shard->turn) == 0 && shard->in_rings[0] > 0)
		shard_next_turn(shard);
}

/* By the owner, under the lock, which it is about to leave: as many as it took in this call it will take in the next one, about so. */
static inline void
shard_note_next(struct builtin_port *port, struct shard *shard, uint16_t got)
{
	uint32_t nb = 0;

	port->knows_next = KNOWS_NOT;
	pass_empty_rings(shard);
	if (got > 1) {
		nb = come_next(port, shard);
		if (nb >= got)
			port->knows_next = KNOWS_BURST;
	} else if (!would_be_refused(port)) {
		nb = RTE_MIN(come_next(port, shard), calls_left(port));
		if (nb > 0)
			port->knows_next = KNOWS_SINGLE;
		port->leaves_unmarked = may_leave_unmarked(port, shard);
	}
	shard->at_once = nb;
}

/* A flow's context goes back, of which nothing waits. */
static inline bool
release_at_once(struct shard *shard, struct lane *lane)
{
	if (unlikely(lane->first != NONE))
		return false;
	shard->nb_marked--;
	if (--lane->nb_held == 0)
		lane->state = LANE_IDLE;
	return true;
}

/* An ordered event gives its place up, which is the only one of its flow. */
static inline bool
complete_at_once(struct shard *shard, const struct held *held)
{
	struct place *place = &shard->places[held->place];

	if (unlikely(held->lane->first != held->place || place->next != NONE))
		return false;
	held->lane->first = NONE;
	place_put(shard, place, held->place);
	return true;
}

/* It holds one event, which it gives up with this dequeue, or none. */
static inline bool
may_have_at_once(const struct builtin_port *port)
{
	return port->knows_next == KNOWS_SINGLE && has_short_ways(port->builtin) &&
	       (port->nb_held == 0 || (port->nb_held == 1 && port->implicit));
}

/* Likewise a burst: it holds nothing. */
static inline bool
may_have_burst_at_once(const struct builtin_port *port)
{
	return port->knows_next == KNOWS_BURST && port->nb_held == 0 && calls_left(port) > 0 &&
	       has_short_ways(port->builtin);
}

/* Nobody else had the lock since at_once was noted: the port is the shard's sender, as it was then. */
static __rte_always_inline bool
give_up_at_once(struct builtin_port *port, struct shard *shard)
{
	const uint8_t number = handed_last(port);
	struct held *held = &port->held[number];

	if (unlikely(port->credits + 1 >= port->most_credits))
		return false;
	if (held->how == held_how(held->kind, port->own_id, HELD_BY_WORD)) {
		if (unlikely(shard->nb_unmarked == 0))
			return false;
		unmarked_set(shard, 0);
	} else if (held->how == held_how(HELD_ATOMIC, port->own_id, 0)) {
		if (!release_at_once(shard, held->lane))
			return false;
		unmarked_soon(port);
	} else if (held->how == held_how(HELD_ORDERED, port->own_id, 0)) {
		if (!complete_at_once(shard, held))
			return false;
		unmarked_soon(port);
	} else if (held->how != held_how(HELD_PARALLEL, port->own_id, 0)) {
		return false;
	}
	held_end(held);
	port->free[(uint8_t)(port->next_free - 1)] = number;
	port_set_credits(port, port->credits + 1);
	count(&port->counts.nb_released, 1);
	return true;
}

/*
 * What the shard's home port has returned of its own accord, as far as nothing waits for it. What another port's did is preceded by what that sent.
 *
 * @return nothing is left of it
 */
static __rte_always_inline bool
take_back_at_once(struct shard *shard)
{
	struct returned *returned = &shard->returned;
	uint32_t nb = returned_count(returned);

	if (nb > 0 && shard->sender != shard->home)
		return false;
	for (; nb > 0; nb--) {
		if (!release_at_once(shard, returned_peek(returned, 0)))
			return false;
		returned_take(returned, 1);
	}
	return true;
}

static __rte_always_inline bool
hand_out_at_once(struct builtin_port *port, struct shard *shard, struct rte_event *to)
{
	const struct builtin *builtin = port->builtin;
	const struct rte_event *slot = ring_peek(shard->turn, 0);
	const uint64_t word = event_word(slot);
	const uint8_t id = word_queue(word), i = port->next_free, number = port->free[i];
	struct held *held = &port->held[number];
	const uint8_t type = event_type(builtin, word);

	if (word_is_reserved(word))
		return false;
	if (type != RTE_SCHED_TYPE_PARALLEL && port->leaves_unmarked && has_no_marks(shard, type)) {
		held->word = word;
		held->how = how_by_word(shard, type);
		unmarked_set(shard, 1);
	} else if (type == RTE_SCHED_TYPE_ATOMIC) {
		struct lane *lane = event_lane(builtin, word, RTE_SCHED_TYPE_ATOMIC);

		if (!can_have_flow(lane, lane_held_by(port->base.id)))
			return false;
		hold_lane(shard, lane, lane_held_by(port->base.id));
		held->lane = lane;
		held->how = held_how(HELD_ATOMIC, port->own_id, 0);
	} else if (type == RTE_SCHED_TYPE_PARALLEL) {
		held->word = word;
		held->how = held_how(HELD_PARALLEL, port->own_id, 0);
	} else if (type == RTE_SCHED_TYPE_ORDERED) {
		held->lane = event_lane(builtin, word, RTE_SCHED_TYPE_ORDERED);
		held->place = place_get(shard, held->lane);
		held->how = held_how(HELD_ORDERED, port->own_id, 0);
	} else {
		return false;
	}
	port->handed_out[i] = number;
	port->next_free = (uint8_t)(i + 1);
	event_write(to, (struct rte_event){
				.event = word_stamped(word, word_stamp(type, port->holder), number),
				.u64 = event_value(slot)});
	count(&port->nb_dequeued[id], 1);
	return true;
}

/* Of its own shard, of whose ring whose turn it is so many were handed out that come next. */
static __rte_always_inline void
took_at_once(struct builtin_port *port, struct shard *shard, uint16_t nb)
{
	shard->turn_left -= nb;
	ring_take(shard->turn, nb);
	shard->in_rings[0] -= nb;
	shard->nb_since_look += nb;
	shard_polled(shard);
	shard_taken(shard, nb);
	port->nb_calls++;
	owner_count_turn(port, nb);
	count(&port->counts.nb_dequeued, nb);
	shard->at_once -= nb;
}

#endif
