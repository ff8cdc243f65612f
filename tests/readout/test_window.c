/* SPDX-License-Identifier: BSD-3-Clause */

/* Windows at all their edges: empty, one tick, across gaps, where history ends, where the clock wraps, before there is anything. */

#include "../base/cmocka_all.h"

#include <errno.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "buffer/range.h"
#include "readout_test.h"

static struct weir_readout_format format;
static struct weir_readout_buffer *buffer;
static struct weir_readout_window *window;

static void
begin(uint64_t step, unsigned int timestamp_bits)
{
	struct weir_readout_buffer_config config;

	format = rt_format(step, timestamp_bits);
	config = rt_config(&format);
	buffer = rt_open(&config);
	window = rt_window();
}

static void
end(void)
{
	weir_readout_window_free(window);
	weir_readout_buffer_free(buffer);
}

/* As rt_find(), and not held. */
static void
find(uint64_t from, uint64_t to, uint32_t nb_frames, uint32_t nb_missing,
	enum weir_readout_status status)
{
	rt_find(buffer, from, to, window, nb_frames, nb_missing, status);
	weir_readout_window_release(window);
	assert_null(window->buffer);
	assert_int_equal(window->nb_frames, 0);
}

static void
nothing(void **state)
{
	begin(RT_STEP, 32);
	find(1000, 1000, 0, 0, WEIR_READOUT_STATUS_COMPLETE);
	find(1000, 1010, 0, 1, WEIR_READOUT_STATUS_NOT_YET);
	rt_missing(window, 0, 1000, 1010);
	assert_int_equal(weir_readout_window_find(buffer, 1000, 999, window), -EINVAL);
	weir_readout_window_release(window); /* nothing to do */
	end();
}

static void
edges(void **state)
{
	begin(RT_STEP, 32);
	rt_put_all(buffer, 1000, 2000);
	find(1500, 1500, 0, 0, WEIR_READOUT_STATUS_COMPLETE);
	find(1500, 1501, 1, 0, WEIR_READOUT_STATUS_COMPLETE);
	find(1509, 1510, 1, 0, WEIR_READOUT_STATUS_COMPLETE);
	find(1509, 1511, 2, 0, WEIR_READOUT_STATUS_COMPLETE);
	find(1500, 1510, 1, 0, WEIR_READOUT_STATUS_COMPLETE);
	/* The newest lasts until 2000. */
	find(1999, 2000, 1, 0, WEIR_READOUT_STATUS_COMPLETE);
	find(1999, 2001, 1, 1, WEIR_READOUT_STATUS_NOT_YET);
	rt_missing(window, 0, 2000, 2001);
	find(2000, 2001, 0, 1, WEIR_READOUT_STATUS_NOT_YET);
	find(5000000, 5000010, 0, 1, WEIR_READOUT_STATUS_NOT_YET);
	rt_missing(window, 0, 5000000, 5000010);
	/* Nothing was before 1000. */
	find(1000, 1001, 1, 0, WEIR_READOUT_STATUS_COMPLETE);
	find(999, 1001, 1, 1, WEIR_READOUT_STATUS_PARTIAL);
	rt_missing(window, 0, 999, 1000);
	assert_int_equal(window->parts, WEIR_READOUT_PART_FRAMES | WEIR_READOUT_PART_TOO_OLD);
	find(999, 1000, 0, 1, WEIR_READOUT_STATUS_TOO_OLD);
	find(0, 10, 0, 1, WEIR_READOUT_STATUS_TOO_OLD);
	find(900, 2100, 100, 2, WEIR_READOUT_STATUS_NOT_YET);
	rt_missing(window, 0, 900, 1000);
	rt_missing(window, 1, 2000, 2100);
	end();
}

/* History is 122 steps. */
static void
where_history_ends(void **state)
{
	begin(RT_STEP, 32);
	rt_put_all(buffer, 1000, 3000);
	find(1780, 1790, 1, 0, WEIR_READOUT_STATUS_COMPLETE);
	find(1779, 1790, 1, 1, WEIR_READOUT_STATUS_PARTIAL);
	rt_missing(window, 0, 1779, 1780);
	find(1770, 1780, 0, 1, WEIR_READOUT_STATUS_TOO_OLD);
	end();
	begin(0, 32);
	rt_put_all(buffer, 1000, 3000);
	find(1790, 1800, 1, 0, WEIR_READOUT_STATUS_COMPLETE);
	find(1789, 1800, 1, 1, WEIR_READOUT_STATUS_PARTIAL);
	rt_missing(window, 0, 1789, 1790);
	find(1780, 1790, 0, 1, WEIR_READOUT_STATUS_TOO_OLD);
	end();
}

