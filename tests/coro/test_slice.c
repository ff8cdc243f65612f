/* SPDX-License-Identifier: BSD-3-Clause */
/* Time slices: who yields when, and how near to the slice that was asked for. */
#include <weir_base_hist.h>

#include "slice_test.h"

static unsigned int checks, yields;

static void
checks_100_times(void)
{
	for (checks = 0; checks < 100; checks++)
		CHECK(!weir_coro_maybe_yield());
}

/* How often must it be resumed? */
static unsigned int
resumes_of(weir_coro_run_t run)
{
	struct weir_coro *coro = made(run);
	unsigned int nb = run_to_end(coro);

	CHECK(weir_coro_resume_count(coro) == nb);
	CHECK(weir_coro_maybe_yield_count(coro) == checks);
	CHECK(weir_coro_destroy(coro) == 0);
	return nb;
}

static void
slice_0_yields_always(void **state)
{
	struct weir_coro *coro;

	start(1, 0, 0);
	assert_int_equal(resumes_of(checks_100_times), 101);
	coro = made(checks_100_times);
	for (unsigned int i = 0; i < 50; i++) {
		weir_coro_resume(coro);
		assert_int_equal(weir_coro_maybe_yield_count(coro), i + 1);
	}
}

static void
always_yields(void **state)
{
	start(1, ns(1000000000), 0);
	assert_int_equal(resumes_of(checks_100_times), 1);
	weir_coro_always_yield(true);
	assert_int_equal(resumes_of(checks_100_times), 101);
	weir_coro_always_yield(false);
	assert_int_equal(resumes_of(checks_100_times), 1);
	weir_coro_cleanup();
	setenv("WEIR_CORO_ALWAYS_YIELD", "1", 1);
	start(1, ns(1000000000), 0);
	assert_int_equal(resumes_of(checks_100_times), 101);
	weir_coro_cleanup();
	setenv("WEIR_CORO_ALWAYS_YIELD", "0", 1);
	start(1, ns(1000000000), 0);
	assert_int_equal(resumes_of(checks_100_times), 1);
	unsetenv("WEIR_CORO_ALWAYS_YIELD");
}

/* What the program said counts, before weir_coro_init() and after another one, unless the environment says something. */
static void
always_yields_from_before(void **state)
{
	weir_coro_always_yield(true);
	for (int round = 0; round < 2; round++) {
		start(1, ns(1000000000), 0);
		assert_int_equal(resumes_of(checks_100_times), 101);
		weir_coro_cleanup();
	}
	setenv("WEIR_CORO_ALWAYS_YIELD", "0", 1);
	start(1, ns(1000000000), 0);
	assert_int_equal(resumes_of(checks_100_times), 1);
	unsetenv("WEIR_CORO_ALWAYS_YIELD");
}

static uint64_t random_state, longest;

/* Anything up to the longest. */
static void
works_irregularly(void)
{
	while (!stop) {
		work_for(random_below(&random_state, longest));
		weir_coro_maybe_yield();
	}
}

/* Short ones for the most part, and long ones between them. */
static void
works_in_bursts(void)
{
	while (!stop) {
		work_for(random_below(&random_state, 20) == 0 ? longest : longest / 20);
		weir_coro_maybe_yield();
	}
}

static uint64_t pause_cycles; /* that others take between two slices */

/* Its slices, when it has learned. */
static void
measure(weir_coro_run_t run, uint64_t slice)
{
	struct weir_coro *coro;

	measure_switch();
	coro = made_to_go_on(run);
	weir_coro_set_time_slice(coro, slice);
	measure_slices(coro, slices, 300, pause_cycles);
	measure_slices(coro, slices, SLICES, pause_cycles);
	stop_and_destroy(coro);
	tell_slices(slice);
}

