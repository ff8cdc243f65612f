/* SPDX-License-Identifier: BSD-3-Clause */
/* What a replication tells: a table of quantities per kind of thing. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

#define PS_PER_NS 1e3
#define PS_PER_S  1e12

/* A quantity of thing number `index`. */
typedef double (*quantity_get_t)(const struct sim *sim, uint32_t index);

struct quantity {
	const char *name;
	quantity_get_t get;
};

static inline uint64_t
span_ps(const struct sim *sim)
{
	return sim->now_ps - sim->window_ps;
}

static inline double
per_second(const struct sim *sim, uint64_t count)
{
	return span_ps(sim) > 0 ? (double)count * PS_PER_S / (double)span_ps(sim) : 0;
}

static inline double
share(uint64_t part, uint64_t all)
{
	return all > 0 ? (double)part / (double)all : NAN;
}

static inline double
percentile_ns(const struct weir_base_hist *hist, double percent)
{
	return (double)weir_base_hist_percentile(hist, percent) / PS_PER_NS;
}

/* Of the packets whose latency is of the class of a percentile: how long they were worked on, in the mean. */
static inline double
service_at_ns(const struct sim_stream *stream, double percent)
{
	const unsigned int class =
		weir_base_hist_index(weir_base_hist_percentile(&stream->latency_hist, percent));
	const uint64_t nb = stream->latency_hist.bucket[class];

	return nb > 0 ? (double)stream->service_of[class] / (double)nb / PS_PER_NS : 0;
}

/* Each is one expression of what it is called after. */
#define STREAM(name, expression)                                                                   \
	static double stream_##name(const struct sim *sim, uint32_t index)                         \
	{                                                                                          \
		const struct sim_stream *const stream = &sim->streams[index];                      \
                                                                                                   \
		return expression;                                                                 \
	}
#define QUEUE(name, expression)                                                                    \
	static double queue_##name(const struct sim *sim, uint32_t index)                          \
	{                                                                                          \
		const struct sim_queue *const queue = &sim->queues[index];                         \
                                                                                                   \
		return expression;                                                                 \
	}
#define CORES(name, expression)                                                                    \
	static double cores_##name(const struct sim *sim, uint32_t index)                          \
	{                                                                                          \
		const struct sim_kind *const kind = &sim->kinds[index];                            \
                                                                                                   \
		return expression;                                                                 \
	}

#define UNIT(name, expression)                                                                     \
	static double unit_##name(const struct sim *sim, uint32_t index)                           \
	{                                                                                          \
		const struct sim_unit *const unit = &sim->units[index];                            \
                                                                                                   \
		return expression;                                                                 \
	}

/* Of packets, if there were any: there is no number of none, and 0 would be taken for a measured one. */
#define STREAM_DELIVERED(name, expression) STREAM(name, stream->delivered > 0 ? (expression) : NAN)
#define QUEUE_TAKEN(name, expression)      QUEUE(name, queue->taken > 0 ? (expression) : NAN)
#define UNIT_TAKEN(name, expression)       UNIT(name, unit->taken > 0 ? (expression) : NAN)

STREAM(arrived, (double)stream->arrived)
STREAM(delivered, (double)stream->delivered)
STREAM(dropped, (double)stream->dropped)
STREAM(forked, (double)stream->forked)
STREAM(held, (double)stream->inside.value)
STREAM(offered_pps, per_second(sim, stream->arrived))
STREAM(delivered_pps, per_second(sim, stream->delivered))
STREAM(delivered_bps, 8 * per_second(sim, stream->delivered_bytes))
STREAM(loss, share(stream->dropped, stream->arrived))
STREAM(inside_mean, weir_sim_level_mean(&stream->inside, span_ps(sim)))
STREAM(inside_max, (double)stream->inside.max)
STREAM_DELIVERED(latency_mean, weir_sim_tally_mean(&stream->latency_ps) / PS_PER_NS)
STREAM_DELIVERED(latency_sd, weir_sim_tally_sd(&stream->latency_ps) / PS_PER_NS)
STREAM_DELIVERED(latency_min, (double)stream->latency_ps.min / PS_PER_NS)
STREAM_DELIVERED(latency_p50, percentile_ns(&stream->latency_hist, 50))
STREAM_DELIVERED(latency_p90, percentile_ns(&stream->latency_hist, 90))
STREAM_DELIVERED(latency_p99, percentile_ns(&stream->latency_hist, 99))
STREAM_DELIVERED(latency_p999, percentile_ns(&stream->latency_hist, 99.9))
STREAM_DELIVERED(latency_p9999, percentile_ns(&stream->latency_hist, 99.99))
STREAM_DELIVERED(latency_max, (double)stream->latency_ps.max / PS_PER_NS)
STREAM_DELIVERED(service_p50, service_at_ns(stream, 50))
STREAM_DELIVERED(service_p90, service_at_ns(stream, 90))
STREAM_DELIVERED(service_p99, service_at_ns(stream, 99))
STREAM_DELIVERED(service_p999, service_at_ns(stream, 99.9))
STREAM_DELIVERED(service_p9999, service_at_ns(stream, 99.99))
STREAM_DELIVERED(wait_p50, percentile_ns(&stream->latency_hist, 50) - service_at_ns(stream, 50))
STREAM_DELIVERED(wait_p90, percentile_ns(&stream->latency_hist, 90) - service_at_ns(stream, 90))
STREAM_DELIVERED(wait_p99, percentile_ns(&stream->latency_hist, 99) - service_at_ns(stream, 99))
STREAM_DELIVERED(
	wait_p999, percentile_ns(&stream->latency_hist, 99.9) - service_at_ns(stream, 99.9))
