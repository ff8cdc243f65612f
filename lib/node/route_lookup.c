/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Look-ups. A slot is 0 or next hop + 1, so that taking 1 away gives the next
 * hop, and WEIR_NODE_NO_ROUTE where there is none.
 *
 * Every address costs one cache miss or more, so what counts is how many of
 * them are under way at once: no branch depends on what a load found, except
 * "any of 16 goes deeper".
 */

#include "node_route.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static void
lookup4_none(const void *slots, const uint32_t *addresses, uint32_t *hops, uint32_t nb)
{
	uint32_t i;

	for (i = 0; i < nb; i++)
		hops[i] = WEIR_NODE_NO_ROUTE;
}

static void
lookup6_none(const void *slots, const uint8_t (*addresses)[16], uint32_t *hops, uint32_t nb)
{
	uint32_t i;

	for (i = 0; i < nb; i++)
		hops[i] = WEIR_NODE_NO_ROUTE;
}

static __rte_always_inline void
lookup4_scalar(const void *slots, const uint32_t *addresses, uint32_t *hops, uint32_t nb, bool wide)
{
	uint32_t i;

	for (i = 0; i < nb; i++)
		hops[i] = node_route4_lookup(slots, addresses[i], wide);
}

static void
lookup4_scalar16(const void *slots, const uint32_t *addresses, uint32_t *hops, uint32_t nb)
{
	lookup4_scalar(slots, addresses, hops, nb, false);
}

static void
lookup4_scalar32(const void *slots, const uint32_t *addresses, uint32_t *hops, uint32_t nb)
{
	lookup4_scalar(slots, addresses, hops, nb, true);
}

/* The root's answers for the whole vector first, so that their misses overlap. */
static __rte_always_inline void
lookup6_scalar(
	const void *slots, const uint8_t (*addresses)[16], uint32_t *hops, uint32_t nb, bool wide)
{
	const uint32_t ext = wide ? WEIR_NODE_FIB_EXT32 : WEIR_NODE_FIB_EXT16;
	unsigned int byte;
	uint32_t i, value;

	for (i = 0; i < nb; i++) {
		const uint8_t *a = addresses[i];

		hops[i] =
			node_route_slot(slots, (size_t)a[0] << 16 | (size_t)a[1] << 8 | a[2], wide);
	}
	for (i = 0; i < nb; i++) {
		value = hops[i];
		for (byte = 3; value & ext; byte++)
			value = node_route_slot(
				slots, node_route_below(value, ext, addresses[i][byte]), wide);
		hops[i] = value - 1;
	}
}

static void
lookup6_scalar16(const void *slots, const uint8_t (*addresses)[16], uint32_t *hops, uint32_t nb)
{
	lookup6_scalar(slots, addresses, hops, nb, false);
}

static void
lookup6_scalar32(const void *slots, const uint8_t (*addresses)[16], uint32_t *hops, uint32_t nb)
{
	lookup6_scalar(slots, addresses, hops, nb, true);
}

#if defined(__x86_64__)

#define TARGET_AVX512 __attribute__((target("avx512f,bmi2")))

#define EXT_X16(wide) _mm512_set1_epi32((int)((wide) ? WEIR_NODE_FIB_EXT32 : WEIR_NODE_FIB_EXT16))

/* Slots at 16 indices; of narrow ones the gather brings the following slot too, which is masked off. */
static __rte_always_inline TARGET_AVX512 __m512i
gather(const void *slots, __m512i index, __m512i keep, __mmask16 lanes, bool wide)
{
	if (wide)
		return _mm512_mask_i32gather_epi32(keep, lanes, index, slots, 4);
	return _mm512_mask_and_epi32(keep, lanes,
		_mm512_mask_i32gather_epi32(keep, lanes, index, slots, 2),
		_mm512_set1_epi32(0xffff));
}

/* Index of slot @byte of the group that each value leads to. */
static __rte_always_inline TARGET_AVX512 __m512i
below_x16(__m512i value, bool wide, __m512i byte)
{
	__m512i group = _mm512_andnot_si512(EXT_X16(wide), value);

	return _mm512_add_epi32(
		_mm512_add_epi32(_mm512_slli_epi32(group, WEIR_NODE_FIB_GROUP_BITS), byte),
		_mm512_set1_epi32((int)WEIR_NODE_FIB_ROOT_SLOTS));
}

