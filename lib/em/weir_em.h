/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_EM_H
#define WEIR_EM_H

/**
 * @file
 * The event machine: execution objects, the queues that they serve, and the cores that run them.
 *
 * Events (struct rte_event) are sent to queues. Each queue belongs to an execution object, whose receive function is called
 * with them by weir_em_dispatch(), on one of the cores of the queue's group:
 *
 *     weir_em_send()                                 weir_em_forward()
 *          |          .------------------------------------------------------.
 *          v          v                                                      |
 *        queue (type, priority, queue group) --> scheduler --> core --> receive(object)
 *
 * An instance is a guest: there may be several, it starts no threads, and EAL belongs to the program. A thread becomes one of its
 * cores, or a producer, by weir_em_core.h.
 *
 * Handles are numbers that are never used again: what was deleted is refused with -ESTALE for ever, and so are handles of any of the
 * 63 instances that were made before or after this one. 0 is no handle.
 *
 * Errors: functions return 0 or a negative errno; those that make something, and return a pointer or a handle: NULL or WEIR_EM_NONE, with
 * rte_errno; those that return how many events they took or gave: fewer than asked for, with rte_errno.
 *
 * Threads: all functions that take an instance may be called by any thread at any time, unless stated otherwise, by receive
 * functions too; those that take a core, by that core's thread only. Where a @p core may be NULL, it is the caller's
 * own: a thread that is a core must give it to functions that wait, so that it does meanwhile what other cores wait for.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_eventdev.h>

#include <weir_sched.h>

#include "weir_em_core.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Handles. */
typedef uint64_t weir_em_object;      /**< execution object */
typedef uint64_t weir_em_queue;       /**< queue */
typedef uint64_t weir_em_queue_group; /**< cores that serve queues */
typedef uint64_t weir_em_event_group; /**< events that are counted together */
typedef uint64_t weir_em_timer;       /**< timer */
typedef uint64_t weir_em_timeout;     /**< what a timer will send */
typedef uint64_t weir_em_pool;        /**< pool of events */

/** No object, queue, group ... */
#define WEIR_EM_NONE UINT64_C(0)

/** Worker cores, producers and timers' port together stay below the ports of a scheduler: one is kept. */
#define WEIR_EM_CORES_MAX (WEIR_SCHED_PORTS_MAX - 1)

/** Most queues: a flow number of the scheduler each. */
#define WEIR_EM_QUEUES_MAX (1u << 20)

/** Priorities, 0 the highest. */
#define WEIR_EM_PRIORITIES 8

/** Characters of a name, its end included; longer ones are refused. */
#define WEIR_EM_NAME_SIZE 32

/** Most events that a dispatch round takes of local queues, or from the scheduler, and that a receive function gets at once. */
#define WEIR_EM_BURST_MAX 128

/** What a queue does with events. */
enum weir_em_queue_type {
	WEIR_EM_QUEUE_ATOMIC,      /**< one core at a time, in order */
	WEIR_EM_QUEUE_PARALLEL,    /**< any cores, no order */
	WEIR_EM_QUEUE_ORDERED,     /**< any cores; what they forward is in order again */
	WEIR_EM_QUEUE_UNSCHEDULED, /**< a ring: weir_em_queue_dequeue() gets them */
	WEIR_EM_QUEUE_LOCAL,  /**< served by the core that sent them; by priority, before others */
	WEIR_EM_QUEUE_OUTPUT, /**< a function gets them */
	WEIR_EM_QUEUE_TYPES
};

/** Why an event was not delivered. Each is counted; error handlers are told, with the code that stands behind each. */
enum weir_em_drop {
	WEIR_EM_DROP_DELETED,  /**< its queue had been deleted: -ESTALE */
	WEIR_EM_DROP_DISABLED, /**< its queue was disabled, or its object not started: -EPERM */
	WEIR_EM_DROP_DETACHED, /**< its queue belonged to no object: -ENOENT */
	WEIR_EM_DROP_UNKNOWN,  /**< it was not sent by this instance: no such queue: -EINVAL */
	WEIR_EM_DROP_OUTPUT,   /**< an output function did not take it: -ENOSPC */
	WEIR_EM_DROP_STOPPED, /**< it was inside when the instance was destroyed: who takes what is left gets it, error handlers do not */
	WEIR_EM_DROPS
};

