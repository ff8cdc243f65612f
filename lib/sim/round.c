/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounds: workers that serve queues of events, between walks; see graph.h. What a round finds was there when the worker
 * asked. A job that is not done at the end of its time slice goes behind all that wait then.
 */
#include "lane.h"

/* What a job is about with a packet, which has no steps of an object: it is kept in the place of these. */
enum job_step { JOB_WORKS, JOB_WAITS, JOB_SENDS };

static inline const struct model_graph *
graph_of(const struct sim *sim)
{
	return &sim->model->graph;
}

static inline const struct model_job *
job_of(const struct sim *sim, uint32_t lane)
{
	return &graph_of(sim)->jobs[sim->model->queues[sim->model->lane_queue[lane]].job];
}

static inline struct sim_job *
counts_of(struct sim *sim, uint32_t lane)
{
	return &sim->graph.jobs[job_of(sim, lane) - graph_of(sim)->jobs];
}

/* A packet waits no more in a lane, which it holds. */
static uint32_t
take(struct sim *sim, uint32_t lane_index)
{
	const uint32_t queue = sim->model->lane_queue[lane_index];
	struct weir_sim_level *const length = &sim->queues[queue].length;
	struct sim_lane *const lane = &sim->lanes[lane_index];
	const uint32_t packet = sim_lane_take(sim, lane_index);

	weir_sim_level_set(length, sim->now_ps, length->value - 1);
	sim->queues[queue].taken++;
	sim_times_add(&sim->queues[queue].wait, sim->now_ps - sim->packets.all[packet].entered_ps);
	sim->queues[queue].waited_ps += sim_counted_ps(sim, sim->packets.all[packet].entered_ps);
	lane->holders++;
	sim->packets.all[packet].order = lane->order_in++;
	if (lane->type == MODEL_ORDERED)
		sim_lane_add_in_flight(sim, lane, packet);
	return packet;
}

/* It has no lane any more. @return which it had */
static uint32_t
lose_lane(struct sim *sim, uint32_t index)
{
	struct sim_packet *const packet = &sim->packets.all[index];
	const uint32_t lane = packet->lane;

	sim_lane_count_left(sim, lane, index);
	sim->lanes[lane].left_ps = sim->now_ps;
	packet->lane = SIM_NONE;
	sim->lanes[lane].holders--;
	return lane;
}

static void
leave_lane(struct sim *sim, uint32_t index)
{
	const uint32_t lane = lose_lane(sim, index);

	sim_lane_update_ready(sim, lane);
	if (sim_test_bit(sim->ready, lane))
		sim_workers_wake(sim, lane);
}

/* Those at the front of an ordered lane that are sent on go. */
static void
send_in_order(struct sim *sim, struct sim_lane *lane)
{
	while (lane->in_flight.head != SIM_NONE &&
		sim->packets.all[lane->in_flight.head].state == PACKET_DONE) {
		const uint32_t packet = lane->in_flight.head;
		struct sim_packet *const of = &sim->packets.all[packet];

		lane->in_flight.head = of->next_taken;
		if ((int32_t)(of->order - lane->order_out) < 0)
			sim->broken = "order of what leaves a queue";
		lane->order_out = of->order;
		of->state = PACKET_INSIDE;
		leave_lane(sim, packet);
		sim_enqueue(sim, of->to, packet);
	}
}

/* A packet has no place in its ordered lane any more; there are as many as workers have of it. */
static void
give_place_up(struct sim *sim, struct sim_lane *lane, uint32_t index)
{
	struct packet_list *const list = &lane->in_flight;
	uint32_t before = SIM_NONE, at;

	for (at = list->head; at != index; at = sim->packets.all[at].next_taken)
		before = at;
	if (before == SIM_NONE)
		list->head = sim->packets.all[index].next_taken;
	else
		sim->packets.all[before].next_taken = sim->packets.all[index].next_taken;
	if (list->tail == index)
		list->tail = before;
}

void
sim_round_release(struct sim *sim, uint32_t worker, uint32_t index)
{
	struct sim_packet *const packet = &sim->packets.all[index];
	const uint32_t lane = packet->lane;

	if (lane == SIM_NONE)
		return;
	if (sim->lanes[lane].type == MODEL_ORDERED)
		give_place_up(sim, &sim->lanes[lane], index);
	leave_lane(sim, index);
	sim->graph.workers[worker].nb_released += packet->has_credit;
	packet->has_credit = false;
	if (sim->lanes[lane].type == MODEL_ORDERED)
		send_in_order(sim, &sim->lanes[lane]);
}

