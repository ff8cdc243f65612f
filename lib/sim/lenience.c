/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which lane a core takes from next where priorities are not strict, as in the scheduler that is built in:
 *
 *   bound   while something of a lower priority waits that it may take, a core takes so many of higher ones at most
 *   slack   each lane belongs to a core. What has a higher priority in lanes of others is left to them, unless a core has seen it there
 *           twice, so long apart, and its own core has not looked for work in between
 *
 * Who has nothing in lanes of its own takes what there is in others'.
 */
#include "lane.h"

static inline const struct model_dispatch *
rules_of(const struct sim *sim)
{
	return &sim->model->dispatch;
}

static inline uint32_t
priority_of(const struct sim *sim, uint32_t lane)
{
	return sim->model->queues[sim->model->lane_queue[lane]].priority;
}

static inline const uint64_t *
served_by(const struct sim *sim, uint32_t core)
{
	return sim->model->kind_lanes + (size_t)sim->cores[core].kind * sim->model->lane_words;
}

/* Was it ready at that time? An atomic lane was not while somebody had it. */
static inline bool
was_ready(const struct sim *sim, uint32_t lane, uint64_t until_ps)
{
	return sim_lane_since_ps(sim, lane) <= until_ps &&
	       (sim->lanes[lane].type != MODEL_ATOMIC || sim->lanes[lane].left_ps <= until_ps);
}

/* Of all lanes that are ready for a core: of each priority the one that waits longest. @return bits of the priorities */
static uint32_t
find_all(struct sim *sim, uint32_t core, uint32_t *lanes)
{
	const uint64_t *const served = served_by(sim, core);
	uint32_t lane = sim_first_ready(sim, served, 0), found = 0, end;

	for (; lane != SIM_NONE; lane = sim_first_ready(sim, served, end)) {
		end = sim->model->lane_priority_end[lane];
		lanes[priority_of(sim, lane)] = sim_longest_lane(sim, served, lane, end);
		found |= UINT32_C(1) << priority_of(sim, lane);
	}
	return found;
}

/* Likewise of those that were ready at a time, and belong to a core; SIM_NONE: to any. */
static uint32_t
find_some(struct sim *sim, uint32_t core, uint32_t owner, uint64_t until_ps, uint32_t *lanes)
{
	const uint64_t *const served = served_by(sim, core);
	uint32_t lane = sim_first_ready(sim, served, 0), found = 0, priority;

	if (owner == SIM_NONE && until_ps == SIM_TIME_END_PS)
		return find_all(sim, core, lanes);
	for (; lane != SIM_NONE; lane = sim_first_ready(sim, served, lane + 1)) {
		sim->work++;
		if ((owner != SIM_NONE && sim->model->lane_core[lane] != owner) ||
			!was_ready(sim, lane, until_ps))
			continue;
		priority = priority_of(sim, lane);
		if (!(found >> priority & 1) ||
			sim_lane_since_ps(sim, lane) < sim_lane_since_ps(sim, lanes[priority]))
			lanes[priority] = lane;
		found |= UINT32_C(1) << priority;
	}
	return found;
}

/* What a core may take. */
static uint32_t
find(struct sim *sim, uint32_t core, uint64_t until_ps, uint32_t *lanes)
{
	const uint32_t helped = sim->leniences[core].helped;
	uint32_t others[SIM_PRIORITIES], own, higher, i;

	if (rules_of(sim)->slack_ps == 0)
		return find_some(sim, core, SIM_NONE, until_ps, lanes);
	own = find_some(sim, core, core, until_ps, lanes);
	if (own == 0)
		return find_some(sim, core, SIM_NONE, until_ps, lanes);
	if (helped == SIM_NONE)
		return own;
	higher = find_some(sim, core, helped, until_ps, others) & ((own & -own) - 1);
	for (i = 0; i < SIM_PRIORITIES; i++)
		if (higher >> i & 1)
			lanes[i] = others[i];
	return own | higher;
}

/* The core whose lanes have the highest priority, if that is higher than all of some; of several the first. */
static uint32_t
find_higher(const struct sim *sim, uint32_t core, uint32_t own)
{
	const uint64_t *const served = served_by(sim, core);
	uint32_t lane = sim_first_ready(sim, served, 0), found = SIM_NONE, end;

	if (lane == SIM_NONE || own == 0 || (own & -own) <= UINT32_C(1) << priority_of(sim, lane))
		return SIM_NONE;
	for (end = sim->model->lane_priority_end[lane]; lane < end;
		lane = sim_first_ready(sim, served, lane + 1))
		if (sim->model->lane_core[lane] < found)
			found = sim->model->lane_core[lane];
	return found;
}

/* Where it is time to: it looks whether there is something of a higher priority that its core does not come to. */
static void
look_for_higher(struct sim *sim, uint32_t core)
{
	struct sim_lenience *const lenience = &sim->leniences[core];
	uint32_t lanes[SIM_PRIORITIES], owner, turns;

	if (sim->now_ps < lenience->look_ps)
		return;
	lenience->look_ps = sim->now_ps + rules_of(sim)->slack_ps;
	owner = find_higher(sim, core, find_some(sim, core, core, SIM_TIME_END_PS, lanes));
	if (owner == SIM_NONE)
		return;
	turns = sim->leniences[owner].turns;
	if (lenience->seen == owner && lenience->seen_turns == turns)
		lenience->helped = owner;
	lenience->seen = owner;
	lenience->seen_turns = turns;
}

void
sim_lenient_turn(struct sim *sim, uint32_t core)
{
	struct sim_lenience *const lenience = &sim->leniences[core];
	uint32_t lanes[SIM_PRIORITIES], found, i;

	lenience->turns++;
	lenience->helped = SIM_NONE;
	if (rules_of(sim)->slack_ps > 0)
		look_for_higher(sim, core);
	if (rules_of(sim)->bound == 0)
		return;
	/* Where nothing waits, nothing is passed. */
	found = find(sim, core, SIM_TIME_END_PS, lanes);
	for (i = 0; i < SIM_PRIORITIES; i++)
		if (!(found >> i & 1))
			lenience->passed[i] = 0;
}

/* The highest priority, but for those of lower ones that too many have passed: of these the lowest. */
uint32_t
sim_lenient_lane(struct sim *sim, uint32_t core, uint64_t until_ps)
{
	const uint32_t bound = rules_of(sim)->bound;
	uint32_t lanes[SIM_PRIORITIES], found = find(sim, core, until_ps, lanes), highest, lower;

	if (found == 0)
		return SIM_NONE;
	highest = (uint32_t)__builtin_ctz(found);
	for (lower = SIM_PRIORITIES - 1; bound > 0 && lower > highest; lower--)
		if ((found >> lower & 1) != 0 && sim->leniences[core].passed[lower] >= bound)
			return lanes[lower];
	return lanes[highest];
}

void
sim_lenient_takes(struct sim *sim, uint32_t core, uint32_t lane, uint64_t until_ps)
{
	uint32_t *const passed = sim->leniences[core].passed;
	uint32_t lanes[SIM_PRIORITIES], found, i;

	if (rules_of(sim)->bound == 0)
		return;
	found = find(sim, core, until_ps, lanes);
	for (i = priority_of(sim, lane) + 1; i < SIM_PRIORITIES; i++)
		passed[i] += found >> i & 1;
	passed[priority_of(sim, lane)] = 0;
}
