/* SPDX-License-Identifier: BSD-3-Clause */

/* ip4_frag: pieces put together again are the packet. */

#include "node_private.h"
#include "node_test.h"
#include "weir_node_route_fast.h"

#define MTU        TEST_NARROW_MTU
#define DF         0x4000
#define MF         0x2000
#define RESERVED   0x8000
#define PIECE_STEP ((MTU - 20) / 8 * 8)

static struct frame frame, piece, whole;

static uint16_t
get16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static void
make(uint32_t payload, uint16_t fragment)
{
	frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.2.0.1", payload);
	frame.bytes[frame.l3 + 6] = (uint8_t)(fragment >> 8);
	frame.bytes[frame.l3 + 7] = (uint8_t)fragment;
	frame_ip4_checksum(&frame);
}

/* Receive the pieces of `frame` and check each. @return how many */
static uint32_t
reassemble(void)
{
	uint32_t payload = frame.length - frame.l3 - 20, at = 0, nb = 0;
	uint16_t fragment = get16(frame.bytes + frame.l3 + 6);

	frame_forwarded(&whole, &frame, TEST_NARROW);
	while (test_receive(TEST_NARROW, &piece)) {
		uint8_t *ip = piece.bytes + piece.l3;
		uint32_t here = piece.length - piece.l3 - 20;
		bool last = at + here == payload;
		uint16_t expected_fragment =
			(uint16_t)((fragment & (RESERVED | MF)) | ((fragment & 0x1fff) + at / 8) |
				   (last ? 0 : MF));
		uint8_t checksum[2] = {ip[10], ip[11]};

		assert_int_equal(piece.l3, 14);
		assert_memory_equal(piece.bytes, whole.bytes, 14);
		assert_memory_equal(ip, whole.bytes + 14, 2);
		assert_int_equal(get16(ip + 2), 20 + here);
		assert_true(20 + here <= MTU);
		assert_memory_equal(ip + 4, whole.bytes + 14 + 4, 2);
		assert_int_equal(get16(ip + 6), expected_fragment);
		assert_memory_equal(ip + 8, whole.bytes + 14 + 8, 2);
		assert_memory_equal(ip + 12, whole.bytes + 14 + 12, 8);
		frame_ip4_checksum(&piece);
		assert_memory_equal(ip + 10, checksum, 2);
		assert_true(at + here <= payload);
		assert_memory_equal(ip + 20, whole.bytes + 14 + 20 + at, here);
		assert_true(last || here == PIECE_STEP);
		at += here;
		nb++;
	}
	assert_int_equal(at, payload);
	return nb;
}

static void
test_lengths(void **state)
{
	static const uint32_t payloads[] = {MTU - 20 + 1, PIECE_STEP * 2 - 1, PIECE_STEP * 2,
		PIECE_STEP * 2 + 1, 1480, 8980, 65515};

	for (size_t i = 0; i < RTE_DIM(payloads); i++) {
		struct weir_node_totals before, after;
		uint32_t nb = (payloads[i] + PIECE_STEP - 1) / PIECE_STEP;

		make(payloads[i], 0);
		weir_node_totals(&before);
		test_send(TEST_LEFT, &frame);
		test_walk();
		weir_node_totals(&after);
		assert_int_equal(reassemble(), nb);
		assert_int_equal(after.fragmented - before.fragmented, 1);
		assert_int_equal(after.fragments - before.fragments, nb);
		assert_int_equal(after.sent - before.sent, nb);
		expect_silence();
	}
}

static void
test_of_fragments(void **state)
{
	static const uint16_t fragments[] = {
		MF, MF | 1, 100, MF | 8000, 8005, RESERVED, RESERVED | MF | 77};

	for (size_t i = 0; i < RTE_DIM(fragments); i++) {
		make(1000, fragments[i]);
		test_send(TEST_LEFT, &frame);
		test_walk();
		assert_int_equal(reassemble(), (1000 + PIECE_STEP - 1) / PIECE_STEP);
	}
	/* A piece of a piece: what a second router does to the first one's work. */
	make(3000, 0);
	test_send(TEST_LEFT, &frame);
	test_walk();
	assert_int_equal(reassemble(), (3000 + PIECE_STEP - 1) / PIECE_STEP);
}

