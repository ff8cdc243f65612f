/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_CORO_DPDK_H
#define WEIR_CORO_DPDK_H

/**
 * @file
 * What belongs to a thread, asked for by a coroutine that may have moved to another one. Only where Weir was
 * built with DPDK.
 *
 * A yield may return on another thread. The compiler does not know: whatever address of a thread-local variable
 * it has worked out before, it may use after. What that means depends on how the variable is used:
 *
 *      use of a thread-local variable              without weir.pc's flags   with them (-ftls-model=initial-exec)
 *     -----------------------------------------   ------------------------   ------------------------------------
 *      reads and writes: rte_lcore_id(),           may be another thread's    right
 *      rte_errno, members of a structure
 *      its address (&rte_errno, p = &variable),    may be another thread's    may be another thread's
 *      elements of an array by a variable index
 *      errno: the C library gives its address      may be another thread's    may be another thread's
 *      the functions here, weir_coro_errno(),      right                      right
 *      weir_coro_self()
 *
 * This is x86-64, where each access names the thread's segment. On AArch64 compilers keep the thread pointer as well:
 * there no flags help, only the functions are right, and what uses DPDK's inlines is a function of its own that is never
 * inlined and does not yield.
 *
 * So code that runs on coroutines is compiled with weir.pc's flags, which make rte_lcore_id() and all that DPDK's inlines
 * do with it right, and uses these functions in the cases that are left. What they return is the running thread's
 * until the next yield: do not keep a pointer across one.
 */

#include "weir_coro.h"

#ifdef __cplusplus
extern "C" {
#endif

/** rte_lcore_id() of the thread that runs now; LCORE_ID_ANY of one that is not EAL's. Any thread, in or outside of a coroutine. */
unsigned int weir_coro_lcore_id(void);

/** Address of the rte_errno of the thread that runs now. Any thread, in or outside of a coroutine. */
int *weir_coro_rte_errno(void);

/**
 * Define a function of your own that returns the address of a thread-local variable of the thread that runs now:
 *
 *     static RTE_DEFINE_PER_LCORE(struct counter, counters[16]);
 *     WEIR_CORO_ACCESSOR(struct counter, my_counters, RTE_PER_LCORE(counters)[0])
 *     ...
 *     my_counters()[i].packets++;
 *
 * @param type      of the variable
 * @param name      of the function, which is static
 * @param variable  the thread-local variable
 */
#define WEIR_CORO_ACCESSOR(type, name, variable)                                                     \
	/* Never inlined, and the compiler cannot see that one call returns what another one did. */ \
	static __attribute__((noinline)) type *name(void)                                            \
	{                                                                                            \
		type *weir_coro_address = &(variable);                                               \
                                                                                                     \
		__asm__ volatile("" : "+r"(weir_coro_address) : : "memory");                         \
		return weir_coro_address;                                                            \
	}

#ifdef __cplusplus
}
#endif

#endif
