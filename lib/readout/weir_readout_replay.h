/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_REPLAY_H
#define WEIR_READOUT_REPLAY_H

/**
 * @file
 * Captured packets once more, at the times at which they were captured, or at an exact rate: for weir_readout_dispatch_receive(), as what
 * an emulator gives. Or frames alone, one behind the other in a file, as packets, at the times that they say themselves, or at a rate.
 *
 * Time is the caller's: nanoseconds since the start. Without mbufs a packet waits: nothing of a file is lost.
 *
 * Threads: one at a time; counters from any, beside it.
 */

#include <stdint.h>

#include "weir_readout_emulator.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weir_readout_replay;

/** What is replayed. */
struct weir_readout_replay_config {
	const char *path; /**< a capture file of Ethernet frames; or */
	const struct weir_readout_emulator_stream *
		raw; /**< this is not NULL: of frames alone, in this format, which has one size, or a length field; packets have these addresses. Its other members are not looked at */
	struct rte_mempool *pool; /**< mbufs; packets that one has no room for get several */
	uint64_t
		rate_packets; /**< so many packets in so many seconds; 0: as captured, or as the timestamps of frames alone say; what was before the one before it is sent with that */
	uint64_t rate_seconds; /**< 0: 1 */
};

/** What became of a file, of one moment: 64 bits, never reset. */
struct weir_readout_replay_stats {
	uint64_t packets; /**< given out */
	uint64_t cut;     /**< of these: the capture left some of their bytes out */
	uint64_t waits;   /**< times that a packet was due, and there was no mbuf */
};

/**
 * Open a file.
 *
 * @return to be freed with weir_readout_replay_free(); NULL with rte_errno: EINVAL, ENOMEM, or as of weir_base_pcap_open(), fopen(); the log
 *         says why
 */
struct weir_readout_replay *weir_readout_replay_create(
	const struct weir_readout_replay_config *config);

/** Close it. NULL is allowed. */
void weir_readout_replay_free(struct weir_readout_replay *replay);

/**
 * Packets that are due by now, in order. Reads the file: not for threads that must not wait for a disk.
 *
 * @param now_ns      since the start
 * @param[out] mbufs  owned by the caller
 * @param nb          room
 * @return how many
 */
uint32_t weir_readout_replay_poll(
	struct weir_readout_replay *replay, uint64_t now_ns, struct rte_mbuf **mbufs, uint32_t nb);

/** Is it over? @return 0: no; 1: all was given out; -EBADMSG: the file is damaged, or ends within a frame, which the log said; all before that was given out */
int weir_readout_replay_ended(const struct weir_readout_replay *replay);

/** When the next packet is due, ns since the start; UINT64_MAX: none is. */
uint64_t weir_readout_replay_due_ns(const struct weir_readout_replay *replay);

/** Counters at one moment. Any thread; looks again while the replay is at them. */
void weir_readout_replay_stats(
	const struct weir_readout_replay *replay, struct weir_readout_replay_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
