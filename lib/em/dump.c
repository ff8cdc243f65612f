/* SPDX-License-Identifier: BSD-3-Clause */

/* What there is, for people. */

#include <inttypes.h>
#include <stdlib.h>

#include "event.h"
#include "weir_em_event_group.h"
#include "weir_em_timer.h"

#define NB_EVENT_GROUPS 20 /* printed */

static const char *const phases[] = {
	[WEIR_EM_OBJECT_CREATED] = "stopped",
	[WEIR_EM_OBJECT_STARTING] = "starting",
	[WEIR_EM_OBJECT_RUNNING] = "running",
	[WEIR_EM_OBJECT_STOPPING] = "stopping",
};

const char *
em_state_name(enum weir_em_object_state state)
{
	return phases[state];
}

const char *
em_core_doing(const struct weir_em *em, unsigned int id)
{
	const struct weir_em_core *core = &em->cores[id];
	bool attached;

	em_lock(em);
	attached = core->attached;
	em_unlock(em);
	if (!attached)
		return "detached";
	if (core->producer)
		return "producer";
	return __atomic_load_n(&core->dispatching, __ATOMIC_RELAXED) ? "dispatching" : "attached";
}

static void
dump_total(const struct weir_em *em, FILE *file)
{
	struct weir_em_stats stats;

	weir_em_stats(em, &stats);
	fprintf(file,
		"%s: %" PRIu64 " sent, %" PRIu64 " forwarded, %" PRIu64 " refused, %" PRIu64
		" received, %" PRIu64 " errors\n",
		em->name, stats.nb_sent, stats.nb_forwarded, stats.nb_refused, stats.nb_received,
		stats.nb_errors);
	for (int i = 0; i < WEIR_EM_DROPS; i++)
		if (stats.nb_dropped[i] > 0)
			fprintf(file, "  dropped, %s: %" PRIu64 "\n",
				weir_em_drop_name((enum weir_em_drop)i), stats.nb_dropped[i]);
}

static void
dump_cores(const struct weir_em *em, FILE *file)
{
	fprintf(file, "cores\n  id state              rounds         idle        calls     "
		      "received         sent\n");
	for (unsigned int id = 0; id < em->nb_cores + em->nb_producers; id++) {
		struct weir_em_stats stats;

		weir_em_core_stats(em, id, &stats);
		fprintf(file,
			"  %2u %-12s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64
			" %12" PRIu64 "\n",
			id, em_core_doing(em, id), stats.nb_rounds, stats.nb_idle, stats.nb_calls,
			stats.nb_received, stats.nb_sent + stats.nb_forwarded);
	}
}

/* The handle of the next thing of a kind, from *at on; 0: no more. The lock is not held between them. */
uint64_t
em_next(struct weir_em *em, enum em_kind kind, uint32_t *at)
{
	uint64_t handle = 0;
	uint32_t nb = kind == EM_KIND_OBJECT  ? em->config.nb_objects
		      : kind == EM_KIND_QUEUE ? em->nb_queues
		      : kind == EM_KIND_POOL  ? em->config.nb_pools
					      : em->config.nb_queue_groups;

	em_lock(em);
	for (; *at < nb && handle == 0; ++*at)
		handle = kind == EM_KIND_OBJECT  ? em->objects[*at].handle
			 : kind == EM_KIND_QUEUE ? em->queues[*at].handle
			 : kind == EM_KIND_POOL  ? em->pools[*at].handle
						 : em->groups[*at].handle;
	em_unlock(em);
	return handle;
}

int
em_group_look(struct weir_em *em, weir_em_queue_group handle, struct em_queue_group *copy)
{
	const struct em_queue_group *group;
	int rc = 0;

	em_lock(em);
	group = em_group_of(em, handle, &rc);
	if (group != NULL)
		*copy = *group;
	em_unlock(em);
	return rc;
}

static void
dump_groups(struct weir_em *em, FILE *file)
{
	struct em_queue_group group;
	uint64_t handle;

	fprintf(file, "queue groups                         cores  queues\n");
	for (uint32_t at = 0; (handle = em_next(em, EM_KIND_QUEUE_GROUP, &at)) != 0;)
		if (em_group_look(em, handle, &group) == 0)
			fprintf(file, "  %-24s %#16" PRIx64 " %7u\n", group.name, group.cores,
				group.nb_queues);
}

static void
dump_objects(struct weir_em *em, FILE *file)
{
	struct weir_em_object_info info;
	uint64_t handle;

	fprintf(file,
		"objects                          state    queues        calls     received\n");
	for (uint32_t at = 0; (handle = em_next(em, EM_KIND_OBJECT, &at)) != 0;)
		if (weir_em_object_info(em, handle, &info) == 0)
			fprintf(file, "  %-30s %-8s %6u %12" PRIu64 " %12" PRIu64 "\n", info.name,
				em_state_name(info.state), info.nb_queues, info.nb_calls,
				info.nb_received);
}

