/* SPDX-License-Identifier: BSD-3-Clause */

/* A port of the builtin scheduler: its thread's enqueue and dequeue. */

#include <rte_errno.h>

#include "builtin.h"

/* Also when there is work, so rarely a port looks elsewhere: where nobody else may come. */
#define CALLS_PER_LOOK 64

/* A port that found nothing so often gives credits back, and may sleep. */
#define IDLE_CALLS 16

static struct builtin_port *
port_of(struct weir_sched_port *port)
{
	return (struct builtin_port *)port;
}

void
port_forget(struct builtin_port *port, uint8_t number)
{
	port->held[number].kind = HELD_NOT;
	port->free[port->nb_free++] = number;
	port_set_held(port, port->nb_held - 1u);
}

bool
port_holds(const struct builtin_port *port, uint8_t number)
{
	return port->held[number].kind != HELD_NOT && !port->held[number].ending;
}

/* Into its shard, after all that is in the rings there. Any thread. */
void
builtin_insert(struct builtin *builtin, const struct rte_event *event)
{
	struct shard *shard = &builtin->shards[event_shard(builtin, event)];

	shard_lock(shard);
	shard_drain_all(shard);
	shard_arrive(shard, event);
	shard_unlock(shard);
	announce(builtin, shard->id, 0);
}

/* Parallel events stay on their core, where idle ones find them; flows go where they belong. */
static inline unsigned int
destination(const struct builtin_port *port, const struct rte_event *event)
{
	if (port->own != NULL && event_type(port->builtin, event) == RTE_SCHED_TYPE_PARALLEL)
		return port->own_id;
	return event_shard(port->builtin, event);
}

static inline void
note_priority(struct builtin *builtin, uint8_t priority)
{
	if ((__atomic_load_n(&builtin->priorities_used, __ATOMIC_RELAXED) >> priority & 1) == 0)
		__atomic_fetch_or(&builtin->priorities_used, 1u << priority, __ATOMIC_RELAXED);
}

static inline void
publish_one(struct builtin_port *port, unsigned int shard, uint32_t priorities)
{
	ring_publish(port->rings[shard]);
	if (tells_priorities(port->builtin) ||
		__atomic_load_n(&port->builtin->asleep, __ATOMIC_RELAXED) != 0)
		announce(port->builtin, shard, priorities);
}

static void
publish(struct builtin_port *port)
{
	for (; port->touched != 0; port->touched &= port->touched - 1) {
		unsigned int shard = (unsigned int)__builtin_ctzll(port->touched);

		publish_one(port, shard, port->sent_priorities[shard]);
		port->sent_priorities[shard] = 0;
	}
}

/* Into the ring to its shard, to be published. @return the shard */
static inline unsigned int
put(struct builtin_port *port, struct rte_event event)
{
	unsigned int shard = destination(port, &event);

	note_priority(port->builtin, event_priority(port->builtin, &event));
	ring_put(port->rings[shard], event);
	return shard;
}

static inline void
put_into_burst(struct builtin_port *port, struct rte_event event)
{
	unsigned int shard = put(port, event);

	port->touched |= (uint64_t)1 << shard;
	if (tells_priorities(port->builtin))
		port->sent_priorities[shard] |=
			(uint8_t)(1u << event_priority(port->builtin, &event));
}

/* To the end of this call, when what it became can be seen. */
static void
end_later(struct builtin_port *port, uint8_t number)
{
	port->held[number].ending = true;
	port->ending[port->nb_ending++] = number;
}

/*
 * A context is given back; what the event became is published before. Neighbours of one shard under one lock: @locked, which
 * may be NULL.
 *
 * @return the shard that is locked now, or NULL
 */
