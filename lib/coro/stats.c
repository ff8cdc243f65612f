/* SPDX-License-Identifier: BSD-3-Clause */

/* What a class is like: counters of threads summed, and a look at its coroutines. */

#include <errno.h>

#include "coro_private.h"

void
coro_counts_add(struct coro_counts *into, const struct coro_counts *from)
{
	into->created += __atomic_load_n(&from->created, __ATOMIC_RELAXED);
	into->exited += __atomic_load_n(&from->exited, __ATOMIC_RELAXED);
	into->destroyed += __atomic_load_n(&from->destroyed, __ATOMIC_RELAXED);
	into->switches += __atomic_load_n(&from->switches, __ATOMIC_RELAXED);
}

static void
look_at_blocks(const struct coro_class *class, struct weir_coro_class_stats *stats)
{
	for (size_t i = 0; i < class->nb_fresh; i++) {
		const struct weir_coro_block *block = &class->blocks[i];
		size_t high = coro_memory_high_water(&class->memory, i);

		if ((__atomic_load_n(&block->word, __ATOMIC_ACQUIRE) & 0xffff) !=
			WEIR_CORO_STATE_FREE)
			stats->switches += __atomic_load_n(&block->resumes, __ATOMIC_RELAXED);
		stats->high_water = high > stats->high_water ? high : stats->high_water;
		stats->resident += high;
	}
}

int
weir_coro_class_look(unsigned int class_id, struct weir_coro_class_stats *stats)
{
	struct coro_class *class;
	struct coro_counts counts;

	if (class_id >= coro_nb_classes)
		return -EINVAL;
	class = &coro_classes[class_id];
	*stats = (struct weir_coro_class_stats){
		.stack_size = class->memory.stack_bytes,
		.guard = class->memory.guard,
		.max = class->param.max_coroutines,
	};
	pthread_mutex_lock(&class->lock);
	counts = class->ended;
	for (const struct coro_cache *cache = class->caches; cache != NULL; cache = cache->next)
		coro_counts_add(&counts, &cache->counts);
	stats->peak = class->peak;
	pthread_mutex_unlock(&class->lock);
	stats->created = counts.created;
	stats->exited = counts.exited;
	stats->destroyed = counts.destroyed;
	stats->live = counts.created - counts.destroyed;
	stats->switches = counts.switches;
	look_at_blocks(class, stats);
	return 0;
}

size_t
weir_coro_high_water(struct weir_coro *coro)
{
	const struct weir_coro_block *block = coro_block_checked(coro);
	const struct coro_class *class;

	if (block == NULL)
		return 0;
	class = &coro_classes[block->class_id];
	return coro_memory_high_water(&class->memory, (size_t)(block - class->blocks));
}

size_t
weir_coro_trim(unsigned int class_id)
{
	struct coro_class *class;
	size_t bytes = 0;

	if (class_id >= coro_nb_classes)
		return 0;
	class = &coro_classes[class_id];
	/* Blocks in the class' list are idle, and stay so under its lock; those in threads' caches are left alone. */
	pthread_mutex_lock(&class->lock);
	for (const struct weir_coro_block *block = class->free.first; block != NULL;
		block = block->next_free)
		bytes += coro_memory_trim(&class->memory, (size_t)(block - class->blocks));
	pthread_mutex_unlock(&class->lock);
	return bytes;
}
