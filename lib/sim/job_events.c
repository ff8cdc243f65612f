/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs as the scheduler has them. One that is ready has an event, which takes a credit as anything new does; slice after slice it goes on with
 * that. While it waits, and when it is over, it has none:
 *
 *   begins, or is woken --> credit --> queue --> worker --> slice over: queue | waits, or is over: the credit is returned
 *                             |
 *                             `--> none is left: backlog --> each worker, once a round: credit --> queue, or a slice without an event
 *
 * A job of a node is that of a flow, and takes its packets one after the other; these have no credits while they wait for it, or are worked on.
 * What it is done with takes one, or where none is left the job's own, which has no event from then on.
 */
#include <stdlib.h>

#include "lane.h"

#define FEED 32 /* jobs that a worker gives events to in a round, at most */

/* The jobs of a group are in a list of their own: workers do not walk past those of others, however many there are. */
static struct sim_backlog *
backlog_of(struct sim *sim, uint32_t lane)
{
	return &sim->backlogs[sim->model->queues[sim->model->lane_queue[lane]].group];
}

/* Its queue has the event, behind all others. */
static void
put_event(struct sim *sim, uint32_t lane)
{
	sim->lanes[lane].nb_events++;
	sim->lanes[lane].event_ps = sim->now_ps;
	sim_lane_set_ready(sim, lane);
	sim_workers_wake(sim, lane);
}

/* A lane is in the list once, however many of its jobs are. */
static void
add_to_backlog(struct sim *sim, uint32_t lane)
{
	struct sim_backlog *const backlog = backlog_of(sim, lane);

	if (sim->lanes[lane].nb_unpaid++ > 0)
		return;
	sim->nb_unpaid_lanes++;
	sim->lanes[lane].unpaid_order = sim->unpaid_order++;
	sim->lanes[lane].next_unpaid = SIM_NONE;
	if (backlog->head == SIM_NONE)
		backlog->head = lane;
	else
		sim->lanes[backlog->tail].next_unpaid = lane;
	backlog->tail = lane;
}

/* One of the jobs of a lane that is the first of its group is in the backlog no more. */
static void
take_from_backlog(struct sim *sim, uint32_t lane)
{
	if (--sim->lanes[lane].nb_unpaid > 0)
		return;
	sim->nb_unpaid_lanes--;
	backlog_of(sim, lane)->head = sim->lanes[lane].next_unpaid;
}

/* The lane that has been in the backlog longest. @param kind  of those that these cores serve; NULL: of all */
static uint32_t
first_unpaid(const struct sim *sim, const struct model_cores *kind)
{
	uint32_t first = SIM_NONE, group;

	for (group = 0; sim->nb_unpaid_lanes > 0 && group < sim->model->nb_groups; group++) {
		const uint32_t head = sim->backlogs[group].head;

		if (head == SIM_NONE || (kind != NULL && !sim_serves(kind, group)))
			continue;
		if (first == SIM_NONE ||
			sim->lanes[head].unpaid_order < sim->lanes[first].unpaid_order)
			first = head;
	}
	return first;
}

void
sim_job_ready(struct sim *sim, uint32_t lane)
{
	if (sim_credit_get(sim)) {
		put_event(sim, lane);
	} else {
		add_to_backlog(sim, lane);
		sim_workers_wake(sim, lane);
	}
}

void
sim_job_begin(struct sim *sim, uint32_t lane)
{
	const struct sim_lane *const of = &sim->lanes[lane];

	if (!of->is_a_job || (of->holders == 0 && of->nb_waiting == 1))
		sim_job_ready(sim, lane);
}

void
sim_job_take_event(struct sim *sim, uint32_t worker, uint32_t lane)
{
	sim->lanes[lane].nb_events--;
	sim->graph.workers[worker].has_event = true;
	if (sim->lanes[lane].nb_events == 0)
		sim_lane_clear_ready(sim, lane);
	else
		sim_lane_set_ready(sim, lane);
}

void
sim_job_forward(struct sim *sim, uint32_t index, uint32_t lane)
{
	struct sim_worker *const worker = &sim->graph.workers[index];

	if (worker->has_event) {
		worker->has_event = false;
		put_event(sim, lane);
	} else {
		sim_job_ready(sim, lane);
	}
}

void
sim_job_release(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];

	if (!worker->has_event)
		return;
	worker->has_event = false;
	worker->nb_released += sim->model->is_limited;
}

bool
sim_job_lend(struct sim *sim, uint32_t index, uint32_t packet)
{
	struct sim_worker *const worker = &sim->graph.workers[index];

	if (!worker->has_event)
		return false;
	worker->has_event = false;
	sim->packets.all[packet].has_credit = sim->model->is_limited;
	return true;
}

static inline const struct model_cores *
kind_of(const struct sim *sim, uint32_t worker)
{
	return sim->cores[sim->model->graph.workers[worker].core].model;
}

bool
sim_backlog_has_work(const struct sim *sim, uint32_t worker)
{
	return first_unpaid(sim, kind_of(sim, worker)) != SIM_NONE;
}

uint32_t
sim_backlog_feed(struct sim *sim, uint32_t worker)
{
	uint32_t lane, i;
	bool has_credit;

	for (i = 0; i < FEED && sim->nb_unpaid_lanes > 0; i++) {
		has_credit = sim_credit_get(sim);
		lane = first_unpaid(sim, has_credit ? NULL : kind_of(sim, worker));
		if (lane != SIM_NONE)
			take_from_backlog(sim, lane);
		if (!has_credit)
			return lane;
		put_event(sim, lane);
	}
	return SIM_NONE;
}

/* Of each flow that has packets in its jobs there is one job: ready with its event, or without, on a worker, or waiting. */
static bool
has_one_job(const struct sim *sim, uint32_t index, const uint32_t *on_workers)
{
	const struct sim_lane *const lane = &sim->lanes[index];

	return lane->nb_events + lane->nb_unpaid + on_workers[index] +
		       (lane->sleeper != SIM_NONE) ==
	       (lane->holders > 0 || lane->nb_waiting > 0);
}

uint32_t
sim_jobs_check(struct sim *sim)
{
	uint32_t *const on_workers = calloc(sim->model->nb_lanes + 1, sizeof(*on_workers));
	uint32_t nb_events = 0, i;

	if (on_workers == NULL) {
		sim->error = -ENOMEM;
		return 0;
	}
	for (i = 0; i < sim->model->graph.nb_workers; i++) {
		const struct sim_worker *const worker = &sim->graph.workers[i];

		nb_events += worker->has_event;
		if (worker->phase == WORKER_SLICES)
			on_workers[sim->packets.all[worker->packet].lane]++;
	}
	for (i = 0; i < sim->model->nb_lanes; i++) {
		nb_events += sim->lanes[i].nb_events;
		if (sim->lanes[i].is_a_job && !has_one_job(sim, i, on_workers))
			sim->broken = "one job of a flow";
	}
	free(on_workers);
	return nb_events;
}
