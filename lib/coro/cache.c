/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which thread has which free blocks.
 *
 *      class: blocks never used | trimmed ones | free ones   under the class' lock
 *                    \               |        /   ^
 *                     v              v       v    |  half a cache at a time
 *      thread:              list of free ones                no lock: the thread's own
 *
 * A class that has none left while others keep free ones takes them away: "all are in use" is only said when that
 * is so. Its price is to be paid by who takes, not by each creation. An owner says that it is at its list by a plain store, and
 * looks whether it may; who takes away says so, has the kernel put a barrier into every running thread, and then waits until
 * the owner is not at it. Either the owner sees that somebody comes, or that one sees the owner. Owners that
 * see somebody go by the class' lock, under which all of this happens. Likewise who finds none left while some are being trimmed waits
 * for those.
 *
 * Kernels without membarrier(2): free ones in caches of other threads stay there.
 */

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "coro_private.h"

/* An owner is at its list for some instructions; if it lost its CPU there, until it has it again. */
#define PATIENCE 10000

/* Blocks that were never used, got ready at a time. */
#define FRESH_MAX 32

/* Of each thread that created or destroyed any: freed when it ends. */
static __thread struct coro_cache *caches[CORO_CLASSES_MAX];
static pthread_key_t thread_key;
static unsigned int epoch; /* weir_coro_init() so far: caches of an earlier one are not ours */
static __thread unsigned int thread_epoch;
static bool barriers; /* the kernel has them */

static void
count_blocks(struct coro_list *list, unsigned int nb)
{
	__atomic_store_n(&list->nb, nb, __ATOMIC_RELAXED);
}

static void
push(struct coro_list *list, struct weir_coro_block *block)
{
	block->next_free = list->first;
	list->first = block;
	count_blocks(list, list->nb + 1);
}

static struct weir_coro_block *
pop(struct coro_list *list)
{
	struct weir_coro_block *block = list->first;

	if (block == NULL)
		return NULL;
	list->first = block->next_free;
	count_blocks(list, list->nb - 1);
	return block;
}

unsigned int
coro_list_move(struct coro_list *to, struct coro_list *from, unsigned int nb)
{
	unsigned int moved = 0;

	for (; moved < nb && from->first != NULL; moved++)
		push(to, pop(from));
	return moved;
}

/* The calling thread begins to use its cache's list. @return false: it must not, another one is at it */
static inline bool
enter(struct coro_cache *cache)
{
	__atomic_store_n(&cache->busy, true, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* who takes away makes a whole barrier of it */
	if (__builtin_expect(!__atomic_load_n(&cache->raided, __ATOMIC_ACQUIRE), 1))
		return true;
	__atomic_store_n(&cache->busy, false, __ATOMIC_RELEASE);
	return false;
}

static inline void
leave(struct coro_cache *cache)
{
	__atomic_store_n(&cache->busy, false, __ATOMIC_RELEASE);
}

static bool
barrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0) == 0;
}

/* Is its owner off its list, and stays so until it is not raided any more? */
static bool
is_left_alone(const struct coro_cache *cache)
{
	for (unsigned int i = 0; i < PATIENCE; i++) {
		if (!__atomic_load_n(&cache->busy, __ATOMIC_ACQUIRE))
			return true;
		sched_yield();
	}
	return false;
}

