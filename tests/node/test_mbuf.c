/* SPDX-License-Identifier: BSD-3-Clause */

/* Packet buffers off the beaten track: several segments, shared, without headroom. */

#include <stdlib.h>

#include "node_private.h"
#include "node_test.h"

static struct frame frame, expected, got;

/* The frame in segments of these lengths, the last one takes the rest. */
static struct rte_mbuf *
segmented(const uint16_t *lengths, uint16_t nb)
{
	struct rte_mbuf *head = NULL, *tail = NULL;
	uint32_t at = 0;

	for (uint16_t i = 0; i <= nb; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(router.pool);
		uint16_t length = i == nb ? (uint16_t)(frame.length - at) : lengths[i];

		assert_non_null(m);
		memcpy(rte_pktmbuf_append(m, length), frame.bytes + at, length);
		at += length;
		if (head == NULL || tail == NULL) {
			head = m;
		} else {
			tail->next = m;
			head->nb_segs++;
			head->pkt_len += length;
		}
		tail = m;
	}
	return head;
}

static void
expect_mbuf_forwarded(struct rte_mbuf *m, enum test_port out)
{
	frame_forwarded(&expected, &frame, out);
	test_send_mbuf(TEST_LEFT, m);
	test_walk();
	assert_true(test_receive(out, &got));
	assert_int_equal(got.length, expected.length);
	assert_memory_equal(got.bytes, expected.bytes, expected.length);
	expect_silence();
}

static void
test_segments(void **state)
{
	static const uint16_t cuts[][3] = {{1, 1, 1}, {6, 8, 20}, {13, 1, 40}, {14, 19, 1},
		{14, 20, 0}, {33, 1, 5}, {34, 0, 4}, {60, 1, 1}};

	for (size_t i = 0; i < RTE_DIM(cuts); i++) {
		for (uint16_t nb = 0; nb <= 3; nb++) {
			frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 100);
			expect_mbuf_forwarded(segmented(cuts[i], nb), TEST_RIGHT);
			frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.1.0.1", 100);
			frame_tag(&frame, 0x8100, 1);
			expect_mbuf_forwarded(segmented(cuts[i], nb), TEST_TAGGED);
			frame_ip6(&frame, TEST_LEFT, "2001:db8::1", "2001:db8:b::1", 100);
			expect_mbuf_forwarded(segmented(cuts[i], nb), TEST_TAGGED);
			/* Padding ends in any of the segments. */
			frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 100);
			frame_append(&frame, (uint8_t[90]){0}, 90);
			expect_mbuf_forwarded(segmented(cuts[i], nb), TEST_RIGHT);
			frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 0);
			frame_append(&frame, (uint8_t[90]){0}, 90);
			expect_mbuf_forwarded(segmented(cuts[i], nb), TEST_RIGHT);
		}
	}
}

static void
test_jumbo(void **state)
{
	/* 9,000 bytes in five segments, cut into pieces for a port of 300. */
	frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.2.0.1", 8980);
	test_send(TEST_LEFT, &frame);
	test_walk();
	for (uint32_t nb = 0; nb < 33; nb++) {
		assert_true(test_receive(TEST_NARROW, &got));
		assert_memory_equal(got.bytes + 34, frame.bytes + 34 + nb * 280, got.length - 34);
	}
	expect_silence();
}

static void
test_segments_not_joined(void **state)
{
	struct rte_mbuf *m, *clone;
	uint16_t cut = 30;

	/* No room behind: the header cannot be joined. */
	frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 100);
	m = segmented(&cut, 1);
	m->data_off = (uint16_t)(m->buf_len - 30);
	memcpy(rte_pktmbuf_mtod(m, void *), frame.bytes, 30);
	test_send_mbuf(TEST_LEFT, m);
	test_walk();
	assert_int_equal(test_reason(WEIR_NODE_REASON_TRUNCATED), 1);
	/* Somebody else holds it: nor may it. */
	m = segmented(&cut, 1);
	clone = rte_pktmbuf_clone(m, router.pool);
	assert_non_null(clone);
	test_send_mbuf(TEST_LEFT, m);
	test_walk();
	assert_int_equal(test_reason(WEIR_NODE_REASON_TRUNCATED), 2);
	assert_int_equal(clone->data_len, 30);
	assert_memory_equal(rte_pktmbuf_mtod(clone, void *), frame.bytes, 30);
	rte_pktmbuf_free(clone);
}

