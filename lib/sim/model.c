/* SPDX-License-Identifier: BSD-3-Clause */
/* Making and freeing a model. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doc/doc_read.h"
#include "quantities.h"

static inline void
set_bit(uint64_t *words, uint32_t bit)
{
	words[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* Lanes by priority, those of one priority in the order of the file. */
static void
number_lanes(struct weir_sim_model *model)
{
	uint32_t priority, i, j, lane = 0, begin;

	for (priority = 0; priority < SIM_PRIORITIES; priority++) {
		begin = lane;
		for (i = 0; i < model->nb_queues; i++) {
			if (model->queues[i].priority != priority)
				continue;
			model->queues[i].first_lane = lane;
			for (j = 0; j < model->queues[i].nb_flows; j++)
				model->lane_queue[lane++] = i;
		}
		for (j = begin; j < lane; j++)
			model->lane_priority_end[j] = lane;
	}
}

static bool
serves_lane(const struct weir_sim_model *model, uint32_t core, uint32_t lane)
{
	const uint64_t *const lanes =
		model->kind_lanes + (size_t)model->core_kind[core] * model->lane_words;

	return lanes[lane / 64] >> lane % 64 & 1;
}

static void
assign_cores(struct weir_sim_model *model)
{
	uint32_t kind, i, group;

	for (kind = 0; kind < model->nb_kinds; kind++) {
		for (i = 0; i < model->cores[kind].count; i++)
			model->core_kind[model->cores[kind].first + i] = kind;
		for (group = 0; group < model->nb_groups; group++) {
			if (model->cores[kind].worker != SIM_NONE ||
				!sim_serves(&model->cores[kind], group))
				continue;
			for (i = 0; i < model->cores[kind].count; i++)
				set_bit(model->group_cores + (size_t)group * model->core_words,
					model->cores[kind].first + i);
		}
		for (i = 0; i < model->nb_lanes; i++)
			if (sim_serves_queue(
				    &model->cores[kind], &model->queues[model->lane_queue[i]]))
				set_bit(model->kind_lanes + (size_t)kind * model->lane_words, i);
	}
}

/* Lanes belong to the cores that serve them in turn, in the order of the file. */
static void
assign_lanes(struct weir_sim_model *model)
{
	uint32_t number = 0, i, j, core, nb, left;

	for (i = 0; i < model->nb_queues; i++)
		for (j = 0; j < model->queues[i].nb_flows; j++, number++) {
			const uint32_t lane = model->queues[i].first_lane + j;

			for (nb = 0, core = 0; core < model->nb_cores; core++)
				nb += serves_lane(model, core, lane);
			left = nb > 0 ? number % nb : 0;
			for (core = 0; nb > 0 && (left > 0 || !serves_lane(model, core, lane));
				core++)
				left -= serves_lane(model, core, lane);
			model->lane_core[lane] = nb > 0 ? core : SIM_NONE;
		}
}

/* Where there are jobs, each event may be a time slice. */
static void
set_rounds(struct weir_sim_model *model)
{
	uint32_t i, j;

	for (i = 0; i < model->graph.nb_workers; i++) {
		struct model_worker *worker = &model->graph.workers[i];
		const struct model_cores *kind = &model->cores[model->core_kind[worker->core]];

		worker->round = model->graph.burst < WEIR_BASE_ROUND_MAX ? model->graph.burst
									 : WEIR_BASE_ROUND_MAX;
		for (j = 0; j < model->nb_queues; j++)
			if (model->queues[j].job != SIM_NONE &&
				sim_serves_queue(kind, &model->queues[j]))
				worker->round = 1;
	}
}

