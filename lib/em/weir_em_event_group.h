/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_EM_EVENT_GROUP_H
#define WEIR_EM_EVENT_GROUP_H

/**
 * @file
 * Event groups: when all of some events have been processed, notifications are sent. Fork and join.
 *
 *     apply(3, notification)
 *          |
 *          |   .--> event of the group --> receive() --.
 *     send +---+--> event of the group --> receive() --+--> count is 0: notification is sent
 *              '--> event of the group --> receive() --'
 *
 * A group goes through cycles. weir_em_event_group_apply() begins one, with a count and notifications. Events that were tagged with
 * the group count it down, each when its receive function returns, or at weir_em_event_group_processing_end(). At 0 the notifications
 * are sent, exactly once, through reserved credits: they are not refused. The group is ready for another cycle before they are.
 *
 * Credits are reserved when a cycle begins, one for each notification (weir_em_config::nb_reserved is how many there are), and given
 * back when the receive function of the notification has ended. So one that begins the next cycle wants others, though the group is
 * ready: a chain of cycles with one notification each takes two.
 *
 * While a receive function runs with events of a group, that is the core's current group. It may be assigned to others, and
 * incremented: what it forks then is waited for, too.
 *
 * An event carries the group and the cycle in its buffer; so only buffers (WEIR_EM_EVENT_BUFFER) can be sent with a group. Where it is
 * sent on by weir_em_send() or weir_em_forward(), it is in no group any more. An event that is dropped, for example because its
 * queue was disabled, counts, too: nobody would wait for it in vain. Whoever cares looks at the counters of what was dropped.
 *
 * Events that come after their cycle was aborted, or that are more than the count, are delivered all the same, without a
 * current group; they are told apart in weir_em_event_group_stats, and count nothing down, in later cycles neither.
 *
 * Threads: as weir_em.h has it.
 */

#include "weir_em.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most notifications of a cycle. */
#define WEIR_EM_NOTIFICATIONS_MAX 8

/** Most events that a cycle can wait for at a time. */
#define WEIR_EM_EVENT_GROUP_COUNT_MAX ((UINT32_C(1) << 24) - 2)

/** Most event groups of an instance: weir_em_config::nb_event_groups. */
#define WEIR_EM_EVENT_GROUPS_MAX (1u << 20)

/** What is known of an event group. */
struct weir_em_event_group_info {
	uint32_t count; /**< events that are waited for; 0: it is ready for another cycle */
	uint32_t nb_notifications; /**< of the cycle under way, or else the last one */
	uint64_t cycle;            /**< a number that is another one for each cycle */
};

/** Counters of all event groups of an instance. */
struct weir_em_event_group_stats {
	uint64_t nb_groups; /**< there now */
	uint64_t
		nb_applied; /**< cycles begun; those that have neither completed nor been aborted are under way */
	uint64_t nb_completed; /**< of these, come to 0 */
	uint64_t nb_aborted;   /**< of these, aborted, by the end of the instance too */
	uint64_t nb_events;    /**< events that counted */
	uint64_t
		nb_stale; /**< events of cycles that had been aborted, or that others had followed */
	uint64_t nb_excess;        /**< events more than the count */
	uint64_t nb_notifications; /**< sent */
	uint64_t
		nb_undeliverable; /**< notifications that found their queue deleted: dropped, the error handler was told */
};

/** Make an event group. @return WEIR_EM_NONE with rte_errno: ENOSPC, ENOMEM, EINVAL */
weir_em_event_group weir_em_event_group_create(struct weir_em *em);

/** End an event group. @return 0; -EBUSY: a cycle is under way; -ESTALE, -EINVAL */
int weir_em_event_group_delete(struct weir_em *em, weir_em_event_group group);

