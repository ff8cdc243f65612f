/* SPDX-License-Identifier: BSD-3-Clause */

/* What a port of the builtin scheduler's thread enqueues: what is not as most single events (single.c), and most bursts are (burst.c). */

#include <rte_errno.h>

#include "alike.h"
#include "move.h"
#include "owner.h"
#include "single.h"
#include "unmarked.h"

/* Into the ring to its shard, to be published. @return the shard */
static inline unsigned int
put(struct builtin_port *port, struct rte_event event)
{
	const struct queue_info *queue = &port->builtin->queues[word_queue(event.event)];
	const unsigned int shard =
		destination(port, queue, event_type(port->builtin, event.event), event.event);

	note_priority(port->builtin, event_priority(port->builtin, event.event));
	ring_put(port->rings[queue_level(queue)][shard], event);
	return shard;
}

/* Its priority is noted also while there is only one: when it is published there may be several. */
static inline void
put_into_burst(struct builtin_port *port, struct rte_event event)
{
	unsigned int shard = put(port, event);

	port->touched |= (uint64_t)1 << shard;
	port->sent[shard] |=
		event_sent(&port->builtin->queues[word_queue(event.event)], event.event);
}

/* Into the ring to its shard; or into that itself, while its flow goes from one to another. */
static inline void
put_or_insert(struct builtin_port *port, struct rte_event event)
{
	if (!move_concerns(port, event.event)) {
		put_into_burst(port, event);
		return;
	}
	note_priority(port->builtin, event_priority(port->builtin, event.event));
	builtin_insert(port->builtin, &event);
}

/* What one call did, and has. */
struct call {
	uint16_t nb_new, nb_forwarded, nb_released;
	struct shard *
		locked; /* flows of it were given back; what was sent is not published yet. Or NULL */
};

/* Shards' rings got some of a plain queue, to be published. */
static inline void
touch(struct builtin_port *port, uint64_t shards, const struct queue_info *queue)
{
	const uint32_t sent = __atomic_load_n(&queue->sends, __ATOMIC_RELAXED);

	port->touched |= shards;
	for (; shards != 0; shards &= shards - 1)
		port->sent[__builtin_ctzll(shards)] |= sent;
}

/* @return how many of these come first that are alike */
static __rte_noinline uint16_t
put_new(struct builtin_port *port, const struct rte_event *events, uint16_t nb)
{
	const uint8_t id = event_read_queue(events);
	const struct queue_info *queue = &port->builtin->queues[id];
	struct run run;

	if (!is_plain(queue) || port->credits <= 0)
		return 0;
	run = run_new(port, events, (unsigned int)RTE_MIN((int32_t)nb, port->credits));
	touch(port, run.touched, queue);
	port_set_credits(port, port->credits - run.nb);
	count(&port->nb_enqueued[id], run.nb);
	return run.nb;
}

/* Where it is kept what an ordered event became: its place is this port's until it is completed. */
static inline struct rte_event *
place_event(const struct builtin_port *port, unsigned int shard, const struct held *held)
{
	return &port->builtin->shards[shard].places[held->place].event;
}

/* The lock is left: before anybody else can have the flows that were given back, what was sent can be seen. */
static inline void
unlock_sent(struct builtin_port *port, struct call *call)
{
	if (call->locked == NULL)
		return;
	publish_untold(port);
	shard_unlock(call->locked);
	call->locked = NULL;
	tell_published(port);
}

/*
 * The shard to which contexts as this one go back.
 *
 * @return false: another port is its sender by now, and what this one sent has to be where it is for, first (owner_settle())
 */
static inline bool
lock_for(struct builtin_port *port, struct call *call, struct held held)
{
	struct shard *shard = &port->builtin->shards[held.shard];

	if (call->locked != shard) {
		unlock_sent(port, call);
		if (unlikely(port->nb_foreign > 0))
			foreign_insert(port);
		shard_lock(shard);
		call->locked = shard;
		port->knows_next = KNOWS_NOT;
	}
	return held.kind == HELD_ORDERED || likely(shard->sender == port->base.id);
}

