/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reader of description files beside another one: libfyaml is no relation of libyaml, which the product reads with, and knows where
 * each value stands. Of well-formed text both have the same maps, lists and scalars, and every one of them begins at the same line and
 * column. (Of damaged text libfyaml is not asked: Debian 12's 0.7.12 crashes on some.)
 *
 * test_base_doc_fyaml DIRECTORY [ROUNDS [SEED]]
 */
#include "cmocka_all.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libfyaml.h>

#include "doc_private.h"
#include "random.h"
#include "random_yaml.h"

static const char *tree;
static unsigned int rounds = 6000;
static uint64_t seed = 1;

/* A text that is read by both. */
struct pair {
	const char *name;
	const char *text;
	size_t size;
	struct weir_base_doc *doc;
	const struct weir_base_doc_value *root; /* that was read; NULL: refused */
	struct fy_parser *parser;
	unsigned int nb_values; /* compared */
};

static void differs(const struct pair *pair, unsigned int line, unsigned int column,
	const char *format, ...) __attribute__((format(printf, 4, 5), noreturn));

static void
differs(const struct pair *pair, unsigned int line, unsigned int column, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%u:%u: ", pair->name, line, column);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, ", in:\n%.*s\n", (int)pair->size, pair->text);
	weir_base_doc_errors_print(pair->doc, stderr);
	fail();
	abort();
}

/* What libfyaml has next. */
static struct fy_event *
next(struct pair *pair)
{
	struct fy_event *event = fy_parser_parse(pair->parser);

	if (event == NULL)
		differs(pair, 0, 0, "libfyaml refuses it");
	return event;
}

static void
expect(struct pair *pair, enum fy_event_type type)
{
	struct fy_event *event = next(pair);

	if (event->type != type)
		differs(pair, 0, 0, "libfyaml has %s, expected %s",
			fy_event_type_get_text(event->type), fy_event_type_get_text(type));
	fy_parser_event_free(pair->parser, event);
}

/* libfyaml reads the rest without complaint. */
static void
skip_to_end(struct pair *pair)
{
	enum fy_event_type type;

	do {
		struct fy_event *event = next(pair);

		type = event->type;
		fy_parser_event_free(pair->parser, event);
	} while (type != FYET_STREAM_END);
}

static void
check_place(const struct pair *pair, const char *what, unsigned int line, unsigned int column,
	unsigned int expected_line, unsigned int expected_column)
{
	if (line != expected_line || column != expected_column)
		differs(pair, line, column, "libfyaml has this %s at %u:%u", what, expected_line,
			expected_column);
}

/* libfyaml's mark of a token in quotes, and of an anchor, is behind the sign that begins it. */
static void
check_at_token(const struct pair *pair, const char *what, unsigned int line, unsigned int column,
	struct fy_token *token, int before)
{
	const struct fy_mark *mark = fy_token_start_mark(token);

	check_place(pair, what, line, column, (unsigned int)(mark->line + 1),
		(unsigned int)(mark->column + 1 - before));
}

static bool
in_quotes(enum fy_scalar_style style)
{
	return style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
}

/* The byte at a line and column. */
static const char *
at_place(const struct pair *pair, unsigned int line, unsigned int column)
{
	struct doc_text text = {.start = pair->text, .size = pair->size};

	return weir_base_doc_text_at(&text, line, column);
}

/* A block's mark is its first line; it begins with the sign that ends the line before it. */
static void
check_block_place(const struct pair *pair, const struct weir_base_doc_value *value,
	const struct fy_event_scalar_data *scalar)
{
	const struct fy_mark *mark = fy_token_start_mark(scalar->value);
	const char *sign = at_place(pair, value->line, value->column), *from;

	if (value->name != NULL)
		from = at_place(pair, value->name_line, value->name_column) + 1;
	else
		from = at_place(pair, value->line, 1);
	/* None of the keys in these texts holds either sign. */
	if (sign != from + strcspn(from, "|>"))
		differs(pair, value->line, value->column, "no block begins here");
	check_place(pair, "block", value->line + 1, 1, (unsigned int)(mark->line + 1), 1);
}

static void
check_scalar_place(const struct pair *pair, const struct weir_base_doc_value *value,
	const struct fy_event_scalar_data *scalar, enum fy_scalar_style style)
{
	if (scalar->anchor != NULL)
		check_at_token(pair, "anchor", value->line, value->column, scalar->anchor, 1);
	else if (scalar->value == NULL && value->name != NULL)
		/* Not written: where its key is, or on the dash; libfyaml has no place for it. */
		check_place(pair, "lack of a value", value->line, value->column, value->name_line,
			value->name_column);
	else if (scalar->value == NULL)
		assert_int_equal(*at_place(pair, value->line, value->column), '-');
	else if (style == FYSS_LITERAL || style == FYSS_FOLDED)
		check_block_place(pair, value, scalar);
	else
		check_at_token(pair, "scalar", value->line, value->column, scalar->value,
			in_quotes(style));
}

static void
check_text(const struct pair *pair, const char *what, const char *text, unsigned int line,
	unsigned int column, struct fy_token *token)
{
	size_t length = 0;
	const char *expected = token != NULL ? fy_token_get_text(token, &length) : "";

	if (strlen(text) != length || memcmp(text, expected, length) != 0)
		differs(pair, line, column, "this %s is <%s>, libfyaml has <%.*s>", what, text,
			(int)length, expected);
}

static void
compare_scalar(struct pair *pair, const struct weir_base_doc_value *value,
	const struct fy_event_scalar_data *scalar)
{
	enum fy_scalar_style style =
		scalar->value != NULL ? fy_token_scalar_style(scalar->value) : FYSS_PLAIN;

	if (value->form != DOC_SCALAR || value->plain != (style == FYSS_PLAIN))
		differs(pair, value->line, value->column, "libfyaml has a scalar of style %d",
			style);
	check_text(pair, "scalar", value->text, value->line, value->column, scalar->value);
	check_scalar_place(pair, value, scalar, style);
}

static void compare(struct pair *pair, const struct weir_base_doc_value *value);

static void
compare_map(struct pair *pair, const struct weir_base_doc_value *map)
{
	unsigned int i;

	for (i = 0; i < map->nb_items; i++) {
		const struct weir_base_doc_value *item = map->items[i];
		struct fy_event *event = next(pair);
		struct fy_token *token;

		if (event->type != FYET_SCALAR)
			differs(pair, item->name_line, item->name_column,
				"libfyaml has %s, not a key", fy_event_type_get_text(event->type));
		token = event->scalar.value;
		check_text(pair, "key", item->name, item->name_line, item->name_column, token);
		if (token != NULL)
			check_at_token(pair, "key", item->name_line, item->name_column, token,
				in_quotes(fy_token_scalar_style(token)));
		fy_parser_event_free(pair->parser, event);
		compare(pair, item);
	}
	expect(pair, FYET_MAPPING_END);
}

static void
compare_list(struct pair *pair, const struct weir_base_doc_value *list)
{
	unsigned int i;

	for (i = 0; i < list->nb_items; i++)
		compare(pair, list->items[i]);
	expect(pair, FYET_SEQUENCE_END);
}

/* A map or list begins where its anchor is, else with its bracket, first key or first dash. */
static void
check_level(const struct pair *pair, const struct weir_base_doc_value *value, enum doc_form form,
	struct fy_token *anchor, struct fy_token *start)
{
	if (value->form != form)
		differs(pair, value->line, value->column, "libfyaml has a %s",
			form == DOC_MAP ? "map" : "list");
	check_at_token(pair, "map or list", value->line, value->column,
		anchor != NULL ? anchor : start, anchor != NULL);
}

static void
compare(struct pair *pair, const struct weir_base_doc_value *value)
{
	struct fy_event *event = next(pair);

	pair->nb_values++;
	switch (event->type) {
	case FYET_SCALAR:
		compare_scalar(pair, value, &event->scalar);
		fy_parser_event_free(pair->parser, event);
		return;
	case FYET_MAPPING_START:
		check_level(pair, value, DOC_MAP, event->mapping_start.anchor,
			event->mapping_start.mapping_start);
		fy_parser_event_free(pair->parser, event);
		compare_map(pair, value);
		return;
	case FYET_SEQUENCE_START:
		check_level(pair, value, DOC_LIST, event->sequence_start.anchor,
			event->sequence_start.sequence_start);
		fy_parser_event_free(pair->parser, event);
		compare_list(pair, value);
		return;
	default:
		differs(pair, value->line, value->column, "libfyaml has %s",
			fy_event_type_get_text(event->type));
	}
}

static struct pair
begin(const char *name, const char *text, size_t size)
{
	static const struct fy_parse_cfg config = {.flags = FYPCF_DEFAULT_PARSE};
	struct pair pair = {.name = name, .text = text, .size = size};

	pair.doc = weir_base_doc_new(name);
	assert_non_null(pair.doc);
	pair.root = weir_base_doc_parse(pair.doc, name, text, size, NULL);
	pair.parser = fy_parser_create(&config);
	assert_non_null(pair.parser);
	assert_int_equal(fy_parser_set_string(pair.parser, text, size), 0);
	return pair;
}

static void
end(struct pair *pair)
{
	fy_parser_destroy(pair->parser);
	weir_base_doc_free(pair->doc);
}

/* @return how many values both have, all alike */
static unsigned int
compare_text(const char *name, const char *text, size_t size)
{
	struct pair pair = begin(name, text, size);

	if (pair.root == NULL || pair.doc->nb_errors > 0)
		differs(&pair, 0, 0, "refused");
	expect(&pair, FYET_STREAM_START);
	expect(&pair, FYET_DOCUMENT_START);
	compare(&pair, pair.root);
	expect(&pair, FYET_DOCUMENT_END);
	expect(&pair, FYET_STREAM_END);
	end(&pair);
	return pair.nb_values;
}

static unsigned int nb_files;

/* Descriptions, and those texts to begin fuzzing with that are well-formed. */
static bool
is_description(const char *path)
{
	static const char *const endings[] = {".yaml", "/fuzz_doc/directive", "/fuzz_doc/ipv6",
		"/fuzz_doc/json", "/fuzz_doc/ports", "/fuzz_doc/scalars", "/fuzz_doc/styles"};
	unsigned int i;

	for (i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t length = strlen(endings[i]);

		if (strlen(path) > length && strcmp(path + strlen(path) - length, endings[i]) == 0)
			return true;
	}
	return false;
}

static int
compare_file(const char *path, const struct stat *status, int type, struct FTW *where)
{
	char *text;
	FILE *file;

	if (type != FTW_F || !is_description(path))
		return 0;
	file = fopen(path, "r");
	text = malloc((size_t)status->st_size + 1);
	assert_non_null(file);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)status->st_size, file), status->st_size);
	text[status->st_size] = '\0';
	fclose(file);
	assert_true(compare_text(path, text, (size_t)status->st_size) > 1);
	free(text);
	nb_files++;
	return 0;
}

