/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WATCHDOG_TEST_H
#define WATCHDOG_TEST_H

/* Coroutines that do not yield, until the watchdog told of them. */

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "coro_private.h"
#include "coro_test.h"

#define MS       1000000ull
#define HOUR     (3600000 * MS)
#define STALL_MS 250   /* nobody is blamed that the CPU was taken away: never for so long */
#define PATIENT  20000 /* ms: not a measure, an end to a test that fails */

static uint64_t slice;

/* What was told. */
static struct weir_coro_overrun last;
static unsigned int nb_told, nb_answers;
static uint64_t sum_told;
static int answers = -1;
static void *handler_caller;

static inline void
on_signal(int number)
{
	CHECK(number == SIGURG);
	__atomic_store_n(&handler_caller, __builtin_return_address(0), __ATOMIC_RELAXED);
	if (weir_coro_watchdog_report(answers))
		__atomic_fetch_add(&nb_answers, 1, __ATOMIC_RELEASE);
}

static inline void
on_overrun(void *arg, const struct weir_coro_overrun *overrun)
{
	const struct weir_coro_watchdog_param another = {0};

	CHECK(arg == &nb_told);
	CHECK(weir_coro_watchdog_stop() == -EDEADLK);
	CHECK(weir_coro_watchdog_start(&another) == -EDEADLK);
	CHECK(overrun->ran_ns < 2 * PATIENT * MS);
	last = *overrun;
	sum_told += 1 + overrun->untold;
	__atomic_fetch_add(&nb_told, 1, __ATOMIC_RELEASE);
}

static inline void
handle_signal(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART};

	assert_int_equal(sigaction(SIGURG, &action, NULL), 0);
}

static inline int
set_up(void **state)
{
	slice = weir_base_ns_to_cycles(50000);
	start(16, slice, 4);
	handle_signal();
	answers = memfd_create("answers", MFD_CLOEXEC);
	assert_true(answers >= 0);
	nb_told = nb_answers = 0;
	sum_told = 0;
	memset(&last, 0, sizeof(last));
	return 0;
}

static inline int
tear_down(void **state)
{
	close(answers);
	return finish(state);
}

static inline struct weir_coro_watchdog_param
param(uint64_t least_ns, uint64_t interval_ns)
{
	return (struct weir_coro_watchdog_param){
		.factor = 2,
		.least_ns = least_ns,
		.period_ns = MS / 5,
		.interval_ns = interval_ns,
		.signal = SIGURG,
		.report = on_overrun,
		.arg = &nb_told,
	};
}

static inline void
watch_as(struct weir_coro_watchdog_param watched)
{
	assert_int_equal(weir_coro_watchdog_start(&watched), 0);
}

static inline void
watch(uint64_t least_ns, uint64_t interval_ns)
{
	watch_as(param(least_ns, interval_ns));
}

static inline void
watch_without_signal(uint64_t least_ns, uint64_t interval_ns)
{
	struct weir_coro_watchdog_param watched = param(least_ns, interval_ns);

	watched.signal = 0;
	watch_as(watched);
}

/* TSan lets signals through in functions that it knows only. */
static inline void
breathe(void)
{
	if (WITH_SANITIZER)
		usleep(100);
	else
		__asm__ volatile("" : : : "memory");
}

static inline bool
is_late(uint64_t since)
{
	return weir_base_cycles_to_ns(weir_base_cycles() - since) > PATIENT * MS;
}

/* So long the coroutine does not yield. */
static unsigned int wanted_answers;
static uint64_t wanted_overruns;

static __attribute__((noinline, unused)) void
loops_until_told(void)
{
	uint64_t since = weir_base_cycles();

	while ((weir_coro_watchdog_overruns() < wanted_overruns ||
		       __atomic_load_n(&nb_answers, __ATOMIC_ACQUIRE) < wanted_answers) &&
		!is_late(since))
		breathe();
	__asm__ volatile("" : : : "memory");
}

static inline void
overruns(void)
{
	loops_until_told();
	CHECK(!weir_coro_yield());
	__asm__ volatile("" : : : "memory");
}

static inline void
expect_more(unsigned int nb_overruns, unsigned int nb_more_answers)
{
	wanted_overruns = weir_coro_watchdog_overruns() + nb_overruns;
	wanted_answers = __atomic_load_n(&nb_answers, __ATOMIC_ACQUIRE) + nb_more_answers;
}

/* The callback is called after the signal is sent. */
static inline void
await_some(const unsigned int *counter, unsigned int wanted)
{
	uint64_t since = weir_base_cycles();

	while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < wanted && !is_late(since))
		usleep(1000);
}

static inline void
await(const unsigned int *counter, unsigned int wanted)
{
	await_some(counter, wanted);
	assert_int_equal(__atomic_load_n(counter, __ATOMIC_ACQUIRE), wanted);
}

static volatile bool enough;

static inline void
behaves(void)
{
	while (!enough)
		weir_coro_maybe_yield();
}

static inline void
is_short(void)
{
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
