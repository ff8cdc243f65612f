/* SPDX-License-Identifier: BSD-3-Clause */
/* What must not be done with coroutines: refused, counted, and nothing is broken by it. */
#include "coro_test.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>

#if defined(WITH_VALGRIND)
#include <valgrind/valgrind.h>
#endif

static unsigned int nb_logged;
static char last[512];

static void
count_log(void *arg, enum weir_base_log_level level, const char *module, const char *message)
{
	nb_logged++;
	snprintf(last, sizeof(last), "%s", message);
}

static void
begin(size_t nb)
{
	start(nb, 0, 0);
	nb_logged = 0;
	weir_base_log_set_sink(count_log, NULL);
}

static int
finish_misuse(void **state)
{
	weir_base_log_set_sink(NULL, NULL);
	return finish(state);
}

/* Only @what was refused, @nb times. */
static void
refused(enum weir_coro_misuse what, uint64_t nb)
{
	for (int i = 0; i < WEIR_CORO_MISUSE_COUNT; i++)
		CHECK(weir_coro_misuse((enum weir_coro_misuse)i) == (i == (int)what ? nb : 0));
}

static unsigned int steps;

static void
counts_to_3(void)
{
	for (int i = 0; i < 3; i++) {
		steps++;
		weir_coro_yield();
	}
}

static void
nothing(void)
{
}

/* A new one lives as if nothing had been. */
static void
all_is_well(void)
{
	struct weir_coro *coro = made(counts_to_3);

	steps = 0;
	CHECK(run_to_end(coro) == 4 && steps == 3);
	CHECK(weir_coro_destroy(coro) == 0);
}

static void
resume_of_an_exited_one(void **state)
{
	struct weir_coro *coro;

	begin(2);
	coro = made(nothing);
	weir_coro_resume(coro);
	for (int i = 1; i <= 20; i++) {
		weir_coro_resume(coro);
		weir_coro_resume_checked(coro);
		refused(WEIR_CORO_MISUSE_EXITED, 2 * (uint64_t)i);
	}
	assert_int_equal(weir_coro_resume_count(coro), 1);
	/* Told, but not without end. */
	assert_true(nb_logged >= 1 && nb_logged <= 10);
	all_is_well();
	assert_int_equal(weir_coro_destroy(coro), 0);
}

static void
ends_with_a_lock(void)
{
	weir_coro_hold();
}

/* Of what was done, and to whom: what is no more has no number. */
static void
messages_are_true(void **state)
{
	struct weir_coro *coro;

	begin(1);
	coro = made(ends_with_a_lock);
	weir_coro_resume(coro);
	assert_non_null(strstr(last, "coroutine 0 "));
	assert_non_null(strstr(last, "or ends, while it holds a lock"));
	weir_coro_resume(coro);
	assert_non_null(strstr(last, "coroutine 0 "));
	assert_non_null(strstr(last, "not resumed: it has exited"));
	assert_int_equal(weir_coro_destroy(coro), 0);
	weir_coro_resume(coro);
	assert_null(strstr(last, "coroutine "));
	assert_non_null(strstr(last, "was destroyed"));
	assert_int_equal(weir_coro_destroy(NULL), -EINVAL);
	assert_non_null(strstr(last, "NULL"));
	all_is_well();
}

static void
use_of_a_destroyed_one(void **state)
{
	struct weir_coro *coro, *next;

	begin(1);
	coro = made(counts_to_3);
	weir_coro_resume(coro);
	assert_int_equal(weir_coro_destroy(coro), 0);
	weir_coro_resume(coro);
	weir_coro_resume_checked(coro);
	refused(WEIR_CORO_MISUSE_STALE, 2);
	next = made(counts_to_3);
	steps = 0;
	weir_coro_resume(coro);
	weir_coro_resume_checked(coro);
	assert_int_equal(weir_coro_destroy(coro), -EINVAL);
	assert_int_equal(weir_coro_cancel(coro), -EINVAL);
	refused(WEIR_CORO_MISUSE_STALE, 5);
	assert_int_equal(steps, 0);
	assert_int_equal(weir_coro_destroy(next), 0);
	all_is_well();
}

static void
use_of_none(void **state)
{
	begin(1);
	weir_coro_resume(NULL);
	weir_coro_resume_checked(NULL);
	assert_int_equal(weir_coro_destroy(NULL), -EINVAL);
	refused(WEIR_CORO_MISUSE_STALE, 3);
	assert_true(weir_coro_has_exited(NULL));
	assert_int_equal(weir_coro_id(NULL), UINT32_MAX);
	assert_null(weir_coro_in_param(NULL, 0));
	all_is_well();
}

