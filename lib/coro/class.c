/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Classes of coroutines: their blocks, who has which, and what is counted.
 *
 *      class: blocks never used | list of free ones          under the class' lock
 *                    \             /      ^
 *                     v           v       |  half a cache at a time
 *      thread:          list of free ones                    no lock: the thread's own
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "coro_private.h"

struct coro_class coro_classes[CORO_CLASSES_MAX];
unsigned int coro_nb_classes;

/* Of each thread that created or destroyed any: freed when it ends. */
static __thread struct coro_cache *caches[CORO_CLASSES_MAX];
static pthread_key_t thread_key;
static unsigned int epoch; /* weir_coro_init() so far: caches of an earlier one are not ours */
static __thread unsigned int thread_epoch;

struct weir_coro *
coro_handle(const struct weir_coro_block *block)
{
	return (struct weir_coro *)((uintptr_t)block | (uintptr_t)(block->word >> 16) << 48);
}

struct weir_coro_block *
coro_block_checked(const struct weir_coro *coro)
{
	struct weir_coro_block *block = weir_coro_block_of(coro);
	uint32_t word;

	if (block == NULL)
		return NULL;
	word = __atomic_load_n(&block->word, __ATOMIC_ACQUIRE);
	if (word >> 16 != (uintptr_t)coro >> 48 || (word & 0xffff) == WEIR_CORO_STATE_FREE)
		return NULL;
	return block;
}

/* Move up to @nb blocks from one list to another. @return how many */
static unsigned int
list_move(struct coro_list *to, struct coro_list *from, unsigned int nb)
{
	unsigned int moved;

	for (moved = 0; moved < nb && from->first != NULL; moved++) {
		struct weir_coro_block *block = from->first;

		from->first = block->next_free;
		block->next_free = to->first;
		to->first = block;
	}
	from->nb -= moved;
	to->nb += moved;
	return moved;
}

/* A block that no coroutine has had yet. */
static struct weir_coro_block *
fresh_block(struct coro_class *class)
{
	struct weir_coro_block *block;
	size_t index = class->nb_fresh;
	int rc;

	if (index == class->memory.nb)
		return NULL;
	rc = coro_memory_prepare(&class->memory, index);
	if (rc < 0) {
		CORO_LOG(ERROR, "class %u: no guard below stack %zu: %s", class->id, index,
			strerror(-rc));
		return NULL;
	}
	class->nb_fresh++;
	block = &class->blocks[index];
	block->stack = coro_memory_stack(&class->memory, index);
	block->top = coro_memory_top(&class->memory, index);
	block->params = coro_memory_params(&class->memory, index);
	block->class_id = class->id;
	block->id = class->first_id + (uint32_t)index;
	block->fp_control = class->param.fp_control;
	return block;
}

static void
cache_flush(struct coro_class *class, struct coro_cache *cache, unsigned int nb)
{
	pthread_mutex_lock(&class->lock);
	list_move(&class->free, &cache->free, nb);
	pthread_mutex_unlock(&class->lock);
}

/* A thread ends: what it kept is for others, what it counted stays in the totals. */
static void
thread_ends(void *arg)
{
	if (thread_epoch != epoch)
		return;
	for (unsigned int c = 0; c < CORO_CLASSES_MAX; c++) {
		struct coro_class *class = &coro_classes[c];
		struct coro_cache *cache = caches[c], **link;

		if (cache == NULL)
			continue;
		cache_flush(class, cache, UINT32_MAX);
		pthread_mutex_lock(&class->lock);
		coro_counts_add(&class->ended, &cache->counts);
		for (link = &class->caches; *link != cache; link = &(*link)->next)
			;
		*link = cache->next;
		pthread_mutex_unlock(&class->lock);
		free(cache);
		caches[c] = NULL;
	}
}

struct coro_cache *
coro_cache_of(struct coro_class *class)
{
	struct coro_cache *cache;

	if (thread_epoch != epoch) {
		memset(caches, 0, sizeof(caches));
		thread_epoch = epoch;
		pthread_setspecific(thread_key, caches);
	}
	cache = caches[class->id];
	if (cache != NULL)
		return cache;
	if (posix_memalign((void **)&cache, 64, sizeof(*cache)) != 0)
		return NULL;
	memset(cache, 0, sizeof(*cache));
	pthread_mutex_lock(&class->lock);
	cache->next = class->caches;
	class->caches = cache;
	pthread_mutex_unlock(&class->lock);
	caches[class->id] = cache;
	return cache;
}

/* From the class into the thread's cache: half of what it may keep, at least one. */
static void
cache_refill(struct coro_class *class, struct coro_cache *cache)
{
	unsigned int want = class->param.cache_size / 2 + 1;
	struct weir_coro_block *block;
	uint64_t out;

	pthread_mutex_lock(&class->lock);
	want -= list_move(&cache->free, &class->free, want);
	for (; want > 0 && (block = fresh_block(class)) != NULL; want--) {
		block->next_free = cache->free.first;
		cache->free.first = block;
		cache->free.nb++;
	}
	out = class->nb_fresh - class->free.nb;
	class->peak = out > class->peak ? out : class->peak;
	pthread_mutex_unlock(&class->lock);
}

