/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers that wait for the scheduler to take a packet, with the walk that they are in.
 *
 *   visit of sched_tx --> full --> packets of queues, in a round with walks of its own --> look again ...
 *                          `-----> there are none: until somebody has left, or there are some --^
 */
#include "lane.h"

static const struct sim_vector no_packets = {.list.head = SIM_NONE};

static inline const struct model_graph *
graph_of(const struct sim *sim)
{
	return &sim->model->graph;
}

/* At once, but not in the middle of what another one does. */
void
sim_worker_look_again(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];

	if (worker->phase != WORKER_WAITS || worker->is_woken)
		return;
	worker->is_woken = true;
	sim_core_schedule(sim, graph_of(sim)->workers[index].core, sim->now_ps);
}

void
sim_workers_retry(struct sim *sim)
{
	uint32_t i;

	for (i = 0; i < graph_of(sim)->nb_workers; i++)
		sim_worker_look_again(sim, i);
}

void
sim_worker_wait(struct sim *sim, uint32_t index)
{
	const struct model_worker *const model = &graph_of(sim)->workers[index];
	struct sim_worker *const worker = &sim->graph.workers[index];

	sim->cores[model->core].step_start_ps = sim->now_ps;
	if (!model->asks ||
		(!sim_has_ready_lane(sim, model->core) && !sim_backlog_has_work(sim, index))) {
		worker->phase = WORKER_WAITS;
		sim->graph.nb_waiting++;
		return;
	}
	worker->outer = worker->walk;
	worker->walk.vector = no_packets;
	worker->is_waiting = true;
	sim_round_begin(sim, index);
}

void
sim_worker_served(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];

	if (!worker->is_busy)
		sim_worker_set_busy(sim, index, true);
	worker->walk = worker->outer;
	worker->outer.vector = no_packets;
	worker->is_waiting = false;
	sim_worker_end_visit(sim, index, 0);
}
