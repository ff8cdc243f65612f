/* SPDX-License-Identifier: BSD-3-Clause */

/* Ports of receivers: what a device is configured with, what is refused, and rules of flows. */

#include "receiver_fixture.h"

#include <rte_byteorder.h>

#include "weir_readout_preflight.h"

static void
defaults(void **state)
{
	struct weir_readout_receiver_port_config config;

	weir_readout_receiver_port_defaults(&config);
	assert_int_equal(config.burst_size, 2048);
	assert_int_equal(config.mbuf_cache_size, 0);
	assert_int_equal(config.num_mbufs, 16384);
	assert_int_equal(config.rx_ring_size, 4096);
	assert_int_equal(config.tx_ring_size, 4096);
	assert_int_equal(config.mtu, 9000);
	assert_false(config.promiscuous_mode);
	assert_true(config.with_flow_control);
	assert_int_equal(WEIR_READOUT_LCORE_SLEEP_US, 10);
}

static void
flow_rules(void **state)
{
	const struct weir_readout_receiver_source sources[] = {
		{RTE_IPV4(10, 73, 139, 20), 0x1234, 1}, {RTE_IPV4(10, 73, 139, 21), 0x1234, 0}};

	for (uint32_t fails = 0; fails <= 2; fails++) {
		rx_begin(1, 2);
		rx_planted.flow = true;
		rx_planted.flow_fails = fails;
		rx.ports[0].sources = sources;
		rx.ports[0].nb_sources = 2;
		rx_create();
		if (fails > 0) {
			assert_int_equal(rx_port(0).steering, WEIR_READOUT_STEERING_SOFTWARE);
			assert_non_null(strstr(rx_log(), "no room for it"));
			assert_int_equal(rx_planted.nb_rules, 0); /* none is left behind */
		} else {
			assert_int_equal(rx_port(0).steering, WEIR_READOUT_STEERING_FLOW);
			assert_int_equal(rx_planted.nb_rules, 2);
			assert_int_equal(rx_planted.rules[0].source_ip,
				rte_cpu_to_be_32(RTE_IPV4(10, 73, 139, 20)));
			assert_int_equal(rx_planted.rules[0].udp_port, rte_cpu_to_be_16(0x1234));
			assert_int_equal(rx_planted.rules[0].queue, 1);
			assert_int_equal(rx_planted.rules[1].queue, 0);
			/* The device's word is taken. */
			rx_link(1, 7, WEIR_BASE_LAYER_UDP);
			rx_give_udp(0, 1, RTE_IPV4(10, 73, 139, 21), 0x1234, 7);
			weir_readout_receiver_poll(rx.receiver, 0, 0);
			assert_int_equal(rx_link_received(0), 1);
		}
		rx_end();
	}
}

/* What a device is configured with, and says of itself. */
static void
applied(void **state)
{
	struct weir_readout_receiver_port_stats port;

	rx_begin(1, 2);
	rx_planted.rss = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP;
	rx.ports[0].promiscuous_mode = true;
	rx_create();
	port = rx_port(0);
	assert_int_equal(port.mtu, 9000);
	assert_int_equal(port.mbuf_data_bytes, 9216); /* a frame and its tags, in units of 1024 */
	assert_int_equal(port.steering, WEIR_READOUT_STEERING_RSS);
	assert_true(port.rss);
	assert_false(port.scatter);
	assert_int_equal(rx_planted.conf.rxmode.mtu, 9000);
	assert_int_equal(rx_planted.conf.rxmode.mq_mode, RTE_ETH_MQ_RX_RSS);
	assert_int_equal(rx_planted.conf.rx_adv_conf.rss_conf.rss_hf, RTE_ETH_RSS_IP);
	assert_int_equal(rte_eth_promiscuous_get(port.ethdev), 1);
	assert_int_equal(weir_readout_receiver_port_stats(rx.receiver, 1, &port), -EINVAL);
	rx_end();
	rx_begin(1, 1);
	rx.ports[0].mbuf_data_bytes = 2048;
	rx_create();
	assert_true(rx_port(0).scatter);
	assert_int_equal(rx_port(0).mbuf_data_bytes, 2048);
	assert_true(rx_planted.conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_SCATTER);
	assert_int_equal(rte_eth_promiscuous_get(rx_port(0).ethdev), 0);
	rx_end();
}

