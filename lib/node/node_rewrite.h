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

/* May the header not be written in place: shared with somebody, or no room in front? */
static __rte_always_inline bool
node_is_not_writable(const struct rte_mbuf *m, int32_t growth)
{
	return (m->refcnt != 1) |
	       ((m->ol_flags & (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL)) != 0) |
	       ((int32_t)m->data_off < growth);
}

/*
 * Replace whatever is before the IP header, tags included, by the next hop's
 * header: two stores that overlap. @return the frame
 */
static __rte_always_inline uint8_t *
node_write_header(struct rte_mbuf *m, const struct weir_node_hop_fast *hop, int32_t growth)
{
	uint8_t *frame;

	m->data_off = (uint16_t)(m->data_off - growth);
	m->data_len = (uint16_t)(m->data_len + growth);
	m->pkt_len = (uint32_t)((int32_t)m->pkt_len + growth);
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	node_store64(frame, node_load64(hop->header));
	if (likely(hop->header_length == HEADER_UNTAGGED)) {
		node_store64(frame + 6, node_load64(hop->header + 6));
	} else {
		node_store64(frame + 8, node_load64(hop->header + 8));
		node_store16(frame + 16, node_load16(hop->header + 16));
	}
	weir_node_l3_set(m, hop->header_length);
	return frame;
}

#endif