static void
gaps(void **state)
{
	begin(RT_STEP, 32);
	rt_put_all(buffer, 1000, 1100);
	rt_put_all(buffer, 1120, 1200);
	rt_put_all(buffer, 1210, 1300);
	find(1090, 1130, 2, 1, WEIR_READOUT_STATUS_PARTIAL);
	rt_missing(window, 0, 1100, 1120);
	assert_int_equal(window->parts, WEIR_READOUT_PART_FRAMES | WEIR_READOUT_PART_MISSING);
	find(1105, 1110, 0, 1, WEIR_READOUT_STATUS_PARTIAL);
	rt_missing(window, 0, 1105, 1110);
	find(1095, 1105, 1, 1, WEIR_READOUT_STATUS_PARTIAL);
	rt_missing(window, 0, 1100, 1105);
	find(1000, 1300, 27, 2, WEIR_READOUT_STATUS_PARTIAL);
	rt_missing(window, 1, 1200, 1210);
	/* One comes late. */
	assert_true(rt_put(buffer, 1200));
	find(1120, 1300, 18, 0, WEIR_READOUT_STATUS_COMPLETE);
	end();
}

/* More gaps than there is room for. */
static void
cut(void **state)
{
	begin(RT_STEP, 32);
	for (uint64_t at = 1000; at <= 1200; at += 2 * RT_STEP)
		assert_true(rt_put(buffer, at));
	find(1000, 1170, 9, 8, WEIR_READOUT_STATUS_PARTIAL);
	assert_int_equal(window->parts & WEIR_READOUT_PART_CUT, 0);
	find(1000, 1180, 9, 8, WEIR_READOUT_STATUS_PARTIAL);
	assert_int_equal(window->parts & WEIR_READOUT_PART_CUT, WEIR_READOUT_PART_CUT);
	rt_missing(window, 6, 1130, 1140);
	rt_missing(window, 7, 1150, 1180);
	end();
}

/* Timestamps that are not at the beginnings of steps, after the clock was shifted a little. */
static void
off_grid(void **state)
{
	begin(RT_STEP, 32);
	rt_put_all(buffer, 1000, 1100);
	rt_put_all(buffer, 1103, 1203);
	find(1000, 1203, 20, 1, WEIR_READOUT_STATUS_PARTIAL);
	rt_missing(window, 0, 1100, 1103);
	find(1110, 1111, 1, 0, WEIR_READOUT_STATUS_COMPLETE);
	find(1112, 1114, 2, 0, WEIR_READOUT_STATUS_COMPLETE);
	find(1103, 1113, 1, 0, WEIR_READOUT_STATUS_COMPLETE);
	end();
}

static void
wraps(void **state)
{
	const uint64_t wrap = UINT64_C(1) << 16;

	begin(RT_STEP, 16);
	rt_put_all(buffer, wrap - 500, wrap);
	for (uint64_t at = 0; at < 300; at += RT_STEP) {
		const uint64_t data[RT_BYTES / 8] = {at, ~at};
		/* Bits above are no part of it. */
		const struct weir_readout_frame frame = {at + wrap * (at % 3), at, RT_BYTES};

		assert_true(weir_readout_buffer_put(buffer, &frame, data));
	}
	find(wrap - 100, 100, 20, 0, WEIR_READOUT_STATUS_COMPLETE);
	find(wrap - 1, 0, 1, 0, WEIR_READOUT_STATUS_COMPLETE);
	find(wrap - 600, 400, 80, 2, WEIR_READOUT_STATUS_NOT_YET);
	rt_missing(window, 0, wrap - 600, wrap - 500);
	rt_missing(window, 1, 300, 400);
	assert_int_equal(weir_readout_window_find(buffer, 100, wrap - 100, window), -EINVAL);
	end();
}

/* All of 64 bits, from one end to the other, is out of reach of nothing. */
static void
far(void **state)
{
	begin(RT_STEP, 64);
	rt_put_all(buffer, 1000, 2000);
	find(INT64_MAX, (uint64_t)INT64_MAX + 10, 0, 1, WEIR_READOUT_STATUS_NOT_YET);
	find((uint64_t)INT64_MAX + 5000, (uint64_t)INT64_MAX + 5010, 0, 1,
		WEIR_READOUT_STATUS_TOO_OLD);
	rt_missing(window, 0, (uint64_t)INT64_MAX + 5000, (uint64_t)INT64_MAX + 5010);
	find(500, (uint64_t)INT64_MAX, 100, 2, WEIR_READOUT_STATUS_NOT_YET);
	find((uint64_t)INT64_MAX + 5000, 1010, 1, 1, WEIR_READOUT_STATUS_PARTIAL);
	end();
}

