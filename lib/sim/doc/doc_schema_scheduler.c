/* SPDX-License-Identifier: BSD-3-Clause */
/* The scheduler of queues of events in description files. */
#include <stdlib.h>
#include <string.h>

#include "doc_schema.h"
#include "weir_base_nodes.h"

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
			"got them from there; jobs that are ready. A power of two.",
	},
	{
		.name = "flows",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = WEIR_BASE_SCHED_FLOWS_MAX,
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
	{
		.name = "wake",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 0,
		.max = 1,
		.def = "5us",
		.help = "For `weir sim`: how long it takes a worker that sleeps to be back when it "
			"is woken, or its time is over.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_scheduler = {
	.name = "scheduler",
	.help = "What decides which worker gets which event next.",
	.keys = scheduler_keys,
};
