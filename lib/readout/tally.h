/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_TALLY_H
#define READOUT_TALLY_H

/*
 * Counters of one writer, published for readers in other threads: a struct of uint64_t only, all of one moment. The writer never waits;
 * a reader looks again when they changed meanwhile.
 *
 * Each word is released and acquired: a reader that sees a new one sees that the version is odd, or newer. So there is no
 * fence, which the thread sanitizer would not see.
 */

#include <stdbool.h>
#include <stdint.h>

#include "again.h"

/* A struct's words. */
#define TALLY_WORDS(tally) (sizeof(tally) / sizeof(uint64_t))

/* Several stores of one moment stand between these two. The writer only. */
static inline void
tally_open(uint64_t *version)
{
	__atomic_store_n(version, *version + 1, __ATOMIC_RELAXED);
}

static inline void
tally_close(uint64_t *version)
{
	__atomic_store_n(version, *version + 1, __ATOMIC_RELEASE);
}

static inline void
tally_store(uint64_t *published, const uint64_t *own, unsigned int nb_words)
{
	for (unsigned int i = 0; i < nb_words; i++)
		if (published[i] != own[i])
			__atomic_store_n(&published[i], own[i], __ATOMIC_RELEASE);
}

static inline void
tally_publish(uint64_t *version, uint64_t *published, const uint64_t *own, unsigned int nb_words)
{
	tally_open(version);
	tally_store(published, own, nb_words);
	tally_close(version);
}

static inline void
tally_read(const uint64_t *version, const uint64_t *published, uint64_t *to, unsigned int nb_words)
{
	for (uint32_t looks = 0;; look_again(&looks)) {
		uint64_t before = __atomic_load_n(version, __ATOMIC_ACQUIRE);

		if ((before & 1) != 0)
			continue;
		for (unsigned int i = 0; i < nb_words; i++)
			to[i] = __atomic_load_n(&published[i], __ATOMIC_ACQUIRE);
		if (__atomic_load_n(version, __ATOMIC_RELAXED) == before)
			return;
	}
}

#endif
