/* SPDX-License-Identifier: BSD-3-Clause */

/* What a port's thread gets: dequeue, as most calls have it. All others take the long way: dequeue.c. */

#include "as_before.h"
#include "balance.h"
#include "gather.h"
#include "hand_out.h"
#include "look.h"
#include "one_by_one.h"
#include "straight.h"

/* Who wants so many at most does without a look at the rings, as long as none is due; of more, that is a small part. */
#define LITTLE 4

/*
 * Is what is wanted, which is little, in the ring whose turn it is; or is that an own one? One that has nothing gives its turn to the next
 * one of all rings: those between two own ones would have none otherwise.
 */
static inline bool
ring_of_turn_is_enough(struct shard *shard, uint16_t wanted)
{
	/* It may be that no ring was ever used: none has a turn. */
	if (shard->in_rings[0] == 0)
		return false;
	if (shard->turn_is_own && ring_count(shard->turn) == 0)
		shard_took(shard, 0);
	return shard->turn_is_own || ring_count(shard->turn) >= wanted;
}

/* It gives up all that it holds with this dequeue, which is one event, and of its own shard. */
static inline bool
gives_up_one(const struct builtin_port *port)
{
	const struct held *held = &port->held[handed_last(port)];

	return port->nb_held == 1 && port->implicit && held->kind != HELD_NOT &&
	       held->shard == port->own_id;
}

/* When it was looked at last, was something in its rings, and nothing in the lists? */
static inline bool
rings_had_something(const struct shard *shard)
{
	return __atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED) > 0 &&
	       __atomic_load_n(&shard->priorities_hint, __ATOMIC_RELAXED) == 0;
}

/*
 * It holds nothing, and something is there; or it holds one event, which it gives up. Of what only others sent to it the first single event goes the
 * long way, which looks for what else is due, as bursts do.
 */
static inline bool
may_have_next(const struct builtin_port *port, const struct shard *shard, bool burst)
{
	if (port->nb_held > 0)
		return gives_up_one(port);
	return !ring_seems_empty(&shard->rings[port->base.id]) ||
	       !ring_seems_empty(&shard->rings[shard->sender_id]) ||
	       (burst && rings_had_something(shard));
}

/* Of the ring whose turn it is, what can be handed out at once. */
static inline uint16_t
take_first_of_ring(
	struct shard *shard, struct builtin_port *port, struct rte_event *events, uint32_t most)
{
	const uint64_t groups =
		__atomic_load_n(&shard->builtin->port_groups[port->base.id], __ATOMIC_RELAXED);
	uint16_t got = 0;

	while (got < most &&
		hand_out_if(shard, port, ring_peek(shard->turn, got), groups, &events[got]))
		got++;
	return got;
}

/* What it holds is released, with its context, its credit and its number. The lock may be left meanwhile. */
static inline void
give_up_last(struct builtin_port *port, struct shard *shard)
{
	const uint8_t number = handed_last(port);
	const struct held *held = &port->held[number];

	if (held->kind == HELD_ATOMIC)
		owner_release(port, shard, held);
	else if (held->kind == HELD_ORDERED)
		place_complete(shard, held, false);
	credits_put(port, 1, held->flags & HELD_RESERVED);
	port_forget(port, number);
	count(&port->counts.nb_released, 1);
}

/*
 * Under the lock: it gives up what it holds.
 *
 * @return nothing is in the lists, which would come first
 */
static __rte_always_inline bool
short_give_up(struct builtin_port *port, struct shard *shard)
{
	if (port->nb_held > 0)
		give_up_last(port, shard);
	port->first_handed_out = port->next_free;
	shard_take_back(shard, true);
	return (shard->nb_ready | shard->next_of_owner) == 0;
}

/* As short_give_up(). @locked: its shard, if that was locked for it */
static __rte_always_inline bool
short_begin(struct builtin_port *port, struct shard **locked, bool burst)
{
	struct shard *shard = port->own;

	if (!may_have_next(port, shard, burst) || !shard_trylock(shard))
		return false;
	*locked = shard;
	return short_give_up(port, shard);
}

