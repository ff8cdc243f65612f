/* SPDX-License-Identifier: BSD-3-Clause */

/* Emulated and replayed packets out by a port: addresses, checksums, what a device has no room for, and what is refused. */

#include "chain.h"
#include "ring_port.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "weir_readout_udp.h"

#include "../base/log_last.h"

#define RING_SIZE 64u
#define BURST     16u
/* Of a burst: there is room for what a fault may add to the last one. */
#define FRAMES   (BURST - 2)
#define FRAME_NS 32768u

static const char *folder;
static struct weir_readout_emulator *emulator;
static struct ring_port port;
static struct weir_readout_udp *sender;

static const struct weir_readout_emulator_fault_config shorter = {
	.fault = WEIR_READOUT_EMULATE_TRUNCATE, .amount = 33, .first = 1, .period = 2};

static const uint8_t macs[] = {2, 0, 0, 0, 0, 0xdd, 2, 0, 0, 0, 0, 0x55, 8, 0};

static struct weir_readout_emulator_stream
wibeth(void)
{
	struct weir_readout_emulator_stream stream = {
		.format = weir_readout_format_builtin("wibeth"),
		.source_ip = 0x0a000001,
		.destination_ip = 0x0a000002,
		.source_port = 4000,
		.destination_port = 17476,
		.udp_checksum = true,
		.faults = &shorter,
		.nb_faults = 1,
	};

	memcpy(stream.destination_mac, macs, 6);
	memcpy(stream.source_mac, &macs[6], 6);
	return stream;
}

static void
make(struct weir_readout_emulator_stream stream)
{
	chain_make();
	chain_add((struct weir_readout_link_config){.format = stream.format});
	emulator = weir_readout_emulator_create(&(struct weir_readout_emulator_config){
		.streams = &stream, .nb_streams = 1, .pool = chain.pool});
	assert_non_null(emulator);
	port = ring_port_make(RING_SIZE, 9000, chain.pool);
}

static void
open_sender(enum weir_readout_udp_refused refused)
{
	sender = weir_readout_udp_create(&(struct weir_readout_udp_config){
		.emulator = emulator, .port_id = port.id, .burst = BURST, .refused = refused});
	assert_non_null(sender);
}

static struct weir_readout_udp_stats
count(void)
{
	struct weir_readout_udp_stats stats;

	weir_readout_udp_stats(sender, &stats);
	assert_int_equal(stats.taken, stats.sent + stats.dropped + stats.held);
	return stats;
}

/* Send all that is due. */
static void
send_until(uint64_t now_ns)
{
	while (weir_readout_udp_poll(sender, now_ns) > 0)
		;
}

/* What is on the wire goes to the link. @return packets */
static uint32_t
receive_all(void)
{
	struct rte_mbuf *mbufs[BURST];
	uint32_t nb, all = 0;

	while ((nb = rte_eth_rx_burst(port.id, 0, mbufs, BURST)) > 0) {
		weir_readout_dispatch_receive(chain.dispatch, 0, mbufs, nb, 0);
		all += nb;
	}
	return all;
}

static void
free_all(void)
{
	weir_readout_udp_free(sender);
	receive_all();
	ring_port_free(&port);
	weir_readout_emulator_free(emulator);
	chain_free();
}

/* Of 16-bit words of the network's order; an odd byte is the upper one of the last. */
static uint32_t
sum_words(const uint8_t *bytes, uint32_t nb)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < nb; i++)
		sum += (uint32_t)bytes[i] << (i % 2 == 0 ? 8 : 0);
	return sum;
}

/* As the standards say: what is sent sums up to all ones, with addresses, protocol and length once more for UDP. */
static void
expect_checksums(const struct rte_ipv4_hdr *ip, const struct rte_udp_hdr *udp)
{
	const uint16_t length = ntohs(udp->dgram_len);
	uint32_t sum = sum_words((const uint8_t *)ip, sizeof(*ip));

	assert_int_equal((sum & 0xffff) + (sum >> 16), 0xffff);
	if (udp->dgram_cksum == 0)
		return;
	sum = sum_words((const uint8_t *)udp, length) +
	      sum_words((const uint8_t *)&ip->src_addr, 8) + IPPROTO_UDP + length;
	sum = (sum & 0xffff) + (sum >> 16);
	assert_int_equal((sum & 0xffff) + (sum >> 16), 0xffff);
}

