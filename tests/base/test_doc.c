/* SPDX-License-Identifier: BSD-3-Clause */
/* Description files: structure, places, unknown and missing keys, defaults. */
#include "cmocka_all.h"

#include "doc_util.h"

static void
values_are_read(void **state)
{
	struct weir_base_doc *doc = load_good("text: hello\n"
					      "ports:\n"
					      "  p0: {file: a.pcap, queues: 4}\n"
					      "  p1:\n"
					      "    file: b.pcap\n"
					      "    tags: [x, y, z]\n");
	const struct weir_base_doc_value *ports = value_of(doc, "ports"), *port;

	assert_string_equal(weir_base_doc_str(value_of(doc, "text")), "hello");
	assert_int_equal(weir_base_doc_count(ports), 2);
	assert_string_equal(weir_base_doc_names(doc, ports, "none"), "p0 or p1");
	assert_string_equal(weir_base_doc_names(doc, NULL, "none"), "none");
	port = weir_base_doc_at(ports, 0);
	assert_string_equal(weir_base_doc_name(port), "p0");
	assert_int_equal(weir_base_doc_u64(weir_base_doc_get(port, "queues")), 4);
	port = weir_base_doc_get(ports, "p1");
	assert_ptr_equal(port, weir_base_doc_at(ports, 1));
	assert_int_equal(weir_base_doc_count(weir_base_doc_get(port, "tags")), 3);
	assert_string_equal(
		weir_base_doc_str(weir_base_doc_at(weir_base_doc_get(port, "tags"), 2)), "z");
	assert_null(weir_base_doc_at(ports, 2));
	weir_base_doc_free(doc);
}

static void
json_is_read_as_yaml(void **state)
{
	struct weir_base_doc *doc =
		load_good("{\"text\": \"a\\u00e9\\n\", \"ports\": {\"p\": {\"file\": \"f\"}}, "
			  "\"prefixes\": [\"10.0.0.0/8\", \"::/0\"]}");

	assert_string_equal(weir_base_doc_str(value_of(doc, "text")), "a\xc3\xa9\n");
	assert_int_equal(weir_base_doc_count(value_of(doc, "prefixes")), 2);
	weir_base_doc_free(doc);
}

static void
places_are_known(void **state)
{
	struct weir_base_doc *doc = load_good("# a comment\n"
					      "text:   hello\n"
					      "ports:\n"
					      "  p0:\n"
					      "    file: f\n"
					      "prefixes: [10.0.0.0/8,\n"
					      "  ::/0]\n");
	unsigned int line, column;

	assert_string_equal(weir_base_doc_where(value_of(doc, "text"), &line, &column), "t.yaml");
	assert_int_equal(line, 2);
	assert_int_equal(column, 9);
	/* A map stands where its key is. */
	weir_base_doc_where(weir_base_doc_at(value_of(doc, "ports"), 0), &line, &column);
	assert_int_equal(line, 4);
	assert_int_equal(column, 3);
	weir_base_doc_where(weir_base_doc_at(value_of(doc, "prefixes"), 1), &line, &column);
	assert_int_equal(line, 7);
	assert_int_equal(column, 3);
	weir_base_doc_free(doc);
}

static void
defaults_stand_in(void **state)
{
	struct weir_base_doc *doc = load_good("ports: {p: {file: f}}\nlimits: {depth: 7}\n");
	const struct weir_base_doc_value *port = weir_base_doc_at(value_of(doc, "ports"), 0);
	const struct weir_base_doc_value *tags = weir_base_doc_get(port, "tags");

	assert_true(weir_base_doc_bool(value_of(doc, "flag")));
	assert_int_equal(weir_base_doc_u64(weir_base_doc_get(port, "queues")), 1);
	assert_int_equal(weir_base_doc_count(tags), 2);
	assert_string_equal(weir_base_doc_str(weir_base_doc_at(tags, 1)), "b");
	assert_int_equal(weir_base_doc_u64(weir_base_doc_get(value_of(doc, "limits"), "depth")), 7);
	assert_int_equal(
		weir_base_doc_u64(weir_base_doc_get(value_of(doc, "limits"), "wait")), 10000);
	/* Defaults are no part of what a map holds. */
	assert_int_equal(weir_base_doc_count(port), 1);
	assert_false(weir_base_doc_given(port, "queues"));
	assert_true(weir_base_doc_given(port, "file"));
	weir_base_doc_free(doc);
}

