/* SPDX-License-Identifier: BSD-3-Clause */

/* A port of the builtin scheduler: its thread's enqueue and dequeue. */

#include <rte_errno.h>

#include "give_up.h"
#include "plain.h"

static struct builtin_port *
port_of(struct weir_sched_port *port)
{
	return (struct builtin_port *)port;
}

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
static uint16_t
builtin_enqueue(struct weir_sched_port *base, const struct rte_event *events, uint16_t nb)
{
	struct builtin_port *port = port_of(base);
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

/* All that is held is given up. @return the shard that is locked, or NULL */
static struct shard *
release_all(struct builtin_port *port)
{
	struct shard *locked = NULL;

	count(&port->counts.nb_released, port->nb_held);
	for (uint8_t i = port->first_handed_out; port->nb_held > 0; i++) {
		const uint8_t number = port->handed_out[i];

		if (port->held[number].kind != HELD_NOT)
			locked = give_up(port, number, locked);
	}
	return locked;
}

/*
 * Under the lock of its own shard, which was looked at: a burst has nothing of lower priority than what others have, or what has been announced since;
 * unless that could not be had.
 */
static inline uint32_t
not_below_others(const struct builtin_port *port)
{
	uint32_t arrived = __atomic_load_n(&port->own->arrived, __ATOMIC_RELAXED);
	uint32_t highest = port->elsewhere_highest;

	if (highest < port->own_highest || port->builtin->sched->config.starvation_bound != 0)
		return UINT32_MAX;
	if (arrived != 0)
		highest = RTE_MIN(highest, arrived & -arrived);
	return 2 * highest - 1;
}

/* What came first first. */
static __rte_always_inline uint16_t
take_ready(struct shard *shard, struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	uint32_t priorities = not_below_others(port);
	uint16_t got = 0;

	if (shard->next_of_owner != NONE)
		got = take_next_of_owner(shard, port, events, nb);
	if (got < nb && shard->nb_ready > 0)
		got += shard_take(shard, port, &events[got], (uint16_t)(nb - got), priorities);
	if (shard->nb_in_rings > 0 && got < nb) {
		if (!has_several_priorities(port->builtin)) {
			got += take_from_rings(shard, port, &events[got], (uint16_t)(nb - got));
		} else {
			shard_drain(shard, UINT32_MAX);
			got += shard_take(
				shard, port, &events[got], (uint16_t)(nb - got), priorities);
		}
	}
	shard->nb_since_look += got;
	return got;
}

/* All that is ready is for others, or not urgent enough. */
static __rte_noinline uint16_t
take_after_look(
	struct shard *shard, struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	look_at_rings(shard, UINT16_MAX);
	return take_ready(shard, port, events, nb);
}

/* Of its own shard, which may be locked. */
static uint16_t
take_own(struct builtin_port *port, struct shard *locked, struct rte_event *events, uint16_t nb)
{
	struct shard *shard = lock_instead(locked, port->own);
	uint16_t got;

	shard_take_back(shard, true);
	look_at_rings(shard, nb);
	if (port->nb_elsewhere > 0)
		shard_passed(shard, port->nb_elsewhere);
	port->nb_elsewhere = 0;
	got = take_ready(shard, port, events, nb);
	if (unlikely(got == 0 && shard->nb_ready > 0))
		got = take_after_look(shard, port, events, nb);
	shard_polled(shard);
	__atomic_store_n(&shard->nb_taken, shard->nb_taken + got, __ATOMIC_RELAXED);
	shard_unlock(shard);
	return got;
}

static void
idle(struct builtin_port *port)
{
	if (shard_is_busy(port->own) || ++port->nb_idle % WEIR_BASE_SCHED_IDLE_CALLS != 0)
		return;
	credit_flush(port);
	if (port->builtin->may_sleep)
		port_may_sleep(port);
}

/* There is nothing in the one whose turn it was: the others that it serves. */
static __rte_noinline uint16_t
take_others_of_own(struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	unsigned int nb_turns = 0;
	uint16_t got = 0;

	while (got == 0 && owner_turn_to_next(port, &nb_turns))
		if (!look_is_vain(port))
			got = take_own(port, NULL, events, nb);
	return got;
}

/* Before its own events: what is of higher priority elsewhere; and now and then, what nobody comes to. @locked: as look_for_higher() */
static uint16_t
look_around(struct builtin_port *port, struct shard **locked, struct rte_event *events, uint16_t nb)
{
	uint16_t got = 0;

	port->elsewhere_highest = 1u << WEIR_SCHED_PRIORITIES;
	if (has_several_priorities(port->builtin))
		got = look_for_higher(port, locked, events, nb);
	if (got > 0 || !look_is_due(port))
		return got;
	if (*locked != NULL)
		shard_unlock(*locked);
	*locked = NULL;
	return look_elsewhere(port, events, nb, false);
}

/* Most bursts are of one queue. */
static inline void
count_dequeued(struct builtin_port *port, const struct rte_event *events, uint16_t nb)
{
	uint64_t differ = 0;

	count(&port->counts.nb_dequeued, nb);
	for (uint16_t i = 1; i < nb; i++)
		differ |= events[i].event ^ events[0].event;
	if (likely(word_queue(differ) == 0))
		count(&port->nb_dequeued[events[0].queue_id], nb);
	else
		for (uint16_t i = 0; i < nb; i++)
			count(&port->nb_dequeued[events[i].queue_id], 1);
}

/* @locked: its own shard, if it is locked. */
static __rte_noinline uint16_t
dequeue_anywhere(
	struct builtin_port *port, struct shard *locked, struct rte_event *events, uint16_t nb)
{
	uint16_t got = 0;
	bool serves = true;

	if (port->own != NULL) {
		if (unlikely(owner_has_changed(port)))
			serves = owner_turn(port);
		look_soon(port->own);
	}
	if (port->implicit && port->nb_held > 0)
		locked = release_all(port);
	port->first_handed_out = port->next_free;
	nb = RTE_MIN(nb, (uint16_t)(port->nb_max - port->nb_held));
	if (port->own == NULL || nb == 0) {
		if (locked != NULL)
			shard_unlock(locked);
		return 0;
	}
	if (unlikely(!serves && locked != NULL)) {
		shard_unlock(locked);
		locked = NULL;
	}
	got = look_around(port, &locked, events, nb);
	if (got == 0 && (locked != NULL || (serves && !look_is_vain(port))))
		got = take_own(port, locked, events, nb);
	if (unlikely(got == 0 && port->served != port->home_bit))
		got = take_others_of_own(port, events, nb);
	/* What was announced to it was for others, and nothing else was taken as others seemed to have more urgent things. */
	if (got == 0 && port->elsewhere_highest < 1u << WEIR_SCHED_PRIORITIES) {
		locked = NULL;
		got = look_for_higher(port, &locked, events, nb);
		if (got == 0)
			got = take_own(port, NULL, events, nb);
	}
	/* While its rings give something, if seldom, it has enough to do. What is announced was looked for already, in its order. */
	if (got == 0 && !shard_is_busy(port->own) && !tells_priorities(port->builtin))
		got = look_elsewhere(port, events, nb, true);
	if (got == 0) {
		idle(port);
		return 0;
	}
	port->nb_idle = 0;
	if (port->builtin->may_sleep)
		__atomic_store_n(&port->idle_at, 0, __ATOMIC_RELAXED);
	count_dequeued(port, events, got);
	return got;
}

static uint16_t
builtin_dequeue(struct weir_sched_port *base, struct rte_event *events, uint16_t nb)
{
	struct builtin_port *port = port_of(base);
	struct shard *locked = NULL;
	uint16_t got = 0;

	if (port->own != NULL && likely(!owner_has_changed(port)))
		got = take_of_ring(port, &locked, events, RTE_MIN(nb, port->nb_max));
	if (got == 0)
		return dequeue_anywhere(port, locked, events, nb);
	port->nb_idle = 0;
	count_dequeued(port, events, got);
	return got;
}

const struct weir_sched_port_ops builtin_ops = {
	.enqueue = builtin_enqueue,
	.dequeue = builtin_dequeue,
	.tag_switch = builtin_switch,
};
