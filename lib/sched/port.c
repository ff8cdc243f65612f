/* SPDX-License-Identifier: BSD-3-Clause */

/* A port of the builtin scheduler: its thread's enqueue and dequeue. */

#include <rte_errno.h>

#include "builtin.h"

/* An idle port looks at another one's shard each time, and into its rings so rarely: that takes lines from those who write them. */
#define RINGS_PERIOD 8

/* When to take another one's events. */
#define MANY_READY     64
#define UNSERVED_LOOKS 16

static struct builtin_port *
port_of(struct weir_sched_port *port)
{
	return (struct builtin_port *)port;
}

/* There is always room: dequeue asks for no more. */
uint8_t
port_hold(struct builtin_port *port, struct held held)
{
	uint8_t number = port->free[--port->nb_free];

	port->held[number] = held;
	port->nb_held++;
	return number;
}

static void
forget(struct builtin_port *port, uint8_t number)
{
	port->held[number].kind = HELD_NOT;
	port->free[port->nb_free++] = number;
	port->nb_held--;
}

/* A credit for a NEW event. */
static bool
credit_get(struct builtin_port *port)
{
	struct builtin *builtin = port->builtin;
	int32_t limit = (int32_t)builtin->sched->config.new_threshold;
	int32_t inside, want;

	if (port->credits > 0) {
		port->credits--;
		return true;
	}
	inside = __atomic_load_n(&builtin->inside, __ATOMIC_RELAXED);
	do {
		want = limit - inside;
		if (want <= 0)
			return false;
		want = want < builtin->quantum ? want : builtin->quantum;
	} while (!__atomic_compare_exchange_n(&builtin->inside, &inside, inside + want, true,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED));
	port->credits = want - 1;
	return true;
}

/* Events have left. */
static void
credit_put(struct builtin_port *port, bool reserved)
{
	struct builtin *builtin = port->builtin;

	if (reserved) {
		__atomic_fetch_add(&builtin->reserved, 1, __ATOMIC_RELAXED);
		return;
	}
	if (++port->credits < 2 * builtin->quantum)
		return;
	__atomic_fetch_sub(&builtin->inside, builtin->quantum, __ATOMIC_RELAXED);
	port->credits -= builtin->quantum;
}

/* Its context is given back, under the shard's lock; what it was is sent on already. */
static void
give_up_locked(struct builtin_port *port, uint8_t number)
{
	struct held *held = &port->held[number];

	if (held->kind == HELD_ATOMIC)
		shard_release(&port->builtin->shards[held->shard], held);
	forget(port, number);
}

static void
release_locked(struct builtin_port *port, uint8_t number)
{
	struct held *held = &port->held[number];

	credit_put(port, held->reserved);
	count(&port->stats.nb_released, 1);
	if (held->kind == HELD_ORDERED)
		shard_complete(&port->builtin->shards[held->shard], held, NULL);
	give_up_locked(port, number);
}

/* Do it for each of some numbers; neighbours of one shard under one lock. */
static void
for_each_held(struct builtin_port *port, const uint8_t *numbers, unsigned int nb,
	void (*act)(struct builtin_port *port, uint8_t number))
{
	struct shard *locked = NULL;

	for (unsigned int i = 0; i < nb; i++) {
		const struct held *held = &port->held[numbers[i]];
		struct shard *shard = &port->builtin->shards[held->shard];

		if (held->kind != HELD_PARALLEL && shard != locked) {
			if (locked != NULL)
				shard_unlock(locked);
			shard_lock(shard);
			locked = shard;
		}
		act(port, numbers[i]);
	}
	if (locked != NULL)
		shard_unlock(locked);
}

/* Into a shard, after all that is in its rings. */
static void
insert(struct shard *shard, const struct rte_event *event)
{
	shard_lock(shard);
	shard_drain(shard);
	shard_arrive(shard, event);
	shard_unlock(shard);
}

static void
put_into_ring(struct builtin_port *port, struct shard *shard, const struct rte_event *event)
{
	ring_put(port->builtin, &shard->rings[port->base.id], event);
}

