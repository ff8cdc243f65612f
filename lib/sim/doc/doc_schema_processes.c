/* SPDX-License-Identifier: BSD-3-Clause */
/* Vocabulary of functions on frames: what the simulator has in common with those who run them, and what it leaves aside. */
#include <string.h>

#include "doc_schema.h"
#include "weir_base_nodes.h"

static const char *const where_choices[] = {
	[WEIR_BASE_WHERE_INLINE] = "inline",
	[WEIR_BASE_WHERE_THREAD] = "thread",
	[WEIR_BASE_WHERE_JOBS] = "jobs",
	NULL,
};

/* In this order, as everywhere. */
static const char *const on_full_choices[] = {"drop", "wait", NULL};

static bool
check_function(const char *text)
{
	const char *colon = strrchr(text, ':');

	return strcmp(text, WEIR_BASE_PROCESS_HITS) == 0 ||
	       (colon != NULL && colon > text && colon[1] != '\0');
}

static const struct weir_base_doc_key shared_keys[] = {
	{
		.name = "function",
		.kind = WEIR_BASE_DOC_STRING,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.check = check_function,
		.expected = "hits, or PLUGIN.so:SYMBOL",
		.help = "What looks at each frame. `hits`: pulses in the channels of `wibeth` "
			"frames, of which each is a message. `PLUGIN.so:SYMBOL` is yours: the "
			"`struct weir_bridge_process_type` called SYMBOL (`weir_bridge_process.h`) "
			"in a shared object, beside this file unless its name begins with '/'.",
	},
	{
		.name = "links",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_STRING,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.help = "Whose frames it gets: NAME stands for all of NAME-0, NAME-1 and so on. "
			"Each link has a context of its own.",
	},
	{
		.name = "where",
		.kind = WEIR_BASE_DOC_ENUM,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.choices = where_choices,
		.help = "Where it runs. `inline`: before the buffer, in the thread that receives, "
			"which waits for it; what it drops does not come to the buffer. `thread`: "
			"after the buffer, in a thread of this process' own. `jobs`: after the "
			"buffer, in jobs on the workers of `platform`, where it may wait. After "
			"the buffer nothing waits for it: frames whose memory was used again "
			"before it got to them are counted as `missed`, and a frame that it looks "
			"at stays as it is.",
	},
	{
		.name = "to",
		.kind = WEIR_BASE_DOC_STRING,
		.help = "The link whose frames its messages become: of format `hit` for `hits`. "
			"Those of several processes of one kind may go to one.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_sim_doc_process_rows = {.keys = shared_keys};

static const struct weir_base_doc_key job_keys[] = {
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

const struct weir_base_doc_section weir_sim_doc_process_job_rows = {.keys = job_keys};

static const struct weir_base_doc_key keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_process_rows),
	LEFT_ASIDE("threshold"),
	LEFT_ASIDE("max_samples"),
	LEFT_ASIDE("argument"),
	LEFT_ASIDE("cpu"),
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_process_job_rows),
	{.name = NULL},
};

const struct weir_base_doc_section sim_doc_process = {
	.name = "simulated process",
	.help = "A function that looks at frames of links.",
	.keys = keys,
};

static const struct weir_base_doc_key hits_keys[] = {
	LEFT_ASIDE("threshold"),
	LEFT_ASIDE("max_samples"),
	{
		.name = "to",
		.kind = WEIR_BASE_DOC_STRING,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.help = "The link whose frames they become.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section sim_doc_hits = {
	.name = "simulated hits",
	.help = "A process of that name, of this link's frames.",
	.keys = hits_keys,
};
