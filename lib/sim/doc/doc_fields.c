/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: what frames say of themselves, and the buffer that goes by that. Sizes are those that a program has which runs. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "doc_read.h"

#define JUMP_PART       16 /* of the history */
#define JUMP_FRAMES_MIN 16
#define SPARE_PART      8 /* of its frames */
#define CELLS_MAX       (1u << 30)
#define WORD_BYTES      8

/* Bits of a frame; without a width: it has none. */
struct field {
	uint32_t offset, width;
};

struct layout {
	struct field stream, sequence, timestamp, length;
	uint64_t modulus; /* 0: by the width */
	uint32_t bytes_min, bytes_max;
};

static struct field
field_of(const struct weir_base_doc_value *format, const char *name)
{
	const struct weir_base_doc_value *value = weir_base_doc_get(format, name);

	return (struct field){
		.offset = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "offset")),
		.width = (uint32_t)weir_base_doc_u64(weir_base_doc_get(value, "width")),
	};
}

static uint32_t
end_of(const struct field *field)
{
	return field->width == 0 ? 0 : (field->offset + field->width + 7) / 8;
}

static uint64_t
mask_of(const struct field *field)
{
	return field->width == 0 ? 0 : UINT64_MAX >> (64 - field->width);
}

static struct layout
described(const struct weir_base_doc_value *format)
{
	const uint64_t bytes = weir_base_doc_u64(weir_base_doc_get(format, "size"));
	const uint64_t most = weir_base_doc_u64(weir_base_doc_get(format, "size_max"));
	const uint64_t least = weir_base_doc_u64(weir_base_doc_get(format, "size_min"));

	return (struct layout){
		.stream = field_of(format, "stream"),
		.sequence = field_of(format, "sequence"),
		.timestamp = field_of(format, "timestamp"),
		.length = field_of(format, "length"),
		.modulus = weir_base_doc_u64(
			weir_base_doc_get(weir_base_doc_get(format, "sequence"), "modulus")),
		.bytes_min = (uint32_t)(bytes != 0 ? bytes : least),
		.bytes_max = (uint32_t)(bytes != 0  ? bytes
					: most != 0 ? most
						    : UINT32_MAX),
	};
}

static struct layout
layout_of(const struct weir_base_doc_value *format, const char *name)
{
	if (format == NULL && strcmp(name, WEIR_BASE_FORMAT_WIBETH) == 0)
		return (struct layout){
			.stream = WEIR_BASE_FORMAT_WIBETH_STREAM,
			.sequence = WEIR_BASE_FORMAT_WIBETH_SEQUENCE,
			.timestamp = WEIR_BASE_FORMAT_WIBETH_TIMESTAMP,
			.bytes_min = WEIR_BASE_FORMAT_WIBETH_BYTES,
			.bytes_max = WEIR_BASE_FORMAT_WIBETH_BYTES,
		};
	if (format == NULL && strcmp(name, WEIR_BASE_FORMAT_VMM3A) == 0)
		return (struct layout){
			.stream = WEIR_BASE_FORMAT_VMM3A_STREAM,
			.sequence = WEIR_BASE_FORMAT_VMM3A_SEQUENCE,
			.timestamp = WEIR_BASE_FORMAT_VMM3A_TIMESTAMP,
			.bytes_min = WEIR_BASE_FORMAT_VMM3A_BYTES_MIN,
			.bytes_max = WEIR_BASE_FORMAT_VMM3A_BYTES,
		};
	if (format == NULL && strcmp(name, WEIR_BASE_FORMAT_HIT) == 0)
		return (struct layout){
			.timestamp = WEIR_BASE_FORMAT_HIT_TIMESTAMP,
			.bytes_min = WEIR_BASE_FORMAT_HIT_BYTES,
			.bytes_max = WEIR_BASE_FORMAT_HIT_BYTES,
		};
	return described(format);
}

static inline uint32_t
larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Where fields are, and what may be in them. Frames without a timestamp have the time that they are made for. */
static void
read_layout(struct model_link *link, const struct layout *layout, double jump_s)
{
	struct model_fields *fields = &link->fields;
	const uint32_t key_end = end_of(&layout->stream);

	fields->sequence_mask = mask_of(&layout->sequence);
	fields->key_mask = mask_of(&layout->stream);
	fields->key_bytes = larger(key_end, WORD_BYTES);
	fields->bytes_min = larger(larger(layout->bytes_min, key_end),
		larger(end_of(&layout->sequence),
			larger(end_of(&layout->timestamp), end_of(&layout->length))));
	fields->bytes_max = layout->bytes_max;
	fields->line = (struct weir_base_line_config){
		.step_ticks = link->has_step ? link->ticks : 0,
		.clock_hz = link->clock_hz,
		/* Of 64 bits: 0, any. */
		.sequence_modulus = layout->modulus != 0 || layout->sequence.width == 0
					    ? layout->modulus
					    : fields->sequence_mask + 1,
		.timestamp_bits = layout->timestamp.width != 0 ? layout->timestamp.width : 64,
		.has_sequence = layout->sequence.width != 0,
		.has_timestamp = true,
		.jump_s = jump_s,
	};
}

