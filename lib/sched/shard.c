/* SPDX-License-Identifier: BSD-3-Clause */

/* A shard: what comes in, what is ready, who holds what. All under its lock. */

#include <rte_pause.h>

#include "builtin.h"

bool
shard_trylock(struct shard *shard)
{
	return __atomic_load_n(&shard->lock, __ATOMIC_RELAXED) == 0 &&
	       __atomic_exchange_n(&shard->lock, 1, __ATOMIC_ACQUIRE) == 0;
}

void
shard_lock(struct shard *shard)
{
	while (!shard_trylock(shard))
		rte_pause();
}

/* Others see what is left; it is written only when it changes. */
void
shard_unlock(struct shard *shard)
{
	uint32_t hint = shard->nb_ready << 8 | shard->ready_priorities;

	if (shard->hint != hint)
		__atomic_store_n(&shard->hint, hint, __ATOMIC_RELAXED);
	__atomic_store_n(&shard->lock, 0, __ATOMIC_RELEASE);
}

static uint32_t
node_get(struct shard *shard, const struct rte_event *event)
{
	uint32_t node = shard->free;

	if (node != NONE)
		shard->free = shard->next[node];
	else
		node = shard->nb_used++;
	shard->events[node] = *event;
	shard->next[node] = NONE;
	return node;
}

static void
node_put(struct shard *shard, uint32_t node)
{
	shard->next[node] = shard->free;
	shard->free = node;
}

static void
make_ready(struct shard *shard, uint32_t node)
{
	struct builtin *builtin = shard->builtin;
	const struct rte_event *event = &shard->events[node];
	uint8_t priority = event_priority(builtin, event);
	uint8_t group = builtin->sched->queues[event->queue_id].group;
	struct ready *ready = &shard->ready[priority][group];

	if (ready->first == NONE)
		ready->first = node;
	else
		shard->next[ready->last] = node;
	ready->last = node;
	shard->ready_groups[priority] |= (uint64_t)1 << group;
	shard->ready_priorities |= 1u << priority;
	shard->nb_ready++;
}

static uint32_t
pop_ready(struct shard *shard, unsigned int priority, unsigned int group)
{
	struct ready *ready = &shard->ready[priority][group];
	uint32_t node = ready->first;

	ready->first = shard->next[node];
	if (ready->first == NONE) {
		shard->ready_groups[priority] &= ~((uint64_t)1 << group);
		if (shard->ready_groups[priority] == 0)
			shard->ready_priorities &= ~(1u << priority);
	}
	shard->nb_ready--;
	return node;
}

void
shard_arrive(struct shard *shard, const struct rte_event *event)
{
	uint8_t type = event_type(shard->builtin, event);
	uint32_t node = node_get(shard, event);
	struct lane *lane;

	if (type != RTE_SCHED_TYPE_ATOMIC) {
		make_ready(shard, node);
		return;
	}
	lane = event_lane(shard->builtin, event, type);
	if (lane->state == LANE_IDLE) {
		lane->state = LANE_READY;
		make_ready(shard, node);
		return;
	}
	if (lane->first == NONE)
		lane->first = node;
	else
		shard->next[lane->last] = node;
	lane->last = node;
}

static void
drain_ring(struct shard *shard, struct ring *ring)
{
	uint32_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);

	uint32_t head = ring->head;

	for (; head != tail; head++)
		shard_arrive(shard, &ring->slots[head & shard->builtin->event_mask]);
	ring_advance(ring, head);
}

void
shard_drain(struct shard *shard)
{
	if (__atomic_load_n(&shard->arrived, __ATOMIC_RELAXED) != 0)
		__atomic_exchange_n(&shard->arrived, 0, __ATOMIC_ACQ_REL);
	for (unsigned int i = 0; i < shard->nb_rings; i++)
		drain_ring(shard, &shard->rings[i]);
}

bool
shard_rings_empty(const struct shard *shard)
{
	for (unsigned int i = 0; i < shard->nb_rings; i++)
		if (__atomic_load_n(&shard->rings[i].tail, __ATOMIC_RELAXED) !=
			__atomic_load_n(&shard->rings[i].head, __ATOMIC_RELAXED))
			return false;
	return true;
}

