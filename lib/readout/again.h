/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_AGAIN_H
#define READOUT_AGAIN_H

/* Before another look at what some thread is about to finish: a moment of its work; where it has lost its processor, this one. */

#include <sched.h>
#include <stdint.h>

#include <rte_pause.h>

#define AGAIN_LOOKS_MAX 1000

/* @param looks  so far; 0 before the first */
static inline void
look_again(uint32_t *looks)
{
	if (++*looks < AGAIN_LOOKS_MAX)
		rte_pause();
	else
		sched_yield();
}

#endif