/** What went wrong. */
enum weir_em_error_kind {
	WEIR_EM_ERROR_ARGUMENT, /**< a function that has a core was given what is not allowed */
	WEIR_EM_ERROR_HANDLE,   /**< likewise a handle of something that is gone, or never was */
	WEIR_EM_ERROR_NOT_HELD, /**< an event was forwarded that its receive function does not hold, or twice */
	WEIR_EM_ERROR_DROP,        /**< an event could not be delivered */
	WEIR_EM_ERROR_DOUBLE_FREE, /**< only with -Dem_checks=true: an event was freed twice */
	WEIR_EM_ERROR_SEND_FREED,  /**< likewise: an event was sent after it had been freed */
	WEIR_EM_ERROR_SEND_TWICE,  /**< likewise: an event was sent that was sent already */
	WEIR_EM_ERROR_FREE_SENT,   /**< likewise: an event was freed after it had been sent */
	WEIR_EM_ERROR_APPLICATION, /**< weir_em_error_raise() */
	WEIR_EM_ERRORS
};

/** What an error handler is told. */
struct weir_em_error {
	enum weir_em_error_kind kind; /**< what */
	int code;                     /**< negative errno; of an application's error, its own */
	enum weir_em_drop drop;       /**< of WEIR_EM_ERROR_DROP: why */
	weir_em_object object;   /**< whose receive function runs, or whose event it was; or none */
	weir_em_queue queue;     /**< the queue that is meant; or none */
	const char *object_name; /**< "" if it is none, or gone; valid during the call, like all */
	const char *queue_name;  /**< likewise */
	const char *where;       /**< function, for people */
	struct rte_event *event; /**< the event that is meant, or NULL */
};

/** An error handler's answer about an event that could not be delivered: it took over the payload. */
#define WEIR_EM_TAKEN INT32_MAX

/**
 * An error handler. Runs in the thread that made the error.
 *
 * An object's own is asked first: what it returns goes to the instance's as error->code; unless it returned 0 (nothing is wrong) or
 * WEIR_EM_TAKEN, which end it. The function that met the error returns what came of it.
 *
 * Errors that a handler makes itself are counted, and logged (at most once a second): no handler is asked about them. In a
 * coroutine it must not yield.
 *
 * @param core  where; NULL: in a thread that is none
 * @return error->code, another one, 0, or WEIR_EM_TAKEN
 */
typedef int (*weir_em_error_handler_t)(struct weir_em *em, struct weir_em_core *core,
	const struct weir_em_error *error, void *arg);

/**
 * An object's work. The events belong to it: each is forwarded, or its payload freed, kept or sent anew. What it did not forward is
 * released by the scheduler at the core's next round at the latest.
 *
 * Of the events of one round, a queue's come together, in their order, whatever other queues' events came between them; only those of
 * other priorities part them.
 *
 * @param core     the core that runs it
 * @param context  the object's
 * @param events   with payload in mbuf, event_ptr or u64; what else is in them is the machine's, but for sub_event_type
 * @param nb       1 up to the object's burst, all of one queue
 * @param queue    theirs
 * @param queue_context  as the queue was made with
 */
typedef void (*weir_em_receive_t)(struct weir_em_core *core, void *context,
	struct rte_event *events, uint16_t nb, weir_em_queue queue, void *queue_context);

/**
 * A start or stop function of an object. Events that it sends reach queues once the start is complete.
 *
 * @return 0, or a negative errno: the first one that any of them returned becomes the operation's result
 */
typedef int (*weir_em_start_t)(
	struct weir_em_core *core, void *context, weir_em_object object, void *arg);

/**
 * What an output queue does with events. Those forwarded from ordered queues come in order, on one core at a time; all
 * others at once, on the core that sends them, so it may run on several.
 *
 * @return how many it took, from the first on. What is left stays the sender's; what came in order is dropped, and counted
 */
typedef uint16_t (*weir_em_output_t)(struct weir_em_core *core, void *context,
	struct rte_event *events, uint16_t nb, weir_em_queue queue);

