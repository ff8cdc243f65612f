/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Emulated links, from packets to counters: each fault ends in exactly the counters it must, those of other links stay; also when
 * packets are sent by one port and received by another.
 */

#include "chain.h"
#include "ring_port.h"

#include <errno.h>
#include <string.h>

#include <rte_mbuf.h>

#include "weir_readout_udp.h"

#include "../base/log_last.h"

#define NB_FRAMES 5000u
#define BURST     32u
#define KEY       0x0a5u

static struct weir_readout_emulator *emulator;
static struct weir_readout_emulator_stats sent;
static bool by_port;
static struct ring_port port;
static struct weir_readout_udp *sender;

static struct weir_readout_emulator_stream
wibeth(uint64_t key)
{
	return (struct weir_readout_emulator_stream){
		.format = weir_readout_format_builtin("wibeth"),
		.key = key,
		.first_sequence = 4000, /* it wraps soon */
		.first_timestamp = UINT64_MAX - 100 * 2048,
		.nb_frames = NB_FRAMES,
		.source_ip = 0x0a000001,
		.destination_ip = 0x0a000002,
		.destination_port = 17476,
	};
}

static int
use_port(void **state)
{
	by_port = true;
	return 0;
}

static int
use_no_port(void **state)
{
	by_port = false;
	return 0;
}

static void
open_port(void)
{
	struct weir_readout_udp_config config = {.emulator = emulator, .burst = BURST};

	if (!by_port)
		return;
	port = ring_port_make(2 * BURST, 9000, chain.pool);
	config.port_id = port.id;
	sender = weir_readout_udp_create(&config);
	assert_non_null(sender);
}

/* What the emulator sent, of so many streams, went through the port, all of it. */
static void
close_port(uint32_t nb_streams)
{
	uint64_t all = sent.sent + (nb_streams - 1) * NB_FRAMES;
	struct weir_readout_udp_stats stats;
	struct rte_eth_stats device;

	if (!by_port)
		return;
	weir_readout_udp_stats(sender, &stats);
	assert_int_equal(stats.taken, all);
	assert_int_equal(stats.sent, all);
	assert_int_equal(rte_eth_stats_get(port.id, &device), 0);
	assert_int_equal(device.opackets, all);
	assert_int_equal(device.ipackets, all);
	weir_readout_udp_free(sender);
	ring_port_free(&port);
}

/* Packets that are due, as they come out of the emulator, or of the port. */
static uint32_t
take_due(uint64_t now_ns, struct rte_mbuf **mbufs)
{
	if (!by_port)
		return weir_readout_emulator_poll(emulator, now_ns, mbufs, BURST);
	weir_readout_udp_poll(sender, now_ns);
	return rte_eth_rx_burst(port.id, 0, mbufs, BURST);
}

/* All that there is to send, in bursts, at the times of frames: the arrival is that of the frame. */
static void
run(const struct weir_readout_emulator_stream *streams, uint32_t nb, uint64_t seed)
{
	const struct weir_readout_emulator_config config = {
		.streams = streams, .nb_streams = nb, .pool = chain.pool, .seed = seed};
	struct rte_mbuf *mbufs[BURST];

	emulator = weir_readout_emulator_create(&config);
	assert_non_null(emulator);
	open_port();
	/* Stalls may last beyond the last frame. */
	for (uint64_t n = 0; !weir_readout_emulator_ended(emulator); n++) {
		uint64_t now_ns = weir_readout_emulator_due_ns(emulator, 0, n);
		uint32_t nb_mbufs;

		assert_true(n < 2 * NB_FRAMES);
		while ((nb_mbufs = take_due(now_ns, mbufs)) > 0)
			weir_readout_dispatch_receive(chain.dispatch, 0, mbufs, nb_mbufs, now_ns);
	}
	weir_readout_emulator_stats(emulator, 0, &sent);
	assert_int_equal(sent.made, NB_FRAMES);
	assert_int_equal(sent.no_mbuf, 0);
	assert_int_equal(sent.sent, sent.made - sent.faults[WEIR_READOUT_EMULATE_DROP] +
					    sent.faults[WEIR_READOUT_EMULATE_DUPLICATE]);
	close_port(nb);
	weir_readout_emulator_free(emulator);
}

