/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulator's vocabulary in description files. */
#include "doc_schema.h"

static const struct weir_base_doc_key polling_keys[] = {
	{
		.name = "switch",
		.kind = WEIR_BASE_DOC_CYCLES,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.min = 1e-3,
		.max = 1e12,
		.help = "Cycles from one queue to the next; at least 1 ps.",
	},
	{
		.name = "vector",
		.kind = WEIR_BASE_DOC_CYCLES,
		.min = 0,
		.max = 1e12,
		.def = "0",
		.help = "Cycles that a visit takes that finds something, before its first packet.",
	},
	{
		.name = "burst",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 1e9,
		.help = "How many packets of a queue it takes before it goes on; by default all, "
			"and those that come meanwhile.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section polling_section = {
	.name = "polling",
	.help = "A core that goes round its queues (an atomic queue's flows are a queue each).",
	.keys = polling_keys,
};

static const struct weir_base_doc_key cores_keys[] = {
	{
		.name = "count",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 4096,
		.def = "1",
		.help = "How many there are.",
	},
	{
		.name = "clock",
		.kind = WEIR_BASE_DOC_FREQUENCY,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.min = 1,
		.max = 1e12,
		.help = "Cycles a second.",
	},
	{
		.name = "groups",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_STRING,
		.def = "[default]",
		.help = "Groups that they are in: they serve the queues whose `group` is one of "
			"these.",
	},
	{
		.name = "polling",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &polling_section,
		.help = "They poll their queues one after the other, whatever the priority, "
			"instead "
			"of being told where there is work.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_cores = {
	.name = "cores",
	.help = "Cores of one kind. They work on one packet at a time, until its object is done "
		"with it; then they take the one of the queue of the highest priority, and "
		"among equal ones the one that waits longest. A packet that finds several "
		"idle gets the one that comes first in the file.",
	.keys = cores_keys,
};

static const struct weir_base_doc_key queue_keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_queue_rows),
	{
		.name = "group",
		.kind = WEIR_BASE_DOC_STRING,
		.def = "default",
		.help = "The group of cores that serves it.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section queue_section = {
	.name = "simulated queue",
	.help = "A queue of events.",
	.keys = queue_keys,
};

static const struct weir_base_doc_key object_keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_object_rows),
	LEFT_ASIDE("receive"),
	LEFT_ASIDE("flow"),
	LEFT_ASIDE("argument"),
	{.name = NULL},
};

static const struct weir_base_doc_section object_section = {
	.name = "simulated object",
	.help = "An execution object: what is done with the packets of queues.",
	.keys = object_keys,
};

static const struct weir_base_doc_key application_keys[] = {
	{
		.name = "formats",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &sim_doc_format,
		.help = "Frame formats of links, by name.",
	},
	{
		.name = "links",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &sim_doc_link,
		.help = "Links of a readout, by name.",
	},
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_application_rows),
	{
		.name = "queues",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &queue_section,
		.help = "Queues of events, by name.",
	},
	{
		.name = "objects",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &object_section,
		.help = "Execution objects, by name.",
	},
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_window_rows),
	{
		.name = "processes",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &sim_doc_process,
		.help = "What is done with the frames of links, by name.",
	},
	LEFT_ASIDE("neighbours"),
	LEFT_ASIDE("routes"),
	LEFT_ASIDE("addresses"),
	{.name = NULL},
};

static const struct weir_base_doc_section application_section = {
	.name = "simulated application",
	.help = "What is done with packets.",
	.keys = application_keys,
};

static const struct weir_base_doc_key platform_keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_platform_rows),
	LEFT_ASIDE("memory"),
	LEFT_ASIDE("mbufs"),
	LEFT_ASIDE("limits"),
	LEFT_ASIDE("clock_period"),
	LEFT_ASIDE("eal"),
	{.name = NULL},
};

static const struct weir_base_doc_section platform_section = {
	.name = "simulated platform",
	.help = "What the application runs on.",
	.keys = platform_keys,
};

static const struct weir_base_doc_key traffic_keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_traffic_rows),
	{.name = NULL},
};

static const struct weir_base_doc_section traffic_section = {
	.name = "simulated traffic",
	.help = "What arrives.",
	.keys = traffic_keys,
};

static const struct weir_base_doc_key run_keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_run_rows),
	LEFT_ASIDE("name"),
	LEFT_ASIDE("until"),
	LEFT_ASIDE("duration"),
	LEFT_ASIDE("graph_svg"),
	LEFT_ASIDE("graph_dot"),
	LEFT_ASIDE("punt_pcap"),
	LEFT_ASIDE("stats_json"),
	{.name = NULL},
};

static const struct weir_base_doc_section run_section = {
	.name = "simulated run",
	.help = "How long it runs.",
	.keys = run_keys,
};

static const struct weir_base_doc_key root_keys[] = {
	{
		.name = "traffic",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &traffic_section,
		.def = "{}",
		.help = "What arrives.",
	},
	{
		.name = "application",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &application_section,
		.def = "{}",
		.help = "What is done.",
	},
	{
		.name = "platform",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &platform_section,
		.def = "{}",
		.help = "What it runs on.",
	},
	{
		.name = "run",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &run_section,
		.def = "{}",
		.help = "How long it runs.",
	},
	WEIR_BASE_DOC_PARTS_ROWS(weir_sim_doc_part),
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_root = {
	.name = "simulation model",
	.help = "A description file, as far as the simulator reads it.",
	.keys = root_keys,
};