static void
test_too_far(void **state)
{
	/* 8 * 8064 + 1003 = 65515 is the last byte there can be. */
	make(1003, 8064);
	test_send(TEST_LEFT, &frame);
	test_walk();
	assert_int_equal(reassemble(), (1003 + PIECE_STEP - 1) / PIECE_STEP);
	make(1004, 8064);
	expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_IP4_FRAGMENT);
	make(1000, 0x1fff | MF);
	expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_IP4_FRAGMENT);
}

static void
test_dont(void **state)
{
	make(MTU - 20, DF);
	expect_forwarded(TEST_LEFT, &frame, TEST_NARROW);
	make(MTU - 19, DF);
	expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_IP4_TOO_BIG_DF);
	/* What was not sent was not changed: TTL comes first. */
	make(MTU - 19, DF);
	frame.bytes[frame.l3 + 8] = 1;
	frame_ip4_checksum(&frame);
	expect_reason(TEST_LEFT, &frame, WEIR_NODE_REASON_IP4_TTL);
}

static void
test_tagged_and_padded(void **state)
{
	make(1000, 0);
	frame_tag(&frame, 0x88a8, 5);
	frame_tag(&frame, 0x8100, 5);
	test_send(TEST_LEFT, &frame);
	test_walk();
	assert_int_equal(reassemble(), 4);
	/* Padding is in no piece. */
	make(1000, 0);
	frame_append(&frame, (uint8_t[100]){0xee}, 100);
	test_send(TEST_LEFT, &frame);
	test_walk();
	frame.length -= 100;
	assert_int_equal(reassemble(), 4);
}

static void
test_no_memory(void **state)
{
	static struct rte_mbuf *hoard[TEST_POOL_SIZE];
	uint32_t left = 0;

	make(1480, 0);
	test_send(TEST_LEFT, &frame);
	while (left < RTE_DIM(hoard) && (hoard[left] = rte_pktmbuf_alloc(router.pool)) != NULL)
		left++;
	/* One short: all or nothing. */
	for (int i = 0; i < 5; i++)
		rte_pktmbuf_free(hoard[--left]);
	test_walk();
	expect_silence();
	assert_int_equal(test_reason(WEIR_NODE_REASON_NO_MEMORY), 1);
	test_send(TEST_LEFT, &frame);
	rte_pktmbuf_free(hoard[--left]);
	test_walk();
	assert_int_equal(reassemble(), 6);
	assert_int_equal(test_reason(WEIR_NODE_REASON_NO_MEMORY), 1);
	rte_pktmbuf_free_bulk(hoard, left);
}

static void
test_mixed_vector(void **state)
{
	uint32_t nb = 0;

	/* Some to cut, some not, to two ports, in one vector. */
	for (uint32_t i = 0; i < 60; i++) {
		if (i % 3 == 0)
			make(1000, 0);
		else
			frame_ip4(&frame, TEST_LEFT, "192.0.2.1",
				i % 3 == 1 ? "10.2.0.1" : "10.0.0.1", 26);
		test_send(TEST_LEFT, &frame);
	}
	test_walk();
	while (test_receive(TEST_NARROW, &piece))
		nb++;
	assert_int_equal(nb, 20 * 4 + 20);
	for (nb = 0; test_receive(TEST_RIGHT, &piece); nb++)
		;
	assert_int_equal(nb, 20);
}

/* Ids that no look-up gave, as packets have them that come to ip4_rewrite another way: the entry beyond the last. */
static void
test_any_hop_id(void **state)
{
	static const uint32_t noted[] = {
		0, 7, 20u << 16, 27u << 16, 67u << 16, 123456789, UINT32_MAX};

	for (size_t i = 0; i < RTE_DIM(noted); i++)
		assert_int_equal(
			weir_node_hop_at(weir_node_hops(), weir_node_hop_count(), noted[i])->kind ==
				WEIR_NODE_HOP_NONE,
			noted[i] >= weir_node_hop_count());
}

static void
free_block(void *addr, void *block)
{
	free(block);
}

