/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_BUFFER_PRIVATE_H
#define READOUT_BUFFER_PRIVATE_H

/*
 * A latency buffer's parts: the store of frames, an index that finds them by time, the timeline that makes times of timestamps.
 *
 * Times inside ("at") do not wrap: ticks from an origin so long before the first frame that none is before it. timestamp = at
 * + origin, modulo the timestamp's width; only a jump changes the origin, so that time goes on forwards:
 *
 *     timestamps   ... 7000 7010 7020 |   30   40   50        the clock was set back
 *     at           ... 9000 9010 9020 | 9220 9230 9240        older than the history, all that was before it
 *
 * The index is a ring of references to cells, by position. Fixed rate: position = at / step, so that each step of time has its own; it holds
 * the frame of this position, or none, or one whose time is over. Ordered: the frames in order, with an array of their times beside
 * it. In both, [tail, end) are the positions that can have frames, older ones first: expiry and eviction are the same.
 *
 * What readers see: the reference is stored when the frame is complete, then newest_at; gone_at before what is older than it is
 * taken away. So a frame that begins before newest_at and is not found was never there, or is gone.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "store.h"
#include "weir_base_nodes.h"
#include "weir_readout_buffer.h"

#define CONFIRM_MAX WEIR_BASE_CONFIRM_MAX

/* Who writes which line. */
#define OWN_LINE __attribute__((aligned(64)))

struct index {
	uint32_t *refs; /* cells, or STORE_NONE: position & mask */
	uint64_t *ats;  /* ordered only: their times */
	uint64_t mask;
	OWN_LINE uint64_t tail; /* of the ordered one readers look at both */
	uint64_t end;
	uint64_t shifts; /* odd: entries are being moved */
	/* Where eviction goes on: all before are pinned, unless some were released since. */
	uint64_t evict_next, evict_releases;
};

/*
 * Cells in the order in which their frames came to the index: frame number n is in refs[n & mask], if that is its cell still, which a pinned
 * one tells. There are no fewer places than cells, so that none is overwritten whose cell was not used again.
 */
struct log {
	uint32_t *refs;
	uint64_t mask;
	OWN_LINE uint64_t end; /* the next number */
};

/* A frame that is taken in now, or waits for its jump to be confirmed. */
struct incoming {
	struct weir_readout_frame frame;
	uint64_t at;
	uint64_t position; /* ordered: where it belongs */
	uint32_t cell;
	bool behind; /* doubted: earlier than the newest */
};

struct timeline {
	uint64_t origin;
	uint64_t newest_at; /* 0: there was none yet */
	uint64_t jumps;     /* twice how often the origin changed; odd: just now */
};

struct weir_readout_buffer {
	/* As configured: constant. */
	struct weir_readout_format format;
	uint64_t timestamp_mask;
	uint64_t step_ticks; /* 1: ordered */
	bool ordered;
	uint64_t live_ticks; /* kept, counted from the newest; fixed: whole steps */
	uint64_t jump_ticks;
	uint32_t frame_bytes, confirm_frames, reorder_frames;
	enum weir_readout_full when_full;
	int socket_id;
	uint32_t nb_spare; /* as weir_readout_buffer_info() says */
	char name[32];
	struct memory memory;
	struct ranges *ranges; /* readers write them */

	/* The writer's. */
	OWN_LINE struct store store;
	uint64_t newest_at;  /* the timeline's, or the frame's that is reserved */
	uint64_t start_at;   /* where frames begin, since the last jump */
	uint64_t over_at;    /* what is before is over: of the newest's history, or never there */
	uint64_t evicted_at; /* ordered: what is before may have been evicted */
	struct incoming incoming;
	bool reserved, doubting; /* incoming: is to be committed; to the doubted */
	struct incoming doubted[CONFIRM_MAX];
	uint32_t nb_doubted;

	/* For readers. */
	OWN_LINE struct timeline timeline;
	uint64_t gone_at; /* what is before cannot be found */
	struct index index;
	struct log log;
	OWN_LINE uint64_t stats_version; /* odd: the writer is at them */
	struct weir_readout_buffer_stats stats;
};

/* stats.c: changes between begin and end are seen together. */
void buffer_stats_begin(struct weir_readout_buffer *buffer);
void buffer_stats_end(struct weir_readout_buffer *buffer);

