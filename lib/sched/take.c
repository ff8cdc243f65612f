/* SPDX-License-Identifier: BSD-3-Clause */

/* From a shard's ready lists and rings to a port, under the shard's lock: which ones are next. */

#include "straight.h"

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

/* Only when nothing is ready for it in the lists, which came before, and where all is of one priority. */
uint16_t
take_from_rings(
	struct shard *shard, struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	/* Of a group that it serves only since shard_take() looked there may be ready what came before, if anything is: that is first. */
	const uint64_t groups =
		(shard->nb_ready > 0 ? port->groups : UINT64_MAX) &
		__atomic_load_n(&shard->builtin->port_groups[port->base.id], __ATOMIC_RELAXED);
	const uint16_t got = take_straight(shard, port, ONLY_LEVEL, groups, events, nb);

	shard_drain_few(shard);
	return got;
}
