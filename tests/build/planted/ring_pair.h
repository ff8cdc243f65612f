/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A producer that hands blocks to a consumer through an rte_ring. The ring's
 * functions are inline: compiled into this program, with its arguments.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include <rte_pause.h>
#include <rte_ring.h>

#define NB_BLOCKS 20000

static struct rte_ring *ring;
static uint32_t blocks[NB_BLOCKS];

/* Fill blocks and hand them over; touch_after: write to each once more when it is no longer ours. */
static void
produce(int touch_after)
{
	for (uint32_t i = 0; i < NB_BLOCKS; i++) {
		blocks[i] = i + 1;
		while (rte_ring_enqueue(ring, &blocks[i]) != 0)
			rte_pause();
		if (touch_after)
			blocks[i]++;
	}
}

static void *
consume(void *arg)
{
	uint64_t *sum = arg;
	void *block;

	for (uint32_t i = 0; i < NB_BLOCKS; i++) {
		while (rte_ring_dequeue(ring, &block) != 0)
			rte_pause();
		*sum += *(uint32_t *)block;
	}
	return NULL;
}

static int
run_pair(int touch_after, uint64_t *sum)
{
	const ssize_t size = rte_ring_get_memsize(64);
	pthread_t consumer;

	ring = aligned_alloc(RTE_CACHE_LINE_SIZE, (size_t)size);
	if (ring == NULL || rte_ring_init(ring, "pair", 64, RING_F_SP_ENQ | RING_F_SC_DEQ) != 0 ||
		pthread_create(&consumer, NULL, consume, sum) != 0)
		return -1;
	produce(touch_after);
	pthread_join(consumer, NULL);
	free(ring);
	return 0;
}
