/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_READOUT_LINK_FIXTURE_H
#define WEIR_TESTS_READOUT_LINK_FIXTURE_H

/* A link of small frames, given one by one, and what it should have counted so far. */

#include "../base/cmocka_all.h"

#include <string.h>

#include "weir_readout_link.h"

#define FRAME_BYTES 16u
#define STEP        10u

/* Little endian: sequence number in byte 0, length in 1, stream in 2, timestamp in 4 up to 7. */
static const struct weir_base_format spec = {
	.name = "test",
	.fields =
		{
			[WEIR_BASE_FIELD_SEQUENCE] = {0, 8},
			[WEIR_BASE_FIELD_LENGTH] = {8, 8},
			[WEIR_BASE_FIELD_STREAM] = {16, 8},
			[WEIR_BASE_FIELD_TIMESTAMP] = {32, 32},
		},
	.size_min_bytes = FRAME_BYTES,
	.size_max_bytes = FRAME_BYTES,
	.step_ticks = STEP,
	.clock_hz = 100000,
};

static struct weir_readout_registry *registry;
static struct weir_readout_link *frames_link;
static struct weir_readout_item held[64];
static uint32_t nb_held;
static bool hold;
static uint64_t now_ns;
/* How often each one should have been seen so far. */
static uint64_t faults[WEIR_READOUT_NB_FAULTS], missing, received;

static void
receive(void *arg, const void *messages, uint32_t nb)
{
	struct weir_readout_link_stats stats;

	/* A consumer may look, and finds these to be held. */
	weir_readout_link_stats(frames_link, &stats);
	assert_true(stats.held >= nb);
	if (!hold) {
		weir_readout_item_release(messages, nb);
		return;
	}
	assert_true(nb_held + nb <= 64);
	memcpy(&held[nb_held], messages, nb * sizeof(held[0]));
	nb_held += nb;
}

static void
make_of(struct weir_base_format of, struct weir_readout_link_config config)
{
	struct weir_readout_format format;

	assert_int_equal(weir_readout_format_compile(&of, &format, NULL, NULL, 0), 0);
	config.name = "link";
	config.sink = "frames";
	config.format = &format;
	registry = weir_readout_registry_create();
	frames_link = weir_readout_link_create(registry, &config);
	assert_non_null(frames_link);
	assert_non_null(weir_readout_sink_create(registry,
		&(struct weir_readout_sink_config){
			.name = "frames", .type = &weir_readout_item_type, .receive = receive}));
	assert_int_equal(weir_readout_registry_bind(registry), 0);
	memset(faults, 0, sizeof(faults));
	missing = received = now_ns = 0;
	nb_held = 0;
	hold = false;
}

static void
expect_sums(const struct weir_readout_link_stats *stats)
{
	uint64_t sum = stats->held + stats->delivered;

	for (unsigned int i = 0; i < WEIR_READOUT_NB_DROPS; i++)
		sum += stats->dropped[i];
	assert_int_equal(stats->received, sum);
}

static void
expect_all(void)
{
	struct weir_readout_link_stats stats;

	weir_readout_link_stats(frames_link, &stats);
	expect_sums(&stats);
	assert_int_equal(stats.received, received);
	assert_int_equal(stats.missing, missing);
	for (unsigned int i = 0; i < WEIR_READOUT_NB_FAULTS; i++)
		if (stats.faults[i].count != faults[i])
			fail_msg("%s: %u, expected %u",
				weir_readout_fault_name((enum weir_readout_fault)i),
				(unsigned int)stats.faults[i].count, (unsigned int)faults[i]);
}

static void
give_bytes(const uint8_t *bytes, uint32_t nb_bytes)
{
	struct weir_readout_item item = {
		.data = bytes, .data_bytes = nb_bytes, .frame.size_bytes = nb_bytes};

	weir_readout_link_receive(frames_link, &item, 1, now_ns += 1000);
	received++;
}

static void
make_frame(uint8_t *bytes, uint64_t sequence, uint64_t timestamp)
{
	memset(bytes, 0, FRAME_BYTES);
	bytes[0] = (uint8_t)sequence;
	bytes[1] = FRAME_BYTES;
	for (unsigned int i = 0; i < 4; i++)
		bytes[4 + i] = (uint8_t)(timestamp >> 8 * i);
}

static void
give(uint64_t sequence, uint64_t timestamp)
{
	uint8_t bytes[FRAME_BYTES];

	make_frame(bytes, sequence, timestamp);
	give_bytes(bytes, FRAME_BYTES);
}

/* Frames of the stream, by their numbers without an end. */
static void
give_all(uint64_t from, uint64_t to)
{
	for (uint64_t n = from; n < to; n++)
		give(n, n * STEP);
}

/* This one, and no other fault, from the frame given last. */
static void
expect(enum weir_readout_fault fault, uint64_t nb_missing)
{
	faults[fault]++;
	missing += nb_missing;
	expect_all();
}

static void
free_all(void)
{
	expect_all();
	weir_readout_link_free(frames_link);
	weir_readout_registry_free(registry);
}

#endif
