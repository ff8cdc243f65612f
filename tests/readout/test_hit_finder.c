/* SPDX-License-Identifier: BSD-3-Clause */

/* Hits in WIBEth frames: the same as one finds channel by channel, bit by bit. */

#include "../base/random.h"
#include "chain.h"
#include "hit_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "../../lib/readout/format/wibeth.h"
#include "weir_base.h"

#include "../base/log_last.h"

#define INERTIA  10
#define HITS_MAX 20000u

static struct weir_readout_registry *registry;
static struct weir_readout_hit_finder *finder;
static struct weir_readout_hit found[HITS_MAX], wanted[HITS_MAX];
static uint32_t nb_found, nb_wanted;

/* One channel, as one would write it down. */
struct channel {
	int baseline, balance;
	bool in_hit;
	struct weir_readout_hit hit;
};

static struct {
	struct channel channels[CHANNELS];
	bool has_baseline;
	uint64_t next;
	uint16_t max_samples;
} naive;

/* From the words of the layout: a sample that does not fit in one goes on in the next. */
static int
sample_of(const uint8_t *frame, unsigned int time, unsigned int channel)
{
	unsigned int word = 14 * channel / 64, bit = 14 * channel % 64;
	uint64_t words[2] = {0, 0};

	memcpy(words, frame + 32 + 112 * time + 8 * word, bit > 50 ? 16 : 8);
	words[0] >>= bit;
	if (bit > 50)
		words[0] |= words[1] << (64 - bit);
	return (int)(words[0] & 0x3fff);
}

static void
naive_end(struct channel *channel)
{
	assert_true(nb_wanted < HITS_MAX);
	wanted[nb_wanted++] = channel->hit;
	channel->in_hit = false;
}

static void
naive_above(struct channel *channel, unsigned int number, int sample, uint64_t timestamp)
{
	int height = sample - channel->baseline;

	if (!channel->in_hit)
		channel->hit = (struct weir_readout_hit){
			.timestamp = timestamp, .stream = 7, .channel = (uint16_t)number};
	channel->in_hit = true;
	if (height > channel->hit.peak) {
		channel->hit.peak = (uint16_t)height;
		channel->hit.peak_sample = channel->hit.samples;
	}
	channel->hit.sum += (uint32_t)height;
	if (++channel->hit.samples == naive.max_samples) {
		channel->baseline = sample;
		channel->balance = 0;
		naive_end(channel);
	}
}

static void
naive_sample(struct channel *channel, unsigned int number, int sample, uint64_t timestamp)
{
	if (sample - channel->baseline > THRESHOLD) {
		naive_above(channel, number, sample, timestamp);
		return;
	}
	if (channel->in_hit)
		naive_end(channel);
	if (sample > channel->baseline)
		channel->balance++;
	else if (sample < channel->baseline)
		channel->balance--;
	if (abs(channel->balance) > INERTIA) {
		channel->baseline += channel->balance > 0 ? 1 : -1;
		channel->balance = 0;
	}
}

static void
naive_frame(const uint8_t *frame, uint64_t timestamp)
{
	for (unsigned int i = 0; i < CHANNELS; i++) {
		struct channel *channel = &naive.channels[i];

		if (!naive.has_baseline)
			channel->baseline = sample_of(frame, 0, i);
		else if (timestamp != naive.next && channel->in_hit)
			naive_end(channel);
		for (unsigned int time = 0; time < TIMES; time++)
			naive_sample(
				channel, i, sample_of(frame, time, i), timestamp + TICKS * time);
	}
	naive.has_baseline = true;
	naive.next = timestamp + STEP;
}

static void
take_hits(void *arg, const void *messages, uint32_t nb)
{
	assert_true(nb_found + nb <= HITS_MAX);
	memcpy(&found[nb_found], messages, nb * sizeof(found[0]));
	nb_found += nb;
}

static void
make(uint16_t max_samples)
{
	registry = weir_readout_registry_create();
	assert_non_null(weir_readout_sink_create(registry,
		&(struct weir_readout_sink_config){
			.name = "hits", .type = &weir_readout_hit_type, .receive = take_hits}));
	finder = weir_readout_hit_finder_create(
		registry, &(struct weir_readout_hit_finder_config){.name = "finder",
				  .sink = "hits",
				  .stream = 7,
				  .threshold = THRESHOLD,
				  .max_samples = max_samples});
	assert_non_null(finder);
	assert_int_equal(weir_readout_registry_bind(registry), 0);
	memset(&naive, 0, sizeof(naive));
	naive.max_samples = max_samples == 0 ? 1024 : max_samples;
	nb_found = nb_wanted = 0;
}

static void
free_all(void)
{
	weir_readout_hit_finder_free(finder);
	weir_readout_registry_free(registry);
}

