/* SPDX-License-Identifier: BSD-3-Clause */

/* The ring of an unscheduled queue: any threads put and get. */

#include <rte_malloc.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "em_private.h"
#include "weir_base_sanitizer.h"

/*
 * A thread that is interrupted in between should not hold up others. But where loads may overtake each other, rings that are made so
 * want an acquiring load that many versions of DPDK do not have.
 */
#ifdef RTE_ARCH_X86
#define FLAGS (RING_F_MP_RTS_ENQ | RING_F_MC_RTS_DEQ)
#else
#define FLAGS 0
#endif

struct rte_ring *
em_ring_create(uint32_t size, int socket_id)
{
	ssize_t bytes =
		rte_ring_get_memsize_elem(sizeof(struct rte_event), rte_align32pow2(size + 1));
	struct rte_ring *ring = NULL;

	if (bytes > 0)
		ring = rte_zmalloc_socket("weir_em", (size_t)bytes, RTE_CACHE_LINE_SIZE,
			socket_id < 0 ? SOCKET_ID_ANY : socket_id);
	if (ring != NULL && rte_ring_init(ring, "weir_em", size, RING_F_EXACT_SZ | FLAGS) != 0) {
		rte_free(ring);
		ring = NULL;
	}
	return ring;
}

void
em_ring_free(struct rte_ring *ring)
{
	rte_free(ring);
}

uint16_t
em_ring_put(struct rte_ring *ring, const struct rte_event *events, uint16_t nb)
{
	unsigned int n;

	weir_base_ring_begin();
	n = rte_ring_enqueue_burst_elem(ring, events, sizeof(*events), nb, NULL);
	weir_base_ring_end();
	return (uint16_t)n;
}

uint16_t
em_ring_get(struct rte_ring *ring, struct rte_event *events, uint16_t nb)
{
	unsigned int n;

	weir_base_ring_begin();
	n = rte_ring_dequeue_burst_elem(ring, events, sizeof(*events), nb, NULL);
	weir_base_ring_end();
	return (uint16_t)n;
}
