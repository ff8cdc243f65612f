/* SPDX-License-Identifier: BSD-3-Clause */
/* What a simulation found, as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "sim_report.h"

const struct weir_sim_replication *
sim_report_broken(const struct sim_report *report)
{
	unsigned int i;

	for (i = 0; i < report->result->nb_replications; i++)
		if (report->result->replications[i].broken != NULL)
			return &report->result->replications[i];
	return NULL;
}

/* 64 bits, of which a number of JSON holds 53. */
static json_t *
hexadecimal(uint64_t value)
{
	char text[17];

	snprintf(text, sizeof(text), "%016" PRIx64, value);
	return json_string(text);
}

static json_t *
estimate_json(struct weir_sim_estimate estimate)
{
	return json_pack("{s:o, s:f, s:o}", "mean",
		isfinite(estimate.mean) ? json_real(estimate.mean) : json_null(), "sd", estimate.sd,
		"half_width",
		isfinite(estimate.half_width) ? json_real(estimate.half_width) : json_null());
}

/* The things of a kind, each with its quantities. */
static json_t *
scope_json(const struct sim_report *report, enum weir_sim_scope scope)
{
	unsigned int nb_metrics, i;
	const struct weir_sim_metric *metrics = weir_sim_model_metrics(report->model, &nb_metrics);
	json_t *things = json_array(), *thing = NULL;

	for (i = 0; i < nb_metrics; i++) {
		if (metrics[i].scope != scope)
			continue;
		if (thing == NULL || metrics[i].object != metrics[i - 1].object) {
			thing = json_pack("{s:s}", "name", metrics[i].name);
			json_array_append_new(things, thing);
		}
		json_object_set_new(thing, metrics[i].quantity,
			estimate_json(weir_sim_result_estimate(
				report->result, i, report->param->confidence)));
	}
	return things;
}

static json_t *
replications_json(const struct weir_sim_result *result)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < result->nb_replications; i++) {
		const struct weir_sim_replication *one = &result->replications[i];

		json_array_append_new(list,
			json_pack("{s:o, s:I, s:f, s:s?}", "fingerprint",
				hexadecimal(one->fingerprint), "events", (json_int_t)one->events,
				"end_s", (double)one->end_ps / 1e12, "broken", one->broken));
	}
	return list;
}

json_t *
sim_report_json(const struct sim_report *report)
{
	const struct weir_sim_result *result = report->result;
	/* The pilots that it is found by may not have come to their end. */
	const bool has_warmup = !report->param->finds_warmup || result->nb_replications > 0;
	const char *name;
	json_t *all = json_pack(
		"{s:b, s:s, s:I, s:f, s:o, s:o, s:I, s:o, s:b, s:o, s:I, s:f, s:f, s:o}", "ok",
		report->error == NULL, "model", report->path, "seed",
		(json_int_t)report->param->seed, "confidence", report->param->confidence,
		"warmup_s", has_warmup ? json_real((double)result->warmup_ps / 1e12) : json_null(),
		"steady", has_warmup ? json_boolean(!result->has_no_steady_end) : json_null(),
		"samples", (json_int_t)result->nb_rows, "precise",
		report->param->precision > 0 ? json_boolean(result->is_precise) : json_null(),
		"interrupted", (int)result->interrupted, "fingerprint",
		result->nb_replications > 0 ? hexadecimal(result->fingerprint) : json_null(),
		"events", (json_int_t)result->events, "seconds", report->seconds,
		"events_per_second",
		report->seconds > 0 ? (double)result->events / report->seconds : 0.0,
		"replications", replications_json(result));
	unsigned int i;

	if (report->error != NULL)
		json_object_set_new(all, "error", json_string(report->error));
	json_object_set_new(all, "left_aside", json_deep_copy(report->left_aside));
	for (i = 0; (name = weir_sim_scope_name((enum weir_sim_scope)i)) != NULL; i++)
		json_object_set_new(all, name, scope_json(report, (enum weir_sim_scope)i));
	return all;
}
