/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: including each other, merging, and what cannot be opened. */
#include "cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doc_util.h"

static char folder[] = "/tmp/weir-test-doc-XXXXXX";

static void
write_file(const char *name, const char *text)
{
	char path[300];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static struct weir_base_doc *
load_file(const char *name)
{
	char path[300];
	struct weir_base_doc *doc;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	doc = weir_base_doc_load(path, &fixture_root);
	assert_non_null(doc);
	return doc;
}

/* The errors with the folder's name taken out. */
static void
check_file(const char *name, const char *expected)
{
	struct weir_base_doc *doc = load_file(name);
	char *errors = print_errors(doc), *at;

	while ((at = strstr(errors, folder)) != NULL)
		memmove(at, at + strlen(folder), strlen(at + strlen(folder)) + 1);
	assert_string_equal(errors, expected);
	free(errors);
	weir_base_doc_free(doc);
}

static void
maps_are_merged(void **state)
{
	const struct weir_base_doc_value *ports, *prefixes;
	struct weir_base_doc *doc;
	unsigned int line, column;
	const char *file;

	write_file("a.yaml", "include: [b.yaml, sub/c.yaml]\n"
			     "text: a\n"
			     "prefixes: 10.1.0.0/16\n"
			     "ports: {p0: {queues: 2}, p2: {file: x.pcap}}\n");
	write_file("b.yaml",
		"int: 5\nprefixes: [10.2.0.0/16, 10.3.0.0/16]\nports:\n  p0: {file: y.pcap}\n");
	write_file("sub/c.yaml", "prefixes: 10.4.0.0/16\nports: {p1: {file: z.pcap}}\nbounds:\n");
	doc = load_file("a.yaml");
	assert_int_equal(nb_errors(doc), 0);
	assert_int_equal(weir_base_doc_u64(value_of(doc, "int")), 5);
	/* What is included comes first. */
	prefixes = value_of(doc, "prefixes");
	assert_int_equal(weir_base_doc_count(prefixes), 4);
	assert_int_equal(weir_base_doc_bytes(weir_base_doc_at(prefixes, 0))[1], 2);
	assert_int_equal(weir_base_doc_bytes(weir_base_doc_at(prefixes, 2))[1], 4);
	assert_int_equal(weir_base_doc_bytes(weir_base_doc_at(prefixes, 3))[1], 1);
	ports = value_of(doc, "ports");
	assert_int_equal(weir_base_doc_count(ports), 3);
	assert_int_equal(
		weir_base_doc_u64(weir_base_doc_get(weir_base_doc_get(ports, "p0"), "queues")), 2);
	/* A path is relative to the file that names it. */
	file = weir_base_doc_str(weir_base_doc_get(weir_base_doc_get(ports, "p1"), "file"));
	assert_non_null(strstr(file, "/sub/z.pcap"));
	file = weir_base_doc_str(weir_base_doc_get(weir_base_doc_get(ports, "p2"), "file"));
	assert_null(strstr(file, "/sub/"));
	file = weir_base_doc_where(weir_base_doc_at(prefixes, 2), &line, &column);
	assert_non_null(strstr(file, "/sub/c.yaml"));
	assert_int_equal(line, 1);
	assert_int_equal(column, 11);
	assert_null(value_of(doc, "include"));
	weir_base_doc_free(doc);
}

static void
scalars_given_twice_are_refused(void **state)
{
	write_file("a.yaml", "include: b.yaml\ntext: a\nint: 1\n");
	write_file("b.yaml", "number: 1\ntext: b\n");
	check_file("a.yaml",
		"/a.yaml:2:1: 'text' is given twice, first at /b.yaml:2:1; expected it once\n");
	write_file("b.yaml", "any: [1]\nports: {p0: {file: f}}\n");
	write_file("a.yaml", "include: b.yaml\nany: {a: 1}\nports: {p0: {file: g}}\n");
	check_file("a.yaml",
		"/a.yaml:2:1: 'any' is a map here, but a list at /b.yaml:1:1; expected the same\n"
		"/a.yaml:3:14: 'file' is given twice, first at /b.yaml:2:14; expected it once\n");
}

static void
errors_come_by_file(void **state)
{
	write_file("a.yaml", "text: [a]\ninclude: [b.yaml, c.yaml]\nint: x\n");
	write_file("b.yaml", "number: x\n");
	write_file("c.yaml", "ratio: 7\nports: {p: {}}\n");
	check_file("a.yaml", "/a.yaml:1:1: 'text' is a list; expected a text\n"
			     "/a.yaml:3:6: 'x' is not an integer; expected an integer\n"
			     "/b.yaml:1:9: 'x' is not a number; expected a number\n"
			     "/c.yaml:1:8: '7' is out of range; expected a number from 0 to 1\n"
			     "/c.yaml:2:9: key 'file' is missing in 'p'; expected a file name\n");
}

static void
cycles_are_refused(void **state)
{
	write_file("a.yaml", "include: b.yaml\ntext: a\n");
	write_file("b.yaml", "include: [c.yaml]\n");
	write_file("c.yaml", "int: 1\ninclude: ./sub/../a.yaml\n");
	check_file("a.yaml", "/c.yaml:2:10: '/./sub/../a.yaml' includes itself by way of others; "
			     "expected no cycle\n");
	write_file("b.yaml", "include: b.yaml\n");
	check_file("b.yaml", "/b.yaml:1:10: '/b.yaml' includes itself; expected no cycle\n");
}

static void
a_file_is_taken_once(void **state)
{
	struct weir_base_doc *doc;

	write_file("a.yaml", "include: [b.yaml, c.yaml, b.yaml]\n");
	write_file("b.yaml", "include: d.yaml\n");
	write_file("c.yaml", "include: d.yaml\n");
	write_file("d.yaml", "text: d\nprefixes: 10.0.0.0/8\n");
	doc = load_file("a.yaml");
	assert_int_equal(nb_errors(doc), 0);
	assert_int_equal(weir_base_doc_count(value_of(doc, "prefixes")), 1);
	weir_base_doc_free(doc);
}

static void
long_chains_are_refused(void **state)
{
	char name[20], text[40];
	const struct weir_base_doc_error *errors;
	struct weir_base_doc *doc;
	unsigned int i, nb;

	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "n%u.yaml", i);
		snprintf(text, sizeof(text), "include: n%u.yaml\n", i + 1);
		write_file(name, text);
	}
	write_file("n40.yaml", "text: x\n");
	doc = load_file("n0.yaml");
	errors = weir_base_doc_errors(doc, &nb);
	assert_int_equal(nb, 1);
	assert_non_null(strstr(errors[0].message, "more than 32 deep"));
	weir_base_doc_free(doc);
	doc = load_file("n20.yaml");
	assert_int_equal(nb_errors(doc), 0);
	weir_base_doc_free(doc);
}

