/* SPDX-License-Identifier: BSD-3-Clause */
/* What a replication tells of workers, and of the nodes that they visit. */
#include <math.h>

#include "quantities.h"

#define WORKER(name, expression)                                                                   \
	QUANTITY(worker, sim_worker, worker, graph.workers, name, expression)
#define NODE(name, expression) QUANTITY(node, sim_node, node, graph.nodes, name, expression)

/* There is no number of none. */
static double
ratio(double part, uint64_t all)
{
	return all > 0 ? part / (double)all : NAN;
}

WORKER(walks, (double)worker->walks)
WORKER(empty_walks, (double)worker->empty_walks)
WORKER(received, (double)worker->received)

/* One without ports has walks, too, but receives nothing in them. */
static double
worker_per_walk(const struct sim *sim, uint32_t index)
{
	const struct sim_worker *const worker = &sim->graph.workers[index];

	return sim->model->graph.workers[index].nb_polled > 0
		       ? ratio((double)worker->received, worker->walks - worker->empty_walks)
		       : NAN;
}

static double
worker_utilisation(const struct sim *sim, uint32_t index)
{
	const uint32_t core = sim->model->graph.workers[index].core;

	return weir_sim_level_mean(
		&sim->kinds[sim->model->core_kind[core]].busy, sim->now_ps - sim->window_ps);
}

WORKER(sleeps, (double)worker->sleeps)
WORKER(asleep, ratio((double)worker->asleep_ps, sim->now_ps - sim->window_ps))

const struct quantity sim_worker_quantities[SIM_WORKER_QUANTITIES] = {
	{"walks", worker_walks},
	{"empty_walks", worker_empty_walks},
	{"received_packets", worker_received},
	{"packets_per_walk", worker_per_walk},
	{"utilisation", worker_utilisation},
	{"sleeps", worker_sleeps},
	{"asleep", worker_asleep},
};

NODE(packets, (double)node->packets)
NODE(vectors, (double)node->vectors)
NODE(per_vector, ratio((double)node->packets, node->vectors))
NODE(cycles, node->cycles)
NODE(cycles_per_packet, ratio(node->cycles, node->packets))

const struct quantity sim_node_quantities[SIM_NODE_QUANTITIES] = {
	{"packets", node_packets},
	{"vectors", node_vectors},
	{"packets_per_vector", node_per_vector},
	{"cycles", node_cycles},
	{"cycles_per_packet", node_cycles_per_packet},
};

#define JOB(name, expression) QUANTITY(job, sim_job, job, graph.jobs, name, expression)

JOB(packets, (double)job->packets)
JOB(slices, (double)job->slices)
JOB(per_packet, ratio((double)job->slices, job->packets))

const struct quantity sim_job_quantities[SIM_JOB_QUANTITIES] = {
	{"packets", job_packets},
	{"slices", job_slices},
	{"slices_per_packet", job_per_packet},
};
