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

/* Which flows are to be moved, in the word that names them: a class, and how long the run is; or which shard they were divided to. */
#define MOVE_WHICH     0xffu
#define MOVE_OF        0x100u
#define MOVE_RUN_SHIFT 9

/* Is such an event put in under the lock, wherever its flow is just then? */
static inline bool
move_concerns(const struct builtin_port *port, uint64_t word)
{
	const struct builtin *builtin = port->builtin;
	const uint32_t which = port->move.by_lock & MOVE_WHICH;
	uint32_t class;

	if (likely(port->move.by_lock == 0) || event_type(builtin, word) == RTE_SCHED_TYPE_PARALLEL)
		return false;
	class = flow_class(builtin, word_flow(word) & builtin->flow_mask);
	if ((port->move.by_lock & MOVE_OF) != 0)
		return builtin->divided[word_queue(word)][class] == which;
	return move_is_in_run(class, which, port->move.by_lock >> MOVE_RUN_SHIFT & MOVE_RUN_MAX);
}

/* By a port's thread: are those that were divided to a shard of its own about to be moved elsewhere, by who had that before? */
bool move_is_asked_of(const struct builtin *builtin, unsigned int shard);
/* By a port's thread: these are to be moved to its home shard. @return false: others are, or none may be */
bool move_ask(struct builtin_port *port, struct move_flows flows);
/* A step further, by the port that asked, if one can be made. No lock is held. */
void move_go_on(struct builtin_port *port);

/* move_when.c: by a port's thread, which took this event over: the class of its flow is to come, with that run, unless it comes often */
void move_run_of(
	struct builtin_port *port, const struct shard *from, uint64_t word, unsigned int run);
/* Likewise, if it is worth it: by a port's thread, which took this event over from a shard whose owner has others to do first */
void move_if_worth(
	struct builtin_port *port, const struct shard *from, uint64_t word, uint64_t now);

#endif
