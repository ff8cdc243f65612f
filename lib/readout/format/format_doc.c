/* SPDX-License-Identifier: BSD-3-Clause */
/* Frame formats in description files. */
#include <errno.h>

#include "weir_base_nodes.h"
#include "weir_readout_format.h"

static const struct weir_base_doc_key format_keys[] = {
	WEIR_BASE_DOC_ROWS_OF(weir_base_format_rows),
	{.name = NULL},
};

const struct weir_base_doc_section weir_readout_format_section = {
	"readout format", "Layout of a detector's or capture's frames.", format_keys};

static const char *const field_names[] = {
	[WEIR_READOUT_FIELD_STREAM] = "stream",
	[WEIR_READOUT_FIELD_SEQUENCE] = "sequence",
	[WEIR_READOUT_FIELD_TIMESTAMP] = "timestamp",
	[WEIR_READOUT_FIELD_LENGTH] = "length",
};

static uint64_t
number(const struct weir_base_doc_value *map, const char *key)
{
	return weir_base_doc_u64(weir_base_doc_get(map, key));
}

static void
read_spec(const struct weir_base_doc_value *value, struct weir_readout_format_spec *spec)
{
	const struct weir_base_doc_value *length = weir_base_doc_get(value, "length");
	uint32_t size = (uint32_t)number(value, "size");

	*spec = (struct weir_readout_format_spec){
		.name = weir_base_doc_name(value),
		.layer = (enum weir_readout_layer)number(value, "layer"),
		.big_endian = number(value, "endianness") == 1,
		.sequence_modulus = number(weir_base_doc_get(value, "sequence"), "modulus"),
		.length_unit_bytes = (uint32_t)number(length, "unit"),
		.length_plus_bytes = (uint32_t)number(length, "plus"),
		.size_min_bytes = size != 0 ? size : (uint32_t)number(value, "size_min"),
		.size_max_bytes = size != 0 ? size : (uint32_t)number(value, "size_max"),
		.step_ticks = number(value, "step"),
		.clock_hz = number(value, "clock"),
	};
	for (unsigned int i = 0; i < WEIR_READOUT_NB_FIELDS; i++) {
		const struct weir_base_doc_value *field = weir_base_doc_get(value, field_names[i]);

		spec->fields[i].offset_bits = (uint32_t)number(field, "offset");
		spec->fields[i].width_bits = (uint32_t)number(field, "width");
	}
}

/* @p size says it all. */
static int
check_sizes(struct weir_base_doc *doc, const struct weir_base_doc_value *value)
{
	static const char *const others[] = {"size_min", "size_max"};

	if (!weir_base_doc_given(value, "size"))
		return 0;
	for (unsigned int i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!weir_base_doc_given(value, others[i]))
			continue;
		weir_base_doc_error_add(doc, weir_base_doc_get(value, others[i]),
			"'%s' beside 'size'; expected one or the other", others[i]);
		return -EINVAL;
	}
	return 0;
}

/* What is wrong: that field, or, of a timestamp that there is none of, what needs it. */
static const struct weir_base_doc_value *
place_of(const struct weir_base_doc_value *value, enum weir_readout_field_kind field)
{
	if (field == WEIR_READOUT_NB_FIELDS)
		return value;
	if (weir_base_doc_given(value, field_names[field]))
		return weir_base_doc_get(value, field_names[field]);
	if (weir_base_doc_given(value, "step"))
		return weir_base_doc_get(value, "step");
	return weir_base_doc_given(value, "clock") ? weir_base_doc_get(value, "clock") : value;
}

int
weir_readout_format_read(struct weir_base_doc *doc, const struct weir_base_doc_value *value,
	struct weir_readout_format *format)
{
	struct weir_readout_format_spec spec;
	enum weir_readout_field_kind field;
	char why[160];

	if (check_sizes(doc, value) < 0)
		return -EINVAL;
	read_spec(value, &spec);
	if (weir_readout_format_compile(&spec, format, &field, why, sizeof(why)) == 0)
		return 0;
	weir_base_doc_error_add(doc, place_of(value, field), "%s", why);
	return -EINVAL;
}
