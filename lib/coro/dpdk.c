/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What DPDK keeps per thread. Functions, never inlined (be it at link time), that the compiler takes to return something new
 * each time: see weir_coro_dpdk.h.
 */

#include <rte_errno.h>
#include <rte_lcore.h>

#include "weir_coro_dpdk.h"

WEIR_CORO_ACCESSOR(int, rte_errno_address, rte_errno)
WEIR_CORO_ACCESSOR(unsigned int, lcore_id_address, RTE_PER_LCORE(_lcore_id))

unsigned int
weir_coro_lcore_id(void)
{
	return *lcore_id_address();
}

int *
weir_coro_rte_errno(void)
{
	return rte_errno_address();
}
