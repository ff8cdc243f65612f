/* SPDX-License-Identifier: BSD-3-Clause */
/* A replication's beginning and end. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

/* Which random streams a replication has. */
struct draws {
	uint64_t seed;
	unsigned int replication;
	bool is_out_of_memory;
};

/* One that is called so. */
__attribute__((format(printf, 3, 4))) static void
init_one(struct draws *draws, struct weir_sim_random *random, const char *format, ...)
{
	va_list arguments;
	char *name;
	int length;

	va_start(arguments, format);
	length = vasprintf(&name, format, arguments);
	va_end(arguments);
	if (length < 0) {
		draws->is_out_of_memory = true;
		return;
	}
	weir_sim_random_init(random, draws->seed, draws->replication, name);
	free(name);
}

/*
 * Sources of chance are called by what they are of, so that variants of a model have those in common that they share.
 * @return false: no memory
 */
static bool
init_random(struct sim *sim, uint64_t seed, unsigned int replication)
{
	const struct weir_sim_model *model = sim->model;
	struct draws draws = {.seed = seed, .replication = replication};
	uint32_t i, j;

	for (i = 0; i < model->nb_streams; i++) {
		struct sim_stream *const stream = &sim->streams[i];
		const char *name = model->streams[i].name;

		init_one(&draws, &stream->arrivals, "stream/%s/arrivals", name);
		init_one(&draws, &stream->phases, "stream/%s/phases", name);
		init_one(&draws, &stream->sizes, "stream/%s/sizes", name);
		init_one(&draws, &stream->flows, "stream/%s/flows", name);
	}
	for (i = 0; i < model->nb_objects; i++)
		for (j = 0; j < model->objects[i].nb_steps; j++) {
			const char *name = model->objects[i].name;
			const uint32_t step = model->objects[i].first_step + j;

			init_one(&draws, &sim->step_random[step], "object/%s/step/%u", name, j);
			init_one(&draws, &sim->skip_random[step], "object/%s/skip/%u", name, j);
		}
	for (i = 0; i < model->nb_units; i++)
		init_one(&draws, &sim->unit_random[i], "unit/%s", model->units[i].name);
	for (i = 0; i < model->nb_given; i++)
		init_one(&draws, &sim->given_random[i], "stream/%s/attribute/%s",
			model->streams[model->given[i].stream].name,
			model->attributes[model->given[i].attribute].name);
	return !draws.is_out_of_memory;
}

/* One that is never nothing. */
static void *
take_array(size_t nb, size_t size)
{
	return calloc(nb + 1, size);
}

/* As many as there are of a kind, and behind them their arrays. */
static void *
take_things(const struct weir_sim_model *model, enum weir_sim_scope scope, size_t size)
{
	return take_array((size_t)model->arrays[scope].first + model->arrays[scope].nb, size);
}

static bool
take_memory(struct sim *sim)
{
	const struct weir_sim_model *model = sim->model;

	sim->streams = take_things(model, WEIR_SIM_STREAM, sizeof(*sim->streams));
	sim->queues = take_things(model, WEIR_SIM_QUEUE, sizeof(*sim->queues));
	sim->lanes = take_array(model->nb_lanes, sizeof(*sim->lanes));
	sim->cores = take_array(model->nb_cores, sizeof(*sim->cores));
	sim->kinds = take_things(model, WEIR_SIM_CORES, sizeof(*sim->kinds));
	sim->units = take_things(model, WEIR_SIM_UNIT, sizeof(*sim->units));
	sim->servers = take_array(model->nb_servers, sizeof(*sim->servers));
	sim->step_random = take_array(model->nb_steps, sizeof(*sim->step_random));
	sim->skip_random = take_array(model->nb_steps, sizeof(*sim->skip_random));
	sim->levels = take_things(model, WEIR_SIM_MEMORY, sizeof(*sim->levels));
	sim->unit_random = take_array(model->nb_units, sizeof(*sim->unit_random));
	sim->given_random = take_array(model->nb_given, sizeof(*sim->given_random));
	sim->drops = take_array((size_t)model->nb_streams * model->nb_reasons, sizeof(*sim->drops));
	sim->probes = take_array(model->nb_probes, sizeof(*sim->probes));
	sim->backlogs = take_array(model->nb_groups, sizeof(*sim->backlogs));
	sim->idle = take_array(model->core_words, sizeof(*sim->idle));
	sim->ready_trees = take_array(model->nb_queues, sizeof(*sim->ready_trees));
	sim->ready = take_array(model->lane_words, sizeof(*sim->ready));
	if (model->dispatch.is_lenient)
		sim->leniences = take_array(model->nb_cores, sizeof(*sim->leniences));
	return sim->streams != NULL && sim->queues != NULL && sim->lanes != NULL &&
	       sim->cores != NULL && sim->kinds != NULL && sim->units != NULL &&
	       sim->servers != NULL && sim->step_random != NULL && sim->skip_random != NULL &&
	       sim->unit_random != NULL && sim->given_random != NULL && sim->drops != NULL &&
	       sim->probes != NULL && sim->levels != NULL && sim->idle != NULL &&
	       sim->ready != NULL && sim->ready_trees != NULL && sim->backlogs != NULL &&
	       (sim->leniences != NULL || !model->dispatch.is_lenient) && sim_ready_init(sim) &&
	       sim_event_list_grow(&sim->events);
}

