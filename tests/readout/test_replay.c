/* SPDX-License-Identifier: BSD-3-Clause */

/* Captures of real detectors and a lidar through links, at their own and another rate; the folder of captures is the argument. */

#include "chain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_mbuf.h>

#include "weir_readout_replay.h"

#include "../base/log_last.h"

#define BURST 8

static const char *folder;
static struct weir_readout_replay *replay;

static int
open_capture(const char *name, uint64_t rate_packets)
{
	struct weir_readout_replay_config config = {
		.pool = chain.pool, .rate_packets = rate_packets};
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	config.path = path;
	replay = weir_readout_replay_create(&config);
	return replay == NULL ? -rte_errno : 0;
}

/* All of it, each packet when it is due. @return when the last one was */
static uint64_t
play(void)
{
	struct rte_mbuf *mbufs[BURST];
	uint64_t now_ns = 0, due_ns;

	for (; (due_ns = weir_readout_replay_due_ns(replay)) != UINT64_MAX;) {
		uint32_t nb;

		assert_true(due_ns >= now_ns);
		if (due_ns > now_ns)
			assert_int_equal(
				weir_readout_replay_poll(replay, due_ns - 1, mbufs, BURST), 0);
		now_ns = due_ns;
		nb = weir_readout_replay_poll(replay, now_ns, mbufs, BURST);
		assert_true(nb > 0);
		weir_readout_dispatch_receive(chain.dispatch, 0, mbufs, nb, now_ns);
	}
	return now_ns;
}

static void
add_cards(void)
{
	chain_make();
	for (unsigned int card = 1; card <= 2; card++)
		chain_add((struct weir_readout_link_config){
			.format = weir_readout_format_builtin("srs-vmm3a"), .key = card});
}

/* Two cards, of each of which a frame is missing. */
static void
gem(void **state)
{
	add_cards();
	assert_int_equal(open_capture("srs-vmm3a-gem.pcap", 0), 0);
	play();
	assert_int_equal(weir_readout_replay_ended(replay), 1);
	assert_int_equal(chain_queue().received, 100);
	assert_int_equal(chain_queue().links, 100);
	for (uint32_t i = 0; i < 2; i++) {
		struct weir_readout_link_stats stats = chain_link(i);

		assert_int_equal(stats.received, 50);
		assert_int_equal(stats.delivered, 50);
		assert_int_equal(stats.missing, 1);
		assert_int_equal(stats.faults[WEIR_READOUT_FAULT_GAP].count, 1);
		assert_int_equal(stats.faults[WEIR_READOUT_FAULT_GAP].first.sequence,
			i == 0 ? 11888192 : 11867959);
		stats.faults[WEIR_READOUT_FAULT_GAP].count = 0;
		for (unsigned int f = 0; f < WEIR_READOUT_NB_FAULTS; f++)
			assert_int_equal(stats.faults[f].count, 0);
	}
	weir_readout_replay_free(replay);
	chain_free();
}

/* One card among other packets, over more than two minutes: no fault. */
static void
triggered(void **state)
{
	struct weir_readout_link_stats stats;
	struct weir_readout_replay_stats replayed;
	uint64_t last_ns;

	add_cards();
	assert_int_equal(open_capture("srs-vmm3a-triggered.pcap", 0), 0);
	last_ns = play();
	assert_in_range(last_ns, UINT64_C(100000000000), UINT64_C(200000000000));
	weir_readout_replay_stats(replay, &replayed);
	assert_int_equal(replayed.packets, 82);
	assert_int_equal(replayed.cut, 0);
	assert_int_equal(chain_queue().received, 82);
	assert_int_equal(chain_queue().links, 35);
	stats = chain_link(1);
	assert_int_equal(stats.received, 35);
	assert_int_equal(stats.missing, 0);
	for (unsigned int f = 0; f < WEIR_READOUT_NB_FAULTS; f++)
		assert_int_equal(stats.faults[f].count, 0);
	weir_readout_replay_free(replay);
	chain_free();
}

static const struct weir_base_doc_key formats_keys[] = {
	{.name = "formats",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &weir_readout_format_section,
		.help = "Formats."},
	{.name = NULL},
};

static const struct weir_base_doc_section formats_root = {"file", "A file.", formats_keys};

/* The one format of a file in the folder of captures. */
static struct weir_readout_format
load_format(const char *name)
{
	const struct weir_base_doc_value *formats;
	struct weir_readout_format format;
	struct weir_base_doc *doc;
	char path[512];
	unsigned int nb;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	doc = weir_base_doc_load(path, &formats_root);
	assert_non_null(doc);
	weir_base_doc_errors(doc, &nb);
	assert_int_equal(nb, 0);
	formats = weir_base_doc_get(weir_base_doc_root(doc), "formats");
	assert_int_equal(weir_readout_format_read(doc, weir_base_doc_at(formats, 0), &format), 0);
	weir_base_doc_free(doc);
	return format;
}

