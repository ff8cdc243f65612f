/* SPDX-License-Identifier: BSD-3-Clause */
/* Where control sockets are, who may use them, and which of them are dead. */
#include "cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log_last.h"
#include "weir_base.h"
#include "weir_base_ctl.h"

static char name[40];

static bool
is_listed(const char *wanted)
{
	json_t *list = weir_base_ctl_instances(), *item;
	bool found = false;
	size_t i;

	json_array_foreach (list, i, item)
		found |= strcmp(json_string_value(item), wanted) == 0;
	json_decref(list);
	return found;
}

static void
path_of(char *path, size_t size)
{
	assert_int_equal(weir_base_ctl_path(name, path, size), 0);
}

static void
names_and_paths(void **state)
{
	char path[200], longer[300];

	memset(longer, 'n', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(weir_base_ctl_path("main", path, sizeof(path)), 0);
	assert_string_equal(strrchr(path, '/'), "/main.sock");
	assert_int_equal(weir_base_ctl_path("", path, sizeof(path)), -EINVAL);
	assert_int_equal(weir_base_ctl_path(NULL, path, sizeof(path)), -EINVAL);
	assert_int_equal(weir_base_ctl_path("../x", path, sizeof(path)), -EINVAL);
	assert_int_equal(weir_base_ctl_path("main", path, 5), -ENAMETOOLONG);
	/* A socket's address has 108 bytes, whatever room there is. */
	assert_int_equal(weir_base_ctl_path(longer, path, sizeof(path)), -ENAMETOOLONG);
	longer[90] = '\0';
	assert_int_equal(weir_base_ctl_path(longer, path, sizeof(path)), 0);
}

static void
only_the_user_may_connect(void **state)
{
	struct weir_base_ctl *ctl = weir_base_ctl_open(name);
	char path[200];
	struct stat status;

	assert_non_null(ctl);
	path_of(path, sizeof(path));
	assert_int_equal(lstat(path, &status), 0);
	assert_true(S_ISSOCK(status.st_mode));
	assert_int_equal(status.st_mode & 0777, 0600);
	*strrchr(path, '/') = '\0';
	assert_int_equal(lstat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	assert_int_equal(status.st_uid, geteuid());
	weir_base_ctl_close(ctl);
}

static void
open_means_listed_closed_means_gone(void **state)
{
	struct weir_base_ctl *ctl;
	char path[200];

	path_of(path, sizeof(path));
	assert_false(is_listed(name));
	ctl = weir_base_ctl_open(name);
	assert_non_null(ctl);
	assert_true(is_listed(name));
	weir_base_ctl_close(ctl);
	assert_false(is_listed(name));
	assert_int_not_equal(access(path, F_OK), 0);
	weir_base_ctl_close(NULL);
}

static void
a_name_is_taken_once(void **state)
{
	struct weir_base_ctl *ctl = weir_base_ctl_open(name), *other;
	char longer[40];
	json_t *result;

	assert_non_null(ctl);
	assert_null(weir_base_ctl_open(name));
	assert_int_equal(errno, EADDRINUSE);
	/* The first is not harmed by it, and another name is free. */
	assert_int_equal(weir_base_ctl_call(name, "help", NULL, 60000, &result), 0);
	json_decref(result);
	snprintf(longer, sizeof(longer), "%.30s-2", name);
	other = weir_base_ctl_open(longer);
	assert_non_null(other);
	assert_true(is_listed(name) && is_listed(longer));
	weir_base_ctl_close(other);
	weir_base_ctl_close(ctl);
	assert_null(weir_base_ctl_open("a/b"));
	assert_int_equal(errno, EINVAL);
	assert_null(weir_base_ctl_open(NULL));
	assert_int_equal(errno, EINVAL);
}

/* A server that dies without closing. @return what is to be closed, before which nobody who looks for instances can remove its socket */
static int
leave_socket_behind(void)
{
	char path[200];
	int status, lock;
	pid_t pid;

	path_of(path, sizeof(path));
	*strrchr(path, '/') = '\0';
	lock = open(path, O_RDONLY | O_DIRECTORY);
	assert_true(lock >= 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		/* The lock is the parent's, too. */
		if (weir_base_ctl_open(name) == NULL || flock(lock, LOCK_EX) != 0)
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	return lock;
}

static void
sockets_of_the_dead_are_removed(void **state)
{
	struct weir_base_ctl *ctl;
	char path[200];
	json_t *result;
	int lock;

	path_of(path, sizeof(path));
	lock = leave_socket_behind();
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(weir_base_ctl_call(name, "help", NULL, 60000, &result), -ENOENT);
	json_decref(result);
	close(lock);
	assert_false(is_listed(name));
	assert_int_not_equal(access(path, F_OK), 0);
	/* Or the name is taken again. */
	close(leave_socket_behind());
	ctl = weir_base_ctl_open(name);
	assert_non_null(ctl);
	assert_int_equal(weir_base_ctl_call(name, "help", NULL, 60000, &result), 0);
	json_decref(result);
	weir_base_ctl_close(ctl);
}

static void
what_is_no_socket_is_left_alone(void **state)
{
	char path[200];
	FILE *out;

	path_of(path, sizeof(path));
	out = fopen(path, "w");
	assert_non_null(out);
	fclose(out);
	assert_false(is_listed(name));
	assert_null(weir_base_ctl_open(name));
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
}

static void
another_ones_socket_is_left_alone(void **state)
{
	struct weir_base_ctl *ctl = weir_base_ctl_open(name), *other;
	char path[200];

	assert_non_null(ctl);
	path_of(path, sizeof(path));
	unlink(path);
	other = weir_base_ctl_open(name);
	assert_non_null(other);
	weir_base_ctl_close(ctl);
	assert_true(is_listed(name));
	weir_base_ctl_close(other);
}

/* Root has /run/weir: what other users get is seen by one that stops being root. */
static int
as_nobody(int (*act)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
			_exit(100);
		_exit(act());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int
look_up_paths(void)
{
	char path[200], expected[200];

	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	if (weir_base_ctl_path("main", path, sizeof(path)) != 0 ||
		strcmp(path, "/run/user/7/weir/main.sock") != 0)
		return 1;
	/* Relative ones are to be ignored. */
	setenv("XDG_RUNTIME_DIR", "here", 1);
	snprintf(expected, sizeof(expected), "/tmp/weir-%u/main.sock", (unsigned int)geteuid());
	if (weir_base_ctl_path("main", path, sizeof(path)) != 0 || strcmp(path, expected) != 0)
		return 2;
	unsetenv("XDG_RUNTIME_DIR");
	if (weir_base_ctl_path("main", path, sizeof(path)) != 0 || strcmp(path, expected) != 0)
		return 3;
	return 0;
}

static void
users_have_a_folder_of_their_own(void **state)
{
	assert_int_equal(as_nobody(look_up_paths), 0);
}

static char shared_folder[] = "/tmp/weir-test-ctl-XXXXXX";

static int
open_in_shared_folder(void)
{
	setenv("XDG_RUNTIME_DIR", shared_folder, 1);
	log_listen();
	if (weir_base_ctl_open("main") != NULL)
		return 0;
	/* Which folder is told, once. */
	return log_count() == 1 && strstr(log_message, shared_folder) != NULL ? errno : 255;
}

static int
open_where_all_may_write(void)
{
	char path[100];
	int error;

	snprintf(path, sizeof(path), "%s/weir", shared_folder);
	if (mkdir(path, 0700) != 0 || chmod(path, 0777) != 0)
		return 1;
	error = open_in_shared_folder();
	rmdir(path);
	return error;
}

static void
folders_of_others_are_refused(void **state)
{
	char path[100];

	/* Where others may write, a socket could be anyone's. */
	assert_non_null(mkdtemp(shared_folder));
	chmod(shared_folder, 0777);
	snprintf(path, sizeof(path), "%s/weir", shared_folder);
	assert_int_equal(mkdir(path, 0700), 0);
	chmod(path, 0777);
	assert_int_equal(as_nobody(open_in_shared_folder), EPERM);
	rmdir(path);
	assert_int_equal(symlink("/tmp", path), 0);
	assert_int_equal(as_nobody(open_in_shared_folder), ENOTDIR);
	chmod(shared_folder, 0700);
	assert_int_equal(as_nobody(open_in_shared_folder), EACCES);
	chmod(shared_folder, 0777);
	unlink(path);
	assert_int_equal(as_nobody(open_where_all_may_write), EPERM);
	assert_int_equal(as_nobody(open_in_shared_folder), 0);
	snprintf(path, sizeof(path), "%s/weir/main.sock", shared_folder);
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(shared_folder);
}

static int
set_name(void **state)
{
	snprintf(name, sizeof(name), "test-path-%d", (int)getpid());
	return 0;
}

/* Somebody who takes the place of one that closes, as soon as that looks dead. */
static struct weir_base_ctl *successor;
static bool is_awaited;

int __real_close(int fd);
int __wrap_close(int fd);

int
__wrap_close(int fd)
{
	socklen_t length = sizeof(int);
	int listens = 0, rc;

	if (is_awaited && getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 &&
		listens) {
		is_awaited = false;
		rc = __real_close(fd);
		successor = weir_base_ctl_open(name);
		return rc;
	}
	return __real_close(fd);
}

/* Where file systems use inodes again, its socket looks like that of the one before. */
static void
successors(void **state)
{
	struct weir_base_ctl *ctl = weir_base_ctl_open(name);

	assert_non_null(ctl);
	is_awaited = true;
	weir_base_ctl_close(ctl);
	assert_false(is_awaited);
	assert_non_null(successor);
	assert_true(is_listed(name));
	weir_base_ctl_close(successor);
	assert_false(is_listed(name));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_paths),
		cmocka_unit_test(only_the_user_may_connect),
		cmocka_unit_test(open_means_listed_closed_means_gone),
		cmocka_unit_test(a_name_is_taken_once),
		cmocka_unit_test(sockets_of_the_dead_are_removed),
		cmocka_unit_test(what_is_no_socket_is_left_alone),
		cmocka_unit_test(another_ones_socket_is_left_alone),
		cmocka_unit_test(users_have_a_folder_of_their_own),
		cmocka_unit_test(folders_of_others_are_refused),
		cmocka_unit_test(successors),
	};

	return cmocka_run_group_tests(tests, set_name, NULL);
}
