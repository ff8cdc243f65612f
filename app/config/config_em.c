/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the event machine of a description file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weir_base_rules.h>

#include "config.h"

#define NB_PLUGIN_FLOWS 64

int
config_queue_find(const struct config *config, const char *name)
{
	unsigned int i;

	for (i = 0; i < config->em.nb_queues; i++)
		if (strcmp(config->em.queues[i].name, name) == 0)
			return (int)i;
	return CONFIG_NONE;
}

const struct config_sched_node *
config_sched_node_find(const struct config *config, const char *name)
{
	unsigned int i;

	for (i = 0; i < config->em.nb_nodes; i++)
		if (strcmp(config->em.nodes[i].name, name) == 0)
			return &config->em.nodes[i];
	return NULL;
}

/* The queue that a value names; CONFIG_NONE: there is none. */
static int
find_queue(const struct config *config, const struct weir_base_doc_value *value)
{
	return config_queue_find(config, weir_base_doc_str(value));
}

int
config_take_group(struct config_em *em, const char *name, unsigned int *index)
{
	struct config_group *groups;
	unsigned int i;

	for (i = 0; i < em->nb_groups; i++)
		if (strcmp(em->groups[i].name, name) == 0)
			break;
	*index = i;
	if (i < em->nb_groups)
		return 0;
	groups = realloc(em->groups, (em->nb_groups + 1) * sizeof(*groups));
	if (groups == NULL)
		return -ENOMEM;
	em->groups = groups;
	groups[em->nb_groups++] = (struct config_group){.name = name};
	return 0;
}

/* Without any workers in the file, there is one, which serves all. */
static int
read_groups(struct config *config, const struct weir_base_doc_value *workers)
{
	struct config_em *em = &config->em;
	const struct weir_base_doc_value *worker, *list;
	unsigned int nb = weir_base_doc_count(workers), index, i, j;

	if (config_take_group(em, "default", &index) < 0)
		return -ENOMEM;
	if (nb == 0)
		em->groups[0].workers = 1;
	for (i = 0; i < nb && i < 64; i++) {
		worker = weir_base_doc_at(workers, i);
		if (!weir_base_doc_given(worker, "groups"))
			em->groups[0].workers |= UINT64_C(1) << i;
		list = weir_base_doc_get(worker, "groups");
		for (j = 0; j < weir_base_doc_count(list); j++) {
			if (config_take_group(
				    em, weir_base_doc_str(weir_base_doc_at(list, j)), &index) < 0)
				return -ENOMEM;
			em->groups[index].workers |= UINT64_C(1) << i;
		}
	}
	return 0;
}

