/* SPDX-License-Identifier: BSD-3-Clause */

#include "level.h"

static unsigned int
priority_of(uint8_t priority)
{
	return priority == WEIR_SCHED_PRIORITY_BY_EVENT ? LEVEL_MIXED : priority;
}

unsigned int
levels_of_queues(const struct weir_sched *sched)
{
	uint32_t priorities = 0;

	for (unsigned int queue = 0; queue < sched->config.nb_queues; queue++)
		priorities |= 1u << priority_of(sched->queues[queue].priority);
	return (unsigned int)__builtin_popcount(priorities);
}

/* From the second one on they are looked at as several priorities are, also where it is another one only by what queues leave to their events. */
uint8_t
level_use(struct builtin *builtin, uint8_t priority)
{
	const unsigned int of = priority_of(priority);
	uint64_t levels = levels_used(builtin);
	unsigned int level;

	do {
		for (level = 0; levels >> LEVEL_BITS * level != 0; level++)
			if (level_priority(levels, level) == of)
				return (uint8_t)level;
	} while (!__atomic_compare_exchange_n(&builtin->levels, &levels,
		levels | (uint64_t)(of + 1) << LEVEL_BITS * level, false, __ATOMIC_ACQ_REL,
		__ATOMIC_ACQUIRE));
	if (level > 0)
		priority_use(builtin, LEVEL_MIXED);
	return (uint8_t)level;
}
