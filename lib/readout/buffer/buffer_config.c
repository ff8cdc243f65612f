/* SPDX-License-Identifier: BSD-3-Clause */
/* From seconds and rates to cells and slots. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bitops.h> /* powers of 2, in the newest DPDK */
#include <rte_common.h>
#include <rte_errno.h>

#include "weir_base.h"

#include "buffer_private.h"

#define CACHE_LINE      64u
#define CONFIRM_DEFAULT 3
#define REORDER_DEFAULT 1024

_Static_assert((int)WEIR_READOUT_FULL_EVICT_OLDEST == (int)WEIR_BASE_FULL_EVICT_OLDEST &&
		       (int)WEIR_READOUT_FULL_DROP_NEWEST == (int)WEIR_BASE_FULL_DROP_NEWEST,
	"as it is described");

/* What a configuration comes to. */
struct sizes {
	struct weir_base_buffer_sizes base;
	uint64_t nb_log;
	uint32_t cell_bytes;
};

static int __attribute__((format(printf, 2, 3)))
refuse(const struct weir_readout_buffer_config *config, const char *format, ...)
{
	char why[160];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, sizeof(why), format, arguments);
	va_end(arguments);
	weir_base_log(WEIR_BASE_LOG_ERROR, "readout", "buffer of %s: %s",
		config->name != NULL ? config->name : "?", why);
	return -EINVAL;
}

/* Greater than 0, and a number. */
static bool
is_positive(double value)
{
	return value > 0 && value < 1e18;
}

static int
check(const struct weir_readout_buffer_config *config)
{
	const struct weir_readout_format *format = config->format;

	if (config->name == NULL || format == NULL)
		return refuse(config, "it has no name, or no format");
	if (format->clock_hz == 0)
		return refuse(config, "the clock of format %s is not known", format->name);
	if (!is_positive(config->history_s))
		return refuse(config, "a history of %g s", config->history_s);
	if (format->step_ticks == 0 && !is_positive(config->rate_hz))
		return refuse(config, "%g frames a second of format %s, which has no step",
			config->rate_hz, format->name);
	if (config->jump_s != 0 && !is_positive(config->jump_s))
		return refuse(config, "jumps from %g s on", config->jump_s);
	if (config->confirm_frames > CONFIRM_MAX)
		return refuse(config, "jumps confirmed by %u frames; expected up to %u",
			config->confirm_frames, CONFIRM_MAX);
	if ((unsigned int)config->when_full > WEIR_READOUT_FULL_DROP_NEWEST)
		return refuse(config, "what to do when it is full: %d", (int)config->when_full);
	return 0;
}

