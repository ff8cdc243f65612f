/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLICES_H
#define SLICES_H

/* How long are a coroutine's time slices? */

#include "coro_test.h"
#include "random.h"

/* How much longer all of it takes than it says, where clocks show time in large steps or threads wait for each other. */
static unsigned int stretch = 1;

static inline uint64_t
ns(uint64_t nanoseconds)
{
	return weir_base_ns_to_cycles(nanoseconds * stretch);
}

static inline int
compare_cycles(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Functions whose slices are measured go on until this is set. */
static bool stop;

static inline struct weir_coro *
made_to_go_on(weir_coro_run_t run)
{
	stop = false;
	return made(run);
}

static inline void
stop_and_destroy(struct weir_coro *coro)
{
	stop = true;
	run_to_end(coro);
	assert_int_equal(weir_coro_destroy(coro), 0);
}

/* Shortest first, in cycles from a resumption to when it yields: all that it costs others, who take @pause between two. */
static inline void
measure_slices(struct weir_coro *coro, uint64_t *cycles, size_t nb, uint64_t pause)
{
	for (size_t i = 0; i < nb; i++) {
		uint64_t begin;

		work_for(pause);
		begin = weir_base_cycles();
		weir_coro_resume(coro);
		cycles[i] = weir_base_cycles() - begin;
	}
	qsort(cycles, nb, sizeof(cycles[0]), compare_cycles);
}

/* Those of a new one, from the first on. */
static inline void
measure_first_slices(weir_coro_run_t run, uint64_t *cycles, size_t nb)
{
	struct weir_coro *coro = made_to_go_on(run);

	measure_slices(coro, cycles, nb, 0);
	stop_and_destroy(coro);
}

#define CLOCK_LOOKS 1001

/*
 * What one look at the clock takes, or how far it steps, counts in each piece of work and each check; up to 50 ns do. Timers at 10 MHz step
 * by more, and emulators take more. Half of the looks, not the quickest: emulators are as slow as that at times.
 */
static inline int
measure_clock(void **state)
{
	static uint64_t steps[CLOCK_LOOKS];
	uint64_t last = weir_base_cycles(), step;

	for (int i = 0; i < CLOCK_LOOKS; i++) {
		uint64_t now;

		do
			now = weir_base_cycles();
		while (now == last);
		steps[i] = now - last;
		last = now;
	}
	qsort(steps, CLOCK_LOOKS, sizeof(steps[0]), compare_cycles);
	step = weir_base_cycles_to_ns(steps[CLOCK_LOOKS / 2]);
	stretch = step <= 50 ? 1 : (unsigned int)step / 25;
	if (stretch > 1)
		print_message("the clock steps by %u ns: all takes %u times as long\n",
			(unsigned int)step, stretch);
	return 0;
}

#endif
