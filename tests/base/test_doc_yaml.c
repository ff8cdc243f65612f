/* SPDX-License-Identifier: BSD-3-Clause */
/* What lies between a description file and libyaml: messages, places, and what it would misread. */
#include "cmocka_all.h"

#include "doc_util.h"

/* The only error, as printed behind the file's name. */
static void
check_message(const char *text, const char *expected)
{
	char line[400];

	snprintf(line, sizeof(line), "t.yaml:%s\n", expected);
	check_errors(text, line);
}

static void
messages_say_what_and_where(void **state)
{
	check_message("a: b: c\n",
		"1:5: not valid YAML: a ':' cannot stand here; expected one 'key: value' on a "
		"line, or quotes around a text that holds ': '");
	check_message("a:\n  - b\n  c: d\n",
		"3:3: not valid YAML: expected '-' (in the list that begins on line 2, column 3)");
	check_message("a: - b\n",
		"1:4: not valid YAML: a list cannot begin here; expected its '-' on a line of its "
		"own");
	check_message("a: \"b\" c\n",
		"1:8: not valid YAML: expected a key (in the map that begins on "
		"line 1, column 1)");
	check_message("a: 1\nwords\nb: 2\n",
		"2:1: not valid YAML: expected ':' behind this key, on its line and within 1024 "
		"characters");
	check_message("a: [1,\n  b: {c: 1\n",
		"3:1: not valid YAML: expected ',' or '}' (in the map that begins on line 2, "
		"column 6)");
	check_message("a: ]\n", "1:4: not valid YAML: expected a value");
	check_message("{a: 1} b\n", "1:8: not valid YAML: this belongs to nothing before it; "
				    "expected one map in a file");
	check_message("a: 'b\nc: d\n", "1:4: not valid YAML: expected a closing quote");
	check_message("a: \"\xc3\xa9\\q\"\n", "1:6: not valid YAML: unknown escape; expected one "
					      "such as \\n, \\\\ or \\u20ac (in the text that "
					      "begins on line 1, column 4)");
	/* JSON's way to write one character in two halves is not YAML's. */
	check_message("a: \"\\ud83c\\udf0a\"\n",
		"1:7: not valid YAML: this escape is no character; expected one such as \\u20ac or "
		"\\U0001f30a (in the text that begins on line 1, column 4)");
	check_message("\xc3\xa9: @b\n",
		"1:4: not valid YAML: a value cannot begin with '@'; expected quotes around it");
	check_message("a: 1\r\nb: `c\r\n",
		"2:4: not valid YAML: a value cannot begin with '`'; expected quotes around it");
	check_message("a:\n\t- b\n", "2:1: not valid YAML: a tab cannot indent; expected blanks");
	check_message("%FOO\n---\na: b\n",
		"1:5: not valid YAML: unknown directive; expected %YAML 1.2 or none (in the "
		"directive that begins on line 1, column 1)");
	check_message("%YAML 3.0\n---\na: b\n",
		"1:1: not valid YAML: unknown version; expected %YAML 1.2 or none");
	/* In libyaml's words. */
	check_message("a: !x!y z\n", "1:4: not valid YAML: found undefined tag handle");
}

/* Without a newline the file ends on its last line, not behind it. */
static void
the_end_of_a_file_is_in_it(void **state)
{
	check_message("a: [1", "1:6: not valid YAML: expected ',' or ']' (in the list that begins "
			       "on line 1, column 4)");
	check_message("a:\r  [1\r", "3:1: not valid YAML: expected ',' or ']' (in the list that "
				    "begins on line 2, column 3)");
	check_message("\xef\xbb\xbf{a", "1:3: not valid YAML: expected ',' or '}' (in the map that "
					"begins on line 1, column 1)");
}

