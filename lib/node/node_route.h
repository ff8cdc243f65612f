/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_ROUTE_H
#define NODE_ROUTE_H

/*
 * Look-ups of IPv4 addresses one by one, inline: what they will read is sent for some time before, so that
 * the memory works while headers are being checked. Of slots that have come near, a gather is slower
 * than a load each.
 */

#include <rte_prefetch.h>

#include "route_internal.h"

/* The routes of this moment, for one vector. */
static __rte_always_inline struct weir_node_route4
node_route4(void)
{
	return weir_node_lookup_routes4();
}

/*
 * Send for the root's slot of an address. Of tables with wide slots the wrong one, but one of the table still:
 * those are for more next hops than routers have neighbours.
 */
static __rte_always_inline void
node_route4_prefetch(struct weir_node_route4 routes, uint32_t address)
{
	rte_prefetch0((const char *)routes.slots + (size_t)(address >> 8) * sizeof(uint16_t));
}

static __rte_always_inline uint32_t
node_route_slot(const void *slots, size_t slot, bool wide)
{
	return wide ? ((const uint32_t *)slots)[slot] : ((const uint16_t *)slots)[slot];
}

/* Number of slot @byte of the group that @value, which has the bit @ext, leads to. */
static __rte_always_inline size_t
node_route_below(uint32_t value, uint32_t ext, uint32_t byte)
{
	return WEIR_NODE_FIB_ROOT_SLOTS + (size_t)(value & ~ext) * WEIR_NODE_FIB_GROUP_SLOTS + byte;
}

/* @return next hop, or WEIR_NODE_NO_ROUTE */
static __rte_always_inline uint32_t
node_route4_lookup(const void *slots, uint32_t address, bool wide)
{
	const uint32_t ext = wide ? WEIR_NODE_FIB_EXT32 : WEIR_NODE_FIB_EXT16;
	uint32_t value = node_route_slot(slots, address >> 8, wide);

	if (unlikely(value & ext))
		value = node_route_slot(slots, node_route_below(value, ext, address & 0xff), wide);
	return value - 1;
}

#endif
