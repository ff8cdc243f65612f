/* SPDX-License-Identifier: BSD-3-Clause */
/* Frame formats, as descriptions tell them, and their fields: as those who run them compile and read them. */
#include <string.h>

#include "frame_format.h"
#include "weir_base_doc.h"

#define WORD_BITS 64

struct weir_base_format
sim_format_read(
	const struct weir_base_doc_value *application, const struct weir_base_doc_value *link)
{
	const char *name = weir_base_doc_str(weir_base_doc_get(link, "format"));
	struct weir_base_format format = {.name = name};

	weir_base_format_find(weir_base_doc_get(application, "formats"), name, &format);
	format.size_min_bytes = weir_base_format_size_min(&format);
	format.size_max_bytes = weir_base_format_size_max(&format);
	return format;
}

/* Little endian: bit 0 is the least significant one of byte 0; else the most significant one, and comes first in the value. */
uint64_t
sim_format_get(const struct weir_base_format *format, enum weir_base_field kind,
	const uint8_t *frame, uint32_t bytes)
{
	const struct weir_base_field_place *field = &format->fields[kind];
	uint64_t value = 0, bit;
	uint32_t i, at;

	for (i = 0; i < field->width_bits && i < WORD_BITS; i++) {
		at = field->offset_bits + i;
		if (at / 8 >= bytes)
			bit = 0;
		else
			bit = frame[at / 8] >> (format->big_endian ? 7 - at % 8 : at % 8) & 1;
		value = format->big_endian ? value << 1 | bit : value | bit << i;
	}
	return value;
}

bool
sim_format_allows(const struct weir_base_format *format, const uint8_t *frame, uint32_t bytes)
{
	const uint64_t length = sim_format_get(format, WEIR_BASE_FIELD_LENGTH, frame, bytes);

	if (bytes < format->size_min_bytes || bytes > format->size_max_bytes)
		return false;
	return format->fields[WEIR_BASE_FIELD_LENGTH].width_bits == 0 ||
	       (bytes >= format->length_plus_bytes && length <= bytes &&
		       length * format->length_unit_bytes == bytes - format->length_plus_bytes);
}
