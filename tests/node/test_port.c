/* SPDX-License-Identifier: BSD-3-Clause */

/* Ports that are devices: what is refused, queues, full devices, counters. Devices are rings here. */

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "node_test.h"

#define OUT_SIZE 64 /* a ring of this size holds one less */

static struct frame frame;

/* A device of rings; some tests add ports on it. */
static struct {
	struct rte_ring *in[2], *out[2];
	char name[RTE_ETH_NAME_MAX_LEN];
	uint16_t ethdev;
} device;

static int
up(void **state)
{
	static const struct weir_node_route_limits limits = {.ip4_routes = 64,
		.ip4_long_groups = 4,
		.ip6_routes = 64,
		.ip6_groups = 64,
		.next_hops = 4,
		.socket_id = -1};
	int ethdev;

	router.pool = rte_pktmbuf_pool_create(
		"test", 1023, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	for (int i = 0; i < 2; i++) {
		char name[32];

		snprintf(name, sizeof(name), "in%d", i);
		device.in[i] = rte_ring_create(name, 1024, SOCKET_ID_ANY, 0);
		snprintf(name, sizeof(name), "out%d", i);
		device.out[i] = rte_ring_create(name, OUT_SIZE, SOCKET_ID_ANY, 0);
	}
	ethdev = rte_eth_from_rings("dev", device.in, 2, device.out, 2, 0);
	if (router.pool == NULL || ethdev < 0 ||
		rte_eth_dev_get_name_by_port((uint16_t)ethdev, device.name) < 0)
		return -1;
	device.ethdev = (uint16_t)ethdev;
	return weir_node_route_init(&limits);
}

static int
down(void **state)
{
	weir_node_route_fini();
	rte_mempool_free(router.pool);
	return 0;
}

static struct weir_node_port_param
device_param(void)
{
	return (struct weir_node_port_param){.name = "dev",
		.device = device.name,
		.pool = router.pool,
		.mac_given = true,
		.mac = {{0x02, 0xaa, 0, 0, 0, 0}}};
}

static void
expect_refused(const struct weir_node_port_param *param, int rc, const char *message)
{
	test_log[0] = '\0';
	rte_errno = 0;
	assert_int_equal(weir_node_port_add(param), WEIR_NODE_PORT_INVALID);
	assert_int_equal(rte_errno, rc);
	if (strstr(test_log, message) == NULL)
		fail_msg("'%s' does not say '%s'", test_log, message);
}

static void
test_refused(void **state)
{
	static const char *const names[] = {
		NULL, "", "a b", "a-b", "a.b", "caf\xc3\xa9", "a23456789012345678901234567890_2"};
	struct weir_node_port_param param;
	struct rte_mempool *tiny;

	expect_refused(NULL, EINVAL, "name");
	for (size_t i = 0; i < RTE_DIM(names); i++) {
		param = device_param();
		param.name = names[i];
		expect_refused(&param, EINVAL, "name is 1 to 31 letters");
	}
	param = device_param();
	param.pcap_out = "/dev/null";
	expect_refused(&param, EINVAL, "either a device or files");
	param = device_param();
	param.pool = NULL;
	expect_refused(&param, EINVAL, "needs a pool");
	tiny = rte_pktmbuf_pool_create("tiny", 1, 0, 0, RTE_PKTMBUF_HEADROOM + 64, SOCKET_ID_ANY);
	assert_non_null(tiny);
	param.pool = tiny;
	expect_refused(&param, EINVAL, "expected at least");
	rte_mempool_free(tiny);
	param = device_param();
	param.mtu = WEIR_NODE_MTU_MIN - 1;
	expect_refused(&param, EINVAL, "MTU 67");
	param = device_param();
	param.vlan = 4095;
	expect_refused(&param, EINVAL, "VLAN 4095");
	param = device_param();
	param.rx_burst = WEIR_NODE_RX_BURST_MAX + 1;
	expect_refused(&param, EINVAL, "burst");
	param = device_param();
	param.mac.addr_bytes[0] = 0x03;
	expect_refused(&param, EINVAL, "MAC");
	memset(&param.mac, 0, sizeof(param.mac));
	expect_refused(&param, EINVAL, "MAC");
	param = device_param();
	param.on_full = (enum weir_node_on_full)7;
	expect_refused(&param, EINVAL, "");
	param = device_param();
	param.device = "net_nothing0";
	expect_refused(&param, ENODEV, "no device 'net_nothing0'");
	param = device_param();
	param.nb_rx_queues = 3;
	expect_refused(&param, EINVAL, "3 receive");
	param = device_param();
	param.nb_tx_queues = 3;
	expect_refused(&param, EINVAL, "3 transmit");
	param = (struct weir_node_port_param){
		.name = "file", .pcap_in = "x", .pool = router.pool, .nb_rx_queues = 2};
	expect_refused(&param, EINVAL, "one receive queue");
	assert_int_equal(weir_node_port_from_name("dev"), WEIR_NODE_PORT_INVALID);
	assert_int_equal(weir_node_port_from_name(NULL), WEIR_NODE_PORT_INVALID);
}

static void
test_duplicates(void **state)
{
	struct weir_node_port_param param = device_param();
	uint16_t id = weir_node_port_add(&param);

	assert_int_not_equal(id, WEIR_NODE_PORT_INVALID);
	assert_int_equal(weir_node_port_from_name("dev"), id);
	expect_refused(&param, EEXIST, "a port 'dev' already");
	param.name = "other";
	expect_refused(&param, EEXIST, "is port 'dev' already");
	assert_int_equal(weir_node_port_remove(id), 0);
	/* Somebody else runs it. */
	assert_int_equal(rte_eth_dev_start(device.ethdev), 0);
	expect_refused(&param, EBUSY, "running already");
	assert_int_equal(rte_eth_dev_stop(device.ethdev), 0);
	/* Stopped, it can be a port again. */
	id = weir_node_port_add(&param);
	assert_int_not_equal(id, WEIR_NODE_PORT_INVALID);
	assert_int_equal(weir_node_port_remove(id), 0);
}

static void
test_info(void **state)
{
	struct weir_node_port_param param = device_param();
	struct weir_node_port_info info;
	char name[WEIR_GRAPH_NAME_SIZE];
	uint16_t id;

	param.nb_rx_queues = 2;
	param.nb_tx_queues = 2;
	param.vlan = 4094;
	param.mtu = 1400;
	param.accept_any = true;
	id = weir_node_port_add(&param);
	assert_int_not_equal(id, WEIR_NODE_PORT_INVALID);
	assert_in_range(weir_node_port_max_count(), id + 1, WEIR_NODE_PORT_MAX);
	assert_int_equal(weir_node_port_info(id, &info), 0);
	assert_string_equal(info.name, "dev");
	assert_false(info.is_pcap);
	assert_int_equal(info.ethdev, device.ethdev);
	assert_memory_equal(&info.mac, &param.mac, 6);
	assert_int_equal(info.mtu, 1400);
	assert_int_equal(info.vlan, 4094);
	assert_int_equal(info.nb_rx_queues, 2);
	assert_int_equal(info.nb_tx_queues, 2);
	assert_true(info.accept_any);
	assert_true(info.link_up);
	assert_int_equal(weir_node_rx_name(id, 1, name), 0);
	assert_string_equal(name, "ethdev_rx-0-1");
	assert_int_equal(weir_node_rx_name(id, 2, name), -ENOENT);
	assert_int_equal(weir_node_tx_name(id, name), 0);
	assert_string_equal(name, "ethdev_tx-0");
	assert_int_equal(weir_node_port_input_ended(id), 0);
	assert_int_equal(weir_node_port_flush(id), 0);
	assert_int_equal(weir_node_port_remove(id), 0);
	assert_int_equal(weir_node_port_info(id, &info), -ENOENT);
	assert_int_equal(weir_node_port_info(WEIR_NODE_PORT_INVALID, &info), -ENOENT);
	assert_int_equal(weir_node_tx_name(id, name), -ENOENT);
	assert_int_equal(weir_node_port_remove(id), -ENOENT);
}

static void
test_many(void **state)
{
	char name[16];

	for (uint16_t i = 0; i < WEIR_NODE_PORT_MAX; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		assert_int_equal(
			weir_node_port_add(&(struct weir_node_port_param){.name = name}), i);
	}
	expect_refused(&(struct weir_node_port_param){.name = "more"}, ENOSPC, "one more than 256");
	assert_int_equal(weir_node_prepare(), 0);
	assert_int_equal(weir_graph_node_edge_count(weir_graph_node_from_name("ip6_rewrite")),
		2 + WEIR_NODE_PORT_MAX);
	/* A free id is used again, and edges go where they should. */
	assert_int_equal(weir_node_port_remove(100), 0);
	assert_int_equal(weir_node_prepare(), 0);
	assert_int_equal(weir_graph_node_edge_count(weir_graph_node_from_name("ip6_rewrite")),
		1 + WEIR_NODE_PORT_MAX);
	assert_int_equal(weir_node_port_add(&(struct weir_node_port_param){.name = "again"}), 100);
	for (uint16_t i = 0; i < WEIR_NODE_PORT_MAX; i++)
		assert_int_equal(weir_node_port_remove(i), 0);
	assert_int_equal(weir_node_prepare(), 0);
}

/* The device as port, a route to it, a graph named @name. */
static struct weir_graph *
make_graph(uint16_t port, const char *name, uint16_t queue)
{
	const struct weir_node_hop hop = {WEIR_NODE_HOP_FORWARD, port, {{0x02, 0xbb, 0, 0, 0, 0}}};
	struct weir_node_prefix prefix;
	char rx[WEIR_GRAPH_NAME_SIZE];
	const char *pattern = rx;

	assert_int_equal(weir_node_hop_set(0, &hop), 0);
	assert_int_equal(weir_node_prefix_parse("10.0.0.0/8", &prefix, NULL), 0);
	assert_int_equal(weir_node_route_add(&prefix, 0), 0);
	assert_int_equal(weir_node_prepare(), 0);
	assert_int_equal(weir_node_rx_name(port, queue, rx), 0);
	return weir_graph_get(
		weir_graph_create(name, &(struct weir_graph_param){.socket_id = SOCKET_ID_ANY,
						.nb_node_patterns = 1,
						.node_patterns = &pattern}));
}

static void
inject(uint32_t nb)
{
	frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 26);
	for (uint32_t i = 0; i < nb; i++)
		assert_int_equal(rte_ring_enqueue(device.in[0], frame_to_mbuf(&frame)), 0);
}

