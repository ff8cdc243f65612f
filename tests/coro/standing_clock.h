/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STANDING_CLOCK_H
#define STANDING_CLOCK_H

/*
 * lib/coro/slice.c and what it is made with, by themselves, with a clock that stands still but where the test moves it, so that each look can be
 * counted and each slice is what it is. To be included before all else. Times are in ns.
 */

#include <math.h>

#include <weir_base.h>

static uint64_t time_now;
static unsigned int nb_looks;

static inline uint64_t
look_at_clock(void)
{
	nb_looks++;
	return time_now * 2;
}

#define weir_base_cycles look_at_clock
#include "own_thread.h"

#include "../base/random.h"

#include "../../lib/coro/always.c"
#include "../../lib/coro/pace.c"
#include "../../lib/coro/slice.c"

/* What it needs of the rest. */
uint64_t
weir_base_ns_to_cycles(uint64_t ns)
{
	return ns * 2;
}

struct coro_class coro_classes[CORO_CLASSES_MAX];

struct coro_cache *
coro_cache_of(struct coro_class *class)
{
	return NULL;
}

#define SLICE 10000 /* ns; a cycle is half of one */

static uint64_t random_state;
static uint64_t nb_checks;

static inline double
uniform(void)
{
	return ((double)(random_next(&random_state) >> 11) + 0.5) / 0x1p53;
}

static inline double
exponential_200(void)
{
	return -200 * log(uniform());
}

static inline double
phases(void)
{
	return nb_checks % 820 < 800 ? 50 : 2000;
}

static double regular_ns;

static inline double
regular(void)
{
	return regular_ns;
}

static struct weir_coro_block block;
static unsigned int nb_lean; /* looks by a check that does nothing else */

/* As weir_coro_maybe_yield() does it. */
static inline bool
check(void)
{
	const unsigned int looks = nb_looks;
	const bool lean = (int32_t)block.checks_left < 0;
	bool over;

	nb_checks++;
	over = weir_coro_slice_check(&block);
	nb_lean += lean && !over && nb_looks == looks + 1;
	return over;
}

/* As weir_coro_resume() does it; what the tests do besides comes from outside of it. */
static inline void
resume(void)
{
	block.resumes++;
	weir_coro_slice_enter(&block, weir_coro_thread_here());
	weir_coro_thread_now()->current = NULL;
}

static inline void
begin_block(weir_coro_run_t run)
{
	memset(&block, 0, sizeof(block));
	block.run = run;
	coro_slice_reset(&block, SLICE * 2);
}

/* Addresses only: nobody calls them. */
static inline void
one_function(void)
{
}

static inline void
another_function(void)
{
	nb_checks++;
}

static inline int
reset(void **state)
{
	memset(paces, 0, sizeof(paces));
	random_state = 88172645463325252u;
	nb_checks = 0;
	weir_coro_thread.ticked = false;
	begin_block(one_function);
	return 0;
}

#endif
