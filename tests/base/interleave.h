/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_BASE_INTERLEAVE_H
#define WEIR_TESTS_BASE_INTERLEAVE_H

/*
 * Real code of a few actors, run in every order that their steps can have. To be included before the code: the compiler's atomic
 * builtins become points at which another actor may go on. With INTERLEAVE_BY_HAND defined they do not, and the code says itself where
 * its points are, by interleave_point(), and interleave_pause() where it waits.
 *
 * Actors are coroutines of one thread; a run follows a list of choices, the next run changes the last one that can be, until
 * there are none left. Where these are too many: all runs in which at most so many times an actor is interrupted that could go on.
 *
 * It finds every error of logic, for all memory is seen in one order. What comes of too weak an order of memory it does not find;
 * the thread sanitizer does, under load.
 *
 * Who spins (rte_pause()) looks once more, and is not asked again before somebody else made a step; when all spin, that is a deadlock.
 */

#include "cmocka_all.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <rte_pause.h>

#include "weir_base_sanitizer.h"
#include "weir_coro.h"

#define INTERLEAVE_ACTORS_MAX 4
#define INTERLEAVE_DEPTH_MAX  4096

/*
 * How many interruptions at most, also where a test allows more; 0: as it says. The thread sanitizer takes a hundred times as long, and sees
 * nothing here: these are no threads. The address sanitizer sees the same places in a few orders as in all of them, which are for when
 * there is time: WEIR_TEST_LONG.
 */
static inline unsigned int
interleave_few(void)
{
#if defined(WEIR_BASE_TSAN)
	return 2;
#elif defined(WEIR_BASE_ASAN)
	return getenv("WEIR_TEST_LONG") != NULL ? 0 : 2;
#else
	return 0;
#endif
}