static void
a_section_with_default_is_there(void **state)
{
	struct weir_base_doc *doc = load_good("text: x\n");

	assert_int_equal(weir_base_doc_u64(weir_base_doc_get(value_of(doc, "limits"), "depth")), 3);
	assert_false(weir_base_doc_given(weir_base_doc_root(doc), "limits"));
	assert_null(value_of(doc, "bounds"));
	/* What a default holds was not given either. */
	assert_int_equal(weir_base_doc_u64(weir_base_doc_get(value_of(doc, "edges"), "depth")), 9);
	assert_false(weir_base_doc_given(value_of(doc, "edges"), "depth"));
	weir_base_doc_free(doc);
}

static void
nothing_behind_a_key_is_empty(void **state)
{
	struct weir_base_doc *doc = load_good("ports:\nprefixes: ~\nbounds:\nlimits: null\n");

	assert_int_equal(weir_base_doc_count(value_of(doc, "ports")), 0);
	assert_int_equal(weir_base_doc_count(value_of(doc, "prefixes")), 0);
	assert_int_equal(weir_base_doc_u64(weir_base_doc_get(value_of(doc, "bounds"), "depth")), 3);
	weir_base_doc_free(doc);
	check_error("text: x\nint:\n", 2, 1, "'int' has no value; expected an integer");
	/* Quotes make a text of it. */
	doc = load_good("text: \"\"\n");
	assert_string_equal(weir_base_doc_str(value_of(doc, "text")), "");
	weir_base_doc_free(doc);
}

static void
one_scalar_is_a_list_of_one(void **state)
{
	struct weir_base_doc *doc = load_good("prefixes: 10.0.0.0/8\n");
	const struct weir_base_doc_value *list = value_of(doc, "prefixes");

	assert_int_equal(weir_base_doc_count(list), 1);
	assert_int_equal(weir_base_doc_u64(weir_base_doc_at(list, 0)), 8);
	weir_base_doc_free(doc);
}

static void
accessors_take_null(void **state)
{
	assert_null(weir_base_doc_get(NULL, "x"));
	assert_null(weir_base_doc_at(NULL, 0));
	assert_null(weir_base_doc_str(NULL));
	assert_null(weir_base_doc_name(NULL));
	assert_null(weir_base_doc_bytes(NULL));
	assert_null(weir_base_doc_root(NULL));
	assert_int_equal(weir_base_doc_count(NULL), 0);
	assert_int_equal(weir_base_doc_u64(NULL), 0);
	assert_int_equal(weir_base_doc_i64(NULL), 0);
	assert_int_equal(weir_base_doc_length(NULL), 0);
	assert_true(weir_base_doc_f64(NULL) == 0);
	assert_false(weir_base_doc_bool(NULL));
	assert_false(weir_base_doc_given(NULL, "x"));
	weir_base_doc_free(NULL);
}

static void
sections_may_hold_themselves(void **state)
{
	struct weir_base_doc *doc = load_good("tree: {trees: [{leaf: a}, {trees: [{leaf: b}]}]}\n");
	const struct weir_base_doc_value *value = value_of(doc, "tree");

	value = weir_base_doc_at(weir_base_doc_get(value, "trees"), 1);
	value = weir_base_doc_at(weir_base_doc_get(value, "trees"), 0);
	assert_string_equal(weir_base_doc_str(weir_base_doc_get(value, "leaf")), "b");
	weir_base_doc_free(doc);
	check_error("tree: {trees: [{leaf: a}, {trees: [{laef: b}]}]}\n", 1, 37,
		"did you mean 'leaf'?");
}

