/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for frames, and who has it. */
#include <string.h>

#include "weir_base_sanitizer.h"

#include "store.h"

#define CACHE_LINE 64u
/* How many of the detained are looked at for one frame: more than one, so that there are fewer in the end. */
#define DETAINED_LOOKS 2

static uint64_t
in_lines(uint64_t bytes)
{
	return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

uint64_t
store_bytes(uint32_t nb_cells, uint32_t cell_bytes)
{
	return (uint64_t)nb_cells * cell_bytes + in_lines(nb_cells * sizeof(struct cell)) +
	       2 * in_lines(nb_cells * sizeof(uint32_t));
}

void
store_init(struct store *store, void *memory, uint32_t nb_cells, uint32_t cell_bytes,
	struct ranges *ranges)
{
	uint8_t *at = memory;

	memset(store, 0, sizeof(*store));
	store->nb_cells = nb_cells;
	store->cell_bytes = cell_bytes;
	store->ranges = ranges;
	store->frames = at;
	at += (uint64_t)nb_cells * cell_bytes;
	store->cells = (void *)at;
	at += in_lines(nb_cells * sizeof(struct cell));
	store->free = (void *)at;
	at += in_lines(nb_cells * sizeof(uint32_t));
	store->detained = (void *)at;
	/* The first ones are taken first. */
	for (uint32_t cell = nb_cells; cell-- > 0;) {
		store->cells[cell].pin = PIN_CLAIMED;
		store_give(store, cell);
	}
}

void
store_give(struct store *store, uint32_t cell)
{
	weir_base_asan_poison(store_frame(store, cell), store->cell_bytes);
	store->free[store->nb_free++] = cell;
}

bool
store_is_kept(const struct store *store, uint32_t cell)
{
	const struct cell *frame = &store->cells[cell];

	return __atomic_load_n(&frame->pin, __ATOMIC_ACQUIRE) != 0 ||
	       ranges_cover(store->ranges, frame->at, frame->number);
}

/* A cell that is not in the index: no reader gets it any more. @return false: one has it still */
static bool
claim(struct store *store, uint32_t cell)
{
	struct cell *frame = &store->cells[cell];

	return (pin_is_claimed(&frame->pin) || pin_claim(&frame->pin)) &&
	       !ranges_cover(store->ranges, frame->at, frame->number);
}

void
store_leave(struct store *store, uint32_t cell)
{
	if (claim(store, cell))
		store_give(store, cell);
	else
		store->detained[store->nb_detained++] = cell;
}

/* Some of the detained, in turns: what no reader has any more is free. */
static void
look_at_detained(struct store *store)
{
	for (unsigned int i = 0; i < DETAINED_LOOKS && store->nb_detained > 0; i++) {
		uint32_t *one, cell;

		if (store->next_detained >= store->nb_detained)
			store->next_detained = 0;
		one = &store->detained[store->next_detained++];
		cell = *one;
		if (!claim(store, cell))
			continue;
		*one = store->detained[--store->nb_detained];
		store_give(store, cell);
	}
}

uint32_t
store_take(struct store *store, uint32_t size_bytes)
{
	uint32_t cell;

	look_at_detained(store);
	if (store->nb_free == 0)
		return STORE_NONE;
	cell = store->free[--store->nb_free];
	weir_base_asan_unpoison(store_frame(store, cell), size_bytes);
	return cell;
}
