/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts that are no description file: broken YAML, binary, huge, too deep. */
#include "cmocka_all.h"

#include <unistd.h>

#include "doc_util.h"

static void
broken_yaml_has_a_place(void **state)
{
	struct weir_base_doc *doc;

	check_error("a: b: c\n", 1, 5, "not valid YAML");
	check_error("text: x\nint: @5\n", 2, 6, "not valid YAML");
	check_error("text: \"abc\n", 1, 7, "not valid YAML");
	check_error("ports: {a: 1\n", 2, 1, "not valid YAML");
	check_error("text: \"\\q\"\n", 1, 8, "unknown escape");
	doc = load("a: [1, 2\n");
	assert_null(weir_base_doc_root(doc));
	weir_base_doc_free(doc);
}

static void
the_parser_does_not_print(void **state)
{
	int saved = dup(STDERR_FILENO), ends[2];
	char text[100];

	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	weir_base_doc_free(load("a: [1, 2\n"));
	weir_base_doc_free(load("\t- @: ]\n"));
	dup2(saved, STDERR_FILENO);
	close(saved);
	/* Both writing ends are closed: the end of what was written. */
	assert_int_equal(read(ends[0], text, sizeof(text)), 0);
	close(ends[0]);
}

static void
nothing_at_all(void **state)
{
	check_errors("", "t.yaml: is empty; expected a map\n");
	check_errors("\n\n# only a comment\n", "t.yaml: is empty; expected a map\n");
	check_errors("---\n", "t.yaml: is empty; expected a map\n");
	check_errors("~\n", "t.yaml: is empty; expected a map\n");
	check_errors("\xef\xbb\xbf", "t.yaml: is empty; expected a map\n");
}

static void
not_a_map(void **state)
{
	check_error("- a\n- b\n", 1, 1,
		"expected a map ('key: value') at the top of the file, not a list");
	check_error("hello\n", 1, 1, "not a single value");
}

static void
byte_order_mark(void **state)
{
	weir_base_doc_free(load_good("\xef\xbb\xbftext: a\n"));
}

static void
binary(void **state)
{
	static const char zero[] = "text: a\nint: \0 5\n";
	struct weir_base_doc *doc;
	char *errors;

	doc = weir_base_doc_load_text(zero, sizeof(zero) - 1, "t.yaml", &fixture_root);
	errors = print_errors(doc);
	assert_string_equal(
		errors, "t.yaml:2:6: byte 0x00: this is not a text file; expected YAML in UTF-8\n");
	free(errors);
	weir_base_doc_free(doc);
	check_error("text: \x1b[31m\n", 1, 7, "byte 0x1b");
	check_error("text: a\xff\n", 1, 8, "byte 0xff is not valid UTF-8");
	check_error("text: \xc3", 1, 7, "byte 0xc3 is not valid UTF-8");
	check_error("text: \xed\xa0\x80\n", 1, 7, "byte 0xed");     /* a surrogate */
	check_error("text: \xc0\xaf\n", 1, 7, "byte 0xc0");         /* longer than it need be */
	check_error("text: \xf4\x90\x80\x80\n", 1, 7, "byte 0xf4"); /* beyond Unicode */
	check_error("text: \"a\\0b\"\n", 1, 7, "NUL");
	weir_base_doc_free(load_good("text: \xe2\x82\xac \xf0\x9f\x8c\x8a\n"));
}

static void
columns_count_characters(void **state)
{
	check_error("any: {\xc3\xa9\xc3\xa9: 1, \xc3\xa9\xc3\xa9: 2}\n", 1, 14, "given twice");
	check_error("any: \xc3\xa9 \xff\n", 1, 8, "byte 0xff");
}

/* One error, with these words, wherever it is. */
static void
check_errors_hold(const char *text, const char *words)
{
	struct weir_base_doc *doc = load(text);

	assert_int_equal(nb_errors(doc), 1);
	assert_non_null(strstr(weir_base_doc_errors(doc, &(unsigned int){0})[0].message, words));
	weir_base_doc_free(doc);
}

/* "any:" and nb times open, then close. */
static char *
nest(unsigned int nb, char open, char close)
{
	char *text = malloc(2 * nb + 20);
	unsigned int used = (unsigned int)sprintf(text, "any: ");

	memset(text + used, open, nb);
	memset(text + used + nb, close, nb);
	text[used + 2 * nb] = '\0';
	return text;
}

