/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What producers and workers enqueue most: a single event that is new, or goes on, as put_new() and put_forwarded() have it (enqueue.c), and needs none
 * of a burst's bookkeeping. What is more seldom is left to functions that each way ends with: so the others need no room on the stack.
 */

#include "move.h"
#include "one_by_one.h"
#include "owner.h"
#include "places.h"
#include "plain.h"
#include "single.h"
#include "unmarked.h"

static inline struct ring *
ring_to(const struct builtin_port *port, const struct queue_info *queue, unsigned int shard)
{
	return port->rings[queue_level(queue)][shard];
}

/* Does a worker send to itself, by a ring that is known there? */
static __rte_always_inline bool
is_own(const struct builtin_port *port, const struct queue_info *queue, unsigned int shard)
{
	return shard == port->own_id && (port->known[queue_level(queue)] >> shard & 1) != 0;
}

/* What was published: others know that there is something, and need not know more. */
static __rte_always_inline bool
is_told_of(const struct builtin *builtin, unsigned int shard)
{
	return has_short_ways(builtin) &&
	       (__atomic_load_n(&builtin->waiting, __ATOMIC_RELAXED) >> shard & 1) != 0;
}

/* It may be that it is published already. */
static inline void
publish_single(struct builtin_port *port, const struct queue_info *queue, unsigned int shard)
{
	publish_ring(port, shard, queue_level(queue), ring_to(port, queue, shard));
	tell(port, shard, 1u << queue->priority);
}

static __rte_noinline uint16_t
new_elsewhere(struct builtin_port *port, const struct queue_info *queue, unsigned int shard)
{
	publish_single(port, queue, shard);
	move_leave(port);
	return 1;
}

static __rte_noinline uint16_t
enqueue_new(struct builtin_port *port, const struct rte_event *events)
{
	const uint8_t id = event_read_queue(events);
	const struct queue_info *queue = &port->builtin->queues[id];
	struct rte_event event;
	struct ring *ring;
	unsigned int shard;

	if (unlikely(port->credits <= 0 || !is_plain(queue)))
		return enqueue_burst(port, events, 1);
	count(&port->nb_enqueued[id], 1);
	port_set_credits(port, port->credits - 1);
	count(&port->counts.nb_new, 1);
	event = event_read_as(events, event_read_kind(events), id);
	shard = destination(port, queue, queue->type, event.event);
	ring = ring_to(port, queue, shard);
	ring_put(ring, event);
	if (!is_own(port, queue, shard))
		return new_elsewhere(port, queue, shard);
	ring_publish(ring);
	if (unlikely(!is_told_of(port->builtin, shard)))
		return new_elsewhere(port, queue, shard);
	move_leave(port);
	return 1;
}

/* To the shard that it has by bias, where nothing waits for it. @return false: it did not go back */
static __rte_always_inline bool
give_back_by_bias(struct builtin_port *port, struct shard *shard, const struct held *held)
{
	bool is_back;

	if (!own_enter(port, shard))
		return false;
	is_back = release_at_once(shard, held->lane);
	bias_leave(&port->bias);
	return is_back;
}

/* To its home shard without the lock, where nobody sleeps or is in a hurry: who has that next takes the flow back. */
static inline void
give_back(struct builtin_port *port, const struct held *held)
{
	struct shard *shard = &port->builtin->shards[held->shard];

	if (likely(shard == port->home && has_short_ways(port->builtin))) {
		returned_put(&shard->returned, held->lane);
		tell_waiting(port->builtin, held->shard);
		return;
	}
	if (give_back_by_bias(port, shard, held))
		return;
	shard_lock_own(port, shard);
	owner_release(port, shard, held);
	unlock_given_back(shard);
}

/* It was sent, and is told of. */
static __rte_noinline uint16_t
forwarded_flow(struct builtin_port *port, const struct held *held)
{
	give_back(port, held);
	if (port->bias.mine != NULL)
		unmarked_soon(port);
	port_forget(port, (uint8_t)(held - port->held));
	move_leave(port);
	return 1;
}

