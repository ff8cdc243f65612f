/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_READOUT_MODEL_H
#define WEIR_TESTS_READOUT_MODEL_H

/*
 * A latency buffer as one would write it without a thought for speed: frames in a list, everything found by looking at all of it, a
 * window tick by tick. Its memory has no end.
 */

#include <stdbool.h>
#include <stdint.h>

#include "weir_readout_buffer.h"

#define MODEL_FRAMES_MAX  4096
#define MODEL_MISSING_MAX 4096

struct model_frame {
	int64_t time; /* ticks since the first frame; jumps leave gaps */
	uint64_t timestamp, sequence, id;
};

struct model {
	/* As configured. */
	unsigned int bits;
	int64_t step; /* 0: ordered */
	int64_t live, jump;
	uint32_t confirm, reorder, size_min_bytes, size_max_bytes;
	bool has_sequence;
	/* What there is. */
	bool started;
	int64_t newest, start;
	uint64_t newest_timestamp;
	struct model_frame frames[MODEL_FRAMES_MAX]; /* by time, then as they came */
	unsigned int nb;
	struct model_frame doubted[16];
	bool behind[16];
	unsigned int nb_doubted;
	struct weir_readout_buffer_stats
		stats; /* buffered: those that are over are expired at once */
};

/* What a window must be. */
struct model_window {
	uint32_t parts;
	unsigned int nb_frames, nb_missing;
	struct model_frame frames[MODEL_FRAMES_MAX];
	struct weir_readout_interval missing[MODEL_MISSING_MAX];
};

void model_init(struct model *model, const struct weir_readout_buffer_config *config,
	const struct weir_readout_buffer *buffer);

void model_put(struct model *model, const struct weir_readout_frame *frame, uint64_t id);

/* @p end is @p ticks later than @p begin. */
void model_find(
	const struct model *model, uint64_t begin, int64_t ticks, struct model_window *window);

#endif
