/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_REWRITE_H
#define NODE_REWRITE_H

/* What the rewrite nodes of both IP versions do alike. */

#include "node_private.h"
#include "weir_node_route_fast.h"

/* Headers of next hops that are written have one of two lengths. */
#define HEADER_UNTAGGED 14
#define HEADER_TAGGED   18

/* Bytes that the frame grows by when it gets the header of a next hop; may be negative. */
static __rte_always_inline int32_t
node_growth(const struct rte_mbuf *m, const struct weir_node_hop_fast *hop)
{
	return (int32_t)hop->header_length - (int32_t)weir_node_l3(m);
}

/* May the header not be written in place: is somebody else holding the packet? */
static __rte_always_inline bool
node_is_shared(const struct rte_mbuf *m)
{
	return (m->refcnt != 1) |
	       ((m->ol_flags & (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL)) != 0);
}

/* Make room for a header of another length, or take some away. */
static __rte_always_inline void
node_grow(struct rte_mbuf *m, const struct weir_node_hop_fast *hop, int32_t growth)
{
	m->data_off = (uint16_t)(m->data_off - growth);
	m->data_len = (uint16_t)(m->data_len + growth);
	m->pkt_len = (uint32_t)((int32_t)m->pkt_len + growth);
	weir_node_l3_set(m, hop->header_length);
}

/*
 * Replace whatever is before the IP header, tags included, by the next hop's
 * header: two stores that overlap.
 */
static __rte_always_inline void
node_write_header(uint8_t *frame, const struct weir_node_hop_fast *hop)
{
	node_store64(frame, node_load64(hop->header));
	if (likely(hop->header_length == HEADER_UNTAGGED)) {
		node_store64(frame + 6, node_load64(hop->header + 6));
	} else {
		node_store64(frame + 8, node_load64(hop->header + 8));
		node_store16(frame + 16, node_load16(hop->header + 16));
	}
}

#endif
