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

static const struct weir_base_doc_key keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_process_rows),
	LEFT_ASIDE("threshold"),
	LEFT_ASIDE("max_samples"),
	LEFT_ASIDE("argument"),
	LEFT_ASIDE("cpu"),
	LEFT_ASIDE("jobs"),
	LEFT_ASIDE("frames"),
	LEFT_ASIDE("on_full"),
	LEFT_ASIDE("priority"),
	LEFT_ASIDE("slice"),
	LEFT_ASIDE("group"),
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