static void
init_lanes(struct sim *sim)
{
	uint32_t i;

	for (i = 0; i < sim->model->nb_lanes; i++) {
		const uint32_t index = sim->model->lane_queue[i];
		const struct model_queue *queue = &sim->model->queues[index];

		sim->lanes[i] = (struct sim_lane){
			.queue = index,
			.type = queue->type,
			.is_fcfs = queue->discipline == MODEL_FCFS,
			.is_of_many = queue->nb_flows > SIM_READY_FEW,
			.is_a_job = queue->job != SIM_NONE && queue->type == MODEL_ATOMIC,
			.waiting = {.head = SIM_NONE},
			.in_flight = {.head = SIM_NONE},
			.resumed = {.head = SIM_NONE},
			.claims = {.head = SIM_NONE},
			.sleeper = SIM_NONE,
		};
	}
}

/* They are idle, or begin to poll, with the last lane. */
static void
init_cores(struct sim *sim)
{
	const struct model_cores *kind;
	uint32_t i;

	for (i = 0; i < sim->model->nb_cores; i++) {
		kind = &sim->model->cores[sim->model->core_kind[i]];
		sim->cores[i].model = kind;
		sim->cores[i].kind = sim->model->core_kind[i];
		sim->cores[i].packet = SIM_NONE;
		if (sim->leniences != NULL)
			sim->leniences[i].seen = sim->leniences[i].helped = SIM_NONE;
		if (kind->worker != SIM_NONE) {
			sim->cores[i].phase = CORE_WALKS;
			continue;
		}
		if (!kind->polls) {
			sim->idle[i / 64] |= UINT64_C(1) << i % 64;
			continue;
		}
		sim->cores[i].poll_lane = sim->model->nb_lanes - 1;
		sim->cores[i].phase = CORE_POLLS;
		sim_core_schedule(sim, i, 0);
	}
}

/* States of disciplines of shared objects. */
static bool
init_custom(struct sim *sim)
{
	uint32_t i;

	for (i = 0; i < sim->model->nb_lanes; i++) {
		const struct model_queue *queue = &sim->model->queues[sim->model->lane_queue[i]];

		if (queue->custom == NULL)
			continue;
		sim->lanes[i].custom = queue->custom->create();
		if (sim->lanes[i].custom == NULL)
			return false;
	}
	for (i = 0; i < sim->model->nb_units; i++) {
		const struct weir_sim_discipline *custom = sim->model->units[i].custom;

		if (custom == NULL)
			continue;
		sim->units[i].custom = custom->create();
		if (sim->units[i].custom == NULL)
			return false;
	}
	return true;
}

/* And what units have of their own. */
static void
free_custom(struct sim *sim)
{
	uint32_t i;

	for (i = 0; sim->lanes != NULL && i < sim->model->nb_lanes; i++)
		if (sim->lanes[i].custom != NULL)
			sim->model->queues[sim->model->lane_queue[i]].custom->destroy(
				sim->lanes[i].custom);
	for (i = 0; sim->units != NULL && i < sim->model->nb_units; i++) {
		if (sim->units[i].custom != NULL)
			sim->model->units[i].custom->destroy(sim->units[i].custom);
		free(sim->units[i].visits);
	}
}

/* All servers are free; the first one is taken first. */
static void
init_units(struct sim *sim)
{
	uint32_t i, j;

	for (i = 0; i < sim->model->nb_units; i++) {
		const struct model_unit *const model = &sim->model->units[i];

		sim->units[i].waiting.head = SIM_NONE;
		sim->units[i].free = SIM_NONE;
		for (j = model->nb_servers; j-- > 0;) {
			sim->servers[model->first_server + j] = (struct sim_server){.unit = i,
				.next = sim->units[i].free,
				.visit = {.packet = SIM_NONE}};
			sim->units[i].free = model->first_server + j;
		}
	}
}

