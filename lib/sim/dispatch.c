/* SPDX-License-Identifier: BSD-3-Clause */
/* How cores get packets: what a decision costs, who sleeps, weighted priorities, and packets that interrupt others. */
#include "sim.h"

static inline bool
is_asleep(const struct sim *sim, uint32_t core)
{
	return sim->now_ps - sim->cores[core].idle_ps >= SIM_AWAKE_PS;
}

/* The first that is awake, or else the first. */
static uint32_t
find_awake(const struct sim *sim, uint32_t group)
{
	const uint32_t nb_words = sim->model->core_words;
	const uint64_t *const cores = sim->model->group_cores + (size_t)group * nb_words;
	uint32_t found = SIM_NONE, i, core;
	uint64_t bits;

	for (i = 0; i < nb_words; i++)
		for (bits = cores[i] & sim->idle[i]; bits != 0; bits &= bits - 1) {
			core = i * 64 + (uint32_t)__builtin_ctzll(bits);
			if (!is_asleep(sim, core))
				return core;
			if (found == SIM_NONE)
				found = core;
		}
	return found;
}

uint32_t
sim_core_wakes(struct sim *sim, uint32_t group)
{
	const uint32_t core = find_awake(sim, group);

	sim->cores[core].delay_ps = is_asleep(sim, core) ? sim->model->dispatch.wake_ps : 0;
	return core;
}

uint64_t
sim_dispatch_ps(struct sim *sim, uint32_t core)
{
	const uint64_t delay_ps = sim->cores[core].delay_ps;
	const struct model_dispatch *const model = &sim->model->dispatch;
	const uint64_t decision_ps =
		sim->decision_ps > sim->now_ps ? sim->decision_ps : sim->now_ps;

	/* Who waits for a turn that never comes does not move the next one either: it would come round to the beginning. */
	sim->decision_ps = decision_ps;
	if (decision_ps < SIM_TIME_END_PS)
		sim->decision_ps += model->interval_ps;
	sim->cores[core].delay_ps = 0;
	return decision_ps + model->latency_ps + delay_ps;
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

static inline double
cycles_left(const struct sim *sim, uint32_t index)
{
	return (double)(sim->cores[index].step_end_ps - sim->now_ps) /
	       sim->model->cores[sim->model->core_kind[index]].ps_per_cycle;
}

/* Does a core's work have to give way more than what was found so far, which it does itself? */
static bool
gives_way(const struct sim *sim, const struct model_queue *queue, uint32_t packet, uint32_t index,
	uint32_t found)
{
	const struct sim_core *const core = &sim->cores[index];
	const struct model_queue *theirs, *best;

	if (core->packet == SIM_NONE || core->phase != CORE_IN_STEP ||
		sim->model->cores[sim->model->core_kind[index]].polls)
		return false;
	theirs = &sim->model->queues[sim->model->lane_queue[sim->packets.all[core->packet].lane]];
	if (theirs->priority <= queue->priority &&
		(theirs != queue || packet == SIM_NONE ||
			!sim_lane_goes_before(sim, queue, packet, cycles_left(sim, index))))
		return false;
	if (found == SIM_NONE)
		return true;
	best = &sim->model->queues
			[sim->model->lane_queue[sim->packets.all[sim->cores[found].packet].lane]];
	if (theirs->priority != best->priority)
		return theirs->priority > best->priority;
	return theirs == queue && queue->discipline == MODEL_SHORTEST &&
	       cycles_left(sim, index) > cycles_left(sim, found);
}

/* The core of a group that gives way first. */
static uint32_t
find_victim(const struct sim *sim, const struct model_queue *queue, uint32_t packet)
{
	const uint32_t nb_words = sim->model->core_words;
	const uint64_t *const cores = sim->model->group_cores + (size_t)queue->group * nb_words;
	uint32_t found = SIM_NONE, i, core;
	uint64_t bits;

	for (i = 0; i < nb_words; i++)
		for (bits = cores[i]; bits != 0; bits &= bits - 1) {
			core = i * 64 + (uint32_t)__builtin_ctzll(bits);
			if (gives_way(sim, queue, packet, core, found))
				found = core;
		}
	return found;
}

uint32_t
sim_interrupt(struct sim *sim, const struct model_queue *queue, uint32_t comes)
{
	const uint32_t index = find_victim(sim, queue, comes);
	struct sim_core *core;
	struct sim_packet *packet;

	if (index == SIM_NONE)
		return SIM_NONE;
	core = &sim->cores[index];
	packet = &sim->packets.all[core->packet];
	core->stamp++;
	core->phase = CORE_BETWEEN; /* what it does next may look for cores to interrupt, too */
	sim_core_account(sim, index);
	packet->service_ps += sim->now_ps - core->step_start_ps;
	packet->left_cycles = cycles_left(sim, index);
	packet->state = PACKET_INTERRUPTED;
	sim_lane_resume(sim, packet->lane, core->packet, true);
	return index;
}