static __rte_always_inline TARGET_AVX512 void
lookup4_x16(
	const void *slots, const uint32_t *addresses, uint32_t *hops, __mmask16 lanes, bool wide)
{
	const __m512i address = _mm512_maskz_loadu_epi32(lanes, addresses);
	__mmask16 deeper;
	__m512i value;

	value = gather(slots, _mm512_srli_epi32(address, 8), _mm512_setzero_si512(), lanes, wide);
	deeper = _mm512_test_epi32_mask(value, EXT_X16(wide));
	if (unlikely(deeper != 0))
		value = gather(slots,
			below_x16(value, wide, _mm512_and_si512(address, _mm512_set1_epi32(0xff))),
			value, deeper, wide);
	_mm512_mask_storeu_epi32(hops, lanes, _mm512_sub_epi32(value, _mm512_set1_epi32(1)));
}

static __rte_always_inline TARGET_AVX512 void
lookup4_avx512(const void *slots, const uint32_t *addresses, uint32_t *hops, uint32_t nb, bool wide)
{
	uint32_t i;

	for (i = 0; i + 16 <= nb; i += 16)
		lookup4_x16(slots, addresses + i, hops + i, 0xffff, wide);
	if (i < nb)
		lookup4_x16(
			slots, addresses + i, hops + i, (__mmask16)((1U << (nb - i)) - 1), wide);
}

static TARGET_AVX512 void
lookup4_avx512_16(const void *slots, const uint32_t *addresses, uint32_t *hops, uint32_t nb)
{
	lookup4_avx512(slots, addresses, hops, nb, false);
}

static TARGET_AVX512 void
lookup4_avx512_32(const void *slots, const uint32_t *addresses, uint32_t *hops, uint32_t nb)
{
	lookup4_avx512(slots, addresses, hops, nb, true);
}

/*
 * As many vectors as keep the memory busy go down together, a level at a time: one vector after the
 * other would wait for the misses of each level in turn.
 */
#define LOOKUP6_VECTORS 2
#define LOOKUP6_LANES   (16 * LOOKUP6_VECTORS)

struct lanes6 {
	__m512i word;   /* the address bytes of this level and its neighbours, as in memory */
	__m512i value;  /* slots found so far */
	__mmask16 mask; /* lanes that go deeper */
};

/* Word @word of 16 addresses: loads and permutes, which are cheaper than a gather. */
static __rte_always_inline TARGET_AVX512 __m512i
words6(const uint8_t (*addresses)[16], unsigned int word, __mmask16 valid)
{
	const __m512i pick = _mm512_add_epi32(
		_mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28),
		_mm512_set1_epi32((int)word));
	uint64_t bytes = valid; /* a bit per word of the addresses */
	__m512i a, b, c, d;

	bytes = _pdep_u64(bytes, UINT64_C(0x1111111111111111)) * 15;
	a = _mm512_maskz_loadu_epi32((__mmask16)bytes, addresses);
	b = _mm512_maskz_loadu_epi32((__mmask16)(bytes >> 16), addresses + 4);
	c = _mm512_maskz_loadu_epi32((__mmask16)(bytes >> 32), addresses + 8);
	d = _mm512_maskz_loadu_epi32((__mmask16)(bytes >> 48), addresses + 12);
	return _mm512_mask_blend_epi32(0xff00, _mm512_permutex2var_epi32(a, pick, b),
		_mm512_permutex2var_epi32(c, pick, d));
}

/* The first level: 24 bits of 16 addresses. */
static __rte_always_inline TARGET_AVX512 void
lookup6_root(struct lanes6 *lanes, const void *slots, const uint8_t (*addresses)[16],
	__mmask16 mask, bool wide)
{
	const __m512i low = _mm512_set1_epi32(0xff), zero = _mm512_setzero_si512();
	__m512i index;

	lanes->word = words6(addresses, 0, mask);
	/* The first three bytes in network order: a swap of the outer two. */
	index = _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi32(lanes->word, 16), low),
		_mm512_or_si512(_mm512_and_si512(lanes->word, _mm512_set1_epi32(0xff00)),
			_mm512_slli_epi32(_mm512_and_si512(lanes->word, low), 16)));
	lanes->value = gather(slots, index, zero, mask, wide);
	lanes->mask = _mm512_mask_test_epi32_mask(mask, lanes->value, EXT_X16(wide));
}

