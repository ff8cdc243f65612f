/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_OWN_LOCK_H
#define SCHED_OWN_LOCK_H

/*
 * The lock of a port's own shard, by its thread. Only the port at home there has it by bias: who takes the shard over has to have the lock, which ends
 * that.
 */

#include "shard.h"

/* Before it takes the lock of its home shard as others do, who would wait for the fence. No lock is held, and it is not inside. */
static inline void
port_unbias(struct builtin_port *port)
{
	if (port->bias.is_mine)
		bias_give_up(&port->home->bias, &port->bias);
}

/* Under the lock of its own shard, which it is about to leave: does it know what comes next, one by one? */
static inline void
port_bias(struct builtin_port *port, struct shard *shard)
{
	const bool wants =
		port->knows_next == KNOWS_SINGLE && shard->at_once > 0 && shard == port->home;

	if (wants && port->bias.is_mine && bias_holds(&shard->bias))
		return;
	port_unbias(port);
	if (!wants || !port->builtin->may_fence || !bias_may_begin(&port->bias))
		return;
	port->bias.is_mine = true;
	__atomic_store_n(&shard->bias.holds, 1, __ATOMIC_RELAXED);
}

/* A lock that was taken without shard_forget(): of a shard that may be another one's by now, whose bias it may have. */
static inline void
own_locked(const struct builtin_port *port, struct shard *shard)
{
	if (unlikely(shard != port->home && bias_holds(&shard->bias)))
		bias_end(&shard->bias);
}

static inline bool
own_trylock_again(const struct builtin_port *port, struct shard *shard)
{
	if (!shard_trylock_again(shard))
		return false;
	own_locked(port, shard);
	return true;
}

/* What comes next of its own stays known, unless it is changed then: shard_given_back(). */
static inline void
shard_lock_own(const struct builtin_port *port, struct shard *shard)
{
	if (shard != port->own) {
		shard_lock(shard);
		return;
	}
	shard_lock_again(shard);
	own_locked(port, shard);
}

/* Likewise, before it is unlocked. What waited in a flow that was given back is before all that was known to be next. */
static inline void
shard_given_back(struct shard *shard)
{
	if ((shard->nb_ready | shard->next_of_owner) != 0)
		shard->at_once = 0;
}

/* By bias or by the lock. */
static __rte_always_inline void
own_leave(struct shard *shard, bool by_bias)
{
	if (by_bias)
		bias_leave(&shard->bias);
	else
		__atomic_store_n(&shard->lock, 0, __ATOMIC_RELEASE);
}

#endif
