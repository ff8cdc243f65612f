/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The latency buffer beside its model, under random faults: loss, duplicates, reordering, corrupt timestamps, jumps, timestamps that wrap
 * often; windows looked up all the time, some of them held. They agree on every frame, interval and counter.
 */

#include "../base/cmocka_all.h"
#include "../base/random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "weir_base_sanitizer.h"

#include "model.h"

#define FRAME_BYTES 24u
#define HELD_MAX    32 /* more than ranges that a buffer keeps: the others are pinned frame by frame */
#define DELAYED_MAX 16
#define RECENT      16

/* Sanitizers take ten times as long, and see the same code. */
#if defined(WEIR_BASE_ASAN) || defined(WEIR_BASE_TSAN)
#define OPERATIONS 100000
#else
#define OPERATIONS 2000000
#endif

struct held {
	struct weir_readout_window *window;
	uint64_t ids[MODEL_FRAMES_MAX];
};

struct delayed {
	struct weir_readout_frame frame;
	unsigned int puts; /* until it comes */
};

static struct {
	uint64_t random;
	struct weir_readout_format format;
	struct weir_readout_buffer_config config;
	struct weir_readout_buffer *buffer;
	struct model model;
	struct model_window expected;
	struct held held[HELD_MAX];
	struct delayed delayed[DELAYED_MAX];
	unsigned int nb_delayed;
	struct weir_readout_frame recent[RECENT];
	uint64_t clock, sequence, nb_ids;
	uint64_t seen[WEIR_READOUT_BUFFER_NB_REASONS + 4];
	uint64_t nb_by_range, nb_by_pin; /* windows */
} t;

static uint64_t
any(uint64_t below)
{
	return random_below(&t.random, below);
}

static bool
one_in(uint64_t nb)
{
	return any(nb) == 0;
}

static uint64_t
mask(void)
{
	return UINT64_MAX >> (64 - t.format.timestamp_bits);
}

static void
put(struct weir_readout_frame frame)
{
	uint64_t data[FRAME_BYTES / 8 + 1] = {t.nb_ids, frame.timestamp, frame.sequence};

	frame.timestamp &= mask();
	model_put(&t.model, &frame, t.nb_ids++);
	weir_readout_buffer_put(t.buffer, &frame, data);
	t.recent[any(RECENT)] = frame;
}

static void
put_delayed(void)
{
	for (unsigned int i = 0; i < t.nb_delayed; i++) {
		struct weir_readout_frame frame = t.delayed[i].frame;

		if (t.delayed[i].puts-- > 0)
			continue;
		t.delayed[i] = t.delayed[--t.nb_delayed];
		put(frame);
	}
}

/* The next frame of the link, which something may happen to. */
static void
next_frame(void)
{
	const uint64_t step = t.format.step_ticks;
	struct weir_readout_frame frame = {.size_bytes = FRAME_BYTES};

	t.clock += step > 0 ? step : any(16);
	if (one_in(5000))
		t.clock += any(UINT64_MAX);
	else if (one_in(1000))
		t.clock += any(4 * (uint64_t)t.model.live);
	else if (one_in(1000))
		t.clock -= any(2 * (uint64_t)t.model.live);
	else if (one_in(200))
		t.clock += any(9);
	frame.timestamp = t.clock;
	frame.sequence = t.sequence++;
	if (one_in(20))
		return; /* lost */
	if (one_in(300))
		frame.timestamp = one_in(2) ? any(UINT64_MAX) : t.clock ^ 1ull << any(64);
	if (one_in(500))
		frame.size_bytes++;
	if (one_in(15) && t.nb_delayed < DELAYED_MAX)
		t.delayed[t.nb_delayed++] =
			(struct delayed){frame, (unsigned int)any(one_in(10) ? 200 : 8)};
	else
		put(frame);
	if (one_in(30))
		put(t.recent[any(RECENT)]);
	put_delayed();
}

static void
check_held(const struct held *held)
{
	for (uint32_t i = 0; i < held->window->nb_frames; i++) {
		uint64_t data[FRAME_BYTES / 8];

		assert_int_equal(held->window->frames[i].iov_len, FRAME_BYTES);
		memcpy(data, held->window->frames[i].iov_base, FRAME_BYTES);
		assert_true(data[0] == held->ids[i]);
		assert_true((data[1] & mask()) == held->window->timestamps[i]);
	}
}

static void
check_window(struct held *held)
{
	const struct weir_readout_window *window = held->window;

	assert_int_equal(window->nb_frames, t.expected.nb_frames);
	assert_int_equal(window->nb_missing, t.expected.nb_missing);
	assert_int_equal(window->parts, t.expected.parts);
	assert_true(window->bytes == (uint64_t)FRAME_BYTES * window->nb_frames);
	for (uint32_t i = 0; i < window->nb_frames; i++) {
		held->ids[i] = t.expected.frames[i].id;
		assert_true(window->timestamps[i] == t.expected.frames[i].timestamp);
	}
	for (uint32_t i = 0; i < window->nb_missing; i++) {
		assert_true(window->missing[i].begin == t.expected.missing[i].begin);
		assert_true(window->missing[i].end == t.expected.missing[i].end);
	}
	check_held(held);
}

