/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers, that walk a graph; see graph.h. */
#include "lane.h"

static inline const struct model_graph *
graph_of(const struct sim *sim)
{
	return &sim->model->graph;
}

static inline struct sim_vector *
pending_of(const struct sim *sim, uint32_t worker, uint32_t node)
{
	const size_t walk = 2 * (size_t)worker + sim->graph.workers[worker].is_waiting;

	return &sim->graph.pending[walk * graph_of(sim)->nb_nodes + node];
}

static inline uint64_t *
visits_of(const struct sim *sim, uint32_t worker)
{
	const size_t walk = 2 * (size_t)worker + sim->graph.workers[worker].is_waiting;

	return sim->graph.visits + walk * graph_of(sim)->node_words;
}

static inline uint32_t
ring_of(const struct sim *sim, uint32_t worker, uint32_t place)
{
	return graph_of(sim)->polled[graph_of(sim)->workers[worker].first_polled + place];
}

/* What it does now ends after a time. */
void
sim_worker_go_on(struct sim *sim, uint32_t worker, enum worker_phase phase, uint64_t ps)
{
	const uint32_t core = graph_of(sim)->workers[worker].core;

	sim->graph.workers[worker].phase = phase;
	sim->cores[core].step_start_ps = sim->now_ps;
	sim_core_schedule(sim, core, sim->now_ps + ps);
}

/* Its walk has found something, or ends. */
void
sim_worker_set_busy(struct sim *sim, uint32_t worker, bool is_busy)
{
	struct weir_sim_level *const busy =
		&sim->kinds[sim->model->core_kind[graph_of(sim)->workers[worker].core]].busy;

	sim->graph.workers[worker].is_busy = is_busy;
	weir_sim_level_set(busy, sim->now_ps, is_busy);
}

/* What a visit of a node with its vector takes. */
uint64_t
sim_worker_visit(struct sim *sim, uint32_t worker, uint32_t index)
{
	const struct model_node *const model = &graph_of(sim)->nodes[index];
	const struct sim_vector *const vector = &sim->graph.workers[worker].walk.vector;
	struct sim_node *const node = &sim->graph.nodes[index];
	const uint32_t core = graph_of(sim)->workers[worker].core;
	double cycles = model->vector + vector->nb * model->packet +
			(double)vector->bytes * model->per_byte;

	if (model->role == WEIR_BASE_NODE_RECEIVES &&
		graph_of(sim)->ports[model->port].has_functions)
		cycles += sim_functions_look_at_all(sim, vector);
	sim->graph.workers[worker].walk.node = index;
	node->vectors++;
	node->packets += vector->nb;
	node->cycles += cycles;
	return sim_round_ps(cycles * sim->model->cores[sim->model->core_kind[core]].ps_per_cycle);
}

/* It looks at a ring. @return whether that takes time */
static bool
look_at_ring(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];
	const struct model_worker *const model = &graph_of(sim)->workers[index];
	const uint32_t ring = ring_of(sim, index, worker->walk.place);
	const uint32_t port = graph_of(sim)->rings[ring].port;
	const uint32_t node = graph_of(sim)->rx_nodes[port];
	const uint32_t burst = sim->graph.bursts[ring].nb;

	if (sim->graph.rings[ring].head == SIM_NONE) {
		sim_worker_found_nothing(sim, index, worker->walk.place, 1);
		if (model->poll_ps == 0)
			return false;
		sim_worker_go_on(sim, index, WORKER_LOOKS, model->poll_ps);
		return true;
	}
	if (!worker->is_busy)
		sim_worker_set_busy(sim, index, true);
	sim_ring_take(sim, ring, burst, &worker->walk.vector);
	worker->received += worker->walk.vector.nb;
	worker->has_more = worker->has_more || graph_of(sim)->ports[port].is_feed ||
			   worker->walk.vector.nb == burst;
	if (graph_of(sim)->ports[port].adapts)
		sim_ring_adapt(sim, ring, worker->walk.vector.nb, 1);
	worker->walk.pending += worker->walk.vector.nb;
	sim->cores[model->core].served += worker->walk.vector.nb;
	sim->graph.nodes[node].entered += worker->walk.vector.nb;
	sim_worker_go_on(
		sim, index, WORKER_RECEIVES, model->poll_ps + sim_worker_visit(sim, index, node));
	return true;
}

