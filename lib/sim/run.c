/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replications of a model, by several threads: each takes the next one that nobody has.
 *
 * The result takes replications in their order, whoever is done first, and no more of them once it is precise enough: so it
 * does not depend on how many threads there are.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "replication.h"

/* An estimate's own precision is not worth anything before. */
#define LOOK_FIRST 10

/* What the threads share. Rows of the result belong to whom took the replication; all else is under the lock. */
struct team {
	const struct weir_sim_model *model;
	const struct weir_sim_param *param;
	struct weir_sim_result *result;
	pthread_mutex_t lock;
	unsigned int nb_most, nb_expected; /* replications */
	unsigned int nb_pilots,
		pilots; /* replications before these, and how many of them are done */
	unsigned int next, finished;
	unsigned int nb_taken; /* by the result: the first ones, without gaps */
	unsigned int look_at;  /* how many that must be before their precision is looked at */
	uint64_t events;       /* of those that are finished */
	unsigned int *nb_rows; /* per replication; 0: not finished */
	bool is_stopped;       /* progress() said so */
	bool is_broken;        /* the model went wrong: it would again */
	unsigned int fault_of; /* replication of result->fault */
	int error;
};

static bool
param_is_valid(const struct weir_sim_model *model, const struct weir_sim_param *param)
{
	return param->nb_replications > 0 && param->duration_ps <= SIM_TIME_END_PS &&
	       param->warmup_ps < param->duration_ps &&
	       (param->duration_ps - param->warmup_ps) / sim_batches(param) > 0 &&
	       param->nb_inside_max <= SIM_PACKETS_MAX &&
	       (param->nb_packets == 0 || param->nb_packets >= sim_batches(param)) &&
	       param->confidence > 0 && param->confidence < 1 && param->precision >= 0 &&
	       (param->precision == 0 || param->precision_metric < model->nb_metrics);
}

/* Is there anything left to do? Under the lock. */
static bool
goes_on(const struct team *team)
{
	return !team->is_stopped && !team->is_broken && !team->result->is_precise &&
	       team->error == 0;
}

/* Tell how far it is. @return whether to go on */
static bool
tell(void *arg, const struct sim *sim, double done)
{
	struct team *const team = arg;
	const struct weir_sim_param *const param = team->param;
	struct weir_sim_progress progress = {.now_ps = sim->now_ps};
	bool go_on;

	pthread_mutex_lock(&team->lock);
	progress.replication = team->finished;
	progress.nb_replications = team->nb_expected;
	progress.events = team->events + sim->nb_events;
	progress.done = fmin(
		(team->pilots + team->finished + done) / (team->nb_pilots + team->nb_expected), 1);
	if (param->progress != NULL && goes_on(team) && !param->progress(param->arg, &progress))
		team->is_stopped = true;
	go_on = goes_on(team);
	pthread_mutex_unlock(&team->lock);
	return go_on;
}

/* How many replications it will take, from what is known of the spread: the interval shrinks with the root of their number. */
static unsigned int
expect(const struct team *team, double relative)
{
	const double missing = relative / team->param->precision;
	const double nb = team->nb_taken * missing * missing;

	if (!(nb < team->nb_most))
		return team->nb_most;
	return nb > team->nb_taken ? (unsigned int)nb : team->nb_taken;
}

/* Precise enough? Not after each one: with many it would be looked at more than it is worked on. */
static void
look(struct team *team)
{
	const struct weir_sim_param *const param = team->param;
	struct weir_sim_estimate estimate;
	double relative;

	if (param->precision == 0 ||
		(team->nb_taken < team->look_at && team->nb_taken < team->nb_most))
		return;
	team->look_at = team->nb_taken + 1 + team->nb_taken / 16;
	estimate =
		weir_sim_result_estimate(team->result, param->precision_metric, param->confidence);
	relative = estimate.half_width / fabs(estimate.mean); /* no number, of nothing but 0 */
	team->result->is_precise = relative <= param->precision;
	team->nb_expected = expect(team, relative);
}

/* The result gets a replication's rows, behind those that it has. */
static void
take(struct team *team, unsigned int index)
{
	struct weir_sim_result *const result = team->result;
	const size_t row = result->nb_metrics;
	const struct weir_sim_replication one = result->replications[index];

	memmove(result->values + result->nb_rows * row,
		result->values + (size_t)index * sim_batches(team->param) * row,
		team->nb_rows[index] * row * sizeof(double));
	result->nb_rows += team->nb_rows[index];
	result->replications[result->nb_replications++] = one;
	result->events += one.events;
	team->is_broken = one.is_models_fault;
	result->fingerprint = (result->fingerprint ^ one.fingerprint) * 0x100000001b3ull;
}

/* Under the lock. */
static void
take_in_order(struct team *team)
{
	while (!team->is_broken && !team->result->is_precise && team->nb_taken < team->nb_most &&
		team->nb_rows[team->nb_taken] > 0) {
		take(team, team->nb_taken++);
		look(team);
	}
}

/*
 * Under the lock: words that outlive the replication. A model that goes wrong ends the run, so that of all those the first one
 * is told of.
 */
static const char *
keep_fault(struct team *team, unsigned int index, const struct sim *sim)
{
	char *fault;

	if (!sim->is_models_fault)
		return sim->broken;
	if (team->result->fault != NULL && index > team->fault_of)
		return "";
	fault = strdup(sim->broken);
	if (fault == NULL) {
		team->error = -ENOMEM;
		return "";
	}
	free(team->result->fault);
	team->result->fault = fault;
	team->fault_of = index;
	return fault;
}

