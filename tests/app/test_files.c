/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of files to be written. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "files.h"

/* Each test works in a directory of its own, with "file", "dir/" and "link" to dir. */
static int
set_up(void **state)
{
	char template[] = "/tmp/weir-test-files-XXXXXX";
	int fd;

	if (mkdtemp(template) == NULL || chdir(template) < 0 || mkdir("dir", 0777) < 0 ||
		symlink("dir", "link") < 0)
		return -1;
	fd = open("file", O_WRONLY | O_CREAT, 0666);
	if (fd < 0)
		return -1;
	close(fd);
	*state = realpath(".", NULL);
	return *state != NULL ? 0 : -1;
}

static int
tear_down(void **state)
{
	char command[4200];
	int result;

	snprintf(command, sizeof(command), "rm -rf '%s'", (const char *)*state);
	result = chdir("/") < 0 || system(command) != 0;
	free(*state);
	return result;
}

static void
expect_real(const char *root, const char *path, const char *expected)
{
	char *real = files_real_path(path), *wanted;

	assert_true(asprintf(&wanted, "%s%s", root, expected) > 0);
	assert_non_null(real);
	assert_string_equal(real, wanted);
	free(real);
	free(wanted);
}

static void
real_paths(void **state)
{
	expect_real(*state, "file", "/file");
	expect_real(*state, "./file", "/file");
	expect_real(*state, "dir/../file", "/file");
	expect_real(*state, "link/new", "/dir/new");
	expect_real(*state, "new", "/new");
	expect_real(*state, "new/deep/er", "/new/deep/er");
	expect_real(*state, "new/../file2", "/file2");
	expect_real(*state, "new/./x/../../file2", "/file2");
	expect_real(*state, "link/new/../y", "/dir/y");
	expect_real("", "/no/such/file", "/no/such/file");
	expect_real("", "/no/../../../file", "/file");
}

static void
expect_writable(const char *path, int expected)
{
	char why[256] = "";
	int result = files_check_writable(path, why, sizeof(why));

	if (result != expected)
		fail_msg("'%s': %d (%s), expected %d", path, result, why, expected);
	assert_int_equal(why[0] != '\0', expected != 0);
}

static void
writable(void **state)
{
	(void)state;
	expect_writable("file", 0);
	expect_writable("new", 0);
	expect_writable("new/deep/er", 0);
	expect_writable("dir/x", 0);
	expect_writable("/dev/null", 0);
	expect_writable("dir", -EISDIR);
	expect_writable("", -EINVAL);
	expect_writable("dir/", -EINVAL);
	expect_writable("file/x", -ENOTDIR);
	expect_writable("file/x/y", -ENOTDIR);
	/* Nothing is made by asking. */
	assert_int_equal(access("new", F_OK), -1);
}

static void
directories(void **state)
{
	struct stat status;

	(void)state;
	assert_int_equal(files_make_directories("file"), 0);
	assert_int_equal(files_make_directories("a/b/c"), 0);
	assert_int_equal(stat("a/b", &status), 0);
	assert_true(S_ISDIR(status.st_mode));
	assert_int_equal(stat("a/b/c", &status), -1);
	assert_int_equal(files_make_directories("a/b/c"), 0);
	assert_int_equal(files_make_directories("a//d/c"), 0);
	assert_int_equal(files_make_directories("file/x/y"), -ENOTDIR);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(real_paths, set_up, tear_down),
		cmocka_unit_test_setup_teardown(writable, set_up, tear_down),
		cmocka_unit_test_setup_teardown(directories, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
