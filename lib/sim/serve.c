/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues, and the cores that serve them.
 *
 *   enqueue --> lane (one per flow) --> core: step, step ... --> next queue, or output
 *
 * A lane is *ready* when it has packets and a core may take one: an atomic lane only while no core has any of it.
 * Work-conserving: whenever a lane becomes ready an idle core of its group takes from it, and a core that is done looks
 * for a ready lane before it is idle. So a lane stays ready only while no core of its group is idle.
 */
#include "sim.h"

#define SERVICE_MAX_PS 0x1p61

static inline bool
test_bit(const uint64_t *words, uint32_t bit)
{
	return words[bit / 64] >> bit % 64 & 1;
}

static inline void
set_bit(uint64_t *words, uint32_t bit)
{
	words[bit / 64] |= UINT64_C(1) << bit % 64;
}

static inline void
clear_bit(uint64_t *words, uint32_t bit)
{
	words[bit / 64] &= ~(UINT64_C(1) << bit % 64);
}

/* The first idle core of a group; SIM_NONE: all are busy. */
static inline uint32_t
find_idle(const struct sim *sim, uint32_t group)
{
	const uint32_t nb_words = sim->model->core_words;
	const uint64_t *const cores = sim->model->group_cores + (size_t)group * nb_words;
	uint32_t i;

	for (i = 0; i < nb_words; i++)
		if ((cores[i] & sim->idle[i]) != 0)
			return i * 64 + (uint32_t)__builtin_ctzll(cores[i] & sim->idle[i]);
	return SIM_NONE;
}

static void
start_step(struct sim *sim, uint32_t index)
{
	struct sim_core *const core = &sim->cores[index];
	const struct model_step *const step = &sim->model->steps[core->step];
	const struct sim_packet *const packet = &sim->packets.all[core->packet];
	double ps = weir_sim_dist_draw(&step->amount, &sim->step_random[core->step]) +
		    step->per_byte * packet->size_bytes;

	ps = ps * sim->model->cores[sim->model->core_kind[index]].ps_per_cycle + 0.5;
	core->step_start_ps = sim->now_ps;
	sim_schedule(sim, sim->now_ps + (uint64_t)(ps < SERVICE_MAX_PS ? ps : SERVICE_MAX_PS),
		EVENT_PRIORITY_DONE, EVENT_TARGET(EVENT_STEP_DONE, index));
}

/* A core, which is idle no more, begins with a packet that is in no list. */
static void
begin(struct sim *sim, uint32_t index, uint32_t lane_index, uint32_t packet_index)
{
	const uint32_t queue_index = sim->model->lane_queue[lane_index];
	const struct model_queue *const model = &sim->model->queues[queue_index];
	const struct model_object *const object = &sim->model->objects[model->object];
	struct sim_queue *const queue = &sim->queues[queue_index];
	struct sim_lane *const lane = &sim->lanes[lane_index];
	struct sim_packet *const packet = &sim->packets.all[packet_index];
	struct sim_core *const core = &sim->cores[index];

	queue->taken++;
	weir_sim_tally_add(&queue->wait_ps, sim->now_ps - packet->entered_ps);
	queue->waited_ps += sim_counted_ps(sim, packet->entered_ps);
	packet->order = lane->order_in++;
	if (lane->holders++ > 0 && model->type == MODEL_ATOMIC)
		sim->broken = "one holder per atomic flow";
	if (model->type == MODEL_ORDERED)
		packet_list_add(&sim->packets, &lane->in_flight, packet_index);
	core->packet = packet_index;
	core->lane = lane_index;
	core->step = object->first_step;
	core->step_end = object->first_step + object->nb_steps;
	start_step(sim, index);
}

/* A packet leaves a lane's head, to be worked on. */
static uint32_t
take_first(struct sim *sim, uint32_t lane_index)
{
	const uint32_t queue_index = sim->model->lane_queue[lane_index];
	struct sim_lane *const lane = &sim->lanes[lane_index];
	struct weir_sim_level *const length = &sim->queues[queue_index].length;

	const uint32_t packet = packet_list_take(&sim->packets, &lane->waiting);

	weir_sim_level_set(length, sim->now_ps, length->value - 1);
	if (lane->waiting.head == SIM_NONE || sim->model->queues[queue_index].type == MODEL_ATOMIC)
		clear_bit(sim->ready, lane_index);
	return packet;
}

static inline void
wake(struct sim *sim, uint32_t core)
{
	struct sim_kind *const kind = &sim->kinds[sim->model->core_kind[core]];

	clear_bit(sim->idle, core);
	weir_sim_level_set(&kind->busy, sim->now_ps, kind->busy.value + 1);
}

/* Let idle cores have what a lane is ready to give. */
static void
offer(struct sim *sim, uint32_t lane)
{
	const uint32_t group = sim->model->queues[sim->model->lane_queue[lane]].group;
	uint32_t core;

	while (test_bit(sim->ready, lane) && (core = find_idle(sim, group)) != SIM_NONE) {
		wake(sim, core);
		begin(sim, core, lane, take_first(sim, lane));
	}
}

