/* SPDX-License-Identifier: BSD-3-Clause */
/* Frame formats, as descriptions tell them, and their fields: as those who run them compile and read them. */
#include <string.h>

#include "frame_format.h"
#include "weir_base_doc.h"
#include "weir_base_nodes.h"

#define WORD_BITS 64

/* Those that are built in. */
static const struct sim_format formats[] = {
	{
		.name = WEIR_BASE_FORMAT_WIBETH,
		.fields =
			{
				[SIM_FIELD_STREAM] = WEIR_BASE_FORMAT_WIBETH_STREAM,
				[SIM_FIELD_SEQUENCE] = WEIR_BASE_FORMAT_WIBETH_SEQUENCE,
				[SIM_FIELD_TIMESTAMP] = WEIR_BASE_FORMAT_WIBETH_TIMESTAMP,
				[SIM_FIELD_LENGTH] = WEIR_BASE_FORMAT_WIBETH_LENGTH,
			},
		.length_unit = WEIR_BASE_FORMAT_WIBETH_LENGTH_UNIT,
		.length_plus = WEIR_BASE_FORMAT_WIBETH_LENGTH_PLUS,
		.bytes_min = WEIR_BASE_FORMAT_WIBETH_BYTES,
		.bytes_max = WEIR_BASE_FORMAT_WIBETH_BYTES,
		.clock_hz = WEIR_BASE_FORMAT_WIBETH_HZ,
		.step = WEIR_BASE_FORMAT_WIBETH_STEP,
	},
	{
		.name = WEIR_BASE_FORMAT_VMM3A,
		.is_big_endian = true,
		.fields =
			{
				[SIM_FIELD_STREAM] = WEIR_BASE_FORMAT_VMM3A_STREAM,
				[SIM_FIELD_SEQUENCE] = WEIR_BASE_FORMAT_VMM3A_SEQUENCE,
				[SIM_FIELD_TIMESTAMP] = WEIR_BASE_FORMAT_VMM3A_TIMESTAMP,
			},
		.bytes_min = WEIR_BASE_FORMAT_VMM3A_BYTES_MIN,
		.bytes_max = WEIR_BASE_FORMAT_VMM3A_BYTES,
		.clock_hz = WEIR_BASE_FORMAT_VMM3A_HZ,
	},
	{
		.name = WEIR_BASE_FORMAT_HIT,
		.is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
		.fields = {[SIM_FIELD_TIMESTAMP] = WEIR_BASE_FORMAT_HIT_TIMESTAMP},
		.bytes_min = WEIR_BASE_FORMAT_HIT_BYTES,
		.bytes_max = WEIR_BASE_FORMAT_HIT_BYTES,
		.clock_hz = WEIR_BASE_FORMAT_HIT_HZ,
	},
};

static const char *const field_names[] = {
	[SIM_FIELD_STREAM] = "stream",
	[SIM_FIELD_SEQUENCE] = "sequence",
	[SIM_FIELD_TIMESTAMP] = "timestamp",
	[SIM_FIELD_LENGTH] = "length",
};

static uint64_t
number_of(const struct weir_base_doc_value *map, const char *key)
{
	return weir_base_doc_u64(weir_base_doc_get(map, key));
}

/* Of a description; without one, what nothing is known of. */
static void
read_described(const struct weir_base_doc_value *value, struct sim_format *format)
{
	const struct weir_base_doc_value *length = weir_base_doc_get(value, "length");
	const uint64_t bytes = number_of(value, "size");

	format->is_ethernet = number_of(value, "layer") == 1;
	format->is_big_endian = number_of(value, "endianness") == 1;
	format->bytes_min = (uint32_t)(bytes != 0 ? bytes : number_of(value, "size_min"));
	format->bytes_max = (uint32_t)(bytes != 0 ? bytes : number_of(value, "size_max"));
	format->length_unit = number_of(length, "unit");
	format->length_plus = number_of(length, "plus");
	format->clock_hz = (uint64_t)weir_base_doc_f64(weir_base_doc_get(value, "clock"));
	format->step = number_of(value, "step");
	for (unsigned int i = 0; i < SIM_FIELDS; i++) {
		const struct weir_base_doc_value *field = weir_base_doc_get(value, field_names[i]);

		format->fields[i].offset = (uint32_t)number_of(field, "offset");
		format->fields[i].width = (uint32_t)number_of(field, "width");
	}
}

/* The byte after the last one of a field. */
static uint32_t
end_of(const struct sim_field *field)
{
	return field->width == 0 ? 0 : (field->offset + field->width + 7) / 8;
}

struct sim_format
sim_format_read(
	const struct weir_base_doc_value *application, const struct weir_base_doc_value *link)
{
	const char *name = weir_base_doc_str(weir_base_doc_get(link, "format"));
	const struct weir_base_doc_value *described =
		weir_base_doc_get(weir_base_doc_get(application, "formats"), name);
	struct sim_format format = {.name = name};
	unsigned int i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(formats[i].name, name) == 0)
			format = formats[i];
	if (described != NULL)
		read_described(described, &format);
	for (i = 0; i < SIM_FIELDS; i++)
		if (end_of(&format.fields[i]) > format.fields_bytes)
			format.fields_bytes = end_of(&format.fields[i]);
	if (format.bytes_min < format.fields_bytes)
		format.bytes_min = format.fields_bytes;
	if (format.bytes_max == 0)
		format.bytes_max = UINT32_MAX;
	return format;
}

/* Little endian: bit 0 is the least significant one of byte 0; else the most significant one, and comes first in the value. */
uint64_t
sim_format_get(const struct sim_format *format, enum sim_field_kind kind, const uint8_t *frame,
	uint32_t bytes)
{
	const struct sim_field *field = &format->fields[kind];
	uint64_t value = 0, bit;
	uint32_t i, at;

	for (i = 0; i < field->width && i < WORD_BITS; i++) {
		at = field->offset + i;
		if (at / 8 >= bytes)
			bit = 0;
		else
			bit = frame[at / 8] >> (format->is_big_endian ? 7 - at % 8 : at % 8) & 1;
		value = format->is_big_endian ? value << 1 | bit : value | bit << i;
	}
	return value;
}

bool
sim_format_allows(const struct sim_format *format, const uint8_t *frame, uint32_t bytes)
{
	const uint64_t length = sim_format_get(format, SIM_FIELD_LENGTH, frame, bytes);

	if (bytes < format->bytes_min || bytes > format->bytes_max)
		return false;
	return format->fields[SIM_FIELD_LENGTH].width == 0 ||
	       (bytes >= format->length_plus && length <= bytes &&
		       length * format->length_unit == bytes - format->length_plus);
}