/* From other threads' caches; under the class' lock. @return how many of @nb */
static unsigned int
raid(struct coro_class *class, struct coro_list *to, const struct coro_cache *own, unsigned int nb)
{
	unsigned int nb_raided = 0, taken = 0;
	struct coro_cache *cache;

	for (cache = class->caches; barriers && cache != NULL; cache = cache->next) {
		if (cache == own || __atomic_load_n(&cache->free.nb, __ATOMIC_RELAXED) == 0)
			continue;
		__atomic_store_n(&cache->raided, true, __ATOMIC_RELAXED);
		nb_raided++;
	}
	if (nb_raided == 0)
		return 0;
	if (!barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
		nb = 0;
	for (cache = class->caches; cache != NULL; cache = cache->next) {
		if (!__atomic_load_n(&cache->raided, __ATOMIC_RELAXED))
			continue;
		if (taken < nb && is_left_alone(cache))
			taken += coro_list_move(to, &cache->free, nb - taken);
		__atomic_store_n(&cache->raided, false, __ATOMIC_RELEASE);
	}
	return taken;
}

void
coro_caches_empty(struct coro_class *class)
{
	pthread_mutex_lock(&class->lock);
	raid(class, &class->free, NULL, UINT32_MAX);
	pthread_mutex_unlock(&class->lock);
}

static void
cache_flush(struct coro_class *class, struct coro_cache *cache, unsigned int nb)
{
	pthread_mutex_lock(&class->lock);
	coro_list_move(&class->free, &cache->free, nb);
	pthread_mutex_unlock(&class->lock);
}

/* What it kept is for others, what it counted stays in the totals. */
static void
cache_give_up(struct coro_class *class, struct coro_cache *cache)
{
	struct coro_cache **link;

	cache_flush(class, cache, UINT32_MAX);
	pthread_mutex_lock(&class->lock);
	coro_counts_add(&class->ended, &cache->counts);
	for (link = &class->caches; *link != cache; link = &(*link)->next)
		;
	*link = cache->next;
	pthread_mutex_unlock(&class->lock);
	free(cache);
}

/* A thread ends, perhaps just while another one cleans up: it cannot know when it has ended for good. */
static void
thread_ends(void *arg)
{
	coro_classes_lock();
	for (unsigned int c = 0; thread_epoch == epoch && c < CORO_CLASSES_MAX; c++) {
		if (caches[c] != NULL)
			cache_give_up(&coro_classes[c], caches[c]);
		caches[c] = NULL;
	}
	coro_classes_unlock();
}

struct coro_cache *
coro_cache_of(struct coro_class *class)
{
	struct coro_cache *cache;

	if (thread_epoch != epoch) {
		memset(caches, 0, sizeof(caches));
		thread_epoch = epoch;
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
	/* Each time: destructors that run after thread_ends() may create coroutines, too, and then it has to come again. */
	pthread_setspecific(thread_key, caches);
	(void)weir_coro_attach();
	return cache;
}

/*
 * From the class into the thread's cache: half of what it may keep, at least one; of others when the class has none. Those that were never
 * used need a guard each, a system call: some at a time.
 */
static void
cache_refill(struct coro_class *class, struct coro_cache *cache)
{
	unsigned int want = class->param.cache_size / 2 + 1;
	struct weir_coro_block *block;

	want -= coro_list_move(&cache->free, &class->free, want);
	want -= coro_list_move(&cache->free, &class->trimmed, want);
	for (unsigned int fresh = want < FRESH_MAX ? want : FRESH_MAX;
		fresh > 0 && (block = coro_block_fresh(class)) != NULL; fresh--, want--)
		push(&cache->free, block);
	if (cache->free.first == NULL)
		raid(class, &cache->free, cache, want);
}

/* @trimming: were some being trimmed? */
static struct weir_coro_block *
get_locked(
	struct coro_class *class, struct coro_cache *cache, bool *trimming, struct coro_news *news)
{
	struct weir_coro_block *block;
	uint64_t out;

	pthread_mutex_lock(&class->lock);
	if (cache->free.first == NULL)
		cache_refill(class, cache);
	block = pop(&cache->free);
	out = class->nb_fresh - class->free.nb - class->trimming.nb - class->trimmed.nb;
	class->most_out = out > class->most_out ? out : class->most_out;
	/* Some were never used: they have no guard, for want of memory or mappings. */
	if (block == NULL)
		errno = class->nb_fresh < class->memory.nb ? ENOMEM : EAGAIN;
	*trimming = class->trimming.nb > 0;
	if (__builtin_expect(class->memory.weaker != 0 || class->news.refused != 0, 0))
		coro_news_take(class, news);
	pthread_mutex_unlock(&class->lock);
	return block;
}

static struct weir_coro_block *
get_slowly(struct coro_class *class, struct coro_cache *cache)
{
	struct weir_coro_block *block;
	struct coro_news news = {0};
	bool trimming;

	block = get_locked(class, cache, &trimming, &news);
	if (block == NULL && trimming) {
		/* Now nobody trims. */
		pthread_mutex_lock(&class->trim_lock);
		block = get_locked(class, cache, &trimming, &news);
		pthread_mutex_unlock(&class->trim_lock);
	}
	if (__builtin_expect(news.weaker != 0 || news.refused != 0, 0))
		coro_news_tell(class, &news);
	return block;
}

struct weir_coro_block *
coro_block_get(struct coro_class *class)
{
	struct coro_cache *cache = coro_cache_of(class);
	struct weir_coro_block *block = NULL;

	if (cache == NULL) {
		errno = ENOMEM;
		return NULL;
	}
	if (__builtin_expect(enter(cache), 1)) {
		block = pop(&cache->free);
		leave(cache);
	}
	if (__builtin_expect(block == NULL, 0))
		block = get_slowly(class, cache);
	if (block == NULL)
		return NULL;
	coro_counts_created(&cache->counts);
	return block;
}

static void
put_in_class(struct coro_class *class, struct weir_coro_block *block)
{
	pthread_mutex_lock(&class->lock);
	push(&class->free, block);
	pthread_mutex_unlock(&class->lock);
}

/* Its handles are stale from here on. */
void
coro_block_put(struct coro_class *class, struct weir_coro_block *block)
{
	struct coro_cache *cache = coro_cache_of(class);
	uint32_t generation = (__atomic_load_n(&block->word, __ATOMIC_RELAXED) >> 16) + 1;
	uint64_t switches = block->resumes;
	unsigned int nb;

	__atomic_store_n(&block->word, generation << 16 | WEIR_CORO_STATE_FREE, __ATOMIC_RELEASE);
	if (cache == NULL) { /* no memory for one */
		put_in_class(class, block);
		pthread_mutex_lock(&class->lock);
		coro_count(&class->ended.switches, switches);
		coro_count(&class->ended.destroyed, 1);
		pthread_mutex_unlock(&class->lock);
		return;
	}
	/* In this order: see count_switches(). */
	coro_count(&cache->counts.switches, switches);
	coro_count(&cache->counts.destroyed, 1);
	if (__builtin_expect(!enter(cache), 0)) {
		put_in_class(class, block);
		return;
	}
	push(&cache->free, block);
	nb = cache->free.nb;
	leave(cache);
	if (__builtin_expect(nb > class->param.cache_size, 0))
		cache_flush(class, cache, class->param.cache_size / 2 + 1);
}

int
coro_caches_init(void)
{
	int rc = epoch == 0 ? pthread_key_create(&thread_key, thread_ends) : 0;

	if (rc != 0)
		return -rc;
	barriers = barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
	coro_classes_lock(); /* threads that used an earlier one may be ending */
	epoch++;
	coro_classes_unlock();
	return 0;
}

void
coro_caches_fini(struct coro_class *class)
{
	struct coro_cache *cache, *next;

	for (cache = class->caches; cache != NULL; cache = next) {
		next = cache->next;
		free(cache);
	}
	epoch++; /* what threads kept was freed here */
}
