/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_PREFLIGHT_H
#define WEIR_READOUT_PREFLIGHT_H

/**
 * @file
 * An advisor: will a receiver as configured keep up with what is expected, on this machine?
 *
 * It compares the configuration and the rates with facts of the machine, and says what to change, one warning each. Facts are gathered by
 * one function and judged by another, so that they can be those of another machine.
 *
 * @code{.c}
 * weir_readout_preflight_facts_get(&facts, &config, cpus, true, NULL);
 * nb = weir_readout_preflight(&config, rates, &facts, warnings, RTE_DIM(warnings));
 * @endcode
 */

#include <stdbool.h>
#include <stdint.h>

#include "weir_readout_receiver.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_READOUT_PREFLIGHT_PORTS_MAX   32  /**< ports whose facts are known */
#define WEIR_READOUT_PREFLIGHT_POLLERS_MAX 128 /**< pollers whose facts are known */
#define WEIR_READOUT_PREFLIGHT_TEXT_BYTES  384 /**< of a warning, its end included */

/** A ring that holds less than so much time is warned of: what a CPU that is not isolated may be taken away for. */
#define WEIR_READOUT_PREFLIGHT_RING_MS 5.0

/** What a port is expected to receive, in all; over its queues in equal shares. */
struct weir_readout_preflight_rate {
	double frames_per_s;  /**< 0: unknown; what depends on it is not judged */
	uint32_t frame_bytes; /**< of a frame: what follows the UDP header; 0: unknown */
};

/** Facts of a port's device. */
struct weir_readout_preflight_port {
	bool known;           /**< DPDK has it: limits below are its own */
	int socket_id;        /**< NUMA node; -1: unknown */
	uint16_t max_mtu;     /**< that it takes */
	uint16_t rx_ring_max; /**< descriptors */
	uint32_t link_mbps;   /**< speed of the link, Mb/s; 0: unknown */
};

/** Facts of the CPU that a poller runs on. */
struct weir_readout_preflight_poller {
	int cpu;       /**< its number; -1: it is not bound to one */
	int socket_id; /**< NUMA node; -1: unknown */
	bool isolated; /**< the scheduler keeps others away (isolcpus) */
	bool nohz;     /**< the timer is off while one thread runs (nohz_full) */
	bool absent;   /**< there is none of that number, or it is offline */
};

/** Facts of a machine. */
struct weir_readout_preflight_facts {
	uint64_t hugepages_bytes; /**< there are, free for this */
	struct weir_readout_preflight_port ports
		[WEIR_READOUT_PREFLIGHT_PORTS_MAX]; /**< as configured; those beyond it are not judged */
	struct weir_readout_preflight_poller
		pollers[WEIR_READOUT_PREFLIGHT_POLLERS_MAX]; /**< likewise */
};

/** What is warned of. */
enum weir_readout_preflight_kind {
	WEIR_READOUT_PREFLIGHT_RING_TIME, /**< rings hold too little time */
	WEIR_READOUT_PREFLIGHT_RING_BURST, /**< a ring does not hold two bursts: it is full while one is worked on */
	WEIR_READOUT_PREFLIGHT_RING_MAX, /**< the device has no ring as large */
	WEIR_READOUT_PREFLIGHT_POOL, /**< what rings, bursts and caches leave of a pool is little */
	WEIR_READOUT_PREFLIGHT_CACHE_SIZE, /**< a cache is larger than the pool / 1.5 */
	WEIR_READOUT_PREFLIGHT_CACHE_SHARE, /**< the pool is no multiple of its cache: some mbufs are never used */
	WEIR_READOUT_PREFLIGHT_SLEEP, /**< too much comes during a sleep */
	WEIR_READOUT_PREFLIGHT_MTU,  /**< frames are larger than the MTU, or it than the device's */
	WEIR_READOUT_PREFLIGHT_LINK, /**< more is expected than the link can carry */
	WEIR_READOUT_PREFLIGHT_HUGEPAGES, /**< too few for the pools */
	WEIR_READOUT_PREFLIGHT_NUMA,      /**< a poller is far from its device */
	WEIR_READOUT_PREFLIGHT_CPU,       /**< a poller's CPU is not its own */
	WEIR_READOUT_PREFLIGHT_NB_KINDS,  /**< their number */
};

/** A warning. */
struct weir_readout_preflight_warning {
	enum weir_readout_preflight_kind kind; /**< what of */
	char text
		[WEIR_READOUT_PREFLIGHT_TEXT_BYTES]; /**< what is wrong, and what to change; one line */
};

/** Name of a kind ("ring_time"); NULL: no such. Any thread. */
const char *weir_readout_preflight_name(enum weir_readout_preflight_kind kind);

/**
 * Gather facts of this machine. Any thread; reads files.
 *
 * @param config  ports and pollers
 * @param cpus    of each poller; -1: not bound to one
 * @param eal     EAL is up: devices are asked, and its memory counts; else only the system
 * @param sysfs   where the system shows itself; NULL: "/sys"
 */
void weir_readout_preflight_facts_get(struct weir_readout_preflight_facts *facts,
	const struct weir_readout_receiver_config *config, const int *cpus, bool eal,
	const char *sysfs);

/**
 * Judge. Any thread.
 *
 * @param config         as for weir_readout_receiver_create()
 * @param rates          of each port
 * @param[out] warnings  those there is room for
 * @param nb             room
 * @return how many there are
 */
uint32_t weir_readout_preflight(const struct weir_readout_receiver_config *config,
	const struct weir_readout_preflight_rate *rates,
	const struct weir_readout_preflight_facts *facts,
	struct weir_readout_preflight_warning *warnings, uint32_t nb);

#ifdef __cplusplus
}
#endif

#endif
