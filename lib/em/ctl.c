/* SPDX-License-Identifier: BSD-3-Clause */

/* This library's commands on the control socket. */

#include <stdlib.h>

#include <weir_base_ctl.h>

#include "event.h"
#include "weir_em_ctl.h"
#include "weir_em_event_group.h"
#include "weir_em_timer.h"

#define NB_MAX 1000 /* of an answer, if it was not asked for more */

/* Handles are shown as hexadecimal numbers: not all are integers of JSON's. */
static void
set_handle(json_t *object, uint64_t handle)
{
	weir_base_ctl_set_hex(object, "handle", handle);
}

static json_t *
counters(const struct weir_em_stats *stats)
{
	json_t *object = json_object(), *dropped = json_object();

	weir_base_ctl_set(object, "sent", stats->nb_sent);
	weir_base_ctl_set(object, "forwarded", stats->nb_forwarded);
	weir_base_ctl_set(object, "refused", stats->nb_refused);
	weir_base_ctl_set(object, "received", stats->nb_received);
	weir_base_ctl_set(object, "calls", stats->nb_calls);
	weir_base_ctl_set(object, "rounds", stats->nb_rounds);
	weir_base_ctl_set(object, "idle", stats->nb_idle);
	weir_base_ctl_set(object, "ended_early", stats->nb_ended);
	weir_base_ctl_set(object, "errors", stats->nb_errors);
	for (int i = 0; i < WEIR_EM_DROPS; i++)
		weir_base_ctl_set(
			dropped, weir_em_drop_name((enum weir_em_drop)i), stats->nb_dropped[i]);
	json_object_set_new(object, "dropped", dropped);
	return object;
}

static json_t *
queue_counters(const struct weir_em_queue_stats *stats)
{
	json_t *object = json_object();

	weir_base_ctl_set(object, "sent", stats->nb_sent);
	weir_base_ctl_set(object, "received", stats->nb_received);
	weir_base_ctl_set(object, "dropped", stats->nb_dropped);
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
	weir_base_ctl_set(object, "new", stats.nb_new);
	weir_base_ctl_set(object, "forwarded", stats.nb_forwarded);
	weir_base_ctl_set(object, "released", stats.nb_released);
	weir_base_ctl_set(object, "dequeued", stats.nb_dequeued);
	weir_base_ctl_set(object, "refused", stats.nb_refused);
	weir_base_ctl_set(object, "invalid", stats.nb_invalid);
	weir_base_ctl_set(object, "stolen", stats.nb_stolen);
	return object;
}

/* Of the group that has this number, in the scheduler one more. */
static void
set_group(json_t *object, struct weir_em *em, unsigned int number)
{
	struct em_queue_group group;
	uint64_t handle;

	for (uint32_t at = 0; (handle = em_next(em, EM_KIND_QUEUE_GROUP, &at)) != 0;)
		if (em_handle_number(handle) == number && em_group_look(em, handle, &group) == 0)
			weir_base_ctl_set_name(object, "group", group.name);
}

/* Counters of one queue of the scheduler, by their names there. */
static json_t *
sched_queue(struct weir_em *em, unsigned int queue)
{
	struct weir_sched_xstat xstats[64];
	int nb =
		weir_sched_xstats(em->sched, WEIR_SCHED_PART_QUEUE, queue, xstats, RTE_DIM(xstats));
	struct weir_sched_queue_config config;
	json_t *object = json_object();

	weir_base_ctl_set(object, "queue", queue);
	if (weir_sched_queue_get(em->sched, queue, &config) == 0 && config.group > 0)
		set_group(object, em, config.group - 1u);
	for (int i = 0; i < nb && i < (int)RTE_DIM(xstats); i++)
		weir_base_ctl_set(object, xstats[i].name, xstats[i].value);
	return object;
}

/* Those that were used. */
static json_t *
sched_queues(struct weir_em *em)
{
	struct weir_sched_config config;
	json_t *list = json_array();

	if (weir_sched_config_get(em->sched, &config) < 0)
		return list;
	for (unsigned int queue = 0; queue < config.nb_queues; queue++) {
		json_t *object = sched_queue(em, queue);

		if (json_integer_value(json_object_get(object, "enqueued")) > 0)
			json_array_append_new(list, object);
		else
			json_decref(object);
	}
	return list;
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
	weir_base_ctl_set_name(object, "name", em->name);
	json_object_set_new(object, "types", types);
	json_object_set_new(object, "scheduler", sched_counters(em));
	json_object_set_new(object, "scheduler_queues", sched_queues(em));
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
		weir_base_ctl_set(core, "core", id);
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
		weir_base_ctl_set_name(object, "name", info.name);
		set_handle(object, handle);
		json_object_set_new(object, "state", json_string(em_state_name(info.state)));
		weir_base_ctl_set(object, "queues", info.nb_queues);
		weir_base_ctl_set(object, "received", info.nb_received);
		weir_base_ctl_set(object, "calls", info.nb_calls);
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

	weir_base_ctl_set_name(object, "name", info->name);
	set_handle(object, handle);
	json_object_set_new(object, "type", json_string(weir_em_queue_type_name(info->type)));
	weir_base_ctl_set(object, "priority", info->priority);
	json_object_set_new(object, "enabled", json_boolean(info->enabled));
	if (info->object != WEIR_EM_NONE && weir_em_object_info(em, info->object, &owner) == 0)
		weir_base_ctl_set_name(object, "object", owner.name);
	if (info->group != WEIR_EM_NONE && em_group_look(em, info->group, &group) == 0)
		weir_base_ctl_set_name(object, "group", group.name);
	return object;
}

