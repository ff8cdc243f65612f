/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers that have nothing to do: they walk, and ask, again and again, of which nothing is simulated; or they sleep.
 *
 *   walk, ask, walk, ask ... ask | 20 us since the 16th one | asleep | woken, or its time is over | on its way back | walk ...
 */
#include "lane.h"

static inline const struct model_graph *
graph_of(const struct sim *sim)
{
	return &sim->model->graph;
}

static inline uint32_t
ring_of(const struct sim *sim, uint32_t worker, uint32_t place)
{
	return graph_of(sim)->polled[graph_of(sim)->workers[worker].first_polled + place];
}

/* When a worker asks for packets of queues, after the beginning of a walk; one that polls no port has none to walk for. */
static inline uint64_t
ask_offset(const struct model_worker *worker)
{
	return worker->nb_polled > 0 ? worker->walk_ps + worker->nb_polled * worker->poll_ps : 0;
}

/*
 * Walks that find nothing, one after the other, with what is asked after them.
 *
 * @param[out] nb  of them there are before the first one that looks at a ring, offset_ps after its beginning, later than
 *   elapsed_ps after the first one began
 * @return when that one begins, after the first one
 */
static uint64_t
pass_walks(const struct sim *sim, uint32_t index, uint64_t offset_ps, uint64_t elapsed_ps,
	uint64_t *nb)
{
	const struct model_worker *const worker = &graph_of(sim)->workers[index];
	const uint64_t walk_ps = ask_offset(worker) + (worker->asks ? worker->dispatch_ps : 0);
	uint64_t sleep_ps = worker->sleep_min_ps;
	uint64_t passed_ps = 0, more;

	for (*nb = 0; passed_ps + offset_ps <= elapsed_ps; *nb += more) {
		more = sleep_ps == worker->sleep_max_ps
			       ? (elapsed_ps - offset_ps - passed_ps) / (walk_ps + sleep_ps) + 1
			       : 1;
		passed_ps += more * (walk_ps + sleep_ps);
		sleep_ps =
			2 * sleep_ps < worker->sleep_max_ps ? 2 * sleep_ps : worker->sleep_max_ps;
	}
	return passed_ps;
}

/* Looks at a ring have found nothing. */
void
sim_worker_found_nothing(struct sim *sim, uint32_t index, uint32_t place, uint64_t nb_looks)
{
	uint32_t ring;

	if (graph_of(sim)->workers[index].process != SIM_NONE)
		return;
	ring = ring_of(sim, index, place);
	if (graph_of(sim)->ports[graph_of(sim)->rings[ring].port].adapts)
		sim_ring_adapt(sim, ring, 0, nb_looks);
}

/* How long so many walks of an idle worker take, with the rests between them. */
static uint64_t
walks_ps(const struct model_worker *worker, uint64_t nb)
{
	uint64_t sleep_ps = worker->sleep_min_ps,
		 ps = nb * (ask_offset(worker) + worker->dispatch_ps);
	uint64_t i;

	for (i = 1; i < nb && sleep_ps < worker->sleep_max_ps; i++) {
		ps += sleep_ps;
		sleep_ps =
			2 * sleep_ps < worker->sleep_max_ps ? 2 * sleep_ps : worker->sleep_max_ps;
	}
	return i < nb ? ps + (nb - i) * sleep_ps : ps;
}

/* Since it is idle it has asked so many times for nothing. */
static void
count_idle_asks(struct sim *sim, uint32_t index, uint64_t nb)
{
	struct sim_worker *const worker = &sim->graph.workers[index];
	const uint64_t before = worker->idle_asks;

	worker->nb_asks = before + nb;
	if (before < WEIR_BASE_SCHED_IDLE_CALLS && worker->nb_asks >= WEIR_BASE_SCHED_IDLE_CALLS)
		worker->resting_ps = worker->idle_ps + walks_ps(&graph_of(sim)->workers[index],
							       WEIR_BASE_SCHED_IDLE_CALLS - before);
}

