/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_PORT_MOVE_H
#define SCHED_PORT_MOVE_H

/* What a port knows of flows that go from one shard to another: see move.c, gather.c; and of other shards, from which some may: help.c, balance.c. */

#include <stdbool.h>
#include <stdint.h>

/* Flows that go to another shard: of a class, from one; or all that were divided to one, from wherever they are. */
struct move_flows {
	uint8_t class, from;
	uint8_t of; /* MOVE_OF_ANY: the former */
};

#define MOVE_OF_ANY UINT8_MAX

/* What a port knows of moves, and the one that it makes. */
struct port_move {
	uint32_t open; /* builtin->move when it said last that nothing is to be moved */
	uint32_t
		answered; /* as far as it does what that says; 0: it was never asked. The mover reads it */
	uint32_t is_inside;      /* its thread puts in something just now. The mover reads it */
	uint32_t own;            /* as it was when this port asked; 0: it did not */
	uint16_t by_lock;        /* whose events are put in under the lock, and 1; 0: none */
	struct move_flows flows; /* that it asked for */
	uint8_t nb_tries;
	bool is_fenced; /* since it asked */
};

/* Which flows a port has come to its home shard from those of ports that do not come, and from others when it comes again: gather.c. */
struct port_gather {
	uint64_t wanted; /* shards whose flows, as they were divided, are to be at its home one */
	uint64_t left;   /* of these: not all of theirs could be had lately */
	uint64_t at;     /* cycles: not before */
	uint8_t shard;   /* whose were asked for, */
	bool is_asked;   /* if any were */
};

struct shard;

/* What a port did by some time. */
struct done {
	uint64_t idle_time; /* cycles: it had nothing to do */
	uint64_t nb_dequeued, nb_stolen;
};

/* What a shard's owner did by the time when a port compared itself with that for the nb-th time. */
struct compared {
	struct done done;
	uint32_t nb, owner;
	uint32_t nb_stolen; /* so often did others take events of the shard over by then */
	uint32_t nb_vain;   /* so often, in a row, nothing came of it that its flows were wanted, */
	uint32_t vain_until; /* which they are not until this comparison */
};

/* What a port saw of another one's shard. */
struct seen {
	uint64_t at; /* cycles: since when it has not been polled */
	uint32_t nb_polls, nb_taken;
	uint32_t nb_quiet;         /* looks that saw nothing there, in a row */
	uint32_t nb_absent;        /* looks since then, */
	uint64_t absent_from;      /* cycles: of which the first one was then */
	uint32_t polls_for_higher; /* nb_polls when it was looked for what is of higher priority */
	uint64_t look_at;          /* cycles: not before */
	uint64_t help_at;          /* cycles: not before, unless its owner is away */
	uint64_t between;          /* cycles between two polls, when it was seen to come last */
	bool is_slow;              /* its events took long then */
	bool of_flows;             /* what was taken over from there last */
	struct compared compared;
	uint32_t nb_helped; /* so often were events taken over from there */
};

/* How long it had nothing to do, and how it compares: balance.c. */
struct port_balance {
	uint64_t empty_at;    /* cycles: when it found nothing last, */
	uint64_t nb_dequeued; /* and had had so many events by then */
	uint64_t at;          /* cycles: when it compared itself with others last, */
	uint32_t nb;          /* for the nb-th time; */
	uint32_t nb_moves;    /* builtin->nb_moves then, and by what moved to itself since, */
	struct done done;     /* what it had done by then, */
	uint64_t nb_moved;    /* and how many classes had come to it; */
	struct shard *from;   /* whose owner was the busiest then, or NULL, */
	uint32_t nb_periods;  /* and in so many comparisons before, in a row; */
	double part; /* of what that one did, what is still to come to this port, 0: nothing; */
	uint64_t acted_at; /* cycles: when an event was taken over for that last */
	uint32_t
		nb_refused; /* attempts of which nothing came, as a class had more than that by itself */
	bool has_tried; /* since it compared itself */
};

#endif
