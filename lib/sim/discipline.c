/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In which order packets of a lane are served.
 *
 *   fcfs, lcfs          a list
 *   shortest, longest   a pairing heap (Fredman, Sedgewick, Sleator, Tarjan, 1986) by what is left of their service,
 *                       which is drawn when they come
 *   of a shared object  that knows
 *
 * Who goes first is decided when a packet comes and when a core is free. For what is shortest that is the same as deciding all the
 * time (SRPT): what is left of the one that is worked on only becomes less, and nobody else's does. For what is longest it is not:
 * what is left of it falls below what is left of others. To decide all the time would be LRPT, where those of which most is left
 * have equal shares of the core, each for no time at a stretch; no core that switches does that. So one is worked on until it is
 * done, or one comes of which more is left.
 *
 * A heap's packets are linked by `next` to siblings and by `next_taken` to the first of those below them; lists of
 * ordered queues, which need that for themselves, have none.
 */
#include <math.h>

#include "sim.h"

static inline const struct model_queue *
model_of(const struct sim *sim, uint32_t lane)
{
	return &sim->model->queues[sim->model->lane_queue[lane]];
}

/* What comes first has the lowest: whatever is not in the middle of its service. */
static inline double
key(const struct sim_packet *packet, bool longest)
{
	if (packet->state != PACKET_INTERRUPTED)
		return -INFINITY;
	return longest ? -packet->left_cycles : packet->left_cycles;
}

/* One of two heaps below the other. Of equal ones that which came first stays above, then the one that is named first. */
static uint32_t
meld(struct sim_packet *all, uint32_t a, uint32_t b, bool longest)
{
	const double key_a = key(&all[a], longest), key_b = key(&all[b], longest);

	if (key_b < key_a || (key_b == key_a && all[b].entered_ps < all[a].entered_ps)) {
		const uint32_t other = a;

		a = b;
		b = other;
	}
	all[b].next = all[a].next_taken;
	all[a].next_taken = b;
	return a;
}

static void
heap_add(struct sim *sim, struct packet_list *heap, uint32_t packet, bool longest)
{
	struct sim_packet *const all = sim->packets.all;

	all[packet].next = all[packet].next_taken = SIM_NONE;
	heap->head = heap->head == SIM_NONE ? packet : meld(all, heap->head, packet, longest);
}

/* Without its first: what was below that is melded in pairs, and these one after the other from the last. */
static uint32_t
heap_take(struct sim *sim, struct packet_list *heap, bool longest)
{
	struct sim_packet *const all = sim->packets.all;
	const uint32_t first = heap->head;
	uint32_t left = all[first].next_taken, pairs = SIM_NONE, a, b;

	while (left != SIM_NONE) {
		sim->work++;
		a = left;
		b = all[a].next;
		left = SIM_NONE;
		if (b != SIM_NONE) {
			left = all[b].next;
			a = meld(all, a, b, longest);
		}
		all[a].next = pairs;
		pairs = a;
	}
	heap->head = pairs;
	if (pairs != SIM_NONE) {
		left = all[pairs].next;
		while (left != SIM_NONE) {
			b = all[left].next;
			heap->head = meld(all, heap->head, left, longest);
			left = b;
		}
		all[heap->head].next = SIM_NONE;
	}
	return first;
}

void
sim_lane_draw(struct sim *sim, const struct model_queue *queue, uint32_t index)
{
	struct sim_packet *const packet = &sim->packets.all[index];

	packet->step = sim->model->objects[queue->object].first_step;
	packet->left_cycles = sim_step_cycles(sim, index);
	packet->state = PACKET_INTERRUPTED;
}

bool
sim_ask_to_reserve(const struct sim *sim, const struct weir_sim_discipline *discipline, void *state,
	uint32_t index)
{
	const struct sim_packet *const packet = &sim->packets.all[index];
	const struct weir_sim_waiting waiting = {packet->created_ps, packet->entered_ps, index,
		packet->size_bytes, packet->flow, packet->stream};

	return discipline->reserve(state, &waiting);
}

bool
sim_lane_add_in_order(struct sim *sim, uint32_t index, uint32_t packet)
{
	const struct model_queue *const queue = model_of(sim, index);
	struct sim_lane *const lane = &sim->lanes[index];

	switch (queue->discipline) {
	case MODEL_LCFS:
		packet_list_add_first(&sim->packets, &lane->waiting, packet);
		break;
	case MODEL_SHORTEST:
	case MODEL_LONGEST:
		heap_add(sim, &lane->waiting, packet, queue->discipline == MODEL_LONGEST);
		break;
	case MODEL_CUSTOM:
		return sim_ask_to_reserve(sim, queue->custom, lane->custom, packet);
	case MODEL_FCFS:
	case MODEL_PRIORITY: /* of units */
		break;
	}
	return true;
}