static uint32_t
place_get(struct shard *shard, struct lane *lane)
{
	uint32_t place = shard->free_place;

	if (place != NONE)
		shard->free_place = shard->places[place].next;
	else
		place = shard->nb_places++;
	shard->places[place].next = NONE;
	shard->places[place].state = PLACE_OUT;
	if (lane->first == NONE)
		lane->first = place;
	else
		shard->places[lane->last].next = place;
	lane->last = place;
	return place;
}

/* It goes to a port, with its context. */
static void
hand_out(struct shard *shard, struct builtin_port *port, struct lane *lane, uint8_t type,
	struct rte_event *event)
{
	struct held held = {.kind = HELD_PARALLEL,
		.shard = (uint8_t)shard->id,
		.reserved = event->rsvd == RESERVED_MARK,
		.lane = lane};

	if (type == RTE_SCHED_TYPE_ATOMIC) {
		held.kind = HELD_ATOMIC;
		held.foreign = shard != port->own;
		lane->state = LANE_HELD;
		lane->port = (uint8_t)port->base.id;
		lane->nb_held++;
	} else if (type == RTE_SCHED_TYPE_ORDERED) {
		held.kind = HELD_ORDERED;
		held.place = place_get(shard, lane);
	}
	event->rsvd = 0;
	event->sched_type = type;
	event->impl_opaque = port_hold(port, held);
}

/* The first event of those that wait in a lane that is held by this port goes along. */
static bool
take_next_of_lane(struct shard *shard, struct builtin_port *port, struct lane *lane,
	unsigned int priority, struct rte_event *event)
{
	uint32_t node = lane->first;

	if (node == NONE || event_priority(shard->builtin, &shard->events[node]) > priority)
		return false;
	lane->first = shard->next[node];
	*event = shard->events[node];
	node_put(shard, node);
	hand_out(shard, port, lane, RTE_SCHED_TYPE_ATOMIC, event);
	return true;
}

/* Which priority is next, of those in @ready? The highest, but now and then the lowest one. */
static unsigned int
choose(struct shard *shard, uint32_t ready)
{
	unsigned int bound = shard->builtin->sched->config.starvation_bound;
	unsigned int highest = (unsigned int)__builtin_ctz(ready);
	unsigned int lowest = 31 - (unsigned int)__builtin_clz(ready);

	if (bound == 0 || highest == lowest) {
		shard->nb_passed = 0;
		return highest;
	}
	if (shard->nb_passed++ < bound)
		return highest;
	shard->nb_passed = 0;
	return lowest;
}

uint16_t
shard_take(struct shard *shard, struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	struct builtin *builtin = shard->builtin;
	uint64_t groups = __atomic_load_n(&builtin->port_groups[port->base.id], __ATOMIC_RELAXED);
	uint32_t usable = 0;
	uint16_t got = 0;

	for (uint32_t left = shard->ready_priorities; left != 0; left &= left - 1)
		if (shard->ready_groups[__builtin_ctz(left)] & groups)
			usable |= left & -left;
	while (got < nb && usable != 0) {
		unsigned int priority = choose(shard, usable);
		uint64_t mine = shard->ready_groups[priority] & groups;
		uint32_t node = pop_ready(shard, priority, (unsigned int)__builtin_ctzll(mine));
		struct rte_event *event = &events[got];
		struct lane *lane;
		uint8_t type;

		if ((shard->ready_groups[priority] & groups) == 0)
			usable &= ~(1u << priority);
		*event = shard->events[node];
		node_put(shard, node);
		type = event_type(builtin, event);
		lane = event_lane(builtin, event, type);
		hand_out(shard, port, lane, type, event);
		got++;
		while (type == RTE_SCHED_TYPE_ATOMIC && got < nb &&
			take_next_of_lane(shard, port, lane, priority, &events[got]))
			got++;
	}
	return got;
}

/* Straight from a ring: nothing is ready, and all is of one priority. */
static uint16_t
take_from_ring(struct shard *shard, struct ring *ring, struct builtin_port *port,
	struct rte_event *events, uint16_t nb)
{
	struct builtin *builtin = shard->builtin;
	uint64_t groups = __atomic_load_n(&builtin->port_groups[port->base.id], __ATOMIC_RELAXED);
	uint32_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE), head = ring->head;
	uint16_t got = 0;

	for (; head != tail && got < nb; head++) {
		const struct rte_event *event = &ring->slots[head & builtin->event_mask];
		uint8_t type = event_type(builtin, event);
		struct lane *lane = event_lane(builtin, event, type);

		if ((groups >> builtin->sched->queues[event->queue_id].group & 1) == 0 ||
			(type == RTE_SCHED_TYPE_ATOMIC && lane->state != LANE_IDLE &&
				(lane->state != LANE_HELD || lane->port != port->base.id ||
					lane->first != NONE))) {
			shard_arrive(shard, event);
			continue;
		}
		events[got] = *event;
		hand_out(shard, port, lane, type, &events[got++]);
	}
	ring_advance(ring, head);
	return got;
}

