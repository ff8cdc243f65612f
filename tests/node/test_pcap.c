/* SPDX-License-Identifier: BSD-3-Clause */

/* Ports that receive from capture files: what is read, and what is wrong with it. */

#include "test_pcap_util.h"

static struct frame expected;
static char run_log[600]; /* number of messages while forward() ran, and the last one */

/* From one file to another. @return how the input ended */
static int
forward(const char *in, const char *out)
{
	struct weir_node_port_param param = {.pcap_in = path_of(in)};
	int rc = run_graph(open_graph(&param, out, 0));

	snprintf(run_log, sizeof(run_log), "%u: %s", test_log_count, test_log);
	close_graph();
	load(out);
	return rc;
}

/* Of microseconds and ns, in both byte orders; from 1970 on, before and after 2038, to 2106. */
static void
test_times(void **state)
{
	static const uint32_t firsts[] = {0, 1600000000, 0x80000000 - 150, UINT32_MAX - 299};
	struct record r = {0};

	for (int kind = 0; kind < 16; kind++) {
		uint32_t first = firsts[kind >> 2];
		bool ns = kind & 1;

		begin_file(ns ? MAGIC_NS : MAGIC_US, kind & 2, 1);
		for (uint32_t i = 0; i < 300; i++) {
			frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", i);
			put_record(first + i, i * 3001, &frame, frame.length);
		}
		save("in.pcap");
		assert_int_equal(forward("in.pcap", "out.pcap"), 1);
		for (uint32_t i = 0; i < 300; i++) {
			frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", i);
			frame_forwarded(&expected, &frame, TEST_RIGHT);
			assert_true(next_record(&r));
			assert_int_equal(r.seconds, first + i);
			assert_int_equal(r.ns, i * 3001 * (ns ? 1 : 1000));
			assert_int_equal(r.captured, expected.length);
			assert_int_equal(r.length, expected.length);
			assert_memory_equal(r.bytes, expected.bytes, expected.length);
		}
		assert_false(next_record(&r));
	}
}

static void
test_snap_length(void **state)
{
	struct weir_node_port_param param;
	struct weir_node_port_stats stats;
	struct record r = {0};

	frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 1000);
	frame_append(&frame, (uint8_t[4]){0}, 4); /* a trailer, which is not captured either */
	begin_file(MAGIC_NS, false, 1);
	for (uint32_t captured = 0; captured <= frame.length; captured++)
		put_record(captured, 0, &frame, captured);
	save("in.pcap");
	param = (struct weir_node_port_param){.pcap_in = path_of("in.pcap")};
	assert_int_equal(run_graph(open_graph(&param, "out.pcap", 0)), 1);
	assert_int_equal(weir_node_port_stats(in_port, &stats), 0);
	assert_int_equal(stats.rx_truncated, frame.length);
	assert_int_equal(stats.rx_packets, frame.length + 1);
	close_graph();
	assert_int_equal(test_reason(WEIR_NODE_REASON_TRUNCATED), 34);
	load("out.pcap");
	frame_forwarded(&expected, &frame, TEST_RIGHT);
	for (uint32_t captured = 34; captured <= frame.length; captured++) {
		assert_true(next_record(&r));
		assert_int_equal(r.seconds, captured);
		assert_int_equal(r.captured, RTE_MIN(captured, expected.length));
		assert_int_equal(r.length, expected.length);
		assert_memory_equal(r.bytes, expected.bytes, r.captured);
	}
	assert_false(next_record(&r));
}

/* Options that are not all there: whether their checksum is right cannot be said. */
static void
test_snap_length_of_options(void **state)
{
	uint8_t *ip;

	frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 100);
	ip = frame.bytes + frame.l3;
	ip[0] = 0x47;
	memset(ip + 20, 1, 8);
	frame_ip4_checksum(&frame);
	begin_file(MAGIC_NS, false, 1);
	for (uint32_t captured = 14 + 20; captured <= 14 + 28; captured++)
		put_record(0, 0, &frame, captured);
	save("in.pcap");
	assert_int_equal(forward("in.pcap", "out.pcap"), 1);
	assert_int_equal(count_records(), 0);
	assert_int_equal(test_reason(WEIR_NODE_REASON_TRUNCATED), 8);
	assert_int_equal(test_reason(WEIR_NODE_REASON_IP4_OPTIONS), 1);
}

static void
test_snap_length_of_fragments(void **state)
{
	struct weir_node_port_param param;
	struct record r = {0};

	frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 1000);
	begin_file(MAGIC_NS, false, 1);
	put_record(0, 0, &frame, 34 + 300);
	save("in.pcap");
	param = (struct weir_node_port_param){.pcap_in = path_of("in.pcap")};
	assert_int_equal(run_graph(open_graph(&param, "out.pcap", 276)), 1);
	close_graph();
	load("out.pcap");
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t payload = i < 3 ? 256 : 1000 - 3 * 256;

		assert_true(next_record(&r));
		assert_int_equal(r.length, 34 + payload);
		assert_int_equal(r.captured, 34 + (i == 0 ? 256 : i == 1 ? 300 - 256 : 0));
		assert_memory_equal(r.bytes + 34, frame.bytes + 34 + 256 * i, r.captured - 34);
	}
	assert_false(next_record(&r));
}

