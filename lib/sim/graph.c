/* SPDX-License-Identifier: BSD-3-Clause */
/* A graph's beginning and end, and the laws that it obeys. */
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

static void
init_random(struct sim *sim, uint64_t seed, unsigned int replication)
{
	const struct model_graph *graph = &sim->model->graph;
	char name[512];
	uint32_t i;

	for (i = 0; i < graph->nb_nodes; i++) {
		snprintf(name, sizeof(name), "node/%s/next", graph->nodes[i].name);
		weir_sim_random_init(&sim->graph.next_random[i], seed, replication, name);
	}
}

bool
sim_graph_init(struct sim *sim, uint64_t seed, unsigned int replication)
{
	const struct model_graph *model = &sim->model->graph;
	const size_t nb_pending = 2 * (size_t)model->nb_workers * model->nb_nodes;
	struct sim_graph *graph = &sim->graph;
	uint32_t i;

	graph->rings = calloc(model->nb_rings + 1, sizeof(*graph->rings));
	graph->bursts = calloc(model->nb_rings + 1, sizeof(*graph->bursts));
	graph->ports = calloc(model->nb_ports + 1, sizeof(*graph->ports));
	graph->workers = calloc(model->nb_workers + 1, sizeof(*graph->workers));
	graph->nodes = calloc(model->nb_nodes + 1, sizeof(*graph->nodes));
	graph->jobs = calloc(model->nb_jobs + 1, sizeof(*graph->jobs));
	graph->next_random = calloc(model->nb_nodes + 1, sizeof(*graph->next_random));
	graph->pending = calloc(nb_pending + 1, sizeof(*graph->pending));
	graph->visits = calloc(
		2 * (size_t)model->nb_workers * model->node_words + 1, sizeof(*graph->visits));
	if (graph->rings == NULL || graph->bursts == NULL || graph->ports == NULL ||
		graph->workers == NULL || graph->nodes == NULL || graph->next_random == NULL ||
		graph->pending == NULL || graph->visits == NULL || graph->jobs == NULL)
		return false;
	for (i = 0; i < model->nb_rings; i++) {
		const struct model_port *port = &model->ports[model->rings[i].port];

		graph->rings[i].head = SIM_NONE;
		graph->bursts[i].nb = port->adapts && port->rx_burst > WEIR_BASE_ADAPTIVE_BURST_MIN
					      ? WEIR_BASE_ADAPTIVE_BURST_MIN
					      : port->rx_burst;
	}
	for (i = 0; i < model->nb_ports; i++)
		graph->ports[i].packet = SIM_NONE;
	for (i = 0; i < nb_pending; i++)
		graph->pending[i].list.head = SIM_NONE;
	for (i = 0; i < model->nb_workers; i++) {
		graph->workers[i].walk.vector.list.head = SIM_NONE;
		graph->workers[i].outer.vector.list.head = SIM_NONE;
		graph->workers[i].wake_ps = UINT64_MAX;
	}
	init_random(sim, seed, replication);
	return true;
}

void
sim_graph_free(struct sim *sim)
{
	free(sim->graph.rings);
	free(sim->graph.bursts);
	free(sim->graph.ports);
	free(sim->graph.workers);
	free(sim->graph.nodes);
	free(sim->graph.jobs);
	free(sim->graph.next_random);
	free(sim->graph.pending);
	free(sim->graph.visits);
}

static uint64_t
length_of(const struct sim *sim, const struct sim_vector *vector)
{
	uint64_t nb = 0;
	uint32_t packet;

	for (packet = vector->list.head; packet != SIM_NONE; packet = sim->packets.all[packet].next)
		nb++;
	return nb;
}

/* Packets that are on their way to a node, or in a visit of it, counted one by one. */
static uint64_t
count_held(const struct sim *sim, uint32_t node)
{
	const struct model_graph *model = &sim->model->graph;
	uint64_t nb = 0;
	uint32_t i;

	for (i = 0; i < 2 * model->nb_workers; i++)
		nb += length_of(sim, &sim->graph.pending[(size_t)i * model->nb_nodes + node]);
	for (i = 0; i < model->nb_workers; i++) {
		const struct sim_worker *worker = &sim->graph.workers[i];

		if (worker->walk.node == node)
			nb += length_of(sim, &worker->walk.vector);
		if (worker->outer.node == node)
			nb += length_of(sim, &worker->outer.vector);
	}
	return nb;
}

void
sim_graph_restart(struct sim *sim)
{
	const struct model_graph *model = &sim->model->graph;
	uint32_t i;

	for (i = 0; i < model->nb_workers; i++) {
		struct sim_worker *worker = &sim->graph.workers[i];

		sim_worker_account(sim, i);
		worker->walks = worker->empty_walks = worker->received = 0;
		worker->sleeps = worker->asleep_ps = 0;
	}
	for (i = 0; i < model->nb_jobs; i++)
		sim->graph.jobs[i].packets = sim->graph.jobs[i].slices = 0;
	for (i = 0; i < model->nb_nodes; i++)
		sim->graph.nodes[i] = (struct sim_node){.held_at_start = count_held(sim, i)};
}

void
sim_graph_check(struct sim *sim)
{
	const struct model_graph *model = &sim->model->graph;
	uint32_t i, packet;

	for (i = 0; i < model->nb_rings; i++)
		for (packet = sim->graph.rings[i].head; packet != SIM_NONE;
			packet = sim->packets.all[packet].next)
			sim->queues[sim->model->nb_queues + i].waited_ps +=
				sim_counted_ps(sim, sim->packets.all[packet].entered_ps);
	for (i = 0; i < model->nb_workers; i++) {
		sim_worker_account(sim, i);
		if (sim->graph.workers[i].is_busy)
			sim_core_account(sim, model->workers[i].core);
	}
	for (i = 0; i < model->nb_nodes; i++) {
		const struct sim_node *node = &sim->graph.nodes[i];

		if (node->held_at_start + node->entered != node->left + count_held(sim, i))
			sim->broken = "flow balance of a node";
	}
}
