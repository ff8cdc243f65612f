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
 */
#include <stdlib.h>

#include "lane.h"

#define FEED 32 /* jobs that a worker gives events to in a round, at most */

static bool
serves(const struct sim *sim, uint32_t worker, uint32_t lane)
{
	const uint32_t core = sim->model->graph.workers[worker].core;

	return sim_serves_queue(
		sim->cores[core].model, &sim->model->queues[sim->model->lane_queue[lane]]);
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
	struct sim_backlog *const backlog = &sim->backlog;

	if (sim->lanes[lane].nb_unpaid++ > 0)
		return;
	sim->lanes[lane].next_unpaid = SIM_NONE;
	if (backlog->head == SIM_NONE)
		backlog->head = lane;
	else
		sim->lanes[backlog->tail].next_unpaid = lane;
	backlog->tail = lane;
}

/* One of a lane's jobs is in the backlog no more. @param before  the lane before it in the list, or SIM_NONE */
static void
take_from_backlog(struct sim *sim, uint32_t lane, uint32_t before)
{
	struct sim_backlog *const backlog = &sim->backlog;

	if (--sim->lanes[lane].nb_unpaid > 0)
		return;
	*(before == SIM_NONE ? &backlog->head : &sim->lanes[before].next_unpaid) =
		sim->lanes[lane].next_unpaid;
	if (backlog->tail == lane)
		backlog->tail = before;
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
	sim_credit_put(sim);
}

bool
sim_backlog_has_work(const struct sim *sim, uint32_t worker)
{
	uint32_t lane;

	for (lane = sim->backlog.head; lane != SIM_NONE; lane = sim->lanes[lane].next_unpaid)
		if (serves(sim, worker, lane))
			return true;
	return false;
}

uint32_t
sim_backlog_feed(struct sim *sim, uint32_t worker)
{
	uint32_t lane, next, before = SIM_NONE, i;

	for (i = 0, lane = sim->backlog.head; i < FEED && lane != SIM_NONE; i++, lane = next) {
		const bool has_credit = sim_credit_get(sim);
		uint32_t left;

		next = sim->lanes[lane].next_unpaid;
		if (!has_credit && !serves(sim, worker, lane)) {
			before = lane;
			continue;
		}
		take_from_backlog(sim, lane, before);
		left = sim->lanes[lane].nb_unpaid;
		if (!has_credit)
			return lane;
		put_event(sim, lane);
		if (left > 0)
			next = lane;
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
