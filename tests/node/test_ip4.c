/* SPDX-License-Identifier: BSD-3-Clause */

/* IPv4: each check of doc/forwarding.md, their order, and what leaves. */

#include "node_ip4.h"
#include "node_test_ip.h"

#define FROM "192.0.2.1"

static const struct ip_version ip4 = {
	.number = 4,
	.first_byte = 5, /* words of header */
	.ttl_at = 8,
	.has_checksum = true,
	.make = frame_ip4,
	.from = FROM,
	.right = "10.0.0.1",
	.tagged = "10.1.0.1",
	.own = "10.3.0.1",
	.blackhole = "10.4.0.1",
	.incomplete = "10.5.0.1",
	.unrouted = "11.0.0.1",
	.reason =
		{
			.version = WEIR_NODE_REASON_IP4_VERSION,
			.martian_source = WEIR_NODE_REASON_IP4_MARTIAN_SOURCE,
			.martian_destination = WEIR_NODE_REASON_IP4_MARTIAN_DESTINATION,
			.no_route = WEIR_NODE_REASON_IP4_NO_ROUTE,
			.blackhole = WEIR_NODE_REASON_IP4_BLACKHOLE,
			.own = WEIR_NODE_REASON_IP4_OWN,
			.expired = WEIR_NODE_REASON_IP4_TTL,
			.no_neighbour = WEIR_NODE_REASON_IP4_NO_NEIGHBOUR,
		},
};

static void
test_version(void **state)
{
	ip_check_versions(&ip4);
}

static void
test_header_length(void **state)
{
	for (int words = 0; words < 5; words++) {
		ip_plain(&ip4, FROM, "10.0.0.1")[0] = (uint8_t)(0x40 | words);
		ip_expect(WEIR_NODE_REASON_IP4_HEADER_LENGTH);
	}
	/* 46 bytes of packet: a header of 48 is past its end, one of 44 is not. */
	ip_plain(&ip4, FROM, "10.0.0.1")[0] = 0x4c;
	ip_expect(WEIR_NODE_REASON_IP4_HEADER_LENGTH);
	ip_plain(&ip4, FROM, "10.0.0.1")[0] = 0x4b;
	frame_ip4_checksum(&ip_frame);
	ip_expect(WEIR_NODE_REASON_IP4_OPTIONS);
}

static void
set_total(uint16_t total)
{
	ip_frame.bytes[ip_frame.l3 + 2] = (uint8_t)(total >> 8);
	ip_frame.bytes[ip_frame.l3 + 3] = (uint8_t)total;
	frame_ip4_checksum(&ip_frame);
}

static void
test_total_length(void **state)
{
	static const uint16_t bad[] = {0, 1, 19, 47, 1500, 0xffff};

	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		ip_plain(&ip4, FROM, "10.0.0.1");
		set_total(bad[i]);
		ip_expect(WEIR_NODE_REASON_IP4_TOTAL_LENGTH);
	}
	/* With options: at least the header. */
	ip_plain(&ip4, FROM, "10.0.0.1")[0] = 0x46;
	set_total(23);
	ip_expect(WEIR_NODE_REASON_IP4_TOTAL_LENGTH);
	/* A bare header is a packet, and padding does not leave. */
	for (uint16_t total = 20; total <= 46; total++) {
		ip_plain(&ip4, FROM, "10.0.0.1");
		set_total(total);
		ip_expect_out(TEST_RIGHT);
	}
}

