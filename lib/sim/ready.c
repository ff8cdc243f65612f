/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which lane of a queue waits longest, where there are many: a tree of minima.
 *
 *         3             Leaves are lanes: since when the first packet of each waits, or never, if no core may take it.
 *      3     7          A lane that changes is followed up to the root; the longest is found on the way down. So a core
 *    9   3 7   never    finds its next packet in log2 of the flows, however many of them wait.
 */
#include <stdlib.h>

#include "sim.h"

#define NEVER UINT64_MAX

bool
sim_ready_init(struct sim *sim)
{
	uint32_t i, j;

	for (i = 0; i < sim->model->nb_queues; i++) {
		struct sim_ready *const ready = &sim->ready_trees[i];
		const uint32_t nb = sim->model->queues[i].nb_flows;

		if (nb <= SIM_READY_FEW)
			continue;
		for (ready->nb_leaves = 1; ready->nb_leaves < nb; ready->nb_leaves *= 2)
			;
		ready->since_ps = malloc(2 * (size_t)ready->nb_leaves * sizeof(uint64_t));
		if (ready->since_ps == NULL)
			return false;
		for (j = 0; j < 2 * ready->nb_leaves; j++)
			ready->since_ps[j] = NEVER;
	}
	return true;
}

void
sim_ready_update(struct sim *sim, uint32_t lane, bool is_ready)
{
	const uint32_t queue = sim->model->lane_queue[lane];
	const struct sim_ready *const ready = &sim->ready_trees[queue];
	uint64_t *const since_ps = ready->since_ps;
	uint32_t at = ready->nb_leaves + lane - sim->model->queues[queue].first_lane;

	since_ps[at] = is_ready ? sim_lane_since_ps(sim, lane) : NEVER;
	for (at /= 2; at > 0; at /= 2) {
		since_ps[at] = since_ps[2 * at] <= since_ps[2 * at + 1] ? since_ps[2 * at]
									: since_ps[2 * at + 1];
		sim->work++;
	}
}

uint32_t
sim_ready_longest(struct sim *sim, uint32_t queue)
{
	const struct sim_ready *const ready = &sim->ready_trees[queue];
	uint32_t at = 1;

	/* Of those that wait equally long, the first. */
	for (; at < ready->nb_leaves; sim->work++)
		at = 2 * at + (ready->since_ps[2 * at] > ready->since_ps[2 * at + 1]);
	return sim->model->queues[queue].first_lane + at - ready->nb_leaves;
}