static void
dump_pools(struct weir_em *em, FILE *file)
{
	struct weir_em_pool_info info;
	uint64_t handle;

	fprintf(file,
		"pools                             buffers      free    allocated       failed\n");
	for (uint32_t at = 0; (handle = em_next(em, EM_KIND_POOL, &at)) != 0;)
		if (weir_em_pool_info(em, handle, &info) == 0)
			fprintf(file, "  %-28s %10u %9u %12" PRIu64 " %12" PRIu64 "\n", info.name,
				info.nb, info.nb_free, info.nb_allocated, info.nb_failed);
}

const char *
em_event_group_state_name(const struct weir_em_event_group_info *info)
{
	return info->count > 0 ? "counting" : "ready";
}

static void
dump_event_groups(struct weir_em *em, FILE *file)
{
	struct weir_em_event_group_info info;
	struct weir_em_event_group_stats stats;
	weir_em_event_group handle = WEIR_EM_NONE;

	weir_em_event_group_stats(em, &stats);
	fprintf(file,
		"event groups: %" PRIu64 "; cycles: %" PRIu64 " begun, %" PRIu64
		" completed, %" PRIu64 " aborted; events: %" PRIu64 " counted, %" PRIu64
		" stale, %" PRIu64 " too many\n",
		stats.nb_groups, stats.nb_applied, stats.nb_completed, stats.nb_aborted,
		stats.nb_events, stats.nb_stale, stats.nb_excess);
	for (unsigned int nb = 0; nb < NB_EVENT_GROUPS; nb++) {
		handle = weir_em_event_group_next(em, handle);
		if (handle == WEIR_EM_NONE)
			break;
		if (weir_em_event_group_info(em, handle, &info) == 0)
			fprintf(file, "  %#" PRIx64 " %-8s count %8u, %u notifications\n", handle,
				em_event_group_state_name(&info), info.count,
				info.nb_notifications);
	}
}

static void
dump_timers(struct weir_em *em, FILE *file)
{
	struct weir_em_timer_stats *stats = malloc(sizeof(*stats));
	struct weir_em_timer_info info;
	weir_em_timer handle = WEIR_EM_NONE;

	fprintf(file, "timers                         timeouts  armed        fired    cancelled   "
		      "overruns    late by ns: 99 %%, max\n");
	while (stats != NULL && (handle = weir_em_timer_next(em, handle)) != WEIR_EM_NONE)
		if (weir_em_timer_info(em, handle, &info) == 0 &&
			weir_em_timer_stats(em, handle, stats) == 0)
			fprintf(file,
				"  %-28s %8u %6u %12" PRIu64 " %12" PRIu64 " %10" PRIu64
				" %12" PRIu64 " %11" PRIu64 "\n",
				info.name, info.nb_timeouts, info.nb_armed, stats->nb_fired,
				stats->nb_cancelled, stats->nb_overruns,
				weir_base_hist_percentile(&stats->late_ns, 99), stats->late_ns.max);
	free(stats);
}

static void
dump_queues(struct weir_em *em, FILE *file, unsigned int max)
{
	struct weir_em_queue_info info;
	struct weir_em_object_info object;
	uint64_t handle;

	fprintf(file, "queues                         type        prio object                      "
		      "       sent     received  dropped\n");
	for (uint32_t at = 0; max > 0 && (handle = em_next(em, EM_KIND_QUEUE, &at)) != 0; max--) {
		if (weir_em_queue_info(em, handle, &info) < 0)
			continue;
		if (weir_em_object_info(em, info.object, &object) < 0)
			object.name[0] = '\0';
		fprintf(file,
			"  %-28s %-11s %4u %-26s %12" PRIu64 " %12" PRIu64 " %8" PRIu64 "%s\n",
			info.name, weir_em_queue_type_name(info.type), info.priority, object.name,
			info.stats.nb_sent, info.stats.nb_received, info.stats.nb_dropped,
			info.enabled ? "" : " disabled");
	}
}

void
weir_em_dump(struct weir_em *em, FILE *file, unsigned int max_queues)
{
	if (em == NULL || file == NULL)
		return;
	dump_total(em, file);
	dump_cores(em, file);
	dump_groups(em, file);
	dump_objects(em, file);
	dump_pools(em, file);
	dump_event_groups(em, file);
	dump_timers(em, file);
	dump_queues(em, file, max_queues);
}
