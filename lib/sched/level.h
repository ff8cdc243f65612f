/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_LEVEL_H
#define SCHED_LEVEL_H

/* By which of a sender's rings the events of a queue go: those of one priority by one. Levels are numbered as they come into use. */

#include "builtin.h"

/* builtin->levels: of each level its priority, plus one, from the lowest bits on. */
#define LEVEL_BITS 4

/* Of those that leave it to their events. */
#define LEVEL_MIXED WEIR_SCHED_PRIORITIES

/* level.c */
unsigned int levels_of_queues(const struct weir_sched *sched); /* how many may come into use */
uint8_t level_use(struct builtin *builtin, uint8_t priority);  /* of a queue */

/* Those in use. Where there are several, there are several priorities, as far as has_several_priorities() can tell. */
static inline uint64_t
levels_used(const struct builtin *builtin)
{
	return __atomic_load_n(&builtin->levels, __ATOMIC_ACQUIRE);
}

static inline unsigned int
nb_levels_used(const struct builtin *builtin)
{
	const uint64_t levels = levels_used(builtin);

	return levels == 0 ? 0 : (63u - (unsigned int)__builtin_clzll(levels)) / LEVEL_BITS + 1;
}

static inline unsigned int
level_priority(uint64_t levels, unsigned int level)
{
	return (unsigned int)(levels >> LEVEL_BITS * level & ((1u << LEVEL_BITS) - 1)) - 1;
}

#endif
