/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_ENDING_H
#define SCHED_ENDING_H

/*
 * What a port gives up with a call: events that go on, or are released. It is not held from here on; the flow that it was of, its place
 * there, its credit and its number are given back at the end of the call, when what it became can be seen.
 */

#include "held.h"

/* ending.c */
void ending_give_up(struct builtin_port *port);

/* So many numbers were written behind the others, of what was held so. @how: of them, and HELD_FORWARDED or not */
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
	struct port_ending *ending = &port->ending;
	struct held *held = &port->held[number];

	ending->numbers[ending->nb] = number;
	ending_note(ending, held->how | held_how(0, 0, flags), 1);
	held->how = HELD_NOT;
}

#endif
