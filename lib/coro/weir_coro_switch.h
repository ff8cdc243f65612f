/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_CORO_SWITCH_H
#define WEIR_CORO_SWITCH_H

/**
 * @file
 * From one stack to another: the one file that knows the machine. x86-64 and AArch64 are
 * our own; elsewhere Boost.Context's fcontext does it.
 *
 * What is kept of a context is where it goes on, its stack pointer and its frame pointer; all
 * other registers are said to be lost, so the compiler keeps those that it needs on the stack, and no others. FP
 * control words (rounding mode, exception masks) are neither saved nor changed.
 */

#include <stdint.h>

/* In weir.pc's flags where the library was built so (-Dcoro_switch=fcontext). */
#if !defined(WEIR_CORO_FCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define WEIR_CORO_FCONTEXT 1 /**< Boost.Context switches */
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct weir_coro_thread;

/** A place to go on from. */
struct weir_coro_context {
	void *sp; /**< stack pointer */
	void *fp; /**< frame pointer */
	void *pc; /**< next instruction (fcontext: none) */
};

/** Where a coroutine and who resumed it go on: one of the two runs, the other's is valid, once it was noted (weir_coro_slice_left()). */
struct weir_coro_contexts {
	struct weir_coro_context own;     /**< the coroutine's */
	struct weir_coro_context resumer; /**< of who resumed it */
};

/*
 * Where a function has local variables of variable size and others that are aligned more than the stack, clang finds the latter by
 * a register that it does not take back when it is said to be lost: there the switch keeps it, at offset BASE.
 */
#if defined(WEIR_CORO_FCONTEXT)
/* The other one keeps it. */
#elif defined(__clang__) && defined(__x86_64__)
#define WEIR_CORO_BASE_SAVE(BASE) "mov %%rbx, " BASE "(%0)\n\t"
#define WEIR_CORO_BASE_LOAD(BASE) "\n\tmov " BASE "(%0), %%rbx"
#define WEIR_CORO_BASE_LOST       /* it is kept */
#elif defined(__clang__)
#define WEIR_CORO_BASE_SAVE(BASE) "str x19, [%0, " BASE "]\n\t"
#define WEIR_CORO_BASE_LOAD(BASE) "\n\tldr x19, [%0, " BASE "]"
#define WEIR_CORO_BASE_LOST       /* it is kept */
#else
#define WEIR_CORO_BASE_SAVE(BASE)
#define WEIR_CORO_BASE_LOAD(BASE)
#if defined(__x86_64__)
#define WEIR_CORO_BASE_LOST , "rbx"
#else
#define WEIR_CORO_BASE_LOST , "x19"
#endif
#endif

/*
 * Who leaves gives where it goes on to who goes on there, in registers: its stack pointer, its frame pointer, the next instruction. Of
 * a coroutine that is kept by who resumed it, whose pair of contexts is at hand; a coroutine would have to ask who it is
 * before it could write a word. What waits for what is most of a switch's time: out of memory a value comes 5 cycles
 * after it was written, on most CPUs, and with where the stack is come all addresses on it.
 *
 * That is why a coroutine finds who resumed it in the thread's memory, too: a place that nobody has to look up. The thread
 * is what it was where one goes on, so its address comes along. What the pair says of who resumed it is for those who unwind the stack, and
 * for the next instruction, which CPUs foresee.
 *
 * Nothing is written below the stack pointer, so it may stand in a leaf function with a red zone.
 */
#if defined(WEIR_CORO_FCONTEXT)
/** Library internal: the same by Boost.Context, which keeps where @p from goes on by itself. */
void weir_coro_switch_fcontext(struct weir_coro_context *from, struct weir_coro_context *to);
#elif defined(__x86_64__)
#if defined(__AVX512F__)
#define WEIR_CORO_AVX512_REGISTERS                                                                 \
	, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24",         \
		"xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2",   \
		"k3", "k4", "k5", "k6", "k7"
#else
#define WEIR_CORO_AVX512_REGISTERS
#endif
/** All that is lost, but what who leaves says where it goes on by. */
#define WEIR_CORO_LOST                                                                             \
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0", "xmm1",      \
		"xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",  \
		"xmm12", "xmm13", "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)",      \
		"st(5)", "st(6)", "st(7)" WEIR_CORO_BASE_LOST WEIR_CORO_AVX512_REGISTERS