static void
expect_packet(struct rte_mbuf *m, uint32_t frame_bytes, bool udp_checksum)
{
	const struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(m, void *, sizeof(macs));
	const struct rte_udp_hdr *udp = (const struct rte_udp_hdr *)(ip + 1);
	uint16_t both = (uint16_t)(frame_bytes + sizeof(*ip) + sizeof(*udp));

	assert_int_equal(m->pkt_len, sizeof(macs) + both);
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), macs, sizeof(macs));
	assert_int_equal(ip->version_ihl, 0x45);
	assert_int_equal(ip->next_proto_id, IPPROTO_UDP);
	assert_int_equal(ntohs(ip->total_length), both);
	assert_int_equal(ntohl(ip->src_addr), 0x0a000001);
	assert_int_equal(ntohl(ip->dst_addr), 0x0a000002);
	assert_int_equal(ntohs(udp->src_port), 4000);
	assert_int_equal(ntohs(udp->dst_port), 17476);
	assert_int_equal(ntohs(udp->dgram_len), frame_bytes + sizeof(*udp));
	expect_checksums(ip, udp);
	assert_int_equal(udp->dgram_cksum != 0, udp_checksum);
}

/* Each packet says whose it is, and its checksums are those of what it holds, of an odd number of bytes, too. */
static void
packets(void **state)
{
	struct weir_readout_emulator_stream stream = wibeth();
	struct rte_mbuf *mbufs[BURST];

	for (unsigned int checksum = 0; checksum < 2; checksum++) {
		stream.udp_checksum = checksum == 1;
		make(stream);
		open_sender(WEIR_READOUT_UDP_DROP);
		assert_int_equal(weir_readout_udp_poll(sender, 9 * FRAME_NS), 10);
		assert_int_equal(rte_eth_rx_burst(port.id, 0, mbufs, BURST), 10);
		for (unsigned int i = 0; i < 10; i++)
			expect_packet(mbufs[i], i % 2 == 0 ? 7200 : 33, checksum == 1);
		rte_pktmbuf_free_bulk(mbufs, 10);
		assert_int_equal(count().sent, 10);
		assert_int_equal(count().sent_bytes, 5 * (7242 + 75));
		free_all();
	}
}

/* 63 have room. The device takes what it can of the burst; the rest is lost, what is due later is not. */
static void
drops(void **state)
{
	struct weir_readout_emulator_stream stream = wibeth();

	stream.nb_faults = 0;
	make(stream);
	open_sender(WEIR_READOUT_UDP_DROP);
	send_until(79 * FRAME_NS);
	assert_int_equal(count().taken, 80);
	assert_int_equal(count().sent, RING_SIZE - 1);
	assert_int_equal(count().dropped, 80 - (RING_SIZE - 1));
	assert_int_equal(count().refusals, 2);
	assert_int_equal(receive_all(), RING_SIZE - 1);
	send_until(89 * FRAME_NS);
	assert_int_equal(receive_all(), 10);
	assert_int_equal(count().taken, 90);
	assert_int_equal(count().sent, RING_SIZE - 1 + 10);
	assert_int_equal(count().sent_bytes, (RING_SIZE - 1 + 10) * 7242);
	assert_int_equal(chain_link(0).received, RING_SIZE - 1 + 10);
	assert_int_equal(chain_link(0).missing, 80 - (RING_SIZE - 1));
	assert_int_equal(chain_link(0).faults[WEIR_READOUT_FAULT_GAP].count, 1);
	free_all();
}

