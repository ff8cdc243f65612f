/* SPDX-License-Identifier: BSD-3-Clause */

/* link_rx: links and a graph share a port. */

#include "../coro/eal.h"

#include <rte_eth_ring.h>

#include "weir_base_pool.h"
#include "weir_bridge.h"
#include "weir_bridge_link.h"
#include "weir_graph.h"
#include "weir_graph_fast.h"
#include "weir_node.h"

#include "../base/log_last.h"

#define MBUFS 4096

static struct rte_mempool *pool;
static struct rte_ring *in;
static uint16_t port;
static struct weir_readout_registry *registry;
static struct weir_readout_dispatch *dispatch;
static struct weir_readout_link *link0;
static uint64_t nb_frames, nb_calls, nb_seen;
static uint8_t last_seen;

static void
consume(void *arg, const void *messages, uint32_t nb)
{
	const struct weir_readout_item *items = messages;

	for (uint32_t i = 0; i < nb; i++)
		assert_int_equal(*(const uint8_t *)items[i].data, 7);
	weir_readout_item_release(items, nb);
	nb_frames += nb;
	nb_calls++;
}

/* What goes on into the graph comes here. */
static uint16_t
see(struct weir_graph *graph, struct weir_graph_node *node, void **objs, uint16_t nb_objs)
{
	for (uint16_t i = 0; i < nb_objs; i++) {
		struct rte_mbuf *m = objs[i];

		assert_int_equal(m->port, port);
		last_seen++;
		assert_int_equal(*rte_pktmbuf_mtod(m, const uint8_t *), 100 + last_seen % 100);
		rte_pktmbuf_free(m);
	}
	nb_seen += nb_objs;
	return nb_objs;
}

static struct weir_graph_node_register see_node = {
	WEIR_GRAPH_NODE_HEADER,
	.name = "see",
	.process = see,
};
WEIR_GRAPH_NODE_REGISTER(see_node);

static int
make(void **state)
{
	struct weir_node_port_param param = {.name = "shared", .device = "net_ring_shared"};
	const struct weir_base_format spec = {.name = "small",
		.layer = WEIR_BASE_LAYER_ETHERNET,
		.fields = {[WEIR_BASE_FIELD_STREAM] = {0, 8}}};
	struct weir_readout_format format;

	pool = weir_base_pool_create("shared", MBUFS, 0, 2048, SOCKET_ID_ANY, NULL);
	in = rte_ring_create("shared_in", 4096, SOCKET_ID_ANY, 0);
	assert_non_null(pool);
	assert_non_null(in);
	assert_true(rte_eth_from_rings("shared", &in, 1, &in, 1, 0) >= 0);
	param.pool = pool;
	port = weir_node_port_add(&param);
	assert_int_not_equal(port, WEIR_NODE_PORT_INVALID);
	registry = weir_readout_registry_create();
	dispatch = weir_readout_dispatch_create(1);
	assert_non_null(weir_readout_sink_create(registry,
		&(struct weir_readout_sink_config){
			.name = "consumer", .type = &weir_readout_item_type, .receive = consume}));
	assert_int_equal(weir_readout_format_compile(&spec, &format, NULL, NULL, 0), 0);
	link0 = weir_readout_link_create(registry,
		&(struct weir_readout_link_config){
			.name = "link0", .sink = "consumer", .format = &format, .key = 7});
	assert_int_equal(weir_readout_registry_bind(registry), 0);
	assert_int_equal(weir_readout_dispatch_add(dispatch, 0, link0), 0);
	return 0;
}

static int
unmake(void **state)
{
	weir_readout_dispatch_free(dispatch);
	weir_readout_link_free(link0);
	weir_readout_registry_free(registry);
	assert_int_equal(weir_node_port_remove(port), 0);
	assert_int_equal(rte_mempool_avail_count(pool), MBUFS);
	return 0;
}

static void
give(uint8_t first_byte)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	memset(rte_pktmbuf_append(m, 60), first_byte, 60);
	assert_int_equal(rte_ring_enqueue(in, m), 0);
}

