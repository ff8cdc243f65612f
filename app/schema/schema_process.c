/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done with the frames of links. */
#include <weir_base_nodes.h>
#include <weir_sim.h>

#include "schema.h"

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
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_process_job_rows),
	{.name = NULL},
};

const struct weir_base_doc_section schema_process = {
	.name = "process",
	.help = "A function that looks at frames of links, one by one, and lets each pass, or "
		"drops "
		"it for a reason that has a name, before they come to their buffers or after that.",
	.keys = keys,
};
