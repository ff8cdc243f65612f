/* SPDX-License-Identifier: BSD-3-Clause */

/* From a shard's ready lists and rings to a port, under the shard's lock: which ones are next. */

#include "hand_out.h"

static uint32_t
pop_ready(struct shard *shard, unsigned int priority, unsigned int group)
{
	struct ready *ready = &shard->ready[priority][group];
	uint32_t node = ready->first;

	ready->first = shard->next[node];
	if (ready->first == NONE)
		clear_ready_group(shard, priority, group);
	shard->nb_ready--;
	return node;
}

/* Those that wait in a lane which this port just got go along. */
static uint16_t
take_rest_of_lane(struct shard *shard, struct builtin_port *port, struct lane *lane,
	unsigned int priority, struct rte_event *events, uint16_t nb)
{
	uint16_t got = 0;

	while (got < nb && lane->first != NONE) {
		uint32_t node = lane->first;

		if (event_priority(shard->builtin, shard->events[node].event) > priority)
			break;
		lane->first = shard->next[node];
		hand_out(shard, port, lane, RTE_SCHED_TYPE_ATOMIC, event_load(&shard->events[node]),
			&events[got++]);
		node_put(shard, node);
	}
	return got;
}

/*
 * Of some priorities the highest, but for those of lower priority that too many have passed. Of these the lowest: the others would pass it, but it does
 * not pass them, as it is of lower priority.
 */
static unsigned int
choose_priority(const struct shard *shard, uint32_t ready)
{
	const unsigned int bound = shard->builtin->sched->config.starvation_bound;
	const unsigned int highest = (unsigned int)__builtin_ctz(ready);

	if (bound == 0)
		return highest;
	for (unsigned int lower = WEIR_SCHED_PRIORITIES - 1; lower > highest; lower--)
		if ((ready >> lower & 1) != 0 && shard->nb_passed[lower] >= bound)
			return lower;
	return highest;
}

static void
count_passed(struct shard *shard, unsigned int priority, uint16_t nb)
{
	if (shard->builtin->sched->config.starvation_bound == 0)
		return;
	for (unsigned int lower = priority + 1; lower < WEIR_SCHED_PRIORITIES; lower++)
		if (shard->ready_priorities >> lower & 1)
			shard->nb_passed[lower] += nb;
	shard->nb_passed[priority] = 0;
}

/* A port took so many elsewhere, of higher priority than all that is ready here. */
void
shard_passed(struct shard *shard, uint32_t nb)
{
	for (uint32_t left = shard->ready_priorities; left != 0; left &= left - 1)
		shard->nb_passed[__builtin_ctz(left)] += nb;
}

/* How many have passed what waits here for these groups, of whichever priority most did. */
uint32_t
shard_most_passed(const struct shard *shard, uint64_t groups)
{
	uint32_t most = 0;

	if (shard->builtin->sched->config.starvation_bound == 0)
		return 0;
	for (uint32_t left = shard_usable(shard, groups); left != 0; left &= left - 1)
		most = RTE_MAX(most, shard->nb_passed[__builtin_ctz(left)]);
	return most;
}

static unsigned int
choose_group(struct shard *shard, unsigned int priority, uint64_t groups)
{
	uint64_t later;
	unsigned int group = (unsigned int)__builtin_ctzll(groups);

	if ((groups & (groups - 1)) == 0)
		return group;
	later = groups & ~(((uint64_t)2 << shard->last_group[priority]) - 1);
	if (later != 0)
		group = (unsigned int)__builtin_ctzll(later);
	shard->last_group[priority] = (uint8_t)group;
	return group;
}

/* One event, and those of its flow that wait behind it. */
static uint16_t
take_flow(struct shard *shard, struct builtin_port *port, unsigned int priority, uint32_t node,
	struct rte_event *events, uint16_t nb)
{
	struct rte_event event = event_load(&shard->events[node]);
	uint8_t type = event_type(shard->builtin, event.event);
	struct lane *lane = event_lane(shard->builtin, event.event, type);

	node_put(shard, node);
	hand_out(shard, port, lane, type, event, events);
	if (type != RTE_SCHED_TYPE_ATOMIC || lane->first == NONE)
		return 1;
	return (uint16_t)(1 + take_rest_of_lane(
				      shard, port, lane, priority, events + 1, (uint16_t)(nb - 1)));
}

/* Of the flow that the owner had last. */
uint16_t
take_next_of_owner(
	struct shard *shard, struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	uint32_t node = shard->next_of_owner;
	uint64_t word = shard->events[node].event;
	uint64_t groups =
		__atomic_load_n(&shard->builtin->port_groups[port->base.id], __ATOMIC_RELAXED);

	if (has_several_priorities(shard->builtin) ||
		(groups >> shard->builtin->queues[word_queue(word)].group & 1) == 0) {
		shard_share_next(shard);
		return 0;
	}
	shard->next_of_owner = NONE;
	return take_flow(shard, port, event_priority(shard->builtin, word), node, events, nb);
}

uint32_t
shard_usable(const struct shard *shard, uint64_t groups)
{
	uint32_t usable = 0;

	for (uint32_t left = shard->ready_priorities; left != 0; left &= left - 1)
		if (shard->ready_groups[__builtin_ctz(left)] & groups)
			usable |= left & -left;
	return usable;
}

