/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: units, and how cores get packets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doc_read.h"

#define BITS_OF_BYTE 8
#define PS_PER_S     1e12

/* In which order it takes what waits. */
static int
read_order(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_unit *unit)
{
	const struct weir_base_doc_value *by = weir_base_doc_get(value, "by");
	const struct weir_base_doc_value *preemptive = weir_base_doc_get(value, "preemptive");

	if (sim_doc_read_discipline(model, value, true, &unit->discipline, &unit->custom) < 0)
		return -ENOMEM;
	unit->preemptive = weir_base_doc_bool(preemptive);
	if (unit->preemptive &&
		(unit->discipline == MODEL_FCFS || unit->discipline == MODEL_CUSTOM))
		weir_base_doc_error_add(model->doc, preemptive,
			"nothing goes before what is worked on; expected 'discipline' lcfs, "
			"priority, shortest or longest");
	if ((unit->discipline == MODEL_PRIORITY) != (by != NULL))
		weir_base_doc_error_add(model->doc,
			by != NULL ? by : weir_base_doc_get(value, "discipline"),
			"'%s' without '%s'; expected both",
			by != NULL ? "by" : "discipline: priority",
			by != NULL ? "discipline: priority" : "by");
	return by != NULL ? sim_doc_find_number(model, by, weir_base_doc_str(by), &unit->by) : 0;
}

static int
read_unit(struct weir_sim_model *model, const struct weir_base_doc_value *value,
	struct model_unit *unit)
{
	const struct weir_base_doc_value *capacity = weir_base_doc_get(value, "capacity");
	const struct weir_base_doc_value *bandwidth = weir_base_doc_get(value, "bandwidth");
	const double outlier = weir_base_doc_f64(weir_base_doc_get(value, "outlier"));

	*unit = (struct model_unit){
		.value = value,
		.name = weir_base_doc_name(value),
		.first_server = model->nb_servers,
		.nb_servers = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "servers")),
		.capacity = capacity != NULL ? (uint32_t)weir_base_doc_u64(capacity) : SIM_NONE,
		.delay = sim_doc_dist(value,
			sim_coarse(
				weir_base_doc_f64(weir_base_doc_get(value, "delay")) * PS_PER_S)),
		.per_byte = bandwidth != NULL ? sim_coarse(BITS_OF_BYTE * PS_PER_S /
							   weir_base_doc_f64(bandwidth))
					      : 0,
		.outlier_probability =
			sim_coarse(weir_base_doc_f64(weir_base_doc_get(value, "outliers"))),
		.outlier =
			sim_doc_dist_of((enum weir_sim_dist_kind)weir_base_doc_u64(
						weir_base_doc_get(value, "outlier_distribution")),
				sim_coarse(outlier * PS_PER_S), 1, 1),
	};
	sim_doc_check_dist(model, value);
	model->nb_servers += unit->nb_servers;
	if (unit->nb_servers > SIM_SERVERS_MAX || model->nb_servers > SIM_SERVERS_MAX)
		weir_base_doc_error_add(model->doc, value,
			"too many servers; expected at most %u of all units", SIM_SERVERS_MAX);
	if (read_order(model, value, unit) < 0)
		return -ENOMEM;
	return capacity != NULL || unit->custom != NULL
		       ? sim_doc_reason(model, &unit->reason, "unit %s is full", unit->name)
		       : 0;
}

int
sim_doc_read_units(struct weir_sim_model *model, const struct weir_base_doc_value *units)
{
	uint32_t i;

	model->nb_units = weir_base_doc_count(units);
	model->units = calloc(model->nb_units + 1, sizeof(*model->units));
	if (model->units == NULL)
		return -ENOMEM;
	for (i = 0; i < model->nb_units; i++)
		if (read_unit(model, weir_base_doc_at(units, i), &model->units[i]) < 0)
			return -ENOMEM;
	return 0;
}

/* Workers ask for packets themselves, the highest priority first: 'dispatch' says nothing of them. */
static void
check_dispatched(struct weir_sim_model *model, const struct weir_base_doc_value *dispatch)
{
	uint32_t i;

	for (i = 0; i < model->nb_queues; i++)
		if (sim_is_of_workers(&model->queues[i])) {
			weir_base_doc_error_add(model->doc, dispatch,
				"workers serve queue '%s', which 'dispatch' means nothing to; "
				"expected it only where all queues are those of other cores",
				model->queues[i].name);
			return;
		}
	for (i = 0; i < model->nb_kinds; i++)
		if (model->cores[i].worker == SIM_NONE)
			return;
	if (model->graph.nb_workers > 0)
		weir_base_doc_error_add(model->doc, dispatch,
			"'dispatch' means nothing to workers, which have all cores; expected "
			"others in platform.cores");
}

int
sim_doc_read_dispatch(struct weir_sim_model *model, const struct weir_base_doc_value *dispatch)
{
	const struct weir_base_doc_value *weights = weir_base_doc_get(dispatch, "weights");
	struct model_dispatch *to = &model->dispatch;
	uint32_t i;

	to->preemptive = weir_base_doc_bool(weir_base_doc_get(dispatch, "preemptive"));
	to->latency_ps = sim_doc_ps(weir_base_doc_get(dispatch, "latency"));
	to->interval_ps = sim_doc_ps(weir_base_doc_get(dispatch, "interval"));
	to->is_weighted = weights != NULL;
	for (i = 0; i < SIM_PRIORITIES; i++)
		to->weights[i] = i < weir_base_doc_count(weights)
					 ? weir_base_doc_i64(weir_base_doc_at(weights, i))
					 : 1;
	if (weir_base_doc_count(weights) > SIM_PRIORITIES)
		weir_base_doc_error_add(model->doc, weights,
			"more weights than priorities; expected at most %u", SIM_PRIORITIES);
	if (to->preemptive && to->is_weighted)
		weir_base_doc_error_add(model->doc, weights,
			"'weights' mean nothing with 'preemptive'; expected one of them");
	if (weir_base_doc_count(dispatch) > 0)
		check_dispatched(model, dispatch);
	return 0;
}