static void
what_is_not_written_has_a_place(void **state)
{
	/* Behind a key: where the key is; in a list: on the dash. */
	check_message("bytes: 1B\nint:\n", "2:1: 'int' has no value; expected an integer");
	check_message("any:\n  ? a\n  ?\n  : 1\n  ?\n",
		"5:3: key '' is given twice, first on line 3; expected each key once");
	check_error("prefixes:\n  - 10.0.0.0/8\n  -\n  - ::/0\n", 3, 3,
		"'prefixes' has no value; expected an IP prefix");
	check_error("any: {a: {b: 1}}\nbounds:\n  depth: 1\n  ? \n  : x\n", 4, 3, "unknown key ''");
	check_error("bounds: {depth: 1, ? : x}\n", 1, 22, "unknown key ''");
}

static void
blocks_stand_where_their_sign_is(void **state)
{
	check_error("text: a\nint: |\n  5x\n", 2, 6, "is not an integer");
	check_error("int: &name\n  5x\n", 1, 6, "is not an integer");
	check_error("any: [&name !tag x]\n", 1, 7, "tag '!tag' is not supported");
}

/* An address may begin with colons, in brackets too. */
static void
colons_begin_a_text(void **state)
{
	struct weir_base_doc *doc =
		load_good("prefixes: [::/0, ::1/128,::2/128,\n"
			  "::3/128 ,\t::4/128 ]\n"
			  "ip6: ::5\n"
			  "any: {a: ::6, ::7: ::8, \"::9\": '::a', b::c: d::e}\n"
			  "text: >- # ::f\n"
			  "  ::10 ::11\n"
			  "  ::12\n");
	static const unsigned int columns[] = {12, 18, 26, 1, 11};
	const struct weir_base_doc_value *list = value_of(doc, "prefixes");
	json_t *json = weir_base_doc_json(value_of(doc, "any"));
	json_t *expected = json_pack(
		"{s:s, s:s, s:s, s:s}", "a", "::6", "::7", "::8", "::9", "::a", "b::c", "d::e");
	unsigned int i, line, column;

	assert_int_equal(weir_base_doc_count(list), 5);
	for (i = 0; i < 5; i++) {
		/* What stands in for a colon is one column wide as well. */
		weir_base_doc_where(weir_base_doc_at(list, i), &line, &column);
		assert_int_equal(line, i < 3 ? 1 : 2);
		assert_int_equal(column, columns[i]);
		assert_int_equal(weir_base_doc_bytes(weir_base_doc_at(list, i))[15], i);
	}
	assert_string_equal(weir_base_doc_str(value_of(doc, "ip6")), "::5");
	assert_string_equal(weir_base_doc_str(value_of(doc, "text")), "::10 ::11 ::12");
	assert_true(json_equal(json, expected));
	json_decref(json);
	json_decref(expected);
	weir_base_doc_free(doc);
	check_error("any: [::1, ::2, \xff", 1, 17, "byte 0xff");
	check_error("any: {a: ::1, a: ::2}\n", 1, 15, "given twice");
}

/* What would begin a value and a key at once is refused, not guessed. */
static void
colons_end_no_text(void **state)
{
	check_error("ip6: ::\n", 1, 7, "a ':' cannot stand here");
	check_error("ip6: fe80::\n", 1, 11, "a ':' cannot stand here");
	check_error("any: [fe80::]\n", 1, 12,
		"a text in brackets cannot end in ':'; expected quotes around it");
	check_error("any: [::, 1]\n", 1, 8, "a text in brackets cannot end in ':'");
	check_error("any: {a:}\n", 1, 8, "or a blank behind a key's");
	weir_base_doc_free(load_good("any: [\"fe80::\", '::']\nip6: \"::\"\n"));
}

static char *
ipv6_list(unsigned int nb)
{
	char *text = malloc(nb * 10 + 20), *at = text;
	unsigned int i;

	at += sprintf(at, "any: [");
	for (i = 0; i < nb; i++)
		at += sprintf(at, "::%x,", i);
	sprintf(at, "]\n");
	return text;
}

