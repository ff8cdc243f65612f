/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that look at frames after these came to their buffers, each in a thread of its own: in a round it looks at the buffer of one link
 * after the other, at so many of its frames as a poll takes. Nothing waits for it: a frame whose time is over when its turn comes is missed.
 *
 *   look, frame, frame ... look, frame, frame ... | the round's own cycles | look ...
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
			pass(sim, index);
		else if (follower->waiting.value == 1)
			sim_worker_wake_at(sim, model->worker, model->place);
	}
}

bool
sim_followers_have_work(const struct sim *sim, uint32_t worker)
{
	uint32_t place;

	for (place = 0; place < sim->model->graph.workers[worker].nb_polled; place++)
		if (behind(sim, at_place(sim, worker, place)) > 0)
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
	const uint64_t nb = behind(sim, index), gone = nb > places ? nb - places : 0;

	if (gone > 0)
		miss(sim, index, gone);
	sim->followers[index].burst = nb - gone < BURST ? (uint32_t)(nb - gone) : BURST;
	sim->followers[index].has_frame = false;
}

bool
sim_follower_look(struct sim *sim, uint32_t worker)
{
	const uint64_t poll_ps = sim->model->graph.workers[worker].poll_ps;
	struct sim_worker *const of = &sim->graph.workers[worker];
	const uint32_t index = at_place(sim, worker, of->place);

	if (behind(sim, index) == 0) {
		if (poll_ps > 0)
			sim_worker_go_on(sim, worker, WORKER_LOOKS, poll_ps);
		return poll_ps > 0;
	}
	if (!of->is_busy)
		sim_worker_set_busy(sim, worker, true);
	of->has_more = true;
	begin(sim, index);
	if (poll_ps == 0)
		return go_on(sim, worker, index);
	sim_worker_go_on(sim, worker, WORKER_FOLLOWS, poll_ps);
	return true;
}

void
sim_follower_event(struct sim *sim, uint32_t worker)
{
	const uint32_t index = at_place(sim, worker, sim->graph.workers[worker].place);

	if (sim->followers[index].has_frame)
		pass(sim, index);
	if (!go_on(sim, worker, index))
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
		follower->received = follower->passed = follower->missed = 0;
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
			follower->waiting_at_start + follower->received !=
				follower->passed + follower->missed + follower->waiting.value)
			sim->broken = "flow balance of a process";
	}
}
