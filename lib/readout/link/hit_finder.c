/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pulses above a running baseline. Time by time samples are compared for all channels at once, in loops that compilers make
 * vector code of; what is above, or was just before, is rare, and looked at channel by channel.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "registry_private.h"
#include "tally.h"
#include "weir_readout_hit_finder.h"
#include "format/wibeth.h"

#define MAX_SAMPLES_DEFAULT 1024
#define THRESHOLD_MAX       16383u /* of 14 bits */
/* So many more samples on one side move the baseline. */
#define BASELINE_INERTIA 10
#define BATCH            64u

struct weir_readout_hit_finder {
	/* By channel. */
	OWN_LINE int16_t baseline[WIBETH_CHANNELS];
	int16_t balance[WIBETH_CHANNELS]; /* samples above it less those below */
	uint8_t above[WIBETH_CHANNELS];   /* of one time: 1 or 0 */
	struct weir_readout_hit hits[WIBETH_CHANNELS];
	uint64_t active; /* bits: channels in a hit */

	uint32_t stream;
	uint16_t threshold, max_samples;
	bool has_baseline;
	uint64_t next_timestamp;
	struct weir_readout_source *source;
	struct weir_readout_hit found[BATCH];
	uint32_t nb_found;
	OWN_LINE int16_t samples[WIBETH_TIMES][WIBETH_CHANNELS]; /* of a frame */
	uint8_t scratch[WIBETH_BYTES];                           /* a frame in several segments */
	struct weir_readout_hit_finder_stats own;
	OWN_LINE uint64_t version;
	struct weir_readout_hit_finder_stats published;
};

const struct weir_readout_type weir_readout_hit_type = {
	"weir_readout_hit", sizeof(struct weir_readout_hit), 1};

struct weir_readout_hit_finder *
weir_readout_hit_finder_create(
	struct weir_readout_registry *registry, const struct weir_readout_hit_finder_config *config)
{
	const struct weir_readout_source_config source = {
		.name = config->name, .sink = config->sink, .type = &weir_readout_hit_type};
	struct weir_readout_hit_finder *finder;

