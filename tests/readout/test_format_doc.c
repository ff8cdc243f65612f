/* SPDX-License-Identifier: BSD-3-Clause */

/* Frame formats in description files: good ones, and where a bad one is wrong. */

#include "../base/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weir_readout_format_fast.h"

static const struct weir_base_doc_key root_keys[] = {
	{.name = "formats",
		.kind = WEIR_BASE_DOC_NAMED,
		.item = WEIR_BASE_DOC_MAP,
		.section = &weir_readout_format_section,
		.help = "Formats."},
	{.name = NULL},
};

static const struct weir_base_doc_section root = {"file", "A file.", root_keys};

/* The one format of a text. @return errors as they are printed, to be freed */
static char *
read_format(const char *text, struct weir_readout_format *format)
{
	struct weir_base_doc *doc = weir_base_doc_load_text(text, strlen(text), "f.yaml", &root);
	const struct weir_base_doc_value *formats;
	char *errors = NULL;
	unsigned int nb;
	size_t size;
	FILE *out;

	assert_non_null(doc);
	weir_base_doc_errors(doc, &nb);
	formats = weir_base_doc_get(weir_base_doc_root(doc), "formats");
	if (nb == 0) {
		assert_int_equal(weir_base_doc_count(formats), 1);
		weir_readout_format_read(doc, weir_base_doc_at(formats, 0), format);
	}
	out = open_memstream(&errors, &size);
	assert_non_null(out);
	weir_base_doc_errors_print(doc, out);
	fclose(out);
	weir_base_doc_free(doc);
	return errors;
}

static void
good(const char *text, struct weir_readout_format *format)
{
	char *errors = read_format(text, format);

	assert_string_equal(errors, "");
	free(errors);
}

static void
bad(const char *text, const char *expected)
{
	struct weir_readout_format format = {.name = "unchanged"};
	char *errors = read_format(text, &format);

	assert_string_equal(errors, expected);
	assert_string_equal(format.name, "unchanged");
	free(errors);
}

