/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that look at frames before their buffers, in the thread that receives: one after the other, until one drops the frame.
 *
 *   who receives begins with a frame  -->  which one drops it is drawn, so that it is known how long that takes
 *   it is done with it                -->  what they have found, and the drop
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

bool
sim_functions_init(struct sim *sim, uint64_t seed, unsigned int replication)
{
	uint32_t i;

	sim->function_random = calloc(sim->model->nb_functions + 1, sizeof(*sim->function_random));
	for (i = 0; sim->function_random != NULL && i < sim->model->nb_functions; i++) {
		char *name;

		if (asprintf(&name, "process/%s/drops", sim->model->functions[i].name) < 0)
			return false;
		weir_sim_random_init(&sim->function_random[i], seed, replication, name);
		free(name);
	}
	return sim->function_random != NULL;
}

static bool
drops(struct sim *sim, uint32_t function)
{
	const double part = sim->model->functions[function].drops;

	return part > 0 && weir_sim_random_open(&sim->function_random[function]) < part;
}

double
sim_functions_look(struct sim *sim, uint32_t packet)
{
	struct sim_packet *const frame = &sim->packets.all[packet];
	const uint32_t link = sim_link_of(sim, packet);
	double cycles = 0;
	uint32_t i;

	frame->dropped_by = SIM_NONE;
	if (link == SIM_NONE || sim->model->links[link].functions == SIM_NONE ||
		!sim_link_size_fits(sim, link, packet))
		return 0;
	if (sim->model->links[link].has_fields && !sim_fields_look(sim, packet))
		return 0;
	for (i = sim->model->links[link].functions; i != SIM_NONE && frame->dropped_by == SIM_NONE;
		i = sim->model->functions[i].next) {
		cycles += sim->model->functions[i].packet +
			  (double)frame->size_bytes * sim->model->functions[i].per_byte;
		if (drops(sim, i))
			frame->dropped_by = i;
	}
	return cycles;
}

double
sim_functions_look_at_all(struct sim *sim, const struct sim_vector *vector)
{
	double cycles = 0;
	uint32_t packet;

	for (packet = vector->list.head; packet != SIM_NONE; packet = sim->packets.all[packet].next)
		cycles += sim_functions_look(sim, packet);
	return cycles;
}

static uint64_t
timestamp_of(const struct sim *sim, uint32_t link, uint32_t packet)
{
	return sim->model->links[link].has_fields
		       ? sim->frames[packet].timestamp
		       : sim_link_ticks(sim, link, sim->packets.all[packet].number);
}

bool
sim_functions_pass(struct sim *sim, uint32_t link, uint32_t packet)
{
	const struct model_function *const functions = sim->model->functions;
	const uint32_t last = sim->packets.all[packet].dropped_by;
	uint32_t i = sim->model->links[link].functions;

	for (; i != SIM_NONE; i = i == last ? SIM_NONE : functions[i].next)
		if (functions[i].finder != SIM_NONE)
			sim_hits_find(sim, functions[i].finder, timestamp_of(sim, link, packet));
	if (sim->model->links[link].functions == SIM_NONE || last == SIM_NONE)
		return true;
	sim->links[link].received += sim->links[link].timed == NULL;
	sim->links[link].dropped[SIM_LINK_PROCESSED]++;
	sim_packet_dropped(sim, packet, functions[last].reason);
	return false;
}
