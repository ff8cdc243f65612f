/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_SPIN_H
#define SCHED_SPIN_H

/* While another thread is waited for, which may have lost its CPU, where there are fewer of these than threads. */

#include <sched.h>

#include <rte_pause.h>

#define SPINS 1000

/* Once more: @spins counts them. */
static inline void
spin(unsigned int *spins)
{
	if (++*spins % SPINS == 0)
		sched_yield();
	else
		rte_pause();
}

#endif
