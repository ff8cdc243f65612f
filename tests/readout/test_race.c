/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Readers in threads of their own beside a writer that loses, doubles, delays and corrupts: what they hold does not change, what they find is in
 * order, and the counters agree at every look. It ends when each has looked so often, however long that takes.
 */

#include "../base/cmocka_all.h"
#include "../base/random.h"

#include <pthread.h>
#include <sched.h>

#include "weir_base_sanitizer.h"

#include "readout_test.h"

#if defined(WEIR_BASE_ASAN) || defined(WEIR_BASE_TSAN)
#define LOOKS 2000u
#else
#define LOOKS 20000u
#endif
#define READERS     2
#define HELD_MAX    40 /* more than ranges that a buffer keeps: the others are pinned frame by frame */
#define FRAME_WORDS 32u
#define RACE_BYTES  (FRAME_WORDS * 8)

static struct {
	struct weir_readout_format format;
	struct weir_readout_buffer *buffer;
	uint64_t clock; /* of the writer */
	bool go;
	unsigned int done; /* threads that looked enough */
} t;

struct reader {
	uint64_t random, ticks; /* of a window, at most */
	unsigned int nb_held;   /* windows, at a time */
	uint64_t nb_frames, nb_by_range, nb_by_pin;
	struct weir_readout_window *held[HELD_MAX];
};

static void
put(uint64_t timestamp, uint64_t sequence)
{
	const struct weir_readout_frame frame = {timestamp, sequence, RACE_BYTES};
	uint64_t *data = weir_readout_buffer_reserve(t.buffer, &frame);

	if (data == NULL)
		return;
	for (unsigned int i = 0; i < FRAME_WORDS; i++)
		data[i] = timestamp + i;
	weir_readout_buffer_commit(t.buffer);
}

/* One step of the clock. */
static void
write_some(uint64_t *random, uint64_t sequence)
{
	uint64_t timestamp = t.clock, next = t.clock + RT_STEP;

	if (random_below(random, 20) == 0)
		timestamp -= RT_STEP * random_below(random, 8);
	else if (random_below(random, 500) == 0)
		timestamp = random_below(random, UINT32_MAX);
	if (random_below(random, 20) != 0)
		put(timestamp & UINT32_MAX, sequence);
	if (random_below(random, 5000) == 0)
		next = random_below(random, UINT32_MAX);
	__atomic_store_n(&t.clock, next & UINT32_MAX, __ATOMIC_RELAXED);
}

static void
check_held(const struct weir_readout_window *window)
{
	for (uint32_t i = 0; i < window->nb_frames; i++) {
		const uint64_t *data = window->frames[i].iov_base;

		for (unsigned int j = 0; j < FRAME_WORDS; j++)
			assert_true(data[j] == window->timestamps[i] + j);
		assert_true(i == 0 || (int32_t)(uint32_t)(window->timestamps[i] -
							  window->timestamps[i - 1]) >= 0);
	}
}

static void
look(struct reader *reader, struct weir_readout_window *window)
{
	uint64_t begin =
		__atomic_load_n(&t.clock, __ATOMIC_RELAXED) - random_below(&reader->random, 1500);

	assert_int_equal(weir_readout_window_find(t.buffer, begin,
				 begin + random_below(&reader->random, reader->ticks), window),
		0);
	check_held(window);
	reader->nb_frames += window->nb_frames;
	if (window->range != UINT32_MAX)
		reader->nb_by_range++;
	else if (window->nb_frames > 0)
		reader->nb_by_pin++;
}