/*
 * Send a frame that carries what an earlier use of its mbuf left where ip4_rewrite notes port and MTU. It lies
 * in a block of its length: the address sanitizer sees what is read behind its end.
 */
static void
send_noted(uint32_t left)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(router.pool);
	uint8_t *block = malloc(frame.length);
	static struct rte_mbuf_ext_shared_info shared;

	assert_non_null(m);
	memcpy(block, frame.bytes, frame.length);
	shared = (struct rte_mbuf_ext_shared_info){.free_cb = free_block, .fcb_opaque = block};
	rte_mbuf_ext_refcnt_set(&shared, 1);
	rte_pktmbuf_attach_extbuf(m, block, RTE_BAD_IOVA, (uint16_t)frame.length, &shared);
	m->data_len = (uint16_t)frame.length;
	m->pkt_len = frame.length;
	m->hash.fdir.hi = left;
	test_send_mbuf(TEST_LEFT, m);
	test_walk();
}

/*
 * Packets that came to be cut without passing ip4_rewrite, as an application may wire it: nobody noted an
 * MTU or looked at the header, so what stands there may be anything.
 */
static void
test_nobody_noted(void **state)
{
	const uint32_t narrow = router.port[TEST_NARROW];
	uint64_t nb = 0;

	test_rewire("classify", NODE_EDGE_FIRST, "ip4_frag");
	/* An MTU below the least that there is, for every port there may be. */
	make(1000, 0);
	for (uint32_t mtu = 0; mtu < WEIR_NODE_MTU_MIN; mtu++) {
		send_noted(mtu << 16 | narrow);
		send_noted(mtu << 16 | 0xffff);
		nb += 2;
	}
	/* A next hop's id, or a reason, of an earlier packet. */
	send_noted(3);
	send_noted(WEIR_NODE_NO_ROUTE >> 16);
	nb += 2;
	expect_silence();
	assert_int_equal(test_reason(WEIR_NODE_REASON_NONE), nb);
	/* No payload, or less than a header, by its length field and in fact. */
	for (uint32_t total = 0; total <= 20; total++) {
		make(26, 0);
		frame.bytes[frame.l3 + 2] = 0;
		frame.bytes[frame.l3 + 3] = (uint8_t)total;
		send_noted((uint32_t)MTU << 16 | narrow);
		make(26, 0);
		frame.length = frame.l3 + RTE_MIN(total, 19u);
		send_noted((uint32_t)MTU << 16 | narrow);
		nb += 2;
	}
	expect_silence();
	assert_int_equal(test_reason(WEIR_NODE_REASON_NONE), nb);
	/* More payload by its length field than the frame has: no piece is made up, and nothing written for one. */
	for (uint32_t missing = 1; missing <= 1000; missing += 111) {
		make(1000, 0);
		frame.length -= missing;
		send_noted((uint32_t)MTU << 16 | narrow);
		nb++;
	}
	expect_silence();
	assert_int_equal(test_reason(WEIR_NODE_REASON_NONE), nb);
	/* The least that is cut; and no port to send to, so that all pieces are dropped. */
	make(100, 0);
	send_noted((uint32_t)WEIR_NODE_MTU_MIN << 16 | narrow);
	for (uint32_t pieces = 0; pieces < 3; pieces++)
		assert_true(test_receive(TEST_NARROW, &piece));
	send_noted((uint32_t)WEIR_NODE_MTU_MIN << 16 | (WEIR_NODE_PORT_MAX - 1));
	expect_silence();
	assert_int_equal(test_reason(WEIR_NODE_REASON_NONE), nb + 3);
	/* As it was: the tests behind this one. */
	test_rewire("classify", NODE_EDGE_FIRST, "ip4_lookup");
	make(26, 0);
	expect_forwarded(TEST_LEFT, &frame, TEST_NARROW);
}

static int
run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lengths, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_of_fragments, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_too_far, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_dont, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_tagged_and_padded, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_no_memory, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_mixed_vector, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_any_hop_id, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_nobody_noted, test_begin, test_end),
	};

	return cmocka_run_group_tests(tests, test_router_up, test_router_down);
}

int
main(void)
{
	return test_main("test_frag", run);
}