/* One more byte of those that go deeper. */
static __rte_always_inline TARGET_AVX512 void
lookup6_level(struct lanes6 *lanes, const void *slots, const uint8_t (*addresses)[16],
	unsigned int byte, __mmask16 valid, bool wide)
{
	const __m512i low = _mm512_set1_epi32(0xff);
	__m512i index;

	if (byte % 4 == 0)
		lanes->word = words6(addresses, byte / 4, valid);
	index = _mm512_and_si512(
		_mm512_srl_epi32(lanes->word, _mm_cvtsi32_si128(8 * (int)(byte % 4))), low);
	lanes->value = gather(
		slots, below_x16(lanes->value, wide, index), lanes->value, lanes->mask, wide);
	lanes->mask = _mm512_mask_test_epi32_mask(lanes->mask, lanes->value, EXT_X16(wide));
}

/* Up to LOOKUP6_LANES addresses. */
static __rte_always_inline TARGET_AVX512 void
lookup6_lanes(const void *slots, const uint8_t (*addresses)[16], uint32_t *hops, uint64_t valid,
	bool wide)
{
	struct lanes6 lanes[LOOKUP6_VECTORS];
	unsigned int byte, v, deeper = 0;

#pragma GCC unroll 4
	for (v = 0; v < LOOKUP6_VECTORS; v++) {
		lookup6_root(
			&lanes[v], slots, addresses + 16 * v, (__mmask16)(valid >> (16 * v)), wide);
		deeper |= lanes[v].mask;
	}
	for (byte = 3; deeper != 0; byte++) {
		deeper = 0;
#pragma GCC unroll 4
		for (v = 0; v < LOOKUP6_VECTORS; v++) {
			lookup6_level(&lanes[v], slots, addresses + 16 * v, byte,
				(__mmask16)(valid >> (16 * v)), wide);
			deeper |= lanes[v].mask;
		}
	}
#pragma GCC unroll 4
	for (v = 0; v < LOOKUP6_VECTORS; v++)
		_mm512_mask_storeu_epi32(hops + 16 * v, (__mmask16)(valid >> (16 * v)),
			_mm512_sub_epi32(lanes[v].value, _mm512_set1_epi32(1)));
}

static __rte_always_inline TARGET_AVX512 void
lookup6_avx512(
	const void *slots, const uint8_t (*addresses)[16], uint32_t *hops, uint32_t nb, bool wide)
{
	uint32_t i;

	for (i = 0; i + LOOKUP6_LANES <= nb; i += LOOKUP6_LANES)
		lookup6_lanes(slots, addresses + i, hops + i, UINT64_MAX, wide);
	if (i < nb)
		lookup6_lanes(slots, addresses + i, hops + i, (UINT64_C(1) << (nb - i)) - 1, wide);
}

static TARGET_AVX512 void
lookup6_avx512_16(const void *slots, const uint8_t (*addresses)[16], uint32_t *hops, uint32_t nb)
{
	lookup6_avx512(slots, addresses, hops, nb, false);
}

static TARGET_AVX512 void
lookup6_avx512_32(const void *slots, const uint8_t (*addresses)[16], uint32_t *hops, uint32_t nb)
{
	lookup6_avx512(slots, addresses, hops, nb, true);
}

static bool
has_avx512(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("bmi2");
}

#endif /* __x86_64__ */

weir_node_lookup4_t
weir_node_lookup4_select(enum weir_node_lookup_kind kind, bool wide)
{
#if defined(__x86_64__)
	if (kind != WEIR_NODE_LOOKUP_SCALAR && has_avx512())
		return wide ? lookup4_avx512_32 : lookup4_avx512_16;
#endif
	if (kind == WEIR_NODE_LOOKUP_AVX512)
		return NULL;
	return wide ? lookup4_scalar32 : lookup4_scalar16;
}

