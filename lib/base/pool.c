/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Pools of mbufs. With a sanitizer: mempool operations of our own, a ring of pointers
 * with a guard at its gate. What goes in is put out of bounds, what comes out is
 * in bounds again (address sanitizer). The ring's functions are inline, so compiled here: its order can be
 * seen (thread sanitizer).
 */

#include "weir_base_pool.h"

#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_ring.h>

#if !defined(WEIR_BASE_ASAN) && !defined(WEIR_BASE_TSAN)

struct rte_mempool *
weir_base_pool_create(const char *name, uint32_t nb_mbufs, uint32_t cache, uint16_t data_room,
	int socket_id, const char *ops)
{
	return rte_pktmbuf_pool_create_by_ops(name, nb_mbufs, cache, 0, data_room, socket_id, ops);
}

void
weir_base_pool_free(struct rte_mempool *pool)
{
	rte_mempool_free(pool);
}

#else

#define GUARD_OPS "weir_guard"

/* What the guard knows of a pool. */
struct guard {
	struct rte_ring *ring;
	uint32_t size; /* bytes of an object */
	int armed;     /* objects are initialised: DPDK's own code must not meet the guard */
};

static int
guard_alloc(struct rte_mempool *pool)
{
	char name[RTE_RING_NAMESIZE];
	struct guard *guard = rte_zmalloc(
		NULL, sizeof(*guard), 0); /* the leak detector does not look into pools */

	if (guard == NULL)
		return -ENOMEM;
	snprintf(name, sizeof(name), "G_%.24s", pool->name);
	/* Threads may share a CPU: an end that lost it must not hold up the others. */
	guard->ring = rte_ring_create(name, rte_align32pow2(pool->size + 1), pool->socket_id,
		RING_F_MP_RTS_ENQ | RING_F_MC_RTS_DEQ);
	if (guard->ring == NULL) {
		rte_free(guard);
		return -rte_errno;
	}
	guard->size = pool->elt_size;
	pool->pool_data = guard;
	return 0;
}

static void
guard_free(struct rte_mempool *pool)
{
	struct guard *guard = pool->pool_data;

	if (guard != NULL)
		rte_ring_free(guard->ring);
	rte_free(guard);
}

static int
guard_enqueue(struct rte_mempool *pool, void *const *objs, unsigned int nb)
{
	struct guard *guard = pool->pool_data;

	if (guard->armed)
		for (unsigned int i = 0; i < nb; i++)
			weir_base_asan_poison(objs[i], guard->size);
	return rte_ring_enqueue_bulk(guard->ring, objs, nb, NULL) == 0 ? -ENOBUFS : 0;
}

static int
guard_dequeue(struct rte_mempool *pool, void **objs, unsigned int nb)
{
	struct guard *guard = pool->pool_data;

	if (rte_ring_dequeue_bulk(guard->ring, objs, nb, NULL) == 0)
		return -ENOBUFS;
	for (unsigned int i = 0; i < nb; i++)
		weir_base_asan_unpoison(objs[i], guard->size);
	return 0;
}

static unsigned int
guard_count(const struct rte_mempool *pool)
{
	const struct guard *guard = pool->pool_data;

	return rte_ring_count(guard->ring);
}

static const struct rte_mempool_ops guard_ops = {
	.name = GUARD_OPS,
	.alloc = guard_alloc,
	.free = guard_free,
	.enqueue = guard_enqueue,
	.dequeue = guard_dequeue,
	.get_count = guard_count,
};

RTE_MEMPOOL_REGISTER_OPS(guard_ops)

static void
obj_poison(struct rte_mempool *pool, void *arg, void *obj, unsigned int index)
{
	RTE_SET_USED(arg);
	RTE_SET_USED(index);
	weir_base_asan_poison(obj, pool->elt_size);
}

static void
chunk_unpoison(
	struct rte_mempool *pool, void *arg, struct rte_mempool_memhdr *chunk, unsigned int index)
{
	RTE_SET_USED(pool);
	RTE_SET_USED(arg);
	RTE_SET_USED(index);
	weir_base_asan_unpoison(chunk->addr, chunk->len);
}

struct rte_mempool *
weir_base_pool_create(const char *name, uint32_t nb_mbufs, uint32_t cache, uint16_t data_room,
	int socket_id, const char *ops)
{
	struct rte_mempool *pool;
	struct guard *guard;

	RTE_SET_USED(cache);
	RTE_SET_USED(ops);
	pool = rte_pktmbuf_pool_create_by_ops(
		name, nb_mbufs, 0, 0, data_room, socket_id, GUARD_OPS);
	if (pool == NULL)
		return NULL;
	guard = pool->pool_data;
	rte_mempool_obj_iter(pool, obj_poison, NULL);
	guard->armed = 1;
	return pool;
}

void
weir_base_pool_free(struct rte_mempool *pool)
{
	/* The memory goes back to DPDK, who may give it to anyone. */
	if (pool != NULL)
		rte_mempool_mem_iter(pool, chunk_unpoison, NULL);
	rte_mempool_free(pool);
}

#endif