static struct weir_coro *outer, *inner;

static void
disturbs_outer(void)
{
	weir_coro_resume(outer);
	weir_coro_resume(inner);
	CHECK(weir_coro_destroy(outer) == -EBUSY);
	CHECK(weir_coro_destroy(inner) == -EBUSY);
	refused(WEIR_CORO_MISUSE_RUNNING, 4);
	weir_coro_yield();
	steps++;
}

static void
waits_for_inner(void)
{
	inner = made(disturbs_outer);
	weir_coro_resume(inner);
	CHECK(weir_coro_self() == outer);
	weir_coro_yield();
	weir_coro_resume(inner);
	steps++;
}

static void
resume_of_a_running_one(void **state)
{
	begin(3);
	steps = 0;
	outer = made(waits_for_inner);
	weir_coro_resume(outer);
	assert_null(weir_coro_self());
	weir_coro_resume(outer);
	assert_int_equal(steps, 2);
	assert_true(weir_coro_has_exited(outer) && weir_coro_has_exited(inner));
	assert_int_equal(weir_coro_destroy(outer), 0);
	assert_int_equal(weir_coro_destroy(inner), 0);
	all_is_well();
}

static void
yield_outside(void **state)
{
	begin(1);
	for (uint64_t i = 1; i < 4; i++) {
		assert_false(weir_coro_yield());
		refused(WEIR_CORO_MISUSE_OUTSIDE, i);
	}
	/* Code that is used on both sides may do this. */
	assert_false(weir_coro_maybe_yield());
	weir_coro_hold();
	weir_coro_release();
	weir_coro_release();
	refused(WEIR_CORO_MISUSE_OUTSIDE, 3);
	all_is_well();
}

static void
yields_holding(void)
{
	weir_coro_hold();
	weir_coro_hold();
	CHECK(!weir_coro_yield());
	weir_coro_release();
	CHECK(!weir_coro_yield());
	CHECK(!weir_coro_maybe_yield());
	weir_coro_release();
	refused(WEIR_CORO_MISUSE_HOLDING, 3);
	steps = 1;
	CHECK(weir_coro_yield()); /* cancelled meanwhile */
	weir_coro_release();      /* once too often: the next one counts nevertheless */
	weir_coro_hold();
	CHECK(weir_coro_yield()); /* told also when refused */
	refused(WEIR_CORO_MISUSE_HOLDING, 4);
	steps = 2; /* and exits with it */
}

static void
yield_with_a_lock(void **state)
{
	struct weir_coro *coro;

	begin(1);
	coro = made(yields_holding);
	steps = 0;
	weir_coro_resume(coro);
	assert_int_equal(steps, 1);
	weir_coro_cancel(coro);
	weir_coro_resume(coro);
	assert_int_equal(steps, 2);
	assert_true(weir_coro_has_exited(coro));
	assert_int_equal(weir_coro_destroy(coro), 0);
	/* The next one in its place holds nothing, and switches as fast as others. */
	coro = made(yields_holding);
	assert_int_equal(weir_coro_block_of(coro)->extra, 0);
	assert_int_equal(weir_coro_destroy(coro), 0);
	all_is_well();
}

/* Boost.Context's switch keeps them: nothing to refuse. */
#if defined(WEIR_CORO_FCONTEXT)
#define LEAKED_FP 0
#else
#define LEAKED_FP 1
#endif

static void
rounds_up(void)
{
	fesetround(FE_UPWARD);
	weir_coro_yield();
	fesetround(FE_TONEAREST);
}

static void
other_fp_control(void **state)
{
	struct weir_coro *coro;

	begin(1);
	coro = made(rounds_up);
	weir_coro_resume_checked(coro);
	refused(WEIR_CORO_MISUSE_FP, LEAKED_FP);
	/* It was mended for who resumed it. */
	assert_int_equal(fegetround(), FE_TONEAREST);
	weir_coro_resume_checked(coro);
	refused(WEIR_CORO_MISUSE_FP, LEAKED_FP);
	assert_int_equal(weir_coro_destroy(coro), 0);
	all_is_well();
}

static void
raises_and_rounds_up(void)
{
	for (int i = 0; i < 2; i++) {
		feraiseexcept(FE_DIVBYZERO);
		weir_coro_yield();
	}
	feraiseexcept(FE_INVALID);
	rounds_up();
}