STREAM_DELIVERED(
	wait_p9999, percentile_ns(&stream->latency_hist, 99.99) - service_at_ns(stream, 99.99))
STREAM(reordered, (double)stream->reordered)
STREAM(reordering, share(stream->reordered, stream->delivered))
STREAM_DELIVERED(wait_mean, weir_sim_tally_mean(&stream->wait_ps) / PS_PER_NS)
STREAM_DELIVERED(service_mean, weir_sim_tally_mean(&stream->service_ps) / PS_PER_NS)

static const struct quantity stream_quantities[] = {
	{"arrived_packets", stream_arrived},
	{"delivered_packets", stream_delivered},
	{"dropped_packets", stream_dropped},
	{"held_packets", stream_held},
	{"forked_packets", stream_forked},
	{"offered_pps", stream_offered_pps},
	{"delivered_pps", stream_delivered_pps},
	{"delivered_bps", stream_delivered_bps},
	{"loss", stream_loss},
	{"inside_mean", stream_inside_mean},
	{"inside_max", stream_inside_max},
	{"latency_mean_ns", stream_latency_mean},
	{"latency_sd_ns", stream_latency_sd},
	{"latency_min_ns", stream_latency_min},
	{"latency_p50_ns", stream_latency_p50},
	{"latency_p90_ns", stream_latency_p90},
	{"latency_p99_ns", stream_latency_p99},
	{"latency_p999_ns", stream_latency_p999},
	{"latency_p9999_ns", stream_latency_p9999},
	{"latency_max_ns", stream_latency_max},
	{"wait_mean_ns", stream_wait_mean},
	{"service_mean_ns", stream_service_mean},
	{"latency_p50_wait_ns", stream_wait_p50},
	{"latency_p50_service_ns", stream_service_p50},
	{"latency_p90_wait_ns", stream_wait_p90},
	{"latency_p90_service_ns", stream_service_p90},
	{"latency_p99_wait_ns", stream_wait_p99},
	{"latency_p99_service_ns", stream_service_p99},
	{"latency_p999_wait_ns", stream_wait_p999},
	{"latency_p999_service_ns", stream_service_p999},
	{"latency_p9999_wait_ns", stream_wait_p9999},
	{"latency_p9999_service_ns", stream_service_p9999},
	{"reordered_packets", stream_reordered},
	{"reordering", stream_reordering},
};

QUEUE(arrived, (double)queue->arrived)
QUEUE(dropped, (double)queue->dropped)
QUEUE(loss, share(queue->dropped, queue->arrived))
QUEUE(length_mean, weir_sim_level_mean(&queue->length, span_ps(sim)))
QUEUE(length_max, (double)queue->length.max)
QUEUE_TAKEN(wait_mean, weir_sim_tally_mean(&queue->wait_ps) / PS_PER_NS)
QUEUE_TAKEN(wait_sd, weir_sim_tally_sd(&queue->wait_ps) / PS_PER_NS)
QUEUE_TAKEN(wait_p50, percentile_ns(&queue->wait_hist, 50))
QUEUE_TAKEN(wait_p90, percentile_ns(&queue->wait_hist, 90))
QUEUE_TAKEN(wait_p99, percentile_ns(&queue->wait_hist, 99))
QUEUE_TAKEN(wait_p999, percentile_ns(&queue->wait_hist, 99.9))
QUEUE_TAKEN(wait_p9999, percentile_ns(&queue->wait_hist, 99.99))
QUEUE_TAKEN(wait_max, (double)queue->wait_ps.max / PS_PER_NS)

