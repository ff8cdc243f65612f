/* SPDX-License-Identifier: BSD-3-Clause */

/* Ports that transmit to capture files, and the capture of what is punted. */

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_pcap_util.h"

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

/* As another process does: its packets stay where they are. */
static void
test_file_being_written(void **state)
{
	struct weir_node_port_param param = {.name = "a", .pcap_out = path_of("out.pcap")};
	struct stat before, after;
	uint16_t id;
	int fd;

	fill(1);
	save("out.pcap");
	fd = open(path_of("out.pcap"), O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(fstat(fd, &before), 0);
	assert_int_equal(weir_node_port_add(&param), WEIR_NODE_PORT_INVALID);
	assert_int_equal(rte_errno, EBUSY);
	assert_non_null(
		strstr(test_log, "this file is being written already, maybe by another process"));
	assert_int_equal(weir_node_punt_capture(path_of("out.pcap")), -EBUSY);
	assert_int_equal(fstat(fd, &after), 0);
	assert_int_equal(after.st_size, before.st_size);
	close(fd);
	id = weir_node_port_add(&param);
	assert_int_not_equal(id, WEIR_NODE_PORT_INVALID);
	assert_int_equal(weir_node_port_remove(id), 0);
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
run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_same_file, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_file_being_written, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_output_paths, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_disk_full, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_punt_capture, test_begin, test_end),
	};

	return cmocka_run_group_tests(tests, up, down);
}

int
main(void)
{
	return test_main("test_pcap_out", run);
}
