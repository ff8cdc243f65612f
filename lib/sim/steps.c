/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What cores do with packets: an object's steps are a small program, of which each packet knows the step that it is at.
 *
 * Some steps take time, others none. After some of them the core is free. Where it comes to such a one in the very
 * event in which it got its packet, an event of no time lies between: however many packets wait, the stack stays flat.
 */
#include "sim.h"

#define INSTANT_MAX 100000 /* steps that take no time, in a row */

static bool
is_skipped(struct sim *sim, uint32_t index, uint32_t packet)
{
	const struct model_step *const step = &sim->model->steps[index];
	double number;
	bool holds = true;

	if (step->compare != MODEL_ALWAYS) {
		number = sim_number(sim, packet, step->operand);
		switch (step->compare) {
		case MODEL_EQUAL:
			holds = number == step->against;
			break;
		case MODEL_NOT_EQUAL:
			holds = number != step->against;
			break;
		case MODEL_LESS:
			holds = number < step->against;
			break;
		case MODEL_AT_MOST:
			holds = number <= step->against;
			break;
		case MODEL_MORE:
			holds = number > step->against;
			break;
		case MODEL_AT_LEAST:
			holds = number >= step->against;
			break;
		case MODEL_ALWAYS:
			break;
		}
	}
	return !holds || (step->probability < 1 && weir_sim_random_open(&sim->skip_random[index]) >=
							   step->probability);
}

static ALWAYS_INLINE void
continue_step(struct sim *sim, uint32_t index, double cycles)
{
	struct sim_core *const core = &sim->cores[index];
	const double ps_per_cycle = core->model->ps_per_cycle;

	core->phase = CORE_IN_STEP;
	core->step_start_ps = sim->now_ps;
	core->step_end_ps = sim->now_ps + sim_round_ps(cycles * ps_per_cycle);
	sim_core_schedule(sim, index, core->step_end_ps);
}

void
sim_step_continue(struct sim *sim, uint32_t index, double cycles)
{
	continue_step(sim, index, cycles);
}

static void
begin_cycles(struct sim *sim, uint32_t index, double cycles)
{
	if (!sim->model->dispatch.preemptive || !sim_core_gives_way(sim, index, cycles))
		continue_step(sim, index, cycles);
}

__attribute__((noinline)) double
sim_step_times(const struct sim *sim, uint32_t packet)
{
	const uint32_t times = sim->model->steps[sim->packets.all[packet].step].times;
	const double number = times != SIM_NONE ? sim_number(sim, packet, times) : 1;

	return number > 0 ? number : 0;
}

/* Of an amount or of it times a number of the packet, and of its bytes. */
static ALWAYS_INLINE double
step_cycles(struct sim *sim, uint32_t index)
{
	const struct sim_packet *const packet = &sim->packets.all[index];
	const struct model_step *const step = &sim->model->steps[packet->step];
	double cycles = sim_draw(sim, &step->amount, &sim->step_random[packet->step]);

	if (step->times != SIM_NONE)
		cycles *= sim_step_times(sim, index);
	return cycles + step->per_byte * packet->size_bytes;
}

double
sim_step_cycles(struct sim *sim, uint32_t index)
{
	return step_cycles(sim, index);
}

/* The step comes in an event of its own, at the same time. */
static void
postpone(struct sim *sim, uint32_t index)
{
	sim->cores[index].phase = CORE_POSTPONED;
	sim->cores[index].step_start_ps = sim->now_ps;
	sim_core_schedule(sim, index, sim->now_ps);
}

static void
use(struct sim *sim, uint32_t index, const struct model_step *step)
{
	struct sim_core *const core = &sim->cores[index];
	const uint32_t packet = core->packet;

	sim->packets.all[packet].core = step->deschedule ? SIM_NONE : index;
	core->phase = CORE_IN_UNIT;
	core->step_start_ps = sim->now_ps;
	if (!sim_unit_enter(sim, step->target, packet)) {
		sim->packets.all[packet].to = SIM_TO_DROP | sim->model->units[step->target].reason;
		sim_core_finish(sim, index);
	} else if (step->deschedule) {
		sim_core_next(sim, index);
	}
}

/* One of the queues of a step that spreads packets over them. */
static uint32_t
spread(struct sim *sim, uint32_t packet, const struct model_step *step)
{
	double number;
	uint64_t index;

	if (step->spread_by == MODEL_FLOW) {
		/* Fibonacci hashing: what a queue's lanes are told apart by, the remainder, must not be the same in all of it. */
		index = (uint32_t)(sim->packets.all[packet].flow * UINT32_C(2654435769));
		index = index * step->nb_targets >> 32;
	} else if (step->spread_by == MODEL_CHANCE) {
		index = (uint64_t)sim_draw(
			sim, &step->amount, &sim->step_random[sim->packets.all[packet].step]);
	} else {
		number = sim_number(sim, packet, step->spread_by);
		index = number < 0x1p63 ? (uint64_t)number % step->nb_targets : 0;
	}
	return sim->model->targets[step->first_target + index];
}

