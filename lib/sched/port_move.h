/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_PORT_MOVE_H
#define SCHED_PORT_MOVE_H

/* What a port knows of flows that go from one shard to another: see move.c, gather.c. */

#include <stdbool.h>
#include <stdint.h>

/* Flows that go to another shard: of a class, from one; or all that were divided to one, from wherever they are. */
struct move_flows {
	uint8_t class, from;
	uint8_t of; /* MOVE_OF_ANY: the former */
};

#define MOVE_OF_ANY UINT8_MAX

/* What a port knows of moves, the one that it makes, and what it remembers of events that it took over. */
struct port_move {
	uint32_t open; /* builtin->move when it said last that nothing is to be moved */
	uint32_t
		answered; /* as far as it does what that says; 0: it was never asked. The mover reads it */
	uint32_t is_inside;      /* its thread puts in something just now. The mover reads it */
	uint32_t own;            /* as it was when this port asked; 0: it did not */
	uint16_t by_lock;        /* whose events are put in under the lock, and 1; 0: none */
	struct move_flows flows; /* that it asked for */
	uint8_t nb_tries;
	bool is_fenced;    /* since it asked */
	uint8_t nb_taken;  /* of the next ones */
	uint8_t taken[32]; /* classes of events that it took over, the last ones */
};

/* Which flows a port has come to its home shard from those of ports that do not come, and from others when it comes again: gather.c. */
struct port_gather {
	uint64_t wanted; /* shards whose flows, as they were divided, are to be at its home one */
	uint64_t left;   /* of these: not all of theirs could be had lately */
	uint64_t at;     /* cycles: not before */
	uint8_t shard;   /* whose were asked for, */
	bool is_asked;   /* if any were */
};

#endif