struct sim *
sim_new(const struct weir_sim_model *model, uint64_t seed, unsigned int replication)
{
	struct sim *sim = calloc(1, sizeof(*sim));
	uint32_t i;

	if (sim == NULL)
		return NULL;
	sim->model = model;
	sim->nb_left = UINT64_MAX;
	sim->packets.free = sim->bursts.free = sim->writes.free = SIM_NONE;
	sim->packets.most = SIM_PACKETS_MAX;
	if (!take_memory(sim)) {
		sim_free(sim);
		return NULL;
	}
	init_lanes(sim);
	for (i = 0; i < model->nb_groups; i++)
		sim->backlogs[i].head = SIM_NONE;
	init_cores(sim);
	if (!init_custom(sim) || !init_random(sim, seed, replication) ||
		!sim_graph_init(sim, seed, replication) ||
		!sim_links_init(sim, seed, replication)) {
		sim_free(sim);
		return NULL;
	}
	init_units(sim);
	for (i = 0; i < model->nb_streams; i++)
		sim_traffic_start(sim, i);
	for (i = 0; i < model->graph.nb_workers; i++)
		sim_worker_idle(sim, i);
	return sim;
}

/* Whose traces were not ended before has come to no end: nobody asks what is in them. */
static void
close_probes(struct sim *sim)
{
	struct sim_trace_error error = {.words = NULL};

	sim_probes_close(sim, &error);
	free(error.words);
}

void
sim_free(struct sim *sim)
{
	uint32_t i;

	if (sim == NULL)
		return;
	free_custom(sim);
	sim_graph_free(sim);
	sim_links_free(sim);
	close_probes(sim);
	sim_event_list_free(&sim->events);
	free(sim->probes);
	free(sim->packets.all);
	free(sim->bursts.all);
	free(sim->writes.all);
	for (i = 0; sim->streams != NULL && i < sim->model->nb_streams; i++)
		free(sim->streams[i].flows_left.all);
	free(sim->streams);
	free(sim->queues);
	free(sim->lanes);
	free(sim->cores);
	free(sim->kinds);
	free(sim->units);
	free(sim->servers);
	free(sim->step_random);
	free(sim->skip_random);
	free(sim->unit_random);
	free(sim->given_random);
	free(sim->attributes);
	free(sim->families);
	free(sim->frames);
	free(sim->levels);
	free(sim->places);
	free(sim->drops);
	free(sim->idle);
	free(sim->backlogs);
	for (i = 0; sim->ready_trees != NULL && i < sim->model->nb_queues; i++)
		free(sim->ready_trees[i].since_ps);
	free(sim->ready_trees);
	free(sim->ready);
	free(sim->leniences);
	free(sim);
}

static void
restart_stream(struct sim *sim, struct sim_stream *stream)
{
	weir_sim_level_advance(&stream->inside, sim->now_ps);
	weir_sim_level_restart(&stream->inside, sim->now_ps);
	stream->inside_at_start = stream->inside.value;
	stream->arrived = stream->delivered = stream->dropped = stream->delivered_bytes = 0;
	stream->forked = stream->joined = 0;
	stream->sojourned_ps = 0;
	memset(&stream->latency, 0, sizeof(stream->latency));
	stream->reordered = 0;
}

static void
restart_unit(struct sim *sim, struct sim_unit *unit)
{
	weir_sim_level_restart(&unit->length, sim->now_ps);
	weir_sim_level_restart(&unit->busy, sim->now_ps);
	unit->waiting_at_start = unit->length.value;
	unit->arrived = unit->dropped = unit->taken = unit->served = unit->interrupted = 0;
	unit->wait_ps = (struct weir_sim_tally){0};
	unit->waited_ps = unit->worked_ps = 0;
}

void
sim_restart_statistics(struct sim *sim)
{
	const struct weir_sim_model *model = sim->model;
	uint32_t i;

	sim->window_ps = sim->now_ps;
	for (i = 0; i < model->nb_streams; i++)
		restart_stream(sim, &sim->streams[i]);
	sim_graph_restart(sim);
	sim_links_restart(sim);
	for (i = 0; i < sim_model_lengths(model); i++) {
		struct sim_queue *const queue = &sim->queues[i];
		struct weir_sim_level length = queue->length;

		weir_sim_level_restart(&length, sim->now_ps);
		memset(queue, 0, sizeof(*queue));
		queue->length = length;
		queue->waiting_at_start = length.value;
	}
	sim_probes_restart(sim);
	for (i = 0; i < model->nb_levels; i++) {
		weir_sim_level_restart(&sim->levels[i].users, sim->now_ps);
		weir_sim_level_restart(&sim->levels[i].held, sim->now_ps);
		sim->levels[i].accesses = 0;
	}
	for (i = 0; i < model->nb_units; i++)
		restart_unit(sim, &sim->units[i]);
	memset(sim->drops, 0, (size_t)model->nb_streams * model->nb_reasons * sizeof(*sim->drops));
	for (i = 0; i < model->nb_kinds; i++)
		weir_sim_level_restart(&sim->kinds[i].busy, sim->now_ps);
	for (i = 0; i < model->nb_cores; i++) {
		sim->cores[i].served = 0;
		sim->cores[i].worked_ps = 0;
	}
}
