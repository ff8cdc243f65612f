/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_FRAG_H
#define NODE_FRAG_H

/*
 * What ip4_rewrite tells ip4_frag. Not the next hop: that may be another one by now.
 */

#include "node_private.h"

/* Note where the pieces go and how long they may be. */
static inline void
node_frag_note(struct rte_mbuf *m, uint16_t port, uint16_t mtu)
{
	m->hash.fdir.hi = (uint32_t)mtu << 16 | port;
}

static inline uint16_t
node_frag_port(const struct rte_mbuf *m)
{
	return (uint16_t)m->hash.fdir.hi;
}

static inline uint16_t
node_frag_mtu(const struct rte_mbuf *m)
{
	return (uint16_t)(m->hash.fdir.hi >> 16);
}

#endif