/* Nothing is lost: it waits, and all of it comes in order. */
static void
retries(void **state)
{
	struct weir_readout_emulator_stream stream = wibeth();

	stream.nb_faults = 0;
	make(stream);
	open_sender(WEIR_READOUT_UDP_RETRY);
	send_until(99 * FRAME_NS);
	assert_int_equal(count().taken, 5 * FRAMES);
	assert_int_equal(count().sent, RING_SIZE - 1);
	assert_int_equal(count().held, 5 * FRAMES - (RING_SIZE - 1));
	assert_int_equal(count().refusals, 2); /* and of what was offered again all was refused */
	assert_int_equal(receive_all(), RING_SIZE - 1);
	send_until(99 * FRAME_NS);
	assert_int_equal(count().taken, 100);
	assert_int_equal(count().sent, 100);
	assert_int_equal(receive_all(), 100 - (RING_SIZE - 1));
	assert_int_equal(count().dropped, 0);
	assert_int_equal(chain_link(0).received, 100);
	assert_int_equal(chain_link(0).missing, 0);
	/* What is held when it ends is freed: chain_free() counts. */
	send_until(199 * FRAME_NS);
	assert_int_equal(count().held, 5 * FRAMES - (RING_SIZE - 1));
	free_all();
}

/* Captured packets go out as they are. */
static void
replays(void **state)
{
	struct weir_readout_replay_config config = {.rate_packets = 1000};
	struct weir_readout_replay *replay;
	char path[512];

	make(wibeth());
	chain_add((struct weir_readout_link_config){
		.format = weir_readout_format_builtin("wibeth"), .key = 1});
	snprintf(path, sizeof(path), "%s/srs-vmm3a-gem.pcap", folder);
	config.path = path;
	config.pool = chain.pool;
	replay = weir_readout_replay_create(&config);
	assert_non_null(replay);
	sender = weir_readout_udp_create(&(struct weir_readout_udp_config){
		.replay = replay, .port_id = port.id, .burst = 1 + BURST});
	assert_non_null(sender);
	send_until(49000000);
	assert_int_equal(receive_all(), 50);
	send_until(UINT64_MAX - 1);
	assert_int_equal(receive_all(), 50);
	assert_int_equal(count().sent, 100);
	assert_int_equal(weir_readout_replay_ended(replay), 1);
	weir_readout_replay_free(replay);
	free_all();
}

static void
expect_refused(const struct weir_readout_udp_config *config, int error, const char *why)
{
	assert_null(weir_readout_udp_create(config));
	assert_int_equal(rte_errno, error);
	assert_string_equal(log_message, why);
}

static void
refused(void **state)
{
	struct weir_readout_udp_config config = {0};
	char why[128];

	make(wibeth());
	config.port_id = port.id;
	expect_refused(
		&config, EINVAL, "a sender needs an emulator or a replay, and one of them only");
	config.emulator = emulator;
	config.burst = 2;
	expect_refused(&config, EINVAL, "a sender's bursts of 2 packets, expected 3 up to 2048");
	config.burst = 0;
	config.queue_id = 1;
	snprintf(why, sizeof(why), "a sender's queue 1: port %u has 1 to transmit", port.id);
	expect_refused(&config, EINVAL, why);
	config.queue_id = 0;
	config.port_id = 31;
	expect_refused(&config, ENODEV, "a sender's port 31 is not there");
	ring_port_free(&port);
	port = ring_port_make(RING_SIZE, 7227, chain.pool);
	config.port_id = port.id;
	snprintf(why, sizeof(why),
		"port %u has an MTU of 7227 bytes; emulated packets need one of 7228, without "
		"their Ethernet headers",
		port.id);
	expect_refused(&config, EINVAL, why);
	sender = NULL;
	free_all();
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets),
		cmocka_unit_test(drops),
		cmocka_unit_test(retries),
		cmocka_unit_test(replays),
		cmocka_unit_test(refused),
	};

	assert_int_equal(argc, 2);
	folder = argv[1];
	log_listen();
	return run_on_eal(1, tests);
}
