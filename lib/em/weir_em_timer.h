/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_EM_TIMER_H
#define WEIR_EM_TIMER_H

/**
 * @file
 * Timers: events that are sent at their time.
 *
 * A timer has a resolution, and timeouts. A timeout is armed with an event: once, or with a period. When its time has come, a
 * core that dispatches sends the event to the timeout's queue, with a credit that was reserved when it was armed: it is not refused.
 *
 *     create --> idle --- arm ---> armed --- its time ---> the event is on its way; idle
 *                  ^                 |                           or, with a period: until weir_em_timeout_ack()
 *                  '---- cancel -----'                         whether it was cancelled meanwhile or not
 *
 * Events belong to the timeout while it is armed; after a cancellation they are the caller's again. With a period, the receiver gives the event
 * (or another one) back by weir_em_timeout_ack(), which arms the timeout for the next of the times start, start + period, start + 2
 * periods ... that is still to come; those that were missed are counted as overruns. These times do not drift, however late each event was.
 *
 * Cancelling races with the time itself. Who loses is told: after 0 the event is not sent, and is the caller's; after
 * -EALREADY it has been sent, or is about to be, and will be received.
 *
 * Time is weir_em_timer_now_ns(). Events are never early. They are late by up to the resolution, and then until the core on which
 * the timeout was armed comes to its next round of dispatching. Cores do others' when those are late by 20 us more.
 *
 * There may be as many timeouts armed as there are reserved credits (weir_em_config::nb_reserved), less those of events that
 * are inside still: a receive function that arms its timeout anew has the credit of the last event and wants another.
 *
 * Threads: as weir_em.h has it. Where there is a @p core, it is the caller's, or NULL.
 */

#include "weir_base_hist.h"
#include "weir_em.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most timers of an instance. */
#define WEIR_EM_TIMERS_MAX 64

/** Most timeouts of an instance, of all timers. */
#define WEIR_EM_TIMEOUTS_MAX (1u << 24)

/** How far ahead a timeout can be, in nanoseconds: some 36 years. */
#define WEIR_EM_TIMEOUT_NS_MAX (UINT64_C(1) << 60)

/** What a timer is to be. */
struct weir_em_timer_config {
	const char *name;       /**< copied; NULL: "" */
	uint64_t resolution_ns; /**< how late timeouts may be: 1,000; up to 1 s */
};

/** What is known of a timer. */
struct weir_em_timer_info {
	char name[WEIR_EM_NAME_SIZE]; /**< as it was made */
	uint64_t resolution_ns;       /**< what it is: as asked for, or finer */
	uint32_t nb_timeouts;         /**< there now */
	uint32_t nb_armed;            /**< of these */
};

/** Counters of a timer. armed = fired + cancelled + those that are. */
struct weir_em_timer_stats {
	uint64_t nb_armed;     /**< timeouts armed, by weir_em_timeout_ack() too */
	uint64_t nb_fired;     /**< whose time came */
	uint64_t nb_cancelled; /**< whose event was given back, also when the timer was deleted */
	uint64_t nb_overruns;  /**< periods that were missed */
	uint64_t
		nb_undeliverable; /**< of those that fired: the queue was deleted. Dropped, and the error handler told */
	struct weir_base_hist late_ns; /**< of those that fired: how late, in nanoseconds */
};

/** Where a timeout is on its way. */
enum weir_em_timeout_state {
	WEIR_EM_TIMEOUT_IDLE,  /**< it can be armed */
	WEIR_EM_TIMEOUT_ARMED, /**< its time is to come */
	WEIR_EM_TIMEOUT_ACK, /**< with a period: it waits for weir_em_timeout_ack(), cancelled or not */
};

/** What is known of a timeout. */
struct weir_em_timeout_info {
	enum weir_em_timeout_state state; /**< now */
	weir_em_queue queue;              /**< as it was made */
	uint64_t due_ns;                  /**< when it is due, or was last */
	uint64_t period_ns;               /**< as it was armed last; 0: once */
};

/** The time, in nanoseconds: of the time base, since about when the machine was started. Any thread. */
uint64_t weir_em_timer_now_ns(void);

/** Make a timer. @return WEIR_EM_NONE with rte_errno: EINVAL; ENOSPC: there are as many already, or no room among polls (weir_em_poll_add()); ENOMEM */
weir_em_timer weir_em_timer_create(struct weir_em *em, const struct weir_em_timer_config *config);

/**
 * End a timer, and its timeouts. The events of those that are armed are given to @p back, by the caller's thread; NULL: buffers are freed,
 * other payload is forgotten. When the instance ends, they are given to who takes what is left, see weir_em_destroy().
 *
 * @return 0, -ESTALE, -EINVAL
 */
