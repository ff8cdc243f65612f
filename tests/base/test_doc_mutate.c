/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thousands of damaged description files: whatever is in them, loading ends,
 * nothing is read or written out of bounds, and every error has a place in the text. To be run
 * under the address sanitizer, which also counts what was not freed.
 *
 * test_base_doc_mutate [ROUNDS [SEED]]
 */
#include "cmocka_all.h"

#include "doc_util.h"
#include "random.h"

static const char *const good[] = {
	"text: hello\nint: -5\nnumber: 1.5e3\nflag: off\nduration: 1.5ms\nbytes: 4KiB\n"
	"ip: 2001:db8::1\nprefix: 10.0.0.0/8\nmac: 02:00:00:00:00:01\n",
	"ports:\n  p0: {file: a.pcap, queues: 4, on_full: wait}\n  p1:\n    file: b.pcap\n"
	"    tags:\n      - x\n      - \"y z\"\n      - 'it''s'\nlimits: {depth: 3, wait: 10us}\n",
	"# comment\nprefixes: [10.0.0.0/8, ::/0]\nany:\n  a: [1, [2, {b: ~}]]\n  c: |\n    block\n"
	"    text\n  d: >-\n    folded\n    text\ntree: {trees: [{leaf: a}, {trees: []}]}\n",
	"{\"text\": \"a\\u00e9\\n\", \"ports\": {\"p\": {\"file\": \"f\"}}, \"ratio\": 0.5}\n",
	"%YAML 1.2\n---\nbit_rate: 10Gb/s\npacket_rate: 14.88Mpps\nfrequency: 1.2GHz\ncycles: "
	"7cycles\n"
	"cycles_per_byte: 0.6cycles/B\nsizes: {a: 1B, b: 2kB}\nbounds:\n...\n",
};

/* Pieces that mean something to YAML or to us. */
static const char *const pieces[] = {": ", "- ", "\n", "  ", "\t", "[", "]", "{", "}", ", ", "#",
	"&a ", "*a", "!!str ", "!", "| \n", ">\n", "'", "\"", "\\", "%", "---\n", "...\n", "? ",
	"<<: ", "~", "null", "true", "include: x\n", "text: ", "ports: ", "1e999", "-0x",
	"99999999999999999999", "us", "GHz", "/33", "::", "\xef\xbb\xbf", "\xc3", "\xff", "\r\n",
	"\xe2\x80\xa8", "\x85", "\"\\0\"", "\"\\uD800\""};

#define NB(array) (sizeof(array) / sizeof((array)[0]))
#define ROOM      4096

static uint64_t seed = 1;
static unsigned int rounds = 6000;

static unsigned int
roll(unsigned int sides)
{
	return (unsigned int)((random_next(&seed) >> 20) % sides);
}

static size_t
insert(char *text, size_t size, size_t at, const char *piece, size_t length)
{
	if (size + length > ROOM)
		return size;
	memmove(text + at + length, text + at, size - at);
	memcpy(text + at, piece, length);
	return size + length;
}

static size_t
damage(char *text, size_t size)
{
	size_t at = roll((unsigned int)size + 1), length = roll(20);
	const char *piece = pieces[roll(NB(pieces))];
	const char *other = good[roll(NB(good))];
	char copy[32];

	switch (roll(7)) {
	case 0:
		if (at < size)
			text[at] = (char)(roll(4) != 0 ? roll(128) : roll(256));
		return size;
	case 1:
		length = at + length > size ? size - at : length;
		memmove(text + at, text + at + length, size - at - length);
		return size - length;
	case 2:
		length = at + length > size ? size - at : length;
		memcpy(copy, text + at, length);
		return insert(text, size, roll((unsigned int)size + 1), copy, length);
	case 3:
		return roll(8) == 0 ? at : size; /* cut short */
	case 4:
		at = roll((unsigned int)strlen(other));
		length = roll((unsigned int)(strlen(other) - at) + 1);
		return insert(text, size, roll((unsigned int)size + 1), other + at, length);
	default:
		return insert(text, size, at, piece, strlen(piece));
	}
}

