/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The switch of machines that have none of their own in weir_coro_switch.h, and of those that are asked to (-Dcoro_switch=fcontext):
 * by the two functions of Boost.Context that its C++ classes are made of.
 *
 *     who leaves                                   who goes on
 *     jump_fcontext(to->sp, from) -------------->  returns where the other one stands, and its from
 *                                                  from->sp = where it stands
 *
 * What Boost keeps of FP control words differs from machine to machine. Here everybody keeps the rounding mode: a coroutine
 * begins with that of its creator, and what it sets is its own, in classes without fp_control too.
 */

#include <fenv.h>

#include "coro_private.h"

#if !defined(WEIR_CORO_FCONTEXT)
#error "this machine has a switch of its own, and uses it"
#endif

/* Boost's headers are C++. */
struct transfer {
	void *from; /* where who left stands */
	void *data; /* what it gave */
};

struct transfer jump_fcontext(void *to, void *data);
void *make_fcontext(void *top, size_t size, void (*run)(struct transfer));

/* Let who left be found. */
static inline void
arrive(struct transfer transfer)
{
	struct weir_coro_context *left = transfer.data;

	left->sp = transfer.from;
}

/*
 * On PPC64 Boost.Context (1.74) keeps no floating-point and vector registers at all. Said to be lost here, those that callers
 * rely on are saved when this function begins, and restored when it ends.
 */
#if defined(__powerpc64__)
#if defined(__ALTIVEC__)
#define LOSE_VECTORS                                                                               \
	, "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"
#else
#define LOSE_VECTORS
#endif
#define LOSE_REGISTERS                                                                             \
	__asm__ volatile(""                                                                        \
			 :                                                                         \
			 :                                                                         \
			 : "fr14", "fr15", "fr16", "fr17", "fr18", "fr19", "fr20", "fr21", "fr22", \
			 "fr23", "fr24", "fr25", "fr26", "fr27", "fr28", "fr29", "fr30",           \
			 "fr31" LOSE_VECTORS)
#else
#define LOSE_REGISTERS
#endif

void
weir_coro_switch_fcontext(struct weir_coro_context *from, struct weir_coro_context *to)
{
	const int rounding = fegetround();

	LOSE_REGISTERS;
	arrive(jump_fcontext(to->sp, from));
	if (fegetround() != rounding)
		fesetround(rounding);
}

static void
unwound(int *unused)
{
	coro_thread_ends();
}

/*
 * The name by which tools know the bottom of a stack. An exception that nobody catches finds it by itself, and calls
 * std::terminate(); what unwinds by force, as pthread_exit() does, finds what is to be done at the end of this.
 */
__attribute__((noinline)) void
coro_entry(void)
{
	__attribute__((cleanup(unwound))) int here = 0;

	(void)here;
	coro_main();
}

static void
begin(struct transfer transfer)
{
	arrive(transfer);
	fesetround((int)weir_coro_thread_now()->current->fp_own.control);
	coro_entry();
}

void
coro_context_init(struct weir_coro_block *block)
{
	const size_t bytes = (size_t)(block->top - block->stack);

	block->contexts.own = (struct weir_coro_context){
		.sp = make_fcontext(block->top, bytes, begin),
	};
	block->fp_own.control = (uint32_t)fegetround(); /* the creator's */
}
