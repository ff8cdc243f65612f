/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Functions on frames in the buffer: each frame is seen once and as it was, or is counted as missed; however slow a function is, the
 * frame that it looks at stays, and the writer goes on.
 */

#include "../base/cmocka_all.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "weir_base_sanitizer.h"
#include "weir_readout_process.h"

#include "readout_test.h"

#include "../base/log_last.h"

#if defined(WEIR_BASE_ASAN) || defined(WEIR_BASE_TSAN)
#define RACE_LOOKS 3000u
#else
#define RACE_LOOKS 30000u
#endif
#define STALL_EVERY 100u

static const char *const drops[] = {"fives", "sevens"};

static struct {
	struct weir_readout_format format;
	struct weir_readout_buffer *buffer;
	struct weir_readout_follower *follower;
	uint64_t last; /* timestamp seen */
	uint32_t nb_seen;
	uint64_t clock;    /* of the writer */
	uint32_t nb_stall; /* frames that come while a function looks at one */
	bool ordered_only; /* timestamps seen go up */
	uint64_t end;      /* atomic: of the race */
} t;

/* The frame as it was written: poisoned memory it is not, which the address sanitizer would tell. */
static void
expect_frame(const struct weir_readout_item *item)
{
	const uint64_t *data = item->data;

	assert_null(item->mbuf);
	assert_int_equal(item->frame.size_bytes, RT_BYTES);
	assert_int_equal(item->data_bytes, RT_BYTES);
	assert_true(data[0] == item->frame.timestamp && data[1] == ~item->frame.timestamp);
	assert_true(item->frame.sequence == item->frame.timestamp);
}

static int
see(void *arg, const struct weir_readout_item *item)
{
	expect_frame(item);
	assert_true(!t.ordered_only || t.nb_seen == 0 || item->frame.timestamp > t.last);
	t.last = item->frame.timestamp;
	t.nb_seen++;
	return WEIR_READOUT_PASS;
}

/* While it looks, others come. */
static int
stall(void *arg, const struct weir_readout_item *item)
{
	for (uint32_t i = 0; i < t.nb_stall; i++, t.clock += RT_STEP)
		rt_put(t.buffer, t.clock);
	expect_frame(item);
	return WEIR_READOUT_PASS;
}

static int
drop_some(void *arg, const struct weir_readout_item *item)
{
	if (item->frame.timestamp / RT_STEP % 5 == 0)
		return 0;
	return item->frame.timestamp / RT_STEP % 7 == 0 ? 1 : WEIR_READOUT_PASS;
}

static const struct weir_readout_process seeing = {.name = "see", .run = see};

static void
make(uint64_t step, enum weir_readout_full when_full)
{
	struct weir_readout_buffer_config config;

	memset(&t, 0, sizeof(t));
	t.format = rt_format(step, 32);
	config = rt_config(&t.format);
	config.when_full = when_full;
	t.buffer = rt_open(&config);
	t.clock = 1000;
	t.ordered_only = true;
}

static void
follow(const struct weir_readout_process *processes, uint32_t nb, uint32_t burst)
{
	t.follower = weir_readout_follower_create(
		&(struct weir_readout_follower_config){.name = "follower",
			.buffer = t.buffer,
			.processes = processes,
			.nb_processes = nb,
			.burst = burst});
	assert_non_null(t.follower);
}

static struct weir_readout_follower_stats
count(void)
{
	struct weir_readout_follower_stats stats;
	uint64_t sum;

	weir_readout_follower_stats(t.follower, &stats);
	sum = stats.passed + stats.missed + stats.waiting;
	for (unsigned int i = 0; i < WEIR_READOUT_PROCESS_DROPS_MAX; i++)
		sum += stats.dropped[i];
	assert_int_equal(stats.received, sum);
	return stats;
}

static void
put_some(uint32_t nb)
{
	rt_put_all(t.buffer, t.clock, t.clock + nb * RT_STEP);
	t.clock += nb * RT_STEP;
}

