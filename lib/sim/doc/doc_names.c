/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What things of a model are called. In an instance of a part a name is first that of something of the instance's own, then of
 * something around it.
 */
#include <stdio.h>
#include <string.h>

#include "doc_read.h"

typedef const char *(*name_at_t)(const struct weir_sim_model *model, uint32_t index);

#define NAME_AT(thing, array)                                                                      \
	static const char *thing##_at(const struct weir_sim_model *model, uint32_t index)          \
	{                                                                                          \
		return model->array[index].name;                                                   \
	}

NAME_AT(queue, queues)
NAME_AT(unit, units)
NAME_AT(memory, memories)
NAME_AT(cores, cores)
NAME_AT(stream, streams)
NAME_AT(object, objects)

static const char *
group_at(const struct weir_sim_model *model, uint32_t index)
{
	return model->groups[index];
}

void
sim_doc_add_name(struct sim_doc_names *names, const char *name)
{
	static const char more[] = ", ...";
	const char *separator = names->used > 0 ? ", " : "";

	if (names->is_cut)
		return;
	/* There is always room to say that there are more. */
	names->is_cut =
		names->used + strlen(separator) + strlen(name) + sizeof(more) > sizeof(names->text);
	names->used += (size_t)sprintf(names->text + names->used, "%s%s",
		names->is_cut ? "" : separator, names->is_cut ? more : name);
}

/* Index of what is meant, SIM_NONE: there is no such thing. */
static uint32_t
find(const struct weir_sim_model *model, const struct weir_base_doc_value *value, uint32_t nb,
	name_at_t name_at)
{
	const char *name;
	uint32_t level, i;

	for (level = 0; (name = weir_base_doc_meaning(value, level)) != NULL; level++)
		for (i = 0; i < nb; i++)
			if (strcmp(name_at(model, i), name) == 0)
				return i;
	return SIM_NONE;
}

/* Likewise, and it is told if there is none. */
static uint32_t
find_or_tell(struct weir_sim_model *model, const struct weir_base_doc_value *value, uint32_t nb,
	name_at_t name_at, const char *things, const char *all)
{
	const uint32_t found = find(model, value, nb, name_at);
	const char *name = weir_base_doc_str(value);
	struct sim_doc_names names = {.used = 0};
	uint32_t i;

	if (found != SIM_NONE)
		return found;
	for (i = 0; i < nb; i++)
		sim_doc_add_name(&names, name_at(model, i));
	weir_base_doc_error_add(model->doc, value, "unknown %s '%s'; expected one of %s%s%s",
		things, name != NULL ? name : "", all,
		names.used > 0 ? ": " : ", of which there are none", names.text);
	return SIM_NONE;
}

uint32_t
sim_doc_meant_queue(const struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	return find(model, value, model->nb_queues, queue_at);
}

/* Where a node's packets wait for its jobs: nobody else sends there, where they would not be counted as the node's. */
static bool
is_of_jobs(const struct weir_sim_model *model, uint32_t queue)
{
	return model->queues[queue].job != SIM_NONE;
}

uint32_t
sim_doc_find_any_queue(struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	const uint32_t queue = find_or_tell(
		model, value, model->nb_queues, queue_at, "queue", "application.queues");

	model->has_unknown_queue = model->has_unknown_queue || queue == SIM_NONE;
	return queue;
}

uint32_t
sim_doc_find_queue(struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	const uint32_t queue = sim_doc_find_any_queue(model, value);

	if (queue == SIM_NONE || !is_of_jobs(model, queue))
		return queue;
	weir_base_doc_error_add(model->doc, value,
		"'%s' is a node of jobs, to which packets come in the graph; expected one of "
		"application.queues",
		model->queues[queue].name);
	return SIM_NONE;
}

static void
refuse_destination(struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	struct sim_doc_names names = {.used = 0};
	uint32_t i;

	for (i = 0; i < model->nb_queues; i++)
		if (model->queues[i].job == SIM_NONE)
			sim_doc_add_name(&names, model->queues[i].name);
	for (i = 0; i < model->graph.nb_ports; i++)
		if (model->graph.ports[i].receives && !model->graph.ports[i].is_receiver)
			sim_doc_add_name(&names, model->graph.ports[i].name);
	model->has_unknown_queue = true;
	weir_base_doc_error_add(model->doc, value, "unknown queue or port '%s'; expected %s%s",
		weir_base_doc_str(value),
		names.used > 0 ? "one of: " : "one of application.queues or platform.ports",
		names.text);
}

uint32_t
sim_doc_find_destination(struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	const char *name = weir_base_doc_str(value);
	const uint32_t port = sim_doc_port(model, name);
	const uint32_t queue = sim_doc_meant_queue(model, value);

	if (port == SIM_NONE && queue == SIM_NONE && model->graph.nb_ports > 0) {
		refuse_destination(model, value);
		return SIM_NONE;
	}
	if (port == SIM_NONE)
		return sim_doc_find_queue(model, value);
	/* One of a part's own is meant before the port, which is outside of all parts. */
	if (queue != SIM_NONE && strcmp(model->queues[queue].name, name) != 0)
		return queue;
	if (queue != SIM_NONE) {
		weir_base_doc_error_add(model->doc, value,
			"a queue and a port are called '%s'; expected names that differ", name);
		return SIM_NONE;
	}
	if (model->has_refused_graph)
		return SIM_NONE; /* which may be why nothing comes there, and was told */
	if (!model->graph.ports[port].receives) {
		weir_base_doc_error_add(model->doc, value,
			"no packets come by port '%s', which only transmits; expected one with "
			"'pcap_in' or 'device'",
			name);
		return SIM_NONE;
	}
	if (model->graph.nb_workers == 0) {
		weir_base_doc_error_add(model->doc, value,
			"what workers do with packets of port '%s' has no costs; expected 'costs' "
			"in 'platform'",
			name);
		return SIM_NONE;
	}
	if (model->graph.rx_nodes[port] == SIM_NONE) {
		weir_base_doc_error_add(model->doc, value,
			"no worker polls port '%s'; expected it in a 'receive' list", name);
		return SIM_NONE;
	}
	return SIM_TO_PORT | port;
}

