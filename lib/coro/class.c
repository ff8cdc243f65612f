/* SPDX-License-Identifier: BSD-3-Clause */

/* Classes of coroutines: their blocks and stacks; what handles stand for. */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "coro_private.h"

struct coro_class coro_classes[CORO_CLASSES_MAX];
unsigned int coro_nb_classes;
static pthread_mutex_t classes_lock = PTHREAD_MUTEX_INITIALIZER;

/* The first generation: another one after each weir_coro_init(), where blocks may be in the same place. */
#define GENERATION_STEP 0x9e37u
static uint32_t generation;

void
coro_classes_lock(void)
{
	pthread_mutex_lock(&classes_lock);
}

void
coro_classes_unlock(void)
{
	pthread_mutex_unlock(&classes_lock);
}

/* A child must find no lock taken by a thread that it does not have. */
void
coro_classes_before_fork(void)
{
	coro_classes_lock();
	for (unsigned int c = 0; c < coro_nb_classes; c++) {
		pthread_mutex_lock(&coro_classes[c].trim_lock);
		pthread_mutex_lock(&coro_classes[c].lock);
	}
}

void
coro_classes_after_fork(void)
{
	for (unsigned int c = coro_nb_classes; c-- > 0;) {
		pthread_mutex_unlock(&coro_classes[c].lock);
		pthread_mutex_unlock(&coro_classes[c].trim_lock);
	}
	coro_classes_unlock();
}

struct weir_coro *
coro_handle(const struct weir_coro_block *block)
{
	/* Whoever resumes it by mistake looks at the word, too. */
	uint32_t word = __atomic_load_n(&block->word, __ATOMIC_RELAXED);

	return (struct weir_coro *)((uintptr_t)block | (uintptr_t)(word >> 16) << 48);
}

/* Is it one of ours? Whatever a handle holds is not to be followed blindly. */
static bool
is_block(const struct weir_coro_block *block)
{
	for (unsigned int c = 0; c < coro_nb_classes; c++) {
		const struct coro_class *class = &coro_classes[c];
		uintptr_t offset = (uintptr_t)block - (uintptr_t) class->blocks;

		if (offset < class->memory.nb * sizeof(*block))
			return offset % sizeof(*block) == 0;
	}
	return false;
}

struct weir_coro_block *
coro_block_checked(const struct weir_coro *coro)
{
	struct weir_coro_block *block = weir_coro_block_of(coro);
	uint32_t word;

	if (!is_block(block))
		return NULL;
	word = __atomic_load_n(&block->word, __ATOMIC_ACQUIRE);
	if (word >> 16 != (uintptr_t)coro >> 48 || (word & 0xffff) == WEIR_CORO_STATE_FREE)
		return NULL;
	return block;
}

struct weir_coro_block *
coro_block_fresh(struct coro_class *class)
{
	struct weir_coro_block *block;
	size_t index = class->nb_fresh;
	int rc;

	if (index == class->memory.nb)
		return NULL;
	rc = coro_memory_prepare(&class->memory, index);
	if (rc < 0) {
		if (!class->told)
			class->news = (struct coro_news){.refused = -rc, .index = index};
		class->told = true;
		return NULL;
	}
	class->nb_fresh++;
	block = &class->blocks[index];
	block->stack = coro_memory_stack(&class->memory, index);
	block->top = coro_memory_top(&class->memory, index);
	block->params = coro_memory_params(&class->memory, index);
	block->word = generation << 16 | WEIR_CORO_STATE_FREE;
	block->class_id = class->id;
	block->id = class->first_id + (uint32_t)index;
	block->extra = class->param.fp_control ? WEIR_CORO_EXTRA_FP : 0;
	return block;
}

void
coro_news_take(struct coro_class *class, struct coro_news *news)
{
	news->weaker |= class->memory.weaker;
	class->memory.weaker = 0;
	if (class->news.refused == 0)
		return;
	news->refused = class->news.refused;
	news->index = class->news.index;
	class->news.refused = 0;
}

