/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of many producers as frames of one link. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <rte_errno.h>

#include "weir_base_nodes.h"

#include "registry_private.h"
#include "weir_readout_collector.h"
#include "weir_readout_format_fast.h"

struct weir_readout_collector {
	struct weir_readout_sink *sink;
	struct weir_readout_link *link;
	uint32_t size_bytes;
	struct weir_readout_item items[WEIR_BASE_HITS_BURST];
	uint8_t messages[] __attribute__((aligned(64)));
};

/* @return false: said in the log */
static bool
check_config(const struct weir_readout_collector_config *config)
{
	if (config->link == NULL || config->type == NULL) {
		READOUT_LOG(ERROR, "collector '%s' needs a link, and a type of messages",
			config->sink == NULL ? "" : config->sink);
		return false;
	}
	if (weir_readout_format_size_allowed(
		    weir_readout_link_format(config->link), config->type->size_bytes))
		return true;
	READOUT_LOG(ERROR,
		"collector '%s': messages of %" PRIu32 " bytes are no frames of link '%s'",
		config->sink == NULL ? "" : config->sink, config->type->size_bytes,
		weir_readout_link_name(config->link));
	return false;
}

struct weir_readout_collector *
weir_readout_collector_create(
	struct weir_readout_registry *registry, const struct weir_readout_collector_config *config)
{
	struct weir_readout_sink_config sink = {.name = config->sink,
		.type = config->type,
		.shared = true,
		.queue_size = config->queue_size};
	struct weir_readout_collector *collector;
	size_t bytes;

	if (!check_config(config)) {
		rte_errno = EINVAL;
		return NULL;
	}
	bytes = sizeof(*collector) + (size_t)WEIR_BASE_HITS_BURST * config->type->size_bytes;
	bytes = RTE_ALIGN_CEIL(bytes, __alignof__(struct weir_readout_collector));
	collector = aligned_alloc(__alignof__(struct weir_readout_collector), bytes);
	if (collector == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	collector->link = config->link;
	collector->size_bytes = config->type->size_bytes;
	collector->sink = weir_readout_sink_create(registry, &sink);
	if (collector->sink == NULL) {
		free(collector);
		return NULL;
	}
	return collector;
}

int
weir_readout_collector_free(struct weir_readout_collector *collector)
{
	int rc = collector == NULL ? 0 : weir_readout_sink_free(collector->sink);

	if (rc == 0)
		free(collector);
	return rc;
}

uint32_t
weir_readout_collector_poll(struct weir_readout_collector *collector, uint64_t arrival_ns)
{
	uint32_t nb = weir_readout_sink_receive(
		collector->sink, collector->messages, WEIR_BASE_HITS_BURST);

	for (uint32_t i = 0; i < nb; i++)
		collector->items[i] = (struct weir_readout_item){
			.data = collector->messages + (size_t)i * collector->size_bytes,
			.data_bytes = collector->size_bytes,
			.frame.size_bytes = collector->size_bytes,
		};
	weir_readout_link_receive(collector->link, collector->items, nb, arrival_ns);
	return nb;
}

void
weir_readout_collector_stats(
	const struct weir_readout_collector *collector, struct weir_readout_sink_stats *stats)
{
	weir_readout_sink_stats(collector->sink, stats);
}
