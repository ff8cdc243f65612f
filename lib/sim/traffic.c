/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that arrive. */
#include "sim.h"

#define TIME_END 0x1p62 /* ps; nothing is scheduled later */

void
sim_arrival_schedule(struct sim *sim, uint32_t index)
{
	const struct model_stream *const model = &sim->model->streams[index];
	struct sim_stream *const stream = &sim->streams[index];
	double step_ps;

	if (stream->made == model->count && model->count != 0)
		return;
	/* Times are whole ps; what is cut off a step is added to the next one, so that the rate is right in the long run. */
	step_ps = weir_sim_dist_draw(&model->interval, &stream->arrivals) + stream->carry_ps;
	if (!((double)stream->next_ps + step_ps < TIME_END))
		return;
	stream->next_ps += (uint64_t)step_ps;
	stream->carry_ps = step_ps - (double)(uint64_t)step_ps;
	if (stream->next_ps < model->stop_ps)
		sim_schedule(sim, stream->next_ps, EVENT_PRIORITY_ARRIVAL,
			EVENT_TARGET(EVENT_ARRIVAL, index));
}

static uint32_t
draw_size(const struct model_stream *model, struct weir_sim_random *random)
{
	uint64_t of_twelve;

	switch (model->sizes) {
	case SIM_SIZES_UNIFORM:
		return model->size_min_bytes +
		       (uint32_t)weir_sim_random_below(
			       random, (uint64_t)model->size_max_bytes - model->size_min_bytes + 1);
	case SIM_SIZES_IMIX:
		of_twelve = weir_sim_random_below(random, 12);
		return of_twelve < 7 ? 64 : of_twelve < 11 ? 570 : 1518;
	case SIM_SIZES_FIXED:
		break;
	}
	return model->size_min_bytes;
}

void
sim_arrival(struct sim *sim, uint32_t index)
{
	const struct model_stream *const model = &sim->model->streams[index];
	struct sim_stream *const stream = &sim->streams[index];
	uint32_t packet, flow = 0;

	if (model->nb_flows > 1)
		flow = (uint32_t)weir_sim_random_below(&stream->flows, model->nb_flows);
	packet = sim_packet_new(sim, index, draw_size(model, &stream->sizes), flow);
	if (packet == SIM_NONE)
		return;
	stream->made++;
	sim_arrival_schedule(sim, index);
	sim_enqueue(sim, model->queue, packet);
}
