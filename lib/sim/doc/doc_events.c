/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: nodes of the graph that bring packets in from queues of events, send them there, or work on them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"

/* As of a program that is run. */
#define JOB_FLOWS   1024
#define JOB_PACKETS 4096

/* The group whose workers do a node's jobs. */
static const char *
job_group(const struct weir_base_doc_value *own)
{
	const struct weir_base_doc_value *group = weir_base_doc_get(own, "group");

	return group != NULL ? weir_base_doc_str(group) : "default";
}

/* The queue that a node sends to. */
static uint32_t
read_to(struct weir_sim_model *model, const struct weir_base_doc_value *own)
{
	const struct weir_base_doc_value *value = weir_base_doc_get(own, "queue");
	uint32_t queue;

	if (value == NULL) {
		weir_base_doc_error_add(model->doc, own,
			"node '%s' sends to no queue; expected a key 'queue'",
			weir_base_doc_name(own));
		return SIM_NONE;
	}
	queue = sim_doc_find_queue(model, value);
	if (queue != SIM_NONE)
		model->queues[queue].is_fed = true;
	return queue;
}

/* Queues whose packets a node brings in: each has an edge, in their order. */
static void
read_brought(struct weir_sim_model *model, const struct weir_base_doc_value *own, uint32_t index)
{
	const struct model_node *node = &model->graph.nodes[index];
	const struct weir_base_doc_value *list = weir_base_doc_get(own, "queues"), *value;
	struct model_queue *queue;
	uint32_t i, found;

	for (i = 0; i < weir_base_doc_count(list); i++) {
		value = weir_base_doc_at(list, i);
		found = sim_doc_find_queue(model, value);
		if (found == SIM_NONE)
			continue;
		queue = &model->queues[found];
		if (queue->node != SIM_NONE)
			weir_base_doc_error_add(model->doc, value,
				"queue '%s' belongs to node '%s' already; expected one that is "
				"free",
				queue->name, model->graph.nodes[queue->node].name);
		if (queue->discipline != MODEL_FCFS)
			weir_base_doc_error_add(model->doc, value,
				"queue '%s' has another discipline, which is not simulated where a "
				"node brings in its packets; expected 'fcfs'",
				queue->name);
		queue->node = index;
		queue->next = node->first_next + i;
	}
}

bool
sim_doc_is_refused(const struct weir_sim_model *model, const struct weir_base_doc_value *own)
{
	const struct weir_base_doc_value *queues = weir_base_doc_get(own, "queues");
	const struct weir_base_node_type *type;
	uint32_t i;

	if (own == NULL)
		return false;
	type = weir_base_node_type_find(weir_base_doc_str(weir_base_doc_get(own, "type")));
	for (i = 0; i < weir_base_doc_count(queues); i++)
		if (sim_doc_meant_queue(model, weir_base_doc_at(queues, i)) == SIM_NONE)
			return true;
	return type == NULL || (type->role == WEIR_BASE_NODE_BRINGS && i == 0);
}

bool
sim_doc_has_events(const struct weir_sim_model *model, const struct weir_base_doc_value *nodes,
	const char *group)
{
	const struct weir_base_doc_value *own, *queues;
	const struct weir_base_node_type *type;
	uint32_t i, j, queue;

	for (i = 0; i < model->nb_queues; i++)
		if (model->queues[i].is_of_workers &&
			strcmp(model->groups[model->queues[i].group], group) == 0)
			return true;
	for (i = 0; i < weir_base_doc_count(nodes); i++) {
		own = weir_base_doc_at(nodes, i);
		type = weir_base_node_type_find(weir_base_doc_str(weir_base_doc_get(own, "type")));
		if (type != NULL && type->role == WEIR_BASE_NODE_WORKS &&
			strcmp(job_group(own), group) == 0)
			return true;
		queues = type != NULL && type->role == WEIR_BASE_NODE_BRINGS
				 ? weir_base_doc_get(own, "queues")
				 : NULL;
		for (j = 0; j < weir_base_doc_count(queues); j++) {
			queue = sim_doc_meant_queue(model, weir_base_doc_at(queues, j));
			if (queue != SIM_NONE && model->queues[queue].group != SIM_NONE &&
				strcmp(model->groups[model->queues[queue].group], group) == 0)
				return true;
		}
	}
	return false;
}

static uint64_t
read_ps(const struct weir_base_doc_value *own, const char *key, uint64_t otherwise)
{
	return weir_base_doc_given(own, key) ? sim_doc_ps(weir_base_doc_get(own, key)) : otherwise;
}

static uint32_t
read_u32(const struct weir_base_doc_value *own, const char *key, uint32_t otherwise)
{
	return weir_base_doc_given(own, key)
		       ? (uint32_t)weir_base_doc_u64(weir_base_doc_get(own, key))
		       : otherwise;
}

/* Where the packets of jobs wait for their turns: one of a flow at a time. */
static int
add_queue(struct weir_sim_model *model, const struct weir_base_doc_value *own, uint32_t node)
{
	struct model_queue *queues =
		realloc(model->queues, (model->nb_queues + 1) * sizeof(*queues));

	if (queues == NULL)
		return -ENOMEM;
	model->queues = queues;
	queues[model->nb_queues] = (struct model_queue){
		.value = own,
		.name = weir_base_doc_name(own),
		.type = MODEL_ATOMIC,
		.priority = read_u32(own, "priority", SIM_PRIORITIES - 1),
		.group = sim_doc_group(model, own, job_group(own)),
		.capacity = SIM_NONE,
		.nb_flows = read_u32(own, "flows", JOB_FLOWS),
		.object = SIM_NONE,
		.node = node,
		.job = model->graph.nodes[node].job,
		.is_fed = true,
	};
	if (queues[model->nb_queues].nb_flows > SIM_LANES_MAX - model->nb_lanes)
		weir_base_doc_error_add(model->doc, own,
			"more flows than can be told apart; expected at most %u in all",
			SIM_LANES_MAX);
	else
		model->nb_lanes += queues[model->nb_queues].nb_flows;
	model->nb_queues++;
	return 0;
}