/* A virtual device whose driver names 1518 bytes as the largest frame carries larger ones; what another kind says is so. */
static void
larger_than_named(void **state)
{
	rx_begin(1, 1);
	rx_planted.max_rx_pktlen = 1518;
	rx_planted.mtu_rc = -EINVAL; /* as ethdev answers then */
	rx_create();
	assert_int_equal(rx_planted.conf.rxmode.mtu, 1500);
	assert_int_equal(rx_port(0).mtu, 9000);
	assert_int_equal(rx_port(0).mbuf_data_bytes, 9216);
	assert_false(rx_port(0).mtu_confirmed);
	rx_end();
	rx_begin(1, 1);
	rx_planted.max_rx_pktlen = 9026; /* with two tags */
	rx_create();
	assert_int_equal(rx_planted.conf.rxmode.mtu, 9000);
	rx_end();
	rx_begin(1, 1);
	rx_planted.max_rx_pktlen = 1518;
	rx_planted.physical = true;
	rx_planted.mtu_rc = -EINVAL;
	rx_refused(EINVAL, "does not take mtu 9000");
	assert_int_equal(rx_planted.conf.rxmode.mtu, 9000);
	rx_end();
}

/* The device's counters count from when the receiver was made. */
static void
device_counters(void **state)
{
	rx_begin(1, 1);
	rx_planted.stats = (struct rte_eth_stats){.imissed = 5, .rx_nombuf = 6, .ierrors = 7};
	rx_create();
	assert_int_equal(rx_port(0).imissed, 0);
	rx_planted.stats = (struct rte_eth_stats){.imissed = 15, .rx_nombuf = 26, .ierrors = 37};
	rx_link(0, 7, WEIR_BASE_LAYER_ETHERNET);
	for (uint32_t i = 0; i < 3; i++)
		rx_give(0, 0, "\7", 1);
	weir_readout_receiver_poll(rx.receiver, 0, 0);
	assert_int_equal(rx_port(0).imissed, 10);
	assert_int_equal(rx_port(0).rx_nombuf, 20);
	assert_int_equal(rx_port(0).ierrors, 30);
	assert_int_equal(rx_port(0).ipackets, 3);
	rx_end();
}

/* A value that is wrong in itself, and what is said of it. */
static void
refused(void **state)
{
	const struct weir_readout_receiver_source far = {1, 1, 2}, none = {0, 0, 0};
	const struct weir_readout_receiver_source mixed[] = {{1, 1, 0}, {1, 0, 0}},
						  twins[] = {{1, 1, 0}, {1, 1, 1}};
	struct weir_readout_receiver_port_config good;

	rx_begin(1, 2);
	rx_planted.no_offloads = RTE_ETH_RX_OFFLOAD_SCATTER;
	good = rx.ports[0];
	rx.config.nb_ports = 0;
	rx_refused(EINVAL, "without ports");
	rx.config.nb_ports = 1;
	rx.config.nb_pollers = 0;
	rx_refused(EINVAL, "0 pollers for 2 queues");
	rx.config.nb_pollers = 3;
	rx_refused(EINVAL, "3 pollers for 2 queues");
	rx.config.nb_pollers = 1;
#define EXPECT(rc, message, ...)                                                                   \
	do {                                                                                       \
		rx.ports[0] = good;                                                                \
		__VA_ARGS__;                                                                       \
		rx_refused(rc, message);                                                           \
	} while (0)
	EXPECT(EINVAL, "no pci_addr", rx.ports[0].pci_addr = NULL);
	EXPECT(ENODEV, "DPDK has no such device; expected a PCI address",
		rx.ports[0].pci_addr = "0000:5e:00.0");
	EXPECT(EINVAL, "begin with the defaults", rx.ports[0].nb_queues = 0);
	EXPECT(EINVAL, "begin with the defaults", rx.ports[0].burst_size = 0);
	EXPECT(EINVAL, "no burst could be full", rx.ports[0].burst_size = 65);
	EXPECT(EINVAL, "expected at least rx_ring_size + burst_size = 96",
		rx.ports[0].num_mbufs = 95);
	EXPECT(EINVAL, "mbuf_cache_size 86", rx.ports[0].mbuf_cache_size = 86);
	EXPECT(EINVAL, "mac_addr is a group's, or zero", rx.ports[0].mac_given = true;
		rx.ports[0].mac_addr[0] = 1);
	EXPECT(ENOTSUP, "nb_queues 3, but the device has 2", rx.ports[0].nb_queues = 3);
	EXPECT(ENOTSUP, "mtu 20, but the device takes 46", rx.ports[0].mtu = 20);
	EXPECT(ENOTSUP, "does not scatter; mbuf_data_bytes is 2048",
		rx.ports[0].mbuf_data_bytes = 2048);
	EXPECT(EINVAL, "expected up to 65407", rx.ports[0].mbuf_data_bytes = 65408);
	EXPECT(EINVAL, "source 0: queue 2 of 2", rx.ports[0].sources = &far;
		rx.ports[0].nb_sources = 1);
	EXPECT(EINVAL, "expected source_ip, udp_port, or both", rx.ports[0].sources = &none;
		rx.ports[0].nb_sources = 1);
	EXPECT(EINVAL, "source 1: expected source_ip", rx.ports[0].sources = mixed;
		rx.ports[0].nb_sources = 2);
	EXPECT(EINVAL, "sources 0 and 1 are the same", rx.ports[0].sources = twins;
		rx.ports[0].nb_sources = 2);
	EXPECT(EINVAL, "set mtu, or mbuf_data_bytes, to less", rx.ports[0].mtu = 65535);
	EXPECT(ENOMEM, "reserve more hugepages", rx.ports[0].num_mbufs = 1000000);
	rx_end();
}

