/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done with the frames of links. */
#include <string.h>

#include "schema.h"

static const char *const where_choices[] = {
	[SCHEMA_WHERE_INLINE] = "inline",
	[SCHEMA_WHERE_THREAD] = "thread",
	[SCHEMA_WHERE_JOBS] = "jobs",
	NULL,
};

static const char *const on_full_choices[] = {
	[SCHEMA_ON_FULL_DROP] = "drop",
	[SCHEMA_ON_FULL_WAIT] = "wait",
	NULL,
};

static bool
check_function(const char *text)
{
	const char *colon = strrchr(text, ':');

	return strcmp(text, "hits") == 0 || (colon != NULL && colon > text && colon[1] != '\0');
}

static const struct weir_base_doc_key keys[] = {
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