/* It visits the first node that packets wait for. @return false: there is none */
static bool
visit_pending(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];
	uint64_t *const visits = visits_of(sim, index);
	struct sim_vector *pending;
	uint32_t word, node, packet;

	for (word = 0; word < graph_of(sim)->node_words && visits[word] == 0; word++)
		;
	if (word == graph_of(sim)->node_words)
		return false;
	node = word * 64 + (uint32_t)__builtin_ctzll(visits[word]);
	pending = pending_of(sim, index, node);
	while (worker->walk.vector.nb < graph_of(sim)->burst && pending->list.head != SIM_NONE) {
		packet = packet_list_take(&sim->packets, &pending->list);
		sim_vector_add(sim, &worker->walk.vector, packet);
		pending->nb--;
	}
	if (pending->nb == 0)
		visits[word] &= ~(UINT64_C(1) << node % 64);
	sim_worker_go_on(sim, index, WORKER_VISITS, sim_worker_visit(sim, index, node));
	return true;
}

static bool
look(struct sim *sim, uint32_t index)
{
	return graph_of(sim)->workers[index].process != SIM_NONE ? sim_follower_look(sim, index)
								 : look_at_ring(sim, index);
}

/* On with its walk, up to the next thing that takes time. */
static void
proceed(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];
	const struct model_worker *const model = &graph_of(sim)->workers[index];

	for (;; worker->walk.place++) {
		const bool is_last = worker->walk.place == model->nb_polled;

		if (is_last || worker->walk.pending >= graph_of(sim)->burst) {
			if (visit_pending(sim, index))
				return;
			worker->walk.pending = 0;
		}
		if (is_last) {
			sim_worker_go_on(sim, index, WORKER_ENDS, model->walk_ps);
			return;
		}
		if (look(sim, index))
			return;
	}
}

void
sim_worker_next_place(struct sim *sim, uint32_t index)
{
	sim->graph.workers[index].walk.place++;
	proceed(sim, index);
}

/* Is there something that it finds in a walk, or after it? */
static bool
has_work(struct sim *sim, uint32_t index)
{
	const struct model_worker *const model = &graph_of(sim)->workers[index];
	uint32_t place;

	if (model->process != SIM_NONE)
		return sim_followers_have_work(sim, index);
	for (place = 0; place < model->nb_polled; place++)
		if (sim->graph.rings[ring_of(sim, index, place)].head != SIM_NONE)
			return true;
	return model->asks &&
	       (sim_has_ready_lane(sim, model->core) || sim_backlog_has_work(sim, index));
}

void
sim_worker_walk(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];

	worker->walk.place = 0;
	worker->has_more = false;
	if (has_work(sim, index)) {
		if (graph_of(sim)->workers[index].nb_polled > 0)
			proceed(sim, index);
		else
			sim_round_begin(sim, index);
		return;
	}
	sim_worker_idle(sim, index);
}

/* A packet leaves the node that is visited by one of its edges. */
static inline void
pass(struct sim *sim, uint32_t worker, uint32_t to, uint32_t packet)
{
	const uint32_t at = sim->graph.workers[worker].walk.node;

	if (graph_of(sim)->nodes[at].is_probed)
		sim_probes_pass(sim, SIM_FROM_NODE | at, to, packet);
}

/* A packet goes on to a node. */
static void
send(struct sim *sim, uint32_t worker, uint32_t node, uint32_t packet)
{
	pass(sim, worker, SIM_TO_NODE | node, packet);
	sim->graph.nodes[node].entered++;
	sim_vector_add(sim, pending_of(sim, worker, node), packet);
	visits_of(sim, worker)[node / 64] |= UINT64_C(1) << node % 64;
}

/* Where a node sends a packet, by chance. */
static uint32_t
draw_next(struct sim *sim, uint32_t index)
{
	const struct model_node *const node = &graph_of(sim)->nodes[index];
	const struct model_next *next = graph_of(sim)->nexts + node->first_next;
	double chance;
	uint32_t i;

	if (node->nb_next == 1)
		return next->node;
	chance = weir_sim_random_open(&sim->graph.next_random[index]);
	for (i = 1; i < node->nb_next && chance >= next->sum; i++)
		next++;
	return next->node;
}

