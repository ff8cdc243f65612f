/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_BUFFER_H
#define WEIR_READOUT_BUFFER_H

/**
 * @file
 * The latency buffer of a link: the frames of the last seconds, addressed by time.
 *
 * Frames lie in cells of one size, in memory that is there from the beginning. What finds them is one of two indexes:
 *
 *  - fixed rate (the format has a step): an array with a slot per step of time, slot = (timestamp - base) / step modulo its size;
 *  - ordered (no step): a ring of (timestamp, cell), sorted; a frame that comes late is put in its place from the end on.
 *
 * Timestamps may wrap at any width. A frame that is far from those before it (more than jump_s) is doubted: kept aside until the
 * next ones agree with it, dropped when they do not. So a corrupt timestamp costs one frame, and a jump of the clock none. After a
 * jump backwards what was there before has expired.
 *
 * Each frame is accounted for: received = buffered + expired + evicted + those dropped, by reason, at every snapshot.
 *
 * Threads: one thread at a time puts frames in (the writer). Any number of others look windows up, and pin what they found: a range
 * of time, in one word for all of its frames, which the writer looks at before it uses a cell for another frame; of a buffer that has many windows
 * at once, a word per cell. The writer never waits for them: a cell that is pinned when its time is over leaves the index, and is free when it is
 * released; frames go to other cells meanwhile, of which there are spare_frames more.
 *
 * Ticks, here: the unit of the format's timestamps, modulo their width; what is between two of them is taken for the shorter way.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "weir_readout_format.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weir_readout_buffer;

/** What to do with a frame when no cell is free. */
enum weir_readout_full {
	WEIR_READOUT_FULL_EVICT_OLDEST, /**< the oldest one that is not pinned makes room */
	WEIR_READOUT_FULL_DROP_NEWEST,  /**< drop the new one */
};

/** Why a frame was dropped. */
enum weir_readout_buffer_reason {
	WEIR_READOUT_BUFFER_WRONG_SIZE, /**< a size that the format or the cells have no room for */
	WEIR_READOUT_BUFFER_DUPLICATE, /**< it is there already: same timestamp, and sequence number */
	WEIR_READOUT_BUFFER_SLOT_TAKEN, /**< another frame of the same step of time is there */
	WEIR_READOUT_BUFFER_TOO_LATE, /**< its time is over: older than the history, or too far out of order */
	WEIR_READOUT_BUFFER_FAR_OFF, /**< a timestamp that the frames after it did not confirm */
	WEIR_READOUT_BUFFER_NO_MEMORY, /**< no cell was free, and none could be made free: see weir_readout_full */
	WEIR_READOUT_BUFFER_NB_REASONS, /**< their number */
};

/** Name of a reason, as statistics show it ("duplicate"); NULL: no such. Any thread. */
const char *weir_readout_buffer_reason_name(enum weir_readout_buffer_reason reason);

/** What a reason means, in a few words; NULL: no such. Any thread. */
const char *weir_readout_buffer_reason_text(enum weir_readout_buffer_reason reason);

/** A buffer as one describes it: seconds and rates; the memory follows. 0 in a member: its default. */
struct weir_readout_buffer_config {
	const char *name;                         /**< of its link, for the log */
	const struct weir_readout_format *format; /**< copied; its clock must be known */
	double history_s; /**< how long frames can be found, at least, counted from the newest; required */
	double rate_hz; /**< frames a second: required where the format has no step, which says it otherwise */
	double jump_s; /**< further off than this a frame is doubted; default: a sixteenth of the history, at least 16 frames */
	uint32_t
		confirm_frames; /**< how many in a row confirm a jump, the first one included; 1: at once; default 3, at most 16 */
	uint32_t
		spare_frames; /**< cells beyond the history's, for frames whose time is over while readers pin them; default: an eighth of the history's */
	uint32_t
		frame_bytes; /**< largest frame; default: the format's size_max_bytes, if it has one */
	uint32_t
		reorder_frames; /**< without a step: how many places from the end a late frame may come, default 1024 */
	enum weir_readout_full when_full; /**< what to do without a free cell */
	int socket_id;                    /**< NUMA node of the memory; -1: any */
	bool no_hugepages; /**< do not even try: for tests, and machines where they are others' */
};

/**
 * Make a buffer, its memory mapped and touched: in hugepages, if the system has enough of them, on the NUMA node asked for, if it
 * has room. Takes as long as touching its memory does. Any thread; not for the fast path.
 *
 * @return the buffer, to be freed with weir_readout_buffer_free(); NULL with rte_errno EINVAL: the configuration, ENOMEM; the log says why
 */