static uint64_t
power_of_two(uint64_t least)
{
	uint64_t size = 1;

	while (size < least)
		size *= 2;
	return size;
}

/* @return false: this was refused */
static bool
read_sizes(struct weir_sim_model *model, const struct weir_base_doc_value *buffer,
	struct model_link *link)
{
	const double hz = (double)link->clock_hz;
	const double rate_hz = weir_base_doc_f64(weir_base_doc_get(buffer, "rate"));
	const double frame = link->has_step || rate_hz == 0
				     ? (double)link->ticks / (double)link->per
				     : hz / rate_hz;
	const double history = weir_base_doc_f64(weir_base_doc_get(buffer, "history")) * hz;
	const double spare = weir_base_doc_f64(weir_base_doc_get(buffer, "spare"));
	struct model_fields *fields = &link->fields;
	double jump = weir_base_doc_f64(weir_base_doc_get(buffer, "jump")) * hz, frames;

	if (jump == 0)
		jump = fmax(history / JUMP_PART, JUMP_FRAMES_MIN * frame);
	if (!(history + jump + 2 * frame < ldexp(1, (int)fields->line.timestamp_bits - 2))) {
		weir_base_doc_error_add(model->doc, weir_base_doc_get(buffer, "history"),
			"history and jumps are more than a quarter of a timestamp's %u bits; "
			"expected less",
			fields->line.timestamp_bits);
		return false;
	}
	fields->jump_ticks = (uint64_t)ceil(jump);
	fields->live_ticks = (uint64_t)ceil(history) + fields->jump_ticks;
	if (link->has_step)
		fields->live_ticks = (fields->live_ticks / link->ticks + 2) * link->ticks;
	frames = link->has_step ? (double)(fields->live_ticks / link->ticks)
				: ceil((double)fields->live_ticks / frame) + 1;
	frames += spare > 0 ? spare : ceil(frames / SPARE_PART);
	if (!(frames <= CELLS_MAX)) {
		weir_base_doc_error_add(model->doc, weir_base_doc_get(buffer, "history"),
			"a buffer of %.0f frames; expected at most %u", frames, CELLS_MAX);
		return false;
	}
	fields->nb_cells = (uint32_t)frames + WEIR_BASE_CONFIRM_MAX;
	fields->nb_index = power_of_two(
		link->has_step ? fields->live_ticks / link->ticks : 2 * (uint64_t)fields->nb_cells);
	return true;
}

static int
read_reasons(struct weir_sim_model *model, struct model_fields *fields)
{
	return sim_doc_reason(model, &fields->unknown_stream, "unknown_stream") < 0 ||
			       sim_doc_reason(model, &fields->truncated, "truncated") < 0 ||
			       sim_doc_reason(model, &fields->slot_taken, "slot_taken") < 0 ||
			       sim_doc_reason(model, &fields->far_off, "far_off") < 0 ||
			       sim_doc_reason(model, &fields->no_memory, "no_memory") < 0
		       ? -ENOMEM
		       : 0;
}

int
sim_doc_read_fields(struct weir_sim_model *model, const struct weir_base_doc_value *root,
	struct model_link *link, bool *is_good)
{
	const struct weir_base_doc_value *value = link->value;
	const struct weir_base_doc_value *buffer = weir_base_doc_get(value, "buffer");
	const char *name = weir_base_doc_str(weir_base_doc_get(value, "format"));
	const struct weir_base_doc_value *formats =
		weir_base_doc_get(weir_base_doc_get(root, "application"), "formats");
	const struct layout layout = layout_of(weir_base_doc_get(formats, name), name);
	const uint64_t count = weir_base_doc_u64(weir_base_doc_get(value, "count"));
	const uint32_t nb_cpus =
		weir_base_doc_count(weir_base_doc_get(sim_doc_emulated(root, value), "cpus"));
	struct model_fields *fields = &link->fields;

	link->has_fields = model->has_fields = true;
	read_layout(link, &layout, weir_base_doc_f64(weir_base_doc_get(value, "jump")));
	fields->key = weir_base_doc_u64(weir_base_doc_get(value, "stream"));
	fields->first = model->nb_links;
	fields->nb = count > 0 ? (uint32_t)count : 1;
	fields->nb_threads = nb_cpus > 0 ? nb_cpus : 1;
	fields->drops_duplicates = weir_base_doc_bool(weir_base_doc_get(value, "drop_duplicates"));
	fields->is_ordered = !link->has_step;
	fields->step_ticks = link->has_step ? link->ticks : 1;
	fields->nb_confirm = (uint32_t)weir_base_doc_u64(weir_base_doc_get(buffer, "confirm"));
	fields->evicts = weir_base_doc_u64(weir_base_doc_get(buffer, "when_full")) ==
			 WEIR_BASE_FULL_EVICT_OLDEST;
	*is_good = read_sizes(model, buffer, link);
	return read_reasons(model, fields);
}