static void *
read_some(void *arg)
{
	struct reader *reader = arg;

	for (unsigned int i = 0; i < reader->nb_held; i++) {
		reader->held[i] = weir_readout_window_create(2048, 4);
		assert_non_null(reader->held[i]);
	}
	while (!__atomic_load_n(&t.go, __ATOMIC_ACQUIRE))
		sched_yield();
	for (unsigned int i = 0; i < LOOKS; i++) {
		struct weir_readout_window *window = reader->held[i % reader->nb_held];

		check_held(window);
		weir_readout_window_release(window);
		look(reader, window);
		if (i % 4 == 0)
			sched_yield();
	}
	for (unsigned int i = 0; i < reader->nb_held; i++) {
		check_held(reader->held[i]);
		weir_readout_window_release(reader->held[i]);
		weir_readout_window_free(reader->held[i]);
	}
	__atomic_fetch_add(&t.done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void *
count_some(void *arg)
{
	uint64_t received = 0, begin, end;

	while (!__atomic_load_n(&t.go, __ATOMIC_ACQUIRE))
		sched_yield();
	for (unsigned int i = 0; i < LOOKS; i++) {
		struct weir_readout_buffer_stats stats = rt_stats(t.buffer);

		assert_true(stats.received >= received);
		received = stats.received;
		if (weir_readout_buffer_range(t.buffer, &begin, &end))
			weir_readout_buffer_reached(t.buffer, end);
	}
	__atomic_fetch_add(&t.done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void
race(uint64_t step, enum weir_readout_full when_full)
{
	const struct weir_base_format spec = {.name = "race",
		.fields = {[WEIR_BASE_FIELD_TIMESTAMP] = {0, 32},
			[WEIR_BASE_FIELD_SEQUENCE] = {64, 64}},
		.size_max_bytes = RACE_BYTES,
		.step_ticks = step,
		.clock_hz = 1000};
	struct weir_readout_buffer_config config;
	struct reader readers[READERS] = {{.random = 1, .ticks = 400, .nb_held = 1},
		{.random = 2, .ticks = 20, .nb_held = HELD_MAX}};
	pthread_t threads[READERS + 1];
	uint64_t random = 88172645463325252, sequence = 0;
	struct weir_readout_buffer_stats stats;

	memset(&t, 0, sizeof(t));
	assert_int_equal(weir_readout_format_compile(&spec, &t.format, NULL, NULL, 0), 0);
	config = rt_config(&t.format);
	config.spare_frames = 4; /* they get used up */
	config.when_full = when_full;
	t.buffer = rt_open(&config);
	t.clock = UINT32_MAX - 3000;
	for (unsigned int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_some, &readers[i]), 0);
	assert_int_equal(pthread_create(&threads[READERS], NULL, count_some, NULL), 0);
	while (sequence < 300)
		write_some(&random, sequence++);
	__atomic_store_n(&t.go, true, __ATOMIC_RELEASE);
	while (__atomic_load_n(&t.done, __ATOMIC_ACQUIRE) < READERS + 1) {
		write_some(&random, sequence++);
		if (sequence % 64 == 0)
			sched_yield(); /* where CPUs are few, or a reader never gets ahead */
	}
	for (unsigned int i = 0; i < READERS + 1; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	stats = rt_stats(t.buffer);
	for (unsigned int i = 0; i < READERS; i++)
		print_message("  %" PRIu64 " windows pinned by a range, %" PRIu64 " by frames\n",
			readers[i].nb_by_range, readers[i].nb_by_pin);
	print_message("  %" PRIu64 " frames, %" PRIu64 " and %" PRIu64 " seen, %" PRIu64
		      " evicted, %" PRIu64 " without memory\n",
		stats.received, readers[0].nb_frames, readers[1].nb_frames, stats.evicted,
		stats.dropped[WEIR_READOUT_BUFFER_NO_MEMORY]);
	/* All is released: the next few frames give back what was detained. */
	for (unsigned int i = 0; i < 2 * LOOKS && stats.detained > 0; i++) {
		write_some(&random, sequence++);
		stats = rt_stats(t.buffer);
	}
	assert_int_equal(stats.detained, 0);
	weir_readout_buffer_free(t.buffer);
}

static void
fixed(void **state)
{
	race(RT_STEP, WEIR_READOUT_FULL_EVICT_OLDEST);
	race(RT_STEP, WEIR_READOUT_FULL_DROP_NEWEST);
}

static void
ordered(void **state)
{
	race(0, WEIR_READOUT_FULL_EVICT_OLDEST);
	race(0, WEIR_READOUT_FULL_DROP_NEWEST);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(fixed), cmocka_unit_test(ordered)};

	return cmocka_run_group_tests_name("readout-race", tests, NULL, NULL);
}
