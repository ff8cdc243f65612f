/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_EVENT_LIST_H
#define SIM_EVENT_LIST_H

/*
 * What is going to happen, the earliest first: a heap in which each event has up to four below it.
 *
 *          0            An event lies before all below it. Four children are 96 bytes in a row, two cache lines;
 *     1  2  3  4        a million events have ten levels, where two children each would make it twenty.
 *   5..8 ...            What is scheduled lately mostly stays low: pushing moves few.
 *
 * What was taken leaves a gap at the top. Most events schedule another one, which goes down from there as far as it must, often not
 * far; otherwise the last one does, when the next is asked for.
 *
 * Order: time, then priority, then the sequence of scheduling; all of it is one number of 128 bits.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir_sim_stats.h"

#pragma GCC visibility push(hidden)

/* Lower ones first. What has been worked on leaves before something new comes, so that it finds the room. */
enum event_priority {
	EVENT_PRIORITY_DONE,
	EVENT_PRIORITY_ARRIVAL,
};

enum event_kind {
	EVENT_ARRIVAL, /* of a stream */
	EVENT_CORE,    /* has done a step */
	EVENT_TRIGGER, /* a stream's next burst begins */
	EVENT_BURST,   /* a packet of a burst */
	EVENT_SERVER,  /* of a unit is done */
	EVENT_WRITTEN, /* what a packet held of a memory is in its last level */
	EVENT_PORT,    /* its link has sent a packet */
	EVENT_JOB,     /* that of a lane has waited */
	EVENT_TIMEOUT, /* of a fragment */
};

#define EVENT_INDEX_BITS          24 /* of what it happens to */
#define EVENT_PRIORITY_BITS       4
#define EVENT_TARGET(kind, index) ((uint32_t)(kind) << EVENT_INDEX_BITS | (index))

struct sim_event {
	uint64_t time_ps;
	uint64_t order; /* priority, sequence */
	uint32_t target;
	uint32_t stamp; /* what it happens to may have another one by then: it does not happen */
};

struct event_list {
	struct sim_event *events;
	uint32_t nb, room;
	bool has_gap; /* at the top: the nb events are behind it */
	uint64_t sequence;
	uint64_t work; /* levels that pushing and taking have gone through */
};

/* Make room for more. @return false: no memory */
bool sim_event_list_grow(struct event_list *list);

void sim_event_list_free(struct event_list *list);

static inline bool
event_before(const struct sim_event *a, const struct sim_event *b)
{
	return ((weir_sim_u128)a->time_ps << 64 | a->order) <
	       ((weir_sim_u128)b->time_ps << 64 | b->order);
}

/* The first of up to four in a row, of which there is one. Where there are four, without branches: none could be foretold. */
static inline uint32_t
event_list_least(const struct sim_event *events, uint32_t from, uint32_t nb)
{
	uint32_t least = from, i;

	if (nb - from >= 4) {
		least += event_before(&events[from + 1], &events[from]);
		i = from + 2 + event_before(&events[from + 3], &events[from + 2]);
		return least + (i - least) * event_before(&events[i], &events[least]);
	}
	for (i = from + 1; i < nb; i++)
		if (event_before(&events[i], &events[least]))
			least = i;
	return least;
}

/* Put an event where it belongs, from the gap at the top of nb places downwards. */
static inline void
event_list_fill(struct event_list *list, struct sim_event event, uint32_t nb)
{
	struct sim_event *const events = list->events;
	uint32_t at = 0, below, least;

	list->has_gap = false;
	for (below = 1; below < nb; below = 4 * at + 1) {
		list->work++;
		least = event_list_least(events, below, nb);
		if (!event_before(&events[least], &event))
			break;
		events[at] = events[least];
		at = least;
	}
	events[at] = event;
}

/* @return false: no memory */
static inline bool
event_list_push_stamped(struct event_list *list, uint64_t time_ps, enum event_priority priority,
	uint32_t target, uint32_t stamp)
{
	const struct sim_event event = {time_ps,
		(uint64_t)priority << (64 - EVENT_PRIORITY_BITS) | list->sequence++, target, stamp};
	struct sim_event *events;
	uint32_t at = list->nb, above;

	if (list->has_gap) {
		event_list_fill(list, event, ++list->nb);
		return true;
	}
	if (at == list->room && !sim_event_list_grow(list))
		return false;
	events = list->events;
	list->nb++;
	for (; at > 0; at = above) {
		list->work++;
		above = (at - 1) / 4;
		if (!event_before(&event, &events[above]))
			break;
		events[at] = events[above];
	}
	events[at] = event;
	return true;
}

/* @return false: no memory */
static inline bool
event_list_push(
	struct event_list *list, uint64_t time_ps, enum event_priority priority, uint32_t target)
{
	return event_list_push_stamped(list, time_ps, priority, target, 0);
}

/* The first one, which stays until something is pushed or taken; NULL: there is none. */
static inline const struct sim_event *
event_list_first(struct event_list *list)
{
	if (list->nb == 0)
		return NULL;
	if (list->has_gap)
		event_list_fill(list, list->events[list->nb], list->nb);
	return list->events;
}

/* Take the first one away; there is one. */
static inline struct sim_event
event_list_pop(struct event_list *list)
{
	const struct sim_event first = *event_list_first(list);

	list->nb--;
	list->has_gap = true;
	return first;
}

#pragma GCC visibility pop

#endif
