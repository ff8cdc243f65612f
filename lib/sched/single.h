/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_SINGLE_H
#define SCHED_SINGLE_H

/* The ways in which events are enqueued. Each is called between move_enter() and move_leave(), which it does. */

#include "shard.h"

/* burst.c: more than one */
uint16_t enqueue_alike(struct builtin_port *port, const struct rte_event *events, uint16_t nb);
/* enqueue.c: whatever they are */
uint16_t enqueue_burst(struct builtin_port *port, const struct rte_event *events, uint16_t nb);

/* What comes next of its own stays known, unless it is changed then: shard_given_back(). */
static inline void
shard_lock_own(const struct builtin_port *port, struct shard *shard)
{
	if (shard == port->own)
		shard_lock_again(shard);
	else
		shard_lock(shard);
}

/* Likewise, before it is unlocked. What waited in a flow that was given back is before all that was known to be next. */
static inline void
shard_given_back(struct shard *shard)
{
	if ((shard->nb_ready | shard->next_of_owner) != 0)
		shard->at_once = 0;
}

#endif
