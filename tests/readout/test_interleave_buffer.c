/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Readers beside the writer, in every order of their steps within so many interruptions: what is pinned stays as it is, what was
 * there is found or said to be missing, no cell is lost or has two uses, and the counters agree at each look. (Where one may wait for the
 * writer there are two actors: two that wait would wake each other for ever.)
 */

#include "interleave_buffer.h"

#include "../../lib/readout/link/follower.c"

static struct {
	struct weir_readout_window *windows[INTERLEAVE_ACTORS_MAX];
	struct weir_readout_follower *follower, saved_follower;
	uint64_t last_seen;
	uint32_t cell;   /* what an old reference says */
	uint64_t wanted; /* the time that is looked for there */
} t;

/* A window, held for a while. What was shown when it was looked for is in it, or is told. */
static void
look(struct weir_readout_window *window, uint64_t begin, uint64_t end)
{
	unsigned int nb_shown = written.nb_shown;

	assert_int_equal(weir_readout_window_find(written.buffer, begin, end, window), 0);
	check_window(window, nb_shown);
	interleave_point();
	check_frames(window);
	weir_readout_window_release(window);
}

static void
check_stats(void)
{
	struct weir_readout_buffer_stats stats;
	uint64_t dropped = 0;

	weir_readout_buffer_stats(written.buffer, &stats);
	for (unsigned int i = 0; i < WEIR_READOUT_BUFFER_NB_REASONS; i++)
		dropped += stats.dropped[i];
	assert_true(stats.received == stats.buffered + stats.expired + stats.evicted + dropped);
}

/* A buffer with few cells, as it is after @p fill; each run begins with it. */
static void
open_buffer(uint64_t step, uint32_t spare_frames, uint64_t history, void (*fill_buffer)(void))
{
	memset(&t, 0, sizeof(t));
	make_buffer(step, &(struct weir_readout_buffer_config){.history_s = (double)history / 1000,
				  .rate_hz = 100,
				  .spare_frames = spare_frames});
	for (unsigned int i = 0; i < INTERLEAVE_ACTORS_MAX; i++) {
		t.windows[i] = weir_readout_window_create(FRAMES_MAX, 8);
		assert_non_null(t.windows[i]);
	}
	fill_buffer();
	save_buffer();
}

static void
close_buffer(void)
{
	for (unsigned int i = 0; i < INTERLEAVE_ACTORS_MAX; i++)
		weir_readout_window_free(t.windows[i]);
	weir_readout_follower_free(t.follower);
	weir_readout_buffer_free(written.buffer);
}

static void
restore(void)
{
	restore_buffer();
	t.cell = *index_ref(&written.buffer->index, written.buffer->index.tail);
	t.wanted = written.buffer->newest_at + 2 * STEP;
	t.last_seen = 0;
	if (t.follower != NULL)
		*t.follower = t.saved_follower;
}

/* Each cell is free, detained or in the index, once; nobody pins one any more. */
static void
check_cells(void)
{
	const struct store *store = &written.buffer->store;
	unsigned int uses[256] = {0};

	assert_true(store->nb_cells <= 256);
	for (uint32_t i = 0; i < store->nb_free; i++) {
		assert_int_equal(store->cells[store->free[i]].pin, PIN_CLAIMED);
		uses[store->free[i]]++;
	}
	for (uint32_t i = 0; i < store->nb_detained; i++)
		uses[store->detained[i]]++;
	for (uint64_t i = 0; i <= written.buffer->index.mask; i++)
		if (written.buffer->index.refs[i] != STORE_NONE &&
			(!written.buffer->ordered ||
				((i - written.buffer->index.tail) & written.buffer->index.mask) <
					written.buffer->index.end - written.buffer->index.tail))
			uses[written.buffer->index.refs[i]]++;
	for (uint32_t i = 0; i < store->nb_cells; i++)
		assert_int_equal(uses[i], 1);
	check_pins();
	check_stats();
}

