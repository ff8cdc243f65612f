/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps that join: there are parts to wait for, and these do not wait for who joins them. */
#include <errno.h>
#include <stdlib.h>

#include "doc_read.h"

/* The only queue of an object; SIM_NONE: it has none, or several. */
static uint32_t
only_queue(const struct weir_sim_model *model, uint32_t object)
{
	uint32_t found = SIM_NONE, i;

	for (i = 0; i < model->nb_queues; i++) {
		if (model->queues[i].object != object)
			continue;
		if (found != SIM_NONE)
			return SIM_NONE;
		found = i;
	}
	return found;
}

static bool
forks_to(const struct weir_sim_model *model, const struct model_step *step, uint32_t queue)
{
	uint32_t i;

	for (i = 0; step->op == MODEL_FORK && i < step->nb_targets; i++)
		if (model->targets[step->first_target + i] == queue)
			return true;
	return false;
}

/*
 * Parts have their packet's flow, and would wait in its own queue for what that has until they have left. Where it depends on the
 * packet whether it comes to that, only the run can tell: deadlock.c.
 */
static void
check_flow(struct weir_sim_model *model, uint32_t index)
{
	const struct model_object *object = &model->objects[index];
	const uint32_t queue = only_queue(model, index);
	const struct model_step *step = &model->steps[object->first_step], *fork = NULL;
	uint32_t i;

	if (queue == SIM_NONE || model->queues[queue].type == MODEL_PARALLEL)
		return;
	for (i = 0; i + 1 < object->nb_steps; i++, step++) {
		if (step->op == MODEL_JUMP || step->op == MODEL_SWITCH)
			return;
		if (fork == NULL && forks_to(model, step, queue))
			fork = step;
		if (fork != NULL && step->op == MODEL_JOIN && step->compare == MODEL_ALWAYS &&
			step->probability >= 1) {
			weir_base_doc_error_add(model->doc, weir_base_doc_get(fork->value, "fork"),
				"parts in queue '%s' wait for their packet, which has the same "
				"flow of it and joins them; expected another queue, or one of type "
				"'parallel'",
				model->queues[queue].name);
			return;
		}
	}
}

/* Does a step that is done before, in the same object, make parts? With a jump back those behind it may be. */
static bool
forks_before(const struct weir_sim_model *model, const struct model_object *object, uint32_t join)
{
	const uint32_t end = object->first_step + object->nb_steps;
	bool goes_back = false;
	uint32_t i;

	for (i = object->first_step; i < end; i++)
		goes_back = goes_back || (model->steps[i].op == MODEL_JUMP &&
						 (model->steps[i].target <= i ||
							 model->steps[i].target == SIM_NONE));
	for (i = object->first_step; i < (goes_back || join > end ? end : join); i++)
		if (model->steps[i].op == MODEL_FORK)
			return true;
	return false;
}

/* Packets that come to an object may have parts. @return whether that is new */
static bool
mark_object(bool *has_parts, uint32_t object)
{
	const bool is_new = !has_parts[object];

	has_parts[object] = true;
	return is_new;
}

/*
 * What comes to a queue may have parts. Where workers serve it, these may send it to the queues of any object: by which edges
 * of the graph is not asked here.
 *
 * @return whether that is new
 */
static bool
brings_parts(const struct weir_sim_model *model, bool *has_parts, uint32_t queue)
{
	bool is_new = false;
	uint32_t i;

	if (queue == SIM_NONE)
		return false;
	if (model->queues[queue].object != SIM_NONE)
		return mark_object(has_parts, model->queues[queue].object);
	for (i = 0; sim_is_of_workers(&model->queues[queue]) && i < model->nb_objects; i++)
		is_new = mark_object(has_parts, i) || is_new;
	return is_new;
}

/* An object's packets, which may have parts, go on to others. @return whether that is new */
static bool
send_parts(const struct weir_sim_model *model, bool *has_parts, const struct model_object *object)
{
	bool is_new = false;
	uint32_t i, j;

	for (i = object->first_step; i < object->first_step + object->nb_steps; i++) {
		const struct model_step *step = &model->steps[i];

		if (step->op == MODEL_SEND)
			is_new = brings_parts(model, has_parts, step->target) || is_new;
		for (j = 0; step->op == MODEL_SPREAD && j < step->nb_targets; j++)
			is_new = brings_parts(model, has_parts,
					 model->targets[step->first_target + j]) ||
				 is_new;
	}
	return is_new;
}

/* @param has_parts  per object: packets that come to it may have */
static void
check_forks(struct weir_sim_model *model, const bool *has_parts)
{
	const struct model_object *object = model->objects;
	uint32_t i, j;

	for (i = 0; i < model->nb_objects; i++, object++)
		for (j = object->first_step; j < object->first_step + object->nb_steps; j++)
			if (model->steps[j].op == MODEL_JOIN && !has_parts[i] &&
				!forks_before(model, object, j))
				weir_base_doc_error_add(model->doc,
					weir_base_doc_get(model->steps[j].value, "join"),
					"no packet has parts here to wait for; expected a step "
					"'fork' "
					"before it");
}

int
sim_doc_check_joins(struct weir_sim_model *model)
{
	bool *has_parts = calloc(model->nb_objects + 1, sizeof(*has_parts)), more = true;
	uint32_t i;

	if (has_parts == NULL)
		return -ENOMEM;
	while (more)
		for (more = false, i = 0; i < model->nb_objects; i++)
			if (has_parts[i] ||
				forks_before(model, &model->objects[i], model->nb_steps))
				more = send_parts(model, has_parts, &model->objects[i]) || more;
	if (!model->has_unknown_queue)
		check_forks(model, has_parts);
	free(has_parts);
	for (i = 0; i < model->nb_objects; i++)
		check_flow(model, i);
	return 0;
}
