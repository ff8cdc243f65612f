/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_GATHER_H
#define SCHED_GATHER_H

/* Flows of shards whose ports do not come go where they are served, and back when these come: see gather.c. By a port's thread. */

#include "owner.h"

/* What is divided to a shard that is the port's own is to be at its home one. */
void gather_want(struct builtin_port *port, const struct shard *shard);
/* Under the lock: it has got a shard, as its home port does not come, or for other reasons. */
void gather_after(struct builtin_port *port, struct shard *shard, bool deserted);

/* Is it time for a step? */
static inline bool
gather_is_due(const struct builtin_port *port)
{
	return port->gather.wanted != 0 && port->move.own == 0 &&
	       __atomic_load_n(&port->own->now, __ATOMIC_RELAXED) >= port->gather.at;
}

/* Is it time for anything that has to do with flows that move to its shards? */
static inline bool
has_flows_to_move(const struct builtin_port *port)
{
	return port->move.own != 0 || gather_is_due(port) || owner_visit_is_due(port);
}

/* A step further, if one can be made. No lock is held. */
void gather_go_on(struct builtin_port *port);

#endif
