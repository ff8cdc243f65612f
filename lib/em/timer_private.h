/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TIMER_PRIVATE_H
#define TIMER_PRIVATE_H

/*
 *   timer.c          timers, and what they have counted
 *   timer_timeout.c  timeouts: armed, cancelled
 *   timer_poll.c     what is due is sent
 *   timer_lane.h     what they share
 */

#include "check.h"

#include "timer_lane.h"

struct timer {
	weir_em_timer handle; /* any; 0: there is none */
	uint32_t nb_timeouts; /* under em->lock */
	unsigned int shift;   /* a tick is so many cycles, log2 */
	char name[WEIR_EM_NAME_SIZE];
	struct timer_lane *lanes; /* of each core; kept for the next timer in this place */
};

/* Of each core, to itself. */
struct timer_core {
	uint64_t nb_idle; /* its empty rounds, as seen last */
	unsigned int nb_polls;
	unsigned int helped; /* core that it looked after last */
} EM_LINE;

struct timers {
	uint64_t active;        /* a bit for each timer; any */
	unsigned int nb_lanes;  /* of a timer */
	unsigned int next_lane; /* for who has none of its own; any */
	uint64_t help_cycles;   /* so late, and others see to it */
	unsigned int nb;
	struct timer *timers;
	struct timeout *timeouts;
	struct timer_core *cores;
	struct em_numbers timer_numbers, timeout_numbers; /* under em->lock */
};

static inline struct timers *
timers_of(const struct weir_em *em)
{
	return em != NULL ? (struct timers *)__atomic_load_n(&em->timers, __ATOMIC_ACQUIRE) : NULL;
}

/* The part of a handle that is in a timeout's word. */
static inline uint64_t
timeout_generation(weir_em_timeout handle)
{
	return handle >> 24 & UINT32_MAX;
}

/* Where a timeout of this handle is, or was; NULL with *error. */
static inline struct timeout *
timeout_of(const struct timers *timers, weir_em_timeout handle, int *error)
{
	*error = -EINVAL;
	if (timers != NULL)
		*error = em_handle_errno(handle, EM_KIND_TIMEOUT, timers->timeout_numbers.nb);
	return *error == -ESTALE ? &timers->timeouts[em_handle_number(handle)] : NULL;
}

/* em_poll_t */
void timers_poll(struct weir_em_core *core, void *arg);

#endif
