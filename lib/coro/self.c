/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The calling coroutine: who it is, its parameters, what it keeps.
 *
 * These are functions, not inline: a compiler that sees the address of a thread-local variable may keep it
 * across a yield, after which another thread runs.
 */

#include <errno.h>

#include "coro_private.h"

__attribute__((noinline)) struct weir_coro_thread *
weir_coro_thread_address(void)
{
	struct weir_coro_thread *thread = &weir_coro_thread;

	/* The compiler cannot see that two calls return the same: they need not. */
	__asm__ volatile("" : "+r"(thread) : : "memory");
	return thread;
}

struct weir_coro *
weir_coro_self(void)
{
	const struct weir_coro_block *block = weir_coro_thread_now()->current;

	return block != NULL ? coro_handle(block) : NULL;
}

uint32_t
weir_coro_self_id(void)
{
	const struct weir_coro_block *block = weir_coro_thread_now()->current;

	return block != NULL ? block->id : UINT32_MAX;
}

bool
weir_coro_self_cancelled(void)
{
	const struct weir_coro_block *block = weir_coro_thread_now()->current;

	return block != NULL && __atomic_load_n(&block->cancelled, __ATOMIC_RELAXED);
}

static void *
param(const struct weir_coro_block *block, size_t size, bool out)
{
	const struct weir_coro_class_param *limits;

	if (block == NULL) {
		errno = EINVAL;
		return NULL;
	}
	limits = &coro_classes[block->class_id].param;
	if (size > (out ? limits->max_out_param_size : limits->max_in_param_size)) {
		errno = EINVAL;
		return NULL;
	}
	return block->params + (out ? coro_param_round(limits->max_in_param_size) : 0);
}

void *
weir_coro_in_param(struct weir_coro *coro, size_t size)
{
	return param(coro_block_checked(coro), size, false);
}

void *
weir_coro_out_param(struct weir_coro *coro, size_t size)
{
	return param(coro_block_checked(coro), size, true);
}

void *
weir_coro_self_in_param(size_t size)
{
	return param(weir_coro_thread_now()->current, size, false);
}

void *
weir_coro_self_out_param(size_t size)
{
	return param(weir_coro_thread_now()->current, size, true);
}

uint32_t
weir_coro_id(const struct weir_coro *coro)
{
	const struct weir_coro_block *block = coro_block_checked(coro);

	return block != NULL ? block->id : UINT32_MAX;
}

uint64_t
weir_coro_resume_count(struct weir_coro *coro)
{
	const struct weir_coro_block *block = coro_block_checked(coro);

	return block != NULL ? __atomic_load_n(&block->resumes, __ATOMIC_RELAXED) : 0;
}

#define LOOKS_MAX 16 /* at what another thread is counting */

/*
 * Checks are counted down: what was given less what is left are those since the last look at the clock. Where it runs on another
 * thread that may be giving just now: then nothing of it fits.
 */
LOOK_ANYWAY static uint64_t
checks_of(const volatile struct weir_coro_block *block)
{
	uint64_t checks = 0;

	for (unsigned int looks = 0; looks < LOOKS_MAX; looks++) {
		uint32_t given, since;

		checks = block->checks;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		given = block->checks_given;
		since = given - block->checks_left;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (since <= INT32_MAX && block->checks_given == given && block->checks == checks)
			return checks + since;
	}
	return checks;
}

uint64_t
weir_coro_maybe_yield_count(struct weir_coro *coro)
{
	const struct weir_coro_block *block = coro_block_checked(coro);

	return block != NULL ? checks_of(block) : 0;
}

void
weir_coro_set_time_slice(struct weir_coro *coro, uint64_t time_slice)
{
	struct weir_coro_block *block = coro_block_checked(coro);

	/* A change costs divisions and a root: who sets it each time to what it is shall not pay for that. */
	if (block != NULL && coro_slice_of(block) != time_slice)
		coro_slice_change(block, time_slice);
}

static unsigned int nb_locals;

int
weir_coro_local_alloc(void)
{
	unsigned int slot = __atomic_load_n(&nb_locals, __ATOMIC_RELAXED);

	do {
		if (slot == WEIR_CORO_LOCALS)
			return -ENOSPC;
	} while (!__atomic_compare_exchange_n(
		&nb_locals, &slot, slot + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return (int)slot;
}

void *
weir_coro_local_get(unsigned int slot)
{
	const struct weir_coro_block *block = weir_coro_thread_now()->current;

	return block != NULL && slot < WEIR_CORO_LOCALS ? block->locals[slot] : NULL;
}

int
weir_coro_local_set(unsigned int slot, void *value)
{
	struct weir_coro_block *block = weir_coro_thread_now()->current;

	if (block == NULL)
		return -EPERM;
	if (slot >= WEIR_CORO_LOCALS)
		return -EINVAL;
	block->locals[slot] = value;
	return 0;
}

/* Not inlined when linked either, and never the same to the compiler. */
__attribute__((noinline)) int *
weir_coro_errno(void)
{
	int *address = &errno;

	__asm__ volatile("" : "+r"(address) : : "memory");
	return address;
}
