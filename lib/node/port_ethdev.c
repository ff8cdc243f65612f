/* SPDX-License-Identifier: BSD-3-Clause */

/* Ports that are DPDK devices: configured and started here, stopped when removed. */

#include <rte_ethdev.h>

#include "node_private.h"

#define RING_SIZE_DEFAULT 1024
#define FRAME_OVERHEAD    (RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN + 2 * RTE_VLAN_HLEN)
#define RSS_TYPES         (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP)

/* Say what the device said. */
static int
refused(const struct node_port *port, const char *what, int rc)
{
	NODE_LOG(ERROR, "port '%s': %s: %s", port->name, what, strerror(-rc));
	return rc;
}

static int
find_device(struct node_port *port, const char *device, struct rte_eth_dev_info *dev)
{
	struct weir_node_port_info other;
	uint16_t ethdev;
	int rc = rte_eth_dev_get_port_by_name(device, &ethdev);

	if (rc < 0) {
		NODE_LOG(ERROR, "port '%s': there is no device '%s'", port->name, device);
		return -ENODEV;
	}
	for (uint16_t id = 0; id < weir_node_port_max_count(); id++) {
		if (weir_node_port_info(id, &other) == 0 && other.ethdev == ethdev) {
			NODE_LOG(ERROR, "port '%s': device '%s' is port '%s' already", port->name,
				device, other.name);
			return -EEXIST;
		}
	}
	rc = rte_eth_dev_info_get(ethdev, dev);
	if (rc < 0)
		return refused(port, "cannot ask the device", rc);
	port->info.ethdev = ethdev;
	return 0;
}

static int
check_limits(struct node_port *port, const struct weir_node_port_param *param,
	const struct rte_eth_dev_info *dev)
{
	port->info.nb_rx_queues = RTE_MAX(param->nb_rx_queues, 1);
	port->info.nb_tx_queues = RTE_MAX(param->nb_tx_queues, 1);
	if (port->info.nb_rx_queues > dev->max_rx_queues ||
		port->info.nb_tx_queues > dev->max_tx_queues) {
		NODE_LOG(ERROR,
			"port '%s': %u receive and %u transmit queues, but device '%s' has %u and "
			"%u",
			port->name, port->info.nb_rx_queues, port->info.nb_tx_queues, param->device,
			dev->max_rx_queues, dev->max_tx_queues);
		return -EINVAL;
	}
	if (port->info.mtu > dev->max_mtu || port->info.mtu < dev->min_mtu) {
		NODE_LOG(ERROR, "port '%s': MTU %u is not one of %u to %u, which device '%s' takes",
			port->name, port->info.mtu, dev->min_mtu, dev->max_mtu, param->device);
		return -EINVAL;
	}
	return 0;
}

/* Several receive queues want flows spread over them. */
static void
choose_rss(
	const struct node_port *port, const struct rte_eth_dev_info *dev, struct rte_eth_conf *conf)
{
	if (port->info.nb_rx_queues == 1)
		return;
	conf->rx_adv_conf.rss_conf.rss_hf = RSS_TYPES & dev->flow_type_rss_offloads;
	if (conf->rx_adv_conf.rss_conf.rss_hf == 0) {
		NODE_LOG(WARNING,
			"port '%s': the device does not spread flows over its %u receive queues by "
			"itself",
			port->name, port->info.nb_rx_queues);
		return;
	}
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	if (dev->rx_offload_capa & RTE_ETH_RX_OFFLOAD_RSS_HASH)
		conf->rxmode.offloads |= RTE_ETH_RX_OFFLOAD_RSS_HASH;
}

static int
choose_offloads(struct node_port *port, const struct weir_node_port_param *param,
	const struct rte_eth_dev_info *dev, struct rte_eth_conf *conf)
{
	uint32_t room = rte_pktmbuf_data_room_size(param->pool) - RTE_PKTMBUF_HEADROOM;

	choose_rss(port, dev, conf);
	if (!param->no_offloads) {
		conf->rxmode.offloads |= dev->rx_offload_capa & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM;
	} else {
		conf->rxmode.offloads &= ~RTE_ETH_RX_OFFLOAD_RSS_HASH;
	}
	port->rx_checksum = conf->rxmode.offloads & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM;
	/* Not "fast free": packets of several pools, and shared ones, leave here. */
	conf->txmode.offloads = dev->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	port->multi_segs = conf->txmode.offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	if (port->info.mtu + (uint32_t)FRAME_OVERHEAD <= room)
		return 0;
	if (dev->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) {
		conf->rxmode.offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
		return 0;
	}
	NODE_LOG(ERROR,
		"port '%s': frames of MTU %u need mbufs with room for %u bytes, the pool's have "
		"%u, and the device "
		"does not scatter",
		port->name, port->info.mtu, port->info.mtu + FRAME_OVERHEAD, room);
	return -EINVAL;
}

static int
set_mtu(const struct node_port *port)
{
	uint16_t mtu = 0;
	int rc;

	if (rte_eth_dev_get_mtu(port->info.ethdev, &mtu) == 0 && mtu == port->info.mtu)
		return 0;
	rc = rte_eth_dev_set_mtu(port->info.ethdev, port->info.mtu);
	if (rc == -ENOTSUP) {
		NODE_LOG(INFO,
			"port '%s': the device leaves its MTU as it is; packets above %u are not "
			"sent there",
			port->name, port->info.mtu);
		return 0;
	}
	return rc < 0 ? refused(port, "cannot set the MTU", rc) : 0;
}