void
sim_round_send(struct sim *sim, uint32_t index, uint32_t queue)
{
	struct sim_packet *const packet = &sim->packets.all[index];
	const uint32_t lane = packet->lane;

	if (lane == SIM_NONE || sim->lanes[lane].type != MODEL_ORDERED) {
		if (lane != SIM_NONE)
			leave_lane(sim, index);
		sim_enqueue(sim, queue, index);
		return;
	}
	packet->to = queue;
	packet->state = PACKET_DONE;
	send_in_order(sim, &sim->lanes[lane]);
}

bool
sim_round_forward(struct sim *sim, uint32_t index, uint32_t node)
{
	const uint32_t queue = graph_of(sim)->nodes[node].queue;

	if (sim->packets.all[index].lane == SIM_NONE && !sim_credit_take(sim, index))
		return false;
	if (graph_of(sim)->nodes[node].is_probed)
		sim_probes_pass(sim, SIM_FROM_NODE | node, queue, index);
	sim_round_send(sim, index, queue);
	return true;
}

/*
 * Does a vector of a lane take one more of it? Where so many may pass what waits, packets are counted one by one, and an atomic lane that is held
 * gives no more of them.
 */
static bool
takes_more(struct sim *sim, uint32_t index, uint32_t lane)
{
	return sim->model->dispatch.bound == 0 || !sim->model->dispatch.is_lenient ||
	       (sim->lanes[lane].type != MODEL_ATOMIC &&
		       sim_lenient_lane(sim, graph_of(sim)->workers[index].core,
			       sim->graph.workers[index].round_ps) == lane);
}

/* A round takes from a lane. */
static inline void
count_taken(struct sim *sim, uint32_t index, uint32_t lane)
{
	if (sim->leniences != NULL)
		sim_lenient_takes(sim, graph_of(sim)->workers[index].core, lane,
			sim->graph.workers[index].round_ps);
}

void
sim_round_fill(struct sim *sim, uint32_t index, uint32_t lane)
{
	struct sim_worker *const worker = &sim->graph.workers[index];

	if (sim->lanes[lane].holders > 0 &&
		sim->model->queues[sim->model->lane_queue[lane]].type == MODEL_ATOMIC)
		sim->broken = "one holder per atomic flow";
	while (worker->round_left > 0 && worker->walk.vector.nb < graph_of(sim)->burst &&
		sim->lanes[lane].nb_waiting > 0 &&
		(worker->walk.vector.nb == 0 || takes_more(sim, index, lane))) {
		count_taken(sim, index, lane);
		sim_vector_add(sim, &worker->walk.vector, take(sim, lane));
		worker->round_left--;
	}
	sim_lane_update_ready(sim, lane);
}

/* A vector of a lane's packets, for the node that brings them in. */
static void
take_vector(struct sim *sim, uint32_t index, uint32_t lane, uint64_t asked_ps)
{
	struct sim_worker *const worker = &sim->graph.workers[index];
	const uint32_t node = sim->model->queues[sim->model->lane_queue[lane]].node;

	sim_round_fill(sim, index, lane);
	sim->cores[graph_of(sim)->workers[index].core].served += worker->walk.vector.nb;
	sim->graph.nodes[node].entered += worker->walk.vector.nb;
	worker->walk.place = graph_of(sim)->workers[index].nb_polled;
	sim_worker_go_on(sim, index, WORKER_VISITS, asked_ps + sim_worker_visit(sim, index, node));
}

/* Of what is left of a job's work on a packet: work of a plug-in is told in cycles, that of others in ps. */
static double
ps_per_unit(const struct sim *sim, uint32_t index, uint32_t packet)
{
	return job_of(sim, sim->packets.all[packet].lane)->is_in_cycles
		       ? sim->cores[graph_of(sim)->workers[index].core].model->ps_per_cycle
		       : 1;
}

static inline bool
has_frames(const struct sim *sim, uint32_t packet)
{
	return job_of(sim, sim->packets.all[packet].lane)->follower != SIM_NONE;
}

