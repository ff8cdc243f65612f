/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that look at frames after these came to their buffers, each in a thread of its own: in a round it looks at the buffer of one link
 * after the other, at so many of its frames as a poll takes. Nothing waits for it: a frame whose time is over when its turn comes is missed.
 *
 *   look, frame, frame ... look, frame, frame ... | the round's own cycles | look ...
 *
 * Or the thread gives what a poll takes to a job, whose frames stay as they are until it is over: followed_jobs.c.
 */
#include "sim.h"

#define BURST 32 /* of a poll, as in a program that is run */

static inline const struct model_follower *
model_of(const struct sim *sim, uint32_t index)
{
	return &sim->model->followers[index];
}

/* The follower at a worker's place. */
static inline uint32_t
at_place(const struct sim *sim, uint32_t worker, uint32_t place)
{
	const uint32_t process = sim->model->graph.workers[worker].process;

	return sim->model->processes[process].first_follower + place;
}

static inline uint64_t
behind(const struct sim *sim, uint32_t index)
{
	return sim->links[model_of(sim, index)->link].log_end - sim->followers[index].next;
}

static inline const struct model_process *
process_of(const struct sim *sim, uint32_t index)
{
	return &sim->model->processes[model_of(sim, index)->process];
}

/* Are there frames that it may take? */
static inline bool
has_work(const struct sim *sim, uint32_t index)
{
	return behind(sim, index) > 0 && sim_follower_may_take(sim, index);
}

/* So many frames wait no more. */
static void
advance(struct sim *sim, uint32_t index, uint64_t nb)
{
	struct sim_follower *const follower = &sim->followers[index];

	follower->next += nb;
	weir_sim_level_set(&follower->waiting, sim->now_ps, follower->waiting.value - nb);
}

static inline void
miss(struct sim *sim, uint32_t index, uint64_t nb)
{
	sim->followers[index].missed += nb;
	advance(sim, index, nb);
}

static inline void
pass(struct sim *sim, uint32_t index)
{
	sim->followers[index].passed++;
	advance(sim, index, 1);
}

/* Where it takes no time, each frame is a job. */
static void
pass_at_once(struct sim *sim, uint32_t index)
{
	sim->followers[index].jobs += process_of(sim, index)->nb_jobs > 0;
	pass(sim, index);
}

void
sim_followers_tell(struct sim *sim, uint32_t link, uint64_t number)
{
	struct sim_link *const of = &sim->links[link];
	uint32_t index;

	of->log[of->log_end++ & sim->model->links[link].log_mask] = number;
	for (index = sim->model->links[link].followers; index != SIM_NONE;
		index = model_of(sim, index)->next) {
		const struct model_follower *const model = model_of(sim, index);
		struct sim_follower *const follower = &sim->followers[index];

		follower->received++;
		weir_sim_level_set(&follower->waiting, sim->now_ps, follower->waiting.value + 1);
		if (model->worker == SIM_NONE)
			pass_at_once(sim, index);
		else if (follower->waiting.value == 1 && has_work(sim, index))
			sim_worker_wake_at(sim, model->worker, model->place);
	}
}

bool
sim_followers_have_work(const struct sim *sim, uint32_t worker)
{
	uint32_t place;

	for (place = 0; place < sim->model->graph.workers[worker].nb_polled; place++)
		if (has_work(sim, at_place(sim, worker, place)))
			return true;
	return false;
}

/* The next frame of this poll that is still there; those before it are missed. @return false: there is none */
static bool
next_frame(struct sim *sim, uint32_t index)
{
	struct sim_follower *const follower = &sim->followers[index];
	const uint32_t link = model_of(sim, index)->link;
	const uint64_t mask = sim->model->links[link].log_mask;

	for (; follower->burst > 0; follower->burst--) {
		if (sim_link_has(sim, link, sim->links[link].log[follower->next & mask]))
			return true;
		miss(sim, index, 1);
	}
	return false;
}

/* It goes on with this poll. @return whether that takes time */
static bool
go_on(struct sim *sim, uint32_t worker, uint32_t index)
{
	const uint32_t core = sim->model->graph.workers[worker].core;
	const double cycles = model_of(sim, index)->cycles;
	struct sim_follower *const follower = &sim->followers[index];

	follower->has_frame = next_frame(sim, index);
	if (!follower->has_frame)
		return false;
	follower->burst--;
	sim->graph.workers[worker].received++;
	sim->cores[core].served++;
	sim_worker_go_on(sim, worker, WORKER_FOLLOWS,
		sim_round_ps(cycles * sim->cores[core].model->ps_per_cycle));
	return true;
}

