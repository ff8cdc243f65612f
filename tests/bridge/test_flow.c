/* SPDX-License-Identifier: BSD-3-Clause */

/* Which packets are of one flow. */

#include <rte_ether.h>
#include <rte_ip.h>

#include "bridge_private.h"
#include "bridge_test.h"

#define ETHERNET "\2\0\0\0\0\1\2\0\0\0\0\2"

static struct rte_mbuf *
packet(const void *bytes, uint16_t length)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(bt_pool);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, length), bytes, length);
	return m;
}

static uint32_t
hash(const void *bytes, uint16_t length, enum weir_bridge_flow flow)
{
	struct rte_mbuf *m = packet(bytes, length);
	uint32_t result = bridge_flow_hash(m, flow);

	rte_pktmbuf_free(m);
	return result;
}

/* A UDP packet; each byte that is given belongs to its flow. */
static void
make_ip4(uint8_t *frame, uint8_t source, uint8_t destination, uint8_t port)
{
	memset(frame, 0, 64);
	memcpy(frame, ETHERNET "\x08\x00\x45", 15);
	frame[23] = 17;
	memcpy(frame + 26, "\xa\0\0\0\xa\1\0\0", 8);
	frame[29] = source;
	frame[33] = destination;
	frame[35] = port;
}

static void
test_ip4(void **state)
{
	uint8_t a[64], b[64];
	const enum weir_bridge_flow five = WEIR_BRIDGE_FLOW_FIVE_TUPLE;

	make_ip4(a, 1, 2, 3);
	make_ip4(b, 1, 2, 3);
	b[50] = 1; /* payload */
	b[22] = 9; /* TTL */
	assert_int_equal(hash(a, 64, five), hash(b, 64, five));
	assert_int_equal(hash(a, 64, five), hash(a, 64, WEIR_BRIDGE_FLOW_RSS));
	make_ip4(b, 2, 2, 3);
	assert_int_not_equal(hash(a, 64, five), hash(b, 64, five));
	assert_int_equal(hash(a, 64, WEIR_BRIDGE_FLOW_DESTINATION),
		hash(b, 64, WEIR_BRIDGE_FLOW_DESTINATION));
	assert_int_not_equal(
		hash(a, 64, WEIR_BRIDGE_FLOW_SOURCE), hash(b, 64, WEIR_BRIDGE_FLOW_SOURCE));
	make_ip4(b, 1, 9, 4);
	assert_int_equal(
		hash(a, 64, WEIR_BRIDGE_FLOW_SOURCE), hash(b, 64, WEIR_BRIDGE_FLOW_SOURCE));
	make_ip4(b, 1, 2, 4);
	assert_int_not_equal(hash(a, 64, five), hash(b, 64, five));
	make_ip4(b, 1, 2, 3);
	b[23] = 6;
	assert_int_not_equal(hash(a, 64, five), hash(b, 64, five));
}

/* All pieces of a packet are of one flow: only the first one has ports. */
static void
test_fragments(void **state)
{
	uint8_t first[64], second[64];

	make_ip4(first, 1, 2, 3);
	make_ip4(second, 1, 2, 99);
	first[20] = 0x20;
	second[21] = 185;
	assert_int_equal(hash(first, 64, WEIR_BRIDGE_FLOW_FIVE_TUPLE),
		hash(second, 64, WEIR_BRIDGE_FLOW_FIVE_TUPLE));
}

/* The same packet with tags is of the same flow. */
static void
test_tags(void **state)
{
	uint8_t plain[64], tagged[72];

	make_ip4(plain, 1, 2, 3);
	memcpy(tagged, plain, 12);
	memcpy(tagged + 12, "\x88\xa8\0\1\x81\0\0\2", 8);
	memcpy(tagged + 20, plain + 12, 52);
	assert_int_equal(hash(plain, 64, WEIR_BRIDGE_FLOW_FIVE_TUPLE),
		hash(tagged, 72, WEIR_BRIDGE_FLOW_FIVE_TUPLE));
}

