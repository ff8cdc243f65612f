/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ticker makes of what it sees. Without its thread, and with a clock that stands still but where the test moves it:
 * lib/coro/ticker.c by itself. Times are in cycles.
 */
#include "own_thread.h"

static uint64_t time_now;

static uint64_t
read_clock(void)
{
	return time_now;
}

#define weir_base_cycles read_clock
#include "../../lib/coro/ticker.c"

/* What it needs of the rest, for its control functions, which are not called here. */
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

void
weir_base_log(enum weir_base_log_level level, const char *module, const char *format, ...)
{
}

#define SLICE 16000
#define LEAD  100
#define STEP  200 /* between two looks */

/* A thread, and who resumes whom there. */
static struct coro_ticked ticked;
static struct coro_thread thread = {.ticked = &ticked};
static struct weir_coro_block outer, inner, third;

static int
reset(void **state)
{
	thread.fast = &weir_coro_thread;
	weir_coro_thread = (struct weir_coro_thread){.ticked = true};
	memset(&ticked, 0, sizeof(ticked));
	memset(&outer, 0, sizeof(outer));
	outer.slice = SLICE;
	outer.extra = WEIR_CORO_EXTRA_SHOWN;
	inner = third = outer;
	lead = LEAD;
	told = 0;
	time_now = 1000000;
	assert_false(look_at(&thread, &ticked));
	return 0;
}

static void
resume(struct weir_coro_block *block)
{
	struct weir_coro *coro =
		(struct weir_coro *)((uintptr_t)block | (uintptr_t)(block->word >> 16) << 48);

	block->resumes++;
	block->outer = weir_coro_thread.current;
	weir_coro_thread.current = block;
	weir_coro_resume_extra(coro, block);
}

static void
leave(void)
{
	struct weir_coro_block *block = weir_coro_thread.current;

	weir_coro_leave_extra(block);
	weir_coro_thread.current = block->outer;
}

/* Look until so long has passed. */
static void
look_for(uint64_t cycles)
{
	for (uint64_t end = time_now + cycles; time_now < end;) {
		time_now += STEP;
		assert_true(look_at(&thread, &ticked));
	}
}

/* Takes back what a check would. @return was the end of its slice told? */
static bool
is_told(struct weir_coro_block *block)
{
	bool is = block->attention == coro_slice_mark(block->word, block->resumes);

	assert_true(is || block->attention == 0);
	block->attention = 0;
	return is;
}

/* A bit before the slice is over, as seen from between the two looks when it began; and once. */
static void
ends_are_told_once(void **state)
{
	resume(&inner);
	look_for(SLICE - LEAD - STEP);
	assert_false(is_told(&inner));
	look_for(2 * STEP);
	assert_true(is_told(&inner));
	look_for(3 * SLICE);
	assert_false(is_told(&inner));
	assert_int_equal(told, 1);
	/* The next slice is another one. */
	leave();
	resume(&inner);
	look_for(SLICE - LEAD - STEP);
	assert_false(is_told(&inner));
	look_for(2 * STEP);
	assert_true(is_told(&inner));
	assert_int_equal(told, 2);
}

/* The lead is a part of short ones at most. */
static void
short_slices_are_not_all_lead(void **state)
{
	lead = SLICE;
	resume(&inner);
	look_for(SLICE - SLICE / LEAD_PART - STEP);
	assert_false(is_told(&inner));
	look_for(2 * STEP);
	assert_true(is_told(&inner));
}

/* It slept, or the kernel had it wait: for how long it runs already is not known, and it is not to pay for that. */
static void
slices_that_begin_unseen_are_not_cut_short(void **state)
{
	resume(&inner);
	time_now += 10 * SLICE;
	assert_true(look_at(&thread, &ticked));
	look_for(SLICE - SLICE / LEAD_PART - LEAD - STEP);
	assert_false(is_told(&inner));
	look_for(2 * STEP);
	assert_true(is_told(&inner));
}

