/* SPDX-License-Identifier: BSD-3-Clause */
/* What a replication tells: of each thing its quantities, a column each. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "quantities.h"

const char *
weir_sim_scope_name(enum weir_sim_scope scope)
{
	static const char *const names[SIM_SCOPES] = {[WEIR_SIM_STREAM] = "streams",
		[WEIR_SIM_QUEUE] = "queues",
		[WEIR_SIM_CORES] = "cores",
		[WEIR_SIM_CORE] = "each_core",
		[WEIR_SIM_UNIT] = "units",
		[WEIR_SIM_DROP] = "drops",
		[WEIR_SIM_PROBE] = "probes",
		[WEIR_SIM_MEMORY] = "memories",
		[WEIR_SIM_RING] = "rings",
		[WEIR_SIM_WORKER] = "workers",
		[WEIR_SIM_NODE] = "nodes",
		[WEIR_SIM_JOB] = "jobs",
		[WEIR_SIM_LINK] = "links",
		[WEIR_SIM_REQUEST] = "requests",
		[WEIR_SIM_PROCESS] = "processes"};

	return (unsigned int)scope < SIM_SCOPES ? names[scope] : NULL;
}

static const char *
thing_name(const struct weir_sim_model *model, enum weir_sim_scope scope, uint32_t index)
{
	const struct model_arrays *const arrays = &model->arrays[scope];

	if (index >= arrays->nb_things)
		return arrays->names[index - arrays->nb_things];
	switch (scope) {
	case WEIR_SIM_STREAM:
		return model->streams[index].name;
	case WEIR_SIM_QUEUE:
		return model->queues[index].name;
	case WEIR_SIM_CORES:
		return model->cores[index].name;
	case WEIR_SIM_UNIT:
		return model->units[index].name;
	case WEIR_SIM_PROBE:
		return model->probes[index].name;
	case WEIR_SIM_MEMORY:
		return model->levels[index].name;
	case WEIR_SIM_CORE:
		return model->core_names[index];
	case WEIR_SIM_RING:
		return model->graph.rings[index].name;
	case WEIR_SIM_WORKER:
		return model->graph.workers[index].name;
	case WEIR_SIM_NODE:
		return model->graph.nodes[index].name;
	case WEIR_SIM_JOB:
		return model->graph.jobs[index].name;
	case WEIR_SIM_LINK:
		return model->links[index].name;
	case WEIR_SIM_REQUEST:
		return model->requests[index].name;
	case WEIR_SIM_PROCESS:
		return model->followers[index].name;
	case WEIR_SIM_DROP:
		break;
	}
	return model->pairs[index];
}

/* What drops are called: the stream, the reason. */
static int
make_pairs(struct weir_sim_model *model)
{
	uint32_t stream, reason;

	model->pairs = calloc((size_t)model->nb_streams * model->nb_reasons + 1, sizeof(char *));
	if (model->pairs == NULL)
		return -ENOMEM;
	for (stream = 0; stream < model->nb_streams; stream++)
		for (reason = 0; reason < model->nb_reasons; reason++)
			if (asprintf(&model->pairs[stream * model->nb_reasons + reason], "%s: %s",
				    model->streams[stream].name, model->reasons[reason]) < 0)
				return -ENOMEM;
	return 0;
}

/* Cores of a kind have numbers. */
static int
name_cores(struct weir_sim_model *model)
{
	uint32_t i;

	model->core_names = calloc(model->nb_cores + 1, sizeof(char *));
	if (model->core_names == NULL)
		return -ENOMEM;
	for (i = 0; i < model->nb_cores; i++) {
		const struct model_cores *const kind = &model->cores[model->core_kind[i]];

		if (asprintf(&model->core_names[i], "%s.%u", kind->name, i - kind->first) < 0)
			return -ENOMEM;
	}
	return 0;
}

int
sim_metrics_make(struct weir_sim_model *model)
{
	uint32_t nb_things[SIM_SCOPES] = {
		[WEIR_SIM_STREAM] = model->nb_streams,
		[WEIR_SIM_QUEUE] = model->nb_queues,
		[WEIR_SIM_CORES] = model->nb_kinds,
		[WEIR_SIM_CORE] = model->nb_cores,
		[WEIR_SIM_UNIT] = model->nb_units,
		[WEIR_SIM_DROP] = model->nb_streams * model->nb_reasons,
		[WEIR_SIM_PROBE] = model->nb_probes,
		[WEIR_SIM_MEMORY] = model->nb_levels,
		[WEIR_SIM_RING] = model->graph.nb_rings,
		[WEIR_SIM_WORKER] = model->graph.nb_workers,
		[WEIR_SIM_NODE] = model->graph.nb_nodes,
		[WEIR_SIM_JOB] = model->graph.nb_jobs,
		[WEIR_SIM_LINK] = model->nb_links,
		[WEIR_SIM_REQUEST] = model->nb_requests,
		[WEIR_SIM_PROCESS] = model->nb_followers,
	};
	unsigned int scope, index, i, at = 0;

	if (make_pairs(model) < 0 || name_cores(model) < 0)
		return -ENOMEM;
	for (scope = 0; scope < SIM_SCOPES; scope++) {
		if (sim_arrays_make(model, (enum weir_sim_scope)scope, nb_things[scope]) < 0)
			return -ENOMEM;
		nb_things[scope] += model->arrays[scope].nb;
		model->nb_metrics += nb_things[scope] * sim_quantities((enum weir_sim_scope)scope);
	}
	model->metrics = calloc(model->nb_metrics + 1, sizeof(*model->metrics));
	if (model->metrics == NULL)
		return -ENOMEM;
	for (scope = 0; scope < SIM_SCOPES; scope++)
		for (index = 0; index < nb_things[scope]; index++)
			for (i = 0; i < sim_quantities((enum weir_sim_scope)scope); i++)
				model->metrics[at++] = (struct weir_sim_metric){
					(enum weir_sim_scope)scope, index,
					thing_name(model, (enum weir_sim_scope)scope, index),
					sim_quantity_name((enum weir_sim_scope)scope, i)};
	return 0;
}

void
sim_metrics_fill(struct sim *sim, double *values)
{
	const struct weir_sim_metric *metric = sim->model->metrics;
	unsigned int at = 0, i;

	sim_arrays_fill(sim);
	while (at < sim->model->nb_metrics) {
		const enum weir_sim_scope scope = metric[at].scope;
		const unsigned int index = metric[at].object, nb = sim_quantities(scope);

		for (i = 0; i < nb; i++)
			values[at++] = sim_quantity(sim, scope, index, i);
	}
}
