/* SPDX-License-Identifier: BSD-3-Clause */

/* IPv6: each check of doc/forwarding.md, their order, and what leaves. */

#include "node_test.h"

#define FROM "2001:db8::1"

static struct frame frame;

static uint8_t *
plain(const char *source, const char *destination)
{
	frame_ip6(&frame, TEST_LEFT, source, destination, 26);
	return frame.bytes + frame.l3;
}

static void
expect(enum weir_node_reason reason)
{
	expect_reason(TEST_LEFT, &frame, reason);
}

static void
test_version(void **state)
{
	for (int version = 0; version < 16; version++) {
		if (version == 6)
			continue;
		plain(FROM, "2001:db8:a::1")[0] = (uint8_t)(version << 4);
		expect(WEIR_NODE_REASON_IP6_VERSION);
	}
	/* Traffic class and flow label are nobody's business. */
	memcpy(plain(FROM, "2001:db8:a::1"), "\x6f\xff\xff\xff", 4);
	expect_forwarded(TEST_LEFT, &frame, TEST_RIGHT);
}

static void
test_length(void **state)
{
	static const uint16_t bad[] = {27, 28, 1500, 0xffff};

	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		uint8_t *ip = plain(FROM, "2001:db8:a::1");

		ip[4] = (uint8_t)(bad[i] >> 8);
		ip[5] = (uint8_t)bad[i];
		expect(WEIR_NODE_REASON_IP6_LENGTH);
	}
	for (uint8_t length = 0; length <= 26; length++) {
		plain(FROM, "2001:db8:a::1")[5] = length;
		expect_forwarded(TEST_LEFT, &frame, TEST_RIGHT);
	}
}

static void
test_martians(void **state)
{
	static const char *const sources[] = {
		"::", "::1", "::ffff:192.0.2.1", "::ffff:0:0", "ff02::1", "ffff::"};
	static const char *const destinations[] = {"::", "::1", "::ffff:10.0.0.1"};
	static const char *const fine[] = {"::2", "::1:ffff:0", "::1:0:0:1", "::fffe:0:1", "100::1",
		"2000::", "2001:db8:1::", "fc00::1", "fdff:ffff::1", "fec0::1", "fe00::1",
		"fe7f:ffff::1", "64:ff9b::1"};

	for (size_t i = 0; i < RTE_DIM(sources); i++) {
		plain(sources[i], "2001:db8:a::1");
		expect(WEIR_NODE_REASON_IP6_MARTIAN_SOURCE);
	}
	for (size_t i = 0; i < RTE_DIM(destinations); i++) {
		plain(FROM, destinations[i]);
		expect(WEIR_NODE_REASON_IP6_MARTIAN_DESTINATION);
	}
	for (size_t i = 0; i < RTE_DIM(fine); i++) {
		plain(fine[i], "2001:db8:a::1");
		expect_forwarded(TEST_LEFT, &frame, TEST_RIGHT);
		plain(FROM, fine[i]);
		expect(WEIR_NODE_REASON_IP6_NO_ROUTE);
	}
}

static void
test_groups_and_links(void **state)
{
	static const char *const links[] = {"fe80::", "fe80::1", "febf:ffff::1"};

	plain(FROM, "ff02::fb");
	expect(WEIR_NODE_REASON_IP6_MULTICAST);
	plain("::", "ff02::1:ff00:1");
	expect(WEIR_NODE_REASON_IP6_MULTICAST);
	plain("fe80::1", "ff02::1");
	memcpy(frame.bytes, "\x33\x33\0\0\0\1", 6);
	expect(WEIR_NODE_REASON_IP6_MULTICAST);
	plain("::1", "ff02::1");
	expect(WEIR_NODE_REASON_IP6_MARTIAN_SOURCE);
	for (size_t i = 0; i < RTE_DIM(links); i++) {
		plain(links[i], "2001:db8:a::1");
		expect(WEIR_NODE_REASON_IP6_LINK_LOCAL);
		plain(FROM, links[i]);
		expect(WEIR_NODE_REASON_IP6_LINK_LOCAL);
	}
}

static void
test_extension_headers(void **state)
{
	static const uint8_t passed[] = {43, 44, 50, 51, 59, 60, 135, 139, 140, 255};

	plain(FROM, "2001:db8:a::1")[6] = 0;
	expect(WEIR_NODE_REASON_IP6_HOP_BY_HOP);
	plain(FROM, "2001:db9::1")[6] = 0;
	expect(WEIR_NODE_REASON_IP6_HOP_BY_HOP);
	for (size_t i = 0; i < RTE_DIM(passed); i++) {
		plain(FROM, "2001:db8:a::1")[6] = passed[i];
		expect_forwarded(TEST_LEFT, &frame, TEST_RIGHT);
	}
}

static void
test_hops(void **state)
{
	for (uint8_t limit = 0; limit <= 2; limit++) {
		static const struct {
			const char *destination;
			enum weir_node_reason reason;
		} cases[] = {{"2001:db9::1", WEIR_NODE_REASON_IP6_NO_ROUTE},
			{"2001:db8:e::1", WEIR_NODE_REASON_IP6_BLACKHOLE},
			{"2001:db8:d::1", WEIR_NODE_REASON_IP6_OWN}};

		for (size_t i = 0; i < RTE_DIM(cases); i++) {
			plain(FROM, cases[i].destination)[7] = limit;
			expect(cases[i].reason);
		}
		plain(FROM, "2001:db8:f::1")[7] = limit;
		expect(limit < 2 ? WEIR_NODE_REASON_IP6_HOP_LIMIT
				 : WEIR_NODE_REASON_IP6_NO_NEIGHBOUR);
		plain(FROM, "2001:db8:b::1")[7] = limit;
		if (limit < 2)
			expect(WEIR_NODE_REASON_IP6_HOP_LIMIT);
		else
			expect_forwarded(TEST_LEFT, &frame, TEST_TAGGED);
	}
}

static void
test_mtu(void **state)
{
	frame_ip6(&frame, TEST_LEFT, FROM, "2001:db8:c::1", TEST_NARROW_MTU - 40);
	expect_forwarded(TEST_LEFT, &frame, TEST_NARROW);
	frame_ip6(&frame, TEST_LEFT, FROM, "2001:db8:c::1", TEST_NARROW_MTU - 39);
	expect(WEIR_NODE_REASON_IP6_TOO_BIG);
	frame_ip6(&frame, TEST_LEFT, FROM, "2001:db8:a::1", 65535);
	expect(WEIR_NODE_REASON_IP6_TOO_BIG);
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