/*
 * Which exceptions were raised is the thread's, in builds with checks, too, also where these mend a control word. (Boost.Context
 * keeps them as well.)
 */
static void
raised_exceptions_stay(void **state)
{
	struct weir_coro *coro;

#if defined(WEIR_CORO_FCONTEXT)
	skip();
#endif
#if defined(WITH_VALGRIND)
	if (RUNNING_ON_VALGRIND) /* nothing is ever raised there */
		skip();
#endif
	begin(1);
	coro = made(raises_and_rounds_up);
	feclearexcept(FE_ALL_EXCEPT);
	weir_coro_resume(coro);
	assert_int_equal(fetestexcept(FE_ALL_EXCEPT), FE_DIVBYZERO);
	feclearexcept(FE_ALL_EXCEPT);
	weir_coro_resume_checked(coro);
	assert_int_equal(fetestexcept(FE_ALL_EXCEPT), FE_DIVBYZERO);
	refused(WEIR_CORO_MISUSE_FP, 0);
	feclearexcept(FE_ALL_EXCEPT);
	weir_coro_resume_checked(coro);
	refused(WEIR_CORO_MISUSE_FP, 1);
	assert_int_equal(fegetround(), FE_TONEAREST);
	assert_int_equal(fetestexcept(FE_ALL_EXCEPT), FE_INVALID);
	feclearexcept(FE_ALL_EXCEPT);
	/* By now it rounds as it should. */
	run_to_end(coro);
	assert_int_equal(weir_coro_destroy(coro), 0);
	all_is_well();
}

static void
what_is_unknown_is_not_counted(void **state)
{
	begin(1);
	assert_int_equal(weir_coro_misuse(WEIR_CORO_MISUSE_COUNT), 0);
	assert_int_equal(weir_coro_misuse((enum weir_coro_misuse) - 1), 0);
}

/* Races of two threads. The coroutine notices two at a time in it. */
static struct weir_coro *wanted;
static unsigned int inside, turns;
static bool stalled, refused_meanwhile;

static void
stalls(void)
{
	for (;;) {
		CHECK(__atomic_exchange_n(&inside, 1, __ATOMIC_ACQ_REL) == 0);
		turns++;
		__atomic_store_n(&stalled, true, __ATOMIC_RELEASE);
		while (!__atomic_load_n(&refused_meanwhile, __ATOMIC_ACQUIRE))
			;
		__atomic_store_n(&inside, 0, __ATOMIC_RELEASE);
		if (weir_coro_yield())
			return;
	}
}

static void *
resume_wanted(void *arg)
{
	weir_coro_resume_checked(wanted);
	return NULL;
}

/* One thread stalls within the coroutine while the other one comes. */
static void
second_thread_is_refused(void **state)
{
	pthread_t thread;

	begin(1);
	wanted = made(stalls);
	turns = 0;
	for (uint64_t round = 1; round <= 20; round++) {
		stalled = refused_meanwhile = false;
		assert_int_equal(pthread_create(&thread, NULL, resume_wanted, NULL), 0);
		while (!__atomic_load_n(&stalled, __ATOMIC_ACQUIRE))
			;
		weir_coro_resume(wanted);
		assert_int_equal(weir_coro_destroy(wanted), -EBUSY);
		__atomic_store_n(&refused_meanwhile, true, __ATOMIC_RELEASE);
		pthread_join(thread, NULL);
		refused(WEIR_CORO_MISUSE_RUNNING, 2 * round);
		assert_int_equal(turns, round);
	}
	assert_int_equal(weir_coro_destroy(wanted), 0);
	all_is_well();
}

static void
is_alone(void)
{
	do {
		CHECK(__atomic_exchange_n(&inside, 1, __ATOMIC_ACQ_REL) == 0);
		turns++;
		__atomic_store_n(&inside, 0, __ATOMIC_RELEASE);
	} while (!weir_coro_yield());
}

#define ROUNDS      200000u
#define ROUNDS_SLOW 20000u

/* Threads take turns under valgrind: they hardly ever meet. */
static unsigned int
nb_rounds(void)
{
#if defined(WITH_VALGRIND)
	if (RUNNING_ON_VALGRIND)
		return ROUNDS_SLOW;
#endif
	return WITH_SANITIZER ? ROUNDS_SLOW : ROUNDS;
}
static unsigned int arrived;

