/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_NODE_ROUTE_FAST_H
#define WEIR_NODE_ROUTE_FAST_H

/**
 * @file
 * Look-ups, for process() of a walking graph only: what they return is valid
 * until the walk ends. They never wait, lock, or write to shared memory.
 */

#include <stdint.h>

#include <rte_common.h>

#include "weir_node_route.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Result of a look-up that found no route. */
#define WEIR_NODE_NO_ROUTE UINT32_MAX

/** weir_node_hop_fast::kind of the entry beyond the last next hop: what ids that no look-up gave stand for. */
#define WEIR_NODE_HOP_NONE 0xff

/** A next hop as the rewrite nodes use it: half a cache line. Written whole under the same grace period as routes. */
struct weir_node_hop_fast {
	uint8_t header
		[14 + 4]; /**< the Ethernet header to send (with VLAN tag where the port has one), type field for IPv4 */
	uint8_t header_length; /**< 14 or 18 */
	uint8_t kind;          /**< enum weir_node_hop_kind */
	uint16_t port;         /**< port id */
	uint16_t mtu;          /**< of the port, layer 3, bytes */
} __rte_aligned(32);

/**
 * Look up next hops of IPv4 addresses.
 *
 * @param addresses  in host byte order
 * @param[out] hops  per address: next hop id, or WEIR_NODE_NO_ROUTE
 * @param nb         up to WEIR_GRAPH_BURST_MAX
 */
void weir_node_route_lookup4(const uint32_t *addresses, uint32_t *hops, uint32_t nb);

/** Likewise of IPv6 addresses, in network byte order. */
void weir_node_route_lookup6(const uint8_t (*addresses)[16], uint32_t *hops, uint32_t nb);

/** The table of next hops of this moment, indexed by what the look-ups return. */
const struct weir_node_hop_fast *weir_node_hops(void);

/** Entries of that table, but for one of kind WEIR_NODE_HOP_NONE behind them. */
uint32_t weir_node_hop_count(void);

/**
 * The next hop of an id, whoever noted it: @p nb is weir_node_hop_count(). A minimum rather than a branch, for
 * the fields of a packet that came another way than through a look-up may hold any number.
 */
static __rte_always_inline const struct weir_node_hop_fast *
weir_node_hop_at(const struct weir_node_hop_fast *hops, uint32_t nb, uint32_t id)
{
	return &hops[id < nb ? id : nb];
}

#ifdef __cplusplus
}
#endif

#endif
