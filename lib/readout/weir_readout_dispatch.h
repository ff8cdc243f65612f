/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_DISPATCH_H
#define WEIR_READOUT_DISPATCH_H

/**
 * @file
 * From bursts of packets to links, by queue and stream key.
 *
 * A queue's packets are frames of one format. Where that is a format of UDP payloads, Ethernet with up to two VLAN tags, IPv4 or IPv6, and
 * UDP are taken off before; checksums are the device's business. The stream key is looked up in a flat array: one multiplication,
 * one load. Frames of a link are given to it in batches, in the order of their arrival, without a copy.
 *
 * Each packet is accounted for: received = links + the rest, at every snapshot; what became of those given to links they say themselves.
 *
 * Threads: one at a time per queue. Any other may read counters. Links are added before packets come.
 */

#include <stdint.h>

#include "weir_readout_link.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weir_readout_dispatch;

/** Counters of a queue, of one moment: 64 bits, never reset. received = links + not_udp + truncated + unknown_stream. */
struct weir_readout_dispatch_stats {
	uint64_t received; /**< packets */
	uint64_t links;    /**< of these: given to links */
	uint64_t
		not_udp; /**< no UDP datagrams, or fragments of them; dropped, or left to the caller, like the next ones */
	uint64_t truncated; /**< shorter than their headers say, or than the stream key needs */
	uint64_t unknown_stream;    /**< no link has this key */
	uint64_t unknown_first_key; /**< the key of the first of these */
	uint64_t unknown_last_key;  /**< the key of the latest one */
	uint64_t unknown_first_ns;  /**< when the first of these arrived */
	uint64_t unknown_last_ns;   /**< when the latest one did */
};

/** Make one, without links. @return to be freed with weir_readout_dispatch_free(); NULL with rte_errno EINVAL, ENOMEM */
struct weir_readout_dispatch *weir_readout_dispatch_create(uint32_t nb_queues);

/** Free it; links stay. NULL is allowed. */
void weir_readout_dispatch_free(struct weir_readout_dispatch *dispatch);

/**
 * From now on frames with this link's key on a queue are its frames. No packets are received meanwhile.
 *
 * @return 0; -EINVAL: no such queue, or a key that the format's field cannot hold; -EEXIST: a link has this key there, or this link
 *         is on a queue already; -EPROTOTYPE: links there have another format; -ENOMEM; the log says why
 */
int weir_readout_dispatch_add(
	struct weir_readout_dispatch *dispatch, uint32_t queue, struct weir_readout_link *link);

/**
 * Give packets to their links. All are owned by this, and freed, or held by a link's consumer. Never waits, allocates nothing.
 *
 * @param queue       less than nb_queues
 * @param mbufs       with their headers in the first segment
 * @param arrival_ns  when they arrived; never less than before on this queue
 */
void weir_readout_dispatch_receive(struct weir_readout_dispatch *dispatch, uint32_t queue,
	struct rte_mbuf *const *mbufs, uint32_t nb, uint64_t arrival_ns);

/**
 * As weir_readout_dispatch_receive(), for who has another use for packets that are no link's: these are counted as what they are, and left
 * to the caller, in the order of their arrival.
 *
 * @param[in,out] mbufs  packets; those left, in front
 * @return how many are left
 */
uint32_t weir_readout_dispatch_take(struct weir_readout_dispatch *dispatch, uint32_t queue,
	struct rte_mbuf **mbufs, uint32_t nb, uint64_t arrival_ns);

/**
 * The counters of a queue at one moment. Any thread; looks again while the receiver is at them.
 *
 * @return 0; -EINVAL: no such queue
 */
int weir_readout_dispatch_stats(const struct weir_readout_dispatch *dispatch, uint32_t queue,
	struct weir_readout_dispatch_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
