/* SPDX-License-Identifier: BSD-3-Clause */

/* Before its own events: what other shards have that is of a higher priority. */

#include "balance.h"
#include "look.h"

/*
 * Where owners are given time for what is theirs, it is enough to look as often: at lines that all write. The time is that of the last
 * dequeue, so that only who looks reads the clock.
 */
static bool
is_too_early(struct builtin_port *port)
{
	uint64_t now;

	if (port->builtin->slack == 0)
		return false;
	now = __atomic_load_n(&port->own->now, __ATOMIC_RELAXED);
	if (now < port->look_for_higher_at)
		return true;
	port->look_for_higher_at = weir_base_cycles() + port->builtin->slack;
	return false;
}

/*
 * Where owners are given time: shards where something was told of. Nobody waits until others can see that he did, who may clear it meanwhile
 * (help.c): so one of all besides, in turn.
 */
static uint64_t
shards_to_look_for_overdue(struct builtin_port *port)
{
	const struct builtin *builtin = port->builtin;

	if (++port->unasked_for_higher >= builtin->nb_shards)
		port->unasked_for_higher = 0;
	return __atomic_load_n(&builtin->waiting, __ATOMIC_RELAXED) |
	       (uint64_t)1 << port->unasked_for_higher;
}

/* Has its owner not come since it was looked at last, which is as long ago or longer? */
static bool
is_overdue(struct builtin_port *port, const struct shard *shard)
{
	struct seen *seen = &port->seen[shard->id];
	const uint32_t nb_polls = __atomic_load_n(&shard->nb_polls, __ATOMIC_RELAXED);
	const bool overdue = nb_polls == seen->polls_for_higher;

	seen->polls_for_higher = nb_polls;
	return overdue;
}

/*
 * Where owners are given time nobody tells of which priority it is what is in their rings. Those that are overdue, and its own, are looked
 * at, by which everybody sees that.
 *
 * @return these, of @among: what is there may be taken in front of what it has
 */
static uint64_t
look_for_overdue(struct builtin_port *port, uint64_t among, struct shard **locked)
{
	uint64_t found = 0;

	for (uint64_t left = shards_to_look_for_overdue(port) & among; left != 0;
		left &= left - 1) {
		struct shard *shard = &port->builtin->shards[__builtin_ctzll(left)];

		if (shard_owner(shard) == port->base.id)
			shard_polled(shard);
		else if (!is_overdue(port, shard))
			continue;
		found |= left & -left;
		if (rings_seem_empty(shard))
			continue;
		if (*locked != NULL)
			shard_unlock(*locked);
		*locked = NULL;
		if (!shard_trylock(shard))
			continue;
		shard_take_back(shard, false);
		shard_look(shard);
		shard_list_levels(shard);
		shard_unlock(shard);
	}
	return found;
}

/* Its own, which nobody else has changed since while it has the lock. */
static uint32_t
highest_own(struct builtin_port *port, uint64_t groups)
{
	uint32_t there = shard_usable(port->own, groups) | shard_in_rings(port->own) |
			 __atomic_load_n(&port->own->arrived, __ATOMIC_RELAXED);

	return there != 0 ? there & -there : 1u << WEIR_SCHED_PRIORITIES;
}

/* Where it is told of whatever comes: where that was. */
static uint64_t
shards_announced(const struct builtin *builtin)
{
	if (builtin->slack != 0)
		return UINT64_MAX;
	return __atomic_load_n(&builtin->announced, __ATOMIC_ACQUIRE);
}

/* Of these, the shard that has the highest priority, if that is higher than its own. @locked: it has its own one's lock. */
static struct shard *
highest_elsewhere(struct builtin_port *port, uint64_t shards, bool locked)
{
	struct builtin *builtin = port->builtin;
	uint64_t groups = __atomic_load_n(&builtin->port_groups[port->base.id], __ATOMIC_RELAXED);
	uint32_t best = 1u << WEIR_SCHED_PRIORITIES;
	struct shard *shard = NULL;

	begin_to_look(port);
	for (uint64_t left = shards & shards_announced(builtin); left != 0; left &= left - 1) {
		struct shard *other = &builtin->shards[__builtin_ctzll(left)];
		const uint32_t there = highest(other, groups);

		if (there < best) {
			best = there;
			shard = other;
		}
	}
	port->elsewhere_highest = best;
	port->own_highest = locked ? highest_own(port, groups) : highest(port->own, groups);
	return best < port->own_highest ? shard : NULL;
}

/* So many more may pass what waits of its own: of those that it takes here, and there. */
static uint32_t
may_pass(const struct builtin_port *port)
{
	const uint32_t bound = port->builtin->sched->config.starvation_bound;
	const uint32_t passed = port->own_passed + port->nb_elsewhere;

	if (bound == 0)
		return UINT32_MAX;
	return bound > passed ? bound - passed : 0;
}

/* Of so many: what is taken elsewhere passes what waits of its own. */
uint16_t
may_take_elsewhere(const struct builtin_port *port, uint16_t nb)
{
	return (uint16_t)RTE_MIN(nb, may_pass(port));
}

/* Nothing of its own waits: what comes later was not passed. @locked: as highest_elsewhere() */
static void
forget_passed(struct builtin_port *port, bool locked)
{
	uint64_t groups =
		__atomic_load_n(&port->builtin->port_groups[port->base.id], __ATOMIC_RELAXED);
	uint32_t own = locked ? highest_own(port, groups) : highest(port->own, groups);

	if (own == 1u << WEIR_SCHED_PRIORITIES)
		port->nb_elsewhere = port->own_passed = 0;
}

/* Of that one, nothing lower. No lock is held. */
static uint16_t
take_higher(struct builtin_port *port, struct shard *shard, struct rte_event *events, uint16_t nb)
{
	uint16_t got;

	if (port->own_highest < 1u << WEIR_SCHED_PRIORITIES)
		nb = may_take_elsewhere(port, nb);
	got = steal(port, shard, events, nb, 2 * port->elsewhere_highest - 1, HELP_URGENT);
	port->nb_elsewhere += got;
	if (got > 0)
		balance_took(port, shard, events[0].event);
	return got;
}

/*
 * What seemed to be there may be for others, or be taken by now: then the next one. Its own shard stays locked if it is, unless something is to
 * be taken.
 */
static __rte_noinline uint16_t
look_for_higher_now(
	struct builtin_port *port, struct shard **locked, struct rte_event *events, uint16_t nb)
{
	const struct builtin *builtin = port->builtin;
	uint64_t shards = ~(
		port->served & (uint64_t)1 << port->own_id); /* but for the one whose turn it is */
	uint16_t got = 0;

	if (may_pass(port) == 0)
		forget_passed(port, *locked == port->own);
	if (may_pass(port) == 0)
		return 0;
	if (builtin->slack != 0)
		shards = look_for_overdue(port, shards, locked);
	for (unsigned int tries = 0; tries < builtin->nb_shards && got == 0; tries++) {
		struct shard *shard = highest_elsewhere(port, shards, *locked == port->own);

		if (shard == NULL)
			break;
		if (*locked != NULL)
			shard_unlock(*locked);
		*locked = NULL;
		got = take_higher(port, shard, events, nb);
		if (builtin->slack != 0)
			break;
	}
	return got;
}

/* Before its own events: what is of a higher priority elsewhere. @locked: as look_for_higher_now() */
uint16_t
look_for_higher(
	struct builtin_port *port, struct shard **locked, struct rte_event *events, uint16_t nb)
{
	begin_to_look(port); /* also where nothing is to be looked for */
	return is_too_early(port) ? 0 : look_for_higher_now(port, locked, events, nb);
}
