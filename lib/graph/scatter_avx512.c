/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Parting a vector with AVX-512 VBMI2 (Ice Lake, Zen 4 and later): decisions are bytes in
 * four registers; for each edge, the places that chose it are compressed out of
 * 0, 1, 2 ... 255; in the end all objects are fetched by place, with gathers where these are fast.
 *
 *      decisions   2 0 0 1 2 0        edge 0: places 1 2 5
 *                                     edge 1: places 3          place  1 2 5 3 0 4
 *                                     edge 2: places 0 4
 *
 * About 3 cycles per edge and 64 objects, and 1 cycle per object, whatever the mix.
 */

#include "scatter_kernel.h"

#ifdef SCATTER_HAS_AVX512

#include <immintrin.h>
#include <string.h>

#define AVX512                                                                                     \
	__attribute__((                                                                            \
		target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")))

#define LANES     64                      /* bytes in a register */
#define REGISTERS (SCATTER_CHUNK / LANES) /* for one chunk */

#define STEP 8 /* objects that are fetched at a time */

/* Above this many edges, one look at each costs more than a counting sort. */
#define EDGES_MAX 32

/* Up to this many edges, half of the objects for one edge are nothing rare. */
#define EDGES_HALVES 3

int
scatter_avx512_usable(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
	       __builtin_cpu_supports("bmi2");
}

/* AMD's take more cycles for a gather than for as many loads. */
int
scatter_gathers_are_slow(void)
{
	return __builtin_cpu_is("amd");
}

/* 64 decisions as bytes; those that do not fit become 255. */
AVX512 static inline __m512i
load_decisions(const uint16_t *nexts)
{
	__m256i low = _mm512_cvtusepi16_epi8(_mm512_loadu_si512(nexts));
	__m256i high = _mm512_cvtusepi16_epi8(_mm512_loadu_si512(nexts + LANES / 2));

	return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

AVX512 static inline __m512i
count_up_from(uint32_t first)
{
	static const uint8_t count_up[LANES] __attribute__((aligned(LANES))) = {0, 1, 2, 3, 4, 5, 6,
		7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
		29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49,
		50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};

	return _mm512_add_epi8(_mm512_load_si512(count_up), _mm512_set1_epi8((char)first));
}

/* to[i] = from[place[i]], for whole steps. */
AVX512 static inline void
gather(void **to, void *const *from, const uint8_t *place, uint32_t nb)
{
	for (uint32_t i = 0; i < nb; i += STEP) {
		__m512i index = _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(place + i)));

		_mm512_store_si512(
			to + i, _mm512_i64gather_epi64(index, (const void *)from, sizeof(void *)));
	}
}

/* Two objects in one register; vmovhpd takes the second from memory in one step, unlike vpinsrq. */
AVX512 static inline __m128d
load_two(void *const *from, uint32_t first, uint32_t second)
{
	return _mm_loadh_pd(
		_mm_load_sd((const double *)(from + first)), (const double *)(from + second));
}

/* Four are written at once, for stores one by one are what this would wait for. */
AVX512 static inline void
load_four(void **to, void *const *from, const uint8_t *place)
{
	uint32_t four;

	memcpy(&four, place, sizeof(four));
	_mm256_store_pd(
		(double *)to, _mm256_set_m128d(load_two(from, four >> 16 & 0xff, four >> 24),
				      load_two(from, four & 0xff, four >> 8 & 0xff)));
}

/* Likewise without gathers. */
AVX512 static inline void
load(void **to, void *const *from, const uint8_t *place, uint32_t nb)
{
	for (uint32_t i = 0; i < nb; i += STEP) {
		load_four(to + i, from, place + i);
		load_four(to + i + STEP / 2, from, place + i + STEP / 2);
	}
}

/*
 * Append those of @bytes that @chose names. AMD's vpcompressb waits for what was in the register that it writes,
 * so that one is cleared first, which costs nothing. Up to @few are stored by
 * half a register, which takes half the time. @return the new end
 */
AVX512 static inline uint8_t *
append(uint8_t *end, __mmask64 chose, __m512i bytes, uint32_t few)
{
	__m512i packed = _mm512_setzero_si512();
	uint32_t nb = (uint32_t)__builtin_popcountll(chose);

	/* Else the compiler takes any register, and leaves what is in it. */
	__asm__("" : "+v"(packed));
	packed = _mm512_mask_compress_epi8(packed, chose, bytes);
	if (__builtin_expect(nb > few, 0))
		_mm512_storeu_si512(end, packed);
	else
		_mm256_storeu_si256((__m256i *)end, _mm512_castsi512_si256(packed));
	return end + nb;
}

/*
 * The places of objects, edge after edge, and their groups. @nb_registers, a constant where this
 * is inlined, hold all @nb decisions. @return how many objects named an edge
 */
AVX512 static inline __attribute__((always_inline)) uint32_t
part(struct scatter_groups *groups, uint8_t *place, const uint16_t *nexts, uint32_t nb,
	uint32_t nb_edges, const uint32_t nb_registers)
{
	__m512i decisions[REGISTERS], count_up[REGISTERS], wanted = _mm512_setzero_si512();
	const uint32_t few = nb_edges > EDGES_HALVES ? LANES / 2 : 0;
	uint64_t left[REGISTERS];
	uint8_t *end = place;
	uint32_t nb_groups = 0;

	for (uint32_t r = 0; r < nb_registers; r++) {
		uint32_t nb_here = nb > r * LANES ? nb - r * LANES : 0;

		left[r] = _bzhi_u64(UINT64_MAX, nb_here > LANES ? LANES : nb_here);
		decisions[r] =
			nb_here > 0 ? load_decisions(nexts + r * LANES) : _mm512_setzero_si512();
		count_up[r] = count_up_from(r * LANES);
	}
	for (uint32_t edge = 0; edge < nb_edges; edge++) {
		const uint8_t *start = end;

		for (uint32_t r = 0; r < nb_registers; r++)
			end = append(end,
				_mm512_mask_cmpeq_epi8_mask(left[r], decisions[r], wanted),
				count_up[r], few);
		wanted = _mm512_add_epi8(wanted, _mm512_set1_epi8(1));
		groups->next[nb_groups] = (uint16_t)edge;
		groups->count[nb_groups] = (uint16_t)(end - start);
		nb_groups += end != start;
	}
	groups->nb = nb_groups;
	return (uint32_t)(end - place);
}

AVX512 static inline __attribute__((always_inline)) void
scatter(struct scatter_groups *groups, void *const *objs, const uint16_t *nexts, uint32_t nb,
	uint32_t nb_edges, void (*fetch)(void **, void *const *, const uint8_t *, uint32_t))
{
	/* All within one page: a store that crosses into the next one takes dozens of cycles. */
	uint8_t place[SCATTER_CHUNK + LANES] __attribute__((aligned(2 * SCATTER_CHUNK)));
	uint32_t nb_parted;

	if (nb_edges > EDGES_MAX) {
		scatter_plain(groups, objs, nexts, nb, nb_edges);
		return;
	}
	if (nb <= LANES)
		nb_parted = part(groups, place, nexts, nb, nb_edges, 1);
	else if (nb <= 2 * LANES)
		nb_parted = part(groups, place, nexts, nb, nb_edges, 2);
	else
		nb_parted = part(groups, place, nexts, nb, nb_edges, REGISTERS);
	if (__builtin_expect(nb_parted != nb, 0)) { /* some decision names no edge */
		scatter_plain(groups, objs, nexts, nb, nb_edges);
		return;
	}
	memset(place + nb, 0, STEP); /* the last step is padded with the first object */
	fetch(groups->objs, objs, place, nb);
}

AVX512 void
scatter_avx512(struct scatter_groups *groups, void *const *objs, const uint16_t *nexts, uint32_t nb,
	uint32_t nb_edges)
{
	scatter(groups, objs, nexts, nb, nb_edges, gather);
}

AVX512 void
scatter_avx512_loads(struct scatter_groups *groups, void *const *objs, const uint16_t *nexts,
	uint32_t nb, uint32_t nb_edges)
{
	scatter(groups, objs, nexts, nb, nb_edges, load);
}

#endif
