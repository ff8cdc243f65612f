/* SPDX-License-Identifier: BSD-3-Clause */

/* Ending a coroutine from outside, what it does on the way out, and waiting for that. */

#include <errno.h>

#include "coro_private.h"

int
weir_coro_cancel(struct weir_coro *coro)
{
	struct weir_coro_block *block = coro_block_checked(coro);

	if (block == NULL || weir_coro_has_exited(coro))
		return -EINVAL;
	__atomic_store_n(&block->cancelled, true, __ATOMIC_RELAXED);
	__atomic_store_n(&block->attention, CORO_CANCELLED, __ATOMIC_RELEASE);
	return 0;
}

/* Outside of coroutines: the same code runs there, too. */
static __thread struct weir_coro_cleanup_entry *outside;

/* The last one of who runs here. To be used at once: another thread may run it later. */
static struct weir_coro_cleanup_entry **
last_cleanup(void)
{
	struct weir_coro_block *block = weir_coro_thread_now()->current;

	return block != NULL ? &block->cleanups : &outside;
}

void
weir_coro_cleanup_push(struct weir_coro_cleanup_entry *entry)
{
	struct weir_coro_cleanup_entry **last = last_cleanup();

	if (entry == NULL)
		return;
	entry->next = *last;
	*last = entry;
}

void
weir_coro_cleanup_pop(bool execute)
{
	struct weir_coro_cleanup_entry **last = last_cleanup(), *entry = *last;

	if (entry == NULL)
		return;
	*last = entry->next;
	if (execute && entry->run != NULL)
		entry->run(entry->arg);
}

void
coro_run_cleanups(struct weir_coro_block *block)
{
	while (block->cleanups != NULL)
		weir_coro_cleanup_pop(true);
}

int
weir_coro_join(struct weir_coro *coro)
{
	const struct weir_coro_block *self = weir_coro_thread_now()->current;

	if (self == NULL)
		return -EPERM;
	if (coro_block_checked(coro) == NULL)
		return -EINVAL;
	if (coro_block_checked(coro) == self)
		return -EDEADLK;
	/* It may not yield, so it would wait forever. */
	if (self->held != 0) {
		weir_coro_refuse(WEIR_CORO_MISUSE_HOLDING, weir_coro_self());
		return -EDEADLK;
	}
	while (!weir_coro_has_exited(coro))
		if (weir_coro_yield())
			return -ECANCELED;
	return 0;
}
