/* SPDX-License-Identifier: BSD-3-Clause */
/* What queues and objects add to a report. */
#include <string.h>

#include <weir_em.h>

#include "config.h"
#include "em_run.h"
#include "report_counts.h"
#include "report_text.h"

/* Sums over all queues and objects. */
struct sums {
	struct weir_em_queue_stats queues;
	uint64_t forwarded, freed, closed; /* by objects that are built in */
	uint64_t by_plugins;               /* received by others */
	uint64_t lost;                     /* by sched_rx nodes */
};

static json_t *
queue_json(const struct em_run *run, const struct config *config, unsigned int index,
	struct sums *sums)
{
	const struct config_queue *queue = &config->em.queues[index];
	struct weir_em_queue_stats total = {0};
	struct weir_em_queue_info info;
	unsigned int i;

	for (i = run->first_flow[index]; i < run->first_flow[index + 1]; i++) {
		if (weir_em_queue_info(run->em, run->flows[i], &info) < 0)
			continue;
		total.nb_sent += info.stats.nb_sent;
		total.nb_received += info.stats.nb_received;
		total.nb_dropped += info.stats.nb_dropped;
	}
	sums->queues.nb_sent += total.nb_sent;
	sums->queues.nb_received += total.nb_received;
	sums->queues.nb_dropped += total.nb_dropped;
	return json_pack("{s:s, s:s, s:i, s:i, s:s, s:s, s:I, s:I, s:I, s:I}", "name", queue->name,
		"type", weir_em_queue_type_name((enum weir_em_queue_type)queue->type), "flows",
		(int)queue->nb_flows, "priority", (int)queue->priority, "group",
		config->em.groups[queue->group].name, "to",
		queue->object != CONFIG_NONE ? config->em.objects[queue->object].name
					     : config->em.nodes[queue->node].name,
		"sent", report_counter(total.nb_sent), "received",
		report_counter(total.nb_received), "dropped", report_counter(total.nb_dropped),
		"queued", report_counter(total.nb_sent - total.nb_received - total.nb_dropped));
}

static json_t *
object_json(const struct em_run *run, const struct config *config, unsigned int index,
	struct sums *sums)
{
	const struct config_object *object = &config->em.objects[index];
	struct weir_bridge_object_stats stats;

	weir_bridge_object_stats(run->objects[index], &stats);
	sums->forwarded += stats.nb_forwarded;
	sums->freed += stats.nb_freed;
	sums->closed += stats.nb_closed;
	if (object->plugin != NULL) {
		sums->by_plugins += stats.nb_events;
		return json_pack("{s:s, s:s, s:I}", "name", object->name, "receive", object->symbol,
			"packets", report_counter(stats.nb_events));
	}
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "name", object->name, "receive",
		weir_bridge_builtin_names[object->builtin], "packets",
		report_counter(stats.nb_events), "bytes", report_counter(stats.nb_bytes),
		"forwarded", report_counter(stats.nb_forwarded), "taken",
		report_counter(stats.nb_freed));
}

/* How the work was spread. */
static json_t *
cores_json(const struct em_run *run, const struct config *config)
{
	json_t *list = json_array();
	struct weir_em_stats stats;
	unsigned int i;

	for (i = 0; i < config->nb_workers; i++)
		if (run->cores[i] >= 0 &&
			weir_em_core_stats(run->em, (unsigned int)run->cores[i], &stats) == 0)
			json_array_append_new(list,
				json_pack("{s:i, s:i, s:I, s:I}", "core", run->cores[i], "worker",
					(int)i, "received", report_counter(stats.nb_received),
					"calls", report_counter(stats.nb_calls)));
	return list;
}

static uint64_t
add_reason(json_t *dropped, const char *reason, uint64_t packets, const char *meaning)
{
	if (packets > 0)
		json_array_append_new(
			dropped, json_pack("{s:s, s:I, s:s}", "reason", reason, "packets",
					 report_counter(packets), "meaning", meaning));
	return packets;
}

/* What got lost between graphs, by name. */
static uint64_t
add_reasons(const struct em_run *run, const struct config *config, const struct sums *sums,
	json_t *dropped)
{
	struct weir_bridge_rx_stats rx, lost = {0};
	struct weir_em_stats stats;
	char name[64];
	uint64_t nb = 0;
	unsigned int i;

	weir_em_stats(run->em, &stats);
	for (i = 0; i < WEIR_EM_DROPS; i++) {
		snprintf(name, sizeof(name), "event_%s", weir_em_drop_name((enum weir_em_drop)i));
		nb += add_reason(dropped, name, stats.nb_dropped[i],
			"the event machine could not deliver it");
	}
	for (i = 0; i < config->em.nb_nodes; i++)
		if (weir_bridge_rx_stats(run->nodes[i], &rx) == 0) {
			lost.nb_unbound += rx.nb_unbound;
			lost.nb_foreign += rx.nb_foreign;
		}
	nb += add_reason(dropped, "event_unbound", lost.nb_unbound,
		"a worker got it that has no graph for it");
	nb += add_reason(dropped, "event_foreign", lost.nb_foreign,
		"an event without a packet was sent to a sched_rx node");
	nb += add_reason(dropped, "event_closed", sums->closed,
		"the queue that an object forwards to is gone");
	return nb;
}

static void
add(json_t *object, const char *key, int64_t value)
{
	json_object_set_new(object, key,
		json_integer(json_integer_value(json_object_get(object, key)) + value));
}

void
em_report_add(const struct em_run *run, const struct config *config,
	const struct report_counts *counts, bool finished, json_t *report)
{
	json_t *packets = json_object_get(report, "packets"), *queues = json_array(),
	       *objects = json_array();
	struct sums sums = {0};
	int64_t between = (int64_t)(counts->to_queues - counts->from_queues), taken, lost, queued;
	struct jobs_sums jobs;
	unsigned int i;

	for (i = 0; i < config->em.nb_queues; i++)
		json_array_append_new(queues, queue_json(run, config, i, &sums));
	for (i = 0; i < config->em.nb_objects; i++)
		if (run->objects[i] != NULL)
			json_array_append_new(objects, object_json(run, config, i, &sums));
	lost = (int64_t)add_reasons(run, config, &sums, json_object_get(report, "dropped"));
	jobs_run_report(run, config, report, &jobs);
	lost += (int64_t)jobs.dropped;
	/* Plug-ins keep what they got, less what was sent to queues by nobody else. */
	taken = (int64_t)(sums.freed + sums.by_plugins);
	if (sums.by_plugins > 0)
		taken -= (int64_t)(sums.queues.nb_sent - (counts->to_queues - jobs.in) -
				   sums.forwarded - jobs.passed);
	queued = between - taken - lost;
	if (finished)
		queued = (int64_t)(sums.queues.nb_sent - sums.queues.nb_received -
				   sums.queues.nb_dropped + jobs.inside);
	add(packets, "dropped", lost);
	add(packets, "taken", taken);
	add(packets, "queued", queued);
	add(packets, "difference", between - taken - lost - queued);
	json_object_set_new(packets, "adds_up",
		json_boolean(json_integer_value(json_object_get(packets, "difference")) == 0));
	json_object_set_new(report, "queues", queues);
	json_object_set_new(report, "objects", objects);
	json_object_set_new(report, "cores", cores_json(run, config));
}