/* More frames than there is room for: none is pinned. */
static void
too_many(void **state)
{
	for (uint64_t step = 0; step <= RT_STEP; step += RT_STEP) {
		struct weir_readout_window *small = weir_readout_window_create(10, 2);

		begin(step, 32);
		assert_non_null(small);
		rt_put_all(buffer, 1000, 2000);
		rt_find(buffer, 1500, 1600, small, 10, 0, WEIR_READOUT_STATUS_COMPLETE);
		weir_readout_window_release(small);
		assert_int_equal(weir_readout_window_find(buffer, 1500, 1611, small), -E2BIG);
		assert_int_equal(small->nb_frames, 0);
		assert_null(small->buffer);
		rt_put_all(buffer, 2000, 3200); /* they leave, and nobody detains them */
		assert_int_equal(rt_stats(buffer).detained, 0);
		weir_readout_window_free(small);
		end();
	}
}

/* What is pinned stays, whoever else looks. */
static void
pinned_twice(void **state)
{
	struct weir_readout_window *other;

	begin(RT_STEP, 32);
	other = rt_window();
	rt_put_all(buffer, 1000, 1100);
	rt_find(buffer, 1000, 1050, window, 5, 0, WEIR_READOUT_STATUS_COMPLETE);
	rt_find(buffer, 1000, 1100, other, 10, 0, WEIR_READOUT_STATUS_COMPLETE);
	for (uint64_t at = 1100; at < 2330; at += RT_STEP)
		assert_true(rt_put(buffer, at));
	weir_readout_window_release(other);
	rt_check_frames(window);
	for (uint64_t at = 2330; at < 2430; at += RT_STEP)
		assert_true(rt_put(buffer, at));
	assert_int_equal(rt_stats(buffer).detained, 5);
	rt_check_frames(window);
	weir_readout_window_release(window);
	assert_true(rt_put(buffer, 2430));
	assert_true(rt_put(buffer, 2440));
	assert_true(rt_put(buffer, 2450));
	assert_int_equal(rt_stats(buffer).detained, 0);
	weir_readout_window_free(other);
	end();
}

/* Looked up again without a release: what it held is let go, be it by its range or frame by frame. */
static void
found_again(void **state)
{
	struct weir_readout_window *others[RANGES_MAX];

	begin(RT_STEP, 32);
	rt_put_all(buffer, 1000, 1100);
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < 2 * RANGES_MAX; i++)
			rt_find(buffer, 1000, 1050, window, 5, 0, WEIR_READOUT_STATUS_COMPLETE);
		assert_int_equal(window->range == RANGE_NONE, round == 1);
		/* The second time none is left for it. */
		for (unsigned int i = 0; round == 0 && i < RANGES_MAX; i++) {
			weir_readout_window_release(window);
			others[i] = rt_window();
			rt_find(buffer, 1050, 1100, others[i], 5, 0, WEIR_READOUT_STATUS_COMPLETE);
		}
	}
	assert_int_equal(weir_readout_window_find(buffer, 1000, 999, window), -EINVAL);
	assert_int_equal(window->nb_frames, 0);
	for (unsigned int i = 0; i < RANGES_MAX; i++) {
		weir_readout_window_release(others[i]);
		weir_readout_window_free(others[i]);
	}
	rt_put_all(buffer, 1100, 3200); /* they leave, and nobody detains them */
	assert_int_equal(rt_stats(buffer).detained, 0);
	end();
}

/* Time in units, modulo: what is kept is at least what was asked for. */
static void
ranges(void **state)
{
	static const uint64_t times[] = {0, 1, 1000, UINT32_MAX - 5, UINT64_C(1) << 62};
	struct ranges all;

	for (unsigned int i = 0; i < RTE_DIM(times); i++) {
		uint32_t one;

		ranges_init(&all, 1000);
		assert_int_equal(all.unit_bits, 0);
		assert_true(range_word(&all, times[i], times[i]) == 0);
		assert_true(range_word(&all, times[i], times[i] + UINT32_MAX) != 0);
		assert_true(range_word(&all, times[i], times[i] + UINT32_MAX + 1) == 0);
		one = ranges_keep(&all, range_word(&all, times[i], times[i] + 10));
		assert_false(ranges_cover(&all, times[i] - 1, 7));
		assert_true(ranges_cover(&all, times[i], 7));
		assert_true(ranges_cover(&all, times[i] + 9, 7));
		assert_false(ranges_cover(&all, times[i] + 10, 7));
		ranges_limit(&all, one, 7);
		assert_true(ranges_cover(&all, times[i], 6));
		assert_false(ranges_cover(&all, times[i], 7));
		ranges_release(&all, one);
		assert_false(ranges_cover(&all, times[i], 6));
		ranges_init(&all, UINT64_C(1) << 40);
		assert_int_equal(all.unit_bits, 10);
		ranges_keep(&all, range_word(&all, times[i] + 100, times[i] + 2000));
		assert_true(ranges_cover(&all, times[i] + 100, 0));
		assert_true(ranges_cover(&all, times[i] + 1999, 0));
		assert_false(ranges_cover(&all, times[i] + 4096, 0));
	}
}

