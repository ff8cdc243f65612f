/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a model: what frames say of themselves, and the buffer that goes by that. Sizes are those that a program has which runs. */
#include <errno.h>
#include <string.h>

#include "doc_read.h"
#include "weir_base_rules.h"

#define WORD_BYTES 8

static inline uint32_t
larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* The byte after the last one of a field. */
static uint32_t
end_of(const struct weir_base_field_place *field)
{
	return field->width_bits == 0 ? 0 : (field->offset_bits + field->width_bits + 7) / 8;
}

/* Where fields are, and what may be in them. Frames without a timestamp have the time that they are made for. */
static void
read_layout(struct model_link *link, const struct weir_base_format *format, double jump_s)
{
	const struct weir_base_field_place *sequence = &format->fields[WEIR_BASE_FIELD_SEQUENCE];
	const struct weir_base_field_place *stream = &format->fields[WEIR_BASE_FIELD_STREAM];
	struct model_fields *fields = &link->fields;

	fields->sequence_mask = weir_base_field_mask(sequence->width_bits);
	fields->key_mask = weir_base_field_mask(stream->width_bits);
	fields->key_bytes = larger(end_of(stream), WORD_BYTES);
	fields->bytes_min = format->size_min_bytes;
	fields->bytes_max = format->size_max_bytes;
	fields->line = (struct weir_base_line_config){
		.step_ticks = link->has_step ? link->ticks : 0,
		.clock_hz = link->clock_hz,
		/* Of 64 bits: 0, any. */
		.sequence_modulus = format->sequence_modulus != 0 || sequence->width_bits == 0
					    ? format->sequence_modulus
					    : fields->sequence_mask + 1,
		.timestamp_bits = weir_base_format_time_bits(format),
		.has_sequence = sequence->width_bits != 0,
		.has_timestamp = true,
		.jump_s = jump_s,
	};
}

static void
read_sizes(const struct weir_base_format *format, const struct weir_base_doc_value *value,
	struct model_fields *fields)
{
	const struct weir_base_buffer buffer = weir_base_buffer_read(format, value);
	struct weir_base_buffer_sizes sizes = {0};
	char why[160];

	weir_base_buffer_size(&buffer, &sizes, why, sizeof(why)); /* it is in order */
	fields->jump_ticks = sizes.jump_ticks;
	fields->live_ticks = sizes.live_ticks;
	fields->nb_cells = sizes.nb_cells;
	fields->nb_index = sizes.nb_index;
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
	struct model_link *link)
{
	const struct weir_base_doc_value *value = link->value;
	const struct weir_base_doc_value *buffer = weir_base_doc_get(value, "buffer");
	const struct weir_base_format format =
		sim_format_read(weir_base_doc_get(root, "application"), value);
	const uint64_t count = weir_base_doc_u64(weir_base_doc_get(value, "count"));
	const uint32_t nb_cpus =
		weir_base_doc_count(weir_base_doc_get(sim_doc_emulated(root, value), "cpus"));
	struct model_fields *fields = &link->fields;

	link->has_fields = model->has_fields = true;
	read_layout(link, &format, weir_base_doc_f64(weir_base_doc_get(value, "jump")));
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
	read_sizes(&format, buffer, fields);
	return read_reasons(model, fields);
}