struct weir_readout_buffer *weir_readout_buffer_create(
	const struct weir_readout_buffer_config *config);

/** Free it. Nobody uses it any more, all windows are released. NULL is allowed. */
void weir_readout_buffer_free(struct weir_readout_buffer *buffer);

/** What the configuration came to. */
struct weir_readout_buffer_info {
	uint32_t nb_cells; /**< frames that there is memory for */
	uint32_t
		nb_spare; /**< of these, beyond those of the history: for so many that readers pin */
	uint32_t cell_bytes;    /**< a frame's size, rounded up to cache lines */
	uint32_t nb_index;      /**< slots, or entries */
	uint64_t memory_bytes;  /**< all of it */
	uint64_t history_ticks; /**< guaranteed: at least what was asked for */
	uint64_t jump_ticks;    /**< further off, a frame is doubted */
	bool hugepages;         /**< the cells lie in hugepages */
	int socket_id;          /**< node that the memory was asked from; -1: any */
};

/**
 * What a configuration would come to, without its memory: hugepages is false. Any thread.
 *
 * @return 0; -EINVAL: it would be refused, the log says why
 */
int weir_readout_buffer_plan(
	const struct weir_readout_buffer_config *config, struct weir_readout_buffer_info *info);

/** What the configuration came to. Any thread. */
void weir_readout_buffer_info(
	const struct weir_readout_buffer *buffer, struct weir_readout_buffer_info *info);

/** A frame on its way in. */
struct weir_readout_frame {
	uint64_t timestamp; /**< ticks; of a format without one: ns, when it arrived */
	uint64_t
		sequence; /**< its number, or 0: tells duplicates among frames of one timestamp, where there is no step */
	uint32_t size_bytes; /**< all of it */
};

/**
 * Take a frame in: a cell for the caller to write it to, which readers do not see before weir_readout_buffer_commit(). It must be
 * committed before the next one is reserved. The writer only.
 *
 * @return where size_bytes are to be written; NULL: it was dropped, and counted
 */
void *weir_readout_buffer_reserve(
	struct weir_readout_buffer *buffer, const struct weir_readout_frame *frame);

/** The frame reserved last is written: readers may find it. The writer only. */
void weir_readout_buffer_commit(struct weir_readout_buffer *buffer);

/**
 * Take a frame in, copied from @p data: reserve, copy, commit. The writer only.
 *
 * @return false: it was dropped, and counted
 */
bool weir_readout_buffer_put(struct weir_readout_buffer *buffer,
	const struct weir_readout_frame *frame, const void *data);

/**
 * Has time come to @p timestamp: are all frames here that begin before it, but for those out of order? For requests that wait; any thread, a few loads.
 */
bool weir_readout_buffer_reached(const struct weir_readout_buffer *buffer, uint64_t timestamp);

/**
 * What can be looked up now. Any thread.
 *
 * @param[out] begin  windows that begin before are too old
 * @param[out] end    windows that end after it are not there yet
 * @return false: there was no frame yet
 */
bool weir_readout_buffer_range(
	const struct weir_readout_buffer *buffer, uint64_t *begin, uint64_t *end);

/** Counters of a buffer: of one moment, 64 bits, never reset. */
struct weir_readout_buffer_stats {
	uint64_t received;       /**< frames that were to be taken in */
	uint64_t received_bytes; /**< theirs */
	uint64_t buffered; /**< of these: here now, those doubted and the one reserved included */
	uint64_t expired;  /**< their time was over, or a jump backwards ended it */
	uint64_t evicted;  /**< made room while their time was not over */
	uint64_t dropped[WEIR_READOUT_BUFFER_NB_REASONS]; /**< by reason */
	uint64_t doubted; /**< of those buffered: waiting for the next ones to confirm them */
	uint64_t late;    /**< came after a later one, and were taken in */
	uint64_t jumps;   /**< confirmed */
	uint64_t
		detained; /**< cells that are not free only because readers pin them: gauge, a frame ago */
};

/**
 * The counters at one moment: received = buffered + expired + evicted + sum of dropped. Any thread; looks again while the writer
 * is at them.
 */
void weir_readout_buffer_stats(
	const struct weir_readout_buffer *buffer, struct weir_readout_buffer_stats *stats);

/** From one tick up to, not including, another. */
struct weir_readout_interval {
	uint64_t begin; /**< first tick */
	uint64_t end;   /**< the one after the last */
};