static __rte_noinline uint16_t
forwarded_elsewhere(struct builtin_port *port, const struct held *held,
	const struct queue_info *queue, unsigned int shard)
{
	publish_single(port, queue, shard);
	if (held->kind == HELD_ATOMIC)
		return forwarded_flow(port, held);
	port_forget(port, (uint8_t)(held - port->held));
	move_leave(port);
	return 1;
}

/* An ordered event that is alone in its flow goes on, by bias, where nobody has to be woken for it. @return false: it did not */
static __rte_always_inline bool
goes_on_by_bias(struct builtin_port *port, struct shard *shard, const struct held *held,
	const struct queue_info *queue, struct rte_event event)
{
	bool goes_on;

	if (!has_short_ways(port->builtin) || !own_enter(port, shard))
		return false;
	goes_on = complete_at_once(shard, held);
	if (likely(goes_on)) {
		place_send_plain(shard, queue, event);
		shard_tell(shard);
	}
	bias_leave(&port->bias);
	return goes_on;
}

static __rte_noinline uint16_t
forwarded_ordered(struct builtin_port *port, struct held *held, const struct queue_info *queue,
	struct rte_event event)
{
	struct shard *shard = &port->builtin->shards[held->shard];

	if (!goes_on_by_bias(port, shard, held, queue, event)) {
		shard_lock_own(port, shard);
		place_become(shard, held, queue, event, true);
		shard_unlock(shard);
	}
	if (port->bias.mine != NULL)
		unmarked_soon(port);
	port_forget(port, (uint8_t)(held - port->held));
	move_leave(port);
	return 1;
}

/* An ordered one that has no place. What is not as it is mostly is left to bursts, of one. */
static __rte_noinline uint16_t
enqueue_in_order(struct builtin_port *port, const struct rte_event *events)
{
	const uint32_t kind = event_read_kind(events);
	const uint8_t id = event_read_queue(events), number = event_read_opaque(events);
	const struct queue_info *queue = &port->builtin->queues[id];
	struct shard *shard = port->home;

	if (unlikely(!kind_is_claimed(kind, port->claims) || !is_plain(queue) ||
		     number != port->handed_out[port->first_handed_out] ||
		     !has_short_ways(port->builtin) || !own_enter(port, shard)))
		return enqueue_alike(port, events, 1);
	if (unlikely(!unmarked_give_back(port, shard, number))) {
		bias_leave(&port->bias);
		return enqueue_alike(port, events, 1);
	}
	port->first_handed_out++;
	place_send_plain(shard, queue, event_read_as(events, kind, id));
	shard_tell_more(shard);
	bias_leave(&port->bias);
	count(&port->nb_enqueued[id], 1);
	count(&port->counts.nb_forwarded, 1);
	move_leave(port);
	return 1;
}

/* Its flow had no mark, and may have one by now. It was sent, and is told of. */
static __rte_noinline uint16_t
forwarded_unmarked(struct builtin_port *port, uint8_t number)
{
	struct shard *shard = port->home;
	const bool by_bias = own_enter_or_lock(port, shard),
		   is_back = unmarked_give_back(port, shard, number);

	own_leave(port, shard, by_bias);
	if (!by_bias && !bias_comes_again(port))
		unmarked_later(port);
	if (is_back) {
		move_leave(port);
		return 1;
	}
	port_unbias(port);
	unmarked_later(port);
	held_by_lane(port->builtin, &port->held[number]);
	return forwarded_flow(port, &port->held[number]);
}

static __rte_noinline uint16_t
forwarded_unmarked_elsewhere(struct builtin_port *port, uint8_t number,
	const struct queue_info *queue, unsigned int shard)
{
	publish_single(port, queue, shard);
	return forwarded_unmarked(port, number);
}