/* Nothing else is left to give back, of so many, but credits of those that do not go on: after those of others that have ended in this call. */
static void
numbers_back(struct builtin_port *port, uint16_t nb, uint8_t flags)
{
	if (port->ending.nb > 0 && nb > 0) {
		ending_note(&port->ending, held_how(HELD_PARALLEL, 0, flags), nb);
		return;
	}
	port_set_held(port, port->nb_held - nb);
	if (flags == 0)
		credits_put(port, nb, false);
}

/* Those that are foreign, or have a reserved credit, go one by one, as those for queues that are not plain do. */
static __rte_noinline uint16_t
put_forwarded(
	struct builtin_port *port, const struct rte_event *events, uint16_t nb, struct call *call)
{
	const struct queue_info *queue = &port->builtin->queues[event_read_queue(events)];
	const struct held first = held_of(port, events);
	struct run run;

	if (!is_plain(queue) || !is_held_plainly(first.how))
		return 0;
	if (first.kind != HELD_PARALLEL && !lock_for(port, call, first))
		return 0;
	if (first.kind == HELD_ATOMIC)
		run = run_forwarded(port, call->locked, events, nb, first.how, HELD_ATOMIC);
	else if (first.kind == HELD_ORDERED)
		run = run_forwarded(port, call->locked, events, nb, first.how, HELD_ORDERED);
	else
		run = run_forwarded(port, NULL, events, nb, first.how, HELD_PARALLEL);
	touch(port, run.touched, queue);
	numbers_back(port, run.nb, HELD_FORWARDED);
	return run.nb;
}

/*
 * Those that are foreign, or have a reserved credit, or whose shard has another sender by now, are given back at the end of the call; and all that come
 * behind foreign ones that go on, which are put in together.
 */
static __rte_noinline uint16_t
release_later(struct builtin_port *port, const struct rte_event *events, uint16_t nb)
{
	const uint32_t how = port->held[events->impl_opaque].how;
	const uint8_t first_at = ending_at(port, port->ending.nb);
	uint16_t i;

	for (i = 0; i < nb; i++) {
		const uint64_t word = event_read_claim(&events[i]);
		struct held *held = &port->held[word_opaque(word)];

		if (word_op(word) != RTE_EVENT_OP_RELEASE || !port_holds(port, word) ||
			held->how != how)
			break;
		held_end(held);
		port->free[(uint8_t)(first_at + i)] = word_opaque(word);
	}
	if (i > 0)
		ending_note(&port->ending, how, i);
	return i;
}

static __rte_noinline uint16_t
release(struct builtin_port *port, const struct rte_event *events, uint16_t nb, struct call *call)
{
	const struct held first = held_of(port, events);
	uint16_t done;

	if (port->nb_foreign > 0 || !is_held_plainly(first.how) ||
		(first.kind != HELD_PARALLEL && !lock_for(port, call, first)))
		return release_later(port, events, nb);
	if (first.kind == HELD_ATOMIC)
		done = run_released(port, call->locked, events, nb, first.how, HELD_ATOMIC);
	else if (first.kind == HELD_ORDERED)
		done = run_released(port, call->locked, events, nb, first.how, HELD_ORDERED);
	else
		done = run_released(port, NULL, events, nb, first.how, HELD_PARALLEL);
	numbers_back(port, done, 0);
	return done;
}

static void
forward(struct builtin_port *port, struct rte_event event)
{
	uint8_t number = word_opaque(event.event);
	struct held *held = &port->held[number];

	event.event = word_mark(event.event, held->flags & HELD_RESERVED);
	if (held->kind == HELD_ORDERED) {
		note_priority(port->builtin, event_priority(port->builtin, event.event));
		event_write(place_event(port, held->shard, held), event);
	} else if ((held->flags & HELD_FOREIGN) != 0 && !move_concerns(port, event.event)) {
		note_priority(port->builtin, event_priority(port->builtin, event.event));
		foreign_forward(port, event);
	} else {
		put_or_insert(port, event);
	}
	ending_add(port, number, HELD_FORWARDED);
}

