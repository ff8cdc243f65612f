/* SPDX-License-Identifier: BSD-3-Clause */
/* The ticker: it ends slices however checks are spaced, those that it means and no others, on all threads, and they end without it too. */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#include <sys/wait.h>

#include "coro_private.h"
#include "slices.h"

#define PATIENCE_NS 40000000000
#define SLICES      200 /* 2 ms: less than the kernel lets others wait, as a rule */

static const struct weir_coro_ticker_param anywhere = {.cpu = -1};

/* With one CPU it only runs when others do not. */
static void
needs_two_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) < 2) {
		print_message("one CPU: a ticker has none\n");
		skip();
	}
}

static int
stop_ticker(void **state)
{
	weir_coro_ticker_stop();
	return finish(state);
}

/* Who resumes it may do so just now. */
static uint32_t
mark_of(const struct weir_coro_block *block, uint64_t resumes)
{
	return coro_slice_mark(__atomic_load_n(&block->word, __ATOMIC_RELAXED), resumes);
}

/* What the ticker does, done by hand: from within, so that there is no doubt about when. */
static void
marks_itself(void)
{
	struct weir_coro_block *block = weir_coro_block_of(weir_coro_self());
	uint64_t before;

	for (int i = 0; i < 100; i++) {
		before = block->resumes;
		__atomic_store_n(
			&block->attention, mark_of(block, before + i % 3), __ATOMIC_RELAXED);
		CHECK(!weir_coro_maybe_yield());
		CHECK(block->resumes == before + (i % 3 == 0));
		CHECK(__atomic_load_n(&block->attention, __ATOMIC_RELAXED) == 0);
		/* Few: it believes that the one before took a whole slice, as it was told. */
		for (int nb = 0; nb < 2; nb++)
			CHECK(!weir_coro_maybe_yield());
		CHECK(block->resumes == before + (i % 3 == 0));
	}
}

static void
only_its_own_slice_ends(void **state)
{
	struct weir_coro *coro;

	start(1, ns(100000000000), 0);
	coro = made(marks_itself);
	assert_int_equal(run_to_end(coro), 35);
	assert_int_equal(weir_coro_maybe_yield_count(coro), 100 * 3);
}

/* Asked to end in a slice that the ticker ends as well. */
static void
ends_when_cancelled(void)
{
	struct weir_coro_block *block = weir_coro_block_of(weir_coro_self());

	CHECK(!weir_coro_maybe_yield());
	CHECK(weir_coro_cancel(weir_coro_self()) == 0);
	__atomic_store_n(&block->attention, mark_of(block, block->resumes), __ATOMIC_RELAXED);
	CHECK(weir_coro_maybe_yield());
	CHECK(weir_coro_maybe_yield());
}

static void
cancelled_ones_end(void **state)
{
	struct weir_coro *coro;

	start(1, ns(100000000000), 0);
	coro = made(ends_when_cancelled);
	assert_int_equal(run_to_end(coro), 3);
}

static bool attends, asked;

static void
attends_until_cancelled(void)
{
	/* By then many checks pass between two looks at the clock. */
	for (int i = 0; i < 20000; i++)
		CHECK(!weir_coro_maybe_yield());
	__atomic_store_n(&attends, true, __ATOMIC_RELEASE);
	for (unsigned int after = 0; !weir_coro_maybe_yield();) {
		after += __atomic_load_n(&asked, __ATOMIC_ACQUIRE);
		CHECK(after <= 1);
	}
}

static void *
resume_to_end(void *arg)
{
	run_to_end(arg);
	return NULL;
}

/* Asked to end from another thread, right when it attends to a ticker that came too late. */
static void
cancels_are_not_lost(void **state)
{
	struct weir_coro_block *block;
	struct weir_coro *coro;
	pthread_t thread;

	start(1, ns(100000000000), 0);
	for (int round = 0; round < 500; round++) {
		attends = asked = false;
		coro = made(attends_until_cancelled);
		block = weir_coro_block_of(coro);
		assert_int_equal(pthread_create(&thread, NULL, resume_to_end, coro), 0);
		while (!__atomic_load_n(&attends, __ATOMIC_ACQUIRE))
			sched_yield();
		for (int i = 0; i < 1 + round % 100; i++)
			__atomic_store_n(&block->attention, mark_of(block, 7), __ATOMIC_RELAXED);
		assert_int_equal(weir_coro_cancel(coro), 0);
		__atomic_store_n(&asked, true, __ATOMIC_RELEASE);
		pthread_join(thread, NULL);
		assert_int_equal(weir_coro_destroy(coro), 0);
	}
}

