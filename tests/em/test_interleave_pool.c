/* SPDX-License-Identifier: BSD-3-Clause */
/* A pool is deleted, and its number given to another one, while somebody takes a buffer from it: in every order of their steps. */
#include "em_test.h"

#include "../base/interleave.h"

#include "em_private.h"

#include <rte_mempool.h>

#include "weir_base_pool.h"

#include "interleave_lock.h"
#define sched_yield() interleave_pause()

/* The memory pools: two, of a buffer each. */
#define NB 2
static struct {
	struct rte_mempool mempool;
	unsigned int nb_out;
	bool freed;
} pools[NB];
static struct rte_mbuf a_buffer;

static int
alloc_one(struct rte_mempool *mempool, struct rte_mbuf **buffers)
{
	for (unsigned int i = 0; i < NB; i++) {
		if (mempool != &pools[i].mempool)
			continue;
		interleave_point();
		CHECK(!pools[i].freed);
		if (pools[i].nb_out > 0)
			return -ENOENT;
		pools[i].nb_out++;
		buffers[0] = &a_buffer;
		return 0;
	}
	CHECK(false);
	return -ENOENT;
}

static unsigned int
count_out(const struct rte_mempool *mempool)
{
	interleave_point();
	CHECK(mempool == &pools[0].mempool || mempool == &pools[1].mempool);
	return pools[mempool == &pools[1].mempool].nb_out;
}

static void
free_pool(struct rte_mempool *mempool)
{
	unsigned int i = mempool == &pools[1].mempool;

	interleave_point();
	CHECK(!pools[i].freed && pools[i].nb_out == 0);
	pools[i].freed = true;
}

#define rte_pktmbuf_alloc_bulk(mempool, buffers, nb) alloc_one(mempool, buffers)
#define rte_mempool_in_use_count(mempool)            count_out(mempool)
#define weir_base_pool_free(mempool)                 free_pool(mempool)
#define rte_mempool_avail_count(mempool)             0
#define rte_pktmbuf_data_room_size(mempool)          1024

#include "../../lib/em/pool.c"

static struct weir_em em;
static struct weir_em_core cores[2];
static struct em_count counts[2][1];
static struct em_pool em_pools[1];
static weir_em_pool first, second;
static int rc_delete, rc_alloc, rc_other;

static void
init(void)
{
	em_numbers_fini(&em.pool_numbers); /* of the last run */
	memset(&em, 0, sizeof(em));
	memset(cores, 0, sizeof(cores));
	memset(counts, 0, sizeof(counts));
	memset(em_pools, 0, sizeof(em_pools));
	memset(pools, 0, sizeof(pools));
	locked = false;
	em.needs_fence = true; /* no system calls */
	em.cores = cores;
	em.nb_ports = 2;
	em.pools = em_pools;
	em.config.nb_pools = 1;
	for (unsigned int i = 0; i < 2; i++)
		cores[i] = (struct weir_em_core){.em = &em, .id = i, .pools = counts[i]};
	CHECK(em_numbers_init(&em.pool_numbers, EM_KIND_POOL, 1, 0) == 0);
	em.meta_offset = (int)RTE_ALIGN_CEIL(offsetof(struct rte_mbuf, dynfield1), 8);
	first = add(&em, &pools[0].mempool, false);
	second = WEIR_EM_NONE;
	CHECK(first != WEIR_EM_NONE);
}

static void
takes(void)
{
	struct rte_mbuf *mbuf;

	rc_alloc = weir_em_alloc_burst(&cores[0], first, 1, &mbuf, 1);
}

static void
deletes(void)
{
	rc_delete = weir_em_pool_delete(&em, first);
	if (rc_delete == 0)
		second = add(&em, &pools[1].mempool, false);
}