static void
catch_up(void)
{
	while (weir_readout_follower_poll(t.follower) > 0)
		;
}

static void
free_all(void)
{
	weir_readout_follower_free(t.follower);
	assert_int_equal(rt_stats(t.buffer).detained, 0);
	weir_readout_buffer_free(t.buffer);
}

/* From when it is made on, in bursts, each once. */
static void
each_once(void **state)
{
	for (uint64_t step = 0; step <= RT_STEP; step += RT_STEP) {
		make(step, WEIR_READOUT_FULL_EVICT_OLDEST);
		put_some(20);
		follow(&seeing, 1, 8);
		assert_int_equal(weir_readout_follower_poll(t.follower), 0);
		assert_int_equal(count().received, 0);
		for (unsigned int i = 0; i < 100; i++) {
			put_some(20);
			assert_int_equal(count().waiting, 20);
			assert_int_equal(weir_readout_follower_poll(t.follower), 8);
			assert_int_equal(weir_readout_follower_poll(t.follower), 8);
			assert_int_equal(weir_readout_follower_poll(t.follower), 4);
			assert_int_equal(weir_readout_follower_poll(t.follower), 0);
		}
		assert_int_equal(t.nb_seen, 2000);
		assert_int_equal(count().passed, 2000);
		assert_int_equal(count().missed, 0);
		free_all();
	}
}

/* Late ones when they come; doubted ones when they are confirmed, those that are not never. */
static void
as_they_come(void **state)
{
	make(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST);
	t.ordered_only = false;
	follow(&seeing, 1, 0);
	rt_put(t.buffer, 1000);
	rt_put(t.buffer, 1020);
	catch_up();
	assert_int_equal(t.last, 1020);
	rt_put(t.buffer, 1010);
	rt_put(t.buffer, 1010); /* a duplicate */
	catch_up();
	assert_int_equal(t.last, 1010);
	assert_int_equal(t.nb_seen, 3);
	rt_put(t.buffer, 50000);
	catch_up();
	assert_int_equal(t.nb_seen, 3);
	rt_put(t.buffer, 1030);
	catch_up();
	assert_int_equal(t.nb_seen, 4);
	for (unsigned int i = 0; i < 2; i++)
		rt_put(t.buffer, 90000 + i * RT_STEP);
	catch_up();
	assert_int_equal(t.nb_seen, 4);
	rt_put(t.buffer, 90000 + 2 * RT_STEP);
	catch_up();
	assert_int_equal(t.nb_seen, 7);
	assert_int_equal(t.last, 90000 + 2 * RT_STEP);
	assert_int_equal(count().received, 7);
	free_all();
}

static void
reasons(void **state)
{
	const struct weir_readout_process row[] = {
		{.name = "some", .run = drop_some, .drops = drops, .nb_drops = 2}, seeing};

	make(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST);
	t.clock = 0;
	follow(row, 2, 0);
	put_some(35);
	catch_up();
	assert_int_equal(count().dropped[0], 7);
	assert_int_equal(count().dropped[1], 4); /* five sevenths, but for 0 */
	assert_int_equal(count().passed, 24);
	assert_int_equal(t.nb_seen, 24);
	assert_string_equal(weir_readout_follower_drop_name(t.follower, 1), "some.sevens");
	assert_string_equal(weir_readout_follower_drop_name(t.follower, 2), "see");
	assert_null(weir_readout_follower_drop_name(t.follower, 3));
	/* They are in the buffer still. */
	assert_int_equal(rt_stats(t.buffer).buffered, 35);
	free_all();
}

/*
 * While a function looks at a frame, so many more come, a thousand times over the memory there is in the end. What it looks at stays; of
 * those behind, it sees exactly the ones that are still buffered then, the others are missed; none is dropped for want of memory, for
 * the writer has spare cells.
 */
