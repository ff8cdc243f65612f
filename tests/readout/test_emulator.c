/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Emulated links, from packets to counters: each fault ends in exactly the counters it must, those of other links stay; also when
 * packets are sent by one port and received by another.
 */

#include "chain.h"
#include "emulated.h"
#include "ring_port.h"

#include <rte_mbuf.h>

#include "weir_readout_udp.h"

#define BURST 32u

static struct weir_readout_emulator *emulator;
static struct weir_readout_emulator_stats sent;
static bool by_port;
static struct ring_port port;
static struct weir_readout_udp *sender;

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
		cmocka_unit_test(formats),
	};

	return run_on_eal(1, tests);
}
