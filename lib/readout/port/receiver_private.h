/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef READOUT_RECEIVER_PRIVATE_H
#define READOUT_RECEIVER_PRIVATE_H

/*
 * receiver.c: a receiver's life and its counters; receiver_config.c: what may be configured; receiver_port.c: devices;
 * receiver_steer.c: which queue a source's packets go to; receiver_arp.c: ARP; receiver_poll.c: bursts.
 */

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <rte_spinlock.h>

#include "registry_private.h"
#include "tally.h"
#include "weir_readout_receiver.h"

struct receiver_port;

struct receiver_queue {
	struct receiver_port *port;
	uint16_t number;   /* in the port */
	uint16_t burst;    /* asked for now */
	uint16_t nb_small; /* bursts below half of it, in a row */
	struct rte_mempool *pool;
	struct rte_mbuf **mbufs; /* a burst */
	struct rte_ring *
		*handover;    /* from each queue of the port; its own: NULL. NULL: none come */
	bool announced;       /* at all; of queue 0 */
	uint64_t announce_ns; /* when it last was */
	struct weir_readout_receiver_queue_stats own;
	OWN_LINE uint64_t version;
	struct weir_readout_receiver_queue_stats published;
};

/* Which queue of a port a source's packets go to: open addressing. */
struct steer_slot {
	uint64_t key;
	bool used;
	uint16_t queue;
};

struct steer {
	bool by_ip, by_port;
	uint32_t mask; /* slots - 1 */
	struct steer_slot *slots;
};

struct receiver_port {
	struct weir_readout_receiver_port_config config; /* pointers: copies */
	char name[RTE_ETH_NAME_MAX_LEN];
	uint16_t ethdev; /* RTE_MAX_ETHPORTS: none that is ours */
	uint16_t first_queue;
	enum weir_readout_steering steering;
	bool rss, scatter, rings_confirmed, mtu_confirmed;
	uint16_t data_room_bytes; /* without headroom */
	struct rte_ether_addr mac;
	struct rte_eth_stats base; /* at the beginning */
	rte_spinlock_t asked;      /* by one thread at a time */
	struct steer steer;
	struct receiver_queue *queues; /* of the receiver's */
};

struct poller {
	OWN_LINE uint64_t sleeps;
};

struct weir_readout_receiver {
	uint16_t nb_ports, nb_queues, nb_pollers;
	uint32_t lcore_sleep_us;
	struct receiver_port *ports;
	struct receiver_queue *queues;
	struct poller *pollers;
	struct weir_readout_dispatch *dispatch;
};

/* receiver_config.c: of the largest frame, with its tags; room for data in a port's mbufs. */
uint32_t receiver_frame_bytes(uint16_t mtu);
uint32_t receiver_buffer_bytes(const struct weir_readout_receiver_port_config *config);

/* receiver_port.c: the device as configured, with its pools; what it began is ended by close, also after an error. */
int receiver_port_open(struct receiver_port *port);
void receiver_port_close(struct receiver_port *port);
/* Say what the device said. @return rc */
int receiver_port_refused(const struct receiver_port *port, const char *what, int rc);

/* receiver_steer.c: by rules of the device, or with the map and rings of the software. The device runs. */
int receiver_steer_open(struct receiver_port *port);
void receiver_steer_close(struct receiver_port *port);
/* The queue of its source; @p own where it has none, or is no datagram. */
uint16_t receiver_steer_find(const struct steer *steer, const struct rte_mbuf *m, uint16_t own);

/* receiver_arp.c */
enum arp {
	ARP_OTHER,    /* not for us */
	ARP_REPLY,    /* has become the reply */
	ARP_CONFLICT, /* who sent it says that it is us */
};

enum arp receiver_arp_answer(const struct receiver_port *port, struct rte_mbuf *m);
/* Gratuitous ARP, once or when it is time. */
void receiver_arp_announce(struct receiver_queue *queue, uint64_t now_ns);

#endif