static void
give(const uint8_t *frame, uint64_t timestamp)
{
	const struct weir_readout_item item = {.data = frame,
		.data_bytes = FRAME_BYTES,
		.frame = {.timestamp = timestamp, .size_bytes = FRAME_BYTES}};

	assert_int_equal(weir_readout_hit_finder_run(finder, &item), WEIR_READOUT_PASS);
}

static int
by_time(const void *a, const void *b)
{
	const struct weir_readout_hit *one = a, *other = b;

	if (one->timestamp != other->timestamp)
		return one->timestamp < other->timestamp ? -1 : 1;
	if (one->stream != other->stream)
		return one->stream < other->stream ? -1 : 1;
	return (int)one->channel - (int)other->channel;
}

static void
expect_same(void)
{
	assert_int_equal(nb_found, nb_wanted);
	qsort(found, nb_found, sizeof(found[0]), by_time);
	qsort(wanted, nb_wanted, sizeof(wanted[0]), by_time);
	assert_memory_equal(found, wanted, nb_wanted * sizeof(found[0]));
}

/* Any bits, in memory that ends where the frame ends. */
static void
unpack(void **state)
{
	uint64_t random = 88172645463325252;
	uint8_t *frame = malloc(FRAME_BYTES);
	int16_t samples[CHANNELS];

	assert_non_null(frame);
	for (unsigned int i = 0; i < FRAME_BYTES; i++)
		frame[i] = (uint8_t)random_below(&random, UINT64_MAX);
	for (unsigned int time = 0; time < TIMES; time++) {
		wibeth_unpack(frame + 32 + 112 * time, samples);
		for (unsigned int i = 0; i < CHANNELS; i++)
			assert_int_equal(samples[i], sample_of(frame, time, i));
	}
	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t bits = random_below(&random, UINT64_MAX);

		assert_true(wibeth_spread(bits) == wibeth_spread_plain(bits));
	}
	free(frame);
}

/* Noise on baselines that wander, now and then a pulse, or a step that lasts, or a missing frame; each sample may be anything. */
static void
as_naive(void **state)
{
	static uint16_t samples[TIMES][CHANNELS];
	static uint8_t frame[FRAME_BYTES];
	uint64_t random = 0x2545f4914f6cdd1d, timestamp = UINT64_MAX - 100 * STEP;
	int level[CHANNELS];

	make(100);
	for (unsigned int i = 0; i < CHANNELS; i++)
		level[i] = 200 * (int)i;
	for (unsigned int n = 0; n < 400; n++, timestamp += STEP) {
		for (unsigned int i = 0; i < TIMES * CHANNELS; i++) {
			int *at = &level[i % CHANNELS], value;

			if (random_below(&random, 4000) == 0)
				*at += (int)random_below(&random, 400) - 200;
			*at = RTE_MAX(0, RTE_MIN(*at, 16383));
			value = *at + (int)random_below(&random, 21) - 10;
			if (random_below(&random, 500) == 0)
				value = (int)random_below(&random, 16384);
			samples[i / CHANNELS][i % CHANNELS] =
				(uint16_t)RTE_MAX(0, RTE_MIN(value, 16383));
		}
		pack(frame, samples);
		if (random_below(&random, 20) == 0)
			timestamp += STEP;
		give(frame, timestamp);
		naive_frame(frame, timestamp);
	}
	assert_true(nb_wanted > 1000);
	expect_same();
	assert_int_equal(count(finder).frames, 400);
	assert_in_range(count(finder).gaps, 5, 50);
	assert_int_equal(count(finder).hits, nb_wanted);
	free_all();
}

/* Over the end of a frame it is one hit; the threshold itself is not above it; a missing frame ends it. */
static void
edges(void **state)
{
	static uint16_t samples[TIMES][CHANNELS];
	static uint8_t frame[FRAME_BYTES], quiet[FRAME_BYTES];

	make(0);
	flat(samples, 1000);
	pack(quiet, samples);
	samples[10][5] = 1000 + THRESHOLD;
	samples[20][0] = 1000 + THRESHOLD + 1;
	samples[63][63] = 1100;
	pack(frame, samples);
	give(quiet, 0);
	give(frame, STEP);
	assert_int_equal(nb_found, 1);
	assert_memory_equal(&found[0],
		(&(struct weir_readout_hit){STEP + 20 * TICKS, 7, 51, 0, 1, 51, 0}),
		sizeof(found[0]));
	flat(samples, 1000);
	samples[0][63] = 1200;
	samples[1][63] = 1150;
	pack(frame, samples);
	give(frame, 2 * STEP);
	assert_int_equal(nb_found, 2);
	assert_memory_equal(&found[1],
		(&(struct weir_readout_hit){STEP + 63 * TICKS, 7, 450, 63, 3, 200, 1}),
		sizeof(found[0]));
	samples[63][63] = 1100;
	pack(frame, samples);
	give(frame, 3 * STEP);
	give(frame, 5 * STEP);
	/* The first pulse of either frame, and the one that nobody knows how long it was. */
	assert_int_equal(nb_found, 5);
	assert_int_equal(found[3].timestamp, 3 * STEP + 63 * TICKS);
	assert_int_equal(found[3].samples, 1);
	assert_int_equal(count(finder).gaps, 1);
	free_all();
}

