/* SPDX-License-Identifier: BSD-3-Clause */
/* Frame formats in description files, and those that are built in. */
#include <errno.h>
#include <string.h>

#include "weir_base_doc.h"
#include "weir_base_format.h"
#include "weir_base_nodes.h"

static const struct weir_base_format builtin[WEIR_BASE_NB_FORMATS] = {
	{
		/* DUNE: 64 samples of 64 channels, behind two headers of 16 bytes. A word of 64 bits has version (6), detector (6), crate
		 * (10), slot (4), stream (8), reserved (6), sequence (12) and length in words behind the first header (12); the next one
		 * is the timestamp. A stream is detector, crate, slot and stream. */
		.name = WEIR_BASE_FORMAT_WIBETH,
		.fields =
			{
				[WEIR_BASE_FIELD_STREAM] = WEIR_BASE_FORMAT_WIBETH_STREAM,
				[WEIR_BASE_FIELD_SEQUENCE] = WEIR_BASE_FORMAT_WIBETH_SEQUENCE,
				[WEIR_BASE_FIELD_TIMESTAMP] = WEIR_BASE_FORMAT_WIBETH_TIMESTAMP,
				[WEIR_BASE_FIELD_LENGTH] = WEIR_BASE_FORMAT_WIBETH_LENGTH,
			},
		.length_unit_bytes = WEIR_BASE_FORMAT_WIBETH_LENGTH_UNIT,
		.length_plus_bytes = WEIR_BASE_FORMAT_WIBETH_LENGTH_PLUS,
		.size_min_bytes = WEIR_BASE_FORMAT_WIBETH_BYTES,
		.size_max_bytes = WEIR_BASE_FORMAT_WIBETH_BYTES,
		.step_ticks = WEIR_BASE_FORMAT_WIBETH_STEP,
		.clock_hz = WEIR_BASE_FORMAT_WIBETH_HZ,
	},
	{
		/* SRS with VMM3a: counter of frames, "VM3" and the number of the card in 4 bits, time of sending, overflow of offsets; then
		 * records of 6 bytes. The clock is that of the captures known, 22.5 ns a tick. */
		.name = WEIR_BASE_FORMAT_VMM3A,
		.big_endian = true,
		.fields =
			{
				[WEIR_BASE_FIELD_STREAM] = WEIR_BASE_FORMAT_VMM3A_STREAM,
				[WEIR_BASE_FIELD_SEQUENCE] = WEIR_BASE_FORMAT_VMM3A_SEQUENCE,
				[WEIR_BASE_FIELD_TIMESTAMP] = WEIR_BASE_FORMAT_VMM3A_TIMESTAMP,
			},
		.size_min_bytes = WEIR_BASE_FORMAT_VMM3A_BYTES_MIN,
		.size_max_bytes = WEIR_BASE_FORMAT_VMM3A_BYTES,
		.clock_hz = WEIR_BASE_FORMAT_VMM3A_HZ,
	},
	{
		/* struct weir_readout_hit: what hit finders make. Hits of many streams in one link come at any time. */
		.name = WEIR_BASE_FORMAT_HIT,
		.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
		.fields = {[WEIR_BASE_FIELD_TIMESTAMP] = WEIR_BASE_FORMAT_HIT_TIMESTAMP},
		.size_min_bytes = WEIR_BASE_FORMAT_HIT_BYTES,
		.size_max_bytes = WEIR_BASE_FORMAT_HIT_BYTES,
		.clock_hz = WEIR_BASE_FORMAT_HIT_HZ,
	},
	{
		.name = "udp",
		.layer = WEIR_BASE_LAYER_UDP,
		.size_max_bytes = 65507,
	},
	{
		.name = "ethernet",
		.layer = WEIR_BASE_LAYER_ETHERNET,
		.size_min_bytes = 14,
	},
};

static const char *const field_names[] = {
	[WEIR_BASE_FIELD_STREAM] = "stream",
	[WEIR_BASE_FIELD_SEQUENCE] = "sequence",
	[WEIR_BASE_FIELD_TIMESTAMP] = "timestamp",
	[WEIR_BASE_FIELD_LENGTH] = "length",
};

