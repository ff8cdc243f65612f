/* SPDX-License-Identifier: BSD-3-Clause */
/* Replications of a model, by several threads: each takes the next one that nobody has. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define TIME_MAX_PS    (UINT64_C(1) << 62)
#define EVENTS_AT_ONCE (UINT64_C(1) << 20)

/* What the threads share. Rows of the result belong to whom took the replication; all else is under the lock. */
struct team {
	const struct weir_sim_model *model;
	const struct weir_sim_param *param;
	struct weir_sim_result *result;
	pthread_mutex_t lock;
	unsigned int next, finished;
	uint64_t events; /* of those that are finished */
	bool *is_finished;
	bool is_stopped; /* progress() said so */
	int error;
};

static bool
param_is_valid(const struct weir_sim_param *param)
{
	return param->nb_replications > 0 && param->duration_ps <= TIME_MAX_PS &&
	       param->warmup_ps < param->duration_ps && param->confidence > 0 &&
	       param->confidence < 1;
}

/* Tell how far it is. @return whether to go on */
static bool
tell(struct team *team, const struct sim *sim)
{
	const struct weir_sim_param *const param = team->param;
	struct weir_sim_progress progress = {.nb_replications = param->nb_replications};
	bool go_on;

	pthread_mutex_lock(&team->lock);
	progress.replication = team->finished;
	progress.events = team->events + sim->nb_events;
	progress.now_ps = sim->now_ps;
	progress.done = (team->finished + (double)sim->now_ps / (double)param->duration_ps) /
			param->nb_replications;
	if (param->progress != NULL && !team->is_stopped && !param->progress(param->arg, &progress))
		team->is_stopped = true;
	go_on = !team->is_stopped && team->error == 0;
	pthread_mutex_unlock(&team->lock);
	return go_on;
}

/* Up to a time. @return false: it is not to go on */
static bool
run_until(struct team *team, struct sim *sim, uint64_t end_ps)
{
	while (sim_engine_run(sim, end_ps, EVENTS_AT_ONCE))
		if (!tell(team, sim))
			return false;
	return true;
}

/* One replication from its beginning to its end. @return whether it came there */
static bool
run_sim(struct team *team, struct sim *sim)
{
	const struct weir_sim_param *const param = team->param;

	if (param->warmup_ps > 0) {
		/* What happens just then belongs to what is counted. */
		if (!run_until(team, sim, param->warmup_ps - 1))
			return false;
		sim->now_ps = param->warmup_ps;
		sim_restart_statistics(sim);
	}
	if (param->nb_packets > 0)
		sim->nb_left = param->nb_packets;
	if (!run_until(team, sim, param->duration_ps) || sim->error < 0)
		return false;
	sim_check(sim);
	return sim->error == 0;
}

static void
run_one(struct team *team, unsigned int index)
{
	struct sim *sim = sim_new(team->model, team->param->seed, index);
	const bool is_finished = sim != NULL && run_sim(team, sim);

	if (is_finished) {
		sim_metrics_fill(
			sim, team->result->values + (size_t)index * team->model->nb_metrics);
		team->result->replications[index] = (struct weir_sim_replication){
			sim->fingerprint, sim->nb_events, sim->now_ps, sim->broken};
	}
	pthread_mutex_lock(&team->lock);
	if (is_finished) {
		team->is_finished[index] = true;
		team->finished++;
		team->events += sim->nb_events;
	} else if (sim == NULL || sim->error < 0) {
		team->error = sim == NULL ? -ENOMEM : sim->error;
	}
	pthread_mutex_unlock(&team->lock);
	sim_free(sim);
}

static void *
run_some(void *arg)
{
	struct team *team = arg;

	for (;;) {
		unsigned int index;

		pthread_mutex_lock(&team->lock);
		index = team->is_stopped || team->error < 0 ? team->param->nb_replications
							    : team->next++;
		pthread_mutex_unlock(&team->lock);
		if (index >= team->param->nb_replications)
			return NULL;
		run_one(team, index);
	}
}

/* The caller is one of them; it does the work alone where no other thread can be had. */
static void
run_team(struct team *team)
{
	const struct weir_sim_param *const param = team->param;
	unsigned int wanted = param->nb_threads, nb = 0;
	pthread_t *threads;

	if (wanted > param->nb_replications)
		wanted = param->nb_replications;
	threads = calloc(wanted + 1, sizeof(*threads));
	while (threads != NULL && nb + 1 < wanted &&
		pthread_create(&threads[nb], NULL, run_some, team) == 0)
		nb++;
	run_some(team);
	while (nb > 0)
		pthread_join(threads[--nb], NULL);
	free(threads);
}

/* Rows of what is finished, without gaps, in the order of replications. */
static void
gather(const struct team *team)
{
	struct weir_sim_result *const result = team->result;
	const size_t row = result->nb_metrics;
	unsigned int i;

	for (i = 0; i < team->param->nb_replications; i++) {
		if (!team->is_finished[i])
			continue;
		memmove(result->values + result->nb_replications * row, result->values + i * row,
			row * sizeof(double));
		result->replications[result->nb_replications++] = result->replications[i];
		result->events += result->replications[result->nb_replications - 1].events;
		result->fingerprint =
			(result->fingerprint ^
				result->replications[result->nb_replications - 1].fingerprint) *
			0x100000001b3ull;
	}
	result->interrupted = team->is_stopped;
}

int
weir_sim_run(const struct weir_sim_model *model, const struct weir_sim_param *param,
	struct weir_sim_result *result)
{
	struct team team = {.model = model,
		.param = param,
		.result = result,
		.lock = PTHREAD_MUTEX_INITIALIZER};

	*result = (struct weir_sim_result){.nb_metrics = model->nb_metrics};
	if (!param_is_valid(param))
		return -EINVAL;
	result->replications = calloc(param->nb_replications, sizeof(*result->replications));
	result->values = calloc((size_t)param->nb_replications * model->nb_metrics, sizeof(double));
	team.is_finished = calloc(param->nb_replications, sizeof(bool));
	if (result->replications == NULL || result->values == NULL || team.is_finished == NULL) {
		free(team.is_finished);
		return -ENOMEM;
	}
	run_team(&team);
	gather(&team);
	free(team.is_finished);
	return team.error;
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
