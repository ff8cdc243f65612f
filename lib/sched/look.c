/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * When to look where. A line that another core has just written costs 100 ns and more to look at, and as much again to who writes it
 * next: looking often makes everybody slow, looking seldom makes events wait. So:
 *
 *   - rings of one's own shard: at once while events come more seldom than the gap (builtin.c); otherwise a gap apart, or two while
 *     each look gives many. With work at hand, after some events at the latest. Where there are several priorities, the gap is half as
 *     long, and there are looks in spite of work at hand.
 *   - other shards: when idle, and now and then, those that somebody told of (builtin->waiting), each a gap apart, and one after the
 *     other of all; those that nobody comes to, each time. Their events are left to their owner, whose lines they are in, unless it has
 *     not come for a while, or has more than it gets through soon. While its events are long, who is idle looks more often, and takes what
 *     is ready behind them.
 */

#include <rte_pause.h>

#include "move.h"
#include "owner.h"

/* So many times the time after which it is away, and a port may not be there at all. */
#define ABANDONED 50

/*
 * With work at hand, looks elsewhere are so far apart, in times after which a port is away: what is written there has to come from another
 * core's cache, and has to go back. Jobs of 25 us cost a quarter more with four times as many of them.
 */
#define BUSY_LOOK_LEAST 64
#define BUSY_LOOK_MOST  128

/* Other shards that are looked at in a call, at most, but for those nobody comes to. */
#define LOOKS_MAX(idle) ((idle) ? 4u : 1u)

/* After so many looks that saw nothing a shard is not looked at until somebody tells of it. */
#define LOOKS_QUIET 64

/*
 * Who helped with short events of flows leaves the rest alone for a gap for so many events that wait there. What becomes of those goes
 * back under the lock, after all that is in the owner's rings, which goes to the lists: lines that the owner has to fetch then, for each event
 * that waits. With two thousand of them two workers did less than one alone.
 */
#define WAITING_PER_GAP 8

/* Looks that give so many can be half as frequent. */
#define MANY 16

/* Events that come by less than the gap are taken in bunches, others as they come. */
static void
look_now(struct shard *shard, uint64_t now)
{
	uint32_t nb = shard_look(shard);
	uint64_t gap = shard->builtin->gap;
	bool is_busy;

	/* Work at hand may be of a lower priority than what is there. */
	if (has_several_priorities(shard->builtin))
		gap /= 2;
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
	ready = shard_usable(
		shard, __atomic_load_n(
			       &shard->builtin->port_groups[shard_owner(shard)], __ATOMIC_RELAXED));
	if (ready == 0)
		return false;
	return (arrived & -arrived) < (ready & -ready) ||
	       shard->builtin->sched->config.starvation_bound != 0;
}

/* What was sent before there were several priorities was not announced: it may be of any. */
void
priority_use(struct builtin *builtin, uint8_t priority)
{
	uint32_t bit = 1u << priority;
	uint32_t before = __atomic_fetch_or(&builtin->priorities_used, bit, __ATOMIC_SEQ_CST);

	if (before == 0 || (before & (before - 1)) != 0 || (before & bit) != 0)
		return;
	for (unsigned int i = 0; i < builtin->nb_shards; i++)
		__atomic_fetch_or(&builtin->shards[i].arrived, UINT8_MAX, __ATOMIC_SEQ_CST);
}

