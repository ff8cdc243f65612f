/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_ENDING_H
#define SCHED_ENDING_H

/*
 * What a port gives up with a call: events that go on, or are released, by an enqueue or with a dequeue. It is not held from here on; the flow that it
 * was of, its place there, its credit and its number are given back at the end of the call, when what it became can be seen. Of a burst's run of
 * plain ones, which is sent or released under the lock, all of that is given back on the way (enqueue.c).
 */

#include "held.h"

/* ending.c. @locked: a shard that is, or NULL. @return which one is afterwards */
struct shard *ending_give_up(struct builtin_port *port, struct shard *locked);

/*
 * Where in free[] the number of one that ended in this call is, or of the next one: behind those that are free, where what is held has none.
 * That they are is known at the end of the call.
 */
static inline uint8_t
ending_at(const struct builtin_port *port, unsigned int i)
{
	return (uint8_t)(port->next_free - port->nb_held + i);
}

/* The numbers of so many were put there, of what was held so. @how: of them, and HELD_FORWARDED or not */
static inline void
ending_note(struct port_ending *ending, uint32_t how, uint16_t nb)
{
	const unsigned int last = ending->nb_runs - 1u;

	ending->nb += nb;
	if (ending->nb_runs > 0 && ending->runs[last].how == how) {
		ending->runs[last].nb += nb;
		return;
	}
	ending->runs[ending->nb_runs].how = how;
	ending->runs[ending->nb_runs++].nb = nb;
}

/* @flags: HELD_FORWARDED or 0 */
static inline void
ending_add(struct builtin_port *port, uint8_t number, uint8_t flags)
{
	struct held *held = &port->held[number];

	port->free[ending_at(port, port->ending.nb)] = number;
	ending_note(&port->ending, held->how | held_how(0, 0, flags), 1);
	held_end(held);
}

#endif