/**
 * Called before and after receive functions.
 *
 * @param nb  events of the call. Before: they may be changed, but for what leads them (queue, flow, operation)
 */
typedef void (*weir_em_dispatch_callback_t)(struct weir_em_core *core, weir_em_object object,
	weir_em_queue queue, struct rte_event *events, uint16_t nb, void *arg);

/** What an instance is to be. Numbers that are 0 have the default. */
struct weir_em_config {
	const char *backend;   /**< of the scheduler: "builtin" (also NULL), or "eventdev:NAME" */
	unsigned int nb_cores; /**< workers that can be attached: 1 */
	unsigned int nb_producers; /**< threads that only send: 0 */
	unsigned int nb_queues;    /**< up to WEIR_EM_QUEUES_MAX: 1,024 */
	unsigned int nb_objects;   /**< 256 */
	unsigned int
		nb_queue_groups; /**< with the default one, up to 63: 8, or as many as an event device has queues for */
	unsigned int nb_pools;        /**< 16 */
	unsigned int nb_event_groups; /**< up to WEIR_EM_EVENT_GROUPS_MAX: 1,024 */
	unsigned int nb_timers;       /**< up to WEIR_EM_TIMERS_MAX: 8 */
	unsigned int nb_timeouts;     /**< of all timers, up to WEIR_EM_TIMEOUTS_MAX: 1,024 */
	uint8_t types; /**< bit mask of scheduled queue types: 0: all that the scheduler has */
	uint8_t priorities; /**< bit mask of scheduled priorities: 0: all that the scheduler has. One alone is cheaper */
	uint32_t nb_events;   /**< most events in the scheduler, a power of two: 4,096 */
	uint32_t nb_reserved; /**< of these for timers and other reserved credit: 0 */
	uint32_t
		new_threshold; /**< sends are refused from so many inside: nb_events - nb_reserved */
	unsigned int starvation_bound; /**< of the scheduler: weir_sched_config::starvation_bound */
	unsigned int priority_slack_ns; /**< likewise: weir_sched_config::priority_slack_ns */
	/** Likewise: weir_sched_config::idle_sleep_us. Events and control functions wake a core; its timeouts, what it polls, and the end of what
	 * weir_em_dispatch() was asked to do wait until it wakes */
	unsigned int idle_sleep_us;
	uint32_t
		nb_local_events; /**< of each core's local queues together, per priority, a power of two: 1,024 */
	int socket_id; /**< NUMA node of the memory, -1: any */
};

/** What an object is to be. */
struct weir_em_object_config {
	const char *name;          /**< copied; NULL: "" */
	void *context;             /**< for the functions below */
	weir_em_receive_t receive; /**< must be */
	uint16_t burst;            /**< most events of a call, up to WEIR_EM_BURST_MAX: 1 */
	weir_em_start_t
		start; /**< once, on the core that starts it; NULL: nothing to do. All likewise */
	weir_em_start_t
		core_start; /**< after that, on every core; and on cores that are attached later (arg NULL then) */
	weir_em_start_t
		core_stop; /**< on every core; and on cores that are detached while it runs (arg NULL then) */
	weir_em_start_t stop;                  /**< once, after all of those */
	weir_em_error_handler_t error_handler; /**< the object's own; NULL: none */
	void *error_arg;                       /**< for it */
};

/** What a queue is to be. All zero: atomic, of the highest priority, for all cores. */
struct weir_em_queue_config {
	const char *name;             /**< copied; NULL: "" */
	enum weir_em_queue_type type; /**< what it does with events */
	uint8_t priority;             /**< 0 to 7; of scheduled and local queues */
	weir_em_queue_group
		group; /**< of scheduled ones; WEIR_EM_NONE: the default group, all cores */
	void *context; /**< for receive or output functions */
	weir_em_output_t output; /**< of an output queue */
	uint32_t size;           /**< of an unscheduled one: most events in it, 1,024 */
};

/**
 * Tell who waits for an operation: @p event is sent to @p queue once it is complete, whatever is inside by then. It stays the caller's
 * where the operation is refused; otherwise it is not any more. Builds with -Dem_checks=true refuse one that is not the caller's
 * buffer with -EFAULT; error handlers were told.
 */
