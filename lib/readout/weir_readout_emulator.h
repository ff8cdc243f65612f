/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_EMULATOR_H
#define WEIR_READOUT_EMULATOR_H

/**
 * @file
 * Emulated links: packets as front ends would send them, at an exact rate, with faults on a schedule.
 *
 * The generator is open-loop: frame n of a stream is due n / rate after the start, whatever becomes of those before it. Due times are
 * computed from n as a fraction, so that there is no drift in any time. What is due and finds no mbuf is lost, as on a wire.
 *
 * Faults are chosen by number of frame, or at random by a seed: the same configuration gives the same packets always.
 *
 * Time is the caller's: nanoseconds since the start, so that tests need no clock.
 *
 * Threads: one at a time, or as many pollers as it has; counters from any, beside it: they are published frame by frame.
 */

#include <stdbool.h>
#include <stdint.h>

#include "weir_base_nodes.h"
#include "weir_readout_format.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rte_mbuf;
struct rte_mempool;
struct weir_readout_emulator;

/** What can be done to a frame. */
enum weir_readout_emulator_fault {
	WEIR_READOUT_EMULATE_DROP =
		WEIR_BASE_FAULT_DROP, /**< it is not sent; of this and the next but one, only the first is done to a frame */
	WEIR_READOUT_EMULATE_DUPLICATE = WEIR_BASE_FAULT_DUPLICATE, /**< it is sent twice */
	WEIR_READOUT_EMULATE_REORDER =
		WEIR_BASE_FAULT_REORDER, /**< it is sent after the frame that is @p amount after it */
	WEIR_READOUT_EMULATE_STREAM =
		WEIR_BASE_FAULT_STREAM, /**< @p amount is added to its stream key */
	WEIR_READOUT_EMULATE_SEQUENCE =
		WEIR_BASE_FAULT_SEQUENCE, /**< @p amount is added to its sequence number */
	WEIR_READOUT_EMULATE_TIMESTAMP =
		WEIR_BASE_FAULT_TIMESTAMP, /**< @p amount is added to its timestamp */
	WEIR_READOUT_EMULATE_TRUNCATE =
		WEIR_BASE_FAULT_TRUNCATE, /**< only @p amount bytes of it are sent */
	WEIR_READOUT_EMULATE_STALL =
		WEIR_BASE_FAULT_STALL, /**< it and those after it wait for the time of @p amount frames, and are sent at once then */
	WEIR_READOUT_EMULATE_JUMP =
		WEIR_BASE_FAULT_JUMP, /**< @p amount is added to its timestamp, and to all that follow */
	WEIR_READOUT_NB_EMULATED = WEIR_BASE_NB_FAULTS, /**< their number */
};

/** Name of a fault, as configuration and statistics show it ("truncate"); NULL: no such. Any thread. */
const char *weir_readout_emulator_fault_name(enum weir_readout_emulator_fault fault);

/** A fault, and its schedule. */
struct weir_readout_emulator_fault_config {
	enum weir_readout_emulator_fault fault; /**< what is done */
	int64_t amount; /**< see the fault; a reordered frame: 1 up to 1000; truncated: 0 up to its size; a stall: 1 or more */
	uint64_t first; /**< number of the first frame that it is done to, from 0 */
	uint64_t period; /**< and again each so many frames after it; 0: once */
	uint64_t length; /**< to so many frames in a row, each time; 0: 1 */
	uint32_t
		random_ppm; /**< not by period: to each frame from the first on, with so many chances in a million */
};

