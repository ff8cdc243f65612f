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

void
weir_coro_cleanup_push(struct weir_coro_cleanup_entry *entry)
{
	struct weir_coro_block *block = weir_coro_thread_now()->current;

	if (block == NULL || entry == NULL)
		return;
	entry->next = block->cleanups;
	block->cleanups = entry;
}

void
weir_coro_cleanup_pop(bool execute)
{
	struct weir_coro_block *block = weir_coro_thread_now()->current;
	struct weir_coro_cleanup_entry *entry;

	if (block == NULL || block->cleanups == NULL)
		return;
	entry = block->cleanups;
	block->cleanups = entry->next;
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