/* What one fault comes to. */
struct expected {
	struct weir_readout_emulator_fault_config fault;
	uint64_t done;                           /* frames it is done to */
	uint64_t faults[WEIR_READOUT_NB_FAULTS]; /* that the link counts */
	uint64_t missing, wrong_size, unknown_stream, truncated;
};

static void
expect_faultless(uint32_t link)
{
	struct weir_readout_link_stats stats = chain_link(link);

	assert_int_equal(stats.received, NB_FRAMES);
	assert_int_equal(stats.delivered, NB_FRAMES);
	assert_int_equal(stats.missing, 0);
	for (unsigned int i = 0; i < WEIR_READOUT_NB_FAULTS; i++)
		assert_int_equal(stats.faults[i].count, 0);
}

static void
expect_fault(const struct expected *expected)
{
	struct weir_readout_link_stats stats = chain_link(0);
	struct weir_readout_dispatch_stats queue = chain_queue();

	assert_int_equal(sent.faults[expected->fault.fault], expected->done);
	for (unsigned int i = 0; i < WEIR_READOUT_NB_FAULTS; i++)
		if (stats.faults[i].count != expected->faults[i])
			fail_msg("%s: %s counted %u times, expected %u",
				weir_readout_emulator_fault_name(expected->fault.fault),
				weir_readout_fault_name((enum weir_readout_fault)i),
				(unsigned int)stats.faults[i].count,
				(unsigned int)expected->faults[i]);
	assert_int_equal(stats.missing, expected->missing);
	assert_int_equal(stats.dropped[WEIR_READOUT_DROP_WRONG_SIZE], expected->wrong_size);
	assert_int_equal(queue.unknown_stream, expected->unknown_stream);
	assert_int_equal(queue.truncated, expected->truncated);
	assert_int_equal(queue.received, sent.sent + NB_FRAMES);
	assert_int_equal(
		stats.received, sent.sent - expected->unknown_stream - expected->truncated);
	assert_int_equal(stats.delivered, stats.received - expected->wrong_size);
	assert_int_equal(chain.nb_consumed, stats.delivered + NB_FRAMES);
}

static void
check(const struct expected *expected)
{
	struct weir_readout_emulator_stream streams[] = {wibeth(KEY), wibeth(KEY + 1)};

	streams[0].faults = &expected->fault;
	streams[0].nb_faults = 1;
	chain_make();
	for (unsigned int i = 0; i < 2; i++)
		chain_add((struct weir_readout_link_config){.format = streams[i].format,
			.key = streams[i].key,
			.stall_ns = 100000}); /* three frames */
	run(streams, 2, 1);
	expect_fault(expected);
	expect_faultless(1);
	chain_free();
}

#define FAULT_TEST(name, ...)                                                                      \
	static void name(void **state)                                                             \
	{                                                                                          \
		const struct expected expected[] = {__VA_ARGS__};                                  \
                                                                                                   \
		for (unsigned int i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)          \
			check(&expected[i]);                                                       \
	}

FAULT_TEST(drops,
	{.fault = {.fault = WEIR_READOUT_EMULATE_DROP, .first = 10, .period = 1000},
		.done = 5,
		.faults = {[WEIR_READOUT_FAULT_GAP] = 5},
		.missing = 5},
	{.fault = {.fault = WEIR_READOUT_EMULATE_DROP, .first = 10, .period = 500, .length = 2},
		.done = 20,
		.faults = {[WEIR_READOUT_FAULT_GAP] = 10},
		.missing = 20},
	/* As many as the sequence number has values. */
	{.fault = {.fault = WEIR_READOUT_EMULATE_DROP, .first = 10, .length = 4096},
		.done = 4096,
		.faults = {[WEIR_READOUT_FAULT_GAP] = 1, [WEIR_READOUT_FAULT_STALL] = 1},
		.missing = 4096})

