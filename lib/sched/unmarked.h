/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_UNMARKED_H
#define SCHED_UNMARKED_H

/*
 * A lane tells others who has its flow. While there are none, that need not be written, nor read: a shard's owner that takes a burst when no lane of the
 * shard is marked, and nothing waits there, has these flows without a mark. It gives them back in bursts, too, under the lock, and then nothing has to
 * be done. Who comes for anything else, the owner as well, marks what it still has first (shard_forget()): shard::nb_unmarked of these are looked
 * for among its numbers, from shard::unmarked_from on.
 *
 *   - What is held so has its word instead of a lane (HELD_BY_WORD), also when it was marked since: only its port changes how it is held.
 *   - Its port does that under the lock, or when all is marked (port_mark()), and uses no number anew before that.
 */

#include "hand_out.h"

/* After others came, or it gave back events one by one, so many bursts are marked: to mark and give back later takes longer. */
#define BURSTS_MARKED 32

/* By the port's thread: it gave a burst back that was marked. */
static inline void
unmarked_soon(struct builtin_port *port)
{
	if (unlikely(port->unmarked_after > 0))
		port->unmarked_after--;
}

/* By the owner, under the lock: it holds nothing, and nothing is in the lists. */
static inline bool
may_leave_unmarked(const struct builtin_port *port, const struct shard *shard)
{
	return port->unmarked_after == 0 && shard->nb_marked == 0 &&
	       shard->sender == port->base.id && port->served == port->home_bit &&
	       shard == port->home;
}

/* By the owner, under the lock: it was handed out so many. */
static inline void
unmarked_add(struct shard *shard, uint32_t nb)
{
	__atomic_store_n(&shard->nb_unmarked, shard->nb_unmarked + nb, __ATOMIC_RELAXED);
}

/* Likewise: it gave so many back. */
static inline void
unmarked_take(struct shard *shard, uint32_t nb)
{
	__atomic_store_n(&shard->nb_unmarked, shard->nb_unmarked - nb, __ATOMIC_RELAXED);
}

/* Likewise: what it holds by word has its flows without marks, all or nothing of it. */
static inline bool
is_unmarked(const struct shard *shard, struct held held)
{
	return (held.flags & HELD_BY_WORD) != 0 && shard->nb_unmarked > 0;
}

/* By the port's thread, before it gives events back otherwise, or has others. No lock is held. */
static inline void
port_mark(const struct builtin_port *port)
{
	struct shard *shard = port->home;

	if (shard != NULL && unlikely(__atomic_load_n(&shard->nb_unmarked, __ATOMIC_RELAXED) > 0)) {
		shard_lock(shard);
		shard_unlock(shard);
	}
}

#endif
