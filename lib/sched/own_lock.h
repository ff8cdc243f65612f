/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_OWN_LOCK_H
#define SCHED_OWN_LOCK_H

/* The lock of a port's own shard, by its thread, which may have it by bias: who takes the shard over has to have the lock, which ends that. */

#include "held.h"
#include "shard.h"

/*
 * Before it takes the lock of its own shard as others do, who would wait for the fence (as its thread does for events that it enqueues without a port),
 * or goes on with another shard. No lock is held, and it is not inside.
 */
static inline void
port_unbias(struct builtin_port *port)
{
	if (port->bias.mine == NULL)
		return;
	bias_give_up(&port->bias);
	port->before.type = NO_TYPE;
}

/* The lock that it does not hold otherwise. @return false: it has not the shard by bias */
static __rte_always_inline bool
own_enter(struct builtin_port *port, const struct shard *shard)
{
	return bias_enter(&shard->bias, &port->bias);
}

/* It has its own shard by bias now and then, and will have it when it knows again what comes next. */
static inline bool
bias_comes_again(const struct builtin_port *port)
{
	return port->builtin->may_fence && port->bias.left == 0;
}

/*
 * No place is taken, but for that of what it holds, which is given up before the next one comes as it did before. And so it stays while it has the bias:
 * who else would take some ends that.
 */
static inline bool
has_all_places(const struct builtin_port *port, const struct shard *shard)
{
	const bool has_one = port->nb_held == 1 && port->held[handed_last(port)].how ==
							   held_how(HELD_ORDERED, shard->id, 0);

	return shard->nb_placed == has_one;
}

/* By the owner, under the lock, when it knows what comes next, one by one: of the first one's type will be most of it. */
static inline void
note_as_before(struct builtin_port *port, const struct shard *shard)
{
	const uint64_t next = event_word(ring_peek(shard->turn, 0));
	struct port_before *before = &port->before;

	before->type = port->builtin->queues[word_queue(next)].type;
	if (before->type == RTE_SCHED_TYPE_ATOMIC && port->leaves_unmarked)
		before->how = held_how(HELD_ATOMIC, shard->id, HELD_BY_WORD);
	else if (before->type == RTE_SCHED_TYPE_PARALLEL)
		before->how = held_how(HELD_PARALLEL, shard->id, 0);
	else if (before->type == RTE_SCHED_TYPE_ORDERED && port->leaves_unmarked &&
		 has_all_places(port, shard))
		before->how = held_how(HELD_ORDERED, shard->id, HELD_BY_WORD);
	else
		before->type = NO_TYPE;
	before->stamp = word_stamp(before->type, port->holder);
}

/* Under the lock of its own shard, which it is about to leave: does it know what comes next? */
static inline void
port_note_bias(struct builtin_port *port, struct shard *shard)
{
	const bool singles = port->knows_next == KNOWS_SINGLE && port->nb_held <= 1,
		   wants = shard->at_once > 0 && (singles || port->knows_next == KNOWS_BURST);

	if (!wants || bias_holder(&shard->bias) != port->bias.number) {
		port_unbias(port);
		if (!wants || !port->builtin->may_fence || !bias_may_begin(&port->bias))
			return;
		bias_begin(&shard->bias, &port->bias);
	}
	if (singles)
		note_as_before(port, shard);
	else
		port->before.type = NO_TYPE;
}

/* A lock that was taken without shard_forget(): of a shard that may be another one's by now, which may have it by bias. */
static inline void
own_locked(const struct builtin_port *port, struct shard *shard)
{
	const uint32_t holder = bias_holder(&shard->bias);

	if (unlikely(holder != 0 && holder != port->bias.number))
		shard_unbias(shard, holder);
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

/* What waited in a flow is told of: shard_unlock_rings() does not ask for that. */
static inline void
unlock_given_back(struct shard *shard)
{
	shard_given_back(shard);
	if (likely(has_short_ways(shard->builtin) && shard->next_of_owner == NONE))
		shard_unlock_rings(shard);
	else
		shard_unlock(shard);
}

/* By bias or by the lock. */
static __rte_always_inline void
own_leave(struct builtin_port *port, struct shard *shard, bool by_bias)
{
	if (by_bias)
		bias_leave(&port->bias);
	else
		__atomic_store_n(&shard->lock, 0, __ATOMIC_RELEASE);
}

/* No lock is held. @return by bias; otherwise by the lock, as shard_lock_own() takes it */
static inline bool
own_enter_or_lock(struct builtin_port *port, struct shard *shard)
{
	const bool by_bias = likely(own_enter(port, shard));

	if (unlikely(!by_bias))
		shard_lock_own(port, shard);
	return by_bias;
}

#endif
