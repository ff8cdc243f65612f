/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EM_EVENT_H
#define EM_EVENT_H

/* Per event: whose it is, who gets it, and what becomes of one that nobody gets. */

#include "em_private.h"

/* In an mbuf. */
struct em_meta {
	uint64_t group; /* event group */
#ifdef WEIR_EM_CHECKS
	uint32_t state; /* enum em_buffer_state */
	uint32_t owner; /* number of the queue it was sent to last */
#endif
};

static inline struct em_meta *
em_meta(const struct weir_em *em, const struct rte_mbuf *mbuf)
{
	return RTE_MBUF_DYNFIELD(mbuf, em->meta_offset, struct em_meta *);
}

/* Has it a buffer, with a place for the machine's own? */
static inline bool
em_is_buffer(const struct rte_event *event)
{
	return event->event_type == WEIR_EM_EVENT_BUFFER && event->mbuf != NULL;
}

/* Have event groups been made? While there are none, nothing is asked of events. */
static inline bool
em_uses_groups(const struct weir_em *em)
{
	return __atomic_load_n(&em->uses_groups, __ATOMIC_ACQUIRE);
}

/* The event group of an event, 0: none. */
static inline uint64_t
em_event_group(const struct weir_em *em, const struct rte_event *event)
{
	return em_is_buffer(event) ? em_meta(em, event->mbuf)->group : 0;
}

/* The queue of a handle, live or not; NULL: no such number. */
static inline struct em_queue *
em_queue_at(const struct weir_em *em, weir_em_queue handle)
{
	uint32_t number = em_handle_number(handle);

	return likely(number < em->nb_queues) ? &em->queues[number] : NULL;
}

/* The queue of an event that came from the scheduler; NULL: it is none of this instance's. */
static inline struct em_queue *
em_event_queue(const struct weir_em *em, const struct rte_event *event)
{
	uint32_t number = event->flow_id;

	if (unlikely(em->aliases != NULL) && event->sched_type == RTE_SCHED_TYPE_PARALLEL)
		number = em->aliases[event->queue_id][event->priority] - 1; /* 0: none */
	return likely(number < em->nb_queues) ? &em->queues[number] : NULL;
}

static inline bool
em_queue_is(const struct em_queue *queue, weir_em_queue handle)
{
	return __atomic_load_n(&queue->handle, __ATOMIC_ACQUIRE) == handle;
}

/*
 * As weir_em_send() and weir_em_forward_burst(); the events are in @group from now on, or in none (0). In one only if they are
 * WEIR_EM_EVENT_BUFFER: else none is taken, EINVAL.
 */
uint16_t em_send(struct weir_em_core *core, weir_em_queue queue, struct rte_event *events,
	uint16_t nb, weir_em_event_group group);
uint16_t em_forward(struct weir_em_core *core, weir_em_queue queue, struct rte_event *events,
	uint16_t nb, weir_em_event_group group);

/*
 * Send an event with a credit that weir_sched_reserve() gave, by any thread, to a scheduled queue. 0: it is gone, with the credit; else
 * both stay: -ESTALE, -EINVAL, -ENOTSUP (not a scheduled queue).
 */
int em_send_reserved(struct weir_em *em, weir_em_queue queue, struct rte_event *event);

/* As a new one, of which all has been checked. 0, -ENOSPC, -ESTALE; -EAGAIN: another core could. */
int em_resend(struct weir_em_core *core, const struct em_deferred *deferred);

/* Send it whatever is inside: now, or when there is room; by any thread (@core NULL: it is none). -ENOMEM, -ESTALE, -EINVAL. */
int em_send_deferred(struct weir_em *em, struct weir_em_core *core, weir_em_queue queue,
	const struct rte_event *event);

/* Give events of a queue to its object. @slots: the scheduler's numbers; NULL: they are not from there. dispatch.c */
void em_serve(struct weir_em_core *core, struct em_queue *queue, struct rte_event *events,
	uint16_t nb, const uint8_t *slots);
/* One round. @return events */
uint16_t em_round(struct weir_em_core *core, uint16_t burst);

/* Count them, tell error handlers, free what has buffers. error.c. @core NULL: a thread that is none */
void em_drop(struct weir_em *em, struct weir_em_core *core, struct em_queue *queue,
	struct rte_event *events, uint16_t nb, enum weir_em_drop reason);
/* Likewise of one that did not get to a queue: it counts as sent, too. */
void em_drop_unsent(struct weir_em *em, struct weir_em_core *core, weir_em_queue queue,
	struct rte_event *event, enum weir_em_drop reason);
/* Give payload back, if it is a buffer. */
void em_event_free(struct weir_em *em, struct weir_em_core *core, struct rte_event *event);

/* Tell error handlers. @return what came of it. error.c */
int em_error(struct weir_em *em, struct weir_em_core *core, const struct weir_em_error *error);
/* Of a wrong argument or handle. */
int em_error_argument(struct weir_em *em, struct weir_em_core *core, int code, weir_em_queue queue,
	struct rte_event *event, const char *where);

#endif
