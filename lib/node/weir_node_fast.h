/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_NODE_FAST_H
#define WEIR_NODE_FAST_H

/**
 * @file
 * What the packet nodes tell each other about a packet, in fields of its mbuf's
 * first cache line, which each of them touches anyway:
 *
 *     m->port               port it came in on: an id of weir_node.h, not of ethdev
 *     m->vlan_tci_outer     bytes before its IP header, and flags       set by classify
 *     m->hash.fdir.hi       id of its next hop                          set by ip4_lookup, ip6_lookup
 *                           or the reason not to send it                set by who leads it to drop or punt
 *
 * m->hash.rss stays what the device said. The frame itself stays whole: data_off is that of its Ethernet header.
 *
 * Threads: a packet's fields are for who holds it, in process() or outside of graphs. What is told of a port changes
 * only when it is added or removed (weir_node.h), while no packet of it is under way. Nothing here can fail.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "weir_node.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Flag beside the layer-3 offset: the frame's destination is a group address (broadcast or multicast). It is the sign,
 * so that one comparison of the offset with a length finds it too: see weir_node_l3_unchecked().
 */
#define WEIR_NODE_L3_GROUP 0x8000

/** What marks a reason, so that a packet which reaches drop without one is counted as that. */
#define WEIR_NODE_REASON_MARK UINT32_C(0x57e10000)

/** Note where the IP header is: @p offset bytes into the frame, with WEIR_NODE_L3_GROUP or without. */
static __rte_always_inline void
weir_node_l3_set(struct rte_mbuf *m, uint16_t offset)
{
	m->vlan_tci_outer = offset;
}

/** Bytes of the frame before its IP header; flags cut off. */
static __rte_always_inline uint16_t
weir_node_l3(const struct rte_mbuf *m)
{
	return m->vlan_tci_outer & 0xff;
}

/** The same, but of a frame sent to a group address larger than any length: for `data_len < offset + header`. */
static __rte_always_inline uint32_t
weir_node_l3_unchecked(const struct rte_mbuf *m)
{
	return (uint32_t)(int32_t)(int16_t)m->vlan_tci_outer;
}

/** Was the frame sent to a group address? */
static __rte_always_inline bool
weir_node_l3_is_group(const struct rte_mbuf *m)
{
	return m->vlan_tci_outer & WEIR_NODE_L3_GROUP;
}

/** Note the packet's next hop. */
static __rte_always_inline void
weir_node_hop_id_set(struct rte_mbuf *m, uint32_t hop)
{
	m->hash.fdir.hi = hop;
}

/** The packet's next hop. */
static __rte_always_inline uint32_t
weir_node_hop_id(const struct rte_mbuf *m)
{
	return m->hash.fdir.hi;
}

/** Note why the packet goes to drop or punt. */
static __rte_always_inline void
weir_node_reason_set(struct rte_mbuf *m, enum weir_node_reason reason)
{
	m->hash.fdir.hi = WEIR_NODE_REASON_MARK | (uint32_t)reason;
}

/** Why the packet goes to drop or punt; WEIR_NODE_REASON_NONE when nobody said. */
static __rte_always_inline enum weir_node_reason
weir_node_reason_get(const struct rte_mbuf *m)
{
	uint32_t reason = m->hash.fdir.hi ^ WEIR_NODE_REASON_MARK;

	return reason < WEIR_NODE_REASON_COUNT ? (enum weir_node_reason)reason
					       : WEIR_NODE_REASON_NONE;
}

/** What the nodes need to know of a packet's port, as one half of a cache line. */
struct weir_node_port_fast {
	uint64_t mac;      /**< own address, in memory order, upper 16 bits zero */
	uint64_t mac_mask; /**< bits of it that must agree: all 48, or none where any is taken */
	uint64_t
		checksum_mask; /**< mbuf flags about the IPv4 checksum that the device sets; 0: none */
	struct rte_mempool *pool; /**< for copies; NULL: the packet's own */
};

/** Per port id; of unused ids all zero but mac_mask. */
extern struct weir_node_port_fast weir_node_ports_fast[WEIR_NODE_PORT_MAX];

/** Flags that any port asks its device for: weir_node_port_fast::checksum_mask of all together. */
extern uint64_t weir_node_checksum_mask;

/** What the nodes need to know of the port that a packet came in on. */
static __rte_always_inline const struct weir_node_port_fast *
weir_node_port_of(const struct rte_mbuf *m)
{
	return &weir_node_ports_fast[m->port % WEIR_NODE_PORT_MAX];
}

#ifdef __cplusplus
}
#endif

#endif