static int
read_queues(struct config *config, const struct weir_base_doc_value *list)
{
	struct config_em *em = &config->em;
	unsigned int nb = weir_base_doc_count(list), i;

	em->queues = calloc(nb + 1, sizeof(*em->queues));
	if (em->queues == NULL)
		return -ENOMEM;
	for (i = 0; i < nb; i++) {
		struct config_queue *queue = &em->queues[i];

		queue->value = weir_base_doc_at(list, i);
		queue->name = weir_base_doc_name(queue->value);
		queue->type = (enum schema_queue_type)weir_base_doc_u64(
			weir_base_doc_get(queue->value, "type"));
		queue->priority =
			(uint8_t)weir_base_doc_u64(weir_base_doc_get(queue->value, "priority"));
		queue->nb_flows =
			(unsigned int)weir_base_doc_u64(weir_base_doc_get(queue->value, "flows"));
		queue->object = CONFIG_NONE;
		queue->node = CONFIG_NONE;
		em->nb_queues = i + 1;
		if (config_take_group(em,
			    weir_base_doc_str(weir_base_doc_get(queue->value, "group")),
			    &queue->group) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* A queue has one owner. */
static void
own_queues(struct config *config, const struct weir_base_doc_value *list, int object, int node)
{
	struct config_queue *queue;
	unsigned int i;
	int index;

	for (i = 0; i < weir_base_doc_count(list); i++) {
		index = find_queue(config, weir_base_doc_at(list, i));
		if (index == CONFIG_NONE)
			continue;
		queue = &config->em.queues[index];
		if (queue->object != CONFIG_NONE || queue->node != CONFIG_NONE)
			continue;
		queue->object = object;
		queue->node = node;
		queue->edge = i;
	}
}

int
config_read_plugin(const struct weir_base_doc_value *value, const char *text, char **plugin,
	const char **symbol)
{
	const char *colon = strrchr(text, ':'), *file, *slash;
	unsigned int line, column;

	*symbol = colon + 1;
	file = weir_base_doc_where(value, &line, &column);
	slash = text[0] == '/' ? NULL : strrchr(file, '/');
	if (asprintf(plugin, "%.*s%s%.*s", slash != NULL ? (int)(slash + 1 - file) : 0, file,
		    slash == NULL && text[0] != '/' ? "./" : "", (int)(colon - text), text) < 0) {
		*plugin = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int
read_object(struct config *config, struct config_object *object)
{
	const struct weir_base_doc_value *to = weir_base_doc_get(object->value, "to");
	const struct weir_base_doc_value *receive = weir_base_doc_get(object->value, "receive");
	const char *text = weir_base_doc_str(receive);
	unsigned int i;

	object->to = to != NULL ? find_queue(config, to) : CONFIG_NONE;
	object->flow =
		(enum weir_bridge_flow)weir_base_doc_u64(weir_base_doc_get(object->value, "flow"));
	object->argument = weir_base_doc_str(weir_base_doc_get(object->value, "argument"));
	if (text == NULL) { /* enough for a simulation */
		weir_base_doc_error_add(config->doc, object->value,
			"object '%s' does not say what it does with events; expected a key "
			"'receive'",
			object->name);
		return 0;
	}
	for (i = 0; weir_bridge_builtin_names[i] != NULL; i++)
		if (strcmp(text, weir_bridge_builtin_names[i]) == 0)
			break;
	object->builtin = (enum weir_bridge_builtin)i;
	if (weir_bridge_builtin_names[i] == NULL)
		return config_read_plugin(object->value, text, &object->plugin, &object->symbol);
	return 0;
}

static int
read_objects(struct config *config, const struct weir_base_doc_value *list)
{
	struct config_em *em = &config->em;
	unsigned int nb = weir_base_doc_count(list), i;

	em->objects = calloc(nb + 1, sizeof(*em->objects));
	if (em->objects == NULL)
		return -ENOMEM;
	for (i = 0; i < nb; i++) {
		struct config_object *object = &em->objects[i];

		object->value = weir_base_doc_at(list, i);
		object->name = weir_base_doc_name(object->value);
		em->nb_objects = i + 1;
		if (read_object(config, object) < 0)
			return -ENOMEM;
		own_queues(config, weir_base_doc_get(object->value, "queues"), (int)i, CONFIG_NONE);
	}
	return 0;
}

/* Keys of sched_rx, sched_tx and job. */
static int
read_node(struct config *config, struct config_sched_node *node, int index)
{
	const struct weir_base_doc_value *queues = weir_base_doc_get(node->value, "queues");
	const struct weir_base_doc_value *queue = weir_base_doc_get(node->value, "queue");

	node->queue = !node->is_rx && queue != NULL ? find_queue(config, queue) : CONFIG_NONE;
	node->flow =
		(enum weir_bridge_flow)weir_base_doc_u64(weir_base_doc_get(node->value, "flow"));
	if (node->is_rx)
		own_queues(config, queues, CONFIG_NONE, index);
	return node->is_job ? config_job_read(config, node) : 0;
}

static int
read_nodes(struct config *config, const struct weir_base_doc_value *list)
{
	struct config_em *em = &config->em;
	unsigned int nb = weir_base_doc_count(list), i;
	const char *type;

	em->nodes = calloc(nb + 1, sizeof(*em->nodes));
	if (em->nodes == NULL)
		return -ENOMEM;
	for (i = 0; i < nb; i++) {
		const struct weir_base_doc_value *value = weir_base_doc_at(list, i);
		struct config_sched_node *node = &em->nodes[em->nb_nodes];

		type = weir_base_doc_str(weir_base_doc_get(value, "type"));
		if (strcmp(type, "sched_rx") != 0 && strcmp(type, "sched_tx") != 0 &&
			strcmp(type, "job") != 0)
			continue;
		node->value = value;
		node->name = weir_base_doc_name(value);
		node->is_rx = strcmp(type, "sched_rx") == 0;
		node->is_job = strcmp(type, "job") == 0;
		em->nb_nodes++;
		if (read_node(config, node, (int)em->nb_nodes - 1) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void
read_scheduler(struct config *config, const struct weir_base_doc_value *value)
{
	struct config_em *em = &config->em;
	unsigned int i;

	em->backend = weir_base_doc_str(weir_base_doc_get(value, "backend"));
	em->nb_events = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "events"));
	em->nb_flows = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "flows"));
	em->nb_reserved = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "reserved"));
	em->threshold = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "threshold"));
	em->starvation_bound =
		(uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "starvation_bound"));
	em->priority_slack_ns =
		(uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "priority_slack"));
	em->idle_sleep_us =
		(uint32_t)(weir_base_doc_u64(weir_base_doc_get(value, "idle_sleep")) / 1000);
	if (em->nb_flows != 0)
		return;
	em->nb_flows = NB_PLUGIN_FLOWS;
	for (i = 0; i < em->nb_queues; i++)
		em->nb_flows += em->queues[i].nb_flows;
}

int
config_read_em(struct config *config, const struct weir_base_doc_value *platform)
{
	const struct weir_base_doc_value *application = config->application;

	weir_base_rules_events(config->doc, false);
	if (read_groups(config, weir_base_doc_get(platform, "workers")) < 0 ||
		read_queues(config, weir_base_doc_get(application, "queues")) < 0 ||
		read_objects(config, weir_base_doc_get(application, "objects")) < 0 ||
		read_nodes(config, weir_base_doc_get(application, "nodes")) < 0)
		return -ENOMEM;
	read_scheduler(config, weir_base_doc_get(platform, "scheduler"));
	return 0;
}

void
config_free_em(struct config_em *em)
{
	unsigned int i;

	for (i = 0; i < em->nb_objects; i++)
		free(em->objects[i].plugin);
	for (i = 0; i < em->nb_nodes; i++)
		free(em->nodes[i].job.plugin);
	free(em->groups);
	free(em->queues);
	free(em->objects);
	free(em->nodes);
}