/* @return all is of one priority: what was seen just now may be the first of another one */
static inline bool
look_for_one_priority(struct builtin_port *port, uint16_t wanted)
{
	if (look_at_rings(port->own, wanted))
		note_quick_calls(port);
	port->nb_elsewhere = 0; /* that has passed nothing in the lists, as there is nothing */
	return !has_several_priorities(port->builtin);
}

/*
 * Rings are looked at, or are not to be yet.
 *
 * @return nothing else is due, and all is of one priority
 */
static __rte_always_inline bool
look_or_not(struct builtin_port *port, uint16_t wanted)
{
	shard_look_at_own(port->own, 0);
	if (likely(!shard_look_is_due(port->own, wanted)))
		return true;
	if (has_flows_to_move(port))
		return false;
	return look_for_one_priority(port, wanted);
}

/*
 * It got so many: what comes next? Rings are looked at now if that is due, so that it is known. Where flows are to be moved the next dequeue goes the
 * long way.
 */
static inline void
note_next(struct builtin_port *port, struct shard *shard, uint16_t got)
{
	if (look_or_not(port, got))
		shard_note_next(port, shard, got);
}

static __rte_always_inline uint16_t
short_end(struct builtin_port *port, struct shard *shard, const struct rte_event *events,
	uint16_t got)
{
	if (shard->nb_since_look == 0)
		note_lately(shard, events, shard_looks_per_turn(shard));
	shard->nb_since_look += got;
	port->nb_calls++;
	owner_count_turn(port, got);
	shard_polled(shard);
	shard_taken(shard, got);
	note_next(port, shard, got);
	port_note_bias(port, shard);
	shard_unlock_rings(shard);
	return got;
}

/* So many were taken from the ring whose turn it is. */
static inline void
took_of_turn(struct shard *shard, uint16_t nb)
{
	const bool was_own = shard->turn_is_own;

	shard_took(shard, nb);
	if (!was_own)
		shard_drain_few(shard);
}

/* What is wanted is in the ring whose turn it is. */
static __rte_always_inline uint16_t
take_few(struct builtin_port *port, struct shard **locked, struct rte_event *events, uint16_t nb)
{
	struct shard *shard = port->own;
	uint16_t got;

	if (!short_begin(port, locked, false) || !look_or_not(port, nb) ||
		!ring_of_turn_is_enough(shard, nb))
		return 0;
	got = take_first_of_ring(shard, port, events, RTE_MIN(shard_turn(shard), nb));
	if (got == 0)
		return 0;
	took_of_turn(shard, got);
	return short_end(port, shard, events, got);
}

/* As the long way does it, looks included: with so many at a time one is due at each call, or nearly so. */
static __rte_noinline uint16_t
take_burst(struct builtin_port *port, struct shard **locked, struct rte_event *events, uint16_t nb)
{
	struct shard *shard = port->own;
	uint16_t got;

	if (has_flows_to_move(port) || !short_begin(port, locked, true) ||
		!look_for_one_priority(port, nb))
		return 0;
	got = take_from_rings(shard, port, events, nb);
	if (got == 0)
		return 0;
	return short_end(port, shard, events, got);
}

/* What only the long way does is due. */
static inline bool
is_for_long_way(const struct builtin_port *port)
{
	return port->nb_calls + 1 >= port->nb_calls_max || !has_short_ways(port->builtin);
}

/*
 * Does it go on with the shard whose turn it is; or, when that has had its turn, and it holds nothing, with the next one of its own, of which the home one
 * is still one?
 */
static inline bool
has_own_shard(struct builtin_port *port)
{
	if (likely(owner_stays(port)))
		return true;
	return port->nb_held == 0 && port->nb_calls_max == CALLS_PER_LOOK &&
	       shard_owner(port->home) == port->base.id && owner_turn(port);
}

/*
 * What a worker does most: it holds nothing, or one event, which it gives up; nothing is in its lists, and what is next is in its rings. The long way does
 * the same.
 *
 * got is 0: it has to go the long way; locked is its shard, if that had to be locked to see this.
 */
