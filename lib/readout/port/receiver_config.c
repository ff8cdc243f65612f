/* SPDX-License-Identifier: BSD-3-Clause */
/* What a receiver may be configured as. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "receiver_private.h"

#define QUEUES_MAX 1024u

#define FRAME_OVERHEAD (RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN + 2 * RTE_VLAN_HLEN)
/* Many devices know sizes of buffers in units of so much, and round down. */
#define BUFFER_UNIT 1024u

/* rte_mempool's rule: a cache may hold up to 1.5 times its size. */
#define CACHE_FLUSH_FACTOR 1.5

const char *
weir_readout_steering_name(enum weir_readout_steering steering)
{
	static const char *const names[WEIR_READOUT_NB_STEERINGS] = {
		[WEIR_READOUT_STEERING_NONE] = "none",
		[WEIR_READOUT_STEERING_RSS] = "rss",
		[WEIR_READOUT_STEERING_SOFTWARE] = "software",
		[WEIR_READOUT_STEERING_FLOW] = "flow",
	};

	return (unsigned int)steering < WEIR_READOUT_NB_STEERINGS ? names[steering] : NULL;
}

const char *
weir_readout_receiver_drop_name(enum weir_readout_receiver_drop reason)
{
	static const char *const names[WEIR_READOUT_RECEIVER_NB_DROPS] = {
		[WEIR_READOUT_RECEIVER_DROP_ARP_NOT_SENT] = "arp_not_sent",
		[WEIR_READOUT_RECEIVER_DROP_ADDRESS_CONFLICT] = "address_conflict",
		[WEIR_READOUT_RECEIVER_DROP_HANDOVER_FULL] = "handover_full",
	};

	return (unsigned int)reason < WEIR_READOUT_RECEIVER_NB_DROPS ? names[reason] : NULL;
}

void
weir_readout_receiver_port_defaults(struct weir_readout_receiver_port_config *config)
{
	*config = (struct weir_readout_receiver_port_config){
		.nb_queues = 1,
		.burst_size = 2048,
		.mbuf_cache_size = 0,
		.num_mbufs = 16384,
		.rx_ring_size = 4096,
		.tx_ring_size = 4096,
		.mtu = 9000,
		.promiscuous_mode = false,
		.with_flow_control = true,
		.announce_interval_ms = 1000,
	};
}

uint32_t
receiver_frame_bytes(uint16_t mtu)
{
	return mtu + (uint32_t)FRAME_OVERHEAD;
}

uint32_t
receiver_buffer_bytes(const struct weir_readout_receiver_port_config *config)
{
	return config->mbuf_data_bytes != 0
		       ? config->mbuf_data_bytes
		       : RTE_ALIGN_MUL_CEIL(receiver_frame_bytes(config->mtu), BUFFER_UNIT);
}

uint64_t
weir_readout_receiver_pool_bytes(const struct weir_readout_receiver_port_config *config)
{
	return config->nb_queues * (uint64_t)config->num_mbufs *
	       (receiver_buffer_bytes(config) + RTE_PKTMBUF_HEADROOM + sizeof(struct rte_mbuf) +
		       sizeof(struct rte_mempool_objhdr));
}

static int
check_sizes(const struct weir_readout_receiver_port_config *port)
{
	if (port->nb_queues == 0 || port->burst_size == 0 || port->rx_ring_size == 0 ||
		port->tx_ring_size == 0) {
		READOUT_LOG(ERROR,
			"port '%s': nb_queues, burst_size and ring sizes are 1 or more; begin with "
			"the defaults",
			port->pci_addr);
		return -EINVAL;
	}
	if (port->burst_size > port->rx_ring_size) {
		READOUT_LOG(ERROR,
			"port '%s': burst_size %u is more than the %u packets that rx_ring_size "
			"has room for: no burst could be full",
			port->pci_addr, port->burst_size, port->rx_ring_size);
		return -EINVAL;
	}
	if (port->num_mbufs < (uint32_t)port->rx_ring_size + port->burst_size) {
		READOUT_LOG(ERROR,
			"port '%s': num_mbufs %" PRIu32 ", expected at least rx_ring_size + "
			"burst_size = %u, for the ring is full of them when a burst is taken",
			port->pci_addr, port->num_mbufs, port->rx_ring_size + port->burst_size);
		return -EINVAL;
	}
	if (port->mbuf_cache_size > RTE_MEMPOOL_CACHE_MAX_SIZE ||
		port->mbuf_cache_size * CACHE_FLUSH_FACTOR > port->num_mbufs) {
		READOUT_LOG(ERROR,
			"port '%s': mbuf_cache_size %u, expected up to %u, and num_mbufs / 1.5",
			port->pci_addr, port->mbuf_cache_size, RTE_MEMPOOL_CACHE_MAX_SIZE);
		return -EINVAL;
	}
	return 0;
}