/* Parallel events stay on their core, where idle ones find them; flows go where they belong. */
static struct shard *
destination(struct builtin_port *port, const struct rte_event *event)
{
	struct builtin *builtin = port->builtin;

	if (port->own != NULL && event_type(builtin, event) == RTE_SCHED_TYPE_PARALLEL)
		return port->own;
	return event_shard(builtin, event);
}

static bool
is_valid(const struct builtin *builtin, const struct rte_event *event)
{
	return event->queue_id < builtin->sched->config.nb_queues &&
	       (builtin->sched->queues[event->queue_id].type != WEIR_SCHED_TYPE_BY_EVENT ||
		       event->sched_type <= RTE_SCHED_TYPE_PARALLEL);
}

static bool
is_held(const struct builtin_port *port, const struct rte_event *event)
{
	return port->held[event->impl_opaque].kind != HELD_NOT;
}

/* What a call of enqueue has put into rings, and what it gives up when these are published. */
struct batch {
	uint64_t shards; /* whose ring got some */
	uint16_t nb_given_up;
	uint8_t given_up[256];
	uint32_t priorities[WEIR_SCHED_PORTS_MAX]; /* by shard, where there are several */
};

static void
batch_put(struct builtin_port *port, struct batch *batch, const struct rte_event *event)
{
	struct builtin *builtin = port->builtin;
	struct shard *shard = destination(port, event);

	put_into_ring(port, shard, event);
	if (builtin->several_priorities) {
		if ((batch->shards >> shard->id & 1) == 0)
			batch->priorities[shard->id] = 0;
		batch->priorities[shard->id] |= 1u << event_priority(builtin, event);
	}
	batch->shards |= (uint64_t)1 << shard->id;
}

static void
batch_publish(struct builtin_port *port, struct batch *batch)
{
	struct builtin *builtin = port->builtin;

	for (; batch->shards != 0; batch->shards &= batch->shards - 1) {
		struct shard *shard = &builtin->shards[__builtin_ctzll(batch->shards)];

		ring_publish(&shard->rings[port->base.id]);
		if (builtin->several_priorities &&
			(__atomic_load_n(&shard->arrived, __ATOMIC_RELAXED) &
				batch->priorities[shard->id]) != batch->priorities[shard->id])
			__atomic_fetch_or(
				&shard->arrived, batch->priorities[shard->id], __ATOMIC_RELAXED);
	}
	for_each_held(port, batch->given_up, batch->nb_given_up, give_up_locked);
	batch->nb_given_up = 0;
}

static void
forward(struct builtin_port *port, struct batch *batch, struct rte_event event)
{
	uint8_t number = event.impl_opaque;
	struct held *held = &port->held[number];
	struct shard *shard = &port->builtin->shards[held->shard];

	event.rsvd = held->reserved ? RESERVED_MARK : 0;
	count(&port->stats.nb_forwarded, 1);
	if (held->kind == HELD_ORDERED) {
		shard_lock(shard);
		shard_complete(shard, held, &event);
		shard_unlock(shard);
		forget(port, number);
		return;
	}
	if (held->foreign)
		insert(event_shard(port->builtin, &event), &event);
	else
		batch_put(port, batch, &event);
	if (held->kind == HELD_ATOMIC)
		batch->given_up[batch->nb_given_up++] = number;
	else
		forget(port, number);
}