int
sim_model_finish(struct weir_sim_model *model)
{
	model->is_plain = !model->has_forks && model->nb_memories == 0 && !model->is_limited;
	model->core_words = (model->nb_cores + 63) / 64;
	model->lane_words = (model->nb_lanes + 63) / 64;
	model->lane_queue = calloc(model->nb_lanes + 1, sizeof(uint32_t));
	model->lane_priority_end = calloc(model->nb_lanes + 1, sizeof(uint32_t));
	model->core_kind = calloc(model->nb_cores + 1, sizeof(uint32_t));
	model->group_cores =
		calloc((size_t)model->nb_groups * model->core_words + 1, sizeof(uint64_t));
	model->kind_lanes =
		calloc((size_t)model->nb_kinds * model->lane_words + 1, sizeof(uint64_t));
	if (model->dispatch.is_lenient && model->dispatch.slack_ps > 0)
		model->lane_core = calloc(model->nb_lanes + 1, sizeof(uint32_t));
	if (model->lane_queue == NULL || model->lane_priority_end == NULL ||
		(model->lane_core == NULL && model->dispatch.is_lenient &&
			model->dispatch.slack_ps > 0) ||
		model->core_kind == NULL || model->group_cores == NULL || model->kind_lanes == NULL)
		return -ENOMEM;
	model->dispatch.is_delayed = model->dispatch.latency_ps > 0 ||
				     model->dispatch.interval_ps > 0 ||
				     model->dispatch.idle_sleep_ps > 0;
	number_lanes(model);
	assign_cores(model);
	if (model->lane_core != NULL)
		assign_lanes(model);
	set_rounds(model);
	return sim_metrics_make(model);
}

static bool
has_errors(const struct weir_sim_model *model)
{
	unsigned int nb_errors;

	weir_base_doc_errors(model->doc, &nb_errors);
	return nb_errors > 0;
}

/* Cores have the groups that serve queues; queues and units are what all else names. */
static int
read_model(struct weir_sim_model *model)
{
	const struct weir_base_doc_value *root = weir_base_doc_root(model->doc);
	const struct weir_base_doc_value *application = weir_base_doc_get(root, "application");
	const struct weir_base_doc_value *platform = weir_base_doc_get(root, "platform");
	const struct weir_base_doc_value *run = weir_base_doc_get(root, "run");

	if (!sim_doc_is_in_order(model))
		return -EINVAL;
	if (sim_doc_read_scheduler(model, root) < 0 ||
		sim_doc_read_cores(model, weir_base_doc_get(platform, "cores")) < 0 ||
		sim_doc_read_queues(model, weir_base_doc_get(application, "queues")) < 0 ||
		sim_doc_read_graph(model, root) < 0 ||
		sim_doc_read_memories(model, weir_base_doc_get(platform, "memories")) < 0 ||
		sim_doc_read_dispatch(model, weir_base_doc_get(platform, "dispatch")) < 0 ||
		sim_doc_read_units(model, weir_base_doc_get(platform, "units")) < 0 ||
		sim_doc_read_objects(model, weir_base_doc_get(application, "objects")) < 0 ||
		sim_doc_read_streams(model,
			weir_base_doc_get(weir_base_doc_get(root, "traffic"), "streams")) < 0 ||
		sim_doc_read_links(model, root) < 0)
		return -ENOMEM;
	if (sim_doc_read_processes(model, root) < 0 ||
		sim_doc_read_requests(model, application) < 0)
		return -ENOMEM;
	if (sim_doc_read_probes(
		    model, weir_base_doc_get(weir_base_doc_get(run, "simulation"), "probes")) < 0)
		return -ENOMEM;
	sim_doc_read_run(model, weir_base_doc_get(run, "simulation"));
	if (sim_doc_check(model) < 0)
		return -ENOMEM;
	if (has_errors(model))
		return -EINVAL;
	if (sim_model_finish(model) < 0)
		return -ENOMEM;
	sim_doc_read_precision(model, weir_base_doc_get(run, "simulation"));
	return has_errors(model) ? -EINVAL : 0;
}

