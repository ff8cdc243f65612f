/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_PEER_H
#define READOUT_PEER_H

/* The peer's latency buffer: a ring of frames, the newest in the place of the oldest. */

#include <rte_rwlock.h>

#include "readout_bench.h"

struct readout_ring_buffer {
	uint8_t *frames;
	uint32_t nb_cells, cell_bytes;
	uint32_t next; /* cell that the next frame goes to */
	uint64_t nb;   /* frames that came so far */
	rte_rwlock_t
		lock; /* the writer, and who looks at frames, which stay until it is released */
};

static inline uint8_t *
readout_ring_buffer_at(const struct readout_ring_buffer *buffer, uint64_t number)
{
	return buffer->frames + number % buffer->nb_cells * buffer->cell_bytes;
}

#endif
