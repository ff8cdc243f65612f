/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of fixed rate: each step of time has its slot. */
#include <errno.h>

#include "buffer_private.h"

int
index_fixed_place(struct weir_readout_buffer *buffer, struct incoming *incoming)
{
	uint64_t position = position_of(buffer, incoming->at);
	uint32_t cell = *index_ref(&buffer->index, position);

	if (cell == STORE_NONE)
		return -1;
	if (position_of(buffer, buffer->store.cells[cell].at) != position) {
		/* Of the last time around; expiry has not come here yet. */
		index_remove(buffer, position, &buffer->stats.expired);
		return -1;
	}
	return buffer->store.cells[cell].at == incoming->at ? WEIR_READOUT_BUFFER_DUPLICATE
							    : WEIR_READOUT_BUFFER_SLOT_TAKEN;
}

void
index_fixed_insert(struct weir_readout_buffer *buffer, const struct incoming *incoming)
{
	uint64_t position = position_of(buffer, incoming->at);
	struct index *index = &buffer->index;

	__atomic_store_n(index_ref(index, position), incoming->cell, __ATOMIC_RELEASE);
	if (position < index->tail)
		index->tail = position;
	if (position >= index->end)
		index->end = position + 1;
	if (position < index->evict_next)
		index->evict_next = position;
}

/* The frame of a position, held, and its time; STORE_NONE: it is not there. */
static uint32_t
hold_at(const struct search *search, uint64_t position, uint64_t *at)
{
	const struct weir_readout_buffer *buffer = search->buffer;
	const uint64_t step_at = position * buffer->step_ticks;
	const uint32_t *ref = index_ref(&buffer->index, position);
	uint32_t cell = __atomic_load_n(ref, __ATOMIC_ACQUIRE), before;

	/* It may be another frame's by now: then the reference has changed. */
	do {
		if (cell == STORE_NONE)
			return STORE_NONE;
		if (search_hold(search, cell, at)) {
			/* Its position is this one; a division of each would cost more than all else. */
			if (*at - step_at < buffer->step_ticks)
				return cell;
			search_let_go(search, cell);
		}
		before = cell;
		cell = __atomic_load_n(ref, __ATOMIC_ACQUIRE);
	} while (cell != before);
	return STORE_NONE;
}

int
index_fixed_find(struct search *search)
{
	const struct weir_readout_buffer *buffer = search->buffer;
	uint64_t first = position_of(buffer, search->begin);
	uint64_t last = position_of(buffer, search->end - 1);

	/* Frames that are not at the beginnings of steps reach into the next one. */
	for (uint64_t position = first - 1; position <= last; position++) {
		uint64_t at;
		uint32_t cell = hold_at(search, position, &at);

		if (cell == STORE_NONE)
			continue;
		if (at >= search->end || at < search->gone_at ||
			at + buffer->step_ticks <= search->begin)
			search_let_go(search, cell);
		else if (window_add(search, cell) < 0)
			return -E2BIG;
	}
	return 0;
}
