/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_SCHED_FAST_H
#define WEIR_SCHED_FAST_H

/**
 * @file
 * Enqueue and dequeue, per event.
 */

#include <errno.h>

#include <rte_branch_prediction.h>
#include <rte_errno.h>

#include "weir_sched.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a backend does for a port. */
struct weir_sched_port_ops {
	/** As weir_sched_enqueue(). */
	uint16_t (*enqueue)(
		struct weir_sched_port *port, const struct rte_event *events, uint16_t nb);
	/** As weir_sched_dequeue(). */
	uint16_t (*dequeue)(struct weir_sched_port *port, struct rte_event *events, uint16_t nb);
	/** As weir_sched_switch(). */
	int (*tag_switch)(
		struct weir_sched_port *port, struct rte_event *event, uint32_t flow, uint8_t type);
};

/** The beginning of every backend's port. */
struct weir_sched_port {
	const struct weir_sched_port_ops *ops; /**< its backend's */
	struct weir_sched *sched;              /**< whose it is */
	unsigned int id;                       /**< its number */
};

/**
 * Enqueue events, each by its operation. They are where others can get them when this returns.
 *
 * An event that is forwarded or released must be one that this port holds, with impl_opaque as it was dequeued, and rsvd likewise or 0;
 * everything else of it may have been changed. rsvd is what tells events of another port: up to 15 ports no two share its value. An event that is
 * not held any more is told by impl_opaque: as many others come before its number is used again as the port holds fewer than 256, so
 * with weir_sched_port_config::nb_held as by default 128 or so. Numbers begin anew with a start: what was held before the stop before that is not told.
 *
 * @param port    NULL: no such port, EINVAL
 * @param events  @p nb of them; NULL: none, EINVAL unless @p nb is 0
 * @return how many were taken, from the first on; fewer with rte_errno ENOSPC: NEW at the threshold; EINVAL: no such queue, type or operation,
 *   not held by this port, or the scheduler does not run: counted
 */
static inline uint16_t
weir_sched_enqueue(struct weir_sched_port *port, const struct rte_event *events, uint16_t nb)
{
	/* Mostly the compiler knows that an array is there. */
	if (unlikely(port == NULL || (events == NULL && nb > 0))) {
		rte_errno = EINVAL;
		return 0;
	}
	return port->ops->enqueue(port, events, nb);
}

/**
 * Release what is held (unless configured otherwise), and get up to @p nb events.
 *
 * @param port    NULL: no such port, 0
 * @param events  room for @p nb; NULL: for none
 * @return how many; 0: none now
 */
static inline uint16_t
weir_sched_dequeue(struct weir_sched_port *port, struct rte_event *events, uint16_t nb)
{
	return likely(port != NULL) ? port->ops->dequeue(port, events, events != NULL ? nb : 0) : 0;
}

/**
 * Change a held event's flow and type, as an SSO's tag switch. It stays in the queue that it was dequeued from: queue_id is not read. What
 * comes later in the new flow waits for it as if it had been enqueued now.
 *
 * @return 0: it is held in the new flow; -EINPROGRESS: others are before it: it was forwarded, and will be dequeued again;
 *   -EINVAL: not held, or no such type: counted; or no such port, or no event
 */
static inline int
weir_sched_switch(
	struct weir_sched_port *port, struct rte_event *event, uint32_t flow, uint8_t type)
{
	return likely(port != NULL && event != NULL)
		       ? port->ops->tag_switch(port, event, flow, type)
		       : -EINVAL;
}

#ifdef __cplusplus
}
#endif

#endif
