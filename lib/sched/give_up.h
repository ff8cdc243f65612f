/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_GIVE_UP_H
#define SCHED_GIVE_UP_H

/* What a port holds is released: its context goes back to the flow's shard. What goes on: ending.c. */

#include "held.h"
#include "owner.h"
#include "places.h"

static inline struct shard *
lock_instead(struct shard *locked, struct shard *shard)
{
	if (shard != locked) {
		if (locked != NULL)
			shard_unlock(locked);
		shard_lock(shard);
	}
	return shard;
}

/*
 * What is held is released, with its context, its credit and its number. Neighbours of one shard under one lock: @locked, which may be NULL.
 *
 * @return the shard that is locked now, or NULL
 */
static inline struct shard *
give_up(struct builtin_port *port, uint8_t number, struct shard *locked)
{
	const struct held *held = &port->held[number];

	if (held->kind == HELD_ATOMIC) {
		locked = lock_instead(locked, &port->builtin->shards[held->shard]);
		owner_release(port, locked, held);
	} else if (held->kind == HELD_ORDERED) {
		locked = lock_instead(locked, &port->builtin->shards[held->shard]);
		place_complete(locked, held, false);
	}
	credits_put(port, 1, held->flags & HELD_RESERVED);
	port_forget(port, number);
	return locked;
}

#endif