struct weir_coro_block *
coro_block_get(struct coro_class *class)
{
	struct coro_cache *cache = coro_cache_of(class);
	struct weir_coro_block *block;

	if (cache == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	if (cache->free.first == NULL)
		cache_refill(class, cache);
	block = cache->free.first;
	if (block == NULL) {
		errno = EAGAIN;
		return NULL;
	}
	cache->free.first = block->next_free;
	cache->free.nb--;
	coro_count(&cache->counts.created, 1);
	return block;
}

/* Its handles are stale from here on. */
void
coro_block_put(struct coro_class *class, struct weir_coro_block *block)
{
	struct coro_cache *cache = coro_cache_of(class);
	uint32_t generation = (block->word >> 16) + 1;

	__atomic_store_n(&block->word, generation << 16 | WEIR_CORO_STATE_FREE, __ATOMIC_RELEASE);
	if (cache == NULL) { /* no memory for a cache: straight to the class */
		pthread_mutex_lock(&class->lock);
		block->next_free = class->free.first;
		class->free.first = block;
		class->free.nb++;
		class->ended.destroyed++;
		class->ended.switches += block->resumes;
		pthread_mutex_unlock(&class->lock);
		return;
	}
	block->next_free = cache->free.first;
	cache->free.first = block;
	cache->free.nb++;
	coro_count(&cache->counts.destroyed, 1);
	coro_count(&cache->counts.switches, block->resumes);
	if (cache->free.nb > class->param.cache_size)
		cache_flush(class, cache, class->param.cache_size / 2 + 1);
}

static int
param_check(const struct weir_coro_class_param *param)
{
	if (param->stack_size < WEIR_CORO_STACK_MIN || param->max_coroutines == 0 ||
		param->max_coroutines > UINT32_MAX / 2 ||
		param->cache_size > param->max_coroutines ||
		param->max_in_param_size > CORO_PARAM_MAX ||
		param->max_out_param_size > CORO_PARAM_MAX) {
		CORO_LOG(ERROR,
			"a class needs a stack of %u bytes or more, coroutines, a cache of no more "
			"than these, and parameters of at most %u bytes",
			WEIR_CORO_STACK_MIN, CORO_PARAM_MAX);
		return -EINVAL;
	}
	return 0;
}

static int
class_add(const struct weir_coro_class_param *param)
{
	struct coro_class *class = &coro_classes[coro_nb_classes];
	int rc = param_check(param);

	if (rc < 0)
		return rc;
	memset(class, 0, sizeof(*class));
	class->param = *param;
	class->id = coro_nb_classes;
	if (coro_nb_classes > 0)
		class->first_id = class[-1].first_id + (uint32_t) class[-1].memory.nb;
	rc = coro_memory_init(&class->memory, param->stack_size,
		coro_param_round(param->max_in_param_size) +
			coro_param_round(param->max_out_param_size),
		param->max_coroutines, param->guard, param->socket_id);
	if (rc < 0)
		return rc;
	/* Taken when touched, like the stacks. */
	class->blocks = mmap(NULL, class->memory.nb * sizeof(*class->blocks),
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (class->blocks == MAP_FAILED) {
		coro_memory_fini(&class->memory);
		return -ENOMEM;
	}
	pthread_mutex_init(&class->lock, NULL);
	return (int)coro_nb_classes++;
}

int
weir_coro_class_add(const struct weir_coro_class_param *param)
{
	if (coro_nb_classes == 0) {
		CORO_LOG(ERROR, "a class before weir_coro_init()");
		return -EINVAL;
	}
	if (coro_nb_classes == CORO_CLASSES_MAX)
		return -ENOSPC;
	return class_add(param);
}

int
weir_coro_init(size_t stack_size, size_t max_in_param_size, size_t max_out_param_size,
	size_t max_coroutines, uint64_t default_time_slice, unsigned int mempool_cache_size,
	int socket_id)
{
	const struct weir_coro_class_param param = {
		.stack_size = stack_size,
		.max_in_param_size = max_in_param_size,
		.max_out_param_size = max_out_param_size,
		.max_coroutines = max_coroutines,
		.time_slice = default_time_slice,
		.cache_size = mempool_cache_size,
		.socket_id = socket_id,
	};
	int rc;

	if (coro_nb_classes > 0)
		return -EALREADY;
	if (epoch == 0 && pthread_key_create(&thread_key, thread_ends) != 0)
		return -ENOMEM;
	epoch++;
	coro_misuse_reset();
	coro_slice_init();
	rc = class_add(&param);
	return rc < 0 ? rc : 0;
}

static void
class_free(struct coro_class *class)
{
	struct coro_cache *cache, *next;

	for (cache = class->caches; cache != NULL; cache = next) {
		next = cache->next;
		free(cache);
	}
	munmap(class->blocks, class->memory.nb * sizeof(*class->blocks));
	coro_memory_fini(&class->memory);
	pthread_mutex_destroy(&class->lock);
}

void
weir_coro_cleanup(void)
{
	struct weir_coro_class_stats stats;
	uint64_t alive = 0;

	for (unsigned int c = 0; c < coro_nb_classes; c++) {
		weir_coro_class_look(c, &stats);
		alive += stats.live;
	}
	if (alive > 0)
		CORO_LOG(WARNING, "%" PRIu64 " coroutines were alive and are gone", alive);
	for (unsigned int c = 0; c < coro_nb_classes; c++) {
		coro_tools_forget(&coro_classes[c]);
		class_free(&coro_classes[c]);
	}
	coro_nb_classes = 0;
	epoch++; /* what threads kept was freed here */
}