/* Levels that are never closed: one error, and soon. */
static void
check_deep(unsigned int nb, const char *level)
{
	size_t length = strlen(level), i;
	char *text = malloc(nb * length + 1);

	for (i = 0; i < nb; i++)
		memcpy(text + i * length, level, length);
	text[nb * length] = '\0';
	check_errors_hold(text, "nested too deeply; expected at most 64 levels");
	free(text);
}

static void
depth_is_limited(void **state)
{
	char *text = nest(63, '[', ']');
	struct weir_base_doc *doc;

	weir_base_doc_free(load_good(text));
	free(text);
	text = nest(64, '[', ']');
	doc = load(text);
	assert_int_equal(nb_errors(doc), 1);
	weir_base_doc_free(doc);
	free(text);
	/* Deep enough to overrun any stack that is used per level. */
	text = nest(1000000, '[', ']');
	doc = load(text);
	assert_int_equal(nb_errors(doc), 1);
	weir_base_doc_free(doc);
	free(text);
	check_deep(1000000, "- ");
	check_deep(1000000, "? ");
	check_deep(1000000, "[\n");
	check_deep(1000000, "{a: \n");
	text = nest(1000000, '{', '}');
	doc = load(text);
	assert_true(nb_errors(doc) > 0);
	weir_base_doc_free(doc);
	free(text);
}

static void
size_is_limited(void **state)
{
	size_t size = (16u << 20) + 1;
	char *text = malloc(size);
	struct weir_base_doc *doc;

	assert_non_null(text);
	memset(text, '#', size);
	doc = weir_base_doc_load_text(text, size, "t.yaml", &fixture_root);
	check_errors("", "t.yaml: is empty; expected a map\n");
	assert_int_equal(nb_errors(doc), 1);
	weir_base_doc_free(doc);
	free(text);
}

static void
many_values(void **state)
{
	unsigned int nb = 1000100, i;
	char *text = malloc(2 * nb + 20), *at = text;
	const struct weir_base_doc_error *errors;
	struct weir_base_doc *doc;
	unsigned int nb_found;

	at += sprintf(at, "any: [");
	for (i = 0; i < nb; i++)
		at += sprintf(at, "1,");
	sprintf(at, "]\n");
	doc = load(text);
	errors = weir_base_doc_errors(doc, &nb_found);
	assert_int_equal(nb_found, 1);
	assert_non_null(strstr(errors[0].message, "more than 1000000 values"));
	weir_base_doc_free(doc);
	free(text);
}

static void
many_keys_are_found_fast(void **state)
{
	unsigned int nb = 100000, i;
	char *text = NULL, name[20];
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct weir_base_doc *doc;

	fprintf(out, "sizes:\n");
	for (i = 0; i < nb; i++)
		fprintf(out, "  k%u: %uB\n", i, i);
	fclose(out);
	doc = load_good(text);
	for (i = 0; i < nb; i++) {
		snprintf(name, sizeof(name), "k%u", i);
		assert_int_equal(
			weir_base_doc_u64(weir_base_doc_get(value_of(doc, "sizes"), name)), i);
	}
	weir_base_doc_free(doc);
	free(text);
}

static void
what_yaml_can_do_beyond(void **state)
{
	check_error("any: &a 1\ntext: *a\n", 2, 7, "aliases (*name) are not supported");
	check_error("any: [&a 1, *a, 3]\n", 1, 13, "aliases");
	check_error("any: &a k\n*a : 3\n", 2, 1, "aliases");
	check_error("text: !!str 4\n", 1, 7, "tag");
	check_error("any: !foo {a: 1}\n", 1, 6, "tag");
	check_error("any: !foo [a]\n", 1, 6, "tag");
	check_error("text: a\n---\ntext: b\n", 2, 1, "a second document begins here");
	check_error("any: {? [a, b] : 1}\n", 1, 9, "a map or list cannot be a key");
	check_error("any: {? {a: b} : {c: d}, e: f}\n", 1, 9, "a map or list cannot be a key");
	/* Anchors alone do no harm. */
	weir_base_doc_free(load_good("text: &a b\n"));
	weir_base_doc_free(load_good("%YAML 1.2\n---\ntext: |\n  a\n  b\n...\n"));
}

static void
a_refused_key_takes_its_value_with_it(void **state)
{
	struct weir_base_doc *doc = load("any: {? [a, b] : 1, c: 2, ? {d: e} : {f: g}}\n");

	assert_int_equal(nb_errors(doc), 2);
	assert_int_equal(weir_base_doc_count(value_of(doc, "any")), 1);
	weir_base_doc_free(doc);
}

