/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIM_FRAME_FORMAT_H
#define SIM_FRAME_FORMAT_H

/* Fields and sizes of frames of a format. */

#include <stdbool.h>
#include <stdint.h>

#include "weir_base_format.h"

#pragma GCC visibility push(hidden)

struct weir_base_doc_value;

/* The format that a link's frames have, which is in order: with sizes where it says none. */
struct weir_base_format sim_format_read(
	const struct weir_base_doc_value *application, const struct weir_base_doc_value *link);

/* A field; 0: there is none, or it is beyond the frame's end, as far as it is. */
uint64_t sim_format_get(const struct weir_base_format *format, enum weir_base_field kind,
	const uint8_t *frame, uint32_t bytes);

/* May a frame be so large, and does it say so itself, if it says how long it is? */
bool sim_format_allows(const struct weir_base_format *format, const uint8_t *frame, uint32_t bytes);

#pragma GCC visibility pop

#endif