static void
same(const struct weir_readout_format *a, const struct weir_readout_format *b)
{
	for (unsigned int i = 0; i < WEIR_BASE_NB_FIELDS; i++) {
		assert_true(a->fields[i].mask == b->fields[i].mask);
		assert_int_equal(a->fields[i].load, b->fields[i].load);
		assert_int_equal(a->fields[i].shift, b->fields[i].shift);
	}
	assert_int_equal(a->swap, b->swap);
	assert_int_equal(a->size_min_bytes, b->size_min_bytes);
	assert_int_equal(a->size_max_bytes, b->size_max_bytes);
	assert_int_equal(a->length_unit_bytes, b->length_unit_bytes);
	assert_int_equal(a->length_plus_bytes, b->length_plus_bytes);
	assert_int_equal(a->timestamp_bits, b->timestamp_bits);
	assert_true(a->sequence_modulus == b->sequence_modulus);
	assert_true(a->step_ticks == b->step_ticks);
	assert_true(a->clock_hz == b->clock_hz);
	assert_int_equal(a->layer, b->layer);
	assert_string_equal(a->name, b->name);
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MACHINE "little"
#else
#define MACHINE "big"
#endif

/* What is built in can be written by a user. */
static void
builtin(void **state)
{
	struct weir_readout_format format;

	good("formats:\n"
	     "  wibeth:\n"
	     "    endianness: little\n"
	     "    size: 7200B\n"
	     "    clock: 62.5MHz\n"
	     "    step: 2048\n"
	     "    stream: {offset: 6, width: 28}\n"
	     "    sequence: {offset: 40, width: 12, modulus: 4096}\n"
	     "    timestamp: {offset: 64, width: 64}\n"
	     "    length: {offset: 52, width: 12, unit: 8B, plus: 16B}\n",
		&format);
	same(&format, weir_readout_format_builtin("wibeth"));
	good("formats:\n"
	     "  srs-vmm3a:\n"
	     "    endianness: big\n"
	     "    size_min: 16B\n"
	     "    size_max: 8968B\n"
	     "    clock: 44.444444MHz\n"
	     "    stream: {offset: 56, width: 4}\n"
	     "    sequence: {offset: 0, width: 32}\n"
	     "    timestamp: {offset: 64, width: 32}\n",
		&format);
	same(&format, weir_readout_format_builtin("srs-vmm3a"));
	good("formats:\n"
	     "  hit:\n"
	     "    endianness: " MACHINE "\n"
	     "    size: 24B\n"
	     "    clock: 62.5MHz\n"
	     "    timestamp: {offset: 0, width: 64}\n",
		&format);
	same(&format, weir_readout_format_builtin("hit"));
	good("formats: {udp: {layer: udp, size_max: 65507B}}", &format);
	same(&format, weir_readout_format_builtin("udp"));
	good("formats: {ethernet: {layer: ethernet, size_min: 14B}}", &format);
	same(&format, weir_readout_format_builtin("ethernet"));
}

/* A format nobody has code for. */
static void
new_format(void **state)
{
	static const uint8_t frame[] = {0xa5, 0x5a, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde};
	struct weir_readout_format format;
	struct weir_readout_header header = {0};

	good("formats:\n"
	     "  mine:\n"
	     "    endianness: big\n"
	     "    stream: {offset: 4, width: 8}\n"
	     "    sequence: {offset: 12, width: 4, modulus: 10}\n"
	     "    timestamp: {offset: 16, width: 48}\n"
	     "    length: {offset: 64, width: 8, plus: 9B}\n",
		&format);
	assert_true(weir_readout_format_get(&format, frame, sizeof(frame), &header));
	assert_int_equal(header.stream, 0x55);
	assert_int_equal(header.sequence, 0xa);
	assert_true(header.timestamp == UINT64_C(0x123456789abc));
	assert_int_equal(header.length, 0xde);
	assert_true(weir_readout_format_length_agrees(&format, &header, 0xde + 9));
	assert_int_equal(weir_readout_format_sequence_next(&format, 9), 0);
	assert_int_equal(format.timestamp_bits, 48);
	assert_int_equal(format.step_ticks, 0);
	assert_int_equal(format.clock_hz, 0);
}

/* Where it is wrong, and how. */
static void
refused(void **state)
{
	bad("formats:\n  a:\n    stream: {offset: 1, width: 64}\n",
		"f.yaml:3:5: 64 bits from bit 1 of a byte on are in 9 bytes; expected within 8\n");
	bad("formats:\n  a:\n    sequence: {offset: 0, width: 8, modulus: 257}\n",
		"f.yaml:3:5: modulus 257 of a sequence number of 8 bits; expected 2 up to 2^8\n");
	bad("formats:\n  a:\n    step: 5\n",
		"f.yaml:3:11: a step without a timestamp; expected a field of it\n");
	bad("formats:\n  a:\n    size: 10B\n    size_max: 10B\n",
		"f.yaml:4:15: 'size_max' beside 'size'; expected one or the other\n");
	bad("formats:\n  a:\n    size: 10B\n    size_min: 10B\n",
		"f.yaml:4:15: 'size_min' beside 'size'; expected one or the other\n");
	bad("formats:\n  a:\n    size: 8B\n    timestamp: {offset: 8, width: 64}\n",
		"f.yaml:4:5: it ends 9 bytes from the beginning of frames of 8; expected within "
		"these\n");
	bad("formats:\n  a:\n    clock: 1MHz\n",
		"f.yaml:3:12: a clock without a timestamp; expected a field of it\n");
	bad("formats:\n  a:\n    size_min: 10B\n    size_max: 8B\n",
		"f.yaml:2:3: at most 8 bytes, and at least 10; expected as many or more at "
		"most\n");
	bad("formats:\n  a:\n    size: 8B\n    length: {offset: 0, width: 8, plus: 9B}\n",
		"f.yaml:4:5: no number of 8 bits, times 1 and plus 9, is a size of 8 to 8 bytes; "
		"expected one that is\n");
	bad("formats:\n  a:\n    stream: {offset: 0, width: 65}\n",
		"f.yaml:3:32: '65' is out of range; expected an integer from 1 to 64\n");
	bad("formats:\n  a:\n    stream: {offset: 0}\n",
		"f.yaml:3:5: key 'width' is missing in 'stream'; expected an integer\n");
	bad("formats:\n  a:\n    stream: {width: 8}\n",
		"f.yaml:3:5: key 'offset' is missing in 'stream'; expected an integer\n");
	bad("formats:\n  a:\n    endianness: middle\n",
		"f.yaml:3:17: 'middle' is not known for 'endianness'; expected one of: little, "
		"big\n");
	bad("formats:\n  a:\n    strem: {offset: 0, width: 8}\n",
		"f.yaml:3:5: unknown key 'strem' in 'a', did you mean 'stream'? expected one of: "
		"layer, endianness, size, size_min, size_max, clock, step, stream, sequence, "
		"timestamp, length\n");
}

/* A name that is too long for it. */
static void
named(void **state)
{
	bad("formats:\n  a2345678901234567890123456789012:\n    size: 9B\n",
		"f.yaml:2:3: 'a2345678901234567890123456789012': a name has up to 31 bytes\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(builtin),
		cmocka_unit_test(new_format),
		cmocka_unit_test(refused),
		cmocka_unit_test(named),
	};

	return cmocka_run_group_tests_name("readout-format-doc", tests, NULL, NULL);
}
