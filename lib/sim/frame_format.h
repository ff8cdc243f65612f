/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_FRAME_FORMAT_H
#define SIM_FRAME_FORMAT_H

/* What frames of a format look like: their sizes, their rate, and where in them their fields are. */

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct weir_base_doc_value;

enum sim_field_kind {
	SIM_FIELD_STREAM,
	SIM_FIELD_SEQUENCE,
	SIM_FIELD_TIMESTAMP,
	SIM_FIELD_LENGTH,
	SIM_FIELDS,
};

struct sim_field {
	uint32_t offset, width; /* bits; width 0: there is none */
};

struct sim_format {
	const char *name;
	bool is_ethernet; /* a frame is a whole packet, else the payload of a UDP datagram */
	bool is_big_endian;
	struct sim_field fields[SIM_FIELDS];
	uint32_t fields_bytes;         /* all of them are within so many */
	uint32_t bytes_min, bytes_max; /* of a frame; UINT32_MAX: there is no limit */
	uint64_t length_unit, length_plus;
	uint64_t clock_hz, step; /* 0: not known; irregular */
};

/* The format that a link's frames have. */
struct sim_format sim_format_read(
	const struct weir_base_doc_value *application, const struct weir_base_doc_value *link);

/* A field; 0: there is none, or it is beyond the frame's end, as far as it is. */
uint64_t sim_format_get(const struct sim_format *format, enum sim_field_kind kind,
	const uint8_t *frame, uint32_t bytes);

/* May a frame be so large, and does it say so itself, if it says how long it is? */
bool sim_format_allows(const struct sim_format *format, const uint8_t *frame, uint32_t bytes);

#pragma GCC visibility pop

#endif
