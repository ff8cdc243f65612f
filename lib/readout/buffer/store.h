/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_STORE_H
#define READOUT_STORE_H

/*
 * Cells: memory for frames, one each. A cell is free (claimed by the writer, on its stack), or holds a frame; then an index may
 * refer to it. One that leaves the index while readers have it, by its pin or by a range of time, is detained until the last of them is gone.
 */

#include <stdint.h>

#include "memory.h"
#include "pin.h"
#include "range.h"

#define STORE_NONE UINT32_MAX

/* What is known of the frame in a cell. Stable while readers have it. */
struct cell {
	uint64_t at;        /* its time, as buffer_private.h counts it: cell_at() */
	uint64_t timestamp; /* as it said itself */
	uint64_t sequence;
	uint64_t number; /* as the log counts it */
	uint32_t size_bytes;
	uint32_t pin;
};

struct store {
	uint8_t *frames; /* nb_cells times cell_bytes */
	struct cell *cells;
	struct ranges *ranges;
	uint32_t nb_cells, cell_bytes;
	uint32_t *free, *detained;
	/* The writer's: readers must not fetch this line. */
	uint32_t nb_free __attribute__((aligned(64)));
	uint32_t nb_detained, next_detained;
};

/* Bytes that a store of so many cells takes, a multiple of 64. */
uint64_t store_bytes(uint32_t nb_cells, uint32_t cell_bytes);

/* All cells are free. @p memory has store_bytes(), zero, and begins at a cache line; readers keep @p ranges. */
void store_init(struct store *store, void *memory, uint32_t nb_cells, uint32_t cell_bytes,
	struct ranges *ranges);

static inline void *
store_frame(const struct store *store, uint32_t cell)
{
	return store->frames + (uint64_t)cell * store->cell_bytes;
}

/* A free cell, claimed, with room for @p size_bytes; STORE_NONE: there is none. */
uint32_t store_take(struct store *store, uint32_t size_bytes);

/* A cell that is claimed is free again. */
void store_give(struct store *store, uint32_t cell);

/* Has a reader the frame of this cell, which is in the index? Others may come at any time. */
bool store_is_kept(const struct store *store, uint32_t cell);

/* A cell left the index: it is free, or will be when no reader has it any more. */
void store_leave(struct store *store, uint32_t cell);

/* By the writer, when all else of the cell is complete, before pin_publish(). */
static inline void
cell_set_at(struct cell *cell, uint64_t at)
{
	__atomic_store_n(&cell->at, at, __ATOMIC_RELEASE);
}

/*
 * The time of the frame in a cell, for a reader that keeps a range. If it is in the range the frame stays: it is the one that was there at
 * the look, which will not be claimed without a look at the ranges, or a later one, to which the same applies. @return false: it is the
 * writer's now
 */
static inline bool
cell_at(const struct cell *cell, uint64_t *at)
{
	if (pin_is_claimed(&cell->pin))
		return false;
	*at = __atomic_load_n(&cell->at, __ATOMIC_ACQUIRE);
	return true;
}

#endif
