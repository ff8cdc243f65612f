/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_LANE_H
#define SIM_LANE_H

/*
 * Lanes: the flows of a queue. For what serves them, inline, as each packet comes here.
 *
 * A lane is *ready* when it has packets and a core may take one: an atomic lane only while no core has any of it.
 */

#include "sim.h"

#pragma GCC visibility push(hidden)

/* A core looks for work: the lane that it takes from next, or SIM_NONE. */
uint32_t sim_choose_lane(struct sim *sim, uint32_t core);
/*
 * Where priorities are not strict, see lenience.c: a core looks for work, before it is asked what it takes; then for that, of what was ready at
 * a time; and it takes from that lane.
 */
void sim_lenient_turn(struct sim *sim, uint32_t core);
uint32_t sim_lenient_lane(struct sim *sim, uint32_t core, uint64_t until_ps);
void sim_lenient_takes(struct sim *sim, uint32_t core, uint32_t lane, uint64_t until_ps);
/* Is something ready for it that is of a better priority? */
bool sim_choose_is_better(const struct sim *sim, uint32_t core, uint32_t priority);
/*
 * Of the lanes from `first`, which is ready, to before `end` that are ready for a kind of cores, the one whose first packet
 * waits longest.
 */
uint32_t sim_longest_lane(struct sim *sim, const uint64_t *served, uint32_t first, uint32_t end);
/* Would it find one? */
bool sim_has_ready_lane(const struct sim *sim, uint32_t core);
/* The next lane that a core polls, in the order of lanes and round again; there is one. */
uint32_t sim_choose_polled(const struct sim *sim, uint32_t index, uint32_t lane);

/* A core's packet leaves its lane, for wherever it is bound to. Who waits for the lane with a core goes before others. */
void sim_lane_leave(struct sim *sim, uint32_t packet);
/* A packet of an ordered lane is taken from it, and has its place there. They may be in other lists meanwhile. */
void sim_lane_add_in_flight(struct sim *sim, struct sim_lane *lane, uint32_t packet);

static inline bool
sim_test_bit(const uint64_t *words, uint32_t bit)
{
	return words[bit / 64] >> bit % 64 & 1;
}

static inline void
sim_set_bit(uint64_t *words, uint32_t bit)
{
	words[bit / 64] |= UINT64_C(1) << bit % 64;
}

static inline void
sim_clear_bit(uint64_t *words, uint32_t bit)
{
	words[bit / 64] &= ~(UINT64_C(1) << bit % 64);
}

/* The first lane that is ready for a kind of cores, from `first` on. */
static inline uint32_t
sim_first_ready(const struct sim *sim, const uint64_t *served, uint32_t first)
{
	const uint32_t nb_words = sim->model->lane_words;
	uint32_t i = first / 64;
	uint64_t bits;

	if (i >= nb_words)
		return SIM_NONE;
	bits = served[i] & sim->ready[i] & ~UINT64_C(0) << first % 64;
	while (bits == 0) {
		if (++i == nb_words)
			return SIM_NONE;
		bits = served[i] & sim->ready[i];
	}
	return i * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* A core may take what a lane has first, which may be something new. */
static inline void
sim_lane_set_ready(struct sim *sim, uint32_t lane)
{
	sim_set_bit(sim->ready, lane);
	if (sim->lanes[lane].is_of_many)
		sim_ready_update(sim, lane, true);
}

static inline void
sim_lane_clear_ready(struct sim *sim, uint32_t lane)
{
	sim_clear_bit(sim->ready, lane);
	if (sim->lanes[lane].is_of_many)
		sim_ready_update(sim, lane, false);
}

/* Is there something that a core may take from it? */
static inline void
sim_lane_update_ready(struct sim *sim, uint32_t index)
{
	const struct sim_lane *const lane = &sim->lanes[index];
	const bool open = lane->holders == 0 || lane->type != MODEL_ATOMIC;

	if (lane->resumed.head != SIM_NONE || (lane->nb_waiting > 0 && open))
		sim_lane_set_ready(sim, index);
	else
		sim_lane_clear_ready(sim, index);
}

/* The lane of a queue that a packet belongs to, by its flow. */
static inline uint32_t
sim_lane_of(const struct sim *sim, uint32_t queue, uint32_t packet)
{
	const struct model_queue *const model = &sim->model->queues[queue];

	return model->first_lane +
	       (model->nb_flows > 1 ? sim->packets.all[packet].flow % model->nb_flows : 0);
}

/* It waits in a lane. @return false: the discipline has no room for it */
static inline bool
sim_lane_add(struct sim *sim, uint32_t index, uint32_t packet)
{
	struct sim_lane *const lane = &sim->lanes[index];

	if (lane->is_fcfs)
		packet_list_add(&sim->packets, &lane->waiting, packet);
	else if (!sim_lane_add_in_order(sim, index, packet))
		return false;
	if (lane->nb_waiting++ == 0)
		lane->since_ps = sim->now_ps;
	sim->packets.all[packet].is_waiting = true;
	return true;
}

/* The next one of those that wait; there is one. */
static inline uint32_t
sim_lane_take(struct sim *sim, uint32_t index)
{
	struct sim_lane *const lane = &sim->lanes[index];
	const uint32_t packet = lane->is_fcfs ? packet_list_take(&sim->packets, &lane->waiting)
					      : sim_lane_take_in_order(sim, index);

	lane->nb_waiting--;
	lane->since_ps = sim->now_ps;
	sim->packets.all[packet].is_waiting = false;
	return packet;
}

/* A packet waits no more, and holds its lane. */
static inline void
sim_lane_hold(struct sim *sim, uint32_t lane_index, uint32_t packet_index)
{
	struct sim_lane *const lane = &sim->lanes[lane_index];
	struct sim_queue *const queue = &sim->queues[lane->queue];
	struct sim_packet *const packet = &sim->packets.all[packet_index];

	queue->taken++;
	sim_times_add(&queue->wait, sim->now_ps - packet->entered_ps);
	queue->waited_ps += sim_counted_ps(sim, packet->entered_ps);
	packet->order = lane->order_in++;
	if (lane->holders++ > 0 && lane->type == MODEL_ATOMIC)
		sim->broken = "one holder per atomic flow";
	if (lane->type == MODEL_ORDERED)
		sim_lane_add_in_flight(sim, lane, packet_index);
}

/* Count what its stage has taken of a packet's time, and whether it is reordered there. */
static inline void
sim_lane_count_left(struct sim *sim, uint32_t lane, uint32_t packet)
{
	struct sim_queue *const queue = &sim->queues[sim->lanes[lane].queue];
	const struct sim_packet *const of = &sim->packets.all[packet];
	uint64_t *const latest_ps = &sim->lanes[lane].latest_ps;

	if (of->stage_ps < *latest_ps)
		queue->reordered++;
	else
		*latest_ps = of->stage_ps;
	sim_latency_add(
		&queue->stage, sim->now_ps - of->stage_ps, of->service_ps - of->stage_service_ps);
}

#pragma GCC visibility pop

#endif