/* Somewhere about the history; held for a while. */
static void
look(void)
{
	struct held *held = &t.held[any(HELD_MAX)];
	int64_t ticks = (int64_t)any(one_in(4) ? (uint64_t)t.model.live + 200 : 64);
	uint64_t begin = t.model.newest_timestamp + 100 - any((uint64_t)t.model.live + 300);

	begin &= mask();
	check_held(held);
	weir_readout_window_release(held->window);
	assert_int_equal(weir_readout_window_find(
				 t.buffer, begin, (begin + (uint64_t)ticks) & mask(), held->window),
		0);
	model_find(&t.model, begin, ticks, &t.expected);
	check_window(held);
	if (held->window->range != UINT32_MAX)
		t.nb_by_range++;
	else if (held->window->nb_frames > 0)
		t.nb_by_pin++;
	if (one_in(8))
		weir_readout_window_release(held->window);
}

static void
check_stats(void)
{
	struct weir_readout_buffer_stats stats;
	uint64_t dropped = 0;

	weir_readout_buffer_stats(t.buffer, &stats);
	for (unsigned int i = 0; i < WEIR_READOUT_BUFFER_NB_REASONS; i++) {
		if (stats.dropped[i] != t.model.stats.dropped[i])
			fail_msg("%s: %" PRIu64 ", not %" PRIu64 ", of %" PRIu64,
				weir_readout_buffer_reason_name((enum weir_readout_buffer_reason)i),
				stats.dropped[i], t.model.stats.dropped[i], stats.received);
		dropped += stats.dropped[i];
	}
	assert_true(stats.received == t.model.stats.received);
	assert_true(stats.received_bytes == t.model.stats.received_bytes);
	assert_true(stats.received == stats.buffered + stats.expired + stats.evicted + dropped);
	assert_true(stats.late == t.model.stats.late);
	assert_true(stats.jumps == t.model.stats.jumps);
	assert_true(stats.doubted == t.model.nb_doubted);
	assert_int_equal(stats.evicted, 0);
	/* Expiry is in pieces: it may be behind, but for no more than there is. */
	assert_true(stats.expired <= t.model.stats.expired);
}

/* All the faults happened. */
static void
check_faults(void)
{
	const struct weir_readout_buffer_stats *stats = &t.model.stats;

	for (unsigned int i = 0; i < WEIR_READOUT_BUFFER_NB_REASONS; i++) {
		bool can = i != WEIR_READOUT_BUFFER_NO_MEMORY &&
			   (i != WEIR_READOUT_BUFFER_SLOT_TAKEN || t.format.step_ticks > 0) &&
			   (i != WEIR_READOUT_BUFFER_FAR_OFF || t.config.confirm_frames > 1);

		assert_true(can == (stats->dropped[i] > 0));
	}
	assert_true(stats->late > 0 && stats->jumps > 0 && stats->expired > 0);
}

static void
start(unsigned int bits, uint64_t step, unsigned int nb)
{
	const struct weir_base_format spec = {.name = "property",
		.fields = {[WEIR_BASE_FIELD_TIMESTAMP] = {64, bits},
			[WEIR_BASE_FIELD_SEQUENCE] = {128, 32}},
		.size_max_bytes = FRAME_BYTES,
		.step_ticks = step,
		.clock_hz = 1000};

	memset(&t, 0, sizeof(t));
	t.random = 0x9e3779b97f4a7c15 + bits * 977 + step + nb;
	assert_int_equal(weir_readout_format_compile(&spec, &t.format, NULL, NULL, 0), 0);
	t.config = (struct weir_readout_buffer_config){.name = "property",
		.format = &t.format,
		.history_s = 0.4 + 0.2 * nb,
		.rate_hz = 125,
		.jump_s = 0.1,
		.confirm_frames = 1 + nb,
		.spare_frames = 5000,
		.reorder_frames = 60,
		.socket_id = -1,
		.no_hugepages = true};
	t.buffer = weir_readout_buffer_create(&t.config);
	assert_non_null(t.buffer);
	model_init(&t.model, &t.config, t.buffer);
	for (unsigned int i = 0; i < HELD_MAX; i++) {
		t.held[i].window = weir_readout_window_create(MODEL_FRAMES_MAX, MODEL_MISSING_MAX);
		assert_non_null(t.held[i].window);
	}
	t.clock = any(UINT64_MAX);
}

static void
finish(void)
{
	for (unsigned int i = 0; i < HELD_MAX; i++) {
		check_held(&t.held[i]);
		weir_readout_window_release(t.held[i].window);
		weir_readout_window_free(t.held[i].window);
	}
	weir_readout_buffer_free(t.buffer);
}

static void
run(uint64_t step, const unsigned int *widths, unsigned int nb_widths)
{
	for (unsigned int i = 0; i < nb_widths; i++) {
		start(widths[i], step, i);
		next_frame();
		while (!t.model.started)
			next_frame();
		for (unsigned int n = 0; n < OPERATIONS / nb_widths; n++) {
			next_frame();
			if (one_in(16))
				look();
			check_stats();
		}
		check_faults();
		print_message("  %u bits: %" PRIu64 " frames, %" PRIu64
			      " windows pinned by a range, %" PRIu64 " by frames\n",
			widths[i], t.nb_ids, t.nb_by_range, t.nb_by_pin);
		assert_true(t.nb_by_range > OPERATIONS / 1000 && t.nb_by_pin > OPERATIONS / 2000);
		finish();
	}
}

static void
fixed(void **state)
{
	static const unsigned int widths[] = {14, 20, 32, 64};

	run(8, widths, 4);
}

static void
ordered(void **state)
{
	static const unsigned int widths[] = {13, 21, 33, 64};

	run(0, widths, 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(fixed), cmocka_unit_test(ordered)};

	return cmocka_run_group_tests_name("readout-property", tests, NULL, NULL);
}