static inline struct shard *
give_up(struct builtin_port *port, uint8_t number, struct shard *locked)
{
	const struct held *held = &port->held[number];

	if (held->kind != HELD_PARALLEL) {
		struct shard *shard = &port->builtin->shards[held->shard];

		if (shard != locked) {
			if (locked != NULL)
				shard_unlock(locked);
			shard_lock(shard);
			locked = shard;
		}
		if (held->kind == HELD_ATOMIC)
			shard_release(shard, held->lane, shard == port->own);
		else
			shard_complete(shard, held);
	}
	if (!held->forwarded)
		credit_put(port, held->reserved);
	port_forget(port, number);
	return locked;
}

static void
give_up_ending(struct builtin_port *port)
{
	struct shard *locked = NULL;

	for (unsigned int i = 0; i < port->nb_ending; i++)
		locked = give_up(port, port->ending[i], locked);
	port->nb_ending = 0;
	if (locked != NULL)
		shard_unlock(locked);
}

static void
forward(struct builtin_port *port, struct rte_event event)
{
	uint8_t number = event.impl_opaque;
	struct held *held = &port->held[number];

	event.rsvd = held->reserved ? RESERVED_MARK : 0;
	held->forwarded = true;
	if (held->kind == HELD_ORDERED) {
		/* Its place is this port's until it is completed. */
		note_priority(port->builtin, event_priority(port->builtin, &event));
		event_write(&port->builtin->shards[held->shard].places[held->place].event, event);
		end_later(port, number);
		return;
	}
	if (held->foreign) {
		publish(port);
		note_priority(port->builtin, event_priority(port->builtin, &event));
		builtin_insert(port->builtin, &event);
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

/* What one call did. */
struct tally {
	uint16_t nb_new, nb_forwarded, nb_released;
};

/* @return 0, or what is wrong */
static inline int
enqueue_one(struct builtin_port *port, struct rte_event event, struct tally *tally)
{
	if (event.op == RTE_EVENT_OP_NEW) {
		if (!is_valid(port->builtin, &event))
			return EINVAL;
		if (!credit_get(port))
			return ENOSPC;
		event.rsvd = 0;
		put_into_burst(port, event);
		tally->nb_new++;
		return 0;
	}
	if (event.op > RTE_EVENT_OP_RELEASE || !port_holds(port, event.impl_opaque))
		return EINVAL;
	if (event.op == RTE_EVENT_OP_RELEASE) {
		end_later(port, event.impl_opaque);
		tally->nb_released++;
		return 0;
	}
	if (!is_valid(port->builtin, &event))
		return EINVAL;
	forward(port, event);
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

static uint16_t
enqueue_burst(struct builtin_port *port, const struct rte_event *events, uint16_t nb)
{
	struct tally tally = {0};
	uint16_t i;

	for (i = 0; i < nb; i++) {
		int error = enqueue_one(port, event_read(&events[i]), &tally);

		if (unlikely(error != 0)) {
			count_error(port, error, (uint16_t)(nb - i));
			break;
		}
	}
	publish(port);
	if (port->nb_ending > 0)
		give_up_ending(port);
	count_enqueued(port, &tally);
	return i;
}

/* What producers do most: a single new event, which needs none of a burst's bookkeeping. */
static uint16_t
builtin_enqueue(struct weir_sched_port *base, const struct rte_event *events, uint16_t nb)
{
	struct builtin_port *port = port_of(base);
	struct rte_event event;
	unsigned int shard;

	if (nb != 1 || events->op != RTE_EVENT_OP_NEW)
		return enqueue_burst(port, events, nb);
	event = event_read(events);
	if (!is_valid(port->builtin, &event) || port->credits <= 0)
		return enqueue_burst(port, events, nb);
	port_set_credits(port, port->credits - 1);
	event.rsvd = 0;
	shard = put(port, event);
	publish_one(port, shard, 1u << event_priority(port->builtin, &event));
	count(&port->counts.nb_new, 1);
	return 1;
}

/* All that is held is given up. @return the shard that is locked, or NULL */
static struct shard *
release_all(struct builtin_port *port)
{
	struct shard *locked = NULL;

	count(&port->counts.nb_released, port->nb_held);
	for (unsigned int number = 0; port->nb_held > 0; number++)
		if (port->held[number].kind != HELD_NOT)
			locked = give_up(port, (uint8_t)number, locked);
	return locked;
}

/* What came first first. */
static uint16_t
take_ready(struct shard *shard, struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	uint16_t got = 0;

	if (shard->next_of_owner != NONE)
		got = take_next_of_owner(shard, port, events, nb);
	if (got < nb && shard->nb_ready > 0)
		got += shard_take(shard, port, &events[got], (uint16_t)(nb - got), UINT32_MAX);
	shard->nb_since_look += got;
	if (shard->nb_in_rings == 0 || got == nb)
		return got;
	if (!has_several_priorities(port->builtin))
		return (uint16_t)(got +
				  take_from_rings(shard, port, &events[got], (uint16_t)(nb - got)));
	shard_drain(shard, UINT32_MAX);
	return (uint16_t)(got +
			  shard_take(shard, port, &events[got], (uint16_t)(nb - got), UINT32_MAX));
}

/* Of its own shard, which may be locked. */
static uint16_t
take_own(struct builtin_port *port, struct shard *locked, struct rte_event *events, uint16_t nb)
{
	struct shard *shard = port->own;
	uint16_t got;

	if (locked != shard) {
		if (locked != NULL)
			shard_unlock(locked);
		shard_lock(shard);
	}
	look_at_rings(shard, nb);
	got = take_ready(shard, port, events, nb);
	if (got == 0 && shard->nb_ready > 0) {
		/* All of that is for others. */
		look_if_due(shard);
		got = take_ready(shard, port, events, nb);
	}
	__atomic_store_n(&shard->nb_polls, shard->nb_polls + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&shard->nb_taken, shard->nb_taken + got, __ATOMIC_RELAXED);
	shard_unlock(shard);
	return got;
}

static void
idle(struct builtin_port *port)
{
	if (port->own->is_busy || ++port->nb_idle % IDLE_CALLS != 0)
		return;
	credit_flush(port);
	if (port->builtin->sched->config.idle_sleep_us != 0)
		port_sleep(port);
}

/* Before its own events: is there something of higher priority elsewhere; and now and then, something that nobody comes to? */
static uint16_t
look_around(struct builtin_port *port, struct shard **locked, struct rte_event *events, uint16_t nb)
{
	bool is_time = ++port->nb_calls % CALLS_PER_LOOK == 0;
	uint16_t got = 0;

	if (!is_time && !has_several_priorities(port->builtin))
		return 0;
	if (*locked != NULL)
		shard_unlock(*locked);
	*locked = NULL;
	if (has_several_priorities(port->builtin))
		got = look_for_higher(port, events, nb);
	if (got == 0 && is_time)
		got = look_elsewhere(port, events, nb, false);
	return got;
}

static uint16_t
builtin_dequeue(struct weir_sched_port *base, struct rte_event *events, uint16_t nb)
{
	struct builtin_port *port = port_of(base);
	struct shard *locked = NULL;
	uint16_t got = 0;

	if (port->implicit && port->nb_held > 0)
		locked = release_all(port);
	nb = RTE_MIN(nb, (uint16_t)(port->nb_max - port->nb_held));
	if (port->own == NULL || nb == 0) {
		if (locked != NULL)
			shard_unlock(locked);
		return 0;
	}
	got = look_around(port, &locked, events, nb);
	if (got == 0 && (locked != NULL || !look_is_vain(port->own)))
		got = take_own(port, locked, events, nb);
	/* While its rings give something, if seldom, it has enough to do. */
	if (got == 0 && !port->own->is_busy)
		got = look_elsewhere(port, events, nb, true);
	if (got == 0) {
		idle(port);
		return 0;
	}
	port->nb_idle = 0;
	count(&port->counts.nb_dequeued, got);
	return got;
}

const struct weir_sched_port_ops builtin_ops = {
	.enqueue = builtin_enqueue,
	.dequeue = builtin_dequeue,
	.tag_switch = builtin_switch,
};