/* Which groups the port serves is read once: who changes them waits for the lock then. */
uint16_t
shard_take(struct shard *shard, struct builtin_port *port, struct rte_event *events, uint16_t nb,
	uint32_t priorities)
{
	uint64_t groups =
		__atomic_load_n(&shard->builtin->port_groups[port->base.id], __ATOMIC_RELAXED);
	uint32_t usable = shard_usable(shard, groups) & priorities;
	uint16_t got = 0;

	port->groups = groups;
	while (got < nb && usable != 0) {
		unsigned int priority = choose_priority(shard, usable);
		unsigned int group =
			choose_group(shard, priority, shard->ready_groups[priority] & groups);
		/* A bound of starvation goes by single events. */
		bool bounded = shard->builtin->sched->config.starvation_bound != 0;
		uint16_t most = bounded ? 1 : (uint16_t)(nb - got);
		uint16_t taken = take_flow(shard, port, priority, pop_ready(shard, priority, group),
			&events[got], most);

		count_passed(shard, priority, taken);
		got += taken;
		if ((shard->ready_groups[priority] & groups) == 0)
			usable &= ~(1u << priority);
	}
	return got;
}

/*
 * As hand_out(), while they are of this queue, and type: all that is the same for them is read first. Bytes that are written might be any of
 * it, as far as the compiler knows.
 *
 * @return how many, of @nb in a row
 */
static __rte_always_inline uint16_t
hand_out_alike(struct shard *shard, struct builtin_port *port, uint8_t queue, uint8_t type,
	const struct rte_event *slots, unsigned int nb, struct rte_event *events)
{
	const struct lanes lanes =
		queue_lanes(shard->builtin, &shard->builtin->queues[queue], type);
	const uint64_t stamp = word_stamp(type, port->holder);
	const uint32_t held_by = lane_held_by(port->base.id), how = how_of(shard, port, type);
	const uint8_t first = port->next_free, *numbers = &port->free[first];
	unsigned int got;

	nb = RTE_MIN(
		nb, RTE_DIM(port->free) - first); /* the circle begins anew with the next one */
	for (got = 0; got < nb; got++) {
		struct rte_event event = event_load(&slots[got]);
		const uint8_t number = numbers[got];
		struct held *held = &port->held[number];
		struct lane *lane = lanes.first;

		if (word_queue(event.event) != queue)
			break;
		if (type != RTE_SCHED_TYPE_PARALLEL)
			lane = lane_of(&lanes, event.event);
		if (type == RTE_SCHED_TYPE_ATOMIC) {
			if (!can_have_flow(lane, held_by))
				break;
			hold_lane(lane, held_by);
		} else if (type == RTE_SCHED_TYPE_ORDERED) {
			held->place = place_get(shard, lane);
		}
		held->lane = lane;
		held->how = how | how_reserved(event.event);
		port->handed_out[first + got] = number;
		event.event = word_stamped(event.event, stamp, number);
		event_write(&events[got], event);
	}
	port->next_free = (uint8_t)(first + got);
	port_set_held(port, port->nb_held + got);
	count(&port->nb_dequeued[queue], got);
	return (uint16_t)got;
}

/*
 * What most rings are full of: events, one after the other, of one queue whose events are all of one type.
 *
 * @return how many of those from @from on, before @to
 */
static uint16_t
hand_out_run(struct shard *shard, struct builtin_port *port, const struct ring *ring, uint32_t from,
	uint32_t to, uint64_t groups, struct rte_event *events)
{
	const struct rte_event *slots = ring_peek(ring, from);
	const unsigned int nb = RTE_MIN(to - from, ring_in_row(ring, from));
	const uint8_t id = word_queue(slots->event);
	const struct queue_info *queue = &shard->builtin->queues[id];

	if (!queue->is_fixed || (groups >> queue->group & 1) == 0)
		return 0;
	switch (queue->type) {
	case RTE_SCHED_TYPE_ATOMIC:
		return hand_out_alike(shard, port, id, RTE_SCHED_TYPE_ATOMIC, slots, nb, events);
	case RTE_SCHED_TYPE_ORDERED:
		return hand_out_alike(shard, port, id, RTE_SCHED_TYPE_ORDERED, slots, nb, events);
	default:
		return hand_out_alike(shard, port, id, RTE_SCHED_TYPE_PARALLEL, slots, nb, events);
	}
}

/* @return 0: the port cannot have it, it went to the lists */
static uint16_t
hand_out_or_list(struct shard *shard, struct builtin_port *port, const struct rte_event *slot,
	uint64_t groups, struct rte_event *to)
{
	if (hand_out_if(shard, port, slot, groups, to))
		return 1;
	shard_arrive(shard, slot);
	return 0;
}

/*
 * Straight from the rings: what the port cannot have goes to the lists. Only when nothing is ready for it there, which came before, and
 * where all is of one priority.
 */
uint16_t
take_from_rings(
	struct shard *shard, struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	struct builtin *builtin = shard->builtin;
	/* Of a group that it serves only since shard_take() looked there may be ready what came before, if anything is: that is first. */
	uint64_t groups = (shard->nb_ready > 0 ? port->groups : UINT64_MAX) &
			  __atomic_load_n(&builtin->port_groups[port->base.id], __ATOMIC_RELAXED);
	uint16_t got = 0;

	while (got < nb && shard->nb_in_rings > 0) {
		const struct ring *ring = shard->turn;
		const uint32_t count = shard_turn(shard);
		uint32_t i;

		/* What another port's ring gives in its next turn comes meanwhile. */
		if (!shard->turn_is_own)
			ring_prefetch_events(ring, EVENTS_PER_TURN, 2 * EVENTS_PER_TURN);
		for (i = 0; i < count && got < nb;) {
			const uint32_t to = RTE_MIN(count, i + nb - got);
			const uint16_t run =
				hand_out_run(shard, port, ring, i, to, groups, &events[got]);

			got += run;
			i += run;
			if (i < to)
				got += hand_out_or_list(
					shard, port, ring_peek(ring, i++), groups, &events[got]);
		}
		shard_took(shard, i);
	}
	shard_drain_few(shard);
	return got;
}
