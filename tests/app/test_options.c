/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#include "app.h"

static const struct app_command command = {
	.name = "test", .arguments = "FILE", .summary = "", .help = ""};

static bool flag;
static const char *text;
static json_t *list;
static char *line[8];
static int nb;

/* Parse a line of words; returns what app_options() did. */
static int
parse(int min_args, int max_args, int count, ...)
{
	static char words[8][32];
	const struct app_option options[] = {{"flag", APP_OPTION_FLAG, &flag},
		{"text", APP_OPTION_TEXT, &text}, {"item", APP_OPTION_LIST, list}, {.name = NULL}};
	va_list arguments;

	flag = false;
	text = NULL;
	line[0] = strcpy(words[0], "test");
	va_start(arguments, count);
	for (int i = 1; i <= count; i++)
		line[i] = strcpy(words[i], va_arg(arguments, const char *));
	va_end(arguments);
	line[count + 1] = NULL;
	nb = count + 1;
	return app_options(&command, &nb, line, options, min_args, max_args);
}

static void
taken(void **state)
{
	(void)state;
	assert_int_equal(parse(0, 0, 0), -1);
	assert_false(flag);
	assert_int_equal(parse(1, 1, 1, "file"), -1);
	assert_int_equal(nb, 2);
	assert_string_equal(line[1], "file");
	assert_int_equal(parse(1, 1, 2, "--flag", "file"), -1);
	assert_true(flag);
	assert_string_equal(line[1], "file");
	assert_int_equal(parse(1, 1, 4, "file", "--text", "value", "--flag"), -1);
	assert_string_equal(text, "value");
	assert_true(flag);
	assert_int_equal(nb, 2);
	assert_int_equal(parse(0, 0, 1, "--text=a=b"), -1);
	assert_string_equal(text, "a=b");
	assert_int_equal(parse(0, 0, 1, "--text="), -1);
	assert_string_equal(text, "");
	assert_int_equal(parse(1, 2, 3, "--", "--flag", "x"), -1);
	assert_false(flag);
	assert_string_equal(line[1], "--flag");
	assert_string_equal(line[2], "x");
	assert_null(line[3]);
	assert_int_equal(parse(1, 1, 1, "-"), -1);
	assert_string_equal(line[1], "-");
}

static void
refused(void **state)
{
	(void)state;
	assert_int_equal(parse(1, 1, 0), APP_USAGE);
	assert_int_equal(parse(0, 1, 2, "a", "b"), APP_USAGE);
	assert_int_equal(parse(0, 0, 1, "--flags"), APP_USAGE);
	assert_int_equal(parse(0, 0, 1, "--fla"), APP_USAGE);
	assert_int_equal(parse(0, 0, 1, "--flag=1"), APP_USAGE);
	assert_int_equal(parse(0, 0, 1, "--text"), APP_USAGE);
	assert_int_equal(parse(0, 0, 1, "--=x"), APP_USAGE);
	assert_int_equal(parse(0, 0, 1, "-x"), APP_USAGE);
}

/* One that may be given several times has all of its values, in order. */
static void
listed(void **state)
{
	(void)state;
	list = json_array();
	assert_int_equal(parse(1, 1, 6, "--item", "a", "x", "--item=b", "--item", "--item"), -1);
	assert_string_equal(line[1], "x");
	assert_int_equal(json_array_size(list), 3);
	assert_string_equal(json_string_value(json_array_get(list, 0)), "a");
	assert_string_equal(json_string_value(json_array_get(list, 1)), "b");
	assert_string_equal(json_string_value(json_array_get(list, 2)), "--item");
	assert_int_equal(parse(0, 0, 1, "--item"), APP_USAGE);
	assert_int_equal(parse(0, 0, 1, "--item=\xff"), APP_USAGE);
	assert_int_equal(json_array_size(list), 3);
	json_decref(list);
	list = NULL;
}

static void
durations(void **state)
{
	static const char *const bad[] = {
		"", "1", "1 second", "x", "-1s", "0s", "11s", "1s\"}", "1ms, b: 2", "10ticks"};
	uint64_t ns;

	(void)state;
	assert_int_equal(app_duration("10ms", 1e-3, 10, &ns), 0);
	assert_int_equal(ns, 10000000);
	assert_int_equal(app_duration("1.5s", 1e-3, 10, &ns), 0);
	assert_int_equal(ns, 1500000000);
	assert_int_equal(app_duration("0s", 0, 10, &ns), 0);
	assert_int_equal(ns, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(app_duration(bad[i], 1e-3, 10, &ns), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken),
		cmocka_unit_test(refused),
		cmocka_unit_test(listed),
		cmocka_unit_test(durations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
