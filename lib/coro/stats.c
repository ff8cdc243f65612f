/* SPDX-License-Identifier: BSD-3-Clause */

/* What a class is like: counters of threads summed, and a look at its coroutines. */

#include <errno.h>
#include <string.h>

#include "coro_private.h"

static uint64_t
of(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void
add_slices(struct weir_base_hist *into, const struct weir_base_hist *from)
{
	uint64_t max = of(&from->max);

	for (unsigned int i = 0; i < WEIR_BASE_HIST_BUCKETS; i++)
		coro_count(&into->bucket[i], of(&from->bucket[i]));
	coro_count(&into->sum, of(&from->sum));
	into->max = max > into->max ? max : into->max;
}

void
coro_counts_add(struct coro_counts *into, const struct coro_counts *from)
{
	into->created += of(&from->created);
	into->exited += of(&from->exited);
	into->destroyed += of(&from->destroyed);
	into->switches += of(&from->switches);
	into->overruns += of(&from->overruns);
	add_slices(&into->slices, &from->slices);
}

static void
look_at_counts(struct weir_coro_class_stats *stats, const struct coro_counts *counts)
{
	stats->created += of(&counts->created);
	stats->exited += of(&counts->exited);
	stats->destroyed += of(&counts->destroyed);
	stats->switches += of(&counts->switches);
	stats->overruns += of(&counts->overruns);
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

	if (class_id >= coro_nb_classes)
		return -EINVAL;
	class = &coro_classes[class_id];
	*stats = (struct weir_coro_class_stats){
		.stack_size = class->memory.stack_bytes,
		.guard = class->memory.guard,
		.max = class->param.max_coroutines,
	};
	pthread_mutex_lock(&class->lock);
	look_at_counts(stats, &class->ended);
	for (const struct coro_cache *cache = class->caches; cache != NULL; cache = cache->next)
		look_at_counts(stats, &cache->counts);
	stats->peak = class->peak;
	pthread_mutex_unlock(&class->lock);
	stats->live = stats->created - stats->destroyed;
	look_at_blocks(class, stats);
	return 0;
}

int
weir_coro_class_slices(unsigned int class_id, struct weir_base_hist *cycles)
{
	struct coro_class *class;

	if (class_id >= coro_nb_classes)
		return -EINVAL;
	class = &coro_classes[class_id];
	memset(cycles, 0, sizeof(*cycles));
	pthread_mutex_lock(&class->lock);
	add_slices(cycles, &class->ended.slices);
	for (const struct coro_cache *cache = class->caches; cache != NULL; cache = cache->next)
		add_slices(cycles, &cache->counts.slices);
	pthread_mutex_unlock(&class->lock);
	/* From the buckets, so that they agree however much was counted meanwhile. */
	for (unsigned int i = WEIR_BASE_HIST_BUCKETS; i-- > 0;) {
		cycles->count += cycles->bucket[i];
		if (cycles->bucket[i] > 0)
			cycles->min = weir_base_hist_bucket_low(i);
	}
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
