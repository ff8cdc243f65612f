/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_LINK_H
#define WEIR_READOUT_LINK_H

/**
 * @file
 * A link: one stream of frames, checked, counted, and sent on to whom the registry binds it.
 *
 * Each frame is compared with the one before it: by its sequence number, modulo what the format says, and its timestamp, where the
 * format has these. Both together say where in the stream it stands:
 *
 *  - number and time agree: it is the next one, or there is a gap, or it is a duplicate, or one that came after later ones;
 *  - only one of them is the next: the other one is wrong, and counted: a jump of the number; early, late, or a jump of the timestamp;
 *  - neither is: both jumped. When the frame after it follows it, the stream goes on there.
 *
 * So a corrupt field counts once, and a jump once. Where the format has no step, timestamps only must not go back.
 *
 * Each frame is accounted for: received = held + delivered + the sum of dropped, at every snapshot. Held are those that the consumer was
 * given, and has not released.
 *
 * An application's own functions can look at frames before they are sent on, and drop some: see weir_readout_process.h.
 *
 * Threads: one thread at a time gives a link frames. Any other may read its counters; any may release frames.
 */

#include <stdbool.h>
#include <stdint.h>

#include "weir_readout_buffer.h"
#include "weir_readout_format.h"
#include "weir_readout_registry.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_READOUT_PROCESS_DROPS_MAX                                                             \
	16 /**< reasons to drop a frame that an application's functions for a link have, all together */

struct rte_mbuf;
struct weir_readout_link;
struct weir_readout_process;

/** A frame on its way from a link to its consumer: the messages of type weir_readout_item_type. */
struct weir_readout_item {
	struct weir_readout_link *link; /**< it came by */
	struct rte_mbuf *
		mbuf; /**< that holds it, released with it; NULL: memory of the sender, which says how long it is there */
	const void *data; /**< its first bytes */
	uint32_t
		data_bytes; /**< there in a row; where it is less than the frame's size, the rest is in the next segments of the mbuf */
	uint32_t reserved;  /**< 0 */
	struct weir_readout_frame
		frame; /**< timestamp, sequence number, size, as a latency buffer takes them */
};

/** The type of frames in a registry. */
extern const struct weir_readout_type weir_readout_item_type;

/** What can be wrong with a frame, or before it. */
enum weir_readout_fault {
	WEIR_READOUT_FAULT_GAP,           /**< frames before it are missing */
	WEIR_READOUT_FAULT_DUPLICATE,     /**< it has come before */
	WEIR_READOUT_FAULT_REORDERED,     /**< it was missing, and came after later ones */
	WEIR_READOUT_FAULT_SEQUENCE_JUMP, /**< its number is not the next, though its time is */
	WEIR_READOUT_FAULT_EARLY, /**< its timestamp is ahead of what its number says, by less than a jump */
	WEIR_READOUT_FAULT_LATE, /**< its timestamp is behind what its number says, or behind the one before it */
	WEIR_READOUT_FAULT_TIMESTAMP_JUMP, /**< its timestamp is further off */
	WEIR_READOUT_FAULT_WRONG_SIZE, /**< a size that is not the format's, or not the one it states */
	WEIR_READOUT_FAULT_STALL,      /**< nothing came for longer than allowed before it */
	WEIR_READOUT_NB_FAULTS,        /**< their number */
};

/** Why a frame was dropped. */
enum weir_readout_drop {
	WEIR_READOUT_DROP_WRONG_SIZE, /**< nothing it says can be trusted */
	WEIR_READOUT_DROP_DUPLICATE,  /**< where they are to be dropped */
	WEIR_READOUT_DROP_QUEUE_FULL, /**< its consumer was too slow */
	WEIR_READOUT_DROP_UNBOUND,    /**< there is no consumer */
	WEIR_READOUT_DROP_PROCESSED,  /**< an application's function said so, see processed */
	WEIR_READOUT_NB_DROPS,        /**< their number */
};

/** Name of a fault as statistics show it ("timestamp_jump"); NULL: no such. Any thread. */
const char *weir_readout_fault_name(enum weir_readout_fault fault);

/** Name of a reason to drop a frame ("queue_full"); NULL: no such. Any thread. */
const char *weir_readout_drop_name(enum weir_readout_drop reason);

/** A link as one describes it. 0 in a member: its default. */
struct weir_readout_link_config {
	const char *name;                         /**< of its source in the registry; copied */
	const char *sink;                         /**< name of its consumer; NULL: none yet */
	const struct weir_readout_format *format; /**< copied */
	uint64_t key;         /**< what the format's stream key is in its frames */
	bool drop_duplicates; /**< do not send them on; default: count them only */
	double jump_s; /**< a timestamp further off has jumped; default: 1 s where the format has a step, else any time forwards is allowed */
	uint64_t stall_ns; /**< nothing came for so long: a stall; default: not looked for */
	const struct weir_readout_process
		*processes;    /**< what looks at its frames, one after the other; copied */
	uint32_t nb_processes; /**< how many, up to WEIR_READOUT_PROCESSES_MAX */
};

