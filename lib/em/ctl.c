/* SPDX-License-Identifier: BSD-3-Clause */

/* This library's commands on the control socket. */

#include <weir_base_ctl.h>

#include "em_private.h"
#include "weir_em_ctl.h"

#define NB_QUEUES_MAX 1000 /* of an answer, if it was not asked for more */

static json_t *
as_integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static void
set(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, as_integer(value));
}

/* Names are the application's: what is not UTF-8 is not told. */
static void
set_name(json_t *object, const char *key, const char *name)
{
	json_t *string = json_string(name);

	json_object_set_new(object, key, string != NULL ? string : json_string("?"));
}

/* Handles are shown as hexadecimal numbers: not all are integers of JSON's. */
static void
set_handle(json_t *object, uint64_t handle)
{
	json_object_set_new(object, "handle", json_sprintf("%#" PRIx64, handle));
}

static json_t *
counters(const struct weir_em_stats *stats)
{
	json_t *object = json_object(), *dropped = json_object();

	set(object, "sent", stats->nb_sent);
	set(object, "forwarded", stats->nb_forwarded);
	set(object, "refused", stats->nb_refused);
	set(object, "received", stats->nb_received);
	set(object, "calls", stats->nb_calls);
	set(object, "rounds", stats->nb_rounds);
	set(object, "idle", stats->nb_idle);
	set(object, "ended_early", stats->nb_ended);
	set(object, "errors", stats->nb_errors);
	for (int i = 0; i < WEIR_EM_DROPS; i++)
		set(dropped, weir_em_drop_name((enum weir_em_drop)i), stats->nb_dropped[i]);
	json_object_set_new(object, "dropped", dropped);
	return object;
}

static json_t *
queue_counters(const struct weir_em_queue_stats *stats)
{
	json_t *object = json_object();

	set(object, "sent", stats->nb_sent);
	set(object, "received", stats->nb_received);
	set(object, "dropped", stats->nb_dropped);
	return object;
}

static int
answer(json_t *object, json_t **result)
{
	*result = object;
	return object == NULL ? -ENOMEM : 0;
}

static json_t *
sched_counters(const struct weir_em *em)
{
	struct weir_sched_stats stats;
	json_t *object = json_object();

	weir_sched_stats(em->sched, &stats);
	set(object, "new", stats.nb_new);
	set(object, "forwarded", stats.nb_forwarded);
	set(object, "released", stats.nb_released);
	set(object, "dequeued", stats.nb_dequeued);
	set(object, "refused", stats.nb_refused);
	set(object, "invalid", stats.nb_invalid);
	set(object, "stolen", stats.nb_stolen);
	return object;
}

static int
ctl_stats(void *arg, const json_t *args, json_t **result)
{
	struct weir_em *em = arg;
	struct weir_em_stats stats;
	json_t *object, *types = json_object();

	weir_em_stats(em, &stats);
	object = counters(&stats);
	for (int type = 0; type < WEIR_EM_QUEUE_TYPES; type++) {
		struct weir_em_queue_stats sums;

		weir_em_type_stats(em, (enum weir_em_queue_type)type, &sums);
		json_object_set_new(types, weir_em_queue_type_name((enum weir_em_queue_type)type),
			queue_counters(&sums));
	}
	set_name(object, "name", em->name);
	json_object_set_new(object, "types", types);
	json_object_set_new(object, "scheduler", sched_counters(em));
	return answer(object, result);
}

static int
ctl_cores(void *arg, const json_t *args, json_t **result)
{
	struct weir_em *em = arg;
	json_t *list = json_array();

	for (unsigned int id = 0; id < em->nb_cores + em->nb_producers; id++) {
		struct weir_em_stats stats;
		json_t *core;

		weir_em_core_stats(em, id, &stats);
		core = counters(&stats);
		set(core, "core", id);
		json_object_set_new(core, "state", json_string(em_core_doing(em, id)));
		json_array_append_new(list, core);
	}
	return answer(json_pack("{s:o}", "cores", list), result);
}

static int
ctl_objects(void *arg, const json_t *args, json_t **result)
{
	struct weir_em *em = arg;
	struct weir_em_object_info info;
	json_t *list = json_array();
	uint64_t handle;

	for (uint32_t at = 0; (handle = em_next(em, EM_KIND_OBJECT, &at)) != 0;) {
		json_t *object;

		if (weir_em_object_info(em, handle, &info) < 0)
			continue;
		object = json_object();
		set_name(object, "name", info.name);
		set_handle(object, handle);
		json_object_set_new(object, "state", json_string(em_state_name(info.state)));
		set(object, "queues", info.nb_queues);
		set(object, "received", info.nb_received);
		set(object, "calls", info.nb_calls);
		json_array_append_new(list, object);
	}
	return answer(json_pack("{s:o}", "objects", list), result);
}

static json_t *
queue_json(struct weir_em *em, weir_em_queue handle, const struct weir_em_queue_info *info)
{
	struct weir_em_object_info owner;
	struct em_queue_group group;
	json_t *object = queue_counters(&info->stats);

	set_name(object, "name", info->name);
	set_handle(object, handle);
	json_object_set_new(object, "type", json_string(weir_em_queue_type_name(info->type)));
	set(object, "priority", info->priority);
	json_object_set_new(object, "enabled", json_boolean(info->enabled));
	if (info->object != WEIR_EM_NONE && weir_em_object_info(em, info->object, &owner) == 0)
		set_name(object, "object", owner.name);
	if (info->group != WEIR_EM_NONE && em_group_look(em, info->group, &group) == 0)
		set_name(object, "group", group.name);
	return object;
}