static void
check_text(const char *yaml, const char *expected)
{
	struct weir_base_doc *doc = load_good(yaml);

	assert_string_equal(weir_base_doc_str(value_of(doc, "text")), expected);
	weir_base_doc_free(doc);
}

static void
texts_of_all_styles(void **state)
{
	check_text("text: plain  text \n", "plain  text");
	check_text("text: more\n  than\n\n  one line\n", "more than\none line");
	check_text("text: ''\n", "");
	check_text("text: ' a '\n", " a ");
	check_text("text: 'it''s'\n", "it's");
	check_text("text: ''''\n", "'");
	check_text("text: ''''''\n", "''");
	check_text("text: 'a''''b'\n", "a''b");
	check_text("text: '''a'''\n", "'a'");
	check_text("text: ''''''''''''''''''''''''''''''''''''''''\n", "'''''''''''''''''''");
	check_text("text: 'one  \n    two\t\n\n \n  three'\n", "one two\n\nthree");
	check_text("text: 'one\r\n  two'\r\n", "one two");
	check_text("text: '  \n  x'\n", " x");
	check_text("text: 'x\n  '\n", "x ");
	check_text("text: \"a\\tb\\\"\\\"\\u20AC\\x41\\\\\"\n", "a\tb\"\"\xe2\x82\xac"
								"A\\");
	check_text("text: \"one\n  two\\\n  three\"\n", "one twothree");
	check_text("text: |\n  a\n   b\n\n  c\n", "a\n b\n\nc\n");
	check_text("text: |-\n  a\n", "a");
	check_text("text: >\n  a\n  b\n\n  c\n", "a b\nc\n");
	check_text("{'text': 'a', \"int\": 5}", "a");
	check_text(
		"# e\xcc\x81\ntext: '\xe2\x82\xac''\xe2\x82\xac'\n", "\xe2\x82\xac'\xe2\x82\xac");
	check_text("\xef\xbb\xbftext: 'it''s'\n", "it's");
}

/* A text of random characters, as JSON and between single quotes, comes back as it was. */
static void
texts_come_back(void **state)
{
	static const char *const signs[] = {
		"'", "'", "\"", "\\", " ", "a", "#", ": ", ",", "]", "\xe2\x82\xac"};
	char text[400], yaml[1000];
	unsigned int seed = 1, i, round;

	for (round = 0; round < 2000; round++) {
		unsigned int nb = round % 60;
		char *at = yaml, *json;
		json_t *string;

		text[0] = '\0';
		for (i = 0; i < nb; i++) {
			seed = seed * 1103515245u + 12345u;
			strcat(text, signs[(seed >> 16) % 11]);
		}
		at += sprintf(at, "text: '");
		for (i = 0; text[i] != '\0'; i++)
			at += sprintf(at, text[i] == '\'' ? "''" : "%c", text[i]);
		sprintf(at, "'\n");
		check_text(yaml, text);
		string = json_string(text);
		json = json_dumps(
			string, JSON_ENCODE_ANY | (round % 2 == 0 ? JSON_ENSURE_ASCII : 0));
		snprintf(yaml, sizeof(yaml), "{\"text\": %s}", json);
		check_text(yaml, text);
		free(json);
		json_decref(string);
	}
}

static void
laughs_are_few(void **state)
{
	/* Each line ten of the line before: refused before it grows. */
	struct weir_base_doc *doc = load("any:\n"
					 "  a: &a [x, x, x, x, x, x, x, x, x, x]\n"
					 "  b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n"
					 "  c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\n");

	assert_int_equal(nb_errors(doc), 20);
	weir_base_doc_free(doc);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broken_yaml_has_a_place),
		cmocka_unit_test(the_parser_does_not_print),
		cmocka_unit_test(nothing_at_all),
		cmocka_unit_test(not_a_map),
		cmocka_unit_test(byte_order_mark),
		cmocka_unit_test(binary),
		cmocka_unit_test(columns_count_characters),
		cmocka_unit_test(depth_is_limited),
		cmocka_unit_test(size_is_limited),
		cmocka_unit_test(many_values),
		cmocka_unit_test(many_keys_are_found_fast),
		cmocka_unit_test(what_yaml_can_do_beyond),
		cmocka_unit_test(laughs_are_few),
		cmocka_unit_test(a_refused_key_takes_its_value_with_it),
		cmocka_unit_test(texts_of_all_styles),
		cmocka_unit_test(texts_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
