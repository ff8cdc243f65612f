/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * When to look where. A line that another core has just written costs 100 ns and more to look at, and as much again to who writes it
 * next: looking often makes everybody slow, looking seldom makes events wait. So:
 *
 *   - rings of one's own shard, here: at once while events come more seldom than the gap (builtin.c); otherwise a gap apart, or two while
 *     each look gives many. With work at hand, after some events at the latest. Where there are several priorities, the gap is half as
 *     long, and there are looks in spite of work at hand.
 *   - other shards: for what is of higher priority (higher.c), and for what their owners do not get to (help.c).
 */

#include <rte_pause.h>

#include "look.h"

/* Looks that give so many can be half as frequent. */
#define MANY 16

/* Events that come by less than the gap are taken in bunches, others as they come. */
static void
look_now(struct shard *shard, uint64_t now)
{
	/* Work at hand may be of a lower priority than what is there. */
	const bool several = has_several_priorities(shard->builtin);
	const uint64_t gap = several ? shard->builtin->gap / 2 : shard->builtin->gap;
	uint32_t found, nb, known = 0;
	bool is_busy;

	if (several)
		found = shard_look(shard);
	else
		known = shard_look_for_more(shard, &found);
	/* No line was fetched: when what is known is all taken, the next look is not to wait for another gap. */
	if (found == 0 && known > 0)
		return;
	nb = found + known;
	is_busy = nb > 0 && now - shard->found_at < nb * gap;
	__atomic_store_n(&shard->is_busy, is_busy, __ATOMIC_RELAXED);
	__atomic_store_n(
		&shard->look_at, is_busy ? now + (nb < MANY ? gap : 2 * gap) : 0, __ATOMIC_RELAXED);
	if (nb > 0)
		shard->found_at = now;
}

/*
 * There are higher priorities in the rings than what is ready, or may be; or any others, where events that are passed are counted as soon as
 * they are there.
 */
static bool
must_look(const struct shard *shard)
{
	uint32_t arrived = __atomic_load_n(&shard->arrived, __ATOMIC_RELAXED);
	uint32_t ready;

	if (arrived == 0)
		return false;
	ready = shard_in_rings(shard) |
		shard_usable(
			shard, __atomic_load_n(&shard->builtin->port_groups[shard_owner(shard)],
				       __ATOMIC_RELAXED));
	if (ready == 0)
		return false;
	return (arrived & -arrived) < (ready & -ready) ||
	       shard->builtin->sched->config.starvation_bound != 0;
}