FAULT_TEST(
	duplicates, {.fault = {.fault = WEIR_READOUT_EMULATE_DUPLICATE, .first = 99, .period = 100},
			    .done = 50,
			    .faults = {[WEIR_READOUT_FAULT_DUPLICATE] = 50}})

FAULT_TEST(reorders,
	{.fault = {.fault = WEIR_READOUT_EMULATE_REORDER, .amount = 1, .first = 3, .period = 10},
		.done = 500,
		.faults = {[WEIR_READOUT_FAULT_GAP] = 500, [WEIR_READOUT_FAULT_REORDERED] = 500},
		.missing = 500},
	{.fault = {.fault = WEIR_READOUT_EMULATE_REORDER, .amount = 1000, .first = 3},
		.done = 1,
		.faults = {[WEIR_READOUT_FAULT_GAP] = 1, [WEIR_READOUT_FAULT_REORDERED] = 1},
		.missing = 1})

/* A frame of another stream is missing here, and known nowhere. */
FAULT_TEST(streams,
	{.fault = {.fault = WEIR_READOUT_EMULATE_STREAM, .amount = 77, .first = 3, .period = 10},
		.done = 500,
		.faults = {[WEIR_READOUT_FAULT_GAP] = 500},
		.missing = 500,
		.unknown_stream = 500})

FAULT_TEST(sequences,
	{.fault = {.fault = WEIR_READOUT_EMULATE_SEQUENCE, .amount = 5, .first = 3, .period = 10},
		.done = 500,
		.faults = {[WEIR_READOUT_FAULT_SEQUENCE_JUMP] = 500}},
	{.fault = {.fault = WEIR_READOUT_EMULATE_SEQUENCE,
		 .amount = -2000,
		 .first = 3,
		 .period = 10},
		.done = 500,
		.faults = {[WEIR_READOUT_FAULT_SEQUENCE_JUMP] = 500}})

FAULT_TEST(timestamps,
	{.fault = {.fault = WEIR_READOUT_EMULATE_TIMESTAMP, .amount = 1, .first = 3, .period = 10},
		.done = 500,
		.faults = {[WEIR_READOUT_FAULT_EARLY] = 500}},
	{.fault = {.fault = WEIR_READOUT_EMULATE_TIMESTAMP,
		 .amount = -2048,
		 .first = 3,
		 .period = 10},
		.done = 500,
		.faults = {[WEIR_READOUT_FAULT_LATE] = 500}},
	{.fault = {.fault = WEIR_READOUT_EMULATE_TIMESTAMP,
		 .amount = 62500001,
		 .first = 3,
		 .period = 10},
		.done = 500,
		.faults = {[WEIR_READOUT_FAULT_TIMESTAMP_JUMP] = 500}})

FAULT_TEST(truncates,
	{.fault = {.fault = WEIR_READOUT_EMULATE_TRUNCATE,
		 .amount = 7199,
		 .first = 3,
		 .period = 10},
		.done = 500,
		.faults = {[WEIR_READOUT_FAULT_GAP] = 500, [WEIR_READOUT_FAULT_WRONG_SIZE] = 500},
		.missing = 500,
		.wrong_size = 500},
	/* The key is there, and no other field. */
	{.fault = {.fault = WEIR_READOUT_EMULATE_TRUNCATE, .amount = 8, .first = 3, .period = 10},
		.done = 500,
		.faults = {[WEIR_READOUT_FAULT_GAP] = 500, [WEIR_READOUT_FAULT_WRONG_SIZE] = 500},
		.missing = 500,
		.wrong_size = 500},
	{.fault = {.fault = WEIR_READOUT_EMULATE_TRUNCATE, .amount = 7, .first = 3, .period = 10},
		.done = 500,
		.faults = {[WEIR_READOUT_FAULT_GAP] = 500},
		.missing = 500,
		.truncated = 500},
	{.fault = {.fault = WEIR_READOUT_EMULATE_TRUNCATE, .amount = 0, .first = 3},
		.done = 1,
		.faults = {[WEIR_READOUT_FAULT_GAP] = 1},
		.missing = 1,
		.truncated = 1})