struct weir_sim_model *
weir_sim_model_read(struct weir_base_doc *doc)
{
	struct weir_sim_model *model = calloc(1, sizeof(*model));

	if (model == NULL)
		return NULL;
	model->doc = doc;
	if (weir_base_doc_root(doc) == NULL || has_errors(model) || read_model(model) < 0) {
		weir_sim_model_free(model);
		return NULL;
	}
	return model;
}

static void
free_graph(struct model_graph *graph)
{
	uint32_t i;

	for (i = 0; graph->workers != NULL && i < graph->nb_workers; i++)
		free(graph->workers[i].name);
	for (i = 0; i < graph->nb_rings; i++)
		free(graph->rings[i].name);
	for (i = 0; i < graph->nb_nodes; i++)
		free(graph->nodes[i].name);
	for (i = 0; graph->ports != NULL && i < graph->nb_ports; i++)
		free(graph->ports[i].made_name);
	free(graph->ports);
	free(graph->rx_nodes);
	free(graph->rings);
	free(graph->jobs);
	free(graph->polled);
	free(graph->workers);
	free(graph->nodes);
	free(graph->nexts);
}

void
weir_sim_model_free(struct weir_sim_model *model)
{
	uint32_t i;

	if (model == NULL)
		return;
	for (i = 0; model->streams != NULL && i < model->nb_streams; i++) {
		free(model->streams[i].made_name);
		weir_sim_table_free(&model->streams[i].intervals);
		weir_sim_table_free(&model->streams[i].size_table);
		free(model->streams[i].capture.times_ps);
		free(model->streams[i].capture.sizes);
		free(model->streams[i].capture.frames);
	}
	free_graph(&model->graph);
	free(model->streams);
	free(model->links);
	free(model->faults);
	free(model->requests);
	free(model->asked);
	for (i = 0; i < model->nb_followers; i++)
		free(model->followers[i].name);
	for (i = 0; i < model->nb_functions; i++)
		free(model->functions[i].name);
	free(model->functions);
	for (i = 0; i < model->nb_finders; i++)
		free(model->finders[i].name);
	free(model->finders);
	free(model->followers);
	free(model->processes);
	free(model->probes);
	free(model->queues);
	free(model->objects);
	free(model->steps);
	free(model->targets);
	free(model->cores);
	free(model->lane_queue);
	free(model->lane_priority_end);
	free(model->lane_core);
	free(model->core_kind);
	free(model->group_cores);
	free(model->kind_lanes);
	for (i = 0; i < model->nb_attributes; i++)
		free(model->attributes[i].name);
	for (i = 0; i < model->nb_reasons; i++)
		free(model->reasons[i]);
	for (i = 0; model->pairs != NULL && i < model->nb_streams * model->nb_reasons; i++)
		free(model->pairs[i]);
	for (i = 0; model->core_names != NULL && i < model->nb_cores; i++)
		free(model->core_names[i]);
	for (i = 0; i < model->nb_levels; i++)
		free(model->levels[i].name);
	free(model->memories);
	free(model->levels);
	free(model->units);
	free(model->given);
	free(model->weights);
	free(model->attributes);
	free(model->reasons);
	free(model->pairs);
	free(model->core_names);
	sim_arrays_free(model);
	free(model->metrics);
	free(model);
}

void
weir_sim_model_param(const struct weir_sim_model *model, struct weir_sim_param *param)
{
	*param = model->param;
}

const struct weir_sim_metric *
weir_sim_model_metrics(const struct weir_sim_model *model, unsigned int *nb_metrics)
{
	*nb_metrics = model->nb_metrics;
	return model->metrics;
}

int
weir_sim_model_metric_find(const struct weir_sim_model *model, enum weir_sim_scope scope,
	const char *name, const char *quantity)
{
	unsigned int i;

	for (i = 0; i < model->nb_metrics; i++)
		if (model->metrics[i].scope == scope && strcmp(model->metrics[i].name, name) == 0 &&
			strcmp(model->metrics[i].quantity, quantity) == 0)
			return (int)i;
	return -1;
}