static uint32_t
drain(unsigned int queue)
{
	uint32_t nb = 0;
	void *m;

	while (rte_ring_dequeue(device.out[queue], &m) == 0) {
		rte_pktmbuf_free(m);
		nb++;
	}
	return nb;
}

static void
test_full_drops(void **state)
{
	struct weir_node_port_param param = device_param();
	struct weir_node_port_stats stats;
	uint16_t port = weir_node_port_add(&param);
	struct weir_graph *graph = make_graph(port, "g", 0);

	assert_non_null(graph);
	inject(100);
	while (rte_ring_count(device.in[0]) > 0)
		weir_graph_walk(graph);
	assert_int_equal(test_reason(WEIR_NODE_REASON_TX_FULL), 100 - (OUT_SIZE - 1));
	assert_int_equal(weir_node_port_stats(port, &stats), 0);
	assert_int_equal(stats.rx_packets, 100);
	assert_int_equal(stats.rx_bytes, 6000);
	assert_int_equal(stats.tx_packets, OUT_SIZE - 1);
	assert_int_equal(stats.tx_bytes, (OUT_SIZE - 1) * 60);
	assert_int_equal(stats.tx_full_dropped, 100 - (OUT_SIZE - 1));
	assert_int_equal(drain(0), OUT_SIZE - 1);
	/* What was counted outlives the graph, not the port. */
	assert_int_equal(weir_graph_destroy(weir_graph_from_name("g")), 0);
	assert_int_equal(weir_node_port_stats(port, &stats), 0);
	assert_int_equal(stats.rx_packets, 100);
	assert_int_equal(weir_node_port_remove(port), 0);
	assert_int_equal(weir_node_port_stats(port, &stats), -ENOENT);
	assert_int_equal(test_reason(WEIR_NODE_REASON_TX_FULL), 100 - (OUT_SIZE - 1));
	port = weir_node_port_add(&param);
	assert_int_equal(weir_node_port_stats(port, &stats), 0);
	assert_int_equal(stats.rx_packets, 0);
	assert_int_equal(stats.tx_bytes, 0);
	assert_int_equal(weir_node_port_remove(port), 0);
}

