/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_SENDER_H
#define WEIR_READOUT_SENDER_H

/**
 * @file
 * Fragments to a file, or to a Unix socket, as bytes (weir_readout_fragment.h), one after the other: the frames from where they lie.
 *
 * @code{.c}
 * sender = weir_readout_sender_create(&(struct weir_readout_sender_config){.path = "out/fragments", .thread = true});
 * request.deliver = weir_readout_sender_deliver;
 * request.arg = sender;
 * @endcode
 *
 * Who delivers never waits: a sender has a bounded queue. What is sent, or cannot be, is released. So a peer that is slow or dead costs its own
 * fragments only, as many at once as its queue has room for; their sum over all senders should be less than the service's nb_fragments, and
 * the frames in them less than the buffer's spare_frames.
 *
 * Each fragment is accounted for: taken = sent + queued + the sum of failed, by reason, at every snapshot.
 *
 *  - A socket is written to without waiting. An error (the peer has gone), or no progress for stall_ns, is its end: all that is queued
 *    or delivered from then on fails.
 *  - Writing to a file can wait for the disk: that is what its own thread is for. A fragment that could not be written (the disk
 *    is full) fails; what was written of it is taken off the end of the file, and the next one is tried.
 *
 * Threads: any delivers, and looks at counters; the sender's own one sends, or, without one, one thread at a time polls.
 */

#include <stdbool.h>
#include <stdint.h>

#include "weir_readout_request.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weir_readout_sender;

/** A sender as one describes it. 0 in a member: its default. */
struct weir_readout_sender_config {
	const char *
		path; /**< a Unix stream socket that there is, to connect to; else a file, created or appended to, which no other sender of any process has open; NULL: fd */
	int fd; /**< without a path: a stream socket, or a file; owned by the sender, if it can be made */
	uint32_t nb_queued; /**< fragments at most, those being sent included; default 64 */
	uint64_t stall_ns; /**< a socket that takes nothing for so long is given up; default: 5 s */
	bool thread; /**< it sends by a thread of its own; else by weir_readout_sender_poll() */
	bool anew; /**< a file at path is emptied first, once it is certain that no other sender has it */
};

/** Why a fragment was not sent. */
enum weir_readout_send_failure {
	WEIR_READOUT_SEND_QUEUE_FULL, /**< too many before it have not been sent */
	WEIR_READOUT_SEND_STALLED,    /**< the peer took nothing for too long in the middle of it */
	WEIR_READOUT_SEND_PEER_GONE,  /**< the peer closed its end, or was given up */
	WEIR_READOUT_SEND_WRITE_FAILED, /**< the file did not take all of it: the log says why */
	WEIR_READOUT_SEND_NO_MEMORY,    /**< for its head */
	WEIR_READOUT_SEND_STOPPED,      /**< the sender was stopped before */
	WEIR_READOUT_NB_SEND_FAILURES,  /**< their number */
};

/** Name of a reason, as statistics show it ("peer_gone"); NULL: no such. Any thread. */
const char *weir_readout_send_failure_name(enum weir_readout_send_failure reason);

/** Counters of a sender at one moment: 64 bits, never reset. taken = sent + queued + sum of failed. */
struct weir_readout_sender_stats {
	uint64_t taken;                                 /**< fragments delivered to it */
	uint64_t sent;                                  /**< written, all of each */
	uint64_t sent_bytes;                            /**< theirs */
	uint64_t queued;                                /**< waiting, or being sent */
	uint64_t failed[WEIR_READOUT_NB_SEND_FAILURES]; /**< by reason */
	uint64_t waits;                                 /**< times that the peer had no room */
};

/**
 * Make a sender. Connects, or opens. Any thread; not the fast path.
 *
 * @return to be freed with weir_readout_sender_free(); NULL with rte_errno: EINVAL: neither a file nor a stream socket, EBUSY: another sender writes the file, ENOMEM, or what connecting
 *         or opening said; the log says why
 */
struct weir_readout_sender *weir_readout_sender_create(
	const struct weir_readout_sender_config *config);

/** Stop it, and its thread: what is queued fails, what is delivered from now on too. Waits for a write that is under way. Any thread but its own. */
void weir_readout_sender_stop(struct weir_readout_sender *sender);

/** Stop and free it; nobody delivers or polls any more. NULL is allowed. */
void weir_readout_sender_free(struct weir_readout_sender *sender);

/** Queue a fragment, which is released when it was sent or failed: a weir_readout_deliver_t. Never waits. Any thread. */
void weir_readout_sender_deliver(void *sender, struct weir_readout_fragment *fragment);

/**
 * Send what can be sent: a socket without waiting. Of a sender without a thread of its own.
 *
 * @param now_ns  for stall_ns: of a clock that does not go back
 * @return how many fragments are done: sent, or failed
 */
uint32_t weir_readout_sender_poll(struct weir_readout_sender *sender, uint64_t now_ns);

/** The counters at one moment. Any thread. */
void weir_readout_sender_stats(
	struct weir_readout_sender *sender, struct weir_readout_sender_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
