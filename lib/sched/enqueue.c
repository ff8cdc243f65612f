/* SPDX-License-Identifier: BSD-3-Clause */

/* What a port of the builtin scheduler's thread enqueues. */

#include <rte_errno.h>

#include "give_up.h"
#include "plain.h"

/* Into the ring to its shard, to be published. @return the shard */
static inline unsigned int
put(struct builtin_port *port, struct rte_event event)
{
	unsigned int shard = destination(port, event.event);

	note_priority(port->builtin, event_priority(port->builtin, event.event));
	ring_put(port->rings[shard], event);
	return shard;
}

/* Its priority is noted also while there is only one: when it is published there may be several. */
static inline void
put_into_burst(struct builtin_port *port, struct rte_event event)
{
	unsigned int shard = put(port, event);

	port->touched |= (uint64_t)1 << shard;
	port->sent_priorities[shard] |= (uint8_t)(1u << event_priority(port->builtin, event.event));
}

/* To the end of this call, when what it became can be seen. */
static inline void
end_later(struct builtin_port *port, uint8_t number)
{
	port->held[number].flags |= HELD_ENDING;
	port->ending[port->nb_ending++] = number;
}

static void
give_up_ending(struct builtin_port *port)
{
	const unsigned int nb = port->nb_ending;
	struct shard *locked = NULL;

	for (unsigned int i = 0; i < nb; i++)
		locked = give_up(port, port->ending[i], locked);
	port->nb_ending = 0;
	if (locked != NULL)
		shard_unlock(locked);
}

/* What one call did. */
struct tally {
	uint16_t nb_new, nb_forwarded, nb_released;
};

/* Plain events of one queue in a burst: what is the same for all of them is asked once, and noted when it ends. */
struct run {
	const struct queue_info *queue;
	uint64_t touched; /* shards */
	int32_t nb_new, nb_forwarded;
	uint8_t id; /* of the queue */
	bool is_plain;
};

static __rte_always_inline void
run_begin(struct builtin_port *port, struct run *run, uint8_t queue, uint32_t priorities)
{
	*run = (struct run){.queue = &port->builtin->queues[queue], .id = queue};
	run->is_plain = is_plain(run->queue, priorities);
}

static __rte_always_inline void
run_end(struct builtin_port *port, struct run *run, struct tally *tally)
{
	port->touched |= run->touched;
	for (uint64_t left = run->touched; left != 0; left &= left - 1)
		port->sent_priorities[__builtin_ctzll(left)] |=
			(uint8_t)(1u << run->queue->priority);
	if (run->nb_new > 0)
		port_set_credits(port, port->credits - run->nb_new);
	if (run->nb_new + run->nb_forwarded > 0)
		count(&port->nb_enqueued[run->id], (uint64_t)(run->nb_new + run->nb_forwarded));
	tally->nb_new += (uint16_t)run->nb_new;
	tally->nb_forwarded += (uint16_t)run->nb_forwarded;
	run->touched = 0;
	run->nb_new = run->nb_forwarded = 0;
}

/*
 * What producers and workers do most. Of this run's queue.
 *
 * @return false: it is something else
 */
static __rte_always_inline bool
run_put(struct builtin_port *port, struct run *run, struct rte_event event)
{
	const uint8_t number = word_opaque(event.event);
	struct held *held = &port->held[number];
	const bool is_new = word_op(event.event) == RTE_EVENT_OP_NEW;

	if (!run->is_plain ||
		(is_new ? port->credits <= run->nb_new : !can_forward_plain(port, held, event)))
		return false;
	run->touched |= (uint64_t)1 << put_plain(port, run->queue,
				(struct rte_event){
					.event = word_mark(event.event, false), .u64 = event.u64});
	if (is_new) {
		run->nb_new++;
		return true;
	}
	run->nb_forwarded++;
	if (held->kind == HELD_PARALLEL) {
		port_forget(port, number);
	} else {
		held->flags = HELD_FORWARDED | HELD_ENDING;
		port->ending[port->nb_ending++] = number;
	}
	return true;
}

