/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_READOUT_INTERLEAVE_BUFFER_H
#define WEIR_TESTS_READOUT_INTERLEAVE_BUFFER_H

/*
 * A latency buffer whose writer is stopped at each of its steps: what it has written, and whether who looks finds that. Includes the
 * buffer's own files, with points in them at which others go on.
 */

#include "../base/interleave.h"

#define RANGES_MAX 2u /* so that few readers find none free */

#include "../../lib/readout/buffer/buffer.c"
#include "../../lib/readout/buffer/buffer_config.c"
#include "../../lib/readout/buffer/buffer_stats.c"
#include "../../lib/readout/buffer/index.c"
#include "../../lib/readout/buffer/index_fixed.c"
#include "../../lib/readout/buffer/index_ordered.c"
#include "../../lib/readout/buffer/store.c"
#include "../../lib/readout/buffer/window.c"

#define FRAME_BYTES 16u
#define FRAMES_MAX  32
#define FIRST       1000u
#define STEP        10u
#define SAVED_BYTES 16384u /* of the buffer's memory: all that so few frames use */

/* The buffer as it is now, as each order of steps begins with it, and the frames that its writer has shown. */
static struct {
	struct weir_readout_format format;
	struct weir_readout_buffer *buffer, saved;
	uint8_t saved_memory[SAVED_BYTES];
	uint64_t shown[FRAMES_MAX];
	unsigned int nb_shown, nb_saved;
} written;

static void
put(uint64_t timestamp)
{
	const uint64_t data[FRAME_BYTES / 8] = {timestamp, ~timestamp};
	const struct weir_readout_frame frame = {timestamp, timestamp, FRAME_BYTES};

	if (weir_readout_buffer_put(written.buffer, &frame, data))
		written.shown[written.nb_shown++] = timestamp;
}

static void
check_frames(const struct weir_readout_window *window)
{
	for (uint32_t i = 0; i < window->nb_frames; i++) {
		const uint64_t *data = window->frames[i].iov_base;

		assert_int_equal(window->frames[i].iov_len, FRAME_BYTES);
		assert_true(data[0] == window->timestamps[i] && data[1] == ~data[0]);
		assert_true(i == 0 || window->timestamps[i] > window->timestamps[i - 1]);
		assert_true(data[0] < window->end);
		assert_true(data[0] + written.format.step_ticks >= window->begin);
	}
}

static bool
accounts_for(const struct weir_readout_window *window, uint64_t timestamp)
{
	for (uint32_t i = 0; i < window->nb_frames; i++)
		if (window->timestamps[i] == timestamp)
			return true;
	for (uint32_t i = 0; i < window->nb_missing; i++)
		if (window->missing[i].begin <= timestamp && timestamp < window->missing[i].end)
			return true;
	return false;
}

/* What was shown when it was looked for, the first @nb_shown frames, is in it, or is told to be missing. */
static void
check_window(const struct weir_readout_window *window, unsigned int nb_shown)
{
	check_frames(window);
	for (unsigned int i = 0; i < nb_shown; i++)
		if (written.shown[i] >= window->begin && written.shown[i] < window->end)
			assert_true(accounts_for(window, written.shown[i]));
}

/* Nobody has a cell any more, by a pin or by a range but for others'. */
static void
check_pins(void)
{
	const struct store *store = &written.buffer->store;
	const struct ranges *ranges = written.buffer->ranges;
	const struct ranges *saved = (const void *)written.saved_memory;

	assert_ptr_equal(ranges, written.buffer->memory.start);
	for (uint32_t i = 0; i < RANGES_MAX; i++) {
		assert_true(ranges->all[i].word == saved->all[i].word);
		assert_true(ranges->all[i].before == UINT64_MAX);
	}

	for (uint32_t i = 0; i < store->nb_cells; i++)
		assert_true(store->cells[i].pin == 0 || store->cells[i].pin == PIN_CLAIMED);
}

/* Make it, for frames @step ticks apart, 0: at any time; @config says the rest. */
static void
make_buffer(uint64_t step, const struct weir_readout_buffer_config *config)
{
	const struct weir_base_format spec = {.name = "t",
		.fields = {[WEIR_BASE_FIELD_TIMESTAMP] = {0, 64},
			[WEIR_BASE_FIELD_SEQUENCE] = {64, 64}},
		.size_max_bytes = FRAME_BYTES,
		.step_ticks = step,
		.clock_hz = 1000};
	struct weir_readout_buffer_config all = *config;

	memset(&written, 0, sizeof(written));
	assert_int_equal(weir_readout_format_compile(&spec, &written.format, NULL, NULL, 0), 0);
	all.name = "t";
	all.format = &written.format;
	all.jump_s = 0.02;
	all.socket_id = -1;
	all.no_hugepages = true;
	written.buffer = weir_readout_buffer_create(&all);
	assert_non_null(written.buffer);
}

/* Each order begins with it as it is now. */
static void
save_buffer(void)
{
	/* its last part */
	assert_true((uint8_t *)(written.buffer->log.refs + written.buffer->log.mask + 1) <=
		    (uint8_t *)written.buffer->memory.start + SAVED_BYTES);
	written.saved = *written.buffer;
	written.nb_saved = written.nb_shown;
	weir_base_asan_unpoison(written.buffer->memory.start, SAVED_BYTES);
	memcpy(written.saved_memory, written.buffer->memory.start, SAVED_BYTES);
}

static void
restore_buffer(void)
{
	*written.buffer = written.saved;
	written.nb_shown = written.nb_saved;
	weir_base_asan_unpoison(written.buffer->memory.start, SAVED_BYTES);
	memcpy(written.buffer->memory.start, written.saved_memory, SAVED_BYTES);
}

#endif
