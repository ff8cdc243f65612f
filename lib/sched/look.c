/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * When to look where. A line that another core has just written costs 100 ns and more to look at, and as much again to who writes it
 * next: looking often makes everybody slow, looking seldom makes events wait. So:
 *
 *   - rings of one's own shard: at once while events come more seldom than the gap (builtin.c); otherwise a gap apart, or two while
 *     each look gives many. With work at hand, after some events at the latest.
 *   - other shards: when idle, one after the other, a gap apart; those that nobody comes to, all. Their events are left to their owner, whose lines they
 *     are in, unless it has not come for a while, or has more than it gets through soon.
 */

#include <rte_pause.h>

#include "builtin.h"

/* So many times the time after which it is away, and a port may not be there at all. */
#define ABANDONED 50

/* Rings are looked at after so many events at the latest. */
#define EVENTS_PER_LOOK 16

/* Looks that give so many can be half as frequent. */
#define MANY 16

/* Events that come by less than the gap are taken in bunches, others as they come. */
static void
look_now(struct shard *shard, uint64_t now)
{
	uint32_t nb = shard_look(shard);
	uint64_t gap = shard->builtin->gap;

	shard->is_busy = nb > 0 && now - shard->found_at < nb * gap;
	shard->look_at = shard->is_busy ? now + (nb < MANY ? gap : 2 * gap) : 0;
	if (nb > 0)
		shard->found_at = now;
}

/* There are higher priorities in the rings than what is ready, or may be. */
static bool
higher_arrived(const struct shard *shard)
{
	uint32_t arrived = __atomic_load_n(&shard->arrived, __ATOMIC_RELAXED);
	uint32_t ready = shard->ready_priorities;

	return arrived != 0 && ready != 0 && (arrived & -arrived) < (ready & -ready);
}

/* By the owner, without the lock: there is nothing, and its rings are not to be looked at yet. */
bool
look_is_vain(const struct shard *shard)
{
	if (!shard->is_busy || __atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED) != 0 ||
		!ring_seems_empty(&shard->rings[shard->owner]) ||
		__atomic_load_n(&shard->arrived, __ATOMIC_RELAXED) != 0 ||
		weir_base_cycles() >= shard->look_at)
		return false;
	rte_pause();
	return true;
}

/* By the owner, under the lock. */
void
look_if_due(struct shard *shard)
{
	shard->now = weir_base_cycles();
	if (shard->now >= shard->look_at)
		look_now(shard, shard->now);
}

/* By the owner, under the lock, who wants some events: are the rings to be looked at? */
void
look_at_rings(struct shard *shard, uint16_t wanted)
{
	/* What it sent to itself costs nothing to look at. */
	shard_look_at_ring(shard, shard->owner);
	if (has_several_priorities(shard->builtin)) {
		if (higher_arrived(shard))
			shard_look(shard);
		else if (shard->nb_ready < wanted || shard->builtin->slack != 0 ||
			 shard->nb_since_look >= EVENTS_PER_LOOK)
			look_if_due(shard);
		shard_drain(shard, UINT32_MAX);
		return;
	}
	if (shard_waiting(shard) < wanted || shard->nb_since_look >= EVENTS_PER_LOOK) {
		look_if_due(shard);
		/* What is ready may have come from itself: others have their turn, too. */
		if (shard->nb_since_look >= EVENTS_PER_LOOK)
			shard_drain(shard, EVENTS_PER_LOOK);
		shard->nb_since_look = 0;
	}
}

/* What a port may take over from another one: what it does not get to soon, or everything. */
enum help { HELP_NOT, HELP_SOME, HELP_ALL };

/* Half of what is ready there at most: its owner may be there soon. */
static uint16_t
take_half(struct builtin_port *port, struct shard *shard, struct rte_event *events, uint16_t nb,
	uint32_t priorities)
{
	uint16_t most = (uint16_t)RTE_MIN(nb, (shard->nb_ready + 1) / 2);

	return most > 0 ? shard_take(shard, port, events, most, priorities) : 0;
}

/* From another one's shard. Its rings are left alone while its lists have something. */
static uint16_t
steal(struct builtin_port *port, struct shard *shard, struct rte_event *events, uint16_t nb,
	uint32_t priorities, enum help help)
{
	uint16_t got = 0;

	if (!shard_trylock(shard))
		return 0;
	if (help == HELP_ALL)
		shard_share_next(shard);
	if (!has_several_priorities(port->builtin))
		got = take_half(port, shard, events, nb, priorities);
	if (got == 0) {
		shard_drain_all(shard);
		got = take_half(port, shard, events, nb, priorities);
	}
	shard_unlock(shard);
	count(&port->counts.nb_stolen, got);
	return got;
}

/* The highest one that is ready in a shard, or on its way there, as a bit; beyond all: none. */
static uint32_t
highest(const struct shard *shard, uint64_t groups)
{
	uint32_t there = __atomic_load_n(&shard->arrived, __ATOMIC_RELAXED);

	if (__atomic_load_n(&shard->groups_hint, __ATOMIC_RELAXED) & groups)
		there |= __atomic_load_n(&shard->priorities_hint, __ATOMIC_RELAXED);
	return there != 0 ? there & -there : 1u << WEIR_SCHED_PRIORITIES;
}

/*
 * Where owners are given time for what is theirs, it is enough to look as often: at lines that all write. The time is that of the last
 * dequeue.
 */
static bool
is_too_early(struct builtin_port *port)
{
	if (port->builtin->slack == 0)
		return false;
	if (port->own->now < port->look_for_higher_at)
		return true;
	port->look_for_higher_at = port->own->now + port->builtin->slack;
	return false;
}

