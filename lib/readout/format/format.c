/* SPDX-License-Identifier: BSD-3-Clause */
/* Frame formats: a description becomes a load, a shift and a mask per field. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "weir_readout_format.h"

#define WORD_BITS  64u
#define WORD_BYTES 8u
/* Where a field may end: no frame is larger. */
#define OFFSET_MAX_BITS (1u << 20)

#define NS_PER_S 1000000000ull

/* Who wants to know what is wrong. */
struct complaint {
	enum weir_readout_field_kind *field;
	char *why;
	size_t why_bytes;
};

/* @return -EINVAL */
static int __attribute__((format(printf, 3, 4))) refuse(const struct complaint *complaint,
	enum weir_readout_field_kind field, const char *format, ...)
{
	va_list arguments;

	if (complaint->field != NULL)
		*complaint->field = field;
	if (complaint->why != NULL && complaint->why_bytes > 0) {
		va_start(arguments, format);
		vsnprintf(complaint->why, complaint->why_bytes, format, arguments);
		va_end(arguments);
	}
	return -EINVAL;
}

static uint64_t
mask_of(uint32_t width_bits)
{
	return width_bits < WORD_BITS ? (UINT64_C(1) << width_bits) - 1 : UINT64_MAX;
}

/* The byte after its last one. */
static uint32_t
end_of(const struct weir_readout_field_spec *spec)
{
	return spec->width_bits == 0 ? 0 : (spec->offset_bits + spec->width_bits + 7) / 8;
}

static int
check_field(const struct weir_readout_field_spec *spec, enum weir_readout_field_kind kind,
	const struct complaint *complaint)
{
	uint32_t bits = spec->offset_bits % 8 + spec->width_bits;

	if (spec->width_bits > WORD_BITS)
		return refuse(complaint, kind, "%u bits; a field has 1 up to %u", spec->width_bits,
			WORD_BITS);
	if (spec->offset_bits > OFFSET_MAX_BITS)
		return refuse(complaint, kind, "offset %u; expected up to %u bits",
			spec->offset_bits, OFFSET_MAX_BITS);
	if (bits > WORD_BITS)
		return refuse(complaint, kind,
			"%u bits from bit %u of a byte on are in %u bytes; expected within %u",
			spec->width_bits, spec->offset_bits % 8, (bits + 7) / 8, WORD_BYTES);
	return 0;
}

/*
 * The 8 bytes that are loaded end with the field, so that nothing behind it need be there; they begin with the frame where it
 * is nearer.
 *
 *     little endian: bit 0 of the word is bit 0 of byte `load`        value = word >> (offset - 8 load)
 *     big endian: the word's highest bit is bit 0 of byte `load`      value = word >> (64 - (offset - 8 load) - width)
 */
static struct weir_readout_field
compile_field(const struct weir_readout_field_spec *spec, bool big_endian)
{
	struct weir_readout_field field = {0};
	uint32_t end = end_of(spec), within;

	if (spec->width_bits == 0)
		return field;
	field.load = end > WORD_BYTES ? end - WORD_BYTES : 0;
	within = spec->offset_bits - 8 * field.load;
	field.shift = big_endian ? WORD_BITS - within - spec->width_bits : within;
	field.mask = mask_of(spec->width_bits);
	return field;
}

static int
check_sequence(const struct weir_readout_format_spec *spec, const struct complaint *complaint)
{
	uint32_t width = spec->fields[WEIR_READOUT_FIELD_SEQUENCE].width_bits;

	if (spec->sequence_modulus == 0)
		return 0;
	if (width == 0)
		return refuse(complaint, WEIR_READOUT_FIELD_SEQUENCE,
			"a modulus without a sequence number");
	if (spec->sequence_modulus < 2 || spec->sequence_modulus - 1 > mask_of(width))
		return refuse(complaint, WEIR_READOUT_FIELD_SEQUENCE,
			"modulus %llu of a sequence number of %u bits; expected 2 up to 2^%u",
			(unsigned long long)spec->sequence_modulus, width, width);
	return 0;
}

static int
check_timestamp(const struct weir_readout_format_spec *spec, const struct complaint *complaint)
{
	uint32_t width = spec->fields[WEIR_READOUT_FIELD_TIMESTAMP].width_bits;

	if (width == 0 && spec->step_ticks != 0)
		return refuse(complaint, WEIR_READOUT_FIELD_TIMESTAMP,
			"a step without a timestamp; expected a field of it");
	if (width == 0 && spec->clock_hz != 0)
		return refuse(complaint, WEIR_READOUT_FIELD_TIMESTAMP,
			"a clock without a timestamp; expected a field of it");
	/* What is a step on must not be a step back. */
	if (width != 0 && spec->step_ticks > mask_of(width) / 4)
		return refuse(complaint, WEIR_READOUT_FIELD_TIMESTAMP,
			"step %llu of a timestamp of %u bits; expected up to a fourth of its "
			"values",
			(unsigned long long)spec->step_ticks, width);
	return 0;
}

static int
check_sizes(const struct weir_readout_format_spec *spec, const struct complaint *complaint)
{
	const uint32_t max = spec->size_max_bytes;

	if (max == 0)
		return 0;
	for (unsigned int i = 0; i < WEIR_READOUT_NB_FIELDS; i++)
		if (end_of(&spec->fields[i]) > max)
			return refuse(complaint, (enum weir_readout_field_kind)i,
				"it ends %u bytes from the beginning of frames of %u; expected "
				"within these",
				end_of(&spec->fields[i]), max);
	if (max < spec->size_min_bytes)
		return refuse(complaint, WEIR_READOUT_NB_FIELDS,
			"at most %u bytes, and at least %u; expected as many or more at most", max,
			spec->size_min_bytes);
	return 0;
}

