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

/* The frame of a position, pinned; STORE_NONE: it is not there. */
static uint32_t
pin_at(const struct weir_readout_buffer *buffer, uint64_t position)
{
	const uint64_t step_at = position * buffer->step_ticks;
	const uint32_t *ref = index_ref(&buffer->index, position);
	uint32_t cell = __atomic_load_n(ref, __ATOMIC_ACQUIRE), before;

	/* It may be another frame's by now: then the reference has changed. */
	do {
		struct cell *frame;

		if (cell == STORE_NONE)
			return STORE_NONE;
		frame = &buffer->store.cells[cell];
		if (pin_try(&frame->pin)) {
			/* Its position is this one; a division of each would cost as much as the pin. */
			if (frame->at - step_at < buffer->step_ticks)
				return cell;
			pin_release(&frame->pin);
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
		uint32_t cell = pin_at(buffer, position);
		struct cell *frame;

		if (cell == STORE_NONE)
			continue;
		frame = &buffer->store.cells[cell];
		if (frame->at >= search->end || frame->at < search->gone_at ||
			frame->at + buffer->step_ticks <= search->begin)
			pin_release(&frame->pin);
		else if (window_add(search, cell) < 0)
			return -E2BIG;
	}
	return 0;
}