static void
test_damaged(void **state)
{
	static const uint32_t huge = 0x7fffffff;

	/* Cut anywhere in the last record. */
	for (uint32_t cut = 1; cut < 16 + 134; cut += 7) {
		fill(10);
		file.size -= cut;
		save("in.pcap");
		test_log_count = 0;
		assert_int_equal(forward("in.pcap", "out.pcap"), -EBADMSG);
		assert_int_equal(count_records(), 9);
		assert_non_null(strstr(run_log, "damaged after packet 9"));
		assert_memory_equal(run_log, "1:", 2);
	}
	/* A length that cannot be. */
	fill(10);
	memcpy(file.bytes + 24 + 4 * (16 + 134) + 8, &huge, 4);
	save("in.pcap");
	assert_int_equal(forward("in.pcap", "out.pcap"), -EBADMSG);
	assert_int_equal(count_records(), 4);
	/* Nothing in it. */
	fill(0);
	save("in.pcap");
	assert_int_equal(forward("in.pcap", "out.pcap"), 1);
	assert_int_equal(count_records(), 0);
}

static void
expect_refused(const char *in, int rc, const char *message)
{
	struct weir_node_port_param param = {
		.name = "bad", .pcap_in = path_of(in), .pool = router.pool};

	test_log[0] = '\0';
	assert_int_equal(weir_node_port_add(&param), WEIR_NODE_PORT_INVALID);
	assert_int_equal(rte_errno, rc);
	if (strstr(test_log, message) == NULL)
		fail_msg("'%s' does not say '%s'", test_log, message);
}

static void
test_not_a_capture(void **state)
{
	expect_refused("nothing.pcap", ENOENT, "nothing.pcap");
	expect_refused("", EISDIR, "directory");
	begin_file(MAGIC_US, false, 1);
	for (size_t size = 0; size < 24; size++) {
		file.size = size;
		save("short.pcap");
		expect_refused("short.pcap", EBADMSG, "not a capture file");
	}
	begin_file(0x12345678, false, 1);
	save("magic.pcap");
	expect_refused("magic.pcap", EBADMSG, "not a capture file");
	begin_file(MAGIC_US, false, 113);
	save("cooked.pcap");
	expect_refused("cooked.pcap", EPROTONOSUPPORT, "LINUX_SLL");
}

static void
test_repeat(void **state)
{
	struct weir_node_port_param param = {.pcap_repeat = 3};
	struct weir_node_port_stats stats;

	fill(100);
	save("in.pcap");
	param.pcap_in = path_of("in.pcap");
	assert_int_equal(run_graph(open_graph(&param, NULL, 0)), 1);
	assert_int_equal(weir_node_port_stats(in_port, &stats), 0);
	assert_int_equal(stats.rx_packets, 300);
	assert_int_equal(stats.rx_bytes, 300 * 134);
	assert_int_equal(weir_node_port_stats(out_port, &stats), 0);
	assert_int_equal(stats.tx_packets, 300);
	assert_int_equal(stats.tx_bytes, 300 * 134);
	close_graph();
	/* A new port with the same id counts from the beginning; an empty file ends, however often. */
	fill(0);
	save("in.pcap");
	param.pcap_in = path_of("in.pcap");
	assert_int_equal(run_graph(open_graph(&param, NULL, 0)), 1);
	assert_int_equal(weir_node_port_stats(in_port, &stats), 0);
	assert_int_equal(stats.rx_packets, 0);
	assert_int_equal(stats.rx_bytes, 0);
	close_graph();
}

static void
test_few_mbufs(void **state)
{
	struct weir_node_port_param param = {.rx_burst = 50};
	struct rte_mbuf *hoard[7];
	struct weir_graph *graph;
	struct record r = {0};

	fill(1000);
	save("in.pcap");
	param.pcap_in = path_of("in.pcap");
	param.pool =
		rte_pktmbuf_pool_create("few", 7, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	assert_non_null(param.pool);
	graph = open_graph(&param, "out.pcap", 0);
	/* Not even one: it waits, says so once, and goes on when there are some. */
	assert_int_equal(rte_pktmbuf_alloc_bulk(param.pool, hoard, 7), 0);
	for (int i = 0; i < 10; i++)
		weir_graph_walk(graph);
	assert_int_equal(test_log_count, 1);
	rte_pktmbuf_free_bulk(hoard, 7);
	assert_int_equal(run_graph(graph), 1);
	assert_int_equal(rte_mempool_in_use_count(param.pool), 0);
	close_graph();
	rte_mempool_free(param.pool);
	load("out.pcap");
	for (uint32_t i = 0; i < 1000; i++) {
		assert_true(next_record(&r));
		assert_int_equal(r.seconds, i);
	}
	assert_false(next_record(&r));
}

static void
test_jumbo(void **state)
{
	struct weir_node_port_param param = {0};
	struct record r = {0};

	begin_file(MAGIC_US, false, 1);
	frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 65515);
	put_record(0, 0, &frame, frame.length);
	save("in.pcap");
	param.pcap_in = path_of("in.pcap");
	assert_int_equal(run_graph(open_graph(&param, "out.pcap", 65535)), 1);
	close_graph();
	load("out.pcap");
	frame_forwarded(&expected, &frame, TEST_RIGHT);
	assert_true(next_record(&r));
	assert_int_equal(r.captured, expected.length);
	assert_memory_equal(r.bytes, expected.bytes, expected.length);
}

static int
run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_times, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_snap_length, test_begin, test_end),
		cmocka_unit_test_setup_teardown(
			test_snap_length_of_fragments, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_snap_length_of_options, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_damaged, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_not_a_capture, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_repeat, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_few_mbufs, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_jumbo, test_begin, test_end),
	};

	return cmocka_run_group_tests(tests, up, down);
}

int
main(void)
{
	return test_main("test_pcap", run);
}
