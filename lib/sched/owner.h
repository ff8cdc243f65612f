/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_OWNER_H
#define SCHED_OWNER_H

/* Who serves which shard: see owner.c. */

#include "shard.h"

uint64_t owner_patience(void);
void owner_note_queue(struct builtin *builtin, uint8_t queue);
void owner_empty_rings(struct builtin *builtin, uint32_t sender);
bool owner_adopt(struct builtin_port *port, struct shard *shard, uint64_t now);
bool owner_turn(struct builtin_port *port);
bool owner_turn_to_next(struct builtin_port *port, unsigned int *nb_turns);

/* Has it other shards than its home one, or that one not? */
static inline bool
owner_has_changed(const struct builtin_port *port)
{
	return port->served != port->home_bit || shard_owner(port->own) != port->base.id;
}

/*
 * Under the lock, before atomic contexts are given back: it is left meanwhile if what this port sent has to be where it is for, as another one
 * is the sender now.
 */
static inline void
owner_settle(struct builtin_port *port, struct shard *shard, const struct held *held)
{
	if (unlikely((held->flags & HELD_FOREIGN) == 0 && shard->sender != port->base.id)) {
		shard_unlock(shard);
		owner_empty_rings(port->builtin, port->base.id);
		shard_lock(shard);
	}
}

/* An atomic context is given back. */
static inline void
owner_release(struct builtin_port *port, struct shard *shard, const struct held *held)
{
	owner_settle(port, shard, held);
	shard_release(shard, held->lane, shard == port->own);
}

#endif