uint16_t
shard_take_from_rings(
	struct shard *shard, struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	uint16_t got = 0;

	for (unsigned int i = 0; i < shard->nb_rings && got < nb; i++)
		got += take_from_ring(
			shard, &shard->rings[i], port, &events[got], (uint16_t)(nb - got));
	return got;
}

void
shard_release(struct shard *shard, struct held *held)
{
	struct lane *lane = held->lane;
	uint32_t node;

	if (--lane->nb_held > 0)
		return;
	node = lane->first;
	if (node == NONE) {
		lane->state = LANE_IDLE;
		return;
	}
	lane->first = shard->next[node];
	shard->next[node] = NONE;
	lane->state = LANE_READY;
	make_ready(shard, node);
}

/* By the shard's own ring, which has one order; to itself, straight. */
static void
send(struct shard *shard, const struct rte_event *event)
{
	struct builtin *builtin = shard->builtin;
	struct shard *to = event_shard(builtin, event);
	struct ring *ring = &to->rings[builtin->sched->config.nb_ports + shard->id];

	if (to == shard) {
		shard_arrive(shard, event);
		return;
	}
	ring_put(builtin, ring, event);
	ring_publish(ring);
	if (builtin->several_priorities)
		__atomic_fetch_or(
			&to->arrived, 1u << event_priority(builtin, event), __ATOMIC_RELAXED);
}

void
shard_complete(struct shard *shard, struct held *held, const struct rte_event *event)
{
	struct place *place = &shard->places[held->place];
	struct lane *lane = held->lane;

	place->state = event != NULL ? PLACE_FORWARDED : PLACE_RELEASED;
	if (event != NULL)
		place->event = *event;
	while (lane->first != NONE) {
		uint32_t first = lane->first;

		place = &shard->places[first];
		if (place->state == PLACE_OUT)
			break;
		if (place->state == PLACE_FORWARDED)
			send(shard, &place->event);
		lane->first = place->next;
		place->next = shard->free_place;
		shard->free_place = first;
	}
}

static void
empty_lane(struct shard *shard, struct lane *lane, bool ordered,
	void (*drain)(void *arg, const struct rte_event *event), void *arg)
{
	for (uint32_t node = lane->first; node != NONE;) {
		if (ordered) {
			if (shard->places[node].state == PLACE_FORWARDED)
				drain(arg, &shard->places[node].event);
			node = shard->places[node].next;
		} else {
			drain(arg, &shard->events[node]);
			node = shard->next[node];
		}
	}
	*lane = (struct lane){.first = NONE};
}

/* Of a flow, what is ready was before what waits in its lane. */
void
shard_empty(struct shard *shard, void (*drain)(void *arg, const struct rte_event *event), void *arg)
{
	struct builtin *builtin = shard->builtin;
	size_t nb_flows = (size_t)builtin->flow_mask + 1;

	for (unsigned int priority = 0; priority < WEIR_SCHED_PRIORITIES; priority++)
		while (shard->ready_groups[priority] != 0) {
			uint32_t node = pop_ready(shard, priority,
				(unsigned int)__builtin_ctzll(shard->ready_groups[priority]));

			drain(arg, &shard->events[node]);
			node_put(shard, node);
		}
	for (size_t queue = 0; queue < builtin->sched->config.nb_queues; queue++)
		for (size_t flow = 0; flow < nb_flows; flow++) {
			if (&builtin->shards[builtin->shard_of[queue * nb_flows + flow]] != shard)
				continue;
			empty_lane(shard, &builtin->lanes[queue * 2 * nb_flows + flow], false,
				drain, arg);
			empty_lane(shard, &builtin->lanes[(queue * 2 + 1) * nb_flows + flow], true,
				drain, arg);
		}
	shard->free = shard->free_place = NONE;
	shard->nb_used = shard->nb_places = 0;
}
