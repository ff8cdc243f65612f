/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: traffic. */
#include <errno.h>
#include <stdlib.h>

#include "doc_read.h"

static int
read_sizes(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_stream *stream)
{
	const struct weir_base_doc_value *max = weir_base_doc_get(value, "size_max");
	const struct weir_base_doc_value *table = weir_base_doc_get(value, "size_table");

	if (stream->sizes == SIM_SIZES_CAPTURED)
		return 0;
	stream->sizes = (enum sim_sizes)weir_base_doc_u64(weir_base_doc_get(value, "sizes"));
	stream->size_min_bytes = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "size"));
	stream->size_max_bytes = (uint32_t)weir_base_doc_u64(max);
	if ((stream->sizes == SIM_SIZES_IMIX || stream->sizes == SIM_SIZES_EMPIRICAL) &&
		weir_base_doc_given(value, "size"))
		weir_base_doc_error_add(model->doc, weir_base_doc_get(value, "size"),
			"'size' means nothing here; expected 'fixed' or 'uniform'");
	if ((stream->sizes == SIM_SIZES_EMPIRICAL) != (table != NULL))
		weir_base_doc_error_add(model->doc, table != NULL ? table : value,
			"%s; expected both or neither",
			table != NULL ? "'size_table' without 'sizes: empirical'"
				      : "'sizes: empirical' without 'size_table'");
	if ((stream->sizes == SIM_SIZES_UNIFORM) != (max != NULL))
		weir_base_doc_error_add(model->doc, max != NULL ? max : value,
			"%s; expected both or neither",
			max != NULL ? "'size_max' without 'sizes: uniform'"
				    : "'sizes: uniform' without 'size_max'");
	else if (max != NULL && stream->size_max_bytes < stream->size_min_bytes)
		weir_base_doc_error_add(model->doc, max,
			"%u B; expected at least 'size', which is %u B", stream->size_max_bytes,
			stream->size_min_bytes);
	return stream->sizes == SIM_SIZES_EMPIRICAL && table != NULL
		       ? sim_doc_read_table(model, table, SIM_DOC_SIZES, &stream->size_table)
		       : 0;
}

static void
read_flows(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_stream *stream)
{
	const struct weir_base_doc_value *skew = weir_base_doc_get(value, "skew");

	stream->nb_flows = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "flows"));
	stream->is_zipf = weir_base_doc_u64(weir_base_doc_get(value, "popularity")) != 0;
	if (stream->is_zipf)
		weir_sim_zipf_init(
			&stream->popularity, stream->nb_flows, sim_coarse(weir_base_doc_f64(skew)));
	else if (weir_base_doc_given(value, "skew"))
		weir_base_doc_error_add(model->doc, skew,
			"'skew' means nothing here; expected it with 'popularity: zipf'");
}

int
sim_doc_read_streams(struct weir_sim_model *model, const struct weir_base_doc_value *streams)
{
	const struct weir_base_doc_value *value, *stop, *through;
	struct model_stream *stream;
	uint32_t i;

	model->nb_streams = weir_base_doc_count(streams);
	model->streams = calloc(model->nb_streams + 1, sizeof(*model->streams));
	if (model->streams == NULL)
		return -ENOMEM;
	for (i = 0; i < model->nb_streams; i++) {
		value = weir_base_doc_at(streams, i);
		stop = weir_base_doc_get(value, "stop");
		through = weir_base_doc_get(value, "through");
		stream = &model->streams[i];
		*stream = (struct model_stream){
			.value = value,
			.link = SIM_NONE,
			.name = weir_base_doc_name(value),
			.queue = sim_doc_find_destination(model, weir_base_doc_get(value, "to")),
			.start_ps = sim_doc_ps(weir_base_doc_get(value, "start")),
			.stop_ps = stop != NULL ? sim_doc_ps(stop) : UINT64_MAX,
			.count = weir_base_doc_u64(weir_base_doc_get(value, "count")),
		};
		stream->unit = through != NULL ? sim_doc_find_unit(model, through) : SIM_NONE;
		if (sim_doc_read_given(model, i, weir_base_doc_get(value, "attributes")) < 0)
			return -ENOMEM;
		if (sim_doc_read_arrivals(model, value, stream) < 0 ||
			read_sizes(model, value, stream) < 0)
			return -ENOMEM;
		read_flows(model, value, stream);
		if (stream->stop_ps <= stream->start_ps)
			weir_base_doc_error_add(model->doc, stop,
				"the stream stops before it starts; expected a time after 'start'");
		if (stream->queue < model->nb_queues) {
			model->queues[stream->queue].is_fed = true;
			stream->queue |= model->is_limited ? SIM_TO_NEW : 0;
		}
	}
	return 0;
}