/* Has it been there the last time, too, and its owner has not come since? */
static bool
is_overdue(struct builtin_port *port, const struct shard *shard)
{
	uint32_t nb_polls = __atomic_load_n(&shard->nb_polls, __ATOMIC_RELAXED);
	bool was_there = port->higher == shard && port->higher_polls == nb_polls;

	port->higher = shard;
	port->higher_polls = nb_polls;
	return was_there || port->builtin->slack == 0;
}

/* Is there something in another shard of a higher priority than what this one has? */
uint16_t
look_for_higher(struct builtin_port *port, struct rte_event *events, uint16_t nb)
{
	struct builtin *builtin = port->builtin;
	uint64_t groups = __atomic_load_n(&builtin->port_groups[port->base.id], __ATOMIC_RELAXED);
	unsigned int bound = builtin->sched->config.starvation_bound;
	struct shard *shard = NULL;
	uint32_t own, best;
	uint16_t got;

	if (is_too_early(port))
		return 0;
	own = best = highest(port->own, groups);
	for (unsigned int i = 0; i < builtin->nb_shards; i++) {
		uint32_t there = highest(&builtin->shards[i], groups);

		if (there < best) {
			best = there;
			shard = &builtin->shards[i];
		}
	}
	if (shard == NULL || !is_overdue(port, shard))
		return 0;
	if (bound != 0 && own < 1u << WEIR_SCHED_PRIORITIES) {
		if (port->nb_elsewhere >= bound) {
			port->nb_elsewhere = 0;
			return 0;
		}
		nb = (uint16_t)RTE_MIN(nb, bound - port->nb_elsewhere);
	}
	got = steal(port, shard, events, nb, own - 1, HELP_SOME);
	port->nb_elsewhere += got;
	return got;
}

/* Is something in a shard that its owner does not come to; or, for who has nothing to do, not soon? */
static enum help
wants_help(struct builtin_port *port, struct shard *shard, uint64_t now, bool idle)
{
	struct builtin *builtin = port->builtin;
	struct seen *seen = &port->seen[shard->id];
	uint32_t nb_polls = __atomic_load_n(&shard->nb_polls, __ATOMIC_RELAXED);
	uint32_t nb_taken = __atomic_load_n(&shard->nb_taken, __ATOMIC_RELAXED);
	uint32_t nb_ready = __atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED);
	uint64_t owners = __atomic_load_n(&builtin->port_groups[shard->owner], __ATOMIC_RELAXED);
	uint64_t since = now - seen->at;
	uint32_t taken = nb_taken - seen->nb_taken;

	if (nb_ready > 0 && (__atomic_load_n(&shard->groups_hint, __ATOMIC_RELAXED) & ~owners) != 0)
		return HELP_ALL;
	if (nb_polls == seen->nb_polls)
		return since > builtin->away && (nb_ready > 0 || since > 2 * builtin->away)
			       ? HELP_ALL
			       : HELP_NOT;
	*seen = (struct seen){now, nb_polls, nb_taken};
	/* At its pace, when would it be through? */
	return idle && since < 64 * builtin->away && nb_ready > 1 &&
			       nb_ready * since > builtin->away * (uint64_t)RTE_MAX(taken, 1u)
		       ? HELP_SOME
		       : HELP_NOT;
}

static bool
rings_seem_empty(const struct shard *shard)
{
	for (unsigned int i = 0; i < shard->nb_rings; i++)
		if (!ring_seems_empty(&shard->rings[i]))
			return false;
	return true;
}

/* Never its own. */
static void
next_victim(struct builtin_port *port)
{
	do
		port->victim = port->victim + 1 < port->builtin->nb_shards ? port->victim + 1 : 0;
	while (port->victim == port->own_id);
}

/* One look at one other shard. @return events taken */
static uint16_t
look_at_shard(struct builtin_port *port, struct shard *shard, uint64_t now, bool idle,
	struct rte_event *events, uint16_t nb)
{
	uint64_t groups =
		__atomic_load_n(&port->builtin->port_groups[port->base.id], __ATOMIC_RELAXED);

	enum help help = wants_help(port, shard, now, idle);

	count(&port->nb_looks, 1);
	if (help == HELP_NOT)
		return 0;
	if (__atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED) == 0 && rings_seem_empty(shard))
		return 0;
	/* Nothing of lower priority than its own. */
	return steal(port, shard, events, nb, 2 * highest(port->own, groups) - 1, help);
}

/* Nobody has come to it for long: its owner may not be there at all. */
static bool
is_abandoned(const struct builtin_port *port, const struct shard *shard, uint64_t now)
{
	const struct seen *seen = &port->seen[shard->id];

	return now - seen->at > ABANDONED * (uint64_t)port->builtin->away && shard != port->own &&
	       seen->nb_polls == __atomic_load_n(&shard->nb_polls, __ATOMIC_RELAXED);
}

/* By a port that has nothing to do, and now and then by others. Looking costs a shard's owner, so they take turns. */
uint16_t
look_elsewhere(struct builtin_port *port, struct rte_event *events, uint16_t nb, bool idle)
{
	struct builtin *builtin = port->builtin;
	uint64_t now = weir_base_cycles();
	uint16_t got = 0;

	for (unsigned int i = 0; i < builtin->nb_shards && got < nb; i++)
		if (is_abandoned(port, &builtin->shards[i], now))
			got += look_at_shard(port, &builtin->shards[i], now, idle, &events[got],
				(uint16_t)(nb - got));
	if (got > 0 || builtin->nb_shards == 1 || now < port->look_at)
		return got;
	if (port->victim == port->own_id)
		next_victim(port);
	got = look_at_shard(port, &builtin->shards[port->victim], now, idle, events, nb);
	/* Where there was something there may be more. */
	if (got == 0) {
		port->look_at = now + builtin->gap;
		next_victim(port);
	}
	return got;
}