/* Count the walks of an idle worker that are over. */
void
sim_worker_count_idle(struct sim *sim, uint32_t index, uint64_t nb)
{
	struct sim_worker *const worker = &sim->graph.workers[index];
	uint32_t place;

	for (place = 0; nb > worker->told && place < graph_of(sim)->workers[index].nb_polled;
		place++)
		sim_worker_found_nothing(sim, index, place, nb - worker->told);
	worker->walks += nb - worker->told;
	worker->empty_walks += nb - worker->told;
	worker->told = nb;
	if (graph_of(sim)->workers[index].asks)
		count_idle_asks(sim, index, nb);
}

/* It finds something at a place where it comes so long after the beginning of a walk. */
static void
wake(struct sim *sim, uint32_t index, uint32_t place, uint64_t offset_ps)
{
	const struct model_worker *const model = &graph_of(sim)->workers[index];
	struct sim_worker *const worker = &sim->graph.workers[index];
	uint64_t wake_ps, nb;

	wake_ps = worker->idle_ps + offset_ps +
		  pass_walks(sim, index, offset_ps, sim->now_ps - worker->idle_ps, &nb);
	if (wake_ps > worker->wake_ps ||
		(wake_ps == worker->wake_ps && place >= worker->wake_place))
		return;
	worker->wake_ps = wake_ps;
	worker->wake_place = place;
	worker->wake_walks = nb;
	sim->cores[model->core].stamp++;
	sim_core_schedule(sim, model->core, wake_ps);
}

void
sim_worker_wake_at(struct sim *sim, uint32_t index, uint32_t place)
{
	if (sim->graph.workers[index].phase == WORKER_IDLE)
		wake(sim, index, place, place * graph_of(sim)->workers[index].poll_ps);
}

void
sim_worker_wake(struct sim *sim, uint32_t ring)
{
	sim_worker_wake_at(
		sim, graph_of(sim)->rings[ring].worker, graph_of(sim)->rings[ring].place);
}

/* It is woken: some time later it is back. */
static void
wake_sleeper(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];
	const uint32_t core = graph_of(sim)->workers[index].core;

	worker->is_called = true;
	sim->cores[core].stamp++;
	sim_core_schedule(sim, core, sim->now_ps + sim->model->dispatch.wake_ps);
}

/* Who sleeps, and nobody has woken. When its time is over it comes by itself. */
static inline bool
is_asleep(const struct sim *sim, const struct sim_worker *worker)
{
	return worker->phase == WORKER_SLEEPS && !worker->is_called &&
	       sim->now_ps < worker->slept_ps + sim->model->dispatch.idle_sleep_ps;
}

void
sim_workers_wake(struct sim *sim, uint32_t lane)
{
	const struct model_queue *const queue = &sim->model->queues[sim->model->lane_queue[lane]];
	uint32_t sleeper = SIM_NONE, i;
	bool is_found = false;

	for (i = 0; i < graph_of(sim)->nb_workers; i++) {
		const struct model_worker *const model = &graph_of(sim)->workers[i];
		const struct sim_worker *const worker = &sim->graph.workers[i];

		if ((worker->phase != WORKER_IDLE && worker->phase != WORKER_WAITS &&
			    worker->phase != WORKER_SLEEPS) ||
			!sim_serves_queue(
				&sim->model->cores[sim->model->core_kind[model->core]], queue))
			continue;
		if (worker->phase == WORKER_IDLE) {
			is_found = true;
			wake(sim, i, model->nb_polled, ask_offset(model));
		} else if (worker->phase == WORKER_WAITS) {
			sim_worker_look_again(sim, i);
		} else if (sleeper == SIM_NONE && is_asleep(sim, worker)) {
			sleeper = i;
		}
	}
	if (!is_found && sleeper != SIM_NONE)
		wake_sleeper(sim, sleeper);
}

