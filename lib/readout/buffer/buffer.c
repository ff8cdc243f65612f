/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames on their way in: from their timestamps to a place in the index, jumps, and what happens when there is no room. */
#include <string.h>

#include "weir_readout_format_fast.h"

#include "buffer_private.h"

static int
place(struct weir_readout_buffer *buffer, struct incoming *incoming)
{
	return buffer->ordered ? index_ordered_place(buffer, incoming)
			       : index_fixed_place(buffer, incoming);
}

static void
insert(struct weir_readout_buffer *buffer, const struct incoming *incoming)
{
	if (buffer->ordered)
		index_ordered_insert(buffer, incoming);
	else
		index_fixed_insert(buffer, incoming);
}

static void
drop(struct weir_readout_buffer *buffer, enum weir_readout_buffer_reason reason)
{
	buffer_count(&buffer->stats.dropped[reason], 1);
}

/* Before what is over leaves: who does not find it can tell why. */
static void
update_gone(struct weir_readout_buffer *buffer)
{
	uint64_t gone_at =
		buffer->over_at > buffer->evicted_at ? buffer->over_at : buffer->evicted_at;

	if (gone_at != buffer->gone_at)
		__atomic_store_n(&buffer->gone_at, gone_at, __ATOMIC_RELEASE);
}

void
buffer_evicted(struct weir_readout_buffer *buffer, uint64_t at)
{
	if (!buffer->ordered || at < buffer->evicted_at)
		return;
	buffer->evicted_at = at + 1;
	update_gone(buffer);
}

/* The beginning of the newest frame's history. */
static uint64_t
history_begin(const struct weir_readout_buffer *buffer)
{
	uint64_t at = buffer->newest_at - buffer->live_ticks;

	/* A whole step, the first one after it. */
	return buffer->ordered ? at : (position_of(buffer, at) + 1) * buffer->step_ticks;
}

/* Time has come to @p at, if it is the latest so far. */
static void
advance(struct weir_readout_buffer *buffer, uint64_t at)
{
	uint64_t begin;

	if (at > buffer->newest_at)
		buffer->newest_at = at;
	begin = history_begin(buffer);
	if (at < buffer->start_at && at >= begin)
		buffer->start_at = at; /* the first frame was not the first */
	buffer->over_at = begin > buffer->start_at ? begin : buffer->start_at;
	update_gone(buffer);
}

/* Readers may know that time has come to the newest frame: it is there, or was dropped. */
static void
publish_newest(struct weir_readout_buffer *buffer)
{
	if (buffer->newest_at != buffer->timeline.newest_at)
		__atomic_store_n(&buffer->timeline.newest_at, buffer->newest_at, __ATOMIC_RELEASE);
}

/*
 * Time goes on at @p at, which is what @p timestamp says now. All that was before it is over; the frame of this time is still to
 * come.
 */
static void
begin_at(struct weir_readout_buffer *buffer, uint64_t at, uint64_t timestamp)
{
	struct timeline *timeline = &buffer->timeline;
	uint64_t before = buffer->ordered ? at : at - buffer->step_ticks;

	__atomic_store_n(&timeline->jumps, timeline->jumps + 1, __ATOMIC_RELAXED);
	buffer->newest_at = at;
	buffer->start_at = at;
	advance(buffer, at);
	__atomic_store_n(&timeline->origin, timestamp - at, __ATOMIC_RELEASE);
	__atomic_store_n(&timeline->newest_at, before, __ATOMIC_RELEASE);
	__atomic_store_n(&timeline->jumps, timeline->jumps + 1, __ATOMIC_RELEASE);
}

/* The first frame of all. */
static void
begin(struct weir_readout_buffer *buffer, uint64_t timestamp)
{
	uint64_t position = (UINT64_C(1) << 62) / buffer->step_ticks;

	buffer->index.tail = buffer->index.end = buffer->ordered ? 0 : position;
	begin_at(buffer, position * buffer->step_ticks, timestamp);
}