static void
files_of_the_tree(void **state)
{
	static const char *const below[] = {"examples", "tests"};
	char path[4096];
	unsigned int i;

	nb_files = 0;
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", tree, below[i]);
		assert_int_equal(nftw(path, compare_file, 16, FTW_PHYS), 0);
	}
	assert_true(nb_files >= 28);
	print_message("%u files\n", nb_files);
}

static void
random_documents(void **state)
{
	unsigned int round;
	unsigned long nb_values = 0, nb_bytes = 0;
	uint64_t numbers = seed;

	for (round = 0; round < rounds; round++) {
		char name[80];
		size_t size;
		char *text;

		snprintf(name, sizeof(name), "round 1 of seed %llu", (unsigned long long)numbers);
		text = random_yaml(&numbers, &size);
		nb_values += compare_text(name, text, size);
		nb_bytes += size;
		free(text);
	}
	print_message("%u documents of %lu bytes, %lu values\n", rounds, nb_bytes, nb_values);
	assert_true(nb_values >= rounds);
}

/* Well-formed, and refused: by choice, with a word about what to write. */
static void
refused_by_choice(void **state)
{
	static const struct {
		const char *text;
		unsigned int line, column;
		const char *words;
	} texts[] = {
		{"a: &x 1\nb: *x\n", 2, 4, "aliases (*name) are not supported"},
		{"a: !!str 1\n", 1, 4, "tag 'tag:yaml.org,2002:str' is not supported"},
		{"a: 1\n[b]: 2\n", 2, 1, "a map or list cannot be a key"},
		{"a: 1\nb: 2\na: 3\n", 3, 1, "key 'a' is given twice, first on line 1"},
		{"a: 1\n---\nb: 2\n", 2, 1, "a second document begins here"},
		{"{a:, b: 1}\n", 1, 3, "or a blank behind a key's"},
		{"a: \"\\0\"\n", 1, 4, "holds a NUL character"},
		{"a: \"\xe2\x80\xa8\"\n", 1, 5, "character U+2028 is not supported"},
		{"a: \xef\xb7\x90\n", 1, 4, "character U+FDD0 is not supported"},
	};
	unsigned int i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct pair pair = begin("t.yaml", texts[i].text, strlen(texts[i].text));
		const struct weir_base_doc_error *error = pair.doc->errors;

		if (pair.doc->nb_errors != 1 || error->line != texts[i].line ||
			error->column != texts[i].column ||
			strstr(error->message, texts[i].words) == NULL)
			differs(&pair, texts[i].line, texts[i].column, "expected '%s'",
				texts[i].words);
		skip_to_end(&pair);
		end(&pair);
	}
}

