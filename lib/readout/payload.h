/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_PAYLOAD_H
#define READOUT_PAYLOAD_H

/* Where in a packet the frame is. */

#include <rte_mbuf.h>

#include "weir_readout_format.h"

enum payload {
	PAYLOAD_FOUND,
	PAYLOAD_NOT_UDP,
	PAYLOAD_TRUNCATED,
};

/**
 * @param[out] offset  of the frame, in the first segment
 * @param[out] bytes   of it, in all segments
 */
enum payload payload_find(
	const struct rte_mbuf *m, enum weir_readout_layer layer, uint32_t *offset, uint32_t *bytes);

#endif
