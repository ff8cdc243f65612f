/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credits of the scheduler: each packet in a queue of events, or taken from one, has one; so has each event of a job, see job_events.c.
 *
 *   from outside --> take --> queue --> core --> queue --> core --> out: return
 *                     |
 *                     `--> none is left: sched_full
 *
 * What is sent on keeps its credit. A part that a packet forks is new, and takes one of its own.
 */
#include "sim.h"

bool
sim_credit_get(struct sim *sim)
{
	if (!sim->model->is_limited)
		return true;
	if (sim->nb_credits >= sim->model->threshold)
		return false;
	sim->nb_credits++;
	return true;
}

bool
sim_credit_take(struct sim *sim, uint32_t packet)
{
	if (!sim_credit_get(sim))
		return false;
	sim->packets.all[packet].has_credit = sim->model->is_limited;
	return true;
}

/* In a queue of events, or taken from one, but not with jobs. */
static bool
is_inside(const struct sim *sim, const struct sim_packet *packet)
{
	return packet->state != PACKET_FREE && packet->state != PACKET_GONE &&
	       packet->lane != SIM_NONE &&
	       sim->model->queues[sim->model->lane_queue[packet->lane]].job == SIM_NONE;
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
	uint32_t nb = sim_jobs_check(sim), i;

	if (!sim->model->is_limited)
		return;
	for (i = 0; i < sim->model->graph.nb_workers; i++)
		nb += sim->graph.workers[i].nb_released;
	for (i = 0; i < sim->packets.nb; i++)
		nb += is_inside(sim, &sim->packets.all[i]);
	if (nb != sim->nb_credits || nb > sim->model->threshold)
		sim->broken = "balance of the scheduler's credits";
}