/* Which of many are asked for? */
struct wish {
	weir_em_object object; /* only its queues */
	json_int_t first, max;
};

static int
read_part(const json_t *args, struct wish *wish, json_t **result)
{
	const json_t *first = json_object_get(args, "first"), *max = json_object_get(args, "max");

	*wish = (struct wish){.max = NB_MAX};
	if ((first != NULL && (!json_is_integer(first) || json_integer_value(first) < 0)) ||
		(max != NULL && (!json_is_integer(max) || json_integer_value(max) < 0))) {
		*result = json_string("expected \"first\", \"max\": numbers from 0");
		return -EINVAL;
	}
	if (first != NULL)
		wish->first = json_integer_value(first);
	if (max != NULL)
		wish->max = json_integer_value(max);
	return 0;
}

static int
read_wish(struct weir_em *em, const json_t *args, struct wish *wish, json_t **result)
{
	const json_t *object = json_object_get(args, "object");
	int rc = read_part(args, wish, result);

	if (rc < 0)
		return rc;
	if (object == NULL)
		object = json_object_get(args, "name");
	if (object != NULL && json_string_length(object) > 0) {
		wish->object = weir_em_object_find(em, json_string_value(object));
		if (wish->object == WEIR_EM_NONE) {
			*result = json_sprintf("no object '%s'", json_string_value(object));
			return -ENOENT;
		}
	}
	if (object != NULL && !json_is_string(object)) {
		*result = json_string("expected \"object\": a name");
		return -EINVAL;
	}
	return 0;
}

/* Is the next one to be told? @left: how many there are behind those that are. */
static bool
is_wished(struct wish *wish, const json_t *list, uint64_t *left)
{
	if (wish->first-- > 0)
		return false;
	if ((json_int_t)json_array_size(list) < wish->max)
		return true;
	++*left;
	return false;
}

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
		if (weir_em_queue_info(em, handle, &info) == 0 &&
			(wish.object == WEIR_EM_NONE || info.object == wish.object) &&
			is_wished(&wish, list, &left))
			json_array_append_new(list, queue_json(em, handle, &info));
	}
	return answer(json_pack("{s:o, s:I}", "queues", list, "left", (json_int_t)left), result);
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
				json_array_append_new(cores, json_integer(id));
		weir_base_ctl_set_name(object, "name", group.name);
		set_handle(object, handle);
		weir_base_ctl_set(object, "queues", group.nb_queues);
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
		weir_base_ctl_set_name(object, "name", info.name);
		set_handle(object, handle);
		json_object_set_new(object, "adopted", json_boolean(info.adopted));
		weir_base_ctl_set(object, "buffers", info.nb);
		weir_base_ctl_set(object, "free", info.nb_free);
		weir_base_ctl_set(object, "allocated", info.nb_allocated);
		weir_base_ctl_set(object, "failed", info.nb_failed);
		json_array_append_new(list, object);
	}
	return answer(json_pack("{s:o}", "pools", list), result);
}

static json_t *
event_group_totals(const struct weir_em *em)
{
	struct weir_em_event_group_stats stats;
	json_t *object = json_object();

	weir_em_event_group_stats(em, &stats);
	weir_base_ctl_set(object, "groups", stats.nb_groups);
	weir_base_ctl_set(object, "cycles", stats.nb_applied);
	weir_base_ctl_set(object, "completed", stats.nb_completed);
	weir_base_ctl_set(object, "aborted", stats.nb_aborted);
	weir_base_ctl_set(object, "events", stats.nb_events);
	weir_base_ctl_set(object, "stale", stats.nb_stale);
	weir_base_ctl_set(object, "excess", stats.nb_excess);
	weir_base_ctl_set(object, "notifications", stats.nb_notifications);
	weir_base_ctl_set(object, "undeliverable", stats.nb_undeliverable);
	return object;
}

