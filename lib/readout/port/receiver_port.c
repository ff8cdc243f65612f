/* SPDX-License-Identifier: BSD-3-Clause */
/* A device as it was configured, or an error that says what to change. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>

#include "device.h"
#include "receiver_private.h"
#include "weir_base_pool.h"

#define RSS_TYPES (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP)

int
receiver_port_refused(const struct receiver_port *port, const char *what, int rc)
{
	READOUT_LOG(ERROR, "port '%s': %s: %s", port->name, what, strerror(-rc));
	return rc;
}

static int
find_device(const struct receiver_port *port, uint16_t *ethdev, struct rte_eth_dev_info *dev)
{
	int rc = rte_eth_dev_get_port_by_name(port->name, ethdev);

	if (rc < 0) {
		READOUT_LOG(ERROR,
			"port '%s': DPDK has no such device; expected a PCI address of one bound "
			"to "
			"vfio-pci (dpdk-devbind.py --status shows them) and allowed to EAL, or a "
			"virtual device's name",
			port->name);
		return -ENODEV;
	}
	rc = rte_eth_dev_info_get(*ethdev, dev);
	return rc < 0 ? receiver_port_refused(port, "cannot ask the device", rc) : 0;
}

static int
check_ring(const struct receiver_port *port, const char *what, uint16_t wanted, uint16_t adjusted,
	const struct rte_eth_desc_lim *limits)
{
	if (wanted == adjusted)
		return 0;
	READOUT_LOG(ERROR,
		"port '%s': the device has no %s of %u, but from %u to %u descriptors in steps of "
		"%u: set it to %u",
		port->name, what, wanted, limits->nb_min, limits->nb_max, limits->nb_align,
		adjusted);
	return -ENOTSUP;
}

static int
check_limits(const struct receiver_port *port, uint16_t ethdev, const struct rte_eth_dev_info *dev)
{
	const struct weir_readout_receiver_port_config *config = &port->config;
	uint16_t rx = config->rx_ring_size, tx = config->tx_ring_size;
	int rc;

	if (config->nb_queues > RTE_MIN(dev->max_rx_queues, dev->max_tx_queues)) {
		READOUT_LOG(ERROR,
			"port '%s': nb_queues %u, but the device has %u to receive and %u to "
			"transmit",
			port->name, config->nb_queues, dev->max_rx_queues, dev->max_tx_queues);
		return -ENOTSUP;
	}
	if (config->mtu < dev->min_mtu || config->mtu > dev->max_mtu) {
		READOUT_LOG(ERROR, "port '%s': mtu %u, but the device takes %u up to %u",
			port->name, config->mtu, dev->min_mtu, dev->max_mtu);
		return -ENOTSUP;
	}
	rc = rte_eth_dev_adjust_nb_rx_tx_desc(ethdev, &rx, &tx);
	if (rc < 0 && rc != -ENOTSUP)
		return receiver_port_refused(port, "cannot ask for ring sizes", rc);
	rc = check_ring(port, "rx_ring_size", config->rx_ring_size, rx, &dev->rx_desc_lim);
	if (rc < 0)
		return rc;
	return check_ring(port, "tx_ring_size", config->tx_ring_size, tx, &dev->tx_desc_lim);
}

/* Buffers as large as a frame, so that each is in one piece, or smaller ones as asked for, if the device scatters. */
static int
choose_buffers(
	struct receiver_port *port, const struct rte_eth_dev_info *dev, struct rte_eth_conf *conf)
{
	const uint32_t frame = receiver_frame_bytes(port->config.mtu);
	const uint32_t room = receiver_buffer_bytes(&port->config);

	if (room > UINT16_MAX - RTE_PKTMBUF_HEADROOM) {
		READOUT_LOG(ERROR,
			"port '%s': mbufs of %" PRIu32
			" bytes, expected up to %u: set mtu, or mbuf_data_bytes, to less",
			port->name, room, UINT16_MAX - RTE_PKTMBUF_HEADROOM);
		return -EINVAL;
	}
	port->data_room_bytes = (uint16_t)room;
	if (port->data_room_bytes >= frame)
		return 0;
	if ((dev->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) == 0) {
		READOUT_LOG(ERROR,
			"port '%s': frames of mtu %u need buffers of %" PRIu32
			" bytes, for the device does not scatter; mbuf_data_bytes is %u: leave it "
			"out",
			port->name, port->config.mtu, frame, port->data_room_bytes);
		return -ENOTSUP;
	}
	conf->rxmode.offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
	port->scatter = true;
	return 0;
}