/* Both at the same instant, as far as can be. */
static void *
resume_at_once(void *arg)
{
	unsigned int rounds = nb_rounds();

	for (unsigned int round = 0; round < rounds; round++) {
		__atomic_fetch_add(&arrived, 1, __ATOMIC_ACQ_REL);
		/* They may have but one CPU. */
		for (unsigned int spins = 1;
			__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < 2 * (round + 1); spins++)
			if (spins % 8192 == 0)
				sched_yield();
		/* A little apart, this way and that: within the other one's few instructions. */
		for (volatile unsigned int i = 0; i < (arg != NULL ? round % 16 : round / 16 % 16);
			i++)
			;
		weir_coro_resume_checked(wanted);
	}
	return NULL;
}

static void
one_of_two_gets_it(void **state)
{
	pthread_t thread;
	uint64_t nb_refused;

	begin(1);
	wanted = made(is_alone);
	inside = turns = arrived = 0;
	assert_int_equal(pthread_create(&thread, NULL, resume_at_once, &arrived), 0);
	resume_at_once(NULL);
	pthread_join(thread, NULL);
	nb_refused = weir_coro_misuse(WEIR_CORO_MISUSE_RUNNING);
	assert_int_equal(turns + nb_refused, 2 * nb_rounds());
	assert_int_equal(weir_coro_resume_count(wanted), turns);
	refused(WEIR_CORO_MISUSE_RUNNING, nb_refused);
	print_message("%u resumed, %u refused\n", turns, (unsigned int)nb_refused);
	weir_coro_cancel(wanted);
	weir_coro_resume(wanted);
	assert_true(weir_coro_has_exited(wanted));
	assert_int_equal(weir_coro_destroy(wanted), 0);
	all_is_well();
}

/* Two threads that destroy the same one at the same instant: one of them does, and its place is given once. */
static struct weir_coro *volatile doomed;
static unsigned int at_gate, at_gate2, nb_destroyed;

static void
nothing_to_do(void)
{
}

static void *
destroys(void *arg)
{
	unsigned int spins;

	for (unsigned int round = 1; round <= 2000; round++) {
		__atomic_fetch_add(&at_gate, 1, __ATOMIC_SEQ_CST);
		/* Awake, nearly: they must go on at the same instant, but may have the CPU that who opens the gate needs. */
		for (spins = 1; __atomic_load_n(&at_gate, __ATOMIC_SEQ_CST) < round * 3; spins++)
			if (spins % 8192 == 0)
				sched_yield();
		if (weir_coro_destroy(doomed) == 0)
			__atomic_fetch_add(&nb_destroyed, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&at_gate2, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void
destroyed_once(void **state)
{
	struct weir_coro_class_stats stats;
	pthread_t threads[2];

	begin(4);
	at_gate = at_gate2 = nb_destroyed = 0;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, destroys, NULL), 0);
	for (unsigned int round = 1; round <= 2000; round++) {
		doomed = made(nothing_to_do);
		__atomic_fetch_add(&at_gate, 1, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(&at_gate2, __ATOMIC_SEQ_CST) < round * 2)
			sched_yield();
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(nb_destroyed, 2000);
	assert_int_equal(weir_coro_class_look(0, &stats), 0);
	assert_int_equal(stats.live, 0);
	assert_int_equal(stats.destroyed, 2000);
	refused(WEIR_CORO_MISUSE_STALE, 2000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(destroyed_once, finish_misuse),
		cmocka_unit_test_teardown(resume_of_an_exited_one, finish_misuse),
		cmocka_unit_test_teardown(messages_are_true, finish_misuse),
		cmocka_unit_test_teardown(use_of_a_destroyed_one, finish_misuse),
		cmocka_unit_test_teardown(use_of_none, finish_misuse),
		cmocka_unit_test_teardown(resume_of_a_running_one, finish_misuse),
		cmocka_unit_test_teardown(yield_outside, finish_misuse),
		cmocka_unit_test_teardown(yield_with_a_lock, finish_misuse),
		cmocka_unit_test_teardown(other_fp_control, finish_misuse),
		cmocka_unit_test_teardown(raised_exceptions_stay, finish_misuse),
		cmocka_unit_test_teardown(what_is_unknown_is_not_counted, finish_misuse),
		cmocka_unit_test_teardown(second_thread_is_refused, finish_misuse),
		cmocka_unit_test_teardown(one_of_two_gets_it, finish_misuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
