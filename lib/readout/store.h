/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_STORE_H
#define READOUT_STORE_H

/*
 * Cells: memory for frames, one each. A cell is free (claimed by the writer, on its stack), or holds a frame; then an index may
 * refer to it. One that leaves the index while readers pin it is detained until the last of them is gone.
 */

#include <stdint.h>

#include "memory.h"
#include "pin.h"

#define STORE_NONE UINT32_MAX

/* What is known of the frame in a cell. Stable while it is pinned. */
struct cell {
	uint64_t at;        /* its time, as buffer_private.h counts it */
	uint64_t timestamp; /* as it said itself */
	uint64_t sequence;
	uint64_t number; /* as the log counts it */
	uint32_t size_bytes;
	uint32_t pin;
};

struct store {
	uint8_t *frames; /* nb_cells times cell_bytes */
	struct cell *cells;
	uint32_t nb_cells, cell_bytes;
	uint32_t *free, *detained;
	/* The writer's: readers must not fetch this line. */
	uint32_t nb_free __attribute__((aligned(64)));
	uint32_t nb_detained, next_detained;
};

/* Bytes that a store of so many cells takes, a multiple of 64. */
uint64_t store_bytes(uint32_t nb_cells, uint32_t cell_bytes);

/* All cells are free. @p memory has store_bytes(), zero, and begins at a cache line. */
void store_init(struct store *store, void *memory, uint32_t nb_cells, uint32_t cell_bytes);

static inline void *
store_frame(const struct store *store, uint32_t cell)
{
	return store->frames + (uint64_t)cell * store->cell_bytes;
}

/* A free cell, claimed, with room for @p size_bytes; STORE_NONE: there is none. */
uint32_t store_take(struct store *store, uint32_t size_bytes);

/* A cell that is claimed is free again. */
void store_give(struct store *store, uint32_t cell);

/* A cell left the index: it is free, or will be when nobody pins it any more. */
void store_leave(struct store *store, uint32_t cell);

#endif
