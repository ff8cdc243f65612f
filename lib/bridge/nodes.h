/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BRIDGE_NODES_H
#define BRIDGE_NODES_H

/* What a sched_tx node has in a graph. */

#include "bridge_private.h"

#define BRIDGE_TX_PIECE 256 /* packets that are parted by flow at a time */

enum {
	BRIDGE_TX_PACKETS,   /* that are events now */
	BRIDGE_TX_FORWARDED, /* of these, with a credit and a place that they had */
	BRIDGE_TX_FULL,
	BRIDGE_TX_CLOSED,
	BRIDGE_TX_NB_XSTATS,
};

/* Packets for one queue. */
struct bridge_chain {
	uint16_t first, last, nb;
};

struct bridge_tx_state {
	struct bridge_state head;
	struct bridge_chain *chains; /* one for each queue: empty between vectors */
	uint16_t touched[BRIDGE_TX_PIECE];
	uint16_t next[BRIDGE_TX_PIECE];
};

#endif
