/* SPDX-License-Identifier: BSD-3-Clause */
/* What became of a link's frames. */
#include <rte_common.h>

#include "ctl_private.h"

static json_t *
occurrence(const struct weir_readout_occurrence *one)
{
	json_t *object = json_object();

	weir_base_ctl_set(object, "number", one->number);
	weir_base_ctl_set_decimal(object, "timestamp", one->timestamp);
	weir_base_ctl_set_decimal(object, "sequence", one->sequence);
	weir_base_ctl_set(object, "arrival_ns", one->arrival_ns);
	return object;
}

/* Of faults only those that were seen. */
static json_t *
checks(const struct weir_readout_link_stats *stats)
{
	json_t *object = json_object();

	weir_base_ctl_set(object, "missing", stats->missing);
	for (int i = 0; i < WEIR_READOUT_NB_FAULTS; i++) {
		const struct weir_readout_fault_stats *fault = &stats->faults[i];
		json_t *one;

		if (fault->count == 0)
			continue;
		one = json_object();
		weir_base_ctl_set(one, "count", fault->count);
		json_object_set_new(one, "first", occurrence(&fault->first));
		json_object_set_new(one, "last", occurrence(&fault->last));
		weir_base_ctl_set(one, "interval_ns", fault->interval_ns);
		json_object_set_new(
			object, weir_readout_fault_name((enum weir_readout_fault)i), one);
	}
	return object;
}

/* Frames that an application's functions dropped, by their reasons. @return their sum */
static uint64_t
set_processed(json_t *object, const struct weir_readout_link *link,
	const struct weir_readout_link_stats *stats)
{
	json_t *processed = json_object();
	const char *name;
	uint64_t sum = 0;

	for (uint32_t i = 0; (name = weir_readout_link_process_drop_name(link, i)) != NULL; i++) {
		weir_base_ctl_set(processed, name, stats->processed[i]);
		sum += stats->processed[i];
	}
	json_object_set_new(object, "processed", processed);
	return sum;
}

/* Ticks of a format's clock in seconds. */
static json_t *
seconds(const struct weir_readout_format *format, uint64_t ticks)
{
	return json_real((double)ticks / (double)format->clock_hz);
}

static json_t *
buffer_state(const struct weir_readout_buffer *buffer, const struct weir_readout_format *format,
	const struct weir_readout_buffer_stats *stats)
{
	struct weir_readout_buffer_info info;
	json_t *object = json_object();
	uint64_t begin, end;

	weir_readout_buffer_info(buffer, &info);
	if (weir_readout_buffer_range(buffer, &begin, &end)) {
		weir_base_ctl_set_decimal(object, "oldest", begin);
		weir_base_ctl_set_decimal(object, "newest", end);
		json_object_set_new(object, "history_s",
			seconds(format,
				(end - begin) & UINT64_MAX >> (64 - format->timestamp_bits)));
	}
	json_object_set_new(object, "guaranteed_s", seconds(format, info.history_ticks));
	weir_base_ctl_set(object, "cells", info.nb_cells);
	weir_base_ctl_set(object, "memory_bytes", info.memory_bytes);
	json_object_set_new(object, "hugepages", json_boolean(info.hugepages));
	json_object_set_new(object, "numa_node",
		info.socket_id < 0 ? json_null() : json_integer(info.socket_id));
	weir_base_ctl_set(object, "doubted", stats->doubted);
	weir_base_ctl_set(object, "late", stats->late);
	weir_base_ctl_set(object, "jumps", stats->jumps);
	weir_base_ctl_set(object, "detained", stats->detained);
	return object;
}

/* Link and buffer. @return the sum of what was dropped */
static uint64_t
set_both(json_t *object, const struct weir_readout_handler *handler,
	struct weir_readout_handler_stats *stats)
{
	weir_readout_handler_stats(handler, stats);
	json_object_set_new(object, "buffer",
		buffer_state(weir_readout_handler_buffer(handler),
			weir_readout_link_format(weir_readout_handler_link(handler)),
			&stats->buffer));
	if (weir_readout_handler_queue_size(handler) > 0)
		json_object_set_new(object, "queue",
			json_pack("{s:I, s:I}", "size",
				(json_int_t)weir_readout_handler_queue_size(handler), "queued",
				(json_int_t)stats->queued));
	return CTL_SET_COUNTS(object, "dropped", stats->dropped, weir_readout_handler_drop_name);
}

/* A link alone. */
static uint64_t
set_link(json_t *object, const struct weir_readout_link *link,
	struct weir_readout_handler_stats *stats)
{
	*stats = (struct weir_readout_handler_stats){0};
	weir_readout_link_stats(link, &stats->link);
	stats->received = stats->link.received;
	stats->received_bytes = stats->link.received_bytes;
	stats->held = stats->link.held;
	stats->delivered = stats->link.delivered;
	return CTL_SET_COUNTS(object, "dropped", stats->link.dropped, weir_readout_drop_name);
}

json_t *
ctl_link(const struct weir_readout_link *link, const struct weir_readout_handler *handler,
	bool *agree)
{
	struct weir_readout_handler_stats stats;
	uint64_t nb_dropped, nb_processed;
	json_t *object = json_object();

	weir_base_ctl_set_name(object, "link", weir_readout_link_name(link));
	weir_base_ctl_set_decimal(object, "key", weir_readout_link_key(link));
	weir_base_ctl_set_name(object, "format", weir_readout_link_format(link)->name);
	nb_dropped = handler != NULL ? set_both(object, handler, &stats)
				     : set_link(object, link, &stats);
	nb_processed = set_processed(object, link, &stats.link);
	weir_base_ctl_set(object, "received", stats.received);
	weir_base_ctl_set(object, "received_bytes", stats.received_bytes);
	weir_base_ctl_set(object, "buffered", stats.buffered);
	weir_base_ctl_set(object, "held", stats.held);
	weir_base_ctl_set(object, "delivered", stats.delivered);
	json_object_set_new(object, "checks", checks(&stats.link));
	if (stats.received != stats.buffered + stats.held + stats.delivered + nb_dropped ||
		nb_processed != stats.link.dropped[WEIR_READOUT_DROP_PROCESSED])
		*agree = false;
	return object;
}
