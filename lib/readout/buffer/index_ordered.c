/* SPDX-License-Identifier: BSD-3-Clause */
/* Irregular frames: a ring of them in order of time; late ones push others on. */
#include <errno.h>

#include "weir_readout_format_fast.h"

#include "again.h"
#include "buffer_private.h"

/* Entries that a reader copies between two looks whether they were moved. */
#define CHUNK 64u

static uint64_t
at_of(const struct index *index, uint64_t position)
{
	return __atomic_load_n(&index->ats[position & index->mask], __ATOMIC_ACQUIRE);
}

/* Is this very frame among those of its time, which end at @p position? */
static bool
is_duplicate(const struct weir_readout_buffer *buffer, const struct incoming *incoming,
	uint64_t position)
{
	const struct index *index = &buffer->index;

	if (!weir_readout_format_has(&buffer->format, WEIR_BASE_FIELD_SEQUENCE))
		return false;
	for (uint32_t i = 0; i < buffer->reorder_frames && position > index->tail; i++) {
		uint32_t cell = *index_ref(index, --position);

		if (at_of(index, position) != incoming->at)
			return false;
		if (cell != STORE_NONE &&
			buffer->store.cells[cell].sequence == incoming->frame.sequence)
			return true;
	}
	return false;
}

/* Holes, where frames were evicted from between pinned ones, may have filled the ring: then its oldest entry goes. */
static void
make_room(struct weir_readout_buffer *buffer)
{
	struct index *index = &buffer->index;
	uint64_t tail = index->tail;

	if (index->end - tail < index->mask)
		return;
	if (*index_ref(index, tail) != STORE_NONE) {
		buffer_evicted(buffer, at_of(index, tail));
		index_remove(buffer, tail, &buffer->stats.evicted);
	}
	__atomic_store_n(&index->tail, tail + 1, __ATOMIC_RELEASE);
}

int
index_ordered_place(struct weir_readout_buffer *buffer, struct incoming *incoming)
{
	const struct index *index = &buffer->index;
	uint64_t position = index->end;

	if (incoming->at < buffer->evicted_at)
		return WEIR_READOUT_BUFFER_TOO_LATE;
	for (; position > index->tail && at_of(index, position - 1) > incoming->at; position--)
		if (index->end - position == buffer->reorder_frames)
			return WEIR_READOUT_BUFFER_TOO_LATE;
	if (is_duplicate(buffer, incoming, position))
		return WEIR_READOUT_BUFFER_DUPLICATE;
	make_room(buffer);
	incoming->position = position;
	return -1;
}

static void
set(struct index *index, uint64_t position, uint64_t at, uint32_t cell)
{
	__atomic_store_n(&index->ats[position & index->mask], at, __ATOMIC_RELEASE);
	__atomic_store_n(index_ref(index, position), cell, __ATOMIC_RELEASE);
}

void
index_ordered_insert(struct weir_readout_buffer *buffer, const struct incoming *incoming)
{
	struct index *index = &buffer->index;
	uint64_t end = index->end, position = incoming->position;
	bool shifts = position < end;

	if (shifts)
		__atomic_store_n(&index->shifts, index->shifts + 1, __ATOMIC_RELAXED);
	for (uint64_t to = end; to > position; to--)
		set(index, to, at_of(index, to - 1), *index_ref(index, to - 1));
	set(index, position, incoming->at, incoming->cell);
	__atomic_store_n(&index->end, end + 1, __ATOMIC_RELEASE);
	if (shifts)
		__atomic_store_n(&index->shifts, index->shifts + 1, __ATOMIC_RELEASE);
	if (position < index->evict_next)
		index->evict_next = position;
}

/* A reader's way through the ring. */
struct walk {
	struct search *search;
	const struct index *index;
	uint64_t at;       /* where it goes on; what the window has of this time is passed over */
	uint64_t position; /* its place, as long as nothing was moved */
	uint64_t shifts;   /* as it was then; odd: never */
	unsigned int nb;
	uint64_t ats[CHUNK];
	uint32_t cells[CHUNK];
};

