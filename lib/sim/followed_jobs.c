/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs that look at frames of a buffer. Each is a packet, which waits in a queue for workers, and has a batch: frames that stay as they are until it
 * is over, however long that takes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

/* Whose job a packet is; its batch is its flow. */
static inline uint32_t
follower_of(const struct sim *sim, uint32_t packet)
{
	const uint32_t queue = sim->model->lane_queue[sim->packets.all[packet].lane];

	return sim->model->graph.jobs[sim->model->queues[queue].job].follower;
}

static inline const struct model_process *
process_of(const struct sim *sim, uint32_t index)
{
	return &sim->model->processes[sim->model->followers[index].process];
}

static void
put_batch(struct sim_follower *follower, uint32_t batch)
{
	follower->batches[batch].nb = follower->batches[batch].nb_seen = 0;
	follower->batches[batch].next = follower->free;
	follower->free = batch;
}

static bool
make_batches(struct sim_follower *follower, const struct model_process *process)
{
	uint32_t i;

	follower->free = SIM_NONE;
	follower->batches = calloc(process->nb_jobs + 1, sizeof(*follower->batches));
	follower->frames = calloc(
		(size_t)process->nb_jobs * process->nb_frames + 1, sizeof(*follower->frames));
	if (follower->batches == NULL || follower->frames == NULL)
		return false;
	for (i = process->nb_jobs; i-- > 0;) {
		follower->batches[i].frames = follower->frames + (size_t)i * process->nb_frames;
		put_batch(follower, i);
	}
	return true;
}

bool
sim_followers_init(struct sim *sim, uint64_t seed, unsigned int replication)
{
	uint32_t i;
	char *name;

	sim->followers = calloc(sim->model->nb_followers + 1, sizeof(*sim->followers));
	for (i = 0; sim->followers != NULL && i < sim->model->nb_followers; i++) {
		if (!make_batches(&sim->followers[i], process_of(sim, i)) ||
			asprintf(&name, "process/%s/drops", sim->model->followers[i].name) < 0)
			return false;
		weir_sim_random_init(&sim->followers[i].drops, seed, replication, name);
		free(name);
	}
	return sim->followers != NULL;
}

void
sim_followers_free(struct sim *sim)
{
	uint32_t i;

	for (i = 0; sim->followers != NULL && i < sim->model->nb_followers; i++) {
		free(sim->followers[i].batches);
		free(sim->followers[i].frames);
	}
	free(sim->followers);
}

bool
sim_follower_may_take(const struct sim *sim, uint32_t index)
{
	return !process_of(sim, index)->waits || sim->followers[index].free != SIM_NONE;
}

uint32_t
sim_follower_take_batch(struct sim *sim, uint32_t index)
{
	struct sim_follower *const follower = &sim->followers[index];
	const uint32_t batch = follower->free;

	if (batch != SIM_NONE)
		follower->free = follower->batches[batch].next;
	return batch;
}

void
sim_batch_add(struct sim_follower *follower, uint32_t batch, uint64_t number)
{
	follower->batches[batch].frames[follower->batches[batch].nb++] = number;
	follower->inside++;
}

void
sim_follower_begin_job(struct sim *sim, uint32_t index, uint32_t batch)
{
	const struct model_follower *const model = &sim->model->followers[index];
	struct sim_follower *const follower = &sim->followers[index];
	uint32_t packet;

	if (follower->batches[batch].nb == 0) {
		put_batch(follower, batch);
		return;
	}
	packet = sim_packet_new(sim, model->stream, 0, batch);
	if (packet == SIM_NONE)
		return;
	follower->jobs++;
	sim_enqueue(sim, model->queue, packet);
}

uint64_t
sim_job_frame_ps(const struct sim *sim, uint32_t packet, uint32_t core)
{
	return sim_round_ps(sim->model->followers[follower_of(sim, packet)].cycles *
			    sim->cores[core].model->ps_per_cycle);
}

bool
sim_job_frame_done(struct sim *sim, uint32_t packet)
{
	const uint32_t index = follower_of(sim, packet);
	const uint32_t finder = sim->model->followers[index].finder;
	struct sim_batch *const batch =
		&sim->followers[index].batches[sim->packets.all[packet].flow];

	if (finder != SIM_NONE)
		sim_hits_find(sim, finder,
			sim_link_timestamp(sim, sim->model->followers[index].link,
				batch->frames[batch->nb_seen]));
	return ++batch->nb_seen < batch->nb;
}

void
sim_job_over(struct sim *sim, uint32_t index, uint32_t batch)
{
	const struct model_follower *const model = &sim->model->followers[index];
	struct sim_follower *const follower = &sim->followers[index];

	sim_follower_looked(sim, index, follower->batches[batch].nb);
	follower->inside -= follower->batches[batch].nb;
	put_batch(follower, batch);
	if (process_of(sim, index)->waits && follower->waiting.value > 0)
		sim_worker_wake_at(sim, model->worker, model->place);
}