/* One that has its flow without a mark. */
static __rte_noinline uint16_t
enqueue_unmarked(struct builtin_port *port, const struct rte_event *events)
{
	const uint32_t kind = event_read_kind(events);
	const uint8_t id = event_read_queue(events), number = event_read_opaque(events);
	const struct queue_info *queue = &port->builtin->queues[id];
	struct rte_event event;
	struct ring *ring;
	unsigned int shard;

	if (unlikely(!kind_is_claimed(kind, port->claims) || !is_plain(queue)))
		return enqueue_burst(port, events, 1);
	count(&port->nb_enqueued[id], 1);
	count(&port->counts.nb_forwarded, 1);
	event = event_read_as(events, kind, id);
	shard = destination(port, queue, queue->type, event.event);
	ring = ring_to(port, queue, shard);
	ring_put(ring, event);
	if (unlikely(!is_own(port, queue, shard) || !is_told_of(port->builtin, shard)))
		return forwarded_unmarked_elsewhere(port, number, queue, shard);
	ring_publish(ring);
	if (unlikely(!own_enter(port, port->home)))
		return forwarded_unmarked(port, number);
	if (unlikely(!unmarked_give_back(port, port->home, number))) {
		bias_leave(&port->bias);
		return forwarded_unmarked(port, number);
	}
	bias_leave(&port->bias);
	move_leave(port);
	return 1;
}

static __rte_noinline uint16_t
enqueue_forwarded(struct builtin_port *port, const struct rte_event *events)
{
	const uint32_t kind = event_read_kind(events);
	const uint8_t id = event_read_queue(events), number = event_read_opaque(events);
	const struct rte_event event = event_read_as(events, kind, id);
	const struct queue_info *queue = &port->builtin->queues[id];
	struct held *held = &port->held[number];
	struct ring *ring;
	unsigned int shard;

	if (unlikely(!kind_is_claimed(kind, port->claims) || !is_held_plainly(held->how) ||
		     !is_plain(queue)))
		return enqueue_burst(port, events, 1);
	count(&port->nb_enqueued[id], 1);
	count(&port->counts.nb_forwarded, 1);
	if (held->kind == HELD_ORDERED)
		return forwarded_ordered(port, held, queue, event);
	shard = destination(port, queue, queue->type, event.event);
	ring = ring_to(port, queue, shard);
	ring_put(ring, event);
	if (!is_own(port, queue, shard))
		return forwarded_elsewhere(port, held, queue, shard);
	ring_publish(ring);
	if (unlikely(!is_told_of(port->builtin, shard)))
		return forwarded_elsewhere(port, held, queue, shard);
	if (held->kind == HELD_ATOMIC) {
		if (unlikely(held->shard != shard || port->own != port->home))
			return forwarded_flow(port, held);
		returned_put(&port->home->returned, held->lane);
		if (port->bias.mine != NULL)
			unmarked_soon(port);
	}
	port_forget(port, number);
	move_leave(port);
	return 1;
}

static __rte_always_inline uint16_t
enqueue_as_it_is(struct builtin_port *port, const struct rte_event *events, uint16_t nb)
{
	struct held held;

	if (unlikely(port->move.by_lock != 0))
		return enqueue_burst(port, events, nb);
	if (nb != 1)
		return nb > 1 ? enqueue_alike(port, events, nb) : enqueue_burst(port, events, 0);
	if (events->op == RTE_EVENT_OP_NEW)
		return enqueue_new(port, events);
	held = held_of(port, events);
	if (likely((held.flags & HELD_BY_WORD) == 0))
		return enqueue_forwarded(port, events);
	return held.kind == HELD_ATOMIC ? enqueue_unmarked(port, events)
					: enqueue_in_order(port, events);
}

static __rte_noinline uint16_t
enqueue_after_answer(struct builtin_port *port, const struct rte_event *events, uint16_t nb)
{
	move_answer(port);
	return enqueue_as_it_is(port, events, nb);
}

uint16_t
builtin_enqueue(struct weir_sched_port *base, const struct rte_event *events, uint16_t nb)
{
	struct builtin_port *port = (struct builtin_port *)base;

	move_enter(port);
	if (unlikely(move_is_news(port)))
		return enqueue_after_answer(port, events, nb);
	return enqueue_as_it_is(port, events, nb);
}