/* A node has no room for a packet: it goes where its only edge leads. */
static void
drop(struct sim *sim, uint32_t index, const struct model_node *node, uint32_t packet,
	uint32_t reason)
{
	if (node->nb_next == 0) {
		/* What that takes is not known. */
		sim_round_release(sim, index, packet);
		sim_packet_dropped(sim, packet, reason);
		return;
	}
	sim->packets.all[packet].to = SIM_TO_DROP | reason;
	send(sim, index, graph_of(sim)->nexts[node->first_next].node, packet);
}

/* A packet of its vector leaves the node. @return false: it has to wait */
static bool
leave(struct sim *sim, uint32_t index, uint32_t packet)
{
	const uint32_t at = sim->graph.workers[index].walk.node;
	const struct model_node *const node = &graph_of(sim)->nodes[at];
	const uint32_t to = sim->packets.all[packet].to, lane = sim->packets.all[packet].lane;

	switch (node->role) {
	case WEIR_BASE_NODE_FREES:
		pass(sim, index, SIM_TO_OUTPUT, packet);
		sim_round_release(sim, index, packet);
		sim_packet_dropped(
			sim, packet, to & SIM_TO_DROP ? to & ~SIM_TO_DROP : node->reason);
		break;
	case WEIR_BASE_NODE_TRANSMITS:
		if (!sim_port_has_room(sim, node->port, index)) {
			if (graph_of(sim)->ports[node->port].waits)
				return false;
			sim_port_refuse(sim, node->port, index, packet);
			send(sim, index, graph_of(sim)->nexts[node->first_next].node, packet);
			break;
		}
		pass(sim, index, SIM_TO_OUTPUT, packet);
		sim_round_release(sim, index, packet);
		sim_port_send(sim, node->port, index, packet);
		break;
	case WEIR_BASE_NODE_SENDS:
		if (sim_round_forward(sim, packet, at))
			break;
		/* Within a round it does not wait: others may wait for what it holds. */
		if (node->waits && !sim->graph.workers[index].is_in_round)
			return false;
		drop(sim, index, node, packet, sim->model->full_reason);
		break;
	case WEIR_BASE_NODE_WORKS:
		if (sim_job_has_room(sim, at)) {
			sim_round_release(sim, index, packet);
			sim_job_add(sim, at, packet);
		} else {
			drop(sim, index, node, packet, graph_of(sim)->jobs[node->job].reason);
		}
		break;
	case WEIR_BASE_NODE_BRINGS:
		send(sim, index,
			graph_of(sim)
				->nexts[sim->model->queues[sim->model->lane_queue[lane]].next]
				.node,
			packet);
		break;
	case WEIR_BASE_NODE_RECEIVES:
		if (node->nb_next == 0 && graph_of(sim)->ports[node->port].is_delivery)
			sim_link_put(sim, packet);
		else if (node->nb_next == 0 || (graph_of(sim)->ports[node->port].shared != NULL &&
						       sim_link_of(sim, packet) != SIM_NONE))
			sim_link_receive(sim, packet);
		else
			send(sim, index, draw_next(sim, at), packet);
		break;
	case WEIR_BASE_NODE_PASSES:
	case WEIR_BASE_NODE_LINKS:
		send(sim, index, draw_next(sim, at), packet);
		break;
	}
	sim->graph.nodes[at].left++;
	return true;
}

/* The packets of its vector, which were worked on for so long, go on. @return false: one has to wait */
static bool
leave_all(struct sim *sim, uint32_t index, uint64_t worked_ps)
{
	struct sim_vector *const vector = &sim->graph.workers[index].walk.vector;
	const uint32_t at = sim->graph.workers[index].walk.node;
	uint32_t packet;

	for (packet = vector->list.head; packet != SIM_NONE; packet = sim->packets.all[packet].next)
		sim->packets.all[packet].service_ps += worked_ps;
	while (vector->nb > 0) {
		packet = packet_list_take(&sim->packets, &vector->list);
		if (!leave(sim, index, packet)) {
			packet_list_add_first(&sim->packets, &vector->list, packet);
			break;
		}
		vector->nb--;
	}
	if (graph_of(sim)->nodes[at].is_probed)
		sim_probes_vector_passed(sim, at);
	if (vector->nb > 0)
		return false;
	vector->bytes = 0;
	return true;
}

