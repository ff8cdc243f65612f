/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: the scheduler of queues of events, of which the limit of what is inside is simulated. */
#include <string.h>

#include "doc_read.h"

/* The value of a key, or, where it has a default, what it would stand in. */
static const struct weir_base_doc_value *
key_or_map(const struct weir_base_doc_value *map, const char *key)
{
	return weir_base_doc_given(map, key) ? weir_base_doc_get(map, key) : map;
}

/* As of a program that is run. */
static void
read_limit(struct weir_sim_model *model, const struct weir_base_doc_value *scheduler)
{
	const uint64_t nb_events = weir_base_doc_u64(weir_base_doc_get(scheduler, "events"));
	const uint64_t nb_reserved = weir_base_doc_u64(weir_base_doc_get(scheduler, "reserved"));
	const uint64_t threshold =
		weir_base_doc_given(scheduler, "threshold")
			? weir_base_doc_u64(weir_base_doc_get(scheduler, "threshold"))
			: nb_events - nb_reserved;

	if (nb_reserved >= nb_events)
		weir_base_doc_error_add(model->doc, key_or_map(scheduler, "reserved"),
			"%lu reserved of %lu events leave none; expected less",
			(unsigned long)nb_reserved, (unsigned long)nb_events);
	else if (threshold > nb_events - nb_reserved)
		weir_base_doc_error_add(model->doc, key_or_map(scheduler, "threshold"),
			"threshold %lu is more than there is room for; expected at most %lu",
			(unsigned long)threshold, (unsigned long)(nb_events - nb_reserved));
	model->threshold = (uint32_t)threshold;
}

int
sim_doc_read_scheduler(struct weir_sim_model *model, const struct weir_base_doc_value *scheduler)
{
	const struct weir_base_doc_value *backend = weir_base_doc_get(scheduler, "backend");
	const struct weir_base_doc_value *sleep = weir_base_doc_get(scheduler, "idle_sleep");

	if (strcmp(weir_base_doc_str(backend), "builtin") != 0)
		weir_base_doc_error_add(model->doc, backend,
			"what an event device does is not simulated; expected 'builtin'");
	if (weir_base_doc_f64(sleep) > 0)
		weir_base_doc_error_add(model->doc, sleep,
			"workers that sleep in the scheduler are not simulated; expected 0, or "
			"none");
	if (!weir_base_doc_given(scheduler, "events") &&
		!weir_base_doc_given(scheduler, "threshold"))
		return 0;
	model->is_limited = true;
	read_limit(model, scheduler);
	return sim_doc_reason(model, &model->full_reason, "sched_full");
}

static bool
has_priorities(const struct weir_sim_model *model)
{
	uint32_t i;

	for (i = 1; i < model->nb_queues; i++)
		if (model->queues[i].priority != model->queues[0].priority)
			return true;
	return false;
}

void
sim_doc_check_scheduler(struct weir_sim_model *model, const struct weir_base_doc_value *scheduler)
{
	static const char *const keys[] = {"starvation_bound", "priority_slack"};
	unsigned int i;

	for (i = 0; has_priorities(model) && i < sizeof(keys) / sizeof(keys[0]); i++)
		if (weir_base_doc_f64(weir_base_doc_get(scheduler, keys[i])) > 0)
			weir_base_doc_error_add(model->doc, weir_base_doc_get(scheduler, keys[i]),
				"'%s' is not simulated, and queues have different priorities, "
				"which are strict here; expected 0, or none",
				keys[i]);
}
