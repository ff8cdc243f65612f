/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: how it is run. */
#include <inttypes.h>
#include <string.h>

#include "doc_read.h"

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
		.finds_warmup = weir_base_doc_bool(weir_base_doc_get(simulation, "find_warmup")),
		.duration_ps = sim_doc_ps(weir_base_doc_get(simulation, "duration")),
		.nb_packets = weir_base_doc_u64(weir_base_doc_get(simulation, "packets")),
		.nb_inside_max = (uint32_t)weir_base_doc_u64(
			weir_base_doc_get(simulation, "packets_inside")),
		.confidence = weir_base_doc_f64(weir_base_doc_get(simulation, "confidence")),
		.nb_batches =
			(unsigned int)weir_base_doc_u64(weir_base_doc_get(simulation, "batches")),
	};
	if (param->finds_warmup && param->warmup_ps > 0)
		weir_base_doc_error_add(model->doc, warmup,
			"a 'warmup' beside 'find_warmup'; expected one of them");
	if (param->warmup_ps >= param->duration_ps)
		weir_base_doc_error_add(model->doc, warmup,
			"the warm-up is as long as all of it; expected less than 'duration'");
	else if (param->nb_batches > param->duration_ps - param->warmup_ps)
		weir_base_doc_error_add(model->doc, weir_base_doc_get(simulation, "batches"),
			"more batches than ps; expected at most %" PRIu64,
			param->duration_ps - param->warmup_ps);
	if (param->nb_packets > 0 && param->nb_packets < param->nb_batches)
		weir_base_doc_error_add(model->doc, weir_base_doc_get(simulation, "batches"),
			"more batches than packets; expected at most %" PRIu64, param->nb_packets);
}

/* Words of a result's name: scope.thing.quantity; things may have points in their names. */
static bool
split(const char *text, char *room, size_t size, const char *words[3])
{
	char *first, *last;

	if (strlen(text) >= size)
		return false;
	strcpy(room, text);
	first = strchr(room, '.');
	last = strrchr(room, '.');
	if (first == NULL || first == last)
		return false;
	*first = *last = '\0';
	words[0] = room;
	words[1] = first + 1;
	words[2] = last + 1;
	return true;
}

/* Column of what a result is called; -1: there is none. */
static int
find_result(const struct weir_sim_model *model, const char *text)
{
	const char *words[3], *scope;
	char room[512];
	unsigned int i;

	if (!split(text, room, sizeof(room), words))
		return -1;
	for (i = 0; (scope = weir_sim_scope_name((enum weir_sim_scope)i)) != NULL; i++)
		if (strcmp(scope, words[0]) == 0)
			return weir_sim_model_metric_find(
				model, (enum weir_sim_scope)i, words[1], words[2]);
	return -1;
}

void
sim_doc_read_precision(struct weir_sim_model *model, const struct weir_base_doc_value *simulation)
{
	const struct weir_base_doc_value *precision = weir_base_doc_get(simulation, "precision");
	const struct weir_base_doc_value *of = weir_base_doc_get(precision, "of");
	struct weir_sim_param *param = &model->param;
	int metric;

	if (precision == NULL)
		return;
	metric = find_result(model, weir_base_doc_str(of));
	if (metric < 0)
		weir_base_doc_error_add(model->doc, of,
			"unknown result '%s'; expected one such as streams.NAME.latency_mean_ns",
			weir_base_doc_str(of));
	param->precision_metric = (unsigned int)metric;
	param->precision = weir_base_doc_f64(weir_base_doc_get(precision, "relative"));
	param->nb_replications_max =
		(unsigned int)weir_base_doc_u64(weir_base_doc_get(precision, "replications"));
}
