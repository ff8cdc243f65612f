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

/* A kind of results by its name; SIM_NONE: there is none. */
static unsigned int
find_scope(const char *name)
{
	const char *scope;
	unsigned int i;

	for (i = 0; (scope = weir_sim_scope_name((enum weir_sim_scope)i)) != NULL; i++)
		if (strcmp(scope, name) == 0)
			return i;
	return SIM_NONE;
}

/* Is there something of that kind and name that has results? */
static bool
has_results(const struct weir_sim_model *model, unsigned int scope, const char *name)
{
	unsigned int i;

	for (i = 0; i < model->nb_metrics; i++)
		if (model->metrics[i].scope == (enum weir_sim_scope)scope &&
			strcmp(model->metrics[i].name, name) == 0)
			return true;
	return false;
}

/* The first of the words that is not known, and what there is in its place. */
static void
refuse_result(struct weir_sim_model *model, const struct weir_base_doc_value *of,
	const char *const words[3])
{
	const unsigned int scope = words != NULL ? find_scope(words[0]) : SIM_NONE;
	const bool is_thing = scope != SIM_NONE && has_results(model, scope, words[1]);
	struct sim_doc_names names = {.used = 0};
	const char *name;
	unsigned int i;

	for (i = 0;
		scope == SIM_NONE && (name = weir_sim_scope_name((enum weir_sim_scope)i)) != NULL;
		i++)
		sim_doc_add_name(&names, name);
	for (i = 0; scope != SIM_NONE && i < model->nb_metrics; i++) {
		const struct weir_sim_metric *metric = &model->metrics[i];

		if (metric->scope != (enum weir_sim_scope)scope)
			continue;
		if (is_thing && strcmp(metric->name, words[1]) == 0)
			sim_doc_add_name(&names, metric->quantity);
		else if (!is_thing && (i == 0 || metric[-1].scope != metric->scope ||
					      metric[-1].object != metric->object))
			sim_doc_add_name(&names, metric->name);
	}
	weir_base_doc_error_add(model->doc, of, "unknown result '%s'; expected %s%s%s%s",
		weir_base_doc_str(of),
		scope == SIM_NONE ? "one such as streams.NAME.latency_mean_ns, of: "
		: is_thing        ? "a quantity of '"
				  : "a name of '",
		scope == SIM_NONE ? ""
		: is_thing        ? words[1]
				  : words[0],
		scope == SIM_NONE ? ""
		: names.used > 0  ? "', one of: "
				  : "', of which there is none",
		names.text);
}

void
sim_doc_read_precision(struct weir_sim_model *model, const struct weir_base_doc_value *simulation)
{
	const struct weir_base_doc_value *precision = weir_base_doc_get(simulation, "precision");
	const struct weir_base_doc_value *of = weir_base_doc_get(precision, "of");
	struct weir_sim_param *param = &model->param;
	const char *words[3];
	unsigned int scope;
	char room[512];
	int metric = -1;
	bool is_split;

	if (precision == NULL)
		return;
	is_split = split(weir_base_doc_str(of), room, sizeof(room), words);
	scope = is_split ? find_scope(words[0]) : SIM_NONE;
	if (scope != SIM_NONE)
		metric = weir_sim_model_metric_find(
			model, (enum weir_sim_scope)scope, words[1], words[2]);
	if (metric < 0)
		refuse_result(model, of, is_split ? words : NULL);
	param->precision_metric = (unsigned int)metric;
	param->precision = weir_base_doc_f64(weir_base_doc_get(precision, "relative"));
	param->nb_replications_max =
		(unsigned int)weir_base_doc_u64(weir_base_doc_get(precision, "replications"));
}