/* clang-format off */
#define WEIR_CORO_SWITCH_IN(contexts, thread, left)                                                \
	__asm__ volatile(WEIR_CORO_BASE_SAVE("240")                                                \
			 "lea 1f(%%rip), %%rax\n\t"                                                \
			 "mov %%rsp, 24(%0)\n\t"                                                   \
			 "mov %%rbp, 32(%0)\n\t"                                                   \
			 "mov %%rax, 40(%0)\n\t"                                                   \
			 "mov %%rsp, 16(%1)\n\t"                                                   \
			 "mov %%rbp, 24(%1)\n\t"                                                   \
			 "mov (%0), %%rsp\n\t"                                                     \
			 "mov 8(%0), %%rbp\n\t"                                                    \
			 "jmp *16(%0)\n"                                                           \
			 "1:\n\t"                                                                  \
			 "endbr64"                                                                 \
			 WEIR_CORO_BASE_LOAD("240")                                                \
			 : "+D"(contexts), "+S"(thread), "=c"(left.sp), "=d"(left.fp),         \
			 "=a"(left.pc)                                                           \
			 :                                                                         \
			 : WEIR_CORO_LOST)
#define WEIR_CORO_SWITCH_OUT(contexts, thread)                                                     \
	__asm__ volatile(WEIR_CORO_BASE_SAVE("248")                                                \
			 "lea 1f(%%rip), %%rax\n\t"                                                \
			 "mov %%rsp, %%rcx\n\t"                                                    \
			 "mov %%rbp, %%rdx\n\t"                                                    \
			 "mov 16(%1), %%rsp\n\t"                                                   \
			 "mov 24(%1), %%rbp\n\t"                                                   \
			 "jmp *40(%0)\n"                                                           \
			 "1:\n\t"                                                                  \
			 "endbr64"                                                                 \
			 WEIR_CORO_BASE_LOAD("248")                                                \
			 : "+D"(contexts), "+S"(thread)                                            \
			 :                                                                         \
			 : "rcx", "rdx", "rax", WEIR_CORO_LOST)
/* clang-format on */
#elif defined(__aarch64__)
#if defined(__ARM_FEATURE_SVE)
#define WEIR_CORO_SVE_REGISTERS                                                                    \
	, "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13",  \
		"p14", "p15"
#else
#define WEIR_CORO_SVE_REGISTERS
#endif
/** All that is lost, but what who leaves says where it goes on by. */
#define WEIR_CORO_LOST                                                                             \
	"x2", "x3", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",      \
		"x18", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30",       \
		"memory", "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", \
		"v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21",       \
		"v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30",                     \
		"v31" WEIR_CORO_BASE_LOST WEIR_CORO_SVE_REGISTERS
/* clang-format off */
#define WEIR_CORO_SWITCH_IN(contexts, thread, left)                                                \
	register struct weir_coro_contexts *x0 __asm__("x0") = contexts;                           \
	register struct weir_coro_thread *x1 __asm__("x1") = thread;                               \
	register void *x4 __asm__("x4");                                                           \
	register void *x5 __asm__("x5");                                                           \
	register void *x6 __asm__("x6");                                                           \
	__asm__ volatile(WEIR_CORO_BASE_SAVE("240")                                                \
			 "adr x2, 1f\n\t"                                                          \
			 "mov x3, sp\n\t"                                                          \
			 "stp x3, x29, [%0, 24]\n\t"                                               \
			 "str x2, [%0, 40]\n\t"                                                    \
			 "stp x3, x29, [%1, 16]\n\t"                                               \
			 "ldp x3, x29, [%0]\n\t"                                                   \
			 "ldr x2, [%0, 16]\n\t"                                                    \
			 "mov sp, x3\n\t"                                                          \
			 "br x2\n"                                                                 \
			 "1:\n\t"                                                                  \
			 "hint 36" /* bti j */                                                     \
			 WEIR_CORO_BASE_LOAD("240")                                                \
			 : "+r"(x0), "+r"(x1), "=r"(x4), "=r"(x5), "=r"(x6)                        \
			 :                                                                         \
			 : WEIR_CORO_LOST);                                                        \
	thread = x1;                                                                               \
	left.sp = x4;                                                                              \
	left.fp = x5;                                                                              \
	left.pc = x6
