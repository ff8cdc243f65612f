/* SPDX-License-Identifier: BSD-3-Clause */
/* Which queue a source's packets go to: by rules of the device, or by a map of our own and rings between queues. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_flow.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "payload.h"
#include "receiver_private.h"

#define TYPE_AT    12u /* in an Ethernet header */
#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

static uint64_t
key_of(uint32_t ip, uint16_t udp_port)
{
	return (uint64_t)ip << 16 | udp_port;
}

static uint32_t
place_of(const struct steer *steer, uint64_t key)
{
	return (uint32_t)(key * MULTIPLIER >> 32) & steer->mask;
}

/* At most half of the slots are used: a search ends. */
static int
make_map(struct receiver_port *port)
{
	const uint32_t nb_slots = rte_align32pow2(2 * port->config.nb_sources);
	struct steer *steer = &port->steer;

	steer->slots = calloc(nb_slots, sizeof(*steer->slots));
	if (steer->slots == NULL)
		return -ENOMEM;
	steer->mask = nb_slots - 1;
	steer->by_ip = port->config.sources[0].source_ip != 0;
	steer->by_port = port->config.sources[0].udp_port != 0;
	for (uint32_t i = 0; i < port->config.nb_sources; i++) {
		const struct weir_readout_receiver_source *source = &port->config.sources[i];
		uint64_t key = key_of(source->source_ip, source->udp_port);
		uint32_t place = place_of(steer, key);

		while (steer->slots[place].used)
			place = (place + 1) & steer->mask;
		steer->slots[place] = (struct steer_slot){key, true, source->queue};
	}
	return 0;
}

/* From each queue to each other one: one poller hands over, one takes over, and none waits for another. */
static int
make_rings(struct receiver_port *port, struct receiver_queue *to)
{
	char name[RTE_RING_NAMESIZE];

	to->handover = calloc(port->config.nb_queues, sizeof(struct rte_ring *));
	if (to->handover == NULL)
		return -ENOMEM;
	for (uint16_t from = 0; from < port->config.nb_queues; from++) {
		if (from == to->number)
			continue;
		snprintf(name, sizeof(name), "weir_rx_%u_%u_%u", port->ethdev, from, to->number);
		to->handover[from] =
			rte_ring_create(name, rte_align32pow2(port->config.rx_ring_size + 1u),
				rte_eth_dev_socket_id(port->ethdev), RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (to->handover[from] == NULL)
			return receiver_port_refused(
				port, "cannot make a ring between queues", -rte_errno);
	}
	return 0;
}

/* One rule; @p create false: would the device take it? */
static bool
rule(const struct receiver_port *port, const struct weir_readout_receiver_source *source,
	bool create, struct rte_flow_error *error)
{
	const struct rte_flow_attr attr = {.ingress = 1};
	const struct rte_flow_item_ipv4 ip = {.hdr.src_addr = rte_cpu_to_be_32(source->source_ip)};
	const struct rte_flow_item_ipv4 ip_mask = {.hdr.src_addr = RTE_BE32(UINT32_MAX)};
	const struct rte_flow_item_udp udp = {.hdr.dst_port = rte_cpu_to_be_16(source->udp_port)};
	const struct rte_flow_item_udp udp_mask = {.hdr.dst_port = RTE_BE16(UINT16_MAX)};
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH},
		{.type = RTE_FLOW_ITEM_TYPE_IPV4,
			.spec = source->source_ip != 0 ? &ip : NULL,
			.mask = source->source_ip != 0 ? &ip_mask : NULL},
		{.type = RTE_FLOW_ITEM_TYPE_UDP,
			.spec = source->udp_port != 0 ? &udp : NULL,
			.mask = source->udp_port != 0 ? &udp_mask : NULL},
		{.type = RTE_FLOW_ITEM_TYPE_END},
	};
	const struct rte_flow_action_queue queue = {.index = source->queue};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};

	if (!create)
		return rte_flow_validate(port->ethdev, &attr, pattern, actions, error) == 0;
	return rte_flow_create(port->ethdev, &attr, pattern, actions, error) != NULL;
}

