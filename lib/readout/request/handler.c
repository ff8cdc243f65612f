/* SPDX-License-Identifier: BSD-3-Clause */
/* A link's frames into its latency buffer, and the counters of both as one. */
#include <errno.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "again.h"
#include "weir_base_nodes.h"
#include "weir_readout_handler.h"

struct weir_readout_handler {
	struct weir_readout_link *link;
	struct weir_readout_buffer *buffer;
	struct weir_readout_sink *sink;
	uint32_t queue_size; /* 0: a callback */
};

const char *
weir_readout_handler_drop_name(enum weir_readout_handler_drop reason)
{
	static const char *const names[] = {
		[WEIR_READOUT_HANDLER_WRONG_SIZE] = "wrong_size",
		[WEIR_READOUT_HANDLER_DUPLICATE] = "duplicate",
		[WEIR_READOUT_HANDLER_QUEUE_FULL] = "queue_full",
		[WEIR_READOUT_HANDLER_UNBOUND] = "unbound",
		[WEIR_READOUT_HANDLER_PROCESSED] = "processed",
		[WEIR_READOUT_HANDLER_SLOT_TAKEN] = "slot_taken",
		[WEIR_READOUT_HANDLER_TOO_LATE] = "too_late",
		[WEIR_READOUT_HANDLER_FAR_OFF] = "far_off",
		[WEIR_READOUT_HANDLER_NO_MEMORY] = "no_memory",
		[WEIR_READOUT_HANDLER_EVICTED] = "evicted",
	};

	return (unsigned int)reason < RTE_DIM(names) ? names[reason] : NULL;
}

/* What is in the queue when it is freed. */
static void
discard(void *arg, const void *items, uint32_t nb)
{
	(void)arg;
	weir_readout_item_release(items, nb);
}

static int
make_sink(struct weir_readout_handler *handler, struct weir_readout_registry *registry,
	const char *name)
{
	const struct weir_readout_sink_config sink = {
		.name = name != NULL ? name : weir_readout_link_name(handler->link),
		.type = &weir_readout_item_type,
		.receive = handler->queue_size == 0 ? weir_readout_handler_receive : NULL,
		.arg = handler,
		.queue_size = handler->queue_size,
		.discard = handler->queue_size == 0 ? NULL : discard,
	};

	handler->sink = weir_readout_sink_create(registry, &sink);
	return handler->sink == NULL ? -rte_errno : 0;
}

struct weir_readout_handler *
weir_readout_handler_create(
	struct weir_readout_registry *registry, const struct weir_readout_handler_config *config)
{
	struct weir_readout_handler *handler = calloc(1, sizeof(*handler));
	struct weir_readout_buffer_config buffer = config->buffer;
	int rc;

