/* SPDX-License-Identifier: BSD-3-Clause */

/* A latency buffer without a free cell: what is evicted, what is dropped, what readers keep. */

#include "../base/cmocka_all.h"
#include "../base/random.h"

#include "readout_test.h"

/* 122 cells of history, jumps and ends (irregular: 121), 8 spare, 16 for the doubted. */
static unsigned int
nb_cells(const struct weir_readout_buffer *buffer)
{
	struct weir_readout_buffer_info info;

	weir_readout_buffer_info(buffer, &info);
	return info.nb_cells;
}

/* Readers pin whole histories, one after the other: new frames go to spare cells while there are any, then to those of the oldest unpinned. */
static void
check_full(uint64_t step, enum weir_readout_full when_full)
{
	struct weir_readout_format format = rt_format(step, 32);
	struct weir_readout_buffer_config config = rt_config(&format);
	struct weir_readout_window *old = rt_window(), *window = rt_window();
	const bool evict = when_full == WEIR_READOUT_FULL_EVICT_OLDEST;
	struct weir_readout_buffer_stats stats;
	struct weir_readout_buffer *buffer;
	uint64_t kept, at;
	unsigned int nb;

	config.when_full = when_full;
	buffer = rt_open(&config);
	nb = nb_cells(buffer);
	/* A history and a half; what is over by now is pinned. */
	rt_put_all(buffer, 1000, 2010);
	rt_find(buffer, 1000, 2000, old, 100, 0, WEIR_READOUT_STATUS_COMPLETE);
	for (at = 2010; rt_stats(buffer).buffered + rt_stats(buffer).detained < nb; at += RT_STEP)
		assert_true(rt_put(buffer, at));
	stats = rt_stats(buffer);
	assert_true(stats.detained > 0 && stats.detained < 100);
	assert_int_equal(stats.evicted, 0);
	kept = 1000 + stats.expired * RT_STEP; /* the oldest that is still there, pinned */
	assert_true(rt_put(buffer, at) == evict);
	stats = rt_stats(buffer);
	assert_int_equal(stats.evicted, evict);
	assert_int_equal(DROPPED(stats, NO_MEMORY), !evict);
	rt_check_frames(old);
	/* The oldest that nobody pinned is 2000. */
	rt_find(buffer, 1990, 2020, window,
		step > 0 && evict ? 2
		: step > 0        ? 3
		: evict           ? 1
				  : 3,
		evict, evict ? WEIR_READOUT_STATUS_PARTIAL : WEIR_READOUT_STATUS_COMPLETE);
	if (evict)
		rt_missing(window, 0, step > 0 ? 2000 : 1990, step > 0 ? 2010 : 2001);
	weir_readout_window_release(window);
	/* Released, it makes room: the next frame does not evict any. */
	weir_readout_window_release(old);
	assert_true(rt_put(buffer, at + RT_STEP));
	assert_int_equal(rt_stats(buffer).evicted, evict);
	for (unsigned int i = 2; i < 80; i++)
		assert_true(rt_put(buffer, at + i * RT_STEP));
	assert_int_equal(rt_stats(buffer).detained, 0);
	assert_int_equal(rt_stats(buffer).evicted, evict);
	assert_true(kept > 1000);
	weir_readout_window_free(old);
	weir_readout_window_free(window);
	weir_readout_buffer_free(buffer);
}

static void
full(void **state)
{
	check_full(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST);
	check_full(RT_STEP, WEIR_READOUT_FULL_DROP_NEWEST);
	check_full(0, WEIR_READOUT_FULL_EVICT_OLDEST);
	check_full(0, WEIR_READOUT_FULL_DROP_NEWEST);
}

/* Faster than it was said to be, without readers: the oldest go. */
static void
too_fast(void **state)
{
	struct weir_readout_format format = rt_format(0, 32);
	struct weir_readout_buffer_config config = rt_config(&format);
	struct weir_readout_buffer *buffer = rt_open(&config);
	struct weir_readout_window *window = rt_window();
	unsigned int nb = nb_cells(buffer);
	uint64_t begin, end;

	for (uint64_t at = 1000; at < 1900; at++)
		assert_true(rt_put(buffer, at));
	assert_int_equal(rt_stats(buffer).buffered, nb);
	assert_int_equal(rt_stats(buffer).evicted, 900 - nb);
	assert_true(weir_readout_buffer_range(buffer, &begin, &end));
	assert_true(begin == 1900 - nb && end == 1899);
	rt_find(buffer, begin, end, window, nb - 1, 0, WEIR_READOUT_STATUS_COMPLETE);
	weir_readout_window_release(window);
	rt_find(buffer, begin - 10, end, window, nb - 1, 1, WEIR_READOUT_STATUS_PARTIAL);
	weir_readout_window_release(window);
	assert_false(rt_put(buffer, begin - 1));
	assert_int_equal(DROPPED(rt_stats(buffer), TOO_LATE), 1);
	weir_readout_window_free(window);
	weir_readout_buffer_free(buffer);
}