static bool
rings_seem_empty(const struct shard *shard)
{
	if (!ring_seems_empty(&shard->returned))
		return false;
	for (unsigned int i = shard_ring_from(shard, 0); i < RINGS_MAX;
		i = shard_ring_from(shard, i + 1))
		if (!ring_seems_empty(&shard->rings[i]))
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

	if (!ring_seems_empty(&shard->rings[port->base.id]) ||
		!ring_seems_empty(&shard->returned) ||
		__atomic_load_n(&shard->arrived, __ATOMIC_RELAXED) != 0 ||
		__atomic_load_n(&shard->next_hint, __ATOMIC_RELAXED) != 0 ||
		(nb != 0 && seem_ready(shard, groups) != 0))
		return false;
	if (shard_is_busy(shard)) {
		if (nb != 0 ||
			weir_base_cycles() >= __atomic_load_n(&shard->look_at, __ATOMIC_RELAXED))
			return false;
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

/* By the owner, under the lock, who wants some events: are the rings to be looked at? */
void
look_at_rings(struct shard *shard, uint16_t wanted)
{
	shard_look_at_own(shard);
	if (has_several_priorities(shard->builtin)) {
		shard_drain(shard, UINT32_MAX);
		if (must_look(shard))
			shard_look(shard);
		else if (shard->nb_ready < wanted || shard->builtin->slack != 0 ||
			 shard->nb_since_look >= EVENTS_PER_LOOK)
			look_if_due(shard);
		shard_drain(shard, UINT32_MAX);
		return;
	}
	if (shard_waiting(shard) < wanted || shard->nb_since_look >= EVENTS_PER_LOOK) {
		look_if_due(shard);
		/* What is ready may have come from itself, or be one flow that others feed past the rings: those who are in them have their
		 * turn, too, but less than what is taken, so that the straight way is gone again. */
		if (shard->nb_since_look >= EVENTS_PER_LOOK &&
			(shard->nb_ready > 0 || shard->next_of_owner != NONE))
			shard_drain_some(shard, EVENTS_PER_LOOK / 2);
		shard->nb_since_look = 0;
	}
}

/* What a port may take over from another one: what it does not get to soon, likewise at once, or everything. */
enum help { HELP_NOT, HELP_SOME, HELP_URGENT, HELP_ALL };

/* Half of what is ready there at most: its owner may be there soon. */
static uint16_t
take_half(struct builtin_port *port, struct shard *shard, struct rte_event *events, uint16_t nb,
	uint32_t priorities)
{
	uint16_t most = (uint16_t)RTE_MIN(nb, (shard->nb_ready + 1) / 2);

	return most > 0 ? shard_take(shard, port, events, most, priorities) : 0;
}

/*
 * Of what is in the rings, too. Where there is one priority no more of that goes to the lists than twice what it wants: what a flow has in
 * lists is taken from there, and what follows goes there behind it, so that its owner would have all that way until nothing of the flow is
 * left.
 */
static uint16_t
take_half_of_all(struct builtin_port *port, struct shard *shard, struct rte_event *events,
	uint16_t nb, uint32_t priorities)
{
	uint16_t got = 0;

	if (!has_several_priorities(port->builtin)) {
		shard_look(shard);
		shard_drain_some(shard, 2u * nb);
		got = take_half(port, shard, events, nb, priorities);
	}
	if (got > 0)
		return got;
	shard_drain_all(shard);
	return take_half(port, shard, events, nb, priorities);
}

/* From another one's shard. Its rings are left alone while its lists have something. */
static uint16_t
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
	if (help == HELP_ALL)
		shard_share_next(shard);
	if (!has_several_priorities(port->builtin))
		got = take_half(port, shard, events, nb, priorities);
	if (got == 0)
		got = take_half_of_all(port, shard, events, nb, priorities);
	shard_unlock(shard);
	count(&port->counts.nb_stolen, got);
	return got;
}

/* The highest one that is ready in a shard, or on its way there, as a bit; beyond all: none. */
static uint32_t
highest(const struct shard *shard, uint64_t groups)
{
	uint32_t there =
		__atomic_load_n(&shard->arrived, __ATOMIC_RELAXED) | seem_ready(shard, groups);

	return there != 0 ? there & -there : 1u << WEIR_SCHED_PRIORITIES;
}

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
 * Where owners are given time nobody tells of what is in their rings. What is there of one that has not come since the last look, which is as
 * long ago, goes to the lists, where others see of which priority it is.
 */
static void
look_for_overdue(struct builtin_port *port, struct shard **locked)
{
	struct builtin *builtin = port->builtin;

	for (unsigned int i = 0; builtin->slack != 0 && i < builtin->nb_shards; i++) {
		struct shard *shard = &builtin->shards[i];
		struct seen *seen = &port->seen[i];
		uint32_t nb_polls = __atomic_load_n(&shard->nb_polls, __ATOMIC_RELAXED);

		seen->is_overdue = nb_polls == seen->polls_for_higher;
		seen->polls_for_higher = nb_polls;
		if (!seen->is_overdue || (port->served >> i & 1) != 0 || rings_seem_empty(shard))
			continue;
		if (*locked != NULL)
			shard_unlock(*locked);
		*locked = NULL;
		if (!shard_trylock(shard))
			continue;
		shard_drain_all(shard);
		shard_unlock(shard);
	}
}

/* From a shard, in front of what is its own: owners are given time. */
static bool
may_take_higher(const struct builtin_port *port, unsigned int shard)
{
	return port->builtin->slack == 0 || port->seen[shard].is_overdue ||
	       (port->served >> shard & 1) != 0;
}

/* Its own, which nobody else has changed since while it has the lock. */
static uint32_t
highest_own(struct builtin_port *port, uint64_t groups)
{
	uint32_t there = shard_usable(port->own, groups) |
			 __atomic_load_n(&port->own->arrived, __ATOMIC_RELAXED);

	return there != 0 ? there & -there : 1u << WEIR_SCHED_PRIORITIES;
}

/* Of others that it may take from, the shard that has the highest priority, if that is higher than its own. @locked: it has its own one's lock. */
static struct shard *
highest_elsewhere(struct builtin_port *port, bool locked)
{
	struct builtin *builtin = port->builtin;
	uint64_t groups = __atomic_load_n(&builtin->port_groups[port->base.id], __ATOMIC_RELAXED);
	uint32_t best = 1u << WEIR_SCHED_PRIORITIES;
	struct shard *shard = NULL;

	for (unsigned int i = 0; i < builtin->nb_shards; i++) {
		uint32_t there;

		if ((i == port->own_id && (port->served >> i & 1) != 0) ||
			!may_take_higher(port, i))
			continue;
		there = highest(&builtin->shards[i], groups);
		if (there < best) {
			best = there;
			shard = &builtin->shards[i];
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
		nb = (uint16_t)RTE_MIN(nb, may_pass(port));
	got = steal(port, shard, events, nb, 2 * port->elsewhere_highest - 1, HELP_URGENT);
	port->nb_elsewhere += got;
	return got;
}

/*
 * Before its own events: what is of a higher priority elsewhere. What seemed to be there may be for others, or be taken by now: then
 * the next one. Its own shard stays locked if it is, unless something is to be taken.
 */
uint16_t
look_for_higher(
	struct builtin_port *port, struct shard **locked, struct rte_event *events, uint16_t nb)
{
	const struct builtin *builtin = port->builtin;
	uint16_t got = 0;

	if (is_too_early(port))
		return 0;
	if (may_pass(port) == 0)
		forget_passed(port, *locked == port->own);
	if (may_pass(port) == 0)
		return 0;
	look_for_overdue(port, locked);
	for (unsigned int tries = 0; tries < builtin->nb_shards && got == 0; tries++) {
		struct shard *shard = highest_elsewhere(port, *locked == port->own);

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

/* At its owner's pace: is each event long beside what taking it over costs, or will it not soon be through with what is ready? */
static bool
is_late(const struct builtin *builtin, uint64_t since, uint32_t taken, uint32_t nb_ready)
{
	const uint64_t nb = RTE_MAX(taken, 1u);

	return since > builtin->slow * nb || nb_ready * since > builtin->away * nb;
}

/*
 * May who has nothing to do take what is ready there? A single one is left to its owner where it may be of the lowest priority; and for a while
 * after help, if its events are short.
 */
static bool
may_help(const struct builtin *builtin, const struct seen *seen, uint64_t now, uint32_t nb_ready)
{
	return nb_ready > (has_several_priorities(builtin) ? 1 : 0) &&
	       (seen->is_slow || now >= seen->help_at);
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
	uint64_t owners =
		__atomic_load_n(&builtin->port_groups[shard_owner(shard)], __ATOMIC_RELAXED);
	uint64_t since = now - seen->at;
	uint32_t taken = nb_taken - seen->nb_taken;

	if (nb_ready > 0 && seem_ready(shard, ~owners) != 0)
		return HELP_ALL;
	if (nb_polls == seen->nb_polls) {
		seen->nb_absent++;
		if (since > builtin->away && (nb_ready > 0 || since > 2 * builtin->away))
			return HELP_ALL;
		/* Not yet what it will go on with: a hot flow would be handed to and fro. */
		return idle && since > builtin->slow && may_help(builtin, seen, now, nb_ready)
			       ? HELP_SOME
			       : HELP_NOT;
	}
	seen->at = now;
	seen->nb_absent = 0;
	seen->nb_polls = nb_polls;
	seen->nb_taken = nb_taken;
	seen->is_slow = taken > 0 && since > (uint64_t)builtin->slow * taken;
	return idle && since < 64 * builtin->away && is_late(builtin, since, taken, nb_ready) &&
			       may_help(builtin, seen, now, nb_ready)
		       ? HELP_SOME
		       : HELP_NOT;
}

/*
 * It had nothing for long: nobody needs to look there, until somebody tells of it again. Who put something in meanwhile may not have
 * seen that the word was cleared: then it is found in turn.
 */
static void
note_quiet(struct builtin *builtin, const struct shard *shard, struct seen *seen)
{
	const uint64_t bit = (uint64_t)1 << shard->id;

	if (__atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED) != 0 ||
		__atomic_load_n(&shard->nb_taken, __ATOMIC_RELAXED) != seen->nb_taken)
		seen->nb_quiet = 0;
	else if (++seen->nb_quiet >= LOOKS_QUIET) {
		seen->nb_quiet = 0;
		if ((__atomic_load_n(&builtin->waiting, __ATOMIC_RELAXED) & bit) == 0 ||
			!rings_seem_empty(shard))
			return;
		__atomic_fetch_and(&builtin->waiting, ~bit, __ATOMIC_SEQ_CST);
		if (!rings_seem_empty(shard) ||
			__atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED) != 0)
			tell_waiting(builtin, shard->id);
	}
}

/* Cycles until its owner is helped again, with what is like this event. */
static uint64_t
pause_after_help(const struct builtin *builtin, const struct shard *shard, const struct seen *seen,
	uint64_t word)
{
	if (seen->is_slow || event_type(builtin, word) != RTE_SCHED_TYPE_ATOMIC)
		return 0;
	return (uint64_t)__atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED) * builtin->gap /
	       WAITING_PER_GAP;
}

/* One look at one other shard. @return events taken */
static uint16_t
look_at_shard(struct builtin_port *port, struct shard *shard, uint64_t now, bool idle,
	struct rte_event *events, uint16_t nb)
{
	uint64_t groups =
		__atomic_load_n(&port->builtin->port_groups[port->base.id], __ATOMIC_RELAXED);

	struct seen *seen = &port->seen[shard->id];
	enum help help;
	uint32_t lowest;
	uint16_t got;

	note_quiet(port->builtin, shard, seen);
	help = wants_help(port, shard, now, idle);
	count(&port->nb_looks, 1);
	if (owner_adopt(port, shard, now))
		help = HELP_ALL;
	if (help == HELP_NOT)
		return 0;
	if (__atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED) == 0 && rings_seem_empty(shard))
		return 0;
	/* Nothing of lower priority than its own, or than what was seen of others. */
	lowest = RTE_MIN(highest(port->own, groups), port->elsewhere_highest);
	got = steal(port, shard, events, nb, 2 * lowest - 1, help);
	if (got > 0 && help == HELP_SOME) {
		move_if_worth(port, shard, events[0].event, now);
		seen->help_at = now + pause_after_help(port->builtin, shard, seen, events[0].event);
	}
	return got;
}

/* Nobody has come to it for long: its owner may not be there at all. */
static bool
is_abandoned(const struct builtin_port *port, const struct shard *shard, uint64_t now)
{
	const struct seen *seen = &port->seen[shard->id];

	return now - seen->at > ABANDONED * (uint64_t)port->builtin->away &&
	       seen->nb_polls == __atomic_load_n(&shard->nb_polls, __ATOMIC_RELAXED);
}

/* All that somebody told of; and one of all, in turn. */
static uint64_t
shards_to_look_at(struct builtin_port *port, uint64_t now)
{
	struct builtin *builtin = port->builtin;
	uint64_t shards = __atomic_load_n(&builtin->waiting, __ATOMIC_RELAXED);

	if (now >= port->unasked_at) {
		port->unasked_at = now + builtin->gap;
		port->unasked = port->unasked + 1 < builtin->nb_shards ? port->unasked + 1 : 0;
		shards |= (uint64_t)1 << port->unasked;
	}
	return shards & ~port->served;
}

/* By a port that has work: elsewhere, too? Between two such looks there is always a call for its own events. */
bool
look_is_due(struct builtin_port *port)
{
	uint64_t now, since;

	if (++port->nb_calls < port->nb_calls_max)
		return false;
	now = weir_base_cycles();
	since = now - port->calls_since;
	port->calls_since = now;
	port->nb_calls = 0;
	if (since > BUSY_LOOK_MOST * (uint64_t)port->builtin->away)
		port->nb_calls_max = RTE_MAX(port->nb_calls_max / 2, 2u);
	else if (since < BUSY_LOOK_LEAST * (uint64_t)port->builtin->away)
		port->nb_calls_max = RTE_MIN(port->nb_calls_max * 2, (uint32_t)CALLS_PER_LOOK);
	return true;
}

/* By a port that has nothing to do, and now and then by others. They begin where they ended, so that none hides another one. */
uint16_t
look_elsewhere(struct builtin_port *port, struct rte_event *events, uint16_t nb, bool idle)
{
	struct builtin *builtin = port->builtin;
	unsigned int looks = 0, turn = port->last_shard + 1;
	uint64_t now, left, nb_told;
	uint16_t got = 0;

	if (builtin->nb_shards == 1)
		return 0;
	now = weir_base_cycles();
	left = shards_to_look_at(port, now);
	nb_told = (uint64_t)__builtin_popcountll(left);
	while (left != 0 && got < nb) {
		uint64_t later = turn < 64 ? left >> turn << turn : 0;
		unsigned int i = (unsigned int)__builtin_ctzll(later != 0 ? later : left);
		struct seen *seen = &port->seen[i];
		uint16_t taken;

		turn = i + 1;
		left &= ~((uint64_t)1 << i);
		if (!is_abandoned(port, &builtin->shards[i], now) &&
			(now < seen->look_at || ++looks > LOOKS_MAX(idle)))
			continue;
		taken = look_at_shard(
			port, &builtin->shards[i], now, idle, &events[got], (uint16_t)(nb - got));
		/* Where there was something there may be more. However many were told of, all looks together are a gap apart: a
		 * short one to those whose events are long, who are disturbed the less. */
		seen->look_at = taken > 0 ? 0
					  : now + nb_told * (idle && seen->is_slow ? builtin->slow
										   : builtin->gap);
		port->last_shard = i;
		got += taken;
	}
	return got;
}
