/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Whoever serves many shards finds little in each, and the lines of all of them take turns in its cache. So where a port has not come for
 * long, the flows of its shard move (move.c) to the home shard of who adopted that. The empty shard stays with who adopted
 * it, but rests: it is looked at now and then (owner.c).
 *
 *     its port comes again         it takes the shard back, and what was divided to that goes to it from wherever it is
 *     another port adopts it       as it has fewer shards: likewise
 *
 * So flows are where whoever has the shard that they were divided to serves them, and the ports that come have as many of them as they
 * have shards.
 */

#include "gather.h"
#include "move.h"
#include "owner.h"

/* When none could be asked for, as others move, it is tried again after that. */
#define BUSY_NS 100000

static uint64_t
after(const struct builtin *builtin)
{
	return __atomic_load_n(&builtin->gather_after, __ATOMIC_RELAXED); /* a test may change it */
}

/* Was it so long before now? Clocks that were read by others, or long ago, may be behind. */
static bool
is_long_ago(const struct builtin *builtin, uint64_t since, uint64_t now)
{
	return (int64_t)(now - since) >= (int64_t)after(builtin);
}

void
gather_want(struct builtin_port *port, const struct shard *shard)
{
	if (port->builtin->may_move)
		port->gather.wanted |= (uint64_t)1 << shard->id;
}

void
gather_after(struct builtin_port *port, struct shard *shard, bool deserted)
{
	const uint64_t since = __atomic_load_n(&shard->deserted_at, __ATOMIC_RELAXED);

	if (shard == port->home) {
		__atomic_store_n(&shard->deserted_at, 0, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_SEQ_CST); /* move.c: is_still_its_own() */
		if (__atomic_load_n(&shard->is_gathered, __ATOMIC_RELAXED))
			gather_want(port, shard);
	} else if (since != 0 || deserted) {
		__atomic_store_n(&shard->deserted_at, weir_base_cycles(), __ATOMIC_RELAXED);
		gather_want(port, shard);
	}
}

/* The port has it; it is at home there, or who is does not come. */
static bool
is_wanted(const struct builtin_port *port, const struct shard *shard)
{
	return shard_owner(shard) == port->base.id &&
	       (shard == port->home || __atomic_load_n(&shard->deserted_at, __ATOMIC_RELAXED) != 0);
}

static bool
is_due(const struct builtin_port *port, const struct shard *shard, uint64_t now)
{
	return shard == port->home ||
	       is_long_ago(
		       port->builtin, __atomic_load_n(&shard->deserted_at, __ATOMIC_RELAXED), now);
}

static struct move_flows
flows_of(unsigned int shard)
{
	return (struct move_flows){.of = (uint8_t)shard};
}

/* All of them are where they should be. */
static void
end(struct builtin_port *port, struct shard *shard)
{
	port->gather.wanted &= ~((uint64_t)1 << shard->id);
	if (shard == port->home)
		__atomic_store_n(&shard->is_gathered, false, __ATOMIC_RELAXED);
	else
		owner_rest(port, shard->id);
}

/* What was asked for is done, or was given up: then some are left. */
static void
end_asked(struct builtin_port *port)
{
	const struct move_flows flows = flows_of(port->gather.shard);

	port->gather.is_asked = false;
	if (move_are_elsewhere(port, &flows))
		port->gather.left |= (uint64_t)1 << port->gather.shard;
}

/* @return something was asked for, or may be later */
static bool
ask(struct builtin_port *port, struct shard *shard, uint64_t now)
{
	const struct move_flows flows = flows_of(shard->id);
	const bool is_asked = move_is_asked_of(port->builtin, shard->id);

	if (!is_asked && !move_are_elsewhere(port, &flows)) {
		end(port, shard);
		return false;
	}
	port->gather.shard = (uint8_t)shard->id;
	port->gather.is_asked = move_ask(port, flows);
	if (!port->gather.is_asked)
		port->gather.at = now + weir_base_ns_to_cycles(BUSY_NS);
	return true;
}

/* Of some shards that are wanted, the first one that has something, if it is time for that. @return likewise */
static bool
ask_for_first(struct builtin_port *port, uint64_t shards, uint64_t now)
{
	for (; shards != 0; shards &= shards - 1) {
		struct shard *shard = &port->builtin->shards[__builtin_ctzll(shards)];

		if (!is_wanted(port, shard))
			port->gather.wanted &= ~(shards & -shards);
		else if (is_due(port, shard, now) && ask(port, shard, now))
			return true;
	}
	return false;
}

/* For what its home one has to have back first. Those that are left are tried again when all others have been. */
static void
ask_for_next(struct builtin_port *port, uint64_t now)
{
	struct port_gather *gather = &port->gather;
	const uint64_t shards = gather->wanted & ~gather->left, home = port->home_bit;

	if (ask_for_first(port, shards & home, now) || ask_for_first(port, shards & ~home, now))
		return;
	gather->at = now + after(port->builtin) / (gather->left != 0 ? 1 : 16);
	gather->left = 0;
}

void
gather_go_on(struct builtin_port *port)
{
	if (shard_owner(port->home) != port->base.id)
		return;
	if (port->gather.is_asked)
		end_asked(port);
	ask_for_next(port, __atomic_load_n(&port->own->now, __ATOMIC_RELAXED));
}