struct interleave {
	void (*init)(void); /* before each run */
	unsigned int nb_actors;
	void (*actors[INTERLEAVE_ACTORS_MAX])(void);
	void (*check)(void);             /* after each run */
	unsigned int most_interruptions; /* 0: any number */
	uint64_t least;                  /* runs that there must be */
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
/* Who made the last step did more than to look whether it still has to wait. Each: that is where it stands. */
static bool interleave_moved, interleave_pauses[INTERLEAVE_ACTORS_MAX];
/* Nobody can interrupt who makes this step: up to its end, or until it waits for another one. */
static bool interleave_straight;
/* An actor makes a step now; who made the last one has said whose the next one is. */
static bool interleave_within, interleave_chosen;
/* This run: its actors, choices that are given, made so far, interruptions that may be (0: any number) and that were. */
static struct weir_coro *interleave_coros[INTERLEAVE_ACTORS_MAX];
static bool interleave_exited[INTERLEAVE_ACTORS_MAX];
static unsigned int interleave_nb_actors, interleave_given, interleave_depth, interleave_most,
	interleave_nb_interruptions;

static inline void
interleave_pause(void)
{
	unsigned int actor = interleave_actor, others = interleave_steps - interleave_own[actor];

	interleave_spins[actor] = interleave_others[actor] == others;
	interleave_others[actor] = others;
	interleave_pauses[actor] = true;
	if (interleave_within)
		weir_coro_yield();
}

/* Who can go on: the one that went last is the first, if it is among them. @return how many */
static inline unsigned int
interleave_who_can(unsigned int *can, unsigned int *nb_alive)
{
	unsigned int nb = 0;

	*nb_alive = 0;
	for (unsigned int i = 0; i < interleave_nb_actors; i++) {
		if (interleave_exited[i])
			continue;
		++*nb_alive;
		if (interleave_spins[i])
			continue;
		can[nb++] = i;
		if (i == interleave_actor) {
			can[nb - 1] = can[0];
			can[0] = i;
		}
	}
	return nb;
}

/* Whose turn it is next, as given or as the first one that can. @return false when nobody is left */
static inline bool
interleave_choose(void)
{
	unsigned int can[INTERLEAVE_ACTORS_MAX], nb_alive, nb = interleave_who_can(can, &nb_alive);
	const bool interrupted = nb > 0 && can[0] == interleave_actor;
	struct interleave_choice *choice = &interleave_choices[interleave_depth];

	if (nb_alive == 0)
		return false;
	assert_int_not_equal(nb, 0); /* a deadlock */
	assert_true(interleave_depth < INTERLEAVE_DEPTH_MAX);
	if (interrupted && interleave_most > 0 && interleave_nb_interruptions == interleave_most)
		nb = 1;
	if (interleave_depth++ >= interleave_given)
		choice->taken = 0;
	choice->nb = (uint8_t)nb;
	interleave_nb_interruptions += interrupted && choice->taken > 0;
	interleave_actor = can[choice->taken];
	interleave_straight =
		nb_alive == 1 ||
		(interleave_most > 0 && interleave_nb_interruptions == interleave_most);
	return true;
}

/* Before an atomic operation: the end of a step. Who goes on itself does so without a switch to the others and back. */
static inline void
interleave_point(void)
{
	const unsigned int actor = interleave_actor;

	if (!interleave_within)
		return;
	interleave_moved = true;
	if (interleave_straight)
		return;
	interleave_choose();
	if (interleave_actor != actor) {
		interleave_chosen = true;
		weir_coro_yield();
		return;
	}
	interleave_steps++;
	interleave_own[actor]++;
}

static inline void
interleave_begin(const struct interleave *interleave, unsigned int given, unsigned int most)
{
	interleave_within = false; /* a test may have failed within a step */
	interleave->init();
	interleave_steps = interleave_depth = interleave_nb_interruptions = 0;
	interleave_nb_actors = interleave->nb_actors;
	interleave_given = given;
	interleave_most = most;
	interleave_actor = UINT_MAX;
	interleave_chosen = false;
	for (unsigned int i = 0; i < interleave->nb_actors; i++) {
		interleave_coros[i] = weir_coro_create(interleave->actors[i]);
		assert_non_null(interleave_coros[i]);
		interleave_spins[i] = interleave_pauses[i] = interleave_exited[i] = false;
		interleave_own[i] = 0;
		interleave_others[i] = UINT_MAX;
	}
}

/* Steps of the actor whose turn it is, until it is another's. Others that spin look again if there is something new to see. */
static inline void
interleave_step(void)
{
	const unsigned int actor = interleave_actor;
	struct weir_coro *coro = interleave_coros[actor];
	bool spins[INTERLEAVE_ACTORS_MAX], spun;

	memcpy(spins, interleave_spins, sizeof(spins));
	memset(interleave_spins, 0, sizeof(interleave_spins));
	interleave_steps++;
	interleave_own[actor]++;
	interleave_moved = !interleave_pauses[actor];
	interleave_pauses[actor] = false;
	interleave_within = true;
	weir_coro_resume(coro);
	interleave_within = false;
	interleave_exited[actor] = weir_coro_has_exited(coro);
	if (interleave_moved || interleave_exited[actor])
		return;
	spun = interleave_spins[actor];
	memcpy(interleave_spins, spins, sizeof(spins));
	interleave_spins[actor] = spun;
}

/* One run. @given: how many choices are given; @most: interruptions, 0: any number; returns how many choices there were */
static inline unsigned int
interleave_run(const struct interleave *interleave, unsigned int given, unsigned int most)
{
	interleave_begin(interleave, given, most);
	while (interleave_chosen || interleave_choose()) {
		interleave_chosen = false;
		interleave_step();
	}
	for (unsigned int i = 0; i < interleave->nb_actors; i++)
		weir_coro_destroy(interleave_coros[i]);
	interleave->check();
	return interleave_depth;
}

/* All runs. */
static inline void
interleave_all(const struct interleave *interleave)
{
	const unsigned int few = interleave_few(), allowed = interleave->most_interruptions;
	const unsigned int most = few > 0 && (allowed == 0 || few < allowed) ? few : allowed;
	unsigned int given = 0;
	uint64_t nb = 0;

	assert_int_equal(
		weir_coro_init(64 * 1024, 0, 0, INTERLEAVE_ACTORS_MAX, INT64_MAX, 0, -1), 0);
	do {
		given = interleave_run(interleave, given, most);
		nb++;
		while (given > 0 && interleave_choices[given - 1].taken + 1u ==
					    interleave_choices[given - 1].nb)
			given--;
		if (given > 0)
			interleave_choices[given - 1].taken++;
	} while (given > 0);
	weir_coro_cleanup();
	print_message("  %" PRIu64 " orders\n", nb);
	assert_true(nb >= (few > 0 ? 2 : interleave->least));
}

#ifndef INTERLEAVE_BY_HAND
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

#endif