/**
 * Begin a cycle.
 *
 * @param count          events that it waits for, 1 to WEIR_EM_EVENT_GROUP_COUNT_MAX
 * @param notifications  what to send after that: the events belong to the group, until they are sent or handed back
 * @param nb             how many, up to WEIR_EM_NOTIFICATIONS_MAX; 0: just count
 * @return 0; -EBUSY: a cycle is under way; -ENOSPC: no reserved credit is left for the notifications (weir_em_config::nb_reserved);
 *   -ENOTSUP: a notification's queue is not scheduled; -ESTALE, -EINVAL: no such group, or queue, or other arguments are wrong;
 *   -EFAULT: only with -Dem_checks=true: a notification's buffer is not the caller's. The events stay the caller's then
 */
int weir_em_event_group_apply(struct weir_em *em, weir_em_event_group group, uint32_t count,
	const struct weir_em_notification *notifications, unsigned int nb);

/**
 * Abort the cycle under way: what is left of its events counts no more, its notifications will not be sent, and another cycle can
 * begin. There is a race with the last event, and one of them wins: after 0 the notifications are the caller's; after -EALREADY they
 * have been sent, or are about to be.
 *
 * @param notifications  where they are put; NULL: their buffers are freed, and other payload is forgotten
 * @param room           how many may be put there
 * @param nb             how many there were; may be NULL
 * @return 0; -EALREADY: no cycle is under way (any more); -ENOSPC: more than @p room, nothing was done; -ESTALE, -EINVAL
 */
int weir_em_event_group_abort(struct weir_em *em, weir_em_event_group group,
	struct weir_em_notification *notifications, unsigned int room, unsigned int *nb);

/**
 * As weir_em_send(), of buffers, that count in the group's cycle which is under way now.
 *
 * @return how many were taken; fewer with rte_errno, as weir_em_send(); ENOENT: no cycle is under way; ENOTSUP: to an unscheduled or output queue; ESTALE, EINVAL: also no such
 *   group, or one is no buffer: none was taken
 */
uint16_t weir_em_event_group_send(struct weir_em_core *core, weir_em_queue queue,
	struct rte_event *events, uint16_t nb, weir_em_event_group group);

/** As weir_em_forward_burst(), otherwise as weir_em_event_group_send(). */
uint16_t weir_em_event_group_forward(struct weir_em_core *core, weir_em_queue queue,
	struct rte_event *events, uint16_t nb, weir_em_event_group group);

/** The current group; WEIR_EM_NONE: there is none, or its cycle is over: aborted, or more events came than were counted. */
weir_em_event_group weir_em_event_group_current(const struct weir_em_core *core);

/**
 * Make a group the current one, within a receive function: the events that it was called with count in the cycle that is
 * under way, as if they had been sent with the group.
 *
 * @return 0; -EBUSY: there is a current one; -ENOENT: no cycle is under way; -ESTALE; -EINVAL: outside of a receive function
 */
int weir_em_event_group_assign(struct weir_em_core *core, weir_em_event_group group);

/**
 * The current group's cycle waits for @p nb more.
 *
 * @return 0; -ENOENT: there is no current one; -ESTALE, -EALREADY: its cycle was aborted, or has ended because more events came
 *   than were counted; -ERANGE: above WEIR_EM_EVENT_GROUP_COUNT_MAX; -EINVAL: 0
 */
int weir_em_event_group_increment(struct weir_em_core *core, uint32_t nb);

/** The current group's events that are being received count now, and there is no current group any more. Without one: nothing. */
void weir_em_event_group_processing_end(struct weir_em_core *core);

/** Look at a group. @return 0, -ESTALE, -EINVAL */
int weir_em_event_group_info(
	struct weir_em *em, weir_em_event_group group, struct weir_em_event_group_info *info);

/** The next group after @p group (WEIR_EM_NONE: the first), for who looks at all; WEIR_EM_NONE: no more. */
weir_em_event_group weir_em_event_group_next(struct weir_em *em, weir_em_event_group group);

/** Counters. */
void weir_em_event_group_stats(const struct weir_em *em, struct weir_em_event_group_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