/* A reader has everything: there is nothing to evict. */
static void
all_pinned(void **state)
{
	struct weir_readout_format format = rt_format(0, 32);
	struct weir_readout_buffer_config config = rt_config(&format);
	struct weir_readout_buffer *buffer = rt_open(&config);
	struct weir_readout_window *window = rt_window();
	unsigned int nb = nb_cells(buffer);

	for (uint64_t at = 1000; at < 1000 + nb; at++)
		assert_true(rt_put(buffer, at));
	rt_find(buffer, 1000, 2000, window, nb, 1, WEIR_READOUT_STATUS_NOT_YET);
	for (unsigned int i = 0; i < 10; i++)
		assert_false(rt_put(buffer, 1000 + nb + i));
	assert_int_equal(DROPPED(rt_stats(buffer), NO_MEMORY), 10);
	rt_check_frames(window);
	weir_readout_window_release(window);
	assert_true(rt_put(buffer, 1010 + nb));
	assert_int_equal(rt_stats(buffer).evicted, 1);
	weir_readout_window_free(window);
	weir_readout_buffer_free(buffer);
}

/* What comes late, and is not pinned, is found by eviction, though it had passed there. */
static void
check_late(uint64_t step)
{
	const uint64_t apart = step > 0 ? step : 2, begin = 100000, hole = begin + 60 * apart;
	struct weir_readout_format format = rt_format(step, 32);
	struct weir_readout_buffer_config config = rt_config(&format);
	struct weir_readout_buffer *buffer = rt_open(&config);
	struct weir_readout_window *windows[2] = {rt_window(), rt_window()};
	uint64_t at = begin, detained = step > 0 ? 24 : 0;

	/* All cells but one are in use, and pinned: of a history, then of what comes next. The one has a frame that is doubted. */
	for (unsigned int i = 0; i < 2; i++) {
		for (; rt_stats(buffer).received < (i == 0 ? 121 : nb_cells(buffer) - 1);
			at += apart)
			if (at != hole)
				assert_true(rt_put(buffer, at));
		assert_int_equal(weir_readout_window_find(buffer, begin, at, windows[i]), 0);
	}
	assert_int_equal(rt_stats(buffer).detained, detained);
	assert_true(rt_put(buffer, 1u << 30));
	assert_false(rt_put(buffer, (1u << 30) + 1));
	assert_int_equal(DROPPED(rt_stats(buffer), NO_MEMORY), 1);
	/* It is dropped for a late one, which the next one evicts. */
	assert_true(rt_put(buffer, hole));
	assert_int_equal(rt_stats(buffer).late, 1);
	assert_true(rt_put(buffer, at));
	assert_int_equal(rt_stats(buffer).evicted, 1);
	for (unsigned int i = 0; i < 2; i++) {
		rt_check_frames(windows[i]);
		weir_readout_window_release(windows[i]);
		weir_readout_window_free(windows[i]);
	}
	weir_readout_buffer_free(buffer);
}

static void
late(void **state)
{
	check_late(0);
	check_late(RT_STEP);
}

/* Holes between pinned frames do not fill the ring for ever: in the end the pinned ones leave it, and stay as they are. */
static void
holes(void **state)
{
	struct weir_readout_format format = rt_format(0, 32);
	struct weir_readout_buffer_config config = rt_config(&format);
	struct weir_readout_buffer *buffer = rt_open(&config);
	struct weir_readout_window *window = rt_window();

	for (uint64_t at = 1000; at < 1010; at++)
		assert_true(rt_put(buffer, at));
	rt_find(buffer, 1000, 1005, window, 5, 0, WEIR_READOUT_STATUS_COMPLETE);
	/* All within the history, so that nothing expires. */
	for (unsigned int i = 0; i < 1000; i++)
		assert_true(rt_put(buffer, 1010 + i));
	assert_int_equal(rt_stats(buffer).expired, 0);
	assert_int_equal(rt_stats(buffer).detained, 5);
	rt_check_frames(window);
	weir_readout_window_release(window);
	weir_readout_window_free(window);
	weir_readout_buffer_free(buffer);
}

