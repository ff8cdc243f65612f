/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_UDP_H
#define WEIR_READOUT_UDP_H

/**
 * @file
 * Emulated or replayed packets sent out by a DPDK port, at their times: to another process over memif, tap or a pair of rings, or to
 * another machine.
 *
 * The packets are whole already: Ethernet, IPv4 and UDP with their addresses and checksums are the emulator's, or as captured. A
 * sender asks for what is due, and gives it to the device in bursts. It is open-loop as what it sends is: a device that takes
 * nothing for a while delays packets, or loses them, as configured; it never changes when later ones are due.
 *
 * Each packet is accounted for: taken = sent + dropped + held, at every snapshot.
 *
 * Time is the caller's: nanoseconds since the start.
 *
 * Threads: one at a time per sender, which alone uses its queue of the port, and its emulator or replay. Any other may read counters.
 */

#include <stdint.h>

#include "weir_readout_emulator.h"
#include "weir_readout_replay.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_READOUT_UDP_BURST_MAX 2048 /**< packets of a burst, at most */

struct weir_readout_udp;

/** What becomes of packets that a device has no room for. */
enum weir_readout_udp_refused {
	WEIR_READOUT_UDP_DROP,  /**< dropped, as on a wire that is too slow */
	WEIR_READOUT_UDP_RETRY, /**< offered again at the next poll, before what is due then */
};

/** A sender. */
struct weir_readout_udp_config {
	struct weir_readout_emulator *emulator; /**< what is sent; or */
	struct weir_readout_replay *replay;     /**< this: one of them */
	uint16_t port_id;                       /**< of a port that is started */
	uint16_t queue_id;                      /**< of its transmit queues */
	uint32_t
		burst; /**< packets given to the device at once: 3 up to WEIR_READOUT_UDP_BURST_MAX; 0: 64 */
	enum weir_readout_udp_refused
		refused; /**< what becomes of what the device has no room for */
};

/** Counters of a sender, of one moment: 64 bits, never reset. taken = sent + dropped + held. */
struct weir_readout_udp_stats {
	uint64_t taken;      /**< packets that were due */
	uint64_t sent;       /**< of these: taken by the device */
	uint64_t sent_bytes; /**< theirs, Ethernet header on, check sequence not */
	uint64_t dropped;    /**< the device had no room for them */
	uint64_t held;       /**< the device had no room yet: to be offered again */
	uint64_t refusals;   /**< bursts of which the device did not take all */
};

/**
 * Make a sender. Emulator or replay stay the caller's, and there as long as it.
 *
 * @return to be freed with weir_readout_udp_free(); NULL with rte_errno: EINVAL: the configuration, or the port's MTU is less than
 *         emulated packets need; ENODEV: no such port; ENOMEM; the log says why
 */
struct weir_readout_udp *weir_readout_udp_create(const struct weir_readout_udp_config *config);

/** Free it, and the packets that it holds. NULL is allowed. */
void weir_readout_udp_free(struct weir_readout_udp *udp);

/**
 * Send a burst of what is due by now. Never waits for the device; allocates nothing but what its emulator or replay does.
 *
 * @param now_ns  since the start
 * @return how many were sent: while it is more than 0, more may be due
 */
uint32_t weir_readout_udp_poll(struct weir_readout_udp *udp, uint64_t now_ns);

/** Counters at one moment. Any thread; looks again while the sender is at them. */
void weir_readout_udp_stats(
	const struct weir_readout_udp *udp, struct weir_readout_udp_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
