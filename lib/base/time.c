/* SPDX-License-Identifier: BSD-3-Clause */
/* The time base: its rate, its cost, and conversions to nanoseconds. */
#include "weir_base.h"

#include <pthread.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define NS_PER_S 1000000000ull

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t rate_hz;
static uint64_t read_cost;

static uint64_t
clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t
weir_base_time_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The rate that the hardware states, or 0 when it does not say. */
static uint64_t
stated_hz(void)
{
#if defined(__x86_64__)
	unsigned int denominator, numerator, crystal_hz, unused;

	/* Leaf 0x15: TSC = crystal * numerator / denominator; many parts leave the crystal out. */
	if (__get_cpuid_max(0, NULL) < 0x15)
		return 0;
	__cpuid(0x15, denominator, numerator, crystal_hz, unused);
	if (denominator == 0 || numerator == 0 || crystal_hz == 0)
		return 0;
	return (uint64_t)crystal_hz * numerator / denominator;
#elif defined(__aarch64__)
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
#else
	return NS_PER_S;
#endif
}

/*
 * Cycles that pass in 20 ms of the clock that nobody adjusts. Each end is the
 * tightest of several (clock, counter) pairs, so that an interruption between
 * the two reads does not count.
 */
static void
paired_read(uint64_t *ns, uint64_t *cycles)
{
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i < 16; i++) {
		uint64_t before = weir_base_cycles();
		uint64_t now = clock_ns(CLOCK_MONOTONIC_RAW);
		uint64_t after = weir_base_cycles();

		if (after - before < best) {
			best = after - before;
			*ns = now;
			*cycles = before + (after - before) / 2;
		}
	}
}

static uint64_t
measured_hz(void)
{
	struct timespec pause = {.tv_nsec = 20000000};
	uint64_t start_ns = 0, start = 0, end_ns = 0, end = 0;

	paired_read(&start_ns, &start);
	/* A signal may cut the sleep short; what counts is what the clock says passed. */
	while (nanosleep(&pause, &pause) != 0)
		;
	paired_read(&end_ns, &end);
	if (end_ns <= start_ns)
		return NS_PER_S;
	return (uint64_t)((double)(end - start) * 1e9 / (double)(end_ns - start_ns) + 0.5);
}

static uint64_t
least_read_cost(void)
{
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i < 1000; i++) {
		uint64_t start = weir_base_cycles();
		uint64_t cost = weir_base_cycles() - start;

		if (cost < best)
			best = cost;
	}
	return best;
}

static void
measure_once(void)
{
	rate_hz = stated_hz();
	if (rate_hz == 0)
		rate_hz = measured_hz();
	read_cost = least_read_cost();
}

uint64_t
weir_base_cycles_hz(void)
{
	pthread_once(&once, measure_once);
	return rate_hz;
}

uint64_t
weir_base_cycles_read_cost(void)
{
	pthread_once(&once, measure_once);
	return read_cost;
}

/* value * to / from without the overflow of the product; UINT64_MAX when the result itself does not fit. */
static uint64_t
rescale(uint64_t value, uint64_t to, uint64_t from)
{
	uint64_t whole;
	/* Fits: rates are below 18 GHz, so (from - 1) * to < 2^64 with one of the two being 10^9. */
	uint64_t rest = value % from * to / from;

	if (__builtin_mul_overflow(value / from, to, &whole) ||
		__builtin_add_overflow(whole, rest, &whole))
		return UINT64_MAX;
	return whole;
}

uint64_t
weir_base_cycles_to_ns(uint64_t cycles)
{
	return rescale(cycles, NS_PER_S, weir_base_cycles_hz());
}

uint64_t
weir_base_ns_to_cycles(uint64_t ns)
{
	return rescale(ns, weir_base_cycles_hz(), NS_PER_S);
}
