/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_SCHED_H
#define WEIR_SCHED_H

/**
 * @file
 * The event scheduler: which core works on what, next.
 *
 * Events (struct rte_event) are enqueued to queues and dequeued from ports, one port per thread. Terms and operations
 * are those of DPDK's eventdev; what its devices leave open is laid down here:
 *
 *     NEW       enters the scheduler: takes a credit, may be refused
 *     FORWARD   goes on with the credit of the event that was dequeued, whose context it gives up: never refused
 *     RELEASE   leaves: gives credit and context back
 *
 * What is still held at a port's next dequeue is released then (implicit release), unless the port was configured without.
 *
 * Of a queue's type, or the event's own where the queue has all types:
 *
 *     atomic    one port at a time has events of a flow; their order is kept: of NEW events of several ports, that of each port
 *     ordered   any port may have them; those that are forwarded go on in the order in which they were dequeued. RELEASE
 *               gives a place up, NEW is outside of all order
 *     parallel  any port, no order
 *
 * Flows are told apart by flow_id modulo the number of flows configured: more flows than that share.
 *
 * There are 8 priorities, 0 the highest.
 *
 * builtin: ports that are not called for a while delay what they hold, nothing else, and slow nobody down. Event devices: as they do; what
 * event_dsw and event_sw have given to such a port, and flows that are its, wait for it.
 *
 * Two backends: "builtin", and "eventdev:NAME" for a device of DPDK's. What a device cannot do is refused when it is
 * configured, with a message that says so.
 *
 * Threads: control functions are called by one thread at a time; before weir_sched_start() and after weir_sched_stop() no
 * thread may be in a port's functions. A port is used by one thread at a time.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_eventdev.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A scheduler. */
struct weir_sched;

/** Where a thread enqueues and dequeues. */
struct weir_sched_port;

/** Ports, and bits of a port mask. */
#define WEIR_SCHED_PORTS_MAX 64

/** Queues: rte_event::queue_id has 8 bits, of which the last number is kept. */
#define WEIR_SCHED_QUEUES_MAX 255

/** Groups of ports. */
#define WEIR_SCHED_GROUPS_MAX 64

/** Priorities, 0 the highest. */
#define WEIR_SCHED_PRIORITIES 8

/** Type of a queue whose events have types of their own; besides RTE_SCHED_TYPE_ATOMIC, _ORDERED, _PARALLEL. */
#define WEIR_SCHED_TYPE_BY_EVENT 0xff

/** Priority of a queue whose events have priorities of their own, rte_event::priority divided by 32. */
#define WEIR_SCHED_PRIORITY_BY_EVENT 0xff

/** What a scheduler is to be. Numbers that are 0 have the default. */
struct weir_sched_config {
	const char *backend;    /**< "builtin" (also NULL) or "eventdev:NAME" */
	unsigned int nb_ports;  /**< ports, numbered from 0 */
	unsigned int nb_queues; /**< queues, numbered from 0 */
	unsigned int nb_flows;  /**< of each queue, a power of two: 1,024 */
	uint32_t nb_events;     /**< most events inside at a time, a power of two: 4,096 */
	uint32_t nb_reserved;   /**< of these, kept for weir_sched_reserve(): 0 */
	uint32_t
		new_threshold; /**< NEW is refused while so many are inside: nb_events - nb_reserved. A
				    device may have less room: weir_sched_config_get(). builtin: ports keep up to a quarter of these credits
				    among them, until they find nothing to dequeue for a while, producers until they call weir_sched_dequeue(); half of
				    that in equal parts, the rest those that take any; hardly any where a part would be fewer than 4 */
	unsigned int
		starvation_bound; /**< so many events of higher priority a port takes at most while a lower one that belongs to it waits; 0: strict */
	/** An event of high priority whose flow belongs to a busy port is left to that so long, before others take it in front of what they
	 * have: once that port was not called for so long, which they look for as often. 0: not at all, priorities are strict among all ports.
	 * builtin only */
	unsigned int priority_slack_ns;
	/** A port that found nothing for a while sleeps in dequeue until it is woken, by an event or weir_sched_wake(), up to so long; 0: never.
	 * builtin only */
	unsigned int idle_sleep_us;
	int socket_id; /**< NUMA node of the memory; -1: any. builtin: where that has no room, or there is no such node (a warning), any */
};

