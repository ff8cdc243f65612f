/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a model whose parts are each in order. */
#include "doc_read.h"

/* Kinds of cores that a group has. */
static bool
has_cores(const struct weir_sim_model *model, uint32_t group)
{
	uint32_t i;

	for (i = 0; i < model->nb_kinds; i++)
		if (model->cores[i].groups >> group & 1)
			return true;
	return false;
}

static void
check_queue(struct weir_sim_model *model, const struct model_queue *queue)
{
	if (queue->object == SIM_NONE)
		weir_base_doc_error_add(model->doc, queue->value,
			"queue '%s' is never served: it belongs to no object; expected it among "
			"the 'queues' of one",
			queue->name);
	if (!queue->is_fed)
		weir_base_doc_error_add(model->doc, queue->value,
			"nothing is sent to queue '%s'; expected a stream or an object whose 'to' "
			"it is",
			queue->name);
	if (queue->group != SIM_NONE && !has_cores(model, queue->group))
		weir_base_doc_error_add(model->doc, weir_base_doc_get(queue->value, "group"),
			"queue '%s' is never served: group '%s' has no cores; expected a group of "
			"platform.cores",
			queue->name, model->groups[queue->group]);
}

/* Does a packet that object @p index works on leave in the end? Each object has one way out, so there are as many steps as objects. */
static bool
leads_out(const struct weir_sim_model *model, uint32_t index)
{
	uint32_t hops;

	for (hops = 0; hops <= model->nb_objects && index != SIM_NONE; hops++) {
		if (model->objects[index].to == SIM_NONE)
			return true;
		index = model->queues[model->objects[index].to].object;
	}
	return index == SIM_NONE; /* a queue without an object, which is told of elsewhere */
}

void
sim_doc_check(struct weir_sim_model *model)
{
	uint32_t i;

	if (model->nb_streams == 0)
		weir_base_doc_error_add(model->doc, weir_base_doc_root(model->doc),
			"nothing arrives; expected 'streams' in 'traffic'");
	for (i = 0; i < model->nb_queues; i++)
		check_queue(model, &model->queues[i]);
	for (i = 0; i < model->nb_objects; i++)
		if (!leads_out(model, i))
			weir_base_doc_error_add(model->doc,
				weir_base_doc_get(model->objects[i].value, "to"),
				"packets of object '%s' go in a circle and never leave; expected "
				"an "
				"object without 'to' at the end",
				model->objects[i].name);
}
