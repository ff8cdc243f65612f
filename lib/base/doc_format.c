/* SPDX-License-Identifier: BSD-3-Clause */
/* Vocabulary of frame formats: for those who run them, and for the simulator. */
#include "weir_base_doc.h"
#include "weir_base_nodes.h"

#define OFFSET_ROW(what)                                                                           \
	{                                                                                          \
		.name = "offset", .kind = WEIR_BASE_DOC_INT, .flags = WEIR_BASE_DOC_REQUIRED,      \
		.min = 0, .max = 1048576, .help = what                                             \
	}
#define WIDTH_ROW                                                                                  \
	{                                                                                          \
		.name = "width", .kind = WEIR_BASE_DOC_INT, .flags = WEIR_BASE_DOC_REQUIRED,       \
		.min = 1, .max = 64, .help = "Bits. A field lies within 8 bytes in a row."         \
	}

static const struct weir_base_doc_key field_keys[] = {
	OFFSET_ROW("Bit at which it begins; see the format's endianness."),
	WIDTH_ROW,
	{.name = NULL},
};

static const struct weir_base_doc_section field_section = {
	"readout field", "Where a field of a frame is.", field_keys};

static const struct weir_base_doc_key sequence_keys[] = {
	OFFSET_ROW("Bit at which it begins."),
	WIDTH_ROW,
	{
		.name = "modulus",
		.kind = WEIR_BASE_DOC_INT,
		.min = 2,
		.max = 1e15,
		.help = "It counts from 0 up to this less 1. By default as many as its width has "
			"values.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section sequence_section = {
	"readout sequence number", "A counter of a stream's frames.", sequence_keys};

static const struct weir_base_doc_key length_keys[] = {
	OFFSET_ROW("Bit at which it begins."),
	WIDTH_ROW,
	{
		.name = "unit",
		.kind = WEIR_BASE_DOC_BYTES,
		.def = "1B",
		.min = 1,
		.max = 65536,
		.help = "What it counts.",
	},
	{
		.name = "plus",
		.kind = WEIR_BASE_DOC_BYTES,
		.def = "0B",
		.min = 0,
		.max = 65536,
		.help = "What it does not count: a frame has the length times the unit, and this.",
	},
	{.name = NULL},
};

static const struct weir_base_doc_section length_section = {
	"readout length", "How long a frame is, as it says itself.", length_keys};

static const char *const layers[] = {"udp", "ethernet", NULL};
static const char *const endiannesses[] = {"little", "big", NULL};

static const struct weir_base_doc_key format_keys[] = {
	{
		.name = "layer",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = layers,
		.def = "udp",
		.help = "What a frame is: the payload of a UDP datagram, or a whole Ethernet "
			"frame.",
	},
	{
		.name = "endianness",
		.kind = WEIR_BASE_DOC_ENUM,
		.choices = endiannesses,
		.def = "little",
		.help = "Order of bytes and bits. `little`: bit 0 is the least significant one of "
			"the first byte; `big`: the most significant one.",
	},
	{
		.name = "size",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 1,
		.max = 1048576,
		.help = "Of every frame. Without it frames have any size from `size_min` to "
			"`size_max`.",
	},
	{
		.name = "size_min",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 0,
		.max = 1048576,
		.help = "Of the smallest frame. By default where the last field ends.",
	},
	{
		.name = "size_max",
		.kind = WEIR_BASE_DOC_BYTES,
		.min = 1,
		.max = 1048576,
		.help = "Of the largest frame.",
	},
	{
		.name = "clock",
		.kind = WEIR_BASE_DOC_FREQUENCY,
		.min = 1,
		.max = 1e12,
		.help = "Ticks of the timestamp in a second.",
	},
	{
		.name = "step",
		.kind = WEIR_BASE_DOC_INT,
		.min = 1,
		.max = 1e15,
		.help = "Ticks of the timestamp from frame to frame. Without it frames are "
			"irregular.",
	},
	{
		.name = "stream",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &field_section,
		.help = "Which stream a frame is of, among those that share a port.",
	},
	{
		.name = "sequence",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &sequence_section,
		.help = "Number of a frame in its stream.",
	},
	{
		.name = "timestamp",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &field_section,
		.help = "Time of a frame. Without it, when it arrived, in nanoseconds.",
	},
	{
		.name = "length",
		.kind = WEIR_BASE_DOC_MAP,
		.section = &length_section,
		.help = "Length of a frame.",
	},
	{.name = NULL},
};

const struct weir_base_doc_section weir_base_format_rows = {.keys = format_keys};
