/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_IP6_H
#define NODE_IP6_H

/* IPv6 headers: where things are. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_byteorder.h>

#include "node_private.h"

enum {
	IP6_HEADER = 40,        /* bytes */
	IP6_PAYLOAD_LENGTH = 4, /* offsets of fields */
	IP6_NEXT_HEADER = 6,
	IP6_HOP_LIMIT = 7,
	IP6_SOURCE = 8,
	IP6_DESTINATION = 24,
	IP6_HOP_BY_HOP = 0, /* next header: the one extension that routers on the way look at */
};

#endif