/*
 * When an idle worker that is to sleep does, if nothing comes: after an ask that was in vain, as were those before it, every so many of which it may;
 * and when it has been awake long enough since the first of these.
 */
static void
plan_sleep(struct sim *sim, uint32_t index)
{
	const struct model_worker *const model = &graph_of(sim)->workers[index];
	struct sim_worker *const worker = &sim->graph.workers[index];
	const uint64_t calls = WEIR_BASE_SCHED_IDLE_CALLS;
	const uint64_t longest_ps = ask_offset(model) + model->dispatch_ps + model->sleep_max_ps;
	uint64_t nb = calls - worker->idle_asks % calls, awake_ps = worker->resting_ps, more;

	if (worker->idle_asks < calls)
		awake_ps = worker->idle_ps + walks_ps(model, calls - worker->idle_asks);
	awake_ps += SIM_AWAKE_PS;
	/* Of short walks there may be millions: as many as come before that for certain are passed at once. */
	for (; (worker->wake_ps = worker->idle_ps + walks_ps(model, nb)) < awake_ps; nb += more) {
		more = (awake_ps - worker->wake_ps) / longest_ps / calls * calls;
		more = more > 0 ? more : calls;
	}
	worker->wake_place = model->nb_polled + 1; /* behind all, the asking too */
	worker->wake_walks = nb;
	sim_core_schedule(sim, model->core, worker->wake_ps);
}

void
sim_worker_idle(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];

	worker->phase = WORKER_IDLE;
	worker->idle_ps = sim->now_ps;
	worker->idle_asks = worker->nb_asks;
	worker->told = 0;
	worker->wake_ps = UINT64_MAX;
	if (sim->model->dispatch.idle_sleep_ps > 0 && graph_of(sim)->workers[index].asks)
		plan_sleep(sim, index);
}

void
sim_worker_rest(struct sim *sim, uint32_t index)
{
	const struct model_worker *const model = &graph_of(sim)->workers[index];
	struct sim_worker *const worker = &sim->graph.workers[index];

	/* Something has come since it asked. */
	if (sim_has_ready_lane(sim, model->core) || sim_backlog_has_work(sim, index)) {
		sim_worker_walk(sim, index);
		return;
	}
	worker->phase = WORKER_SLEEPS;
	worker->is_called = false;
	worker->slept_ps = worker->asleep_since_ps = sim->now_ps;
	worker->sleeps++;
	sim_core_schedule(sim, model->core,
		sim->now_ps + sim->model->dispatch.idle_sleep_ps + sim->model->dispatch.wake_ps);
}

void
sim_worker_found_no_event(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];

	if (++worker->nb_asks == WEIR_BASE_SCHED_IDLE_CALLS)
		worker->resting_ps = sim->now_ps;
	if (sim->model->dispatch.idle_sleep_ps > 0 &&
		worker->nb_asks % WEIR_BASE_SCHED_IDLE_CALLS == 0 &&
		sim->now_ps >= worker->resting_ps + SIM_AWAKE_PS)
		sim_worker_rest(sim, index);
	else
		sim_worker_walk(sim, index);
}

/* Up to now it has slept, or been on its way back. */
static void
count_sleep(struct sim *sim, struct sim_worker *worker)
{
	worker->asleep_ps += sim_counted_ps(sim, worker->asleep_since_ps);
	worker->asleep_since_ps = sim->now_ps;
}

void
sim_worker_end_sleep(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];

	count_sleep(sim, worker);
	if (worker->is_called)
		worker->nb_asks = 0;
	sim_worker_walk(sim, index);
}

void
sim_worker_account(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];
	uint64_t nb;

	if (worker->phase == WORKER_SLEEPS)
		count_sleep(sim, worker);
	if (worker->phase != WORKER_IDLE)
		return;
	pass_walks(sim, index, 0, sim->now_ps - worker->idle_ps, &nb);
	sim_worker_count_idle(sim, index, nb - 1);
}
