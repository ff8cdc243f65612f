/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_WIBETH_H
#define READOUT_WIBETH_H

/*
 * Samples of a WIBEth frame: behind 32 bytes of headers, 64 times, at each of them 64 channels of 14 bits without gaps, channel 0 in the least
 * significant bits of the first little-endian word. So four channels are in seven bytes:
 *
 *     bit 0         14         28         42         56
 *      | channel 0  | channel 1 | channel 2 | channel 3 |  next four ...
 */

#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>

#ifdef __BMI2__
#include <immintrin.h>
#endif

#define WIBETH_BYTES        7200u
#define WIBETH_HEADER_BYTES 32u
#define WIBETH_CHANNELS     64u
#define WIBETH_TIMES        64u
#define WIBETH_TIME_BYTES   112u /* 64 channels of 14 bits */
#define WIBETH_TICKS        32u  /* from sample to sample */

/* The lower 56 bits as four samples in 16 bits each. */
static inline uint64_t
wibeth_spread_plain(uint64_t bits)
{
	bits = (bits & UINT64_C(0x000000000fffffff)) | (bits & UINT64_C(0x00fffffff0000000)) << 4;
	return (bits & UINT64_C(0x00003fff00003fff)) | (bits & UINT64_C(0x0fffc0000fffc000)) << 2;
}

static inline uint64_t
wibeth_spread(uint64_t bits)
{
#ifdef __BMI2__
	return _pdep_u64(bits, UINT64_C(0x3fff3fff3fff3fff));
#else
	return wibeth_spread_plain(bits);
#endif
}

static inline uint64_t
wibeth_load(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return rte_le_to_cpu_64(word);
}

static inline void
wibeth_store(int16_t *samples, uint64_t spread)
{
	for (unsigned int i = 0; i < 4; i++)
		samples[i] = (int16_t)(uint16_t)(spread >> 16 * i);
}

/* All channels of one time. The last four are loaded from a byte before them: nothing is read behind the end. */
static inline void
wibeth_unpack(const uint8_t *time, int16_t *samples)
{
	const unsigned int last = WIBETH_CHANNELS / 4 - 1;

	for (unsigned int i = 0; i < last; i++)
		wibeth_store(&samples[4 * i], wibeth_spread(wibeth_load(time + 7 * i)));
	wibeth_store(&samples[4 * last], wibeth_spread(wibeth_load(time + 7 * last - 1) >> 8));
}

#endif