/** When a fault was seen, for the log of an operator. Numbers of frames count from 0 at the link's first one. */
struct weir_readout_occurrence {
	uint64_t number;     /**< of the frame that showed it, as received */
	uint64_t timestamp;  /**< what it said; of a wrong size: 0 */
	uint64_t sequence;   /**< what it said; of a wrong size: 0 */
	uint64_t arrival_ns; /**< as given to weir_readout_link_receive() */
};

/** A fault, remembered. */
struct weir_readout_fault_stats {
	uint64_t count;                       /**< how often */
	struct weir_readout_occurrence first; /**< of all; zero without one */
	struct weir_readout_occurrence last;  /**< the latest */
	uint64_t interval_ns; /**< between the arrivals of the last two; 0: there were not two */
};

/** Counters of a link, of one moment: 64 bits, never reset. received = held + delivered + sum of dropped. */
struct weir_readout_link_stats {
	uint64_t received;                       /**< frames */
	uint64_t received_bytes;                 /**< theirs */
	uint64_t held;                           /**< given to the consumer, not released yet */
	uint64_t delivered;                      /**< released */
	uint64_t dropped[WEIR_READOUT_NB_DROPS]; /**< by reason */
	uint64_t processed
		[WEIR_READOUT_PROCESS_DROPS_MAX]; /**< dropped[WEIR_READOUT_DROP_PROCESSED] by reason, see weir_readout_link_process_drop_name() */
	uint64_t
		missing; /**< frames in all gaps; those that came later are in faults[WEIR_READOUT_FAULT_REORDERED].count */
	struct weir_readout_fault_stats faults[WEIR_READOUT_NB_FAULTS]; /**< by fault */
};

/**
 * Make a link, and its source in @p registry, which is not bound yet (weir_readout_registry_bind()). Not on the fast path; any thread.
 *
 * @return NULL with rte_errno: EINVAL, EEXIST: there is a source of this name, ENOMEM; the log says why
 */
struct weir_readout_link *weir_readout_link_create(
	struct weir_readout_registry *registry, const struct weir_readout_link_config *config);

/** Free it, and its source. No frames are given to it, and none that it sent are held any more. NULL is allowed. */
void weir_readout_link_free(struct weir_readout_link *link);

/** Its name, valid as long as it is. Any thread. */
const char *weir_readout_link_name(const struct weir_readout_link *link);

/** Its stream key. Any thread. */
uint64_t weir_readout_link_key(const struct weir_readout_link *link);

/** Its format, valid as long as it is. Any thread. */
const struct weir_readout_format *weir_readout_link_format(const struct weir_readout_link *link);

/** Name of reason @p number, from 0, to drop a frame that an application's functions have; NULL beyond the last. Any thread. */
const char *weir_readout_link_process_drop_name(
	const struct weir_readout_link *link, uint32_t number);

/** Its source in the registry, to bind it to another consumer. Any thread. */
struct weir_readout_source *weir_readout_link_source(const struct weir_readout_link *link);

/**
 * Check frames, and send them to the consumer, which owns them then, and releases them by weir_readout_item_release(). What is dropped is
 * released here. Never waits, allocates nothing; the thread that gives this link frames.
 *
 * @param items       frames of this stream, in the order of their arrival: mbuf, data, data_bytes and frame.size_bytes are set; the
 *                    rest is set here, and their order may change
 * @param nb          how many
 * @param arrival_ns  when they arrived; never less than before. Of a format without timestamps, also that
 */
void weir_readout_link_receive(struct weir_readout_link *link, struct weir_readout_item *items,
	uint32_t nb, uint64_t arrival_ns);

/**
 * The consumer is done with these frames: their mbufs are freed. They may be of several links. Any thread.
 */
void weir_readout_item_release(const struct weir_readout_item *items, uint32_t nb);

/**
 * What the fields of frames say: of each as weir_readout_format_get() reads them, at once for many of one format, as links do. Any thread that
 * holds them.
 *
 * @param[out] headers  of each; zero where the frame is truncated: its first format->fields_bytes are not in a row
 */
void weir_readout_item_headers(const struct weir_readout_format *format,
	const struct weir_readout_item *items, uint32_t nb, struct weir_readout_header *headers);

/** Copy a whole frame, of all its segments, to where frame.size_bytes have room. Who holds it. */
void weir_readout_item_copy(const struct weir_readout_item *item, void *to);

/** The counters at one moment. Any thread, also a consumer's callback; looks again while the receiver is at them. */
void weir_readout_link_stats(
	const struct weir_readout_link *link, struct weir_readout_link_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
