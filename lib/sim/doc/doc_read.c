/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: the application and the platform. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"

uint64_t
sim_doc_ps(const struct weir_base_doc_value *value)
{
	return (uint64_t)llround(weir_base_doc_f64(value) * 1e12);
}

static uint32_t
read_capacity(const struct weir_base_doc_value *queue)
{
	const struct weir_base_doc_value *capacity = weir_base_doc_get(queue, "capacity");

	return capacity != NULL ? (uint32_t)weir_base_doc_u64(capacity) : SIM_NONE;
}

int
sim_doc_read_queues(struct weir_sim_model *model, const struct weir_base_doc_value *queues)
{
	const struct weir_base_doc_value *value;
	struct model_queue *queue;
	uint32_t i;

	model->nb_queues = weir_base_doc_count(queues);
	model->queues = calloc(model->nb_queues + 1, sizeof(*model->queues));
	if (model->queues == NULL)
		return -ENOMEM;
	for (i = 0; i < model->nb_queues; i++) {
		value = weir_base_doc_at(queues, i);
		queue = &model->queues[i];
		*queue = (struct model_queue){
			.value = value,
			.name = weir_base_doc_name(value),
			.type = (enum model_queue_type)weir_base_doc_u64(
				weir_base_doc_get(value, "type")),
			.priority =
				(uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "priority")),
			.capacity = read_capacity(value),
			.nb_flows = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "flows")),
			.group = sim_doc_queue_group(model, weir_base_doc_get(value, "group")),
			.object = SIM_NONE,
			.node = SIM_NONE,
			.job = SIM_NONE,
		};
		if (sim_doc_read_discipline(
			    model, queue->value, false, &queue->discipline, &queue->custom) < 0)
			return -ENOMEM;
		if ((queue->capacity != SIM_NONE || queue->custom != NULL) &&
			sim_doc_reason(model, &queue->reason, "queue %s is full", queue->name) < 0)
			return -ENOMEM;
		/* Without order among them, flows share a queue. */
		if (queue->type == MODEL_PARALLEL)
			queue->nb_flows = 1;
		if (queue->nb_flows > SIM_LANES_MAX - model->nb_lanes)
			weir_base_doc_error_add(model->doc, weir_base_doc_get(value, "flows"),
				"more flows than can be told apart; expected at most %u in all",
				SIM_LANES_MAX);
		else
			model->nb_lanes += queue->nb_flows;
	}
	return 0;
}

/* An object takes a queue that nobody else has. */
static void
read_served(struct weir_sim_model *model, uint32_t object, const struct weir_base_doc_value *value)
{
	const uint32_t queue = sim_doc_find_queue(model, value);

	if (queue == SIM_NONE)
		return;
	if (model->queues[queue].node != SIM_NONE)
		weir_base_doc_error_add(model->doc, value,
			"queue '%s' belongs to a node of the graph; expected one that is free",
			model->queues[queue].name);
	else if (model->queues[queue].object != SIM_NONE)
		weir_base_doc_error_add(model->doc, value,
			"queue '%s' belongs to object '%s' already; expected one that is free",
			model->queues[queue].name,
			model->objects[model->queues[queue].object].name);
	else
		model->queues[queue].object = object;
}

static int
read_object(struct weir_sim_model *model, uint32_t index, const struct weir_base_doc_value *value)
{
	const struct weir_base_doc_value *steps = weir_base_doc_get(value, "steps");
	const struct weir_base_doc_value *queues = weir_base_doc_get(value, "queues");
	const struct weir_base_doc_value *to = weir_base_doc_get(value, "to");
	struct model_object *object = &model->objects[index];
	uint32_t i;

	*object = (struct model_object){
		.value = value,
		.name = weir_base_doc_name(value),
		.first_step = model->nb_steps,
		.nb_steps = weir_base_doc_count(steps) + 1,
		.to = to != NULL ? sim_doc_find_queue(model, to) : SIM_TO_OUTPUT,
	};
	model->has_unknown_steps = model->has_unknown_steps || object->nb_steps == 1;
	if (object->nb_steps == 1 && steps != NULL)
		weir_base_doc_error_add(model->doc, steps,
			"object '%s' has no steps; expected one that says what its work costs, "
			"such as 'cpu: 700cycles'",
			object->name);
	else if (object->nb_steps == 1)
		weir_base_doc_error_add(model->doc, value,
			"object '%s' does not say what its work costs; expected a key 'steps'",
			object->name);
	if (sim_doc_read_steps(model, object, steps) < 0)
		return -ENOMEM;
	for (i = 0; i < weir_base_doc_count(queues); i++)
		read_served(model, index, weir_base_doc_at(queues, i));
	if (object->to != SIM_NONE)
		model->queues[object->to].is_fed = true;
	return 0;
}

int
sim_doc_read_objects(struct weir_sim_model *model, const struct weir_base_doc_value *objects)
{
	uint32_t i;

	model->nb_objects = weir_base_doc_count(objects);
	model->objects = calloc(model->nb_objects + 1, sizeof(*model->objects));
	if (model->objects == NULL)
		return -ENOMEM;
	for (i = 0; i < model->nb_objects; i++)
		if (read_object(model, i, weir_base_doc_at(objects, i)) < 0)
			return -ENOMEM;
	return 0;
}

static void
read_polling(struct model_cores *kind, const struct weir_base_doc_value *polling)
{
	const struct weir_base_doc_value *burst = weir_base_doc_get(polling, "burst");
	const double cycles = weir_base_doc_f64(weir_base_doc_get(polling, "switch"));
	const double vector = weir_base_doc_f64(weir_base_doc_get(polling, "vector"));

	kind->polls = polling != NULL;
	kind->switch_ps = sim_round_ps(sim_coarse(cycles) * kind->ps_per_cycle);
	kind->vector_ps = sim_round_ps(sim_coarse(vector) * kind->ps_per_cycle);
	kind->burst = burst != NULL ? (uint32_t)weir_base_doc_u64(burst) : UINT32_MAX;
}

int
sim_doc_read_cores(struct weir_sim_model *model, const struct weir_base_doc_value *cores)
{
	const struct weir_base_doc_value *value, *groups;
	struct model_cores *kind;
	uint32_t i, j, group;

	model->nb_kinds = weir_base_doc_count(cores);
	model->cores = calloc(model->nb_kinds + 1, sizeof(*model->cores));
	if (model->cores == NULL)
		return -ENOMEM;
	for (i = 0; i < model->nb_kinds; i++) {
		value = weir_base_doc_at(cores, i);
		groups = weir_base_doc_get(value, "groups");
		kind = &model->cores[i];
		kind->worker = SIM_NONE;
		kind->value = value;
		kind->name = weir_base_doc_name(value);
		kind->first = model->nb_cores;
		kind->count = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "count"));
		kind->ps_per_cycle =
			sim_coarse(1e12 / weir_base_doc_f64(weir_base_doc_get(value, "clock")));
		read_polling(kind, weir_base_doc_get(value, "polling"));
		for (j = 0; j < weir_base_doc_count(groups); j++) {
			group = sim_doc_cores_group(model, weir_base_doc_at(groups, j));
			if (group != SIM_NONE)
				kind->groups[group / 64] |= UINT64_C(1) << group % 64;
		}
		if (kind->count > SIM_CORES_MAX - model->nb_cores)
			weir_base_doc_error_add(model->doc, weir_base_doc_get(value, "count"),
				"too many cores; expected at most %u in all", SIM_CORES_MAX);
		else
			model->nb_cores += kind->count;
	}
	return 0;
}
