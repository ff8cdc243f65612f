/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_MOVE_H
#define SCHED_MOVE_H

/* Flows go from one shard to another: see move.c. */

#include "shard.h"

/*
 * Lanes that go at a time, at most: they are gone through under a lock. No class may have more in all queues together: whether these are in use or
 * not, as what has gone while they were not has to come back when they are.
 */
#define MOVE_LANES_MAX 4096

/* What became of it: flows stay of which something is held, or which would take too long at once, or when a lock could not be had. */
enum moved { MOVED_NONE, MOVED_SOME, MOVED_ALL };

/* move_flows.c: by who moves, when all have answered: to the port's home shard. No lock is held. */
enum moved move_now(struct builtin_port *port, const struct move_flows *flows);
/* By a port's thread: is any of them not at its home shard? */
bool move_are_elsewhere(const struct builtin_port *port, const struct move_flows *flows);

bool move_may(const struct builtin *builtin);
void move_reset(struct builtin *builtin);

/* By a port's thread: it enqueues from here, before it looks whether there is news, until there. The fence is the mover's: fence.h. */
static inline void
move_enter(struct builtin_port *port)
{
	__atomic_store_n(&port->move.is_inside, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void
move_leave(struct builtin_port *port)
{
	__atomic_store_n(&port->move.is_inside, 0, __ATOMIC_RELEASE);
}

/* By a port's thread, before it enqueues: are flows to be moved, or no more? The word changes seldom. */
static inline bool
move_is_news(const struct builtin_port *port)
{
	return __atomic_load_n(&port->builtin->move, __ATOMIC_RELAXED) != port->move.open;
}

/* By a port's thread, between two enqueues: it does from now on what is asked. */
void move_answer(struct builtin_port *port);

/* One that is asked for says which class, and 1; or which shard the flows were divided to. */
#define BY_LOCK_OF 0x100u

/* Is such an event put in under the lock, wherever its flow is just then? */
static inline bool
move_concerns(const struct builtin_port *port, uint64_t word)
{
	const struct builtin *builtin = port->builtin;
	uint32_t class, which;

	if (likely(port->move.by_lock == 0) || event_type(builtin, word) == RTE_SCHED_TYPE_PARALLEL)
		return false;
	class = event_class(builtin, word);
	which = port->move.by_lock - 1u;
	return which < BY_LOCK_OF ? class == which
				  : builtin->divided[word_queue(word)][class] == which - BY_LOCK_OF;
}

/* By a port's thread: are those that were divided to a shard of its own about to be moved elsewhere, by who had that before? */
bool move_is_asked_of(const struct builtin *builtin, unsigned int shard);
/* By a port's thread: these are to be moved to its home shard. @return false: others are, or none may be */
bool move_ask(struct builtin_port *port, struct move_flows flows);
/* A step further, by the port that asked, if one can be made. No lock is held. */
void move_go_on(struct builtin_port *port);

#endif
