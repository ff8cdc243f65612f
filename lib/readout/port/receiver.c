/* SPDX-License-Identifier: BSD-3-Clause */
/* A receiver's life, and its counters. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "buffer/memory.h"
#include "receiver_private.h"
#include "weir_base_nodes.h"
#include "weir_base_pool.h"

static int
make_queues(struct receiver_port *port)
{
	for (uint16_t q = 0; q < port->config.nb_queues; q++) {
		struct receiver_queue *queue = &port->queues[q];

		queue->port = port;
		queue->number = q;
		queue->burst = port->config.burst_adaptive
				       ? (uint16_t)RTE_MIN(WEIR_BASE_ADAPTIVE_BURST_MIN,
						 port->config.burst_size)
				       : port->config.burst_size;
		queue->own.burst_size = queue->burst;
		queue->mbufs = calloc(port->config.burst_size, sizeof(struct rte_mbuf *));
		if (queue->mbufs == NULL)
			return -ENOMEM;
	}
	return 0;
}

/* A copy of what is configured; not its device yet. */
static int
make_port(struct weir_readout_receiver *receiver, struct receiver_port *port,
	const struct weir_readout_receiver_port_config *config, uint16_t first_queue)
{
	const size_t bytes = config->nb_sources * sizeof(*config->sources);
	struct weir_readout_receiver_source *sources = NULL;

	port->config = *config;
	port->first_queue = first_queue;
	port->queues = &receiver->queues[first_queue];
	strcpy(port->name, config->pci_addr);
	port->config.pci_addr = port->name;
	port->config.sources = NULL;
	if (bytes > 0) {
		sources = malloc(bytes);
		if (sources == NULL)
			return -ENOMEM;
		memcpy(sources, config->sources, bytes);
	}
	port->config.sources = sources;
	return make_queues(port);
}

static int
make_ports(
	struct weir_readout_receiver *receiver, const struct weir_readout_receiver_config *config)
{
	uint16_t first_queue = 0;