void
sim_worker_end_visit(struct sim *sim, uint32_t index, uint64_t worked_ps)
{
	struct sim_worker *const worker = &sim->graph.workers[index];

	if (!leave_all(sim, index, worked_ps)) {
		if (graph_of(sim)->nodes[worker->walk.node].role == WEIR_BASE_NODE_SENDS) {
			sim_worker_wait(sim, index);
			return;
		}
		worker->phase = WORKER_BLOCKED;
		sim->cores[graph_of(sim)->workers[index].core].step_start_ps = sim->now_ps;
		return;
	}
	if (graph_of(sim)->nodes[worker->walk.node].role == WEIR_BASE_NODE_RECEIVES)
		worker->walk.place++;
	proceed(sim, index);
}

void
sim_worker_unblock(struct sim *sim, uint32_t index)
{
	if (sim->graph.workers[index].phase != WORKER_BLOCKED)
		return;
	sim_core_account(sim, graph_of(sim)->workers[index].core);
	sim_worker_end_visit(sim, index, 0);
}

/* It comes to where there is something, as was known before. */
static void
wake_up(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];
	const struct model_worker *const model = &graph_of(sim)->workers[index];

	sim_worker_count_idle(sim, index, worker->wake_walks);
	if (worker->wake_place > model->nb_polled) {
		sim_worker_rest(sim, index);
		return;
	}
	for (worker->walk.place = 0; worker->walk.place < worker->wake_place; worker->walk.place++)
		if (worker->walk.place < model->nb_polled)
			sim_worker_found_nothing(sim, index, worker->walk.place, 1);
	if (worker->walk.place < model->nb_polled) {
		proceed(sim, index);
		return;
	}
	/* The walk before found nothing. */
	if (model->nb_polled > 0)
		sim_worker_count_walk(worker, true);
	sim_round_begin(sim, index);
}

/* A walk is over, of what it has received or of what a round has brought. */
static void
end_walk(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];

	if (worker->is_in_round) {
		sim_round_next(sim, index);
		return;
	}
	sim_worker_count_walk(worker, !worker->is_busy);
	if (graph_of(sim)->workers[index].asks) {
		sim_round_begin(sim, index);
	} else {
		sim_worker_set_busy(sim, index, false);
		if (graph_of(sim)->workers[index].is_receiver && !worker->has_more)
			sim_worker_go_on(sim, index, WORKER_ASKS,
				graph_of(sim)->workers[index].sleep_min_ps);
		else
			sim_worker_walk(sim, index);
	}
}

void
sim_worker_event(struct sim *sim, uint32_t index)
{
	struct sim_worker *const worker = &sim->graph.workers[index];
	const uint32_t core = graph_of(sim)->workers[index].core;

	if (worker->is_busy)
		sim_core_account(sim, core);
	switch (worker->phase) {
	case WORKER_IDLE:
		wake_up(sim, index);
		break;
	case WORKER_LOOKS:
		sim_worker_next_place(sim, index);
		break;
	case WORKER_RECEIVES:
	case WORKER_VISITS:
		sim_worker_end_visit(sim, index, sim->now_ps - sim->cores[core].step_start_ps);
		break;
	case WORKER_ENDS:
		end_walk(sim, index);
		break;
	case WORKER_ASKS:
		if (sim->model->graph.workers[index].asks)
			sim_worker_found_no_event(sim, index);
		else
			sim_worker_walk(sim, index);
		break;
	case WORKER_SLEEPS:
		sim_worker_end_sleep(sim, index);
		break;
	case WORKER_SLICES:
		sim_round_slice_ends(sim, index);
		break;
	case WORKER_STEPS:
		sim_worker_begin_event(sim, index);
		break;
	case WORKER_FOLLOWS:
		sim_follower_event(sim, index);
		break;
	case WORKER_WAITS:
		worker->is_woken = false;
		worker->phase = WORKER_VISITS; /* what it sends now is no reason to look again */
		sim->graph.nb_waiting--;
		sim_worker_end_visit(sim, index, 0);
		break;
	case WORKER_BLOCKED:
		break;
	}
}
