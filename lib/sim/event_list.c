/* SPDX-License-Identifier: BSD-3-Clause */
/* The event list's memory. */
#include <stdlib.h>

#include "event_list.h"

bool
sim_event_list_grow(struct event_list *list)
{
	const uint32_t room = list->room == 0 ? 64 : list->room * 2;
	struct sim_event *events;

	if (room > UINT32_MAX / 8)
		return false;
	events = realloc(list->events, room * sizeof(*events));
	if (events == NULL)
		return false;
	list->events = events;
	list->room = room;
	return true;
}

void
sim_event_list_free(struct event_list *list)
{
	free(list->events);
	*list = (struct event_list){0};
}
