/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_LINE_H
#define WEIR_BASE_LINE_H

/**
 * @file
 * Where a frame stands in its stream, by what it says. A stream is a line through points (sequence number, timestamp):
 *
 *     timestamp
 *        |            o  <- the line that a jump began: the next point on it makes it the stream's
 *        |    . x x
 *        |  x           x on the line, . missing
 *        | x
 *        +------------- sequence number
 *
 * A frame's distance is how many frames after the newest one it is; 0 and below: it is that one, or before it.
 *
 * Threads: one at a time. Nothing here can fail, takes memory, or needs DPDK.
 */

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_BASE_LINE_WINDOW 1024 /**< so many frames back it is known which ones have come */

/** What a frame shows about its stream. */
enum weir_base_line_fault {
	WEIR_BASE_LINE_GAP,            /**< frames before it are missing */
	WEIR_BASE_LINE_DUPLICATE,      /**< it has come before */
	WEIR_BASE_LINE_REORDERED,      /**< it was missing, and came after later ones */
	WEIR_BASE_LINE_SEQUENCE_JUMP,  /**< its number is not the next, though its time is */
	WEIR_BASE_LINE_EARLY,          /**< it is ahead of what its number says, less than a jump */
	WEIR_BASE_LINE_LATE,           /**< it is behind what its number says, less than a jump */
	WEIR_BASE_LINE_TIMESTAMP_JUMP, /**< its timestamp is further off */
	WEIR_BASE_LINE_NB_FAULTS,      /**< their number */
};

/** What frames say, and how. */
struct weir_base_line_config {
	uint64_t step_ticks;         /**< from frame to frame; 0: any */
	uint64_t clock_hz;           /**< ticks in a second */
	uint64_t sequence_modulus;   /**< sequence numbers are below; 0: all of 64 bits */
	unsigned int timestamp_bits; /**< of timestamps, 1 to 64 */
	bool has_sequence;           /**< they have sequence numbers */
	bool has_timestamp;          /**< they have timestamps */
	double jump_s; /**< from where on a difference is a jump; 0: a second with a step, else any */
};

/** What a frame says. */
struct weir_base_line_point {
	uint64_t sequence;  /**< its number */
	uint64_t timestamp; /**< its time, in ticks */
};

/** A stream; its members are its own. */
struct weir_base_line {
	uint64_t step_ticks;                /**< as configured */
	uint64_t sequence_modulus;          /**< likewise */
	uint64_t jump_ticks;                /**< UINT64_MAX: no limit */
	unsigned int timestamp_bits;        /**< as configured */
	bool has_sequence;                  /**< likewise */
	bool has_timestamp;                 /**< likewise */
	bool has_newest;                    /**< there was a frame */
	bool has_other;                     /**< see other */
	struct weir_base_line_point newest; /**< of the line */
	struct weir_base_line_point next;   /**< after it; of those with a step */
	struct weir_base_line_point other;  /**< the last one that was not on the line */
	uint64_t position;                  /**< of the newest, counted from the first one */
	uint64_t first; /**< position where the stream, or what it is since a jump, began */
	uint64_t seen[WEIR_BASE_LINE_WINDOW / 64]; /**< bits of positions */
};

/** What a frame says about the stream. */
struct weir_base_line_verdict {
	uint32_t faults;  /**< bits 1 << enum weir_base_line_fault */
	uint64_t missing; /**< in the gap before it */
};

/** Before the first frame. */
void weir_base_line_init(struct weir_base_line *line, const struct weir_base_line_config *config);

/** Any frame but the next one: see weir_base_line_take(). */
struct weir_base_line_verdict weir_base_line_other(
	struct weir_base_line *line, const struct weir_base_line_point *point);

/** A position was seen. For weir_base_line_take(). */
static inline void
weir_base_line_mark(struct weir_base_line *line, uint64_t position)
{
	line->seen[position % WEIR_BASE_LINE_WINDOW / 64] |= UINT64_C(1) << position % 64;
}

/** A frame has come. @return what it says about the stream */
static inline struct weir_base_line_verdict
weir_base_line_take(struct weir_base_line *line, const struct weir_base_line_point *point)
{
	struct weir_base_line_verdict verdict = {0, 0};

	if (__builtin_expect(!line->has_newest || line->has_other ||
				     point->sequence != line->next.sequence ||
				     point->timestamp != line->next.timestamp ||
				     line->step_ticks == 0,
		    0))
		return weir_base_line_other(line, point);
	/* A frame that was a window ago leaves its place to this one. */
	weir_base_line_mark(line, ++line->position);
	line->newest = *point;
	line->next.timestamp += line->step_ticks;
	line->next.sequence++;
	if (line->next.sequence == line->sequence_modulus || !line->has_sequence)
		line->next.sequence = 0;
	if (line->timestamp_bits < 64)
		line->next.timestamp &= (UINT64_C(1) << line->timestamp_bits) - 1;
	return verdict;
}

#ifdef __cplusplus
}
#endif

#endif
