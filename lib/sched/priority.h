/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_PRIORITY_H
#define SCHED_PRIORITY_H

/* Which priorities are used. Where there is only one, and nobody sleeps, most ways are short. */

#include "builtin.h"

/*
 * builtin->priorities_used: a bit for each priority, one for several levels (level.c), and what is asked for with each event, so that it is one
 * comparison: ports may sleep; several are used.
 */
#define USED_SLEEP   (UINT32_C(1) << 30)
#define USED_SEVERAL (UINT32_C(1) << 31)

/* look.c: it is of a priority that was not used before */
void priority_use(struct builtin *builtin, uint8_t priority);

static inline void
note_priority(struct builtin *builtin, uint8_t priority)
{
	if ((__atomic_load_n(&builtin->priorities_used, __ATOMIC_RELAXED) >> priority & 1) == 0)
		priority_use(builtin, priority);
}

static inline bool
has_several_priorities(const struct builtin *builtin)
{
	return __atomic_load_n(&builtin->priorities_used, __ATOMIC_RELAXED) >= USED_SEVERAL;
}

/* Ports that have nothing to do. */
static inline bool
may_sleep(const struct builtin *builtin)
{
	return (__atomic_load_n(&builtin->priorities_used, __ATOMIC_RELAXED) & USED_SLEEP) != 0;
}

/* There is one priority, and nobody sleeps: all that matters is in a shard's rings and lists. */
static inline bool
has_short_ways(const struct builtin *builtin)
{
	return __atomic_load_n(&builtin->priorities_used, __ATOMIC_RELAXED) < USED_SLEEP;
}

/* Who publishes tells of which priority it was: where these are strict, somebody may have to come for it at once. */
static inline bool
tells_priorities(const struct builtin *builtin)
{
	return has_several_priorities(builtin) && builtin->slack == 0;
}

#endif