/* Nor where a later segment is held by somebody else, who would lose its first bytes. */
static void
test_later_segment_shared(void **state)
{
	struct rte_mbuf *m, *second;
	uint16_t cut = 30;

	frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 100);
	m = segmented(&cut, 1);
	second = m->next;
	rte_mbuf_refcnt_update(second, 1);
	test_send_mbuf(TEST_LEFT, m);
	test_walk();
	assert_int_equal(test_reason(WEIR_NODE_REASON_TRUNCATED), 1);
	assert_int_equal(second->data_len, frame.length - 30);
	assert_memory_equal(rte_pktmbuf_mtod(second, void *), frame.bytes + 30, frame.length - 30);
	rte_pktmbuf_free(second);
}

/* Whoever else holds the packet sees it as it was. */
static void
check_holder(struct rte_mbuf *held)
{
	static uint8_t buffer[2048];
	const uint8_t *bytes;

	assert_int_equal(held->pkt_len, frame.length);
	bytes = rte_pktmbuf_read(held, 0, frame.length, buffer);
	assert_memory_equal(bytes, frame.bytes, frame.length);
	rte_pktmbuf_free(held);
}

static void
test_shared(void **state)
{
	static const char *const destinations[] = {"10.0.0.1", "10.1.0.1"};

	for (int i = 0; i < 2; i++) {
		enum test_port out = i == 0 ? TEST_RIGHT : TEST_TAGGED;
		struct rte_mbuf *m, *clone;

		/* A clone goes through the router, the original is held; and the other way round. */
		for (int original = 0; original < 2; original++) {
			frame_ip4(&frame, TEST_LEFT, "192.0.2.1", destinations[i], 100);
			m = frame_to_mbuf(&frame);
			clone = rte_pktmbuf_clone(m, router.pool);
			assert_non_null(clone);
			expect_mbuf_forwarded(original ? m : clone, out);
			check_holder(original ? clone : m);
		}
		/* The same mbuf twice. */
		frame_ip6(&frame, TEST_LEFT, "2001:db8::1",
			i == 0 ? "2001:db8:a::1" : "2001:db8:b::1", 100);
		m = frame_to_mbuf(&frame);
		rte_mbuf_refcnt_update(m, 1);
		expect_mbuf_forwarded(m, out);
		check_holder(m);
	}
}

/* A vector in which every packet is the same one, as a flooding bridge makes it. */
/* Who else holds a packet keeps its padding too, in each segment, wherever it goes. */
static void
test_shared_padding(void **state)
{
	static const char *const destinations[][2] = {{"10.0.0.1", "2001:db8:a::1"},
		{"10.1.0.1", "2001:db8:b::1"}, {"10.2.0.1", "2001:db8:c::1"},
		{"10.4.0.1", "2001:db8:e::1"}, {"11.0.0.1", "2001:db9::1"}};
	static uint8_t bytes[4096];

	for (unsigned int i = 0; i < RTE_DIM(destinations) * 4; i++) {
		bool ip6 = i & 1, in_two = i & 2;
		struct rte_mbuf *m;
		uint16_t cut;

		if (ip6)
			frame_ip6(&frame, TEST_LEFT, "2001:db8::1", destinations[i / 4][1], 100);
		else
			frame_ip4(&frame, TEST_LEFT, "192.0.2.1", destinations[i / 4][0], 100);
		cut = (uint16_t)frame.length; /* the second segment is padding and nothing else */
		frame_append(&frame, (uint8_t[15]){1, 2, 3}, 15);
		m = in_two ? segmented(&cut, 1) : frame_to_mbuf(&frame);
		for (struct rte_mbuf *seg = m; seg != NULL; seg = seg->next)
			rte_mbuf_refcnt_update(seg, 1);
		test_send_mbuf(TEST_LEFT, m);
		test_walk();
		for (int port = 0; port < TEST_NB_PORTS; port++)
			while (test_receive(port, &got))
				;
		assert_int_equal(m->pkt_len, frame.length);
		assert_int_equal(m->nb_segs, in_two ? 2 : 1);
		assert_memory_equal(
			rte_pktmbuf_read(m, 0, m->pkt_len, bytes), frame.bytes, frame.length);
		rte_pktmbuf_free(m);
	}
}

