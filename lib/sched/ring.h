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

#include <rte_eventdev.h>

/* Each line belongs to who writes it; the tail is what the other one waits for. */
struct ring {
	uint32_t fill __attribute__((aligned(64))); /* the producer's own: written up to here */
	uint32_t mask;
	struct rte_event *slots;
	uint32_t tail __attribute__((aligned(64))); /* by the producer: published up to here */
	uint32_t head __attribute__((aligned(64))); /* by the consumer: taken up to here */
	uint32_t seen; /* the consumer's own: the tail when it looked last */
	uint32_t consumer_mask;
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

/*
 * An event's first word, as its user left it. Field by field: what was just written as a part of a word cannot be read as a wider one
 * before it has reached the cache, after all that was stored earlier, into lines of other cores too.
 */
static inline struct rte_event
event_read(const struct rte_event *event)
{
	struct rte_event read = {.u64 = event->u64};

	read.event = ((const volatile uint32_t *)event)[0];
	read.op = event->op;
	read.sched_type = event->sched_type;
	read.queue_id = ((const volatile uint8_t *)event)[5];
	read.priority = ((const volatile uint8_t *)event)[6];
	read.impl_opaque = ((const volatile uint8_t *)event)[7];
	return read;
}

/* Two words, for the same reason not a wider one. */
static inline void
event_write(struct rte_event *to, struct rte_event event)
{
	((volatile uint64_t *)to)[0] = event.event;
	((volatile uint64_t *)to)[1] = event.u64;
}

static inline struct rte_event
event_load(const struct rte_event *from)
{
	struct rte_event event;

	event.event = ((const volatile uint64_t *)from)[0];
	event.u64 = ((const volatile uint64_t *)from)[1];
	return event;
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

/* By the consumer: look at the tail. @return how many more there are than when it looked last */
static inline uint32_t
ring_look(struct ring *ring)
{
	uint32_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE), more = tail - ring->seen;

	ring->seen = tail;
	return more;
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

/* By the consumer: so many were taken. */
static inline void
ring_take(struct ring *ring, uint32_t nb)
{
	__atomic_store_n(&ring->head, ring->head + nb, __ATOMIC_RELEASE);
}

/* By anybody, about so. */
static inline bool
ring_seems_empty(const struct ring *ring)
{
	return __atomic_load_n(&ring->tail, __ATOMIC_RELAXED) ==
	       __atomic_load_n(&ring->head, __ATOMIC_RELAXED);
}

#endif