struct weir_em_notification {
	weir_em_queue queue;    /**< where to */
	struct rte_event event; /**< payload; sub_event_type is kept */
};

/** What a core does when there is nothing to do. */
enum weir_em_idle {
	WEIR_EM_IDLE_POLL, /**< look again */
	WEIR_EM_IDLE_PAUSE, /**< look again after some pause instructions, which leave the core to its sibling */
	WEIR_EM_IDLE_YIELD, /**< let other threads have the CPU: where there are more threads than CPUs */
	WEIR_EM_IDLE_SLEEP, /**< after 64 rounds with nothing to do, for sleep_us each */
};

/** How long to dispatch. What is 0 does not limit; all 0: until it is told to stop. */
struct weir_em_dispatch_options {
	uint64_t duration_ns; /**< at least so long */
	uint64_t nb_rounds;   /**< so many looks for events */
	uint64_t nb_events;   /**< until so many were dispatched; the last round may bring more */
	uint16_t
		burst; /**< most events of a round: of local queues, and as many from the scheduler; up to WEIR_EM_BURST_MAX: 32 */
	enum weir_em_idle idle; /**< what to do without work */
	uint32_t sleep_us;      /**< WEIR_EM_IDLE_SLEEP: 50 */
};

/** Counters of an instance or a core. */
struct weir_em_stats {
	uint64_t
		nb_sent; /**< events taken by weir_em_send(), and sent by the machine itself (timers, notifications) */
	uint64_t nb_forwarded; /**< by weir_em_forward() */
	uint64_t nb_refused;   /**< not taken: no credit, or a full ring */
	uint64_t
		nb_received; /**< given to receive functions, output functions, or by weir_em_queue_dequeue() */
	uint64_t nb_calls;  /**< of receive functions */
	uint64_t nb_rounds; /**< looks for events */
	uint64_t nb_idle;   /**< of these, with nothing there */
	uint64_t nb_ended;  /**< events released early: weir_em_atomic_end(), weir_em_order_end() */
	uint64_t nb_errors; /**< error handlers called, or that would have been */
	uint64_t nb_dropped[WEIR_EM_DROPS]; /**< events not delivered, by reason */
};

/**
 * Counters of queues. sent = received + dropped + what is inside: whenever they are read, no more has come out than went in; those that
 * somebody is just sending count as sent, though they may yet be refused.
 */
struct weir_em_queue_stats {
	uint64_t nb_sent;     /**< sent or forwarded to it */
	uint64_t nb_received; /**< given on */
	uint64_t nb_dropped;  /**< not delivered */
};

/** What is known of a queue. */
struct weir_em_queue_info {
	char name[WEIR_EM_NAME_SIZE];     /**< as it was made */
	enum weir_em_queue_type type;     /**< likewise */
	uint8_t priority;                 /**< likewise */
	bool enabled;                     /**< events are delivered */
	weir_em_queue_group group;        /**< of scheduled ones */
	weir_em_object object;            /**< whose it is, or WEIR_EM_NONE */
	void *context;                    /**< as it was made, or set since */
	struct weir_em_queue_stats stats; /**< since it was made */
};

/** Where an object is on its way. */
enum weir_em_object_state {
	WEIR_EM_OBJECT_CREATED, /**< also: stopped */
	WEIR_EM_OBJECT_STARTING,
	WEIR_EM_OBJECT_RUNNING,
	WEIR_EM_OBJECT_STOPPING,
};

/** What is known of an object. */
struct weir_em_object_info {
	char name[WEIR_EM_NAME_SIZE];    /**< as it was made */
	enum weir_em_object_state state; /**< now */
	void *context;                   /**< as it was made */
	unsigned int nb_queues;          /**< that belong to it */
	uint64_t nb_received;            /**< events */
	uint64_t nb_calls;               /**< of its receive function */
};

/** A bit for weir_em_object_delete(). */
#define WEIR_EM_REMOVE_QUEUES 1u

/**
 * Make an instance, with a scheduler of its own, which runs when this returns. EAL must be up.
 *
 * @param name  for logs; copied
 * @return NULL with rte_errno: EINVAL, ENOTSUP (the scheduler cannot; event_opdl never can), ENODEV, ENOMEM; the log says why
 */
