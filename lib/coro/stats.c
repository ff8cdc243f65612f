/* SPDX-License-Identifier: BSD-3-Clause */

/* What a class is like: counters of threads summed, and a look at its coroutines. */

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
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
	into->most += of(&from->most);
	into->switches += of(&from->switches);
	into->overruns += of(&from->overruns);
	add_slices(&into->slices, &from->slices);
}

/* Whose writers do not bother with atomic instructions for one who looks now and then. */
LOOK_ANYWAY static uint64_t
plainly(const volatile uint64_t *counter)
{
	return *counter;
}

/* Of all threads' counters of a kind, under the class' lock; what others count before is looked at after it. */
static uint64_t
sum(const struct coro_class *class, size_t offset)
{
	uint64_t total = of((const uint64_t *)((const char *)&class->ended + offset));

	for (const struct coro_cache *cache = class->caches; cache != NULL; cache = cache->next)
		total += plainly((const uint64_t *)((const char *)&cache->counts + offset));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return total;
}
#define SUM(class, counter) sum(class, offsetof(struct coro_counts, counter))

/* Of the first @nb blocks, those in use. Blocks may be a million, for which nobody is kept waiting: without the class' lock. */
static uint64_t
switches_of_blocks(const struct coro_class *class, size_t nb)
{
	uint64_t switches = 0;

	for (size_t i = 0; i < nb; i++) {
		const struct weir_coro_block *block = &class->blocks[i];

		if ((__atomic_load_n(&block->word, __ATOMIC_ACQUIRE) & 0xffff) !=
			WEIR_CORO_STATE_FREE)
			switches += plainly(&block->resumes);
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* as sum() */
	return switches;
}

#define LOOKS_MAX 16 /* at counters that go on counting */

/*
 * Under the class' lock. What must have happened later is read first: nobody is seen destroyed who is not seen created. Who looks may
 * lose its CPU, and any number may come and go meanwhile: not in each look.
 */
static void
count_lives(const struct coro_class *class, struct weir_coro_class_stats *stats)
{
	uint64_t fewest = UINT64_MAX;

	for (unsigned int looks = 0; looks < LOOKS_MAX && fewest > 0; looks++) {
		uint64_t destroyed = SUM(class, destroyed), exited = SUM(class, exited);
		uint64_t created = SUM(class, created);
		uint64_t meanwhile = SUM(class, destroyed) - destroyed;

		if (meanwhile >= fewest)
			continue;
		fewest = meanwhile;
		stats->destroyed = destroyed;
		stats->exited = exited;
		stats->created = created;
	}
}

/* A look at all blocks takes their lines from those who run: the second one finds what the first one missed, as a rule. */
#define LOOKS_AT_BLOCKS_MAX 3

/*
 * Switches move from blocks to counters when their coroutine is destroyed, and can be seen in neither, never in both: the most that was
 * seen is the truest. Where none was destroyed meanwhile all were, but those of one of each thread that is just moved. @nb: blocks that were
 * ever used.
 */
static uint64_t
count_switches(struct coro_class *class, size_t *nb)
{
	uint64_t most = 0, switches, destroyed, before;

	pthread_mutex_lock(&class->lock);
	destroyed = SUM(class, destroyed);
	for (unsigned int looks = 0; looks < LOOKS_AT_BLOCKS_MAX; looks++) {
		before = destroyed;
		switches = SUM(class, switches);
		*nb = class->nb_fresh;
		pthread_mutex_unlock(&class->lock);
		switches += switches_of_blocks(class, *nb);
		most = switches > most ? switches : most;
		pthread_mutex_lock(&class->lock);
		destroyed = SUM(class, destroyed);
		if (destroyed == before)
			break;
	}
	pthread_mutex_unlock(&class->lock);
	return most;
}

/* Others go on counting meanwhile: what was told once is not taken back. */
size_t
coro_class_count(struct coro_class *class, struct weir_coro_class_stats *stats)
{
	uint64_t most, live, switches;
	size_t nb;

	switches = count_switches(class, &nb);
	pthread_mutex_lock(&class->lock);
	class->switches = switches > class->switches ? switches : class->switches;
	stats->switches = class->switches;
	stats->overruns = SUM(class, overruns);
	count_lives(class, stats);
	/* Neither is less than the truth. */
	most = SUM(class, most);
	stats->peak = most < class->most_out ? most : class->most_out;
	/* Any number may have come and gone since the destroyed ones were counted. */
	live = stats->created - stats->destroyed;
	stats->live = live < stats->peak ? live : stats->peak;
	pthread_mutex_unlock(&class->lock);
	return nb;
}

void
coro_class_look(struct coro_class *class, struct weir_coro_class_stats *stats,
	struct weir_base_hist *stacks)
{
	size_t nb;

	*stats = (struct weir_coro_class_stats){
		.stack_size = class->memory.stack_bytes,
		.guard = __atomic_load_n(&class->memory.weakest, __ATOMIC_RELAXED),
		.max = class->param.max_coroutines,
	};
	nb = coro_class_count(class, stats);
	stats->resident = coro_memory_scan(&class->memory, nb, stacks);
	stats->high_water = __atomic_load_n(&class->memory.high_water, __ATOMIC_RELAXED);
}

int
weir_coro_class_look(unsigned int class_id, struct weir_coro_class_stats *stats)
{
	struct weir_base_hist *stacks;

	if (class_id >= coro_nb_classes || stats == NULL)
		return -EINVAL;
	stacks = malloc(sizeof(*stacks)); /* too much for a small stack */
	if (stacks == NULL)
		return -ENOMEM;
	coro_class_look(&coro_classes[class_id], stats, stacks);
	free(stacks);
	return 0;
}

int
weir_coro_class_stacks(unsigned int class_id, struct weir_base_hist *bytes)
{
	struct weir_coro_class_stats stats;

	if (class_id >= coro_nb_classes || bytes == NULL)
		return -EINVAL;
	coro_class_look(&coro_classes[class_id], &stats, bytes);
	return 0;
}

int
weir_coro_class_slices(unsigned int class_id, struct weir_base_hist *cycles)
{
	struct coro_class *class;

	if (class_id >= coro_nb_classes || cycles == NULL)
		return -EINVAL;
	class = &coro_classes[class_id];
	memset(cycles, 0, sizeof(*cycles));
	pthread_mutex_lock(&class->lock);
	add_slices(cycles, &class->ended.slices);
	for (const struct coro_cache *cache = class->caches; cache != NULL; cache = cache->next)
		add_slices(cycles, &cache->counts.slices);
	pthread_mutex_unlock(&class->lock);
	/* A look at the class after this finds their switches. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
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
	struct coro_class *class;

	if (block == NULL)
		return 0;
	class = &coro_classes[block->class_id];
	return coro_memory_high_water(&class->memory, (size_t)(block - class->blocks));
}

/* So few at a time: who finds nothing else waits for them. */
#define TRIM_NB 16

static size_t
trim_listed(struct coro_class *class, const struct coro_list *list)
{
	size_t indices[TRIM_NB], nb = 0;

	for (const struct weir_coro_block *block = list->first; block != NULL;
		block = block->next_free)
		indices[nb++] = (size_t)(block - class->blocks);
	return coro_memory_trim_some(&class->memory, indices, nb);
}

/* Some free ones, @most at most. @return how many; their bytes are added */
static unsigned int
trim_some(struct coro_class *class, unsigned int most, size_t *bytes)
{
	unsigned int nb;

	pthread_mutex_lock(&class->trim_lock);
	pthread_mutex_lock(&class->lock);
	nb = coro_list_move(&class->trimming, &class->free, most < TRIM_NB ? most : TRIM_NB);
	pthread_mutex_unlock(&class->lock);
	*bytes += trim_listed(class, &class->trimming);
	pthread_mutex_lock(&class->lock);
	coro_list_move(&class->trimmed, &class->trimming, nb);
	pthread_mutex_unlock(&class->lock);
	pthread_mutex_unlock(&class->trim_lock);
	return nb;
}

size_t
weir_coro_trim(unsigned int class_id)
{
	struct coro_class *class;
	unsigned int left, nb;
	size_t bytes = 0;

	if (class_id >= coro_nb_classes)
		return 0;
	class = &coro_classes[class_id];
	coro_caches_empty(class);
	pthread_mutex_lock(&class->lock);
	left = class->free.nb;
	pthread_mutex_unlock(&class->lock);
	/* No more than there were: others may put some there all the time. */
	for (; left > 0; left -= nb) {
		nb = trim_some(class, left, &bytes);
		if (nb == 0)
			break;
	}
	return bytes;
}
