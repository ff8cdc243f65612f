/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BRIDGE_LINK_RX_H
#define BRIDGE_LINK_RX_H

#include "bridge_private.h"
#include "weir_bridge_link.h"

/* A link_rx node. */
struct bridge_link {
	uint16_t port, ethdev, queue, burst;
	struct weir_readout_dispatch *dispatch;
	uint32_t dispatch_queue;
};

/* nodes.c: its node, which frees it when it is deleted. @return WEIR_GRAPH_NODE_INVALID with rte_errno */
uint32_t bridge_make_link(const char *name, struct bridge_link *link);

#endif