static __rte_noinline uint16_t
dequeue_some(struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	struct shard *locked = NULL;
	uint16_t got = 0;

	nb = RTE_MIN(nb, port->nb_max);
	if (unlikely(port_mark(port)) && port->nb_held > 1)
		unmarked_later(port);
	if (port->own != NULL && !is_for_long_way(port) && has_own_shard(port))
		got = nb > LITTLE ? take_burst(port, &locked, events, nb)
				  : take_few(port, &locked, events, nb);
	if (got == 0)
		return dequeue_anywhere(port, locked, events, nb);
	port->nb_idle = 0;
	count(&port->counts.nb_dequeued, got);
	return got;
}

/*
 * That was the last one of those that came next: what comes then? Where flows are to be moved the next dequeue goes the long way. Not by bias, by which
 * others are not told of what is left.
 */
static __rte_noinline uint16_t
dequeued_last(struct builtin_port *port, struct shard *shard, const struct rte_event *events,
	uint16_t nb, bool by_bias)
{
	const uint32_t looks = shard_looks_per_turn(shard);

	took_of_turn(shard, 0);
	if (by_bias && !owner_stays(port) && shard->nb_ready == 0) {
		own_leave(port, shard,
			true); /* others of its own have their turn: it will not be asked here */
		port->knows_next = KNOWS_NOT;
		return nb;
	}
	if (by_bias) {
		own_leave(port, shard, true);
		shard_lock_own(port, shard); /* it may have become another one's meanwhile */
	}
	if (shard_look_is_due(shard, nb))
		note_lately(shard, events, looks);
	note_next(port, shard, nb);
	port_note_bias(port, shard);
	shard_unlock_rings(shard);
	return nb;
}

/*
 * No lock is held. It does not know what comes next any more: others had the lock, or the shard is theirs; or that is not enough, or something else than
 * what is mostly is to be done first, for which the shard has to be locked as others do it.
 */
static __rte_noinline uint16_t
dequeue_anew(struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	port->knows_next = KNOWS_NOT;
	return dequeue_some(port, events, nb);
}

/* It has its own shard; something else than what is mostly is to be done first, for which it leaves the bias, as the long way takes the lock. */
static __rte_noinline uint16_t
dequeue_otherwise(struct builtin_port *port, struct shard *shard, struct rte_event *events,
	uint16_t nb, bool by_bias)
{
	if (by_bias) {
		own_leave(port, shard, true);
		return dequeue_anew(port, events, nb);
	}
	shard_forget(shard);
	port->knows_next = KNOWS_NOT;
	return dequeue_anywhere(port, shard, events, nb);
}

/* It has its own shard, by bias or by the lock. */
static __rte_always_inline uint16_t
dequeue_at_once(
	struct builtin_port *port, struct shard *shard, struct rte_event *event, const bool by_bias)
{
	if (unlikely(shard->at_once == 0 || shard_owner(shard) != port->base.id)) {
		own_leave(port, shard, by_bias);
		return dequeue_anew(port, event, 1);
	}
	if (port->nb_held > 0 && !give_up_at_once(port, shard))
		return dequeue_otherwise(port, shard, event, 1, by_bias);
	port->first_handed_out = port->next_free;
	if (!take_back_at_once(shard) || !hand_out_at_once(port, shard, event)) {
		port_set_held(port, 0);
		return dequeue_otherwise(port, shard, event, 1, by_bias);
	}
	if (port->nb_held == 0)
		port_set_held(port, 1);
	took_at_once(port, shard, 1);
	if (unlikely(shard->at_once == 0))
		return dequeued_last(port, shard, event, 1, by_bias);
	own_leave(port, shard, by_bias);
	return 1;
}

/* What others sent is few after so many: it goes to the lists then, for which all has to be marked. */
static inline bool
leaves_few(const struct shard *shard, uint16_t nb)
{
	const uint32_t left = shard_nb_of_others(shard) - nb;

	return !shard->turn_is_own && left > 0 && left < FEW;
}

/* Of a queue whose events have types of their own: none of these. */
static inline uint8_t
slot_type(const struct shard *shard, const struct rte_event *slot)
{
	return shard->builtin->queues[word_queue(event_word(slot))].type;
}

