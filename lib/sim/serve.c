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

static inline bool
has_many_lanes(const struct sim *sim, uint32_t lane)
{
	return sim->model->queues[sim->model->lane_queue[lane]].nb_flows > SIM_READY_FEW;
}

/* A core may take what a lane has first, which may be something new. */
static inline void
set_ready(struct sim *sim, uint32_t lane)
{
	set_bit(sim->ready, lane);
	if (has_many_lanes(sim, lane))
		sim_ready_update(sim, lane, true);
}

static inline void
clear_ready(struct sim *sim, uint32_t lane)
{
	clear_bit(sim->ready, lane);
	if (has_many_lanes(sim, lane))
		sim_ready_update(sim, lane, false);
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

/* Is there something that a core may take from it? */
static inline void
update_ready(struct sim *sim, uint32_t index)
{
	const struct sim_lane *const lane = &sim->lanes[index];
	const bool open = lane->holders == 0 ||
			  sim->model->queues[sim->model->lane_queue[index]].type != MODEL_ATOMIC;

	if (lane->resumed.head != SIM_NONE || (lane->nb_waiting > 0 && open))
		set_ready(sim, index);
	else
		clear_ready(sim, index);
}

/* When a core can begin with what it is given now. One that polls finds out by itself. */
static inline uint64_t
when_given(struct sim *sim, uint32_t index)
{
	const struct model_cores *const kind = &sim->model->cores[sim->model->core_kind[index]];
	const struct model_dispatch *const dispatch = &sim->model->dispatch;

	if (kind->polls)
		return sim->now_ps +
		       (sim->cores[index].poll_left + 1 == kind->burst ? kind->vector_ps : 0);
	return dispatch->latency_ps > 0 || dispatch->interval_ps > 0 ? sim_dispatch_ps(sim)
								     : sim->now_ps;
}

/* A core, which is idle no more, has a packet that is in no list. */
static inline void
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

/* Of an ordered lane. They may be in other lists meanwhile. */
static void
add_in_flight(struct sim *sim, struct sim_lane *lane, uint32_t packet)
{
	struct packet_list *const list = &lane->in_flight;

	sim->packets.all[packet].next_taken = SIM_NONE;
	if (list->head == SIM_NONE)
		list->head = packet;
	else
		sim->packets.all[list->tail].next_taken = packet;
	list->tail = packet;
}

/* A packet waits no more, and holds its lane. */
static void
hold(struct sim *sim, uint32_t lane_index, uint32_t packet_index)
{
	const uint32_t queue_index = sim->model->lane_queue[lane_index];
	const enum model_queue_type type = sim->model->queues[queue_index].type;
	struct sim_queue *const queue = &sim->queues[queue_index];
	struct sim_lane *const lane = &sim->lanes[lane_index];
	struct sim_packet *const packet = &sim->packets.all[packet_index];

	queue->taken++;
	weir_sim_tally_add(&queue->wait_ps, sim->now_ps - packet->entered_ps);
	weir_base_hist_add(&queue->wait_hist, sim->now_ps - packet->entered_ps);
	queue->waited_ps += sim_counted_ps(sim, packet->entered_ps);
	packet->order = lane->order_in++;
	if (lane->holders++ > 0 && type == MODEL_ATOMIC)
		sim->broken = "one holder per atomic flow";
	if (type == MODEL_ORDERED)
		add_in_flight(sim, lane, packet_index);
}

/* It is the first that has this packet of the lane. */
static void
begin(struct sim *sim, uint32_t core, uint32_t lane_index, uint32_t packet)
{
	const struct model_queue *const queue =
		&sim->model->queues[sim->model->lane_queue[lane_index]];

	sim->packets.all[packet].step = sim->model->objects[queue->object].first_step;
	hold(sim, lane_index, packet);
	give(sim, core, packet);
}

/* A core takes what a lane that is ready has first; what is under way goes before what waits. */
static void
take(struct sim *sim, uint32_t core, uint32_t lane_index)
{
	struct sim_lane *const lane = &sim->lanes[lane_index];
	uint32_t packet;

	if (sim_lane_prefers_resumed(sim, lane_index)) {
		packet = sim_lane_take_resumed(sim, lane_index);
		update_ready(sim, lane_index);
		give(sim, core, packet);
	} else {
		struct weir_sim_level *const length =
			&sim->queues[sim->model->lane_queue[lane_index]].length;

		packet = sim_lane_take(sim, lane_index);
		weir_sim_level_set(length, sim->now_ps, length->value - 1);
		if (sim->model->queues[sim->model->lane_queue[lane_index]].type == MODEL_ATOMIC ||
			(lane->nb_waiting == 0 && lane->resumed.head == SIM_NONE))
			clear_ready(sim, lane_index);
		else
			set_ready(sim, lane_index);
		begin(sim, core, lane_index, packet);
	}
}

static inline void
wake(struct sim *sim, uint32_t core)
{
	struct sim_kind *const kind = &sim->kinds[sim->model->core_kind[core]];

	clear_bit(sim->idle, core);
	weir_sim_level_set(&kind->busy, sim->now_ps, kind->busy.value + 1);
}

/* A core for something of a queue that is ready: an idle one, or one that is interrupted. SIM_NONE: all are busy. */
static uint32_t
get_core(struct sim *sim, const struct model_queue *queue, uint32_t packet, uint32_t *interrupted)
{
	uint32_t core = find_idle(sim, queue->group);

	*interrupted = SIM_NONE;
	if (core != SIM_NONE) {
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

	while (test_bit(sim->ready, lane)) {
		core = get_core(sim, queue, SIM_NONE, &interrupted);
		if (core == SIM_NONE)
			return;
		take(sim, core, lane);
		if (interrupted != SIM_NONE) {
			update_ready(sim, interrupted);
			offer(sim, interrupted);
		}
	}
}

/* The lane of a queue that a packet belongs to, by its flow. */
static inline uint32_t
lane_of(const struct sim *sim, uint32_t queue, uint32_t packet)
{
	const struct model_queue *const model = &sim->model->queues[queue];

	return model->first_lane +
	       (model->nb_flows > 1 ? sim->packets.all[packet].flow % model->nb_flows : 0);
}

void
sim_enqueue(struct sim *sim, uint32_t queue_index, uint32_t packet_index)
{
	const struct model_queue *const model = &sim->model->queues[queue_index];
	struct sim_queue *const queue = &sim->queues[queue_index];
	struct sim_packet *const packet = &sim->packets.all[packet_index];
	const uint32_t lane_index = lane_of(sim, queue_index, packet_index);
	struct sim_lane *const lane = &sim->lanes[lane_index];
	const bool open = model->type != MODEL_ATOMIC || lane->holders == 0;
	uint32_t core, interrupted;

	queue->arrived++;
	packet->entered_ps = sim->now_ps;
	packet->lane = lane_index;
	sim_lane_draw(sim, model, packet_index);
	if (open && (lane->nb_waiting == 0 || sim_lane_is_next(sim, lane_index, packet_index)) &&
		(core = get_core(sim, model, packet_index, &interrupted)) != SIM_NONE) {
		/* What waits there may have been next. */
		if (model->type == MODEL_ATOMIC && lane->nb_waiting > 0)
			clear_ready(sim, lane_index);
		begin(sim, core, lane_index, packet_index);
		if (interrupted != SIM_NONE) {
			update_ready(sim, interrupted);
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
		set_ready(sim, lane_index);
		offer(sim, lane_index);
	}
}

/* The first lane that is ready for a kind of cores, from `first` on. */
static inline uint32_t
find_first(const struct sim *sim, const uint64_t *served, uint32_t first)
{
	uint32_t i;
	uint64_t bits;

	for (i = first / 64; i < sim->model->lane_words; i++) {
		bits = served[i] & sim->ready[i];
		if (i == first / 64)
			bits &= ~UINT64_C(0) << first % 64;
		if (bits != 0)
			return i * 64 + (uint32_t)__builtin_ctzll(bits);
	}
	return SIM_NONE;
}

/* Of the lanes from `first` to before `end` that are ready for a kind of cores, the one whose first packet waits longest. */
static uint32_t
find_longest(struct sim *sim, const uint64_t *served, uint32_t first, uint32_t end)
{
	uint32_t found = SIM_NONE, lane, next;
	uint64_t entered_ps, longest_ps = UINT64_MAX;

	for (lane = find_first(sim, served, first); lane < end;
		lane = find_first(sim, served, next)) {
		next = lane + 1;
		if (has_many_lanes(sim, lane)) {
			const uint32_t queue = sim->model->lane_queue[lane];

			lane = sim_ready_longest(sim, queue);
			next = sim->model->queues[queue].first_lane +
			       sim->model->queues[queue].nb_flows;
		}
		sim->work++;
		entered_ps = sim_lane_since_ps(sim, lane);
		if (entered_ps < longest_ps) {
			longest_ps = entered_ps;
			found = lane;
		}
	}
	return found;
}

/* Priorities in proportion to their weights. */
static uint32_t
find_weighted(struct sim *sim, const uint64_t *served)
{
	uint32_t lanes[SIM_PRIORITIES], lane, ready = 0, priority;

	for (lane = find_first(sim, served, 0); lane != SIM_NONE;) {
		priority = sim->model->queues[sim->model->lane_queue[lane]].priority;
		lanes[priority] = lane;
		ready |= UINT32_C(1) << priority;
		lane = sim->model->lane_priority_end[lane];
		lane = lane < sim->model->nb_lanes ? find_first(sim, served, lane) : SIM_NONE;
	}
	if (ready == 0)
		return SIM_NONE;
	lane = lanes[sim_weighted_priority(sim, ready)];
	return find_longest(sim, served, lane, sim->model->lane_priority_end[lane]);
}

/* A core looks for work: the lane of the highest priority, and of those the one whose first packet waits longest. */
static uint32_t
find_ready(struct sim *sim, uint32_t core)
{
	const uint64_t *const served = sim->model->kind_lanes +
				       (size_t)sim->model->core_kind[core] * sim->model->lane_words;
	uint32_t lane;

	if (sim->model->dispatch.is_weighted)
		return find_weighted(sim, served);
	lane = find_first(sim, served, 0);
	return lane == SIM_NONE
		       ? SIM_NONE
		       : find_longest(sim, served, lane, sim->model->lane_priority_end[lane]);
}

/* The next lane that a core polls, in the order of lanes and round again; there is one. */
static uint32_t
next_polled(const struct sim *sim, uint32_t index, uint32_t lane)
{
	const uint64_t *const served =
		sim->model->kind_lanes +
		(size_t)sim->model->core_kind[index] * sim->model->lane_words;

	do
		lane = lane + 1 < sim->model->nb_lanes ? lane + 1 : 0;
	while (!test_bit(served, lane));
	return lane;
}

/* It takes what there is where it is, or goes on. */
static void
poll(struct sim *sim, uint32_t index, bool is_busy)
{
	struct sim_core *const core = &sim->cores[index];
	const struct model_cores *const model = &sim->model->cores[sim->model->core_kind[index]];
	struct sim_kind *const kind = &sim->kinds[sim->model->core_kind[index]];
	const bool finds = core->poll_left > 0 && test_bit(sim->ready, core->poll_lane);

	if (finds != is_busy)
		weir_sim_level_set(&kind->busy, sim->now_ps, kind->busy.value + finds - is_busy);
	if (finds) {
		core->poll_left--;
		take(sim, index, core->poll_lane);
		return;
	}
	core->packet = SIM_NONE;
	core->poll_lane = next_polled(sim, index, core->poll_lane);
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
	struct sim_kind *const kind = &sim->kinds[sim->model->core_kind[index]];
	uint32_t lane;

	if (sim->model->cores[sim->model->core_kind[index]].polls) {
		poll(sim, index, true);
		return;
	}
	lane = find_ready(sim, index);
	if (lane != SIM_NONE) {
		take(sim, index, lane);
		return;
	}
	sim->cores[index].packet = SIM_NONE;
	set_bit(sim->idle, index);
	weir_sim_level_set(&kind->busy, sim->now_ps, kind->busy.value - 1);
}

/* It is its turn: it has the lane that it waited for with its core, which goes on in an event of its own. */
static void
grant(struct sim *sim, uint32_t lane_index, uint32_t index)
{
	struct sim_packet *const packet = &sim->packets.all[index];

	hold(sim, lane_index, index);
	sim->cores[packet->core].phase = CORE_IN_SWITCH;
	sim_core_schedule(sim, packet->core, sim->now_ps);
}

/* A packet that has a core comes to a queue, to hold a lane of it. */
static void
claim(struct sim *sim, uint32_t queue_index, uint32_t packet)
{
	struct sim_queue *const queue = &sim->queues[queue_index];
	const uint32_t lane_index = lane_of(sim, queue_index, packet);
	struct sim_lane *const lane = &sim->lanes[lane_index];

	queue->arrived++;
	sim->packets.all[packet].entered_ps = sim->now_ps;
	sim->packets.all[packet].lane = lane_index;
	if (lane->holders == 0 || sim->model->queues[queue_index].type != MODEL_ATOMIC) {
		/* What waits there for a core waits for the flow now. */
		if (sim->model->queues[queue_index].type == MODEL_ATOMIC)
			clear_ready(sim, lane_index);
		grant(sim, lane_index, packet);
		return;
	}
	weir_sim_level_set(&queue->length, sim->now_ps, queue->length.value + 1);
	sim->packets.all[packet].is_waiting = true;
	packet_list_add(&sim->packets, &lane->claims, packet);
}

void
sim_forward(struct sim *sim, uint32_t packet)
{
	const uint32_t to = sim->packets.all[packet].to, lane = sim->packets.all[packet].lane;

	if (sim->model->nb_edges > 0 && lane != SIM_NONE)
		sim_probes_pass(
			sim, sim->model->queues[sim->model->lane_queue[lane]].object, to, packet);
	if (to == SIM_TO_OUTPUT)
		sim_packet_delivered(sim, packet);
	else if (to & SIM_TO_DROP)
		sim_packet_dropped(sim, packet, to & ~SIM_TO_DROP);
	else if (to & SIM_TO_UNIT)
		sim_through_unit(sim, to & ~SIM_TO_UNIT, packet, SIM_TO_OUTPUT);
	else if (to & SIM_TO_LANE)
		claim(sim, to & ~SIM_TO_LANE, packet);
	else
		sim_enqueue(sim, to, packet);
}

/* A packet leaves its lane. */
static void
leave_lane(struct sim *sim, struct sim_lane *lane, enum model_queue_type type, uint32_t packet)
{
	if (sim->packets.all[packet].order != lane->order_out++ && type != MODEL_PARALLEL)
		sim->broken = "order of what leaves a queue";
	sim_forward(sim, packet);
}

/* An ordered lane: those at its front that are done go on. */
static void
release(struct sim *sim, struct sim_lane *lane)
{
	struct packet_list *const list = &lane->in_flight;

	while (list->head != SIM_NONE && sim->packets.all[list->head].state == PACKET_DONE) {
		const uint32_t packet = list->head;

		list->head = sim->packets.all[packet].next_taken;
		sim->packets.all[packet].state = PACKET_INSIDE;
		leave_lane(sim, lane, MODEL_ORDERED, packet);
	}
}

/* A core's packet leaves its lane, for wherever it is bound to. Who waits for the lane with a core goes before others. */
static void
let_go(struct sim *sim, uint32_t packet)
{
	const uint32_t lane_index = sim->packets.all[packet].lane;
	const uint32_t queue_index = sim->model->lane_queue[lane_index];
	const enum model_queue_type type = sim->model->queues[queue_index].type;
	struct sim_lane *const lane = &sim->lanes[lane_index];

	lane->holders--;
	if (type == MODEL_ATOMIC && lane->claims.head != SIM_NONE) {
		const uint32_t next = packet_list_take(&sim->packets, &lane->claims);
		struct weir_sim_level *const length = &sim->queues[queue_index].length;

		weir_sim_level_set(length, sim->now_ps, length->value - 1);
		sim->packets.all[next].is_waiting = false;
		grant(sim, lane_index, next);
	} else if (type == MODEL_ATOMIC && lane->nb_waiting > 0) {
		set_ready(sim, lane_index);
	}
	if (type == MODEL_ORDERED) {
		sim->packets.all[packet].state = PACKET_DONE;
		release(sim, lane);
	} else {
		leave_lane(sim, lane, type, packet);
	}
}

static inline bool
is_atomic(const struct sim *sim, uint32_t lane)
{
	return sim->model->queues[sim->model->lane_queue[lane]].type == MODEL_ATOMIC;
}

void
sim_core_finish(struct sim *sim, uint32_t index)
{
	const uint32_t packet = sim->cores[index].packet;
	const uint32_t lane = sim->packets.all[packet].lane;

	sim->kinds[sim->model->core_kind[index]].served++;
	let_go(sim, packet);
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
	let_go(sim, packet);
	if (is_atomic(sim, lane))
		offer(sim, lane);
}

void
sim_resume(struct sim *sim, uint32_t packet)
{
	const uint32_t lane = sim->packets.all[packet].lane;

	sim->packets.all[packet].entered_ps = sim->now_ps;
	sim_lane_resume(sim, lane, packet, false);
	set_ready(sim, lane);
	offer(sim, lane);
}