static void
unknown_keys_are_refused(void **state)
{
	check_error("txet: x\n", 1, 1,
		"unknown key 'txet', did you mean 'text'? expected one of: text,");
	check_error("text: x\nports:\n  p0:\n    file: f\n    queue: 2\n", 5, 5,
		"unknown key 'queue' in 'p0', did you mean 'queues'? expected one of: file, "
		"queues, "
		"on_full, tags");
	/* Nothing is near. */
	check_error("bounds: {xyzzy: 1}\n", 1, 10,
		"unknown key 'xyzzy' in 'bounds'; expected one of: depth, wait");
	check_error("Text: x\n", 1, 1, "did you mean 'text'?");
	check_error("? \n: x\n", 1, 1, "unknown key ''");
}

static void
missing_keys_are_named(void **state)
{
	check_error("ports:\n  p0:\n    queues: 2\n", 2, 3,
		"key 'file' is missing in 'p0'; expected a file name");
	check_error("ports:\n  p0: {}\n", 2, 3, "key 'file' is missing in 'p0'");
	check_error("ports:\n  p0:\n", 2, 3, "key 'file' is missing in 'p0'");
}

static void
wrong_forms_are_refused(void **state)
{
	check_error("text: [a]\n", 1, 1, "'text' is a list; expected a text");
	check_error("int: {a: 1}\n", 1, 1, "'int' is a map; expected an integer");
	check_error("ports: [a]\n", 1, 1, "'ports' is a list; expected a map from names");
	check_error("bounds: 7\n", 1, 9,
		"'bounds' is a single value; expected a map with keys of: depth, wait");
	check_error("prefixes: {a: 1}\n", 1, 1, "'prefixes' is a map; expected a list");
	check_error("prefixes: [[10.0.0.0/8]]\n", 1, 12, "is a list; expected an IP prefix");
	check_error("ports: {\"\": {file: f}}\n", 1, 9, "an empty name");
}

static void
duplicate_keys_are_refused(void **state)
{
	check_error(
		"text: a\nint: 1\ntext: b\n", 3, 1, "key 'text' is given twice, first on line 1");
	check_error("ports: {a: {file: f}, b: {file: g}, a: {file: h}}\n", 1, 37,
		"key 'a' is given twice");
	check_errors("any: {k: 1, k: 2, k: 3}\n",
		"t.yaml:1:13: key 'k' is given twice, first on line 1; expected each key once\n"
		"t.yaml:1:19: key 'k' is given twice, first on line 1; expected each key once\n");
}

static void
the_first_of_two_stays(void **state)
{
	struct weir_base_doc *doc = load("text: a\ntext: b\n");

	assert_string_equal(weir_base_doc_str(value_of(doc, "text")), "a");
	assert_int_equal(weir_base_doc_count(weir_base_doc_root(doc)), 1);
	weir_base_doc_free(doc);
}

static void
all_errors_are_listed_in_order(void **state)
{
	check_errors("int: x\n"
		     "ports:\n"
		     "  p0: {queues: 99}\n"
		     "zzz: 1\n"
		     "mac: 1:2\n"
		     "text: a\n"
		     "text: b\n",
		"t.yaml:1:6: 'x' is not an integer; expected an integer\n"
		"t.yaml:3:3: key 'file' is missing in 'p0'; expected a file name\n"
		"t.yaml:3:16: '99' is out of range; expected an integer from 1 to 64\n"
		"t.yaml:4:1: unknown key 'zzz'; expected one of: text, even, file, flag, int, "
		"small, number, ratio, full, duration, soon, bytes, mtu, bit_rate, packet_rate, "
		"frequency, cycles, cycles_per_byte, ip4, ip6, ip, prefix, mac, prefixes, ports, "
		"sizes, limits, edges, bounds, tree, any, include\n"
		"t.yaml:5:6: '1:2' is not a MAC address; expected six pairs of hexadecimal digits "
		"such as 02:00:00:00:00:01\n"
		"t.yaml:7:1: key 'text' is given twice, first on line 6; expected each key once\n");
}

static void
the_list_of_errors_has_an_end(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	const struct weir_base_doc_error *errors;
	struct weir_base_doc *doc;
	unsigned int i, nb;

	for (i = 0; i < 3000; i++)
		fprintf(out, "k%u: 1\n", i);
	fclose(out);
	doc = load(text);
	errors = weir_base_doc_errors(doc, &nb);
	assert_int_equal(nb, 1001);
	assert_non_null(strstr(errors[1000].message, "too many errors"));
	assert_int_equal(errors[999].line, 1000);
	weir_base_doc_free(doc);
	free(text);
}

