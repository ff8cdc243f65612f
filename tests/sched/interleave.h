/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_INTERLEAVE_H
#define SCHED_INTERLEAVE_H

/*
 * Real code of two or three actors, run in every order that their atomic operations can have. To be included before the code: the
 * compiler's atomic builtins become points at which another actor may go on. Actors are coroutines of one thread; a run follows a list
 * of choices, the next run changes the last one that can be, until there are none left.
 *
 * It finds every error of logic, for all memory is seen in one order. What comes of too weak an order of memory it does not find;
 * the thread sanitizer does, in the attack.
 *
 * Who spins (rte_pause()) looks once more, and is not asked again before somebody else made a step; when all spin, that is a deadlock.
 */

#include "sched_test.h"

#include <limits.h>

#include <rte_pause.h>

#include "weir_coro.h"

#define INTERLEAVE_ACTORS_MAX 3
#define INTERLEAVE_DEPTH_MAX  1024

struct interleave {
	void (*init)(void); /* before each run */
	unsigned int nb_actors;
	void (*actors[INTERLEAVE_ACTORS_MAX])(void);
	void (*check)(void); /* after each run */
};

struct interleave_choice {
	uint8_t taken; /* which one of those that could go on */
	uint8_t nb;
};

static struct interleave_choice interleave_choices[INTERLEAVE_DEPTH_MAX];
static bool interleave_spins[INTERLEAVE_ACTORS_MAX];
/* Steps of all, of each, and of others when one spun last. */
static unsigned int interleave_steps, interleave_own[INTERLEAVE_ACTORS_MAX],
	interleave_others[INTERLEAVE_ACTORS_MAX];
static unsigned int interleave_actor;

/* Before an atomic operation. */
static void
interleave_point(void)
{
	if (weir_coro_self() != NULL)
		weir_coro_yield();
}

static inline void
interleave_pause(void)
{
	unsigned int actor = interleave_actor, others = interleave_steps - interleave_own[actor];

	interleave_spins[actor] = interleave_others[actor] == others;
	interleave_others[actor] = others;
	interleave_point();
}

/* One run. @depth: how many choices are given; returns how many there were */
static unsigned int
interleave_run(const struct interleave *interleave, unsigned int given)
{
	struct weir_coro *coros[INTERLEAVE_ACTORS_MAX];
	unsigned int depth = 0;

	interleave->init();
	interleave_steps = 0;
	for (unsigned int i = 0; i < interleave->nb_actors; i++) {
		coros[i] = weir_coro_create(interleave->actors[i]);
		CHECK(coros[i] != NULL);
		interleave_spins[i] = false;
		interleave_own[i] = 0;
		interleave_others[i] = UINT_MAX;
	}
	for (;; depth++) {
		unsigned int can[INTERLEAVE_ACTORS_MAX], nb = 0, nb_alive = 0;

		for (unsigned int i = 0; i < interleave->nb_actors; i++) {
			if (weir_coro_has_exited(coros[i]))
				continue;
			nb_alive++;
			if (!interleave_spins[i])
				can[nb++] = i;
		}
		if (nb_alive == 0)
			break;
		CHECK(nb > 0); /* a deadlock */
		CHECK(depth < INTERLEAVE_DEPTH_MAX);
		if (depth >= given)
			interleave_choices[depth].taken = 0;
		interleave_choices[depth].nb = (uint8_t)nb;
		interleave_actor = can[interleave_choices[depth].taken];
		memset(interleave_spins, 0, sizeof(interleave_spins));
		interleave_steps++;
		interleave_own[interleave_actor]++;
		weir_coro_resume(coros[interleave_actor]);
	}
	for (unsigned int i = 0; i < interleave->nb_actors; i++)
		weir_coro_destroy(coros[i]);
	interleave->check();
	return depth;
}

/* All runs. @return how many there were */
static uint64_t
interleave_all(const struct interleave *interleave)
{
	unsigned int given = 0;
	uint64_t nb = 0;

	assert_int_equal(
		weir_coro_init(64 * 1024, 0, 0, INTERLEAVE_ACTORS_MAX, INT64_MAX, 0, -1), 0);
	do {
		given = interleave_run(interleave, given);
		nb++;
		while (given > 0 && interleave_choices[given - 1].taken + 1u ==
					    interleave_choices[given - 1].nb)
			given--;
		if (given > 0)
			interleave_choices[given - 1].taken++;
	} while (given > 0);
	weir_coro_cleanup();
	print_message("  %" PRIu64 " orders\n", nb);
	return nb;
}

/* A macro is not expanded within itself: these are the compiler's, after a point. */
#define __atomic_load_n(...)     (interleave_point(), __atomic_load_n(__VA_ARGS__))
#define __atomic_store_n(...)    (interleave_point(), __atomic_store_n(__VA_ARGS__))
#define __atomic_exchange_n(...) (interleave_point(), __atomic_exchange_n(__VA_ARGS__))
#define __atomic_compare_exchange_n(...)                                                           \
	(interleave_point(), __atomic_compare_exchange_n(__VA_ARGS__))
#define __atomic_fetch_add(...) (interleave_point(), __atomic_fetch_add(__VA_ARGS__))
#define __atomic_fetch_sub(...) (interleave_point(), __atomic_fetch_sub(__VA_ARGS__))
#define __atomic_fetch_or(...)  (interleave_point(), __atomic_fetch_or(__VA_ARGS__))
#define __atomic_fetch_and(...) (interleave_point(), __atomic_fetch_and(__VA_ARGS__))
#define __atomic_add_fetch(...) (interleave_point(), __atomic_add_fetch(__VA_ARGS__))
#define __atomic_sub_fetch(...) (interleave_point(), __atomic_sub_fetch(__VA_ARGS__))
#define rte_pause()             interleave_pause()

#endif
