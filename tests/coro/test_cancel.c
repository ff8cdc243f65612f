/* SPDX-License-Identifier: BSD-3-Clause */
/* Ending coroutines from outside, at every point where that can happen; joining them. */
#include "coro_test.h"

#include <pthread.h>

#define HELD_MAX 16

/* What a coroutine holds, and the order in which it was given back. */
static int held, given_back[HELD_MAX], nb_given_back;
static unsigned int passed; /* yield points that returned false */
static bool ran;

struct thing {
	struct weir_coro_cleanup_entry entry;
	int number;
	void *memory;
};

static void
give_back(void *arg)
{
	struct thing *thing = arg;

	CHECK(nb_given_back < HELD_MAX);
	given_back[nb_given_back++] = thing->number;
	free(thing->memory);
	held--;
}

static void
take(struct thing *thing, int number)
{
	*thing = (struct thing){
		.entry = {.run = give_back, .arg = thing}, .number = number, .memory = malloc(100)};
	CHECK(thing->memory != NULL);
	weir_coro_cleanup_push(&thing->entry);
	held++;
}

static struct weir_coro *to_join;

static void
yields_once(void)
{
	weir_coro_yield();
}

/* Ends at once when it is told so, as programs do. */
static void
point(bool cancelled)
{
	CHECK(cancelled == weir_coro_self_cancelled());
	if (cancelled)
		weir_coro_exit();
	passed++;
}

static __attribute__((noinline)) void
deeper(int depth)
{
	struct thing thing;

	take(&thing, 10 + depth);
	point(weir_coro_yield());
	if (depth < 2)
		deeper(depth + 1);
	point(weir_coro_maybe_yield());
	weir_coro_cleanup_pop(true);
}

static void
none_left(void)
{
	struct weir_coro_class_stats stats;

	assert_int_equal(weir_coro_class_look(0, &stats), 0);
	assert_int_equal(stats.live, 0);
	assert_int_equal(stats.created, stats.destroyed);
}

#define POINTS 10

/* All kinds of yield points, with things held on several depths of calls. */
static void
has_points(void)
{
	struct thing first, second;

	ran = true;
	take(&first, 1);
	point(weir_coro_yield());
	take(&second, 2);
	point(weir_coro_maybe_yield());
	deeper(0);
	weir_coro_cleanup_pop(false);
	give_back(&second);
	point(weir_coro_yield());
	point(weir_coro_join(to_join) == -ECANCELED);
	weir_coro_cleanup_pop(true);
}

static void
cancelled_at(unsigned int resumes)
{
	struct weir_coro *coro = made(has_points);

	to_join = made(yields_once);
	held = nb_given_back = 0;
	passed = 0;
	ran = false;
	for (unsigned int i = 0; i < resumes; i++)
		weir_coro_resume(coro);
	assert_false(weir_coro_has_exited(coro));
	assert_int_equal(weir_coro_cancel(coro), 0);
	/* It is asked, not ended. */
	assert_false(weir_coro_has_exited(coro));
	nb_given_back = 0;
	weir_coro_resume(coro);
	assert_true(weir_coro_has_exited(coro));
	assert_int_equal(ran, resumes > 0);
	assert_int_equal(passed, resumes > 0 ? resumes - 1 : 0);
	assert_int_equal(held, 0);
	for (int i = 1; i < nb_given_back; i++)
		assert_true(given_back[i - 1] > given_back[i]);
	assert_int_equal(weir_coro_cancel(coro), -EINVAL);
	assert_int_equal(weir_coro_destroy(coro), 0);
	assert_int_equal(weir_coro_cancel(coro), -EINVAL);
	weir_coro_destroy(to_join);
	none_left();
}

static void
at_every_point(void **state)
{
	start(2, 0, 0);
	for (unsigned int resumes = 0; resumes <= POINTS; resumes++)
		cancelled_at(resumes);
}

