/* SPDX-License-Identifier: BSD-3-Clause */

/* Pools of buffers. */

#include <sched.h>

#include <rte_mempool.h>

#include "check.h"
#include "weir_base_pool.h"

int
em_meta_register(struct weir_em *em)
{
	static const struct rte_mbuf_dynfield field = {
		.name = "weir_em",
		.size = sizeof(struct em_meta),
		.align = __alignof__(struct em_meta),
	};

	/* All instances have the same place. */
	em->meta_offset = rte_mbuf_dynfield_register(&field);
	if (em->meta_offset >= 0)
		return 0;
	EM_LOG(ERROR, "%s: mbufs have no room for %zu bytes: %s", em->name, field.size,
		rte_strerror(rte_errno));
	return -rte_errno;
}

/* Under the lock. */
static struct em_pool *
pool_of(struct weir_em *em, weir_em_pool handle, int *error)
{
	uint32_t number = em_handle_number(handle);

	if (handle != WEIR_EM_NONE && number < em->config.nb_pools &&
		em->pools[number].handle == handle)
		return &em->pools[number];
	*error = em_handle_errno(handle, EM_KIND_POOL, em->config.nb_pools);
	return NULL;
}

/* Why no buffers are taken: it is gone, or may yet stay. */
static __rte_noinline int
why_closed(const struct weir_em *em, weir_em_pool handle)
{
	const int rc = em_handle_errno(handle, EM_KIND_POOL, em->config.nb_pools);

	return rc == -ESTALE && em_read(&em->pools[em_handle_number(handle)].handle) == handle
		       ? -EBUSY
		       : rc;
}

/* NULL with *error: no buffers are taken from it. */
static struct em_pool *
open_pool_of(const struct weir_em *em, weir_em_pool handle, int *error)
{
	uint32_t number = em_handle_number(handle);

	if (likely(handle != WEIR_EM_NONE && number < em->config.nb_pools &&
		    em_read(&em->pools[number].open) == handle))
		return &em->pools[number];
	*error = why_closed(em, handle);
	return NULL;
}

/* Buffers handed out, and calls that found none; ever. */
static struct em_count
count_pool(const struct weir_em *em, uint32_t number)
{
	struct em_count sums = {0};

	for (unsigned int id = 0; id < em->nb_ports; id++) {
		sums.received += em_read(&em->cores[id].pools[number].received);
		sums.sent += em_read(&em->cores[id].pools[number].sent);
	}
	return sums;
}

static weir_em_pool
add(struct weir_em *em, struct rte_mempool *mempool, bool adopted)
{
	uint16_t room = rte_pktmbuf_data_room_size(mempool);
	struct em_count before;
	struct em_pool *pool;
	weir_em_pool handle;

	em_lock(em);
	handle = em_numbers_get(&em->pool_numbers);
	if (handle != WEIR_EM_NONE) {
		pool = &em->pools[em_handle_number(handle)];
		before = count_pool(em, em_handle_number(handle));
		pool->mempool = mempool;
		pool->room = room > RTE_PKTMBUF_HEADROOM ? room - RTE_PKTMBUF_HEADROOM : 0;
		pool->adopted = adopted;
		pool->before_allocated = before.received;
		pool->before_failed = before.sent;
		__atomic_store_n(&pool->handle, handle, __ATOMIC_RELEASE);
		__atomic_store_n(&pool->open, handle, __ATOMIC_RELEASE);
	}
	em_unlock(em);
	if (handle != WEIR_EM_NONE)
		return handle;
	EM_LOG(ERROR, "%s: there are %u pools already", em->name, em->config.nb_pools);
	return em_fail(ENOSPC);
}

