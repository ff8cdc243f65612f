/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_FORMAT_H
#define WEIR_READOUT_FORMAT_H

/**
 * @file
 * Frame formats of readout links, as data: where in a frame its stream key, sequence number, timestamp and length stand.
 *
 * A format is described by a struct weir_base_format, or in YAML:
 *
 * @code{.yaml}
 * formats:
 *   wibeth:
 *     endianness: little
 *     size: 7200B
 *     clock: 62.5MHz
 *     step: 2048                                  # ticks from frame to frame
 *     stream:    {offset: 6, width: 28}           # bits
 *     sequence:  {offset: 40, width: 12}
 *     timestamp: {offset: 64, width: 64}
 *     length:    {offset: 52, width: 12, unit: 8B, plus: 16B}
 * @endcode
 *
 * Offsets count bits from the frame's beginning (see enum weir_base_layer). In a little endian format bit 0 is the least significant
 * one of byte 0, and a field grows towards more significant bits and later bytes. In a big endian format bit 0 is the most
 * significant one of byte 0, as in pictures of network headers. Either way, a field that fills whole bytes has the offset 8 times the number
 * of its first byte. A field has up to 64 bits within 8 bytes in a row.
 *
 * It is compiled into a struct weir_readout_format: what is read per frame is in weir_readout_format_fast.h.
 *
 * Threads: any; a compiled format is constant.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir_base_doc.h"
#include "weir_base_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a format's name, its end included. */
#define WEIR_READOUT_FORMAT_NAME_MAX WEIR_BASE_FORMAT_NAME_MAX

/** A field, compiled: (64 bits from byte @p load on, in the format's order of bytes) >> @p shift & @p mask. */
struct weir_readout_field {
	uint64_t mask;  /**< 0: no such field, and it reads as 0 */
	uint32_t load;  /**< byte */
	uint32_t shift; /**< bits */
	uint64_t order; /**< in a row: the bytes of the row that make its word, lowest first */
};

/** Of a row: fields near each other, which one load of a vector takes. */
#define WEIR_READOUT_ROW_BYTES 16u

/** They are not near each other. */
#define WEIR_READOUT_NO_ROW UINT32_MAX

/** A format, compiled. Read only. */
struct weir_readout_format {
	struct weir_readout_field fields[WEIR_BASE_NB_FIELDS]; /**< by kind */
	bool swap;               /**< its order of bytes is not the machine's */
	uint32_t size_min_bytes; /**< no frame is smaller */
	uint32_t fields_bytes;   /**< all fields are in its first so many bytes */
	uint32_t row; /**< byte where all its fields' row begins; or WEIR_READOUT_NO_ROW */
	uint32_t size_max_bytes;    /**< no frame is larger; UINT32_MAX: no limit */
	uint32_t length_unit_bytes; /**< 1 or more */
	uint32_t length_plus_bytes; /**< as in the description */
	uint32_t timestamp_bits;    /**< its width; 64 where there is none: times of arrival */
	uint64_t sequence_modulus;  /**< 0: 2^64, or there is no sequence number */
	uint64_t step_ticks;        /**< 0: irregular */
	uint64_t clock_hz;          /**< 0: not known */
	enum weir_base_layer layer; /**< what a frame is */
	char name[WEIR_READOUT_FORMAT_NAME_MAX]; /**< as described */
};

/** What the fields of one frame say. A field that the format has not is 0. */
struct weir_readout_header {
	uint64_t stream;    /**< stream key */
	uint64_t sequence;  /**< sequence number */
	uint64_t timestamp; /**< in ticks; it wraps at 2^timestamp_bits */
	uint64_t length;    /**< as it stands there; see weir_readout_format_length_agrees() */
};

/**
 * Compile a description.
 *
 * @param[out] format  as described; unchanged on error
 * @param[out] field   the field that is wrong, or WEIR_BASE_NB_FIELDS: something else; NULL is allowed
 * @param[out] why     what is wrong, what was expected, one line; NULL is allowed
 * @param why_bytes    room there
 * @return 0; -EINVAL: it contradicts itself, or is out of limits
 */
int weir_readout_format_compile(const struct weir_base_format *spec,
	struct weir_readout_format *format, enum weir_base_field *field, char *why,
	size_t why_bytes);

/** A format that is built in: "wibeth", "srs-vmm3a", "hit", "udp", "ethernet"; NULL: no such. */
const struct weir_readout_format *weir_readout_format_builtin(const char *name);

/** Name of built-in format @p index, from 0; NULL beyond the last. */
const char *weir_readout_format_builtin_name(unsigned int index);

/** Schema of one format in a description file: the items of a map of formats by name. */
extern const struct weir_base_doc_section weir_readout_format_section;

/**
 * Compile the format that @p value, a map checked against weir_readout_format_section, describes. Its name is the one under which
 * a map holds it.
 *
 * @return 0; -EINVAL: an error was added to @p doc, at the line and column of what is wrong
 */
int weir_readout_format_read(struct weir_base_doc *doc, const struct weir_base_doc_value *value,
	struct weir_readout_format *format);

#ifdef __cplusplus
}
#endif

#endif