static uint16_t
builtin_enqueue(struct weir_sched_port *base, const struct rte_event *events, uint16_t nb)
{
	struct builtin_port *port = port_of(base);
	struct builtin *builtin = port->builtin;
	struct batch batch;
	uint16_t i;

	batch.shards = 0;
	batch.nb_given_up = 0;
	for (i = 0; i < nb; i++) {
		struct rte_event event = events[i];

		if (event.op == RTE_EVENT_OP_FORWARD && is_held(port, &event) &&
			is_valid(builtin, &event)) {
			/* Not twice in a burst either. */
			if (port->held[event.impl_opaque].kind == HELD_ATOMIC)
				for (uint16_t g = 0; g < batch.nb_given_up; g++)
					if (batch.given_up[g] == event.impl_opaque)
						goto invalid;
			forward(port, &batch, event);
		} else if (event.op == RTE_EVENT_OP_RELEASE && is_held(port, &event)) {
			batch_publish(port, &batch);
			if (!is_held(port, &event))
				goto invalid;
			for_each_held(port, &event.impl_opaque, 1, release_locked);
		} else if (event.op == RTE_EVENT_OP_NEW && is_valid(builtin, &event)) {
			if (!credit_get(port)) {
				count(&port->stats.nb_refused, nb - i);
				rte_errno = ENOSPC;
				break;
			}
			event.rsvd = 0;
			count(&port->stats.nb_new, 1);
			batch_put(port, &batch, &event);
		} else {
			goto invalid;
		}
	}
	batch_publish(port, &batch);
	return i;

invalid:
	batch_publish(port, &batch);
	count(&port->stats.nb_invalid, 1);
	rte_errno = EINVAL;
	return i;
}

static void
release_all(struct builtin_port *port)
{
	uint8_t numbers[256];
	unsigned int nb = 0;

	for (unsigned int number = 0; nb < port->nb_held; number++)
		if (port->held[number].kind != HELD_NOT)
			numbers[nb++] = (uint8_t)number;
	for_each_held(port, numbers, nb, release_locked);
}

/* Of its own shard. */
static uint16_t
take_own(struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	struct shard *shard = port->own;
	uint16_t got = 0;

	shard_lock(shard);
	if (port->builtin->several_priorities) {
		shard_drain(shard);
		got = shard_take(shard, port, events, nb);
	} else {
		if (shard->nb_ready > 0)
			got = shard_take(shard, port, events, nb);
		if (got < nb)
			got += shard_take_from_rings(
				shard, port, &events[got], (uint16_t)(nb - got));
	}
	if (got > 0)
		__atomic_store_n(&shard->served, shard->served + 1, __ATOMIC_RELAXED);
	shard_unlock(shard);
	return got;
}

/* Half of what another one has at most: its owner may be there soon. */
static uint16_t
steal(struct builtin_port *port, struct shard *shard, struct rte_event *events, uint16_t nb)
{
	uint16_t got, most;

	if (!shard_trylock(shard))
		return 0;
	shard_drain(shard);
	most = (uint16_t)RTE_MIN(nb, (shard->nb_ready + 1) / 2);
	got = most > 0 ? shard_take(shard, port, events, most) : 0;
	shard_unlock(shard);
	count(&port->stats.nb_stolen, got);
	return got;
}

/* Is there something in another shard of a higher priority than what this one has? */
static struct shard *
higher_elsewhere(struct builtin_port *port)
{
	struct builtin *builtin = port->builtin;
	struct shard *best = NULL;
	uint32_t own = (__atomic_load_n(&port->own->hint, __ATOMIC_RELAXED) & 0xff) |
		       __atomic_load_n(&port->own->arrived, __ATOMIC_RELAXED);
	uint32_t least = own != 0 ? own & -own : 1u << WEIR_SCHED_PRIORITIES;

	for (unsigned int i = 0; i < builtin->nb_shards; i++) {
		struct shard *shard = &builtin->shards[i];
		uint32_t there = (__atomic_load_n(&shard->hint, __ATOMIC_RELAXED) & 0xff) |
				 __atomic_load_n(&shard->arrived, __ATOMIC_RELAXED);

		if (shard != port->own && there != 0 && (there & -there) < least) {
			least = there & -there;
			best = shard;
		}
	}
	return best;
}

/*
 * Idle: does somebody else have more than he comes to? His events are warm where they are, so they are left to him, unless
 * they are many, or he has not come for some looks.
 */
