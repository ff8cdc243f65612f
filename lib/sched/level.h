/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_LEVEL_H
#define SCHED_LEVEL_H

/* By which of a sender's rings the events of a queue go: those of one priority by one. Levels are numbered as they come into use. */

#include "priority.h"

/* Instead of a priority: of queues that leave it to their events. */
#define LEVEL_MIXED WEIR_SCHED_PRIORITIES

/* Instead of a level. */
#define LEVEL_NONE UINT8_MAX

/* level.c */
void levels_reset(struct builtin *builtin);
unsigned int levels_of_queues(const struct weir_sched *sched);     /* how many may come into use */
void level_use(struct builtin *builtin, struct queue_info *queue); /* before its first event */
bool levels_may_stay(const struct builtin *builtin);               /* as groups are: may_stay() */

/* Its priority, as a bit. 0: it is not in use, as far as is known here. */
static inline uint32_t
level_bits(const struct builtin *builtin, unsigned int level)
{
	return __atomic_load_n(&builtin->level_bits[level], __ATOMIC_RELAXED);
}

/* By which rings the events of a queue that is in use go. */
static inline unsigned int
queue_level(const struct queue_info *queue)
{
	return __atomic_load_n(&queue->level, __ATOMIC_RELAXED);
}

/*
 * May what was looked at stay in the rings of its level? Where it is counted what is passed (starvation), or there is something that some port may
 * not have, it is to be seen in the lists what there is.
 */
static inline bool
may_stay(const struct builtin *builtin)
{
	return __atomic_load_n(&builtin->may_stay, __ATOMIC_RELAXED);
}

static inline uint8_t
level_of(const struct builtin *builtin, unsigned int priority)
{
	return __atomic_load_n(&builtin->level_of[priority], __ATOMIC_RELAXED);
}

#endif