/* As many points as are tested, and nothing held after an undisturbed run either. */
static void
not_at_all(void **state)
{
	struct weir_coro *coro;

	start(2, 0, 0);
	coro = made(has_points);
	to_join = made(yields_once);
	held = nb_given_back = 0;
	passed = 0;
	for (unsigned int i = 0; i < POINTS; i++)
		weir_coro_resume(coro);
	assert_int_equal(passed, POINTS - 1);
	run_to_end(to_join);
	weir_coro_resume(coro);
	assert_true(weir_coro_has_exited(coro));
	assert_int_equal(passed, POINTS);
	assert_int_equal(held, 0);
}

static void
holds_three(void)
{
	struct thing things[3];

	for (int i = 0; i < 3; i++)
		take(&things[i], i);
	/* Without a return their frame is there as long as it takes. */
	weir_coro_exit();
}

static void
cleanups_run_at_each_end(void **state)
{
	struct weir_coro *coro;

	start(1, 0, 0);
	held = nb_given_back = 0;
	coro = made(holds_three);
	assert_int_equal(run_to_end(coro), 1);
	assert_int_equal(held, 0);
	assert_int_equal(nb_given_back, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(given_back[i], 2 - i);
}

static struct thing kept[3]; /* not on the stack: it is there when the coroutine has returned */

static void
returns_with_three(void)
{
	for (int i = 0; i < 3; i++)
		take(&kept[i], i);
	weir_coro_cleanup_pop(false);
	give_back(&kept[2]);
	weir_coro_cleanup_pop(true);
	take(&kept[2], 5);
}

static void
cleanups_run_when_it_returns(void **state)
{
	const int order[] = {2, 1, 5, 0};

	start(1, 0, 0);
	held = nb_given_back = 0;
	run_to_end(made(returns_with_three));
	assert_int_equal(held, 0);
	assert_int_equal(nb_given_back, LENGTH(order));
	assert_memory_equal(given_back, order, sizeof(order));
}

static struct weir_coro_cleanup_entry late;
static unsigned int late_runs, inner_yields;

static void
count_late(void *arg)
{
	late_runs++;
}

/* Yields, registers another one, and even ends the coroutine, all while it ends. */
static void
difficult(void *arg)
{
	for (int i = 0; i < 3; i++)
		inner_yields += weir_coro_yield();
	late = (struct weir_coro_cleanup_entry){.run = count_late};
	weir_coro_cleanup_push(&late);
	weir_coro_exit();
}

static void
ends_with_difficulty(void)
{
	struct weir_coro_cleanup_entry first = {.run = count_late}, entry = {.run = difficult};

	weir_coro_cleanup_push(&first);
	weir_coro_cleanup_push(&entry);
	weir_coro_yield();
	weir_coro_exit();
}

static void
cleanups_may_yield(void **state)
{
	struct weir_coro *coro;

	start(1, 0, 0);
	late_runs = inner_yields = 0;
	coro = made(ends_with_difficulty);
	weir_coro_resume(coro);
	assert_int_equal(weir_coro_cancel(coro), 0);
	assert_int_equal(weir_coro_cancel(coro), 0); /* twice is once */
	assert_int_equal(run_to_end(coro), 4);
	assert_int_equal(late_runs, 2);
	assert_int_equal(inner_yields, 3); /* cancelled for good */
}

static void
ignores_it(void)
{
	for (int i = 0; i < 5; i++)
		passed += weir_coro_yield() && weir_coro_maybe_yield();
}

static void
a_cancelled_one_may_go_on(void **state)
{
	struct weir_coro *coro;

	start(1, UINT64_MAX / 2, 0);
	coro = made(ignores_it);
	weir_coro_resume(coro);
	passed = 0;
	weir_coro_cancel(coro);
	run_to_end(coro);
	assert_int_equal(passed, 5);
	weir_coro_destroy(coro);
	/* Who gets its place is not. */
	coro = made(ignores_it);
	passed = 0;
	run_to_end(coro);
	assert_int_equal(passed, 0);
}

static void
outside(void **state)
{
	start(1, 0, 0);
	assert_false(weir_coro_self_cancelled());
	assert_int_equal(weir_coro_join(made(yields_once)), -EPERM);
	assert_int_equal(weir_coro_cancel(NULL), -EINVAL);
}

static void
takes_two(void)
{
	struct thing first, second;

	take(&first, 1);
	take(&second, 2);
	weir_coro_maybe_yield();
	weir_coro_cleanup_pop(true);
	weir_coro_cleanup_pop(true);
	/* There are no more of its own. */
	weir_coro_cleanup_pop(true);
}

/* The same code, in a coroutine and outside: who registered them each takes back its own. */
static void
cleanups_outside(void **state)
{
	static const int order[] = {2, 1, 2, 1, 100};
	struct weir_coro *coro;
	struct thing thing;

	start(1, 0, 0);
	held = nb_given_back = 0;
	coro = made(takes_two);
	weir_coro_resume(coro);
	takes_two();
	assert_int_equal(held, 2);
	take(&thing, 100);
	run_to_end(coro);
	assert_int_equal(held, 1);
	weir_coro_cleanup_pop(true);
	assert_int_equal(nb_given_back, LENGTH(order));
	assert_memory_equal(given_back, order, sizeof(order));
	take(&thing, 7);
	weir_coro_cleanup_pop(false);
	weir_coro_cleanup_pop(true);
	assert_int_equal(held, 1);
	free(thing.memory);
}

static void
pops_none(void)
{
	weir_coro_cleanup_pop(true);
	weir_coro_cleanup_pop(false);
	passed++;
}

static void
popping_none_is_nothing(void **state)
{
	start(1, 0, 0);
	passed = 0;
	run_to_end(made(pops_none));
	assert_int_equal(passed, 1);
}

static bool busy, told;

static void
stays_until_cancelled(void)
{
	/* By then it knows that nothing comes for long, and lets many checks pass. */
	for (unsigned int i = 0; i < 100000; i++)
		CHECK(!weir_coro_maybe_yield());
	__atomic_store_n(&busy, true, __ATOMIC_RELEASE);
	for (unsigned int after = 0; !weir_coro_maybe_yield();) {
		/* At once, not when it happens to look at the clock. */
		after += __atomic_load_n(&told, __ATOMIC_ACQUIRE);
		CHECK(after <= 1);
	}
	CHECK(weir_coro_self_cancelled());
}

static void *
resume_it(void *arg)
{
	weir_coro_resume(arg);
	CHECK(!weir_coro_has_exited(arg));
	weir_coro_resume(arg);
	return NULL;
}

/* While it runs elsewhere, in a slice that has no end. */
static void
from_another_thread(void **state)
{
	struct weir_coro *coro;
	pthread_t thread;

	start(1, UINT64_MAX / 2, 0);
	coro = made(stays_until_cancelled);
	busy = told = false;
	assert_int_equal(pthread_create(&thread, NULL, resume_it, coro), 0);
	while (!__atomic_load_n(&busy, __ATOMIC_ACQUIRE))
		;
	assert_int_equal(weir_coro_cancel(coro), 0);
	__atomic_store_n(&told, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	assert_true(weir_coro_has_exited(coro));
}

/* What is within another one: ended first, by a clean-up of it. */
static void
end_within(void *arg)
{
	struct weir_coro *within = arg;

	weir_coro_cancel(within);
	run_to_end(within);
	CHECK(weir_coro_destroy(within) == 0);
}

static void
has_one_within(void)
{
	struct weir_coro *within = made(has_points);
	struct weir_coro_cleanup_entry entry = {.run = end_within, .arg = within};

	weir_coro_cleanup_push(&entry);
	while (!weir_coro_has_exited(within)) {
		weir_coro_resume(within);
		if (weir_coro_yield())
			weir_coro_exit();
	}
	weir_coro_cleanup_pop(true);
}

static void
with_one_within(void **state)
{
	start(3, 0, 0);
	for (unsigned int resumes = 0; resumes <= POINTS; resumes++) {
		struct weir_coro *coro = made(has_one_within);

		to_join = made(yields_once);
		held = nb_given_back = 0;
		passed = 0;
		for (unsigned int i = 0; i < resumes; i++)
			weir_coro_resume(coro);
		assert_false(weir_coro_has_exited(coro));
		assert_int_equal(passed, resumes > 0 ? resumes - 1 : 0);
		nb_given_back = 0;
		assert_int_equal(weir_coro_cancel(coro), 0);
		weir_coro_resume(coro);
		assert_true(weir_coro_has_exited(coro));
		assert_int_equal(held, 0);
		weir_coro_destroy(coro);
		weir_coro_destroy(to_join);
		none_left();
	}
}

static int join_rc;
static struct weir_coro *joiner;

static void
joins(void)
{
	join_rc = 1;
	join_rc = weir_coro_join(to_join);
}

static void
joining(void **state)
{
	start(4, 0, 0);
	/* One that runs for two more turns. */
	to_join = made(yields_once);
	joiner = made(joins);
	weir_coro_resume(joiner);
	weir_coro_resume(to_join);
	weir_coro_resume(joiner);
	assert_int_equal(join_rc, 1);
	weir_coro_resume(to_join);
	weir_coro_resume(joiner);
	assert_true(weir_coro_has_exited(joiner));
	assert_int_equal(join_rc, 0);
	weir_coro_destroy(joiner);
	/* One that has exited: without waiting. */
	joiner = made(joins);
	assert_int_equal(run_to_end(joiner), 1);
	assert_int_equal(join_rc, 0);
	weir_coro_destroy(joiner);
	/* One that was destroyed before. */
	weir_coro_destroy(to_join);
	joiner = made(joins);
	assert_int_equal(run_to_end(joiner), 1);
	assert_int_equal(join_rc, -EINVAL);
	weir_coro_destroy(joiner);
	/* One that is destroyed meanwhile. */
	to_join = made(yields_once);
	joiner = made(joins);
	weir_coro_resume(joiner);
	weir_coro_destroy(to_join);
	assert_int_equal(run_to_end(joiner), 1);
	assert_int_equal(join_rc, 0);
	weir_coro_destroy(joiner);
	/* Cancelled. */
	to_join = made(yields_once);
	joiner = made(joins);
	weir_coro_resume(joiner);
	weir_coro_cancel(joiner);
	weir_coro_resume(joiner);
	assert_true(weir_coro_has_exited(joiner));
	assert_int_equal(join_rc, -ECANCELED);
	weir_coro_destroy(joiner);
	/* Itself. */
	joiner = to_join = made(joins);
	assert_int_equal(run_to_end(joiner), 1);
	assert_int_equal(join_rc, -EDEADLK);
}

static void
joins_holding(void)
{
	weir_coro_hold();
	join_rc = weir_coro_join(to_join);
	weir_coro_release();
}

/* It would wait forever. */
static void
joining_with_a_lock(void **state)
{
	start(2, 0, 0);
	to_join = made(yields_once);
	assert_int_equal(run_to_end(made(joins_holding)), 1);
	assert_int_equal(join_rc, -EDEADLK);
	assert_int_equal(weir_coro_misuse(WEIR_CORO_MISUSE_HOLDING), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(at_every_point, finish),
		cmocka_unit_test_teardown(not_at_all, finish),
		cmocka_unit_test_teardown(with_one_within, finish),
		cmocka_unit_test_teardown(cleanups_run_at_each_end, finish),
		cmocka_unit_test_teardown(cleanups_run_when_it_returns, finish),
		cmocka_unit_test_teardown(cleanups_may_yield, finish),
		cmocka_unit_test_teardown(a_cancelled_one_may_go_on, finish),
		cmocka_unit_test_teardown(outside, finish),
		cmocka_unit_test_teardown(cleanups_outside, finish),
		cmocka_unit_test_teardown(popping_none_is_nothing, finish),
		cmocka_unit_test_teardown(from_another_thread, finish),
		cmocka_unit_test_teardown(joining, finish),
		cmocka_unit_test_teardown(joining_with_a_lock, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