/* Nothing is lost, and all of it comes late. */
FAULT_TEST(stalls,
	{.fault = {.fault = WEIR_READOUT_EMULATE_STALL,
		 .amount = 500,
		 .first = 1000,
		 .period = 1000},
		.done = 4,
		.faults = {[WEIR_READOUT_FAULT_STALL] = 4}},
	/* Short enough. */
	{.fault = {.fault = WEIR_READOUT_EMULATE_STALL, .amount = 2, .first = 1000, .period = 1000},
		.done = 4})

FAULT_TEST(jumps,
	{.fault = {.fault = WEIR_READOUT_EMULATE_JUMP,
		 .amount = INT64_MAX / 2,
		 .first = 1000,
		 .period = 1000},
		.done = 4,
		.faults = {[WEIR_READOUT_FAULT_TIMESTAMP_JUMP] = 4}},
	{.fault = {.fault = WEIR_READOUT_EMULATE_JUMP, .amount = INT64_MIN / 2, .first = 1000},
		.done = 1,
		.faults = {[WEIR_READOUT_FAULT_TIMESTAMP_JUMP] = 1}},
	{.fault = {.fault = WEIR_READOUT_EMULATE_JUMP, .amount = -5, .first = 1000},
		.done = 1,
		.faults = {[WEIR_READOUT_FAULT_LATE] = 1}})

FAULT_TEST(none, {.fault = {.fault = WEIR_READOUT_EMULATE_DROP, .first = NB_FRAMES}})

/* Two faults may drop the same frame: it is counted once, and so are frames that two of them send twice. */
static void
same_fault_twice(void **state)
{
	const struct weir_readout_emulator_fault_config faults[] = {
		{.fault = WEIR_READOUT_EMULATE_DROP, .first = 3, .period = 10},
		{.fault = WEIR_READOUT_EMULATE_DROP, .first = 3, .period = 20},
		{.fault = WEIR_READOUT_EMULATE_DUPLICATE, .first = 5, .period = 10},
		{.fault = WEIR_READOUT_EMULATE_DUPLICATE, .first = 5, .period = 20},
	};
	struct weir_readout_emulator_stream stream = wibeth(KEY);

	stream.faults = faults;
	stream.nb_faults = 4;
	chain_make();
	chain_add((struct weir_readout_link_config){.format = stream.format, .key = KEY});
	run(&stream, 1, 0);
	assert_int_equal(sent.faults[WEIR_READOUT_EMULATE_DROP], NB_FRAMES / 10);
	assert_int_equal(sent.faults[WEIR_READOUT_EMULATE_DUPLICATE], NB_FRAMES / 10);
	assert_int_equal(chain_link(0).missing, NB_FRAMES / 10);
	chain_free();
}

/* By chance, but always the same. */
static void
random_drops(void **state)
{
	const struct weir_readout_emulator_fault_config fault = {
		.fault = WEIR_READOUT_EMULATE_DROP, .first = 1, .random_ppm = 100000};
	struct weir_readout_emulator_stream stream = wibeth(KEY);
	uint64_t missing[3];

	stream.faults = &fault;
	stream.nb_faults = 1;
	for (unsigned int i = 0; i < 3; i++) {
		chain_make();
		chain_add((struct weir_readout_link_config){.format = stream.format, .key = KEY});
		run(&stream, 1, i / 2);
		missing[i] = sent.faults[WEIR_READOUT_EMULATE_DROP];
		assert_in_range(missing[i], NB_FRAMES / 10 - 150, NB_FRAMES / 10 + 150);
		/* What is missing at the end nobody knows. */
		assert_in_range(missing[i] - chain_link(0).missing, 0, 5);
		chain_free();
	}
	assert_int_equal(missing[0], missing[1]);
	assert_int_not_equal(missing[0], missing[2]);
}

