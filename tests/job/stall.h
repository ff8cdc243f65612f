/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STALL_H
#define STALL_H

/*
 * Races that are forced: the library's sources are compiled once more with places between their steps. At one of them, the first who
 * comes stands still until it is let go; or all who come to any are late at random.
 *
 * Who stands still must not be who lets go: not the test's own thread.
 */

#include <sched.h>
#include <stdint.h>
#include <string.h>

#include "../base/random.h"
#include "job_test.h"

static const char *stall_place; /* NULL: none */
static uint64_t stall_nb, stall_over;
static bool stall_randomly;

void job_stall(const char *where);

static void
stall_late(void)
{
	static __thread uint64_t state;

	if (state == 0)
		state = (uintptr_t)&state ^ weir_base_cycles();
	random_next(&state);
	if (state % 16 == 0)
		sched_yield();
	for (uint64_t i = state % 8 == 1 ? state >> 8 & 511 : 0; i > 0; i--)
		rte_pause();
}

void
job_stall(const char *where)
{
	const char *place = __atomic_load_n(&stall_place, __ATOMIC_ACQUIRE);

	if (place != NULL && strcmp(place, where) == 0 &&
		__atomic_compare_exchange_n(
			&stall_place, &place, NULL, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
		jt_add(&stall_nb, 1);
		while (jt_read(&stall_over) == 0)
			sched_yield();
	}
	if (__atomic_load_n(&stall_randomly, __ATOMIC_RELAXED))
		stall_late();
}

/* The next one who comes there stands still. */
static inline void
stall_at(const char *place)
{
	__atomic_store_n(&stall_nb, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&stall_over, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&stall_place, place, __ATOMIC_SEQ_CST);
}

/* Dispatch until somebody stands there. */
static inline void
stall_reached(void)
{
	jt_until(&stall_nb, 1, "somebody stands still");
}

static inline void
stall_let_go(void)
{
	__atomic_store_n(&stall_over, 1, __ATOMIC_SEQ_CST);
}

/* Where a test has failed somebody stands there yet, for whom the end would wait. */
static inline int
stall_teardown(void **state)
{
	__atomic_store_n(&stall_place, NULL, __ATOMIC_SEQ_CST);
	stall_let_go();
	return jt_teardown(state);
}

#define STALL_TEST(name) cmocka_unit_test_teardown(name, stall_teardown)

#endif