/* No end is told of none. */
static void
slices_of_none_are_left_alone(void **state)
{
	inner.slice = 0;
	resume(&inner);
	look_for(SLICE);
	assert_int_equal(told, 0);
}

/* Who has left is nobody's business, even if its slice would be over by now. */
static void
who_has_left_is_not_told(void **state)
{
	outer.slice = 4 * SLICE;
	resume(&outer);
	look_for(STEP);
	resume(&inner);
	look_for(STEP);
	leave();
	look_for(2 * SLICE);
	assert_false(is_told(&inner));
	assert_false(is_told(&outer));
	assert_int_equal(told, 0);
	look_for(2 * SLICE);
	assert_true(is_told(&outer));
	assert_int_equal(told, 1);
}

/* Each by its own time, which runs on while it waits, and again for each resumption of the inner one. */
static void
nested_ones_are_told_each(void **state)
{
	outer.slice = 4 * SLICE;
	resume(&outer);
	look_for(STEP);
	for (int i = 0; i < 3; i++) {
		resume(&inner);
		look_for(SLICE);
		assert_true(is_told(&inner));
		leave();
	}
	assert_false(is_told(&outer));
	/* Resumed again right away, so that it is not seen that the outer one ran. */
	resume(&inner);
	look_for(SLICE);
	assert_true(is_told(&inner));
	assert_true(is_told(&outer));
	assert_int_equal(told, 5);
}

/* The next one in its place, which is at its first resumption as well. */
static void
replace(struct weir_coro_block *block)
{
	block->word += 1 << 16;
	block->resumes = 0;
	block->attention = 0;
}

/* Each has its own time, also where the one before was seen last in the same block, and nobody between them. */
static void
who_is_next_in_a_block_has_its_own_time(void **state)
{
	resume(&inner);
	look_for(SLICE / 2);
	leave();
	replace(&inner);
	resume(&inner);
	look_for(SLICE - LEAD - STEP);
	assert_false(is_told(&inner));
	look_for(2 * STEP);
	assert_true(is_told(&inner));
}

/* Nor is it taken for one that waits, or that is waited for, as the one before was. */
static void
who_is_next_in_a_block_is_resumed_by_others(void **state)
{
	outer.slice = 2 * SLICE;
	resume(&outer);
	look_for(STEP);
	resume(&inner);
	look_for(STEP);
	leave();
	leave();
	replace(&inner);
	resume(&inner);
	look_for(3 * SLICE);
	assert_true(is_told(&inner));
	assert_int_equal(told, 1);
	reset(NULL);
	resume(&outer);
	look_for(SLICE / 2);
	leave();
	replace(&outer);
	resume(&outer);
	resume(&inner);
	look_for(SLICE - LEAD - STEP);
	assert_int_equal(told, 0);
	look_for(2 * STEP);
	assert_true(is_told(&outer));
	assert_true(is_told(&inner));
}

/* Who has not come to know of the ticker yet is not told, neither by its own time nor by that of who is told within. It hides nobody. */
static void
some_do_not_know_of_it(void **state)
{
	outer.extra = 0;
	resume(&outer);
	for (int i = 0; i < 3; i++) {
		resume(&inner);
		look_for(SLICE);
		assert_true(is_told(&inner));
		leave();
	}
	assert_false(look_at(&thread, &ticked));
	/* The inner one once more, this time seen with one within that is shown. */
	resume(&inner);
	look_for(STEP);
	resume(&third);
	look_for(2 * SLICE);
	assert_true(is_told(&inner));
	assert_true(is_told(&third));
	leave();
	leave();
	leave();
	assert_false(look_at(&thread, &ticked));
	assert_int_equal(outer.attention, 0);
	assert_int_equal(told, 5);
	reset(NULL);
	inner.extra = 0;
	resume(&outer);
	look_for(SLICE / 2);
	resume(&inner);
	look_for(SLICE / 4);
	leave();
	look_for(SLICE / 4);
	assert_true(is_told(&outer));
	assert_int_equal(told, 1);
}

