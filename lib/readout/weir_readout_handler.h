/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_HANDLER_H
#define WEIR_READOUT_HANDLER_H

/**
 * @file
 * A link's handler: the sink that puts its frames into a latency buffer, by exactly one copy, and lets the packets go: in the receiver's
 * thread, or, with a queue, in another one.
 *
 * @code{.c}
 * link = weir_readout_link_create(registry, &(struct weir_readout_link_config){.name = "wib0", .sink = "wib0", .format = &format});
 * handler = weir_readout_handler_create(registry, &(struct weir_readout_handler_config){.link = link,
 * 	.buffer = {.history_s = 10}});
 * if (weir_readout_registry_bind(registry) < 0)
 * 	return -1;
 * @endcode
 *
 * What an application does with frames before they are in the buffer, the link's functions do (weir_readout_process.h), or a sink of its
 * own, whose callback ends with weir_readout_handler_receive().
 *
 * Each frame is accounted for, from the link to the end of its time in the buffer: received = buffered + held + delivered + sum of dropped, at
 * every snapshot.
 *
 * With a queue the receiver's thread touches no frame's payload, and a receiver that has large bursts is not kept by copies; the price are packets that
 * are held for longer, and the queue's memory. What it has no room for is dropped by the link, as queue_full.
 *
 * Threads: the receiver's puts frames in, or who polls its queue; any may look at counters and at the buffer.
 */

#include <stdint.h>

#include "weir_readout_buffer.h"
#include "weir_readout_link.h"
#include "weir_readout_registry.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weir_readout_handler;

/** A handler as one describes it. */
struct weir_readout_handler_config {
	struct weir_readout_link *link; /**< whose frames they are; it outlives the handler's use */
	const char *sink; /**< name of the sink in the registry; NULL: the link's name */
	uint32_t
		queue_size; /**< frames that its queue holds, for weir_readout_handler_poll(): up to 2^24; 0: none, a callback */
	struct weir_readout_buffer_config
		buffer; /**< its buffer; name and format are the link's where they are NULL */
};

/** Why a frame that came by a link is not, or no longer, in its buffer, though its time is not over. */
enum weir_readout_handler_drop {
	WEIR_READOUT_HANDLER_WRONG_SIZE, /**< a size that is not the format's, or that its cells have no room for */
	WEIR_READOUT_HANDLER_DUPLICATE, /**< it was there already */
	WEIR_READOUT_HANDLER_QUEUE_FULL, /**< by the link: who polls the queue was too slow; or its consumer was another one, and was */
	WEIR_READOUT_HANDLER_UNBOUND,    /**< by the link: it had no consumer */
	WEIR_READOUT_HANDLER_PROCESSED,  /**< by the link: an application's function said so */
	WEIR_READOUT_HANDLER_SLOT_TAKEN, /**< another frame of the same step of time is there */
	WEIR_READOUT_HANDLER_TOO_LATE,   /**< its time was over when it came */
	WEIR_READOUT_HANDLER_FAR_OFF,   /**< a timestamp that the frames after it did not confirm */
	WEIR_READOUT_HANDLER_NO_MEMORY, /**< no cell was free, and none could be made free */
	WEIR_READOUT_HANDLER_EVICTED,   /**< it made room for a newer one */
	WEIR_READOUT_HANDLER_NB_DROPS,  /**< their number */
};

/** Name of a reason, as statistics show it ("no_memory"); NULL: no such. Any thread. */
const char *weir_readout_handler_drop_name(enum weir_readout_handler_drop reason);

/** Counters of a link and its buffer, of one moment: 64 bits, never reset. received = buffered + held + delivered + sum of dropped. */
struct weir_readout_handler_stats {
	uint64_t received;       /**< frames, by the link */
	uint64_t received_bytes; /**< theirs */
	uint64_t buffered;       /**< in the buffer now */
	uint64_t
		held; /**< given out by the link, not in the buffer yet; or given to another consumer, while the link was bound to that */
	uint64_t queued;    /**< of those held: in its queue, a moment before */
	uint64_t delivered; /**< could be asked for until their time was over */
	uint64_t dropped[WEIR_READOUT_HANDLER_NB_DROPS]; /**< by reason */
	struct weir_readout_link_stats link;             /**< in detail, of the same moment */
	struct weir_readout_buffer_stats buffer;         /**< likewise */
};

/**
 * Make a handler: its buffer, and its sink in @p registry, to which the link is bound by name (weir_readout_registry_bind()). Takes as
 * long as weir_readout_buffer_create(). Any thread.
 *
 * @return NULL with rte_errno: EINVAL, EEXIST: there is a sink of this name, ENOMEM; the log says why
 */
struct weir_readout_handler *weir_readout_handler_create(
	struct weir_readout_registry *registry, const struct weir_readout_handler_config *config);

/**
 * Free it, its sink and its buffer, in which nobody holds or looks for frames any more. Before the registry. Its queue is to be empty before its link is
 * freed. NULL is allowed.
 *
 * @return 0; -EBUSY: a link is bound to it still, nothing was freed
 */
int weir_readout_handler_free(struct weir_readout_handler *handler);

/**
 * Frames into the buffer, released then: what its callback does, or who polls its queue. Never waits, allocates nothing. One thread at a time.
 *
 * @param handler  a struct weir_readout_handler
 * @param items    struct weir_readout_item, of its link
 * @param nb       how many
 */
void weir_readout_handler_receive(void *handler, const void *items, uint32_t nb);

/**
 * Put frames that are in its queue into the buffer, up to 64. Never waits, allocates nothing. One thread at a time, which need not be the receiver's.
 *
 * @return how many; 0: none were there, or it has no queue
 */
uint32_t weir_readout_handler_poll(struct weir_readout_handler *handler);

/** Frames that its queue holds; 0: it has none. Any thread. */
uint32_t weir_readout_handler_queue_size(const struct weir_readout_handler *handler);

/** Its buffer, to look for windows, valid as long as the handler is. Any thread. */
const struct weir_readout_buffer *weir_readout_handler_buffer(
	const struct weir_readout_handler *handler);

/** Its link. Any thread. */
struct weir_readout_link *weir_readout_handler_link(const struct weir_readout_handler *handler);

/** All of its counters at one moment. Any thread, while the link is there; looks again while the receiver is at them. */
void weir_readout_handler_stats(
	const struct weir_readout_handler *handler, struct weir_readout_handler_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
