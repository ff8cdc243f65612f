/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the watchdog makes of what it sees. Without its thread, and with a clock that stands still but where the test moves it:
 * lib/coro/watchdog.c by itself. Times are in cycles, which are ns here.
 */
#include "own_thread.h"

static uint64_t time_now;

static uint64_t
read_clock(void)
{
	return time_now;
}

#define weir_base_cycles read_clock
#include "../../lib/coro/watchdog.c"

/* What it needs of the rest, for its control functions and its messages, which are not called here. */
pthread_mutex_t coro_threads_lock = PTHREAD_MUTEX_INITIALIZER;
struct coro_thread *coro_threads;

int
coro_thread_start(pthread_t *thread, const char *name, void *(*run)(void *arg), int cpu)
{
	return -ENOSYS;
}

uint64_t
weir_base_ns_to_cycles(uint64_t ns)
{
	return ns;
}

uint64_t
weir_base_cycles_to_ns(uint64_t cycles)
{
	return cycles;
}

uint64_t
weir_base_cycles_hz(void)
{
	return 1000000000;
}

void
weir_base_log(enum weir_base_log_level level, const char *module, const char *format, ...)
{
}

void
coro_line_text(struct coro_line *line, const char *text)
{
}

void
coro_line_number(struct coro_line *line, uint64_t number, unsigned int base)
{
}

void
coro_line_function(struct coro_line *line, const void *function)
{
}

void
coro_line_write(struct coro_line *line, int fd)
{
}

void
coro_report_ready(void)
{
}

void
coro_report_backtrace(int fd)
{
}

#define PERIOD 1000

/* A thread, and who resumes whom there. */
static struct weir_coro_thread fast;
static struct coro_watched watched;
static struct coro_thread thread = {.fast = &fast, .watched = &watched};
static struct weir_coro_block outer, inner;

static void
resume(struct weir_coro_block *block)
{
	__atomic_store_n(&block->word, WEIR_CORO_STATE_RUNNING, __ATOMIC_RELEASE);
	__atomic_store_n(&block->resumes, block->resumes + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&block->outer, fast.current, __ATOMIC_RELEASE);
	__atomic_store_n(&fast.current, block, __ATOMIC_RELEASE);
}

static void
leave(void)
{
	struct weir_coro_block *block = fast.current;

	__atomic_store_n(&fast.current, block->outer, __ATOMIC_RELEASE);
	__atomic_store_n(&block->word, WEIR_CORO_STATE_SUSPENDED, __ATOMIC_RELEASE);
}

/* A period later. @return who is told, or NULL */
static const struct weir_coro_block *
look_again(void)
{
	struct weir_coro_overrun told;

	time_now += PERIOD;
	last_told = 0;
	if (!look_at(&thread, &told, 0))
		return NULL;
	return told.id == outer.id ? &outer : &inner;
}

/* The first look sees nobody; what begins then does so right after it. */
static void
begin(uint64_t limit)
{
	fast.current = NULL;
	memset(&watched, 0, sizeof(watched));
	memset(&outer, 0, sizeof(outer));
	memset(&inner, 0, sizeof(inner));
	outer.id = 1;
	inner.id = 2;
	config = (struct weir_coro_watchdog_param){.factor = 1, .least_ns = limit};
	time_now += 1000 * PERIOD;
	watched.looked = time_now;
	assert_null(look_again());
}

/* As late as can be. */
static void
found_within_two_periods(void **state)
{
	for (unsigned int limit = 1; limit < 10; limit++) {
		begin(limit * PERIOD);
		resume(&outer);
		for (unsigned int i = 0; i < limit; i++)
			assert_null(look_again());
		assert_ptr_equal(look_again(), &outer);
		assert_null(look_again()); /* once */
	}
}

/* Each look sees another resumption of the other one, none of which takes long. */
static void
who_resumes_others_is_found_likewise(void **state)
{
	for (unsigned int limit = 1; limit < 10; limit++) {
		begin(limit * PERIOD);
		resume(&outer);
		for (unsigned int i = 0; i < limit; i++) {
			resume(&inner);
			assert_null(look_again());
			leave();
		}
		resume(&inner);
		assert_ptr_equal(look_again(), &outer);
	}
}

/* Nor is it forgotten where a look came just when the other one had been destroyed, and was made anew. */
static void
who_is_not_seen_once_is_known_still(void **state)
{
	begin(4 * PERIOD);
	resume(&outer);
	assert_null(look_again());
	assert_null(look_again());
	fast.current = &inner; /* free, and nobody waits for it */
	inner.word = 1 << 16 | WEIR_CORO_STATE_FREE;
	assert_null(look_again());
	fast.current = &outer;
	assert_null(look_again());
	assert_ptr_equal(look_again(), &outer);
}

/* Who waits for one that took most of the time is not to blame: that one is. */
static void
who_waits_is_excused(void **state)
{
	begin(10 * PERIOD);
	resume(&outer);
	for (unsigned int i = 0; i < 4; i++)
		assert_null(look_again());
	resume(&inner);
	for (unsigned int i = 0; i < 10; i++)
		assert_null(look_again());
	assert_ptr_equal(look_again(), &inner);
	for (unsigned int i = 0; i < 30; i++)
		assert_null(look_again());
}

/* As long as that is so, and no longer than for as much again. */
static void
who_waits_is_not_excused_for_ever(void **state)
{
	unsigned int nb = 0;

	begin(10 * PERIOD);
	resume(&outer);
	for (unsigned int i = 0; i < 5; i++)
		assert_null(look_again());
	resume(&inner);
	for (unsigned int i = 0; i < 7; i++)
		assert_null(look_again());
	leave();
	assert_ptr_equal(look_again(), &outer);
	/* Several, each of which could have been to blame. */
	begin(10 * PERIOD);
	resume(&outer);
	do {
		if (nb % 9 == 0) {
			if (fast.current == &inner)
				leave();
			resume(&inner);
		}
		nb++;
	} while (look_again() == NULL);
	assert_in_range(nb, 10, 2 * (10 + 2));
}

static bool enough;

static void *
resumes_all_the_time(void *arg)
{
	resume(&outer);
	while (!__atomic_load_n(&enough, __ATOMIC_RELAXED)) {
		resume(&inner);
		leave();
	}
	return NULL;
}

/* However fast the innermost one changes, who waits is seen in each look. */
static void
looks_do_not_fail(void **state)
{
	const struct weir_coro_block *seen;
	pthread_t worker;

	begin(UINT64_MAX / 2);
	enough = false;
	assert_int_equal(pthread_create(&worker, NULL, resumes_all_the_time, NULL), 0);
	while (__atomic_load_n(&inner.resumes, __ATOMIC_RELAXED) == 0)
		usleep(100);
	for (unsigned int i = 0; i < 100000; i++) {
		look_again();
		seen = watched.seen[0].block == &outer ? &outer : watched.seen[1].block;
		if (watched.looked != time_now || seen != &outer)
			break;
	}
	__atomic_store_n(&enough, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(worker, NULL), 0);
	assert_int_equal(watched.looked, time_now);
	assert_ptr_equal(seen, &outer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_within_two_periods),
		cmocka_unit_test(who_resumes_others_is_found_likewise),
		cmocka_unit_test(who_is_not_seen_once_is_known_still),
		cmocka_unit_test(who_waits_is_excused),
		cmocka_unit_test(who_waits_is_not_excused_for_ever),
		cmocka_unit_test(looks_do_not_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
