/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLICE_TEST_H
#define SLICE_TEST_H

/* Time slices as they are on this machine: what runs in them, how long they were, and tries. */

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slices.h"

#define SLICES         3000
#define TRIES          10 /* of each case */
#define TRIES_EMULATED 30 /* little takes as long there as it did the time before */

/* Tries that say nothing, at most: those of emulators take long, and mostly they do. */
#define OTHERS          50
#define OTHERS_EMULATED 5

/* What a try ends with, beside 0 and 1; and so Meson has it of a whole program. */
#define SAYS_NOTHING 77

/* Without the clock: regular to the cycle, more or less. */
static __attribute__((noinline, unused)) void
work_regularly(unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++)
		__asm__ volatile("" : "+r"(i));
}

static unsigned int regular_work;

/* About 50 ns. */
static inline void
calibrate(void)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t begin = weir_base_cycles(), took;

		work_regularly(100000);
		took = weir_base_cycles() - begin;
		best = took < best ? took : best;
	}
	regular_work = (unsigned int)(100000 * ns(50) / best);
}

static inline void
works_regularly(void)
{
	while (!stop) {
		work_regularly(regular_work);
		weir_coro_maybe_yield();
	}
}

static uint64_t slices[SLICES];

/* What a slice costs others beyond what runs in it: two switches and two looks at the clock, which emulators and sanitizers make slow. */
static uint64_t switch_cycles;

static inline void
yields_at_once(void)
{
	while (!stop)
		weir_coro_yield();
}

static inline void
measure_switch(void)
{
	measure_first_slices(yields_at_once, slices, SLICES);
	switch_cycles = slices[SLICES / 2];
}

static inline void
tell_slices(uint64_t slice)
{
	print_message("slice %u ns, switches %u ns: median %u, 10th percentile %u, 90th %u ns\n",
		(unsigned int)weir_base_cycles_to_ns(slice),
		(unsigned int)weir_base_cycles_to_ns(switch_cycles),
		(unsigned int)weir_base_cycles_to_ns(slices[SLICES / 2]),
		(unsigned int)weir_base_cycles_to_ns(slices[SLICES / 10]),
		(unsigned int)weir_base_cycles_to_ns(slices[SLICES / 10 * 9]));
}

static bool says_nothing; /* this try, whatever it found */

static inline int
run_one(const struct CMUnitTest *test)
{
	const struct CMUnitTest tests[] = {*test};

	return cmocka_run_group_tests(tests, measure_clock, NULL);
}

/*
 * Times are those of a machine that does nothing else: in some try it does not. What is wrong is wrong each time. A try in which not even
 * plain work was regular is none; where most are so, plain work of the others was regular by chance, and what they found says nothing either.
 * @return 0, 1, or SAYS_NOTHING
 */
static inline int
tried(const struct CMUnitTest *test)
{
	const unsigned int most = emulated() ? TRIES_EMULATED : TRIES;
	const unsigned int most_others = emulated() ? OTHERS_EMULATED : OTHERS;
	unsigned int tries = 0, others = 0;

	while (tries < most && others < most_others) {
		pid_t child = fork();
		int status;

		if (child == 0)
			exit(run_one(test) != 0 ? 1 : says_nothing ? SAYS_NOTHING : 0);
		if (child < 0 || waitpid(child, &status, 0) != child)
			return 1;
		if (status == 0)
			return 0;
		if (WIFEXITED(status) && WEXITSTATUS(status) == SAYS_NOTHING)
			others++;
		else
			tries++;
	}
	return tries > others ? 1 : SAYS_NOTHING;
}

/* @return what a program is to end with */
static inline int
try_each(const struct CMUnitTest *tests, size_t nb)
{
	int rc = 0;

	for (size_t i = 0; i < nb; i++) {
		int one = tried(&tests[i]);

		rc = one == 0 || rc == 1 ? rc : one;
	}
	return rc;
}

#endif
