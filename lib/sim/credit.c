/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credits of the scheduler: each packet in a queue of events, or taken from one, has one.
 *
 *   from outside --> take --> queue --> core --> queue --> core --> out: return
 *                     |
 *                     `--> none is left: sched_full
 *
 * What is sent on keeps its credit. A part that a packet forks is new, and takes one of its own.
 */
#include "sim.h"

bool
sim_credit_take(struct sim *sim, uint32_t packet)
{
	if (!sim->model->is_limited)
		return true;
	if (sim->nb_credits >= sim->model->threshold)
		return false;
	sim->nb_credits++;
	sim->packets.all[packet].has_credit = true;
	return true;
}

void
sim_enter(struct sim *sim, uint32_t queue, uint32_t packet)
{
	if (sim_credit_take(sim, packet))
		sim_enqueue(sim, queue, packet);
	else
		sim_packet_dropped(sim, packet, sim->model->full_reason);
}

void
sim_credits_check(struct sim *sim)
{
	const struct sim_packet *packet;
	uint32_t nb = 0, i;

	if (!sim->model->is_limited)
		return;
	for (i = 0; i < sim->packets.nb; i++) {
		packet = &sim->packets.all[i];
		nb += packet->state != PACKET_FREE && packet->state != PACKET_GONE &&
		      packet->lane != SIM_NONE;
	}
	if (nb != sim->nb_credits || nb > sim->model->threshold)
		sim->broken = "balance of the scheduler's credits";
}