static void
irregular_slices_overshoot_little(void **state)
{
	start(1, 0, 0);
	random_state = 88172645463325252u;
	longest = ns(500);
	measure(works_irregularly, ns(10000));
	assert_in_range(slices[SLICES / 2], ns(9000), ns(10000) + switch_cycles + longest);
	longest = ns(2000);
	measure(works_irregularly, ns(10000));
	assert_in_range(slices[SLICES / 2], ns(8000), ns(10000) + switch_cycles + longest);
	measure(works_in_bursts, ns(10000));
	assert_in_range(slices[SLICES / 2], ns(8000), ns(10000) + switch_cycles + longest);
	/* Not cut short either: it is the look that decides, not the count. */
	assert_true(slices[SLICES / 10] > ns(8500));
}

/* What was learned of one spacing must not hold when it is another one. */
static void
changes_its_mind(void)
{
	unsigned int nb = 0;

	while (!stop) {
		work_for(nb++ / 10000 % 2 == 0 ? ns(100) : ns(3000));
		weir_coro_maybe_yield();
	}
}

static void
slices_follow_a_change(void **state)
{
	start(1, 0, 0);
	measure(changes_its_mind, ns(10000));
	assert_in_range(slices[SLICES / 2], ns(7000), ns(13000));
	assert_true(slices[SLICES / 10 * 9] < ns(20000));
}

static void
slice_can_be_changed(void **state)
{
	struct weir_coro *coro;

	start(1, ns(1000000000), 0);
	coro = made(checks_100_times);
	weir_coro_set_time_slice(coro, 0);
	assert_int_equal(run_to_end(coro), 101);
	assert_int_equal(weir_coro_destroy(coro), 0);
}

/* Regular both before and after, which is where few looks are taken. */
static void
becomes_slow(void)
{
	for (unsigned int nb = 0; !stop; nb++) {
		work_regularly(nb < 40000 ? regular_work : regular_work * 60);
		weir_coro_maybe_yield();
	}
}

static void
slices_follow_a_lasting_change(void **state)
{
	start(1, 0, 0);
	calibrate();
	for (pause_cycles = 0; pause_cycles <= ns(4000); pause_cycles += ns(4000)) {
		measure(becomes_slow, ns(20000));
		assert_in_range(slices[SLICES / 2], ns(16000), ns(24000) + switch_cycles);
	}
	pause_cycles = 0;
}

/* 2 us of work, then a yield of its own: far from the end of a slice of 10 us that begins when it is resumed. */
static void
yields_itself(void)
{
	while (!stop) {
		for (int i = 0; i < 20; i++) {
			uint64_t before = weir_coro_resume_count(weir_coro_self());

			work_for(ns(100) + random_below(&random_state, ns(100)));
			weir_coro_maybe_yield();
			yields += weir_coro_resume_count(weir_coro_self()) != before;
		}
		weir_coro_yield();
	}
}

static void
slices_begin_when_resumed(void **state)
{
	struct weir_coro *coro;
	unsigned int resumes;

	start(1, ns(40000), 0);
	random_state = 88172645463325252u;
	stop = false;
	yields = 0;
	coro = made(yields_itself);
	for (resumes = 0; resumes < SLICES; resumes++) {
		weir_coro_resume(coro);
		/* Others take their time, sometimes much. */
		work_for(resumes % 8 == 0 ? ns(60000) : ns(500));
	}
	stop = true;
	run_to_end(coro);
	print_message("%u of %u slices cut short\n", yields, resumes);
	assert_true(yields < SLICES / 50);
}

/* Likewise, but so regular that nobody would look; once they are: the first ones take nearly a slice each. */
static unsigned int slow, slow_work;

static void
yields_itself_regularly(void)
{
	while (!stop) {
		for (int i = 0; i < 40; i++) {
			uint64_t before = weir_coro_resume_count(weir_coro_self());

			work_regularly(slow > 0 ? slow_work : regular_work);
			weir_coro_maybe_yield();
			if (slow > 0)
				slow--;
			else
				yields += weir_coro_resume_count(weir_coro_self()) != before;
		}
		weir_coro_yield();
	}
}

