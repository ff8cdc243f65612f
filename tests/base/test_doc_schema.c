/* SPDX-License-Identifier: BSD-3-Clause */
/* What is made of the schema tables: JSON Schema and reference documentation. */
#include "cmocka_all.h"

#include "doc_util.h"

static json_t *schema;

static int
make_schema(void **state)
{
	schema = weir_base_doc_schema_json(&fixture_root, "All kinds");
	return schema != NULL ? 0 : -1;
}

static int
drop_schema(void **state)
{
	json_decref(schema);
	return 0;
}

/* A part of the schema by its path: "$defs/port/properties". */
static const json_t *
part(const char *path)
{
	const json_t *json = schema;
	char copy[200], *key, *rest = copy;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((key = strsep(&rest, "/")) != NULL)
		json = json_object_get(json, key);
	if (json == NULL)
		fail_msg("the schema has no %s", path);
	return json;
}

/* A part is this JSON. */
static void
check_part(const char *path, const char *expected)
{
	json_t *wanted = json_loads(expected, JSON_DECODE_ANY, NULL);
	const json_t *got = part(path);
	char *text = json_dumps(got, JSON_ENCODE_ANY);

	assert_non_null(wanted);
	if (!json_equal(got, wanted))
		fail_msg("%s is %s, not %s", path, text, expected);
	free(text);
	json_decref(wanted);
}

static void
the_top(void **state)
{
	check_part("$schema", "\"https://json-schema.org/draft/2020-12/schema\"");
	check_part("title", "\"All kinds\"");
	check_part("type", "\"object\"");
	check_part("description", "\"All kinds.\"");
	check_part("additionalProperties", "false");
	assert_int_equal(json_object_size(part("$defs")), 3);
	part("properties/include");
}

/* Each row of a section is a property with its help. @return how many there are */
static size_t
check_rows(const struct weir_base_doc_section *section, const char *path)
{
	const struct weir_base_doc_key *row;
	char at[200];
	size_t nb = 0;

	for (row = section->keys; row->name != NULL; row++) {
		if (row->name[0] == '\0') {
			nb += check_rows(row->section, path);
			continue;
		}
		nb++;
		snprintf(at, sizeof(at), "%s/%s/description", path, row->name);
		assert_non_null(strstr(json_string_value(part(at)), row->help));
		snprintf(at, sizeof(at), "%s/%s", path, row->name);
		assert_int_equal(json_object_get(part(at), "default") != NULL, row->def != NULL);
	}
	return nb;
}

static void
check_section(const struct weir_base_doc_section *section, const char *path, size_t nb_more)
{
	assert_int_equal(json_object_size(part(path)), check_rows(section, path) + nb_more);
}

static void
every_row_is_there(void **state)
{
	check_section(&fixture_root, "properties", 1);
	check_section(&fixture_port, "$defs/port/properties", 0);
	check_section(&fixture_limit, "$defs/limits of it/properties", 0);
	check_section(&fixture_tree, "$defs/tree/properties", 0);
}

static void
rows_in_full(void **state)
{
	check_part("$defs/port/required", "[\"file\"]");
	check_part("$defs/port/additionalProperties", "false");
	check_part("$defs/port/properties/on_full",
		"{\"enum\": [\"drop\", \"wait\", \"on\", \"2\", 2], \"default\": \"drop\","
		" \"description\": \"When full.\"}");
	check_part("$defs/port/properties/queues/default", "1");
	check_part("$defs/port/properties/tags/default", "[\"a\", \"b\"]");
	check_part("properties/flag/default", "true");
	check_part("properties/limits/default", "{}");
	check_part("properties/ports/additionalProperties", "{\"$ref\": \"#/$defs/port\"}");
	check_part("properties/ratio", "{\"type\": \"number\", \"minimum\": 0, \"maximum\": 1, "
				       "\"description\": \"A ratio.\"}");
	/* A reference is a URI. */
	check_part("properties/limits/anyOf",
		"[{\"$ref\": \"#/$defs/limits%20of%20it\"}, {\"type\": \"null\"}]");
	check_part("properties/even/description", "\"Checked. Expected: a text of even length.\"");
}

static char *
print_markdown(const struct weir_base_doc_section *root)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	weir_base_doc_schema_markdown(root, out);
	fclose(out);
	return text;
}

static void
a_section_as_markdown(void **state)
{
	char *text = print_markdown(&fixture_port);

	assert_string_equal(text,
		"## port\n\n"
		"One port.\n\n"
		"| key | value | default | meaning |\n"
		"|---|---|---|---|\n"
		"| `file` | a file name | required | A capture \\| file. |\n"
		"| `queues` | an integer, 1 to 64 | `1` | Queues. |\n"
		"| `on_full` | `drop`, `wait`, `on`, `2` | `drop` | When full. |\n"
		"| `tags` | a list, each item a text | `[a, b]` | Tags. |\n"
		"| `include` | a file name, or a list of them |  | Files to take in, relative to "
		"this one. |\n\n");
	free(text);
}

static unsigned int
count_of(const char *text, const char *what)
{
	unsigned int nb = 0;

	for (; (text = strstr(text, what)) != NULL; text++)
		nb++;
	return nb;
}

static void
each_section_once_in_order(void **state)
{
	char *text = print_markdown(&fixture_root);
	const char *titles[] = {"## root\n", "## port\n", "## limits of it\n", "## tree\n"};
	const char *last = text;
	unsigned int i;

	assert_int_equal(count_of(text, "## "), 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(count_of(text, titles[i]), 1);
		assert_true(strstr(text, titles[i]) >= last);
		last = strstr(text, titles[i]);
	}
	assert_non_null(strstr(text, "| `soon` | a duration (ps, ns, us, ms, s, min or h), 1e-06s "
				     "to 1s |  | A short one. |"));
	assert_non_null(strstr(text, "| `limits` | [limits of it](#limits-of-it) | `{}` |"));
	assert_non_null(strstr(text, "| `ports` | a map from names, each to [port](#port) |"));
	assert_non_null(strstr(text, "| `even` | a text: a text of even length |"));
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_top),
		cmocka_unit_test(every_row_is_there),
		cmocka_unit_test(rows_in_full),
		cmocka_unit_test(a_section_as_markdown),
		cmocka_unit_test(each_section_once_in_order),
	};

	return cmocka_run_group_tests(tests, make_schema, drop_schema);
}