	if (handler == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	handler->link = config->link;
	handler->queue_size = config->queue_size;
	if (buffer.name == NULL)
		buffer.name = weir_readout_link_name(config->link);
	if (buffer.format == NULL)
		buffer.format = weir_readout_link_format(config->link);
	handler->buffer = weir_readout_buffer_create(&buffer);
	rc = handler->buffer == NULL ? -rte_errno : make_sink(handler, registry, config->sink);
	if (rc == 0)
		return handler;
	weir_readout_buffer_free(handler->buffer);
	free(handler);
	rte_errno = -rc;
	return NULL;
}

int
weir_readout_handler_free(struct weir_readout_handler *handler)
{
	int rc;

	if (handler == NULL)
		return 0;
	rc = weir_readout_sink_free(handler->sink);
	if (rc < 0)
		return rc;
	weir_readout_buffer_free(handler->buffer);
	free(handler);
	return 0;
}

void
weir_readout_handler_receive(void *handler, const void *items, uint32_t nb)
{
	struct weir_readout_buffer *buffer = ((struct weir_readout_handler *)handler)->buffer;
	const struct weir_readout_item *item = items;

	for (uint32_t i = 0; i < nb; i++, item++) {
		void *there = weir_readout_buffer_reserve(buffer, &item->frame);

		if (there == NULL)
			continue;
		weir_readout_item_copy(item, there);
		weir_readout_buffer_commit(buffer);
	}
	weir_readout_item_release(items, nb);
}

uint32_t
weir_readout_handler_poll(struct weir_readout_handler *handler)
{
	struct weir_readout_item items[WEIR_BASE_DELIVERY_BURST];
	uint32_t nb = weir_readout_sink_receive(handler->sink, items, WEIR_BASE_DELIVERY_BURST);

	if (nb > 0)
		weir_readout_handler_receive(handler, items, nb);
	return nb;
}

uint32_t
weir_readout_handler_queue_size(const struct weir_readout_handler *handler)
{
	return handler->queue_size;
}

const struct weir_readout_buffer *
weir_readout_handler_buffer(const struct weir_readout_handler *handler)
{
	return handler->buffer;
}

struct weir_readout_link *
weir_readout_handler_link(const struct weir_readout_handler *handler)
{
	return handler->link;
}

/*
 * The buffer's counters between two looks at the link's that agree: so both are of one moment. What is given to the consumer is
 * counted before it is in the buffer, so the link is never behind.
 */
static void
look(const struct weir_readout_handler *handler, struct weir_readout_handler_stats *stats)
{
	struct weir_readout_link_stats *link = &stats->link, before;
	uint32_t looks = 0;

	weir_readout_link_stats(handler->link, link);
	do {
		before = *link;
		weir_readout_buffer_stats(handler->buffer, &stats->buffer);
		weir_readout_link_stats(handler->link, link);
		look_again(&looks);
	} while (link->received != before.received ||
		 link->held + link->delivered != before.held + before.delivered);
}

void
weir_readout_handler_stats(
	const struct weir_readout_handler *handler, struct weir_readout_handler_stats *stats)
{
	const struct weir_readout_buffer_stats *buffer = &stats->buffer;
	const struct weir_readout_link_stats *link = &stats->link;
	struct weir_readout_sink_stats sink;

	weir_readout_sink_stats(handler->sink, &sink);
	look(handler, stats);
	stats->received = link->received;
	stats->received_bytes = link->received_bytes;
	stats->buffered = buffer->buffered;
	stats->held = link->held + link->delivered - buffer->received;
	stats->queued = RTE_MIN(sink.queued, stats->held); /* some came to the buffer meanwhile */
	stats->delivered = buffer->expired;
	stats->dropped[WEIR_READOUT_HANDLER_WRONG_SIZE] =
		link->dropped[WEIR_READOUT_DROP_WRONG_SIZE] +
		buffer->dropped[WEIR_READOUT_BUFFER_WRONG_SIZE];
	stats->dropped[WEIR_READOUT_HANDLER_DUPLICATE] =
		link->dropped[WEIR_READOUT_DROP_DUPLICATE] +
		buffer->dropped[WEIR_READOUT_BUFFER_DUPLICATE];
	stats->dropped[WEIR_READOUT_HANDLER_QUEUE_FULL] =
		link->dropped[WEIR_READOUT_DROP_QUEUE_FULL];
	stats->dropped[WEIR_READOUT_HANDLER_UNBOUND] = link->dropped[WEIR_READOUT_DROP_UNBOUND];
	stats->dropped[WEIR_READOUT_HANDLER_PROCESSED] = link->dropped[WEIR_READOUT_DROP_PROCESSED];
	stats->dropped[WEIR_READOUT_HANDLER_SLOT_TAKEN] =
		buffer->dropped[WEIR_READOUT_BUFFER_SLOT_TAKEN];
	stats->dropped[WEIR_READOUT_HANDLER_TOO_LATE] =
		buffer->dropped[WEIR_READOUT_BUFFER_TOO_LATE];
	stats->dropped[WEIR_READOUT_HANDLER_FAR_OFF] = buffer->dropped[WEIR_READOUT_BUFFER_FAR_OFF];
	stats->dropped[WEIR_READOUT_HANDLER_NO_MEMORY] =
		buffer->dropped[WEIR_READOUT_BUFFER_NO_MEMORY];
	stats->dropped[WEIR_READOUT_HANDLER_EVICTED] = buffer->evicted;
}