/* More than the parser reads at once: no address is cut in two. */
static void
many_colons(void **state)
{
	unsigned int nb = 20000, i;
	char *text = ipv6_list(nb), expected[20];
	struct weir_base_doc *doc = load_good(text);
	const struct weir_base_doc_value *list = value_of(doc, "any");

	assert_int_equal(weir_base_doc_count(list), nb);
	for (i = 0; i < nb; i++) {
		snprintf(expected, sizeof(expected), "::%x", i);
		assert_string_equal(weir_base_doc_str(weir_base_doc_at(list, i)), expected);
	}
	weir_base_doc_free(doc);
	free(text);
}

static void
characters_of_no_text(void **state)
{
	check_message("text: a\xc2\x85 b\n",
		"1:8: character U+0085 is not supported; expected it left out");
	check_message("# \xe2\x80\xa8text: a\n",
		"1:3: character U+2028 is not supported; expected it left out");
	check_message("text: \"\xe2\x80\xa9\"\n",
		"1:8: character U+2029 is not supported; expected it left out");
	check_message("text: \xef\xbb\xbf\n",
		"1:7: character U+FEFF is not supported; expected it left out");
	check_message("text: \xef\xb7\x90\n",
		"1:7: character U+FDD0 is not supported; expected it left out");
	check_message("text: \"\\uFdD0\"\n",
		"1:8: character U+FDD0 is not supported; expected it left out");
	check_message("text: \"\\U0000fdd0\"\n",
		"1:8: character U+FDD0 is not supported; expected it left out");
	check_message("text: \xef\xbf\xbf\n",
		"1:7: character U+FFFF is not supported; expected it left out");
	check_message(
		"text: \x7f\n", "1:7: byte 0x7f: this is not a text file; expected YAML in UTF-8");
	/* Their neighbours are texts like any other. */
	weir_base_doc_free(load_good("text: \"\xc2\xa0 \xe2\x80\xa7 \xe2\x80\xaa \xef\xb7\x8f "
				     "\xef\xb7\x91 \xef\xbb\xbe \xef\xbf\xbd \\u2028 \\uFDD1\"\n"));
}

static void
tag_directives_are_few(void **state)
{
	unsigned int i;
	char text[4000], *at = text;

	for (i = 0; i < 101; i++)
		at += sprintf(at, "%%TAG !%u! x\n", i);
	strcpy(at, "---\ntext: a\n");
	check_message(
		text, "101:1: too many %TAG directives; expected none, as tags are not supported");
	weir_base_doc_free(load_good(strchr(text, '\n') + 1));
}

/* What other parsers came to grief over. */
static void
hard_texts(void **state)
{
	static const char tangle[] =
		"? :::mac:::\t: eeFFFFFFeeeeeeeeeeeeeee:s:e:\t: :[::\t: :::\t: fFF::\t: "
		"eeFFFFFFFFFFFFFeee:\t: :::\t: :::\t: eeduraeee&eeeeeeeee^eeee::\t: ::e\t: "
		"eeeeeee ee";

	check_error("? ::\t:", 1, 6, "a ':' cannot stand here");
	check_error(tangle, 1, 13, "a ':' cannot stand here");
	check_error("? \n- \n\n: x\n", 2, 1, "a map or list cannot be a key");
	check_error("\"\\", 1, 2, "unknown escape");
	check_error(">", 1, 1, "not a single value");
	check_error("- !<", 1, 5, "not valid YAML");
	check_error("&", 1, 2, "expected a name of letters and digits");
	check_error("[?", 1, 3, "expected a value");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_say_what_and_where),
		cmocka_unit_test(the_end_of_a_file_is_in_it),
		cmocka_unit_test(what_is_not_written_has_a_place),
		cmocka_unit_test(blocks_stand_where_their_sign_is),
		cmocka_unit_test(colons_begin_a_text),
		cmocka_unit_test(colons_end_no_text),
		cmocka_unit_test(many_colons),
		cmocka_unit_test(characters_of_no_text),
		cmocka_unit_test(tag_directives_are_few),
		cmocka_unit_test(hard_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
