/* SPDX-License-Identifier: BSD-3-Clause */

/* The life of a coroutine: created, resumed, left, exited, destroyed. */

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coro_private.h"

/* Used: by assembly that the compiler does not see. */
__thread struct weir_coro_thread weir_coro_thread __attribute__((tls_model("initial-exec"), used));

#if !defined(WEIR_CORO_FCONTEXT)
/* What the instructions of WEIR_CORO_SWITCH_IN(), WEIR_CORO_SWITCH_OUT() and coro_entry() have as numbers. */
static_assert(offsetof(struct weir_coro_contexts, resumer) == 24 &&
		      offsetof(struct weir_coro_context, sp) == 0 &&
		      offsetof(struct weir_coro_context, fp) == 8 &&
		      offsetof(struct weir_coro_context, pc) == 16 &&
		      offsetof(struct weir_coro_block, contexts) == 0 &&
		      offsetof(struct weir_coro_thread, resumer) == 16 &&
		      offsetof(struct weir_coro_block, base_resumer) == 240 &&
		      offsetof(struct weir_coro_block, base_own) == 248,
	"offsets of a pair of contexts");

/* The stack pointer is aligned as before a call, which is what coro_entry() begins with. */
void
coro_context_init(struct weir_coro_block *block)
{
	block->contexts.own.sp = block->top;
	block->contexts.own.fp = &block->contexts.resumer;
	block->contexts.own.pc = (void *)(uintptr_t)coro_entry;
}
#endif

struct weir_coro *
weir_coro_create_in(unsigned int class_id, weir_coro_run_t run)
{
	struct weir_coro_block *block;
	struct coro_class *class;

	if (class_id >= coro_nb_classes || run == NULL) {
		errno = EINVAL;
		return NULL;
	}
	class = &coro_classes[class_id];
	block = coro_block_get(class);
	if (block == NULL)
		return NULL;
	block->run = run;
	block->outer = NULL;
	block->cleanups = NULL;
	/* Who meant its last user, as a ticker may, is late. */
	__atomic_store_n(&block->cancelled, false, __ATOMIC_RELAXED);
	__atomic_store_n(&block->attention, 0, __ATOMIC_RELAXED);
	block->held = 0;
	block->extra &= WEIR_CORO_EXTRA_FP;
	__atomic_store_n(&block->resumes, 0, __ATOMIC_RELAXED);
	coro_slice_reset(block, class->param.time_slice);
	memset(block->locals, 0, sizeof(block->locals));
	/* Without any, it is a guard: masked stores of nothing to that cost an assist. */
	if (class->memory.param_bytes > 0)
		memset(block->params, 0, class->memory.param_bytes);
	if (class->param.zero)
		coro_memory_trim(&class->memory, (size_t)(block - class->blocks));
	if ((block->extra & WEIR_CORO_EXTRA_FP) != 0)
		weir_coro_fp_exchange(&block->fp_own, &block->fp_own); /* the creator's */
	coro_context_init(block);
	if (coro_tool_create(block) != 0) {
		coro_block_put(class, block);
		errno = ENOMEM;
		return NULL;
	}
	block->word_after = (__atomic_load_n(&block->word, __ATOMIC_RELAXED) & ~0xffffu) |
			    WEIR_CORO_STATE_SUSPENDED;
	__atomic_store_n(&block->word, block->word_after, __ATOMIC_RELEASE);
	return coro_handle(block);
}

struct weir_coro *
weir_coro_create(weir_coro_run_t run)
{
	return weir_coro_create_in(0, run);
}

int
weir_coro_destroy(struct weir_coro *coro)
{
	struct weir_coro_block *block = coro_block_checked(coro);
	struct coro_class *class;
	uint32_t word;

	do {
		word = block != NULL ? __atomic_load_n(&block->word, __ATOMIC_ACQUIRE) : 0;
		if (block == NULL || word >> 16 != (uintptr_t)coro >> 48 ||
			(word & 0xffff) == WEIR_CORO_STATE_FREE) {
			weir_coro_refuse(WEIR_CORO_MISUSE_STALE, coro);
			return -EINVAL;
		}
		if ((word & 0xffff) == WEIR_CORO_STATE_RUNNING) {
			weir_coro_refuse(WEIR_CORO_MISUSE_RUNNING, coro);
			return -EBUSY;
		}
		/* Of two threads at the same instant one gets it. */
	} while (!__atomic_compare_exchange_n(&block->word, &word,
		(word & ~0xffffu) | WEIR_CORO_STATE_FREE, true, __ATOMIC_ACQUIRE,
		__ATOMIC_RELAXED));
	class = &coro_classes[block->class_id];
	/* One without an end has not been looked at, and the next one on its stack is innocent. */
	if (__atomic_load_n(&class->memory.weakest, __ATOMIC_RELAXED) == WEIR_CORO_GUARD_CANARY)
		coro_check_canary(block);
	coro_tool_destroy(block);
	coro_block_put(class, block);
	return 0;
}