static void
forward(struct builtin_port *port, struct rte_event event)
{
	uint8_t number = word_opaque(event.event);
	struct held *held = &port->held[number];

	event.event = word_mark(event.event, held->flags & HELD_RESERVED);
	held->flags |= HELD_FORWARDED;
	if (held->kind == HELD_ORDERED) {
		/* Its place is this port's until it is completed. */
		note_priority(port->builtin, event_priority(port->builtin, event.event));
		event_write(&port->builtin->shards[held->shard].places[held->place].event, event);
		end_later(port, number);
		return;
	}
	if (held->flags & HELD_FOREIGN) {
		note_priority(port->builtin, event_priority(port->builtin, event.event));
		foreign_forward(port, event);
	} else {
		put_into_burst(port, event);
	}
	if (held->kind == HELD_PARALLEL)
		port_forget(port, number);
	else
		end_later(port, number);
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
enqueue_one(struct builtin_port *port, struct rte_event event, struct tally *tally)
{
	uint8_t op = word_op(event.event), number = word_opaque(event.event);

	if (op == RTE_EVENT_OP_NEW) {
		if (!is_valid(port->builtin, event.event))
			return EINVAL;
		if (!credit_get(port))
			return ENOSPC;
		event.event = word_mark(event.event, false);
		put_into_burst(port, event);
		count_into_queue(port, event);
		tally->nb_new++;
		return 0;
	}
	if (op > RTE_EVENT_OP_RELEASE || !port_holds(port, event.event))
		return EINVAL;
	if (op == RTE_EVENT_OP_RELEASE) {
		end_later(port, number);
		tally->nb_released++;
		return 0;
	}
	if (!is_valid(port->builtin, event.event))
		return EINVAL;
	forward(port, event);
	count_into_queue(port, event);
	tally->nb_forwarded++;
	return 0;
}

static void
count_enqueued(struct builtin_port *port, const struct tally *tally)
{
	if (tally->nb_new > 0)
		count(&port->counts.nb_new, tally->nb_new);
	if (tally->nb_forwarded > 0)
		count(&port->counts.nb_forwarded, tally->nb_forwarded);
	if (tally->nb_released > 0)
		count(&port->counts.nb_released, tally->nb_released);
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

static __rte_noinline uint16_t
enqueue_burst(struct builtin_port *port, const struct rte_event *events, uint16_t nb)
{
	uint32_t priorities = __atomic_load_n(&port->builtin->priorities_used, __ATOMIC_RELAXED);
	struct tally tally = {0};
	struct run run;
	uint16_t i;

	run_begin(port, &run, nb > 0 ? events->queue_id : 0, priorities);
	for (i = 0; i < nb; i++) {
		struct rte_event event = event_read(&events[i]);
		int error;

		if (word_queue(event.event) != run.id) {
			run_end(port, &run, &tally);
			run_begin(port, &run, word_queue(event.event), priorities);
		}
		if (likely(run_put(port, &run, event)))
			continue;
		run_end(port, &run, &tally);
		error = enqueue_one(port, event, &tally);
		if (unlikely(error != 0)) {
			count_error(port, error, (uint16_t)(nb - i));
			break;
		}
	}
	run_end(port, &run, &tally);
	if (unlikely(port->nb_foreign > 0))
		foreign_insert(port);
	publish(port);
	if (port->nb_ending > 0)
		give_up_ending(port);
	count_enqueued(port, &tally);
	return i;
}

/*
 * What became of it can be seen. To its home shard without the lock, where nobody sleeps or is in a hurry: who has that next takes the flow
 * back.
 */
static inline void
give_back(struct builtin_port *port, const struct held *held)
{
	struct shard *shard = &port->builtin->shards[held->shard];

	if (likely(shard == port->home && !port->builtin->may_sleep &&
		    !has_several_priorities(port->builtin))) {
		ring_put(&shard->returned, (struct rte_event){.event_ptr = held->lane});
		ring_publish(&shard->returned);
		tell_waiting(port->builtin, held->shard);
		return;
	}
	shard_lock(shard);
	owner_release(port, shard, held);
	shard_unlock(shard);
}

/*
 * What producers and workers do most: a single event that is new, or goes on, as run_put() has it, and needs none
 * of a burst's bookkeeping.
 */
uint16_t
builtin_enqueue(struct weir_sched_port *base, const struct rte_event *events, uint16_t nb)
{
	struct builtin_port *port = (struct builtin_port *)base;
	struct builtin *builtin = port->builtin;
	uint32_t priorities = __atomic_load_n(&builtin->priorities_used, __ATOMIC_RELAXED);
	const struct queue_info *queue;
	struct rte_event event;
	struct held *held;
	unsigned int shard;

	if (nb != 1)
		return enqueue_burst(port, events, nb);
	event = event_read(events);
	queue = &builtin->queues[word_queue(event.event)];
	held = &port->held[word_opaque(event.event)];
	if (word_op(event.event) == RTE_EVENT_OP_NEW
			? port->credits <= 0 || !is_plain(queue, priorities)
			: !can_forward_plain(port, held, event) || !is_plain(queue, priorities))
		return enqueue_burst(port, events, nb);
	shard = put_plain(port, queue,
		(struct rte_event){.event = word_mark(event.event, false), .u64 = event.u64});
	publish_one(port, shard, 1u << queue->priority);
	count_into_queue(port, event);
	if (word_op(event.event) == RTE_EVENT_OP_NEW) {
		port_set_credits(port, port->credits - 1);
		count(&port->counts.nb_new, 1);
		return 1;
	}
	if (held->kind == HELD_ATOMIC)
		give_back(port, held);
	port_forget(port, word_opaque(event.event));
	count(&port->counts.nb_forwarded, 1);
	return 1;
}
