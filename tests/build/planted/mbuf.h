/* SPDX-License-Identifier: BSD-3-Clause */
/* An mbuf of a guarded pool, for the planted bugs around it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>

#include "weir_base_eal.h"
#include "weir_base_pool.h"

#define DATA_BYTES 61 /* odd: the guard is exact to the byte */

static struct rte_mempool *pool;

static struct rte_mbuf *
mbuf_make(const char *program)
{
	char *eal[] = {(char *)(uintptr_t)program, (char *)"--no-huge", (char *)"--no-pci",
		(char *)"--no-shconf", (char *)"--no-telemetry", (char *)"-m", (char *)"64",
		(char *)"--lcores=0@0,1@0", NULL};
	struct rte_mbuf *m;

	weir_base_eal_clean_up_at_exit();
	if (rte_eal_init(RTE_DIM(eal) - 1, eal) < 0)
		exit(99);
	/*
	 * Threads share a CPU. In DPDK's default ring each waits for the one before it, which has no CPU meanwhile: they could go on
	 * in step, one mbuf per time slice of the system.
	 */
	pool = weir_base_pool_create("planted", 255, 32, 2048, SOCKET_ID_ANY, "ring_mt_rts");
	if (pool == NULL || (m = rte_pktmbuf_alloc(pool)) == NULL)
		exit(99);
	memset(rte_pktmbuf_append(m, DATA_BYTES), 7, DATA_BYTES);
	return m;
}