static void
check_slow(uint64_t step, enum weir_readout_full when_full, uint32_t nb_stall)
{
	const struct weir_readout_process row[] = {{.name = "stall", .run = stall}, seeing};
	struct weir_readout_follower_stats before, after;

	make(step, when_full);
	follow(row, 2, 1);
	for (unsigned int i = 0; i < 50; i++) {
		uint64_t buffered;

		put_some(1);
		before = count();
		t.nb_stall = nb_stall;
		assert_int_equal(weir_readout_follower_poll(t.follower), 1);
		t.nb_stall = 0;
		buffered = RTE_MIN(rt_stats(t.buffer).buffered, nb_stall);
		catch_up();
		after = count();
		assert_int_equal(after.received - before.received, nb_stall);
		assert_int_equal(after.passed - before.passed, 1 + buffered);
		assert_int_equal(after.missed - before.missed, nb_stall - buffered);
		assert_int_equal(after.waiting, 0);
		assert_true(nb_stall < 200 || after.missed > before.missed);
	}
	assert_int_equal(t.nb_seen, after.passed);
	assert_int_equal(DROPPED(rt_stats(t.buffer), NO_MEMORY), 0);
	put_some(2); /* what was pinned is given back */
	catch_up();
	free_all();
}

static void
slow(void **state)
{
	static const uint32_t stalls[] = {0, 1, 50, 121, 130, 146, 200, 256, 257, 1000, 5000};

	for (unsigned int i = 0; i < sizeof(stalls) / sizeof(stalls[0]); i++) {
		check_slow(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST, stalls[i]);
		check_slow(RT_STEP, WEIR_READOUT_FULL_DROP_NEWEST, stalls[i]);
		check_slow(0, WEIR_READOUT_FULL_EVICT_OLDEST, stalls[i]);
	}
}

/* What it looked at while frames were evicted can be evicted afterwards, for it is the oldest. */
static void
lets_go(void **state)
{
	const struct weir_readout_process stalling = {.name = "stall", .run = stall};
	struct weir_readout_window *old = rt_window(), *window = rt_window();

	make(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST);
	follow(&stalling, 1, 1);
	put_some(100);
	catch_up();
	put_some(1);
	rt_find(t.buffer, 1000, 2000, old, 100, 0, WEIR_READOUT_STATUS_COMPLETE);
	/* With these, all cells are in use, and three frames too many. */
	t.nb_stall = 48;
	assert_int_equal(weir_readout_follower_poll(t.follower), 1);
	assert_int_equal(rt_stats(t.buffer).evicted, 3);
	put_some(1);
	rt_find(t.buffer, 2000, 2050, window, 1, 1, WEIR_READOUT_STATUS_PARTIAL);
	rt_missing(window, 0, 2000, 2040);
	weir_readout_window_release(window);
	weir_readout_window_release(old);
	put_some(100);
	weir_readout_window_free(old);
	weir_readout_window_free(window);
	free_all();
}

/* Each fifth frame is kept, and given back when the next one is. */
static int
keep_some(void *arg, const struct weir_readout_item *item)
{
	struct weir_readout_kept *kept = arg;

	if (item->frame.timestamp / RT_STEP % 5 != 0)
		return WEIR_READOUT_PASS;
	weir_readout_kept_release(kept);
	assert_int_equal(weir_readout_follower_keep(t.follower, kept), 0);
	assert_ptr_equal(kept->item.data, item->data);
	return WEIR_READOUT_PASS;
}

