/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of a buffer, and a look at all of them at one moment. */
#include <rte_common.h>

#include "again.h"
#include "buffer_private.h"

static const struct {
	const char *name, *text;
} reasons[WEIR_READOUT_BUFFER_NB_REASONS] = {
	[WEIR_READOUT_BUFFER_WRONG_SIZE] = {"wrong_size",
		"a size that the format does not allow, or larger than a cell"},
	[WEIR_READOUT_BUFFER_DUPLICATE] = {"duplicate", "the same frame is there already"},
	[WEIR_READOUT_BUFFER_SLOT_TAKEN] = {"slot_taken",
		"another frame of the same step of time is there"},
	[WEIR_READOUT_BUFFER_TOO_LATE] = {"too_late",
		"older than the history, or too far out of order"},
	[WEIR_READOUT_BUFFER_FAR_OFF] = {"far_off",
		"a timestamp far ahead that no others confirmed"},
	[WEIR_READOUT_BUFFER_NO_MEMORY] = {"no_memory", "no cell was free"},
};

const char *
weir_readout_buffer_reason_name(enum weir_readout_buffer_reason reason)
{
	return (unsigned int)reason < RTE_DIM(reasons) ? reasons[reason].name : NULL;
}

const char *
weir_readout_buffer_reason_text(enum weir_readout_buffer_reason reason)
{
	return (unsigned int)reason < RTE_DIM(reasons) ? reasons[reason].text : NULL;
}

void
buffer_stats_begin(struct weir_readout_buffer *buffer)
{
	__atomic_store_n(&buffer->stats_version, buffer->stats_version + 1, __ATOMIC_RELAXED);
}

void
buffer_stats_end(struct weir_readout_buffer *buffer)
{
	__atomic_store_n(&buffer->stats_version, buffer->stats_version + 1, __ATOMIC_RELEASE);
}

/* The struct is an array of counters. */
#define NB_COUNTERS (sizeof(struct weir_readout_buffer_stats) / sizeof(uint64_t))

void
weir_readout_buffer_stats(
	const struct weir_readout_buffer *buffer, struct weir_readout_buffer_stats *stats)
{
	const uint64_t *from = (const uint64_t *)&buffer->stats;
	uint64_t *to = (uint64_t *)stats, version;

	for (uint32_t looks = 0;; look_again(&looks)) {
		version = __atomic_load_n(&buffer->stats_version, __ATOMIC_ACQUIRE);
		if ((version & 1) != 0)
			continue;
		for (unsigned int i = 0; i < NB_COUNTERS; i++)
			to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
		if (__atomic_load_n(&buffer->stats_version, __ATOMIC_RELAXED) == version)
			return;
	}
}
