/* SPDX-License-Identifier: BSD-3-Clause */
/* How cores get packets: what a decision costs, weighted priorities, and packets that interrupt others. */
#include "sim.h"

uint64_t
sim_dispatch_ps(struct sim *sim)
{
	const struct model_dispatch *const model = &sim->model->dispatch;
	const uint64_t decision_ps =
		sim->decision_ps > sim->now_ps ? sim->decision_ps : sim->now_ps;

	sim->decision_ps = decision_ps + model->interval_ps;
	return decision_ps + model->latency_ps;
}

/*
 * Each that is ready gains its weight, the richest one is served and pays for all: in the long run each is served in
 * proportion to its weight, evenly spread.
 */
uint32_t
sim_weighted_priority(struct sim *sim, uint32_t ready)
{
	const int64_t *const weights = sim->model->dispatch.weights;
	uint32_t best = SIM_NONE, i;
	int64_t all = 0;

	for (i = 0; i < SIM_PRIORITIES; i++) {
		if (!(ready >> i & 1))
			continue;
		sim->credits[i] += weights[i];
		all += weights[i];
		if (best == SIM_NONE || sim->credits[i] > sim->credits[best])
			best = i;
	}
	sim->credits[best] -= all;
	return best;
}

/* The priority that a core works at, if it can be interrupted; else 0, which nothing is above. */
static uint32_t
priority_of(const struct sim *sim, uint32_t index)
{
	const struct sim_core *const core = &sim->cores[index];

	if (core->packet == SIM_NONE || core->phase != CORE_IN_STEP)
		return 0;
	return sim->model->queues[sim->model->lane_queue[sim->packets.all[core->packet].lane]]
		.priority;
}

/* The core of a group whose work has the lowest priority, below that of a queue. */
static uint32_t
find_victim(const struct sim *sim, const struct model_queue *queue)
{
	const uint32_t nb_words = sim->model->core_words;
	const uint64_t *const cores = sim->model->group_cores + (size_t)queue->group * nb_words;
	uint32_t lowest = queue->priority, found = SIM_NONE, i, core;
	uint64_t bits;

	for (i = 0; i < nb_words; i++)
		for (bits = cores[i]; bits != 0; bits &= bits - 1) {
			core = i * 64 + (uint32_t)__builtin_ctzll(bits);
			if (priority_of(sim, core) > lowest) {
				lowest = priority_of(sim, core);
				found = core;
			}
		}
	return found;
}

uint32_t
sim_interrupt(struct sim *sim, const struct model_queue *queue)
{
	const uint32_t index = find_victim(sim, queue);
	struct sim_core *core;
	struct sim_packet *packet;

	if (index == SIM_NONE)
		return SIM_NONE;
	core = &sim->cores[index];
	packet = &sim->packets.all[core->packet];
	core->stamp++;
	sim_core_account(sim, index);
	packet->service_ps += sim->now_ps - core->step_start_ps;
	packet->left_cycles = (double)(core->step_end_ps - sim->now_ps) /
			      sim->model->cores[sim->model->core_kind[index]].ps_per_cycle;
	packet->state = PACKET_INTERRUPTED;
	packet_list_add_first(&sim->packets, &sim->lanes[packet->lane].resumed, core->packet);
	return index;
}
