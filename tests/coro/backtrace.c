/* SPDX-License-Identifier: BSD-3-Clause */
/* For test_backtrace.sh: a coroutine within a coroutine, stopped in its innermost function. */
#include "weir_coro.h"

void innermost(void);
void resumes_here(struct weir_coro *coro);

__attribute__((noinline)) void
innermost(void)
{
	__asm__ volatile("" : : : "memory");
}

static __attribute__((noinline)) void
inner_run(void)
{
	/* Once more after it was left: what the debugger follows is written anew at each resumption. */
	weir_coro_yield();
	innermost();
	__asm__ volatile("");
}

__attribute__((noinline)) void
resumes_here(struct weir_coro *coro)
{
	weir_coro_resume(coro);
	__asm__ volatile("");
}

static __attribute__((noinline)) void
outer_run(void)
{
	struct weir_coro *inner = weir_coro_create(inner_run);

	weir_coro_resume(inner);
	resumes_here(inner);
	weir_coro_destroy(inner);
}

int
main(void)
{
	struct weir_coro *outer;

	if (weir_coro_init(65536, 0, 0, 2, 0, 0, -1) != 0)
		return 1;
	outer = weir_coro_create(outer_run);
	weir_coro_resume(outer);
	weir_coro_destroy(outer);
	weir_coro_cleanup();
	return 0;
}