static void
test_ip6(void **state)
{
	uint8_t a[80] = {0}, b[80];

	memcpy(a, ETHERNET "\x86\xdd\x60", 15);
	a[20] = 6;
	a[37] = 1;
	a[53] = 2;
	a[55] = 3;
	memcpy(b, a, sizeof(b));
	b[70] = 1;
	assert_int_equal(hash(a, 80, WEIR_BRIDGE_FLOW_RSS), hash(b, 80, WEIR_BRIDGE_FLOW_RSS));
	for (unsigned int i = 0; i < 3; i++) {
		const unsigned int places[] = {37, 53, 55};

		memcpy(b, a, sizeof(b));
		b[places[i]] ^= 1;
		assert_int_not_equal(
			hash(a, 80, WEIR_BRIDGE_FLOW_RSS), hash(b, 80, WEIR_BRIDGE_FLOW_RSS));
	}
}

static void
test_others(void **state)
{
	uint8_t a[60] = {0}, b[60];

	memcpy(a, ETHERNET "\x08\x06", 14);
	memcpy(b, a, sizeof(b));
	b[40] = 1;
	assert_int_equal(hash(a, 60, WEIR_BRIDGE_FLOW_RSS), hash(b, 60, WEIR_BRIDGE_FLOW_RSS));
	b[11] ^= 1;
	assert_int_not_equal(hash(a, 60, WEIR_BRIDGE_FLOW_RSS), hash(b, 60, WEIR_BRIDGE_FLOW_RSS));
	assert_int_not_equal(
		hash(a, 60, WEIR_BRIDGE_FLOW_SOURCE), hash(b, 60, WEIR_BRIDGE_FLOW_SOURCE));
}

/* The device knows best; but if it is asked for, it is not asked. */
static void
test_rss(void **state)
{
	uint8_t frame[64];
	struct rte_mbuf *m;

	make_ip4(frame, 1, 2, 3);
	m = packet(frame, 64);
	m->ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
	m->hash.rss = 0xabcdef01;
	assert_int_equal(bridge_flow_hash(m, WEIR_BRIDGE_FLOW_RSS), 0xabcdef01);
	assert_int_equal(bridge_flow_hash(m, WEIR_BRIDGE_FLOW_FIVE_TUPLE),
		hash(frame, 64, WEIR_BRIDGE_FLOW_FIVE_TUPLE));
	rte_pktmbuf_free(m);
}

/* Packets that end anywhere: an address sanitizer sees what is read beyond. Longer ones of a flow agree. */
static void
test_short(void **state)
{
	uint8_t frame[64];
	uint32_t whole;

	make_ip4(frame, 1, 2, 3);
	whole = hash(frame, 64, WEIR_BRIDGE_FLOW_FIVE_TUPLE);
	for (uint16_t length = 0; length <= 64; length++) {
		uint32_t h = hash(frame, length, WEIR_BRIDGE_FLOW_FIVE_TUPLE);

		if (length >= 38)
			assert_int_equal(h, whole);
		else
			assert_int_not_equal(h, whole);
	}
	frame[14] = 0x4f; /* options up to 60 bytes that are not there */
	hash(frame, 64, WEIR_BRIDGE_FLOW_FIVE_TUPLE);
	frame[14] = 0x41;
	hash(frame, 64, WEIR_BRIDGE_FLOW_FIVE_TUPLE);
}

static int
setup(void **state)
{
	bt_make_pool();
	return 0;
}

#define FLOW_TEST(name) cmocka_unit_test_setup_teardown(name, setup, bt_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		FLOW_TEST(test_ip4),
		FLOW_TEST(test_fragments),
		FLOW_TEST(test_tags),
		FLOW_TEST(test_ip6),
		FLOW_TEST(test_others),
		FLOW_TEST(test_rss),
		FLOW_TEST(test_short),
	};

	return ST_RUN("bridge/flow", tests);
}