/* What of a coroutine is in lines that its thread writes and reads is not looked at, where it was resumed from outside. */
static void
who_is_alone_is_left_alone(void **state)
{
	for (int i = 0; i < 3; i++) {
		const struct weir_coro_block before = inner;

		resume(&inner);
		inner.word = 7 << 16;
		inner.resumes = 77;
		inner.outer = &outer;
		look_for(SLICE / 2);
		inner.word = before.word;
		inner.resumes = before.resumes + 1;
		inner.outer = NULL;
		look_for(SLICE / 2);
		assert_true(is_told(&inner));
		leave();
	}
	assert_int_equal(told, 3);
}

/* What it reads is of two times: who ran seems to have been resumed when the next one was. It is told as ever, by its own mark, and so is that one. */
static void
what_is_read_is_of_two_times(void **state)
{
	struct weir_coro_shown before, after;

	outer.word = 5 << 16;
	outer.resumes = 9;
	resume(&inner);
	look_for(SLICE / 2);
	before = weir_coro_thread.shown;
	leave();
	resume(&outer);
	after = weir_coro_thread.shown;
	before.resumed = after.resumed;
	before.resumes = after.resumes;
	weir_coro_thread.shown = before;
	look_for(SLICE / 2);
	assert_true(is_told(&inner));
	weir_coro_thread.shown = after;
	look_for(SLICE - LEAD - STEP);
	assert_false(is_told(&outer));
	look_for(2 * STEP);
	assert_true(is_told(&outer));
	assert_int_equal(told, 2);
}

/* Somebody gives it another slice right before the end of the one that it has: that goes on, and it learns what it has now. */
static void
what_others_ask_is_not_lost(void **state)
{
	resume(&inner);
	look_for(SLICE / 2);
	inner.attention = CORO_SLICE_CHANGED;
	look_for(SLICE);
	assert_int_equal(inner.attention, CORO_SLICE_CHANGED);
	/* What the ticker said of the slice before, too late, is nothing. */
	leave();
	resume(&inner);
	inner.attention = coro_slice_mark(inner.word, inner.resumes - 1);
	look_for(SLICE);
	assert_true(is_told(&inner));
}

/* The old one's end is nothing to it any more. It began before that. */
static void
given_another_slice(void **state)
{
	resume(&inner);
	look_for(SLICE / 2);
	inner.slice = 10 * SLICE;
	look_for(9 * SLICE);
	assert_int_equal(told, 0);
	look_for(2 * SLICE);
	assert_true(is_told(&inner));
	assert_int_equal(told, 1);
	leave();
	resume(&inner);
	look_for(SLICE);
	inner.slice = 0;
	look_for(20 * SLICE);
	assert_int_equal(told, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(ends_are_told_once, reset),
		cmocka_unit_test_setup(short_slices_are_not_all_lead, reset),
		cmocka_unit_test_setup(slices_that_begin_unseen_are_not_cut_short, reset),
		cmocka_unit_test_setup(slices_of_none_are_left_alone, reset),
		cmocka_unit_test_setup(who_has_left_is_not_told, reset),
		cmocka_unit_test_setup(nested_ones_are_told_each, reset),
		cmocka_unit_test_setup(who_is_next_in_a_block_has_its_own_time, reset),
		cmocka_unit_test_setup(who_is_next_in_a_block_is_resumed_by_others, reset),
		cmocka_unit_test_setup(some_do_not_know_of_it, reset),
		cmocka_unit_test_setup(who_is_alone_is_left_alone, reset),
		cmocka_unit_test_setup(what_is_read_is_of_two_times, reset),
		cmocka_unit_test_setup(what_others_ask_is_not_lost, reset),
		cmocka_unit_test_setup(given_another_slice, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
