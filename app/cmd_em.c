/* SPDX-License-Identifier: BSD-3-Clause */
/* weir em: the event machine of a running instance. */
#include <stdint.h>
#include <string.h>

#include "answer.h"
#include "app.h"
#include "remote.h"
#include "report_text.h"

static void
print_objects(const json_t *answer)
{
	const json_t *item;
	size_t index;

	printf("%-24s %-10s %8s %16s %14s\n", "object", "state", "queues", "events", "calls");
	json_array_foreach (json_object_get(answer, "objects"), index, item) {
		printf("%-24s %-10s %8" JSON_INTEGER_FORMAT " %16" JSON_INTEGER_FORMAT
		       " %14" JSON_INTEGER_FORMAT "\n",
			answer_text(item, "name"), answer_text(item, "state"),
			report_int(item, "queues"), report_int(item, "received"),
			report_int(item, "calls"));
	}
}

static void
print_queues(const json_t *answer)
{
	const json_t *item;
	size_t index;

	printf("%-31s %-9s %4s %-23s %-23s %14s %14s %10s %8s\n", "queue", "type", "prio", "group",
		"object", "sent", "received", "dropped", "inside");
	json_array_foreach (json_object_get(answer, "queues"), index, item) {
		printf("%-31s %-9s %4" JSON_INTEGER_FORMAT " %-23s %-23s %14" JSON_INTEGER_FORMAT
		       " %14" JSON_INTEGER_FORMAT " %10" JSON_INTEGER_FORMAT
		       " %8" JSON_INTEGER_FORMAT "\n",
			answer_text(item, "name"), answer_text(item, "type"),
			report_int(item, "priority"), answer_text(item, "group"),
			answer_text(item, "object"), report_int(item, "sent"),
			report_int(item, "received"), report_int(item, "dropped"),
			report_int(item, "sent") - report_int(item, "received") -
				report_int(item, "dropped"));
	}
}

static void
print_groups(const json_t *answer)
{
	const json_t *item, *core;
	size_t index, i;

	printf("%-24s %8s  %s\n", "group", "queues", "cores");
	json_array_foreach (json_object_get(answer, "groups"), index, item) {
		printf("%-24s %8" JSON_INTEGER_FORMAT " ", answer_text(item, "name"),
			report_int(item, "queues"));
		json_array_foreach (json_object_get(item, "cores"), i, core) {
			printf(" %" JSON_INTEGER_FORMAT, json_integer_value(core));
		}
		printf("\n");
	}
}

static void
print_cores(const json_t *answer)
{
	const json_t *item;
	size_t index;

	printf("%4s %-12s %14s %14s %14s %14s %10s %10s\n", "core", "state", "received", "calls",
		"sent", "forwarded", "refused", "dropped");
	json_array_foreach (json_object_get(answer, "cores"), index, item) {
		printf("%4" JSON_INTEGER_FORMAT " %-12s %14" JSON_INTEGER_FORMAT
		       " %14" JSON_INTEGER_FORMAT " %14" JSON_INTEGER_FORMAT
		       " %14" JSON_INTEGER_FORMAT " %10" JSON_INTEGER_FORMAT
		       " %10" JSON_INTEGER_FORMAT "\n",
			report_int(item, "core"), answer_text(item, "state"),
			report_int(item, "received"), report_int(item, "calls"),
			report_int(item, "sent"), report_int(item, "forwarded"),
			report_int(item, "refused"), report_sum(json_object_get(item, "dropped")));
	}
}

static void
print_pools(const json_t *answer)
{
	const json_t *item;
	size_t index;

	printf("%-26s %10s %10s %14s %10s\n", "pool", "buffers", "free", "allocated", "failed");
	json_array_foreach (json_object_get(answer, "pools"), index, item) {
		printf("%-26s %10" JSON_INTEGER_FORMAT " %10" JSON_INTEGER_FORMAT
		       " %14" JSON_INTEGER_FORMAT " %10" JSON_INTEGER_FORMAT "\n",
			answer_text(item, "name"), report_int(item, "buffers"),
			report_int(item, "free"), report_int(item, "allocated"),
			report_int(item, "failed"));
	}
}

/* Names and numbers as they come. */
static void
print_counters(const char *title, const json_t *counters)
{
	json_t *value, *all = (json_t *)(uintptr_t)
			       counters; /* jansson iterates over what may change only */
	const char *key;

	json_object_foreach (all, key, value) {
		if (json_is_integer(value))
			printf("%-16s %-16s %16" JSON_INTEGER_FORMAT "\n", title, key,
				json_integer_value(value));
	}
}

