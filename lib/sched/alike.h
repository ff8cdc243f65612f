/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_ALIKE_H
#define SCHED_ALIKE_H

/*
 * What producers and workers do most with bursts: events, one after the other, that are of one operation, and of one plain queue. All that is the same
 * for them is read first: bytes that are written might be any of it, as far as the compiler knows. They are in rings then, to be published.
 */

#include "ending.h"
#include "places.h"
#include "plain.h"

/* So many come first that are alike; shards whose rings got some. */
struct run {
	uint64_t touched;
	uint16_t nb;
};

/* Of a plain queue, with credits for all of them, which are to be counted. */
static __rte_always_inline struct run
run_new(struct builtin_port *port, const struct rte_event *events, unsigned int nb)
{
	const uint8_t id = event_read_queue(events);
	const struct way way = way_of(port, &port->builtin->queues[id]);
	struct run run = {0};
	unsigned int i;

	for (i = 0; i < nb; i++) {
		const uint32_t kind = event_read_kind(&events[i]);
		const struct rte_event event = event_read_as(&events[i], kind, id);
		const unsigned int shard = way_to(&way, event.event);

		if (!kind_is_new(kind) || event_read_queue(&events[i]) != id)
			break;
		ring_put(way.rings[shard], event);
		run.touched |= (uint64_t)1 << shard;
	}
	run.nb = (uint16_t)i;
	return run;
}

/*
 * Likewise those that go on, while they are held as the first one is. What they are held by is given back at once: their flow, or their place there, to
 * @locked; but not their numbers.
 */
static __rte_always_inline struct run
run_forwarded(struct builtin_port *port, struct shard *locked, const struct rte_event *events,
	unsigned int nb, uint32_t how, enum held_kind held_kind)
{
	const bool by_owner = locked == port->own;
	const uint8_t id = event_read_queue(events);
	const struct queue_info *queue = &port->builtin->queues[id];
	const uint64_t claims = port->claims;
	const struct way way = way_of(port, queue);
	const uint8_t first_at = ending_at(port, port->ending.nb);
	uint8_t *numbers = &port->free[first_at];
	struct run run = {0};
	unsigned int i;

	nb = RTE_MIN(
		nb, RTE_DIM(port->free) - first_at); /* the circle begins anew with the next run */
	for (i = 0; i < nb; i++) {
		const uint32_t kind = event_read_kind(&events[i]);
		const uint8_t number = event_read_opaque(&events[i]);
		const struct rte_event event = event_read_as(&events[i], kind, id);
		struct held *held = port_held(port, number);

		if (!kind_is_claimed(kind, claims) || event_read_queue(&events[i]) != id ||
			held->how != how)
			break;
		held_end(held);
		numbers[i] = number;
		if (held_kind == HELD_ORDERED) {
			place_become(locked, held, queue, event, false);
		} else {
			const unsigned int shard = way_to(&way, event.event);

			ring_put(way.rings[shard], event);
			run.touched |= (uint64_t)1 << shard;
		}
		if (held_kind == HELD_ATOMIC)
			shard_release(locked, held->lane, by_owner);
	}
	count(&port->nb_enqueued[id], i);
	run.nb = (uint16_t)i;
	return run;
}

/*
 * Likewise ordered ones that are held without places, in the order in which they were handed out: by the shard's own rings, as others of their flows went
 * on. All under the lock.
 */
static __rte_always_inline struct run
run_in_order(struct builtin_port *port, struct shard *shard, const struct rte_event *events,
	unsigned int nb, uint32_t how)
{
	const uint8_t id = event_read_queue(events);
	const uint64_t claims = port->claims;
	const struct way way = way_from(shard, &port->builtin->queues[id]);
	const uint8_t first_at = ending_at(port, port->ending.nb), next = port->first_handed_out;
	const uint8_t *handed_out = &port->handed_out[next];
	uint8_t *numbers = &port->free[first_at];
	struct run run = {0};
	unsigned int i;

	nb = RTE_MIN(nb, RTE_DIM(port->free) - RTE_MAX(first_at, next));
	for (i = 0; i < nb; i++) {
		const uint32_t kind = event_read_kind(&events[i]);
		const uint8_t number = event_read_opaque(&events[i]);
		const struct rte_event event = event_read_as(&events[i], kind, id);
		const unsigned int to = way_to(&way, event.event);
		struct held *held = port_held(port, number);

		if (!kind_is_claimed(kind, claims) || event_read_queue(&events[i]) != id ||
			held->how != how || number != handed_out[i])
			break;
		held_end(held);
		numbers[i] = number;
		ring_put(way.rings[to], event);
		run.touched |= (uint64_t)1 << to;
	}
	port->first_handed_out = (uint8_t)(next + i);
	count(&port->nb_enqueued[id], i);
	run.nb = (uint16_t)i;
	return run;
}

/* And those that are released, of any queue: nothing else of them matters. */
static __rte_always_inline uint16_t
run_released(struct builtin_port *port, struct shard *locked, const struct rte_event *events,
	unsigned int nb, uint32_t how, enum held_kind held_kind)
{
	const bool by_owner = locked == port->own;
	const uint64_t claims = claims_released(port->claims);
	const uint8_t first_at = ending_at(port, port->ending.nb);
	uint8_t *numbers = &port->free[first_at];
	unsigned int i;

	nb = RTE_MIN(nb, RTE_DIM(port->free) - first_at);
	for (i = 0; i < nb; i++) {
		const uint8_t number = event_read_opaque(&events[i]);
		struct held *held = port_held(port, number);

		if (!kind_is_claimed(event_read_kind(&events[i]), claims) || held->how != how)
			break;
		held_end(held);
		numbers[i] = number;
		if (held_kind == HELD_ORDERED)
			place_complete(locked, held, false);
		else if (held_kind == HELD_ATOMIC)
			shard_release(locked, held->lane, by_owner);
	}
	return (uint16_t)i;
}

#endif
