/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_PIN_H
#define READOUT_PIN_H

/*
 * A word that keeps a cell for its readers, or for the writer.
 *
 *     0 --pin--> 1 --pin--> 2 ...        readers: it stays as it is
 *     ^ <-unpin-- <-unpin--
 *     |
 *     0 --claim--> CLAIMED --publish--> 0   the writer: nobody else may look
 *
 * A reader may come from an old reference. It finds CLAIMED, or another frame than it looked for: what a pinned cell holds tells.
 */

#include <stdbool.h>
#include <stdint.h>

#define PIN_CLAIMED (UINT32_C(1) << 31)

/* @return false: it is the writer's now */
static inline bool
pin_try(uint32_t *pin)
{
	uint32_t old = __atomic_load_n(pin, __ATOMIC_ACQUIRE);

	do {
		if (old == PIN_CLAIMED)
			return false;
	} while (!__atomic_compare_exchange_n(
		pin, &old, old + 1, true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
	return true;
}

static inline void
pin_release(uint32_t *pin)
{
	__atomic_fetch_sub(pin, 1, __ATOMIC_RELEASE);
}

/* Is it the writer's? By who keeps a range that the cell's frame may be in. */
static inline bool
pin_is_claimed(const uint32_t *pin)
{
	return __atomic_load_n(pin, __ATOMIC_SEQ_CST) == PIN_CLAIMED;
}

/* By the writer, which looks at ranges after it (range.h). @return false: readers have it */
static inline bool
pin_claim(uint32_t *pin)
{
	uint32_t old = 0;

	return __atomic_compare_exchange_n(
		pin, &old, PIN_CLAIMED, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* What the writer wrote there can be read. */
static inline void
pin_publish(uint32_t *pin)
{
	__atomic_store_n(pin, 0, __ATOMIC_RELEASE);
}

#endif