static void
run(void (*writer)(void), void (*reader)(void), void (*other)(void), unsigned int most,
	uint64_t least)
{
#ifdef WEIR_BASE_ASAN
	most = 2; /* the same places in fewer orders: it takes ten times as long */
#endif
	const struct interleave interleave = {.init = restore,
		.nb_actors = other != NULL ? 3 : 2,
		.actors = {writer, reader, other},
		.check = check_cells,
		.most_interruptions = most,
		.least = least};

	interleave_all(&interleave);
	close_buffer();
}

static void
fill_steps(void)
{
	for (uint64_t i = 0; i < 8; i++)
		put(FIRST + i * STEP);
}

/* Over a whole history, and more: the oldest frames leave. */
static void
put_next(void)
{
	put(FIRST + 8 * STEP);
	put(FIRST + 10 * STEP);
	put(FIRST + 9 * STEP);
}

static void
look_at_oldest(void)
{
	look(t.windows[0], FIRST, FIRST + 2 * STEP);
}

static void
look_at_all(void)
{
	look(t.windows[1], FIRST - 5, FIRST + 12 * STEP);
}

/* Interruptions where frames are pinned one by one, or for long: the sanitizers see nothing new there, and take long. */
#if defined(WEIR_BASE_ASAN) || defined(WEIR_BASE_TSAN)
#define BESIDE 1
#else
#define BESIDE 2
#endif

/* All ranges but so many are others', of a time that never comes. */
static void
leave_ranges(uint32_t nb)
{
	struct ranges *ranges = written.buffer->ranges;

	while (nb++ < RANGES_MAX)
		assert_true(ranges_keep(ranges, range_word(ranges, 1, 2)) != RANGE_NONE);
}

/* Readers that find no range free, or the second one not. */
static void
fill_and_leave_no_range(void)
{
	fill_steps();
	leave_ranges(0);
}

static void
fill_and_leave_range(void)
{
	fill_steps();
	leave_ranges(1);
}

static void
look_at_newest(void)
{
	look(t.windows[2], FIRST + 7 * STEP, FIRST + 10 * STEP);
}

/* History of 3 steps, jumps of 2, and 2: of 8 frames, 7 are kept. */
static void
fixed_expiry(void **state)
{
	open_buffer(STEP, 4, 3 * STEP, fill_steps);
	run(put_next, look_at_oldest, NULL, 3, 1000);
	open_buffer(STEP, 4, 3 * STEP, fill_steps);
	run(put_next, look_at_all, NULL, 2, 100);
	open_buffer(STEP, 4, 3 * STEP, fill_steps);
	run(put_next, look_at_oldest, look_at_newest, 2, 100);
	open_buffer(STEP, 4, 3 * STEP, fill_and_leave_no_range);
	run(put_next, look_at_oldest, NULL, BESIDE, 1000);
	open_buffer(STEP, 4, 3 * STEP, fill_and_leave_range);
	run(put_next, look_at_oldest, look_at_all, BESIDE, 100);
}

/* All cells but so many are taken out of use. */
static void
leave_free(uint32_t nb)
{
	struct store *store = &written.buffer->store;

	store->nb_cells -= store->nb_free - nb;
	for (uint32_t i = 0; i < nb; i++)
		store->free[i] = store->nb_cells - 1 - i;
	store->nb_free = nb;
}

static void
fill_full(void)
{
	fill_steps();
	leave_free(0);
}

static void
fill_full_and_leave_no_range(void)
{
	fill_full();
	leave_ranges(0);
}

static void
fill_full_and_leave_range(void)
{
	fill_full();
	leave_ranges(1);
}

/* No cell is free: what readers do not pin is evicted, oldest first. */
static void
fixed_eviction(void **state)
{
	open_buffer(STEP, 4, 10 * STEP, fill_full);
	run(put_next, look_at_oldest, NULL, 3, 1000);
	open_buffer(STEP, 4, 10 * STEP, fill_full);
	run(put_next, look_at_oldest, look_at_all, 2, 100);
	open_buffer(STEP, 4, 10 * STEP, fill_full_and_leave_no_range);
	run(put_next, look_at_oldest, NULL, BESIDE, 1000);
	open_buffer(STEP, 4, 10 * STEP, fill_full_and_leave_range);
	run(put_next, look_at_oldest, look_at_all, BESIDE, 100);
}