static int
setup_queues(const struct node_port *port, const struct weir_node_port_param *param,
	struct rte_eth_dev_info *dev, const struct rte_eth_conf *conf)
{
	uint16_t nb_rxd = param->rx_ring_size == 0 ? RING_SIZE_DEFAULT : param->rx_ring_size;
	uint16_t nb_txd = param->tx_ring_size == 0 ? RING_SIZE_DEFAULT : param->tx_ring_size;
	struct rte_eth_rxconf rx = dev->default_rxconf;
	struct rte_eth_txconf tx = dev->default_txconf;
	int socket = rte_eth_dev_socket_id(port->info.ethdev);
	int rc = rte_eth_dev_adjust_nb_rx_tx_desc(port->info.ethdev, &nb_rxd, &nb_txd);

	if (rc < 0 && rc != -ENOTSUP)
		return refused(port, "cannot adjust ring sizes", rc);
	rx.offloads = conf->rxmode.offloads;
	tx.offloads = conf->txmode.offloads;
	for (uint16_t q = 0; q < port->info.nb_rx_queues; q++) {
		rc = rte_eth_rx_queue_setup(
			port->info.ethdev, q, nb_rxd, (unsigned int)socket, &rx, param->pool);
		if (rc < 0)
			return refused(port, "cannot set up a receive queue", rc);
	}
	for (uint16_t q = 0; q < port->info.nb_tx_queues; q++) {
		rc = rte_eth_tx_queue_setup(
			port->info.ethdev, q, nb_txd, (unsigned int)socket, &tx);
		if (rc < 0)
			return refused(port, "cannot set up a transmit queue", rc);
	}
	return 0;
}

static int
set_address(struct node_port *port, const struct weir_node_port_param *param)
{
	struct rte_ether_addr mac = param->mac;
	int rc;

	if (!param->mac_given) {
		rc = rte_eth_macaddr_get(port->info.ethdev, &port->info.mac);
		return rc < 0 ? refused(port, "cannot read the MAC address", rc) : 0;
	}
	port->info.mac = mac;
	rc = rte_eth_dev_default_mac_addr_set(port->info.ethdev, &mac);
	if (rc < 0)
		NODE_LOG(WARNING,
			"port '%s': the device keeps its own MAC address (%s); promiscuous may be "
			"needed",
			port->name, strerror(-rc));
	return 0;
}

static int
set_promiscuous(const struct node_port *port, bool on)
{
	int rc = on ? rte_eth_promiscuous_enable(port->info.ethdev)
		    : rte_eth_promiscuous_disable(port->info.ethdev);

	if (rc == 0 || !on)
		return 0;
	if (rc == -ENOTSUP) {
		NODE_LOG(INFO, "port '%s': the device knows no promiscuous mode", port->name);
		return 0;
	}
	return refused(port, "cannot make it promiscuous", rc);
}

int
node_ethdev_open(struct node_port *port, const struct weir_node_port_param *param)
{
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info dev;
	int rc = find_device(port, param->device, &dev);

	if (rc == 0)
		rc = check_limits(port, param, &dev);
	conf.rxmode.mtu = port->info.mtu;
	if (rc == 0)
		rc = choose_offloads(port, param, &dev, &conf);
	if (rc < 0) {
		port->info.ethdev = RTE_MAX_ETHPORTS; /* not ours to stop */
		return rc;
	}
	rc = rte_eth_dev_configure(
		port->info.ethdev, port->info.nb_rx_queues, port->info.nb_tx_queues, &conf);
	if (rc < 0) {
		refused(port,
			rc == -EBUSY ? "the device is running already"
				     : "cannot configure the device",
			rc);
		port->info.ethdev = RTE_MAX_ETHPORTS;
		return rc;
	}
	rc = set_mtu(port);
	if (rc == 0)
		rc = setup_queues(port, param, &dev, &conf);
	if (rc == 0)
		rc = set_address(port, param);
	if (rc < 0)
		return rc;
	rc = rte_eth_dev_start(port->info.ethdev);
	if (rc < 0)
		return refused(port, "cannot start the device", rc);
	rc = set_promiscuous(port, param->promiscuous);
	if (rc == 0 && rte_eth_stats_get(port->info.ethdev, &port->eth_base) != 0)
		memset(&port->eth_base, 0, sizeof(port->eth_base));
	return rc;
}

void
node_ethdev_close(struct node_port *port)
{
	if (port->info.ethdev >= RTE_MAX_ETHPORTS)
		return;
	if (rte_eth_dev_stop(port->info.ethdev) < 0)
		NODE_LOG(WARNING, "port '%s': the device did not stop", port->name);
}

void
node_ethdev_stats(const struct node_port *port, struct weir_node_port_stats *stats)
{
	const struct rte_eth_stats *base = &port->eth_base;
	struct rte_eth_stats now;

	if (rte_eth_stats_get(port->info.ethdev, &now) != 0)
		return;
	stats->rx_missed = now.imissed - base->imissed;
	stats->rx_no_mbuf = now.rx_nombuf - base->rx_nombuf;
	stats->rx_errors = now.ierrors - base->ierrors;
	stats->tx_errors = now.oerrors - base->oerrors;
}
