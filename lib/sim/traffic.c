/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that arrive.
 *
 *   steady    source ----x--x----x-x---x-->
 *   on/off    source ----x--x--]......[--x-x--]....   its clock stands still while it is off
 *   bursts    trigger ---o--------o---------------->  each begins a source, which lives for a while
 *                         `-x-x--] `--x-x--x-]
 *   replay    the times of a capture, or of a link's frames in a file
 *   frames    of an emulated link: emulated.c
 */
#include <stdlib.h>

#include "sim.h"

#define TIME_END     ((double)SIM_TIME_END_PS)
#define BURSTS_FIRST 64

/* Time from packet to packet. */
static inline double
draw_interval(const struct model_stream *model, struct sim_stream *stream)
{
	return model->intervals.nb > 0 ? weir_sim_table_draw(&model->intervals, &stream->arrivals)
				       : weir_sim_dist_draw(&model->interval, &stream->arrivals);
}

/* How long a phase, a life or a pause is. */
static inline double
draw_phase(const struct weir_sim_dist *dist, struct sim_stream *stream)
{
	const double ps = weir_sim_dist_draw(dist, &stream->phases) + 0.5;

	return ps < TIME_END ? ps : TIME_END;
}

/* A step of a source's clock begins. The phases that it goes through: what does not fit into one goes on in the next. */
static bool
pass_phases(const struct model_stream *model, struct sim_stream *stream, uint64_t step_ps)
{
	struct sim_source *const source = &stream->source;
	uint64_t left_ps;

	while (step_ps > (left_ps = source->limit_ps - source->next_ps)) {
		step_ps -= left_ps;
		source->next_ps = source->limit_ps + (uint64_t)draw_phase(&model->off, stream);
		if ((double)source->next_ps >= TIME_END)
			return false;
		source->limit_ps = source->next_ps + (uint64_t)draw_phase(&model->on, stream);
	}
	source->next_ps += step_ps;
	return true;
}

/* To the time of a source's next packet. @return false: it makes none any more */
static bool
advance(const struct model_stream *model, struct sim_stream *stream, struct sim_source *source)
{
	double step_ps;

	if (stream->made == model->count && model->count != 0)
		return false;
	/* Times are whole ps; what is cut off a step is added to the next one, so that the rate is right in the long run. */
	step_ps = draw_interval(model, stream) + source->carry_ps;
	if (!((double)source->next_ps + step_ps < TIME_END))
		return false;
	source->carry_ps = step_ps - (double)(uint64_t)step_ps;
	if (model->source == SIM_SOURCE_ON_OFF) {
		if (!pass_phases(model, stream, (uint64_t)step_ps))
			return false;
	} else {
		source->next_ps += (uint64_t)step_ps;
		if (model->source == SIM_SOURCE_BURSTS && source->next_ps > source->limit_ps)
			return false;
	}
	return source->next_ps < model->stop_ps;
}

/* Likewise, of a capture. */
static bool
advance_replay(const struct model_stream *model, struct sim_stream *stream)
{
	const struct model_capture *const capture = &model->capture;
	uint64_t round, at_ps;
	double start_ps;

	if (capture->nb == 0) /* a link that a file has no frames of */
		return false;
	round = stream->made / capture->nb;
	at_ps = capture->times_ps[stream->made % capture->nb];
	if ((stream->made == model->count && model->count != 0) ||
		(round > 0 && capture->round_ps == 0))
		return false;
	start_ps = (double)model->start_ps + (double)round * (double)capture->round_ps;
	if (!(start_ps + (double)at_ps < TIME_END))
		return false;
	stream->source.next_ps = model->start_ps + round * capture->round_ps + at_ps;
	return stream->source.next_ps < model->stop_ps;
}

static void
schedule_arrival(struct sim *sim, uint32_t index)
{
	const struct model_stream *const model = &sim->model->streams[index];
	struct sim_stream *const stream = &sim->streams[index];

	if (model->source == SIM_SOURCE_REPLAY ? advance_replay(model, stream)
					       : advance(model, stream, &stream->source))
		sim_schedule(sim, stream->source.next_ps, EVENT_PRIORITY_ARRIVAL,
			EVENT_TARGET(EVENT_ARRIVAL, index));
}

