/* SPDX-License-Identifier: BSD-3-Clause */

/* What a port gave up with a call goes back to where it came from. */

#include "ending.h"
#include "owner.h"
#include "places.h"

/* @from: where the first one's number is */
static void
release_run(struct builtin_port *port, struct shard *shard, uint8_t from, unsigned int nb,
	bool is_by_word)
{
	const bool by_owner = shard == port->own;

	for (unsigned int i = 0; i < nb; i++) {
		const struct held *held = &port->held[port->free[(uint8_t)(from + i)]];

		shard_release(shard,
			is_by_word ? event_lane(port->builtin, held->word, RTE_SCHED_TYPE_ATOMIC)
				   : held->lane,
			by_owner);
	}
}

static __rte_noinline void
complete_run(const struct builtin_port *port, struct shard *shard, uint8_t from, unsigned int nb,
	bool is_forwarded)
{
	for (unsigned int i = 0; i < nb; i++)
		place_complete(shard, &port->held[port->free[(uint8_t)(from + i)]], is_forwarded);
}

/*
 * Contexts go back under the shard's lock. What the events became is published. Their numbers are free again in the order in which they were
 * given up.
 */
struct shard *
ending_give_up(struct builtin_port *port, struct shard *locked)
{
	const struct port_ending *ending = &port->ending;
	uint8_t from = ending_at(port, 0);
	int32_t nb_left[2] = {0}; /* whose credits were reserved: the second one */

	for (unsigned int i = 0; i < ending->nb_runs; i++) {
		const struct held like = {.how = ending->runs[i].how};
		const uint32_t nb = ending->runs[i].nb;
		const bool is_forwarded = (like.flags & HELD_FORWARDED) != 0;

		if (like.kind != HELD_PARALLEL) {
			locked = shard_lock_instead(locked, &port->builtin->shards[like.shard]);
			port->knows_next = KNOWS_NOT;
		}
		if (like.kind == HELD_ATOMIC) {
			owner_settle(port, locked, &like);
			release_run(port, locked, from, nb, (like.flags & HELD_BY_WORD) != 0);
		} else if (like.kind == HELD_ORDERED) {
			complete_run(port, locked, from, nb, is_forwarded);
		}
		if (!is_forwarded)
			nb_left[(like.flags & HELD_RESERVED) != 0] += (int32_t)nb;
		from = (uint8_t)(from + nb);
	}
	port_set_held(port, port->nb_held - ending->nb);
	credits_put(port, nb_left[0], false);
	credits_put(port, nb_left[1], true);
	port->ending.nb = port->ending.nb_runs = 0;
	return locked;
}
