/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: the scheduler of queues of events, of which the limit of what is inside is simulated. */
#include <string.h>

#include "doc_read.h"
#include "weir_base_nodes.h"

#define PS_PER_NS UINT64_C(1000)
#define PS_PER_US UINT64_C(1000000)

/* The value of a key, or, where it has a default, what it would stand in. */
static const struct weir_base_doc_value *
key_or_map(const struct weir_base_doc_value *map, const char *key)
{
	return weir_base_doc_given(map, key) ? weir_base_doc_get(map, key) : map;
}

/* How strict priorities are, in whole ns, as of a program that is run. */
static void
read_lenience(struct weir_sim_model *model, const struct weir_base_doc_value *scheduler)
{
	model->dispatch.bound =
		(uint32_t)weir_base_doc_u64(weir_base_doc_get(scheduler, "starvation_bound"));
	model->dispatch.slack_ps =
		sim_doc_ps(weir_base_doc_get(scheduler, "priority_slack")) / PS_PER_NS * PS_PER_NS;
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

/* Of those who have nothing to do, in whole microseconds, as of a program that is run. */
static void
read_sleep(struct weir_sim_model *model, const struct weir_base_doc_value *scheduler)
{
	const uint64_t ps = sim_doc_ps(weir_base_doc_get(scheduler, "idle_sleep"));

	model->dispatch.idle_sleep_ps = ps / PS_PER_US * PS_PER_US;
	model->dispatch.wake_ps = sim_doc_ps(weir_base_doc_get(scheduler, "wake"));
}

/* Has it a node of this type? */
static bool
has_node(const struct weir_base_doc_value *root, const char *type)
{
	const struct weir_base_doc_value *nodes =
		weir_base_doc_get(weir_base_doc_get(root, "application"), "nodes");
	const char *name;
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(nodes); i++) {
		name = weir_base_doc_str(weir_base_doc_get(weir_base_doc_at(nodes, i), "type"));
		if (name != NULL && strcmp(name, type) == 0)
			return true;
	}
	return false;
}

static bool
has_jobs(const struct weir_base_doc_value *root)
{
	const struct weir_base_doc_value *processes =
		weir_base_doc_get(weir_base_doc_get(root, "application"), "processes");
	uint32_t i;

	for (i = 0; i < weir_base_doc_count(processes); i++)
		if (weir_base_doc_u64(weir_base_doc_get(weir_base_doc_at(processes, i), "where")) ==
			WEIR_BASE_WHERE_JOBS)
			return true;
	return has_node(root, WEIR_BASE_NODE_JOB);
}

/* Where no limit is said, a program that runs has one all the same. Whose queues are no scheduler's has none. */
static bool
has_default_limit(const struct weir_base_doc_value *root)
{
	return weir_base_doc_given(weir_base_doc_get(root, "platform"), "scheduler") ||
	       has_node(root, WEIR_BASE_NODE_SCHED_TX) || has_node(root, WEIR_BASE_NODE_SCHED_RX) ||
	       has_jobs(root);
}

static int
take_limit(struct weir_sim_model *model, const struct weir_base_doc_value *scheduler)
{
	read_limit(model, scheduler);
	return sim_doc_reason(model, &model->full_reason, "sched_full");
}

int
sim_doc_read_scheduler(struct weir_sim_model *model, const struct weir_base_doc_value *root)
{
	const struct weir_base_doc_value *scheduler =
		weir_base_doc_get(weir_base_doc_get(root, "platform"), "scheduler");

	read_sleep(model, scheduler);
	read_lenience(model, scheduler);
	model->limit_is_said = weir_base_doc_given(scheduler, "events") ||
			       weir_base_doc_given(scheduler, "threshold");
	model->is_limited = model->limit_is_said || has_default_limit(root);
	return model->is_limited ? take_limit(model, scheduler) : 0;
}

int
sim_doc_limit(struct weir_sim_model *model)
{
	if (model->is_limited)
		return 0;
	model->is_limited = true;
	return take_limit(model,
		weir_base_doc_get(weir_base_doc_get(weir_base_doc_root(model->doc), "platform"),
			"scheduler"));
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
	struct model_dispatch *const dispatch = &model->dispatch;
	const char *key = dispatch->bound > 0 ? "starvation_bound" : "priority_slack";

	sim_doc_check_device(model, scheduler);
	dispatch->is_lenient =
		has_priorities(model) && (dispatch->bound > 0 || dispatch->slack_ps > 0);
	if (dispatch->is_lenient && (dispatch->is_weighted || dispatch->preemptive))
		weir_base_doc_error_add(model->doc, weir_base_doc_get(scheduler, key),
			"'%s' means nothing with '%s' of platform.dispatch; expected one of them",
			key, dispatch->is_weighted ? "weights" : "preemptive");
}