/** An emulated link. */
struct weir_readout_emulator_stream {
	const struct weir_readout_format *format; /**< copied */
	uint64_t key;                             /**< stream key */
	uint64_t
		rate_frames; /**< so many frames in so many seconds; 0: as the format's clock and step say */
	uint64_t rate_seconds;    /**< 0: 1 */
	uint64_t first_sequence;  /**< of frame 0 */
	uint64_t first_timestamp; /**< of frame 0, ticks */
	uint32_t
		size_bytes; /**< of a frame; 0: the format's size_max_bytes, where it has one up to 9000, else size_min_bytes */
	uint64_t nb_frames; /**< so many, then no more; 0: without an end */
	const void *
		payload; /**< what frames hold beside their fields: size_bytes, copied; NULL: zeros */
	const struct weir_readout_emulator_fault_config *faults; /**< copied */
	uint32_t nb_faults;                                      /**< their number */
	uint8_t source_mac[6];                                   /**< of the packets */
	uint8_t destination_mac[6];                              /**< of the packets */
	uint32_t source_ip;        /**< IPv4, in the machine's order of bytes */
	uint32_t destination_ip;   /**< likewise */
	uint16_t source_port;      /**< UDP, in the machine's order of bytes */
	uint16_t destination_port; /**< likewise */
	bool udp_checksum; /**< computed for each packet; false: 0, which says that there is none, as front ends send it */
};

/** An emulator. */
struct weir_readout_emulator_config {
	const struct weir_readout_emulator_stream *streams; /**< copied */
	uint32_t nb_streams;                                /**< 1 or more */
	struct rte_mempool *pool; /**< mbufs, with room for a packet in one segment */
	uint64_t seed;            /**< of faults at random */
	uint32_t nb_pollers;      /**< threads that share the streams, each at least one; 0: 1 */
};

/** What became of a stream's frames, of one moment: 64 bits, never reset. sent = made - dropped - withheld - no_mbuf + duplicates. */
struct weir_readout_emulator_stats {
	uint64_t made;     /**< frames that were due */
	uint64_t sent;     /**< packets given out */
	uint64_t no_mbuf;  /**< packets lost, because the pool was empty */
	uint64_t withheld; /**< reordered ones that are to be sent yet: 0 or 1 */
	uint64_t
		late_ns; /**< how long after its time the latest one was made: who polls too rarely does not keep the rate */
	uint64_t faults[WEIR_READOUT_NB_EMULATED]; /**< frames that it was done to, by fault */
};

/**
 * Make one.
 *
 * @return to be freed with weir_readout_emulator_free(); NULL with rte_errno EINVAL, ENOMEM; the log says why
 */
struct weir_readout_emulator *weir_readout_emulator_create(
	const struct weir_readout_emulator_config *config);

/** Free it. NULL is allowed. */
void weir_readout_emulator_free(struct weir_readout_emulator *emulator);

/**
 * Packets that are due by now, streams in turns, each one's in order; whole packets, Ethernet on. What there was no room for comes the next
 * time.
 *
 * @param now_ns      since the start
 * @param[out] mbufs  owned by the caller
 * @param nb          room: 3 or more, for a frame, its duplicate, and one that was withheld
 * @return how many
 */
uint32_t weir_readout_emulator_poll(struct weir_readout_emulator *emulator, uint64_t now_ns,
	struct rte_mbuf **mbufs, uint32_t nb);

/**
 * As weir_readout_emulator_poll(), of each nb_pollers'th stream from number @p poller on: each poller is a thread, beside the others.
 *
 * @param poller  less than nb_pollers
 */
uint32_t weir_readout_emulator_poll_share(struct weir_readout_emulator *emulator, uint32_t poller,
	uint64_t now_ns, struct rte_mbuf **mbufs, uint32_t nb);

/** When frame @p number of a stream is due: ns since the start, rounded down. Any thread. */
uint64_t weir_readout_emulator_due_ns(
	const struct weir_readout_emulator *emulator, uint32_t stream, uint64_t number);

/** Have all streams ended, nothing withheld? Never true of one without an end. Any thread. */
bool weir_readout_emulator_ended(const struct weir_readout_emulator *emulator);

/** How many streams it has. Any thread. */
uint32_t weir_readout_emulator_nb_streams(const struct weir_readout_emulator *emulator);

/** Counters of a stream, less than nb_streams, at one moment. Any thread; looks again while the emulator is at them. */
void weir_readout_emulator_stats(const struct weir_readout_emulator *emulator, uint32_t stream,
	struct weir_readout_emulator_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
