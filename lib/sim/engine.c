/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop over events. */
#include "sim.h"

/* What has happened so far, and when: each event is mixed into all that came before. */
static inline uint64_t
mix(uint64_t fingerprint, uint64_t time_ps, uint32_t target)
{
	const uint64_t event = time_ps ^ (uint64_t)target << 32;

	fingerprint = (fingerprint ^ event) * 0x9e3779b97f4a7c15ull;
	return fingerprint ^ fingerprint >> 29;
}

void
sim_give_up(struct sim *sim, const char *broken)
{
	sim->broken = broken;
	sim->is_models_fault = true;
	sim->ended = true;
}

bool
sim_engine_run(struct sim *sim, uint64_t end_ps, uint64_t nb_events)
{
	const uint64_t last = sim->nb_events + nb_events;
	const bool has_probes = sim->model->nb_probes > sim->model->nb_edges;
	const struct sim_event *first;

	while ((first = event_list_first(&sim->events)) != NULL && first->time_ps <= end_ps) {
		struct sim_event event;
		uint32_t index;

		if (sim->ended || sim->error < 0)
			return false;
		if (sim->nb_events == last)
			return true;
		event = event_list_pop(&sim->events);
		index = event.target & ((UINT32_C(1) << EVENT_INDEX_BITS) - 1);
		if (event.target >> EVENT_INDEX_BITS == EVENT_CORE &&
			event.stamp != sim->cores[index].stamp)
			continue;
		if (event.target >> EVENT_INDEX_BITS == EVENT_SERVER &&
			event.stamp != sim->servers[index].stamp)
			continue;
		sim->now_ps = event.time_ps;
		sim->nb_events++;
		sim->fingerprint = mix(sim->fingerprint, event.time_ps, event.target);
		switch ((enum event_kind)(event.target >> EVENT_INDEX_BITS)) {
		case EVENT_ARRIVAL:
			sim_arrival(sim, index);
			break;
		case EVENT_CORE:
			sim_core_event(sim, index);
			break;
		case EVENT_SERVER:
			sim_unit_event(sim, index);
			break;
		case EVENT_WRITTEN:
			sim_written(sim, index);
			break;
		case EVENT_PORT:
			sim_port_event(sim, index);
			break;
		case EVENT_JOB:
			sim_job_wakes(sim, index);
			break;
		case EVENT_TRIGGER:
			sim_trigger(sim, index);
			break;
		case EVENT_BURST:
			sim_arrival_of_burst(sim, index);
			break;
		case EVENT_TIMEOUT:
			sim_fragment_times_out(sim, index);
			break;
		}
		if (has_probes)
			sim_probes_look(sim);
	}
	if (!sim->ended)
		sim->now_ps = end_ps;
	return false;
}