/* A turn of a lidar, whose format is in a file: no fault. Its accelerometer's packets are of no link. */
static void
lidar(void **state)
{
	struct weir_readout_format format = load_format("lidar-os0-128.yaml");
	struct weir_readout_link_stats stats;

	chain_make();
	chain_add((struct weir_readout_link_config){.format = &format, .key = 1});
	assert_int_equal(open_capture("lidar-os0-128.pcap", 0), 0);
	assert_int_equal(play(), 98156000); /* the last one */
	assert_int_equal(weir_readout_replay_ended(replay), 1);
	assert_int_equal(chain_queue().received, 74);
	assert_int_equal(chain_queue().unknown_stream, 10);
	stats = chain_link(0);
	assert_int_equal(stats.delivered, 64);
	assert_int_equal(stats.missing, 0);
	for (unsigned int f = 0; f < WEIR_READOUT_NB_FAULTS; f++)
		assert_int_equal(stats.faults[f].count, 0);
	weir_readout_replay_free(replay);
	chain_free();
}

/* Whatever the times in the file. */
static void
rate(void **state)
{
	add_cards();
	assert_int_equal(open_capture("srs-vmm3a-triggered.pcap", 3), 0);
	assert_int_equal(play(), UINT64_C(27000000000)); /* the 82nd */
	weir_readout_replay_free(replay);
	chain_free();
}

/* Without mbufs it waits, and loses nothing. */
static void
waits(void **state)
{
	struct rte_mbuf *others[CHAIN_MBUFS], *mbufs[BURST];
	struct weir_readout_replay_stats stats;

	add_cards();
	assert_int_equal(open_capture("srs-vmm3a-gem.pcap", 1), 0);
	assert_int_equal(rte_pktmbuf_alloc_bulk(chain.pool, others, CHAIN_MBUFS - 3), 0);
	/* A frame takes two. */
	assert_int_equal(weir_readout_replay_poll(replay, UINT64_MAX - 1, mbufs, BURST), 1);
	assert_int_equal(mbufs[0]->nb_segs, 2);
	rte_pktmbuf_free_bulk(others, CHAIN_MBUFS - 3);
	weir_readout_dispatch_receive(chain.dispatch, 0, mbufs, 1, 0);
	weir_readout_replay_stats(replay, &stats);
	assert_int_equal(stats.waits, 1);
	play();
	weir_readout_replay_stats(replay, &stats);
	assert_int_equal(stats.packets, 100);
	assert_int_equal(chain_link(0).missing, 1);
	weir_readout_replay_free(replay);
	chain_free();
}

static void
refused(void **state)
{
	const struct weir_readout_replay_config config = {0};

	add_cards();
	assert_null(weir_readout_replay_create(&config));
	assert_int_equal(rte_errno, EINVAL);
	assert_int_equal(open_capture("nothing.pcap", 0), -ENOENT);
	assert_non_null(strstr(log_message, "nothing.pcap': No such file"));
	assert_int_equal(open_capture(".", 0), -EISDIR);
	assert_int_equal(open_capture("README.md", 0), -EBADMSG);
	chain_free();
}

/* Cut in the middle of a record: what is before it comes, and then it is said. */
static void
damaged(void **state)
{
	char path[512], bytes[20000], to[] = "/tmp/weir-replay-XXXXXX";
	struct weir_readout_replay_config config = {.path = to};
	FILE *file;
	int fd = mkstemp(to);

	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "%s/srs-vmm3a-gem.pcap", folder);
	file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fread(bytes, 1, sizeof(bytes), file), sizeof(bytes));
	fclose(file);
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	close(fd);
	add_cards();
	config.pool = chain.pool;
	replay = weir_readout_replay_create(&config);
	assert_non_null(replay);
	play();
	assert_int_equal(weir_readout_replay_ended(replay), -EBADMSG);
	assert_non_null(strstr(log_message, "is damaged after packet 2"));
	assert_int_equal(chain_queue().links, 2);
	weir_readout_replay_free(replay);
	unlink(to);
	chain_free();
}

/* Frames without a byte at 1, 3, 2 and 4 s: one that was captured before the one before it is due with that. */
static void
back_in_time(void **state)
{
	static const uint32_t header[] = {0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1};
	static const uint32_t seconds[] = {1, 3, 2, 4};
	static const uint64_t due[] = {0, 2000000000, 2000000000, 3000000000};
	char to[] = "/tmp/weir-replay-XXXXXX";
	struct weir_readout_replay_config config = {.path = to};
	struct rte_mbuf *m;
	int fd = mkstemp(to);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, header, sizeof(header)), sizeof(header));
	for (unsigned int i = 0; i < 4; i++) {
		const uint32_t record[] = {seconds[i], 0, 0, 0};

		assert_int_equal(write(fd, record, sizeof(record)), sizeof(record));
	}
	close(fd);
	add_cards();
	config.pool = chain.pool;
	replay = weir_readout_replay_create(&config);
	assert_non_null(replay);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(weir_readout_replay_due_ns(replay), due[i]);
		assert_int_equal(weir_readout_replay_poll(replay, due[i], &m, 1), 1);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(weir_readout_replay_ended(replay), 1);
	weir_readout_replay_free(replay);
	unlink(to);
	chain_free();
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gem),
		cmocka_unit_test(triggered),
		cmocka_unit_test(lidar),
		cmocka_unit_test(rate),
		cmocka_unit_test(waits),
		cmocka_unit_test(refused),
		cmocka_unit_test(damaged),
		cmocka_unit_test(back_in_time),
	};

	assert_int_equal(argc, 2);
	folder = argv[1];
	log_listen();
	return run_on_eal(1, tests);
}
