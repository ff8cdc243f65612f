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

/* Instead of a queue's number. */
#define ANY_QUEUE (UINT8_MAX + 1u)

/* Those of a run that end: which ones they are, and what becomes of what they are held by. */
struct ends {
	uint64_t claims; /* as which they end */
	uint32_t how;    /* they are held, all of them */
	uint32_t queue;  /* that they are for, or ANY_QUEUE */
	bool in_order;   /* as they were handed out, none of which is passed */
	uint16_t before; /* so many have just ended so */
};

/*
 * Those that come first and end so: nothing of them is left but what they may become. What they are held by is given back at once: their flow, or their
 * place there, to @locked; but not their numbers. All that is asked here is asked of all of them before they are sent: both together need more registers
 * than there are.
 */
static __rte_always_inline uint16_t
run_ended(struct builtin_port *port, struct shard *locked, const struct rte_event *events,
	unsigned int nb, const struct ends ends, enum held_kind held_kind)
{
	const bool by_owner = locked == port->own;
	const uint8_t first_at = ending_at(port, port->ending.nb + ends.before),
		      next = port->first_handed_out;
	const uint8_t *handed_out = &port->handed_out[next];
	uint8_t *numbers = &port->free[first_at];
	unsigned int i;

	/* the circle begins anew with the next run */
	nb = RTE_MIN(nb, RTE_DIM(port->free) - first_at);
	if (ends.in_order)
		nb = RTE_MIN(nb, RTE_DIM(port->handed_out) - next);
	for (i = 0; i < nb; i++) {
		const uint8_t number = event_read_opaque(&events[i]);
		struct held *held = port_held(port, number);

		if (!kind_is_claimed(event_read_kind(&events[i]), ends.claims) ||
			held->how != ends.how ||
			(ends.queue != ANY_QUEUE && event_read_queue(&events[i]) != ends.queue) ||
			(ends.in_order && number != handed_out[i]))
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

/* What has ended goes on to a plain queue, one way. @return shards whose rings got some */
static __rte_always_inline uint64_t
run_sent(struct builtin_port *port, const struct way way, const struct rte_event *events,
	unsigned int nb, uint8_t id)
{
	uint64_t touched = 0;

	for (unsigned int i = 0; i < nb; i++) {
		const struct rte_event event =
			event_read_as(&events[i], event_read_kind(&events[i]), id);
		const unsigned int shard = way_to(&way, event.event);

		ring_put(way.rings[shard], event);
		touched |= (uint64_t)1 << shard;
	}
	count(&port->nb_enqueued[id], nb);
	return touched;
}

/* Likewise ordered ones with places, by the shard's own rings: what is sent of them, and of others of their flows. Where their places are is still written. */
static __rte_always_inline void
run_become(struct builtin_port *port, struct shard *locked, const struct rte_event *events,
	unsigned int nb, uint8_t id)
{
	const struct queue_info *queue = &port->builtin->queues[id];

	for (unsigned int i = 0; i < nb; i++)
		place_become(locked, port_held(port, event_read_opaque(&events[i])), queue,
			event_read_as(&events[i], event_read_kind(&events[i]), id), false);
	count(&port->nb_enqueued[id], nb);
}

/* Those that go on, while they are held as the first one is. */
static __rte_always_inline struct run
run_forwarded(struct builtin_port *port, struct shard *locked, const struct rte_event *events,
	unsigned int nb, uint32_t how, enum held_kind held_kind)
{
	const uint8_t id = event_read_queue(events);
	const struct ends ends = {.claims = port->claims, .how = how, .queue = id};
	struct run run = {0};

	if (held_kind == HELD_ORDERED) {
		run.nb = run_ended(port, locked, events, nb, ends, HELD_PARALLEL);
		run_become(port, locked, events, run.nb, id);
		return run;
	}
	run.nb = run_ended(port, locked, events, nb, ends, held_kind);
	run.touched = run_sent(port, way_of(port, &port->builtin->queues[id]), events, run.nb, id);
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
	const struct way way = way_from(shard, &port->builtin->queues[id]);
	struct ends ends = {.claims = port->claims, .how = how, .queue = id, .in_order = true};
	uint16_t now;

	do {
		pass_ended(port);
		now = run_ended(
			port, shard, events + ends.before, nb - ends.before, ends, HELD_PARALLEL);
		port->first_handed_out = (uint8_t)(port->first_handed_out + now);
		ends.before += now;
	} while (now > 0 && ends.before < nb);
	return (struct run){
		.touched = run_sent(port, way, events, ends.before, id), .nb = ends.before};
}

/* And those that are released, of any queue: nothing else of them matters. */
static __rte_always_inline uint16_t
run_released(struct builtin_port *port, struct shard *locked, const struct rte_event *events,
	unsigned int nb, uint32_t how, enum held_kind held_kind)
{
	const struct ends ends = {
		.claims = claims_released(port->claims), .how = how, .queue = ANY_QUEUE};

	return run_ended(port, locked, events, nb, ends, held_kind);
}

#endif
