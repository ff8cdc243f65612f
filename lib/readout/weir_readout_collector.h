/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_READOUT_COLLECTOR_H
#define WEIR_READOUT_COLLECTOR_H

/**
 * @file
 * Many producers, one link: messages from a shared queue become the frames of a link, which has its own format, checks and latency buffer
 * as any other. So what hit finders find in many links is kept, and can be asked for by time.
 *
 * Frames come in the order in which producers sent them: where one is behind the others, its frames count as late, and are put in their
 * place by an ordered buffer.
 *
 * Each message is accounted for: what producers delivered = received + queued, and received is what the link received.
 *
 * Threads: producers each in their own; one at a time polls; counters of the link by any.
 */

#include <stdint.h>

#include "weir_readout_link.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weir_readout_collector;

/** A collector. */
struct weir_readout_collector_config {
	const char *sink; /**< name of its sink in the registry */
	const struct weir_readout_type
		*type;       /**< of its messages: each is a frame of the link's format */
	uint32_t queue_size; /**< messages that wait, at most; more are refused */
	struct weir_readout_link *link; /**< whose frames they are; the caller's */
};

/**
 * Make one, and its sink in @p registry. Any thread.
 *
 * @return NULL with rte_errno: EINVAL, EEXIST: there is a sink of this name, ENOMEM; the log says why
 */
struct weir_readout_collector *weir_readout_collector_create(
	struct weir_readout_registry *registry, const struct weir_readout_collector_config *config);

/**
 * Free it and its sink; messages in the queue are lost. NULL is allowed.
 *
 * @return 0; -EBUSY: a producer is bound to it still, nothing was freed
 */
int weir_readout_collector_free(struct weir_readout_collector *collector);

/**
 * Give the link what waits, a batch. The frames are there during the call only: the link's consumer has a callback that copies them, as a handler's
 * does. Never waits, allocates nothing.
 *
 * @param arrival_ns  as of weir_readout_link_receive()
 * @return how many; 0: nothing waited
 */
uint32_t weir_readout_collector_poll(struct weir_readout_collector *collector, uint64_t arrival_ns);

/** State of its queue. Any thread. */
void weir_readout_collector_stats(
	const struct weir_readout_collector *collector, struct weir_readout_sink_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
