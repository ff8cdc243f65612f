/* SPDX-License-Identifier: BSD-3-Clause */
/* What arrives, where it is made rather than received. */
#include <weir_sim.h>

#include "schema.h"

static const struct weir_base_doc_key replayed_keys[] = {
	{
		.name = "pcap",
		.kind = WEIR_BASE_DOC_FILE,
		.flags = WEIR_BASE_DOC_MUST_EXIST,
		.help = "A capture file of packets, whose frames go to the links that they are of. "
			"Either this or `frames`.",
	},
	{
		.name = "frames",
		.kind = WEIR_BASE_DOC_FILE,
		.flags = WEIR_BASE_DOC_MUST_EXIST,
		.help = "A file of frames alone, one behind the other, in a format that has one "
			"size, or a length field.",
	},
	{
		.name = "rate",
		.kind = WEIR_BASE_DOC_FREQUENCY,
		.min = 1e-3,
		.max = 1e8,
		.help = "So many a second, of all links together. By default packets come at the "
			"times at which they were captured, frames alone at those that they say "
			"themselves.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section replayed_section = {
	.name = "replayed link",
	.help = "Frames of a file: of a link, or of several alike.",
	.keys = replayed_keys,
};

static const struct weir_base_doc_key keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_traffic_rows),
	{
		.name = "replayed",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &replayed_section,
		.help = "Links whose frames come from a file, by the name that they have in "
			"`application.links`.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section schema_traffic = {
	.name = "traffic",
	.help = "What arrives, where it is made rather than received.",
	.keys = keys,
};