static void
schedule_trigger(struct sim *sim, uint32_t index)
{
	const struct model_stream *const model = &sim->model->streams[index];
	struct sim_stream *const stream = &sim->streams[index];
	const double next_ps = (double)stream->source.next_ps + draw_phase(&model->trigger, stream);

	if (!(next_ps < TIME_END))
		return;
	stream->source.next_ps = (uint64_t)next_ps;
	if (stream->source.next_ps < model->stop_ps)
		sim_schedule(sim, stream->source.next_ps, EVENT_PRIORITY_ARRIVAL,
			EVENT_TARGET(EVENT_TRIGGER, index));
}

void
sim_traffic_start(struct sim *sim, uint32_t index)
{
	const struct model_stream *const model = &sim->model->streams[index];
	struct sim_stream *const stream = &sim->streams[index];

	stream->source.next_ps = model->start_ps;
	if (model->source == SIM_SOURCE_ON_OFF)
		stream->source.limit_ps =
			model->start_ps + (uint64_t)draw_phase(&model->on, stream);
	if (model->source == SIM_SOURCE_BURSTS)
		schedule_trigger(sim, index);
	else if (model->source == SIM_SOURCE_FRAMES)
		sim_frames_start(sim, index);
	else if (model->source != SIM_SOURCE_MADE)
		schedule_arrival(sim, index);
}

static uint32_t
draw_flow(const struct model_stream *model, struct weir_sim_random *random)
{
	if (model->nb_flows == 1)
		return model->first_flow;
	return (uint32_t)(model->is_zipf ? weir_sim_zipf_draw(&model->popularity, random)
					 : weir_sim_random_below(random, model->nb_flows));
}

static uint32_t
draw_size(const struct model_stream *model, struct sim_stream *stream)
{
	struct weir_sim_random *const random = &stream->sizes;
	uint64_t of_twelve;

	switch (model->sizes) {
	case SIM_SIZES_UNIFORM:
		return model->size_min_bytes +
		       (uint32_t)weir_sim_random_below(
			       random, (uint64_t)model->size_max_bytes - model->size_min_bytes + 1);
	case SIM_SIZES_IMIX:
		of_twelve = weir_sim_random_below(random, 12);
		return of_twelve < 7 ? 64 : of_twelve < 11 ? 570 : 1518;
	case SIM_SIZES_EMPIRICAL:
		return (uint32_t)weir_sim_table_draw(&model->size_table, random);
	case SIM_SIZES_CAPTURED:
		return model->capture.sizes[stream->made % model->capture.nb];
	case SIM_SIZES_FIXED:
		break;
	}
	return model->size_min_bytes;
}

/* What a frame of a file says of itself. */
static void
give_fields(struct sim *sim, uint32_t index, uint32_t packet)
{
	const struct model_stream *const model = &sim->model->streams[index];
	const uint64_t number = sim->streams[index].made % model->capture.nb;

	sim->packets.all[packet].number = number;
	sim->frames[packet] = (struct sim_frame){
		.timestamp = model->capture.frames[number].timestamp,
		.sequence = model->capture.frames[number].sequence,
		.link = model->link,
	};
}

uint32_t
sim_traffic_make(struct sim *sim, uint32_t index, uint32_t flow)
{
	struct sim_stream *const stream = &sim->streams[index];
	const uint32_t size_bytes = draw_size(&sim->model->streams[index], stream);
	const uint32_t packet = sim_packet_new(sim, index, size_bytes, flow);

	if (packet != SIM_NONE && sim->model->streams[index].capture.frames != NULL)
		give_fields(sim, index, packet);
	else if (packet != SIM_NONE && sim->model->streams[index].link != SIM_NONE)
		sim->packets.all[packet].number = stream->made;
	stream->made++;
	if (packet != SIM_NONE && sim->model->nb_attributes > 0)
		sim_give_attributes(sim, packet);
	return packet;
}

