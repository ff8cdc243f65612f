/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_HIT_FINDER_H
#define WEIR_READOUT_HIT_FINDER_H

/**
 * @file
 * A hit finder: pulses in the 64 channels of WIBEth frames, as messages for a trigger. An example of what an application does with
 * frames, and what it makes of many links feeds one.
 *
 * Each channel has a running baseline: it goes up or down by one when ten more of its samples were above it than below, or the other way
 * round. A hit is a row of samples that are above it by more than a threshold. While it lasts the baseline stays. One that
 * reaches max_samples ends there, and the baseline begins anew at its last sample, so that a step of the baseline is one hit. Where
 * frames are missing hits end.
 *
 * A finder is one link's. It is a function for frames (weir_readout_process.h), which lets all of them pass:
 *
 * @code{.c}
 * finder = weir_readout_hit_finder_create(registry, &(struct weir_readout_hit_finder_config){.name = "hits0", .sink = "hits",
 * 	.stream = key, .threshold = 60});
 * process = (struct weir_readout_process){.name = "hits", .run = weir_readout_hit_finder_run, .arg = finder};
 * @endcode
 *
 * Hits of all finders go to a shared sink: a weir_readout_collector.h makes them the frames of a link of format "hit".
 *
 * Threads: frames by one thread at a time; counters by any.
 */

#include <stdint.h>

#include "weir_readout_process.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A pulse. Frames of the built-in format "hit" are this, in the machine's order of bytes. */
struct weir_readout_hit {
	uint64_t timestamp;   /**< of its first sample, ticks of 62.5 MHz; samples are 32 apart */
	uint32_t stream;      /**< of the frames that it was found in */
	uint32_t sum;         /**< of its samples, above the baseline */
	uint16_t channel;     /**< 0 up to 63 */
	uint16_t samples;     /**< how long it is */
	uint16_t peak;        /**< its highest sample, above the baseline */
	uint16_t peak_sample; /**< the first such one, counted from 0 */
};

/** The type of hits in a registry. */
extern const struct weir_readout_type weir_readout_hit_type;

struct weir_readout_hit_finder;

/** A hit finder. */
struct weir_readout_hit_finder_config {
	const char *name;     /**< of its source in the registry; copied */
	const char *sink;     /**< name of who gets the hits; NULL: none yet */
	uint32_t stream;      /**< what hits say it is */
	uint16_t threshold;   /**< above the baseline, 1 up to 16383 */
	uint16_t max_samples; /**< of a hit, 2 or more; 0: 1024 */
};

/** Counters of a finder, of one moment: 64 bits, never reset. hits = delivered + refused. */
struct weir_readout_hit_finder_stats {
	uint64_t frames;    /**< searched */
	uint64_t skipped;   /**< frames of another size than WIBEth's */
	uint64_t gaps;      /**< frames that were not 64 samples after the one before */
	uint64_t hits;      /**< found, and ended */
	uint64_t delivered; /**< of these: taken by the sink */
	uint64_t refused;   /**< of these: the sink was full, or there was none */
};

/**
 * Make one. Any thread.
 *
 * @return NULL with rte_errno: EINVAL, EEXIST: there is a source of this name, ENOMEM; the log says why
 */
struct weir_readout_hit_finder *weir_readout_hit_finder_create(
	struct weir_readout_registry *registry,
	const struct weir_readout_hit_finder_config *config);

/** Free it and its source; hits that have not ended are no more. NULL is allowed. */
void weir_readout_hit_finder_free(struct weir_readout_hit_finder *finder);

/**
 * Find the hits of a frame: a weir_readout_process_t. Never waits, allocates nothing.
 *
 * @param finder  a struct weir_readout_hit_finder
 * @return WEIR_READOUT_PASS always
 */
int weir_readout_hit_finder_run(void *finder, const struct weir_readout_item *item);

/** Counters at one moment. Any thread; looks again while the finder is at them. */
void weir_readout_hit_finder_stats(
	const struct weir_readout_hit_finder *finder, struct weir_readout_hit_finder_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