void
sim_enqueue(struct sim *sim, uint32_t queue_index, uint32_t packet_index)
{
	const struct model_queue *const model = &sim->model->queues[queue_index];
	struct sim_queue *const queue = &sim->queues[queue_index];
	struct sim_packet *const packet = &sim->packets.all[packet_index];
	const uint32_t lane_index =
		model->first_lane + (model->nb_flows > 1 ? packet->flow % model->nb_flows : 0);
	struct sim_lane *const lane = &sim->lanes[lane_index];
	const bool open = model->type != MODEL_ATOMIC || lane->holders == 0;
	uint32_t core;

	queue->arrived++;
	packet->entered_ps = sim->now_ps;
	if (open && lane->waiting.head == SIM_NONE &&
		(core = find_idle(sim, model->group)) != SIM_NONE) {
		wake(sim, core);
		begin(sim, core, lane_index, packet_index);
		return;
	}
	if (queue->length.value >= model->capacity) {
		queue->dropped++;
		sim_packet_dropped(sim, packet_index);
		return;
	}
	weir_sim_level_set(&queue->length, sim->now_ps, queue->length.value + 1);
	packet_list_add(&sim->packets, &lane->waiting, packet_index);
	if (open) {
		set_bit(sim->ready, lane_index);
		offer(sim, lane_index);
	}
}

/* A core looks for work: the lane of the highest priority, and of those the one whose first packet waits longest. */
static uint32_t
find_ready(const struct sim *sim, uint32_t core)
{
	const uint32_t nb_words = sim->model->lane_words;
	const uint64_t *const served =
		sim->model->kind_lanes + (size_t)sim->model->core_kind[core] * nb_words;
	uint32_t found = SIM_NONE, end = SIM_NONE, i, lane;
	uint64_t bits, entered_ps, longest_ps = UINT64_MAX;

	for (i = 0; i < nb_words && i * 64 < end; i++) {
		for (bits = served[i] & sim->ready[i]; bits != 0; bits &= bits - 1) {
			lane = i * 64 + (uint32_t)__builtin_ctzll(bits);
			if (lane >= end)
				return found;
			end = sim->model->lane_priority_end[lane];
			entered_ps = sim->packets.all[sim->lanes[lane].waiting.head].entered_ps;
			if (entered_ps < longest_ps) {
				longest_ps = entered_ps;
				found = lane;
			}
		}
	}
	return found;
}

/* A packet goes on from a lane to where its object sends it. */
static void
forward(struct sim *sim, uint32_t lane_index, uint32_t packet)
{
	const struct model_queue *const queue =
		&sim->model->queues[sim->model->lane_queue[lane_index]];
	const uint32_t to = sim->model->objects[queue->object].to;
	struct sim_lane *const lane = &sim->lanes[lane_index];

	if (sim->packets.all[packet].order != lane->order_out++ && queue->type != MODEL_PARALLEL)
		sim->broken = "order of what leaves a queue";
	if (to == SIM_NONE)
		sim_packet_delivered(sim, packet);
	else
		sim_enqueue(sim, to, packet);
}

/* An ordered lane: those at its front that are done go on. */
static void
release(struct sim *sim, uint32_t lane_index)
{
	struct packet_list *const list = &sim->lanes[lane_index].in_flight;

	while (list->head != SIM_NONE && sim->packets.all[list->head].state == PACKET_DONE) {
		const uint32_t packet = packet_list_take(&sim->packets, list);

		sim->packets.all[packet].state = PACKET_INSIDE;
		forward(sim, lane_index, packet);
	}
}

/* A core is done with its packet: that goes on, and the core takes the next one. */
static void
finish(struct sim *sim, uint32_t index)
{
	struct sim_core *const core = &sim->cores[index];
	struct sim_kind *const kind = &sim->kinds[sim->model->core_kind[index]];
	const uint32_t lane_index = core->lane, packet = core->packet;
	const enum model_queue_type type =
		sim->model->queues[sim->model->lane_queue[lane_index]].type;
	struct sim_lane *const lane = &sim->lanes[lane_index];
	uint32_t next;

	kind->served++;
	lane->holders--;
	if (type == MODEL_ATOMIC && lane->waiting.head != SIM_NONE)
		set_bit(sim->ready, lane_index);
	if (type == MODEL_ORDERED) {
		sim->packets.all[packet].state = PACKET_DONE;
		release(sim, lane_index);
	} else {
		forward(sim, lane_index, packet);
	}
	next = find_ready(sim, index);
	if (next != SIM_NONE) {
		begin(sim, index, next, take_first(sim, next));
	} else {
		core->packet = SIM_NONE;
		set_bit(sim->idle, index);
		weir_sim_level_set(&kind->busy, sim->now_ps, kind->busy.value - 1);
	}
	if (type == MODEL_ATOMIC)
		offer(sim, lane_index);
}

void
sim_step_done(struct sim *sim, uint32_t index)
{
	struct sim_core *const core = &sim->cores[index];

	sim->packets.all[core->packet].service_ps += sim->now_ps - core->step_start_ps;
	sim->kinds[sim->model->core_kind[index]].worked_ps +=
		sim_counted_ps(sim, core->step_start_ps);
	if (++core->step < core->step_end)
		start_step(sim, index);
	else
		finish(sim, index);
}
