/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The laws that every run obeys. Two sums each, taken in different places, must be the same to the last picosecond:
 *
 *   credits           the scheduler has lent = packets in its queues, or taken from them, and events of jobs
 *   flow balance      what was inside + what came = what left + what was dropped + what is inside
 *   Little's law      the level of what is inside, over time = the time that each one was inside
 *   utilisation law   the number of busy cores or servers, over time = the time that packets were worked on
 */
#include <stdlib.h>

#include "sim.h"

/* What is inside now has been there for a while. */
static void
add_inside(struct sim *sim, uint64_t *held)
{
	const struct sim_packet *packet;
	uint32_t i;

	for (i = 0; i < sim->packets.nb; i++) {
		packet = &sim->packets.all[i];
		if (packet->state == PACKET_FREE || packet->state == PACKET_GONE)
			continue;
		held[packet->stream]++;
		sim->streams[packet->stream].sojourned_ps +=
			sim_counted_ps(sim, packet->created_ps);
	}
}

static void
check_streams(struct sim *sim)
{
	const uint32_t nb_reasons = sim->model->nb_reasons;
	uint64_t dropped;
	uint32_t i, j;

	for (i = 0; i < sim->model->nb_streams; i++) {
		struct sim_stream *stream = &sim->streams[i];

		for (dropped = 0, j = 0; j < nb_reasons; j++)
			dropped += sim->drops[i * nb_reasons + j];
		if (dropped != stream->dropped)
			sim->broken = "a reason for each drop";
		weir_sim_level_advance(&stream->inside, sim->now_ps);
		if (stream->inside_at_start + stream->arrived + stream->forked !=
			stream->delivered + stream->dropped + stream->joined + stream->inside.value)
			sim->broken = "flow balance of a stream";
		if (stream->inside.area != stream->sojourned_ps)
			sim->broken = "Little's law of a stream";
	}
}

static void
check_queues(struct sim *sim)
{
	uint32_t i;

	for (i = 0; i < sim->packets.nb; i++) {
		const struct sim_packet *packet = &sim->packets.all[i];

		if (packet->state != PACKET_FREE && packet->state != PACKET_GONE &&
			packet->is_waiting)
			sim->queues[sim->model->lane_queue[packet->lane]].waited_ps +=
				sim_counted_ps(sim, packet->entered_ps);
	}
	for (i = 0; i < sim_model_lengths(sim->model); i++) {
		struct sim_queue *queue = &sim->queues[i];

		weir_sim_level_advance(&queue->length, sim->now_ps);
		if (queue->waiting_at_start + queue->arrived !=
			queue->taken + queue->dropped + queue->length.value)
			sim->broken = "flow balance of a queue";
		if (queue->length.area != queue->waited_ps)
			sim->broken = "Little's law of a queue";
	}
}

static void
check_cores(struct sim *sim)
{
	weir_sim_u128 worked_ps;
	uint32_t i, core;

	/* Workers were seen to, with their graph. */
	for (i = 0; i < sim->model->nb_cores; i++)
		if (sim->cores[i].packet != SIM_NONE && sim->cores[i].model->worker == SIM_NONE)
			sim_core_account(sim, i);
	for (i = 0; i < sim->model->nb_kinds; i++) {
		const struct model_cores *const kind = &sim->model->cores[i];

		for (worked_ps = 0, core = kind->first; core < kind->first + kind->count; core++)
			worked_ps += sim->cores[core].worked_ps;
		weir_sim_level_advance(&sim->kinds[i].busy, sim->now_ps);
		if (sim->kinds[i].busy.area != worked_ps)
			sim->broken = "utilisation law of cores";
	}
}

/* What levels hold is what packets hold of them, or have held that goes back. */
static void
check_memories(struct sim *sim)
{
	const size_t nb = (size_t)sim->packets.nb * sim->model->nb_memories;
	uint64_t held = 0;
	uint32_t i;
	size_t at;

	for (i = 0; i < sim->model->nb_levels; i++) {
		weir_sim_level_advance(&sim->levels[i].users, sim->now_ps);
		weir_sim_level_advance(&sim->levels[i].held, sim->now_ps);
		held += sim->levels[i].held.value;
	}
	for (at = 0; at < nb; at++)
		if (sim->places[at].level != SIM_NONE)
			held -= sim->places[at].bytes + sim->places[at].rest;
	for (i = 0; i < sim->writes.nb; i++)
		held -= sim->writes.all[i].bytes;
	if (held != 0)
		sim->broken = "balance of memories";
}

static void
check_units(struct sim *sim)
{
	uint32_t i, j, packet;

	for (i = 0; i < sim->model->nb_servers; i++)
		if (sim->servers[i].visit.packet != SIM_NONE)
			sim->units[sim->servers[i].unit].worked_ps +=
				sim_counted_ps(sim, sim->servers[i].start_ps);
	for (i = 0; i < sim->model->nb_units; i++) {
		struct sim_unit *unit = &sim->units[i];

		for (packet = unit->waiting.head; packet != SIM_NONE;
			packet = sim->packets.all[packet].next)
			unit->waited_ps += sim_counted_ps(sim, sim->packets.all[packet].entered_ps);
		for (j = 0; j < unit->nb_visits; j++)
			unit->waited_ps += sim_counted_ps(
				sim, sim->packets.all[unit->visits[j].packet].entered_ps);
		weir_sim_level_advance(&unit->length, sim->now_ps);
		weir_sim_level_advance(&unit->busy, sim->now_ps);
		if (unit->waiting_at_start + unit->arrived + unit->interrupted !=
			unit->taken + unit->dropped + unit->length.value)
			sim->broken = "flow balance of a unit";
		if (unit->length.area != unit->waited_ps)
			sim->broken = "Little's law of a unit";
		if (unit->busy.area != unit->worked_ps)
			sim->broken = "utilisation law of a unit";
	}
}

static void
complete_times(struct sim *sim)
{
	uint32_t i;

	for (i = 0; i < sim->model->nb_streams; i++)
		sim_times_complete(&sim->streams[i].latency.all);
	for (i = 0; i < sim_model_lengths(sim->model); i++) {
		sim_times_complete(&sim->queues[i].wait);
		sim_times_complete(&sim->queues[i].stage.all);
	}
}

void
sim_check(struct sim *sim)
{
	uint64_t *held;
	uint32_t i;

	complete_times(sim);

	/* What went wrong first is told, and not what comes of it. */
	if (sim->broken != NULL)
		return;
	held = calloc(sim->model->nb_streams, sizeof(*held));
	if (held == NULL) {
		sim->error = -ENOMEM;
		return;
	}
	add_inside(sim, held);
	for (i = 0; i < sim->model->nb_streams; i++)
		if (held[i] != sim->streams[i].inside.value)
			sim->broken = "flow balance of a stream";
	free(held);
	check_streams(sim);
	sim_graph_check(sim);
	sim_links_check(sim);
	check_queues(sim);
	check_cores(sim);
	check_units(sim);
	check_memories(sim);
	sim_credits_check(sim);
}
