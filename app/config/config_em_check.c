/* SPDX-License-Identifier: BSD-3-Clause */
/* What must be so of an event machine and its workers. */
#include <string.h>
#include <unistd.h>

#include "config.h"

#define GROUPS_MAX 62 /* the event machine has 63 with one of its own */

bool
config_has_em(const struct config *config)
{
	return config->em.nb_queues > 0 || config_processes_need_jobs(&config->links);
}

bool
config_worker_dispatches(const struct config *config, unsigned int worker)
{
	unsigned int i;

	for (i = 0; i < config->em.nb_queues; i++)
		if (config->em.groups[config->em.queues[i].group].workers >> worker & 1)
			return true;
	return config_worker_has_jobs(config, worker);
}

bool
config_worker_has_node(const struct config *config, unsigned int worker, unsigned int node)
{
	unsigned int i;

	for (i = 0; i < config->em.nb_queues; i++)
		if (config->em.queues[i].node == (int)node &&
			config->em.groups[config->em.queues[i].group].workers >> worker & 1)
			return true;
	return false;
}

bool
config_worker_has_event_graph(const struct config *config, unsigned int worker)
{
	unsigned int i;

	for (i = 0; i < config->em.nb_nodes; i++)
		if (config_worker_has_node(config, worker, i))
			return true;
	return false;
}

static const struct weir_base_doc_value *
key_or_map(const struct weir_base_doc_value *map, const char *key)
{
	return weir_base_doc_given(map, key) ? weir_base_doc_get(map, key) : map;
}

static void
check_queue(struct config *config, const struct config_queue *queue)
{
	const struct config_group *group = &config->em.groups[queue->group];

	if (group->workers == 0)
		weir_base_doc_error_add(config->doc, key_or_map(queue->value, "group"),
			"no worker is in group '%s'; expected it in the 'groups' of one of "
			"platform.workers",
			group->name);
}

static void
check_groups(struct config *config, const struct weir_base_doc_value *workers)
{
	if (config->em.nb_groups > GROUPS_MAX)
		weir_base_doc_error_add(config->doc, workers,
			"%u groups are too many; expected at most %d", config->em.nb_groups,
			GROUPS_MAX);
}

static void
check_object(struct config *config, const struct config_object *object)
{
	const struct weir_base_doc_value *receive = weir_base_doc_get(object->value, "receive");

	if (object->plugin != NULL && access(object->plugin, R_OK) != 0)
		weir_base_doc_error_add(config->doc, receive,
			"cannot read '%s'; expected forward, count, drop, or PLUGIN.so:SYMBOL",
			object->plugin);
}

static void
check_scheduler(struct config *config, const struct weir_base_doc_value *scheduler)
{
	const struct config_em *em = &config->em;
	unsigned int nb_flows = 0, i;

	for (i = 0; i < em->nb_queues; i++)
		nb_flows += em->queues[i].nb_flows;
	if (nb_flows > em->nb_flows || nb_flows > WEIR_EM_QUEUES_MAX)
		weir_base_doc_error_add(config->doc, key_or_map(scheduler, "flows"),
			"the queues have %u flows together; expected at most %u", nb_flows,
			RTE_MIN(em->nb_flows, (uint32_t)WEIR_EM_QUEUES_MAX));
	if (em->nb_reserved >= em->nb_events)
		weir_base_doc_error_add(config->doc, key_or_map(scheduler, "reserved"),
			"%u reserved of %u events leave none; expected less", em->nb_reserved,
			em->nb_events);
	else if (em->threshold > em->nb_events - em->nb_reserved)
		weir_base_doc_error_add(config->doc, key_or_map(scheduler, "threshold"),
			"threshold %u is more than there is room for; expected at most %u",
			em->threshold, em->nb_events - em->nb_reserved);
	if (em->priority_slack_ns != 0 && strcmp(em->backend, "builtin") != 0)
		weir_base_doc_error_add(config->doc, key_or_map(scheduler, "priority_slack"),
			"'priority_slack' means nothing for event devices; expected it with "
			"'builtin'");
	if (em->idle_sleep_us != 0 && strcmp(em->backend, "builtin") != 0)
		weir_base_doc_error_add(config->doc, key_or_map(scheduler, "idle_sleep"),
			"'idle_sleep' means nothing for event devices; expected it with 'builtin'");
}

void
config_check_em(struct config *config, const struct weir_base_doc_value *platform)
{
	struct config_em *em = &config->em;
	const bool files = config_input_is_files(config);
	unsigned int i;

	for (i = 0; i < em->nb_nodes; i++) {
		const struct weir_base_doc_value *on_full =
			weir_base_doc_get(em->nodes[i].value, "on_full");

		em->nodes[i].wait =
			on_full != NULL ? weir_base_doc_u64(on_full) == SCHEMA_ON_FULL_WAIT : files;
		if (em->nodes[i].is_job)
			config_job_check(config, &em->nodes[i]);
	}
	config_check_process_groups(config);
	for (i = 0; i < em->nb_queues; i++)
		check_queue(config, &em->queues[i]);
	for (i = 0; i < em->nb_objects; i++)
		check_object(config, &em->objects[i]);
	check_groups(config, weir_base_doc_get(platform, "workers"));
	check_scheduler(config, weir_base_doc_get(platform, "scheduler"));
}
