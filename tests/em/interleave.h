/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INTERLEAVE_H
#define INTERLEAVE_H

/*
 * Every interleaving of a few threads: each is a coroutine that hands over before each access that others can see. Which one goes
 * next is tried out depth first: a run follows the choices of the one before, up to the last that has an alternative left.
 *
 * Where these are too many: all in which at most so many times a thread was interrupted that could have gone on.
 *
 * Accesses are atomic and take effect in one order; what weaker memory would do more is not seen here.
 *
 * To be included before what is tested, which calls EM_STEP().
 */

#include <stdint.h>
#include <string.h>

#include "weir_base_sanitizer.h"
#include "weir_coro.h"
#include "weir_coro_fast.h"

/* The thread sanitizer takes a hundred times as long, and sees nothing here: these are no threads. */
#ifdef WEIR_BASE_TSAN
#define IL_FEW 2
#else
#define IL_FEW 0
#endif

#define IL_THREADS_MAX 4
#define IL_STEPS_MAX   256

struct il {
	unsigned int nb;
	void (*run[IL_THREADS_MAX])(void);
	void (*begin)(void);             /* before each run */
	void (*end)(void);               /* after it: is all as it should be? */
	unsigned int most_interruptions; /* 0: any number */
	uint64_t nb_runs;
	/* the choices of this run: index among the threads that could go, and how many could */
	uint8_t choice[IL_STEPS_MAX], choices[IL_STEPS_MAX];
	unsigned int nb_steps;
	bool inside, waits[IL_THREADS_MAX];
	unsigned int current;
};

static struct il il;

/* Others may go first. */
static inline void
il_step(void)
{
	if (il.inside)
		weir_coro_yield();
}

/* This one can only go on after another one did something. */
static inline void
il_wait(void)
{
	if (!il.inside)
		abort();
	il.waits[il.current] = true;
	weir_coro_yield();
}

#define EM_STEP() il_step()
#define EM_WAIT() il_wait()

static inline void
il_once(void)
{
	struct weir_coro *threads[IL_THREADS_MAX];
	unsigned int step = 0, nb_interruptions = 0;

	memset(il.waits, 0, sizeof(il.waits));
	il.begin();
	for (unsigned int i = 0; i < il.nb; i++) {
		threads[i] = weir_coro_create(il.run[i]);
		assert_non_null(threads[i]);
	}
	for (;; step++) {
		uint8_t ready[IL_THREADS_MAX], nb = 0, alive = 0;
		bool current = false; /* can go on; it is the first choice then */

		for (unsigned int i = 0; i < il.nb; i++) {
			bool exited = weir_coro_has_exited(threads[i]);

			alive += !exited;
			if (exited || il.waits[i])
				continue;
			ready[nb++] = (uint8_t)i;
			if (step > 0 && i == il.current) {
				ready[nb - 1] = ready[0];
				ready[0] = (uint8_t)i;
				current = true;
			}
		}
		if (alive == 0)
			break;
		assert_int_not_equal(nb, 0); /* or all wait for each other */
		assert_true(step < IL_STEPS_MAX);
		if (current && il.most_interruptions > 0 &&
			nb_interruptions == il.most_interruptions)
			nb = 1;
		if (step >= il.nb_steps)
			il.choice[step] = 0;
		nb_interruptions += current && il.choice[step] > 0;
		il.choices[step] = nb;
		il.current = ready[il.choice[step]];
		memset(il.waits, 0, sizeof(il.waits));
		il.inside = true;
		weir_coro_resume(threads[il.current]);
		il.inside = false;
	}
	il.nb_steps = step;
	for (unsigned int i = 0; i < il.nb; i++)
		weir_coro_destroy(threads[i]);
	il.end();
	il.nb_runs++;
}

/* Run all interleavings of il.run: at least so many. */
static inline void
il_all(uint64_t least)
{
	if (IL_FEW > 0)
		il.most_interruptions = IL_FEW;
	assert_int_equal(weir_coro_init(32768, 0, 0, IL_THREADS_MAX, 0, 0, -1), 0);
	il.nb_runs = 0;
	il.nb_steps = 0;
	do {
		il_once();
		while (il.nb_steps > 0 &&
			il.choice[il.nb_steps - 1] + 1 == il.choices[il.nb_steps - 1])
			il.nb_steps--;
		if (il.nb_steps > 0)
			il.choice[il.nb_steps - 1]++;
	} while (il.nb_steps > 0);
	weir_coro_cleanup();
	print_message("%lu interleavings\n", (unsigned long)il.nb_runs);
	assert_true(il.nb_runs >= (IL_FEW > 0 ? 2 : least));
}

#endif
