/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_PAYLOAD_H
#define READOUT_PAYLOAD_H

/* Where in a packet the frame is. */

#include <rte_mbuf.h>

#include <weir_base_datagram.h>

#include "weir_readout_format.h"

/**
 * @param[out] offset  of the frame, in the first segment
 * @param[out] bytes   of it, in all segments
 */
static inline enum weir_base_datagram
payload_find(
	const struct rte_mbuf *m, enum weir_base_layer layer, uint32_t *offset, uint32_t *bytes)
{
	if (layer == WEIR_BASE_LAYER_UDP)
		return weir_base_datagram_find(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len,
			m->pkt_len, offset, bytes);
	*offset = 0;
	*bytes = m->pkt_len;
	return WEIR_BASE_DATAGRAM_FOUND;
}

#endif