/* A value that this device does not take. The device is closed then: one for each. */
static void
refused_by_device(void **state)
{
	static const uint8_t mac[6] = {0x02, 9, 9, 9, 9, 9};

	rx_begin(1, 1);
	rx_planted.max_mtu = 1500;
	rx_refused(ENOTSUP, "mtu 9000, but the device takes 46 up to 1500");
	rx_planted.max_mtu = 0;
	rx_planted.ring_max = 32;
	rx_refused(ENOTSUP, "no rx_ring_size of 64");
	rx_end();
	rx_begin(1, 1);
	rx_planted.mtu_rc = -EINVAL;
	rx_refused(EINVAL, "does not take mtu 9000 (Invalid argument): choose a smaller one");
	rx_end();
	rx_begin(1, 1);
	rx.ports[0].mac_given = true;
	memcpy(rx.ports[0].mac_addr, mac, sizeof(mac));
	rx_refused(ENOTSUP, "does not take this mac_addr");
	rx_end();
	rx_begin(1, 1);
	rx_planted.promiscuous = true;
	rx_refused(ENOTSUP, "cannot have promiscuous_mode false (it keeps its own)");
	rx_end();
	rx_begin(2, 1);
	rx.ports[1].pci_addr = rx.ports[0].pci_addr;
	rx_refused(EBUSY, "runs already");
	rx_end();
}

/* What the advisor asks devices. */
static void
facts(void **state)
{
	struct weir_readout_preflight_facts facts;
	const int cpu = 0;

	rx_begin(2, 1);
	rx_planted.max_mtu = 9702;
	rx_planted.ring_max = 8192;
	rx.ports[1].pci_addr = "0000:5e:00.0";
	weir_readout_preflight_facts_get(&facts, &rx.config, &cpu, true, "/nowhere");
	assert_true(facts.ports[0].known);
	assert_int_equal(facts.ports[0].max_mtu, 9702);
	assert_int_equal(facts.ports[0].rx_ring_max, 8192);
	assert_int_equal(facts.ports[0].link_mbps, RTE_ETH_SPEED_NUM_10G); /* as rings say */
	assert_false(facts.ports[1].known);
	assert_int_equal(facts.hugepages_bytes, 0); /* this EAL has none */
	rx_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(flow_rules),
		cmocka_unit_test(applied),
		cmocka_unit_test(larger_than_named),
		cmocka_unit_test(device_counters),
		cmocka_unit_test(refused),
		cmocka_unit_test(refused_by_device),
		cmocka_unit_test(facts),
	};

	rx_log_listen();
	return run_on_eal(1, tests);
}
