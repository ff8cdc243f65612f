/* SPDX-License-Identifier: BSD-3-Clause */

/* Emulated links: when frames are made and by which poller, and streams that are refused. */

#include "chain.h"
#include "emulated.h"

#include <errno.h>

#include <rte_mbuf.h>

#include "../base/log_last.h"

static struct weir_readout_emulator *emulator;

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate),
		cmocka_unit_test(open_loop),
		cmocka_unit_test(turns),
		cmocka_unit_test(shares),
		cmocka_unit_test(refused),
	};

	log_listen();
	return run_on_eal(1, tests);
}