static int
check_mac(const struct weir_readout_receiver_port_config *port)
{
	struct rte_ether_addr mac;

	memcpy(&mac, port->mac_addr, sizeof(mac));
	if (!port->mac_given || rte_is_valid_assigned_ether_addr(&mac))
		return 0;
	READOUT_LOG(ERROR, "port '%s': mac_addr is a group's, or zero; expected a host's",
		port->pci_addr);
	return -EINVAL;
}

/* All name the same things, each once: then no order among them matters, to a device either. */
static int
check_sources(const struct weir_readout_receiver_port_config *port)
{
	for (uint32_t i = 0; i < port->nb_sources; i++) {
		const struct weir_readout_receiver_source *source = &port->sources[i];

		if (source->queue >= port->nb_queues) {
			READOUT_LOG(ERROR, "port '%s': source %" PRIu32 ": queue %u of %u",
				port->pci_addr, i, source->queue, port->nb_queues);
			return -EINVAL;
		}
		if ((source->source_ip == 0 && source->udp_port == 0) ||
			(source->source_ip != 0) != (port->sources[0].source_ip != 0) ||
			(source->udp_port != 0) != (port->sources[0].udp_port != 0)) {
			READOUT_LOG(ERROR,
				"port '%s': source %" PRIu32
				": expected source_ip, udp_port, or both, as of all sources of the "
				"port",
				port->pci_addr, i);
			return -EINVAL;
		}
		for (uint32_t k = 0; k < i; k++) {
			if (source->source_ip != port->sources[k].source_ip ||
				source->udp_port != port->sources[k].udp_port)
				continue;
			READOUT_LOG(ERROR,
				"port '%s': sources %" PRIu32 " and %" PRIu32 " are the same",
				port->pci_addr, k, i);
			return -EINVAL;
		}
	}
	return 0;
}

static int
check_port(const struct weir_readout_receiver_port_config *port)
{
	int rc;

	if (port->pci_addr == NULL || port->pci_addr[0] == '\0' ||
		strlen(port->pci_addr) >= RTE_ETH_NAME_MAX_LEN) {
		READOUT_LOG(ERROR, "a port has no pci_addr: expected the name of a DPDK device");
		return -EINVAL;
	}
	rc = check_sizes(port);
	if (rc == 0)
		rc = check_mac(port);
	return rc == 0 ? check_sources(port) : rc;
}

int
weir_readout_receiver_config_check(const struct weir_readout_receiver_config *config)
{
	uint32_t nb_queues = 0;

	if (config->nb_ports == 0) {
		READOUT_LOG(ERROR, "a receiver without ports");
		return -EINVAL;
	}
	for (uint16_t i = 0; i < config->nb_ports; i++) {
		int rc = check_port(&config->ports[i]);

		if (rc < 0)
			return rc;
		nb_queues += config->ports[i].nb_queues;
	}
	if (nb_queues > QUEUES_MAX) {
		READOUT_LOG(ERROR, "%" PRIu32 " queues, expected up to %u", nb_queues, QUEUES_MAX);
		return -EINVAL;
	}
	if (config->nb_pollers == 0 || config->nb_pollers > nb_queues) {
		READOUT_LOG(ERROR, "%u pollers for %" PRIu32 " queues, expected 1 up to as many",
			config->nb_pollers, nb_queues);
		return -EINVAL;
	}
	return 0;
}