static void
regular_slices_begin_when_resumed_after(unsigned int slow_ones)
{
	/* Far more than 40 checks take: 4 us or so; ThreadSanitizer makes that 9 us, an emulator on a busy machine more than 30. */
	const unsigned int slice = WITH_SANITIZER || stretch > 1 ? 40000 : 10000;
	struct weir_coro *coro;

	start(1, ns(slice), 0);
	calibrate();
	slow_work = regular_work * (slice / 50) / 32 * 31;
	slow = slow_ones;
	stop = false;
	yields = 0;
	coro = made(yields_itself_regularly);
	while (slow > 0)
		weir_coro_resume(coro);
	for (unsigned int i = 0; i < SLICES; i++)
		weir_coro_resume(coro);
	stop = true;
	run_to_end(coro);
	print_message("%u of %u slices cut short\n", yields, SLICES);
	assert_true(yields < SLICES / 50);
}

static void
regular_slices_begin_when_resumed(void **state)
{
	regular_slices_begin_when_resumed_after(0);
}

/* What is cold takes long, above all in emulators, which have yet to translate it: to begin with, that is all that is known. */
static void
regular_slices_begin_when_resumed_after_a_cold_start(void **state)
{
	regular_slices_begin_when_resumed_after(2);
}

static void
regular_slices_begin_when_resumed_after_slow_ones(void **state)
{
	regular_slices_begin_when_resumed_after(1000);
}

/* Has long come to know its checks as short when they become long: longer than a slice, together. */
static void
yields_itself_and_becomes_slow(void)
{
	for (unsigned int nb = 0; !stop; nb++) {
		for (int i = 0; i < 40; i++) {
			work_regularly(nb < 100 ? regular_work : regular_work * 60);
			weir_coro_maybe_yield();
		}
		weir_coro_yield();
	}
}

static void
slices_that_begin_late_follow_a_change(void **state)
{
	start(1, 0, 0);
	calibrate();
	measure(yields_itself_and_becomes_slow, ns(20000));
	assert_in_range(slices[SLICES / 10 * 9], ns(10000), ns(26000) + switch_cycles);
}

/* First a check takes longer than a slice, later it does not; and others take long, so that nobody knows which time is whose. */
static void
becomes_fast(void)
{
	for (unsigned int nb = 0; !stop; nb++) {
		work_regularly(nb < 50 ? regular_work * 600 : regular_work);
		weir_coro_maybe_yield();
	}
}

static void
slices_grow_again(void **state)
{
	const unsigned int pauses[] = {3000, 10000, 20000, 31000, 50000};

	start(1, 0, 0);
	calibrate();
	for (unsigned int i = 0; i < LENGTH(pauses); i++) {
		pause_cycles = ns(pauses[i]);
		measure(becomes_fast, ns(20000));
		assert_in_range(slices[SLICES / 2], ns(15000), ns(24000) + switch_cycles);
	}
	pause_cycles = 0;
}

/* One that runs within another one's slice: neither takes the other's clock for its own. */
static struct weir_coro *inner;

static void
resumes_inner(void)
{
	while (!stop) {
		work_for(random_below(&random_state, ns(1000)));
		weir_coro_resume(inner);
		weir_coro_maybe_yield();
	}
}

static void
nested_slices_do_not_mix(void **state)
{
	start(2, ns(3000), 0);
	random_state = 88172645463325252u;
	longest = ns(400);
	inner = made(works_irregularly);
	measure(resumes_inner, ns(40000));
	assert_in_range(slices[SLICES / 2], ns(30000), ns(50000));
}

/* A long stretch before the first check, which nothing but the beginning of its slice tells of. */
static void
begins_slowly(void)
{
	while (!stop) {
		work_for(ns(40000));
		for (int i = 0; i < 100; i++) {
			work_for(ns(100));
			if (weir_coro_maybe_yield())
				return;
		}
	}
}

/*
 * Of so many percent of the slices. Where they have two lengths in turn, as many of each, one slice decides which of the two
 * is the median; so what is told may be what a rank nearby was. The quartiles tell one length from the other.
 */