#define WEIR_CORO_SWITCH_OUT(contexts, thread)                                                     \
	register struct weir_coro_contexts *x0 __asm__("x0") = contexts;                           \
	register struct weir_coro_thread *x1 __asm__("x1") = thread;                               \
	__asm__ volatile(WEIR_CORO_BASE_SAVE("248")                                                \
			 "mov x4, sp\n\t"                                                          \
			 "mov x5, x29\n\t"                                                         \
			 "adr x6, 1f\n\t"                                                          \
			 "ldp x3, x29, [%1, 16]\n\t"                                               \
			 "ldr x2, [%0, 40]\n\t"                                                    \
			 "mov sp, x3\n\t"                                                          \
			 "br x2\n"                                                                 \
			 "1:\n\t"                                                                  \
			 "hint 36" /* bti j */                                                     \
			 WEIR_CORO_BASE_LOAD("248")                                                \
			 : "+r"(x0), "+r"(x1)                                                      \
			 :                                                                         \
			 : "x4", "x5", "x6", WEIR_CORO_LOST);                                      \
	contexts = x0
/* clang-format on */
#endif

/** Where one has come back to from a coroutine. */
struct weir_coro_arrival {
	struct weir_coro_thread *thread; /**< on this thread */
	struct weir_coro_context left;   /**< where the coroutine goes on */
};

/**
 * Leave for the coroutine; return when it leaves. The contexts are those of a struct weir_coro_block; who calls this
 * keeps where the coroutine goes on in contexts->own then.
 */
static inline __attribute__((always_inline)) struct weir_coro_arrival
weir_coro_switch_in(struct weir_coro_contexts *contexts, struct weir_coro_thread *thread)
{
	struct weir_coro_arrival arrival;

#if defined(WEIR_CORO_FCONTEXT)
	weir_coro_switch_fcontext(&contexts->resumer, &contexts->own);
	arrival.left = contexts->own;
#else
	WEIR_CORO_SWITCH_IN(contexts, thread, arrival.left);
#endif
	arrival.thread = thread;
	return arrival;
}

/**
 * From the coroutine: leave for who resumed it; return when it is resumed, maybe on another thread.
 *
 * @return the same contexts, which who resumed it had at hand
 */
static inline __attribute__((always_inline)) struct weir_coro_contexts *
weir_coro_switch_out(struct weir_coro_contexts *contexts, struct weir_coro_thread *thread)
{
#if defined(WEIR_CORO_FCONTEXT)
	(void)thread;
	weir_coro_switch_fcontext(&contexts->own, &contexts->resumer);
#else
	WEIR_CORO_SWITCH_OUT(contexts, thread);
#endif
	return contexts;
}

/** FP control words: rounding mode, exception masks. */
struct weir_coro_fp {
	uint32_t control; /**< x86: MXCSR; AArch64: FPCR; fcontext: rounding mode */
	uint16_t x87;     /**< x86: control word of the x87 */
};

/** Note the CPU's words in @p save, make it work by @p load; on x86 sticky exceptions are part of them. */
static inline __attribute__((always_inline)) void
weir_coro_fp_exchange(struct weir_coro_fp *save, const struct weir_coro_fp *load)
{
#if defined(WEIR_CORO_FCONTEXT)
	/* The switch does it. */
	(void)load;
	save->control = 0;
	save->x87 = 0;
#elif defined(__x86_64__)
	__asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(save->control), "=m"(save->x87));
	/* To look whether it differs takes AMD's CPUs longer than to load MXCSR, and less long than to load the other one. */
	__asm__ volatile("ldmxcsr %0" : : "m"(load->control));
	if (__builtin_expect(save->x87 != load->x87, 0))
		__asm__ volatile("fldcw %0" : : "m"(load->x87));
#elif defined(__aarch64__)
	uint64_t control;

	__asm__ volatile("mrs %0, fpcr" : "=r"(control));
	save->control = (uint32_t)control;
	save->x87 = 0;
	control = load->control;
	/* To load costs much more than to look. */
	if (__builtin_expect(save->control != load->control, 0))
		__asm__ volatile("msr fpcr, %0" : : "r"(control));
#endif
}

#ifdef __cplusplus
}
#endif

#endif
