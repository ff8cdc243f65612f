/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From a shard to a port where there are several priorities: of each, what is in the lists, which came first, and then what is in the rings of
 * that level. So what is less urgent stays where it is until it is its turn: nobody who comes for what is urgent has to move it, and its owner
 * need not fetch it from there.
 */

#include "straight.h"

/* Of which priorities events are that have their own is not known until they are in the lists. */
void
shard_list_mixed(struct shard *shard)
{
	const unsigned int level = level_of(shard->builtin, LEVEL_MIXED);
	unsigned int first, end;

	if (level == LEVEL_NONE || shard->in_rings[level] == 0)
		return;
	first = level * shard->nb_senders;
	end = first + shard->nb_senders;
	for (unsigned int i = shard_ring_from(shard, first); i < end;
		i = shard_ring_from(shard, i + 1))
		shard_drain_ring(shard, &shard->rings[i], UINT32_MAX);
}

void
shard_list_levels(struct shard *shard)
{
	if (may_stay(shard->builtin))
		shard_list_mixed(shard);
	else
		shard_drain(shard, UINT32_MAX);
}

/* Of a single one nothing is alike. */
static uint16_t
take_one_from_level(struct shard *shard, struct builtin_port *port, unsigned int level,
	uint64_t groups, struct rte_event *event)
{
	uint16_t got = 0;

	while (got == 0 && shard->in_rings[level] > 0) {
		struct ring *ring = ring_of_level(shard, level);

		got = hand_out_or_list(shard, port, ring_peek(ring, 0), groups, event);
		ring_take(ring, 1);
		shard_gone(shard, level, 1);
	}
	return got;
}

/*
 * What is in the lists comes first, and may be followed by more there for ever, as helpers put it there, or events have priorities of their own:
 * those who are in rings of the same priority have their turn, too.
 */
void
shard_list_some(struct shard *shard, uint32_t most)
{
	const uint32_t both = shard_in_rings(shard) & shard->ready_priorities;

	for (uint32_t left = both; left != 0; left &= left - 1) {
		const unsigned int level =
			level_of(shard->builtin, (unsigned int)__builtin_ctz(left));

		shard_drain_ring(shard, ring_of_level(shard, level), most);
	}
}

/* Nothing of the level's priority is ready for it in the lists, for these groups. */
static uint16_t
take_from_level(struct shard *shard, struct builtin_port *port, unsigned int level, uint64_t groups,
	struct rte_event *events, uint16_t nb)
{
	groups &= __atomic_load_n(&shard->builtin->port_groups[port->base.id], __ATOMIC_RELAXED);
	if (nb == 1)
		return take_one_from_level(shard, port, level, groups, events);
	return take_straight(shard, port, level, groups, events, nb);
}

/* Of these priorities only, the highest first. */
uint16_t
take_by_priority(struct shard *shard, struct builtin_port *port, struct rte_event *events,
	uint16_t nb, uint32_t priorities)
{
	const struct builtin *builtin = shard->builtin;
	uint32_t in_rings, left;
	uint16_t got = 0;

	if (!may_stay(builtin)) {
		shard_drain(shard, UINT32_MAX);
		return shard_take(shard, port, events, nb, priorities);
	}
	shard_list_mixed(shard);
	in_rings = shard_in_rings(shard);
	for (left = (in_rings | shard->ready_priorities) & priorities; left != 0 && got < nb;
		left &= left - 1) {
		const uint32_t priority = left & -left;
		uint64_t groups = UINT64_MAX;

		if ((shard->ready_priorities & priority) != 0) {
			got += shard_take(
				shard, port, &events[got], (uint16_t)(nb - got), priority);
			groups = port->groups;
		}
		if (got < nb && (in_rings & priority) != 0)
			got += take_from_level(shard, port,
				level_of(builtin, (unsigned int)__builtin_ctz(priority)), groups,
				&events[got], (uint16_t)(nb - got));
	}
	return got;
}