static uint64_t
number(const struct weir_base_doc_value *map, const char *key)
{
	return weir_base_doc_u64(weir_base_doc_get(map, key));
}

static void
read_format(const struct weir_base_doc_value *value, struct weir_base_format *format)
{
	const struct weir_base_doc_value *length = weir_base_doc_get(value, "length");
	uint32_t size = (uint32_t)number(value, "size");

	*format = (struct weir_base_format){
		.name = weir_base_doc_name(value),
		.layer = (enum weir_base_layer)number(value, "layer"),
		.big_endian = number(value, "endianness") == 1,
		.sequence_modulus = number(weir_base_doc_get(value, "sequence"), "modulus"),
		.length_unit_bytes = (uint32_t)number(length, "unit"),
		.length_plus_bytes = (uint32_t)number(length, "plus"),
		.size_min_bytes = size != 0 ? size : (uint32_t)number(value, "size_min"),
		.size_max_bytes = size != 0 ? size : (uint32_t)number(value, "size_max"),
		.step_ticks = number(value, "step"),
		.clock_hz = number(value, "clock"),
	};
	for (unsigned int i = 0; i < WEIR_BASE_NB_FIELDS; i++) {
		const struct weir_base_doc_value *field = weir_base_doc_get(value, field_names[i]);

		format->fields[i].offset_bits = (uint32_t)number(field, "offset");
		format->fields[i].width_bits = (uint32_t)number(field, "width");
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

/* What is wrong: that field, or, of a timestamp that there is none of, what needs it. */
static const struct weir_base_doc_value *
place_of(const struct weir_base_doc_value *value, enum weir_base_field field)
{
	if (field == WEIR_BASE_NB_FIELDS)
		return value;
	if (weir_base_doc_given(value, field_names[field]))
		return weir_base_doc_get(value, field_names[field]);
	if (weir_base_doc_given(value, "step"))
		return weir_base_doc_get(value, "step");
	return weir_base_doc_given(value, "clock") ? weir_base_doc_get(value, "clock") : value;
}

int
weir_base_format_read(struct weir_base_doc *doc, const struct weir_base_doc_value *value,
	struct weir_base_format *format)
{
	enum weir_base_field field;
	char why[160];

	if (check_sizes(doc, value) < 0)
		return -EINVAL;
	read_format(value, format);
	if (weir_base_format_check(format, &field, why, sizeof(why)) == 0)
		return 0;
	weir_base_doc_error_add(doc, place_of(value, field), "%s", why);
	return -EINVAL;
}

const struct weir_base_format *
weir_base_format_builtin(unsigned int index)
{
	return index < WEIR_BASE_NB_FORMATS ? &builtin[index] : NULL;
}

static const struct weir_base_format *
find_builtin(const char *name)
{
	const struct weir_base_format *format;
	unsigned int i;

	for (i = 0; (format = weir_base_format_builtin(i)) != NULL; i++)
		if (strcmp(format->name, name) == 0)
			break;
	return format;
}

void
weir_base_formats_check(struct weir_base_doc *doc, const struct weir_base_doc_value *formats)
{
	struct weir_base_format format;
	unsigned int i;

	for (i = 0; i < weir_base_doc_count(formats); i++) {
		const struct weir_base_doc_value *value = weir_base_doc_at(formats, i);

		if (find_builtin(weir_base_doc_name(value)) != NULL)
			weir_base_doc_error_add(doc, value,
				"format '%s' is built in; expected another name",
				weir_base_doc_name(value));
		weir_base_format_read(doc, value, &format);
	}
}

int
weir_base_format_find(const struct weir_base_doc_value *formats, const char *name,
	struct weir_base_format *format)
{
	const struct weir_base_format *found = find_builtin(name);
	const struct weir_base_doc_value *value =
		found == NULL ? weir_base_doc_get(formats, name) : NULL;

	if (found != NULL)
		*format = *found;
	else if (value != NULL)
		read_format(value, format);
	return found != NULL || value != NULL ? 0 : -ENOENT;
}
