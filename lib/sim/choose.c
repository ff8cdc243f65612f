/* SPDX-License-Identifier: BSD-3-Clause */
/* Which lane a core takes from next. */
#include "lane.h"

/* One of a queue's lanes is ready: that of them which waits longest. @param[out] next  the first one behind it, or behind the queue's */
static inline uint32_t
find_of_queue(struct sim *sim, uint32_t lane, uint32_t *next)
{
	const uint32_t queue = sim->model->lane_queue[lane];

	sim->work++;
	*next = lane + 1;
	if (sim->model->queues[queue].nb_flows <= SIM_READY_FEW)
		return lane;
	*next = sim->model->queues[queue].first_lane + sim->model->queues[queue].nb_flows;
	return sim_ready_longest(sim, queue);
}

uint32_t
sim_longest_lane(struct sim *sim, const uint64_t *served, uint32_t first, uint32_t end)
{
	uint32_t next, found = find_of_queue(sim, first, &next), lane;
	uint64_t entered_ps, longest_ps;

	lane = sim_first_ready(sim, served, next);
	if (lane >= end) /* mostly */
		return found;
	longest_ps = sim_lane_since_ps(sim, found);
	for (; lane < end; lane = sim_first_ready(sim, served, next)) {
		lane = find_of_queue(sim, lane, &next);
		entered_ps = sim_lane_since_ps(sim, lane);
		if (entered_ps < longest_ps) {
			longest_ps = entered_ps;
			found = lane;
		}
	}
	return found;
}

bool
sim_choose_is_better(const struct sim *sim, uint32_t core, uint32_t priority)
{
	const uint64_t *const served = sim->model->kind_lanes +
				       (size_t)sim->model->core_kind[core] * sim->model->lane_words;
	const uint32_t lane = sim_first_ready(sim, served, 0);

	return lane != SIM_NONE &&
	       sim->model->queues[sim->model->lane_queue[lane]].priority < priority;
}

/* Priorities in proportion to their weights. */
static uint32_t
find_weighted(struct sim *sim, const uint64_t *served)
{
	uint32_t lanes[SIM_PRIORITIES], lane, ready = 0, priority;

	for (lane = sim_first_ready(sim, served, 0); lane != SIM_NONE;) {
		priority = sim->model->queues[sim->model->lane_queue[lane]].priority;
		lanes[priority] = lane;
		ready |= UINT32_C(1) << priority;
		lane = sim->model->lane_priority_end[lane];
		lane = lane < sim->model->nb_lanes ? sim_first_ready(sim, served, lane) : SIM_NONE;
	}
	if (ready == 0)
		return SIM_NONE;
	lane = lanes[sim_weighted_priority(sim, ready)];
	return sim_longest_lane(sim, served, lane, sim->model->lane_priority_end[lane]);
}

/* A core looks for work: the lane of the highest priority, and of those the one whose first packet waits longest. */
uint32_t
sim_choose_lane(struct sim *sim, uint32_t core)
{
	const uint64_t *const served =
		sim->model->kind_lanes + (size_t)sim->cores[core].kind * sim->model->lane_words;
	uint32_t lane;

	if (sim->model->dispatch.is_weighted)
		return find_weighted(sim, served);
	if (__builtin_expect(sim->leniences != NULL, 0))
		return sim_lenient_lane(sim, core, SIM_TIME_END_PS);
	lane = sim_first_ready(sim, served, 0);
	if (lane == SIM_NONE)
		return SIM_NONE;
	if (sim->model->lane_priority_end[lane] == lane + 1) { /* the only one of its priority */
		sim->work++;
		return lane;
	}
	return sim_longest_lane(sim, served, lane, sim->model->lane_priority_end[lane]);
}

bool
sim_has_ready_lane(const struct sim *sim, uint32_t core)
{
	const uint64_t *const served = sim->model->kind_lanes +
				       (size_t)sim->model->core_kind[core] * sim->model->lane_words;

	return sim_first_ready(sim, served, 0) != SIM_NONE;
}

uint32_t
sim_choose_polled(const struct sim *sim, uint32_t index, uint32_t lane)
{
	const uint64_t *const served =
		sim->model->kind_lanes +
		(size_t)sim->model->core_kind[index] * sim->model->lane_words;

	do
		lane = lane + 1 < sim->model->nb_lanes ? lane + 1 : 0;
	while (!sim_test_bit(served, lane));
	return lane;
}
