/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What other shards have that their owners do not get to: looked at when idle, and now and then, where somebody told of something
 * (builtin->waiting), each a gap apart, and one after the other of all; those that nobody comes to, each time. Events are left to their owner,
 * whose lines they are in, unless it has not come for a while, or has more than it gets through soon. While its events are long, who is idle
 * looks more often, and takes what is ready behind them.
 */

#include "balance.h"
#include "look.h"
#include "owner.h"

/* So many times the time after which it is away, and a port may not be there at all. */
#define ABANDONED 50

/* So many times that time an owner has who came seldom, for bursts of short events. */
#define AWAY_BURSTS 4

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

/* At its owner's pace: is each event long beside what taking it over costs, or will it not soon be through with what is ready? */
static bool
is_late(const struct builtin *builtin, uint64_t since, uint32_t taken, uint32_t nb_ready)
{
	const uint64_t nb = RTE_MAX(taken, 1u);

	return since > builtin->slow * nb || nb_ready * since > builtin->away * nb;
}

/* It has nothing to do. Since when it has had nothing of its own? */
static void
note_idle(struct builtin_port *port, uint64_t now)
{
	const uint64_t nb_own = port->counts.nb_dequeued - port->counts.nb_stolen;

	if (nb_own == port->nb_own)
		return;
	port->nb_own = nb_own;
	port->idle_from = now;
}

/*
 * May who has nothing to do take what is ready there? A single one is left to its owner where it may be of the lowest priority. Short events
 * of flows are, by who only waits for what is to come next of its own; and for a while after help.
 */
static bool
may_help(const struct builtin_port *port, const struct seen *seen, uint64_t now, uint32_t nb_ready)
{
	const struct builtin *builtin = port->builtin;

	if (nb_ready <= (has_several_priorities(builtin) ? 1 : 0))
		return false;
	if (seen->is_slow || !seen->of_flows)
		return true;
	return now >= seen->help_at && now - port->idle_from >= builtin->gap;
}

/* Without a poll for so long its owner is away: with a burst of short events it does not come so soon, and will at once. */
static uint64_t
absence(const struct builtin *builtin, const struct seen *seen)
{
	const uint64_t least = builtin->away, most = AWAY_BURSTS * least;

	return seen->is_slow ? least : RTE_MAX(least, RTE_MIN(most, 2 * seen->between));
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
		if (seen->nb_absent++ == 0)
			seen->absent_from = now;
		if (since > absence(builtin, seen) && (nb_ready > 0 || since > 2 * builtin->away))
			return HELP_ALL;
		/* Not yet what it will go on with: a hot flow would be handed to and fro. */
		return idle && since > builtin->slow && may_help(port, seen, now, nb_ready)
			       ? HELP_SOME
			       : HELP_NOT;
	}
	seen->between = since / (nb_polls - seen->nb_polls);
	seen->at = now;
	seen->nb_absent = 0;
	seen->nb_polls = nb_polls;
	seen->nb_taken = nb_taken;
	seen->is_slow = taken > 0 && since > (uint64_t)builtin->slow * taken;
	return idle && since < 64 * builtin->away && is_late(builtin, since, taken, nb_ready) &&
			       may_help(port, seen, now, nb_ready)
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

/*
 * This event and others were taken over. When is its owner helped again? Who helped with short events of flows leaves the rest alone for a gap for
 * each event that waits there. What becomes of those goes back under the lock, after what the owner's rings have of their flows, for which they are
 * looked through; what is in front of that, nearly all, goes to the lists (foreign.c), whose lines the owner has to fetch then. That takes it 100 ns
 * for each of them and more: helped eight times as often it gets through a third of what it does alone, and never out of this.
 */
static void
note_help(const struct builtin *builtin, const struct shard *shard, struct seen *seen,
	uint64_t word, uint64_t now)
{
	const uint64_t waiting = __atomic_load_n(&shard->nb_hint, __ATOMIC_RELAXED);

	seen->of_flows = event_type(builtin, word) == RTE_SCHED_TYPE_ATOMIC;
	seen->help_at = now;
	if (!seen->is_slow && seen->of_flows)
		seen->help_at += waiting * builtin->gap;
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
	if (shard_seems_empty(shard))
		return 0;
	/* Nothing of lower priority than its own, or than what was seen of others. */
	lowest = RTE_MIN(highest(port->own, groups), port->elsewhere_highest);
	got = steal(port, shard, events, nb, 2 * lowest - 1, help);
	if (got > 0 && help == HELP_SOME) {
		balance_took(port, shard, events[0].event);
		note_help(port->builtin, shard, seen, events[0].event, now);
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
	return shards & ~owner_shards(port);
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
	__atomic_store_n(&port->own->now, now, __ATOMIC_RELAXED);
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
	if (idle)
		note_idle(port, now);
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
