/* SPDX-License-Identifier: BSD-3-Clause */

/* From another one's shard, under its lock. */

#include "look.h"

/* Half of what is ready there at most: its owner may be there soon. */
static uint16_t
take_half(struct builtin_port *port, struct shard *shard, struct rte_event *events, uint16_t nb)
{
	uint16_t most = (uint16_t)RTE_MIN(nb, (shard->nb_ready + 1) / 2);

	return most > 0 ? shard_take(shard, port, events, most, UINT32_MAX) : 0;
}

/*
 * Of what is in the rings, too. No more of that goes to the lists than twice what it wants: what a flow has in lists is taken from there, and
 * what follows goes there behind it, so that its owner would have all that way until nothing of the flow is left.
 */
static uint16_t
take_half_of_all(
	struct builtin_port *port, struct shard *shard, struct rte_event *events, uint16_t nb)
{
	uint16_t got;

	shard_look(shard);
	shard_drain_some(shard, 2u * nb);
	got = take_half(port, shard, events, nb);
	if (got > 0)
		return got;
	shard_drain_all(shard);
	return take_half(port, shard, events, nb);
}

/* Where there are several priorities: of these, what is of the highest one, wherever it is. */
static uint16_t
take_half_by_priority(struct builtin_port *port, struct shard *shard, struct rte_event *events,
	uint16_t nb, uint32_t priorities)
{
	shard_look(shard);
	shard_list_levels(shard);
	nb = (uint16_t)RTE_MIN(nb, (shard_waiting(shard) + 1) / 2);
	return nb > 0 ? take_by_priority(shard, port, events, nb, priorities) : 0;
}

/* Its rings are left alone while its lists have something. */
uint16_t
steal(struct builtin_port *port, struct shard *shard, struct rte_event *events, uint16_t nb,
	uint32_t priorities, enum help help)
{
	uint16_t got = 0;

	/* What is of higher priority is worth waiting for: what would be done instead may take long. */
	if (help == HELP_URGENT)
		shard_lock(shard);
	else if (!shard_trylock(shard))
		return 0;
	shard_take_back(shard, false);
	if (unlikely(may_have_missed(port))) {
		shard_unlock(shard);
		return 0;
	}
	if (help == HELP_ALL)
		shard_share_next(shard);
	if (has_several_priorities(port->builtin)) {
		got = take_half_by_priority(port, shard, events, nb, priorities);
	} else {
		got = take_half(port, shard, events, nb);
		if (got == 0)
			got = take_half_of_all(port, shard, events, nb);
	}
	if (got > 0)
		__atomic_store_n(&shard->nb_stolen, shard->nb_stolen + 1, __ATOMIC_RELAXED);
	shard_unlock(shard);
	count(&port->counts.nb_stolen, got);
	return got;
}
