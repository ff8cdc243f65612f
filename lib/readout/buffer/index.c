/* SPDX-License-Identifier: BSD-3-Clause */
/* What both indexes do alike: frames leave from the older end, in bounded pieces. */
#include "buffer_private.h"

/* Positions looked at for one frame. Each brings one on the average; more, so that a jump is caught up with. */
#define EXPIRE_LOOKS 32
/* Frames that readers have, which are passed for one new one, at most; the next one goes on there. */
#define EVICT_LOOKS 1024

void
index_remove(struct weir_readout_buffer *buffer, uint64_t position, uint64_t *counter)
{
	uint32_t cell = *index_ref(&buffer->index, position);

	__atomic_store_n(index_ref(&buffer->index, position), STORE_NONE, __ATOMIC_RELEASE);
	buffer_count(counter, 1);
	buffer_count(&buffer->stats.buffered, (uint64_t)-1);
	store_leave(&buffer->store, cell);
}

static bool
is_over(const struct weir_readout_buffer *buffer, uint64_t position)
{
	if (buffer->ordered)
		return buffer->index.ats[position & buffer->index.mask] < buffer->over_at;
	return position < position_of(buffer, buffer->over_at);
}

void
index_expire(struct weir_readout_buffer *buffer)
{
	struct index *index = &buffer->index;
	uint64_t tail = index->tail, size = index->mask + 1;

	/* Once around is enough: of fixed rate, after a jump. */
	if (!buffer->ordered && position_of(buffer, buffer->over_at) > tail + size)
		tail = position_of(buffer, buffer->over_at) - size;
	for (unsigned int i = 0; i < EXPIRE_LOOKS && tail < index->end && is_over(buffer, tail);
		i++, tail++) {
		uint32_t cell = *index_ref(index, tail);

		/* Of fixed rate, a frame of the next time around may be there. */
		if (cell != STORE_NONE && buffer->store.cells[cell].at < buffer->over_at)
			index_remove(buffer, tail, &buffer->stats.expired);
	}
	__atomic_store_n(&index->tail, tail, __ATOMIC_RELEASE);
}

static void
evict(struct weir_readout_buffer *buffer, uint64_t position, const struct cell *cell)
{
	if (cell->at < buffer->over_at) {
		index_remove(buffer, position, &buffer->stats.expired);
		return;
	}
	buffer_evicted(buffer, cell->at);
	index_remove(buffer, position, &buffer->stats.evicted);
}

bool
index_evict(struct weir_readout_buffer *buffer)
{
	uint64_t releases = __atomic_load_n(&buffer->ranges->releases, __ATOMIC_ACQUIRE);
	struct index *index = &buffer->index;
	uint64_t position;

	if (releases != index->evict_releases || index->evict_next < index->tail)
		index->evict_next = index->tail;
	index->evict_releases = releases;
	position = index->evict_next;
	for (unsigned int i = 0; i < EVICT_LOOKS && position < index->end; i++, position++) {
		uint32_t cell = *index_ref(index, position);

		if (cell == STORE_NONE || store_is_kept(&buffer->store, cell))
			continue;
		evict(buffer, position, &buffer->store.cells[cell]);
		if (buffer->store.nb_free > 0) {
			index->evict_next = position + 1;
			return true;
		}
		/* A reader came to have it just now: it is detained. */
	}
	index->evict_next = position;
	return false;
}
