/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done with the frames of links. */
#include <weir_base_nodes.h>
#include <weir_sim.h>

#include "schema.h"

static const char *const on_full_choices[] = {
	[SCHEMA_ON_FULL_DROP] = "drop",
	[SCHEMA_ON_FULL_WAIT] = "wait",
	NULL,
};

static const struct weir_base_doc_key keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_process_rows),
	{
		.name = "threshold",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 16383,
		.help = "Of `hits`: a sample is of a hit if it is above its channel's baseline by "
			"more than this.",
	},
	{
		.name = "max_samples",
		.kind = WEIR_BASE_DOC_INT,
		.min = 2,
		.max = 65535,
		.def = "1024",
		.help = "Of `hits`: one of so many samples ends there.",
	},
	{
		.name = "argument",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "A text for a plug-in.",
	},
	{
		.name = "cpu",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 1023,
		.help = "Of a `thread`: its CPU. By default any.",
	},
	{
		.name = "jobs",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 4096,
		.def = "1",
		.help = "Of `jobs`: most of them at a time for each link. With 1 a link's frames "
			"are looked at in order, one at a time; with more a plug-in's function "
			"runs on several workers at once.",
	},
	{
		.name = "frames",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 4096,
		.def = "32",
		.help = "Of `jobs`: most frames of one. So many for each job may be kept from "
			"being overwritten: the buffer needs `spare` for them, by default it has.",
	},
	{
		.name = "on_full",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = on_full_choices,
		.def = "wait",
		.help = "Of `jobs`: while there are as many as may be: frames wait in the buffer, "
			"as long as they are there, or are left out, and counted as `jobs_full`.",
	},
	{
		.name = "priority",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 7,
		.help = "Of `jobs`: 0 is served first. By default the lowest that the scheduler "
			"has.",
	},
	{
		.name = "slice",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 1e-6,
		.max = 1,
		.help = "Of `jobs`: the time slice, after which other events have their turn: "
			"between two frames, or where the function gives way. By default 25us.",
	},
	{
		.name = "group",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "Of `jobs`: the group of workers that run them, see "
			"`platform.workers.groups`. By default `default`.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section schema_process = {
	.name = "process",
	.help = "A function that looks at frames of links, one by one, and lets each pass, or "
		"drops "
		"it for a reason that has a name, before they come to their buffers or after that.",
	.keys = keys,
};
