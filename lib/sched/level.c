/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "level.h"

/* builtin->levels: of each level that is in use its priority, plus one, from the lowest bits on. */
#define LEVEL_BITS 4

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

void
levels_reset(struct builtin *builtin)
{
	builtin->levels = 0;
	memset(builtin->level_bits, 0, sizeof(builtin->level_bits));
	memset(builtin->level_of, LEVEL_NONE, sizeof(builtin->level_of));
}

/* The number of a priority's level: the next one, if it has none. */
static unsigned int
number(struct builtin *builtin, unsigned int priority)
{
	uint64_t levels = __atomic_load_n(&builtin->levels, __ATOMIC_ACQUIRE), more;
	unsigned int level;

	do {
		for (level = 0; levels >> LEVEL_BITS * level != 0; level++)
			if ((levels >> LEVEL_BITS * level & 15) == priority + 1)
				return level;
		more = (uint64_t)(priority + 1) << LEVEL_BITS * level;
	} while (!__atomic_compare_exchange_n(&builtin->levels, &levels, levels | more, false,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	return level;
}

/*
 * Whoever uses it first says what it is: all of them, as none of them waits for another one. From the second level on they are looked at as
 * several priorities are, also where it is another one only by what queues leave to their events.
 */
void
level_use(struct builtin *builtin, struct queue_info *queue)
{
	const unsigned int priority = priority_of(queue->priority);
	const unsigned int level = number(builtin, priority);
	const uint32_t bit = 1u << priority;

	__atomic_store_n(&builtin->level_bits[level], (uint16_t)bit, __ATOMIC_RELAXED);
	__atomic_store_n(&builtin->level_of[priority], (uint8_t)level, __ATOMIC_RELAXED);
	__atomic_store_n(&queue->level, (uint8_t)level, __ATOMIC_RELAXED);
	__atomic_store_n(
		&queue->sends, (bit & UINT8_MAX) | 1u << (SENT_LEVELS + level), __ATOMIC_RELAXED);
	if (level > 0)
		note_priority(builtin, LEVEL_MIXED);
}

bool
levels_may_stay(const struct builtin *builtin)
{
	const struct weir_sched *sched = builtin->sched;
	uint64_t all = 0;

	for (unsigned int queue = 0; queue < sched->config.nb_queues; queue++)
		all |= (uint64_t)1 << sched->queues[queue].group;
	for (unsigned int i = 0; i < sched->config.nb_ports; i++)
		if (!sched->ports_config[i].producer && (all & ~builtin->port_groups[i]) != 0)
			return false;
	return sched->config.starvation_bound == 0;
}