static uint64_t
work_left_ps(const struct sim *sim, uint32_t index, uint32_t packet)
{
	return sim_round_ps(sim->packets.all[packet].left_cycles * ps_per_unit(sim, index, packet));
}

/* A job goes on with a frame, whose end its slice does not cut off. */
static void
work_on_frame(struct sim *sim, uint32_t index, uint64_t before_ps)
{
	struct sim_worker *const worker = &sim->graph.workers[index];

	worker->frame_ps =
		sim_job_frame_ps(sim, worker->packet, graph_of(sim)->workers[index].core);
	sim_worker_go_on(sim, index, WORKER_SLICES, before_ps + worker->frame_ps);
}

/* A job goes on, or begins. */
static void
work(struct sim *sim, uint32_t index, uint32_t packet, uint64_t before_ps)
{
	struct sim_worker *const worker = &sim->graph.workers[index];
	uint64_t left_ps;

	worker->packet = packet;
	if (has_frames(sim, packet)) {
		work_on_frame(sim, index, before_ps);
		return;
	}
	left_ps = work_left_ps(sim, index, packet);
	sim_worker_go_on(sim, index, WORKER_SLICES,
		before_ps + (left_ps < worker->slice_ps ? left_ps : worker->slice_ps));
}

/* In ps, or in cycles of a plug-in. */
static double
work_of(const struct model_job *job, const struct sim_packet *packet)
{
	return (double)job->time_ps + job->cycles + job->per_byte * packet->size_bytes;
}

/* The packet of a lane of jobs that is next: one that is under way, or else one that waits. */
static uint32_t
take_for_job(struct sim *sim, uint32_t lane)
{
	uint32_t packet;

	if (sim_lane_prefers_resumed(sim, lane))
		return sim_lane_take_resumed(sim, lane);
	if (sim->lanes[lane].holders > 0 && sim->lanes[lane].type == MODEL_ATOMIC)
		sim->broken = "one holder per atomic flow";
	packet = take(sim, lane);
	if (has_frames(sim, packet))
		return packet;
	sim->packets.all[packet].left_cycles =
		work_of(job_of(sim, lane), &sim->packets.all[packet]);
	sim->packets.all[packet].step = JOB_WORKS;
	return packet;
}

/* A worker begins with a slice of a job of a lane. */
static void
begin_slice(struct sim *sim, uint32_t index, uint32_t lane, uint64_t asked_ps)
{
	struct sim_worker *const worker = &sim->graph.workers[index];

	worker->slice_ps = job_of(sim, lane)->slice_ps;
	counts_of(sim, lane)->slices++;
	work(sim, index, take_for_job(sim, lane),
		asked_ps + graph_of(sim)->workers[index].switch_ps);
}

/* The lane that the round takes from next, of which something was there when it began; SIM_NONE: there is none. */
static uint32_t
choose_lane(struct sim *sim, uint32_t index)
{
	const struct sim_worker *const worker = &sim->graph.workers[index];
	const uint32_t core = graph_of(sim)->workers[index].core;
	uint32_t lane;

	if (worker->round_left == 0)
		return SIM_NONE;
	lane = sim->leniences != NULL ? sim_lenient_lane(sim, core, worker->round_ps)
				      : sim_choose_lane(sim, core);
	return lane != SIM_NONE && sim_lane_since_ps(sim, lane) <= worker->round_ps ? lane
										    : SIM_NONE;
}

/* Its port gives back what it holds no more. */
static void
return_credits(struct sim *sim, struct sim_worker *worker)
{
	const uint32_t nb = worker->nb_released;

	worker->nb_released = 0;
	if (nb > 0)
		sim_credits_put(sim, nb);
}