static void
includes_that_are_none(void **state)
{
	write_file("a.yaml", "include: {b: c}\n");
	check_file("a.yaml",
		"/a.yaml:1:1: 'include' is a map; expected a file name or a list of them\n");
	write_file("a.yaml", "include: [[b.yaml], ~, \"\", none.yaml, .]\ntext: a\n");
	check_file("a.yaml", "/a.yaml:1:11: expected the name of a file to include\n"
			     "/a.yaml:1:21: expected the name of a file to include\n"
			     "/a.yaml:1:24: expected the name of a file to include\n"
			     "/a.yaml:1:28: cannot open '/none.yaml': No such file or directory; "
			     "expected a file that can be read\n"
			     "/a.yaml:1:39: '/.' is a directory; expected a file\n");
}

static void
a_broken_include_is_one_error(void **state)
{
	/* What is missing may stand in the part that could not be read. */
	write_file("a.yaml", "include: b.yaml\nports: {p: {queues: 2}}\n");
	write_file("b.yaml", "a: [1\n");
	check_file("a.yaml", "/b.yaml:2:1: not valid YAML: expected ',' or ']' (in the list that "
			     "begins on line 1, column 4)\n");
	write_file("b.yaml", "- 1\n");
	check_file("a.yaml",
		"/b.yaml:1:1: expected a map ('key: value') at the top of the file, not a list\n");
	write_file("b.yaml", "# nothing\n");
	check_file("a.yaml", "/b.yaml: is empty; expected a map\n");
}

static void
files_that_cannot_be_opened(void **state)
{
	check_file("none.yaml", "/none.yaml: cannot open '/none.yaml': No such file or directory; "
				"expected a file that can be read\n");
	check_file(".", "/.: '/.' is a directory; expected a file\n");
	write_file("a.yaml", "text: a\n");
	check_file("a.yaml/b.yaml", "/a.yaml/b.yaml: cannot open '/a.yaml/b.yaml': Not a "
				    "directory; expected a file that can be read\n");
	write_file("empty.yaml", "");
	check_file("empty.yaml", "/empty.yaml: is empty; expected a map\n");
}

static void
a_file_without_end(void **state)
{
	struct weir_base_doc *doc = weir_base_doc_load("/dev/zero", &fixture_root);
	char *errors = print_errors(doc);

	assert_string_equal(
		errors, "/dev/zero: '/dev/zero' is too large; expected at most 16 MiB\n");
	free(errors);
	weir_base_doc_free(doc);
}

static void
files_that_must_exist(void **state)
{
	struct weir_base_doc *doc;

	write_file("a.yaml", "file: b.txt\n");
	check_file("a.yaml", "/a.yaml:1:7: cannot open '/b.txt': No such file or directory; "
			     "expected a file that can be read\n");
	write_file("b.txt", "");
	doc = load_file("a.yaml");
	assert_int_equal(nb_errors(doc), 0);
	assert_int_equal(access(weir_base_doc_str(value_of(doc, "file")), R_OK), 0);
	weir_base_doc_free(doc);
	write_file("a.yaml", "file: sub\n");
	check_file("a.yaml", "/a.yaml:1:7: '/sub' is a directory; expected a file\n");
	write_file("a.yaml", "file: \"\"\n");
	check_file("a.yaml", "/a.yaml:1:7: an empty file name; expected a file name\n");
	/* One that need not exist may be absolute. */
	write_file("a.yaml", "ports: {p: {file: /none/at/all}}\n");
	check_file("a.yaml", "");
}

static int
make_folder(void **state)
{
	char path[300];

	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/sub", folder);
	return mkdir(path, 0700);
}

static int
remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
	return remove(path);
}

static int
remove_folder(void **state)
{
	return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_are_merged),
		cmocka_unit_test(scalars_given_twice_are_refused),
		cmocka_unit_test(errors_come_by_file),
		cmocka_unit_test(cycles_are_refused),
		cmocka_unit_test(a_file_is_taken_once),
		cmocka_unit_test(long_chains_are_refused),
		cmocka_unit_test(includes_that_are_none),
		cmocka_unit_test(a_broken_include_is_one_error),
		cmocka_unit_test(files_that_cannot_be_opened),
		cmocka_unit_test(a_file_without_end),
		cmocka_unit_test(files_that_must_exist),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
