/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fields of many frames of one format. All fields of a frame are lanes of one vector: what is done to them is the same for every format, and
 * only the numbers differ, which stay in registers from frame to frame. So no format is slower than code that was written for it.
 *
 *              stream    sequence  timestamp  length
 *     loads    8 bytes   8 bytes   8 bytes    8 bytes     each from where its field is
 *     >>       shift     shift     shift      shift
 *     &        mask      mask      mask       mask        0: there is no such field
 */
#include <string.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "weir_readout_format_fast.h"
#include "weir_readout_link.h"

typedef uint64_t lanes_t
	__attribute__((vector_size(WEIR_READOUT_NB_FIELDS * sizeof(uint64_t)), aligned(8)));
typedef uint8_t bytes_t __attribute__((vector_size(sizeof(lanes_t)), aligned(8)));

_Static_assert(sizeof(struct weir_readout_header) == sizeof(lanes_t), "a header is its fields");

static inline uint64_t
load(const uint8_t *frame, uint32_t byte)
{
	uint64_t word;

	memcpy(&word, frame + byte, sizeof(word));
	return word;
}

/* @param swap  format->swap, known to the compiler */
static __rte_always_inline void
read_all(const struct weir_readout_format *format, bool swap, const struct weir_readout_item *items,
	uint32_t nb, struct weir_readout_header *headers)
{
	const struct weir_readout_field *f = format->fields;
	const uint32_t at[] = {f[0].load, f[1].load, f[2].load, f[3].load};
	const lanes_t shifts = {f[0].shift, f[1].shift, f[2].shift, f[3].shift};
	const lanes_t masks = {f[0].mask, f[1].mask, f[2].mask, f[3].mask};
	const uint32_t least_bytes = RTE_MAX(format->fields_bytes, (uint32_t)sizeof(uint64_t));

	for (uint32_t i = 0; i < nb; i++) {
		const uint8_t *frame = items[i].data;
		lanes_t *header = (lanes_t *)&headers[i];
		lanes_t lanes;

		if (unlikely(items[i].data_bytes < least_bytes)) {
			headers[i] = (struct weir_readout_header){0};
			weir_readout_format_get(format, frame, items[i].data_bytes, &headers[i]);
			continue;
		}
		lanes = (lanes_t){load(frame, at[0]), load(frame, at[1]), load(frame, at[2]),
			load(frame, at[3])};
		if (swap)
			lanes = (lanes_t)__builtin_shufflevector((bytes_t)lanes, (bytes_t)lanes, 7,
				6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 23, 22, 21, 20,
				19, 18, 17, 16, 31, 30, 29, 28, 27, 26, 25, 24);
		*header = lanes >> shifts & masks;
	}
}

void
weir_readout_item_headers(const struct weir_readout_format *format,
	const struct weir_readout_item *items, uint32_t nb, struct weir_readout_header *headers)
{
	if (format->fields_bytes == 0)
		memset(headers, 0, nb * sizeof(*headers));
	else if (format->swap)
		read_all(format, true, items, nb, headers);
	else
		read_all(format, false, items, nb, headers);
}