weir_node_lookup6_t
weir_node_lookup6_select(enum weir_node_lookup_kind kind, bool wide)
{
#if defined(__x86_64__)
	if (kind != WEIR_NODE_LOOKUP_SCALAR && has_avx512())
		return wide ? lookup6_avx512_32 : lookup6_avx512_16;
#endif
	if (kind == WEIR_NODE_LOOKUP_AVX512)
		return NULL;
	return wide ? lookup6_scalar32 : lookup6_scalar16;
}

/* The table of next hops where there are none. */
static const struct weir_node_hop_fast no_hop = {.kind = WEIR_NODE_HOP_NONE};

/*
 * What a look-up reads: a line of its own, written once per switch. The functions change only
 * while no graph walks (init and fini), the pointers at any time.
 */
static struct {
	const void *slots4;
	const void *slots6;
	weir_node_lookup4_t lookup4;
	weir_node_lookup6_t lookup6;
	const struct weir_node_hop_fast *hops;
	uint32_t nb_hops;
	bool wide4; /* slots4 are */
} fast __rte_cache_aligned = {.lookup4 = lookup4_none, .lookup6 = lookup6_none, .hops = &no_hop};

void
weir_node_lookup_publish4(const void *slots, bool wide)
{
	__atomic_store_n(&fast.slots4, slots, __ATOMIC_RELEASE);
	__atomic_store_n(&fast.lookup4,
		slots == NULL ? lookup4_none
			      : weir_node_lookup4_select(WEIR_NODE_LOOKUP_BEST, wide),
		__ATOMIC_RELEASE);
	__atomic_store_n(&fast.wide4, wide, __ATOMIC_RELAXED);
}

void
weir_node_lookup_publish6(const void *slots, bool wide)
{
	__atomic_store_n(&fast.slots6, slots, __ATOMIC_RELEASE);
	__atomic_store_n(&fast.lookup6,
		slots == NULL ? lookup6_none
			      : weir_node_lookup6_select(WEIR_NODE_LOOKUP_BEST, wide),
		__ATOMIC_RELEASE);
}

void
weir_node_lookup_publish_hops(const struct weir_node_hop_fast *hops, uint32_t nb)
{
	/* The number changes only while nobody walks; without a table there is the entry beyond its end. */
	if (hops == NULL)
		hops = &no_hop;
	__atomic_store_n(&fast.nb_hops, nb, __ATOMIC_RELAXED);
	__atomic_store_n(&fast.hops, hops, __ATOMIC_RELEASE);
}

const void *
weir_node_lookup_slots(uint8_t version)
{
	return __atomic_load_n(version == 4 ? &fast.slots4 : &fast.slots6, __ATOMIC_ACQUIRE);
}

void
weir_node_route_lookup4(const uint32_t *addresses, uint32_t *hops, uint32_t nb)
{
	/* The pointer once: the whole vector is looked up in one copy. */
	const void *slots = __atomic_load_n(&fast.slots4, __ATOMIC_ACQUIRE);

	__atomic_load_n(&fast.lookup4, __ATOMIC_RELAXED)(slots, addresses, hops, nb);
}

struct weir_node_route4
weir_node_lookup_routes4(void)
{
	return (struct weir_node_route4){
		.slots = __atomic_load_n(&fast.slots4, __ATOMIC_ACQUIRE),
		.wide = __atomic_load_n(&fast.wide4, __ATOMIC_RELAXED),
	};
}

void
weir_node_route_lookup6(const uint8_t (*addresses)[16], uint32_t *hops, uint32_t nb)
{
	const void *slots = __atomic_load_n(&fast.slots6, __ATOMIC_ACQUIRE);

	__atomic_load_n(&fast.lookup6, __ATOMIC_RELAXED)(slots, addresses, hops, nb);
}

const struct weir_node_hop_fast *
weir_node_hops(void)
{
	return __atomic_load_n(&fast.hops, __ATOMIC_ACQUIRE);
}

uint32_t
weir_node_hop_count(void)
{
	return __atomic_load_n(&fast.nb_hops, __ATOMIC_RELAXED);
}