static const struct quantity queue_quantities[] = {
	{"arrived_packets", queue_arrived},
	{"dropped_packets", queue_dropped},
	{"loss", queue_loss},
	{"length_mean", queue_length_mean},
	{"length_max", queue_length_max},
	{"wait_mean_ns", queue_wait_mean},
	{"wait_sd_ns", queue_wait_sd},
	{"wait_p50_ns", queue_wait_p50},
	{"wait_p90_ns", queue_wait_p90},
	{"wait_p99_ns", queue_wait_p99},
	{"wait_p999_ns", queue_wait_p999},
	{"wait_p9999_ns", queue_wait_p9999},
	{"wait_max_ns", queue_wait_max},
};

CORES(served, (double)kind->served)
CORES(busy_mean, weir_sim_level_mean(&kind->busy, span_ps(sim)))
CORES(busy_max, (double)kind->busy.max)
CORES(utilisation, weir_sim_level_mean(&kind->busy, span_ps(sim)) / sim->model->cores[index].count)

static const struct quantity cores_quantities[] = {
	{"served_packets", cores_served},
	{"busy_mean", cores_busy_mean},
	{"busy_max", cores_busy_max},
	{"utilisation", cores_utilisation},
};

UNIT(arrived, (double)unit->arrived)
UNIT(served, (double)unit->served)
UNIT(dropped, (double)unit->dropped)
UNIT(loss, share(unit->dropped, unit->arrived))
UNIT(length_mean, weir_sim_level_mean(&unit->length, span_ps(sim)))
UNIT(length_max, (double)unit->length.max)
UNIT_TAKEN(wait_mean, weir_sim_tally_mean(&unit->wait_ps) / PS_PER_NS)
UNIT_TAKEN(wait_max, (double)unit->wait_ps.max / PS_PER_NS)
UNIT(busy_mean, weir_sim_level_mean(&unit->busy, span_ps(sim)))
UNIT(utilisation,
	weir_sim_level_mean(&unit->busy, span_ps(sim)) / sim->model->units[index].nb_servers)

static const struct quantity unit_quantities[] = {
	{"arrived_packets", unit_arrived},
	{"served_packets", unit_served},
	{"dropped_packets", unit_dropped},
	{"loss", unit_loss},
	{"length_mean", unit_length_mean},
	{"length_max", unit_length_max},
	{"wait_mean_ns", unit_wait_mean},
	{"wait_max_ns", unit_wait_max},
	{"busy_mean", unit_busy_mean},
	{"utilisation", unit_utilisation},
};

#define LEVEL(name, expression)                                                                    \
	static double level_##name(const struct sim *sim, uint32_t index)                          \
	{                                                                                          \
		const struct sim_level *const level = &sim->levels[index];                         \
                                                                                                   \
		return expression;                                                                 \
	}

LEVEL(accesses, (double)level->accesses)
LEVEL(users_mean, weir_sim_level_mean(&level->users, span_ps(sim)))
LEVEL(users_max, (double)level->users.max)
LEVEL(held_mean, weir_sim_level_mean(&level->held, span_ps(sim)))
LEVEL(held_max, (double)level->held.max)

static const struct quantity level_quantities[] = {
	{"accesses", level_accesses},
	{"users_mean", level_users_mean},
	{"users_max", level_users_max},
	{"held_mean_bytes", level_held_mean},
	{"held_max_bytes", level_held_max},
};

static double
drop_packets(const struct sim *sim, uint32_t index)
{
	return (double)sim->drops[index];
}

static const struct quantity drop_quantities[] = {
	{"packets", drop_packets},
};

static double
probe_n(const struct sim *sim, uint32_t index)
{
	return (double)sim->probes[index].nb;
}

/* An edge that no two packets have passed. */
static bool
probe_is_empty(const struct sim *sim, uint32_t index)
{
	return sim->model->probes[index].kind == MODEL_PROBE_EDGE &&
	       sim->probes[index].intervals.count == 0;
}

