/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What sanitizers and valgrind must be told of stacks and switches. Nothing in builds without them.
 */

#include <stdlib.h>

#include "coro_private.h"

#ifdef WITH_VALGRIND
#include <valgrind/valgrind.h>
#endif

#if defined(WEIR_BASE_ASAN) || defined(WEIR_BASE_TSAN)

#ifdef WEIR_BASE_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

/* Of one coroutine. */
struct tool {
	void *fiber;            /* TSan's */
	void *resumer;          /* TSan's, of who resumed it */
	void *fake, *fake_left; /* ASan's fake stacks: the coroutine's, the resumer's */
	const void *bottom;     /* of the resumer's stack */
	size_t size;
};

static struct tool *
tool_of(struct weir_coro_block *block)
{
	return block->tool;
}

#ifdef WEIR_BASE_ASAN
/* ASan frees the fake stack of who leaves for good: so here it does, in its place, and without a call in between. */
static void
fake_destroy(struct weir_coro_block *block)
{
	void *own, *fake = tool_of(block)->fake;
	const void *bottom;
	size_t size;

	if (fake == NULL)
		return;
	__sanitizer_start_switch_fiber(&own, block->stack, (size_t)(block->top - block->stack));
	__sanitizer_finish_switch_fiber(fake, &bottom, &size);
	__sanitizer_start_switch_fiber(NULL, bottom, size);
	__sanitizer_finish_switch_fiber(own, NULL, NULL);
}
#endif

int
coro_tool_create(struct weir_coro_block *block)
{
	struct tool *tool = calloc(1, sizeof(*tool));

	if (tool == NULL)
		return -1;
	block->tool = tool;
#ifdef WEIR_BASE_TSAN
	tool->fiber = __tsan_create_fiber(0);
#endif
	return 0;
}

void
coro_tool_destroy(struct weir_coro_block *block)
{
#ifdef WEIR_BASE_ASAN
	fake_destroy(block);
#endif
	/* What was on its stack is nobody's any more. */
	weir_base_asan_unpoison(block->stack, (size_t)(block->top - block->stack));
#ifdef WEIR_BASE_TSAN
	__tsan_destroy_fiber(tool_of(block)->fiber);
#endif
	free(block->tool);
	block->tool = NULL;
}

void *
coro_tool_enter(struct weir_coro_block *block)
{
	struct tool *tool = tool_of(block);

#ifdef WEIR_BASE_ASAN
	__sanitizer_start_switch_fiber(
		&tool->fake_left, block->stack, (size_t)(block->top - block->stack));
#endif
#ifdef WEIR_BASE_TSAN
	tool->resumer = __tsan_get_current_fiber();
	return tool->fiber;
#else
	return NULL;
#endif
}

void
coro_tool_entered(struct weir_coro_block *block)
{
#ifdef WEIR_BASE_ASAN
	struct tool *tool = tool_of(block);
	void *fake = tool->fake;

	tool->fake = NULL; /* it is in use; one that exits loses it */
	__sanitizer_finish_switch_fiber(fake, &tool->bottom, &tool->size);
#endif
	(void)block;
}

void *
coro_tool_leave(struct weir_coro_block *block)
{
	struct tool *tool = tool_of(block);

#ifdef WEIR_BASE_ASAN
	bool for_good = (block->word_after & 0xffff) == WEIR_CORO_STATE_EXITED;

	__sanitizer_start_switch_fiber(for_good ? NULL : &tool->fake, tool->bottom, tool->size);
#endif
#ifdef WEIR_BASE_TSAN
	return tool->resumer;
#else
	return NULL;
#endif
}

void
coro_tool_left(struct weir_coro_block *block)
{
#ifdef WEIR_BASE_ASAN
	__sanitizer_finish_switch_fiber(tool_of(block)->fake_left, NULL, NULL);
#endif
	(void)block;
}

void
coro_tools_forget(struct coro_class *class)
{
	for (size_t i = 0; i < class->nb_fresh; i++)
		if (class->blocks[i].tool != NULL)
			coro_tool_destroy(&class->blocks[i]);
}

#else

/* What a stack is, so that a switch is not taken for a huge frame. Costs a few instructions where valgrind does not run. */
int
coro_tool_create(struct weir_coro_block *block)
{
#ifdef WITH_VALGRIND
	/* The stack pointer begins at the top. */
	block->tool = (void *)(uintptr_t)VALGRIND_STACK_REGISTER(block->stack, block->top);
#endif
	return 0;
}

void
coro_tool_destroy(struct weir_coro_block *block)
{
#ifdef WITH_VALGRIND
	VALGRIND_STACK_DEREGISTER((uintptr_t)block->tool);
#endif
}

void *
coro_tool_enter(struct weir_coro_block *block)
{
	return NULL;
}

void
coro_tool_entered(struct weir_coro_block *block)
{
}

void *
coro_tool_leave(struct weir_coro_block *block)
{
	return NULL;
}

void
coro_tool_left(struct weir_coro_block *block)
{
}

void
coro_tools_forget(struct coro_class *class)
{
#ifdef WITH_VALGRIND
	for (size_t i = 0; i < class->nb_fresh; i++)
		if ((class->blocks[i].word & 0xffff) != WEIR_CORO_STATE_FREE)
			coro_tool_destroy(&class->blocks[i]);
#endif
}

#endif
