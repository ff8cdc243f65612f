/* SPDX-License-Identifier: BSD-3-Clause */

/* What is refused: counted by kind, and told, but not more often than a log bears. */

#include "coro_private.h"

/* Told of each kind; the rest is counted. */
#define TOLD_MAX 8

static uint64_t counts[WEIR_CORO_MISUSE_COUNT];

static const char *const texts[WEIR_CORO_MISUSE_COUNT] = {
	[WEIR_CORO_MISUSE_STALE] = "what it stood for was destroyed, or never created",
	[WEIR_CORO_MISUSE_RUNNING] = "refused: it runs already, or waits for one that it resumed",
	[WEIR_CORO_MISUSE_EXITED] = "not resumed: it has exited",
	[WEIR_CORO_MISUSE_OUTSIDE] = "yield outside of a coroutine",
	[WEIR_CORO_MISUSE_HOLDING] =
		"it yields, or ends, while it holds a lock or is in a read section",
	[WEIR_CORO_MISUSE_FP] = "left with other FP control words; its class is without fp_control",
	[WEIR_CORO_MISUSE_OVERFLOW] = "its stack has overflowed: what lies below may be damaged",
};

/* @id: UINT32_MAX where the handle is stale */
static void
refuse(enum weir_coro_misuse what, const void *handle, uint32_t id)
{
	uint64_t before = __atomic_fetch_add(&counts[what], 1, __ATOMIC_RELAXED);

	if (before >= TOLD_MAX)
		return;
	if (handle == NULL)
		CORO_LOG(ERROR, "refused: %s",
			what == WEIR_CORO_MISUSE_STALE ? "NULL in place of a coroutine"
						       : texts[what]);
	else if (id == UINT32_MAX)
		CORO_LOG(ERROR, "handle %p: %s", handle, texts[what]);
	else
		CORO_LOG(ERROR, "coroutine %u (handle %p): %s", id, handle, texts[what]);
	if (before + 1 == TOLD_MAX)
		CORO_LOG(ERROR, "more of this kind are only counted");
}

void
weir_coro_refuse(enum weir_coro_misuse what, const void *handle)
{
	refuse(what, handle, handle != NULL ? weir_coro_id(handle) : UINT32_MAX);
}

uint64_t
weir_coro_misuse(enum weir_coro_misuse what)
{
	return (unsigned int)what < WEIR_CORO_MISUSE_COUNT
		       ? __atomic_load_n(&counts[what], __ATOMIC_RELAXED)
		       : 0;
}

void
coro_misuse_reset(void)
{
	for (int i = 0; i < WEIR_CORO_MISUSE_COUNT; i++)
		__atomic_store_n(&counts[i], 0, __ATOMIC_RELAXED);
}

void
coro_check_canary(const struct weir_coro_block *block)
{
	struct coro_class *class = &coro_classes[block->class_id];
	size_t index = (size_t)(block - class->blocks);

	if (coro_memory_intact(&class->memory, index))
		return;
	/* It may be being destroyed, when its handle is stale already. */
	refuse(WEIR_CORO_MISUSE_OVERFLOW, coro_handle(block), block->id);
	/* Once: the next look, or who gets this stack next, finds it whole. */
	coro_memory_prepare(&class->memory, index);
}

/* Bits of MXCSR that are no control: which exceptions were raised. */
#define FP_RAISED 0x3fu

void
coro_check_left(const struct weir_coro_block *block, const struct weir_coro_fp *before,
	const struct weir_coro_fp *after)
{
	if (((before->control ^ after->control) & ~FP_RAISED) != 0 || before->x87 != after->x87) {
		struct weir_coro_fp changed, mended = *before;

		weir_coro_refuse(WEIR_CORO_MISUSE_FP, coro_handle(block));
		/* What was raised stays so, as in a build without checks. */
		mended.control ^= (before->control ^ after->control) & FP_RAISED;
		weir_coro_fp_exchange(&changed, &mended);
	}
	coro_check_canary(block);
}
