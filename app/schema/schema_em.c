/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues of events, and who gets them. */
#include <string.h>

#include <weir_base_nodes.h>
#include <weir_base_rules.h>
#include <weir_bridge_object.h>
#include <weir_sim.h>

#include "config.h"
#include "schema.h"

static bool
check_name(const char *text)
{
	return weir_base_is_name(text, WEIR_BASE_NAMED_MAX);
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

static const struct weir_base_doc_key queue_keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_queue_rows),
	{
		.name = "group",
		.kind = WEIR_BASE_DOC_STRING,
		.def = "default",
		.check = check_name,
		.expected = "1 to 23 letters, digits or '_'",
		.help = "The group of workers that serves it, see `platform.workers.groups`; for "
			"`weir sim` a group of `platform.cores` too, which serve an object's queue "
			"in place of workers.",
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