static void
print_event_groups(const json_t *answer)
{
	const json_t *item;
	size_t index;

	printf("%-20s %-10s %10s %14s %14s\n", "event group", "state", "count", "notifications",
		"cycle");
	json_array_foreach (json_object_get(answer, "event_groups"), index, item) {
		printf("%-20s %-10s %10" JSON_INTEGER_FORMAT " %14" JSON_INTEGER_FORMAT
		       " %14" JSON_INTEGER_FORMAT "\n",
			answer_text(item, "handle"), answer_text(item, "state"),
			report_int(item, "count"), report_int(item, "notifications"),
			report_int(item, "cycle"));
	}
	print_counters("all", json_object_get(answer, "totals"));
}

static void
print_timers(const json_t *answer)
{
	const json_t *item;
	size_t index;

	printf("%-24s %12s %8s %8s %14s %12s %10s %12s %12s %12s\n", "timer", "resolution",
		"timeouts", "armed", "fired", "cancelled", "overruns", "late ns: 50%", "99%",
		"max");
	json_array_foreach (json_object_get(answer, "timers"), index, item) {
		const json_t *late = json_object_get(item, "late_ns");

		printf("%-24s %9" JSON_INTEGER_FORMAT " ns %8" JSON_INTEGER_FORMAT
		       " %8" JSON_INTEGER_FORMAT " %14" JSON_INTEGER_FORMAT
		       " %12" JSON_INTEGER_FORMAT " %10" JSON_INTEGER_FORMAT
		       " %12" JSON_INTEGER_FORMAT " %12" JSON_INTEGER_FORMAT
		       " %12" JSON_INTEGER_FORMAT "\n",
			answer_text(item, "name"), report_int(item, "resolution_ns"),
			report_int(item, "timeouts"), report_int(item, "armed_now"),
			report_int(item, "fired"), report_int(item, "cancelled"),
			report_int(item, "overruns"), report_int(late, "p50"),
			report_int(late, "p99"), report_int(late, "max"));
	}
}

/* Of the machine, then of the scheduler below. */
static void
print_stats(const json_t *answer)
{
	static const char *const keys[] = {"enqueued", "dequeued", "drained", "waiting"};
	const json_t *item;
	char title[32];
	size_t index, i;

	print_counters("event machine", answer);
	print_counters("dropped", json_object_get(answer, "dropped"));
	print_counters("scheduler", json_object_get(answer, "scheduler"));
	json_array_foreach (json_object_get(answer, "scheduler_queues"), index, item) {
		snprintf(title, sizeof(title), "its queue %" JSON_INTEGER_FORMAT,
			report_int(item, "queue"));
		for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			printf("%-16s %-16s %16" JSON_INTEGER_FORMAT "\n", title, keys[i],
				report_int(item, keys[i]));
	}
}

/* Queues of one object, if it is named. */
static int
queue_arguments(int argc, char **argv, json_t **args)
{
	if (argc > 2)
		*args = json_pack("{s:s}", "object", argv[2]);
	return APP_OK;
}

static int
em_run(int argc, char **argv)
{
	static const struct remote_verb verbs[] = {
		{"objects", 0, 0, "em/objects", NULL, print_objects, NULL, NULL},
		{"queues", 0, 1, "em/queues", queue_arguments, print_queues, NULL, "queues"},
		{"groups", 0, 0, "em/groups", NULL, print_groups, NULL, NULL},
		{"cores", 0, 0, "em/cores", NULL, print_cores, NULL, NULL},
		{"pools", 0, 0, "em/pools", NULL, print_pools, NULL, NULL},
		{"event-groups", 0, 0, "em/event_groups", NULL, print_event_groups, NULL,
			"event_groups"},
		{"timers", 0, 0, "em/timers", NULL, print_timers, NULL, NULL},
		{"stats", 0, 0, "em/stats", NULL, print_stats, NULL, NULL},
		{.name = NULL},
	};

	return remote_run_verb(&cmd_em, verbs,
		"'objects', 'queues [OBJECT]', 'groups', 'cores', 'pools', 'event-groups', "
		"'timers' or "
		"'stats'",
		argc, argv);
}

const struct app_command cmd_em = {
	.name = "em",
	.arguments = "objects | queues [OBJECT] | groups | cores | pools | event-groups | timers | "
		     "stats  "
		     "[--instance NAME] [--json]",
	.summary = "Show queues of events, and who gets them, of a running instance.",
	.help = "  weir em objects          execution objects: nodes of type sched_rx, and those "
		"of "
		"application.objects\n"
		"  weir em queues [OBJECT]  queues, all or one object's; of several flows each is "
		"one\n"
		"  weir em groups           groups of workers, and which of these, as 'cores' "
		"numbers them, serve each\n"
		"  weir em cores            workers that serve queues, numbered in their order in "
		"the file, then those that only send\n"
		"  weir em pools            pools of packets and events\n"
		"  weir em event-groups     events that are counted together: what is waited for\n"
		"  weir em timers           timeouts: armed, fired, cancelled, how late\n"
		"  weir em stats            totals of the event machine and of its scheduler\n",
	.run = em_run,
};