static int
size_cells(const struct weir_readout_buffer_config *config, struct sizes *sizes)
{
	const struct weir_readout_format *format = config->format;
	const struct weir_base_buffer buffer = {
		.format = format->name,
		.clock_hz = format->clock_hz,
		.step_ticks = format->step_ticks,
		.timestamp_bits = format->timestamp_bits,
		.size_min_bytes = format->size_min_bytes,
		.size_max_bytes = format->size_max_bytes,
		.history_s = config->history_s,
		.rate_hz = config->rate_hz,
		.jump_s = config->jump_s,
		.spare_frames = config->spare_frames,
		.frame_bytes = config->frame_bytes,
	};
	struct weir_base_buffer_sizes *base = &sizes->base;
	char why[160];

	if (weir_base_buffer_size(&buffer, base, why, sizeof(why)) < 0)
		return refuse(config, "%s", why);
	sizes->cell_bytes =
		(RTE_MAX(base->frame_bytes, 1u) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	sizes->nb_log = rte_align64pow2(base->nb_cells);
	return 0;
}

static uint64_t
index_bytes(const struct weir_readout_buffer_config *config, const struct sizes *sizes)
{
	return sizes->base.nb_index *
	       (sizeof(uint32_t) + (config->format->step_ticks > 0 ? 0 : sizeof(uint64_t)));
}

static uint64_t
all_bytes(const struct weir_readout_buffer_config *config, const struct sizes *sizes)
{
	return sizeof(struct ranges) + store_bytes(sizes->base.nb_cells, sizes->cell_bytes) +
	       index_bytes(config, sizes) + sizes->nb_log * sizeof(uint32_t);
}

/* The memory: what readers write, the store, times of an ordered index, references, those of the log. */
static void
lay_out(struct weir_readout_buffer *buffer, const struct sizes *sizes)
{
	uint8_t *at = buffer->memory.start;

	buffer->ranges = (void *)at;
	ranges_init(buffer->ranges, sizes->base.live_ticks + buffer->step_ticks);
	at += sizeof(*buffer->ranges);
	store_init(&buffer->store, at, sizes->base.nb_cells, sizes->cell_bytes, buffer->ranges);
	at += store_bytes(sizes->base.nb_cells, sizes->cell_bytes);
	buffer->index.mask = sizes->base.nb_index - 1;
	if (buffer->ordered) {
		buffer->index.ats = (void *)at;
		at += sizes->base.nb_index * sizeof(uint64_t);
	}
	buffer->index.refs = (void *)at;
	memset(buffer->index.refs, 0xff, sizes->base.nb_index * sizeof(uint32_t)); /* STORE_NONE */
	buffer->log.refs = buffer->index.refs + sizes->base.nb_index;
	buffer->log.mask = sizes->nb_log - 1;
}

static void
fill(struct weir_readout_buffer *buffer, const struct weir_readout_buffer_config *config,
	const struct sizes *sizes)
{
	unsigned int unused = 64 - config->format->timestamp_bits;

	buffer->format = *config->format;
	buffer->nb_spare = sizes->base.nb_spare;
	buffer->timestamp_mask = UINT64_MAX >> unused;
	buffer->ordered = config->format->step_ticks == 0;
	buffer->step_ticks = buffer->ordered ? 1 : config->format->step_ticks;
	buffer->live_ticks = sizes->base.live_ticks;
	buffer->jump_ticks = sizes->base.jump_ticks;
	buffer->frame_bytes = sizes->base.frame_bytes;
	buffer->confirm_frames =
		config->confirm_frames != 0 ? config->confirm_frames : CONFIRM_DEFAULT;
	buffer->reorder_frames =
		config->reorder_frames != 0 ? config->reorder_frames : REORDER_DEFAULT;
	buffer->when_full = config->when_full;
	buffer->socket_id = config->socket_id;
	lay_out(buffer, sizes);
}

static int
size(const struct weir_readout_buffer_config *config, struct sizes *sizes)
{
	int rc = check(config);

	if (rc == 0)
		rc = size_cells(config, sizes);
	return rc;
}

int
weir_readout_buffer_plan(
	const struct weir_readout_buffer_config *config, struct weir_readout_buffer_info *info)
{
	struct sizes sizes = {0};
	int rc = size(config, &sizes);

	if (rc < 0)
		return rc;
	*info = (struct weir_readout_buffer_info){
		.nb_cells = sizes.base.nb_cells,
		.nb_spare = sizes.base.nb_spare,
		.cell_bytes = sizes.cell_bytes,
		.nb_index = (uint32_t)sizes.base.nb_index,
		.memory_bytes = all_bytes(config, &sizes),
		.history_ticks = sizes.base.live_ticks - config->format->step_ticks,
		.jump_ticks = sizes.base.jump_ticks,
		.socket_id = config->socket_id,
	};
	return 0;
}

struct weir_readout_buffer *
weir_readout_buffer_create(const struct weir_readout_buffer_config *config)
{
	struct weir_readout_buffer *buffer;
	struct sizes sizes = {0};
	int rc = size(config, &sizes);

	if (rc < 0) {
		rte_errno = -rc;
		return NULL;
	}
	buffer = aligned_alloc(CACHE_LINE, sizeof(*buffer));
	if (buffer != NULL) {
		memset(buffer, 0, sizeof(*buffer));
		rc = memory_map(&buffer->memory, all_bytes(config, &sizes), config->socket_id,
			!config->no_hugepages);
	}
	if (buffer == NULL || rc < 0) {
		free(buffer);
		rte_errno = ENOMEM;
		return NULL;
	}
	fill(buffer, config, &sizes);
	return buffer;
}

void
weir_readout_buffer_free(struct weir_readout_buffer *buffer)
{
	if (buffer == NULL)
		return;
	memory_unmap(&buffer->memory);
	free(buffer);
}

void
weir_readout_buffer_info(
	const struct weir_readout_buffer *buffer, struct weir_readout_buffer_info *info)
{
	*info = (struct weir_readout_buffer_info){
		.nb_cells = buffer->store.nb_cells,
		.nb_spare = buffer->nb_spare,
		.cell_bytes = buffer->store.cell_bytes,
		.nb_index = (uint32_t)(buffer->index.mask + 1),
		.memory_bytes = buffer->memory.bytes,
		.history_ticks = buffer->live_ticks - (buffer->ordered ? 0 : buffer->step_ticks),
		.jump_ticks = buffer->jump_ticks,
		.hugepages = buffer->memory.hugepages,
		.socket_id = buffer->socket_id,
	};
}
