/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers that a replication tells of a thing of each kind. */
#include <math.h>

#include "quantities.h"

#define PS_PER_NS 1e3
#define PS_PER_S  1e12

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
percentile_ns(const struct sim_times *times, double percent)
{
	return (double)weir_base_hist_percentile(&times->hist, percent) / PS_PER_NS;
}

static inline double
service_mean_ns(const struct sim_latency *latency)
{
	return (double)latency->service_ps / (double)latency->all.ps.count / PS_PER_NS;
}

/* Of the packets whose latency is of the class of a percentile: how long they were worked on, in the mean. */
static inline double
service_at_ns(const struct sim_latency *latency, double percent)
{
	const struct weir_base_hist *const hist = &latency->all.hist;
	const unsigned int class = weir_base_hist_index(weir_base_hist_percentile(hist, percent));
	const uint64_t nb = hist->bucket[class];

	return nb > 0 ? (double)latency->service_of[class] / (double)nb / PS_PER_NS : 0;
}

static inline double
wait_at_ns(const struct sim_latency *latency, double percent)
{
	return percentile_ns(&latency->all, percent) - service_at_ns(latency, percent);
}

/* What streams and stages have in common. */
#define LATENCY(name, expression)                                                                  \
	static double latency_##name(const struct sim_latency *latency)                            \
	{                                                                                          \
		return latency->all.ps.count > 0 ? (expression) : NAN;                             \
	}
