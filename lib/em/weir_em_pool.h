/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_EM_POOL_H
#define WEIR_EM_POOL_H

/**
 * @file
 * Pools of event buffers. A buffer is an mbuf with a place for the event machine's own: its event group, and in builds with
 * -Dem_checks=true its state, by which buffers that are freed twice, sent after they were freed, or sent twice are found.
 */

#include <rte_mempool.h>

#include "weir_em.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a pool is to be. */
struct weir_em_pool_config {
	const char *name;   /**< unique among DPDK's memory pools; copied */
	uint32_t nb;        /**< buffers */
	uint32_t cache;     /**< that an lcore keeps for itself at most */
	uint16_t data_room; /**< bytes of each, headroom included; 0: RTE_MBUF_DEFAULT_BUF_SIZE */
	int socket_id;      /**< NUMA node; -1: any */
	const char *ops;    /**< how they are handed out ("ring_mt_rts"); NULL: DPDK's default */
};

/** What is known of a pool. */
struct weir_em_pool_info {
	char name[RTE_MEMPOOL_NAMESIZE]; /**< of the memory pool */
	struct rte_mempool *mempool;     /**< it */
	bool adopted;                    /**< it is somebody else's */
	uint32_t nb;                     /**< buffers */
	/**
	 * Of these free: its stock and its caches are counted one after the other, so what moves between them meanwhile may count twice
	 * (never more than nb), or not at all.
	 */
	uint32_t nb_free;
	uint64_t nb_allocated; /**< by weir_em_alloc(), ever */
	uint64_t nb_failed;    /**< calls of it that found none */
};

/** Make a pool. @return WEIR_EM_NONE with rte_errno: EINVAL, ENOSPC, EEXIST, ENOMEM */
weir_em_pool weir_em_pool_create(struct weir_em *em, const struct weir_em_pool_config *config);

/** Take buffers from a pool of mbufs that is there, and stays its owner's. @return WEIR_EM_NONE with rte_errno: EINVAL, ENOSPC */
weir_em_pool weir_em_pool_adopt(struct weir_em *em, struct rte_mempool *mempool);

/**
 * End a pool; one that was adopted is only forgotten. No core takes buffers from it when this returns 0.
 *
 * @return 0; -EBUSY: buffers are in use (of one that was made), or another thread is just ending it; -ESTALE, -EINVAL
 */
int weir_em_pool_delete(struct weir_em *em, weir_em_pool pool);

/** Look at a pool. @return 0, -ESTALE, -EINVAL */
int weir_em_pool_info(struct weir_em *em, weir_em_pool pool, struct weir_em_pool_info *info);

/** The pool of a name; WEIR_EM_NONE: there is none. */
weir_em_pool weir_em_pool_find(struct weir_em *em, const char *name);

/**
 * Get a buffer, whose data is @p size bytes, uninitialised.
 *
 * @return NULL with rte_errno: ENOMEM: none is free; EMSGSIZE: more than fits; EBUSY: another thread is in weir_em_pool_delete() with it, and may
 *   find that it stays; EINVAL, ESTALE
 */
struct rte_mbuf *weir_em_alloc(struct weir_em_core *core, weir_em_pool pool, uint16_t size);

/** Get several, all or none. @return 0, or a negative errno as above */
int weir_em_alloc_burst(struct weir_em_core *core, weir_em_pool pool, uint16_t size,
	struct rte_mbuf **buffers, uint16_t nb);

/**
 * Give a buffer back.
 *
 * @param core  the caller's, or NULL
 */
void weir_em_free(struct weir_em *em, struct weir_em_core *core, struct rte_mbuf *buffer);

/**
 * Make an event of an mbuf that did not come from weir_em_alloc(), of a port for example: its place for the machine's own is
 * initialised. Once, before it is first sent as a buffer.
 */
struct rte_event weir_em_event_from_mbuf(const struct weir_em *em, struct rte_mbuf *mbuf);

/** The mbuf is the caller's again, and no event: to be given to a port, or freed by others. */
void weir_em_event_to_mbuf(const struct weir_em *em, struct rte_mbuf *mbuf);

#ifdef __cplusplus
}
#endif

#endif
