/* SPDX-License-Identifier: BSD-3-Clause */

/* classify: what frames are for us, and where they go. */

#include "node_test.h"

static struct frame frame;

static void
test_own_address(void **state)
{
	frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 26);
	expect_forwarded(TEST_LEFT, &frame, TEST_RIGHT);
	frame_ip6(&frame, TEST_LEFT, "2001:db8::1", "2001:db8:a::1", 8);
	expect_forwarded(TEST_LEFT, &frame, TEST_RIGHT);
}

static void
test_not_for_us(void **state)
{
	/* Each bit of the address counts. */
	for (int byte = 0; byte < 6; byte++) {
		frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 26);
		frame.bytes[byte] ^= 0x80;
		expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_NOT_FOR_US);
	}
	/* So does which port it came in on. */
	frame_ip4(&frame, TEST_RIGHT, "192.0.2.1", "10.0.0.1", 26);
	expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_NOT_FOR_US);
	/* It is looked at before anything else. */
	frame_ethernet(&frame, TEST_RIGHT, 0x0806);
	expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_NOT_FOR_US);
}

static void
test_accept_any(void **state)
{
	frame_ip4(&frame, TEST_RIGHT, "192.0.2.1", "10.0.0.1", 26);
	expect_forwarded(TEST_ANY, &frame, TEST_RIGHT);
	frame.bytes[0] = 0x12;
	expect_forwarded(TEST_ANY, &frame, TEST_RIGHT);
}

static void
test_group_address(void **state)
{
	/* What a group gets is never forwarded, even where any address is accepted. */
	for (int any = 0; any < 2; any++) {
		enum test_port in = any ? TEST_ANY : TEST_LEFT;

		frame_ip4(&frame, in, "192.0.2.1", "10.0.0.1", 26);
		memset(frame.bytes, 0xff, 6);
		expect_reason(in, &frame, WEIR_NODE_REASON_IP4_BROADCAST);
		frame_ip6(&frame, in, "2001:db8::1", "2001:db8:a::1", 26);
		memcpy(frame.bytes, "\x33\x33\x00\x00\x00\x01", 6);
		expect_reason(in, &frame, WEIR_NODE_REASON_NOT_FOR_US);
	}
	/* Other checks come first. */
	frame_ip4(&frame, TEST_LEFT, "127.0.0.1", "10.0.0.1", 26);
	memset(frame.bytes, 0xff, 6);
	expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_IP4_MARTIAN_SOURCE);
	frame_ethernet(&frame, TEST_LEFT, 0x0806);
	memset(frame.bytes, 0xff, 6);
	expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_ARP);
}

static void
test_types(void **state)
{
	static const uint16_t unknown[] = {0, 46, 0x5dc, 0x600, 0x8035, 0x8847, 0x8863, 0x8864,
		0x88cc, 0x9100, 0xffff, 0x0008, 0xdd86};

	for (size_t i = 0; i < RTE_DIM(unknown); i++) {
		frame_ethernet(&frame, TEST_LEFT, unknown[i]);
		frame_append(&frame, (uint8_t[46]){0x45}, 46);
		expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_UNKNOWN_TYPE);
	}
	frame_ethernet(&frame, TEST_LEFT, 0x0806);
	expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_ARP);
}

static void
test_tags(void **state)
{
	static const uint16_t tpids[] = {0x8100, 0x88a8};

	for (size_t outer = 0; outer < RTE_DIM(tpids); outer++) {
		frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 26);
		frame_tag(&frame, tpids[outer], 7);
		expect_forwarded(TEST_LEFT, &frame, TEST_RIGHT);
		frame_ip6(&frame, TEST_LEFT, "2001:db8::1", "2001:db8:b::1", 26);
		frame_tag(&frame, tpids[outer], 0x6007);
		expect_forwarded(TEST_LEFT, &frame, TEST_TAGGED);
		for (size_t inner = 0; inner < RTE_DIM(tpids); inner++) {
			frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.1.0.1", 26);
			frame_tag(&frame, tpids[inner], 7);
			frame_tag(&frame, tpids[outer], 8);
			expect_forwarded(TEST_LEFT, &frame, TEST_TAGGED);
			frame_tag(&frame, tpids[outer], 9);
			expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_VLAN_DEPTH);
		}
		frame_ethernet(&frame, TEST_LEFT, 0x0806);
		frame_tag(&frame, tpids[outer], 7);
		expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_ARP);
	}
}

static void
test_truncated(void **state)
{
	for (uint32_t length = 1; length < 14; length++) {
		frame_ethernet(&frame, TEST_LEFT, 0x0806);
		frame.length = length;
		expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_TRUNCATED);
	}
	for (uint32_t length = 14; length < 14 + 20; length++) {
		frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 26);
		frame.length = length;
		expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_TRUNCATED);
	}
	for (uint32_t length = 14; length < 14 + 40; length++) {
		frame_ip6(&frame, TEST_LEFT, "2001:db8::1", "2001:db8:a::1", 26);
		frame.length = length;
		expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_TRUNCATED);
	}
	for (uint32_t length = 14; length < 22 + 20; length++) {
		frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 26);
		frame_tag(&frame, 0x8100, 1);
		frame_tag(&frame, 0x88a8, 1);
		frame.length = length;
		expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_TRUNCATED);
	}
	/* The third tag's type is there, so it is known that there is one. */
	frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 26);
	for (int i = 0; i < 3; i++)
		frame_tag(&frame, 0x8100, 1);
	frame.length = 22;
	expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_VLAN_DEPTH);
}

static void
test_vector(void **state)
{
	static struct frame got;
	uint32_t nb[3] = {0};

	/* More than a burst, all kinds mixed: each arrives where it should, in order. */
	for (uint32_t i = 0; i < 700; i++) {
		if (i % 3 == 0)
			frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 26);
		else if (i % 3 == 1)
			frame_ip6(&frame, TEST_LEFT, "2001:db8::1", "2001:db8:b::1", 26);
		else
			frame_ethernet(&frame, TEST_LEFT, 0x0806);
		frame_append(&frame, "", i % 3 == 2);
		frame.bytes[frame.length - 1] = (uint8_t)i;
		test_send(TEST_LEFT, &frame);
	}
	for (int i = 0; i < 20; i++)
		test_walk();
	for (uint32_t i = 0; i < 700; i++) {
		nb[i % 3]++;
		if (i % 3 == 2)
			continue;
		assert_true(test_receive(i % 3 == 0 ? TEST_RIGHT : TEST_TAGGED, &got));
		assert_int_equal(got.bytes[got.length - 1], (uint8_t)i);
	}
	assert_int_equal(test_reason(WEIR_NODE_REASON_ARP), nb[2]);
	expect_silence();
}

static int
run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_own_address, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_not_for_us, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_accept_any, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_group_address, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_types, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_tags, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_truncated, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_vector, test_begin, test_end),
	};

	return cmocka_run_group_tests(tests, test_router_up, test_router_down);
}

int
main(void)
{
	return test_main("test_classify", run);
}
