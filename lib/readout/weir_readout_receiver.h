/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_RECEIVER_H
#define WEIR_READOUT_RECEIVER_H

/**
 * @file
 * From DPDK ports to links: receives large bursts, answers ARP, and gives frames to links (weir_readout_dispatch.h).
 *
 * A receiver has ports; a port has queues, each with a pool of its own; all queues are numbered through, port by port. Threads of the
 * caller poll: a *poller* is one of them; queue q is polled by poller q % nb_pollers, so a poller's queues need no lock.
 *
 * @code{.c}
 * struct weir_readout_receiver_config config = {.ports = &port, .nb_ports = 1, .nb_pollers = 1};
 *
 * weir_readout_receiver_port_defaults(&port);
 * port.pci_addr = "0000:5e:00.0";
 * port.ip_addr = RTE_IPV4(10, 73, 139, 16);
 * receiver = weir_readout_receiver_create(&config);
 * weir_readout_dispatch_add(weir_readout_receiver_dispatch(receiver), 0, link);
 * weir_readout_receiver_run(receiver, 0, &stop);        // in the poller's thread
 * @endcode
 *
 * Each packet is accounted for, per queue and at every snapshot: received + taken_over = given to the dispatch + arp_replied + handed_over +
 * the sum of dropped.
 *
 * What is configured is applied, read back from the device where it can be asked, or refused: the log says what to change.
 */

#include <stdbool.h>
#include <stdint.h>

#include "weir_base_hist.h"
#include "weir_readout_dispatch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weir_readout_receiver;

/** Whose datagrams go to which queue of a port: of a source address, to a UDP port, or both; the same of these in all of a port's. */
struct weir_readout_receiver_source {
	uint32_t source_ip; /**< IPv4, in the machine's order of bytes; 0: any */
	uint16_t udp_port;  /**< they are sent to, in the machine's order of bytes; 0: any */
	uint16_t queue;     /**< of the port, from 0 */
};

/** A port as one describes it. Names and defaults are those of the published configuration. */
struct weir_readout_receiver_port_config {
	const char *
		pci_addr; /**< of a device that DPDK has taken ("0000:5e:00.0"), or a virtual one's name ("net_af_packet0"); copied */
	uint32_t
		ip_addr; /**< IPv4 that ARP is answered for, in the machine's order of bytes; 0: ARP is left to others */
	bool mac_given;      /**< mac_addr is to be set; else the device's own one is taken */
	uint8_t mac_addr[6]; /**< the device's own, or one that it is to take */
	uint16_t nb_queues;  /**< default 1 */
	uint16_t burst_size; /**< packets asked for at once; default 2048 */
	bool burst_adaptive; /**< ask for what comes: twice as many after a full burst, up to burst_size; default false */
	uint16_t mbuf_cache_size; /**< mbufs that an lcore keeps for itself; default 0 */
	uint32_t num_mbufs;       /**< of each queue's pool; default 16384 */
	uint16_t rx_ring_size;    /**< descriptors of each queue; default 4096 */
	uint16_t tx_ring_size;    /**< likewise; default 4096 */
	uint16_t mtu;             /**< default 9000 */
	uint16_t
		mbuf_data_bytes; /**< room for data in an mbuf; default 0: as large as a frame; less needs a device that scatters */
	bool promiscuous_mode; /**< default false */
	bool with_flow_control; /**< steer sources by rules of the device, if it has any; default true */
	uint32_t
		announce_interval_ms; /**< gratuitous ARP so often; 0: once, at the beginning; default 1000 */
	const struct weir_readout_receiver_source
		*sources;    /**< copied; NULL: the device spreads packets as it likes */
	uint32_t nb_sources; /**< their number */
};

/** A receiver as one describes it. */
struct weir_readout_receiver_config {
	const struct weir_readout_receiver_port_config *ports; /**< copied */
	uint16_t nb_ports;                                     /**< 1 or more */
	uint16_t nb_pollers;                                   /**< 1 up to the number of queues */
	uint32_t
		lcore_sleep_us; /**< weir_readout_receiver_run() sleeps so long when no burst was full; 0: it does not */
};

/** Sleep of the published configuration, in microseconds. */
#define WEIR_READOUT_LCORE_SLEEP_US 10

/** How packets find the queue of their source. */
enum weir_readout_steering {
	WEIR_READOUT_STEERING_NONE,     /**< as the device likes: no sources are named */
	WEIR_READOUT_STEERING_RSS,      /**< no sources are named; the device spreads flows */
	WEIR_READOUT_STEERING_SOFTWARE, /**< handed from queue to queue here */
	WEIR_READOUT_STEERING_FLOW,     /**< by rules of the device */
	WEIR_READOUT_NB_STEERINGS,      /**< their number */
};

/** Why the receiver itself dropped a packet; the dispatch has its own reasons. */
enum weir_readout_receiver_drop {
	WEIR_READOUT_RECEIVER_DROP_ARP_NOT_SENT, /**< an ARP reply that the device did not take */
	WEIR_READOUT_RECEIVER_DROP_ADDRESS_CONFLICT, /**< another host says that it has ip_addr */
	WEIR_READOUT_RECEIVER_DROP_HANDOVER_FULL, /**< the queue of its source was not polled fast enough */
	WEIR_READOUT_RECEIVER_NB_DROPS,           /**< their number */
};

