/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the nodes of a snapshot: every kind of node, clones, and names that only look alike. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#include "report_counts.h"

static const char *const rx_names[] = {"bytes", "truncated"};
static const char *const tx_names[] = {"packets", "bytes", "full"};
static const char *const frag_names[] = {"fragmented", "fragments"};
static const char *reason_names[WEIR_NODE_REASON_COUNT];

static struct weir_graph_node_stats
node(const char *name, uint64_t objs, const char *const *xstat_names, const uint64_t *xstats,
	uint16_t nb_xstats)
{
	struct weir_graph_node_stats stats = {
		.objs = objs, .nb_xstats = nb_xstats, .xstat_names = xstat_names, .xstats = xstats};

	snprintf(stats.name, sizeof(stats.name), "%s", name);
	return stats;
}

static void
all_kinds(void **state)
{
	static const uint64_t rx0[] = {6400, 2}, rx1[] = {500, 0}, tx0[] = {60, 6000, 3},
			      tx1[] = {20, 900, 0};
	static const uint64_t frag[] = {2, 7};
	uint64_t dropped[WEIR_NODE_REASON_COUNT] = {0}, mine[WEIR_NODE_REASON_COUNT] = {0};
	uint64_t punted[WEIR_NODE_REASON_COUNT] = {0};
	static const char *const event_names[] = {"packets", "forwarded"};
	static const uint64_t events[] = {11, 5};
	struct weir_graph_node_stats nodes[] = {
		node("ethdev_rx-0-0", 64, rx_names, rx0, 2),
		node("ethdev_rx-0-1", 10, rx_names, rx1, 2),
		node("pcap_rx-3-0", 30, rx_names, rx1, 2),
		node("ethdev_tx-0", 63, tx_names, tx0, 3),
		node("pcap_tx-3", 20, tx_names, tx1, 3),
		node("ip4_frag", 2, frag_names, frag, 2),
		node("drop", 15, reason_names, dropped, WEIR_NODE_REASON_COUNT),
		node("drop-mine", 4, reason_names, mine, WEIR_NODE_REASON_COUNT),
		node("punt", 6, reason_names, punted, WEIR_NODE_REASON_COUNT),
		node("null-sink", 3, NULL, NULL, 0),
		node("sched_rx-in", 9, NULL, NULL, 0),
		node("sched_tx-out", 12, event_names, events, 2),
		node("classify", 104, NULL, NULL, 0),
		node("dropper", 1000, NULL, NULL, 0),
		node("nullify-3", 1000, NULL, NULL, 0),
	};
	const struct weir_graph_cluster_stats stats = {
		.nb_nodes = sizeof(nodes) / sizeof(nodes[0]), .nodes = nodes};
	struct report_counts counts;

	(void)state;
	dropped[WEIR_NODE_REASON_TX_FULL] = 3;
	dropped[WEIR_NODE_REASON_IP4_NO_ROUTE] = 12;
	mine[WEIR_NODE_REASON_IP4_NO_ROUTE] = 4;
	punted[WEIR_NODE_REASON_ARP] = 6;
	nodes[12].overflow = 1;
	report_counts_sum(&stats, &counts);
	assert_int_equal(counts.totals.received, 104);
	assert_int_equal(counts.totals.sent, 80);
	assert_int_equal(counts.totals.dropped, 19);
	assert_int_equal(counts.totals.punted, 6);
	assert_int_equal(counts.totals.discarded, 4);
	assert_int_equal(counts.totals.fragmented, 2);
	assert_int_equal(counts.totals.fragments, 7);
	assert_int_equal(counts.from_queues, 9);
	assert_int_equal(counts.to_queues, 11);
	assert_int_equal(
		counts.totals.received + counts.totals.fragments - counts.totals.fragmented,
		counts.totals.sent + counts.totals.dropped + counts.totals.punted +
			counts.totals.discarded);
	assert_int_equal(counts.ports[0].rx_packets, 74);
	assert_int_equal(counts.ports[0].rx_bytes, 6900);
	assert_int_equal(counts.ports[0].rx_truncated, 2);
	assert_int_equal(counts.ports[0].tx_packets, 60);
	assert_int_equal(counts.ports[0].tx_bytes, 6000);
	assert_int_equal(counts.ports[0].tx_full, 3);
	assert_int_equal(counts.ports[3].rx_packets, 30);
	assert_int_equal(counts.ports[3].tx_packets, 20);
	assert_int_equal(counts.ports[1].rx_packets, 0);
	assert_int_equal(counts.dropped[WEIR_NODE_REASON_IP4_NO_ROUTE], 16);
	assert_int_equal(counts.dropped[WEIR_NODE_REASON_TX_FULL], 3);
	assert_int_equal(counts.punted[WEIR_NODE_REASON_ARP], 6);
	assert_int_equal(counts.dropped[WEIR_NODE_REASON_ARP], 0);
}

/* The names that sums are made by are those that the nodes have. */
static void
names_are_those_of_the_nodes(void **state)
{
	static const char *const nodes[] = {
		"ethdev_rx", "ethdev_tx", "pcap_rx", "pcap_tx", "drop", "punt", "null", "ip4_frag"};

	(void)state;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
		if (weir_graph_node_from_name(nodes[i]) == WEIR_GRAPH_NODE_INVALID)
			fail_msg("there is no node '%s'", nodes[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_kinds),
		cmocka_unit_test(names_are_those_of_the_nodes),
	};

	for (int i = 0; i < WEIR_NODE_REASON_COUNT; i++)
		reason_names[i] = weir_node_reason_name((enum weir_node_reason)i);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