/* Room for a frame; counts the drop if there is none. */
static bool
take_cell(struct weir_readout_buffer *buffer, struct incoming *incoming)
{
	const uint32_t size_bytes = incoming->frame.size_bytes;

	incoming->cell = store_take(&buffer->store, size_bytes);
	if (incoming->cell == STORE_NONE && buffer->when_full == WEIR_READOUT_FULL_EVICT_OLDEST &&
		index_evict(buffer))
		incoming->cell = store_take(&buffer->store, size_bytes);
	if (incoming->cell == STORE_NONE) {
		drop(buffer, WEIR_READOUT_BUFFER_NO_MEMORY);
		return false;
	}
	buffer_count(&buffer->stats.buffered, 1);
	return true;
}

/* Does time allow it, and is its place free? Counts the drop. */
static bool
find_place(struct weir_readout_buffer *buffer, struct incoming *incoming)
{
	bool late = incoming->at < buffer->newest_at;
	int reason;

	advance(buffer, incoming->at);
	index_expire(buffer);
	reason = incoming->at < buffer->over_at ? WEIR_READOUT_BUFFER_TOO_LATE
						: place(buffer, incoming);
	if (reason >= 0) {
		drop(buffer, (enum weir_readout_buffer_reason)reason);
		return false;
	}
	if (late)
		buffer_count(&buffer->stats.late, 1);
	return true;
}

/* For who follows the buffer. */
static void
append_to_log(struct log *log, uint32_t cell)
{
	__atomic_store_n(&log->refs[log->end & log->mask], cell, __ATOMIC_RELAXED);
	__atomic_store_n(&log->end, log->end + 1, __ATOMIC_RELEASE);
}

/* Its frame is complete. */
static void
show(struct weir_readout_buffer *buffer, const struct incoming *incoming)
{
	struct cell *cell = &buffer->store.cells[incoming->cell];

	cell->timestamp = incoming->frame.timestamp & buffer->timestamp_mask;
	cell->sequence = incoming->frame.sequence;
	cell->number = buffer->log.end;
	cell->size_bytes = incoming->frame.size_bytes;
	cell_set_at(cell, incoming->at);
	pin_publish(&cell->pin);
	insert(buffer, incoming);
	publish_newest(buffer);
	append_to_log(&buffer->log, incoming->cell);
}

/* The next frame did not confirm them. */
static void
drop_doubted(struct weir_readout_buffer *buffer)
{
	if (buffer->nb_doubted == 0)
		return;
	for (uint32_t i = 0; i < buffer->nb_doubted; i++) {
		drop(buffer, buffer->doubted[i].behind ? WEIR_READOUT_BUFFER_TOO_LATE
						       : WEIR_READOUT_BUFFER_FAR_OFF);
		store_give(&buffer->store, buffer->doubted[i].cell);
		buffer_count(&buffer->stats.buffered, (uint64_t)-1);
	}
	buffer_count(&buffer->stats.doubted, (uint64_t)0 - buffer->nb_doubted);
	buffer->nb_doubted = 0;
}

static int64_t
from_newest(const struct weir_readout_buffer *buffer, uint64_t timestamp)
{
	return timestamp_difference(buffer, timestamp,
		timestamp_of(buffer, buffer->timeline.origin, buffer->newest_at));
}

/* It is confirmed that time goes on at @p timestamp. */
static void
jump(struct weir_readout_buffer *buffer, uint64_t timestamp)
{
	int64_t far = from_newest(buffer, timestamp);
	uint64_t apart = 2 * buffer->live_ticks;

	buffer_count(&buffer->stats.jumps, 1);
	if (far < 0 || (uint64_t)far >= apart) {
		uint64_t at = buffer->newest_at + apart + buffer->step_ticks - 1;

		begin_at(buffer, at - at % buffer->step_ticks, timestamp);
	}
}

/* The doubted have a time now, and places. */
static void
take_doubted(struct weir_readout_buffer *buffer)
{
	for (uint32_t i = 0; i < buffer->nb_doubted; i++) {
		struct incoming *one = &buffer->doubted[i];

		one->at = buffer->newest_at + (uint64_t)from_newest(buffer, one->frame.timestamp);
		if (find_place(buffer, one)) {
			show(buffer, one);
			continue;
		}
		store_give(&buffer->store, one->cell);
		buffer_count(&buffer->stats.buffered, (uint64_t)-1);
	}
	buffer_count(&buffer->stats.doubted, (uint64_t)0 - buffer->nb_doubted);
	buffer->nb_doubted = 0;
}