weir_em_pool
weir_em_pool_create(struct weir_em *em, const struct weir_em_pool_config *config)
{
	struct rte_mempool *mempool;
	weir_em_pool handle;
	uint16_t room;

	if (em == NULL || config == NULL || config->name == NULL || config->name[0] == '\0' ||
		config->nb == 0 || strlen(config->name) >= RTE_MEMPOOL_NAMESIZE - 4) {
		EM_LOG(ERROR, "a pool must have a name of up to %d characters, and buffers",
			(int)RTE_MEMPOOL_NAMESIZE - 5);
		return em_fail(EINVAL);
	}
	room = config->data_room != 0 ? config->data_room : RTE_MBUF_DEFAULT_BUF_SIZE;
	mempool = weir_base_pool_create(config->name, config->nb, config->cache, room,
		config->socket_id < 0 ? SOCKET_ID_ANY : config->socket_id, config->ops);
	if (mempool == NULL) {
		EM_LOG(ERROR, "%s: pool '%s' of %u buffers of %u bytes: %s", em->name, config->name,
			config->nb, room, rte_strerror(rte_errno));
		return WEIR_EM_NONE;
	}
	handle = add(em, mempool, false);
	if (handle == WEIR_EM_NONE) {
		weir_base_pool_free(mempool);
		rte_errno = ENOSPC;
	}
	return handle;
}

weir_em_pool
weir_em_pool_adopt(struct weir_em *em, struct rte_mempool *mempool)
{
	if (em == NULL || mempool == NULL ||
		mempool->private_data_size < sizeof(struct rte_pktmbuf_pool_private)) {
		EM_LOG(ERROR, "only pools of mbufs can be adopted");
		return em_fail(EINVAL);
	}
	return add(em, mempool, true);
}

static bool
is_used(const struct em_pool *pool)
{
	return !pool->adopted && rte_mempool_in_use_count(pool->mempool) > 0;
}

/* No core takes buffers from what had this handle, any more: who began before, is through. */
static void
wait_for_takers(const struct weir_em *em, weir_em_pool handle)
{
	em_barrier(em);
	for (unsigned int id = 0; id < em->nb_ports; id++)
		while (em_read(&em->cores[id].pool) == handle)
			sched_yield();
}

int
weir_em_pool_delete(struct weir_em *em, weir_em_pool handle)
{
	struct em_pool *pool;
	int rc = 0;

	if (em == NULL)
		return -EINVAL;
	em_lock(em);
	pool = pool_of(em, handle, &rc);
	if (pool != NULL && (pool->open == WEIR_EM_NONE || is_used(pool)))
		rc = -EBUSY;
	if (rc == 0)
		__atomic_store_n(&pool->open, WEIR_EM_NONE, __ATOMIC_RELEASE);
	em_unlock(em);
	if (rc < 0)
		return rc;
	wait_for_takers(em, handle);
	em_lock(em);
	if (is_used(pool)) { /* by one of them: it stays */
		__atomic_store_n(&pool->open, handle, __ATOMIC_RELEASE);
		rc = -EBUSY;
	} else {
		__atomic_store_n(&pool->handle, WEIR_EM_NONE, __ATOMIC_RELEASE);
	}
	em_unlock(em);
	if (rc < 0)
		return rc;
	if (!pool->adopted)
		weir_base_pool_free(pool->mempool);
	em_lock(em);
	em_numbers_put(&em->pool_numbers, em_handle_number(handle));
	em_unlock(em);
	return 0;
}

void
em_pools_fini(struct weir_em *em)
{
	for (unsigned int i = 0; i < em->config.nb_pools; i++) {
		struct em_pool *pool = &em->pools[i];

		if (pool->handle == WEIR_EM_NONE || pool->adopted)
			continue;
		if (rte_mempool_in_use_count(pool->mempool) > 0)
			EM_LOG(WARNING, "%s: %u buffers of pool '%s' are in use still: it stays",
				em->name, rte_mempool_in_use_count(pool->mempool),
				pool->mempool->name);
		else
			weir_base_pool_free(pool->mempool);
	}
}

int
weir_em_pool_info(struct weir_em *em, weir_em_pool handle, struct weir_em_pool_info *info)
{
	const struct em_pool *pool;
	struct em_count sums;
	int rc = 0;

	if (em == NULL || info == NULL)
		return -EINVAL;
	em_lock(em);
	pool = pool_of(em, handle, &rc);
	if (pool != NULL) {
		sums = count_pool(em, em_handle_number(handle));
		*info = (struct weir_em_pool_info){
			.mempool = pool->mempool,
			.adopted = pool->adopted,
			.nb = pool->mempool->size,
			.nb_free = rte_mempool_avail_count(pool->mempool),
			.nb_allocated = sums.received - pool->before_allocated,
			.nb_failed = sums.sent - pool->before_failed,
		};
		strcpy(info->name, pool->mempool->name);
	}
	em_unlock(em);
	return rc;
}