#define HELD_MAX   4u
#define PRESENT    4096u /* more than a history's steps */
#define OPERATIONS 50000u

static struct {
	struct weir_readout_window *held[HELD_MAX];
	bool present[PRESENT]; /* by step, modulo */
	uint64_t random;
} t;

static uint64_t
any(uint64_t below)
{
	return random_below(&t.random, below);
}

static bool
is_held(uint64_t timestamp)
{
	for (unsigned int i = 0; i < HELD_MAX; i++)
		for (uint32_t j = 0; j < t.held[i]->nb_frames; j++)
			if (t.held[i]->timestamps[j] == timestamp)
				return true;
	return false;
}

/* The oldest of the history that no window holds; @p at: there is none. */
static uint64_t
oldest_free(uint64_t begin, uint64_t at)
{
	for (; begin < at; begin += RT_STEP)
		if (t.present[begin / RT_STEP % PRESENT] && !is_held(begin))
			return begin;
	return at;
}

/* One frame after the other: it is taken in, and may evict the oldest one that is not held, or there is no such one. */
static void
put_next(struct weir_readout_buffer *buffer, uint64_t begin, uint64_t at)
{
	struct weir_readout_buffer_stats before = rt_stats(buffer), after;
	uint64_t oldest = oldest_free(begin, at);
	bool taken = rt_put(buffer, at);

	after = rt_stats(buffer);
	t.present[at / RT_STEP % PRESENT] = taken;
	assert_true(DROPPED(after, NO_MEMORY) - DROPPED(before, NO_MEMORY) == !taken);
	assert_true(taken || oldest == at);
	if (after.evicted > before.evicted) {
		assert_int_equal(after.evicted - before.evicted, 1);
		assert_true(oldest < at);
		t.present[oldest / RT_STEP % PRESENT] = false;
	}
}

/* All that should be there is, and no more. */
static void
check_present(const struct weir_readout_buffer *buffer, struct weir_readout_window *all,
	uint64_t begin, uint64_t at)
{
	uint32_t nb = 0;

	assert_int_equal(weir_readout_window_find(buffer, begin, at + RT_STEP, all), 0);
	rt_check_frames(all);
	for (; begin <= at; begin += RT_STEP) {
		bool found = nb < all->nb_frames && all->timestamps[nb] == begin;

		assert_int_equal(found, t.present[begin / RT_STEP % PRESENT]);
		nb += found;
	}
	assert_int_equal(nb, all->nb_frames);
	weir_readout_window_release(all);
}

/* Readers hold more than there are spare cells for, all the time: always the oldest goes that they do not hold. */
static void
oldest_first(void **state)
{
	struct weir_readout_format format = rt_format(RT_STEP, 64);
	struct weir_readout_buffer_config config = rt_config(&format);
	struct weir_readout_window *all = rt_window();
	struct weir_readout_buffer_stats stats;
	struct weir_readout_buffer_info info;
	struct weir_readout_buffer *buffer;
	uint64_t at = 1000000;

	memset(&t, 0, sizeof(t));
	t.random = 0x2545f4914f6cdd1d;
	config.spare_frames = 1;
	buffer = rt_open(&config);
	weir_readout_buffer_info(buffer, &info);
	for (unsigned int i = 0; i < HELD_MAX; i++)
		t.held[i] = rt_window();
	for (unsigned int n = 0; n < OPERATIONS; n++, at += RT_STEP) {
		uint64_t begin = at - info.history_ticks, from = at - any(1200);
		struct weir_readout_window *window = t.held[any(HELD_MAX)];

		put_next(buffer, begin, at);
		if (any(16) == 0)
			check_present(buffer, all, begin, at);
		if (any(64) != 0)
			continue;
		rt_check_frames(window);
		weir_readout_window_release(window);
		assert_int_equal(
			weir_readout_window_find(buffer, from, from + any(1200), window), 0);
	}
	stats = rt_stats(buffer);
	assert_true(stats.evicted > OPERATIONS / 100);
	for (unsigned int i = 0; i < HELD_MAX; i++) {
		weir_readout_window_release(t.held[i]);
		weir_readout_window_free(t.held[i]);
	}
	weir_readout_window_free(all);
	weir_readout_buffer_free(buffer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full),
		cmocka_unit_test(too_fast),
		cmocka_unit_test(all_pinned),
		cmocka_unit_test(late),
		cmocka_unit_test(holes),
		cmocka_unit_test(oldest_first),
	};

	return cmocka_run_group_tests_name("readout-full", tests, NULL, NULL);
}
