/* SPDX-License-Identifier: BSD-3-Clause */
/* What other threads may ask of a coroutine that runs, and tell it. */
#include "coro_test.h"

#include <pthread.h>
#include <time.h>

static bool stop;
static struct weir_coro *coro;
static pthread_t thread;
static uint64_t nb_checks;

static void *
resumes_until_exited(void *arg)
{
	run_to_end(arg);
	return NULL;
}

/* Irregularly, so that it is looked at the clock all the time. */
static void
checks_until_told(void)
{
	for (nb_checks = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); nb_checks++) {
		work_for(nb_checks * 7919 % 200);
		CHECK(weir_coro_self() == coro);
		weir_coro_maybe_yield();
	}
}

static void
begin_on_another_thread(uint64_t slice)
{
	start(1, slice, 0);
	__atomic_store_n(&stop, false, __ATOMIC_RELAXED);
	coro = made(checks_until_told);
	assert_int_equal(pthread_create(&thread, NULL, resumes_until_exited, coro), 0);
}

static void
end_there(void)
{
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_true(weir_coro_has_exited(coro));
	assert_int_equal(weir_coro_maybe_yield_count(coro), nb_checks);
	assert_int_equal(weir_coro_destroy(coro), 0);
}

#define NAPS_MAX 1000 /* until what is waited for must have come: 10 s */

static void
nap(void)
{
	const struct timespec time = {.tv_nsec = 10000000};

	nanosleep(&time, NULL);
}

/* Does it yield, from now on? */
static bool
begins_to_yield(void)
{
	const uint64_t resumes = weir_coro_resume_count(coro);

	for (int i = 0; i < NAPS_MAX && weir_coro_resume_count(coro) < resumes + 10; i++)
		nap();
	return weir_coro_resume_count(coro) >= resumes + 10;
}

static bool
ceases_to_yield(void)
{
	for (int i = 0; i < NAPS_MAX; i++) {
		const uint64_t resumes = weir_coro_resume_count(coro);

		nap();
		if (weir_coro_resume_count(coro) == resumes)
			return true;
	}
	return false;
}

static uint64_t
ns(uint64_t time)
{
	return weir_base_ns_to_cycles(time);
}

/* Whatever it was: none at all, one that ends tomorrow, a short one. */
static void
its_slice_can_be_changed(void **state)
{
	const uint64_t before[] = {UINT64_MAX, ns(86400000000000), ns(10000), 0};

	for (size_t i = 0; i < LENGTH(before); i++) {
		begin_on_another_thread(before[i]);
		nap();
		weir_coro_set_time_slice(coro, ns(10000));
		CHECK(begins_to_yield());
		weir_coro_set_time_slice(coro, UINT64_MAX);
		CHECK(ceases_to_yield());
		weir_coro_set_time_slice(coro, 0);
		CHECK(begins_to_yield());
		end_there();
		weir_coro_cleanup();
	}
	start(1, 0, 0); /* for the teardown */
}

/* Changed all the time, it yields and counts on. */
static void
its_slice_can_be_changed_often(void **state)
{
	const int nb = emulated() ? 20000 : 500000;

	begin_on_another_thread(ns(10000));
	for (int i = 0; i < nb; i++)
		weir_coro_set_time_slice(coro, ns(5000) + (uint64_t)(i % 5000));
	CHECK(begins_to_yield());
	end_there();
}

/* A number near the truth, not any. */
static void
its_checks_can_be_asked(void **state)
{
	const int nb = emulated() ? 100000 : 5000000;
	uint64_t most = 0;

	begin_on_another_thread(ns(10000));
	CHECK(begins_to_yield());
	for (int i = 0; i < nb; i++) {
		uint64_t checks = weir_coro_maybe_yield_count(coro);

		most = checks > most ? checks : most;
	}
	end_there();
	assert_in_range(most, 1, 2 * nb_checks);
}

/* By mistake, again and again. It does not yield meanwhile: so all of them are refused, without a build with checks. */
static void
it_is_not_resumed_or_destroyed(void **state)
{
	begin_on_another_thread(UINT64_MAX);
	while (weir_coro_resume_count(coro) == 0)
		nap();

	for (int i = 1; i <= 1000; i++) {
		weir_coro_resume(coro);
		assert_int_equal(weir_coro_destroy(coro), -EBUSY);
		assert_int_equal(weir_coro_misuse(WEIR_CORO_MISUSE_RUNNING), 2 * i);
	}
	assert_int_equal(weir_coro_cancel(coro), 0); /* which this one ignores */
	CHECK(begins_to_yield());
	end_there();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(its_slice_can_be_changed, finish),
		cmocka_unit_test_teardown(its_slice_can_be_changed_often, finish),
		cmocka_unit_test_teardown(its_checks_can_be_asked, finish),
		cmocka_unit_test_teardown(it_is_not_resumed_or_destroyed, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
