/* SPDX-License-Identifier: BSD-3-Clause */
/* Frame formats in description files. */
#include <errno.h>

#include "weir_readout_format.h"

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

static const char *const layers[] = {
	[WEIR_READOUT_LAYER_UDP] = "udp", [WEIR_READOUT_LAYER_ETHERNET] = "ethernet", NULL};
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

const struct weir_base_doc_section weir_readout_format_section = {
	"readout format", "Layout of a detector's or capture's frames.", format_keys};

static const char *const field_names[] = {
	[WEIR_READOUT_FIELD_STREAM] = "stream",
	[WEIR_READOUT_FIELD_SEQUENCE] = "sequence",
	[WEIR_READOUT_FIELD_TIMESTAMP] = "timestamp",
	[WEIR_READOUT_FIELD_LENGTH] = "length",
};

static uint64_t
number(const struct weir_base_doc_value *map, const char *key)
{
	return weir_base_doc_u64(weir_base_doc_get(map, key));
}

static void
read_spec(const struct weir_base_doc_value *value, struct weir_readout_format_spec *spec)
{
	const struct weir_base_doc_value *length = weir_base_doc_get(value, "length");
	uint32_t size = (uint32_t)number(value, "size");

	*spec = (struct weir_readout_format_spec){
		.name = weir_base_doc_name(value),
		.layer = (enum weir_readout_layer)number(value, "layer"),
		.big_endian = number(value, "endianness") == 1,
		.sequence_modulus = number(weir_base_doc_get(value, "sequence"), "modulus"),
		.length_unit_bytes = (uint32_t)number(length, "unit"),
		.length_plus_bytes = (uint32_t)number(length, "plus"),
		.size_min_bytes = size != 0 ? size : (uint32_t)number(value, "size_min"),
		.size_max_bytes = size != 0 ? size : (uint32_t)number(value, "size_max"),
		.step_ticks = number(value, "step"),
		.clock_hz = number(value, "clock"),
	};
	for (unsigned int i = 0; i < WEIR_READOUT_NB_FIELDS; i++) {
		const struct weir_base_doc_value *field = weir_base_doc_get(value, field_names[i]);

		spec->fields[i].offset_bits = (uint32_t)number(field, "offset");
		spec->fields[i].width_bits = (uint32_t)number(field, "width");
	}
}

/* @p size says it all. */
static int
check_sizes(struct weir_base_doc *doc, const struct weir_base_doc_value *value)
{
	static const char *const others[] = {"size_min", "size_max"};

	if (!weir_base_doc_given(value, "size"))
		return 0;
	for (unsigned int i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!weir_base_doc_given(value, others[i]))
			continue;
		weir_base_doc_error_add(doc, weir_base_doc_get(value, others[i]),
			"'%s' beside 'size'; expected one or the other", others[i]);
		return -EINVAL;
	}
	return 0;
}

int
weir_readout_format_read(struct weir_base_doc *doc, const struct weir_base_doc_value *value,
	struct weir_readout_format *format)
{
	const struct weir_base_doc_value *at = value;
	struct weir_readout_format_spec spec;
	enum weir_readout_field_kind field;
	char why[160];

	if (check_sizes(doc, value) < 0)
		return -EINVAL;
	read_spec(value, &spec);
	if (weir_readout_format_compile(&spec, format, &field, why, sizeof(why)) == 0)
		return 0;
	if (field < WEIR_READOUT_NB_FIELDS && weir_base_doc_given(value, field_names[field]))
		at = weir_base_doc_get(value, field_names[field]);
	weir_base_doc_error_add(doc, at, "%s", why);
	return -EINVAL;
}