#define LATENCY_PERCENTILE(name, percent)                                                          \
	LATENCY(name, percentile_ns(&latency->all, percent))                                       \
	LATENCY(name##_wait, wait_at_ns(latency, percent))                                         \
	LATENCY(name##_service, service_at_ns(latency, percent))

LATENCY(mean, weir_sim_tally_mean(&latency->all.ps) / PS_PER_NS)
LATENCY(sd, weir_sim_tally_sd(&latency->all.ps) / PS_PER_NS)
LATENCY(min, (double)latency->all.ps.min / PS_PER_NS)
LATENCY(max, (double)latency->all.ps.max / PS_PER_NS)
LATENCY(service_mean, service_mean_ns(latency))
LATENCY_PERCENTILE(p50, 50)
LATENCY_PERCENTILE(p90, 90)
LATENCY_PERCENTILE(p99, 99)
LATENCY_PERCENTILE(p999, 99.9)
LATENCY_PERCENTILE(p9999, 99.99)

static const struct latency_quantity {
	const char *name;
	double (*get)(const struct sim_latency *latency);
} latency_quantities[] = {
	{"latency_mean_ns", latency_mean},
	{"latency_sd_ns", latency_sd},
	{"latency_min_ns", latency_min},
	{"latency_p50_ns", latency_p50},
	{"latency_p90_ns", latency_p90},
	{"latency_p99_ns", latency_p99},
	{"latency_p999_ns", latency_p999},
	{"latency_p9999_ns", latency_p9999},
	{"latency_max_ns", latency_max},
	{"service_mean_ns", latency_service_mean},
	{"latency_p50_wait_ns", latency_p50_wait},
	{"latency_p50_service_ns", latency_p50_service},
	{"latency_p90_wait_ns", latency_p90_wait},
	{"latency_p90_service_ns", latency_p90_service},
	{"latency_p99_wait_ns", latency_p99_wait},
	{"latency_p99_service_ns", latency_p99_service},
	{"latency_p999_wait_ns", latency_p999_wait},
	{"latency_p999_service_ns", latency_p999_service},
	{"latency_p9999_wait_ns", latency_p9999_wait},
	{"latency_p9999_service_ns", latency_p9999_service},
};

/* Each is one expression of what it is called after. */
#define STREAM(name, expression) QUANTITY(stream, sim_stream, stream, streams, name, expression)
#define QUEUE(name, expression)  QUANTITY(queue, sim_queue, queue, queues, name, expression)
#define CORES(name, expression)  QUANTITY(cores, sim_kind, kind, kinds, name, expression)
#define UNIT(name, expression)   QUANTITY(unit, sim_unit, unit, units, name, expression)

/* Of packets, if there were any: there is no number of none, and 0 would be taken for a measured one. */
#define STREAM_DELIVERED(name, expression) STREAM(name, stream->delivered > 0 ? (expression) : NAN)
#define QUEUE_TAKEN(name, expression)      QUEUE(name, queue->taken > 0 ? (expression) : NAN)
#define UNIT_TAKEN(name, expression)       UNIT(name, unit->wait_ps.count > 0 ? (expression) : NAN)

STREAM(arrived, (double)stream->arrived)
STREAM(delivered, (double)stream->delivered)
STREAM(dropped, (double)stream->dropped)
STREAM(forked, (double)stream->forked)
STREAM(held, (double)stream->inside.value)
STREAM(offered_pps, per_second(sim, stream->arrived))
STREAM(delivered_pps, per_second(sim, stream->delivered))
STREAM(delivered_bps, 8 * per_second(sim, stream->delivered_bytes))
/* Parts are dropped as packets are. */
STREAM(loss, share(stream->dropped, stream->arrived + stream->forked))
STREAM(inside_mean, weir_sim_level_mean(&stream->inside, span_ps(sim)))
STREAM(inside_max, (double)stream->inside.max)
STREAM(reordered, (double)stream->reordered)
STREAM(reordering, share(stream->reordered, stream->delivered))
STREAM_DELIVERED(wait_mean, weir_sim_tally_mean(&stream->latency.all.ps) / PS_PER_NS -
				    service_mean_ns(&stream->latency))

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
	{"wait_mean_ns", stream_wait_mean},
	{"reordered_packets", stream_reordered},
	{"reordering", stream_reordering},
};

QUEUE(arrived, (double)queue->arrived)
QUEUE(dropped, (double)queue->dropped)
QUEUE(loss, share(queue->dropped, queue->arrived))
QUEUE(served, (double)queue->stage.all.ps.count)
QUEUE(reordered, (double)queue->reordered)
QUEUE(reordering, share(queue->reordered, queue->stage.all.ps.count))
QUEUE(served_pps, per_second(sim, queue->stage.all.ps.count))
QUEUE(length_mean, weir_sim_level_mean(&queue->length, span_ps(sim)))
QUEUE(length_max, (double)queue->length.max)
QUEUE_TAKEN(wait_mean, weir_sim_tally_mean(&queue->wait.ps) / PS_PER_NS)
QUEUE_TAKEN(wait_sd, weir_sim_tally_sd(&queue->wait.ps) / PS_PER_NS)
QUEUE_TAKEN(wait_p50, percentile_ns(&queue->wait, 50))
QUEUE_TAKEN(wait_p90, percentile_ns(&queue->wait, 90))
QUEUE_TAKEN(wait_p99, percentile_ns(&queue->wait, 99))
QUEUE_TAKEN(wait_p999, percentile_ns(&queue->wait, 99.9))
QUEUE_TAKEN(wait_p9999, percentile_ns(&queue->wait, 99.99))
QUEUE_TAKEN(wait_max, (double)queue->wait.ps.max / PS_PER_NS)

static const struct quantity queue_quantities[] = {
	{"arrived_packets", queue_arrived},
	{"dropped_packets", queue_dropped},
	{"served_packets", queue_served},
	{"served_pps", queue_served_pps},
	{"reordered_packets", queue_reordered},
	{"reordering", queue_reordering},
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

static const struct quantity ring_quantities[] = {
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
CORES(utilisation, weir_sim_level_mean(&kind->busy, span_ps(sim)) / (double)kind->nb_cores)

static double
core_served(const struct sim *sim, uint32_t index)
{
	return (double)sim->cores[index].served;
}

static double
core_utilisation(const struct sim *sim, uint32_t index)
{
	return span_ps(sim) > 0 ? (double)sim->cores[index].worked_ps / (double)span_ps(sim) : 0;
}

static const struct quantity core_quantities[] = {
	{"served_packets", core_served},
	{"utilisation", core_utilisation},
};

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
UNIT(utilisation, weir_sim_level_mean(&unit->busy, span_ps(sim)) / (double)unit->nb_servers)

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

#define LEVEL(name, expression) QUANTITY(level, sim_level, level, levels, name, expression)

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

/* Packets that pass an edge of the graph at once: they are those of one visit. */
static const struct weir_sim_tally *
vectors_of(const struct sim *sim, uint32_t index)
{
	return sim_is_edge_of_nodes(&sim->model->probes[index]) ? &sim->probes[index].vectors
								: NULL;
}

static double
probe_vectors(const struct sim *sim, uint32_t index)
{
	const struct weir_sim_tally *const vectors = vectors_of(sim, index);

	return vectors != NULL ? (double)vectors->count : NAN;
}

#define OF_VECTORS(name, value)                                                                    \
	static double probe_vector_##name(const struct sim *sim, uint32_t index)                   \
	{                                                                                          \
		const struct weir_sim_tally *const vectors = vectors_of(sim, index);               \
                                                                                                   \
		return vectors != NULL && vectors->count > 0 ? (double)(value) : NAN;              \
	}

OF_VECTORS(mean, weir_sim_tally_mean(vectors))
OF_VECTORS(sd, weir_sim_tally_sd(vectors))
OF_VECTORS(min, vectors->min)
OF_VECTORS(max, vectors->max)

static const struct quantity probe_quantities[] = {
	{"n", probe_n},
	{"mean", probe_mean},
	{"sd", probe_sd},
	{"min", probe_min},
	{"max", probe_max},
	{"vectors", probe_vectors},
	{"vector_mean", probe_vector_mean},
	{"vector_sd", probe_vector_sd},
	{"vector_min", probe_vector_min},
	{"vector_max", probe_vector_max},
};

#define TABLE(of)                                                                                  \
	{                                                                                          \
		of, sizeof(of) / sizeof(of[0])                                                     \
	}

static const struct table {
	const struct quantity *quantities;
	unsigned int nb;
} tables[SIM_SCOPES] = {
	[WEIR_SIM_STREAM] = TABLE(stream_quantities),
	[WEIR_SIM_QUEUE] = TABLE(queue_quantities),
	[WEIR_SIM_CORES] = TABLE(cores_quantities),
	[WEIR_SIM_CORE] = TABLE(core_quantities),
	[WEIR_SIM_UNIT] = TABLE(unit_quantities),
	[WEIR_SIM_DROP] = TABLE(drop_quantities),
	[WEIR_SIM_PROBE] = TABLE(probe_quantities),
	[WEIR_SIM_MEMORY] = TABLE(level_quantities),
	[WEIR_SIM_RING] = TABLE(ring_quantities),
	[WEIR_SIM_WORKER] = TABLE(sim_worker_quantities),
	[WEIR_SIM_NODE] = TABLE(sim_node_quantities),
	[WEIR_SIM_JOB] = TABLE(sim_job_quantities),
	[WEIR_SIM_LINK] = TABLE(sim_link_quantities),
	[WEIR_SIM_REQUEST] = TABLE(sim_request_quantities),
	[WEIR_SIM_PROCESS] = TABLE(sim_process_quantities),
};

#define NB_LATENCY (sizeof(latency_quantities) / sizeof(latency_quantities[0]))

static inline bool
has_latency(enum weir_sim_scope scope)
{
	return scope == WEIR_SIM_STREAM || scope == WEIR_SIM_QUEUE;
}

unsigned int
sim_quantities(enum weir_sim_scope scope)
{
	return tables[scope].nb + (has_latency(scope) ? NB_LATENCY : 0);
}

const char *
sim_quantity_name(enum weir_sim_scope scope, unsigned int quantity)
{
	const struct table *const table = &tables[scope];

	return quantity < table->nb ? table->quantities[quantity].name
				    : latency_quantities[quantity - table->nb].name;
}

double
sim_quantity(
	const struct sim *sim, enum weir_sim_scope scope, uint32_t index, unsigned int quantity)
{
	const struct table *const table = &tables[scope];
	const struct model_arrays *const arrays = &sim->model->arrays[scope];

	/* What is counted of rings is behind that of queues. */
	if (scope == WEIR_SIM_RING)
		index += sim->model->nb_queues;
	else if (index >= arrays->nb_things)
		index += arrays->first - arrays->nb_things;
	if (quantity < table->nb)
		return table->quantities[quantity].get(sim, index);
	return latency_quantities[quantity - table->nb].get(scope == WEIR_SIM_STREAM
								    ? &sim->streams[index].latency
								    : &sim->queues[index].stage);
}
