/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fields of many frames of one format. All fields of a frame are lanes of one vector: what is done to them is the same for every format, and
 * only the numbers differ, which stay in registers from frame to frame.
 *
 *              stream    sequence  timestamp  length
 *     load     8 bytes   8 bytes   8 bytes    8 bytes     from where its field is, in the machine's order
 *     >>       shift     shift     shift      shift
 *     &        mask      mask      mask       mask        0: there is no such field
 *
 * Where fields are near each other, as they are in most formats, one load has them all, and a shuffle puts the bytes of each into its lane.
 */
#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include "weir_readout_format_fast.h"
#include "weir_readout_link.h"

typedef uint64_t lanes_t
	__attribute__((vector_size(WEIR_BASE_NB_FIELDS * sizeof(uint64_t)), aligned(8)));

_Static_assert(sizeof(struct weir_readout_header) == sizeof(lanes_t), "a header is its fields");

static inline uint64_t
load(const uint8_t *frame, uint32_t byte, bool swap)
{
	uint64_t word;

	memcpy(&word, frame + byte, sizeof(word));
	return swap ? __builtin_bswap64(word) : word;
}

/* Of a frame that may be truncated. */
static void
read_one(const struct weir_readout_format *format, const struct weir_readout_item *item,
	struct weir_readout_header *header)
{
	*header = (struct weir_readout_header){0};
	weir_readout_format_get(format, item->data, item->data_bytes, header);
}

#ifdef __AVX2__
/* All by one load. @return false: they are not near each other */
static bool
read_row(const struct weir_readout_format *format, const struct weir_readout_item *items,
	uint32_t nb, struct weir_readout_header *headers)
{
	const struct weir_readout_field *f = format->fields;
	const lanes_t order = {f[0].order, f[1].order, f[2].order, f[3].order};
	const lanes_t shifts = {f[0].shift, f[1].shift, f[2].shift, f[3].shift};
	const lanes_t masks = {f[0].mask, f[1].mask, f[2].mask, f[3].mask};
	const uint32_t first = format->row;
	const uint32_t least_bytes = RTE_MAX(format->fields_bytes, first + WEIR_READOUT_ROW_BYTES);

	if (first == WEIR_READOUT_NO_ROW)
		return false;
	for (uint32_t i = 0; i < nb; i++) {
		const uint8_t *frame = items[i].data;
		__m256i row;

		if (unlikely(items[i].data_bytes < least_bytes)) {
			read_one(format, &items[i], &headers[i]);
			continue;
		}
		row = _mm256_broadcastsi128_si256(
			_mm_loadu_si128((const __m128i *)(frame + first)));
		*(lanes_t *)&headers[i] =
			(lanes_t)_mm256_shuffle_epi8(row, (__m256i)order) >> shifts & masks;
	}
	return true;
}
#else
static bool
read_row(const struct weir_readout_format *format, const struct weir_readout_item *items,
	uint32_t nb, struct weir_readout_header *headers)
{
	return false;
}
#endif

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
			read_one(format, &items[i], &headers[i]);
			continue;
		}
		lanes = (lanes_t){load(frame, at[0], swap), load(frame, at[1], swap),
			load(frame, at[2], swap), load(frame, at[3], swap)};
		*header = lanes >> shifts & masks;
	}
}

void
weir_readout_item_headers(const struct weir_readout_format *format,
	const struct weir_readout_item *items, uint32_t nb, struct weir_readout_header *headers)
{
	if (format->fields_bytes == 0)
		memset(headers, 0, nb * sizeof(*headers));
	else if (read_row(format, items, nb, headers))
		return;
	else if (format->swap)
		read_all(format, true, items, nb, headers);
	else
		read_all(format, false, items, nb, headers);
}
