/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCHED_PLACES_H
#define SCHED_PLACES_H

/* Ordered flows: the places of their events, in the order of dispatch. Under the shard's lock. */

#include "shard.h"

/* places.c: an event that has others before it is complete */
void place_complete_later(
	struct shard *shard, struct lane *lane, uint32_t number, bool is_forwarded);
/* The first one of a flow was completed, and there are others: all that are complete, too, and have no other one before them, are sent. */
void places_go_on(struct shard *shard, struct lane *lane);
void places_empty(struct shard *shard, struct lane *lane,
	void (*drain)(void *arg, const struct rte_event *event), void *arg);

/* At the end of its flow. */
static inline uint32_t
place_get(struct shard *shard, struct lane *lane)
{
	uint32_t number = shard->free_place;
	struct place *place;

	if (number != NONE)
		shard->free_place = shard->places[number].next;
	else
		number = ++shard->nb_places;
	shard->nb_placed++;
	place = &shard->places[number];
	place->next = NONE;
	place->state = PLACE_OUT;
	if (lane->first == NONE) {
		lane->first = number;
	} else {
		place->previous = lane->last;
		shard->places[lane->last].next = number;
	}
	lane->last = number;
	return number;
}

static inline void
place_put(struct shard *shard, struct place *place, uint32_t number)
{
	place->next = shard->free_place;
	shard->free_place = number;
	shard->nb_placed--;
}

/* What an event became: by the shard's own ring, which has one order. */
static inline void
place_send(struct shard *shard, const struct queue_info *queue, struct rte_event event)
{
	const unsigned int to = queue_shard(shard->builtin, queue, event.event);

	shard->sent_to |= (uint64_t)1 << to;
	shard->sent |= event_sent(queue, event.event);
	ring_put(shard->rings_out[queue_level(queue)][to], event);
}

/* Likewise to a plain queue, where it can be seen at once: nothing is on its way that was sent before. */
static inline void
place_send_plain(struct shard *shard, const struct queue_info *queue, struct rte_event event)
{
	const unsigned int to = queue_shard(shard->builtin, queue, event.event);
	const unsigned int level = queue_level(queue);

	ring_put(shard->rings_out[level][to], event);
	shard_publish(shard, to, level);
	announce(shard->builtin, to, 1u << queue->priority);
}

/* The first one of its flow is complete. */
static inline void
place_complete_first(struct shard *shard, struct lane *lane, uint32_t number, bool is_forwarded)
{
	struct place *place = &shard->places[number];

	if (is_forwarded) {
		const struct rte_event event = event_load(&place->event);

		place_send(shard, &shard->builtin->queues[word_queue(event.event)], event);
	}
	lane->first = place->next;
	place_put(shard, place, number);
}

/*
 * An ordered event was forwarded, or released, which gives its place up: those behind it need not wait for that. Mostly it is the first one: the first
 * one of a flow never stays there when it is complete.
 */
static inline void
place_complete(struct shard *shard, const struct held *held, bool is_forwarded)
{
	struct lane *lane = held->lane;

	if (lane->first != held->place) {
		place_complete_later(shard, lane, held->place, is_forwarded);
		return;
	}
	place_complete_first(shard, lane, held->place, is_forwarded);
	if (lane->first != NONE)
		places_go_on(shard, lane);
}

/*
 * What an ordered event became: it is sent if its place is the first one of its flow, and waits there otherwise. Under the lock; @publish: it can be
 * seen then.
 */
static __rte_always_inline void
place_become(struct shard *shard, const struct held *held, const struct queue_info *queue,
	struct rte_event event, bool publish)
{
	const bool is_first = held->lane->first == held->place;

	if (unlikely(!is_first))
		event_write(&shard->places[held->place].event, event);
	else if (publish)
		place_send_plain(shard, queue, event);
	else
		place_send(shard, queue, event);
	place_complete(shard, held, !is_first);
}

#endif
