/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues, and the cores that serve them.
 *
 *   enqueue --> lane (one per flow) --> core: step, step ... --> next queue, or output
 *
 * Work-conserving: whenever a lane becomes ready an idle core of its group takes from it, and a core that is done looks
 * for a ready lane before it is idle. So a lane stays ready only while no core of its group is idle.
 */
#include "lane.h"

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

/* When a core can begin with what it is given now. One that polls finds out by itself. */
static inline uint64_t
when_given(struct sim *sim, uint32_t index)
{
	const struct model_cores *const kind = sim->cores[index].model;
	const struct model_dispatch *const dispatch = &sim->model->dispatch;

	if (kind->polls)
		return sim->now_ps +
		       (sim->cores[index].poll_left + 1 == kind->burst ? kind->vector_ps : 0);
	return dispatch->is_delayed ? sim_dispatch_ps(sim, index) : sim->now_ps;
}

/* A core, which is idle no more, has a packet that is in no list. */
static ALWAYS_INLINE void
give(struct sim *sim, uint32_t index, uint32_t packet)
{
	struct sim_core *const core = &sim->cores[index];
	uint64_t start_ps;

	core->packet = packet;
	core->is_fresh = true;
	start_ps = when_given(sim, index);
	if (start_ps > sim->now_ps) {
		core->phase = CORE_GETS;
		core->step_start_ps = sim->now_ps;
		sim_core_schedule(sim, index, start_ps);
	} else if (sim->packets.all[packet].state == PACKET_INTERRUPTED) {
		sim->packets.all[packet].state = PACKET_INSIDE;
		sim_step_continue(sim, index, sim->packets.all[packet].left_cycles);
	} else {
		sim_steps_run(sim, index, false);
	}
}

/* It is the first that has this packet of the lane. */
static ALWAYS_INLINE void
begin(struct sim *sim, uint32_t core, uint32_t lane_index, uint32_t packet)
{
	const struct model_queue *const queue = &sim->model->queues[sim->lanes[lane_index].queue];

	sim->packets.all[packet].step = sim->model->objects[queue->object].first_step;
	sim_lane_hold(sim, lane_index, packet);
	give(sim, core, packet);
}

/* A core takes what a lane that is ready has first; what is under way goes before what waits. */
static ALWAYS_INLINE void
take(struct sim *sim, uint32_t core, uint32_t lane_index)
{
	struct sim_lane *const lane = &sim->lanes[lane_index];
	uint32_t packet;

	if (lane->resumed.head != SIM_NONE && sim_lane_prefers_resumed(sim, lane_index)) {
		packet = sim_lane_take_resumed(sim, lane_index);
		sim_lane_update_ready(sim, lane_index);
		give(sim, core, packet);
	} else {
		struct weir_sim_level *const length = &sim->queues[lane->queue].length;

		packet = sim_lane_take(sim, lane_index);
		weir_sim_level_set(length, sim->now_ps, length->value - 1);
		if (lane->type == MODEL_ATOMIC ||
			(lane->nb_waiting == 0 && lane->resumed.head == SIM_NONE))
			sim_lane_clear_ready(sim, lane_index);
		else
			sim_lane_set_ready(sim, lane_index);
		begin(sim, core, lane_index, packet);
	}
}

static inline void
wake(struct sim *sim, uint32_t core)
{
	struct sim_kind *const kind = &sim->kinds[sim->cores[core].kind];

	sim_clear_bit(sim->idle, core);
	weir_sim_level_set(&kind->busy, sim->now_ps, kind->busy.value + 1);
}

/* A core for something of a queue that is ready: an idle one, or one that is interrupted. SIM_NONE: all are busy. */
static ALWAYS_INLINE uint32_t
get_core(struct sim *sim, const struct model_queue *queue, uint32_t packet, uint32_t *interrupted)
{
	uint32_t core = find_idle(sim, queue->group);

	*interrupted = SIM_NONE;
	if (core != SIM_NONE) {
		if (__builtin_expect(sim->model->dispatch.idle_sleep_ps > 0, 0))
			core = sim_core_wakes(sim, queue->group);
		wake(sim, core);
	} else if (sim->model->dispatch.preemptive) {
		core = sim_interrupt(sim, queue, packet);
		if (core != SIM_NONE)
			*interrupted = sim->packets.all[sim->cores[core].packet].lane;
	}
	return core;
}

/* Let cores have what a lane is ready to give. What they leave for it may find others: each time of a lower priority. */
static void
offer(struct sim *sim, uint32_t lane)
{
	const struct model_queue *const queue = &sim->model->queues[sim->model->lane_queue[lane]];
	uint32_t core, interrupted;

	while (sim_test_bit(sim->ready, lane)) {
		core = get_core(sim, queue, SIM_NONE, &interrupted);
		if (core == SIM_NONE)
			return;
		take(sim, core, lane);
		if (interrupted != SIM_NONE) {
			sim_lane_update_ready(sim, interrupted);
			offer(sim, interrupted);
		}
	}
}

