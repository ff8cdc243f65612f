/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that wait for each other, so that none of them ever goes on:
 *
 *   one that joins waits for its parts, a part for a flow that somebody has, for its turn behind somebody, or for a core
 *
 * Of all that wait those are left out, again and again, for whom what they wait for can happen. Who is left waits for ever, and
 * somewhere among them is a circle.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lane.h"

/* What a packet waits for. */
enum wait {
	WAIT_NOT, /* it does not, or for something that comes by itself */
	WAIT_PART,
	WAIT_FLOW, /* of an atomic queue, that another packet has */
	WAIT_TURN, /* of an ordered queue */
	WAIT_CORE,
};

struct knot {
	const struct sim *sim;
	uint8_t *waits;     /* per packet; WAIT_NOT: it is not stuck */
	uint32_t *parts;    /* per packet: a part of it that is stuck, or SIM_NONE */
	uint32_t *nb_parts; /* per packet: how many of them are */
	uint32_t *owners;   /* per lane: the packet that others of it wait for, or SIM_NONE */
	bool *is_stuck;     /* per kind of cores: all of them have packets that are */
};

static inline const struct model_queue *
queue_of(const struct knot *knot, uint32_t packet)
{
	const struct weir_sim_model *const model = knot->sim->model;

	return &model->queues[model->lane_queue[knot->sim->packets.all[packet].lane]];
}

/* Only with one that joins, or one that has its core while it waits for a flow or its turn, is there anything to find. */
static bool
is_possible(const struct sim *sim)
{
	uint32_t i;

	for (i = 0; i < sim->model->nb_cores; i++)
		if (sim->cores[i].packet != SIM_NONE &&
			(sim->packets.all[sim->cores[i].packet].is_waiting ||
				sim->packets.all[sim->cores[i].packet].state == PACKET_DONE))
			return true;
	for (i = 0; sim->model->has_forks && i < sim->packets.nb; i++)
		if (sim->packets.all[i].state != PACKET_FREE && sim->families[i].waits)
			return true;
	return false;
}

static enum wait
find_wait(const struct sim *sim, uint32_t index)
{
	const struct sim_packet *const packet = &sim->packets.all[index];
	const struct model_queue *queue;

	if (packet->state == PACKET_FREE || packet->state == PACKET_GONE)
		return WAIT_NOT;
	if (sim->model->has_forks && sim->families[index].waits)
		return WAIT_PART;
	if (packet->state == PACKET_DONE)
		return WAIT_TURN;
	if (!packet->is_waiting)
		return WAIT_NOT;
	queue = &sim->model->queues[sim->model->lane_queue[packet->lane]];
	if (queue->type == MODEL_ATOMIC && sim->lanes[packet->lane].holders > 0)
		return WAIT_FLOW;
	return sim_is_of_workers(queue) ? WAIT_NOT : WAIT_CORE;
}

/* What waits for what, as far as each one knows. */
static void
find_waits(struct knot *knot)
{
	const struct sim *const sim = knot->sim;
	uint32_t i, packet;

	for (i = 0; i < sim->packets.nb; i++)
		knot->waits[i] = (uint8_t)find_wait(sim, i);
	for (i = 0; i < sim->model->nb_lanes; i++) {
		const struct model_queue *queue = &sim->model->queues[sim->model->lane_queue[i]];

		knot->owners[i] = sim->lanes[i].in_flight.head;
		/* They have the flow, but no core. What is in a heap is taken for what goes on. */
		packet = sim_orders_by_service(queue) ? SIM_NONE : sim->lanes[i].resumed.head;
		for (; packet != SIM_NONE; packet = sim->packets.all[packet].next)
			if (!sim_is_of_workers(queue))
				knot->waits[packet] = WAIT_CORE;
	}
	for (i = 0; i < sim->packets.nb; i++) {
		const struct sim_packet *of = &sim->packets.all[i];

		if (of->state != PACKET_FREE && of->state != PACKET_GONE && of->lane != SIM_NONE &&
			!of->is_waiting && queue_of(knot, i)->type == MODEL_ATOMIC)
			knot->owners[of->lane] = i;
	}
}

/* Whom a packet waits for who is stuck as well; SIM_NONE: there is a way. */
static uint32_t
find_cause(const struct knot *knot, uint32_t packet)
{
	const struct weir_sim_model *const model = knot->sim->model;
	uint32_t cause = SIM_NONE, i;

	switch ((enum wait)knot->waits[packet]) {
	case WAIT_NOT:
		return SIM_NONE;
	case WAIT_PART:
		return knot->parts[packet];
	case WAIT_FLOW:
	case WAIT_TURN:
		cause = knot->owners[knot->sim->packets.all[packet].lane];
		return cause != SIM_NONE && knot->waits[cause] != WAIT_NOT ? cause : SIM_NONE;
	case WAIT_CORE:
		for (i = 0; i < model->nb_kinds; i++) {
			if (!sim_serves_queue(&model->cores[i], queue_of(knot, packet)))
				continue;
			if (!knot->is_stuck[i])
				return SIM_NONE;
			cause = knot->sim->cores[model->cores[i].first].packet;
		}
		break;
	}
	return cause;
}

