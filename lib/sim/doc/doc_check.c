/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a model whose parts are each in order. */
#include <errno.h>
#include <stdlib.h>

#include "doc_read.h"

/* Kinds of cores that a group has. */
static bool
has_cores(const struct weir_sim_model *model, const struct model_queue *queue)
{
	uint32_t i;

	for (i = 0; i < model->nb_kinds; i++)
		if (sim_serves_queue(&model->cores[i], queue))
			return true;
	return false;
}

/* Who could serve it: an object's queue is that of workers where no other cores are in its group. */
static void
tell_nobody_serves(struct weir_sim_model *model, const struct model_queue *queue)
{
	const struct weir_base_doc_value *platform =
		weir_base_doc_get(weir_base_doc_root(model->doc), "platform");
	const bool is_for_workers = sim_is_of_workers(queue) || model->graph.nb_workers > 0;
	const bool is_for_cores = !sim_is_of_workers(queue);

	if (weir_base_doc_get(platform, "costs") == NULL &&
		sim_doc_is_in(
			weir_base_doc_get(platform, "workers"), model->groups[queue->group])) {
		weir_base_doc_error_add(model->doc, weir_base_doc_get(queue->value, "group"),
			"queue '%s' is never served: group '%s' has workers, which are not "
			"simulated without costs; expected 'costs' in 'platform', or a group of "
			"platform.cores",
			queue->name, model->groups[queue->group]);
		return;
	}
	weir_base_doc_error_add(model->doc, weir_base_doc_get(queue->value, "group"),
		"queue '%s' is never served: group '%s' has no %s%s%s; expected a group of "
		"platform.%s%s%s",
		queue->name, model->groups[queue->group], is_for_cores ? "cores" : "",
		is_for_cores && is_for_workers ? " or " : "", is_for_workers ? "workers" : "",
		is_for_cores ? "cores" : "", is_for_cores && is_for_workers ? " or platform." : "",
		is_for_workers ? "workers" : "");
}

static void
check_queue(struct weir_sim_model *model, const struct model_queue *queue)
{
	const bool is_nobodys = queue->object == SIM_NONE && !sim_is_of_workers(queue);
	const bool is_switched_to_only = is_nobodys && queue->is_switched_to && !queue->is_fed;

	/* Of a graph that was refused it is not known what its workers serve. */
	if (queue->group != SIM_NONE && (!is_nobodys || is_switched_to_only) &&
		!(model->has_refused_graph && model->graph.nb_workers > 0) &&
		!has_cores(model, queue))
		tell_nobody_serves(model, queue);
	if (is_switched_to_only)
		return; /* cores bring their packets */
	if (model->has_unknown_queue || model->has_refused_graph)
		return; /* that may be why, and was told */
	if (is_nobodys)
		weir_base_doc_error_add(model->doc, queue->value,
			"queue '%s' is never served: it belongs to no object; expected it among "
			"the 'queues' of one",
			queue->name);
	if (!queue->is_fed && !queue->is_switched_to)
		weir_base_doc_error_add(model->doc, queue->value,
			"nothing is sent to queue '%s'; expected a stream or an object whose 'to' "
			"it is",
			queue->name);
}

/* What goes by the service that is left must know it when a packet comes. */
static void
check_discipline(struct weir_sim_model *model, const struct model_queue *queue)
{
	const struct weir_base_doc_value *value = weir_base_doc_get(queue->value, "discipline");
	const struct model_object *object;
	const struct model_step *step;

	if (queue->discipline != MODEL_SHORTEST && queue->discipline != MODEL_LONGEST)
		return;
	if (queue->type == MODEL_ORDERED)
		weir_base_doc_error_add(model->doc, value,
			"what leaves an ordered queue keeps its order; expected 'fcfs' or 'lcfs'");
	if (queue->object == SIM_NONE)
		return;
	object = &model->objects[queue->object];
	step = &model->steps[object->first_step];
	if (object->nb_steps > 0 &&
		(step->op != MODEL_CPU || step->compare != MODEL_ALWAYS || step->probability < 1))
		weir_base_doc_error_add(model->doc, value,
			"the first step of object '%s' is none that always takes cycles; expected "
			"one, by which packets are put in order",
			object->name);
}

bool
sim_doc_ends_elsewhere(const struct weir_sim_model *model, const struct model_object *object)
{
	const struct model_step *last;

	if (object->nb_steps < 2)
		return false;
	last = &model->steps[object->first_step + object->nb_steps - 2];
	if (last->op == MODEL_JUMP && last->target == SIM_NONE)
		return false; /* to an unknown step, which was told */
	return (last->op == MODEL_JUMP || last->op >= MODEL_SEND) &&
	       last->compare == MODEL_ALWAYS && last->probability >= 1;
}

/* Does what is sent to a queue leave in the end, as far as is known? A queue that nobody serves is told of elsewhere. */
static bool
queue_leads_out(const struct weir_sim_model *model, const bool *leads_out, uint32_t queue)
{
	return queue == SIM_NONE || model->queues[queue].object == SIM_NONE ||
	       leads_out[model->queues[queue].object];
}

