/* SPDX-License-Identifier: BSD-3-Clause */
/* What arrives, where it is made rather than received. */
#include <weir_readout_emulator.h>
#include <weir_sim.h>

#include "schema.h"

static const struct weir_base_doc_key fault_keys[] = {
	{
		.name = "fault",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = weir_readout_emulator_fault_names,
		.flags = WEIR_BASE_DOC_REQUIRED,
		.help = "What is done to a frame. `drop`: it is not sent. `duplicate`: it is sent "
			"twice. `reorder`: it is sent after the one that is `amount` after it. "
			"`stream`, `sequence`, `timestamp`: `amount` is added to that field. "
			"`truncate`: only `amount` bytes are sent. `stall`: it and those after it "
			"wait for the time of `amount` frames. `jump`: `amount` is added to its "
			"timestamp, and to all that follow.",
	},
	{
		.name = "amount",
		.kind = WEIR_BASE_DOC_INT,
		.min = -1e15,
		.max = 1e15,
		.help = "See `fault`.",
	},
	{
		.name = "first",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 1e15,
		.def = "0",
		.help = "Number of the first frame that it is done to, from 0.",
	},
	{
		.name = "period",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 1e15,
		.help = "And again each so many frames after it; by default once.",
	},
	{
		.name = "length",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 1e15,
		.def = "1",
		.help = "To so many frames in a row, each time.",
	},
	{
		.name = "random",
		.kind = WEIR_BASE_DOC_NUMBER,
		.min = 1e-6,
		.max = 1,
		.help = "Not by `period`: each frame from the first on has this chance, by the "
			"`seed`.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section fault_section = {
	.name = "fault",
	.help = "What is done to some frames of each link, so that one sees what becomes of them.",
	.keys = fault_keys,
};

static const struct weir_base_doc_key emulated_keys[] = {
	{
		.name = "rate",
		.kind = WEIR_BASE_DOC_FREQUENCY,
		.min = 1e-3,
		.max = 1e8,
		.help = "Frames a second of each link, exactly, whatever becomes of them. By "
			"default as the format's clock and step say.",
	},
	{
		.name = "frames",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 1e15,
		.help = "So many of each link, then no more. By default without an end.",
	},
	{
		.name = "size",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 1,
		.max = 65000,
		.help = "Of each frame. By default the largest of the format, where that is up to "
			"9000 B, else the smallest.",
	},
	{
		.name = "payload",
		.kind = WEIR_BASE_DOC_FILE,
		.flags = WEIR_BASE_DOC_MUST_EXIST,
		.help = "A file of one frame: what all of them hold beside their fields. By "
			"default zeros.",
	},
	{
		.name = "seed",
		.kind = WEIR_BASE_DOC_INT,
		.min = 0,
		.max = 1e15,
		.def = "1",
		.help = "Of faults at random: the same one gives the same faults.",
	},
	{
		.name = "faults",
		.kind = WEIR_BASE_DOC_LIST,
		.item = WEIR_BASE_DOC_MAP,
		.section = &fault_section,
		.help = "What goes wrong.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section emulated_section = {
	.name = "emulated link",
	.help = "Frames as front ends send them: of a link, or of several alike.",
	.keys = emulated_keys,
};

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
	{
		.name = "emulated",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &emulated_section,
		.help = "Links whose frames are made here, by the name that they have in "
			"`application.links`.",
	},
	{
		.name = "replayed",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &replayed_section,
		.help = "Links whose frames come from a file, likewise.",
	},
	WEIR_BASE_DOC_ROWS_OF(weir_sim_doc_traffic_rows),
	{.name = NULL},
};

const struct weir_base_doc_section schema_traffic = {
	.name = "traffic",
	.help = "What arrives, where it is made rather than received.",
	.keys = keys,
};