/*
 * What libfyaml 0.7.12 reads wrongly or refuses, and no random document has therefore. Expected is what YAML 1.2.2
 * says of it, in JSON.
 */
static void
better_than_libfyaml(void **state)
{
	static const char *const texts[][2] = {
		/* A block without lines ends before its map's next key; at the end of the text it is empty. */
		{"a:\n  b: |\n  c: d\n", "{\"a\": {\"b\": \"\", \"c\": \"d\"}}"},
		{"a: |1+\n", "{\"a\": \"\"}"},
		/* An empty line before one that is indented more does not take its line break away. */
		{"a: >\n  b\n\n   c\n", "{\"a\": \"b\\n\\n c\\n\"}"},
		/* Line breaks of two characters before a closing quote. */
		{"a: 'b\r\n  '\r\n", "{\"a\": \"b \"}"},
		/* An escaped blank is none that ends a line. */
		{"a: \"b\\ \n  c\"\n", "{\"a\": \"b  c\"}"},
		/* An escaped line break before empty lines; two escapes side by side. */
		{"a: \"b\\\n\n\n  c\"\n", "{\"a\": \"b\\n\\nc\"}"},
		{"a: 'b''''c\\d'\n", "{\"a\": \"b''c\\\\d\"}"},
		/* In brackets, two colons that begin a text. */
		{"{? ::1 : a}\n", "{\"::1\": \"a\"}"},
		{"[&x ::1]\n", "[\"::1\"]"},
		{"{a:\n ::1}\n", "{\"a\": \"::1\"}"},
		/* And a key, behind a text of several lines. */
		{"a: b\n c\n::1: d\n", "{\"a\": \"b c\", \"::1\": \"d\"}"},
		/* An item that is not written, in a list that stands where its map does. */
		{"a:\n- b\n-\n- c\n", "{\"a\": [\"b\", null, \"c\"]}"},
	};
	unsigned int i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *text = texts[i][0];
		struct weir_base_doc *doc = weir_base_doc_new("t.yaml");
		json_t *json = weir_base_doc_json(
			weir_base_doc_parse(doc, "t.yaml", text, strlen(text), NULL));
		json_t *expected = json_loads(texts[i][1], 0, NULL);

		assert_non_null(expected);
		assert_int_equal(doc->nb_errors, 0);
		if (!json_equal(json, expected))
			fail_msg("%s: %s", text, json_dumps(json, JSON_ENCODE_ANY));
		json_decref(json);
		json_decref(expected);
		weir_base_doc_free(doc);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_the_tree),
		cmocka_unit_test(random_documents),
		cmocka_unit_test(refused_by_choice),
		cmocka_unit_test(better_than_libfyaml),
	};

	if (argc < 2) {
		fprintf(stderr, "usage: %s DIRECTORY [ROUNDS [SEED]]\n", argv[0]);
		return 2;
	}
	tree = argv[1];
	if (argc > 2)
		rounds = (unsigned int)strtoul(argv[2], NULL, 10);
	if (argc > 3)
		seed = strtoull(argv[3], NULL, 10) | 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
