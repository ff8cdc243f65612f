/* SPDX-License-Identifier: BSD-3-Clause */

/* Ordered flows: what has to wait for others. */

#include "places.h"

/* One that has others before it. */
static void
place_remove(struct shard *shard, struct lane *lane, struct place *place, uint32_t number)
{
	shard->places[place->previous].next = place->next;
	if (lane->last == number)
		lane->last = place->previous;
	else
		shard->places[place->next].previous = place->previous;
	place_put(shard, place, number);
}

void
place_complete_later(struct shard *shard, struct lane *lane, uint32_t number, bool is_forwarded)
{
	struct place *place = &shard->places[number];

	if (is_forwarded)
		place->state = PLACE_FORWARDED;
	else
		place_remove(shard, lane, place, number);
}

void
places_go_on(struct shard *shard, struct lane *lane)
{
	while (lane->first != NONE && shard->places[lane->first].state == PLACE_FORWARDED)
		place_complete_first(shard, lane, lane->first, true);
}

/* What was forwarded and waited for its turn. */
void
places_empty(struct shard *shard, struct lane *lane,
	void (*drain)(void *arg, const struct rte_event *event), void *arg)
{
	for (uint32_t place = lane->first; place != NONE; place = shard->places[place].next)
		if (shard->places[place].state == PLACE_FORWARDED)
			drain(arg, &shard->places[place].event);
	if (lane->first != NONE)
		*lane = (struct lane){0};
}