void
coro_news_tell(const struct coro_class *class, const struct coro_news *news)
{
	coro_memory_tell(news->weaker);
	if (news->refused != 0)
		CORO_LOG(ERROR,
			"class %u: no guard below stack %zu: %s; it is told once that no "
			"coroutines can be created for that",
			class->id, news->index, strerror(news->refused));
}

static int
param_check(const struct weir_coro_class_param *param)
{
	if (param == NULL) {
		CORO_LOG(ERROR, "a class needs parameters");
		return -EINVAL;
	}
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

/* The next one, which nobody knows of as yet. @return 0 or negative errno */
static int
class_make(const struct weir_coro_class_param *param)
{
	struct coro_class *class = &coro_classes[coro_nb_classes];
	int rc;

	memset(class, 0, sizeof(*class));
	class->param = *param;
	class->id = coro_nb_classes;
	if (coro_nb_classes > 0)
		class->first_id = class[-1].first_id + (uint32_t) class[-1].memory.nb;
	/* UINT32_MAX is nobody's. */
	if (param->max_coroutines > UINT32_MAX - class->first_id) {
		CORO_LOG(ERROR, "no numbers are left for %zu more coroutines",
			param->max_coroutines);
		return -ENOSPC;
	}
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
		CORO_LOG(ERROR, "%zu bytes of address space for what is kept of coroutines: %s",
			class->memory.nb * sizeof(*class->blocks), strerror(errno));
		coro_memory_fini(&class->memory);
		return -ENOMEM;
	}
	pthread_mutex_init(&class->trim_lock, NULL);
	pthread_mutex_init(&class->lock, NULL);
	return 0;
}

static int
class_add(const struct weir_coro_class_param *param)
{
	int rc = param_check(param);

	if (rc == 0)
		rc = class_make(param);
	if (rc < 0)
		return rc;
	coro_classes_lock();
	rc = (int)coro_nb_classes++;
	coro_classes_unlock();
	return rc;
}

int
weir_coro_class_add(const struct weir_coro_class_param *param)
{
	if (coro_nb_classes == 0) {
		CORO_LOG(ERROR, "a class before weir_coro_init()");
		return -EINVAL;
	}
	if (coro_nb_classes == CORO_CLASSES_MAX) {
		CORO_LOG(ERROR, "there are %d classes already, which is all that there can be",
			CORO_CLASSES_MAX);
		return -ENOSPC;
	}
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

	if (coro_nb_classes > 0) {
		CORO_LOG(ERROR, "weir_coro_init() twice, without weir_coro_cleanup() between");
		return -EALREADY;
	}
	rc = coro_threads_init();
	if (rc == 0)
		rc = coro_caches_init();
	if (rc < 0)
		return rc;
	coro_misuse_reset();
	coro_always_init();
	rc = class_add(&param);
	return rc < 0 ? rc : 0;
}

static void
class_free(struct coro_class *class)
{
	coro_caches_fini(class);
	munmap(class->blocks, class->memory.nb * sizeof(*class->blocks));
	coro_memory_fini(&class->memory);
	pthread_mutex_destroy(&class->lock);
	pthread_mutex_destroy(&class->trim_lock);
}

void
weir_coro_cleanup(void)
{
	struct weir_coro_class_stats stats = {0};
	uint64_t alive = 0;

	if (weir_coro_self() != NULL) {
		CORO_LOG(ERROR, "weir_coro_cleanup() in a coroutine, whose stack it would take "
				"away: refused");
		return;
	}
	(void)weir_coro_watchdog_stop(); /* they look at blocks */
	(void)weir_coro_ticker_stop();
	coro_classes_lock();
	for (unsigned int c = 0; c < coro_nb_classes; c++) {
		coro_class_count(&coro_classes[c], &stats);
		alive += stats.live;
	}
	for (unsigned int c = 0; c < coro_nb_classes; c++) {
		coro_tools_forget(&coro_classes[c]);
		class_free(&coro_classes[c]);
	}
	coro_nb_classes = 0;
	generation += GENERATION_STEP;
	coro_classes_unlock();
	if (alive > 0)
		CORO_LOG(WARNING, "%" PRIu64 " coroutines were alive and are gone", alive);
}
