/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What producers and workers enqueue in bursts, as most of these are: all alike (alike.h), and nothing of it is foreign, or waits for flows that move. So
 * one look at the first event tells what is to be done, and nothing is noted of shards and levels for later. From the first event on that is otherwise
 * the burst goes the way of all others: enqueue.c.
 */

#include "alike.h"
#include "move.h"
#include "owner.h"
#include "single.h"
#include "unmarked.h"

/* So many of a burst are enqueued; the rest, too. */
static __rte_always_inline uint16_t
and_the_rest(struct builtin_port *port, const struct rte_event *events, uint16_t nb, uint16_t done)
{
	const uint16_t left = (uint16_t)(nb - done);

	if (likely(left == 0)) {
		move_leave(port);
		return nb;
	}
	/* The circle of numbers begins anew: the rest may be as alike as these were. */
	if (done > 0 && ending_at(port, 0) == 0)
		return (uint16_t)(done + enqueue_alike(port, events + done, left));
	return (uint16_t)(done + enqueue_burst(port, events + done, left));
}

/* What was put into rings of these shards, which goes by one level. */
static inline void
publish_alike(struct builtin_port *port, const struct queue_info *queue, uint64_t shards)
{
	const unsigned int level = queue_level(queue);

	for (; shards != 0; shards &= shards - 1) {
		const unsigned int shard = (unsigned int)__builtin_ctzll(shards);

		publish_ring(port, shard, level, port->rings[level][shard]);
	}
}

/* No lock is held. */
static inline void
tell_alike(struct builtin_port *port, const struct queue_info *queue, uint64_t shards)
{
	for (; shards != 0; shards &= shards - 1)
		tell(port, (unsigned int)__builtin_ctzll(shards), 1u << queue->priority);
}

static __rte_noinline uint16_t
burst_new(struct builtin_port *port, const struct rte_event *events, uint16_t nb)
{
	const uint8_t id = event_read_queue(events);
	const struct queue_info *queue = &port->builtin->queues[id];
	struct run run;

	if (unlikely(port->credits < (int32_t)nb || !is_plain(queue)))
		return enqueue_burst(port, events, nb);
	run = run_new(port, events, nb);
	port_set_credits(port, port->credits - run.nb);
	count(&port->nb_enqueued[id], run.nb);
	count(&port->counts.nb_new, run.nb);
	publish_alike(port, queue, run.touched);
	tell_alike(port, queue, run.touched);
	return and_the_rest(port, events, nb, run.nb);
}

/* Contexts are about to go back to this shard. @return false: another port is its sender by now, and it is not locked */
static __rte_always_inline bool
lock_to_give_back(struct builtin_port *port, struct shard *shard, enum held_kind kind)
{
	shard_lock_own(port, shard);
	if (kind == HELD_ORDERED || likely(shard->sender == port->base.id))
		return true;
	shard_unlock(shard);
	return false;
}

/* What was published is told of, and numbers are free again. */
static __rte_always_inline uint16_t
forwarded(struct builtin_port *port, const struct queue_info *queue, const struct rte_event *events,
	uint16_t nb, struct run run)
{
	tell_alike(port, queue, run.touched);
	port_set_held(port, port->nb_held - run.nb);
	count(&port->counts.nb_forwarded, run.nb);
	return and_the_rest(port, events, nb, run.nb);
}

static __rte_always_inline uint16_t
forward_burst(struct builtin_port *port, const struct rte_event *events, uint16_t nb,
	struct held held, enum held_kind kind)
{
	const struct queue_info *queue = &port->builtin->queues[event_read_queue(events)];
	struct shard *shard = &port->builtin->shards[held.shard];
	struct run run;

	if (kind != HELD_PARALLEL && unlikely(!lock_to_give_back(port, shard, kind)))
		return enqueue_burst(port, events, nb);
	run = run_forwarded(port, shard, events, nb, held.how, kind);
	if (kind != HELD_ORDERED)
		publish_alike(port, queue, run.touched);
	if (kind != HELD_PARALLEL)
		unlock_given_back(shard);
	if (kind != HELD_PARALLEL && run.nb == nb)
		unmarked_soon(port);
	return forwarded(port, queue, events, nb, run);
}