/* Either it was deleted, or was just being deleted, or there was a buffer; not both, and a buffer is of the pool that was asked. */
static void
look_at_all(void)
{
	CHECK(rc_alloc == 0 || rc_alloc == -ESTALE || rc_alloc == -EBUSY);
	CHECK(rc_delete == 0 || rc_delete == -EBUSY);
	CHECK(pools[1].nb_out == 0 && pools[0].nb_out == (rc_alloc == 0));
	CHECK(pools[0].freed == (rc_delete == 0));
	CHECK((rc_delete == 0) == (rc_alloc != 0));
	CHECK(em_pools[0].handle == (rc_delete == 0 ? second : first));
	CHECK(em_pools[0].open == em_pools[0].handle);
	CHECK(rc_delete != 0 || (second != WEIR_EM_NONE && second != first));
}

static void
one_takes(void **state)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 2,
		.actors = {takes, deletes},
		.check = look_at_all,
		.least = 100};

	interleave_all(&interleave);
	em_numbers_fini(&em.pool_numbers);
}

/* Takes one, too, while it is not told yet whether the pool goes. */
static void
takes_too(void)
{
	struct rte_mbuf *mbuf;

	rc_other = weir_em_alloc_burst(&cores[1], first, 1, &mbuf, 1);
}

/* Only what is gone is stale. */
static void
look_at_takers(void)
{
	CHECK(rc_delete == 0 || rc_delete == -EBUSY);
	CHECK((rc_alloc == 0) + (rc_other == 0) == (rc_delete != 0));
	CHECK(pools[0].freed == (rc_delete == 0));
	CHECK(rc_alloc != -ESTALE || rc_delete == 0);
	CHECK(rc_other != -ESTALE || rc_delete == 0);
	CHECK(rc_delete == 0 || (em_pools[0].handle == first && em_pools[0].open == first));
}

static void
two_take(void **state)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 3,
		.actors = {takes, deletes, takes_too},
		.check = look_at_takers,
		.most_interruptions = 4,
		.least = 1000};

	interleave_all(&interleave);
	em_numbers_fini(&em.pool_numbers);
}

static weir_em_pool found;

static void
looks(void)
{
	struct weir_em_pool_info info;

	rc_other = weir_em_pool_info(&em, first, &info);
	found = weir_em_pool_find(&em, "");
}

static void
look_at_info(void)
{
	CHECK(rc_other == 0 || (rc_other == -ESTALE && rc_delete == 0));
	CHECK(found == first || (rc_delete == 0 && (found == second || found == WEIR_EM_NONE)));
	CHECK(rc_alloc == 0 || rc_delete == 0);
}

static void
one_looks(void **state)
{
	const struct interleave interleave = {.init = init,
		.nb_actors = 3,
		.actors = {takes, deletes, looks},
		.check = look_at_info,
		.most_interruptions = 4,
		.least = 1000};

	interleave_all(&interleave);
	em_numbers_fini(&em.pool_numbers);
}

static unsigned int nb_deleted;

static void
init_two(void)
{
	init();
	nb_deleted = 0;
}

static void
deletes_too(void)
{
	int rc = weir_em_pool_delete(&em, first);

	CHECK(rc == 0 || rc == -ESTALE || rc == -EBUSY);
	nb_deleted += rc == 0;
}

/* One of them has done it, once; the other one may have been told that somebody is at it. */
static void
look_at_two(void)
{
	CHECK(nb_deleted == 1 && pools[0].freed);
	CHECK(em_numbers_get(&em.pool_numbers) != WEIR_EM_NONE);
	CHECK(em_numbers_get(&em.pool_numbers) == WEIR_EM_NONE);
}

static void
two_delete(void **state)
{
	const struct interleave interleave = {.init = init_two,
		.nb_actors = 2,
		.actors = {deletes_too, deletes_too},
		.check = look_at_two,
		.least = 20};

	interleave_all(&interleave);
	em_numbers_fini(&em.pool_numbers);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(one_takes), cmocka_unit_test(two_take),
		cmocka_unit_test(one_looks), cmocka_unit_test(two_delete)};

	return cmocka_run_group_tests_name("em-interleave-pool", tests, NULL, NULL);
}
