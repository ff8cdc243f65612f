/* SPDX-License-Identifier: BSD-3-Clause */
/* Frame formats: a description becomes a load, a shift and a mask per field. */
#include <string.h>

#include "weir_readout_format.h"

#define WORD_BITS  64u
#define WORD_BYTES 8u

/*
 * The 8 bytes that are loaded end with the field, so that nothing behind it need be there; they begin with the frame where it
 * is nearer.
 *
 *     little endian: bit 0 of the word is bit 0 of byte `load`        value = word >> (offset - 8 load)
 *     big endian: the word's highest bit is bit 0 of byte `load`      value = word >> (64 - (offset - 8 load) - width)
 */
static struct weir_readout_field
compile_field(const struct weir_base_field_place *spec, bool big_endian)
{
	struct weir_readout_field field = {0};
	uint32_t end = (spec->offset_bits + spec->width_bits + 7) / 8, within;

	if (spec->width_bits == 0)
		return field;
	field.load = end > WORD_BYTES ? end - WORD_BYTES : 0;
	within = spec->offset_bits - 8 * field.load;
	field.shift = big_endian ? WORD_BITS - within - spec->width_bits : within;
	field.mask = weir_base_field_mask(spec->width_bits);
	return field;
}

/* The modulus as it is compiled: 2^width where none is stated, 0 for 2^64. */
static uint64_t
modulus_of(const struct weir_base_format *spec)
{
	uint32_t width = spec->fields[WEIR_BASE_FIELD_SEQUENCE].width_bits;

	if (spec->sequence_modulus != 0 || width == 0)
		return spec->sequence_modulus;
	return weir_base_field_mask(width) + 1;
}

/* Where the fields that there are begin. */
static uint32_t
first_load(const struct weir_readout_format *format)
{
	uint32_t first = UINT32_MAX;

	for (unsigned int i = 0; i < WEIR_BASE_NB_FIELDS; i++)
		if (format->fields[i].mask != 0 && format->fields[i].load < first)
			first = format->fields[i].load;
	return first;
}

/* Are all fields in one row? Then it is known of each which bytes of the row it is read from. */
static void
find_row(struct weir_readout_format *format)
{
	const uint64_t bytes =
		format->swap ? UINT64_C(0x0001020304050607) : UINT64_C(0x0706050403020100);
	const uint32_t first = first_load(format);

	format->row = first;
	for (unsigned int i = 0; i < WEIR_BASE_NB_FIELDS; i++) {
		struct weir_readout_field *field = &format->fields[i];
		const uint32_t offset = field->mask != 0 ? field->load - first : 0;

		if (offset > WEIR_READOUT_ROW_BYTES - sizeof(uint64_t))
			format->row = WEIR_READOUT_NO_ROW;
		field->order = bytes + offset * UINT64_C(0x0101010101010101);
	}
}

static void
fill(const struct weir_base_format *spec, struct weir_readout_format *format)
{
	*format = (struct weir_readout_format){
		.swap = spec->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__),
		.size_min_bytes = weir_base_format_size_min(spec),
		.size_max_bytes = weir_base_format_size_max(spec),
		.length_unit_bytes = spec->length_unit_bytes != 0 ? spec->length_unit_bytes : 1,
		.length_plus_bytes = spec->length_plus_bytes,
		.timestamp_bits = weir_base_format_time_bits(spec),
		.sequence_modulus = modulus_of(spec),
		.step_ticks = spec->step_ticks,
		.clock_hz = weir_base_format_clock_hz(spec),
		.fields_bytes = weir_base_format_fields_bytes(spec),
		.layer = spec->layer,
	};
	for (unsigned int i = 0; i < WEIR_BASE_NB_FIELDS; i++)
		format->fields[i] = compile_field(&spec->fields[i], spec->big_endian);
	find_row(format);
	memcpy(format->name, spec->name, strlen(spec->name) + 1);
}

int
weir_readout_format_compile(const struct weir_base_format *spec, struct weir_readout_format *format,
	enum weir_base_field *field, char *why, size_t why_bytes)
{
	const int rc = weir_base_format_check(spec, field, why, why_bytes);

	if (rc == 0)
		fill(spec, format);
	return rc;
}
