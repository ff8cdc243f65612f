/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_MOVE_H
#define SCHED_MOVE_H

/* A class of flows goes from one shard to another: see move.c. */

#include "shard.h"

bool move_may(const struct builtin *builtin);
void move_reset(struct builtin *builtin);

/* By a port's thread, before it enqueues: is a class to be moved, or no more? The word changes seldom. */
static inline bool
move_is_news(const struct builtin_port *port)
{
	return __atomic_load_n(&port->builtin->move, __ATOMIC_RELAXED) != port->move.open;
}

/* By a port's thread, between two enqueues: it does from now on what is asked. */
void move_answer(struct builtin_port *port);

/* Is such an event put in under the lock, wherever its flow is just then? */
static inline bool
move_concerns(const struct builtin_port *port, uint64_t word)
{
	const struct builtin *builtin = port->builtin;

	return unlikely(port->move.by_lock != 0) &&
	       flow_class(builtin, word_flow(word) & builtin->flow_mask) + 1 ==
		       port->move.by_lock &&
	       event_type(builtin, word) == RTE_SCHED_TYPE_ATOMIC;
}

/* By a port's thread: this class of a shard's is to be moved to its home one. @return false: another one is, or none may be */
bool move_ask(struct builtin_port *port, const struct shard *from, uint32_t class);
/* A step further, by the port that asked, if one can be made. No lock is held. */
void move_go_on(struct builtin_port *port);

/* move_when.c: by a port's thread, which took this event over from a shard whose owner has others to do first */
void move_if_worth(
	struct builtin_port *port, const struct shard *from, uint64_t word, uint64_t now);

#endif
