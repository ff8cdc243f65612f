/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_POOL_H
#define WEIR_BASE_POOL_H

/**
 * @file
 * Pools of mbufs that sanitizers can see into.
 *
 * The address sanitizer knows nothing of memory that DPDK hands out: a packet that is
 * read after it was freed, or past its end, is no error to it. In builds with it, the
 * mbufs of these pools are out of bounds while they are free, and
 * weir_base_mbuf_guard() puts what lies behind a packet's data out of bounds.
 *
 * The thread sanitizer does not see that a pool hands an mbuf from one thread to
 * another in good order, and reports a race where there is none. In builds with it, it sees.
 *
 * In other builds these are plain DPDK pools, and guards cost nothing. Needs DPDK.
 */

#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "weir_base_sanitizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Make a pool of mbufs. EAL must be up; any thread.
 *
 * With either sanitizer, @p cache and @p ops are ignored: every mbuf passes the guard.
 *
 * @param name       unique, shorter than RTE_MEMPOOL_NAMESIZE
 * @param nb_mbufs   their number
 * @param cache      mbufs that an lcore keeps for itself at most
 * @param data_room  bytes of each for data, headroom included
 * @param socket_id  NUMA node of the memory, or SOCKET_ID_ANY
 * @param ops        how mbufs are handed out ("ring_mt_rts"); NULL: DPDK's default
 * @return the pool, to be freed with weir_base_pool_free(); NULL with rte_errno
 */
struct rte_mempool *weir_base_pool_create(const char *name, uint32_t nb_mbufs, uint32_t cache,
	uint16_t data_room, int socket_id, const char *ops);

/** Free a pool, of which no mbuf is in use any more. NULL is allowed. */
void weir_base_pool_free(struct rte_mempool *pool);

/**
 * Put what lies behind a packet's data out of bounds, in each of its segments,
 * until it is freed or guarded again: for who has just received or made a packet. Who
 * makes a packet longer must do it again. The headroom stays: nodes put
 * headers there. Segments whose buffer is shared or not of their own pool are left alone.
 */
static inline void
weir_base_mbuf_guard(struct rte_mbuf *m)
{
#ifdef WEIR_BASE_ASAN
	for (; m != NULL; m = m->next) {
		const uint32_t used = (uint32_t)m->data_off + m->data_len;

		if (!RTE_MBUF_DIRECT(m) || rte_mbuf_refcnt_read(m) != 1 || used > m->buf_len)
			continue;
		weir_base_asan_unpoison(m->buf_addr, used);
		weir_base_asan_poison((char *)m->buf_addr + used, m->buf_len - used);
	}
#else
	RTE_SET_USED(m);
#endif
}

#ifdef __cplusplus
}
#endif

#endif
