/* SPDX-License-Identifier: BSD-3-Clause */
/* Replications of a model. */
#include <stdlib.h>

#include "sim.h"

#define TIME_MAX_PS    (UINT64_C(1) << 62)
#define EVENTS_AT_ONCE (UINT64_C(1) << 20)

static bool
param_is_valid(const struct weir_sim_param *param)
{
	return param->nb_replications > 0 && param->duration_ps <= TIME_MAX_PS &&
	       param->warmup_ps < param->duration_ps && param->confidence > 0 &&
	       param->confidence < 1;
}

/* Tell how far it is. @return whether to go on */
static bool
tell(const struct weir_sim_param *param, const struct weir_sim_result *result,
	const struct sim *sim)
{
	struct weir_sim_progress progress = {
		.replication = result->nb_replications,
		.nb_replications = param->nb_replications,
		.events = result->events + sim->nb_events,
		.now_ps = sim->now_ps,
	};

	if (param->progress == NULL)
		return true;
	progress.done =
		(result->nb_replications + (double)sim->now_ps / (double)param->duration_ps) /
		param->nb_replications;
	return param->progress(param->arg, &progress);
}

/* Up to a time. @return false: progress() ended it */
static bool
run_until(const struct weir_sim_param *param, const struct weir_sim_result *result, struct sim *sim,
	uint64_t end_ps)
{
	while (sim_engine_run(sim, end_ps, EVENTS_AT_ONCE))
		if (!tell(param, result, sim))
			return false;
	return true;
}

static int
run_one(const struct weir_sim_model *model, const struct weir_sim_param *param,
	struct weir_sim_result *result)
{
	struct sim *sim = sim_new(model, param->seed, result->nb_replications);
	int error;

	if (sim == NULL)
		return -ENOMEM;
	if (param->warmup_ps > 0) {
		/* What happens just then belongs to what is counted. */
		result->interrupted = !run_until(param, result, sim, param->warmup_ps - 1);
		sim->now_ps = param->warmup_ps;
		sim_restart_statistics(sim);
	}
	if (param->nb_packets > 0)
		sim->nb_left = param->nb_packets;
	if (!result->interrupted)
		result->interrupted = !run_until(param, result, sim, param->duration_ps);
	if (sim->error == 0 && !result->interrupted) {
		sim_check(sim);
		sim_metrics_fill(
			sim, result->values + (size_t)result->nb_replications * model->nb_metrics);
		result->replications[result->nb_replications++] = (struct weir_sim_replication){
			sim->fingerprint, sim->nb_events, sim->now_ps, sim->broken};
		result->events += sim->nb_events;
		result->fingerprint = (result->fingerprint ^ sim->fingerprint) * 0x100000001b3ull;
	}
	error = sim->error;
	sim_free(sim);
	return error;
}

int
weir_sim_run(const struct weir_sim_model *model, const struct weir_sim_param *param,
	struct weir_sim_result *result)
{
	unsigned int i;
	int error = 0;

	*result = (struct weir_sim_result){.nb_metrics = model->nb_metrics};
	if (!param_is_valid(param))
		return -EINVAL;
	result->replications = calloc(param->nb_replications, sizeof(*result->replications));
	result->values = calloc((size_t)param->nb_replications * model->nb_metrics, sizeof(double));
	if (result->replications == NULL || result->values == NULL)
		return -ENOMEM;
	for (i = 0; i < param->nb_replications && error == 0 && !result->interrupted; i++)
		error = run_one(model, param, result);
	return error;
}

void
weir_sim_result_free(struct weir_sim_result *result)
{
	free(result->replications);
	free(result->values);
	*result = (struct weir_sim_result){0};
}

struct weir_sim_estimate
weir_sim_result_estimate(
	const struct weir_sim_result *result, unsigned int column, double confidence)
{
	return weir_sim_estimate(
		result->values + column, result->nb_metrics, result->nb_replications, confidence);
}