/* The ticker told it of its end when it had just made its last check. */
static void
is_told_too_late(void)
{
	struct weir_coro_block *block = weir_coro_block_of(weir_coro_self());

	__atomic_store_n(&block->attention, mark_of(block, 1), __ATOMIC_RELAXED);
}

static void
checks_a_few_times(void)
{
	for (int i = 0; i < 3; i++)
		CHECK(!weir_coro_maybe_yield());
}

/* Likewise, by a ticker that the kernel let wait in the middle of that: */
static uint32_t late_mark;

static void
is_told_later(void)
{
	struct weir_coro_block *block = weir_coro_block_of(weir_coro_self());

	late_mark = mark_of(block, block->resumes);
}

static void
is_told_what_was_meant_for_another(void)
{
	struct weir_coro_block *block = weir_coro_block_of(weir_coro_self());

	CHECK(!weir_coro_maybe_yield());
	__atomic_store_n(&block->attention, late_mark, __ATOMIC_RELAXED);
	CHECK(!weir_coro_maybe_yield());
	CHECK(__atomic_load_n(&block->attention, __ATOMIC_RELAXED) == 0);
	CHECK(!weir_coro_maybe_yield());
}

/* Who is in its place next, in its first resumption as well, was not meant. */
static void
the_next_one_is_not_told(void **state)
{
	struct weir_coro *coro;
	uint32_t id;

	start(1, ns(100000000000), 0);
	coro = made(is_told_too_late);
	id = weir_coro_id(coro);
	assert_int_equal(run_to_end(coro), 1);
	assert_int_equal(weir_coro_destroy(coro), 0);
	coro = made(checks_a_few_times);
	assert_int_equal(weir_coro_id(coro), id);
	assert_int_equal(run_to_end(coro), 1);
	assert_int_equal(weir_coro_destroy(coro), 0);
	coro = made(is_told_later);
	assert_int_equal(run_to_end(coro), 1);
	assert_int_equal(weir_coro_destroy(coro), 0);
	coro = made(is_told_what_was_meant_for_another);
	assert_int_equal(weir_coro_id(coro), id);
	assert_int_equal(run_to_end(coro), 1);
}

/* Short and long ones by turns of some 50 us each, which nobody can foresee by counting. */
static void
works_in_phases(void)
{
	for (unsigned int nb = 0; !stop; nb++) {
		work_for(nb % 1020 < 1000 ? ns(50) : ns(2000));
		weir_coro_maybe_yield();
	}
}

static void
works_at_random(void)
{
	uint64_t state = 88172645463325252u;

	while (!stop) {
		work_for(random_below(&state, ns(2000)));
		weir_coro_maybe_yield();
	}
}

static uint64_t slices[SLICES];

/* A hundredth may have met an interrupt, or the ticker has. */
static uint64_t
nearly_all_of(weir_coro_run_t run)
{
	measure_first_slices(run, slices, SLICES);
	return slices[SLICES / 100 * 95];
}

/*
 * On a busy machine the ticker is late now and then, and slices with it, or they end without; once it must have been let run. Without it,
 * or should it tell the wrong ones, this is never so.
 */
static bool
once_in_time(weir_coro_run_t run)
{
	const uint64_t begin_ns = weir_base_time_ns();

	for (int i = 0; weir_base_time_ns() - begin_ns < PATIENCE_NS; i++) {
		uint64_t before = weir_coro_ticker_told(), most = nearly_all_of(run);

		if (slices[SLICES / 10] > ns(8000) && most < ns(13000) &&
			weir_coro_ticker_told() - before > SLICES / 2)
			return true;
		usleep(i % 10 * 1000);
	}
	return false;
}

