/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects that workers serve. Of the packets that a round takes of a lane a worker runs the steps of one after the other, as other cores do; each
 * goes on when its own are done:
 *
 *   round: take --> step, step ... --> to | step, step ... --> to | ... | what the round has next
 */
#include "lane.h"

static inline uint32_t
core_of(const struct sim *sim, uint32_t worker)
{
	return sim->model->graph.workers[worker].core;
}

void
sim_worker_take_events(struct sim *sim, uint32_t index, uint32_t lane, uint64_t asked_ps)
{
	sim->graph.workers[index].walk.node = SIM_NONE;
	sim_round_fill(sim, index, lane);
	sim_worker_go_on(sim, index, WORKER_STEPS, asked_ps);
}

void
sim_worker_begin_event(struct sim *sim, uint32_t index)
{
	struct sim_vector *const vector = &sim->graph.workers[index].walk.vector;
	const uint32_t packet = packet_list_take(&sim->packets, &vector->list);
	struct sim_packet *const of = &sim->packets.all[packet];
	struct sim_core *const core = &sim->cores[core_of(sim, index)];

	vector->nb--;
	vector->bytes -= of->size_bytes;
	of->step = sim->model->objects[sim->model->queues[sim->lanes[of->lane].queue].object]
			   .first_step;
	core->packet = packet;
	core->is_fresh = true;
	sim_steps_run(sim, core_of(sim, index), false);
}

/* It goes on, or leaves: by which it may leave its lane. */
static void
send(struct sim *sim, uint32_t worker, uint32_t packet)
{
	const struct sim_packet *const of = &sim->packets.all[packet];
	const uint32_t to = of->to;

	if (sim->model->nb_edges > 0)
		sim_probes_pass(
			sim, sim->model->queues[sim->lanes[of->lane].queue].object, to, packet);
	if (to != SIM_TO_OUTPUT && (to & SIM_TO_DROP) == 0) {
		sim_round_send(sim, packet, to);
		return;
	}
	sim_round_release(sim, worker, packet);
	if (to == SIM_TO_OUTPUT)
		sim_packet_delivered(sim, packet);
	else
		sim_packet_dropped(sim, packet, to & ~SIM_TO_DROP);
}

void
sim_worker_end_event(struct sim *sim, uint32_t index)
{
	struct sim_core *const core = &sim->cores[core_of(sim, index)];
	const uint32_t packet = core->packet;

	core->served++;
	core->packet = SIM_NONE;
	core->phase = CORE_WALKS;
	send(sim, index, packet);
	if (sim->graph.workers[index].walk.vector.nb > 0)
		sim_worker_begin_event(sim, index);
	else
		sim_round_next(sim, index);
}