void
sim_enqueue(struct sim *sim, uint32_t queue_index, uint32_t packet_index)
{
	const struct model_queue *const model = &sim->model->queues[queue_index];
	struct sim_queue *const queue = &sim->queues[queue_index];
	struct sim_packet *const packet = &sim->packets.all[packet_index];
	const uint32_t lane_index = sim_lane_of(sim, queue_index, packet_index);
	struct sim_lane *const lane = &sim->lanes[lane_index];
	const bool open = model->type != MODEL_ATOMIC || lane->holders == 0;
	uint32_t core, interrupted;

	queue->arrived++;
	packet->entered_ps = packet->stage_ps = sim->now_ps;
	packet->stage_service_ps = packet->service_ps;
	packet->lane = lane_index;
	if (sim_orders_by_service(model))
		sim_lane_draw(sim, model, packet_index);
	if (open && !sim_is_of_workers(model) &&
		(lane->nb_waiting == 0 ||
			(!lane->is_fcfs && sim_lane_is_next(sim, lane_index, packet_index))) &&
		(core = get_core(sim, model, packet_index, &interrupted)) != SIM_NONE) {
		/* What waits there may have been next. */
		if (model->type == MODEL_ATOMIC && lane->nb_waiting > 0)
			sim_lane_clear_ready(sim, lane_index);
		begin(sim, core, lane_index, packet_index);
		if (interrupted != SIM_NONE) {
			sim_lane_update_ready(sim, interrupted);
			offer(sim, interrupted);
		}
		return;
	}
	if (queue->length.value >= model->capacity ||
		!sim_lane_add(sim, lane_index, packet_index)) {
		queue->dropped++;
		sim_packet_dropped(sim, packet_index, model->reason);
		return;
	}
	weir_sim_level_set(&queue->length, sim->now_ps, queue->length.value + 1);
	if (open) {
		if (model->job != SIM_NONE) {
			sim_job_begin(sim, lane_index);
			return;
		}
		sim_lane_set_ready(sim, lane_index);
		/* No core is idle: either that was asked, or others wait already. */
		if (sim_is_of_workers(model))
			sim_workers_wake(sim, lane_index);
		else if (sim->model->dispatch.preemptive)
			offer(sim, lane_index);
	}
}

/* It takes what there is where it is, or goes on. */
static void
poll(struct sim *sim, uint32_t index, bool is_busy)
{
	struct sim_core *const core = &sim->cores[index];
	const struct model_cores *const model = &sim->model->cores[sim->model->core_kind[index]];
	struct sim_kind *const kind = &sim->kinds[sim->model->core_kind[index]];
	const bool finds = core->poll_left > 0 && sim_test_bit(sim->ready, core->poll_lane);

	if (finds != is_busy)
		weir_sim_level_set(&kind->busy, sim->now_ps, kind->busy.value + finds - is_busy);
	if (finds) {
		core->poll_left--;
		take(sim, index, core->poll_lane);
		return;
	}
	core->packet = SIM_NONE;
	core->poll_lane = sim_choose_polled(sim, index, core->poll_lane);
	core->poll_left = model->burst;
	core->phase = CORE_POLLS;
	sim_core_schedule(sim, index, sim->now_ps + model->switch_ps);
}

void
sim_core_polls(struct sim *sim, uint32_t index)
{
	poll(sim, index, false);
}

void
sim_core_next(struct sim *sim, uint32_t index)
{
	struct sim_kind *const kind = &sim->kinds[sim->cores[index].kind];
	uint32_t lane;

	if (sim->cores[index].model->polls) {
		poll(sim, index, true);
		return;
	}
	if (__builtin_expect(sim->leniences != NULL, 0))
		sim_lenient_turn(sim, index);
	lane = sim_choose_lane(sim, index);
	if (lane != SIM_NONE) {
		if (__builtin_expect(sim->leniences != NULL, 0))
			sim_lenient_takes(sim, index, lane, SIM_TIME_END_PS);
		take(sim, index, lane);
		return;
	}
	sim->cores[index].packet = SIM_NONE;
	sim->cores[index].idle_ps = sim->now_ps;
	sim_set_bit(sim->idle, index);
	weir_sim_level_set(&kind->busy, sim->now_ps, kind->busy.value - 1);
}

static inline bool
is_atomic(const struct sim *sim, uint32_t lane)
{
	return sim->lanes[lane].type == MODEL_ATOMIC;
}

void
sim_core_finish(struct sim *sim, uint32_t index)
{
	const uint32_t packet = sim->cores[index].packet;
	const uint32_t lane = sim->packets.all[packet].lane;

	if (__builtin_expect(sim->cores[index].model->worker != SIM_NONE, 0)) {
		sim_worker_end_event(sim, sim->cores[index].model->worker);
		return;
	}
	sim->cores[index].served++;
	sim_lane_leave(sim, packet);
	sim_core_next(sim, index);
	if (is_atomic(sim, lane))
		offer(sim, lane);
}

void
sim_core_switch(struct sim *sim, uint32_t index, uint32_t queue)
{
	const uint32_t packet = sim->cores[index].packet;
	const uint32_t lane = sim->packets.all[packet].lane;

	sim->packets.all[packet].to = SIM_TO_LANE | queue;
	sim->packets.all[packet].core = index;
	sim->cores[index].phase = CORE_BETWEEN;
	sim_lane_leave(sim, packet);
	if (is_atomic(sim, lane))
		offer(sim, lane);
}

void
sim_resume(struct sim *sim, uint32_t packet)
{
	const uint32_t lane = sim->packets.all[packet].lane;

	sim->packets.all[packet].entered_ps = sim->now_ps;
	sim_lane_resume(sim, lane, packet, false);
	sim_lane_set_ready(sim, lane);
	offer(sim, lane);
}

bool
sim_core_gives_way(struct sim *sim, uint32_t index, double cycles)
{
	struct sim_core *const core = &sim->cores[index];
	struct sim_packet *const packet = &sim->packets.all[core->packet];
	const uint32_t lane = packet->lane;

	if (sim->model->cores[sim->model->core_kind[index]].polls ||
		!sim_choose_is_better(
			sim, index, sim->model->queues[sim->model->lane_queue[lane]].priority))
		return false;
	packet->left_cycles = cycles;
	packet->state = PACKET_INTERRUPTED;
	sim_lane_resume(sim, lane, core->packet, true);
	sim_lane_update_ready(sim, lane);
	core->phase = CORE_BETWEEN;
	sim_core_next(sim, index);
	offer(sim, lane);
	return true;
}