/* For a NEW event. */
static inline bool
credit_get(struct builtin_port *port)
{
	if (unlikely(port->credits <= 0))
		return credit_take(port);
	port_set_credits(port, port->credits - 1);
	return true;
}

static inline void
count_into_queue(struct builtin_port *port, struct rte_event event)
{
	count(&port->nb_enqueued[word_queue(event.event)], 1);
}

/* @return 0, or what is wrong */
static inline int
enqueue_one(struct builtin_port *port, struct rte_event event, struct call *call)
{
	uint8_t op = word_op(event.event), number = word_opaque(event.event);

	if (op == RTE_EVENT_OP_NEW) {
		if (!is_valid(port->builtin, event.event))
			return EINVAL;
		if (!credit_get(port))
			return ENOSPC;
		event.event = word_mark(event.event, false);
		put_or_insert(port, event);
		count_into_queue(port, event);
		call->nb_new++;
		return 0;
	}
	if (op > RTE_EVENT_OP_RELEASE || !port_holds(port, event.event))
		return EINVAL;
	if (op == RTE_EVENT_OP_RELEASE) {
		ending_add(port, number, 0);
		call->nb_released++;
		return 0;
	}
	if (!is_valid(port->builtin, event.event))
		return EINVAL;
	forward(port, event);
	count_into_queue(port, event);
	call->nb_forwarded++;
	return 0;
}

static void
count_enqueued(struct builtin_port *port, const struct call *call)
{
	if (call->nb_new > 0)
		count(&port->counts.nb_new, call->nb_new);
	if (call->nb_forwarded > 0)
		count(&port->counts.nb_forwarded, call->nb_forwarded);
	if (call->nb_released > 0)
		count(&port->counts.nb_released, call->nb_released);
}

static void
count_error(struct builtin_port *port, int error, uint16_t nb_left)
{
	if (error == ENOSPC)
		count(&port->counts.nb_refused, nb_left);
	else
		count(&port->counts.nb_invalid, 1);
	rte_errno = error;
}

/* @return how many events come first that can be put in as most are */
static uint16_t
put_run(struct builtin_port *port, const struct rte_event *events, uint16_t nb, struct call *call)
{
	uint16_t taken = 0;

	/* While flows go from one shard to another each one that is sent is looked at. */
	if (unlikely(port->move.by_lock != 0) && events->op != RTE_EVENT_OP_RELEASE)
		return 0;
	switch (events->op) {
	case RTE_EVENT_OP_NEW:
		taken = put_new(port, events, nb);
		call->nb_new += taken;
		break;
	case RTE_EVENT_OP_FORWARD:
		taken = put_forwarded(port, events, nb, call);
		call->nb_forwarded += taken;
		break;
	case RTE_EVENT_OP_RELEASE:
		taken = release(port, events, nb, call);
		call->nb_released += taken;
		break;
	default:
		break;
	}
	return taken;
}

uint16_t
enqueue_burst(struct builtin_port *port, const struct rte_event *events, uint16_t nb)
{
	struct call call = {0};
	uint16_t i = 0;

	if (unlikely(port_mark(port)))
		unmarked_later(port);
	while (i < nb) {
		uint16_t taken = put_run(port, &events[i], (uint16_t)(nb - i), &call);
		int error = 0;

		if (taken == 0) {
			unlock_sent(port, &call);
			error = enqueue_one(port, event_read(&events[i]), &call);
			taken = 1;
		}
		if (unlikely(error != 0)) {
			count_error(port, error, (uint16_t)(nb - i));
			break;
		}
		i += taken;
	}
	if (unlikely(port->nb_foreign > 0))
		foreign_insert(port);
	publish_untold(port);
	if (port->ending.nb > 0)
		call.locked = ending_give_up(port, call.locked);
	if (call.locked != NULL)
		shard_unlock(call.locked);
	tell_published(port);
	count_enqueued(port, &call);
	move_leave(port);
	return i;
}
