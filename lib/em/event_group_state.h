/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EVENT_GROUP_STATE_H
#define EVENT_GROUP_STATE_H

/*
 * What an event group is: a word that says which cycle it is in, and how many events that one still waits for. All there is to
 * decide is decided by a compare-and-swap of that word.
 *
 *        word:  | cycle, 40 bits | count, 24 bits |
 *
 *        create                     apply                      last event
 *     -----------> (c, 0) --------------------> (c+1, n) - - - -----------> (c+1, 0)
 *                    ^    via (c+1, SETUP)          |
 *                    |                              | abort
 *                    '---------- (c+2, 0) <---------'
 *
 * Events carry the cycle they were tagged in. An event of another cycle than the group's is stale: it does not count. One
 * of the group's cycle that comes when the count is 0 was one too many. So no event of a cycle that was aborted, or has
 * ended, can count in a later one, before 2^40 cycles have passed while it waited.
 *
 * Who makes the count 0, or aborts, gets the notifications: it copies them before the swap. Had another cycle begun
 * meanwhile, which writes others in their place, the swap would fail, and with it the copy.
 *
 * Tests run every interleaving of these functions: EM_STEP() is before each access that others can see.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "weir_em.h"
#include "weir_em_event_group.h"

#ifndef EM_STEP
#define EM_STEP()
#endif

#define EVENT_GROUP_COUNT_BITS 24
#define EVENT_GROUP_COUNT_MASK ((UINT64_C(1) << EVENT_GROUP_COUNT_BITS) - 1)
/* A count that says: who put it there changes the group, others stay away. */
#define EVENT_GROUP_SETUP EVENT_GROUP_COUNT_MASK

struct event_group {
	uint64_t word;
	uint64_t handle; /* 0: there is none */
	uint64_t nb_notifications;
	struct weir_em_notification notifications[WEIR_EM_NOTIFICATIONS_MAX];
} __attribute__((aligned(64)));

/* What a cycle ends with, and how many events counted just now. */
struct event_group_end {
	uint32_t nb_counted;
	uint32_t nb;
	struct weir_em_notification notifications[WEIR_EM_NOTIFICATIONS_MAX];
};

static inline uint64_t
event_group_word(uint64_t cycle, uint64_t count)
{
	return cycle << EVENT_GROUP_COUNT_BITS | count;
}

static inline uint64_t
event_group_cycle(uint64_t word)
{
	return word >> EVENT_GROUP_COUNT_BITS;
}

static inline uint64_t
event_group_count(uint64_t word)
{
	return word & EVENT_GROUP_COUNT_MASK;
}

static inline uint64_t
event_group_load(const struct event_group *group)
{
	EM_STEP();
	return __atomic_load_n(&group->word, __ATOMIC_ACQUIRE);
}

