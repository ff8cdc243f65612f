/* SPDX-License-Identifier: BSD-3-Clause */
/* The top level of a description file. */
#include <weir_sim.h>

#include "schema.h"

static const struct weir_base_doc_key keys[] = {
	{
		.name = "application",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &schema_application,
		.def = "{}",
		.help = "What is done.",
	},
	{
		.name = "platform",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &schema_platform,
		.def = "{}",
		.help = "What it runs on.",
	},
	{
		.name = "traffic",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &schema_traffic,
		.def = "{}",
		.help = "What arrives, where it is made rather than received.",
	},
	{
		.name = "run",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &schema_run,
		.def = "{}",
		.help = "How long it runs, and what is written.",
	},
	WEIR_BASE_DOC_PARTS_ROWS(weir_sim_doc_part),
	{.name = NULL},
};

const struct weir_base_doc_section schema_root = {
	.name = "description",
	.help = "A description file. It may hold one, some or all of these parts, and take others "
		"from the "
		"files that `include:` names. Files that are read (captures, route tables) are "
		"looked for "
		"beside the file that names them; files that are written go below the directory in "
		"which "
		"the program is started, and missing directories are made.",
	.keys = keys,
};
