/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units: servers that are no cores. What finds all of them busy waits, interrupts what goes behind it, or is dropped when
 * no room is left.
 *
 * Who comes to one: a packet that a core waits for, one that gave its core up and holds its lane, or one that is on its
 * way in or out and belongs to no lane.
 */
#include "sim.h"

static uint64_t
draw_service(struct sim *sim, uint32_t index, uint32_t packet)
{
	const struct model_unit *const model = &sim->model->units[index];
	struct weir_sim_random *const random = &sim->unit_random[index];
	double ps = weir_sim_dist_draw(&model->delay, random) +
		    model->per_byte * sim->packets.all[packet].size_bytes;

	if (model->outlier_probability > 0 &&
		weir_sim_random_open(random) < model->outlier_probability)
		ps += weir_sim_dist_draw(&model->outlier, random);
	if (sim->packets.all[packet].lane != SIM_NONE) /* else no step has sent it */
		ps *= sim_step_times(sim, packet);
	return sim_round_ps(ps);
}

/* It waits no more. Whenever a packet was interrupted it waits again: all of that is one wait (of units no spread is told). */
static void
count_wait(struct sim *sim, struct sim_unit *unit, struct sim_visit *visit)
{
	const uint64_t entered_ps = sim->packets.all[visit->packet].entered_ps;
	const uint64_t ps = sim->now_ps - entered_ps;

	unit->taken++;
	unit->waited_ps += sim_counted_ps(sim, entered_ps);
	visit->waited_ps += ps;
	if (!visit->was_interrupted) {
		weir_sim_tally_add(&unit->wait_ps, ps);
		return;
	}
	unit->wait_ps.sum += ps;
	if (visit->waited_ps > unit->wait_ps.max)
		unit->wait_ps.max = visit->waited_ps;
}

static void
start(struct sim *sim, uint32_t index, struct sim_visit visit)
{
	struct sim_server *const server = &sim->servers[index];
	struct sim_unit *const unit = &sim->units[server->unit];

	if (visit.left_ps == SIM_NOT_DRAWN)
		visit.left_ps = draw_service(sim, server->unit, visit.packet);
	count_wait(sim, unit, &visit);
	server->visit = visit;
	server->start_ps = sim->now_ps;
	server->end_ps = sim->now_ps + visit.left_ps;
	if (!event_list_push_stamped(&sim->events, server->end_ps, EVENT_PRIORITY_DONE,
		    EVENT_TARGET(EVENT_SERVER, index), server->stamp))
		sim->error = -ENOMEM;
}

/* By its discipline's key; what goes by the service knows it from the beginning. */
static struct sim_visit
begin_visit(struct sim *sim, uint32_t index, uint32_t packet)
{
	const struct model_unit *const model = &sim->model->units[index];
	struct sim_visit visit = {
		.order = sim->units[index].nb_came++, .left_ps = SIM_NOT_DRAWN, .packet = packet};

	if (model->discipline == MODEL_SHORTEST || model->discipline == MODEL_LONGEST)
		visit.left_ps = draw_service(sim, index, packet);
	if (model->discipline == MODEL_PRIORITY)
		visit.key = sim_number(sim, packet, model->by);
	visit.key = sim_unit_key(model, &visit, visit.left_ps);
	return visit;
}

/* The server whose packet goes behind all others and behind one that comes; SIM_NONE: there is none. */
static uint32_t
find_last(const struct sim *sim, uint32_t index, const struct sim_visit *comes)
{
	const struct model_unit *const model = &sim->model->units[index];
	uint32_t found = SIM_NONE, i;
	double last = comes->key, key;

	for (i = model->first_server; i < model->first_server + model->nb_servers; i++) {
		const struct sim_server *const server = &sim->servers[i];

		key = sim_unit_key(model, &server->visit, server->end_ps - sim->now_ps);
		if (key > last) {
			last = key;
			found = i;
		}
	}
	return found;
}

/* Its packet waits again, and goes on later where it was. */
static void
interrupt(struct sim *sim, uint32_t index)
{
	struct sim_server *const server = &sim->servers[index];
	struct sim_unit *const unit = &sim->units[server->unit];
	struct sim_packet *const packet = &sim->packets.all[server->visit.packet];

	server->stamp++;
	unit->interrupted++;
	unit->worked_ps += sim_counted_ps(sim, server->start_ps);
	packet->service_ps += sim->now_ps - server->start_ps;
	packet->entered_ps = sim->now_ps;
	server->visit.was_interrupted = true;
	server->visit.left_ps = server->end_ps - sim->now_ps;
	server->visit.key = sim_unit_key(
		&sim->model->units[server->unit], &server->visit, server->visit.left_ps);
	weir_sim_level_set(&unit->length, sim->now_ps, unit->length.value + 1);
	sim_unit_wait(sim, server->unit, &server->visit);
}

bool
sim_unit_enter(struct sim *sim, uint32_t index, uint32_t packet)
{
	const struct model_unit *const model = &sim->model->units[index];
	struct sim_unit *const unit = &sim->units[index];
	const struct sim_visit visit = begin_visit(sim, index, packet);
	uint32_t server = unit->free;

	unit->arrived++;
	sim->packets.all[packet].entered_ps = sim->now_ps;
	if (server != SIM_NONE) {
		unit->free = sim->servers[server].next;
		weir_sim_level_set(&unit->busy, sim->now_ps, unit->busy.value + 1);
		start(sim, server, visit);
		return true;
	}
	if (model->preemptive) {
		server = find_last(sim, index, &visit);
		if (server != SIM_NONE) {
			interrupt(sim, server);
			start(sim, server, visit);
			return true;
		}
	}
	if (unit->length.value >= model->capacity || !sim_unit_wait(sim, index, &visit)) {
		unit->dropped++;
		return false;
	}
	weir_sim_level_set(&unit->length, sim->now_ps, unit->length.value + 1);
	return true;
}

void
sim_through_unit(struct sim *sim, uint32_t unit, uint32_t packet, uint32_t to)
{
	sim->packets.all[packet].lane = SIM_NONE;
	sim->packets.all[packet].to = to;
	sim_credit_return(sim, packet);
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
	const uint32_t packet = server->visit.packet;

	unit->served++;
	unit->worked_ps += sim_counted_ps(sim, server->start_ps);
	sim->packets.all[packet].service_ps += sim->now_ps - server->start_ps;
	if (unit->length.value > 0) {
		weir_sim_level_set(&unit->length, sim->now_ps, unit->length.value - 1);
		start(sim, index, sim_unit_next(sim, server->unit));
	} else {
		server->visit.packet = SIM_NONE;
		server->next = unit->free;
		unit->free = index;
		weir_sim_level_set(&unit->busy, sim->now_ps, unit->busy.value - 1);
	}
	give_back(sim, packet);
}