/* Does something that a step sends leave in the end? That to an unknown queue would, which was told. */
static bool
step_leads_out(
	const struct weir_sim_model *model, const bool *leads_out, const struct model_step *step)
{
	uint32_t i;

	if (step->op == MODEL_SPREAD && step->nb_targets == 0)
		return true;
	for (i = 0; step->op == MODEL_SPREAD && i < step->nb_targets; i++)
		if (queue_leads_out(model, leads_out, model->targets[step->first_target + i]))
			return true;
	return step->op == MODEL_DROP || step->op == MODEL_OUTPUT ||
	       (step->op == MODEL_SEND && queue_leads_out(model, leads_out, step->target));
}

static bool
object_leads_out(const struct weir_sim_model *model, const bool *leads_out,
	const struct model_object *object)
{
	const struct model_step *step = &model->steps[object->first_step];
	uint32_t i;

	if (!sim_doc_ends_elsewhere(model, object) && queue_leads_out(model, leads_out, object->to))
		return true;
	for (i = 0; i + 1 < object->nb_steps; i++, step++)
		if (step_leads_out(model, leads_out, step))
			return true;
	return false;
}

/* Is there an object whose packets never leave? */
static int
check_circles(struct weir_sim_model *model)
{
	bool *leads_out = calloc(model->nb_objects + 1, sizeof(*leads_out)), more = true;
	uint32_t i;

	if (leads_out == NULL)
		return -ENOMEM;
	while (more)
		for (more = false, i = 0; i < model->nb_objects; i++)
			if (!leads_out[i] && object_leads_out(model, leads_out, &model->objects[i]))
				leads_out[i] = more = true;
	for (i = 0; i < model->nb_objects; i++)
		if (!leads_out[i]) {
			const struct weir_base_doc_value *to =
				weir_base_doc_get(model->objects[i].value, "to");

			weir_base_doc_error_add(model->doc,
				to != NULL ? to : model->objects[i].value,
				"packets of object '%s' go in a circle and never leave; expected "
				"an object without 'to' at the end",
				model->objects[i].name);
		}
	free(leads_out);
	return 0;
}

static void
check_polling(struct weir_sim_model *model, const struct model_cores *kind)
{
	uint32_t i;

	if (!kind->polls)
		return;
	if (kind->switch_ps == 0)
		weir_base_doc_error_add(model->doc, weir_base_doc_get(kind->value, "polling"),
			"cores '%s' go round in no time; expected a 'switch' of 1 ps or more",
			kind->name);
	for (i = 0; i < model->nb_queues; i++)
		if (model->queues[i].group != SIM_NONE && sim_serves(kind, model->queues[i].group))
			return;
	weir_base_doc_error_add(model->doc, weir_base_doc_get(kind->value, "polling"),
		"cores '%s' have no queue to poll; expected one of their groups", kind->name);
}

static void
check_attributes(struct weir_sim_model *model)
{
	uint32_t i;

	for (i = 0; i < model->nb_attributes; i++)
		if (!model->attributes[i].is_set)
			weir_base_doc_error_add(model->doc, model->attributes[i].used,
				"nothing has an attribute '%s'; expected one that a stream's "
				"'attributes' or a step 'set' gives, 'size' or 'flow'",
				model->attributes[i].name);
}

int
sim_doc_check(struct weir_sim_model *model)
{
	const struct weir_base_doc_value *links = weir_base_doc_get(
		weir_base_doc_get(weir_base_doc_root(model->doc), "application"), "links");
	uint32_t i;

	/* Links that are none were told. */
	if (model->nb_streams == 0 && weir_base_doc_count(links) == 0)
		weir_base_doc_error_add(model->doc, weir_base_doc_root(model->doc),
			"nothing arrives; expected 'streams' in 'traffic'");
	for (i = 0; i < model->nb_queues; i++)
		check_queue(model, &model->queues[i]);
	for (i = 0; i < model->nb_queues; i++)
		check_discipline(model, &model->queues[i]);
	sim_doc_check_given(model);
	if (sim_doc_check_joins(model) < 0)
		return -ENOMEM;
	for (i = 0; i < model->nb_units; i++)
		if (!model->units[i].is_used && !model->has_unknown_steps)
			weir_base_doc_error_add(model->doc, model->units[i].value,
				"nothing uses unit '%s'; expected a step or a stream that does",
				model->units[i].name);
	for (i = 0; i < model->nb_kinds; i++)
		check_polling(model, &model->cores[i]);
	for (i = 0; i < model->nb_memories; i++)
		if (!model->memories[i].is_used && !model->has_unknown_steps)
			weir_base_doc_error_add(model->doc, model->memories[i].value,
				"nothing uses memory '%s'; expected a step that does",
				model->memories[i].name);
	check_attributes(model);
	sim_doc_check_scheduler(model,
		weir_base_doc_get(weir_base_doc_get(weir_base_doc_root(model->doc), "platform"),
			"scheduler"));
	return check_circles(model);
}