/* The first entry that is not before @p at. */
static uint64_t
lower_bound(const struct index *index, uint64_t at)
{
	uint64_t low = __atomic_load_n(&index->tail, __ATOMIC_ACQUIRE);
	uint64_t high = __atomic_load_n(&index->end, __ATOMIC_ACQUIRE);

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (at_of(index, middle) < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Is what was read from @p first on, since @p shifts was looked at, in one piece? An entry that is being written overlaps the one that is a
 * ring's size before.
 */
static bool
is_valid(const struct index *index, uint64_t shifts, uint64_t first)
{
	return __atomic_load_n(&index->end, __ATOMIC_ACQUIRE) - first <= index->mask &&
	       __atomic_load_n(&index->shifts, __ATOMIC_ACQUIRE) == shifts;
}

/* Has the window this frame, which is as late as its last one? */
static bool
has(const struct search *search, uint32_t cell, uint64_t at)
{
	const struct weir_readout_window *window = search->window;

	for (uint32_t i = window->nb_frames; i-- > 0;) {
		if (search->buffer->store.cells[window->cells[i]].at != at)
			return false;
		if (window->cells[i] == cell)
			return true;
	}
	return false;
}

/* From @p position on, until a chunk is full or the window's end. @return where it stopped */
static uint64_t
copy(struct walk *walk, uint64_t position, bool again)
{
	uint64_t end = __atomic_load_n(&walk->index->end, __ATOMIC_ACQUIRE);

	for (walk->nb = 0; position < end && walk->nb < CHUNK; position++) {
		uint64_t at = at_of(walk->index, position);
		uint32_t cell = __atomic_load_n(index_ref(walk->index, position), __ATOMIC_ACQUIRE);

		if (at >= walk->search->end)
			break;
		if (cell == STORE_NONE || (again && at == walk->at && has(walk->search, cell, at)))
			continue;
		walk->ats[walk->nb] = at;
		walk->cells[walk->nb++] = cell;
	}
	return position;
}

/* The next entries, as they were at one moment. @return false: there are no more */
static bool
next_chunk(struct walk *walk)
{
	const struct index *index = walk->index;
	uint32_t looks = 0;

	for (;;) {
		uint64_t shifts = __atomic_load_n(&index->shifts, __ATOMIC_ACQUIRE);
		uint64_t first = walk->position;
		bool again = shifts != walk->shifts ||
			     first < __atomic_load_n(&index->tail, __ATOMIC_ACQUIRE);

		if ((shifts & 1) != 0) {
			look_again(&looks);
			continue;
		}
		if (again)
			first = lower_bound(index, walk->at);
		walk->position = copy(walk, first, again);
		walk->shifts = shifts;
		if (is_valid(index, shifts, first))
			return walk->nb > 0;
		walk->shifts = 1;
	}
}

/* What cannot be held is being taken away, just before gone_at says so. @return 0, -E2BIG */
static int
hold_chunk(const struct walk *walk)
{
	struct search *search = walk->search;

	for (unsigned int i = 0; i < walk->nb; i++) {
		const uint32_t cell = walk->cells[i];
		uint64_t at;
		bool held = search_hold(search, cell, &at);

		if (held && at == walk->ats[i]) {
			if (window_add(search, cell) < 0)
				return -E2BIG;
			continue;
		}
		if (held)
			search_let_go(search, cell);
		search->gone_at = walk->ats[i] + 1;
	}
	return 0;
}

int
index_ordered_find(struct search *search)
{
	struct walk walk = {.search = search,
		.index = &search->buffer->index,
		.at = search->begin,
		.shifts = 1};

	while (next_chunk(&walk)) {
		if (hold_chunk(&walk) < 0)
			return -E2BIG;
		walk.at = walk.ats[walk.nb - 1];
	}
	return 0;
}