/** What a queue is to be. All zero: ordered by eventdev's numbers, priority 0, for all ports. */
struct weir_sched_queue_config {
	uint8_t type; /**< RTE_SCHED_TYPE_ATOMIC, _ORDERED, _PARALLEL, or WEIR_SCHED_TYPE_BY_EVENT */
	uint8_t priority; /**< 0 to 7, or WEIR_SCHED_PRIORITY_BY_EVENT */
	uint8_t group;    /**< whose ports its events go to; group 0 is all of them */
};

/** What a port is to be. */
struct weir_sched_port_config {
	bool producer;            /**< it only enqueues: nothing waits for it to dequeue */
	bool no_implicit_release; /**< what is held stays so over a dequeue, until released */
	uint16_t nb_held;         /**< most events that it holds at a time, up to 255: 128 */
};

/** How many events went which way, since the scheduler was started first. */
struct weir_sched_stats {
	uint64_t nb_new;       /**< taken in */
	uint64_t nb_forwarded; /**< gone on */
	uint64_t nb_released;  /**< gone out, implicitly too */
	uint64_t nb_dequeued;  /**< handed to a port */
	uint64_t
		nb_refused; /**< not taken, from a NEW at the threshold on to the end of its call */
	uint64_t
		nb_invalid; /**< events with a queue that is not there, or an operation on an event that is not held */
	uint64_t nb_stolen;  /**< builtin: of those dequeued, taken over from another port */
	uint64_t nb_drained; /**< handed back by weir_sched_stop() */
};

/**
 * Make a scheduler. Its queues are atomic, of priority 0, for all ports until they are configured.
 *
 * @param name  for logs and statistics; copied
 * @return NULL with rte_errno: EINVAL, ENOTSUP, ENODEV (no such device), EBUSY (another scheduler has it), ENOMEM; the log says why
 */
struct weir_sched *weir_sched_create(const char *name, const struct weir_sched_config *config);

/** Give everything back; it must have been stopped. NULL is allowed. */
void weir_sched_destroy(struct weir_sched *sched);

/** Configure a queue, before the first start. @return 0; -EINVAL, -ENOTSUP (the device cannot), -EBUSY (started before) */
int weir_sched_queue_setup(
	struct weir_sched *sched, unsigned int queue, const struct weir_sched_queue_config *config);

/** Configure a port, before the first start. @return 0, -EINVAL, -ENOTSUP, -EBUSY */
int weir_sched_port_setup(
	struct weir_sched *sched, unsigned int port, const struct weir_sched_port_config *config);

/** A port, for as long as the scheduler is there; NULL: no such port. */
struct weir_sched_port *weir_sched_port(struct weir_sched *sched, unsigned int port);

/**
 * Which ports a group's queues are for, also while running, where the backend can. A port that is taken out keeps what it holds. From
 * builtin it gets nothing of the group any more once this returned; event_sw may still give it what was meant for it already, and more of
 * the flows that it holds events of. Events of a group without ports wait.
 *
 * @param group  1 to WEIR_SCHED_GROUPS_MAX - 1
 * @return 0; -EINVAL; -ENOTSUP: while running, event_dsw and event_opdl at all, event_sw of a group with ordered queues: the log says so, and
 *   the group is as it was
 */
int weir_sched_group_set(struct weir_sched *sched, unsigned int group, uint64_t ports);

/** From now on ports may be used. @return 0; -EALREADY; -EBUSY: it is being stopped; -EINVAL: all ports are producers; -ENOMEM; or what the device said */
int weir_sched_start(struct weir_sched *sched);

/**
 * No thread uses a port any more; others may still enqueue what they reserved: that is inside, or refused. Every event that is inside, but for those that ports hold, is handed to @p drain (NULL: dropped,
 * and told in the log), in the order of each flow; all contexts are gone then. Until the next start ports take nothing and give nothing.
 *
 * @return 0; -EALREADY: it does not run; -EINVAL: no scheduler
 */
int weir_sched_stop(struct weir_sched *sched,
	void (*drain)(void *arg, const struct rte_event *event), void *arg);

/**
 * Reserve credits, so that so many NEW events can be enqueued later whatever is inside by then. They stay reserved, over a stop and
 * the next start too, until they are used or given back. Any thread, while running.
 *
 * @return how many were granted, up to @p nb
 */