static void *
drain_slowly(void *nb)
{
	for (uint32_t left = 500; left > 0;) {
		usleep(100);
		left -= drain(0);
	}
	return nb;
}

static void
test_full_waits(void **state)
{
	struct weir_node_port_param param = device_param();
	struct weir_graph *graph;
	pthread_t thread;
	uint16_t port;

	param.on_full = WEIR_NODE_ON_FULL_WAIT;
	port = weir_node_port_add(&param);
	graph = make_graph(port, "g", 0);
	assert_non_null(graph);
	inject(500);
	assert_int_equal(pthread_create(&thread, NULL, drain_slowly, NULL), 0);
	while (rte_ring_count(device.in[0]) > 0)
		weir_graph_walk(graph);
	pthread_join(thread, NULL);
	assert_int_equal(test_reason(WEIR_NODE_REASON_TX_FULL), 0);
	/* With nobody there it waits until it is told not to. */
	weir_node_stop_waiting(true);
	inject(100);
	while (rte_ring_count(device.in[0]) > 0)
		weir_graph_walk(graph);
	weir_node_stop_waiting(false);
	assert_int_equal(test_reason(WEIR_NODE_REASON_TX_FULL), 100 - (OUT_SIZE - 1));
	drain(0);
	assert_int_equal(weir_graph_destroy(weir_graph_from_name("g")), 0);
	assert_int_equal(weir_node_port_remove(port), 0);
}

static void *
stop_soon(void *nothing)
{
	usleep(50000);
	weir_node_stop_waiting(true);
	return nothing;
}