/* Runs of the link's frames, with others between. */
static void
shared(void **state)
{
	const struct weir_bridge_link_param param = {
		.name = "a", .port = port, .dispatch = dispatch, .next = "see"};
	const char *const pattern = "link_rx-a";
	struct weir_graph_param graph_param = {
		.socket_id = SOCKET_ID_ANY, .nb_node_patterns = 1, .node_patterns = &pattern};
	struct weir_readout_dispatch_stats stats;
	uint32_t node = weir_bridge_link_create(&param), graph;

	assert_int_not_equal(node, WEIR_GRAPH_NODE_INVALID);
	graph = weir_graph_create("shared", &graph_param);
	assert_int_not_equal(graph, WEIR_GRAPH_ID_INVALID);
	assert_int_equal(weir_bridge_node_delete(node), -EBUSY);
	/* One burst: 2000 frames and 20 others. */
	for (unsigned int i = 0; i < 2020; i++)
		give(i % 101 == 50 ? (uint8_t)(100 + (1 + i / 101) % 100) : 7);
	weir_graph_walk(weir_graph_lookup("shared"));
	assert_int_equal(nb_frames, 2000);
	assert_true(nb_calls <= 2000 / 64 + 1);
	assert_int_equal(nb_seen, 20);
	weir_graph_walk(weir_graph_lookup("shared")); /* idle */
	assert_int_equal(weir_readout_dispatch_stats(dispatch, 0, &stats), 0);
	assert_int_equal(stats.received, 2020);
	assert_int_equal(stats.links, 2000);
	assert_int_equal(stats.unknown_stream, 20);
	/* More than the graph's own vectors. */
	nb_seen = last_seen = 0;
	for (unsigned int i = 0; i < 1000; i++)
		give((uint8_t)(100 + (i + 1) % 256 % 100));
	weir_graph_walk(weir_graph_lookup("shared"));
	assert_int_equal(nb_seen, 1000);
	assert_int_equal(weir_graph_destroy(graph), 0);
	assert_int_equal(weir_bridge_node_delete(node), 0);
}

/* The node's own counters: packets = link_frames + its edge. */
static void
counters(void **state)
{
	const struct weir_bridge_link_param param = {
		.name = "b", .port = port, .burst = 10, .dispatch = dispatch, .next = "see"};
	const char *const pattern = "link_rx-b", *const name = "counted";
	struct weir_graph_param graph_param = {
		.socket_id = SOCKET_ID_ANY, .nb_node_patterns = 1, .node_patterns = &pattern};
	struct weir_graph_cluster *cluster = weir_graph_cluster_create(&name, 1);
	const struct weir_graph_cluster_stats *stats;
	const struct weir_graph_node_stats *counted;
	uint32_t node = weir_bridge_link_create(&param), graph;

	graph = weir_graph_create(name, &graph_param);
	assert_int_not_equal(graph, WEIR_GRAPH_ID_INVALID);
	nb_seen = last_seen = 0;
	for (unsigned int i = 0; i < 25; i++)
		give(i % 5 == 0 ? (uint8_t)(101 + i / 5) : 7);
	for (unsigned int i = 0; i < 2; i++) /* 10 at a time */
		weir_graph_walk(weir_graph_lookup(name));
	assert_int_equal(weir_graph_cluster_get(cluster, &stats), 0);
	counted = &stats->nodes[0];
	assert_string_equal(counted->name, "link_rx-b");
	assert_int_equal(counted->objs, 20);
	assert_int_equal(counted->edge_objs[0], 4);
	assert_string_equal(counted->xstat_names[0], "packets");
	assert_int_equal(counted->xstats[0], 20);
	assert_int_equal(counted->xstats[1], 20 * 60);
	assert_int_equal(counted->xstats[2], 16);
	weir_graph_walk(weir_graph_lookup(name));
	assert_int_equal(nb_seen, 5);
	weir_graph_cluster_destroy(cluster);
	assert_int_equal(weir_graph_destroy(graph), 0);
	assert_int_equal(weir_bridge_node_delete(node), 0);
}

static void
expect_refused(const struct weir_bridge_link_param *param, int rc, const char *message)
{
	log_forget();
	assert_int_equal(weir_bridge_link_create(param), WEIR_GRAPH_NODE_INVALID);
	assert_int_equal(rte_errno, rc);
	if (strstr(log_message, message) == NULL)
		fail_msg("'%s' does not say '%s'", log_message, message);
}

static void
refused(void **state)
{
	struct weir_bridge_link_param param = {.name = "c", .port = port, .dispatch = dispatch};
	const char *const pattern = "link_rx";
	struct weir_graph_param graph_param = {
		.socket_id = SOCKET_ID_ANY, .nb_node_patterns = 1, .node_patterns = &pattern};
	uint32_t node;

	expect_refused(NULL, EINVAL, "needs a name");
	param.dispatch_queue = 1;
	expect_refused(&param, EINVAL, "a queue of a dispatch");
	param.dispatch_queue = 0;
	param.queue = 1;
	expect_refused(&param, EINVAL, "queue 1, but port 'shared' has 1");
	param.queue = 0;
	param.port = (uint16_t)(port + 1);
	expect_refused(&param, ENODEV, "is no device");
	param.port = port;
	node = weir_bridge_link_create(&param);
	assert_int_not_equal(node, WEIR_GRAPH_NODE_INVALID);
	expect_refused(&param, EEXIST, "'link_rx-c' could not be made");
	assert_int_equal(weir_bridge_node_delete(node), 0);
	assert_int_equal(weir_graph_create("bare", &graph_param), WEIR_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, ENODEV);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared),
		cmocka_unit_test(counters),
		cmocka_unit_test(refused),
	};
	int rc = 1;

	log_listen();
	if (begin_eal(1) >= 0) {
		rc = cmocka_run_group_tests(tests, make, unmake);
		rte_eal_cleanup();
	}
	return rc;
}
