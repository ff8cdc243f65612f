/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_READOUT_READOUT_TEST_H
#define WEIR_TESTS_READOUT_READOUT_TEST_H

/* Buffers of a small format for tests: frames of 16 bytes that say their timestamp twice; a clock of 1 kHz, so that a tick is 1 ms. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "weir_readout_buffer.h"

#define RT_BYTES 16u
#define RT_STEP  10u

#define DROPPED(stats, reason) ((stats).dropped[WEIR_READOUT_BUFFER_##reason])

/* @p step 0: irregular */
static inline struct weir_readout_format
rt_format(uint64_t step, unsigned int timestamp_bits)
{
	const struct weir_base_format spec = {.name = "test",
		.fields = {[WEIR_BASE_FIELD_TIMESTAMP] = {0, timestamp_bits},
			[WEIR_BASE_FIELD_SEQUENCE] = {64, 64}},
		.size_max_bytes = RT_BYTES,
		.step_ticks = step,
		.clock_hz = 1000};
	struct weir_readout_format format;

	assert_int_equal(weir_readout_format_compile(&spec, &format, NULL, NULL, 0), 0);
	return format;
}

/* History of 1 s: 100 frames; jumps from 200 ms on; 8 spare cells. */
static inline struct weir_readout_buffer_config
rt_config(const struct weir_readout_format *format)
{
	return (struct weir_readout_buffer_config){.name = "test",
		.format = format,
		.history_s = 1,
		.rate_hz = 100,
		.jump_s = 0.2,
		.spare_frames = 8,
		.socket_id = -1,
		.no_hugepages = true};
}

static inline struct weir_readout_buffer *
rt_open(const struct weir_readout_buffer_config *config)
{
	struct weir_readout_buffer *buffer = weir_readout_buffer_create(config);

	assert_non_null(buffer);
	return buffer;
}

static inline bool
rt_put(struct weir_readout_buffer *buffer, uint64_t timestamp)
{
	const uint64_t data[RT_BYTES / 8] = {timestamp, ~timestamp};
	const struct weir_readout_frame frame = {timestamp, timestamp, RT_BYTES};

	return weir_readout_buffer_put(buffer, &frame, data);
}

/* Frames of [begin, end), a step apart. */
static inline void
rt_put_all(struct weir_readout_buffer *buffer, uint64_t begin, uint64_t end)
{
	for (; begin != end; begin += RT_STEP)
		assert_true(rt_put(buffer, begin));
}

static inline struct weir_readout_window *
rt_window(void)
{
	struct weir_readout_window *window = weir_readout_window_create(512, 8);

	assert_non_null(window);
	return window;
}

static inline void
rt_check_frames(const struct weir_readout_window *window)
{
	for (uint32_t i = 0; i < window->nb_frames; i++) {
		const uint64_t *data = window->frames[i].iov_base;

		assert_true(data[0] == window->timestamps[i] && data[1] == ~data[0]);
	}
}

/* Look up [begin, end): so many frames, so many missing intervals, this status. It stays pinned. */
static inline void
rt_find(const struct weir_readout_buffer *buffer, uint64_t begin, uint64_t end,
	struct weir_readout_window *window, uint32_t nb_frames, uint32_t nb_missing,
	enum weir_readout_status status)
{
	assert_int_equal(weir_readout_window_find(buffer, begin, end, window), 0);
	assert_int_equal(window->nb_frames, nb_frames);
	assert_int_equal(window->nb_missing, nb_missing);
	assert_int_equal(weir_readout_window_status(window), status);
	rt_check_frames(window);
}

static inline void
rt_missing(const struct weir_readout_window *window, uint32_t index, uint64_t begin, uint64_t end)
{
	assert_true(window->missing[index].begin == begin);
	assert_true(window->missing[index].end == end);
}

/* The counters, which must agree. */
static inline struct weir_readout_buffer_stats
rt_stats(const struct weir_readout_buffer *buffer)
{
	struct weir_readout_buffer_stats stats;
	uint64_t dropped = 0;

	weir_readout_buffer_stats(buffer, &stats);
	for (unsigned int i = 0; i < WEIR_READOUT_BUFFER_NB_REASONS; i++)
		dropped += stats.dropped[i];
	assert_true(stats.received == stats.buffered + stats.expired + stats.evicted + dropped);
	return stats;
}

#endif
