/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: servers that are no cores. First come, first served; what finds all of them busy waits, or is dropped when no
 * room is left.
 *
 * Who comes to one: a packet that a core waits for, one that gave its core up and holds its lane, or one that is on its
 * way in or out and belongs to no lane.
 */
#include "sim.h"

static void
start(struct sim *sim, uint32_t index, uint32_t packet)
{
	struct sim_server *const server = &sim->servers[index];
	const struct model_unit *const model = &sim->model->units[server->unit];
	struct sim_unit *const unit = &sim->units[server->unit];
	struct weir_sim_random *const random = &sim->unit_random[server->unit];
	double ps = weir_sim_dist_draw(&model->delay, random) +
		    model->per_byte * sim->packets.all[packet].size_bytes;

	if (model->outlier_probability > 0 &&
		weir_sim_random_open(random) < model->outlier_probability)
		ps += weir_sim_dist_draw(&model->outlier, random);
	unit->taken++;
	weir_sim_tally_add(&unit->wait_ps, sim->now_ps - sim->packets.all[packet].entered_ps);
	unit->waited_ps += sim_counted_ps(sim, sim->packets.all[packet].entered_ps);
	server->packet = packet;
	server->start_ps = sim->now_ps;
	sim_schedule(sim, sim->now_ps + sim_round_ps(ps), EVENT_PRIORITY_DONE,
		EVENT_TARGET(EVENT_SERVER, index));
}

bool
sim_unit_enter(struct sim *sim, uint32_t index, uint32_t packet)
{
	struct sim_unit *const unit = &sim->units[index];
	const uint32_t server = unit->free;

	unit->arrived++;
	if (server == SIM_NONE && unit->length.value >= sim->model->units[index].capacity) {
		unit->dropped++;
		return false;
	}
	sim->packets.all[packet].entered_ps = sim->now_ps;
	if (server == SIM_NONE) {
		weir_sim_level_set(&unit->length, sim->now_ps, unit->length.value + 1);
		packet_list_add(&sim->packets, &unit->waiting, packet);
		return true;
	}
	unit->free = sim->servers[server].next;
	weir_sim_level_set(&unit->busy, sim->now_ps, unit->busy.value + 1);
	start(sim, server, packet);
	return true;
}

void
sim_through_unit(struct sim *sim, uint32_t unit, uint32_t packet, uint32_t to)
{
	sim->packets.all[packet].lane = SIM_NONE;
	sim->packets.all[packet].to = to;
	if (!sim_unit_enter(sim, unit, packet))
		sim_packet_dropped(sim, packet, sim->model->units[unit].reason);
}

/* The unit has had its packet: back to where it belongs. */
static void
give_back(struct sim *sim, uint32_t index)
{
	struct sim_packet *const packet = &sim->packets.all[index];
	const uint32_t core = packet->core;

	if (packet->lane == SIM_NONE) {
		sim_forward(sim, index);
		return;
	}
	packet->step++;
	packet->core = SIM_NONE;
	if (core == SIM_NONE) {
		sim_resume(sim, index);
		return;
	}
	sim_core_account(sim, core);
	sim_steps_run(sim, core, false);
}

void
sim_unit_event(struct sim *sim, uint32_t index)
{
	struct sim_server *const server = &sim->servers[index];
	struct sim_unit *const unit = &sim->units[server->unit];
	const uint32_t packet = server->packet;

	unit->served++;
	unit->worked_ps += sim_counted_ps(sim, server->start_ps);
	sim->packets.all[packet].service_ps += sim->now_ps - server->start_ps;
	if (unit->waiting.head != SIM_NONE) {
		weir_sim_level_set(&unit->length, sim->now_ps, unit->length.value - 1);
		start(sim, index, packet_list_take(&sim->packets, &unit->waiting));
	} else {
		server->packet = SIM_NONE;
		server->next = unit->free;
		unit->free = index;
		weir_sim_level_set(&unit->busy, sim->now_ps, unit->busy.value - 1);
	}
	give_back(sim, packet);
}