int weir_em_timer_delete(struct weir_em *em, weir_em_timer timer,
	void (*back)(void *arg, weir_em_timeout timeout, struct rte_event *event), void *arg);

/** Look at a timer. @return 0, -ESTALE, -EINVAL */
int weir_em_timer_info(struct weir_em *em, weir_em_timer timer, struct weir_em_timer_info *info);

/** Counters. @return 0, -ESTALE, -EINVAL */
int weir_em_timer_stats(struct weir_em *em, weir_em_timer timer, struct weir_em_timer_stats *stats);

/** The next timer after @p timer (WEIR_EM_NONE: the first), for who looks at all; WEIR_EM_NONE: no more. */
weir_em_timer weir_em_timer_next(struct weir_em *em, weir_em_timer timer);

/**
 * Make a timeout, which is idle.
 *
 * @param queue  a scheduled one, to which events are sent
 * @return WEIR_EM_NONE with rte_errno: EINVAL, ESTALE, ENOTSUP (no scheduled queue), ENOSPC
 */
weir_em_timeout weir_em_timeout_create(
	struct weir_em *em, weir_em_timer timer, weir_em_queue queue);

/** End a timeout that is not armed. @return 0; -EBUSY: it is; -ESTALE, -EINVAL */
int weir_em_timeout_delete(struct weir_em *em, weir_em_timeout timeout);

/**
 * Arm a timeout, once.
 *
 * @param when_ns  as weir_em_timer_now_ns(); what is over is due at once
 * @param event    its payload, event_type and sub_event_type
 * @return 0; -EBUSY: it is armed, waits for weir_em_timeout_ack() (also after it was cancelled), or another thread is at it; -ENOSPC: no reserved credit is left; -ESTALE;
 *   -EINVAL, also: more than WEIR_EM_TIMEOUT_NS_MAX ahead; -EFAULT: only with -Dem_checks=true: its buffer is not the caller's, the error
 *   handler was told. The event stays the caller's then
 */
int weir_em_timeout_arm_at(struct weir_em *em, struct weir_em_core *core, weir_em_timeout timeout,
	uint64_t when_ns, const struct rte_event *event);

/** As weir_em_timeout_arm_at(), @p delay_ns from now. */
int weir_em_timeout_arm_in(struct weir_em *em, struct weir_em_core *core, weir_em_timeout timeout,
	uint64_t delay_ns, const struct rte_event *event);

/**
 * As weir_em_timeout_arm_at(), with a period: each event that fires is to be given back by weir_em_timeout_ack().
 *
 * @param start_ns   when first; 0: in a period from now
 * @param period_ns  at least 1, up to WEIR_EM_TIMEOUT_NS_MAX
 */
int weir_em_timeout_arm_periodic(struct weir_em *em, struct weir_em_core *core,
	weir_em_timeout timeout, uint64_t start_ns, uint64_t period_ns,
	const struct rte_event *event);

/**
 * The event of a timeout with a period was received; arm it for its next time.
 *
 * @param event     to be sent then: the same, or another one
 * @param overruns  NULL, or how many of its times have been missed since the last one
 * @return 0; -ECANCELED: it was cancelled after it had fired, and can be armed again from now on; -EBUSY: it is armed already; -ENOSPC: no reserved
 *   credit is left: it may be tried again; -EINVAL, also: it was never armed, or last without a period; -ESTALE, -EFAULT as
 *   weir_em_timeout_arm_at(). The event stays the caller's then
 */
int weir_em_timeout_ack(struct weir_em *em, struct weir_em_core *core, weir_em_timeout timeout,
	const struct rte_event *event, uint64_t *overruns);

/**
 * Do not let a timeout fire, any more.
 *
 * @param event  where its event is put; NULL: its buffer is freed, other payload is forgotten
 * @return 0: it will not fire, the event is the caller's; -EALREADY: it fired before, or is not armed: its event, if any, was sent or is about
 *   to be, and there will be no more: weir_em_timeout_ack() will return -ECANCELED; -ESTALE, -EINVAL. Another thread that is just
 *   arming it is waited for
 *
 * With a period, while an event is out after -EALREADY, it is not armed again: that one's acknowledgement could not be told from a later one's.
 * Where nobody will receive it, as its queue was disabled, anybody may call weir_em_timeout_ack() for it, or the timeout is deleted.
 */
int weir_em_timeout_cancel(struct weir_em *em, weir_em_timeout timeout, struct rte_event *event);

/** Look at a timeout. @return 0, -ESTALE, -EINVAL */
int weir_em_timeout_info(
	struct weir_em *em, weir_em_timeout timeout, struct weir_em_timeout_info *info);

#ifdef __cplusplus
}
#endif

#endif
