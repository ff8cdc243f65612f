/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_READOUT_HIT_FRAMES_H
#define WEIR_TESTS_READOUT_HIT_FRAMES_H

/* WIBEth frames of samples, and what a hit finder counted. */

#include <string.h>

#include "weir_readout_hit_finder.h"

#define CHANNELS    64u
#define TIMES       64u
#define TICKS       32u
#define STEP        (TIMES * TICKS)
#define THRESHOLD   50
#define FRAME_BYTES 7200u

/* Bit by bit. */
static inline void
pack(uint8_t *frame, uint16_t samples[TIMES][CHANNELS])
{
	memset(frame + 32, 0, 7168);
	for (unsigned int bit = 0; bit < TIMES * CHANNELS * 14; bit++) {
		unsigned int number = bit / 14;

		frame[32 + bit / 8] |=
			(uint8_t)((samples[number / CHANNELS][number % CHANNELS] >> bit % 14 & 1)
				  << bit % 8);
	}
}

/* The same in all channels, all the time. */
static inline void
flat(uint16_t samples[TIMES][CHANNELS], uint16_t value)
{
	for (unsigned int i = 0; i < TIMES * CHANNELS; i++)
		samples[i / CHANNELS][i % CHANNELS] = value;
}

static inline struct weir_readout_hit_finder_stats
count(const struct weir_readout_hit_finder *of)
{
	struct weir_readout_hit_finder_stats stats;

	weir_readout_hit_finder_stats(of, &stats);
	assert_int_equal(stats.hits, stats.delivered + stats.refused);
	return stats;
}

#endif