/* What was sent before there were several priorities was not announced: it may be of any. */
void
priority_use(struct builtin *builtin, uint8_t priority)
{
	uint32_t before = __atomic_load_n(&builtin->priorities_used, __ATOMIC_RELAXED), used;

	do {
		used = before | 1u << priority;
		if ((before & ~USED_SLEEP & ~(1u << priority)) != 0)
			used |= USED_SEVERAL;
	} while (!__atomic_compare_exchange_n(&builtin->priorities_used, &before, used, false,
		__ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	for (unsigned int queue = 0; queue < builtin->sched->config.nb_queues; queue++)
		queue_note_plain(builtin, (uint8_t)queue);
	if (used < USED_SEVERAL || before >= USED_SEVERAL)
		return;
	for (unsigned int i = 0; i < builtin->nb_shards; i++)
		__atomic_fetch_or(&builtin->shards[i].arrived, UINT8_MAX, __ATOMIC_SEQ_CST);
	__atomic_store_n(
		&builtin->announced, UINT64_MAX >> (64 - builtin->nb_shards), __ATOMIC_SEQ_CST);
}

/* What it sent to itself. */
static inline bool
own_rings_seem_empty(const struct builtin_port *port)
{
	const struct shard *shard = port->own;

	if (!has_several_priorities(port->builtin))
		return ring_seems_empty(&shard->rings[port->base.id]);
	for (unsigned int level = 0; level < port->builtin->nb_levels; level++)
		if (level_bits(port->builtin, level) != 0 &&
			!ring_seems_empty(shard_ring(shard, level, port->base.id)))
			return false;
	return true;
}

/*
 * By the owner, without the lock, which others who have something to put in or to take would wait for: there is nothing for it, or its
 * rings are not to be looked at yet.
 */
bool
look_is_vain(struct builtin_port *port)
{
	struct shard *shard = port->own;
	uint64_t groups =
		__atomic_load_n(&port->builtin->port_groups[port->base.id], __ATOMIC_RELAXED);
	uint32_t nb = __atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED);

	if (!returned_seems_empty(&shard->returned) ||
		__atomic_load_n(&shard->arrived, __ATOMIC_RELAXED) != 0 ||
		__atomic_load_n(&shard->being_taken, __ATOMIC_RELAXED) != 0 ||
		__atomic_load_n(&shard->next_hint, __ATOMIC_RELAXED) != 0 ||
		(nb != 0 && seem_ready(shard, groups) != 0))
		return false;
	if (shard_is_busy(shard)) {
		const uint64_t now = weir_base_cycles();

		if (nb != 0 || now >= __atomic_load_n(&shard->look_at, __ATOMIC_RELAXED) ||
			!own_rings_seem_empty(port))
			return false;
		__atomic_store_n(&shard->now, now, __ATOMIC_RELAXED);
		rte_pause();
		return true;
	}
	if (!rings_seem_empty(shard))
		return false;
	__atomic_store_n(&shard->now, weir_base_cycles(), __ATOMIC_RELAXED);
	shard_polled(shard);
	return true;
}

/*
 * By the owner, before it has the lock: what a look will probably read first comes from another core's cache. Tail and event are asked
 * for at once, and while contexts are given back.
 */
void
look_soon(const struct shard *shard)
{
	if (!has_several_priorities(shard->builtin) &&
		(shard_is_busy(shard) || __atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED) > 0))
		return;
	ring_prefetch(&shard->rings[__atomic_load_n(&shard->gave, __ATOMIC_RELAXED)]);
}

/* By the owner, under the lock. */
static void
look_if_due(struct shard *shard)
{
	const uint64_t now = weir_base_cycles();

	__atomic_store_n(&shard->now, now, __ATOMIC_RELAXED);
	if (now >= shard->look_at)
		look_now(shard, now);
}

/* Where there are several priorities. @return the clock was read */
static bool
look_at_levels(struct shard *shard, uint16_t wanted)
{
	bool is_now = false;

	for (unsigned int level = 0; level < shard->builtin->nb_levels; level++)
		shard_look_at_own(shard, level);
	shard_list_levels(shard);
	if (must_look(shard)) {
		shard_look(shard);
	} else if (shard_waiting(shard) < wanted || shard->builtin->slack != 0 ||
		   shard->nb_since_look >= EVENTS_PER_LOOK) {
		look_if_due(shard);
		is_now = true;
	}
	shard_list_levels(shard);
	if (shard->nb_since_look >= EVENTS_PER_LOOK) {
		shard_list_some(shard, EVENTS_PER_LOOK / 2);
		shard->nb_since_look = 0;
	}
	return is_now;
}

/* By the owner, under the lock, who wants some events: are the rings to be looked at? */
bool
look_at_rings(struct shard *shard, uint16_t wanted)
{
	if (has_several_priorities(shard->builtin))
		return look_at_levels(shard, wanted);
	shard_look_at_own(shard, 0);
	if (shard_waiting(shard) >= wanted && !shard_look_is_due(shard, wanted))
		return false;
	look_if_due(shard);
	/* What is ready may have come from itself, or be one flow that others feed past the rings: those who are in them have their
	 * turn, too, but less than what is taken, so that the straight way is gone again. */
	if (shard->nb_since_look >= EVENTS_PER_LOOK &&
		(shard->nb_ready > 0 || shard->next_of_owner != NONE))
		shard_drain_some(shard, EVENTS_PER_LOOK / 2);
	shard->nb_since_look = 0;
	return true;
}