/* All sources or none. */
static bool
make_rules(const struct receiver_port *port)
{
	for (unsigned int create = 0; create <= 1; create++)
		for (uint32_t i = 0; i < port->config.nb_sources; i++) {
			struct rte_flow_error error = {0}, ignored;

			if (rule(port, &port->config.sources[i], create, &error))
				continue;
			READOUT_LOG(WARNING,
				"port '%s': the device takes no rule for source %" PRIu32
				" (%s): its packets are handed to their queue by software",
				port->name, i,
				error.message != NULL ? error.message : rte_strerror(rte_errno));
			if (create)
				rte_flow_flush(port->ethdev, &ignored);
			return false;
		}
	return true;
}

int
receiver_steer_open(struct receiver_port *port)
{
	int rc;

	if (port->config.nb_sources == 0 || port->config.nb_queues == 1) {
		port->steering = port->rss ? WEIR_READOUT_STEERING_RSS : WEIR_READOUT_STEERING_NONE;
		return 0;
	}
	if (port->config.with_flow_control && make_rules(port)) {
		port->steering = WEIR_READOUT_STEERING_FLOW;
		return 0;
	}
	port->steering = WEIR_READOUT_STEERING_SOFTWARE;
	rc = make_map(port);
	for (uint16_t q = 0; rc == 0 && q < port->config.nb_queues; q++)
		rc = make_rings(port, &port->queues[q]);
	return rc;
}

/* What was not taken over goes back. */
static void
free_ring(struct rte_ring *ring)
{
	void *m;

	while (ring != NULL && rte_ring_dequeue(ring, &m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(ring);
}

void
receiver_steer_close(struct receiver_port *port)
{
	for (uint16_t q = 0; q < port->config.nb_queues; q++) {
		struct receiver_queue *to = &port->queues[q];

		if (to->handover == NULL)
			continue;
		for (uint16_t from = 0; from < port->config.nb_queues; from++)
			free_ring(to->handover[from]);
		free(to->handover);
		to->handover = NULL;
	}
	free(port->steer.slots);
	port->steer.slots = NULL;
}

static bool
is_type(const uint8_t *at, uint16_t type)
{
	return at[0] == type >> 8 && at[1] == (type & UINT8_MAX);
}

/* Source address and UDP port of an IPv4 datagram. */
static bool
find_source(const struct rte_mbuf *m, uint32_t *source_ip, uint16_t *udp_port)
{
	const uint8_t *start = rte_pktmbuf_mtod(m, const uint8_t *), *type = start + TYPE_AT;
	const struct rte_ipv4_hdr *ip;
	const struct rte_udp_hdr *udp;
	uint32_t offset, bytes;

	if (payload_find(m, WEIR_BASE_LAYER_UDP, &offset, &bytes) != WEIR_BASE_DATAGRAM_FOUND)
		return false;
	/* It is a datagram behind tags at most: one of the two types comes. */
	while (!is_type(type, RTE_ETHER_TYPE_IPV4) && !is_type(type, RTE_ETHER_TYPE_IPV6))
		type += sizeof(struct rte_vlan_hdr);
	if (is_type(type, RTE_ETHER_TYPE_IPV6))
		return false;
	ip = (const struct rte_ipv4_hdr *)(type + 2);
	udp = (const struct rte_udp_hdr *)(start + offset) - 1;
	*source_ip = rte_be_to_cpu_32(ip->src_addr);
	*udp_port = rte_be_to_cpu_16(udp->dst_port);
	return true;
}

uint16_t
receiver_steer_find(const struct steer *steer, const struct rte_mbuf *m, uint16_t own)
{
	uint32_t ip, place;
	uint16_t udp_port;
	uint64_t key;

	if (!find_source(m, &ip, &udp_port))
		return own;
	key = key_of(steer->by_ip ? ip : 0, steer->by_port ? udp_port : 0);
	for (place = place_of(steer, key); steer->slots[place].used;
		place = (place + 1) & steer->mask)
		if (steer->slots[place].key == key)
			return steer->slots[place].queue;
	return own;
}
