/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs that start EAL leave behind: each is a process of its own. */
#include "cmocka_all.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_eal.h>

#include "eal_lcores.h"
#include "weir_base_eal.h"

enum {
	CLEANUP = 1,   /* calls rte_eal_cleanup() */
	TELEMETRY = 2, /* its socket is there until the end */
	ASKED = 4,     /* to clean up */
	TWICE = 8,
};

/* The program: tells by the pipe where its directory is; the file @kept in there is another's. */
static void
run(int out, unsigned int how, const char *kept)
{
	char lcores[64], prefix[64], path[5000];
	char *argv[] = {"test", "--no-huge", "--no-pci", "--no-shconf", "-m", "64",
		"--log-level=lib.eal:4", "--lcores", lcores, "--file-prefix", prefix,
		"--no-telemetry"};
	const char *directory;

	eal_lcores(lcores, sizeof(lcores), 1);
	snprintf(prefix, sizeof(prefix), "weir-test-eal-%d", (int)getpid());
	if (how & ASKED)
		weir_base_eal_clean_up_at_exit();
	if (how & TWICE)
		weir_base_eal_clean_up_at_exit();
	if (rte_eal_init((int)RTE_DIM(argv) - (how & TELEMETRY ? 1 : 0), argv) < 0)
		_exit(1);
	directory = rte_eal_get_runtime_dir();
	if (access(directory, F_OK) != 0 || write(out, directory, strlen(directory) + 1) < 0)
		_exit(2);
	snprintf(path, sizeof(path), "%s/%s", directory, kept == NULL ? "" : kept);
	if (kept != NULL && close(open(path, O_CREAT | O_WRONLY, 0600)) != 0)
		_exit(3);
	if (how & CLEANUP)
		rte_eal_cleanup();
	exit(0);
}

/* Runs one to its end. Returns whether its directory is still there, and its path. */
static bool
left(unsigned int how, const char *kept, char path[4096])
{
	int status, fds[2];
	ssize_t nb;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		run(fds[1], how, kept);
	close(fds[1]);
	nb = read(fds[0], path, 4096);
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(nb > 1);
	return access(path, F_OK) == 0;
}

static void
the_directory_goes(void **state)
{
	char path[4096];

	(void)state;
	assert_false(left(ASKED, NULL, path));
	assert_false(left(ASKED | CLEANUP, NULL, path));
	assert_false(left(ASKED | TELEMETRY, NULL, path));
	assert_false(left(ASKED | TELEMETRY | CLEANUP, NULL, path));
	assert_false(left(ASKED | TWICE, NULL, path));
}

/* Should that not be so one day, all this is needed no more. */
static void
without_it_stays(void **state)
{
	char path[4096];

	(void)state;
	assert_true(left(CLEANUP, NULL, path));
	assert_int_equal(rmdir(path), 0);
}

static void
what_others_have_there_stays(void **state)
{
	char path[4096], file[5000];

	(void)state;
	assert_true(left(ASKED | CLEANUP, "kept", path));
	snprintf(file, sizeof(file), "%s/kept", path);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rmdir(path), 0);
}

/* Called by programs that then do not start it. */
static void
without_eal(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		weir_base_eal_clean_up_at_exit();
		exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_directory_goes),
		cmocka_unit_test(without_it_stays),
		cmocka_unit_test(what_others_have_there_stays),
		cmocka_unit_test(without_eal),
	};

	return cmocka_run_group_tests_name("eal", tests, NULL, NULL);
}