static void
ordered_expiry(void **state)
{
	open_buffer(0, 4, 5 * STEP, fill_steps);
	run(put_next, look_at_oldest, NULL, 3, 1000);
	open_buffer(0, 4, 5 * STEP, fill_steps);
	run(put_next, look_at_all, NULL, 3, 1000);
	open_buffer(0, 4, 5 * STEP, fill_and_leave_no_range);
	run(put_next, look_at_oldest, NULL, BESIDE, 1000);
}

/* Late ones, which move others. */
static void
put_late(void)
{
	put(FIRST + 15);
	put(FIRST + 3 * STEP + 5);
}

static void
ordered_shifts(void **state)
{
	open_buffer(0, 4, 20 * STEP, fill_steps);
	run(put_late, look_at_all, NULL, 3, 1000);
}

static void
ordered_eviction(void **state)
{
	open_buffer(0, 4, 20 * STEP, fill_full);
	run(put_next, look_at_oldest, NULL, 3, 1000);
	open_buffer(0, 4, 20 * STEP, fill_full);
	run(put_late, look_at_all, NULL, 3, 1000);
	open_buffer(0, 4, 20 * STEP, fill_full_and_leave_no_range);
	run(put_late, look_at_all, NULL, BESIDE, 1000);
}

/* What is pinned while more comes than there is room for: a late one of its time is not, and goes first. */
static void
put_more(void)
{
	for (uint64_t i = 8; i < 14; i++)
		put(FIRST + i * STEP);
	put(FIRST + 8 * STEP + STEP / 2);
	put(FIRST + 14 * STEP);
}

static void
held_for_long(void **state)
{
	open_buffer(STEP, 4, 3 * STEP, fill_full);
	run(put_more, look_at_newest, NULL, BESIDE, 100);
	open_buffer(STEP, 4, 3 * STEP, fill_full);
	run(put_more, look_at_oldest, look_at_newest, 1, 100);
	open_buffer(0, 4, 5 * STEP, fill_full);
	run(put_more, look_at_newest, NULL, BESIDE, 100);
}

/* The only cell that is used: for the frame that is looked for, and for the next one, unless a reader has that. */
static void
use_again(void)
{
	struct weir_readout_buffer *buffer = written.buffer;

	index_remove(buffer, buffer->index.tail, &buffer->stats.expired);
	for (uint64_t at = t.wanted; at <= t.wanted + STEP; at += STEP) {
		const uint32_t cell = store_take(&buffer->store, FRAME_BYTES);
		const struct incoming incoming = {
			.frame = {at, at, FRAME_BYTES}, .at = at, .cell = cell};

		if (cell == STORE_NONE)
			return;
		memcpy(store_frame(&buffer->store, cell), (uint64_t[]){at, ~at}, FRAME_BYTES);
		show(buffer, &incoming);
		index_remove(buffer, position_of(buffer, at), &buffer->stats.expired);
	}
}

static void
check_wanted(void)
{
	const struct store *store = &written.buffer->store;
	const uint64_t *data = store_frame(store, t.cell);

	assert_true(data[0] == t.wanted && data[1] == ~t.wanted);
	assert_true(store->cells[t.cell].timestamp == t.wanted);
	assert_int_equal(store->cells[t.cell].size_bytes, FRAME_BYTES);
}

/* From a reference to what was there before: another frame, the one that is wanted, or one that is being written. */
static void
look_by_old_reference(void)
{
	struct ranges *ranges = written.buffer->ranges;
	const uint32_t range = ranges_keep(ranges, range_word(ranges, t.wanted, t.wanted + STEP));
	uint64_t at;

	if (cell_at(&written.buffer->store.cells[t.cell], &at) && at == t.wanted) {
		check_wanted();
		interleave_point();
		check_wanted();
	}
	ranges_release(ranges, range);
}

static void
old_reference(void **state)
{
	open_buffer(STEP, 4, 10 * STEP, fill_full);
	run(use_again, look_by_old_reference, NULL, 3, 1000);
}

/* The clock is set back, and readers look at what was before. */
static void
put_back(void)
{
	put(20);
	put(30);
	put(40);
}

