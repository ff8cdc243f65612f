/* SPDX-License-Identifier: BSD-3-Clause */
/* Latency buffers: from seconds and rates to frames. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "weir_base_format.h"
#include "weir_base_nodes.h"

#define CELLS_MAX       (1u << 30)
#define JUMP_FRAMES_MIN 16
#define JUMP_PART       16 /* of the history */
#define SPARE_PART      8  /* of its frames */
#define FRAME_BYTES_MAX (1u << 24)

struct complaint {
	char *why;
	size_t why_bytes;
};

/* @return -EINVAL */
static int __attribute__((format(printf, 2, 3)))
refuse(const struct complaint *complaint, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(complaint->why, complaint->why_bytes, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

static int
size_frames(const struct weir_base_buffer *buffer, const struct complaint *complaint,
	struct weir_base_buffer_sizes *sizes)
{
	sizes->frame_bytes =
		buffer->frame_bytes != 0 ? buffer->frame_bytes : buffer->size_max_bytes;
	if (sizes->frame_bytes > FRAME_BYTES_MAX)
		return refuse(complaint,
			"frame_bytes is %u; expected up to %u, and a number where format %s has no "
			"limit",
			buffer->frame_bytes, FRAME_BYTES_MAX, buffer->format);
	if (sizes->frame_bytes < buffer->size_min_bytes)
		return refuse(complaint, "frame_bytes is %u; frames have at least %u",
			sizes->frame_bytes, buffer->size_min_bytes);
	return 0;
}

/* History and jumps in ticks; of fixed rate, in whole steps. */
static int
size_times(const struct weir_base_buffer *buffer, const struct complaint *complaint,
	struct weir_base_buffer_sizes *sizes)
{
	const double hz = (double)buffer->clock_hz, step = (double)buffer->step_ticks;
	const double frame = step > 0 ? step : hz / buffer->rate_hz;
	const double history = buffer->history_s * hz;
	double jump = buffer->jump_s * hz;

	if (buffer->jump_s == 0)
		jump = fmax(history / JUMP_PART, JUMP_FRAMES_MIN * frame);
	/* Later than what is kept would be a jump back: a quarter of what timestamps can tell is enough for all of it. */
	if (history + jump + 2 * frame >= ldexp(1, (int)buffer->timestamp_bits - 2))
		return refuse(complaint,
			"%g s of history, and jumps from %g s on: more than a quarter of a "
			"timestamp's %u bits",
			buffer->history_s, jump / hz, buffer->timestamp_bits);
	sizes->jump_ticks = (uint64_t)ceil(jump);
	sizes->live_ticks = (uint64_t)ceil(history) + sizes->jump_ticks;
	if (buffer->step_ticks > 0)
		sizes->live_ticks =
			(sizes->live_ticks / buffer->step_ticks + 2) * buffer->step_ticks;
	return 0;
}

static uint64_t
power_of_two(uint64_t least)
{
	uint64_t size = 1;

	while (size < least)
		size *= 2;
	return size;
}

static int
size_index(const struct weir_base_buffer *buffer, const struct complaint *complaint,
	struct weir_base_buffer_sizes *sizes)
{
	double frames, spare;

	frames = buffer->step_ticks > 0 ? (double)(sizes->live_ticks / buffer->step_ticks)
					: ceil((double)sizes->live_ticks /
						  (double)buffer->clock_hz * buffer->rate_hz) +
						  1;
	spare = buffer->spare_frames != 0 ? buffer->spare_frames : ceil(frames / SPARE_PART);
	if (frames + spare > CELLS_MAX)
		return refuse(
			complaint, "%.0f frames; expected up to %u", frames + spare, CELLS_MAX);
	sizes->nb_spare = (uint32_t)spare;
	sizes->nb_cells = (uint32_t)frames + sizes->nb_spare + WEIR_BASE_CONFIRM_MAX;
	/* The ordered one needs room for holes, too. */
	sizes->nb_index = power_of_two(
		buffer->step_ticks > 0 ? (uint64_t)frames : 2 * (uint64_t)sizes->nb_cells);
	return 0;
}

int
weir_base_buffer_size(const struct weir_base_buffer *buffer, struct weir_base_buffer_sizes *sizes,
	char *why, size_t why_bytes)
{
	const struct complaint complaint = {why, why_bytes};
	int rc = size_frames(buffer, &complaint, sizes);

	if (rc == 0)
		rc = size_times(buffer, &complaint, sizes);
	if (rc == 0)
		rc = size_index(buffer, &complaint, sizes);
	return rc;
}
