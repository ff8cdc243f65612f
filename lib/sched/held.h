/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_HELD_H
#define SCHED_HELD_H

/* The numbers by which a port holds events. */

#include "builtin.h"

/* Where it is written down what it holds by a number. The compiler would work that out anew for each member: it does not know that this is where they are. */
static __rte_always_inline struct held *
port_held(struct builtin_port *port, uint8_t number)
{
	struct held *held = &port->held[number];

	__asm__("" : "+r"(held));
	return held;
}

/* How an event is held. No wider than it was written: a load of more would wait until that is in the cache. */
static inline struct held
held_of(const struct builtin_port *port, const struct rte_event *event)
{
	return (struct held){.how = __atomic_load_n(
				     &port->held[event_read_opaque(event)].how, __ATOMIC_RELAXED)};
}

/*
 * A number to hold an event by. All that are free take turns, so that one which was given up is not soon that of another event: who
 * gives up twice is told so. They are in free[], in a circle; there is always one, as no more than 255 events are held.
 */
static inline uint8_t
port_hold(struct builtin_port *port)
{
	const uint8_t i = port->next_free++, number = port->free[i];

	port_set_held(port, port->nb_held + 1u);
	port->handed_out[i] = number;
	return number;
}

/* The number of the event that it was handed last. */
static inline uint8_t
handed_last(const struct builtin_port *port)
{
	return port->handed_out[(uint8_t)(port->next_free - 1)];
}

/* Under the lock: what was handed out first of what it was handed last, and did not end otherwise, is the first one now. */
static inline void
pass_ended(struct builtin_port *port)
{
	while (port->first_handed_out != port->next_free &&
		port->held[port->handed_out[port->first_handed_out]].kind == HELD_NOT)
		port->first_handed_out++;
}

/* Whose flow it has, an atomic one; or an ordered one that is marked. */
static inline struct lane *
held_lane(const struct builtin *builtin, const struct held *held)
{
	if (likely((held->flags & HELD_BY_WORD) == 0) || held->kind == HELD_ORDERED)
		return held->lane;
	return event_lane(builtin, held->word, RTE_SCHED_TYPE_ATOMIC);
}

/* By its port, of what is marked: it is not held by word any more. */
static inline void
held_by_lane(const struct builtin *builtin, struct held *held)
{
	held->lane = held_lane(builtin, held);
	held->flags &= (uint8_t)~HELD_BY_WORD;
}

static inline void
port_forget(struct builtin_port *port, uint8_t number)
{
	unsigned int nb_held = port->nb_held;

	held_end(&port->held[number]);
	port->free[(uint8_t)(port->next_free - nb_held)] = number;
	port_set_held(port, nb_held - 1u);
}

/* The event of this word, as its user has it? */
static inline bool
port_holds(const struct builtin_port *port, uint64_t word)
{
	const struct held *held = &port->held[word_opaque(word)];

	return held->kind != HELD_NOT && word_is_of(word, port->holder);
}

#endif