static __rte_noinline uint16_t
burst_forwarded_parallel(
	struct builtin_port *port, const struct rte_event *events, uint16_t nb, struct held held)
{
	return forward_burst(port, events, nb, held, HELD_PARALLEL);
}

static __rte_noinline uint16_t
burst_forwarded_atomic(
	struct builtin_port *port, const struct rte_event *events, uint16_t nb, struct held held)
{
	return forward_burst(port, events, nb, held, HELD_ATOMIC);
}

/* Likewise, of what is held by word, by bias if that is had. @return false: others have marked it, and it is not locked */
static inline bool
lock_unmarked(struct builtin_port *port, struct shard *shard, struct held held, bool *by_bias)
{
	*by_bias = own_enter_or_lock(port, shard);
	if (likely(is_unmarked(shard, held)))
		return true;
	own_leave(port, shard, *by_bias);
	unmarked_later(port);
	return false;
}

/* By the shard's own rings, likewise. */
static inline void
shard_publish_alike(struct shard *shard, const struct queue_info *queue, uint64_t shards)
{
	for (; shards != 0; shards &= shards - 1)
		shard_publish(shard, (unsigned int)__builtin_ctzll(shards), queue_level(queue));
}

/* Nothing of what they are held by is written anywhere, as long as others have not marked it. */
static __rte_always_inline uint16_t
forward_unmarked(struct builtin_port *port, const struct rte_event *events, uint16_t nb,
	struct held held, enum held_kind kind)
{
	const struct queue_info *queue = &port->builtin->queues[event_read_queue(events)];
	struct shard *shard = &port->builtin->shards[held.shard];
	struct run run;
	bool by_bias;

	if (unlikely(!lock_unmarked(port, shard, held, &by_bias)))
		return enqueue_burst(port, events, nb);
	if (kind == HELD_ORDERED) {
		run = run_in_order(port, shard, events, nb, held.how);
		shard_publish_alike(shard, queue, run.touched);
	} else {
		run = run_forwarded(port, shard, events, nb, held.how, HELD_PARALLEL);
		publish_alike(port, queue, run.touched);
	}
	unmarked_set(shard, shard->nb_unmarked - run.nb);
	if (kind == HELD_ORDERED)
		shard_tell_more(shard); /* which may mark what is left */
	own_leave(port, shard, by_bias);
	return forwarded(port, queue, events, nb, run);
}

static __rte_noinline uint16_t
burst_forwarded_unmarked(
	struct builtin_port *port, const struct rte_event *events, uint16_t nb, struct held held)
{
	return forward_unmarked(port, events, nb, held, HELD_ATOMIC);
}

static __rte_noinline uint16_t
burst_forwarded_in_order(
	struct builtin_port *port, const struct rte_event *events, uint16_t nb, struct held held)
{
	return forward_unmarked(port, events, nb, held, HELD_ORDERED);
}

static __rte_noinline uint16_t
burst_forwarded_ordered(
	struct builtin_port *port, const struct rte_event *events, uint16_t nb, struct held held)
{
	return forward_burst(port, events, nb, held, HELD_ORDERED);
}

static __rte_noinline uint16_t
burst_forwarded(struct builtin_port *port, const struct rte_event *events, uint16_t nb)
{
	const struct held held = held_of(port, events);

	if (unlikely(!is_plain(&port->builtin->queues[event_read_queue(events)])))
		return enqueue_burst(port, events, nb);
	if (held.how == held_how(HELD_ATOMIC, held.shard, HELD_BY_WORD))
		return burst_forwarded_unmarked(port, events, nb, held);
	if (held.how == held_how(HELD_ORDERED, held.shard, HELD_BY_WORD))
		return burst_forwarded_in_order(port, events, nb, held);
	if (unlikely(!is_held_plainly(held.how)))
		return enqueue_burst(port, events, nb);
	if (held.kind == HELD_ATOMIC)
		return burst_forwarded_atomic(port, events, nb, held);
	if (held.kind == HELD_ORDERED)
		return burst_forwarded_ordered(port, events, nb, held);
	return burst_forwarded_parallel(port, events, nb, held);
}