/* Exactly: in each second as many as the clock has, whatever the time; a year is no further off than a second. */
static void
rate(void **state)
{
	struct weir_readout_emulator_stream streams[] = {wibeth(KEY), wibeth(KEY + 1)};
	const struct weir_readout_emulator_config config = {
		.streams = streams, .nb_streams = 2, .pool = NULL};
	struct weir_readout_emulator_config with_pool = config;
	const uint64_t year = UINT64_C(365) * 24 * 3600;

	assert_null(weir_readout_emulator_create(&config));
	/* 7 frames in 3 seconds: no whole number of ns apart. */
	streams[1].rate_frames = 7;
	streams[1].rate_seconds = 3;
	chain_make();
	with_pool.pool = chain.pool;
	emulator = weir_readout_emulator_create(&with_pool);
	assert_int_equal(weir_readout_emulator_due_ns(emulator, 0, 1), 32768);
	assert_int_equal(weir_readout_emulator_due_ns(emulator, 0, 1953125), UINT64_C(64000000000));
	assert_int_equal(weir_readout_emulator_due_ns(emulator, 0, year * 1953125),
		year * UINT64_C(64000000000));
	assert_int_equal(weir_readout_emulator_due_ns(emulator, 1, 1), 428571428);
	assert_int_equal(
		weir_readout_emulator_due_ns(emulator, 1, year * 7), year * UINT64_C(3000000000));
	weir_readout_emulator_free(emulator);
	chain_free();
}

/* What is due and no more; what finds no mbuf is lost, and those after it are in time. */
static void
open_loop(void **state)
{
	struct weir_readout_emulator_stream stream = wibeth(KEY);
	struct rte_mbuf *mbufs[CHAIN_MBUFS + 10], *others[CHAIN_MBUFS];
	struct weir_readout_emulator_stats stats;
	uint32_t nb;

	chain_make();
	chain_add((struct weir_readout_link_config){.format = stream.format, .key = KEY});
	emulator = weir_readout_emulator_create(&(struct weir_readout_emulator_config){
		.streams = &stream, .nb_streams = 1, .pool = chain.pool});
	assert_int_equal(weir_readout_emulator_poll(emulator, 32767, mbufs, 2), 0); /* no room */
	assert_int_equal(weir_readout_emulator_poll(emulator, 32767, mbufs, 10), 1);
	weir_readout_dispatch_receive(chain.dispatch, 0, mbufs, 1, 0);
	assert_int_equal(weir_readout_emulator_poll(emulator, 32767, mbufs, 10), 0);
	assert_int_equal(weir_readout_emulator_poll(emulator, 3 * 32768 - 1, mbufs, 10), 2);
	weir_readout_dispatch_receive(chain.dispatch, 0, mbufs, 2, 0);
	assert_int_equal(rte_pktmbuf_alloc_bulk(chain.pool, others, CHAIN_MBUFS - 2), 0);
	nb = weir_readout_emulator_poll(emulator, 10 * 32768, mbufs, 16); /* 3 up to 10 */
	assert_int_equal(nb, 2);
	weir_readout_dispatch_receive(chain.dispatch, 0, mbufs, nb, 0);
	rte_pktmbuf_free_bulk(others, CHAIN_MBUFS - 2);
	nb = weir_readout_emulator_poll(emulator, 11 * 32768, mbufs, 16);
	assert_int_equal(nb, 1);
	weir_readout_dispatch_receive(chain.dispatch, 0, mbufs, nb, 0);
	weir_readout_emulator_stats(emulator, 0, &stats);
	assert_int_equal(stats.made, 12);
	assert_int_equal(stats.late_ns, 7 * 32768); /* frame 3, at the time of frame 10 */
	assert_int_equal(stats.no_mbuf, 6);
	assert_int_equal(stats.sent, 6);
	assert_int_equal(chain_link(0).faults[WEIR_READOUT_FAULT_GAP].count, 1);
	assert_int_equal(chain_link(0).missing, 6);
	weir_readout_emulator_free(emulator);
	chain_free();
}

