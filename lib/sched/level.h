/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_LEVEL_H
#define SCHED_LEVEL_H

/* By which of a sender's rings the events of a queue go: those of one priority by one. Levels are numbered as they come into use. */

#include "builtin.h"

/* Instead of a priority: of queues that leave it to their events. */
#define LEVEL_MIXED WEIR_SCHED_PRIORITIES

/* Instead of a level. */
#define LEVEL_NONE UINT8_MAX

/* level.c */
void levels_reset(struct builtin *builtin);
unsigned int levels_of_queues(const struct weir_sched *sched);     /* how many may come into use */
void level_use(struct builtin *builtin, struct queue_info *queue); /* before its first event */

/* Its priority, as a bit. 0: it is not in use, and those after it are not, as far as is known here. */
static inline uint32_t
level_bits(const struct builtin *builtin, unsigned int level)
{
	return __atomic_load_n(&builtin->level_bits[level], __ATOMIC_RELAXED);
}

static inline uint8_t
level_of(const struct builtin *builtin, unsigned int priority)
{
	return __atomic_load_n(&builtin->level_of[priority], __ATOMIC_RELAXED);
}

#endif