static uint16_t
look_elsewhere(struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	struct shard *shard = &port->builtin->shards[port->victim];
	uint32_t served = __atomic_load_n(&shard->served, __ATOMIC_RELAXED);
	uint32_t nb_ready = __atomic_load_n(&shard->hint, __ATOMIC_RELAXED) >> 8;
	uint16_t got = 0;

	port->idle++;
	if (shard != port->own &&
		(nb_ready > 0 || (port->idle % RINGS_PERIOD == 0 && !shard_rings_empty(shard)))) {
		if (served != port->served) {
			port->served = served;
			port->unserved = 0;
		}
		if (nb_ready < MANY_READY && port->unserved++ < UNSERVED_LOOKS)
			return 0;
		got = steal(port, shard, events, nb);
	}
	port->victim = port->victim + 1 < port->builtin->nb_shards ? port->victim + 1 : 0;
	port->unserved = 0;
	return got;
}

static uint16_t
builtin_dequeue(struct weir_sched_port *base, struct rte_event *events, uint16_t nb)
{
	struct builtin_port *port = port_of(base);
	struct shard *higher;
	uint16_t got = 0;

	if (port->implicit && port->nb_held > 0)
		release_all(port);
	if (port->own == NULL)
		return 0;
	nb = RTE_MIN(nb, (uint16_t)(port->nb_max - port->nb_held));
	if (nb == 0)
		return 0;
	if (port->builtin->several_priorities && (higher = higher_elsewhere(port)) != NULL)
		got = steal(port, higher, events, nb);
	if (got == 0)
		got = take_own(port, events, nb);
	/* Now and then also when there is work: groups may be such that nobody else comes there. */
	if (got == 0 || (++port->calls % 32 == 0 && got < nb))
		got += look_elsewhere(port, &events[got], (uint16_t)(nb - got));
	if (got > 0)
		port->idle = 0;
	count(&port->stats.nb_dequeued, got);
	return got;
}

/* In place, if nobody has the new flow. */
static bool
move_to_lane(struct builtin_port *port, struct held *held, struct rte_event *event, uint8_t type)
{
	struct builtin *builtin = port->builtin;
	struct shard *shard = event_shard(builtin, event);
	struct lane *lane = event_lane(builtin, event, type);
	bool idle;

	shard_lock(shard);
	shard_drain(shard);
	idle = lane->state == LANE_IDLE;
	if (idle) {
		lane->state = LANE_HELD;
		lane->port = (uint8_t)port->base.id;
		lane->nb_held = 1;
	}
	shard_unlock(shard);
	if (idle)
		*held = (struct held){.kind = HELD_ATOMIC,
			.shard = (uint8_t)shard->id,
			.reserved = held->reserved,
			.foreign = shard != port->own,
			.lane = lane};
	return idle;
}

static int
builtin_switch(struct weir_sched_port *base, struct rte_event *event, uint32_t flow, uint8_t type)
{
	struct builtin_port *port = port_of(base);
	struct rte_event changed = *event;
	struct held *held = &port->held[event->impl_opaque], before = *held;
	struct shard *shard = &port->builtin->shards[held->shard];

	changed.flow_id = flow & 0xfffff;
	changed.sched_type = type;
	changed.op = RTE_EVENT_OP_FORWARD;
	if (!is_held(port, event) || !is_valid(port->builtin, event) ||
		type > RTE_SCHED_TYPE_PARALLEL || event_type(port->builtin, &changed) != type) {
		count(&port->stats.nb_invalid, 1);
		return -EINVAL;
	}
	if (before.kind != HELD_ORDERED && type == RTE_SCHED_TYPE_ATOMIC &&
		move_to_lane(port, held, &changed, type)) {
		if (before.kind == HELD_ATOMIC) {
			shard_lock(shard);
			shard_release(shard, &before);
			shard_unlock(shard);
		}
		changed.op = event->op;
		*event = changed;
		return 0;
	}
	return builtin_enqueue(base, &changed, 1) == 1 ? -EINPROGRESS : -EINVAL;
}

const struct weir_sched_port_ops builtin_ops = {
	.enqueue = builtin_enqueue,
	.dequeue = builtin_dequeue,
	.tag_switch = builtin_switch,
};