/* Where a packet goes to after a step that ends the object's work. */
static uint32_t
destination(struct sim *sim, uint32_t packet, const struct model_step *step)
{
	switch (step->op) {
	case MODEL_SPREAD:
		return spread(sim, packet, step);
	case MODEL_DROP:
		return SIM_TO_DROP | step->target;
	case MODEL_OUTPUT:
		return step->target == SIM_NONE ? SIM_TO_OUTPUT : SIM_TO_UNIT | step->target;
	default:
		return step->target;
	}
}

static void
end(struct sim *sim, uint32_t index, uint32_t to)
{
	sim->packets.all[sim->cores[index].packet].to = to;
	sim_core_finish(sim, index);
}

static void
fork_parts(struct sim *sim, uint32_t packet, const struct model_step *step)
{
	const uint32_t *const targets = sim->model->targets + step->first_target;
	uint64_t i;
	uint32_t part;

	for (i = 0; i < (uint64_t)step->count * step->nb_targets; i++) {
		part = sim_packet_fork(sim, packet);
		if (part == SIM_NONE)
			return;
		if (sim->model->nb_edges > 0)
			sim_probes_sent(
				sim, sim->packets.all[packet].step, targets[i / step->count], part);
		sim_enter(sim, targets[i / step->count], part);
	}
}

/* A step. @return whether the core goes on to the next one now */
static bool
take_step(struct sim *sim, uint32_t index, const struct model_step *step)
{
	const uint32_t packet = sim->cores[index].packet;

	switch (step->op) {
	case MODEL_CPU:
		begin_cycles(sim, index, step_cycles(sim, packet));
		return false;
	case MODEL_MEMORY:
		sim_memory_use(sim, index, step);
		return false;
	case MODEL_USE:
		use(sim, index, step);
		return false;
	case MODEL_SET:
		sim->attributes[(size_t)packet * sim->model->nb_attributes + step->target] =
			sim_draw(sim, &step->amount,
				&sim->step_random[sim->packets.all[packet].step]);
		sim->packets.all[packet].step++;
		return true;
	case MODEL_FORK:
		fork_parts(sim, packet, step);
		sim->packets.all[packet].step++;
		return true;
	case MODEL_JOIN:
		if (sim_packet_joins(sim, packet)) {
			sim_core_next(sim, index);
			return false;
		}
		sim->packets.all[packet].step++;
		return true;
	case MODEL_SWITCH:
		sim->cores[index].step_start_ps = sim->now_ps;
		sim_core_switch(sim, index, step->target);
		return false;
	case MODEL_JUMP:
		sim->packets.all[packet].step = step->target;
		return true;
	case MODEL_SEND:
	case MODEL_SPREAD:
	case MODEL_DROP:
	case MODEL_OUTPUT:
		end(sim, index, destination(sim, packet, step));
		return false;
	}
	return false;
}

/* May the core be free after it, in no time? */
static inline bool
may_free_core(const struct model_step *step)
{
	return step->op == MODEL_USE || step->op >= MODEL_JOIN;
}

void
sim_steps_run(struct sim *sim, uint32_t index, bool decided)
{
	struct sim_core *const core = &sim->cores[index];
	struct sim_packet *packet;
	const struct model_step *step;
	unsigned int left;

	for (left = INSTANT_MAX; left > 0; left--) {
		packet = &sim->packets.all[core->packet]; /* steps may have made others */
		step = &sim->model->steps[packet->step];
		if (!decided && step->is_conditional &&
			is_skipped(sim, packet->step, core->packet)) {
			packet->step++;
			continue;
		}
		if (core->is_fresh && may_free_core(step)) {
			postpone(sim, index);
			return;
		}
		decided = false;
		if (!take_step(sim, index, step))
			return;
	}
	sim_give_up(sim, "steps that take no time come to an end");
	core->step_start_ps = sim->now_ps;
}

void
sim_core_account(struct sim *sim, uint32_t index)
{
	struct sim_core *const core = &sim->cores[index];

	core->worked_ps += sim_counted_ps(sim, core->step_start_ps);
}

void
sim_core_event(struct sim *sim, uint32_t index)
{
	struct sim_core *const core = &sim->cores[index];
	struct sim_packet *packet;
	const enum core_phase phase = core->phase;

	if (phase == CORE_POLLS) {
		sim_core_polls(sim, index);
		return;
	}
	if (phase == CORE_WALKS) {
		sim_worker_event(sim, sim->model->cores[sim->model->core_kind[index]].worker);
		return;
	}
	core->phase = CORE_BETWEEN;
	core->is_fresh = false;
	packet = &sim->packets.all[core->packet];
	sim_core_account(sim, index);
	if (phase == CORE_GETS && packet->state == PACKET_INTERRUPTED) {
		packet->state = PACKET_INSIDE;
		begin_cycles(sim, index, packet->left_cycles);
		return;
	}
	if (phase == CORE_IN_SWITCH)
		packet->step++;
	if (phase == CORE_IN_MEMORY)
		sim_memory_used(sim, index, &sim->model->steps[packet->step]);
	if (phase == CORE_IN_STEP || phase == CORE_IN_MEMORY) {
		packet->service_ps += sim->now_ps - core->step_start_ps;
		packet->step++;
	}
	sim_steps_run(sim, index, phase == CORE_POSTPONED);
}