/* A frame in two segments; of another size. */
static void
pieces(void **state)
{
	static uint16_t samples[TIMES][CHANNELS];
	static uint8_t frame[FRAME_BYTES];
	struct weir_readout_item item = {.frame = {.timestamp = STEP, .size_bytes = FRAME_BYTES}};
	struct rte_mbuf *m[2];

	chain_make();
	make(0);
	flat(samples, 1000);
	pack(frame, samples);
	give(frame, 0);
	samples[63][62] = 2000;
	samples[5][0] = 3000;
	samples[62][62] = 1000;
	pack(frame, samples);
	assert_int_equal(rte_pktmbuf_alloc_bulk(chain.pool, m, 2), 0);
	memcpy(rte_pktmbuf_append(m[0], 4001), frame, 4001);
	memcpy(rte_pktmbuf_append(m[1], 3199), frame + 4001, 3199);
	assert_int_equal(rte_pktmbuf_chain(m[0], m[1]), 0);
	item.mbuf = m[0];
	item.data = rte_pktmbuf_mtod(m[0], void *);
	item.data_bytes = 4001;
	weir_readout_hit_finder_run(finder, &item);
	rte_pktmbuf_free(m[0]);
	assert_int_equal(nb_found, 1);
	assert_int_equal(found[0].peak, 2000);
	flat(samples, 1000);
	pack(frame, samples);
	give(frame, 2 * STEP);
	assert_int_equal(nb_found, 2);
	assert_int_equal(found[1].channel, 62);
	item.frame.size_bytes = FRAME_BYTES - 1;
	assert_int_equal(weir_readout_hit_finder_run(finder, &item), WEIR_READOUT_PASS);
	assert_int_equal(count(finder).skipped, 1);
	assert_int_equal(count(finder).frames, 3);
	free_all();
	chain_free();
}

static void
refused(void **state)
{
	struct weir_readout_hit_finder_config config = {.name = "f", .sink = "hits"};

	make(0);
	assert_null(weir_readout_hit_finder_create(registry, &config));
	assert_int_equal(rte_errno, EINVAL);
	assert_string_equal(log_message,
		"hit finder 'f': a threshold of 0 and hits of up to 0 samples, "
		"expected 1 up to 16383, and 2 or more");
	config.threshold = 16384;
	assert_null(weir_readout_hit_finder_create(registry, &config));
	config.threshold = 1;
	config.max_samples = 1;
	assert_null(weir_readout_hit_finder_create(registry, &config));
	config.max_samples = 0;
	config.name = "finder";
	assert_null(weir_readout_hit_finder_create(registry, &config));
	assert_int_equal(rte_errno, EEXIST);
	free_all();
}

/* How fast, beside the naive one. */
static void
pace(void **state)
{
	enum { FRAMES = 8, ROUNDS = 20 };
	static uint16_t samples[TIMES][CHANNELS];
	static uint8_t frames[FRAMES][FRAME_BYTES];
	uint64_t random = 1, cycles[2] = {UINT64_MAX, UINT64_MAX}, timestamp = 0;

	make(0);
	for (unsigned int n = 0; n < FRAMES; n++) {
		for (unsigned int i = 0; i < TIMES * CHANNELS; i++)
			samples[i / CHANNELS][i % CHANNELS] =
				(uint16_t)(1000 + random_below(&random, 21) +
					   (random_below(&random, 2000) == 0 ? 300 : 0));
		pack(frames[n], samples);
	}
	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint64_t start = weir_base_cycles(), middle, end;

		for (unsigned int n = 0; n < FRAMES; n++)
			give(frames[n], timestamp + n * STEP);
		middle = weir_base_cycles();
		for (unsigned int n = 0; n < FRAMES; n++)
			naive_frame(frames[n], timestamp + n * STEP);
		end = weir_base_cycles();
		cycles[0] = RTE_MIN(cycles[0], middle - start);
		cycles[1] = RTE_MIN(cycles[1], end - middle);
		timestamp += FRAMES * STEP;
	}
	print_message("  hits of a frame, about 2 of them: %.0f cycles, sample by sample %.0f\n",
		(double)cycles[0] / FRAMES, (double)cycles[1] / FRAMES);
	expect_same();
	free_all();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unpack),
		cmocka_unit_test(as_naive),
		cmocka_unit_test(edges),
		cmocka_unit_test(pieces),
		cmocka_unit_test(refused),
		cmocka_unit_test(pace),
	};

	log_listen();
	return run_on_eal(1, tests);
}
