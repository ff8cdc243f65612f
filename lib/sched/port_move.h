/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_PORT_MOVE_H
#define SCHED_PORT_MOVE_H

/* What a port knows of flows that go from one shard to another: see move.c, gather.c. */

#include <stdbool.h>
#include <stdint.h>

/*
 * Flows that go to another shard: of a class, or of a run of them, from one; or all that were divided to one, from wherever they are. A run are
 * those classes that differ in the lowest bits only.
 */
struct move_flows {
	uint8_t class, from;
	uint8_t of;  /* MOVE_OF_ANY: the former */
	uint8_t run; /* bits by which classes may differ, MOVE_RUN_MAX at most */
};

#define MOVE_RUN_MAX 7

static inline uint32_t
move_first_of_run(uint32_t class, unsigned int run)
{
	return class >> run << run;
}

static inline bool
move_is_in_run(uint32_t class, uint32_t of, unsigned int run)
{
	return class >> run == of >> run;
}

#define MOVE_OF_ANY UINT8_MAX

/* What a port knows of moves, the one that it makes, and what it remembers of events that it took over. */
struct port_move {
	uint32_t open; /* builtin->move when it said last that nothing is to be moved */
	uint32_t
		answered; /* as far as it does what that says; 0: it was never asked. The mover reads it */
	uint32_t is_inside;      /* its thread puts in something just now. The mover reads it */
	uint32_t own;            /* as it was when this port asked; 0: it did not */
	uint16_t by_lock;        /* whose events are put in under the lock; 0: none's */
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

/* How long it had nothing to do: balance.c. */
struct port_balance {
	uint64_t empty_at;          /* cycles: when it found nothing last, */
	uint64_t nb_dequeued;       /* and had had so many events by then */
	uint64_t at;                /* cycles: when it compared itself with others last, */
	uint64_t idle_time;         /* and had been idle so long by then, */
	uint64_t nb_all, nb_stolen; /* and had had so many events, others' among them; */
	struct shard *from;         /* which one was busier then, or NULL, */
	unsigned int nb_periods;    /* and in so many before, in a row */
};

#endif