static void
test_shared_vector(void **state)
{
	struct rte_mbuf *m;

	frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 100);
	frame_forwarded(&expected, &frame, TEST_RIGHT);
	m = frame_to_mbuf(&frame);
	rte_mbuf_refcnt_update(m, 9);
	for (int i = 0; i < 10; i++)
		test_send_mbuf(TEST_LEFT, m);
	test_walk();
	for (int i = 0; i < 10; i++) {
		assert_true(test_receive(TEST_RIGHT, &got));
		assert_int_equal(got.length, expected.length);
		assert_memory_equal(got.bytes, expected.bytes, expected.length);
	}
}

static void
free_external(void *address, void *opaque)
{
	free(address);
	(*(int *)opaque)++;
}

static void
test_external(void **state)
{
	int freed = 0;

	for (int shared = 0; shared < 2; shared++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(router.pool);
		struct rte_mbuf_ext_shared_info info = {
			.free_cb = free_external, .fcb_opaque = &freed, .refcnt = 1 + shared};
		uint8_t *buffer;

		frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 100);
		buffer = malloc(frame.length);
		assert_non_null(buffer);
		memcpy(buffer, frame.bytes, frame.length);
		rte_pktmbuf_attach_extbuf(
			m, buffer, (rte_iova_t)(uintptr_t)buffer, (uint16_t)frame.length, &info);
		m->data_off = 0;
		rte_pktmbuf_append(m, (uint16_t)frame.length);
		expect_mbuf_forwarded(m, TEST_RIGHT);
		assert_int_equal(freed, 1);
		if (shared) {
			assert_memory_equal(buffer, frame.bytes, frame.length);
			free(buffer);
		}
	}
}

static void
test_no_headroom(void **state)
{
	for (uint16_t room = 0; room < 6; room++) {
		struct rte_mbuf *m;

		frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.1.0.1", 100);
		m = rte_pktmbuf_alloc(router.pool);
		m->data_off = room;
		memcpy(rte_pktmbuf_append(m, (uint16_t)frame.length), frame.bytes, frame.length);
		expect_mbuf_forwarded(m, TEST_TAGGED);
	}
}

static void
test_no_memory_for_copy(void **state)
{
	static struct rte_mbuf *hoard[TEST_POOL_SIZE];
	struct rte_mbuf *m;
	uint32_t left = 0;

	for (int version = 4; version <= 6; version += 2) {
		if (version == 4)
			frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 100);
		else
			frame_ip6(&frame, TEST_LEFT, "2001:db8::1", "2001:db8:a::1", 100);
		m = frame_to_mbuf(&frame);
		rte_mbuf_refcnt_update(m, 1);
		test_send_mbuf(TEST_LEFT, m);
		while (left < RTE_DIM(hoard) &&
			(hoard[left] = rte_pktmbuf_alloc(router.pool)) != NULL)
			left++;
		test_walk();
		expect_silence();
		rte_pktmbuf_free_bulk(hoard, left);
		left = 0;
		check_holder(m);
	}
	assert_int_equal(test_reason(WEIR_NODE_REASON_NO_MEMORY), 2);
}

static void
test_wire_length(void **state)
{
	struct rte_mbuf *m;

	assert_int_equal(node_dyn_register(), 0);
	frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 100);
	m = frame_to_mbuf(&frame);
	node_mbuf_set_wire_length(m, 200);
	assert_int_equal(node_missing(m), 200 - frame.length);
	assert_int_equal(m->pkt_len, frame.length);
	node_mbuf_set_wire_length(m, frame.length);
	assert_int_equal(node_missing(m), 0);
	node_mbuf_set_wire_length(m, 60);
	assert_int_equal(node_missing(m), 0);
	assert_int_equal(m->pkt_len, 60);
	assert_int_equal(m->data_len, 60);
	rte_pktmbuf_free(m);
}

static int
run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_segments, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_jumbo, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_segments_not_joined, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_later_segment_shared, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_shared, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_shared_padding, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_shared_vector, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_external, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_no_headroom, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_no_memory_for_copy, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_wire_length, test_begin, test_end),
	};

	return cmocka_run_group_tests(tests, test_router_up, test_router_down);
}

int
main(void)
{
	return test_main("test_mbuf", run);
}