/* What the round has next, if anything. @param asked_ps  that pass before it is begun */
static void
take_next(struct sim *sim, uint32_t index, uint64_t asked_ps)
{
	struct sim_worker *const worker = &sim->graph.workers[index];
	const uint32_t lane = choose_lane(sim, index);
	const struct model_queue *queue;

	worker->is_in_round = lane != SIM_NONE;
	if (!worker->is_in_round)
		return_credits(sim, worker);
	if (worker->is_waiting && !worker->is_in_round) {
		sim_worker_served(sim, index);
		return;
	}
	if (worker->is_in_round)
		worker->nb_asks = 0;
	if (worker->is_busy != worker->is_in_round)
		sim_worker_set_busy(sim, index, worker->is_in_round);
	if (!worker->is_in_round) {
		if (asked_ps > 0)
			sim_worker_go_on(sim, index, WORKER_ASKS, asked_ps);
		else
			sim_worker_walk(sim, index);
		return;
	}
	queue = &sim->model->queues[sim->model->lane_queue[lane]];
	if (queue->job == SIM_NONE) {
		if (queue->node != SIM_NONE)
			take_vector(sim, index, lane, asked_ps);
		else
			sim_worker_take_events(sim, index, lane, asked_ps);
		return;
	}
	worker->round_left--;
	count_taken(sim, index, lane);
	begin_slice(sim, index, lane, asked_ps);
	sim_job_take_event(sim, index, lane);
}

/* It begins with a job that has no event. */
static void
run_unpaid(struct sim *sim, uint32_t index, uint32_t lane, uint64_t asked_ps)
{
	struct sim_worker *const worker = &sim->graph.workers[index];

	worker->is_in_round = worker->is_unpaid = true;
	if (!worker->is_busy)
		sim_worker_set_busy(sim, index, true);
	begin_slice(sim, index, lane, asked_ps);
}

void
sim_round_begin(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];
	const uint64_t dispatch_ps = graph_of(sim)->workers[index].dispatch_ps;
	const uint32_t unpaid = sim_backlog_feed(sim, index);

	worker->round_ps = sim->now_ps;
	worker->round_left = graph_of(sim)->workers[index].round;
	if (sim->leniences != NULL)
		sim_lenient_turn(sim, graph_of(sim)->workers[index].core);
	if (unpaid != SIM_NONE)
		run_unpaid(sim, index, unpaid, dispatch_ps);
	else
		take_next(sim, index, dispatch_ps);
	if (graph_of(sim)->workers[index].nb_polled == 0)
		sim_worker_count_walk(worker, !worker->is_in_round);
}

void
sim_round_next(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];

	/* Only now does it ask. */
	if (worker->is_unpaid)
		worker->round_ps = sim->now_ps;
	worker->is_unpaid = false;
	take_next(sim, index, 0);
}

bool
sim_job_has_room(const struct sim *sim, uint32_t node)
{
	const uint32_t job = graph_of(sim)->nodes[node].job;

	return sim->graph.jobs[job].inside < graph_of(sim)->jobs[job].capacity;
}

void
sim_job_add(struct sim *sim, uint32_t node, uint32_t packet)
{
	sim->graph.jobs[graph_of(sim)->nodes[node].job].inside++;
	sim_enqueue(sim, graph_of(sim)->nodes[node].queue, packet);
}

/* What a job does when it is done with a packet: what is left of the slice is for the next one of the flow. */
static void
go_on(struct sim *sim, uint32_t index, uint32_t lane)
{
	struct sim_worker *const worker = &sim->graph.workers[index];

	worker->packet = SIM_NONE;
	if (sim->lanes[lane].nb_waiting == 0)
		sim_job_release(sim, index);
	else if (worker->slice_ps > 0)
		work(sim, index, take_for_job(sim, lane), 0);
	else
		sim_job_forward(sim, index, lane);
}

/* The job waits for so long, with its flow and without a core. */
static void
wait(struct sim *sim, uint32_t index, uint32_t packet, enum job_step step, uint64_t ps)
{
	const uint32_t lane = sim->packets.all[packet].lane;

	sim->packets.all[packet].step = step;
	sim->packets.all[packet].left_cycles = 0;
	sim->lanes[lane].sleeper = packet;
	sim_schedule(sim, sim->now_ps + ps, EVENT_PRIORITY_DONE, EVENT_TARGET(EVENT_JOB, lane));
	sim->graph.workers[index].packet = SIM_NONE;
	sim_job_release(sim, index);
	sim_round_next(sim, index);
}

/* A packet is to have a slice again. @return its lane */
static uint32_t
resume(struct sim *sim, uint32_t index)
{
	struct sim_packet *const packet = &sim->packets.all[index];

	packet->entered_ps = sim->now_ps;
	sim_lane_resume(sim, packet->lane, index, false);
	return packet->lane;
}