uint32_t weir_sched_reserve(struct weir_sched *sched, uint32_t nb);

/** Give reserved credits back that were not used. Any thread. */
void weir_sched_unreserve(struct weir_sched *sched, uint32_t nb);

/**
 * Enqueue a NEW event against a credit that was reserved. Any thread, of a port or not.
 *
 * @return 0; -EINVAL: nothing is reserved, no such queue or type, another operation than NEW, it does not run: counted, but for the last
 */
int weir_sched_enqueue_reserved(struct weir_sched *sched, const struct rte_event *event);

/**
 * Have ports that sleep (weir_sched_config::idle_sleep_us) come back from weir_sched_dequeue(), maybe with nothing; one that does not, will
 * not when it would next. For what is not an event, and is to be seen at once. Any thread; wakes by a call of the kernel.
 *
 * @param ports  a bit each; others than there are do not matter
 */
void weir_sched_wake(struct weir_sched *sched, uint64_t ports);

/** Sum over all ports, at about one moment. Any thread; while an event device is stopped, what is drained may seem to be dequeued and released. */
void weir_sched_stats(const struct weir_sched *sched, struct weir_sched_stats *stats);

/** What xstats are of. */
enum weir_sched_part {
	WEIR_SCHED_PART_ALL,   /**< the whole: struct weir_sched_stats, and the backend's own */
	WEIR_SCHED_PART_PORT,  /**< a port */
	WEIR_SCHED_PART_QUEUE, /**< a queue */
};

/** A counter with a name. */
struct weir_sched_xstat {
	char name[64];  /**< as DPDK names xstats: lower case, with underscores */
	uint64_t value; /**< events, where the name does not say otherwise */
};

/**
 * Counters of the whole, a port or a queue: ours, and what an event device has of its own, whose names begin with "dev_". A port's
 * are "new", "forwarded", "released", "dequeued", "refused", "invalid", "stolen", as in struct weir_sched_stats. A queue's are "enqueued"
 * (new, forwarded to it, or switched within it by being forwarded), "dequeued", "drained", and "waiting", which is what is left: at about one
 * moment; over all queues they sum up to the whole's. What there is stays the same, in the same order, from one start to the next stop. Any thread, not
 * beside start and stop.
 *
 * @param which   the port's or queue's number; 0 for the whole
 * @param xstats  filled in up to @p nb; NULL if that is 0
 * @return how many there are, maybe more than @p nb; -EINVAL
 */
int weir_sched_xstats(const struct weir_sched *sched, enum weir_sched_part part, unsigned int which,
	struct weir_sched_xstat *xstats, unsigned int nb);

/** One of them. Takes as long as all. @return 0; -EINVAL; -ENOENT: there is none of that name, and @p value is as it was */
int weir_sched_xstat_by_name(const struct weir_sched *sched, enum weir_sched_part part,
	unsigned int which, const char *name, uint64_t *value);

/**
 * The configuration that is in force: defaults filled in, new_threshold as the device has room for it. The backend's name is the
 * scheduler's. Any thread. @return 0, -EINVAL
 */
int weir_sched_config_get(const struct weir_sched *sched, struct weir_sched_config *config);

/** A queue's configuration, as it is in force. Any thread, not beside weir_sched_queue_setup(). @return 0, -EINVAL */
int weir_sched_queue_get(
	const struct weir_sched *sched, unsigned int queue, struct weir_sched_queue_config *config);

/** A port's configuration, as it is in force. Any thread, not beside weir_sched_port_setup(). @return 0, -EINVAL */
int weir_sched_port_get(
	const struct weir_sched *sched, unsigned int port, struct weir_sched_port_config *config);

/** A group's ports. Any thread. @return 0, -EINVAL */
int weir_sched_group_get(const struct weir_sched *sched, unsigned int group, uint64_t *ports);

/** Links: the ports that a queue's events may go to now, a bit each, without producers; 0: none, or no such queue. Any thread. */
uint64_t weir_sched_queue_ports(const struct weir_sched *sched, unsigned int queue);

/** Was it started, and not stopped since? Any thread. */
bool weir_sched_running(const struct weir_sched *sched);

/** What is inside where, for people. While running it is about so. */
void weir_sched_dump(struct weir_sched *sched, FILE *file);

#ifdef __cplusplus
}
#endif

#include "weir_sched_fast.h"

#endif
