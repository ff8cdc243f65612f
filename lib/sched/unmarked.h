/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_UNMARKED_H
#define SCHED_UNMARKED_H

/*
 * A lane tells others who has its flow. While there are none, that need not be written, nor read: when no lane of a shard is marked, and nothing waits
 * there, its owner has flows without a mark. It gives them back in bursts, or one with the next dequeue or when it goes on, under the lock, and then nothing has to
 * be done. Who comes for anything else, the owner as well, marks what it still has first (shard_forget()): shard::nb_unmarked of what it was handed
 * out last, when it held nothing.
 *
 * An ordered event's place is its mark: what counts for it is that no place is taken, whichever lanes are marked. Without places events go on in the order
 * in which they were handed out, or are marked first.
 *
 *   - What is held so has its word instead of a lane (HELD_BY_WORD), also when it was marked since: only its port changes how it is held. (An ordered
 *     one has its lane and its place then.)
 *   - Its port does that under the lock, or when all is marked (port_mark()), and uses no number anew before that.
 */

#include "hand_out.h"
#include "own_lock.h"

/*
 * After others came, or it gave atomic ones back by single calls without the bias, so many are marked, bursts or single events: to mark, and give back
 * later, takes longer.
 */
#define MARKED_FOR 32

/* By the port's thread: it gave such ones back, which were marked. */
static inline void
unmarked_soon(struct builtin_port *port)
{
	if (unlikely(port->unmarked_after > 0))
		port->unmarked_after--;
}

/* By the owner, under the lock, while no lane is marked, and nothing is in the lists: what it has next, when it holds nothing else. */
static inline bool
may_leave_unmarked(const struct builtin_port *port, const struct shard *shard)
{
	return port->unmarked_after == 0 && shard->sender == port->base.id &&
	       port->served == port->home_bit && shard == port->home;
}

/* Under the lock: is no lane marked that an event of this type would have; or is there no place of another one, before which it would be? */
static inline bool
has_no_marks(const struct shard *shard, uint8_t type)
{
	return (type == RTE_SCHED_TYPE_ORDERED ? shard->nb_placed : shard->nb_marked) == 0;
}

/* By the owner, under the lock: it has so many. */
static inline void
unmarked_set(struct shard *shard, uint32_t nb)
{
	__atomic_store_n(&shard->nb_unmarked, nb, __ATOMIC_RELAXED);
}

/* Likewise: what it holds by word has its flows without marks, all or nothing of it. */
static inline bool
is_unmarked(const struct shard *shard, struct held held)
{
	return (held.flags & HELD_BY_WORD) != 0 && shard->nb_unmarked > 0;
}

/* By the port's thread, before it gives events back otherwise, or has others. No lock is held. @return there were some */
static inline bool
port_mark(struct builtin_port *port)
{
	struct shard *shard = port->home;

	port_unbias(port);
	if (shard == NULL || likely(__atomic_load_n(&shard->nb_unmarked, __ATOMIC_ACQUIRE) == 0))
		return false;
	shard_lock(shard);
	shard_unlock(shard);
	return true;
}

/* By the port's thread: others came, or it gives back what was not marked by a call that needs that. */
static inline void
unmarked_later(struct builtin_port *port)
{
	port->unmarked_after = MARKED_FOR;
}

/*
 * By the port's thread, under the lock: one that was forwarded, and sent, is not held any more.
 *
 * @return false: others have marked it
 */
static __rte_always_inline bool
unmarked_give_back(struct builtin_port *port, struct shard *shard, uint8_t number)
{
	const bool is_unmarked = shard->nb_unmarked > 0;

	if (likely(is_unmarked)) {
		unmarked_set(shard, shard->nb_unmarked - 1);
		port_forget(port, number);
	}
	return is_unmarked;
}

#endif
