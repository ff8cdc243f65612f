/* SPDX-License-Identifier: BSD-3-Clause */
/* Frame formats that contradict themselves. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "weir_base_format.h"

#define WORD_BITS  64u
#define WORD_BYTES 8u
/* Where a field may end: no frame is larger. */
#define OFFSET_MAX_BITS (1u << 20)

#define NS_PER_S 1000000000ull /* of those whose time is that of their arrival */

/* Who wants to know what is wrong. */
struct complaint {
	enum weir_base_field *field;
	char *why;
	size_t why_bytes;
};

/* @return -EINVAL */
static int __attribute__((format(printf, 3, 4)))
refuse(const struct complaint *complaint, enum weir_base_field field, const char *text, ...)
{
	va_list arguments;

	if (complaint->field != NULL)
		*complaint->field = field;
	if (complaint->why != NULL && complaint->why_bytes > 0) {
		va_start(arguments, text);
		vsnprintf(complaint->why, complaint->why_bytes, text, arguments);
		va_end(arguments);
	}
	return -EINVAL;
}

uint64_t
weir_base_field_mask(uint32_t width_bits)
{
	return width_bits < WORD_BITS ? (UINT64_C(1) << width_bits) - 1 : UINT64_MAX;
}

/* The byte after its last one. */
static uint32_t
end_of(const struct weir_base_field_place *spec)
{
	return spec->width_bits == 0 ? 0 : (spec->offset_bits + spec->width_bits + 7) / 8;
}

static int
check_field(const struct weir_base_field_place *spec, enum weir_base_field kind,
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

static int
check_sequence(const struct weir_base_format *format, const struct complaint *complaint)
{
	uint32_t width = format->fields[WEIR_BASE_FIELD_SEQUENCE].width_bits;

	if (format->sequence_modulus == 0)
		return 0;
	if (width == 0)
		return refuse(
			complaint, WEIR_BASE_FIELD_SEQUENCE, "a modulus without a sequence number");
	if (format->sequence_modulus < 2 ||
		format->sequence_modulus - 1 > weir_base_field_mask(width))
		return refuse(complaint, WEIR_BASE_FIELD_SEQUENCE,
			"modulus %llu of a sequence number of %u bits; expected 2 up to 2^%u",
			(unsigned long long)format->sequence_modulus, width, width);
	return 0;
}

static int
check_timestamp(const struct weir_base_format *format, const struct complaint *complaint)
{
	uint32_t width = format->fields[WEIR_BASE_FIELD_TIMESTAMP].width_bits;

	if (width == 0 && format->step_ticks != 0)
		return refuse(complaint, WEIR_BASE_FIELD_TIMESTAMP,
			"a step without a timestamp; expected a field of it");
	if (width == 0 && format->clock_hz != 0)
		return refuse(complaint, WEIR_BASE_FIELD_TIMESTAMP,
			"a clock without a timestamp; expected a field of it");
	/* What is a step on must not be a step back. */
	if (width != 0 && format->step_ticks > weir_base_field_mask(width) / 4)
		return refuse(complaint, WEIR_BASE_FIELD_TIMESTAMP,
			"step %llu of a timestamp of %u bits; expected up to a fourth of its "
			"values",
			(unsigned long long)format->step_ticks, width);
	return 0;
}

static int
check_sizes(const struct weir_base_format *format, const struct complaint *complaint)
{
	const uint32_t max = format->size_max_bytes;

	if (max == 0)
		return 0;
	for (unsigned int i = 0; i < WEIR_BASE_NB_FIELDS; i++)
		if (end_of(&format->fields[i]) > max)
			return refuse(complaint, (enum weir_base_field)i,
				"it ends %u bytes from the beginning of frames of %u; expected "
				"within these",
				end_of(&format->fields[i]), max);
	if (max < format->size_min_bytes)
		return refuse(complaint, WEIR_BASE_NB_FIELDS,
			"at most %u bytes, and at least %u; expected as many or more at most", max,
			format->size_min_bytes);
	return 0;
}

/* Does any length mean a size that frames are stated to have? Else each of them would be of a wrong size. */
static int
check_length(const struct weir_base_format *format, const struct complaint *complaint)
{
	const uint32_t width = format->fields[WEIR_BASE_FIELD_LENGTH].width_bits;
	const uint64_t unit = format->length_unit_bytes != 0 ? format->length_unit_bytes : 1;
	const uint64_t max = format->size_max_bytes;
	const uint64_t plus = format->length_plus_bytes;
	const uint32_t size_min_bytes = weir_base_format_size_min(format);
	uint64_t least = 0; /* that means a frame's size, or more */

	if (width == 0 || max == 0)
		return 0;
	if (plus < size_min_bytes)
		least = (size_min_bytes - plus + unit - 1) / unit;
	if (least <= weir_base_field_mask(width) && least * unit + plus <= max)
		return 0;
	return refuse(complaint, WEIR_BASE_FIELD_LENGTH,
		"no number of %u bits, times %llu and plus %llu, is a size of %u to %llu bytes; "
		"expected one that is",
		width, (unsigned long long)unit, (unsigned long long)plus, size_min_bytes,
		(unsigned long long)max);
}

static int
check_name(const struct weir_base_format *format, const struct complaint *complaint)
{
	if (format->name == NULL || format->name[0] == '\0')
		return refuse(complaint, WEIR_BASE_NB_FIELDS, "a format has a name");
	if (strlen(format->name) >= WEIR_BASE_FORMAT_NAME_MAX)
		return refuse(complaint, WEIR_BASE_NB_FIELDS, "'%s': a name has up to %u bytes",
			format->name, WEIR_BASE_FORMAT_NAME_MAX - 1);
	return 0;
}

uint32_t
weir_base_format_fields_bytes(const struct weir_base_format *format)
{
	uint32_t most = 0;

	for (unsigned int i = 0; i < WEIR_BASE_NB_FIELDS; i++)
		if (end_of(&format->fields[i]) > most)
			most = end_of(&format->fields[i]);
	return most;
}

uint32_t
weir_base_format_size_min(const struct weir_base_format *format)
{
	const uint32_t fields = weir_base_format_fields_bytes(format);

	return format->size_min_bytes > fields ? format->size_min_bytes : fields;
}

uint32_t
weir_base_format_size_max(const struct weir_base_format *format)
{
	return format->size_max_bytes != 0 ? format->size_max_bytes : UINT32_MAX;
}

uint64_t
weir_base_format_clock_hz(const struct weir_base_format *format)
{
	return format->fields[WEIR_BASE_FIELD_TIMESTAMP].width_bits != 0 ? format->clock_hz
									 : NS_PER_S;
}

uint32_t
weir_base_format_time_bits(const struct weir_base_format *format)
{
	const uint32_t width = format->fields[WEIR_BASE_FIELD_TIMESTAMP].width_bits;

	return width != 0 ? width : WORD_BITS;
}

int
weir_base_format_check(const struct weir_base_format *format, enum weir_base_field *field,
	char *why, size_t why_bytes)
{
	const struct complaint complaint = {field, why, why_bytes};
	int rc = check_name(format, &complaint);

	for (unsigned int i = 0; i < WEIR_BASE_NB_FIELDS && rc == 0; i++)
		rc = check_field(&format->fields[i], (enum weir_base_field)i, &complaint);
	if (rc == 0)
		rc = check_sequence(format, &complaint);
	if (rc == 0)
		rc = check_timestamp(format, &complaint);
	if (rc == 0)
		rc = check_sizes(format, &complaint);
	if (rc == 0)
		rc = check_length(format, &complaint);
	return rc;
}
