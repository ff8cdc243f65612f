/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_EM_FAST_H
#define WEIR_EM_FAST_H

/**
 * @file
 * What runs per event. All of it by the core's own thread.
 */

#include <rte_mbuf.h>

#include "weir_em.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * rte_event::event_type of an event whose payload is a buffer of weir_em_alloc() or weir_em_event_from_mbuf(): it has a place for the
 * machine's own (event group, state). Of events with any other type, the machine does not touch the payload.
 */
#define WEIR_EM_EVENT_BUFFER 0x7

/** An event with a number for payload. */
static inline struct rte_event
weir_em_event_u64(uint64_t value)
{
	struct rte_event event;

	event.event = 0;
	event.event_type = RTE_EVENT_TYPE_CPU;
	event.u64 = value;
	return event;
}

/** An event with a pointer for payload, to anything. */
static inline struct rte_event
weir_em_event_ptr(void *pointer)
{
	struct rte_event event;

	event.event = 0;
	event.event_type = RTE_EVENT_TYPE_CPU;
	event.u64 = 0;
	event.event_ptr = pointer;
	return event;
}

/** An event with a buffer of weir_em_alloc() for payload. */
static inline struct rte_event
weir_em_event_buffer(struct rte_mbuf *buffer)
{
	struct rte_event event;

	event.event = 0;
	event.event_type = WEIR_EM_EVENT_BUFFER;
	event.u64 = 0;
	event.mbuf = buffer;
	return event;
}

/**
 * Send events to a queue, as new ones: outside of any order, and with credits of their own. What leads the events (operation, queue, flow,
 * priority, type of scheduling) is written into them; their payload, event_type and sub_event_type stay.
 *
 * @return how many were taken, from the first on; the others stay the caller's, with rte_errno: ENOSPC: no credit or a full
 *   ring; ESTALE, EINVAL: there is no such queue, or @p core was detached; the error handler was told. EINVAL, too: no core (NULL), no events
 */
uint16_t weir_em_send(
	struct weir_em_core *core, weir_em_queue queue, struct rte_event *events, uint16_t nb);

/**
 * Send an event on that the receive function got: with its credit, never refused; and from an ordered queue, in its place.
 * It may have another payload by now; impl_opaque must be as it came, in a copy too.
 *
 * With the event goes its context: once all events of the call have been forwarded that came from an atomic queue, another core may be in a
 * receive function with that queue, though this one has not returned. What needs to be alone, is done before; likewise
 * nothing of an ordered queue's place is left for events that are forwarded.
 *
 * What goes to a local or unscheduled queue, or from another than an ordered one to an output queue, leaves the scheduler. Its credit and context are
 * given up by weir_em_atomic_end() or weir_em_order_end(), or else when the receive function has returned, at the core's next round.
 *
 * An event that came from a local or unscheduled queue, or that was released early, has no credit: it is sent as weir_em_send() does.
 *
 * @return 0; -EINVAL: it is not held (any more), or there is no such queue; -ESTALE: likewise; -ENOSPC: sent as new, and refused. It
 *   stays the caller's then
 */
int weir_em_forward(struct weir_em_core *core, weir_em_queue queue, struct rte_event *event);

/** As weir_em_forward(), several at once. @return how many went, from the first on; fewer with rte_errno as above */
uint16_t weir_em_forward_burst(
	struct weir_em_core *core, weir_em_queue queue, struct rte_event *events, uint16_t nb);

/**
 * The receive function needs to be alone no longer: others may have the atomic queue that it is called with, wherever its events were
 * forwarded to. The credits are given back, too. Of no effect in receive functions called with other queues.
 */
void weir_em_atomic_end(struct weir_em_core *core);

/** The receive function forwards no more events of the ordered queue that it is called with: those after them need not wait. Likewise. */
void weir_em_order_end(struct weir_em_core *core);

/**
 * Run receive functions.
 *
 * @param options  NULL: all zero
 * @return how many events were dispatched; 0, with rte_errno EINVAL, which the error handler is told, too: from within dispatch, in start and stop functions, while it
 *   is held (weir_em_core_holds()), wrong options, a core that is not attached, a producer. Likewise no core, of which it is not told.
 */
uint64_t weir_em_dispatch(
	struct weir_em_core *core, const struct weir_em_dispatch_options *options);

/** The queue whose events the receive function that runs was called with; WEIR_EM_NONE outside of one. */
weir_em_queue weir_em_current_queue(const struct weir_em_core *core);

/**
 * The object whose receive, start or stop function runs, also when it was deleted meanwhile: that handle is stale then. WEIR_EM_NONE outside
 * of these.
 */
weir_em_object weir_em_current_object(const struct weir_em_core *core);

#ifdef __cplusplus
}
#endif

#endif
