/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_ROUTE_H
#define NODE_ROUTE_H

/*
 * Sending for what a look-up will read, some time before it: the memory works
 * while the headers are being checked.
 */

#include <rte_prefetch.h>

#include "route_internal.h"

struct node_route_prefetch {
	const char *slots;
};

/* For one vector; a table that is switched meanwhile costs time only. */
static inline struct node_route_prefetch
node_route_prefetch4_begin(void)
{
	return (struct node_route_prefetch){weir_node_lookup_slots(4)};
}

/*
 * The root's slot of an address. Of tables with wide slots the wrong one, but one of the table still: those
 * are for more next hops than routers have neighbours.
 */
static __rte_always_inline void
node_route_prefetch4(const struct node_route_prefetch *prefetch, uint32_t address)
{
	rte_prefetch0(prefetch->slots + (size_t)(address >> 8) * sizeof(uint16_t));
}

/* weir_node_route_lookup4() of addresses whose slots were sent for long enough ago. */
void node_route_lookup4_near(const uint32_t *addresses, uint32_t *hops, uint32_t nb);

#endif