static int
ctl_event_groups(void *arg, const json_t *args, json_t **result)
{
	struct weir_em *em = arg;
	struct weir_em_event_group_info info;
	weir_em_event_group handle = WEIR_EM_NONE;
	uint64_t left = 0;
	struct wish wish;
	json_t *list;
	int rc = read_part(args, &wish, result);

	if (rc < 0)
		return rc;
	list = json_array();
	while ((handle = weir_em_event_group_next(em, handle)) != WEIR_EM_NONE) {
		json_t *object;

		if (weir_em_event_group_info(em, handle, &info) < 0 ||
			!is_wished(&wish, list, &left))
			continue;
		object = json_object();
		set_handle(object, handle);
		json_object_set_new(object, "state", json_string(em_event_group_state_name(&info)));
		weir_base_ctl_set(object, "count", info.count);
		weir_base_ctl_set(object, "notifications", info.nb_notifications);
		weir_base_ctl_set(object, "cycle", info.cycle);
		json_array_append_new(list, object);
	}
	return answer(json_pack("{s:o, s:I, s:o}", "event_groups", list, "left", (json_int_t)left,
			      "totals", event_group_totals(em)),
		result);
}

static json_t *
timer_json(weir_em_timer handle, const struct weir_em_timer_info *info,
	const struct weir_em_timer_stats *stats)
{
	json_t *object = json_object();

	weir_base_ctl_set_name(object, "name", info->name);
	set_handle(object, handle);
	weir_base_ctl_set(object, "resolution_ns", info->resolution_ns);
	weir_base_ctl_set(object, "timeouts", info->nb_timeouts);
	weir_base_ctl_set(object, "armed_now", info->nb_armed);
	weir_base_ctl_set(object, "armed", stats->nb_armed);
	weir_base_ctl_set(object, "fired", stats->nb_fired);
	weir_base_ctl_set(object, "cancelled", stats->nb_cancelled);
	weir_base_ctl_set(object, "overruns", stats->nb_overruns);
	weir_base_ctl_set(object, "undeliverable", stats->nb_undeliverable);
	json_object_set_new(object, "late_ns", weir_base_ctl_hist(&stats->late_ns, NULL));
	return object;
}

static int
ctl_timers(void *arg, const json_t *args, json_t **result)
{
	struct weir_em *em = arg;
	struct weir_em_timer_stats *stats = malloc(sizeof(*stats));
	struct weir_em_timer_info info;
	weir_em_timer handle = WEIR_EM_NONE;
	json_t *list;

	if (stats == NULL)
		return -ENOMEM;
	list = json_array();
	while ((handle = weir_em_timer_next(em, handle)) != WEIR_EM_NONE)
		if (weir_em_timer_info(em, handle, &info) == 0 &&
			weir_em_timer_stats(em, handle, stats) == 0)
			json_array_append_new(list, timer_json(handle, &info, stats));
	free(stats);
	return answer(json_pack("{s:o}", "timers", list), result);
}

static const struct weir_base_ctl_entry commands[] = {
	{"em/stats", "event machine: counters of all cores, by type of queue, of the scheduler",
		NULL, WEIR_BASE_CTL_READ_ONLY, ctl_stats},
	{"em/cores", "event machine: each core's counters", NULL, WEIR_BASE_CTL_READ_ONLY,
		ctl_cores},
	{"em/objects", "event machine: execution objects", NULL, WEIR_BASE_CTL_READ_ONLY,
		ctl_objects},
	{"em/queues",
		"event machine: queues, of all objects or \"object\"; from \"first\" on, \"max\"",
		"object name first max", WEIR_BASE_CTL_READ_ONLY, ctl_queues},
	{"em/groups", "event machine: queue groups", NULL, WEIR_BASE_CTL_READ_ONLY, ctl_groups},
	{"em/pools", "event machine: pools of buffers", NULL, WEIR_BASE_CTL_READ_ONLY, ctl_pools},
	{"em/event_groups", "event machine: event groups; from \"first\" on, \"max\"", "first max",
		WEIR_BASE_CTL_READ_ONLY, ctl_event_groups},
	{"em/timers", "event machine: timers: timeouts armed, fired, cancelled, how late", NULL,
		WEIR_BASE_CTL_READ_ONLY, ctl_timers},
};

int
weir_em_ctl_register(struct weir_em *em, struct weir_base_ctl *ctl)
{
	if (em == NULL || ctl == NULL)
		return -EINVAL;
	return weir_base_ctl_register_all(ctl, commands, RTE_DIM(commands), em);
}

void
weir_em_ctl_unregister(struct weir_em *em, struct weir_base_ctl *ctl)
{
	if (em != NULL && ctl != NULL)
		weir_base_ctl_unregister_all(ctl, commands, RTE_DIM(commands));
}