/* Between these; @p counter is one of buffer->stats. */
static inline void
buffer_count(uint64_t *counter, uint64_t nb)
{
	__atomic_store_n(counter, *counter + nb, __ATOMIC_RELEASE);
}

/* Of timestamps, as far apart as the shorter way is long. */
static inline int64_t
timestamp_difference(const struct weir_readout_buffer *buffer, uint64_t later, uint64_t earlier)
{
	unsigned int unused = 64 - buffer->format.timestamp_bits;

	return (int64_t)((later - earlier) << unused) >> unused;
}

static inline uint64_t
timestamp_of(const struct weir_readout_buffer *buffer, uint64_t origin, uint64_t at)
{
	return (at + origin) & buffer->timestamp_mask;
}

/* The position that a time has, of fixed rate. */
static inline uint64_t
position_of(const struct weir_readout_buffer *buffer, uint64_t at)
{
	return at / buffer->step_ticks;
}

static inline uint32_t *
index_ref(const struct index *index, uint64_t position)
{
	return &index->refs[position & index->mask];
}

/* buffer.c: a frame of this time is evicted. In an ordered buffer nobody can tell later that it is missing. */
void buffer_evicted(struct weir_readout_buffer *buffer, uint64_t at);

/* index.c: of both kinds. */

/* Take away what is over, a bounded piece for each frame. */
void index_expire(struct weir_readout_buffer *buffer);

/* Make a cell free: that of the oldest frame which no reader has. @return false: there is none, or it was not found within the piece looked at */
bool index_evict(struct weir_readout_buffer *buffer);

/* A frame leaves the index. */
void index_remove(struct weir_readout_buffer *buffer, uint64_t position, uint64_t *counter);

/* A window that is being looked up. */
struct search {
	const struct weir_readout_buffer *buffer;
	struct weir_readout_window *window;
	uint64_t begin, end; /* frames that overlap it; begin < end */
	uint64_t before;     /* number of a frame: those found have lower ones */
	uint64_t
		gone_at; /* what is before may have been taken away meanwhile: a finder may raise it */
};

/*
 * index_fixed.c, index_ordered.c. place: is there a place for it? @return -1, or the reason why not. insert: there it is; its cell is
 * complete. find: the frames are held in the window; @return 0, -E2BIG.
 */
int index_fixed_place(struct weir_readout_buffer *buffer, struct incoming *incoming);
void index_fixed_insert(struct weir_readout_buffer *buffer, const struct incoming *incoming);
int index_fixed_find(struct search *search);
int index_ordered_place(struct weir_readout_buffer *buffer, struct incoming *incoming);
void index_ordered_insert(struct weir_readout_buffer *buffer, const struct incoming *incoming);
int index_ordered_find(struct search *search);

/*
 * Have the frame of a cell, if it is one of the search's time: by the range that the window keeps, or by a pin if it keeps none. The time
 * of another frame is told too; by a range, that one is not had. @return false: the writer has it
 */
static inline bool
search_hold(const struct search *search, uint32_t cell, uint64_t *at)
{
	struct cell *frame = &search->buffer->store.cells[cell];

	if (search->window->range != RANGE_NONE)
		return cell_at(frame, at);
	if (!pin_try(&frame->pin))
		return false;
	*at = frame->at;
	return true;
}

/* It is not for the window. */
static inline void
search_let_go(const struct search *search, uint32_t cell)
{
	if (search->window->range == RANGE_NONE)
		pin_release(&search->buffer->store.cells[cell].pin);
}

/* A frame that is held comes into the window. @return 0, -E2BIG: let go, there is no room */
static inline int
window_add(struct search *search, uint32_t cell)
{
	const struct store *store = &search->buffer->store;
	const struct cell *frame = &store->cells[cell];
	struct weir_readout_window *window = search->window;
	const uint32_t nb = window->nb_frames;

	if (nb == window->max_frames) {
		search_let_go(search, cell);
		return -E2BIG;
	}
	window->cells[nb] = cell;
	window->frames[nb].iov_base = store_frame(store, cell);
	window->frames[nb].iov_len = frame->size_bytes;
	window->timestamps[nb] = frame->timestamp;
	window->bytes += frame->size_bytes;
	window->nb_frames = nb + 1;
	if (frame->number >= search->before)
		search->before = frame->number + 1;
	return 0;
}

#endif