bool
weir_coro_has_exited(const struct weir_coro *coro)
{
	const struct weir_coro_block *block = coro_block_checked(coro);

	return block == NULL ||
	       (__atomic_load_n(&block->word, __ATOMIC_ACQUIRE) & 0xffff) == WEIR_CORO_STATE_EXITED;
}

/* Leave for the resumer. */
void
coro_leave(struct weir_coro_block *block)
{
	weir_coro_leave_extra(block);
	coro_tool_switch(coro_tool_leave(block));
	weir_coro_switch_out(&block->contexts, weir_coro_thread_here());
	coro_tool_entered(block);
}

void
weir_coro_exit(void)
{
	struct weir_coro_block *block = weir_coro_thread_now()->current;
	struct coro_cache *cache;

	if (block == NULL) {
		CORO_LOG(ERROR, "weir_coro_exit() outside of a coroutine: the process ends");
		abort();
	}
	coro_run_cleanups(block);
	if (block->held != 0) /* a lock that nobody will give back */
		weir_coro_refuse(WEIR_CORO_MISUSE_HOLDING, coro_handle(block));
	cache = coro_cache_of(&coro_classes[block->class_id]);
	if (cache != NULL)
		coro_count(&cache->counts.exited, 1);
	coro_pace_remember(block);
	coro_check_canary(block);
	block->held = 0;
	block->word_after = (block->word_after & ~0xffffu) | WEIR_CORO_STATE_EXITED;
	coro_leave(block);
	abort(); /* who has exited is not resumed */
}

/* The first function on a coroutine's stack. */
void
coro_main(void)
{
	struct weir_coro_block *block = weir_coro_thread_now()->current;

	coro_tool_entered(block);
	if (!__atomic_load_n(&block->cancelled, __ATOMIC_RELAXED))
		block->run();
	weir_coro_exit();
}

/* Why may it not be resumed? */
static enum weir_coro_misuse
resume_fault(const struct weir_coro *coro)
{
	const struct weir_coro_block *block = coro_block_checked(coro);

	if (block == NULL)
		return WEIR_CORO_MISUSE_STALE;
	return (__atomic_load_n(&block->word, __ATOMIC_RELAXED) & 0xffff) == WEIR_CORO_STATE_EXITED
		       ? WEIR_CORO_MISUSE_EXITED
		       : WEIR_CORO_MISUSE_RUNNING;
}

void
weir_coro_resume_refused(struct weir_coro *coro)
{
	weir_coro_refuse(resume_fault(coro), coro);
}

void
weir_coro_resume_checked(struct weir_coro *coro)
{
	struct weir_coro_block *block = weir_coro_block_of(coro);
	uint32_t suspended = weir_coro_word(coro, WEIR_CORO_STATE_SUSPENDED);
	struct weir_coro_fp before, after;
	struct weir_coro_thread *thread = weir_coro_thread_here();
	struct weir_coro_arrival arrival;

	/* A compare and swap: of two threads at the same instant one gets it. */
	if (coro_block_checked(coro) == NULL ||
		!__atomic_compare_exchange_n(&block->word, &suspended,
			weir_coro_word(coro, WEIR_CORO_STATE_RUNNING), false, __ATOMIC_ACQUIRE,
			__ATOMIC_RELAXED)) {
		weir_coro_resume_refused(coro);
		return;
	}
	/* Others may ask for it meanwhile. */
	__atomic_store_n(&block->resumes, block->resumes + 1, __ATOMIC_RELAXED);
	weir_coro_slice_enter(block, thread);
	weir_coro_fp_exchange(&before, &before);
	weir_coro_resume_extra(coro, block);
	coro_tool_switch(coro_tool_enter(block));
	arrival = weir_coro_switch_in(&block->contexts, thread);
	coro_tool_left(block);
	weir_coro_slice_left(block, arrival);
	weir_coro_fp_exchange(&after, &after);
	coro_check_left(block, &before, &after);
	__atomic_store_n(&block->word, block->word_after, __ATOMIC_RELEASE);
}

bool
weir_coro_yield_slowly(void)
{
	struct weir_coro_block *block = weir_coro_thread_now()->current;

	if (block == NULL) {
		weir_coro_refuse(WEIR_CORO_MISUSE_OUTSIDE, NULL);
		return false;
	}
	if (block->held != 0) {
		weir_coro_refuse(WEIR_CORO_MISUSE_HOLDING, coro_handle(block));
		return __atomic_load_n(&block->cancelled, __ATOMIC_RELAXED);
	}
	coro_leave(block);
	return __atomic_load_n(&block->cancelled, __ATOMIC_RELAXED);
}