/* Likewise a burst, of a port that holds nothing. What cannot be handed out next is for the long way. */
static __rte_noinline uint16_t
dequeue_burst_at_once(struct builtin_port *port, struct shard *shard, struct rte_event *events,
	uint16_t nb, bool by_bias)
{
	uint16_t got = 0, run;
	bool unmarked;

	nb = RTE_MIN(nb, port->nb_max);
	if (unlikely(shard->at_once < nb || shard_owner(shard) != port->base.id)) {
		own_leave(port, shard, by_bias);
		return dequeue_anew(port, events, nb);
	}
	port->first_handed_out = port->next_free;
	if (unlikely(!take_back_at_once(shard)))
		return dequeue_otherwise(port, shard, events, nb, by_bias);
	if (!shard->turn_is_own)
		ring_prefetch_events(shard->turn, nb, 2u * nb);
	unmarked = shard->nb_marked == 0 && may_leave_unmarked(port, shard) &&
		   (shard->at_once > nb || !leaves_few(shard, nb));
	do {
		const struct rte_event *slot = ring_peek(shard->turn, got);

		unmarked = unmarked && has_no_marks(shard, slot_type(shard, slot));
		run = hand_out_run(
			shard, port, shard->turn, got, nb, UINT64_MAX, unmarked, &events[got]);
		if (unlikely(run == 0)) {
			shard_mark(shard); /* it comes with a mark, or a place, behind those */
			unmarked = false;
			run = hand_out_if(shard, port, slot, UINT64_MAX, &events[got]);
		}
		got += run;
	} while (run > 0 && got < nb);
	if (got == 0)
		return dequeue_otherwise(port, shard, events, nb, by_bias);
	took_at_once(port, shard, got);
	if (unlikely(shard->at_once == 0))
		return dequeued_last(port, shard, events, got, by_bias);
	own_leave(port, shard, by_bias);
	return got;
}

/* It has its own shard by bias. */
static __rte_noinline uint16_t
dequeue_by_bias(struct builtin_port *port, struct rte_event *event)
{
	return dequeue_at_once(port, port->own, event, true);
}

static __rte_noinline uint16_t
dequeue_known(struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	if (nb == 1 && may_have_at_once(port)) {
		if (port->bias.mine != NULL && own_enter(port, port->own))
			return dequeue_by_bias(port, events);
		if (own_trylock_again(port, port->own))
			return dequeue_at_once(port, port->own, events, false);
	}
	if (nb > 1 && may_have_burst_at_once(port)) {
		if (port->bias.mine != NULL && own_enter(port, port->own))
			return dequeue_burst_at_once(port, port->own, events, nb, true);
		if (own_trylock_again(port, port->own))
			return dequeue_burst_at_once(port, port->own, events, nb, false);
	}
	return dequeue_some(port, events, nb);
}

/* A single event, by a port that holds nothing, or one event, which it gives up if it may. */
static __rte_always_inline uint16_t
dequeue_as_before(struct builtin_port *port, struct rte_event *event, const bool gives_up)
{
	struct shard *shard = port->own;
	const struct rte_event *slot;

	if (unlikely((gives_up && !holds_as_before(port)) || !has_short_ways(port->builtin) ||
		     !own_enter(port, shard)))
		return dequeue_known(port, event, 1);
	slot = ring_peek(shard->turn, 0);
	if (unlikely(!comes_as_before(port, shard, event_word(slot))))
		return dequeue_by_bias(port, event);
	take_as_before(port, shard, slot, event, gives_up);
	bias_leave(&port->bias);
	return 1;
}

/* By itself, so that neither way needs the registers of both. */
static __rte_noinline uint16_t
dequeue_next(struct builtin_port *port, struct rte_event *event)
{
	return dequeue_as_before(port, event, false);
}

static uint16_t
builtin_dequeue(struct weir_sched_port *base, struct rte_event *events, uint16_t nb)
{
	struct builtin_port *port = (struct builtin_port *)base;

	if (unlikely(nb != 1 || port->before.type == NO_TYPE || port->nb_held > 1))
		return dequeue_known(port, events, nb);
	if (port->nb_held == 0)
		return dequeue_next(port, events);
	return dequeue_as_before(port, events, true);
}

const struct weir_sched_port_ops builtin_ops = {
	.enqueue = builtin_enqueue,
	.dequeue = builtin_dequeue,
	.tag_switch = builtin_switch,
};
