/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_RING_H
#define SCHED_RING_H

/*
 * A ring of events: one producer, one consumer at a time.
 *
 * rte_ring copies what it holds twice and publishes with each call; here an event is written where it will be read, and a burst to
 * several rings is published when all of it is written.
 *
 *     slots   | taken | published      | written | free
 *                     ^ head           ^ tail    ^ fill
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "event.h"

/* Of slots. */
#define EVENTS_PER_LINE (64 / sizeof(struct rte_event))

/* Each line belongs to who writes it; the tail is what the other one waits for. */
struct ring {
	uint32_t fill __attribute__((aligned(64))); /* the producer's own: written up to here */
	uint32_t mask;
	struct rte_event *slots;
	uint32_t tail __attribute__((aligned(64))); /* by the producer: published up to here */
	uint32_t head __attribute__((aligned(64))); /* by the consumer: taken up to here */
	uint32_t seen; /* the consumer's own: the tail when it looked last */
	uint32_t consumer_mask;
	uint8_t level, sender; /* of a shard's rings: which one it is */
	const struct rte_event *consumer_slots;
};

static inline void
ring_init(struct ring *ring, struct rte_event *slots, uint32_t size)
{
	ring->fill = ring->tail = ring->head = ring->seen = 0;
	ring->mask = ring->consumer_mask = size - 1;
	ring->slots = slots;
	ring->consumer_slots = slots;
}

/* By the producer. Who uses the ring sees to it that there is room. */
static inline void
ring_put(struct ring *ring, struct rte_event event)
{
	event_write(&ring->slots[ring->fill++ & ring->mask], event);
}

/* By the producer: what was put can be taken. */
static inline void
ring_publish(struct ring *ring)
{
	__atomic_store_n(&ring->tail, ring->fill, __ATOMIC_RELEASE);
}

/*
 * A line has time to come from another core, which takes some hundred cycles, until so many more have been put. Of a ring that is nearly full these are
 * what the consumer reads just then: less where there are few.
 */
#define EVENTS_AHEAD 32
#define AHEAD_PART   32 /* of the ring, at most */

/*
 * By the producer, to another core, where it will go on: as many slots as it publishes, further on, come to be written to. The consumer read them a
 * round ago, and stores are done one after the other: who waits for a line with one waits with all that follow. After they were published,
 * which waits for lines, too. Not inline: who sends to itself, as workers do, would go out of its way.
 */
static __rte_noinline __rte_unused void
ring_publish_far(struct ring *ring)
{
	const uint32_t nb = ring->fill - ring->tail;
	const uint32_t from = ring->fill + RTE_MIN(EVENTS_AHEAD, (ring->mask + 1) / AHEAD_PART);

	ring_publish(ring);
	for (uint32_t i = 0; i < nb; i += EVENTS_PER_LINE)
		__builtin_prefetch(&ring->slots[(from + i) & ring->mask], 1);
}

/* By the producer: all that was put. */
static inline bool
ring_is_published(const struct ring *ring)
{
	return __atomic_load_n(&ring->tail, __ATOMIC_RELAXED) == ring->fill;
}

/*
 * By the consumer: look at the tail, not before it took notice of what was announced (shard_look()). Where there is nothing new nothing is
 * written: others look there, too, if they have the lock in turns.
 *
 * @return how many more there are than when it looked last
 */
static inline uint32_t
ring_look(struct ring *ring)
{
	uint32_t tail = __atomic_load_n(&ring->tail, __ATOMIC_SEQ_CST), more = tail - ring->seen;

	if (more > 0)
		__atomic_store_n(&ring->seen, tail, __ATOMIC_RELAXED);
	return more;
}

/* By who will look, and may not be the consumer yet: the tail and the first event that it may tell of, at the same time. */
static inline void
ring_prefetch(const struct ring *ring)
{
	uint32_t seen = __atomic_load_n(&ring->seen, __ATOMIC_RELAXED);

	__builtin_prefetch(&ring->tail);
	__builtin_prefetch(&ring->consumer_slots[seen & ring->consumer_mask]);
}

/* By the consumer: how many can be taken, without looking. */
static inline uint32_t
ring_count(const struct ring *ring)
{
	return ring->seen - ring->head;
}

/* By the consumer. */
static inline const struct rte_event *
ring_peek(const struct ring *ring, uint32_t i)
{
	return &ring->consumer_slots[(ring->head + i) & ring->consumer_mask];
}

/* By the consumer: events of [from, to), of those that are there, which are in another core's cache. */
static inline void
ring_prefetch_events(const struct ring *ring, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to && i < ring_count(ring); i += EVENTS_PER_LINE)
		__builtin_prefetch(ring_peek(ring, i));
}

/* By the consumer: from @i on, how many slots lie one behind the other? */
static inline uint32_t
ring_in_row(const struct ring *ring, uint32_t i)
{
	return ring->consumer_mask + 1 - ((ring->head + i) & ring->consumer_mask);
}

/* By the consumer: so many were taken. */
static inline void
ring_take(struct ring *ring, uint32_t nb)
{
	__atomic_store_n(&ring->head, ring->head + nb, __ATOMIC_RELEASE);
}

/* By who can see what was published until some time: has all of that been taken? Who took it has done with it what is to be seen. */
static inline bool
ring_is_empty(const struct ring *ring)
{
	uint32_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);

	return tail == __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
}

/* By anybody, about so. */
static inline bool
ring_seems_empty(const struct ring *ring)
{
	return __atomic_load_n(&ring->tail, __ATOMIC_RELAXED) ==
	       __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
}

#endif
