/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines. */
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
static char *line[8];
static int nb;

/* Parse a line of words; returns what app_options() did. */
static int
parse(int min_args, int max_args, int count, ...)
{
	static char words[8][32];
	const struct app_option options[] = {
		{"flag", APP_OPTION_FLAG, &flag}, {"text", APP_OPTION_TEXT, &text}, {.name = NULL}};
	va_list list;

	flag = false;
	text = NULL;
	line[0] = strcpy(words[0], "test");
	va_start(list, count);
	for (int i = 1; i <= count; i++)
		line[i] = strcpy(words[i], va_arg(list, const char *));
	va_end(list);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
