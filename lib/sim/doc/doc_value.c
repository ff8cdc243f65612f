/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: distributions, attributes, reasons. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"

struct weir_sim_dist
sim_doc_dist_of(enum weir_sim_dist_kind kind, double mean, double spread, double sigma)
{
	switch (kind) {
	case WEIR_SIM_DIST_UNIFORM:
		return (struct weir_sim_dist){
			WEIR_SIM_DIST_UNIFORM, mean * (1 - spread), mean * (1 + spread)};
	case WEIR_SIM_DIST_EXPONENTIAL:
		return (struct weir_sim_dist){WEIR_SIM_DIST_EXPONENTIAL, mean, 0};
	case WEIR_SIM_DIST_LOGNORMAL:
		return weir_sim_dist_lognormal(mean, sigma);
	case WEIR_SIM_DIST_CONSTANT:
		break;
	}
	return (struct weir_sim_dist){WEIR_SIM_DIST_CONSTANT, mean, 0};
}

struct weir_sim_dist
sim_doc_dist(const struct weir_base_doc_value *value, double mean)
{
	const struct weir_base_doc_value *mu = weir_base_doc_get(value, "mu");
	const double sigma = sim_coarse(weir_base_doc_f64(weir_base_doc_get(value, "sigma")));

	if (mu != NULL && mean > 0)
		return (struct weir_sim_dist){WEIR_SIM_DIST_LOGNORMAL,
			weir_sim_log(mean) + sim_coarse(weir_base_doc_f64(mu)), sigma};
	return sim_doc_dist_of((enum weir_sim_dist_kind)weir_base_doc_u64(
				       weir_base_doc_get(value, "distribution")),
		mean, sim_coarse(weir_base_doc_f64(weir_base_doc_get(value, "spread"))), sigma);
}

void
sim_doc_check_dist(struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	const uint64_t kind = weir_base_doc_u64(weir_base_doc_get(value, "distribution"));

	if (kind != WEIR_SIM_DIST_UNIFORM && weir_base_doc_given(value, "spread"))
		weir_base_doc_error_add(model->doc, weir_base_doc_get(value, "spread"),
			"'spread' means nothing here; expected it with 'uniform'");
	if (kind != WEIR_SIM_DIST_LOGNORMAL && weir_base_doc_given(value, "sigma"))
		weir_base_doc_error_add(model->doc, weir_base_doc_get(value, "sigma"),
			"'sigma' means nothing here; expected it with 'lognormal'");
	if (kind != WEIR_SIM_DIST_LOGNORMAL && weir_base_doc_given(value, "mu"))
		weir_base_doc_error_add(model->doc, weir_base_doc_get(value, "mu"),
			"'mu' means nothing here; expected it with 'lognormal'");
}

int
sim_doc_reason(struct weir_sim_model *model, uint32_t *reason, const char *format, ...)
{
	char **all = realloc(model->reasons, (model->nb_reasons + 1) * sizeof(*all));
	va_list arguments;
	int length;
	uint32_t i;

	if (all == NULL)
		return -ENOMEM;
	model->reasons = all;
	va_start(arguments, format);
	length = vasprintf(&all[model->nb_reasons], format, arguments);
	va_end(arguments);
	if (length < 0)
		return -ENOMEM;
	for (i = 0; strcmp(all[i], all[model->nb_reasons]) != 0; i++)
		;
	if (i < model->nb_reasons)
		free(all[model->nb_reasons]);
	else
		model->nb_reasons++;
	*reason = i;
	return 0;
}

/* Index of an attribute; new names are taken in. */
static int
find_attribute(struct weir_sim_model *model, const char *name, uint32_t *index)
{
	struct model_attribute *all;
	uint32_t i;

	for (i = 0; i < model->nb_attributes; i++)
		if (strcmp(model->attributes[i].name, name) == 0)
			break;
	*index = i;
	if (i < model->nb_attributes)
		return 0;
	all = realloc(model->attributes, (model->nb_attributes + 1) * sizeof(*all));
	if (all == NULL)
		return -ENOMEM;
	model->attributes = all;
	all[i] = (struct model_attribute){.name = strdup(name)};
	if (all[i].name == NULL)
		return -ENOMEM;
	model->nb_attributes++;
	return 0;
}

int
sim_doc_find_number(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	const char *name, uint32_t *number)
{
	*number = strcmp(name, "size") == 0 ? MODEL_SIZE : MODEL_FLOW;
	if (strcmp(name, "size") == 0 || strcmp(name, "flow") == 0)
		return 0;
	if (find_attribute(model, name, number) < 0)
		return -ENOMEM;
	if (model->attributes[*number].used == NULL)
		model->attributes[*number].used = value;
	return 0;
}

int
sim_doc_set_attribute(struct weir_sim_model *model, const char *name, uint32_t *attribute)
{
	if (find_attribute(model, name, attribute) < 0)
		return -ENOMEM;
	model->attributes[*attribute].is_set = true;
	return 0;
}

int
sim_doc_read_weights(struct weir_sim_model *model, const struct weir_base_doc_value *weights,
	uint32_t nb, struct model_value *to)
{
	double *all, sum = 0;
	uint32_t i;

	to->first_weight = model->nb_weights;
	to->nb_weights = nb;
	all = realloc(model->weights, (model->nb_weights + to->nb_weights + 1) * sizeof(*all));
	if (all == NULL)
		return -ENOMEM;
	model->weights = all;
	for (i = 0; i < to->nb_weights; i++) {
		sum += weights != NULL ? sim_coarse(weir_base_doc_f64(weir_base_doc_at(weights, i)))
				       : 1;
		all[model->nb_weights++] = sum;
	}
	if (!(sum > 0))
		weir_base_doc_error_add(model->doc, weights,
			"nothing can be drawn by these weights; expected one that is above 0");
	for (i = to->first_weight; i < model->nb_weights; i++)
		all[i] /= sum;
	return 0;
}

int
sim_doc_read_value(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_value *to)
{
	const struct weir_base_doc_value *weights = weir_base_doc_get(value, "weights");
	const struct weir_base_doc_value *mean = weir_base_doc_get(value, "value");

	if ((weights != NULL) == (mean != NULL))
		weir_base_doc_error_add(model->doc, weights != NULL ? weights : value,
			"%s; expected a key 'value' or 'weights'",
			weights != NULL ? "'weights' beside 'value'" : "no value");
	sim_doc_check_dist(model, value);
	to->dist = sim_doc_dist(value, sim_coarse(weir_base_doc_f64(mean)));
	return weights != NULL
		       ? sim_doc_read_weights(model, weights, weir_base_doc_count(weights), to)
		       : 0;
}

int
sim_doc_read_given(
	struct weir_sim_model *model, uint32_t stream, const struct weir_base_doc_value *attributes)
{
	const uint32_t nb = weir_base_doc_count(attributes);
	struct model_given *all = realloc(model->given, (model->nb_given + nb + 1) * sizeof(*all));
	uint32_t i;

	if (all == NULL)
		return -ENOMEM;
	model->given = all;
	model->streams[stream].first_given = model->nb_given;
	model->streams[stream].nb_given = nb;
	for (i = 0; i < nb; i++) {
		const struct weir_base_doc_value *value = weir_base_doc_at(attributes, i);
		struct model_given *given = &all[model->nb_given++];

		*given = (struct model_given){.stream = stream};
		if (sim_doc_set_attribute(model, weir_base_doc_name(value), &given->attribute) <
				0 ||
			sim_doc_read_value(model, value, &given->value) < 0)
			return -ENOMEM;
	}
	return 0;
}
