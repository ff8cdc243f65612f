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
 * Order: time, then priority, then the sequence of scheduling; all of it is one number of 128 bits.
 */

#include <stdbool.h>
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
	uint64_t sequence;
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

/* @return false: no memory */
static inline bool
event_list_push_stamped(struct event_list *list, uint64_t time_ps, enum event_priority priority,
	uint32_t target, uint32_t stamp)
{
	const struct sim_event event = {time_ps,
		(uint64_t)priority << (64 - EVENT_PRIORITY_BITS) | list->sequence++, target, stamp};
	struct sim_event *events;
	uint32_t at = list->nb, above;

	if (at == list->room && !sim_event_list_grow(list))
		return false;
	events = list->events;
	list->nb++;
	for (; at > 0; at = above) {
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

/* Take the first one away; there is one. */
static inline struct sim_event
event_list_pop(struct event_list *list)
{
	struct sim_event *const events = list->events;
	const struct sim_event first = events[0], last = events[--list->nb];
	const uint32_t nb = list->nb;
	uint32_t at = 0, below, i, least;

	for (;;) {
		below = 4 * at + 1;
		if (below >= nb)
			break;
		least = below;
		for (i = below + 1; i < nb && i < below + 4; i++)
			if (event_before(&events[i], &events[least]))
				least = i;
		if (!event_before(&events[least], &last))
			break;
		events[at] = events[least];
		at = least;
	}
	events[at] = last;
	return first;
}

#pragma GCC visibility pop

#endif