static void
test_stop_waiting(void **state)
{
	struct weir_node_port_param param = device_param();
	struct weir_graph *graph;
	pthread_t thread;
	uint16_t port;

	param.on_full = WEIR_NODE_ON_FULL_WAIT;
	port = weir_node_port_add(&param);
	graph = make_graph(port, "g", 0);
	assert_non_null(graph);
	inject(200);
	assert_int_equal(pthread_create(&thread, NULL, stop_soon, NULL), 0);
	while (rte_ring_count(device.in[0]) > 0)
		weir_graph_walk(graph);
	pthread_join(thread, NULL);
	weir_node_stop_waiting(false);
	assert_int_equal(test_reason(WEIR_NODE_REASON_TX_FULL), 200 - (OUT_SIZE - 1));
	drain(0);
	assert_int_equal(weir_graph_destroy(weir_graph_from_name("g")), 0);
	assert_int_equal(weir_node_port_remove(port), 0);
}

/* A transmit queue for each graph, and no more graphs than queues. */
static void
test_queues(void **state)
{
	struct weir_node_port_param param = device_param();
	struct weir_graph *graphs[2];
	uint16_t port;

	param.nb_rx_queues = 2;
	param.nb_tx_queues = 2;
	port = weir_node_port_add(&param);
	graphs[0] = make_graph(port, "g0", 0);
	graphs[1] = make_graph(port, "g1", 1);
	assert_non_null(graphs[0]);
	assert_non_null(graphs[1]);
	test_log[0] = '\0';
	assert_null(make_graph(port, "g2", 0));
	assert_int_equal(rte_errno, ENOSPC);
	for (unsigned int i = 0; i < 2; i++) {
		frame_ip4(&frame, TEST_LEFT, "192.0.2.1", "10.0.0.1", 26);
		assert_int_equal(rte_ring_enqueue(device.in[i], frame_to_mbuf(&frame)), 0);
		weir_graph_walk(graphs[1 - i]);
		assert_int_equal(drain(0) + drain(1), 0);
		weir_graph_walk(graphs[i]);
		assert_int_equal(drain(i), 1);
		assert_int_equal(drain(1 - i), 0);
	}
	/* The queue of a graph that is gone is free for another one. */
	assert_int_equal(weir_graph_destroy(weir_graph_from_name("g0")), 0);
	assert_non_null(make_graph(port, "g2", 0));
	inject(1);
	weir_graph_walk(weir_graph_lookup("g2"));
	assert_int_equal(drain(0), 1);
	assert_int_equal(weir_node_port_remove(port), -EBUSY);
	assert_int_equal(weir_graph_destroy(weir_graph_from_name("g1")), 0);
	assert_int_equal(weir_graph_destroy(weir_graph_from_name("g2")), 0);
	assert_int_equal(weir_node_port_remove(port), 0);
}

/* A port added after the graph was made is not part of it. */
static void
test_closed(void **state)
{
	struct weir_node_port_param param = device_param();
	struct weir_node_hop hop = {.kind = WEIR_NODE_HOP_FORWARD, .mac = {{2}}};
	uint16_t port = weir_node_port_add(&param);
	struct weir_graph *graph = make_graph(port, "g", 0);
	uint16_t late;

	assert_non_null(graph);
	late = weir_node_port_add(&(struct weir_node_port_param){.name = "late"});
	hop.port = late;
	assert_int_equal(weir_node_hop_set(0, &hop), 0);
	inject(3);
	weir_graph_walk(graph);
	assert_int_equal(test_reason(WEIR_NODE_REASON_TX_CLOSED), 3);
	assert_int_equal(weir_graph_destroy(weir_graph_from_name("g")), 0);
	assert_int_equal(weir_node_port_remove(port), 0);
	assert_int_equal(weir_node_port_remove(late), 0);
}

/* The parents are not ports. */
static void
test_bare_nodes(void **state)
{
	static const char *const names[] = {"ethdev_rx", "pcap_rx"};

	assert_int_equal(weir_node_prepare(), 0);
	for (size_t i = 0; i < RTE_DIM(names); i++) {
		uint32_t id = weir_graph_create(
			"bare", &(struct weir_graph_param){.socket_id = SOCKET_ID_ANY,
					.nb_node_patterns = 1,
					.node_patterns = &names[i]});

		assert_int_equal(id, WEIR_GRAPH_ID_INVALID);
		assert_int_equal(rte_errno, ENODEV);
	}
}

static int
run(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_refused, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_duplicates, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_info, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_many, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_full_drops, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_full_waits, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_stop_waiting, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_queues, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_closed, test_begin, test_end),
		cmocka_unit_test_setup_teardown(test_bare_nodes, test_begin, test_end),
	};

	return cmocka_run_group_tests(tests, up, down);
}

int
main(void)
{
	return test_main("test_port", run);
}
