/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_RETURNED_H
#define SCHED_RETURNED_H

/*
 * Atomic flows that a shard's home port gave back without the lock, for who has that next. As a ring (ring.h), but of lanes, each of which is published at
 * once, and of a size that is known: it has room for more than a port can hold.
 */

#include <stdbool.h>
#include <stdint.h>

struct lane;

#define RETURNED_MAX 256

struct returned {
	uint32_t tail __attribute__((aligned(64))); /* by the port: so many were returned, */
	uint32_t head __attribute__((aligned(64))); /* and so many taken back */
	struct lane *lanes[RETURNED_MAX] __attribute__((aligned(64)));
};

/* By the port. */
static inline void
returned_put(struct returned *returned, struct lane *lane)
{
	const uint32_t tail = returned->tail;

	__atomic_store_n(&returned->lanes[tail % RETURNED_MAX], lane, __ATOMIC_RELAXED);
	__atomic_store_n(&returned->tail, tail + 1, __ATOMIC_RELEASE);
}

/* By who has the lock: how many there are; */
static inline uint32_t
returned_count(const struct returned *returned)
{
	return __atomic_load_n(&returned->tail, __ATOMIC_ACQUIRE) - returned->head;
}

/* of these, */
static inline struct lane *
returned_peek(const struct returned *returned, uint32_t i)
{
	return __atomic_load_n(
		&returned->lanes[(returned->head + i) % RETURNED_MAX], __ATOMIC_RELAXED);
}

/* so many were taken back. */
static inline void
returned_take(struct returned *returned, uint32_t nb)
{
	__atomic_store_n(&returned->head, returned->head + nb, __ATOMIC_RELEASE);
}

/* By anybody, about so. */
static inline bool
returned_seems_empty(const struct returned *returned)
{
	return __atomic_load_n(&returned->tail, __ATOMIC_RELAXED) ==
	       __atomic_load_n(&returned->head, __ATOMIC_RELAXED);
}

#endif
