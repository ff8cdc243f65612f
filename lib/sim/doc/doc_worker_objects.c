/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: objects whose queues workers serve, as in a program that is run; those in groups of other cores these do. */
#include <errno.h>
#include <string.h>

#include "doc_read.h"

/* How many cores of a kind workers want. */
static uint32_t
count_wanted(const struct weir_sim_model *model, uint32_t kind)
{
	const struct model_graph *const graph = &model->graph;
	uint32_t nb = 0, i;

	for (i = 0; i < graph->nb_workers; i++)
		nb += sim_doc_kind_of(model, &graph->workers[i], model->nb_kinds) == kind;
	return nb;
}

/* The kind of cores that serves a group beside workers; SIM_NONE: there is none. */
static uint32_t
find_other_cores(const struct weir_sim_model *model, uint32_t group)
{
	uint32_t i;

	for (i = 0; i < model->nb_kinds; i++)
		if (model->cores[i].count > count_wanted(model, i) &&
			sim_serves(&model->cores[i], group))
			return i;
	return SIM_NONE;
}

/* Is a worker, which stands in the file, in a group? */
static bool
is_in(const struct weir_base_doc_value *worker, const char *group)
{
	const struct weir_base_doc_value *groups = weir_base_doc_get(worker, "groups");
	uint32_t i;

	if (groups == NULL)
		return strcmp(group, "default") == 0;
	for (i = 0; i < weir_base_doc_count(groups); i++)
		if (strcmp(weir_base_doc_str(weir_base_doc_at(groups, i)), group) == 0)
			return true;
	return false;
}

static bool
have_workers(const struct weir_sim_model *model, uint32_t group, uint32_t nb_workers)
{
	uint32_t i;

	for (i = 0; i < nb_workers; i++)
		if (is_in(model->graph.workers[i].value, model->groups[group]))
			return true;
	return false;
}

/* Queues of objects, one after the other. */
struct walk {
	const struct weir_base_doc_value *objects;
	uint32_t object, entry; /* where it goes on */
	uint32_t queue, group;  /* this one */
};

/* The next one that there is, in a group that there is. @return false: there are no more */
static bool
walk_on(const struct weir_sim_model *model, struct walk *walk)
{
	const struct weir_base_doc_value *queues;

	for (; walk->object < weir_base_doc_count(walk->objects); walk->object++, walk->entry = 0) {
		queues = weir_base_doc_get(weir_base_doc_at(walk->objects, walk->object), "queues");
		while (walk->entry < weir_base_doc_count(queues)) {
			walk->queue =
				sim_doc_meant_queue(model, weir_base_doc_at(queues, walk->entry++));
			if (walk->queue == SIM_NONE)
				continue;
			walk->group = model->queues[walk->queue].group;
			if (walk->group != SIM_NONE)
				return true;
		}
	}
	return false;
}

int
sim_doc_give_objects(struct weir_sim_model *model, const struct weir_base_doc_value *application,
	uint32_t nb_workers)
{
	struct walk walk = {.objects = weir_base_doc_get(application, "objects")};

	while (walk_on(model, &walk)) {
		if (find_other_cores(model, walk.group) != SIM_NONE ||
			!have_workers(model, walk.group, nb_workers))
			continue;
		model->queues[walk.queue].is_of_workers = true;
		if (sim_doc_limit(model) < 0)
			return -ENOMEM;
	}
	return 0;
}

bool
sim_doc_is_in(const struct weir_base_doc_value *workers, const char *group)
{
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(workers); i++)
		if (is_in(weir_base_doc_at(workers, i), group))
			return true;
	return false;
}

/* A queue of an object in a worker's groups that other cores serve, by which the worker does not. SIM_NONE: there is none */
static uint32_t
find_left(const struct weir_sim_model *model, const struct weir_base_doc_value *worker)
{
	struct walk walk = {
		.objects = weir_base_doc_get(
			weir_base_doc_get(weir_base_doc_root(model->doc), "application"),
			"objects")};

	while (walk_on(model, &walk))
		if (is_in(worker, model->groups[walk.group]) &&
			find_other_cores(model, walk.group) != SIM_NONE)
			return walk.queue;
	return SIM_NONE;
}

