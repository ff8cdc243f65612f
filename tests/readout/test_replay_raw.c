/* SPDX-License-Identifier: BSD-3-Clause */

/* Files of frames alone, through links: at the times that the frames say, or at a rate; damaged ones. The folder of captures is the argument. */

#include "chain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_mbuf.h>

#include "capture.h"
#include "weir_readout_replay.h"

#include "../base/log_last.h"

#define BURST        8
#define WIBETH_BYTES 7200u
#define GEM_BYTES    8968u

static struct weir_readout_replay *replay;
static char path[] = "/tmp/weir-raw-XXXXXX";
static FILE *file;

static void
begin_file(void)
{
	strcpy(path + sizeof(path) - 7, "XXXXXX");
	file = fdopen(mkstemp(path), "wb");
	assert_non_null(file);
}

static void
end_file(void)
{
	assert_int_equal(fclose(file), 0);
}

static int
open_file(const struct weir_readout_emulator_stream *raw, uint64_t rate_packets)
{
	replay = weir_readout_replay_create(&(struct weir_readout_replay_config){
		.path = path, .raw = raw, .pool = chain.pool, .rate_packets = rate_packets});
	return replay == NULL ? -rte_errno : 0;
}

/* Each packet when it is due. @return when the last one was */
static uint64_t
play(void)
{
	struct rte_mbuf *mbufs[BURST];
	uint64_t now_ns = 0, due_ns;

	while ((due_ns = weir_readout_replay_due_ns(replay)) != UINT64_MAX) {
		uint32_t nb;

		assert_true(due_ns >= now_ns);
		now_ns = due_ns;
		nb = weir_readout_replay_poll(replay, now_ns, mbufs, BURST);
		assert_true(nb > 0);
		weir_readout_dispatch_receive(chain.dispatch, 0, mbufs, nb, now_ns);
	}
	return now_ns;
}

static void
close_all(void)
{
	weir_readout_replay_free(replay);
	chain_free();
	assert_int_equal(unlink(path), 0);
}

static void
expect_faultless(uint32_t link, uint64_t received)
{
	struct weir_readout_link_stats stats = chain_link(link);

	assert_int_equal(stats.received, received);
	assert_int_equal(stats.delivered, received);
	for (unsigned int i = 0; i < WEIR_READOUT_NB_FAULTS; i++)
		assert_int_equal(stats.faults[i].count, 0);
}

/* A frame of WIBEth: 12 bits of sequence number, the length, the timestamp. */
static void
write_wibeth(uint64_t number, uint64_t first_timestamp, size_t bytes)
{
	static uint8_t frame[WIBETH_BYTES];
	uint64_t words[2] = {
		UINT64_C(0x382) << 52 | (number & 0xfff) << 40, first_timestamp + 2048 * number};

	for (unsigned int i = 0; i < 16; i++)
		frame[i] = (uint8_t)(words[i / 8] >> 8 * (i % 8));
	assert_int_equal(fwrite(frame, 1, bytes, file), bytes);
}

/* At the rate that timestamps say, whose wrap does not matter, or at another one. */
static void
one_size(void **state)
{
	const struct weir_readout_emulator_stream raw = {
		.format = weir_readout_format_builtin("wibeth")};

	for (unsigned int rate = 0; rate < 2; rate++) {
		chain_make();
		chain_add((struct weir_readout_link_config){.format = raw.format});
		begin_file();
		for (uint64_t n = 0; n < 20; n++)
			write_wibeth(n, UINT64_MAX - 10 * 2048, WIBETH_BYTES);
		end_file();
		assert_int_equal(open_file(&raw, rate == 0 ? 0 : 4), 0);
		assert_int_equal(play(), rate == 0 ? 19 * 32768 : 19 * UINT64_C(250000000));
		assert_int_equal(weir_readout_replay_ended(replay), 1);
		expect_faultless(0, 20);
		close_all();
	}
}

