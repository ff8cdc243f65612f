/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_CHECK_H
#define READOUT_CHECK_H

/*
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
 */

#include <stdbool.h>
#include <stdint.h>

#include "weir_readout_link.h"

/* So many frames back it is known which ones have come. */
#define CHECK_WINDOW 1024

struct check_point {
	uint64_t sequence, timestamp;
};

struct check {
	const struct weir_readout_format *format;
	uint64_t jump_ticks; /* UINT64_MAX: no limit */
	bool has_sequence, has_timestamp;
	bool has_newest, has_other;
	struct check_point newest; /* of the line */
	struct check_point next;   /* after it; of formats with a step */
	struct check_point other;  /* the last one that was not on the line */
	uint64_t position;         /* of the newest, counted from the first one */
	uint64_t first; /* position where the stream, or what it is since a jump, began */
	uint64_t seen[CHECK_WINDOW / 64];
};

/* What a frame says about the stream. */
struct verdict {
	uint32_t faults;  /* bits 1 << enum weir_readout_fault */
	uint64_t missing; /* in the gap before it */
};

/* @param jump_ticks  UINT64_MAX: none */
void check_init(struct check *check, const struct weir_readout_format *format, uint64_t jump_ticks);

/* Any frame but the next one. */
struct verdict check_other(struct check *check, const struct check_point *point);

static inline void
check_mark(struct check *check, uint64_t position)
{
	check->seen[position % CHECK_WINDOW / 64] |= UINT64_C(1) << position % 64;
}

static inline struct verdict
check_frame(struct check *check, const struct check_point *point)
{
	if (__builtin_expect(!check->has_newest || check->has_other ||
				     point->sequence != check->next.sequence ||
				     point->timestamp != check->next.timestamp ||
				     check->format->step_ticks == 0,
		    0))
		return check_other(check, point);
	/* A frame that was a window ago leaves its place to this one. */
	check_mark(check, ++check->position);
	check->newest = *point;
	check->next.timestamp += check->format->step_ticks;
	check->next.sequence++;
	if (check->next.sequence == check->format->sequence_modulus || !check->has_sequence)
		check->next.sequence = 0;
	if (check->format->timestamp_bits < 64)
		check->next.timestamp &= (UINT64_C(1) << check->format->timestamp_bits) - 1;
	return (struct verdict){0};
}

#endif
