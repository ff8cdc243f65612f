/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_FORMAT_FAST_H
#define WEIR_READOUT_FORMAT_FAST_H

/**
 * @file
 * What is read of each frame. Any thread.
 */

#include <string.h>

#include "weir_readout_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Does the format allow frames of this size? */
static inline bool
weir_readout_format_size_allowed(const struct weir_readout_format *format, uint32_t size_bytes)
{
	return size_bytes >= format->size_min_bytes && size_bytes <= format->size_max_bytes;
}

/** A field of a frame of which 8 bytes from @p load on are there. */
static inline uint64_t
weir_readout_field_get(const struct weir_readout_field *field, bool swap, const uint8_t *frame)
{
	uint64_t word;

	memcpy(&word, frame + field->load, sizeof(word));
	return (swap ? __builtin_bswap64(word) : word) >> field->shift & field->mask;
}

/**
 * What the fields of a frame say.
 *
 * @param frame       its first bytes
 * @param size_bytes  how many are there, in a row: of the first segment, where there are more
 * @param[out] header the fields; unchanged when it is truncated
 * @return false: truncated, a field is not there
 */
static inline bool
weir_readout_format_get(const struct weir_readout_format *format, const void *frame,
	uint32_t size_bytes, struct weir_readout_header *header)
{
	const struct weir_readout_field *fields = format->fields;
	const uint8_t *bytes = (const uint8_t *)frame;
	uint8_t padded[sizeof(uint64_t)] = {0};

	if (__builtin_expect(size_bytes < format->fields_bytes, 0))
		return false;
	if (__builtin_expect(size_bytes < sizeof(padded), 0)) {
		if (size_bytes > 0)
			memcpy(padded, frame, size_bytes);
		bytes = padded;
	}
	header->stream =
		weir_readout_field_get(&fields[WEIR_BASE_FIELD_STREAM], format->swap, bytes);
	header->sequence =
		weir_readout_field_get(&fields[WEIR_BASE_FIELD_SEQUENCE], format->swap, bytes);
	header->timestamp =
		weir_readout_field_get(&fields[WEIR_BASE_FIELD_TIMESTAMP], format->swap, bytes);
	header->length =
		weir_readout_field_get(&fields[WEIR_BASE_FIELD_LENGTH], format->swap, bytes);
	return true;
}

/** Has the format a field of this kind? */
static inline bool
weir_readout_format_has(const struct weir_readout_format *format, enum weir_base_field kind)
{
	return format->fields[kind].mask != 0;
}

/** Does the length that a frame states agree with the size it has? True where it states none. */
static inline bool
weir_readout_format_length_agrees(const struct weir_readout_format *format,
	const struct weir_readout_header *header, uint32_t size_bytes)
{
	const uint64_t rest = (uint64_t)size_bytes - format->length_plus_bytes;

	return !weir_readout_format_has(format, WEIR_BASE_FIELD_LENGTH) ||
	       (size_bytes >= format->length_plus_bytes && header->length <= size_bytes &&
		       header->length * format->length_unit_bytes == rest);
}

/** The sequence number that follows @p sequence. */
static inline uint64_t
weir_readout_format_sequence_next(const struct weir_readout_format *format, uint64_t sequence)
{
	return sequence + 1 == format->sequence_modulus ? 0 : sequence + 1;
}

#ifdef __cplusplus
}
#endif

#endif
