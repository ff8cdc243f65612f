/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_LISTS_H
#define SIM_LISTS_H

/* Packets in lists, and in vectors; see packet_list.h. */

#include "sim.h"

static inline void
packet_list_add_first(struct sim_packets *packets, struct packet_list *list, uint32_t packet)
{
	packets->all[packet].next = list->head;
	if (list->head == SIM_NONE)
		list->tail = packet;
	list->head = packet;
}

static inline void
packet_list_add(struct sim_packets *packets, struct packet_list *list, uint32_t packet)
{
	packets->all[packet].next = SIM_NONE;
	if (list->head == SIM_NONE)
		list->head = packet;
	else
		packets->all[list->tail].next = packet;
	list->tail = packet;
}

static inline uint32_t
packet_list_take(const struct sim_packets *packets, struct packet_list *list)
{
	const uint32_t packet = list->head;

	list->head = packets->all[packet].next;
	return packet;
}

static inline void
sim_vector_add(struct sim *sim, struct sim_vector *vector, uint32_t packet)
{
	packet_list_add(&sim->packets, &vector->list, packet);
	vector->nb++;
	vector->bytes += sim->packets.all[packet].size_bytes;
}

#endif