struct weir_em *weir_em_create(const char *name, const struct weir_em_config *config);

/**
 * End an instance: all cores must be detached, and no other thread in a function of it. Every event still inside is given to @p drain;
 * without one, those with buffers of weir_em_alloc() are freed. Objects are not stopped: that is for before.
 *
 * @return 0; -EBUSY: there are cores; -EINVAL
 */
int weir_em_destroy(struct weir_em *em,
	void (*drain)(void *arg, weir_em_queue queue, struct rte_event *event), void *arg);

/** Its name; "" of none. */
const char *weir_em_name(const struct weir_em *em);

/** The configuration that is in force: its own defaults filled in. The scheduler's (backend, events, credits) are as they were given; it knows. @return 0, -EINVAL */
int weir_em_config_get(const struct weir_em *em, struct weir_em_config *config);

/** Its scheduler, to look at. */
struct weir_sched *weir_em_sched(struct weir_em *em);

/**
 * Make an object. It gets no events until it was started.
 *
 * @return WEIR_EM_NONE with rte_errno: EINVAL, ENOSPC
 */
weir_em_object weir_em_object_create(
	struct weir_em *em, const struct weir_em_object_config *config);

/**
 * End an object that does not run. Waits until no core is in its receive function, but for the caller's, also if such a core waits there itself,
 * or in a start or stop function that runs there: two that stop or delete the objects of each other's receive functions wait for ever (the log
 * tells). An object that deletes itself in its receive function is gone when this returns: the call is its last one, and belongs to no other
 * object, whatever is made meanwhile.
 *
 * @param core   the caller's, or NULL
 * @param flags  WEIR_EM_REMOVE_QUEUES: its queues belong to nobody then; without it there may be none
 * @return 0; -EBUSY: it runs, or has queues; -ESTALE, -EINVAL
 */
int weir_em_object_delete(
	struct weir_em *em, struct weir_em_core *core, weir_em_object object, unsigned int flags);

/**
 * Start an object: its start function here, its core_start on every core; then its queues are enabled, and events that were sent by
 * those functions are sent. If one fails, no queue is enabled, and nothing was sent; stop functions are not called.
 *
 * Waits for all cores that are attached: each must be in weir_em_dispatch(), or come there. There is no end to that: after a second,
 * and every ten seconds from then on, the log tells which cores are waited for.
 *
 * @param core  the caller's, or NULL (never, if it is a core: it would wait for itself): then functions that want one get a producer's
 * @param arg   for the start functions
 * @return 0; -EBUSY: it is not stopped; what a start function returned; -ESTALE, -EINVAL
 */
int weir_em_object_start(
	struct weir_em *em, struct weir_em_core *core, weir_em_object object, void *arg);

/** As weir_em_object_start(), but does not wait for other cores: sends @p done when all have started. How it went tells weir_em_object_info(). */
int weir_em_object_start_async(struct weir_em *em, struct weir_em_core *core, weir_em_object object,
	void *arg, const struct weir_em_notification *done);

/**
 * Stop an object: its queues are disabled; its core_stop runs on every core, its stop function on the last one of them. Waits as
 * weir_em_object_start() does, and for receive functions as weir_em_object_delete().
 *
 * @return 0; -EBUSY: it does not run; what a stop function returned (it is stopped then, too); -ESTALE, -EINVAL
 */
int weir_em_object_stop(
	struct weir_em *em, struct weir_em_core *core, weir_em_object object, void *arg);

/** As weir_em_object_stop(), but does not wait for other cores: sends @p done when it is stopped. */
int weir_em_object_stop_async(struct weir_em *em, struct weir_em_core *core, weir_em_object object,
	void *arg, const struct weir_em_notification *done);

/** Look at an object. @return 0, -ESTALE, -EINVAL */
int weir_em_object_info(
	struct weir_em *em, weir_em_object object, struct weir_em_object_info *info);

/** The object of a name, of several the one with the lowest number; WEIR_EM_NONE: there is none. */
weir_em_object weir_em_object_find(struct weir_em *em, const char *name);

/**
 * Make a queue. Unscheduled and output queues work at once, others want an object.
 *
 * @return WEIR_EM_NONE with rte_errno: EINVAL, ENOSPC, ENOTSUP (the scheduler has no such type or priority), ENOMEM, ESTALE
 */