/* Its slice is over, and the job goes behind all others. */
static void
give_way(struct sim *sim, uint32_t index, uint32_t packet)
{
	sim_job_forward(sim, index, resume(sim, packet));
	sim_round_next(sim, index);
}

void
sim_job_wakes(struct sim *sim, uint32_t lane)
{
	const uint32_t packet = sim->lanes[lane].sleeper;

	sim->lanes[lane].sleeper = SIM_NONE;
	if (sim->packets.all[packet].step == JOB_WAITS)
		sim->packets.all[packet].service_ps += job_of(sim, lane)->wait_ps;
	sim_job_ready(sim, resume(sim, packet));
}

/* A packet is done, and sent on; for as long as the scheduler does not take it the job tries again, and packets of its flow wait. */
static void
finish(struct sim *sim, uint32_t index, uint32_t packet)
{
	struct sim_worker *const worker = &sim->graph.workers[index];
	const uint32_t lane = sim->packets.all[packet].lane, to = job_of(sim, lane)->to;
	const uint32_t node = job_of(sim, lane)->node;

	if (!sim_credit_take(sim, packet) && !sim_job_lend(sim, index, packet)) {
		wait(sim, index, packet, JOB_SENDS, WEIR_BASE_JOB_RETRY_NS * UINT64_C(1000));
		return;
	}
	if (graph_of(sim)->nodes[node].is_probed) {
		sim_probes_pass(sim, SIM_FROM_NODE | node, to, packet);
		sim_probes_vector_passed(sim, node);
	}
	counts_of(sim, lane)->packets++;
	counts_of(sim, lane)->inside--;
	sim->cores[graph_of(sim)->workers[index].core].served++;
	sim->packets.all[packet].to = to;
	lose_lane(sim, packet);
	go_on(sim, index, lane);
	sim_enqueue(sim, to, packet);
	if (worker->packet == SIM_NONE)
		sim_round_next(sim, index);
}

/* A job is over. */
static void
end_job(struct sim *sim, uint32_t index, uint32_t packet)
{
	const uint32_t follower = job_of(sim, sim->packets.all[packet].lane)->follower;

	counts_of(sim, sim->packets.all[packet].lane)->packets++;
	sim->cores[graph_of(sim)->workers[index].core].served++;
	lose_lane(sim, packet);
	sim_job_release(sim, index);
	sim_job_over(sim, follower, sim->packets.all[packet].flow);
	sim_packet_delivered(sim, packet);
	sim->graph.workers[index].packet = SIM_NONE;
	sim_round_next(sim, index);
}

/* A frame of a job is done. Between two of them it gives way where its slice is over. */
static void
end_frame(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];
	const uint32_t packet = worker->packet;

	sim->packets.all[packet].service_ps += worker->frame_ps;
	worker->slice_ps -=
		worker->frame_ps < worker->slice_ps ? worker->frame_ps : worker->slice_ps;
	if (!sim_job_frame_done(sim, packet)) {
		end_job(sim, index, packet);
	} else if (worker->slice_ps > 0) {
		work_on_frame(sim, index, 0);
	} else {
		give_way(sim, index, packet);
	}
}

/* Of a packet that is worked on, what it takes or a slice of that. */
static void
end_slice(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];
	struct sim_packet *const packet = &sim->packets.all[worker->packet];
	const struct model_job *const job = job_of(sim, packet->lane);
	const uint64_t left_ps = work_left_ps(sim, index, worker->packet);
	const uint64_t worked_ps = left_ps < worker->slice_ps ? left_ps : worker->slice_ps;

	packet->service_ps += worked_ps;
	worker->slice_ps -= worked_ps;
	if (left_ps == worked_ps) {
		if (job->wait_ps > 0 && packet->step == JOB_WORKS)
			wait(sim, index, worker->packet, JOB_WAITS, job->wait_ps);
		else
			finish(sim, index, worker->packet);
		return;
	}
	packet->left_cycles =
		(double)(left_ps - worked_ps) / ps_per_unit(sim, index, worker->packet);
	give_way(sim, index, worker->packet);
}

void
sim_round_slice_ends(struct sim *sim, uint32_t index)
{
	if (has_frames(sim, sim->graph.workers[index].packet))
		end_frame(sim, index);
	else
		end_slice(sim, index);
}
