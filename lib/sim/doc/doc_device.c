/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a document to a model: an event device of DPDK's as the scheduler. What it cannot do is refused as by a program that is run; what it does
 * is simulated as that of `builtin`, but for its room.
 */
#include <string.h>

#include "doc_read.h"
#include "weir_base_event_device.h"

/* Known without DPDK: what the scheduler finds of these drivers. */
static const struct device {
	const char *driver;
	uint32_t room, lent_to_a_port; /* events; 0: any number */
	bool is_pipeline, lacks_ordered, lacks_priorities, lacks_bound;
} devices[] = {
	{.driver = WEIR_BASE_EVENT_DSW,
		.room = WEIR_BASE_EVENT_DSW_ROOM,
		.lent_to_a_port = WEIR_BASE_EVENT_DSW_LENT,
		.lacks_ordered = true,
		.lacks_priorities = true},
	{.driver = WEIR_BASE_EVENT_SW,
		.room = WEIR_BASE_EVENT_SW_ROOM,
		.lent_to_a_port = WEIR_BASE_EVENT_SW_LENT,
		.lacks_bound = true},
	{.driver = WEIR_BASE_EVENT_OPDL, .is_pipeline = true}, {.driver = ""}, /* any other */
};

/* By its name, as DPDK does: that begins with its driver's. */
static const struct device *
find_device(const char *name)
{
	const struct device *device = devices;

	while (strncmp(name, device->driver, strlen(device->driver)) != 0)
		device++;
	return device;
}

/* A key of something, if it is there. */
static const struct weir_base_doc_value *
key_or_all(const struct weir_base_doc_value *value, const char *key)
{
	return weir_base_doc_given(value, key) ? weir_base_doc_get(value, key) : value;
}

static void
check_queue(struct weir_sim_model *model, const struct device *device, struct model_queue *queue)
{
	if (device->lacks_ordered && queue->type == MODEL_ORDERED && queue->job == SIM_NONE)
		weir_base_doc_error_add(model->doc, key_or_all(queue->value, "type"),
			"%s has no ordered queues; expected atomic, parallel, or another 'backend' "
			"of platform.scheduler",
			device->driver);
	if (device->lacks_priorities && queue->priority != 0)
		weir_base_doc_error_add(model->doc, key_or_all(queue->value, "priority"),
			"%s has no priorities; expected 0, or another 'backend' of "
			"platform.scheduler",
			device->driver);
}

/* The lowest one that queues have: jobs that say none have that. */
static uint32_t
find_lowest(const struct weir_sim_model *model, const struct device *device)
{
	uint32_t lowest = 0, i;
	bool is_any_said = false;

	for (i = 0; i < model->nb_queues; i++) {
		const struct model_queue *const queue = &model->queues[i];

		if (queue->job != SIM_NONE && !weir_base_doc_given(queue->value, "priority"))
			continue;
		is_any_said = true;
		lowest = queue->priority > lowest ? queue->priority : lowest;
	}
	return is_any_said || device->lacks_priorities ? lowest : SIM_PRIORITIES - 1;
}

static void
check_queues(struct weir_sim_model *model, const struct device *device)
{
	const uint32_t lowest = find_lowest(model, device);
	uint32_t i;

	for (i = 0; i < model->nb_queues; i++) {
		struct model_queue *const queue = &model->queues[i];

		if (queue->job != SIM_NONE && !weir_base_doc_given(queue->value, "priority"))
			queue->priority = device->lacks_priorities ? 0 : lowest;
		check_queue(model, device, queue);
	}
}

static void
check_key(struct weir_sim_model *model, const struct weir_base_doc_value *scheduler,
	const char *key, bool is_used)
{
	if (is_used)
		weir_base_doc_error_add(model->doc, weir_base_doc_get(scheduler, key),
			"'%s' means nothing for event devices; expected it with 'builtin'", key);
}

/* Each worker has a port, and the machine one; so have reserved credits. */
static uint32_t
count_ports(const struct weir_sim_model *model, uint64_t nb_reserved)
{
	const struct weir_base_doc_value *workers = weir_base_doc_get(
		weir_base_doc_get(weir_base_doc_root(model->doc), "platform"), "workers");
	const uint32_t nb = weir_base_doc_count(workers);

	return (model->graph.nb_workers == 0 ? model->nb_cores
		       : nb > 0              ? nb
					     : 1) +
	       1 + (nb_reserved > 0);
}

/* Credits that are on loan to ports are not to be had. */
static void
limit(struct weir_sim_model *model, const struct device *device,
	const struct weir_base_doc_value *scheduler)
{
	const uint64_t nb_reserved = weir_base_doc_u64(weir_base_doc_get(scheduler, "reserved"));
	const uint64_t lent = (uint64_t)device->lent_to_a_port * count_ports(model, nb_reserved);

	if (!model->is_limited || device->room == 0)
		return;
	if (device->room < lent + nb_reserved + 1)
		weir_base_doc_error_add(model->doc, key_or_all(scheduler, "reserved"),
			"%s has %u credits, of which %lu may be on loan to ports: too few; "
			"expected less reserved, or fewer workers",
			device->driver, device->room, (unsigned long)lent);
	else if (model->threshold > device->room - lent - nb_reserved)
		model->threshold = (uint32_t)(device->room - lent - nb_reserved);
}

void
sim_doc_check_device(struct weir_sim_model *model, const struct weir_base_doc_value *scheduler)
{
	static const char prefix[] = "eventdev:";
	const struct weir_base_doc_value *backend = weir_base_doc_get(scheduler, "backend");
	const struct device *device;

	if (strncmp(weir_base_doc_str(backend), prefix, strlen(prefix)) != 0)
		return;
	device = find_device(weir_base_doc_str(backend) + strlen(prefix));
	if (device->is_pipeline) {
		weir_base_doc_error_add(model->doc, backend,
			"an event machine cannot be had on %s, whose ports get events of one queue "
			"each; expected 'builtin', or a device whose ports serve any queues, as "
			"event_dsw and event_sw",
			device->driver);
		return;
	}
	check_queues(model, device);
	check_key(model, scheduler, "priority_slack", model->dispatch.slack_ps > 0);
	check_key(model, scheduler, "idle_sleep", model->dispatch.idle_sleep_ps > 0);
	if (device->lacks_bound && model->dispatch.bound > 0)
		weir_base_doc_error_add(model->doc,
			weir_base_doc_get(scheduler, "starvation_bound"),
			"%s has no starvation bound; expected 0, or 'builtin'", device->driver);
	limit(model, device, scheduler);
	weir_base_doc_leave(scheduler, "backend");
}