weir_em_queue weir_em_queue_create(struct weir_em *em, const struct weir_em_queue_config *config);

/**
 * End a queue that belongs to no object. Events that are in it are counted as WEIR_EM_DROP_DELETED and told to the error
 * handler, each as its turn comes; of an unscheduled one, now.
 *
 * @return 0; -EBUSY: it belongs to an object; -ESTALE, -EINVAL
 */
int weir_em_queue_delete(struct weir_em *em, weir_em_queue queue);

/** Give a queue to an object, which may run. @return 0; -EBUSY: it has one; -ENOTSUP: unscheduled or output; -ESTALE, -EINVAL */
int weir_em_object_add_queue(struct weir_em *em, weir_em_object object, weir_em_queue queue);

/**
 * Take a queue from its object. Waits until no core but the caller's is in a receive function with its events; one that waits there
 * itself, in a function of this machine, is not waited for, as both might wait for ever: it may have some of them yet.
 *
 * @return 0; -ENOENT: it belongs to none; -ESTALE, -EINVAL
 */
int weir_em_object_remove_queue(struct weir_em *em, struct weir_em_core *core, weir_em_queue queue);

/** Deliver a queue's events again. Queues are enabled when made. @return 0, -ENOTSUP: unscheduled or output; -ESTALE, -EINVAL */
int weir_em_queue_enable(struct weir_em *em, weir_em_queue queue);

/** Deliver no more of a queue's events: they are dropped, and counted. Waits as weir_em_object_remove_queue() does. @return as weir_em_queue_enable() */
int weir_em_queue_disable(struct weir_em *em, struct weir_em_core *core, weir_em_queue queue);

/** Change a queue's context, from some call of the receive function on. @return 0, -ESTALE, -EINVAL */
int weir_em_queue_set_context(struct weir_em *em, weir_em_queue queue, void *context);

/** Look at a queue. @return 0, -ESTALE, -EINVAL */
int weir_em_queue_info(struct weir_em *em, weir_em_queue queue, struct weir_em_queue_info *info);

/** The queue of a name, the one with the lowest number; WEIR_EM_NONE: there is none. */
weir_em_queue weir_em_queue_find(struct weir_em *em, const char *name);

/** Take events out of an unscheduled queue, by any thread. @return how many; 0 also with rte_errno EINVAL, ESTALE */
uint16_t weir_em_queue_dequeue(
	struct weir_em *em, weir_em_queue queue, struct rte_event *events, uint16_t nb);

/** The group of all cores. */
weir_em_queue_group weir_em_queue_group_default(const struct weir_em *em);

/**
 * Make a queue group.
 *
 * @param cores  a bit for each core, attached now or not; none: its queues' events wait
 * @return WEIR_EM_NONE with rte_errno: EINVAL, ENOSPC (also while events are left of deleted queues of deleted groups)
 */
weir_em_queue_group weir_em_queue_group_create(
	struct weir_em *em, const char *name, uint64_t cores);

/** End a queue group that no queue is in. @return 0; -EBUSY; -ESTALE, -EINVAL (the default group too) */
int weir_em_queue_group_delete(struct weir_em *em, weir_em_queue_group group);

/**
 * Change a group's cores. Returns when no core that is out of it is in a receive function with events of its queues, but for
 * the caller's, and for those that wait as weir_em_object_remove_queue() has it; on event_sw such a core may still receive what the device had for it before. Atomic and ordered queues stay so throughout.
 *
 * @return 0; -ENOTSUP: the device cannot, as event_dsw, and event_sw if there are ordered queues; -ESTALE, -EINVAL
 */
int weir_em_queue_group_modify(
	struct weir_em *em, struct weir_em_core *core, weir_em_queue_group group, uint64_t cores);

/** As weir_em_queue_group_modify(), but does not wait: sends @p done when it is so. */
int weir_em_queue_group_modify_async(struct weir_em *em, struct weir_em_core *core,
	weir_em_queue_group group, uint64_t cores, const struct weir_em_notification *done);

