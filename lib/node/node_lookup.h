/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_LOOKUP_H
#define NODE_LOOKUP_H

/* What the look-up nodes of both IP versions do alike. */

#include "node_private.h"
#include "weir_node_route_fast.h"

enum {
	NODE_LOOKUP_EDGE_REWRITE = NODE_EDGE_FIRST, /* where packets that pass go on to */
	NODE_LOOKUP_NB_EDGES,
};

/* Note the next hops of packets that are not refused yet, refuse those without. */
static inline void
node_lookup_note(void **objs, uint16_t *nexts, const uint32_t *hops, uint32_t nb,
	enum weir_node_reason no_route)
{
	for (uint32_t i = 0; i < nb; i++) {
		if (nexts[i] != NODE_LOOKUP_EDGE_REWRITE)
			continue;
		if (hops[i] == WEIR_NODE_NO_ROUTE)
			nexts[i] = node_refuse(objs[i], no_route);
		else
			weir_node_hop_id_set(objs[i], hops[i]);
	}
}

#endif
