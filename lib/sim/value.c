/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that packets have, and that are drawn. */
#include "sim.h"

double
sim_draw_weighted(struct sim *sim, const struct model_value *value, struct weir_sim_random *random)
{
	const double *const weights = sim->model->weights + value->first_weight;
	const double chance = weir_sim_random_open(random);
	uint32_t i = 0;

	while (i + 1 < value->nb_weights && chance >= weights[i])
		i++;
	return i;
}

double
sim_number(const struct sim *sim, uint32_t packet, uint32_t what)
{
	if (what == MODEL_SIZE)
		return sim->packets.all[packet].size_bytes;
	if (what == MODEL_FLOW)
		return sim->packets.all[packet].flow;
	return sim->attributes[(size_t)packet * sim->model->nb_attributes + what];
}

void
sim_give_attributes(struct sim *sim, uint32_t packet)
{
	const struct model_stream *const stream =
		&sim->model->streams[sim->packets.all[packet].stream];
	double *const attributes = sim->attributes + (size_t)packet * sim->model->nb_attributes;
	uint32_t i;

	for (i = 0; i < sim->model->nb_attributes; i++)
		attributes[i] = 0;
	for (i = stream->first_given; i < stream->first_given + stream->nb_given; i++)
		attributes[sim->model->given[i].attribute] =
			sim_draw(sim, &sim->model->given[i].value, &sim->given_random[i]);
}
