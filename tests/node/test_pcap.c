/* SPDX-License-Identifier: BSD-3-Clause */

/* Ports that are capture files: what is read, what is written, and what is wrong with either. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_errno.h>

#include "node_test.h"

#define MAGIC_US 0xa1b2c3d4
#define MAGIC_NS 0xa1b23c4d

static char dir[] = "/tmp/weir-test-pcap-XXXXXX";
static struct frame frame, expected;
static uint16_t in_port, out_port;
static char run_log[600]; /* number of messages while forward() ran, and the last one */

/* A file as bytes. */
static struct {
	uint8_t bytes[4 << 20];
	size_t size;
	bool swap; /* of the other byte order */
} file;

static char *
path_of(const char *name)
{
	static char paths[4][256];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static void
put32(uint32_t value)
{
	if (file.swap)
		value = __builtin_bswap32(value);
	memcpy(file.bytes + file.size, &value, 4);
	file.size += 4;
}

static void
begin_file(uint32_t magic, bool swap, uint32_t link_type)
{
	file.size = 0;
	file.swap = swap;
	put32(magic);
	put32(swap ? 0x00020004 : 0x00040002);
	put32(0);
	put32(0);
	put32(262144);
	put32(link_type);
	if (swap) {
		/* Two halves of 16 bits each. */
		memcpy(file.bytes + 4, "\0\2\0\4", 4);
	}
}

static void
put_record(uint32_t seconds, uint32_t fraction, const struct frame *f, uint32_t captured)
{
	put32(seconds);
	put32(fraction);
	put32(captured);
	put32(f->length);
	memcpy(file.bytes + file.size, f->bytes, captured);
	file.size += captured;
}

static void
save(const char *name)
{
	FILE *to = fopen(path_of(name), "wb");

	assert_non_null(to);
	assert_int_equal(fwrite(file.bytes, 1, file.size, to), file.size);
	assert_int_equal(fclose(to), 0);
}

/* The records of an output file, in turn. */
static struct {
	uint8_t bytes[8 << 20];
	size_t size, at;
} output;

struct record {
	uint32_t seconds, ns, captured, length;
	const uint8_t *bytes;
};

static void
load(const char *name)
{
	FILE *from = fopen(path_of(name), "rb");
	uint32_t header[6];

	assert_non_null(from);
	output.size = fread(output.bytes, 1, sizeof(output.bytes), from);
	fclose(from);
	assert_true(output.size >= 24);
	memcpy(header, output.bytes, 24);
	assert_int_equal(header[0], MAGIC_NS);
	assert_int_equal(header[1], 0x00040002);
	assert_int_equal(header[5], 1);
	output.at = 24;
}

static bool
next_record(struct record *r)
{
	uint32_t header[4];

	if (output.at == output.size)
		return false;
	assert_true(output.at + 16 <= output.size);
	memcpy(header, output.bytes + output.at, 16);
	*r = (struct record){
		header[0], header[1], header[2], header[3], output.bytes + output.at + 16};
	output.at += 16 + r->captured;
	assert_true(output.at <= output.size);
	return true;
}

/* Ports, routes to the output, a graph. */
static struct weir_graph *
open_graph(struct weir_node_port_param *in, const char *out, uint16_t mtu)
{
	struct weir_node_hop hop = {
		.kind = WEIR_NODE_HOP_FORWARD, .mac = {{0x02, 0xbb, 0, 0, 0, TEST_RIGHT}}};
	struct weir_node_prefix prefix;
	char rx[WEIR_GRAPH_NAME_SIZE];
	const char *pattern = rx;
	uint32_t id;

	in->name = "in";
	in->accept_any = true;
	if (in->pool == NULL)
		in->pool = router.pool;
	in_port = weir_node_port_add(in);
	assert_int_not_equal(in_port, WEIR_NODE_PORT_INVALID);
	out_port = weir_node_port_add(&(struct weir_node_port_param){.name = "out",
		.pcap_out = out == NULL ? NULL : path_of(out),
		.mtu = mtu,
		.mac_given = true,
		.mac = {{0x02, 0xaa, 0, 0, 0, TEST_RIGHT}}});
	assert_int_not_equal(out_port, WEIR_NODE_PORT_INVALID);
	hop.port = out_port;
	assert_int_equal(weir_node_hop_set(0, &hop), 0);
	for (int version = 4; version <= 6; version += 2) {
		assert_int_equal(
			weir_node_prefix_parse(
				version == 4 ? "10.0.0.0/8" : "2001:db8:a::/48", &prefix, NULL),
			0);
		assert_int_equal(weir_node_route_add(&prefix, 0), 0);
	}
	assert_int_equal(weir_node_prepare(), 0);
	assert_int_equal(weir_node_rx_name(in_port, 0, rx), 0);
	id = weir_graph_create("files", &(struct weir_graph_param){.socket_id = SOCKET_ID_ANY,
						.nb_node_patterns = 1,
						.node_patterns = &pattern});
	assert_int_not_equal(id, WEIR_GRAPH_ID_INVALID);
	return weir_graph_get(id);
}

static void
close_graph(void)
{
	/* Not before the graph is gone. */
	assert_int_equal(weir_node_port_remove(in_port), -EBUSY);
	assert_int_equal(weir_node_port_remove(out_port), -EBUSY);
	assert_int_equal(weir_graph_destroy(weir_graph_from_name("files")), 0);
	assert_int_equal(weir_node_port_remove(in_port), 0);
	assert_int_equal(weir_node_port_remove(out_port), 0);
	assert_int_equal(weir_node_port_remove(out_port), -ENOENT);
}

static int
run_graph(struct weir_graph *graph)
{
	for (int i = 0; i < 100000 && weir_node_port_input_ended(in_port) == 0; i++)
		weir_graph_walk(graph);
	weir_graph_walk(graph);
	return weir_node_port_input_ended(in_port);
}

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

static void
test_times(void **state)
{
	struct record r = {0};

	for (int kind = 0; kind < 4; kind++) {
		bool ns = kind & 1;

		begin_file(ns ? MAGIC_NS : MAGIC_US, kind & 2, 1);
		for (uint32_t i = 0; i < 300; i++) {
			frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", i);
			put_record(1600000000 + i, i * 3001, &frame, frame.length);
		}
		save("in.pcap");
		assert_int_equal(forward("in.pcap", "out.pcap"), 1);
		for (uint32_t i = 0; i < 300; i++) {
			frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", i);
			frame_forwarded(&expected, &frame, TEST_RIGHT);
			assert_true(next_record(&r));
			assert_int_equal(r.seconds, 1600000000 + i);
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
fill(uint32_t nb)
{
	begin_file(MAGIC_US, false, 1);
	for (uint32_t i = 0; i < nb; i++) {
		frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 100);
		put_record(i, 0, &frame, frame.length);
	}
}

static uint32_t
count_records(void)
{
	struct record r = {0};
	uint32_t nb = 0;

	while (next_record(&r))
		nb++;
	return nb;
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

static void
test_same_file(void **state)
{
	struct weir_node_port_param a = {.name = "a", .pool = router.pool},
				    b = {.name = "b", .pool = router.pool};
	uint16_t id;

	fill(1);
	save("in.pcap");
	assert_int_equal(link(path_of("in.pcap"), path_of("alias.pcap")), 0);
	a.pcap_in = path_of("in.pcap");
	id = weir_node_port_add(&a);
	assert_int_not_equal(id, WEIR_NODE_PORT_INVALID);
	b.pcap_out = path_of("alias.pcap");
	assert_int_equal(weir_node_port_add(&b), WEIR_NODE_PORT_INVALID);
	assert_int_equal(rte_errno, EEXIST);
	assert_non_null(strstr(test_log, "port 'a' uses this file"));
	assert_int_equal(weir_node_punt_capture(path_of("in.pcap")), -EEXIST);
	/* Two may read it. */
	b.pcap_out = NULL;
	b.pcap_in = path_of("alias.pcap");
	assert_int_not_equal(weir_node_port_add(&b), WEIR_NODE_PORT_INVALID);
	assert_int_equal(weir_node_port_remove(weir_node_port_from_name("b")), 0);
	assert_int_equal(weir_node_port_remove(id), 0);
	/* Nor is read what is being written, by the same port either. */
	a = (struct weir_node_port_param){.name = "a", .pcap_out = path_of("new.pcap")};
	id = weir_node_port_add(&a);
	assert_int_not_equal(id, WEIR_NODE_PORT_INVALID);
	b.pcap_in = path_of("new.pcap");
	assert_int_equal(weir_node_port_add(&b), WEIR_NODE_PORT_INVALID);
	assert_int_equal(rte_errno, EEXIST);
	assert_int_equal(weir_node_port_remove(id), 0);
	a = (struct weir_node_port_param){.name = "a",
		.pcap_in = path_of("in.pcap"),
		.pcap_out = path_of("in.pcap"),
		.pool = router.pool};
	assert_int_equal(weir_node_port_add(&a), WEIR_NODE_PORT_INVALID);
	assert_int_equal(rte_errno, EEXIST);
}

static void
test_output_paths(void **state)
{
	struct weir_node_port_param param = {
		.name = "a", .pcap_out = path_of("some/more/out.pcap")};
	uint16_t id = weir_node_port_add(&param);

	assert_int_not_equal(id, WEIR_NODE_PORT_INVALID);
	assert_int_equal(weir_node_port_remove(id), 0);
	load("some/more/out.pcap");
	assert_int_equal(count_records(), 0);
	param.pcap_out = path_of("some/more/out.pcap/x.pcap");
	assert_int_equal(weir_node_port_add(&param), WEIR_NODE_PORT_INVALID);
	assert_int_equal(rte_errno, ENOTDIR);
	param.pcap_out = path_of("some/more");
	assert_int_equal(weir_node_port_add(&param), WEIR_NODE_PORT_INVALID);
	assert_int_equal(rte_errno, EISDIR);
	param.pcap_out = "/dev/full";
	assert_int_equal(weir_node_port_add(&param), WEIR_NODE_PORT_INVALID);
	assert_int_equal(rte_errno, ENOSPC);
	param.pcap_out = "/dev/null";
	id = weir_node_port_add(&param);
	assert_int_not_equal(id, WEIR_NODE_PORT_INVALID);
	assert_int_equal(weir_node_port_remove(id), 0);
}

static void
test_disk_full(void **state)
{
	const struct rlimit small = {.rlim_cur = 3 << 19, .rlim_max = RLIM_INFINITY};
	struct weir_node_port_param param = {0};
	struct weir_node_port_stats stats;
	struct rlimit old;
	struct weir_graph *graph;
	uint32_t in_file;

	begin_file(MAGIC_US, false, 1);
	for (uint32_t i = 0; i < 2700; i++) {
		frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 1400);
		put_record(i, 0, &frame, frame.length);
	}
	save("in.pcap");
	param.pcap_in = path_of("in.pcap");
	graph = open_graph(&param, "out.pcap", 0);
	getrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(run_graph(graph), 1);
	assert_int_equal(weir_node_port_flush(out_port), -EFBIG);
	assert_non_null(strstr(test_log, "no more are taken"));
	assert_int_equal(weir_node_port_stats(out_port, &stats), 0);
	setrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, SIG_DFL);
	close_graph();
	load("out.pcap");
	in_file = count_records();
	assert_in_range(in_file, 1, 2699);
	assert_int_equal(in_file + stats.tx_errors, stats.tx_packets);
	assert_int_equal(stats.tx_packets + test_reason(WEIR_NODE_REASON_TX_CLOSED), 2700);
	assert_true(test_reason(WEIR_NODE_REASON_TX_CLOSED) > 0);
}

static void
test_punt_capture(void **state)
{
	struct weir_node_port_param param = {0};
	struct record r = {0};

	begin_file(MAGIC_NS, false, 1);
	for (uint32_t i = 0; i < 100; i++) {
		frame_ip4(&frame, TEST_LEFT, "192.0.2.1", i % 2 ? "224.0.0.1" : "10.0.0.1", 100);
		frame_tag(&frame, 0x8100, 77);
		put_record(i, i, &frame, i % 3 ? frame.length : frame.length - 50);
	}
	save("in.pcap");
	param.pcap_in = path_of("in.pcap");
	assert_int_equal(weir_node_punt_capture(path_of("punt.pcap")), 0);
	assert_int_equal(run_graph(open_graph(&param, "out.pcap", 0)), 1);
	assert_int_equal(weir_node_punt_capture(NULL), 0);
	close_graph();
	load("punt.pcap");
	for (uint32_t i = 1; i < 100; i += 2) {
		assert_true(next_record(&r));
		assert_int_equal(r.seconds, i);
		assert_int_equal(r.ns, i);
		assert_int_equal(r.captured, i % 3 ? 138 : 88);
		assert_int_equal(r.length, 138);
		frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "224.0.0.1", 100);
		frame_tag(&frame, 0x8100, 77);
		assert_memory_equal(r.bytes, frame.bytes, r.captured);
	}
	assert_false(next_record(&r));
	assert_int_equal(weir_node_punt_capture(NULL), 0);
	assert_int_equal(weir_node_punt_capture(path_of("punt.pcap/x")), -ENOTDIR);
}

static int
up(void **state)
{
	static const struct weir_node_route_limits limits = {.ip4_routes = 64,
		.ip4_long_groups = 4,
		.ip6_routes = 64,
		.ip6_groups = 64,
		.next_hops = 4,
		.socket_id = -1};

	router.pool = rte_pktmbuf_pool_create(
		"test", 1023, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	return router.pool != NULL && mkdtemp(dir) != NULL && weir_node_route_init(&limits) == 0
		       ? 0
		       : -1;
}

static int
down(void **state)
{
	char command[300];

	weir_node_route_fini();
	rte_mempool_free(router.pool);
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	return system(command);
}

static int
run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_times, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_snap_length, test_begin, test_end),
		cmocka_unit_test_setup_teardown(
			test_snap_length_of_fragments, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_damaged, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_not_a_capture, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_repeat, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_few_mbufs, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_jumbo, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_same_file, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_output_paths, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_disk_full, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_punt_capture, test_begin, test_end),
	};

	return cmocka_run_group_tests(tests, up, down);
}

int
main(void)
{
	return test_main("test_pcap", run);
}
