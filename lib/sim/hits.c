/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hits that are found in frames: each is a frame of a link of hits, whose time is that of one of the frame's samples. It waits in a queue for the thread
 * that gives them to their link.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

#define SAMPLES WEIR_BASE_FORMAT_WIBETH_TIMES
#define TICKS   (WEIR_BASE_FORMAT_WIBETH_STEP / WEIR_BASE_FORMAT_WIBETH_TIMES)

bool
sim_hits_init(struct sim *sim, uint64_t seed, unsigned int replication)
{
	uint32_t i;

	sim->finders = calloc(sim->model->nb_finders + 1, sizeof(*sim->finders));
	for (i = 0; sim->finders != NULL && i < sim->model->nb_finders; i++) {
		char *name;

		if (asprintf(&name, "process/%s/hits", sim->model->finders[i].name) < 0)
			return false;
		weir_sim_random_init(&sim->finders[i].random, seed, replication, name);
		free(name);
	}
	return sim->finders != NULL;
}

/* How many a frame has: what is drawn may be parts of one, which add up. */
static uint32_t
draw(struct sim *sim, uint32_t index)
{
	struct sim_finder *const finder = &sim->finders[index];
	double nb;

	finder->carry += sim_draw(sim, &sim->model->finders[index].hits, &finder->random);
	nb = floor(finder->carry);
	if (!(nb >= 1))
		return 0;
	nb = fmin(nb, SIM_PACKETS_MAX);
	finder->carry -= nb;
	return (uint32_t)nb;
}

void
sim_hits_find(struct sim *sim, uint32_t index, uint64_t timestamp)
{
	const uint32_t stream = sim->model->finders[index].stream;
	const uint32_t nb = draw(sim, index);
	uint32_t i, packet;

	for (i = 0; i < nb; i++) {
		packet = sim_traffic_make(sim, stream, 0);
		if (packet == SIM_NONE)
			return;
		sim->frames[packet] = (struct sim_frame){
			.timestamp = timestamp + TICKS * ((uint64_t)i * SAMPLES / nb),
			.link = sim->model->streams[stream].link,
		};
		sim_traffic_send(sim, stream, packet);
	}
}
