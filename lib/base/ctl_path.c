/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the control sockets are, and which of them answer. */
#include "ctl_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".sock"

/* Others could put sockets of their own into a directory that they may write. */
static int
check_directory(const char *path)
{
	struct stat status;

	if (lstat(path, &status) != 0) {
		int error = errno;

		weir_base_log(WEIR_BASE_LOG_ERROR, "base", "cannot look at %s: %s", path,
			strerror(error));
		return -error;
	}
	if (!S_ISDIR(status.st_mode)) {
		weir_base_log(WEIR_BASE_LOG_ERROR, "base", "%s: expected a directory", path);
		return -ENOTDIR;
	}
	if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
		weir_base_log(WEIR_BASE_LOG_ERROR, "base",
			"%s: expected a directory of this user that no one else may write", path);
		return -EPERM;
	}
	return 0;
}

int
weir_base_ctl_directory(char *path, size_t size, bool make)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int length;

	if (geteuid() == 0)
		length = snprintf(path, size, "/run/weir");
	else if (runtime != NULL && runtime[0] == '/')
		length = snprintf(path, size, "%s/weir", runtime);
	else
		length = snprintf(path, size, "/tmp/weir-%u", (unsigned int)geteuid());
	if (length < 0 || (size_t)length >= size)
		return -ENAMETOOLONG;
	if (!make)
		return 0;
	if (mkdir(path, 0700) != 0 && errno != EEXIST) {
		int error = errno;

		weir_base_log(
			WEIR_BASE_LOG_ERROR, "base", "cannot make %s: %s", path, strerror(error));
		return -error;
	}
	return check_directory(path);
}

int
weir_base_ctl_path(const char *name, char *path, size_t size)
{
	char directory[CTL_PATH_SIZE];
	int error, length;

	if (name == NULL || name[0] == '\0' || strchr(name, '/') != NULL)
		return -EINVAL;
	error = weir_base_ctl_directory(directory, sizeof(directory), false);
	if (error != 0)
		return error;
	length = snprintf(path, size, "%s/%s" SUFFIX, directory, name);
	if (length < 0 || (size_t)length >= size || (size_t)length >= CTL_PATH_SIZE)
		return -ENAMETOOLONG;
	return 0;
}

int
weir_base_ctl_lock(const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	while (flock(fd, LOCK_EX) != 0) {
		if (errno != EINTR) {
			int error = errno;

			close(fd);
			return -error;
		}
	}
	return fd;
}

int
weir_base_ctl_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, error;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	error = errno;
	close(fd);
	return -error;
}

/* Does the owner of a socket live? One that has a full backlog does. */
static bool
is_alive(const char *path)
{
	int fd = weir_base_ctl_connect(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == -EAGAIN;
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Look at one directory entry; its instance's name when that answers. */
static char *
look_at(const char *directory, const char *entry)
{
	size_t length = strlen(entry), suffix = strlen(SUFFIX);
	char path[CTL_PATH_SIZE];
	struct stat status;
	int written;

	if (length <= suffix || strcmp(entry + length - suffix, SUFFIX) != 0)
		return NULL;
	written = snprintf(path, sizeof(path), "%s/%s", directory, entry);
	if (written < 0 || (size_t)written >= sizeof(path) || lstat(path, &status) != 0 ||
		!S_ISSOCK(status.st_mode))
		return NULL;
	if (!is_alive(path)) {
		unlink(path);
		return NULL;
	}
	return strndup(entry, length - suffix);
}

json_t *
weir_base_ctl_instances(void)
{
	char directory[CTL_PATH_SIZE], **names = NULL;
	json_t *list = json_array();
	size_t nb_names = 0, i;
	struct dirent *entry;
	int lock = -1;
	DIR *dir;

	if (weir_base_ctl_directory(directory, sizeof(directory), false) != 0)
		return list;
	dir = opendir(directory);
	if (dir == NULL)
		return list;
	/* Between its bind() and listen() a new socket looks dead: its owner holds the lock then. */
	lock = weir_base_ctl_lock(directory);
	while (lock >= 0 && (entry = readdir(dir)) != NULL) {
		char *name = look_at(directory, entry->d_name), **more;

		if (name == NULL)
			continue;
		more = realloc(names, (nb_names + 1) * sizeof(*more));
		if (more == NULL) {
			free(name);
			break;
		}
		names = more;
		names[nb_names++] = name;
	}
	if (lock >= 0)
		close(lock);
	closedir(dir);
	if (nb_names > 0)
		qsort(names, nb_names, sizeof(*names), compare_names);
	for (i = 0; i < nb_names; i++) {
		json_array_append_new(list, json_string(names[i]));
		free(names[i]);
	}
	free(names);
	return list;
}