/* From who is stuck, to what that means for others. */
static void
spread(struct knot *knot)
{
	const struct sim *const sim = knot->sim;
	uint32_t i, j, parent;

	for (i = 0; sim->model->has_forks && i < sim->packets.nb; i++) {
		knot->parts[i] = SIM_NONE;
		knot->nb_parts[i] = 0;
	}
	for (i = 0; sim->model->has_forks && i < sim->packets.nb; i++) {
		parent = knot->waits[i] != WAIT_NOT ? sim->families[i].parent : SIM_NONE;
		if (parent == SIM_NONE)
			continue;
		knot->parts[parent] = i;
		knot->nb_parts[parent]++;
	}
	for (i = 0; i < sim->model->nb_kinds; i++) {
		const struct model_cores *kind = &sim->model->cores[i];

		knot->is_stuck[i] = kind->count > 0;
		for (j = kind->first; j < kind->first + kind->count; j++)
			knot->is_stuck[i] = knot->is_stuck[i] && sim->cores[j].packet != SIM_NONE &&
					    knot->waits[sim->cores[j].packet] != WAIT_NOT;
	}
}

/* It can go on, and so can those that wait for no other part, however deep parts have parts: there may be millions. */
static void
leave_out(struct knot *knot, uint32_t packet)
{
	const struct sim *const sim = knot->sim;

	for (;;) {
		knot->waits[packet] = WAIT_NOT;
		packet = sim->model->has_forks ? sim->families[packet].parent : SIM_NONE;
		if (packet == SIM_NONE || knot->waits[packet] != WAIT_PART ||
			--knot->nb_parts[packet] > 0)
			return;
	}
}

/* Leave out who can go on. @return one that is stuck, SIM_NONE: nobody is */
static uint32_t
reduce(struct knot *knot)
{
	uint32_t left, i;
	bool changed = true;

	for (left = SIM_NONE; changed;) {
		changed = false;
		left = SIM_NONE;
		spread(knot);
		for (i = 0; i < knot->sim->packets.nb; i++) {
			if (knot->waits[i] == WAIT_NOT)
				continue;
			left = i;
			if (find_cause(knot, i) != SIM_NONE)
				continue;
			leave_out(knot, i);
			changed = true;
		}
	}
	return left;
}

/* What a packet waits for, in words. */
static int
tell_wait(const struct knot *knot, uint32_t packet, char *text, size_t size)
{
	const struct model_queue *const queue = queue_of(knot, packet);
	const uint32_t lane = knot->sim->packets.all[packet].lane;

	switch ((enum wait)knot->waits[packet]) {
	case WAIT_PART:
		return snprintf(text, size, "a part of it");
	case WAIT_FLOW:
		return snprintf(text, size, "flow %u of queue '%.64s'", lane - queue->first_lane,
			queue->name);
	case WAIT_TURN:
		return snprintf(text, size, "its turn in flow %u of queue '%.64s'",
			lane - queue->first_lane, queue->name);
	case WAIT_CORE:
		return snprintf(text, size, "a core for queue '%.64s'", queue->name);
	case WAIT_NOT:
		break;
	}
	return 0;
}

/* Whom that depends on. */
static const char *const whom[] = {
	[WAIT_NOT] = "",
	[WAIT_PART] = "that part",
	[WAIT_FLOW] = "who has that",
	[WAIT_TURN] = "who is before it",
	[WAIT_CORE] = "who has that",
};

/* One round of the circle that is met on the way from a packet that is stuck. */
static void
tell_circle(const struct knot *knot, uint32_t packet, char *text, size_t size)
{
	size_t used;
	uint32_t first, i;

	for (i = 0; i < knot->sim->packets.nb; i++)
		packet = find_cause(knot, packet);
	/* Best begun with one that joins. */
	for (first = packet; knot->waits[packet] != WAIT_PART;) {
		packet = find_cause(knot, packet);
		if (packet == first)
			break;
	}
	used = (size_t)snprintf(text, size, "who waits goes on: one of queue '%.64s' waits for ",
		queue_of(knot, packet)->name);
	for (first = packet; used + SIM_BROKEN_SIZE / 4 < size;) {
		used += (size_t)tell_wait(knot, packet, text + used, size - used);
		used += (size_t)snprintf(
			text + used, size - used, "; %s ", whom[knot->waits[packet]]);
		packet = find_cause(knot, packet);
		if (packet == first) {
			snprintf(text + used, size - used, "is the first");
			return;
		}
		used += (size_t)snprintf(text + used, size - used, "waits for ");
	}
	snprintf(text + used, size - used, "others");
}

static void
knot_free(struct knot *knot)
{
	free(knot->waits);
	free(knot->parts);
	free(knot->nb_parts);
	free(knot->owners);
	free(knot->is_stuck);
}

void
sim_find_deadlock(struct sim *sim)
{
	struct knot knot = {.sim = sim};
	uint32_t stuck;

	if (!sim->model->may_deadlock || sim->broken != NULL || !is_possible(sim))
		return;
	knot.waits = malloc((size_t)sim->packets.nb + 1);
	knot.parts = malloc(((size_t)sim->packets.nb + 1) * sizeof(*knot.parts));
	knot.nb_parts = malloc(((size_t)sim->packets.nb + 1) * sizeof(*knot.nb_parts));
	knot.owners = malloc(((size_t)sim->model->nb_lanes + 1) * sizeof(*knot.owners));
	knot.is_stuck = malloc(((size_t)sim->model->nb_kinds + 1) * sizeof(*knot.is_stuck));
	if (knot.waits == NULL || knot.parts == NULL || knot.nb_parts == NULL ||
		knot.owners == NULL || knot.is_stuck == NULL) {
		sim->error = -ENOMEM;
		knot_free(&knot);
		return;
	}
	find_waits(&knot);
	stuck = reduce(&knot);
	if (stuck != SIM_NONE) {
		tell_circle(&knot, stuck, sim->broken_text, sizeof(sim->broken_text));
		sim_give_up(sim, sim->broken_text);
		sim->error = 0;
	}
	knot_free(&knot);
}