static void
test_checksum(void **state)
{
	/* Every single-bit error of a header is found, if not by an earlier check. */
	for (uint32_t bit = 0; bit < 160; bit++) {
		ip_plain(&ip4, FROM, "10.0.0.1")[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (bit / 8 != 0 && bit / 8 != 2 && bit / 8 != 3)
			ip_expect(WEIR_NODE_REASON_IP4_CHECKSUM);
	}
	ip_plain(&ip4, FROM, "10.0.0.1")[0] = 0x46;
	ip_expect(WEIR_NODE_REASON_IP4_CHECKSUM);
}

static void
test_martians(void **state)
{
	static const char *const sources[] = {"0.0.0.0", "0.0.0.1", "0.255.255.255", "127.0.0.1",
		"127.255.255.255", "169.254.0.1", "169.254.255.255", "224.0.0.1", "239.255.255.255",
		"240.0.0.1", "255.255.255.254", "255.255.255.255", NULL};
	static const char *const destinations[] = {"0.0.0.0", "0.255.255.255", "127.0.0.1",
		"127.255.255.255", "169.254.0.1", "169.254.255.255", "240.0.0.0", "255.255.255.254",
		NULL};
	static const char *const fine[] = {"1.0.0.0", "126.255.255.255", "128.0.0.0",
		"169.253.255.255", "169.255.0.0", "223.255.255.255", "172.16.0.1", "192.168.0.1",
		"100.64.0.1", NULL};

	ip_check_martians(&ip4, sources, destinations, fine);
	ip_plain(&ip4, "10.255.255.255", "10.0.0.1");
	ip_expect_out(TEST_RIGHT);
	ip_plain(&ip4, "127.0.0.1", "127.0.0.1");
	ip_expect(WEIR_NODE_REASON_IP4_MARTIAN_SOURCE);
}

static void
test_groups(void **state)
{
	static const char *const multicast[] = {"224.0.0.0", "224.0.0.251", "239.255.255.255"};

	for (size_t i = 0; i < RTE_DIM(multicast); i++) {
		ip_plain(&ip4, FROM, multicast[i]);
		ip_expect(WEIR_NODE_REASON_IP4_MULTICAST);
		ip_plain(&ip4, "0.0.0.0", multicast[i]);
		ip_expect(WEIR_NODE_REASON_IP4_MULTICAST);
		ip_plain(&ip4, "0.0.0.1", multicast[i]);
		ip_expect(WEIR_NODE_REASON_IP4_MARTIAN_SOURCE);
		ip_plain(&ip4, FROM, multicast[i]);
		memset(ip_frame.bytes, 0xff, 6);
		ip_expect(WEIR_NODE_REASON_IP4_MULTICAST);
	}
	ip_plain(&ip4, FROM, "255.255.255.255");
	ip_expect(WEIR_NODE_REASON_IP4_BROADCAST);
	ip_plain(&ip4, "0.0.0.0", "255.255.255.255");
	memset(ip_frame.bytes, 0xff, 6);
	ip_expect(WEIR_NODE_REASON_IP4_BROADCAST);
}

static void
test_options(void **state)
{
	ip_plain(&ip4, FROM, "10.0.0.1")[0] = 0x46;
	frame_ip4_checksum(&ip_frame);
	ip_expect(WEIR_NODE_REASON_IP4_OPTIONS);
	/* Even without a route. */
	ip_plain(&ip4, FROM, "11.0.0.1")[0] = 0x46;
	frame_ip4_checksum(&ip_frame);
	ip_expect(WEIR_NODE_REASON_IP4_OPTIONS);
}

static void
test_hops(void **state)
{
	ip_check_hops(&ip4);
}

static void
test_ports(void **state)
{
	ip_plain(&ip4, FROM, "10.0.0.1");
	ip_expect_out(TEST_RIGHT);
	ip_plain(&ip4, FROM, "10.1.0.1");
	ip_expect_out(TEST_TAGGED);
	ip_plain(&ip4, FROM, "10.2.0.1");
	ip_expect_out(TEST_NARROW);
	/* Up to the MTU, VLAN tags not counted. */
	frame_ip4(&ip_frame, TEST_LEFT, FROM, "10.2.0.1", TEST_NARROW_MTU - 20);
	ip_expect_out(TEST_NARROW);
	frame_ip4(&ip_frame, TEST_LEFT, FROM, "10.1.0.1", 1480);
	ip_expect_out(TEST_TAGGED);
}

/* RFC 1624: for every TTL and every checksum that can be, the result is that computed anew. */
static void
test_decrement(void **state)
{
	static struct frame anew;
	uint32_t seen_low = 0, seen_high = 0;

	for (uint32_t ttl = 2; ttl < 256; ttl++) {
		for (uint32_t id = 0; id < 65536; id += ttl == 64 ? 1 : 251) {
			uint8_t *ip = ip_frame.bytes;

			ip_frame.l3 = 0;
			memcpy(ip,
				(uint8_t[20]){0x45, 0, 0, 46, (uint8_t)(id >> 8), (uint8_t)id, 0, 0,
					(uint8_t)ttl, 17, 0, 0, 192, 0, 2, 1, 10, 0, 0, 1},
				20);
			frame_ip4_checksum(&ip_frame);
			seen_low += ip[10] == 0 && ip[11] == 0;
			seen_high += ip[10] == 0xff && ip[11] == 0xfe;
			memcpy(anew.bytes, ip, 20);
			anew.l3 = 0;
			anew.bytes[8]--;
			frame_ip4_checksum(&anew);
			node_ip4_decrement_ttl(ip);
			assert_memory_equal(ip, anew.bytes, 20);
		}
	}
	assert_int_not_equal(seen_low, 0);
	assert_int_not_equal(seen_high, 0);
	/* A checksum of 0xffff where 0 is meant passes as right; what leaves is never 0xffff. */
	for (uint32_t id = 0; id < 65536; id++) {
		uint8_t *ip = ip_plain(&ip4, FROM, "10.0.0.1");

		ip[4] = (uint8_t)(id >> 8);
		ip[5] = (uint8_t)id;
		frame_ip4_checksum(&ip_frame);
		if (ip[10] != 0 || ip[11] != 0)
			continue;
		ip[10] = ip[11] = 0xff;
		ip_expect_out(TEST_RIGHT);
		return;
	}
	fail_msg("no header has checksum 0");
}

/* What the device says about checksums counts for ports that asked it; rings do not. */
static void
test_checksum_flags(void **state)
{
	struct weir_node_port_fast *port = &weir_node_ports_fast[router.port[TEST_LEFT]];
	static struct frame got;
	uint64_t mask = port->checksum_mask;
	struct rte_mbuf *m;

	ip_plain(&ip4, FROM, "10.0.0.1")[10] ^= 1;
	for (int asked = 0; asked < 2; asked++) {
		port->checksum_mask = asked ? RTE_MBUF_F_RX_IP_CKSUM_MASK : 0;
		weir_node_checksum_mask = RTE_MBUF_F_RX_IP_CKSUM_MASK; /* some port asked */
		m = frame_to_mbuf(&ip_frame);
		m->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD;
		test_send_mbuf(TEST_LEFT, m);
		test_walk();
		assert_int_equal(test_reason(WEIR_NODE_REASON_IP4_CHECKSUM), !asked);
		assert_int_equal(test_receive(TEST_RIGHT, &got), asked);
		m = frame_to_mbuf(&ip_frame);
		m->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_BAD;
		test_send_mbuf(TEST_LEFT, m);
		test_walk();
		expect_silence();
		assert_int_equal(test_reason(WEIR_NODE_REASON_IP4_CHECKSUM), asked ? 1 : 2);
		test_begin(NULL);
	}
	/* Its doubts also count where the sum is right. */
	for (int asked = 0; asked < 2; asked++) {
		ip_plain(&ip4, FROM, "10.0.0.1");
		port->checksum_mask = asked ? RTE_MBUF_F_RX_IP_CKSUM_MASK : 0;
		weir_node_checksum_mask = RTE_MBUF_F_RX_IP_CKSUM_MASK;
		m = frame_to_mbuf(&ip_frame);
		m->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_BAD;
		test_send_mbuf(TEST_LEFT, m);
		test_walk();
		assert_int_equal(test_reason(WEIR_NODE_REASON_IP4_CHECKSUM), asked);
		assert_int_equal(test_receive(TEST_RIGHT, &got), !asked);
		test_begin(NULL);
	}
	port->checksum_mask = mask;
	weir_node_checksum_mask = mask;
}

static int
run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_version, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_header_length, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_total_length, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_checksum, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_martians, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_groups, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_options, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_hops, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_ports, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_decrement, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_checksum_flags, test_begin, test_end),
	};

	return cmocka_run_group_tests(tests, test_router_up, test_router_down);
}

int
main(void)
{
	return test_main("test_ip4", run);
}