/* What the discipline says, if that is possible. */
static uint32_t
ask_to_select(struct sim *sim, uint32_t index, const struct model_queue *queue)
{
	uint32_t packet = queue->custom->select(sim->lanes[index].custom, sim->now_ps);

	if (packet >= sim->packets.nb || !sim->packets.all[packet].is_waiting ||
		sim->packets.all[packet].lane != index) {
		sim_give_up(sim, "a discipline selects what waits");
		for (packet = 0; !sim->packets.all[packet].is_waiting ||
				 sim->packets.all[packet].lane != index;
			packet++)
			;
	}
	return packet;
}

uint32_t
sim_lane_take_in_order(struct sim *sim, uint32_t index)
{
	const struct model_queue *const queue = model_of(sim, index);
	struct sim_lane *const lane = &sim->lanes[index];

	if (sim_orders_by_service(queue))
		return heap_take(sim, &lane->waiting, queue->discipline == MODEL_LONGEST);
	if (queue->discipline == MODEL_CUSTOM)
		return ask_to_select(sim, index, queue);
	return packet_list_take(&sim->packets, &lane->waiting);
}

void
sim_lane_resume(struct sim *sim, uint32_t index, uint32_t packet, bool first)
{
	const struct model_queue *const queue = model_of(sim, index);
	struct packet_list *const list = &sim->lanes[index].resumed;

	if (sim_orders_by_service(queue))
		heap_add(sim, list, packet, queue->discipline == MODEL_LONGEST);
	else if (first)
		packet_list_add_first(&sim->packets, list, packet);
	else
		packet_list_add(&sim->packets, list, packet);
}

uint32_t
sim_lane_take_resumed(struct sim *sim, uint32_t index)
{
	const struct model_queue *const queue = model_of(sim, index);
	struct packet_list *const list = &sim->lanes[index].resumed;

	return sim_orders_by_service(queue)
		       ? heap_take(sim, list, queue->discipline == MODEL_LONGEST)
		       : packet_list_take(&sim->packets, list);
}

bool
sim_lane_prefers_resumed(const struct sim *sim, uint32_t index)
{
	const struct model_queue *const queue = model_of(sim, index);
	const struct sim_lane *const lane = &sim->lanes[index];
	const bool longest = queue->discipline == MODEL_LONGEST;

	if (lane->resumed.head == SIM_NONE)
		return false;
	/* Of an atomic lane nothing else may begin while something is under way. */
	if (!sim_orders_by_service(queue) || lane->nb_waiting == 0 ||
		(queue->type == MODEL_ATOMIC && lane->holders > 0))
		return true;
	return key(&sim->packets.all[lane->resumed.head], longest) <=
	       key(&sim->packets.all[lane->waiting.head], longest);
}

uint64_t
sim_lane_since_ps(const struct sim *sim, uint32_t index)
{
	const struct sim_lane *const lane = &sim->lanes[index];

	if (lane->is_a_job)
		return lane->event_ps;
	if (sim_lane_prefers_resumed(sim, index))
		return sim->packets.all[lane->resumed.head].entered_ps;
	return lane->custom != NULL ? lane->since_ps
				    : sim->packets.all[lane->waiting.head].entered_ps;
}

bool
sim_lane_goes_before(
	const struct sim *sim, const struct model_queue *queue, uint32_t packet, double left_cycles)
{
	const double cycles = sim->packets.all[packet].left_cycles;

	switch (queue->discipline) {
	case MODEL_LCFS:
		return true;
	case MODEL_SHORTEST:
		return cycles < left_cycles;
	case MODEL_LONGEST:
		return cycles > left_cycles;
	case MODEL_FCFS:
	case MODEL_PRIORITY:
	case MODEL_CUSTOM:
		break;
	}
	return false;
}

bool
sim_lane_is_next(const struct sim *sim, uint32_t lane, uint32_t packet)
{
	const struct model_queue *const queue = model_of(sim, lane);
	const uint32_t head = sim->lanes[lane].waiting.head;

	return queue->discipline != MODEL_FCFS && queue->discipline != MODEL_CUSTOM &&
	       sim_lane_goes_before(sim, queue, packet, sim->packets.all[head].left_cycles);
}