static void
errors_can_be_added(void **state)
{
	struct weir_base_doc *doc = load_good("text: a\nports: {p0: {file: f}}\n");
	const struct weir_base_doc_value *port = weir_base_doc_at(value_of(doc, "ports"), 0);
	char *errors;

	weir_base_doc_error_add_at(doc, "routes.txt", 17, 3, "bad prefix '%s'", "x");
	/* A default has no place of its own: the map that lacks it stands for it. */
	weir_base_doc_error_add(doc, weir_base_doc_get(port, "queues"), "too few");
	weir_base_doc_error_add(doc, value_of(doc, "text"), "unknown port '%s'", "a");
	weir_base_doc_error_add(doc, NULL, "nothing to do");
	errors = print_errors(doc);
	assert_string_equal(errors, "t.yaml: nothing to do\n"
				    "t.yaml:1:7: unknown port 'a'\n"
				    "t.yaml:2:9: too few\n"
				    "routes.txt:17:3: bad prefix 'x'\n");
	free(errors);
	weir_base_doc_free(doc);
}

static void
errors_as_json(void **state)
{
	struct weir_base_doc *doc = load("text: a\nint: x\n");
	json_t *list = weir_base_doc_errors_json(doc);
	json_t *expected = json_pack("[{s:s, s:i, s:i, s:s}]", "file", "t.yaml", "line", 2,
		"column", 6, "message", "'x' is not an integer; expected an integer");

	assert_true(json_equal(list, expected));
	json_decref(list);
	json_decref(expected);
	weir_base_doc_free(doc);
}

static void
messages_are_clean_text(void **state)
{
	char text[3000] = "int: \"\\e[31m\\x01";

	check_error("int: \"a\\e[31mb\"\n", 1, 6, "'a?[31mb' is not an integer");
	memset(text + strlen(text), 'z', 2000);
	strcat(text, "\"\n");
	check_error(text, 1, 6, "zzz...' is not an integer");
	/* A file's name may be any bytes; JSON may not. */
	struct weir_base_doc *doc = weir_base_doc_load_text("a", 1, "\xff.yaml", &fixture_root);
	json_t *list = weir_base_doc_errors_json(doc);

	assert_string_equal(
		json_string_value(json_object_get(json_array_get(list, 0), "file")), "?.yaml");
	json_decref(list);
	weir_base_doc_free(doc);
}

static void
values_as_json(void **state)
{
	struct weir_base_doc *doc =
		load_good("text: 12\n"
			  "flag: off\n"
			  "int: 0x1F\n"
			  "any: {a: 1, b: [true, ~, -1.5, \"2\", x, 1e400], c: {}}\n"
			  "duration: 5us\n");
	json_t *json = weir_base_doc_json(weir_base_doc_root(doc));
	json_t *expected = json_pack("{s:s, s:b, s:i, s:{s:i, s:[b, n, f, s, s, s], s:{}}, s:s}",
		"text", "12", "flag", 0, "int", 31, "any", "a", 1, "b", 1, -1.5, "2", "x", "1e400",
		"c", "duration", "5us");

	if (!json_equal(json, expected)) {
		json_dumpf(json, stderr, 0);
		fail();
	}
	json_decref(json);
	json_decref(expected);
	json = weir_base_doc_json(NULL);
	assert_true(json_is_null(json));
	json_decref(json);
	weir_base_doc_free(doc);
}