uint32_t
sim_doc_find_unit(struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	const uint32_t unit =
		find_or_tell(model, value, model->nb_units, unit_at, "unit", "platform.units");

	if (unit != SIM_NONE)
		model->units[unit].is_used = true;
	else
		model->has_unknown_steps = true;
	return unit;
}

uint32_t
sim_doc_find_memory(struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	const uint32_t memory = find_or_tell(
		model, value, model->nb_memories, memory_at, "memory", "platform.memories");

	if (memory != SIM_NONE)
		model->memories[memory].is_used = true;
	else
		model->has_unknown_steps = true;
	return memory;
}

void
sim_doc_add_kinds(
	struct sim_doc_names *names, const struct weir_sim_model *model, uint32_t nb_kinds)
{
	uint32_t i;

	for (i = 0; i < nb_kinds; i++)
		sim_doc_add_name(names, model->cores[i].name);
}

/* Are cores of the file meant of which none is left, as each worker is one? */
static bool
is_taken(const struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	const struct weir_base_doc_value *cores = weir_base_doc_get(
		weir_base_doc_get(weir_base_doc_root(model->doc), "platform"), "cores");
	const char *name;
	uint32_t level;

	for (level = 0; (name = weir_base_doc_meaning(value, level)) != NULL; level++)
		if (weir_base_doc_get(cores, name) != NULL)
			return true;
	return false;
}

uint32_t
sim_doc_find_cores(struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	const uint32_t found = find(model, value, model->nb_kinds, cores_at);
	struct sim_doc_names names = {.used = 0};

	if (found != SIM_NONE)
		return found;
	sim_doc_add_kinds(&names, model, model->nb_kinds);
	weir_base_doc_error_add(model->doc, value, "%s '%s'; expected %s%s",
		is_taken(model, value) ? "workers have all cores of" : "unknown cores",
		weir_base_doc_str(value), names.used > 0 ? "one of: " : "'cores' in 'platform'",
		names.text);
	return SIM_NONE;
}

uint32_t
sim_doc_find_stream(const struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	return find(model, value, model->nb_streams, stream_at);
}

uint32_t
sim_doc_find_probed_stream(struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	return find_or_tell(
		model, value, model->nb_streams, stream_at, "stream", "traffic.streams");
}

uint32_t
sim_doc_find_object(const struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	return find(model, value, model->nb_objects, object_at);
}

/* A new group of that name. SIM_NONE: there are too many, which was told. */
static uint32_t
add_group(struct weir_sim_model *model, const struct weir_base_doc_value *value, const char *name)
{
	if (model->nb_groups == SIM_GROUPS_MAX) {
		weir_base_doc_error_add(model->doc, value,
			"'%s' is one group too many; expected at most %u", weir_base_doc_str(value),
			SIM_GROUPS_MAX);
		return SIM_NONE;
	}
	model->groups[model->nb_groups] = name;
	return model->nb_groups++;
}

uint32_t
sim_doc_group(
	struct weir_sim_model *model, const struct weir_base_doc_value *value, const char *name)
{
	uint32_t i;

	for (i = 0; i < model->nb_groups; i++)
		if (strcmp(model->groups[i], name) == 0)
			return i;
	return add_group(model, value, name);
}

uint32_t
sim_doc_cores_group(struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	return sim_doc_group(model, value, weir_base_doc_meaning(value, 0));
}

uint32_t
sim_doc_queue_group(struct weir_sim_model *model, const struct weir_base_doc_value *value)
{
	const uint32_t found = find(model, value, model->nb_groups, group_at);

	return found != SIM_NONE ? found : add_group(model, value, weir_base_doc_str(value));
}

/* Is it a name as the pattern has it? A star in it stands for what one instance of an array is called. */
static bool
matches(const char *pattern, const char *name)
{
	for (; *pattern != '\0'; pattern++) {
		if (*pattern == '*') {
			const size_t length = strcspn(name, ".");

			if (length == 0)
				return false;
			name += length;
		} else if (*pattern != *name++) {
			return false;
		}
	}
	return *name == '\0';
}

uint32_t
sim_doc_match_queue(const struct weir_sim_model *model, const struct weir_base_doc_value *value,
	uint32_t level, uint32_t after)
{
	const char *pattern = weir_base_doc_meaning(value, level);
	uint32_t i;

	for (i = after; pattern != NULL && i < model->nb_queues; i++)
		if (matches(pattern, model->queues[i].name) && !is_of_jobs(model, i))
			return i;
	return SIM_NONE;
}
