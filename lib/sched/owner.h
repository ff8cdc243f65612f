/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_OWNER_H
#define SCHED_OWNER_H

/* Who serves which shard: see owner.c. */

#include "held.h"
#include "shard.h"

uint64_t owner_patience(void);
void owner_note_queue(struct builtin *builtin, uint8_t queue);
void owner_empty_rings(struct builtin *builtin, uint32_t sender);
bool owner_adopt(struct builtin_port *port, struct shard *shard, uint64_t now);
bool owner_turn(struct builtin_port *port);
bool owner_turn_to_next(struct builtin_port *port, unsigned int *nb_turns);
void owner_rest(struct builtin_port *port, unsigned int id);
void owner_visit_resting(struct builtin_port *port);

/* All that are its own, but for those that others took since. */
static inline uint64_t
owner_shards(const struct builtin_port *port)
{
	return port->served | port->resting;
}

/* Is it time to look at those whose flows have gone? */
static inline bool
owner_visit_is_due(const struct builtin_port *port)
{
	return port->resting != 0 &&
	       __atomic_load_n(&port->own->now, __ATOMIC_RELAXED) >= port->rest_at;
}

/* Has it other shards than its home one, or that one not? */
static inline bool
owner_has_changed(const struct builtin_port *port)
{
	return port->served != port->home_bit || shard_owner(port->own) != port->base.id;
}

/*
 * A port with several shards goes on to the next one after so many events, where a call counts as some; at the latest when there is nothing; with each
 * call where a starvation bound counts what passes.
 */
#define EVENTS_PER_SHARD 128
#define EVENTS_PER_CALL  7

/* It was called, and got so many. */
static inline void
owner_count_turn(struct builtin_port *port, uint16_t nb)
{
	port->nb_of_turn += EVENTS_PER_CALL + nb;
}

/*
 * Does it go on with the shard whose turn it is? After each call, where events take long, others have their turn. Who lost its home one takes
 * that back first.
 */
static inline bool
owner_stays(const struct builtin_port *port)
{
	if (shard_owner(port->own) != port->base.id)
		return false;
	return likely(port->served == port->home_bit) ||
	       (port->nb_of_turn < EVENTS_PER_SHARD && port->nb_calls_max == CALLS_PER_LOOK &&
		       shard_owner(port->home) == port->base.id);
}

/* So many single events, about so, until others of its own have their turn, or its home one is taken back. */
static inline uint32_t
owner_events_left(const struct builtin_port *port)
{
	if (likely(port->served == port->home_bit))
		return UINT32_MAX;
	if (!owner_stays(port))
		return 0;
	return (EVENTS_PER_SHARD - port->nb_of_turn) / (EVENTS_PER_CALL + 1);
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
	shard_release(shard, held_lane(port->builtin, held), shard == port->own);
}

#endif
