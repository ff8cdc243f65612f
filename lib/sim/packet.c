/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets, from their making to their end. */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define PACKETS_FIRST 256

/* What there is of each packet, if anything. */
static bool
grow_array(struct sim *sim, void **array, size_t bytes)
{
	void *all;

	if (bytes == 0)
		return true;
	all = realloc(*array, bytes);
	if (all == NULL) {
		sim->error = -ENOMEM;
		return false;
	}
	*array = all;
	return true;
}

static bool
grow(struct sim *sim)
{
	struct sim_packets *packets = &sim->packets;
	const size_t room = packets->room == 0 ? PACKETS_FIRST : (size_t)packets->room * 2;
	struct sim_packet *all;

	all = realloc(packets->all, room * sizeof(*all));
	if (all == NULL) {
		sim->error = -ENOMEM;
		return false;
	}
	packets->all = all;
	if (!grow_array(sim, (void **)&sim->attributes,
		    room * sim->model->nb_attributes * sizeof(*sim->attributes)) ||
		!grow_array(sim, (void **)&sim->places,
			room * sim->model->nb_memories * sizeof(*sim->places)) ||
		(sim->model->has_forks &&
			!grow_array(sim, (void **)&sim->families, room * sizeof(*sim->families))) ||
		(sim->model->has_fields &&
			!grow_array(sim, (void **)&sim->frames, room * sizeof(*sim->frames))))
		return false;
	packets->room = (uint32_t)room;
	return true;
}

/* One that is nothing yet. */
static uint32_t
take_packet(struct sim *sim)
{
	struct sim_packets *const packets = &sim->packets;
	uint32_t packet = packets->free, i;

	if (packet != SIM_NONE) {
		packets->free = packets->all[packet].next;
	} else {
		if (packets->nb == packets->most) {
			sim->error = -EOVERFLOW;
			return SIM_NONE;
		}
		if (packets->nb == packets->room && !grow(sim))
			return SIM_NONE;
		packet = packets->nb++;
	}
	if (sim->model->is_plain)
		return packet;
	if (sim->model->has_forks)
		sim->families[packet] = (struct sim_family){.parent = SIM_NONE};
	for (i = 0; i < sim->model->nb_memories; i++)
		sim->places[(size_t)packet * sim->model->nb_memories + i].level = SIM_NONE;
	return packet;
}

static void
enter(struct sim *sim, uint32_t packet, uint32_t stream, uint32_t size_bytes, uint32_t flow)
{
	struct sim_stream *const of = &sim->streams[stream];

	sim->packets.all[packet] = (struct sim_packet){
		.created_ps = sim->now_ps,
		.size_bytes = size_bytes,
		.flow = flow,
		.lane = SIM_NONE,
		.core = SIM_NONE,
		.stream = stream,
		.state = PACKET_INSIDE,
	};
	weir_sim_level_set(&of->inside, sim->now_ps, of->inside.value + 1);
}

uint32_t
sim_packet_new(struct sim *sim, uint32_t stream, uint32_t size_bytes, uint32_t flow)
{
	const uint32_t packet = take_packet(sim);

	if (packet == SIM_NONE)
		return SIM_NONE;
	enter(sim, packet, stream, size_bytes, flow);
	sim->streams[stream].arrived++;
	return packet;
}

uint32_t
sim_packet_fork(struct sim *sim, uint32_t index)
{
	const uint32_t part = take_packet(sim), nb = sim->model->nb_attributes;
	const struct sim_packet *packet;

	if (part == SIM_NONE)
		return SIM_NONE;
	packet = &sim->packets.all[index];
	enter(sim, part, packet->stream, packet->size_bytes, packet->flow);
	sim->streams[packet->stream].forked++;
	sim->families[part].parent = index;
	sim->families[index].nb_parts++;
	if (nb > 0)
		memcpy(sim->attributes + (size_t)part * nb, sim->attributes + (size_t)index * nb,
			nb * sizeof(*sim->attributes));
	return part;
}

bool
sim_packet_joins(struct sim *sim, uint32_t packet)
{
	sim->families[packet].waits = sim->families[packet].nb_parts > 0;
	return sim->families[packet].waits;
}

static inline void
put_packet(struct sim *sim, uint32_t index)
{
	struct sim_packet *const packet = &sim->packets.all[index];

	packet->state = PACKET_FREE;
	packet->next = sim->packets.free;
	sim->packets.free = index;
}

/* A part has left its packet: that may wait for it, or have left before it. */
static void
part_left(struct sim *sim, uint32_t index)
{
	struct sim_family *const family = &sim->families[index];

	if (--family->nb_parts > 0)
		return;
	if (sim->packets.all[index].state == PACKET_GONE) {
		put_packet(sim, index);
	} else if (family->waits) {
		family->waits = false;
		sim->packets.all[index].step++;
		sim_resume(sim, index);
	}
}

static inline bool
is_part(const struct sim *sim, uint32_t packet)
{
	return sim->model->has_forks && sim->families[packet].parent != SIM_NONE;
}

/* Of one that is not only itself. */
static void
packet_free(struct sim *sim, uint32_t index, bool delivered)
{
	struct sim_packet *const packet = &sim->packets.all[index];
	const uint32_t parent = is_part(sim, index) ? sim->families[index].parent : SIM_NONE;

	sim_credit_return(sim, index);
	if (sim->model->nb_memories > 0)
		sim_memory_free(sim, index, delivered);
	if (sim->model->has_forks && sim->families[index].nb_parts > 0)
		packet->state = PACKET_GONE;
	else
		put_packet(sim, index);
	if (parent != SIM_NONE)
		part_left(sim, parent);
	else if (--sim->nb_left == 0)
		sim->ended = true;
}

static ALWAYS_INLINE void
leave(struct sim *sim, uint32_t index, struct sim_stream *stream, bool delivered)
{
	struct sim_packet *const packet = &sim->packets.all[index];

	stream->sojourned_ps += sim_counted_ps(sim, packet->created_ps);
	weir_sim_level_set(&stream->inside, sim->now_ps, stream->inside.value - 1);
	if (sim->model->is_plain) {
		put_packet(sim, index);
		if (--sim->nb_left == 0)
			sim->ended = true;
	} else {
		packet_free(sim, index, delivered);
	}
}

void
sim_packet_delivered(struct sim *sim, uint32_t index)
{
	struct sim_packet *const packet = &sim->packets.all[index];
	struct sim_stream *const stream = &sim->streams[packet->stream];
	const uint64_t latency_ps = sim->now_ps - packet->created_ps;

	if (!sim->model->is_plain && is_part(sim, index)) {
		stream->joined++;
		leave(sim, index, stream, true);
		return;
	}
	stream->delivered++;
	stream->delivered_bytes += packet->size_bytes;
	sim_latency_add(&stream->latency, latency_ps, packet->service_ps);
	if (sim->model->streams[packet->stream].nb_flows > 1)
		stream->reordered += sim_flows_overtaken(sim, index);
	else if (packet->created_ps < stream->latest_ps)
		stream->reordered++;
	else
		stream->latest_ps = packet->created_ps;
	leave(sim, index, stream, true);
}

void
sim_packet_dropped(struct sim *sim, uint32_t index, uint32_t reason)
{
	struct sim_packet *const packet = &sim->packets.all[index];
	struct sim_stream *const stream = &sim->streams[packet->stream];

	stream->dropped++;
	sim->drops[packet->stream * sim->model->nb_reasons + reason]++;
	leave(sim, index, stream, false);
}
