/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: traffic, and how it is run. */
#include <errno.h>
#include <stdlib.h>

#include "doc_read.h"

/* As the choices of traffic.streams.*.arrivals. */
enum arrivals {
	ARRIVALS_POISSON,
	ARRIVALS_DETERMINISTIC,
	ARRIVALS_UNIFORM,
};

static struct weir_sim_dist
read_interval(struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	const struct weir_base_doc_value *rate = weir_base_doc_get(value, "rate");
	const struct weir_base_doc_value *interval = weir_base_doc_get(value, "interval");
	const struct weir_base_doc_value *arrivals = weir_base_doc_get(value, "arrivals");
	const double spread = sim_coarse(weir_base_doc_f64(weir_base_doc_get(value, "spread")));
	double mean;

	if ((rate != NULL) == (interval != NULL)) {
		weir_base_doc_error_add(model->doc, rate != NULL ? interval : value,
			"%s; expected a key 'rate' or 'interval'",
			rate != NULL ? "'interval' beside 'rate'"
				     : "a stream that does not say when packets come");
		return (struct weir_sim_dist){.kind = WEIR_SIM_DIST_CONSTANT};
	}
	mean = sim_coarse(
		rate != NULL ? 1e12 / weir_base_doc_f64(rate) : weir_base_doc_f64(interval) * 1e12);
	if (weir_base_doc_u64(arrivals) != ARRIVALS_UNIFORM && weir_base_doc_given(value, "spread"))
		weir_base_doc_error_add(model->doc, weir_base_doc_get(value, "spread"),
			"'spread' means nothing here; expected it with 'uniform'");
	switch ((enum arrivals)weir_base_doc_u64(arrivals)) {
	case ARRIVALS_DETERMINISTIC:
		break;
	case ARRIVALS_UNIFORM:
		return (struct weir_sim_dist){
			WEIR_SIM_DIST_UNIFORM, mean * (1 - spread), mean * (1 + spread)};
	case ARRIVALS_POISSON:
		return (struct weir_sim_dist){WEIR_SIM_DIST_EXPONENTIAL, mean, 0};
	}
	return (struct weir_sim_dist){WEIR_SIM_DIST_CONSTANT, mean, 0};
}

static void
read_sizes(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_stream *stream)
{
	const struct weir_base_doc_value *max = weir_base_doc_get(value, "size_max");

	stream->sizes = (enum sim_sizes)weir_base_doc_u64(weir_base_doc_get(value, "sizes"));
	stream->size_min_bytes = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "size"));
	stream->size_max_bytes = (uint32_t)weir_base_doc_u64(max);
	if (stream->sizes == SIM_SIZES_IMIX && weir_base_doc_given(value, "size"))
		weir_base_doc_error_add(model->doc, weir_base_doc_get(value, "size"),
			"'size' means nothing with 'imix'; expected 'fixed' or 'uniform'");
	if ((stream->sizes == SIM_SIZES_UNIFORM) != (max != NULL))
		weir_base_doc_error_add(model->doc, max != NULL ? max : value,
			"%s; expected both or neither",
			max != NULL ? "'size_max' without 'sizes: uniform'"
				    : "'sizes: uniform' without 'size_max'");
	else if (max != NULL && stream->size_max_bytes < stream->size_min_bytes)
		weir_base_doc_error_add(model->doc, max,
			"%u B; expected at least 'size', which is %u B", stream->size_max_bytes,
			stream->size_min_bytes);
}

int
sim_doc_read_streams(struct weir_sim_model *model, const struct weir_base_doc_value *streams)
{
	const struct weir_base_doc_value *value, *stop;
	struct model_stream *stream;
	uint32_t i;

	model->nb_streams = weir_base_doc_count(streams);
	model->streams = calloc(model->nb_streams + 1, sizeof(*model->streams));
	if (model->streams == NULL)
		return -ENOMEM;
	for (i = 0; i < model->nb_streams; i++) {
		value = weir_base_doc_at(streams, i);
		stop = weir_base_doc_get(value, "stop");
		stream = &model->streams[i];
		*stream = (struct model_stream){
			.value = value,
			.name = weir_base_doc_name(value),
			.queue = sim_doc_find_queue(model, weir_base_doc_get(value, "to")),
			.interval = read_interval(model, value),
			.nb_flows = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "flows")),
			.start_ps = sim_doc_ps(weir_base_doc_get(value, "start")),
			.stop_ps = stop != NULL ? sim_doc_ps(stop) : UINT64_MAX,
			.count = weir_base_doc_u64(weir_base_doc_get(value, "count")),
		};
		read_sizes(model, value, stream);
		if (stream->stop_ps <= stream->start_ps)
			weir_base_doc_error_add(model->doc, stop,
				"the stream stops before it starts; expected a time after 'start'");
		if (stream->queue != SIM_NONE)
			model->queues[stream->queue].is_fed = true;
	}
	return 0;
}

void
sim_doc_read_run(struct weir_sim_model *model, const struct weir_base_doc_value *simulation)
{
	const struct weir_base_doc_value *warmup = weir_base_doc_get(simulation, "warmup");
	struct weir_sim_param *param = &model->param;

	*param = (struct weir_sim_param){
		.seed = weir_base_doc_u64(weir_base_doc_get(simulation, "seed")),
		.nb_replications = (unsigned int)weir_base_doc_u64(
			weir_base_doc_get(simulation, "replications")),
		.warmup_ps = sim_doc_ps(warmup),
		.duration_ps = sim_doc_ps(weir_base_doc_get(simulation, "duration")),
		.nb_packets = weir_base_doc_u64(weir_base_doc_get(simulation, "packets")),
		.confidence = weir_base_doc_f64(weir_base_doc_get(simulation, "confidence")),
	};
	if (param->warmup_ps >= param->duration_ps)
		weir_base_doc_error_add(model->doc, warmup,
			"the warm-up is as long as all of it; expected less than 'duration'");
}