void
sim_traffic_send(struct sim *sim, uint32_t stream, uint32_t packet)
{
	const struct model_stream *const model = &sim->model->streams[stream];

	if (sim->model->nb_edges > 0)
		sim_probes_pass(sim, SIM_FROM_STREAM | stream, model->queue & ~SIM_TO_NEW, packet);
	if (model->unit != SIM_NONE)
		sim_through_unit(sim, model->unit, packet, model->queue);
	else if (model->queue < SIM_TO_NEW)
		sim_enqueue(sim, model->queue, packet);
	else if ((model->queue & SIM_TO_NEW) != 0)
		sim_enter(sim, model->queue & ~SIM_TO_NEW, packet);
	else if ((model->queue & SIM_TO_PORT) != 0)
		sim_port_receive(sim, model->queue & ~SIM_TO_PORT, packet);
	else
		sim_link_receive_now(sim, packet);
}

void
sim_arrival(struct sim *sim, uint32_t index)
{
	const struct model_stream *const model = &sim->model->streams[index];
	uint32_t packet;

	if (model->source == SIM_SOURCE_FRAMES) {
		sim_frames_arrive(sim, index);
		return;
	}
	packet = sim_traffic_make(sim, index, draw_flow(model, &sim->streams[index].flows));
	if (packet == SIM_NONE)
		return;
	schedule_arrival(sim, index);
	sim_traffic_send(sim, index, packet);
}

/* A source for a burst; NULL: no room, sim->error says so. */
static struct sim_source *
new_burst(struct sim *sim)
{
	struct sim_bursts *const bursts = &sim->bursts;
	const uint32_t room = bursts->room == 0 ? BURSTS_FIRST : bursts->room * 2;
	struct sim_source *all, *found;

	if (bursts->free != SIM_NONE) {
		found = &bursts->all[bursts->free];
		bursts->free = found->next;
		return found;
	}
	if (bursts->nb < bursts->room)
		return &bursts->all[bursts->nb++];
	all = room <= UINT32_C(1) << EVENT_INDEX_BITS ? realloc(bursts->all, room * sizeof(*all))
						      : NULL;
	if (all == NULL) {
		sim->error = room <= UINT32_C(1) << EVENT_INDEX_BITS ? -ENOMEM : -EOVERFLOW;
		return NULL;
	}
	bursts->all = all;
	bursts->room = room;
	return &bursts->all[bursts->nb++];
}

/* Schedule the next packet of a burst, or end it. */
static void
schedule_of_burst(struct sim *sim, struct sim_source *burst)
{
	const uint32_t index = (uint32_t)(burst - sim->bursts.all);

	if (advance(&sim->model->streams[burst->stream], &sim->streams[burst->stream], burst)) {
		sim_schedule(sim, burst->next_ps, EVENT_PRIORITY_ARRIVAL,
			EVENT_TARGET(EVENT_BURST, index));
	} else {
		burst->next = sim->bursts.free;
		sim->bursts.free = index;
	}
}

void
sim_trigger(struct sim *sim, uint32_t index)
{
	const struct model_stream *const model = &sim->model->streams[index];
	struct sim_stream *const stream = &sim->streams[index];
	struct sim_source *burst;

	if (stream->made == model->count && model->count != 0)
		return;
	burst = new_burst(sim);
	if (burst == NULL)
		return;
	*burst = (struct sim_source){
		.next_ps = sim->now_ps,
		.limit_ps = sim->now_ps + (uint64_t)draw_phase(&model->life, stream),
		.stream = index,
		.flow = draw_flow(model, &stream->flows),
	};
	schedule_of_burst(sim, burst);
	schedule_trigger(sim, index);
}

void
sim_arrival_of_burst(struct sim *sim, uint32_t index)
{
	struct sim_source *const burst = &sim->bursts.all[index];
	const uint32_t stream = burst->stream;
	uint32_t packet = SIM_NONE;

	/* Other bursts may have made the last one that the stream has. */
	if (sim->streams[stream].made != sim->model->streams[stream].count ||
		sim->model->streams[stream].count == 0)
		packet = sim_traffic_make(sim, stream, burst->flow);
	schedule_of_burst(sim, burst);
	if (packet != SIM_NONE)
		sim_traffic_send(sim, stream, packet);
}