/* The last frame is not all there: those before it come, and then it is said. */
static void
truncated(void **state)
{
	const struct weir_readout_emulator_stream raw = {
		.format = weir_readout_format_builtin("wibeth")};
	static const size_t last[] = {1, 16, WIBETH_BYTES - 1};

	for (unsigned int i = 0; i < 3; i++) {
		chain_make();
		chain_add((struct weir_readout_link_config){.format = raw.format});
		begin_file();
		for (uint64_t n = 0; n < 3; n++)
			write_wibeth(n, 0, n < 2 ? WIBETH_BYTES : last[i]);
		end_file();
		assert_int_equal(open_file(&raw, 0), 0);
		play();
		assert_int_equal(weir_readout_replay_ended(replay), -EBADMSG);
		assert_non_null(strstr(log_message, "' ends within frame 2"));
		expect_faultless(0, 2);
		close_all();
	}
}

/* Length in words of 4 bytes behind the first one, a sequence number, a timestamp of milliseconds; not in the machine's order of bytes. */
static const struct weir_base_format lengths = {
	.name = "lengths",
	.big_endian = true,
	.fields = {[WEIR_BASE_FIELD_LENGTH] = {0, 16},
		[WEIR_BASE_FIELD_SEQUENCE] = {16, 16},
		[WEIR_BASE_FIELD_TIMESTAMP] = {32, 16}},
	.length_unit_bytes = 4,
	.length_plus_bytes = 4,
	.size_max_bytes = 2000,
	.clock_hz = 1000,
};

static void
write_length(uint16_t words, uint16_t number, uint16_t timestamp, uint32_t bytes)
{
	uint8_t frame[2000] = {(uint8_t)(words >> 8), (uint8_t)words, (uint8_t)(number >> 8),
		(uint8_t)number, (uint8_t)(timestamp >> 8), (uint8_t)timestamp};

	assert_int_equal(fwrite(frame, 1, bytes, file), bytes);
}

/* Each says how long it is; one whose time goes back is due with the one before it. */
static void
length_field(void **state)
{
	static const uint16_t timestamps[] = {65000, 65500, 65400, 464};
	static const uint64_t due_ms[] = {0, 500, 500, 1000};
	struct weir_readout_format format;
	const struct weir_readout_emulator_stream raw = {.format = &format};
	struct rte_mbuf *m;

	assert_int_equal(weir_readout_format_compile(&lengths, &format, NULL, NULL, 0), 0);
	chain_make();
	chain_add((struct weir_readout_link_config){.format = &format});
	begin_file();
	for (uint16_t n = 0; n < 4; n++)
		write_length((uint16_t)(1 + 100 * n), n, timestamps[n], 8 + 400 * n);
	end_file();
	assert_int_equal(open_file(&raw, 0), 0);
	for (unsigned int n = 0; n < 4; n++) {
		assert_int_equal(weir_readout_replay_due_ns(replay), due_ms[n] * 1000000);
		assert_int_equal(weir_readout_replay_poll(replay, due_ms[n] * 1000000, &m, 1), 1);
		assert_int_equal(m->pkt_len, 42 + 8 + 400 * n);
		weir_readout_dispatch_receive(chain.dispatch, 0, &m, 1, 0);
	}
	assert_int_equal(weir_readout_replay_ended(replay), 1);
	assert_int_equal(chain_link(0).received, 4);
	assert_int_equal(chain_link(0).faults[WEIR_READOUT_FAULT_WRONG_SIZE].count, 0);
	assert_int_equal(chain_link(0).missing, 0);
	close_all();
}

/* It says less than its fields take, or more than frames have, or than there is. */
static void
wrong_length(void **state)
{
	static const struct {
		uint16_t words;
		const char *why;
	} wrong[] = {{0, "': frame 1 says that it has 4 bytes; expected "},
		{500, "': frame 1 says that it has 2004 bytes"},
		{UINT16_MAX, "': frame 1 says that it has "}, {100, "' ends within frame 1"}};
	struct weir_readout_format format;
	const struct weir_readout_emulator_stream raw = {.format = &format};

	assert_int_equal(weir_readout_format_compile(&lengths, &format, NULL, NULL, 0), 0);
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		chain_make();
		chain_add((struct weir_readout_link_config){.format = &format});
		begin_file();
		write_length(1, 0, 0, 8);
		write_length(wrong[i].words, 1, 0, 8);
		end_file();
		assert_int_equal(open_file(&raw, 0), 0);
		play();
		assert_int_equal(weir_readout_replay_ended(replay), -EBADMSG);
		assert_non_null(strstr(log_message, wrong[i].why));
		assert_int_equal(chain_link(0).received, 1);
		close_all();
	}
}

