/* SPDX-License-Identifier: BSD-3-Clause */
/* The histogram's reader side. */
#include "weir_base_hist.h"

#include <math.h>

#define SUB_BITS WEIR_BASE_HIST_SUB_BITS

uint64_t
weir_base_hist_bucket_low(unsigned int index)
{
	unsigned int shift;

	if (index >= WEIR_BASE_HIST_BUCKETS)
		return UINT64_MAX;
	if (index < (2u << SUB_BITS))
		return index;
	/* The inverse of the index: its high part is the shift plus one, its low part the kept bits. */
	shift = (index >> SUB_BITS) - 1;
	return ((uint64_t)(index & ((1u << SUB_BITS) - 1)) + (1u << SUB_BITS)) << shift;
}

uint64_t
weir_base_hist_bucket_high(unsigned int index)
{
	if (index >= WEIR_BASE_HIST_BUCKETS - 1)
		return UINT64_MAX;
	return weir_base_hist_bucket_low(index + 1) - 1;
}

void
weir_base_hist_merge(struct weir_base_hist *into, const struct weir_base_hist *from)
{
	unsigned int i;

	if (from->count == 0)
		return;
	if (into->count == 0 || from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	into->count += from->count;
	into->sum += from->sum;
	for (i = 0; i < WEIR_BASE_HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
}

uint64_t
weir_base_hist_percentile(const struct weir_base_hist *hist, double percent)
{
	uint64_t rank, seen = 0;
	unsigned int i;

	if (hist->count == 0)
		return 0;
	if (!(percent > 0))
		percent = 0;
	if (percent >= 100)
		return hist->max;
	/* Rank of the value asked for: at least the first. */
	rank = (uint64_t)ceil(percent / 100 * (double)hist->count);
	if (rank == 0)
		rank = 1;
	for (i = 0; i < WEIR_BASE_HIST_BUCKETS; i++) {
		seen += hist->bucket[i];
		if (seen >= rank) {
			uint64_t high = weir_base_hist_bucket_high(i);

			return high < hist->max ? high : hist->max;
		}
	}
	return hist->max;
}

double
weir_base_hist_mean(const struct weir_base_hist *hist)
{
	return hist->count == 0 ? 0 : (double)hist->sum / (double)hist->count;
}