/** What a window consists of: bits. */
enum {
	WEIR_READOUT_PART_FRAMES = 1 << 0, /**< frames are there */
	WEIR_READOUT_PART_MISSING = 1
				    << 1, /**< some of it never came, or was evicted: see missing */
	WEIR_READOUT_PART_TOO_OLD = 1 << 2, /**< its beginning is no longer kept; also in missing */
	WEIR_READOUT_PART_NOT_YET = 1 << 3, /**< its end is still to come; also in missing */
	WEIR_READOUT_PART_CUT =
		1
		<< 4, /**< more intervals are missing than there was room for: the last one spans the rest of them */
};

/** What became of a window. */
enum weir_readout_status {
	WEIR_READOUT_STATUS_COMPLETE, /**< all of it is there */
	WEIR_READOUT_STATUS_PARTIAL,  /**< some of it will never be */
	WEIR_READOUT_STATUS_TOO_OLD,  /**< all of it is too old */
	WEIR_READOUT_STATUS_NOT_YET,  /**< (some of) it is still to come */
};

/**
 * A window of time looked up: the frames that overlap it, whole, in order of time, and what is missing. Frames with a step last
 * for so long; those without one are at one tick, and what is missing between them nobody can know: only what is too old, not yet, or
 * evicted is told. Members up to max_* are set by weir_readout_window_create(), the rest by a look-up; read only.
 */
struct weir_readout_window {
	uint32_t max_frames;                   /**< room */
	uint32_t max_missing;                  /**< room, 2 or more */
	uint64_t begin;                        /**< as asked for */
	uint64_t end;                          /**< as asked for */
	uint32_t parts;                        /**< WEIR_READOUT_PART_ bits */
	uint32_t nb_frames;                    /**< how many were found */
	uint32_t nb_missing;                   /**< intervals */
	uint64_t bytes;                        /**< of all frames found */
	struct iovec *frames;                  /**< the frames themselves, in the buffer's memory */
	uint64_t *timestamps;                  /**< of each */
	struct weir_readout_interval *missing; /**< in order, apart from each other */
	const struct weir_readout_buffer *buffer; /**< where frames are pinned; NULL: none are */
	uint32_t *cells;                          /**< which ones */
	uint32_t
		range; /**< of the buffer's, which pins all of them; UINT32_MAX: each cell is pinned */
};

/**
 * Room for a window, to be used again and again, for any buffer.
 *
 * @param max_frames   how many it can hold: of a buffer whole, info.nb_cells
 * @param max_missing  intervals, 2 or more
 * @return to be freed with weir_readout_window_free(); NULL with rte_errno
 */
struct weir_readout_window *weir_readout_window_create(uint32_t max_frames, uint32_t max_missing);

/** Free it; it holds no frames. NULL is allowed. */
void weir_readout_window_free(struct weir_readout_window *window);

/**
 * Look up [@p begin, @p end), and pin the frames found: they stay as they are until weir_readout_window_release(). Frames that the window
 * holds are released first. Copies nothing, waits for nothing longer than the insertion of a late frame. Any thread, also the writer; a window is
 * used by one thread at a time. Where begin and end are the same it is empty, and complete.
 *
 * @return 0; -E2BIG: more frames than the window has room for: nothing is pinned; -EINVAL: @p end is before @p begin, or by half of
 *         what timestamps count to or more behind it
 */
int weir_readout_window_find(const struct weir_readout_buffer *buffer, uint64_t begin, uint64_t end,
	struct weir_readout_window *window);

/** Unpin its frames. They must not be touched any more. Any thread; nothing to do for one that holds none. */
void weir_readout_window_release(struct weir_readout_window *window);

/** What became of it, by its parts: not yet, if there is such a part; else too old, if nothing of it is there or missing otherwise; else partial or complete. */
static inline enum weir_readout_status
weir_readout_window_status(const struct weir_readout_window *window)
{
	const uint32_t missing = WEIR_READOUT_PART_MISSING | WEIR_READOUT_PART_TOO_OLD;

	if ((window->parts & WEIR_READOUT_PART_NOT_YET) != 0)
		return WEIR_READOUT_STATUS_NOT_YET;
	if ((window->parts & (missing | WEIR_READOUT_PART_FRAMES)) == WEIR_READOUT_PART_TOO_OLD)
		return WEIR_READOUT_STATUS_TOO_OLD;
	return (window->parts & missing) != 0 ? WEIR_READOUT_STATUS_PARTIAL
					      : WEIR_READOUT_STATUS_COMPLETE;
}

#ifdef __cplusplus
}
#endif

#endif