static void
slices_end_in_time(void **state)
{
	uint64_t before = weir_coro_ticker_told();

	needs_two_cpus();
	start(1, ns(10000), 0);
	assert_int_equal(weir_coro_ticker_start(&anywhere), 0);
	assert_int_equal(weir_coro_ticker_start(&anywhere), -EALREADY);
	assert_true(once_in_time(works_in_phases));
	assert_true(once_in_time(works_at_random));
	assert_true(weir_coro_ticker_told() - before > SLICES);
	assert_int_equal(weir_coro_ticker_stop(), 0);
	assert_int_equal(weir_coro_ticker_stop(), -EALREADY);
}

/* It goes on without, when nobody tells any more. */
static void
slices_end_without_it(void **state)
{
	start(1, ns(10000), 0);
	assert_int_equal(weir_coro_ticker_start(&anywhere), 0);
	nearly_all_of(works_at_random);
	assert_int_equal(weir_coro_ticker_stop(), 0);
	for (int i = 0; i < 1000; i++) {
		nearly_all_of(works_at_random);
		if (slices[SLICES / 2] > ns(7000) && slices[SLICES / 2] < ns(13000))
			return;
	}
	fail();
}

static void
works_regularly(void)
{
	while (!stop) {
		work_for(ns(500));
		weir_coro_maybe_yield();
	}
}

/* @return resumptions until it is shown to a ticker, or not any more */
static unsigned int
until_shown(struct weir_coro *coro, bool shown)
{
	unsigned int nb;

	for (nb = 0; nb < 100 && weir_coro_is_shown(weir_coro_block_of(coro)) != shown; nb++)
		weir_coro_resume(coro);
	return nb;
}

/* At most so many slices that end by number come before one that begins with a look at the clock, that one included. */
#define UNTIL_LOOK (CORO_PACE_BLIND + CORO_PACE_BLIND_SPREAD + 1)

/* Slices that end by number do not begin with a look at the clock. It goes without saying where nobody ends by number. */
static void
who_was_there_comes_to_know(void **state)
{
	const weir_coro_run_t runs[] = {works_regularly, works_at_random};

	start(1, ns(10000), 0);
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct weir_coro *coro = made(runs[i]);

		stop = false;
		for (int nb = 0; nb < 200; nb++)
			weir_coro_resume(coro);
		assert_false(weir_coro_is_shown(weir_coro_block_of(coro)));
		assert_int_equal(weir_coro_ticker_start(&anywhere), 0);
		assert_in_range(until_shown(coro, true), 1, UNTIL_LOOK);
		assert_int_equal(weir_coro_ticker_stop(), 0);
		/* It may have been told of the end of this one, and have been given checks for another one. */
		assert_in_range(until_shown(coro, false), 1, UNTIL_LOOK + 1);
		assert_null(weir_coro_thread_now()->shown.current);
		stop = true;
		run_to_end(coro);
		assert_int_equal(weir_coro_destroy(coro), 0);
	}
	stop = false;
}

/* Threads that come and go while it looks at them. */
static void *
comes_and_goes(void *arg)
{
	for (int i = 0; i < 20; i++) {
		struct weir_coro *coro = made(works_at_random);

		for (int nb = 0; nb < 50; nb++)
			weir_coro_resume(coro);
		CHECK(weir_coro_destroy(coro) == 0);
	}
	return NULL;
}

static void
threads_come_and_go(void **state)
{
	pthread_t threads[4];

	start(100, ns(5000), 0);
	stop = false;
	for (int round = 0; round < 5; round++) {
		assert_int_equal(weir_coro_ticker_start(&anywhere), 0);
		for (size_t i = 0; i < LENGTH(threads); i++)
			assert_int_equal(
				pthread_create(&threads[i], NULL, comes_and_goes, NULL), 0);
		if (round % 2 == 1)
			assert_int_equal(weir_coro_ticker_stop(), 0);
		for (size_t i = 0; i < LENGTH(threads); i++)
			pthread_join(threads[i], NULL);
		if (round % 2 == 0)
			assert_int_equal(weir_coro_ticker_stop(), 0);
	}
}