/* Where there are several queues; what rules do not steer is spread then. */
static void
choose_rss(
	struct receiver_port *port, const struct rte_eth_dev_info *dev, struct rte_eth_conf *conf)
{
	conf->rx_adv_conf.rss_conf.rss_hf = RSS_TYPES & dev->flow_type_rss_offloads;
	if (port->config.nb_queues == 1 || conf->rx_adv_conf.rss_conf.rss_hf == 0)
		return;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	port->rss = true;
}

static int
make_pools(struct receiver_port *port)
{
	const struct weir_readout_receiver_port_config *config = &port->config;
	char name[RTE_MEMPOOL_NAMESIZE];

	for (uint16_t q = 0; q < config->nb_queues; q++) {
		snprintf(name, sizeof(name), "weir_rx_%u_%u", port->ethdev, q);
		port->queues[q].pool =
			weir_base_pool_create(name, config->num_mbufs, config->mbuf_cache_size,
				(uint16_t)(port->data_room_bytes + RTE_PKTMBUF_HEADROOM),
				rte_eth_dev_socket_id(port->ethdev), NULL);
		if (port->queues[q].pool != NULL)
			continue;
		READOUT_LOG(ERROR,
			"port '%s': no memory for num_mbufs %" PRIu32
			" of %u bytes for each of %u queues (%s): reserve more hugepages",
			port->name, config->num_mbufs, port->data_room_bytes, config->nb_queues,
			rte_strerror(rte_errno));
		return -rte_errno;
	}
	return 0;
}

static int
setup_queues(struct receiver_port *port, const struct rte_eth_dev_info *dev,
	const struct rte_eth_conf *conf)
{
	const unsigned int socket = (unsigned int)rte_eth_dev_socket_id(port->ethdev);
	struct rte_eth_rxconf rx = dev->default_rxconf;
	struct rte_eth_txconf tx = dev->default_txconf;
	int rc;

	rx.offloads = conf->rxmode.offloads;
	tx.offloads = conf->txmode.offloads;
	for (uint16_t q = 0; q < port->config.nb_queues; q++) {
		rc = rte_eth_rx_queue_setup(port->ethdev, q, port->config.rx_ring_size, socket, &rx,
			port->queues[q].pool);
		if (rc < 0)
			return receiver_port_refused(port,
				"cannot set up a receive queue (rx_ring_size, num_mbufs and "
				"buffers "
				"are what it depends on)",
				rc);
		rc = rte_eth_tx_queue_setup(
			port->ethdev, q, port->config.tx_ring_size, socket, &tx);
		if (rc < 0)
			return receiver_port_refused(
				port, "cannot set up a transmit queue (tx_ring_size)", rc);
	}
	return 0;
}

/* Drivers that know their rings say how large they are. */
static int
confirm_rings(struct receiver_port *port)
{
	struct rte_eth_rxq_info rx;
	struct rte_eth_txq_info tx;

	for (uint16_t q = 0; q < port->config.nb_queues; q++) {
		if (rte_eth_rx_queue_info_get(port->ethdev, q, &rx) != 0 ||
			rte_eth_tx_queue_info_get(port->ethdev, q, &tx) != 0)
			return 0;
		if (rx.nb_desc == port->config.rx_ring_size &&
			tx.nb_desc == port->config.tx_ring_size)
			continue;
		READOUT_LOG(ERROR,
			"port '%s': the device made rings of %u and %u descriptors: set "
			"rx_ring_size "
			"and tx_ring_size to these",
			port->name, rx.nb_desc, tx.nb_desc);
		return -ENOTSUP;
	}
	port->rings_confirmed = true;
	return 0;
}

/* A driver that cannot set it leaves it as it is: good enough, if the device has no limit of its own. */
static int
apply_mtu(struct receiver_port *port, const struct rte_eth_dev_info *dev)
{
	const uint32_t frame = receiver_frame_bytes(port->config.mtu);
	uint16_t mtu = device_mtu(dev, port->config.mtu);
	int rc;

	if (mtu < port->config.mtu) {
		READOUT_LOG(INFO,
			"port '%s': its driver knows an MTU up to %u only: packets of mtu %u come "
			"if "
			"the other side of this virtual device sends them",
			port->name, mtu, port->config.mtu);
		return 0;
	}
	rc = rte_eth_dev_set_mtu(port->ethdev, port->config.mtu);
	if (rc == -ENOTSUP && dev->max_rx_pktlen >= frame)
		return 0;
	if (rc == 0)
		rc = rte_eth_dev_get_mtu(port->ethdev, &mtu);
	port->mtu_confirmed = rc == 0 && mtu == port->config.mtu;
	if (port->mtu_confirmed)
		return 0;
	READOUT_LOG(ERROR,
		"port '%s': the device does not take mtu %u (%s): choose a smaller one, or give a "
		"virtual device larger frames",
		port->name, port->config.mtu, rc == 0 ? "it keeps its own" : strerror(-rc));
	return rc == 0 ? -ENOTSUP : rc;
}

