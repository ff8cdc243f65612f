/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues of events, who gets them, and the scheduler below. */
#include <stdlib.h>
#include <string.h>

#include <weir_base_nodes.h>
#include <weir_bridge_object.h>
#include <weir_sim.h>

#include "config.h"
#include "schema.h"

static bool
check_name(const char *text)
{
	return config_is_name(text, 23);
}

static bool
check_receive(const char *text)
{
	const char *colon = strrchr(text, ':');
	unsigned int i;

	for (i = 0; weir_bridge_builtin_names[i] != NULL; i++)
		if (strcmp(text, weir_bridge_builtin_names[i]) == 0)
			return true;
	return colon != NULL && colon > text && colon[1] != '\0';
}

static bool
check_backend(const char *text)
{
	return strcmp(text, "builtin") == 0 ||
	       (strncmp(text, "eventdev:", 9) == 0 && text[9] != '\0');
}

static bool
check_power(const char *text)
{
	unsigned long value = strtoul(text, NULL, 10);

	return value != 0 && (value & (value - 1)) == 0;
}

static const struct weir_base_doc_key queue_keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_queue_rows),
	{
		.name = "group",
		.kind = WEIR_BASE_DOC_STRING,
		.def = "default",
		.check = check_name,
		.expected = "1 to 23 letters, digits or '_'",
		.help = "The group of workers that serves it, see `platform.workers.groups`; for "
			"`weir sim` the group of `platform.cores`.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section schema_queue = {
	.name = "queue",
	.help = "A queue of events. `sched_tx` nodes and objects send packets to it; it belongs to "
		"one `sched_rx` node or one object, which gets them, on one of the workers of its "
		"group.",
	.keys = queue_keys,
};

static const struct weir_base_doc_key object_keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_object_rows),
	{
		.name = "receive",
		.kind = WEIR_BASE_DOC_STRING,
		.check = check_receive,
		.expected = "forward, count, drop, or PLUGIN.so:SYMBOL",
		.help = "What it does with events, which `weir run` needs to know: `forward` sends "
			"them to the queue `to`; `count` "
			"counts packets and bytes, then forwards them where there is a `to`, else "
			"frees them; `drop` frees them; `PLUGIN.so:SYMBOL` is yours: the `struct "
			"weir_bridge_object_type` called SYMBOL (`weir_bridge_object.h`) in a "
			"shared object, beside this file unless its name begins with '/'.",
	},
	{
		.name = "flow",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = weir_base_flow_names,
		.def = "rss",
		.help = "What tells flows apart, if `to` has several.",
	},
	{
		.name = "argument",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "A text for a plug-in.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section schema_object = {
	.name = "object",
	.help = "An execution object: something that is done with the events of queues, by the "
		"workers of their groups.",
	.keys = object_keys,
};

static const struct weir_base_doc_key scheduler_keys[] = {
	{
		.name = "backend",
		.kind = WEIR_BASE_DOC_STRING,
		.def = "builtin",
		.check = check_backend,
		.expected = "builtin, or eventdev:NAME",
		.help = "`builtin`, or an event device of DPDK's, `eventdev:NAME`, for example "
			"`eventdev:event_sw0`; a virtual one is made. What a device cannot do is "
			"told when it is asked for.",
	},
	{
		.name = "events",
		.kind = WEIR_BASE_DOC_INT,
		.min = 64,
		.max = 16777216,
		.def = "4096",
		.check = check_power,
		.expected = "a power of two",
		.help = "Most events inside: packets in queues, and in the hands of workers that "
			"got them from there. A power of two.",
	},
	{
		.name = "flows",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = WEIR_EM_QUEUES_MAX,
		.help = "Room for so many flows of all queues together. By default as many as "
			"there are, and 64 for plug-ins.",
	},
	{
		.name = "reserved",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 16777216,
		.def = "0",
		.help = "Of `events`, how many are kept for timers of plug-ins.",
	},
	{
		.name = "threshold",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 16777216,
		.help = "New events are refused while so many are inside; what is inside goes on. "
			"By default what is not reserved.",
	},
	{
		.name = "starvation_bound",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 4294967295.0,
		.def = "0",
		.help = "At most so many events of higher priority pass one that waits; 0: any "
			"number, priorities are strict.",
	},
	{
		.name = "priority_slack",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 0,
		.max = 1,
		.def = "0",
		.help = "An event of high priority whose flow belongs to a busy worker is left to "
			"it "
			"so long, before others take it in front of what they have, which is "
			"cheaper; 0: not "
			"at all, priorities are strict among all workers. Only `builtin`.",
	},
	{
		.name = "idle_sleep",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 0,
		.max = 1,
		.def = "0",
		.help = "A worker that found nothing for a while sleeps until there is an event, "
			"up to so long; 0: never. It does not look at its ports meanwhile. Only "
			"`builtin`.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section schema_scheduler = {
	.name = "scheduler",
	.help = "What decides which worker gets which event next.",
	.keys = scheduler_keys,
};
