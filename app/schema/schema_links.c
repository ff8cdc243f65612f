/* SPDX-License-Identifier: BSD-3-Clause */
/* Links of a readout, and their buffers. */
#include <weir_sim.h>

#include "config_links.h"
#include "schema.h"

static const struct weir_base_doc_key buffer_keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_buffer_rows),
	{
		.name = "hugepages",
		.kind = WEIR_BASE_DOC_BOOL,
		.def = "true",
		.help = "Use hugepages where the system has enough of them.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section buffer_section = {
	.name = "latency buffer",
	.help = "The frames of a link's last seconds, in memory that is there from the beginning: "
		"so much for each link.",
	.keys = buffer_keys,
};

static const struct weir_base_doc_key hits_keys[] = {
	{
		.name = "threshold",
		.kind = WEIR_BASE_DOC_INT,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.min = 1,
		.max = 16383,
		.help = "A sample is of a hit if it is above its channel's baseline by more than "
			"this.",
	},
	{
		.name = "max_samples",
		.kind = WEIR_BASE_DOC_INT,
		.min = 2,
		.max = 65535,
		.def = "1024",
		.help = "A hit of so many samples ends there.",
	},
	{
		.name = "to",
		.kind = WEIR_BASE_DOC_STRING,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.help = "The link whose frames they become: one of format `hit`. Those of several "
			"links may go to one.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section hits_section = {
	.name = "hits",
	.help = "Pulses in the channels of `wibeth` frames, found before these go to their buffer.",
	.keys = hits_keys,
};

static const struct weir_base_doc_key link_keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_link_rows),
	{
		.name = "buffer",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &buffer_section,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.help = "Where its frames are kept.",
	},
	{
		.name = "hits",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &hits_section,
		.help = "Look for hits in its frames: short for one of `processes` with the name "
			"and the function `hits`, `inline`.",
	},
	{
		.name = "stall",
		.kind = WEIR_BASE_DOC_DURATION,
		.min = 1e-6,
		.max = 1e6,
		.help = "Nothing came for so long: counts as a stall. By default not looked for.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section schema_link = {
	.name = "link",
	.help = "A stream of frames, or several alike: each frame is compared with the one before "
		"it, counted, and put into the link's buffer.",
	.keys = link_keys,
};
