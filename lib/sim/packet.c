/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets, from their making to their end. */
#include <stdlib.h>

#include "sim.h"

#define PACKETS_FIRST 256
#define PACKETS_MAX   (UINT32_C(1) << 31)

static bool
grow(struct sim *sim)
{
	struct sim_packets *packets = &sim->packets;
	const uint32_t room = packets->room == 0 ? PACKETS_FIRST : packets->room * 2;
	struct sim_packet *all;

	if (packets->room >= PACKETS_MAX) {
		sim->error = -EOVERFLOW;
		return false;
	}
	all = realloc(packets->all, room * sizeof(*all));
	if (all == NULL) {
		sim->error = -ENOMEM;
		return false;
	}
	packets->all = all;
	if (sim->model->nb_attributes > 0) {
		double *attributes = realloc(sim->attributes,
			(size_t)room * sim->model->nb_attributes * sizeof(*attributes));

		if (attributes == NULL) {
			sim->error = -ENOMEM;
			return false;
		}
		sim->attributes = attributes;
	}
	packets->room = room;
	return true;
}

uint32_t
sim_packet_new(struct sim *sim, uint32_t stream, uint32_t size_bytes, uint32_t flow)
{
	struct sim_packets *const packets = &sim->packets;
	struct sim_stream *const of = &sim->streams[stream];
	uint32_t packet = packets->free;

	if (packet != SIM_NONE) {
		packets->free = packets->all[packet].next;
	} else {
		if (packets->nb == packets->room && !grow(sim))
			return SIM_NONE;
		packet = packets->nb++;
	}
	packets->all[packet] = (struct sim_packet){
		.created_ps = sim->now_ps,
		.size_bytes = size_bytes,
		.flow = flow,
		.lane = SIM_NONE,
		.core = SIM_NONE,
		.stream = stream,
		.state = PACKET_INSIDE,
	};
	of->arrived++;
	weir_sim_level_set(&of->inside, sim->now_ps, of->inside.value + 1);
	return packet;
}

static void
packet_free(struct sim *sim, struct sim_packet *packet, struct sim_stream *stream)
{
	stream->sojourned_ps += sim_counted_ps(sim, packet->created_ps);
	weir_sim_level_set(&stream->inside, sim->now_ps, stream->inside.value - 1);
	packet->state = PACKET_FREE;
	packet->next = sim->packets.free;
	sim->packets.free = (uint32_t)(packet - sim->packets.all);
	if (--sim->nb_left == 0)
		sim->ended = true;
}

void
sim_packet_delivered(struct sim *sim, uint32_t index)
{
	struct sim_packet *const packet = &sim->packets.all[index];
	struct sim_stream *const stream = &sim->streams[packet->stream];
	const uint64_t latency_ps = sim->now_ps - packet->created_ps;

	stream->delivered++;
	stream->delivered_bytes += packet->size_bytes;
	weir_sim_tally_add(&stream->latency_ps, latency_ps);
	weir_sim_tally_add(&stream->service_ps, packet->service_ps);
	weir_sim_tally_add(&stream->wait_ps, latency_ps - packet->service_ps);
	weir_base_hist_add(&stream->latency_hist, latency_ps);
	packet_free(sim, packet, stream);
}

void
sim_packet_dropped(struct sim *sim, uint32_t index, uint32_t reason)
{
	struct sim_packet *const packet = &sim->packets.all[index];
	struct sim_stream *const stream = &sim->streams[packet->stream];

	stream->dropped++;
	sim->drops[packet->stream * sim->model->nb_reasons + reason]++;
	packet_free(sim, packet, stream);
}
