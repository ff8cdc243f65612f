/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_TESTS_READOUT_RECEIVER_FIXTURE_H
#define WEIR_TESTS_READOUT_RECEIVER_FIXTURE_H

/*
 * Receivers on devices that are rings: what is put into "in" a device receives, what it transmits is in "out". One test's at a time.
 * Other answers of a device and rules of flows are planted, by functions that the linker puts before DPDK's.
 */

#include "../coro/eal.h"

#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_flow.h>

#include "weir_readout_receiver.h"

#define RX_PORTS_MAX  2
#define RX_QUEUES_MAX 4
#define RX_RING       64u
#define RX_MBUFS      512u
#define RX_IP         RTE_IPV4(10, 73, 139, 16)

struct rx {
	char names[RX_PORTS_MAX][32];
	struct rte_ring *in[RX_PORTS_MAX][RX_QUEUES_MAX];
	struct rte_ring *out[RX_PORTS_MAX][RX_QUEUES_MAX];
	uint16_t nb_ports, nb_queues;
	struct weir_readout_receiver_port_config ports[RX_PORTS_MAX];
	struct weir_readout_receiver_config config;
	struct weir_readout_receiver *receiver;
	struct rte_mempool *pool; /* of senders */
	struct weir_readout_registry *registry;
	struct weir_readout_link *links[8];
	uint32_t nb_links;
	struct weir_readout_item
		held[8]; /* the first of a receiver's frames, if so many are to be held */
	uint32_t nb_held, nb_hold;
	const bool *stop_at_frames; /* set true when so many frames came */
	uint64_t nb_frames, stop_at;
};

extern struct rx rx;

/* What devices answer. */
struct rx_planted {
	bool flow;           /* rules are taken */
	uint32_t flow_fails; /* creating the rule of this number fails, from 1; 0: none */
	uint32_t nb_rules;   /* that there are */
	uint32_t nb_created;
	struct {
		rte_be32_t source_ip;
		rte_be16_t udp_port;
		uint16_t queue;
	} rules[8];
	struct rte_eth_stats stats; /* added to the device's */
	uint64_t no_offloads;       /* it lacks these */
	uint64_t rss;               /* it spreads by these */
	uint16_t max_mtu;           /* 0: as it is */
	uint32_t max_rx_pktlen;     /* 0: as it is */
	bool physical;              /* of no bus of virtual devices */
	uint16_t ring_max;          /* descriptors; 0: as it is */
	struct rte_eth_conf conf;   /* it was configured with this last */
	int mtu_rc;
	bool promiscuous; /* it is, whatever it is told */
};

extern struct rx_planted rx_planted;

/* What the library said last, and how often it did since rx_begin(): errors and warnings. */
void rx_log_listen(void);
const char *rx_log(void);
uint32_t rx_log_count(void);

/* Devices, and a configuration for them, to be changed; nb queues each. */
void rx_begin(uint16_t nb_ports, uint16_t nb_queues);
/* Everything is to have come back. */
void rx_end(void);
/* As configured; it must work. */
void rx_create(void);
/* It must not. */
void rx_refused(int rc, const char *message);
/* A link of frames that begin with a byte, their key. */
struct weir_readout_link *rx_link(uint16_t queue, uint8_t key, enum weir_base_layer layer);
/* A packet for a port's queue. */
void rx_give(uint16_t port, uint16_t queue, const void *bytes, uint32_t nb);
/* A datagram of one byte. */
void rx_give_udp(uint16_t port, uint16_t queue, uint32_t source_ip, uint16_t udp_port, uint8_t key);
/* What the device transmitted next. @return bytes; 0: nothing */
uint32_t rx_sent(uint16_t port, uint16_t queue, uint8_t *bytes);
/* Counters, which must agree. */
struct weir_readout_receiver_queue_stats rx_stats(uint16_t queue);
struct weir_readout_receiver_port_stats rx_port(uint16_t port);
uint64_t rx_link_received(uint32_t link);

#endif