static inline bool
event_group_swap(struct event_group *group, uint64_t *word, uint64_t cycle, uint64_t count)
{
	EM_STEP();
	return __atomic_compare_exchange_n(&group->word, word, event_group_word(cycle, count),
		false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/*
 * Is it still the one that was created with @handle? Asked after the word was loaded, which is swapped then: a deletion in
 * between changes the word.
 */
static inline bool
event_group_is(const struct event_group *group, uint64_t handle)
{
	EM_STEP();
	return __atomic_load_n(&group->handle, __ATOMIC_ACQUIRE) == handle;
}

/* Part of what may be read while the next cycle's is written; the copy is of no use then. */
static inline void
event_group_copy64(uint64_t *to, const uint64_t *from)
{
	__atomic_store_n(to, __atomic_load_n(from, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

static inline void
event_group_copy(struct weir_em_notification *to, const struct weir_em_notification *from)
{
	EM_STEP();
	event_group_copy64(&to->queue, &from->queue);
	event_group_copy64(&to->event.event, &from->event.event);
	event_group_copy64(&to->event.u64, &from->event.u64);
}

static inline void
event_group_copy_end(struct event_group_end *end, const struct event_group *group)
{
	uint64_t nb;

	EM_STEP();
	event_group_copy64(&nb, &group->nb_notifications);
	end->nb = nb <= WEIR_EM_NOTIFICATIONS_MAX ? (uint32_t)nb : 0;
	for (uint32_t i = 0; i < end->nb; i++)
		event_group_copy(&end->notifications[i], &group->notifications[i]);
}

/* Keep others away, for another cycle, or the end. @return 0 with the new cycle; -ESTALE; -EBUSY: one is under way */
static inline int
event_group_claim(struct event_group *group, uint64_t handle, uint64_t *cycle)
{
	uint64_t word = event_group_load(group);

	do {
		if (!event_group_is(group, handle))
			return -ESTALE;
		if (event_group_count(word) != 0)
			return -EBUSY;
		*cycle = (event_group_cycle(word) + 1) & (UINT64_MAX >> EVENT_GROUP_COUNT_BITS);
	} while (!event_group_swap(group, &word, *cycle, EVENT_GROUP_SETUP));
	return 0;
}

/* After a claim: all of the new cycle can be seen now. */
static inline void
event_group_publish(struct event_group *group, uint64_t cycle, uint64_t count)
{
	EM_STEP();
	__atomic_store_n(&group->word, event_group_word(cycle, count), __ATOMIC_RELEASE);
}

/* @return 0; -ESTALE; -EBUSY: the last cycle is under way */
static inline int
event_group_apply(struct event_group *group, uint64_t handle, uint64_t count,
	const struct weir_em_notification *notifications, uint32_t nb)
{
	uint64_t cycle, nb64 = nb;
	int rc = event_group_claim(group, handle, &cycle);

	if (rc < 0)
		return rc;
	EM_STEP();
	event_group_copy64(&group->nb_notifications, &nb64);
	for (uint32_t i = 0; i < nb; i++)
		event_group_copy(&group->notifications[i], &notifications[i]);
	event_group_publish(group, cycle, count);
	return 0;
}

/* The cycle under way, for events to be tagged with. @return 0; -ESTALE; -ENOENT: none is */
static inline int
event_group_running(const struct event_group *group, uint64_t handle, uint64_t *cycle)
{
	uint64_t word = event_group_load(group), count = event_group_count(word);

	if (!event_group_is(group, handle))
		return -ESTALE;
	*cycle = event_group_cycle(word);
	return count != 0 && count != EVENT_GROUP_SETUP ? 0 : -ENOENT;
}

/* Does an event of @cycle count? @return 0; -ESTALE: that cycle was aborted, or others followed; -EALREADY: it has ended */
static inline int
event_group_check(uint64_t word, uint64_t cycle)
{
	if (event_group_cycle(word) != cycle || event_group_count(word) == EVENT_GROUP_SETUP)
		return -ESTALE;
	return event_group_count(word) > 0 ? 0 : -EALREADY;
}

/*
 * @nb events of @cycle have been processed.
 *
 * @return 0; 1: they were the last ones, @end is what it ends with; -ESTALE or -EALREADY: none of them counts; of more than
 *   were left, those that were do
 */
static inline int
event_group_processed(
	struct event_group *group, uint64_t cycle, uint32_t nb, struct event_group_end *end)
{
	uint64_t word = event_group_load(group), left;
	int rc;

	do {
		rc = event_group_check(word, cycle);
		end->nb_counted = 0;
		if (rc < 0)
			return rc;
		left = event_group_count(word) > nb ? event_group_count(word) - nb : 0;
		end->nb_counted = (uint32_t)(event_group_count(word) - left);
		if (left == 0)
			event_group_copy_end(end, group);
	} while (!event_group_swap(group, &word, cycle, left));
	return left == 0;
}

/* The cycle waits for more. @return 0; -ESTALE, -EALREADY: it does not wait for any; -ERANGE: too many */
static inline int
event_group_increment(struct event_group *group, uint64_t cycle, uint32_t nb)
{
	uint64_t word = event_group_load(group);
	int rc;

	do {
		rc = event_group_check(word, cycle);
		if (rc < 0)
			return rc;
		if (nb > WEIR_EM_EVENT_GROUP_COUNT_MAX - event_group_count(word))
			return -ERANGE;
	} while (!event_group_swap(group, &word, cycle, event_group_count(word) + nb));
	return 0;
}

/* @return 0: nobody will send @end; -ESTALE; -EALREADY: no cycle is under way; -ENOSPC: more than @room */
static inline int
event_group_abort(
	struct event_group *group, uint64_t handle, uint32_t room, struct event_group_end *end)
{
	uint64_t word = event_group_load(group), next;

	do {
		if (!event_group_is(group, handle))
			return -ESTALE;
		if (event_group_count(word) == 0 || event_group_count(word) == EVENT_GROUP_SETUP)
			return -EALREADY;
		event_group_copy_end(end, group);
		/* of a torn copy nothing is believed, this neither */
		if (end->nb > room && event_group_load(group) == word)
			return -ENOSPC;
		next = (event_group_cycle(word) + 1) & (UINT64_MAX >> EVENT_GROUP_COUNT_BITS);
	} while (!event_group_swap(group, &word, next, 0));
	return 0;
}

#endif