/* What is there now is what this poll is about, or the first of it. What the log has no place for any more is gone. */
static void
begin(struct sim *sim, uint32_t index)
{
	const uint64_t places = sim->model->links[model_of(sim, index)->link].log_mask + 1;
	const uint32_t nb_frames = process_of(sim, index)->nb_frames;
	const uint64_t nb = behind(sim, index), gone = nb > places ? nb - places : 0;
	const uint32_t most = nb_frames > 0 ? nb_frames : BURST;

	if (gone > 0)
		miss(sim, index, gone);
	sim->followers[index].burst = nb - gone < most ? (uint32_t)(nb - gone) : most;
	sim->followers[index].has_frame = false;
}

/* This poll's frames go to a job, all at once, where there may be one. */
static void
give(struct sim *sim, uint32_t worker, uint32_t index)
{
	struct sim_follower *const follower = &sim->followers[index];
	const uint32_t link = model_of(sim, index)->link;
	const uint64_t mask = sim->model->links[link].log_mask;
	const uint32_t batch = sim_follower_take_batch(sim, index);

	for (; next_frame(sim, index); follower->burst--, advance(sim, index, 1)) {
		if (batch == SIM_NONE) {
			follower->jobs_full++;
			continue;
		}
		sim_batch_add(follower, batch, sim->links[link].log[follower->next & mask]);
		sim->graph.workers[worker].received++;
		sim->cores[sim->model->graph.workers[worker].core].served++;
	}
	if (batch != SIM_NONE)
		sim_follower_begin_job(sim, index, batch);
}

/* It has looked, and goes on with what was found. @return whether that takes time */
static bool
proceed(struct sim *sim, uint32_t worker, uint32_t index)
{
	if (process_of(sim, index)->nb_jobs == 0)
		return go_on(sim, worker, index);
	give(sim, worker, index);
	return false;
}

bool
sim_follower_look(struct sim *sim, uint32_t worker)
{
	const uint64_t poll_ps = sim->model->graph.workers[worker].poll_ps;
	struct sim_worker *const of = &sim->graph.workers[worker];
	const uint32_t index = at_place(sim, worker, of->walk.place);

	if (!has_work(sim, index)) {
		if (poll_ps > 0)
			sim_worker_go_on(sim, worker, WORKER_LOOKS, poll_ps);
		return poll_ps > 0;
	}
	if (!of->is_busy)
		sim_worker_set_busy(sim, worker, true);
	of->has_more = true;
	begin(sim, index);
	if (poll_ps == 0)
		return proceed(sim, worker, index);
	sim_worker_go_on(sim, worker, WORKER_FOLLOWS, poll_ps);
	return true;
}

void
sim_follower_looked(struct sim *sim, uint32_t index, uint32_t nb)
{
	struct sim_follower *const follower = &sim->followers[index];
	const double drops = model_of(sim, index)->drops;
	uint32_t i;

	for (i = 0; i < nb; i++)
		if (drops > 0 && weir_sim_random_open(&follower->drops) < drops)
			follower->dropped++;
		else
			follower->passed++;
}

/* It is done with a frame. */
static void
end_frame(struct sim *sim, uint32_t index)
{
	const struct model_follower *const model = model_of(sim, index);
	const uint64_t mask = sim->model->links[model->link].log_mask;

	if (model->finder != SIM_NONE)
		sim_hits_find(sim, model->finder,
			sim_link_timestamp(sim, model->link,
				sim->links[model->link].log[sim->followers[index].next & mask]));
	sim_follower_looked(sim, index, 1);
	advance(sim, index, 1);
}

void
sim_follower_event(struct sim *sim, uint32_t worker)
{
	const uint32_t index = at_place(sim, worker, sim->graph.workers[worker].walk.place);

	if (sim->followers[index].has_frame)
		end_frame(sim, index);
	if (!proceed(sim, worker, index))
		sim_worker_next_place(sim, worker);
}

void
sim_followers_restart(struct sim *sim)
{
	uint32_t i;

	for (i = 0; i < sim->model->nb_followers; i++) {
		struct sim_follower *const follower = &sim->followers[i];

		weir_sim_level_restart(&follower->waiting, sim->now_ps);
		follower->waiting_at_start = follower->waiting.value;
		follower->received = follower->passed = follower->dropped = follower->missed = 0;
		follower->inside_at_start = follower->inside;
		follower->jobs = follower->jobs_full = 0;
	}
}

void
sim_followers_check(struct sim *sim)
{
	uint32_t i;

	for (i = 0; i < sim->model->nb_followers; i++) {
		struct sim_follower *const follower = &sim->followers[i];

		weir_sim_level_advance(&follower->waiting, sim->now_ps);
		if (follower->waiting.value != behind(sim, i) ||
			follower->waiting_at_start + follower->inside_at_start +
					follower->received !=
				follower->passed + follower->dropped + follower->missed +
					follower->jobs_full + follower->inside +
					follower->waiting.value)
			sim->broken = "flow balance of a process";
	}
}