/* What can be looked up is before the jump or after it. */
static void
look_at_range(void)
{
	uint64_t from = 0, to = 0;

	assert_true(weir_readout_buffer_range(written.buffer, &from, &to));
	if (to > 100)
		assert_true(to == FIRST + 7 * STEP + written.format.step_ticks && from >= FIRST &&
			    from <= to);
	else
		assert_true(from == 20 && to <= 40 + written.format.step_ticks && to >= 20);
}

static void
look_at_all_and_counters(void)
{
	look_at_all();
	check_stats();
}

static void
jumps(void **state)
{
	open_buffer(STEP, 4, 3 * STEP, fill_steps);
	run(put_back, look_at_all_and_counters, NULL, 2, 100);
	open_buffer(STEP, 4, 3 * STEP, fill_steps);
	run(put_back, look_at_range, NULL, 3, 100);
	open_buffer(0, 4, 5 * STEP, fill_steps);
	run(put_back, look_at_all_and_counters, NULL, 2, 100);
	open_buffer(0, 4, 5 * STEP, fill_steps);
	run(put_back, look_at_range, NULL, 3, 100);
}

/* Frames that are there already. */
#define FOLLOWED 7u

/* Each later than the one before, and as it was, also in the end. */
static int
see(void *arg, const struct weir_readout_item *item)
{
	const uint64_t *data = item->data;

	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(item->frame.size_bytes, FRAME_BYTES);
		assert_true(data[0] == item->frame.timestamp && data[1] == ~data[0]);
		interleave_point();
	}
	assert_true(data[0] > t.last_seen);
	t.last_seen = data[0];
	return WEIR_READOUT_PASS;
}

static void
fill_and_follow(void)
{
	const struct weir_readout_process process = {.name = "see", .run = see};

	fill_steps();
	leave_free(1);
	t.follower = weir_readout_follower_create(
		&(struct weir_readout_follower_config){.buffer = written.buffer,
			.processes = &process,
			.nb_processes = 1,
			.burst = FRAMES_MAX});
	assert_non_null(t.follower);
	t.saved_follower = *t.follower;
	/* Behind already: what it looks for next may be gone. */
	t.saved_follower.own.next -= FOLLOWED;
	t.saved_follower.first -= FOLLOWED;
	*t.follower = t.saved_follower;
}

static struct weir_readout_follower_stats
count_followed(void)
{
	struct weir_readout_follower_stats stats;

	weir_readout_follower_stats(t.follower, &stats);
	assert_true(stats.received == stats.passed + stats.missed + stats.waiting);
	return stats;
}

static void
put_in_order(void)
{
	for (uint64_t i = 8; i < 11; i++)
		put(FIRST + i * STEP);
}

static void
follow(void)
{
	weir_readout_follower_poll(t.follower);
	count_followed();
}

/* Cells are used again as soon as they can be: what was looked at is one frame, none is looked at twice or forgotten, the newest not missed. */
static void
check_followed(void)
{
	while (weir_readout_follower_poll(t.follower) > 0)
		;
	assert_int_equal(count_followed().received, FOLLOWED + written.nb_shown - written.nb_saved);
	assert_int_equal(count_followed().waiting, 0);
	assert_int_equal(t.last_seen, written.shown[written.nb_shown - 1]);
	check_cells();
}

static void
followed(void **state)
{
	const struct interleave interleave = {.init = restore,
		.nb_actors = 2,
		.actors = {put_in_order, follow},
		.check = check_followed,
		.most_interruptions = 2,
		.least = 1000};

	open_buffer(STEP, 4, 3 * STEP, fill_and_follow);
	interleave_all(&interleave);
	close_buffer();
	open_buffer(0, 4, 5 * STEP, fill_and_follow);
	interleave_all(&interleave);
	close_buffer();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_expiry),
		cmocka_unit_test(fixed_eviction),
		cmocka_unit_test(ordered_expiry),
		cmocka_unit_test(ordered_shifts),
		cmocka_unit_test(ordered_eviction),
		cmocka_unit_test(held_for_long),
		cmocka_unit_test(old_reference),
		cmocka_unit_test(jumps),
		cmocka_unit_test(followed),
	};

	return cmocka_run_group_tests_name("readout-interleave-buffer", tests, NULL, NULL);
}