static double
probe_mean(const struct sim *sim, uint32_t index)
{
	return probe_is_empty(sim, index) ? NAN : sim_probe_mean(sim, index).mean;
}

static double
probe_sd(const struct sim *sim, uint32_t index)
{
	return probe_is_empty(sim, index) ? NAN : sim_probe_mean(sim, index).sd;
}

static double
probe_min(const struct sim *sim, uint32_t index)
{
	const struct sim_probe *const probe = &sim->probes[index];

	if (probe_is_empty(sim, index))
		return NAN;
	return sim->model->probes[index].kind == MODEL_PROBE_EDGE
		       ? (double)probe->intervals.min / PS_PER_NS
		       : (double)probe->min;
}

static double
probe_max(const struct sim *sim, uint32_t index)
{
	const struct sim_probe *const probe = &sim->probes[index];

	if (probe_is_empty(sim, index))
		return NAN;
	return sim->model->probes[index].kind == MODEL_PROBE_EDGE
		       ? (double)probe->intervals.max / PS_PER_NS
		       : (double)probe->max;
}

static const struct quantity probe_quantities[] = {
	{"n", probe_n},
	{"mean", probe_mean},
	{"sd", probe_sd},
	{"min", probe_min},
	{"max", probe_max},
};

struct table {
	const struct quantity *quantities;
	unsigned int nb;
};

#define TABLE(of)                                                                                  \
	{                                                                                          \
		of, sizeof(of) / sizeof(of[0])                                                     \
	}

#define NB_SCOPES (sizeof(tables) / sizeof(tables[0]))

static const struct table tables[] = {
	[WEIR_SIM_STREAM] = TABLE(stream_quantities),
	[WEIR_SIM_QUEUE] = TABLE(queue_quantities),
	[WEIR_SIM_CORES] = TABLE(cores_quantities),
	[WEIR_SIM_UNIT] = TABLE(unit_quantities),
	[WEIR_SIM_DROP] = TABLE(drop_quantities),
	[WEIR_SIM_PROBE] = TABLE(probe_quantities),
	[WEIR_SIM_MEMORY] = TABLE(level_quantities),
};

const char *
weir_sim_scope_name(enum weir_sim_scope scope)
{
	static const char *const names[NB_SCOPES] = {[WEIR_SIM_STREAM] = "streams",
		[WEIR_SIM_QUEUE] = "queues",
		[WEIR_SIM_CORES] = "cores",
		[WEIR_SIM_UNIT] = "units",
		[WEIR_SIM_DROP] = "drops",
		[WEIR_SIM_PROBE] = "probes",
		[WEIR_SIM_MEMORY] = "memories"};

	return scope < NB_SCOPES ? names[scope] : NULL;
}

static const char *
thing_name(const struct weir_sim_model *model, enum weir_sim_scope scope, uint32_t index)
{
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

int
sim_metrics_make(struct weir_sim_model *model)
{
	const uint32_t nb_things[NB_SCOPES] = {model->nb_streams, model->nb_queues, model->nb_kinds,
		model->nb_units, model->nb_streams * model->nb_reasons, model->nb_probes,
		model->nb_levels};
	unsigned int scope, index, i, at = 0;

	if (make_pairs(model) < 0)
		return -ENOMEM;
	for (scope = 0; scope < NB_SCOPES; scope++)
		model->nb_metrics += nb_things[scope] * tables[scope].nb;
	model->metrics = calloc(model->nb_metrics + 1, sizeof(*model->metrics));
	if (model->metrics == NULL)
		return -ENOMEM;
	for (scope = 0; scope < NB_SCOPES; scope++)
		for (index = 0; index < nb_things[scope]; index++)
			for (i = 0; i < tables[scope].nb; i++)
				model->metrics[at++] = (struct weir_sim_metric){
					(enum weir_sim_scope)scope, index,
					thing_name(model, (enum weir_sim_scope)scope, index),
					tables[scope].quantities[i].name};
	return 0;
}

void
sim_metrics_fill(const struct sim *sim, double *values)
{
	const struct weir_sim_metric *metric = sim->model->metrics;
	unsigned int at = 0, i;

	while (at < sim->model->nb_metrics) {
		const struct table *table = &tables[metric[at].scope];
		const unsigned int index = metric[at].object;

		for (i = 0; i < table->nb; i++)
			values[at++] = table->quantities[i].get(sim, index);
	}
}
