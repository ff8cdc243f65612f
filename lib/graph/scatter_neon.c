/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Parting a vector with NEON: for each edge, the places of eight objects at a
 * time are packed with a table look-up (256 masks of eight bytes). Pays for a few edges;
 * above that the counting sort is faster.
 */

#include "scatter_kernel.h"

#ifdef SCATTER_HAS_NEON

#include <arm_neon.h>

#define EDGES_MAX 4

/* Row m: the numbers of the bits set in m, packed to the front. */
static uint8_t pack[256][8];

__attribute__((constructor)) static void
pack_fill(void)
{
	for (unsigned int mask = 0; mask < 256; mask++) {
		unsigned int n = 0;

		for (uint8_t bit = 0; bit < 8; bit++)
			if (mask & (1u << bit))
				pack[mask][n++] = bit;
	}
}

/* Append the places first..first+7 whose bit in @mask is set. @return the new end */
static inline uint8_t *
append(uint8_t *end, uint32_t first, uint32_t mask)
{
	vst1_u8(end, vadd_u8(vld1_u8(pack[mask]), vdup_n_u8((uint8_t)first)));
	return end + __builtin_popcount(mask);
}

void
scatter_neon(struct scatter_groups *groups, void *const *objs, const uint16_t *nexts, uint32_t nb,
	uint32_t nb_edges)
{
	static const uint16_t bits[8] = {1, 2, 4, 8, 16, 32, 64, 128};
	const uint16x8_t weight = vld1q_u16(bits);
	uint8_t place[SCATTER_CHUNK + 8];
	uint8_t *end = place;
	uint32_t nb_groups = 0;

	if (nb_edges > EDGES_MAX) {
		scatter_plain(groups, objs, nexts, nb, nb_edges);
		return;
	}
	for (uint32_t edge = 0; edge < nb_edges; edge++) {
		const uint16x8_t wanted = vdupq_n_u16((uint16_t)edge);
		const uint8_t *start = end;

		for (uint32_t i = 0; i < nb; i += 8) {
			uint32_t mask = vaddvq_u16(
				vandq_u16(vceqq_u16(vld1q_u16(nexts + i), wanted), weight));

			if (nb - i < 8)
				mask &= (1u << (nb - i)) - 1;
			end = append(end, i, mask);
		}
		groups->next[nb_groups] = (uint16_t)edge;
		groups->count[nb_groups] = (uint16_t)(end - start);
		nb_groups += end != start;
	}
	if (__builtin_expect((uint32_t)(end - place) != nb, 0)) { /* some decision names no edge */
		scatter_plain(groups, objs, nexts, nb, nb_edges);
		return;
	}
	groups->nb = nb_groups;
	for (uint32_t i = 0; i < nb; i++)
		groups->objs[i] = objs[place[i]];
}

#endif