/* Whoever reads a document leaves the rest of it aside. */
static void
what_nobody_reads_is_known(void **state)
{
	struct weir_base_doc *doc = load_good("text: hello\n"
					      "ports:\n"
					      "  p0: {file: a.pcap, queues: 4}\n"
					      "  p1:\n"
					      "    file: b.pcap\n"
					      "    tags: [x, y, z]\n"
					      "prefixes: [10.0.0.0/8, ::/0]\n");
	const struct weir_base_doc_value *ports = value_of(doc, "ports");
	json_t *unread;
	char *text;

	/* Of one port one key is read, of the other one only that it is there; of a list one item. */
	weir_base_doc_get(weir_base_doc_at(ports, 0), "file");
	weir_base_doc_get(weir_base_doc_at(ports, 0), "tags"); /* by default */
	assert_false(weir_base_doc_given(weir_base_doc_at(ports, 1), "queues"));
	weir_base_doc_at(value_of(doc, "prefixes"), 1);
	/* Who only looks reads nothing. */
	weir_base_doc_look(doc, true);
	assert_non_null(value_of(doc, "text"));
	assert_true(weir_base_doc_given(weir_base_doc_at(ports, 0), "queues"));
	assert_non_null(weir_base_doc_at(value_of(doc, "prefixes"), 0));
	weir_base_doc_look(doc, false);
	unread = weir_base_doc_unread_json(doc);
	text = json_dumps(unread, JSON_COMPACT);
	assert_string_equal(text,
		"[{\"key\":\"text\",\"file\":\"t.yaml\",\"line\":1,\"column\":7},"
		"{\"key\":\"ports.p0.queues\",\"file\":\"t.yaml\",\"line\":3,\"column\":30},"
		"{\"key\":\"ports.p1\",\"file\":\"t.yaml\",\"line\":4,\"column\":3},"
		"{\"key\":\"prefixes.0\",\"file\":\"t.yaml\",\"line\":7,\"column\":12}]");
	free(text);
	json_decref(unread);
	/* One key more, and a map that was reported is gone into. */
	assert_true(weir_base_doc_given(weir_base_doc_get(ports, "p1"), "file"));
	value_of(doc, "text");
	unread = weir_base_doc_unread_json(doc);
	assert_int_equal(json_array_size(unread), 3);
	assert_string_equal(json_string_value(json_object_get(json_array_get(unread, 1), "key")),
		"ports.p1.tags");
	json_decref(unread);
	/* One that was only looked at; and one that is not there. */
	weir_base_doc_leave(weir_base_doc_root(doc), "text");
	weir_base_doc_leave(weir_base_doc_root(doc), "number");
	unread = weir_base_doc_unread_json(doc);
	assert_int_equal(json_array_size(unread), 4);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(unread, 0), "key")), "text");
	json_decref(unread);
	weir_base_doc_free(doc);
}

/* A path may be any bytes, JSON may not. */
static void
what_nobody_reads_is_in_any_file(void **state)
{
	static const char text[] = "text: hello\nprefixes: [::/0]\n";
	struct weir_base_doc *doc =
		weir_base_doc_load_text(text, strlen(text), "d\xe9j\xe0.yaml", &fixture_root);
	json_t *unread;

	assert_non_null(doc);
	value_of(doc, "text");
	unread = weir_base_doc_unread_json(doc);
	assert_int_equal(json_array_size(unread), 1);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(unread, 0), "file")), "d?j?.yaml");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(unread, 0), "line")), 2);
	json_decref(unread);
	weir_base_doc_free(doc);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_read),
		cmocka_unit_test(json_is_read_as_yaml),
		cmocka_unit_test(places_are_known),
		cmocka_unit_test(defaults_stand_in),
		cmocka_unit_test(a_section_with_default_is_there),
		cmocka_unit_test(nothing_behind_a_key_is_empty),
		cmocka_unit_test(one_scalar_is_a_list_of_one),
		cmocka_unit_test(accessors_take_null),
		cmocka_unit_test(sections_may_hold_themselves),
		cmocka_unit_test(unknown_keys_are_refused),
		cmocka_unit_test(missing_keys_are_named),
		cmocka_unit_test(wrong_forms_are_refused),
		cmocka_unit_test(duplicate_keys_are_refused),
		cmocka_unit_test(the_first_of_two_stays),
		cmocka_unit_test(all_errors_are_listed_in_order),
		cmocka_unit_test(the_list_of_errors_has_an_end),
		cmocka_unit_test(errors_can_be_added),
		cmocka_unit_test(errors_as_json),
		cmocka_unit_test(messages_are_clean_text),
		cmocka_unit_test(values_as_json),
		cmocka_unit_test(what_nobody_reads_is_known),
		cmocka_unit_test(what_nobody_reads_is_in_any_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