/* Of many that are behind none waits for the others to have caught up. */
static void
turns(void **state)
{
	struct weir_readout_emulator_stream streams[5];
	struct weir_readout_emulator_stats stats;
	struct rte_mbuf *mbufs[5];
	uint64_t nb_made = 0;

	chain_make();
	for (uint32_t i = 0; i < RTE_DIM(streams); i++)
		streams[i] = wibeth(i);
	emulator = weir_readout_emulator_create(&(struct weir_readout_emulator_config){
		.streams = streams, .nb_streams = RTE_DIM(streams), .pool = chain.pool});
	for (uint32_t poll = 0; poll < 100; poll++) {
		uint32_t nb = weir_readout_emulator_poll(
			emulator, UINT64_C(1000000000), mbufs, RTE_DIM(mbufs));

		assert_int_equal(nb,
			3); /* for one more frame there would have to be room for three packets */
		rte_pktmbuf_free_bulk(mbufs, nb);
		nb_made += nb;
		for (uint32_t i = 0; i < RTE_DIM(streams); i++) {
			weir_readout_emulator_stats(emulator, i, &stats);
			assert_in_range(stats.made, nb_made / RTE_DIM(streams),
				nb_made / RTE_DIM(streams) + 1);
		}
	}
	weir_readout_emulator_free(emulator);
	chain_free();
}

/* All that one poller has to make: 3 packets at once, its own streams in turns. */
static void
poll_share(uint32_t poller)
{
	struct rte_mbuf *mbufs[3];
	uint32_t nb;

	while ((nb = weir_readout_emulator_poll_share(
			emulator, poller, UINT64_C(1000000000), mbufs, RTE_DIM(mbufs))) > 0)
		rte_pktmbuf_free_bulk(mbufs, nb);
}

/* Each poller makes the frames of its streams, and of no other's. */
static void
shares(void **state)
{
	struct weir_readout_emulator_stream streams[5];
	struct weir_readout_emulator_config config = {
		.streams = streams, .nb_streams = RTE_DIM(streams), .nb_pollers = 2};

	chain_make();
	config.pool = chain.pool;
	for (uint32_t i = 0; i < RTE_DIM(streams); i++) {
		streams[i] = wibeth(i);
		streams[i].nb_frames = 100;
	}
	emulator = weir_readout_emulator_create(&config);
	assert_non_null(emulator);
	for (uint32_t poller = 2; poller-- > 0;) {
		poll_share(poller);
		for (uint32_t i = 0; i < RTE_DIM(streams); i++) {
			struct weir_readout_emulator_stats stats;

			weir_readout_emulator_stats(emulator, i, &stats);
			assert_int_equal(stats.sent, i % 2 >= poller ? 100 : 0);
		}
		assert_int_equal(weir_readout_emulator_ended(emulator), poller == 0);
	}
	weir_readout_emulator_free(emulator);
	config.nb_pollers = RTE_DIM(streams) + 1;
	assert_null(weir_readout_emulator_create(&config));
	chain_free();
}

