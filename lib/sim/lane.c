/* SPDX-License-Identifier: BSD-3-Clause */
/* Who holds a lane: packets that come to hold it with their core, and those that leave it for where they are bound to. */
#include "lane.h"

void
sim_lane_add_in_flight(struct sim *sim, struct sim_lane *lane, uint32_t packet)
{
	struct packet_list *const list = &lane->in_flight;

	sim->packets.all[packet].next_taken = SIM_NONE;
	if (list->head == SIM_NONE)
		list->head = packet;
	else
		sim->packets.all[list->tail].next_taken = packet;
	list->tail = packet;
}

/* It is its turn: it has the lane that it waited for with its core, which goes on in an event of its own. */
static void
grant(struct sim *sim, uint32_t lane_index, uint32_t index)
{
	struct sim_packet *const packet = &sim->packets.all[index];

	sim_lane_hold(sim, lane_index, index);
	sim->cores[packet->core].phase = CORE_IN_SWITCH;
	sim_core_schedule(sim, packet->core, sim->now_ps);
}

/* A packet that has a core comes to a queue, to hold a lane of it. */
static void
claim(struct sim *sim, uint32_t queue_index, uint32_t packet)
{
	struct sim_queue *const queue = &sim->queues[queue_index];
	const uint32_t lane_index = sim_lane_of(sim, queue_index, packet);
	struct sim_lane *const lane = &sim->lanes[lane_index];
	struct sim_packet *const of = &sim->packets.all[packet];

	queue->arrived++;
	of->entered_ps = of->stage_ps = sim->now_ps;
	of->stage_service_ps = of->service_ps;
	of->lane = lane_index;
	if (lane->holders == 0 || sim->model->queues[queue_index].type != MODEL_ATOMIC) {
		/* What waits there for a core waits for the flow now. */
		if (sim->model->queues[queue_index].type == MODEL_ATOMIC)
			sim_lane_clear_ready(sim, lane_index);
		grant(sim, lane_index, packet);
		return;
	}
	weir_sim_level_set(&queue->length, sim->now_ps, queue->length.value + 1);
	of->is_waiting = true;
	packet_list_add(&sim->packets, &lane->claims, packet);
}

static ALWAYS_INLINE void
forward(struct sim *sim, uint32_t packet)
{
	const uint32_t to = sim->packets.all[packet].to, lane = sim->packets.all[packet].lane;

	if (sim->model->nb_edges > 0 && lane != SIM_NONE)
		sim_probes_sent(sim, sim->packets.all[packet].step, to, packet);
	if (to == SIM_TO_OUTPUT)
		sim_packet_delivered(sim, packet);
	else if (to & SIM_TO_DROP)
		sim_packet_dropped(sim, packet, to & ~SIM_TO_DROP);
	else if (to & SIM_TO_UNIT)
		sim_through_unit(sim, to & ~SIM_TO_UNIT, packet, SIM_TO_OUTPUT);
	else if (to & SIM_TO_PORT)
		sim_port_receive(sim, to & ~SIM_TO_PORT, packet);
	else if (to & SIM_TO_NEW)
		sim_enter(sim, to & ~SIM_TO_NEW, packet);
	else if (to & SIM_TO_LANE)
		claim(sim, to & ~SIM_TO_LANE, packet);
	else
		sim_enqueue(sim, to, packet);
}

void
sim_forward(struct sim *sim, uint32_t packet)
{
	forward(sim, packet);
}

/* A packet leaves its lane. */
static ALWAYS_INLINE void
leave_lane(struct sim *sim, uint32_t lane, uint32_t packet)
{
	const struct sim_packet *const of = &sim->packets.all[packet];

	if (of->order != sim->lanes[lane].order_out++ && sim->lanes[lane].type != MODEL_PARALLEL)
		sim->broken = "order of what leaves a queue";
	sim_lane_count_left(sim, lane, packet);
	forward(sim, packet);
}

/* An ordered lane: those at its front that are done go on. */
static void
release(struct sim *sim, uint32_t lane)
{
	struct packet_list *const list = &sim->lanes[lane].in_flight;

	while (list->head != SIM_NONE && sim->packets.all[list->head].state == PACKET_DONE) {
		const uint32_t packet = list->head;

		list->head = sim->packets.all[packet].next_taken;
		sim->packets.all[packet].state = PACKET_INSIDE;
		leave_lane(sim, lane, packet);
	}
}

void
sim_lane_leave(struct sim *sim, uint32_t packet)
{
	const uint32_t lane_index = sim->packets.all[packet].lane;
	struct sim_lane *const lane = &sim->lanes[lane_index];
	const enum model_queue_type type = lane->type;

	lane->holders--;
	if (type == MODEL_ATOMIC && lane->claims.head != SIM_NONE) {
		const uint32_t next = packet_list_take(&sim->packets, &lane->claims);
		struct weir_sim_level *const length = &sim->queues[lane->queue].length;

		weir_sim_level_set(length, sim->now_ps, length->value - 1);
		sim->packets.all[next].is_waiting = false;
		grant(sim, lane_index, next);
	} else if (type == MODEL_ATOMIC && lane->nb_waiting > 0) {
		sim_lane_set_ready(sim, lane_index);
	}
	if (type == MODEL_ORDERED) {
		sim->packets.all[packet].state = PACKET_DONE;
		release(sim, lane_index);
	} else {
		leave_lane(sim, lane_index, packet);
	}
}