	if (config->threshold == 0 || config->threshold > THRESHOLD_MAX ||
		config->max_samples == 1) {
		READOUT_LOG(ERROR,
			"hit finder '%s': a threshold of %u and hits of up to %u samples, expected "
			"1 up to %u, and 2 or more",
			config->name == NULL ? "" : config->name, config->threshold,
			config->max_samples, THRESHOLD_MAX);
		rte_errno = EINVAL;
		return NULL;
	}
	finder = aligned_alloc(__alignof__(struct weir_readout_hit_finder), sizeof(*finder));
	if (finder == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	memset(finder, 0, sizeof(*finder));
	finder->stream = config->stream;
	finder->threshold = config->threshold;
	finder->max_samples = config->max_samples == 0 ? MAX_SAMPLES_DEFAULT : config->max_samples;
	finder->source = weir_readout_source_create(registry, &source);
	if (finder->source == NULL) {
		free(finder);
		return NULL;
	}
	return finder;
}

void
weir_readout_hit_finder_free(struct weir_readout_hit_finder *finder)
{
	if (finder == NULL)
		return;
	weir_readout_source_free(finder->source);
	free(finder);
}

static void
send_found(struct weir_readout_hit_finder *finder)
{
	uint32_t nb_sent =
		weir_readout_source_send(finder->source, finder->found, finder->nb_found);

	finder->own.hits += finder->nb_found;
	finder->own.delivered += nb_sent;
	finder->own.refused += finder->nb_found - nb_sent;
	finder->nb_found = 0;
}

static void
end_hit(struct weir_readout_hit_finder *finder, unsigned int channel)
{
	finder->active &= ~(UINT64_C(1) << channel);
	finder->found[finder->nb_found++] = finder->hits[channel];
	if (finder->nb_found == BATCH)
		send_found(finder);
}

/* A sample that is above. */
static void
go_on(struct weir_readout_hit_finder *finder, unsigned int channel, int16_t sample,
	uint64_t timestamp)
{
	uint16_t height = (uint16_t)(sample - finder->baseline[channel]);
	struct weir_readout_hit *hit = &finder->hits[channel];

	if ((finder->active >> channel & 1) == 0) {
		finder->active |= UINT64_C(1) << channel;
		*hit = (struct weir_readout_hit){.timestamp = timestamp,
			.stream = finder->stream,
			.channel = (uint16_t)channel};
	}
	if (height > hit->peak) {
		hit->peak = height;
		hit->peak_sample = hit->samples;
	}
	hit->sum += height;
	if (++hit->samples < finder->max_samples)
		return;
	finder->baseline[channel] = sample;
	finder->balance[channel] = 0;
	end_hit(finder, channel);
}

/* Bytes of 1 and 0 as bits: of eight, each one's own bit is moved to the uppermost byte, where they add up. */
static uint64_t
bits_of(const uint8_t *bytes)
{
	uint64_t bits = 0;

	for (unsigned int i = 0; i < WIBETH_CHANNELS / 8; i++)
		bits |= (wibeth_load(&bytes[8 * i]) * UINT64_C(0x0102040810204080)) >> 56 << 8 * i;
	return bits;
}

/*
 * Compare all channels with their baselines, and move those that are not in a pulse: who is above has a height of more than 0, too, so
 * that it counts 1 - 1.
 */
static void
compare(struct weir_readout_hit_finder *finder, const int16_t *samples)
{
	const int16_t threshold = (int16_t)finder->threshold;

	for (unsigned int i = 0; i < WIBETH_CHANNELS; i++) {
		int16_t height = (int16_t)(samples[i] - finder->baseline[i]);
		int16_t above = height > threshold;
		int16_t balance =
			(int16_t)(finder->balance[i] + (height > 0) - (height < 0) - above);
		int16_t up = balance > BASELINE_INERTIA, down = balance < -BASELINE_INERTIA;

		finder->balance[i] = (int16_t)((up | down) != 0 ? 0 : balance);
		finder->baseline[i] = (int16_t)(finder->baseline[i] + up - down);
		finder->above[i] = (uint8_t)above;
	}
}

static void
search_time(struct weir_readout_hit_finder *finder, const int16_t *samples, uint64_t timestamp)
{
	uint64_t above, ended;

	compare(finder, samples);
	above = bits_of(finder->above);
	if (likely((above | finder->active) == 0))
		return;
	for (ended = finder->active & ~above; ended != 0; ended &= ended - 1)
		end_hit(finder, (unsigned int)__builtin_ctzll(ended));
	for (; above != 0; above &= above - 1) {
		unsigned int channel = (unsigned int)__builtin_ctzll(above);

		go_on(finder, channel, samples[channel], timestamp);
	}
}

static void
end_all(struct weir_readout_hit_finder *finder)
{
	for (uint64_t active = finder->active; active != 0; active &= active - 1)
		end_hit(finder, (unsigned int)__builtin_ctzll(active));
}

/* All is unpacked before it is compared: loads of vectors right behind the stores of their parts would wait for these. */
static void
search(struct weir_readout_hit_finder *finder, const uint8_t *frame, uint64_t timestamp)
{
	for (unsigned int i = 0; i < WIBETH_TIMES; i++)
		wibeth_unpack(
			frame + WIBETH_HEADER_BYTES + i * WIBETH_TIME_BYTES, finder->samples[i]);
	if (!finder->has_baseline) {
		memcpy(finder->baseline, finder->samples[0], sizeof(finder->baseline));
		finder->has_baseline = true;
	} else if (timestamp != finder->next_timestamp) {
		finder->own.gaps++;
		end_all(finder);
	}
	finder->next_timestamp = timestamp + WIBETH_TIMES * WIBETH_TICKS;
	for (unsigned int i = 0; i < WIBETH_TIMES; i++, timestamp += WIBETH_TICKS)
		search_time(finder, finder->samples[i], timestamp);
}

int
weir_readout_hit_finder_run(void *arg, const struct weir_readout_item *item)
{
	struct weir_readout_hit_finder *finder = arg;
	const uint8_t *frame = item->data;

	if (unlikely(item->frame.size_bytes != WIBETH_BYTES)) {
		finder->own.skipped++;
	} else {
		if (unlikely(item->data_bytes < WIBETH_BYTES)) {
			weir_readout_item_copy(item, finder->scratch);
			frame = finder->scratch;
		}
		finder->own.frames++;
		search(finder, frame, item->frame.timestamp);
		send_found(finder);
	}
	tally_publish(&finder->version, (uint64_t *)&finder->published,
		(const uint64_t *)&finder->own, TALLY_WORDS(finder->own));
	return WEIR_READOUT_PASS;
}

void
weir_readout_hit_finder_stats(
	const struct weir_readout_hit_finder *finder, struct weir_readout_hit_finder_stats *stats)
{
	tally_read(&finder->version, (const uint64_t *)&finder->published, (uint64_t *)stats,
		TALLY_WORDS(*stats));
}
