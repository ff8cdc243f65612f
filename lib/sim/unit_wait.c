/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What waits for units, and in which order it is served.
 *
 *   fcfs                                 a list
 *   lcfs, priority, shortest, longest    a binary heap by key, of equal ones by the order in which they came
 *   of a shared object                   in no order: that knows
 */
#include <math.h>
#include <stdlib.h>

#include "sim.h"

static inline bool
is_before(const struct sim_visit *a, const struct sim_visit *b)
{
	return a->key < b->key || (a->key == b->key && a->order < b->order);
}

double
sim_unit_key(const struct model_unit *model, const struct sim_visit *visit, uint64_t left_ps)
{
	switch (model->discipline) {
	case MODEL_LCFS:
		return -(double)visit->order;
	case MODEL_SHORTEST:
		return (double)left_ps;
	case MODEL_LONGEST:
		return -(double)left_ps;
	case MODEL_FCFS:
	case MODEL_PRIORITY:
	case MODEL_CUSTOM:
		break;
	}
	return visit->key;
}

/* One more place. @return false: no memory */
static bool
grow(struct sim *sim, struct sim_unit *unit)
{
	const size_t room = unit->room == 0 ? 16 : 2 * (size_t)unit->room;
	struct sim_visit *all;

	if (unit->nb_visits < unit->room)
		return true;
	all = realloc(unit->visits, room * sizeof(*all));
	if (all == NULL) {
		sim->error = -ENOMEM;
		return false;
	}
	unit->visits = all;
	unit->room = (uint32_t)room;
	return true;
}

static void
heap_add(struct sim_unit *unit, const struct sim_visit *visit)
{
	struct sim_visit *const all = unit->visits;
	uint32_t at = unit->nb_visits++, above;

	for (; at > 0; at = above) {
		above = (at - 1) / 2;
		if (!is_before(visit, &all[above]))
			break;
		all[at] = all[above];
	}
	all[at] = *visit;
}

static struct sim_visit
heap_take(struct sim_unit *unit)
{
	struct sim_visit *const all = unit->visits;
	const struct sim_visit first = all[0], last = all[--unit->nb_visits];
	uint32_t at = 0, below;

	for (below = 1; below < unit->nb_visits; below = 2 * at + 1) {
		if (below + 1 < unit->nb_visits && is_before(&all[below + 1], &all[below]))
			below++;
		if (!is_before(&all[below], &last))
			break;
		all[at] = all[below];
		at = below;
	}
	all[at] = last;
	return first;
}

/* A packet that waits for a unit with such a discipline knows by `next` where it is among them. */
static void
place(struct sim *sim, struct sim_unit *unit, uint32_t at, struct sim_visit visit)
{
	unit->visits[at] = visit;
	sim->packets.all[visit.packet].next = at;
}

/* What the discipline says, if that is possible. */
static struct sim_visit
ask_to_select(struct sim *sim, uint32_t index)
{
	struct sim_unit *const unit = &sim->units[index];
	const uint32_t packet = sim->model->units[index].custom->select(unit->custom, sim->now_ps);
	uint32_t at = packet < sim->packets.nb ? sim->packets.all[packet].next : 0;
	struct sim_visit found;

	if (at >= unit->nb_visits || unit->visits[at].packet != packet) {
		sim_give_up(sim, "a discipline selects what waits");
		at = 0;
	}
	found = unit->visits[at];
	place(sim, unit, at, unit->visits[--unit->nb_visits]);
	return found;
}

bool
sim_unit_wait(struct sim *sim, uint32_t index, const struct sim_visit *visit)
{
	const struct model_unit *const model = &sim->model->units[index];
	struct sim_unit *const unit = &sim->units[index];

	switch (model->discipline) {
	case MODEL_FCFS:
		packet_list_add(&sim->packets, &unit->waiting, visit->packet);
		return true;
	case MODEL_CUSTOM:
		if (!sim_ask_to_reserve(sim, model->custom, unit->custom, visit->packet) ||
			!grow(sim, unit))
			return false;
		place(sim, unit, unit->nb_visits++, *visit);
		return true;
	case MODEL_LCFS:
	case MODEL_PRIORITY:
	case MODEL_SHORTEST:
	case MODEL_LONGEST:
		break;
	}
	if (!grow(sim, unit))
		return false;
	heap_add(unit, visit);
	return true;
}

struct sim_visit
sim_unit_next(struct sim *sim, uint32_t index)
{
	struct sim_unit *const unit = &sim->units[index];

	switch (sim->model->units[index].discipline) {
	case MODEL_FCFS:
		break;
	case MODEL_CUSTOM:
		return ask_to_select(sim, index);
	case MODEL_LCFS:
	case MODEL_PRIORITY:
	case MODEL_SHORTEST:
	case MODEL_LONGEST:
		return heap_take(unit);
	}
	return (struct sim_visit){.packet = packet_list_take(&sim->packets, &unit->waiting),
		.left_ps = SIM_NOT_DRAWN};
}