/* Which queues are asked for? */
struct wish {
	weir_em_object object;
	json_int_t first, max;
};

static int
read_wish(struct weir_em *em, const json_t *args, struct wish *wish, json_t **result)
{
	const json_t *object = json_object_get(args, "object"),
		     *first = json_object_get(args, "first"), *max = json_object_get(args, "max");

	*wish = (struct wish){.max = NB_QUEUES_MAX};
	if (object == NULL)
		object = json_object_get(args, "name");
	if (object != NULL && json_string_length(object) > 0) {
		wish->object = weir_em_object_find(em, json_string_value(object));
		if (wish->object == WEIR_EM_NONE) {
			*result = json_sprintf("no object '%s'", json_string_value(object));
			return -ENOENT;
		}
	}
	if ((object != NULL && !json_is_string(object)) ||
		(first != NULL && (!json_is_integer(first) || json_integer_value(first) < 0)) ||
		(max != NULL && (!json_is_integer(max) || json_integer_value(max) < 0))) {
		*result = json_string(
			"expected \"object\": a name; \"first\", \"max\": numbers from 0");
		return -EINVAL;
	}
	if (first != NULL)
		wish->first = json_integer_value(first);
	if (max != NULL)
		wish->max = json_integer_value(max);
	return 0;
}

/* "left": there are more than were to be told. */
static int
ctl_queues(void *arg, const json_t *args, json_t **result)
{
	struct weir_em *em = arg;
	struct weir_em_queue_info info;
	json_t *list;
	uint64_t handle, left = 0;
	struct wish wish;
	int rc = read_wish(em, args, &wish, result);

	if (rc < 0)
		return rc;
	list = json_array();
	for (uint32_t at = 0; (handle = em_next(em, EM_KIND_QUEUE, &at)) != 0;) {
		if (weir_em_queue_info(em, handle, &info) < 0 ||
			(wish.object != WEIR_EM_NONE && info.object != wish.object) ||
			wish.first-- > 0)
			continue;
		if ((json_int_t)json_array_size(list) < wish.max)
			json_array_append_new(list, queue_json(em, handle, &info));
		else
			left++;
	}
	return answer(json_pack("{s:o, s:o}", "queues", list, "left", as_integer(left)), result);
}

static int
ctl_groups(void *arg, const json_t *args, json_t **result)
{
	struct weir_em *em = arg;
	struct em_queue_group group;
	json_t *list = json_array();
	uint64_t handle;

	for (uint32_t at = 0; (handle = em_next(em, EM_KIND_QUEUE_GROUP, &at)) != 0;) {
		json_t *object, *cores;

		if (em_group_look(em, handle, &group) < 0)
			continue;
		object = json_object();
		cores = json_array();
		for (unsigned int id = 0; id < em->nb_cores; id++)
			if (group.cores >> id & 1)
				json_array_append_new(cores, as_integer(id));
		set_name(object, "name", group.name);
		set_handle(object, handle);
		set(object, "queues", group.nb_queues);
		json_object_set_new(object, "cores", cores);
		json_array_append_new(list, object);
	}
	return answer(json_pack("{s:o}", "groups", list), result);
}

static int
ctl_pools(void *arg, const json_t *args, json_t **result)
{
	struct weir_em *em = arg;
	struct weir_em_pool_info info;
	json_t *list = json_array();
	uint64_t handle;

	for (uint32_t at = 0; (handle = em_next(em, EM_KIND_POOL, &at)) != 0;) {
		json_t *object;

		if (weir_em_pool_info(em, handle, &info) < 0)
			continue;
		object = json_object();
		set_name(object, "name", info.name);
		set_handle(object, handle);
		json_object_set_new(object, "adopted", json_boolean(info.adopted));
		set(object, "buffers", info.nb);
		set(object, "free", info.nb_free);
		set(object, "allocated", info.nb_allocated);
		set(object, "failed", info.nb_failed);
		json_array_append_new(list, object);
	}
	return answer(json_pack("{s:o}", "pools", list), result);
}

static const struct {
	const char *name, *help;
	weir_base_ctl_handler_t handler;
} commands[] = {
	{"em/stats", "event machine: counters of all cores, by type of queue, of the scheduler",
		ctl_stats},
	{"em/cores", "event machine: each core's counters", ctl_cores},
	{"em/objects", "event machine: execution objects", ctl_objects},
	{"em/queues",
		"event machine: queues, of all objects or \"object\"; from \"first\" on, \"max\"",
		ctl_queues},
	{"em/groups", "event machine: queue groups", ctl_groups},
	{"em/pools", "event machine: pools of buffers", ctl_pools},
};

int
weir_em_ctl_register(struct weir_em *em, struct weir_base_ctl *ctl)
{
	size_t nb = 0;
	int rc = 0;

	if (em == NULL || ctl == NULL)
		return -EINVAL;
	for (size_t i = 0; i < RTE_DIM(commands) && rc == 0; i++) {
		rc = weir_base_ctl_register(ctl, commands[i].name, commands[i].help,
			WEIR_BASE_CTL_READ_ONLY, commands[i].handler, em);
		if (rc < 0)
			nb = i;
	}
	for (size_t i = 0; rc < 0 && i < nb; i++) /* none, then */
		weir_base_ctl_unregister(ctl, commands[i].name);
	return rc;
}

void
weir_em_ctl_unregister(struct weir_em *em, struct weir_base_ctl *ctl)
{
	for (size_t i = 0; em != NULL && ctl != NULL && i < RTE_DIM(commands); i++)
		weir_base_ctl_unregister(ctl, commands[i].name);
}
