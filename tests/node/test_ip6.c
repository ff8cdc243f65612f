/* SPDX-License-Identifier: BSD-3-Clause */

/* IPv6: each check of doc/forwarding.md, their order, and what leaves. */

#include "node_test_ip.h"

#define FROM "2001:db8::1"

static const struct ip_version ip6 = {
	.number = 6,
	.ttl_at = 7,
	.make = frame_ip6,
	.from = FROM,
	.right = "2001:db8:a::1",
	.tagged = "2001:db8:b::1",
	.own = "2001:db8:d::1",
	.blackhole = "2001:db8:e::1",
	.incomplete = "2001:db8:f::1",
	.unrouted = "2001:db9::1",
	.reason =
		{
			.version = WEIR_NODE_REASON_IP6_VERSION,
			.martian_source = WEIR_NODE_REASON_IP6_MARTIAN_SOURCE,
			.martian_destination = WEIR_NODE_REASON_IP6_MARTIAN_DESTINATION,
			.no_route = WEIR_NODE_REASON_IP6_NO_ROUTE,
			.blackhole = WEIR_NODE_REASON_IP6_BLACKHOLE,
			.own = WEIR_NODE_REASON_IP6_OWN,
			.expired = WEIR_NODE_REASON_IP6_HOP_LIMIT,
			.no_neighbour = WEIR_NODE_REASON_IP6_NO_NEIGHBOUR,
		},
};

static void
test_version(void **state)
{
	ip_check_versions(&ip6);
	/* Traffic class and flow label are nobody's business. */
	memcpy(ip_plain(&ip6, FROM, "2001:db8:a::1"), "\x6f\xff\xff\xff", 4);
	ip_expect_out(TEST_RIGHT);
}

static void
test_length(void **state)
{
	static const uint16_t bad[] = {27, 28, 1500, 0xffff};

	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		uint8_t *ip = ip_plain(&ip6, FROM, "2001:db8:a::1");

		ip[4] = (uint8_t)(bad[i] >> 8);
		ip[5] = (uint8_t)bad[i];
		ip_expect(WEIR_NODE_REASON_IP6_LENGTH);
	}
	for (uint8_t length = 0; length <= 26; length++) {
		ip_plain(&ip6, FROM, "2001:db8:a::1")[5] = length;
		ip_expect_out(TEST_RIGHT);
	}
}

static void
test_martians(void **state)
{
	static const char *const sources[] = {
		"::", "::1", "::ffff:192.0.2.1", "::ffff:0:0", "ff02::1", "ffff::", NULL};
	static const char *const destinations[] = {"::", "::1", "::ffff:10.0.0.1", NULL};
	static const char *const fine[] = {"::2", "::1:ffff:0", "::1:0:0:1", "::fffe:0:1", "100::1",
		"2000::", "2001:db8:1::", "fc00::1", "fdff:ffff::1", "fec0::1", "fe00::1",
		"fe7f:ffff::1", "64:ff9b::1", NULL};

	ip_check_martians(&ip6, sources, destinations, fine);
}

static void
test_groups_and_links(void **state)
{
	static const char *const links[] = {"fe80::", "fe80::1", "febf:ffff::1"};

	ip_plain(&ip6, FROM, "ff02::fb");
	ip_expect(WEIR_NODE_REASON_IP6_MULTICAST);
	ip_plain(&ip6, "::", "ff02::1:ff00:1");
	ip_expect(WEIR_NODE_REASON_IP6_MULTICAST);
	ip_plain(&ip6, "fe80::1", "ff02::1");
	memcpy(ip_frame.bytes, "\x33\x33\0\0\0\1", 6);
	ip_expect(WEIR_NODE_REASON_IP6_MULTICAST);
	ip_plain(&ip6, "::1", "ff02::1");
	ip_expect(WEIR_NODE_REASON_IP6_MARTIAN_SOURCE);
	for (size_t i = 0; i < RTE_DIM(links); i++) {
		ip_plain(&ip6, links[i], "2001:db8:a::1");
		ip_expect(WEIR_NODE_REASON_IP6_LINK_LOCAL);
		ip_plain(&ip6, FROM, links[i]);
		ip_expect(WEIR_NODE_REASON_IP6_LINK_LOCAL);
	}
}

static void
test_extension_headers(void **state)
{
	static const uint8_t passed[] = {43, 44, 50, 51, 59, 60, 135, 139, 140, 255};

	ip_plain(&ip6, FROM, "2001:db8:a::1")[6] = 0;
	ip_expect(WEIR_NODE_REASON_IP6_HOP_BY_HOP);
	ip_plain(&ip6, FROM, "2001:db9::1")[6] = 0;
	ip_expect(WEIR_NODE_REASON_IP6_HOP_BY_HOP);
	for (size_t i = 0; i < RTE_DIM(passed); i++) {
		ip_plain(&ip6, FROM, "2001:db8:a::1")[6] = passed[i];
		ip_expect_out(TEST_RIGHT);
	}
}

static void
test_hops(void **state)
{
	ip_check_hops(&ip6);
}

static void
test_mtu(void **state)
{
	frame_ip6(&ip_frame, TEST_LEFT, FROM, "2001:db8:c::1", TEST_NARROW_MTU - 40);
	ip_expect_out(TEST_NARROW);
	frame_ip6(&ip_frame, TEST_LEFT, FROM, "2001:db8:c::1", TEST_NARROW_MTU - 39);
	ip_expect(WEIR_NODE_REASON_IP6_TOO_BIG);
	frame_ip6(&ip_frame, TEST_LEFT, FROM, "2001:db8:a::1", 65535);
	ip_expect(WEIR_NODE_REASON_IP6_TOO_BIG);
}

static int
run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_version, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_length, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_martians, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_groups_and_links, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_extension_headers, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_hops, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_mtu, test_begin, test_end),
	};

	return cmocka_run_group_tests(tests, test_router_up, test_router_down);
}

int
main(void)
{
	return test_main("test_ip6", run);
}