void
sim_doc_tell_idle(struct weir_sim_model *model, const struct model_worker *worker,
	const struct weir_base_doc_value *at)
{
	const uint32_t queue = find_left(model, worker->value);
	const char *name = worker->value != NULL ? worker->name
						 : "worker-0, the one of a file without 'workers',";
	uint32_t kind, nb;

	if (queue == SIM_NONE) {
		weir_base_doc_error_add(model->doc, at,
			"%s polls nothing, and serves no queue; expected a port to receive from, "
			"with 'pcap_in' or 'device', or a queue in its group",
			name);
		return;
	}
	kind = find_other_cores(model, model->queues[queue].group);
	nb = count_wanted(model, kind);
	weir_base_doc_error_add(model->doc, at,
		"%s polls nothing, and leaves queue '%s' of its group '%s' to cores '%s', of which "
		"workers take %u; expected %sa port to receive from, or a group that only workers "
		"are in",
		name, model->queues[queue].name, model->groups[model->queues[queue].group],
		model->cores[kind].name, nb, nb > 0 ? "a 'count' of no more there, " : "");
}

/* The key of a step that is not simulated on workers: it uses something beside its core, or leaves it. NULL: none */
static const char *
find_refused(const struct model_step *step)
{
	switch (step->op) {
	case MODEL_MEMORY:
		return "memory";
	case MODEL_USE:
		return "use";
	case MODEL_FORK:
		return "fork";
	case MODEL_JOIN:
		return "join";
	case MODEL_SWITCH:
		return "switch";
	case MODEL_OUTPUT:
		return step->target != SIM_NONE ? "through" : NULL;
	case MODEL_CPU:
	case MODEL_SET:
	case MODEL_JUMP:
	case MODEL_SEND:
	case MODEL_SPREAD:
	case MODEL_DROP:
		break;
	}
	return NULL;
}

static void
check_steps(struct weir_sim_model *model, const struct model_queue *queue)
{
	const struct model_object *const object = &model->objects[queue->object];
	uint32_t i;

	for (i = 0; i + 1 < object->nb_steps; i++) {
		const struct model_step *const step = &model->steps[object->first_step + i];
		const char *const key = find_refused(step);

		if (key != NULL)
			weir_base_doc_error_add(model->doc, weir_base_doc_get(step->value, key),
				"'%s' is not simulated on workers, which serve queue '%s'; "
				"expected 'cpu', 'set', 'jump', 'send', 'drop' or 'output', or "
				"its group among those of platform.cores",
				key, queue->name);
	}
}

/* A core that takes a packet's flow over must be of those that serve it: rounds do not see what others hold. */
static void
check_switches(struct weir_sim_model *model, const struct model_object *object)
{
	uint32_t i;

	for (i = 0; i < object->nb_steps; i++) {
		const struct model_step *const step = &model->steps[object->first_step + i];

		if (step->op == MODEL_SWITCH && step->target < model->nb_queues &&
			sim_is_of_workers(&model->queues[step->target]))
			weir_base_doc_error_add(model->doc,
				weir_base_doc_get(step->value, "switch"),
				"workers serve queue '%s', whose flows no other cores can hold; "
				"expected a queue of the cores of these steps, or 'send'",
				model->queues[step->target].name);
	}
}

void
sim_doc_check_given(struct weir_sim_model *model)
{
	uint32_t i;

	for (i = 0; i < model->nb_queues; i++) {
		const struct model_queue *const queue = &model->queues[i];

		if (!queue->is_of_workers) {
			if (queue->object != SIM_NONE)
				check_switches(model, &model->objects[queue->object]);
			continue;
		}
		if (queue->discipline != MODEL_FCFS)
			weir_base_doc_error_add(model->doc,
				weir_base_doc_get(queue->value, "discipline"),
				"queue '%s' has another discipline, which is not simulated where "
				"workers serve it; expected 'fcfs'",
				queue->name);
		if (queue->object != SIM_NONE)
			check_steps(model, queue);
	}
}
