/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_HIST_H
#define WEIR_BASE_HIST_H

/**
 * @file
 * A histogram of 64-bit values with bounded relative error.
 *
 * Buckets are log-linear: values below 64 are exact, above that each power of
 * two is cut into 32 buckets, so a percentile is off by at most 1/32 = 3.1 %.
 * (The idea of HdrHistogram, Gil Tene, 2012.)
 *
 * One writer; readers copy it at a moment when the writer is known to rest.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_BASE_HIST_SUB_BITS 5 /**< log2 of buckets per power of two */
/** Number of buckets: covers every uint64_t. */
#define WEIR_BASE_HIST_BUCKETS ((64 - WEIR_BASE_HIST_SUB_BITS + 1) << WEIR_BASE_HIST_SUB_BITS)

/** A histogram; all zero is a valid empty one. */
struct weir_base_hist {
	uint64_t count;                          /**< values recorded */
	uint64_t sum;                            /**< their sum (may wrap) */
	uint64_t min;                            /**< smallest; meaningless when count is 0 */
	uint64_t max;                            /**< largest; 0 when count is 0 */
	uint64_t bucket[WEIR_BASE_HIST_BUCKETS]; /**< values per bucket */
};

/** Bucket that @p value falls into. */
static inline unsigned int
weir_base_hist_index(uint64_t value)
{
	unsigned int shift;

	if (value < (2u << WEIR_BASE_HIST_SUB_BITS))
		return (unsigned int)value;
	shift = 63u - (unsigned int)__builtin_clzll(value) - WEIR_BASE_HIST_SUB_BITS;
	return (shift << WEIR_BASE_HIST_SUB_BITS) + (unsigned int)(value >> shift);
}

/** Record @p value once. The writer only. */
static inline void
weir_base_hist_add(struct weir_base_hist *hist, uint64_t value)
{
	if (hist->count == 0 || value < hist->min)
		hist->min = value;
	if (value > hist->max)
		hist->max = value;
	hist->count++;
	hist->sum += value;
	hist->bucket[weir_base_hist_index(value)]++;
}

/** Smallest value of bucket @p index. */
uint64_t weir_base_hist_bucket_low(unsigned int index);

/** Largest value of bucket @p index. */
uint64_t weir_base_hist_bucket_high(unsigned int index);

/** Add all of @p from into @p into. */
void weir_base_hist_merge(struct weir_base_hist *into, const struct weir_base_hist *from);

/**
 * The value that @p percent (0 to 100) of the recorded ones do not exceed: the
 * upper end of its bucket, but never above max. 0 when empty.
 */
uint64_t weir_base_hist_percentile(const struct weir_base_hist *hist, double percent);

/** Mean of the recorded values, 0 when empty. */
double weir_base_hist_mean(const struct weir_base_hist *hist);

#ifdef __cplusplus
}
#endif

#endif