/* A format whose order of bytes is not the machine's, and without a step; whole Ethernet frames. */
static void
formats(void **state)
{
	struct weir_readout_emulator_stream stream = {
		.format = weir_readout_format_builtin("srs-vmm3a"),
		.key = 9,
		.rate_frames = 4444,
		.size_bytes = 100,
		.first_sequence = UINT32_MAX - 5,
		.nb_frames = NB_FRAMES,
	};

	chain_make();
	chain_add((struct weir_readout_link_config){.format = stream.format, .key = 9});
	run(&stream, 1, 0);
	expect_faultless(0);
	chain_free();
	stream.format = weir_readout_format_builtin("ethernet");
	stream.key = 0;
	chain_make();
	chain_add((struct weir_readout_link_config){.format = stream.format});
	run(&stream, 1, 0);
	expect_faultless(0);
	assert_int_equal(chain_link(0).received_bytes, 100 * NB_FRAMES);
	chain_free();
}

static void
expect_refused(struct weir_readout_emulator_stream stream, const char *why)
{
	const struct weir_readout_emulator_config config = {
		.streams = &stream, .nb_streams = 1, .pool = chain.pool};

	assert_null(weir_readout_emulator_create(&config));
	assert_int_equal(rte_errno, EINVAL);
	assert_string_equal(log_message, why);
}

static void
refused(void **state)
{
	struct weir_readout_emulator_stream stream = wibeth(KEY);
	struct weir_readout_emulator_fault_config fault = {
		.fault = WEIR_READOUT_EMULATE_TRUNCATE, .amount = 7201};

	chain_make();
	stream.faults = &fault;
	stream.nb_faults = 1;
	expect_refused(stream, "emulated stream 0: truncate by 7201 is out of range");
	fault = (struct weir_readout_emulator_fault_config){
		.fault = WEIR_READOUT_EMULATE_REORDER, .amount = 0};
	expect_refused(stream, "emulated stream 0: reorder by 0 is out of range");
	fault = (struct weir_readout_emulator_fault_config){
		.fault = WEIR_READOUT_EMULATE_STALL, .amount = 0};
	expect_refused(stream, "emulated stream 0: stall by 0 is out of range");
	fault = (struct weir_readout_emulator_fault_config){.fault = WEIR_READOUT_NB_EMULATED};
	expect_refused(stream, "emulated stream 0: fault 9 is not known");
	fault = (struct weir_readout_emulator_fault_config){
		.fault = WEIR_READOUT_EMULATE_DROP, .random_ppm = 1000001};
	expect_refused(stream, "emulated stream 0: drop with 1000001 chances in a million, "
			       "expected up to a million");
	stream.nb_faults = 0;
	stream.size_bytes = 7201;
	expect_refused(stream, "emulated stream 0: frames of 7201 bytes, expected 7200 or more, "
			       "and 42 for headers; mbufs have room for 7242");
	stream.size_bytes = 7199;
	expect_refused(stream, "emulated stream 0: frames of 7199 bytes, expected 7200 or more, "
			       "and 42 for headers; mbufs have room for 7242");
	stream.size_bytes = 100;
	stream.format = weir_readout_format_builtin("udp");
	expect_refused(stream, "emulated stream 0 needs a rate: format 'udp' does not say it");
	stream.format = NULL;
	expect_refused(stream, "emulated stream 0 needs a format");
	chain_free();
}

/* One by which packets come at once, and by a port. */
#define FAULT(name)                                                                                \
	cmocka_unit_test(name),                                                                    \
	{                                                                                          \
#name "_by_port", name, use_port, use_no_port, NULL                                \
	}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		FAULT(none),
		FAULT(drops),
		FAULT(duplicates),
		FAULT(reorders),
		FAULT(streams),
		FAULT(sequences),
		FAULT(timestamps),
		FAULT(truncates),
		FAULT(stalls),
		FAULT(jumps),
		cmocka_unit_test(same_fault_twice),
		cmocka_unit_test(random_drops),
		cmocka_unit_test(rate),
		cmocka_unit_test(open_loop),
		cmocka_unit_test(turns),
		cmocka_unit_test(shares),
		cmocka_unit_test(formats),
		cmocka_unit_test(refused),
	};

	log_listen();
	return run_on_eal(1, tests);
}