weir_em_pool
weir_em_pool_find(struct weir_em *em, const char *name)
{
	weir_em_pool found = WEIR_EM_NONE;

	if (em == NULL || name == NULL)
		return WEIR_EM_NONE;
	em_lock(em);
	for (unsigned int i = 0; i < em->config.nb_pools && found == WEIR_EM_NONE; i++)
		if (em->pools[i].handle != WEIR_EM_NONE &&
			strcmp(em->pools[i].mempool->name, name) == 0)
			found = em->pools[i].handle;
	em_unlock(em);
	return found;
}

/* ---- per event ---- */

static void
hand_out(const struct weir_em *em, struct rte_mbuf *mbuf, uint16_t size)
{
	em_meta(em, mbuf)->group = WEIR_EM_NONE;
	em_check_own(em, mbuf);
	mbuf->data_len = size;
	mbuf->pkt_len = size;
}

/* From a pool that nobody takes away meanwhile. */
static inline int
take(struct weir_em_core *core, weir_em_pool handle, uint16_t size, struct rte_mbuf **buffers,
	uint16_t nb)
{
	int rc = 0;
	const struct em_pool *pool = open_pool_of(core->em, handle, &rc);

	if (unlikely(pool == NULL))
		return rc;
	if (unlikely(size > pool->room))
		return -EMSGSIZE;
	if (unlikely(rte_pktmbuf_alloc_bulk(pool->mempool, buffers, nb) != 0)) {
		em_count(&core->pools[em_handle_number(handle)].sent, 1);
		return -ENOMEM;
	}
	for (uint16_t i = 0; i < nb; i++)
		hand_out(core->em, buffers[i], size);
	em_count(&core->pools[em_handle_number(handle)].received, nb);
	return 0;
}

int
weir_em_alloc_burst(struct weir_em_core *core, weir_em_pool handle, uint16_t size,
	struct rte_mbuf **buffers, uint16_t nb)
{
	int rc;

	if (unlikely(core == NULL || buffers == NULL))
		return -EINVAL;
	/* who deletes it sees this, or is seen */
	__atomic_store_n(&core->pool, handle, __ATOMIC_RELAXED);
	em_light_fence(core->em);
	rc = take(core, handle, size, buffers, nb);
	__atomic_store_n(&core->pool, WEIR_EM_NONE, __ATOMIC_RELEASE);
	return rc;
}

struct rte_mbuf *
weir_em_alloc(struct weir_em_core *core, weir_em_pool handle, uint16_t size)
{
	struct rte_mbuf *mbuf;
	int rc = weir_em_alloc_burst(core, handle, size, &mbuf, 1);

	if (likely(rc == 0))
		return mbuf;
	rte_errno = -rc;
	return NULL;
}

void
weir_em_free(struct weir_em *em, struct weir_em_core *core, struct rte_mbuf *buffer)
{
	if (buffer != NULL && em_check_free(em, core, buffer))
		rte_pktmbuf_free(buffer);
}

void
em_event_free(struct weir_em *em, struct weir_em_core *core, struct rte_event *event)
{
	if (!em_is_buffer(event))
		return;
	em_check_own(em, event->mbuf);
	weir_em_free(em, core, event->mbuf);
}

struct rte_event
weir_em_event_from_mbuf(const struct weir_em *em, struct rte_mbuf *mbuf)
{
	if (mbuf != NULL) {
		em_meta(em, mbuf)->group = WEIR_EM_NONE;
		em_check_own(em, mbuf);
	}
	return weir_em_event_buffer(mbuf);
}

void
weir_em_event_to_mbuf(const struct weir_em *em, struct rte_mbuf *mbuf)
{
	if (mbuf != NULL)
		em_check_forget(em, mbuf);
}