static int
apply_mac(struct receiver_port *port)
{
	struct rte_ether_addr wanted, own;
	int rc = rte_eth_macaddr_get(port->ethdev, &own);

	if (rc < 0)
		return receiver_port_refused(port, "cannot read mac_addr", rc);
	memcpy(&wanted, port->config.mac_given ? port->config.mac_addr : own.addr_bytes,
		sizeof(wanted));
	if (!rte_is_same_ether_addr(&wanted, &own)) {
		rc = rte_eth_dev_default_mac_addr_set(port->ethdev, &wanted);
		if (rc == 0)
			rc = rte_eth_macaddr_get(port->ethdev, &own);
	}
	if (rc == 0 && rte_is_same_ether_addr(&wanted, &own)) {
		port->mac = own;
		return 0;
	}
	READOUT_LOG(ERROR,
		"port '%s': the device does not take this mac_addr (%s): leave it out, or give its "
		"own, " RTE_ETHER_ADDR_PRT_FMT,
		port->name, rc == 0 ? "it keeps its own" : strerror(-rc),
		RTE_ETHER_ADDR_BYTES(&own));
	return rc == 0 ? -ENOTSUP : rc;
}

static int
apply_promiscuous(const struct receiver_port *port)
{
	const bool wanted = port->config.promiscuous_mode;
	int rc = wanted ? rte_eth_promiscuous_enable(port->ethdev)
			: rte_eth_promiscuous_disable(port->ethdev);

	if (rte_eth_promiscuous_get(port->ethdev) == wanted)
		return 0;
	READOUT_LOG(ERROR, "port '%s': the device cannot have promiscuous_mode %s (%s)", port->name,
		wanted ? "true" : "false", rc == 0 ? "it keeps its own" : strerror(-rc));
	return rc == 0 ? -ENOTSUP : rc;
}

static int
start(struct receiver_port *port)
{
	int rc = rte_eth_dev_start(port->ethdev);

	if (rc < 0)
		return receiver_port_refused(port, "cannot start the device", rc);
	rc = apply_promiscuous(port);
	if (rc == 0)
		rc = receiver_steer_open(port);
	if (rc == 0 && rte_eth_stats_get(port->ethdev, &port->base) != 0)
		memset(&port->base, 0, sizeof(port->base));
	return rc;
}

/* The device is ours: as it is to be. */
static int
configure(struct receiver_port *port, const struct rte_eth_dev_info *dev,
	const struct rte_eth_conf *conf)
{
	int rc = make_pools(port);

	if (rc == 0)
		rc = setup_queues(port, dev, conf);
	if (rc == 0)
		rc = confirm_rings(port);
	if (rc == 0)
		rc = apply_mtu(port, dev);
	if (rc == 0)
		rc = apply_mac(port);
	return rc == 0 ? start(port) : rc;
}

int
receiver_port_open(struct receiver_port *port)
{
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info dev;
	uint16_t ethdev;
	int rc = find_device(port, &ethdev, &dev);

	if (rc == 0)
		rc = check_limits(port, ethdev, &dev);
	if (rc == 0)
		rc = choose_buffers(port, &dev, &conf);
	if (rc < 0)
		return rc;
	conf.rxmode.mtu = device_mtu(&dev, port->config.mtu);
	choose_rss(port, &dev, &conf);
	rc = rte_eth_dev_configure(ethdev, port->config.nb_queues, port->config.nb_queues, &conf);
	if (rc < 0)
		return receiver_port_refused(port,
			rc == -EBUSY ? "the device runs already: each has one user"
				     : "cannot configure the device (mtu, nb_queues)",
			rc);
	port->ethdev = ethdev;
	return configure(port, &dev, &conf);
}

void
receiver_port_close(struct receiver_port *port)
{
	receiver_steer_close(port);
	if (port->ethdev >= RTE_MAX_ETHPORTS)
		return;
	if (rte_eth_dev_stop(port->ethdev) < 0)
		READOUT_LOG(WARNING, "port '%s': the device did not stop", port->name);
	rte_eth_dev_close(port->ethdev);
	port->ethdev = RTE_MAX_ETHPORTS;
}