/* Under the lock: what cannot be written ends the run. Of two that are told the first one is kept. */
static void
keep_error(struct weir_sim_result *result, struct sim_trace_error *error)
{
	if (result->error == NULL) {
		result->error = error->words;
		result->error_at = error->at;
	} else {
		free(error->words);
	}
}

static void
run_one(struct team *team, unsigned int index)
{
	struct sim_trace_error trace_error = {.words = NULL};
	struct weir_sim_result *const result = team->result;
	struct sim *sim = sim_new(team->model, team->param->seed, index);
	unsigned int nb_rows = 0;

	/* Short ones would never ask; before the first there is nothing to tell. */
	if (sim != NULL && index > 0 && !tell(team, sim, 0)) {
		sim_free(sim);
		return;
	}
	/* Traces are of the first one. */
	if (sim != NULL && index == 0 && !sim_probes_open(sim, &trace_error))
		sim->error = -EIO;
	else if (sim != NULL)
		nb_rows = sim_replicate(sim, team->param,
			result->values +
				(size_t)index * sim_batches(team->param) * result->nb_metrics,
			tell, team);
	if (sim != NULL && nb_rows == 0)
		sim_probes_tell_cut(sim);
	if (sim != NULL && !sim_probes_close(sim, &trace_error)) {
		sim->error = -EIO;
		nb_rows = 0;
	}
	pthread_mutex_lock(&team->lock);
	if (nb_rows > 0) {
		result->replications[index] =
			(struct weir_sim_replication){sim->fingerprint, sim->nb_events, sim->now_ps,
				keep_fault(team, index, sim), sim->is_models_fault};
		team->nb_rows[index] = nb_rows;
		team->finished++;
		team->events += sim->nb_events;
		take_in_order(team);
	} else if (sim == NULL || sim->error < 0) {
		team->error = sim == NULL ? -ENOMEM : sim->error;
	}
	keep_error(result, &trace_error);
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
		index = goes_on(team) ? team->next++ : team->nb_most;
		pthread_mutex_unlock(&team->lock);
		if (index >= team->nb_most)
			return NULL;
		run_one(team, index);
	}
}

/* The caller is one of them; it does the work alone where no other thread can be had. */
static void
run_team(struct team *team)
{
	unsigned int wanted = team->param->nb_threads, nb = 0;
	pthread_t *threads;

	if (wanted > team->nb_most)
		wanted = team->nb_most;
	threads = calloc(wanted + 1, sizeof(*threads));
	while (threads != NULL && nb + 1 < wanted &&
		pthread_create(&threads[nb], NULL, run_some, team) == 0)
		nb++;
	run_some(team);
	while (nb > 0)
		pthread_join(threads[--nb], NULL);
	free(threads);
}

/* What was ended before its time leaves gaps. */
static void
take_the_rest(struct team *team)
{
	for (; !team->is_broken && !team->result->is_precise && team->nb_taken < team->nb_most;
		team->nb_taken++)
		if (team->nb_rows[team->nb_taken] > 0)
			take(team, team->nb_taken);
	team->result->interrupted = team->is_stopped;
}

/* Before the replications, which leave it out. @return whether they are to be run */
static bool
find_warmup(struct team *team, struct weir_sim_param *param)
{
	struct sim_warmup found;
	int error;

	team->nb_pilots = sim_pilots(param);
	error = sim_find_warmup(team->model, param, tell, team, &found);
	team->pilots = team->nb_pilots;
	if (error < 0 && error != -ECANCELED) {
		team->error = error;
		return false;
	}
	param->warmup_ps = found.ps;
	team->result->has_no_steady_end = !found.is_found;
	return error == 0;
}

int
weir_sim_run(const struct weir_sim_model *model, const struct weir_sim_param *asked,
	struct weir_sim_result *result)
{
	struct sim_trace_error trace_error = {.words = NULL};
	struct weir_sim_param param = *asked;
	struct team team = {.model = model,
		.param = &param,
		.result = result,
		.lock = PTHREAD_MUTEX_INITIALIZER};

	*result = (struct weir_sim_result){.nb_metrics = model->nb_metrics};
	if (param.finds_warmup)
		param.warmup_ps = 0;
	if (!param_is_valid(model, &param))
		return -EINVAL;
	if (!sim_probes_check(model, &trace_error)) {
		keep_error(result, &trace_error);
		return -EIO;
	}
	team.look_at = param.nb_replications > LOOK_FIRST ? param.nb_replications : LOOK_FIRST;
	team.nb_most = param.nb_replications;
	if (param.precision > 0 && param.nb_replications_max > team.nb_most)
		team.nb_most = param.nb_replications_max;
	team.nb_expected = team.nb_most;
	result->replications = calloc(team.nb_most, sizeof(*result->replications));
	result->values = calloc((size_t)team.nb_most * sim_batches(&param),
		(size_t)model->nb_metrics * sizeof(double));
	team.nb_rows = calloc(team.nb_most, sizeof(*team.nb_rows));
	if (result->replications == NULL || result->values == NULL || team.nb_rows == NULL) {
		free(team.nb_rows);
		return -ENOMEM;
	}
	if (!param.finds_warmup || find_warmup(&team, &param))
		run_team(&team);
	result->warmup_ps = param.warmup_ps;
	take_the_rest(&team);
	free(team.nb_rows);
	return team.error;
}

void
weir_sim_result_free(struct weir_sim_result *result)
{
	free(result->replications);
	free(result->values);
	free(result->fault);
	free(result->error);
	*result = (struct weir_sim_result){0};
}

struct weir_sim_estimate
weir_sim_result_estimate(
	const struct weir_sim_result *result, unsigned int column, double confidence)
{
	return weir_sim_estimate(
		result->values + column, result->nb_metrics, result->nb_rows, confidence);
}