/** A group's cores, attached or not. @return 0, -ESTALE, -EINVAL */
int weir_em_queue_group_mask(struct weir_em *em, weir_em_queue_group group, uint64_t *cores);

/** The queue group of a name; WEIR_EM_NONE: there is none. The default one is "default". */
weir_em_queue_group weir_em_queue_group_find(struct weir_em *em, const char *name);

/** Set the instance's error handler; NULL: none, errors are counted and logged (at most once a second). */
void weir_em_error_handler_set(struct weir_em *em, weir_em_error_handler_t handler, void *arg);

/** Set an object's error handler; NULL: none. @return 0, -ESTALE, -EINVAL */
int weir_em_object_error_handler_set(
	struct weir_em *em, weir_em_object object, weir_em_error_handler_t handler, void *arg);

/** Raise an error of the application's: its object's handler and the instance's are asked. @return what came of it */
int weir_em_error_raise(struct weir_em_core *core, int code, const char *where);

/** Have a function called before receive functions, after those registered earlier. Up to 8. @return 0, -ENOSPC, -EINVAL, -EEXIST */
int weir_em_dispatch_enter_add(struct weir_em *em, weir_em_dispatch_callback_t callback, void *arg);

/** Likewise after receive functions, in the order of registration. */
int weir_em_dispatch_exit_add(struct weir_em *em, weir_em_dispatch_callback_t callback, void *arg);

/** No more. It may be running on another core until that one's round is over. @return 0, -ENOENT */
int weir_em_dispatch_enter_remove(
	struct weir_em *em, weir_em_dispatch_callback_t callback, void *arg);

/** Likewise. */
int weir_em_dispatch_exit_remove(
	struct weir_em *em, weir_em_dispatch_callback_t callback, void *arg);

/** What cores do in each round, beside dispatching. Of a core's thread; it must be short. */
typedef void (*weir_em_poll_t)(struct weir_em_core *core, void *arg);

/**
 * Have a function called by each core in each round of weir_em_dispatch(), before it looks for events: for what is not an event
 * yet. Not in a receive function, so nothing can be forwarded. Up to 4, one of which timers take.
 *
 * @return 0, -ENOSPC, -ENOMEM, -EINVAL, -EEXIST
 */
int weir_em_poll_add(struct weir_em *em, weir_em_poll_t poll, void *arg);

/** No more. Returns when no core is in it, but for the caller's. @param core  the caller's, or NULL @return 0, -ENOENT, -EINVAL, -ENOMEM */
int weir_em_poll_remove(
	struct weir_em *em, struct weir_em_core *core, weir_em_poll_t poll, void *arg);

/**
 * Returns when each core has been outside of receive functions and polls since it was called, but for the caller's, and for those that wait as
 * weir_em_object_remove_queue() has it. @return 0, -EINVAL, -ENOMEM
 */
int weir_em_quiesce(struct weir_em *em, struct weir_em_core *core);

/** All cores' weir_em_dispatch() return soon, also those called later, until weir_em_resume(). */
void weir_em_stop(struct weir_em *em);

/** Cores may dispatch again. */
void weir_em_resume(struct weir_em *em);

/** Counters of all cores, those that are detached too. */
void weir_em_stats(const struct weir_em *em, struct weir_em_stats *stats);

/** Counters of one core or producer. @return 0; -EINVAL: no such number */
int weir_em_core_stats(const struct weir_em *em, unsigned int id, struct weir_em_stats *stats);

/** Counters of all queues of a type, of those deleted too. @return 0, -EINVAL */
int weir_em_type_stats(
	struct weir_em *em, enum weir_em_queue_type type, struct weir_em_queue_stats *stats);

/** All that is there, for people: cores, groups, objects, pools, the first event groups, timers, and up to @p max_queues queues. */
void weir_em_dump(struct weir_em *em, FILE *file, unsigned int max_queues);

/** "atomic", "parallel" ... */
const char *weir_em_queue_type_name(enum weir_em_queue_type type);

/** "deleted", "disabled" ... */
const char *weir_em_drop_name(enum weir_em_drop drop);

/** "not held", "double free" ... */
const char *weir_em_error_name(enum weir_em_error_kind kind);

#ifdef __cplusplus
}
#endif

#include "weir_em_fast.h"

#endif