/* Does any length mean a size that frames are stated to have? Else each of them would be of a wrong size. */
static int
check_length(const struct weir_readout_format_spec *spec, uint32_t size_min_bytes,
	const struct complaint *complaint)
{
	const uint32_t width = spec->fields[WEIR_READOUT_FIELD_LENGTH].width_bits;
	const uint64_t unit = spec->length_unit_bytes != 0 ? spec->length_unit_bytes : 1;
	const uint64_t max = spec->size_max_bytes;
	const uint64_t plus = spec->length_plus_bytes;
	uint64_t least = 0; /* that means a frame's size, or more */

	if (width == 0 || max == 0)
		return 0;
	if (plus < size_min_bytes)
		least = (size_min_bytes - plus + unit - 1) / unit;
	if (least <= mask_of(width) && least * unit + plus <= max)
		return 0;
	return refuse(complaint, WEIR_READOUT_FIELD_LENGTH,
		"no number of %u bits, times %llu and plus %llu, is a size of %u to %llu bytes; "
		"expected one that is",
		width, (unsigned long long)unit, (unsigned long long)plus, size_min_bytes,
		(unsigned long long)max);
}

static int
check_name(const struct weir_readout_format_spec *spec, const struct complaint *complaint)
{
	if (spec->name == NULL || spec->name[0] == '\0')
		return refuse(complaint, WEIR_READOUT_NB_FIELDS, "a format has a name");
	if (strlen(spec->name) >= WEIR_READOUT_FORMAT_NAME_MAX)
		return refuse(complaint, WEIR_READOUT_NB_FIELDS, "'%s': a name has up to %u bytes",
			spec->name, WEIR_READOUT_FORMAT_NAME_MAX - 1);
	return 0;
}

/* The modulus as it is compiled: 2^width where none is stated, 0 for 2^64. */
static uint64_t
modulus_of(const struct weir_readout_format_spec *spec)
{
	uint32_t width = spec->fields[WEIR_READOUT_FIELD_SEQUENCE].width_bits;

	if (spec->sequence_modulus != 0 || width == 0)
		return spec->sequence_modulus;
	return mask_of(width) + 1;
}

/* Where the fields that there are begin. */
static uint32_t
first_load(const struct weir_readout_format *format)
{
	uint32_t first = UINT32_MAX;

	for (unsigned int i = 0; i < WEIR_READOUT_NB_FIELDS; i++)
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
	for (unsigned int i = 0; i < WEIR_READOUT_NB_FIELDS; i++) {
		struct weir_readout_field *field = &format->fields[i];
		const uint32_t offset = field->mask != 0 ? field->load - first : 0;

		if (offset > WEIR_READOUT_ROW_BYTES - sizeof(uint64_t))
			format->row = WEIR_READOUT_NO_ROW;
		field->order = bytes + offset * UINT64_C(0x0101010101010101);
	}
}

static void
fill(const struct weir_readout_format_spec *spec, uint32_t size_min_bytes,
	struct weir_readout_format *format)
{
	uint32_t width = spec->fields[WEIR_READOUT_FIELD_TIMESTAMP].width_bits;

	*format = (struct weir_readout_format){
		.swap = spec->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__),
		.size_min_bytes = size_min_bytes,
		.size_max_bytes = spec->size_max_bytes != 0 ? spec->size_max_bytes : UINT32_MAX,
		.length_unit_bytes = spec->length_unit_bytes != 0 ? spec->length_unit_bytes : 1,
		.length_plus_bytes = spec->length_plus_bytes,
		.timestamp_bits = width != 0 ? width : WORD_BITS,
		.sequence_modulus = modulus_of(spec),
		.step_ticks = spec->step_ticks,
		.clock_hz = width != 0 ? spec->clock_hz : NS_PER_S,
		.layer = spec->layer,
	};
	for (unsigned int i = 0; i < WEIR_READOUT_NB_FIELDS; i++) {
		format->fields[i] = compile_field(&spec->fields[i], spec->big_endian);
		if (end_of(&spec->fields[i]) > format->fields_bytes)
			format->fields_bytes = end_of(&spec->fields[i]);
	}
	find_row(format);
	memcpy(format->name, spec->name, strlen(spec->name) + 1);
}

int
weir_readout_format_compile(const struct weir_readout_format_spec *spec,
	struct weir_readout_format *format, enum weir_readout_field_kind *field, char *why,
	size_t why_bytes)
{
	const struct complaint complaint = {field, why, why_bytes};
	uint32_t size_min_bytes = spec->size_min_bytes;
	int rc = check_name(spec, &complaint);

	for (unsigned int i = 0; i < WEIR_READOUT_NB_FIELDS && rc == 0; i++) {
		const struct weir_readout_field_spec *one = &spec->fields[i];

		rc = check_field(one, (enum weir_readout_field_kind)i, &complaint);
		if (end_of(one) > size_min_bytes)
			size_min_bytes = end_of(one);
	}
	if (rc == 0)
		rc = check_sequence(spec, &complaint);
	if (rc == 0)
		rc = check_timestamp(spec, &complaint);
	if (rc == 0)
		rc = check_sizes(spec, &complaint);
	if (rc == 0)
		rc = check_length(spec, size_min_bytes, &complaint);
	if (rc == 0)
		fill(spec, size_min_bytes, format);
	return rc;
}