/** Counters of a queue, of one moment: 64 bits, never reset. */
struct weir_readout_receiver_queue_stats {
	uint64_t received;       /**< packets from the device */
	uint64_t received_bytes; /**< theirs */
	uint64_t taken_over;     /**< from other queues, by software steering */
	uint64_t
		handed_over; /**< to other queues; what these have not taken over yet is in their rings */
	uint64_t arp_replied;                             /**< requests that became replies */
	uint64_t dropped[WEIR_READOUT_RECEIVER_NB_DROPS]; /**< by reason */
	struct weir_readout_dispatch_stats
		dispatch;       /**< what became of those given to the dispatch */
	uint64_t announced;     /**< gratuitous ARP that was sent; made here, not received */
	uint64_t not_announced; /**< there was no mbuf for it, or the device did not take it */
	uint64_t polls;         /**< times that the device was asked */
	uint64_t
		full_bursts; /**< it gave as many as asked for: more were waiting. Often: the thread is too slow, or rings too small */
	uint64_t burst_size; /**< it is asked for now */
	struct weir_base_hist bursts; /**< packets of each burst that was not empty */
};

/** State of a port, and the device's own counters since the receiver was made. */
struct weir_readout_receiver_port_stats {
	uint64_t imissed;   /**< dropped by the device: rings were full */
	uint64_t rx_nombuf; /**< dropped by the device or its driver: the pool was empty */
	uint64_t ierrors;   /**< packets in error */
	uint64_t ipackets;  /**< received by the device */
	enum weir_readout_steering steering; /**< in force */
	bool rss;                            /**< the device spreads flows over queues */
	bool scatter;                        /**< frames may come in several mbufs */
	bool rings_confirmed; /**< the device was asked, and has the rings that were configured; else it does not tell */
	bool mtu_confirmed; /**< the device was told, and says so; else its driver knows none, or none as large: a virtual one's other side decides */
	uint16_t ethdev;    /**< DPDK's port number */
	uint16_t mtu;       /**< that buffers are made for */
	uint16_t first_queue;     /**< number of its queue 0 among the receiver's */
	uint16_t nb_queues;       /**< its queues */
	uint32_t mbuf_data_bytes; /**< room of an mbuf */
	uint8_t mac_addr[6];      /**< in force */
};

/** Name of a steering as statistics show it ("software"); NULL: no such. Any thread. */
const char *weir_readout_steering_name(enum weir_readout_steering steering);

/** Name of a reason to drop a packet ("handover_full"); NULL: no such. Any thread. */
const char *weir_readout_receiver_drop_name(enum weir_readout_receiver_drop reason);

/** The tuned values of the published configuration. Addresses are to be filled in. Any thread. */
void weir_readout_receiver_port_defaults(struct weir_readout_receiver_port_config *config);

/** What the pools of a port's queues take of DPDK's memory, in bytes. Any thread. */
uint64_t weir_readout_receiver_pool_bytes(const struct weir_readout_receiver_port_config *config);

/**
 * Could such a receiver be, for all that is known without its devices? Any thread; DPDK need not be up.
 *
 * @return 0; -EINVAL: the log says which value, and what was expected
 */
int weir_readout_receiver_config_check(const struct weir_readout_receiver_config *config);

/**
 * Configure and start the devices. They belong to the receiver from now on. EAL must be up; not on the fast path.
 *
 * @return NULL with rte_errno: EINVAL, ENODEV, EEXIST: a device is named twice, ENOTSUP: the device refuses a value, ENOMEM, and what drivers say;
 *         the log says which value, and what to change
 */
struct weir_readout_receiver *weir_readout_receiver_create(
	const struct weir_readout_receiver_config *config);

/**
 * Stop and close the devices, free pools, and the dispatch; links stay. Nobody polls any more.
 *
 * @return 0; -EBUSY: consumers hold frames still (the log says how many): the devices are closed; release them, and call again
 */
int weir_readout_receiver_free(struct weir_readout_receiver *receiver);

/** Where links are added, by the receiver's queue numbers, before polling begins. The receiver's. */
struct weir_readout_dispatch *weir_readout_receiver_dispatch(
	struct weir_readout_receiver *receiver);

/** Number of queues, of all ports. Any thread. */
uint16_t weir_readout_receiver_nb_queues(const struct weir_readout_receiver *receiver);

/**
 * Ask each of a poller's queues once. Never waits, allocates nothing; one thread at a time per poller.
 *
 * @param poller  less than nb_pollers
 * @param now_ns  any clock's; never less than before
 * @return how many bursts were full
 */
uint32_t weir_readout_receiver_poll(
	struct weir_readout_receiver *receiver, uint16_t poller, uint64_t now_ns);

/**
 * Give links what other queues have handed to a poller's, and ask no device: at an end, so that nothing stays between queues. When no poller of
 * the receiver polls any more; any thread, for each poller once.
 *
 * @return how many packets
 */
uint32_t weir_readout_receiver_drain(
	struct weir_readout_receiver *receiver, uint16_t poller, uint64_t now_ns);

/** Poll until *stop is true, by the clock of weir_base_time_ns(); sleeps lcore_sleep_us when no burst was full. */
void weir_readout_receiver_run(
	struct weir_readout_receiver *receiver, uint16_t poller, const bool *stop);

/** How often weir_readout_receiver_run() has slept. Any thread. */
uint64_t weir_readout_receiver_sleeps(
	const struct weir_readout_receiver *receiver, uint16_t poller);

/**
 * The counters of a queue at one moment: they agree. Any thread; looks again while the poller is at them.
 *
 * @return 0; -EINVAL: no such queue
 */
int weir_readout_receiver_queue_stats(const struct weir_readout_receiver *receiver, uint16_t queue,
	struct weir_readout_receiver_queue_stats *stats);

/**
 * State of a port. Any thread: the device is asked, by one at a time.
 *
 * @return 0; -EINVAL: no such port; what the driver says
 */
int weir_readout_receiver_port_stats(const struct weir_readout_receiver *receiver, uint16_t port,
	struct weir_readout_receiver_port_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