/* What a job takes of each packet: the file says it for what it knows, else it is a cost. */
static void
read_work(struct weir_sim_model *model, const struct weir_base_doc_value *own,
	const struct weir_base_doc_value *costs, struct model_job *job)
{
	static const char *const keys[] = {"work", "work_per_byte", "wait"};
	const struct weir_base_doc_value *work = weir_base_doc_get(own, "work");
	const bool waits =
		work != NULL && strcmp(weir_base_doc_str(work), weir_base_job_work_names[1]) == 0;
	const bool computes =
		work != NULL && strcmp(weir_base_doc_str(work), weir_base_job_work_names[0]) == 0;
	const uint64_t time_ps = read_ps(own, "time", 0);
	bool is_said = false;
	unsigned int i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		is_said = is_said || weir_base_doc_given(costs, keys[i]);
		if (weir_base_doc_given(costs, keys[i]) && (waits || computes))
			weir_base_doc_error_add(model->doc, weir_base_doc_get(costs, keys[i]),
				"'%s' takes the 'time' of node '%s'; expected no cost of its work",
				weir_base_doc_str(work), job->name);
	}
	if (work == NULL) {
		weir_base_doc_error_add(model->doc, own,
			"node '%s' does nothing; expected a key 'work'", job->name);
	} else if (waits || computes) {
		*(waits ? &job->wait_ps : &job->time_ps) = time_ps;
		if (time_ps == 0)
			weir_base_doc_error_add(model->doc, work,
				"'%s' takes no time; expected a key 'time'",
				weir_base_doc_str(work));
	} else if (!is_said) {
		weir_base_doc_error_add(model->doc, work,
			"what '%s' takes is not known; expected 'work' (of each packet, in cycles) "
			"of '%s' in platform.costs.nodes, or 'wait'",
			weir_base_doc_str(work), job->name);
	} else {
		job->is_in_cycles = true;
		job->cycles = sim_coarse(weir_base_doc_f64(weir_base_doc_get(costs, "work")));
		job->per_byte =
			sim_coarse(weir_base_doc_f64(weir_base_doc_get(costs, "work_per_byte")));
		job->wait_ps = read_ps(costs, "wait", 0);
	}
}

static int
read_job(struct weir_sim_model *model, const struct weir_base_doc_value *own,
	const struct weir_base_doc_value *costs, uint32_t index)
{
	struct model_node *node = &model->graph.nodes[index];
	struct model_job *jobs =
		realloc(model->graph.jobs, (model->graph.nb_jobs + 1) * sizeof(*model->graph.jobs));
	struct model_job *job;

	if (jobs == NULL)
		return -ENOMEM;
	model->graph.jobs = jobs;
	node->job = model->graph.nb_jobs++;
	job = &jobs[node->job];
	*job = (struct model_job){
		.name = weir_base_doc_name(own),
		.node = index,
		.follower = SIM_NONE,
		.to = read_to(model, own),
		.slice_ps = read_ps(own, "slice", SIM_JOB_SLICE_PS),
		.capacity = sim_doc_drops(model, own) ? read_u32(own, "packets", JOB_PACKETS)
						      : UINT32_MAX,
	};
	read_work(model, own, costs, job);
	node->queue = model->nb_queues;
	if (add_queue(model, own, index) < 0)
		return -ENOMEM;
	return sim_doc_reason(model, &job->reason, "jobs_full of %s", job->name);
}

bool
sim_doc_drops(const struct weir_sim_model *model, const struct weir_base_doc_value *own)
{
	const struct weir_base_doc_value *on_full = weir_base_doc_get(own, "on_full");
	uint32_t i;

	if (on_full != NULL)
		return weir_base_doc_u64(on_full) == 0;
	for (i = 0; i < model->graph.nb_ports; i++)
		if (model->graph.ports[i].is_polled && model->graph.ports[i].is_device)
			return true;
	return false;
}

/* What finds a queue's capacity full is dropped. */
static void
check_no_wait(struct weir_sim_model *model, const struct weir_base_doc_value *own, uint32_t queue)
{
	const struct weir_base_doc_value *on_full = weir_base_doc_get(own, "on_full");

	if (queue != SIM_NONE && model->queues[queue].capacity != SIM_NONE && on_full != NULL &&
		weir_base_doc_u64(on_full) != 0)
		weir_base_doc_error_add(model->doc, on_full,
			"waiting for room in a queue is not simulated, and '%s' has a 'capacity'; "
			"expected 'drop', or none",
			model->queues[queue].name);
}

int
sim_doc_read_events(struct weir_sim_model *model, const struct weir_base_doc_value *own,
	const struct weir_base_doc_value *costs, uint32_t index)
{
	struct model_node *node = &model->graph.nodes[index];

	node->queue = node->job = SIM_NONE;
	switch (node->role) {
	case WEIR_BASE_NODE_BRINGS:
		read_brought(model, own, index);
		return 0;
	case WEIR_BASE_NODE_SENDS:
		node->queue = read_to(model, own);
		check_no_wait(model, own, node->queue);
		node->waits = !sim_doc_drops(model, own);
		return 0;
	case WEIR_BASE_NODE_WORKS:
		return read_job(model, own, costs, index);
	default:
		return 0;
	}
}