static __rte_always_inline uint16_t
released(struct builtin_port *port, const struct rte_event *events, uint16_t nb, uint16_t done)
{
	port_set_held(port, port->nb_held - done);
	credits_put(port, done, false);
	count(&port->counts.nb_released, done);
	return and_the_rest(port, events, nb, done);
}

static __rte_always_inline uint16_t
release_burst(struct builtin_port *port, const struct rte_event *events, uint16_t nb,
	struct held held, enum held_kind kind)
{
	struct shard *shard = &port->builtin->shards[held.shard];
	uint16_t done;

	if (kind != HELD_PARALLEL && unlikely(!lock_to_give_back(port, shard, kind)))
		return enqueue_burst(port, events, nb);
	done = run_released(port, shard, events, nb, held.how, kind);
	if (kind != HELD_PARALLEL)
		unlock_given_back(shard);
	if (kind != HELD_PARALLEL && done == nb)
		unmarked_soon(port);
	return released(port, events, nb, done);
}

static __rte_noinline uint16_t
burst_released_parallel(
	struct builtin_port *port, const struct rte_event *events, uint16_t nb, struct held held)
{
	return release_burst(port, events, nb, held, HELD_PARALLEL);
}

static __rte_noinline uint16_t
burst_released_atomic(
	struct builtin_port *port, const struct rte_event *events, uint16_t nb, struct held held)
{
	return release_burst(port, events, nb, held, HELD_ATOMIC);
}

static __rte_noinline uint16_t
burst_released_unmarked(
	struct builtin_port *port, const struct rte_event *events, uint16_t nb, struct held held)
{
	struct shard *shard = &port->builtin->shards[held.shard];
	uint16_t done;
	bool by_bias;

	if (unlikely(!lock_unmarked(port, shard, held, &by_bias)))
		return enqueue_burst(port, events, nb);
	done = run_released(port, shard, events, nb, held.how, HELD_PARALLEL);
	unmarked_set(shard, shard->nb_unmarked - done);
	own_leave(port, shard, by_bias);
	return released(port, events, nb, done);
}

static __rte_noinline uint16_t
burst_released_ordered(
	struct builtin_port *port, const struct rte_event *events, uint16_t nb, struct held held)
{
	return release_burst(port, events, nb, held, HELD_ORDERED);
}

static __rte_noinline uint16_t
burst_released(struct builtin_port *port, const struct rte_event *events, uint16_t nb)
{
	const struct held held = held_of(port, events);

	if (held.flags == HELD_BY_WORD)
		return burst_released_unmarked(port, events, nb, held);
	if (unlikely(!is_held_plainly(held.how)))
		return enqueue_burst(port, events, nb);
	if (held.kind == HELD_ATOMIC)
		return burst_released_atomic(port, events, nb, held);
	if (held.kind == HELD_ORDERED)
		return burst_released_ordered(port, events, nb, held);
	return burst_released_parallel(port, events, nb, held);
}

/* Those whose first and last events are not alike are not worth the try. */
uint16_t
enqueue_alike(struct builtin_port *port, const struct rte_event *events, uint16_t nb)
{
	const uint32_t op = events->op;

	if (op != events[nb - 1].op)
		return enqueue_burst(port, events, nb);
	if (op == RTE_EVENT_OP_RELEASE)
		return burst_released(port, events, nb);
	if (event_read_queue(events) != event_read_queue(&events[nb - 1]))
		return enqueue_burst(port, events, nb);
	if (op == RTE_EVENT_OP_FORWARD)
		return burst_forwarded(port, events, nb);
	if (op == RTE_EVENT_OP_NEW)
		return burst_new(port, events, nb);
	return enqueue_burst(port, events, nb);
}
