/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_RANGE_H
#define READOUT_RANGE_H

/*
 * Ranges of time that readers keep, a word each, however many frames are in it:
 *
 *     0 --keep--> first and number of units --release--> 0
 *
 * A reader keeps its range first, and looks at the pins of cells then; the writer claims the pin of a cell first (pin.h), and looks at the
 * ranges then. These four are in one order for all (__ATOMIC_SEQ_CST), so whichever comes first: the reader sees the claim, or the writer
 * sees the range, and leaves alone what was there. When the reader has found all, it says which frames it cannot have: those that came
 * later.
 *
 * There are a few ranges: who finds none free pins frame by frame. The writer looks at as many as there ever were at once.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifndef RANGES_MAX /* tests have fewer */
#define RANGES_MAX 15u
#endif
#define RANGE_NONE UINT32_MAX

struct range {
	uint64_t word;
	uint64_t
		before; /* number of a frame: this one and later ones are not kept; UINT64_MAX but when it is known */
};

struct ranges {
	/* Readers write these. */
	uint64_t releases; /* of ranges and pins, so that the writer knows when to look again */
	struct range all[RANGES_MAX];
	/* Seldom written. */
	uint32_t nb_used __attribute__((aligned(64))); /* all that were ever used are before */
	unsigned int unit_bits; /* a unit is so many ticks as a power of two; constant */
};

/* So that a range may be as long as @p ticks. */
static inline void
ranges_init(struct ranges *ranges, uint64_t ticks)
{
	memset(ranges, 0, sizeof(*ranges));
	for (uint32_t i = 0; i < RANGES_MAX; i++)
		ranges->all[i].before = UINT64_MAX;
	while (ticks >> ranges->unit_bits >> 31 != 0)
		ranges->unit_bits++;
}

/* [begin, end) as a word: in units modulo 2^32, so it is that, or more. 0: it is too long, or empty */
static inline uint64_t
range_word(const struct ranges *ranges, uint64_t begin, uint64_t end)
{
	const uint64_t first = begin >> ranges->unit_bits;
	const uint64_t nb = begin < end ? ((end - 1) >> ranges->unit_bits) - first + 1 : 0;

	return nb == 0 || nb > UINT32_MAX ? 0 : nb << 32 | (uint32_t)first;
}

/* @return which one it is; RANGE_NONE: all are in use, or @p word is 0 */
static inline uint32_t
ranges_keep(struct ranges *ranges, uint64_t word)
{
	uint32_t nb = __atomic_load_n(&ranges->nb_used, __ATOMIC_SEQ_CST);

	for (uint32_t i = 0; i < RANGES_MAX && word != 0; i++) {
		uint64_t none = 0;

		if (__atomic_load_n(&ranges->all[i].word, __ATOMIC_RELAXED) != 0)
			continue;
		while (nb <= i && !__atomic_compare_exchange_n(&ranges->nb_used, &nb, i + 1, false,
					  __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			;
		if (__atomic_compare_exchange_n(&ranges->all[i].word, &none, word, false,
			    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			return i;
	}
	return RANGE_NONE;
}

/* Its reader has found all that there is, frames before number @p before. */
static inline void
ranges_limit(struct ranges *ranges, uint32_t which, uint64_t before)
{
	__atomic_store_n(&ranges->all[which].before, before, __ATOMIC_RELEASE);
}

static inline void
ranges_release(struct ranges *ranges, uint32_t which)
{
	ranges_limit(ranges, which, UINT64_MAX);
	__atomic_store_n(&ranges->all[which].word, 0, __ATOMIC_RELEASE);
}

/* May a reader have frame @p number, of time @p at, by its range? */
static inline bool
ranges_cover(const struct ranges *ranges, uint64_t at, uint64_t number)
{
	const uint32_t nb = __atomic_load_n(&ranges->nb_used, __ATOMIC_SEQ_CST);
	const uint64_t unit = at >> ranges->unit_bits;

	for (uint32_t i = 0; i < nb; i++) {
		const uint64_t word = __atomic_load_n(&ranges->all[i].word, __ATOMIC_SEQ_CST);

		if ((uint32_t)(unit - word) < word >> 32 &&
			number < __atomic_load_n(&ranges->all[i].before, __ATOMIC_ACQUIRE))
			return true;
	}
	return false;
}

#endif