/* A length of 64 bits whose bytes, modulo 2^64, would be few. */
static void
length_that_wraps(void **state)
{
	static const uint8_t frame[8] = {0x40, 0, 0, 0, 0, 0, 0, 1};
	const struct weir_base_format spec = {.name = "wide",
		.big_endian = true,
		.fields = {[WEIR_BASE_FIELD_LENGTH] = {0, 64}},
		.length_unit_bytes = 4,
		.length_plus_bytes = 4};
	struct weir_readout_format format;
	const struct weir_readout_emulator_stream raw = {.format = &format};

	assert_int_equal(weir_readout_format_compile(&spec, &format, NULL, NULL, 0), 0);
	chain_make();
	begin_file();
	assert_int_equal(fwrite(frame, 1, sizeof(frame), file), sizeof(frame));
	end_file();
	assert_int_equal(open_file(&raw, 1), 0);
	assert_int_equal(weir_readout_replay_ended(replay), -EBADMSG);
	assert_non_null(strstr(log_message, "': frame 0 says that it has "));
	close_all();
}

static uint64_t nb_gem[16]; /* by card */

static void
take_gem(void *arg, const uint8_t *payload, uint32_t bytes, uint64_t time_us)
{
	if (bytes != GEM_BYTES)
		return;
	nb_gem[payload[7] >> 4]++;
	assert_int_equal(fwrite(payload, 1, bytes, file), bytes);
}

/* Full frames of a real detector's two cards, without what was around them: all counters are as in the capture. */
static void
gem(void **state)
{
	struct weir_readout_format format = *weir_readout_format_builtin("srs-vmm3a");
	const struct weir_readout_emulator_stream raw = {.format = &format};

	format.size_min_bytes = GEM_BYTES;
	chain_make();
	for (unsigned int card = 1; card <= 2; card++)
		chain_add((struct weir_readout_link_config){.format = &format, .key = card});
	begin_file();
	capture_payloads("srs-vmm3a-gem.pcap", 6006, take_gem, NULL);
	end_file();
	assert_true(nb_gem[1] + nb_gem[2] > 50);
	assert_int_equal(open_file(&raw, 1000), 0);
	play();
	assert_int_equal(weir_readout_replay_ended(replay), 1);
	for (unsigned int card = 1; card <= 2; card++) {
		assert_int_equal(chain_link(card - 1).received, nb_gem[card]);
		assert_int_equal(chain_link(card - 1).delivered, nb_gem[card]);
		assert_int_equal(chain_link(card - 1).received_bytes, nb_gem[card] * GEM_BYTES);
	}
	close_all();
}

static void
refused(void **state)
{
	struct weir_readout_emulator_stream raw = {0};

	chain_make();
	begin_file();
	end_file();
	assert_int_equal(open_file(&raw, 1), -EINVAL);
	assert_non_null(strstr(log_message, "' need a format"));
	raw.format = weir_readout_format_builtin("udp");
	assert_int_equal(open_file(&raw, 0), -EINVAL);
	assert_non_null(strstr(log_message, "' say no time; a rate is needed"));
	assert_int_equal(open_file(&raw, 1), -EINVAL);
	assert_non_null(strstr(log_message, "format 'udp' does not tell where a frame ends"));
	raw.format = weir_readout_format_builtin("wibeth");
	assert_int_equal(open_file(&raw, 0), 0);
	assert_int_equal(weir_readout_replay_ended(replay), 1); /* it is empty */
	weir_readout_replay_free(replay);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(open_file(&raw, 0), -ENOENT);
	assert_non_null(strstr(log_message, "No such file"));
	chain_free();
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_size),
		cmocka_unit_test(truncated),
		cmocka_unit_test(length_field),
		cmocka_unit_test(wrong_length),
		cmocka_unit_test(length_that_wraps),
		cmocka_unit_test(gem),
		cmocka_unit_test(refused),
	};

	assert_int_equal(argc, 2);
	capture_dir = argv[1];
	log_listen();
	return run_on_eal(1, tests);
}