	for (uint16_t i = 0; i < config->nb_ports; i++) {
		int rc = make_port(receiver, &receiver->ports[i], &config->ports[i], first_queue);

		if (rc < 0)
			return rc;
		first_queue += config->ports[i].nb_queues;
	}
	for (uint16_t i = 0; i < config->nb_ports; i++) {
		int rc = receiver_port_open(&receiver->ports[i]);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static struct weir_readout_receiver *
make_receiver(const struct weir_readout_receiver_config *config)
{
	struct weir_readout_receiver *receiver = calloc(1, sizeof(*receiver));

	if (receiver == NULL)
		return NULL;
	for (uint16_t i = 0; i < config->nb_ports; i++)
		receiver->nb_queues += config->ports[i].nb_queues;
	receiver->nb_pollers = config->nb_pollers;
	receiver->lcore_sleep_us = config->lcore_sleep_us;
	receiver->ports = calloc(config->nb_ports, sizeof(*receiver->ports));
	receiver->queues = memory_zeroed(receiver->nb_queues, sizeof(*receiver->queues));
	receiver->pollers = memory_zeroed(receiver->nb_pollers, sizeof(*receiver->pollers));
	receiver->dispatch = weir_readout_dispatch_create(receiver->nb_queues);
	if (receiver->ports == NULL || receiver->queues == NULL || receiver->pollers == NULL ||
		receiver->dispatch == NULL) {
		weir_readout_receiver_free(receiver);
		return NULL;
	}
	receiver->nb_ports = config->nb_ports;
	for (uint16_t i = 0; i < receiver->nb_ports; i++)
		receiver->ports[i].ethdev = RTE_MAX_ETHPORTS;
	return receiver;
}

struct weir_readout_receiver *
weir_readout_receiver_create(const struct weir_readout_receiver_config *config)
{
	struct weir_readout_receiver *receiver;
	int rc = weir_readout_receiver_config_check(config);

	if (rc < 0) {
		rte_errno = -rc;
		return NULL;
	}
	receiver = make_receiver(config);
	if (receiver == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	rc = make_ports(receiver, config);
	if (rc == 0)
		return receiver;
	weir_readout_receiver_free(receiver);
	rte_errno = -rc;
	return NULL;
}

/* @return mbufs that consumers hold */
static uint32_t
free_pools(struct weir_readout_receiver *receiver)
{
	uint32_t nb_held = 0;

	for (uint16_t q = 0; q < receiver->nb_queues && receiver->queues != NULL; q++) {
		struct receiver_queue *queue = &receiver->queues[q];
		uint32_t held = queue->pool == NULL ? 0 : rte_mempool_in_use_count(queue->pool);

		nb_held += held;
		if (held > 0)
			continue;
		weir_base_pool_free(queue->pool);
		queue->pool = NULL;
	}
	return nb_held;
}

int
weir_readout_receiver_free(struct weir_readout_receiver *receiver)
{
	uint32_t nb_held;

	if (receiver == NULL)
		return 0;
	for (uint16_t i = 0; i < receiver->nb_ports; i++)
		receiver_port_close(&receiver->ports[i]);
	nb_held = free_pools(receiver);
	if (nb_held > 0) {
		READOUT_LOG(ERROR,
			"%" PRIu32 " mbufs of a receiver that is to be freed are held by consumers",
			nb_held);
		return -EBUSY;
	}
	for (uint16_t q = 0; q < receiver->nb_queues && receiver->queues != NULL; q++)
		free(receiver->queues[q].mbufs);
	for (uint16_t i = 0; i < receiver->nb_ports; i++)
		free((void *)(uintptr_t)receiver->ports[i].config.sources);
	weir_readout_dispatch_free(receiver->dispatch);
	free(receiver->pollers);
	free(receiver->queues);
	free(receiver->ports);
	free(receiver);
	return 0;
}

struct weir_readout_dispatch *
weir_readout_receiver_dispatch(struct weir_readout_receiver *receiver)
{
	return receiver->dispatch;
}

uint16_t
weir_readout_receiver_nb_queues(const struct weir_readout_receiver *receiver)
{
	return receiver->nb_queues;
}

uint64_t
weir_readout_receiver_sleeps(const struct weir_readout_receiver *receiver, uint16_t poller)
{
	return __atomic_load_n(&receiver->pollers[poller].sleeps, __ATOMIC_RELAXED);
}

int
weir_readout_receiver_queue_stats(const struct weir_readout_receiver *receiver, uint16_t queue,
	struct weir_readout_receiver_queue_stats *stats)
{
	const struct receiver_queue *q = &receiver->queues[queue];

	if (queue >= receiver->nb_queues)
		return -EINVAL;
	tally_read(&q->version, (const uint64_t *)&q->published, (uint64_t *)stats,
		TALLY_WORDS(*stats));
	return 0;
}

int
weir_readout_receiver_port_stats(const struct weir_readout_receiver *receiver, uint16_t number,
	struct weir_readout_receiver_port_stats *stats)
{
	struct receiver_port *port = &receiver->ports[number];
	struct rte_eth_stats now;
	int rc;

	if (number >= receiver->nb_ports)
		return -EINVAL;
	rte_spinlock_lock(&port->asked);
	rc = rte_eth_stats_get(port->ethdev, &now);
	rte_spinlock_unlock(&port->asked);
	if (rc < 0)
		return rc;
	*stats = (struct weir_readout_receiver_port_stats){
		.imissed = now.imissed - port->base.imissed,
		.rx_nombuf = now.rx_nombuf - port->base.rx_nombuf,
		.ierrors = now.ierrors - port->base.ierrors,
		.ipackets = now.ipackets - port->base.ipackets,
		.steering = port->steering,
		.rss = port->rss,
		.scatter = port->scatter,
		.rings_confirmed = port->rings_confirmed,
		.mtu_confirmed = port->mtu_confirmed,
		.ethdev = port->ethdev,
		.mtu = port->config.mtu,
		.first_queue = port->first_queue,
		.nb_queues = port->config.nb_queues,
		.mbuf_data_bytes = port->data_room_bytes,
	};
	memcpy(stats->mac_addr, port->mac.addr_bytes, sizeof(stats->mac_addr));
	return 0;
}