/* What is kept stays, whatever comes, also for two who give it back at different times. */
static void
keeps(void **state)
{
	struct weir_readout_kept kept = {0}, other = {0};
	const struct weir_readout_process keeping = {
		.name = "keep", .run = keep_some, .arg = &kept};

	make(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST);
	follow(&keeping, 1, 0);
	assert_int_equal(weir_readout_follower_keep(t.follower, &other), -ENOENT);
	put_some(10);
	catch_up();
	assert_int_equal(kept.item.frame.timestamp, 1050);
	weir_readout_kept_share(&kept, &other);
	put_some(1000);
	assert_int_equal(rt_stats(t.buffer).detained, 1);
	expect_frame(&kept.item);
	weir_readout_kept_release(&kept);
	weir_readout_kept_release(&kept); /* there is nothing any more */
	put_some(1000);
	assert_int_equal(rt_stats(t.buffer).detained, 1);
	expect_frame(&other.item);
	catch_up();
	weir_readout_kept_release(&kept);
	weir_readout_kept_release(&other);
	put_some(1000);
	free_all();
}

static void
refused(void **state)
{
	struct weir_readout_follower_config config = {
		.name = "f", .processes = &seeing, .nb_processes = 1};
	const struct weir_readout_process nothing = {.name = "nothing"};

	make(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST);
	assert_null(weir_readout_follower_create(&config));
	assert_int_equal(rte_errno, EINVAL);
	assert_string_equal(log_message, "follower 'f' needs a buffer, and something to run");
	config.buffer = t.buffer;
	config.processes = &nothing;
	assert_null(weir_readout_follower_create(&config));
	assert_int_equal(rte_errno, EINVAL);
	assert_string_equal(log_message,
		"'f': function 0 needs something to run, and names of 1 up to 63 bytes for itself "
		"and its reasons to drop frames");
	config.nb_processes = 0;
	assert_null(weir_readout_follower_create(&config));
	free_all();
}

/* Now and then it looks until there came more frames than there are cells, or none come any more. */
static int
stall_in_race(void *arg, const struct weir_readout_item *item)
{
	struct weir_readout_buffer_info info;
	uint64_t from;

	expect_frame(item);
	if (t.nb_seen % STALL_EVERY != 0)
		return WEIR_READOUT_PASS;
	weir_readout_buffer_info(t.buffer, &info);
	from = rt_stats(t.buffer).received;
	while (rt_stats(t.buffer).received < from + 2 * info.nb_cells &&
		__atomic_load_n(&t.end, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	expect_frame(item);
	return WEIR_READOUT_PASS;
}

static void *
follow_in_race(void *arg)
{
	while (t.nb_seen < RACE_LOOKS) {
		weir_readout_follower_poll(t.follower);
		count();
	}
	__atomic_store_n(&t.end, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void
check_race(uint64_t step)
{
	const struct weir_readout_process row[] = {{.name = "stall", .run = stall_in_race}, seeing};
	struct weir_readout_follower_stats stats;
	pthread_t thread;

	make(step, WEIR_READOUT_FULL_EVICT_OLDEST);
	follow(row, 2, 0);
	assert_int_equal(pthread_create(&thread, NULL, follow_in_race, NULL), 0);
	while (__atomic_load_n(&t.end, __ATOMIC_ACQUIRE) == 0) {
		put_some(10);
		if (t.clock % 1000 == 0)
			sched_yield(); /* where CPUs are few */
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	catch_up();
	put_some(3);
	catch_up();
	stats = count();
	print_message("  %" PRIu64 " frames, %" PRIu64 " missed\n", stats.received, stats.missed);
	assert_int_equal(stats.received, rt_stats(t.buffer).received);
	assert_int_equal(stats.passed, t.nb_seen);
	assert_int_equal(stats.waiting, 0);
	assert_true(stats.missed > 0);
	assert_int_equal(DROPPED(rt_stats(t.buffer), NO_MEMORY), 0);
	free_all();
}

static void
race(void **state)
{
	check_race(RT_STEP);
	check_race(0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_once),
		cmocka_unit_test(as_they_come),
		cmocka_unit_test(reasons),
		cmocka_unit_test(slow),
		cmocka_unit_test(lets_go),
		cmocka_unit_test(keeps),
		cmocka_unit_test(refused),
		cmocka_unit_test(race),
	};

	log_listen();
	return cmocka_run_group_tests_name("readout-follower", tests, NULL, NULL);
}