/* There are so many, each one's own. */
static void
ranges_end(void **state)
{
	struct ranges all;

	ranges_init(&all, 1000);
	assert_int_equal(ranges_keep(&all, 0), RANGE_NONE);
	for (uint32_t i = 0; i < RANGES_MAX; i++)
		assert_int_equal(ranges_keep(&all, range_word(&all, 10 * i, 10 * i + 10)), i);
	assert_int_equal(ranges_keep(&all, range_word(&all, 0, 10)), RANGE_NONE);
	ranges_release(&all, 3);
	assert_true(ranges_cover(&all, 29, 0));
	assert_false(ranges_cover(&all, 30, 0));
	assert_int_equal(ranges_keep(&all, range_word(&all, 5000, 5001)), 3);
	assert_true(ranges_cover(&all, 5000, 0));
}

/* Many windows at once, of the same time and of others: each keeps its own, until it is released. */
static void
many(void **state)
{
	struct weir_readout_window *windows[2 * RANGES_MAX];
	uint64_t at;

	begin(RT_STEP, 32);
	rt_put_all(buffer, 1000, 2000);
	for (unsigned int i = 0; i < RTE_DIM(windows); i++) {
		windows[i] = rt_window();
		rt_find(buffer, 1900 + i % 4 * RT_STEP, 1920 + i % 4 * RT_STEP, windows[i], 2, 0,
			WEIR_READOUT_STATUS_COMPLETE);
		assert_int_equal(windows[i]->range == RANGE_NONE, i >= RANGES_MAX);
	}
	for (at = 2000; at < 4000; at += RT_STEP)
		assert_true(rt_put(buffer, at));
	assert_int_equal(rt_stats(buffer).detained, 5);
	for (unsigned int i = 0; i < RTE_DIM(windows); i++) {
		rt_check_frames(windows[i]);
		weir_readout_window_release(windows[i]);
		weir_readout_window_free(windows[i]);
		assert_true(rt_put(buffer, at));
		at += RT_STEP;
	}
	rt_put_all(buffer, at, at + 10 * RT_STEP);
	assert_int_equal(rt_stats(buffer).detained, 0);
	end();
}

/* Frames at the same tick, more than are looked at in one go. */
static void
same_tick(void **state)
{
	begin(0, 32);
	for (uint64_t i = 0; i < 130; i++) {
		const uint64_t data[RT_BYTES / 8] = {1000, ~UINT64_C(1000)};
		const struct weir_readout_frame frame = {1000, i, RT_BYTES};

		assert_true(weir_readout_buffer_put(buffer, &frame, data));
	}
	assert_true(rt_put(buffer, 1010));
	find(1000, 1001, 130, 0, WEIR_READOUT_STATUS_COMPLETE);
	find(1001, 1010, 0, 0, WEIR_READOUT_STATUS_COMPLETE);
	find(1000, 1011, 131, 1, WEIR_READOUT_STATUS_NOT_YET);
	end();
}

static void
create(void **state)
{
	assert_null(weir_readout_window_create(0, 2));
	assert_int_equal(rte_errno, EINVAL);
	assert_null(weir_readout_window_create(1, 1));
	assert_int_equal(rte_errno, EINVAL);
	weir_readout_window_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),
		cmocka_unit_test(edges),
		cmocka_unit_test(where_history_ends),
		cmocka_unit_test(gaps),
		cmocka_unit_test(cut),
		cmocka_unit_test(off_grid),
		cmocka_unit_test(wraps),
		cmocka_unit_test(far),
		cmocka_unit_test(too_many),
		cmocka_unit_test(pinned_twice),
		cmocka_unit_test(found_again),
		cmocka_unit_test(ranges),
		cmocka_unit_test(ranges_end),
		cmocka_unit_test(many),
		cmocka_unit_test(same_tick),
		cmocka_unit_test(create),
	};

	return cmocka_run_group_tests_name("readout-window", tests, NULL, NULL);
}