static void
told_as_it_was(const struct weir_base_hist *told, unsigned int percent)
{
	uint64_t from = slices[SLICES * (percent - 5) / 100];
	uint64_t to = slices[SLICES * (percent + 5) / 100];
	uint64_t length = weir_base_hist_percentile(told, percent);

	print_message("%u %% of the slices took up to %u to %u ns, told are %u\n", percent,
		(unsigned int)weir_base_cycles_to_ns(from),
		(unsigned int)weir_base_cycles_to_ns(to),
		(unsigned int)weir_base_cycles_to_ns(length));
	assert_in_range(length, from * 7 / 10, to * 13 / 10);
}

/* What is told of slices is what they were. */
static void
told_as_they_were(weir_coro_run_t run)
{
	struct weir_base_hist *told = test_calloc(1, sizeof(*told));
	struct weir_coro *coro = made_to_go_on(run);

	measure_slices(coro, slices, SLICES, 0);
	assert_int_equal(weir_coro_class_slices(0, told), 0);
	assert_true(told->count > SLICES / 20);
	/* Not the means: one that the kernel made long weighs more among the few that are told. */
	told_as_it_was(told, 25);
	told_as_it_was(told, 50);
	told_as_it_was(told, 75);
	stop_and_destroy(coro);
	test_free(told);
}

static void
slices_are_told_as_they_were(void **state)
{
	start(1, ns(10000), 0);
	calibrate();
	told_as_they_were(begins_slowly);
	weir_coro_cleanup();
	start(1, ns(10000), 0);
	told_as_they_were(works_regularly);
}

/* Regular for long; then it resumes another one in the middle of a slice, whose time counts. */
static void
takes_long(void)
{
	for (;;) {
		work_for(ns(30000));
		weir_coro_yield();
	}
}

static unsigned int nb_pieces;
static uint64_t since_inner; /* pieces when it was resumed last */

static void
resumes_inner_rarely(void)
{
	for (; !stop; nb_pieces++) {
		work_regularly(regular_work);
		if (nb_pieces % 5000 == 4900) {
			weir_coro_resume(inner);
			since_inner = nb_pieces;
		}
		weir_coro_maybe_yield();
	}
}

static void
slices_go_on_while_others_run(void **state)
{
	unsigned int late = 0, nb = 0;
	struct weir_coro *outer;

	start(2, ns(10000), 0);
	calibrate();
	inner = made(takes_long);
	weir_coro_set_time_slice(inner, ns(1000000));
	outer = made(resumes_inner_rarely);
	stop = false;
	nb_pieces = 0;
	while (nb < 300) {
		since_inner = 0;
		weir_coro_resume(outer);
		if (since_inner == 0)
			continue;
		nb++;
		/* It was over when the other one yielded: at the next check it ends. */
		late += nb_pieces - since_inner > 3;
	}
	stop = true;
	run_to_end(outer);
	print_message("%u of %u ended later than the check after\n", late, nb);
	assert_true(late <= nb / 20);
}

static const struct CMUnitTest all[] = {
	cmocka_unit_test_teardown(slice_0_yields_always, finish),
	cmocka_unit_test_teardown(always_yields, finish),
	cmocka_unit_test_teardown(always_yields_from_before, finish),
	cmocka_unit_test_teardown(irregular_slices_overshoot_little, finish),
	cmocka_unit_test_teardown(slices_follow_a_change, finish),
	cmocka_unit_test_teardown(slices_follow_a_lasting_change, finish),
	cmocka_unit_test_teardown(slice_can_be_changed, finish),
	cmocka_unit_test_teardown(slices_begin_when_resumed, finish),
	cmocka_unit_test_teardown(regular_slices_begin_when_resumed, finish),
	cmocka_unit_test_teardown(regular_slices_begin_when_resumed_after_a_cold_start, finish),
	cmocka_unit_test_teardown(regular_slices_begin_when_resumed_after_slow_ones, finish),
	cmocka_unit_test_teardown(slices_that_begin_late_follow_a_change, finish),
	cmocka_unit_test_teardown(slices_grow_again, finish),
	cmocka_unit_test_teardown(nested_slices_do_not_mix, finish),
	cmocka_unit_test_teardown(slices_are_told_as_they_were, finish),
	cmocka_unit_test_teardown(slices_go_on_while_others_run, finish),
};

int
main(void)
{
	return try_each(all, LENGTH(all));
}
