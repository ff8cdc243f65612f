/* SPDX-License-Identifier: BSD-3-Clause */

/* Local queues: events that a core sends to itself. All of a priority are in one ring, in the order in which they were sent. */

#include <stdlib.h>

#include "event.h"

int
em_local_init(struct weir_em_core *core)
{
	for (unsigned int i = 0; i < WEIR_EM_PRIORITIES; i++) {
		core->local[i].events =
			calloc(core->em->config.nb_local_events, sizeof(*core->local[i].events));
		if (core->local[i].events == NULL)
			return -ENOMEM;
	}
	return 0;
}

void
em_local_fini(struct weir_em_core *core)
{
	for (unsigned int i = 0; i < WEIR_EM_PRIORITIES; i++)
		free(core->local[i].events);
}

uint16_t
em_local_send(struct weir_em_core *core, const struct em_queue *queue,
	const struct rte_event *events, uint16_t nb)
{
	struct em_local *local = &core->local[queue->priority];
	uint32_t mask = core->em->config.nb_local_events - 1;
	uint32_t room = mask + 1 - (local->head - local->tail);

	if (nb > room)
		nb = (uint16_t)room;
	for (uint16_t i = 0; i < nb; i++)
		local->events[local->head++ & mask] = (struct em_local_event){
			.queue = (uint32_t)(queue - core->em->queues), .event = events[i]};
	if (nb > 0)
		core->local_priorities |= (uint8_t)(1u << queue->priority);
	return nb;
}

/* Those at the front of a priority that are of one queue. */
static uint16_t
take(struct weir_em_core *core, unsigned int priority, struct rte_event *events, uint16_t nb,
	struct em_queue **queue)
{
	struct em_local *local = &core->local[priority];
	uint32_t mask = core->em->config.nb_local_events - 1;
	uint32_t number = local->events[local->tail & mask].queue;
	uint16_t got = 0;

	while (got < nb && local->tail != local->head &&
		local->events[local->tail & mask].queue == number)
		events[got++] = local->events[local->tail++ & mask].event;
	if (local->tail == local->head)
		core->local_priorities &= (uint8_t) ~(1u << priority);
	*queue = &core->em->queues[number];
	return got;
}

uint16_t
em_local_dispatch(struct weir_em_core *core, uint16_t burst)
{
	struct rte_event events[WEIR_EM_BURST_MAX];
	struct em_queue *queue;
	uint16_t nb = 0, got;

	while (core->local_priorities != 0 && nb < burst) {
		got = take(core, (unsigned int)__builtin_ctz(core->local_priorities), events,
			(uint16_t)(burst - nb), &queue);
		em_serve(core, queue, events, got, NULL);
		nb += got;
	}
	return nb;
}

void
em_local_drop(struct weir_em_core *core)
{
	struct rte_event event;
	struct em_queue *queue;

	while (core->local_priorities != 0) {
		take(core, (unsigned int)__builtin_ctz(core->local_priorities), &event, 1, &queue);
		em_drop(core->em, core, queue, &event, 1, WEIR_EM_DROP_DETACHED);
	}
}