/* @return how far a frame is from the one that was doubted last */
static int64_t
from_doubted(const struct weir_readout_buffer *buffer, uint64_t timestamp)
{
	return timestamp_difference(
		buffer, timestamp, buffer->doubted[buffer->nb_doubted - 1].frame.timestamp);
}

static bool
is_near(const struct weir_readout_buffer *buffer, int64_t ticks)
{
	return ticks <= (int64_t)buffer->jump_ticks && ticks >= -(int64_t)buffer->jump_ticks;
}

/* A frame in its time. */
static void
take_in(struct weir_readout_buffer *buffer, struct incoming *incoming)
{
	incoming->at = buffer->newest_at + (uint64_t)from_newest(buffer, incoming->frame.timestamp);
	buffer->reserved = find_place(buffer, incoming) && take_cell(buffer, incoming);
	if (!buffer->reserved)
		publish_newest(buffer);
}

/* A frame that may confirm those before it. */
static void
take_doubtful(struct weir_readout_buffer *buffer, struct incoming *incoming)
{
	if (buffer->nb_doubted > 0) {
		int64_t ticks = from_doubted(buffer, incoming->frame.timestamp);

		if (ticks == 0 && !buffer->ordered) {
			drop(buffer, WEIR_READOUT_BUFFER_DUPLICATE);
			return;
		}
		if (!is_near(buffer, ticks))
			drop_doubted(buffer);
	}
	if (buffer->nb_doubted + 1 < buffer->confirm_frames) {
		buffer->doubting = buffer->reserved = take_cell(buffer, incoming);
		if (!buffer->reserved)
			return;
		buffer->doubted[buffer->nb_doubted++] = *incoming;
		buffer_count(&buffer->stats.doubted, 1);
		return;
	}
	jump(buffer, buffer->nb_doubted > 0 ? buffer->doubted[0].frame.timestamp
					    : incoming->frame.timestamp);
	take_doubted(buffer);
	take_in(buffer, incoming);
}

static void
receive(struct weir_readout_buffer *buffer, struct incoming *incoming)
{
	const uint32_t size_bytes = incoming->frame.size_bytes;
	int64_t ticks;

	if (!weir_readout_format_size_allowed(&buffer->format, size_bytes) ||
		size_bytes > buffer->frame_bytes) {
		drop(buffer, WEIR_READOUT_BUFFER_WRONG_SIZE);
		return;
	}
	if (buffer->newest_at == 0)
		begin(buffer, incoming->frame.timestamp);
	ticks = from_newest(buffer, incoming->frame.timestamp);
	incoming->behind = ticks < 0;
	if (ticks <= (int64_t)buffer->jump_ticks && ticks >= -(int64_t)buffer->live_ticks) {
		drop_doubted(buffer);
		take_in(buffer, incoming);
	} else {
		take_doubtful(buffer, incoming);
	}
}

void *
weir_readout_buffer_reserve(
	struct weir_readout_buffer *buffer, const struct weir_readout_frame *frame)
{
	struct incoming *incoming = &buffer->incoming;

	incoming->frame = *frame;
	buffer->reserved = buffer->doubting = false;
	buffer_stats_begin(buffer);
	buffer_count(&buffer->stats.received, 1);
	buffer_count(&buffer->stats.received_bytes, frame->size_bytes);
	receive(buffer, incoming);
	__atomic_store_n(&buffer->stats.detained, buffer->store.nb_detained, __ATOMIC_RELEASE);
	buffer_stats_end(buffer);
	return buffer->reserved ? store_frame(&buffer->store, incoming->cell) : NULL;
}

void
weir_readout_buffer_commit(struct weir_readout_buffer *buffer)
{
	if (buffer->reserved && !buffer->doubting)
		show(buffer, &buffer->incoming);
	buffer->reserved = false;
}

bool
weir_readout_buffer_put(struct weir_readout_buffer *buffer, const struct weir_readout_frame *frame,
	const void *data)
{
	void *there = weir_readout_buffer_reserve(buffer, frame);

	if (there == NULL)
		return false;
	if (frame->size_bytes > 0)
		memcpy(there, data, frame->size_bytes);
	weir_readout_buffer_commit(buffer);
	return true;
}