/* The outer one's slice runs on while the inner one runs: both are told, each for itself. */
static struct weir_coro *inner;
static unsigned int inner_slices;

static void
resumes_inner(void)
{
	while (!stop) {
		weir_coro_resume(inner);
		inner_slices++;
		weir_coro_maybe_yield(); /* not each time: its slice is longer */
	}
}

static void
nested_ones_are_told(void **state)
{
	struct weir_coro *outer;
	unsigned int nb = 0;

	needs_two_cpus();
	start(2, ns(10000), 0);
	inner = made(works_at_random);
	outer = made(resumes_inner);
	weir_coro_set_time_slice(outer, ns(40000));
	assert_int_equal(weir_coro_ticker_start(&anywhere), 0);
	stop = false;
	for (int round = 0; round < 1000 && !(nb >= 500 * 3 && nb <= 500 * 5); round++) {
		inner_slices = 0;
		for (int i = 0; i < 500; i++)
			weir_coro_resume(outer);
		nb = inner_slices;
		print_message("%u inner slices in 500 outer ones\n", nb);
	}
	stop = true;
	assert_in_range(nb, 500 * 3, 500 * 5);
}

static void
wrong_wishes(void **state)
{
	struct weir_coro_ticker_param param = {.cpu = 1 << 20};

	assert_int_equal(weir_coro_ticker_start(NULL), -EINVAL);
	assert_int_equal(weir_coro_ticker_start(&param), -EINVAL);
	param.cpu = CPU_SETSIZE - 1; /* no machine has it */
	assert_int_equal(weir_coro_ticker_start(&param), -EINVAL);
	param = (struct weir_coro_ticker_param){.cpu = -1, .period_ns = 2000000000};
	assert_int_equal(weir_coro_ticker_start(&param), -EINVAL);
	assert_int_equal(weir_coro_ticker_stop(), -EALREADY);
}

/* A child has no ticker, may start one, and its slices end. */
static void
children_have_none(void **state)
{
	int status;
	pid_t child;

	if (emulated()) /* emulators do not survive that while there are threads */
		skip();
	start(1, ns(10000), 0);
	assert_int_equal(weir_coro_attach(), 0);
	assert_int_equal(weir_coro_ticker_start(&anywhere), 0);
	child = fork();
	if (child == 0) {
		alarm(20);
		nearly_all_of(works_at_random);
		if (slices[SLICES / 2] > ns(20000) || weir_coro_ticker_stop() != -EALREADY)
			_exit(1);
#if defined(WEIR_BASE_TSAN)
		_exit(0); /* which lets no child of many threads start any */
#endif
		_exit(weir_coro_ticker_start(&anywhere) == 0 && weir_coro_ticker_stop() == 0 ? 0
											     : 2);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Cleaning up ends it: blocks go. */
static void
ends_with_the_library(void **state)
{
	start(1, ns(10000), 0);
	assert_int_equal(weir_coro_ticker_start(&anywhere), 0);
	weir_coro_cleanup();
	assert_int_equal(weir_coro_ticker_stop(), -EALREADY);
	start(1, ns(10000), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(only_its_own_slice_ends, stop_ticker),
		cmocka_unit_test_teardown(cancelled_ones_end, stop_ticker),
		cmocka_unit_test_teardown(cancels_are_not_lost, stop_ticker),
		cmocka_unit_test_teardown(the_next_one_is_not_told, stop_ticker),
		cmocka_unit_test_teardown(slices_end_in_time, stop_ticker),
		cmocka_unit_test_teardown(slices_end_without_it, stop_ticker),
		cmocka_unit_test_teardown(who_was_there_comes_to_know, stop_ticker),
		cmocka_unit_test_teardown(threads_come_and_go, stop_ticker),
		cmocka_unit_test_teardown(nested_ones_are_told, stop_ticker),
		cmocka_unit_test(wrong_wishes),
		cmocka_unit_test_teardown(children_have_none, stop_ticker),
		cmocka_unit_test_teardown(ends_with_the_library, stop_ticker),
	};

#ifdef WEIR_BASE_TSAN
	stretch = 4; /* all but the ticker is that much slower */
#endif
	if (emulated())
		stretch = 10;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