/* All that can be asked of a document is asked. */
static void
look_at_all(const struct weir_base_doc_value *value, unsigned int nb_lines)
{
	unsigned int i, line, column;

	weir_base_doc_where(value, &line, &column);
	assert_true(line >= 1 && line <= nb_lines && column >= 1);
	assert_true(weir_base_doc_bytes(value) == NULL || weir_base_doc_length(value) <= 16);
	assert_true(
		weir_base_doc_str(value) == NULL || strlen(weir_base_doc_str(value)) < ROOM + 100);
	for (i = 0; i < weir_base_doc_count(value); i++)
		look_at_all(weir_base_doc_at(value, i), nb_lines);
	for (i = 0; fixture_port_keys[i].name != NULL; i++)
		weir_base_doc_u64(weir_base_doc_get(value, fixture_port_keys[i].name));
	for (i = 0; fixture_port_common_keys[i].name != NULL; i++)
		weir_base_doc_u64(weir_base_doc_get(value, fixture_port_common_keys[i].name));
}

static unsigned int
check(const char *text, size_t size)
{
	unsigned int nb_lines = 1, nb, i;
	const struct weir_base_doc_error *errors;
	struct weir_base_doc *doc;
	char *exact = malloc(size + (size == 0));
	json_t *json;

	/* In a block of its own size, so that reading beyond its end is seen. */
	memcpy(exact, text, size);
	for (i = 0; i < size; i++)
		nb_lines += exact[i] == '\n' || exact[i] == '\r';
	doc = weir_base_doc_load_text(exact, size, "t.yaml", &fixture_root);
	free(exact);
	if (doc == NULL)
		fail_msg("out of memory: %.*s", (int)size, text);
	errors = weir_base_doc_errors(doc, &nb);
	for (i = 0; i < nb; i++) {
		/* Errors may stand in a file that an include names. */
		if (strcmp(errors[i].file, "t.yaml") == 0 && errors[i].line > nb_lines)
			fail_msg("no such place: %u:%u: %s in: %.*s", errors[i].line,
				errors[i].column, errors[i].message, (int)size, text);
		assert_true(errors[i].message[0] != '\0');
	}
	json = weir_base_doc_errors_json(doc);
	assert_int_equal(json_array_size(json), nb);
	json_decref(json);
	if (weir_base_doc_root(doc) != NULL)
		look_at_all(weir_base_doc_root(doc), nb_lines);
	else
		assert_true(nb > 0);
	json = weir_base_doc_json(weir_base_doc_root(doc));
	assert_non_null(json);
	json_decref(json);
	weir_base_doc_free(doc);
	return nb;
}

static void
damaged_files(void **state)
{
	unsigned int round, nb_good = 0, nb_bad = 0;
	char text[ROOM];

	for (round = 0; round < rounds; round++) {
		const char *start = good[roll(NB(good))];
		unsigned int times = roll(6);
		size_t size = strlen(start);

		memcpy(text, start, size);
		while (times-- > 0)
			size = damage(text, size);
		if (check(text, size) == 0)
			nb_good++;
		else
			nb_bad++;
	}
	/* Both kinds were met, or this tests nothing. */
	assert_true(nb_good > rounds / 20);
	assert_true(nb_bad > rounds / 4);
}

static void
the_originals_are_good(void **state)
{
	unsigned int i;

	for (i = 0; i < NB(good); i++) {
		if (check(good[i], strlen(good[i])) != 0)
			weir_base_doc_free(load_good(good[i]));
	}
}

static void
every_beginning_of_a_file(void **state)
{
	unsigned int i;
	size_t size;

	for (i = 0; i < NB(good); i++) {
		for (size = 0; size <= strlen(good[i]); size++)
			check(good[i], size);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_originals_are_good),
		cmocka_unit_test(every_beginning_of_a_file),
		cmocka_unit_test(damaged_files),
	};

	if (argc > 1)
		rounds = (unsigned int)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 10) | 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
